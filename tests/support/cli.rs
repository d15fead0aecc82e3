//! The built program, started in a home of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A home with one project in it; removed when dropped.
pub struct Home {
    dir: TempDir,
}

impl Home {
    pub fn new() -> Self {
        let home = Home {
            dir: tempfile::tempdir().expect("a home"),
        };
        std::fs::create_dir_all(home.project().join("src")).expect("directories");
        std::fs::write(home.project().join("README.md"), "hello\n").expect("a file");
        home
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("a path").join("app")
    }

    /// Runs the program in the project with this input, and nothing of this process's environment.
    pub fn run(&self, arguments: &[&str], input: &[u8]) -> Output {
        self.run_with(&[], arguments, input)
    }

    /// The same, with these variables too.
    pub fn run_with(&self, variables: &[(&str, &Path)], arguments: &[&str], input: &[u8]) -> Output {
        self.run_in(&self.project(), variables, arguments, input)
    }

    /// The same in another directory.
    pub fn run_in(&self, dir: &Path, variables: &[(&str, &Path)], arguments: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(arguments)
            .env_clear()
            .env("HOME", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .env("CLAUDE_PROJECT_DIR", self.project())
            .envs(variables.iter().copied())
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        // It may end without reading.
        let written = child.stdin.take().expect("its input").write_all(input);
        let output = child.wait_with_output().expect("its output");
        assert!(written.is_ok() || !output.status.success(), "{written:?}");
        output
    }
}
