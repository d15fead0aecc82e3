//! The real host, by pinned version, fetched once with npm into a cache outside the repository. Tests ask for a
//! version and get the path of its executable; a missing npm fails with its name.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "@anthropic-ai/claude-code-linux-x64";

/// A pinned release of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    V207,
    V280,
    V332,
}

impl Host {
    pub fn version(self) -> &'static str {
        match self {
            Host::V207 => "2.1.207",
            Host::V280 => "2.1.280",
            Host::V332 => "2.1.332",
        }
    }

    /// The executable, fetched if the cache does not hold it yet (about 400 MB).
    pub fn executable(self) -> PathBuf {
        let cache = cache();
        let home = cache.join(self.version());
        let executable = home.join("node_modules").join(PACKAGE).join("claude");
        fs::create_dir_all(&cache).unwrap_or_else(|error| panic!("{} cannot be made: {error}", cache.display()));
        let lock = File::create(cache.join("lock")).expect("the cache's lock file");
        lock.lock().expect("the cache's lock");
        if !executable.exists() {
            self.fetch(&cache, &home);
        }
        assert!(
            executable.exists(),
            "npm reported success but {} is not there",
            executable.display()
        );
        executable
    }

    /// Installs beside the final place and renames, so that an interrupted fetch is never taken for a whole one.
    fn fetch(self, cache: &Path, home: &Path) {
        let partial = tempfile::tempdir_in(cache).expect("a directory in the cache");
        let output = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
            .arg(partial.path())
            .arg(format!("{PACKAGE}@{}", self.version()))
            .output()
            .unwrap_or_else(|error| panic!("this test needs the program `npm`: {error}"));
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "npm could not install {PACKAGE}@{}: {complaint}",
            self.version()
        );
        fs::rename(partial.keep(), home).expect("moving the fetched host into its place");
    }
}

fn cache() -> PathBuf {
    let named = |variable: &str| {
        std::env::var_os(variable)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    named("COUNTERSIGN_HOST_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("countersign-hosts")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/countersign-hosts")))
        .expect("COUNTERSIGN_HOST_CACHE, XDG_CACHE_HOME or HOME must name a place for the host's releases")
}
