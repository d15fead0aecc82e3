//! A PostgreSQL for a test.
#![allow(dead_code, reason = "not every test ends it and starts it again")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A PostgreSQL in a directory of its own, on a socket there; it ends with the test.
pub struct Database {
    dir: tempfile::TempDir,
    running: Child,
    /// The file that says how it is reached.
    pub address: String,
}

impl Database {
    /// `None`, and said, where PostgreSQL is not installed; in CI that fails.
    pub fn start() -> Option<Database> {
        let Some(programs) = programs() else {
            let missing = "the programs initdb and postgres (PostgreSQL) are not there";
            assert!(std::env::var_os("CI").is_none(), "{missing}");
            eprintln!("nothing is shown: {missing}");
            return None;
        };
        let dir = tempfile::tempdir().expect("a directory");
        let data = dir.path().join("data");
        let own = |program: &str| as_other_than_root(&programs.join(program), dir.path());
        let made = own("initdb")
            .args(["--auth=trust", "--username=relay", "--no-sync", "-D"])
            .arg(&data)
            .output();
        let made = made.expect("initdb starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let running = run(dir.path());
        let address = dir.path().join("address");
        let text = format!("host={} user=relay dbname=postgres\n", dir.path().display());
        std::fs::write(&address, text).expect("the address");
        let address = address.display().to_string();
        Some(Database { dir, running, address })
    }
}

impl Database {
    /// Ends it at once, as a machine that fails does.
    pub fn stop(&mut self) {
        // Ends at once and leaves nothing that another would need.
        Command::new("kill")
            .args(["-QUIT", &self.running.id().to_string()])
            .status()
            .ok();
        self.running.wait().ok();
    }

    pub fn again(&mut self) {
        self.running = run(self.dir.path());
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(dir: &Path) -> Child {
    let programs = programs().expect("PostgreSQL");
    let running = as_other_than_root(&programs.join("postgres"), dir)
        .args(["-c", "listen_addresses=", "-c", "fsync=off", "-k"])
        .arg(dir)
        .arg("-D")
        .arg(dir.join("data"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("postgres starts");
    // It takes connections a moment before it lets anybody in. The eighth line says when it does.
    let state = dir.join("data/postmaster.pid");
    let is_ready = || {
        let text = std::fs::read_to_string(&state).unwrap_or_default();
        text.lines().nth(7).is_some_and(|line| line.trim() == "ready")
    };
    let end = Instant::now() + Duration::from_secs(30);
    while !is_ready() {
        assert!(Instant::now() < end, "PostgreSQL did not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    running
}

/// Where Debian keeps the server's programs, the newest first; else on PATH.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut bins: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    bins.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = bins.into_iter().rev().chain(std::env::split_paths(&path));
    all.find(|bin| bin.join("initdb").exists())
}

/// PostgreSQL refuses root; then its own user runs it, in a directory that is made that user's.
fn as_other_than_root(program: &Path, dir: &Path) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root {
        return Command::new(program);
    }
    let owned = Command::new("chown").arg("postgres").arg(dir).status();
    assert!(owned.expect("chown starts").success(), "the user postgres is not there");
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--init-groups"])
        .arg(program);
    command
}
