//! A person's machine in miniature: a home, and in it a project under git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use countersign::facts::Facts;
use tempfile::TempDir;

/// Removed with everything in it when dropped.
pub struct Machine {
    root: TempDir,
}

const TRACKED: &[(&str, &str)] = &[
    ("README.md", "# Demo\n"),
    ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\n"),
    ("Cargo.lock", "version = 4\n"),
    ("package.json", "{\"name\":\"demo\"}\n"),
    ("package-lock.json", "{}\n"),
    ("Makefile", "test:\n\ttrue\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("src/lib.rs", "pub fn a() {}\n"),
    ("src/app.ts", "export {};\n"),
    ("docs/guide.md", "guide\n"),
    ("scripts/run.sh", "#!/bin/sh\necho run\n"),
    ("scripts/tool.py", "print(1)\n"),
    ("data.csv", "a,b\n"),
    ("list.txt", "a\n"),
    ("AGENTS.md", "be kind\n"),
    (".gitignore", "target\nnode_modules\n.env\n"),
];

const UNTRACKED: &[(&str, &str)] = &[
    ("notes.txt", "mine alone\n"),
    (".env", "TOKEN=x\n"),
    ("target/debug/demo", "x\n"),
    ("node_modules/.bin/tsc", "#!/bin/sh\n"),
];

impl Machine {
    pub fn new() -> Self {
        let machine = Machine {
            root: TempDir::new().expect("a temporary directory"),
        };
        for (name, text) in TRACKED {
            machine.write(name, text);
        }
        fs::create_dir_all(machine.home().join(".ssh")).expect("a directory");
        fs::write(machine.home().join(".ssh/id_rsa"), "key\n").expect("a file");
        fs::write(machine.home().join("letter.txt"), "dear\n").expect("a file");
        machine.git(&["init", "-q", "-b", "main"]);
        machine.git(&["add", "-A"]);
        machine.git(&["commit", "-q", "-m", "start"]);
        for (name, text) in UNTRACKED {
            machine.write(name, text);
        }
        machine
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().canonicalize().expect("a directory").join("home/dev")
    }

    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Writes a file of the project; scripts can be run.
    pub fn write(&self, name: &str, text: &str) {
        let root = self.root.path().join("home/dev/project");
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(&path, text).expect("a file");
        if text.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
        }
    }

    /// Writes a file below the home.
    pub fn write_home(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(&path, text).expect("a file");
    }

    /// Makes a symbolic link in the project.
    pub fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.project().join(name)).expect("a link");
    }

    /// Sets who may do what with a file of the project.
    pub fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.project().join(name), fs::Permissions::from_mode(mode)).expect("permissions");
    }

    /// Runs git in the project.
    pub fn git(&self, args: &[&str]) {
        self.git_in(&self.project(), args);
    }

    /// Runs git in a directory.
    pub fn git_in(&self, dir: &Path, args: &[&str]) {
        let out = Command::new("git")
            .args(["-c", "user.name=dev", "-c", "user.email=dev@example.invalid"])
            .args(args)
            .current_dir(dir)
            .env("HOME", self.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git, which these tests need");
        assert!(
            out.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
    }

    /// What a session in the project would be told of this machine.
    pub fn facts(&self) -> Facts {
        let path = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from).to_vec();
        let environment = ["HOME", "PATH", "LANG", "SESSION_NAME", "API_TOKEN"]
            .map(str::to_owned)
            .into();
        let mut facts = Facts {
            home: Some(self.home()),
            path,
            environment,
            ..Facts::default()
        };
        facts.set_project(&self.project());
        facts
    }

    /// `~` in a text becomes this machine's home where it stands for `/home/dev`.
    pub fn here(&self, text: &str) -> String {
        text.replace("/home/dev", &self.home().to_string_lossy())
    }
}

/// What a shell command in a directory of the machine would do.
pub fn assess(machine: &Machine, dir: &Path, command: &str) -> countersign::effect::Assessment {
    countersign::assess::bash::assess(command, Some(dir), &machine.facts())
}
