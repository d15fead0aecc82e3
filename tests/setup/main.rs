//! Getting onto a person's machine: settings files of every shape, the plugin, install.sh, and what doctor says.
//!
//! Every test has a home of its own; the person's is never touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

mod doctor;
mod install_sh;
mod plugin;
mod settings;

const BINARY: &str = env!("CARGO_BIN_EXE_countersign");

/// A home directory with a project beside it, removed at the end.
struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for dir in ["home", "project", "bin", "managed"] {
            fs::create_dir(root.path().join(dir)).unwrap();
        }
        Self { root }
    }

    fn with_settings(text: &str) -> Self {
        let home = Self::new();
        home.write("home/.claude/settings.json", text);
        home
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn script(&self, relative: &str, body: &str) -> PathBuf {
        let path = self.write(relative, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn settings(&self) -> String {
        fs::read_to_string(self.path("home/.claude/settings.json")).unwrap()
    }

    /// A command in the project, with this home and nothing of the real environment.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path("project"));
        command
            .env("HOME", self.path("home"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("CLAUDE_CODE_MANAGED_SETTINGS_PATH", self.path("managed"));
        command
    }

    fn run(&self, args: &str) -> Output {
        let mut command = self.command(BINARY);
        command.args(args.split_whitespace()).stdin(std::process::Stdio::null());
        command.output().unwrap()
    }

    fn ok(&self, args: &str) -> String {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{args}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs what must fail, and gives what it said.
    fn refused(&self, args: &str) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args} was not refused");
        String::from_utf8(output.stderr).unwrap()
    }

    fn names(&self, relative: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(relative)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

fn our_request_entry(binary: &str) -> Value {
    json!({"matcher": "*", "hooks": [
        {"type": "command", "command": binary, "args": ["hook", "--deadline", "25"], "timeout": 30}
    ]})
}
