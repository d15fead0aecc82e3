//! The record: what hooks leave in it, also when they are killed or the disk is full, and what `countersign log` says.
//!
//! Every test has a home of its own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use countersign::audit::entry::Entry;
use countersign::audit::files::{Files, lines};
use countersign::audit::verify::{Report, verify};
use tempfile::TempDir;

mod command;
mod failing;
mod killed;
#[path = "../support/random.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod random;
mod secrets;

const BINARY: &str = env!("CARGO_BIN_EXE_countersign");

const ALLOW: &str =
    "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\"}}}\n";
const BLOCK: &str = "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\"}}\n";

/// A home with a project `shop` in it.
struct Home {
    dir: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Home {
            dir: tempfile::tempdir().expect("a home"),
        };
        fs::create_dir(home.project()).expect("a project");
        home
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("shop")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join(".local/state/countersign")
    }

    fn log(&self) -> PathBuf {
        self.state().join("log.jsonl")
    }

    /// Writes the person's configuration.
    fn configure(&self, text: &str) {
        let dir = self.dir.path().join(".config/countersign");
        fs::create_dir_all(&dir).expect("directories");
        fs::write(dir.join("config.toml"), text).expect("a configuration");
    }

    /// A program in the project, with this home and nothing of the real environment.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .env("CLAUDE_PROJECT_DIR", self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a hook on a permission request for a shell command.
    fn start(&self, command: &str) -> Child {
        let mut hook = self.command(BINARY);
        hook.arg("hook");
        begun(hook, &request(command))
    }

    /// Answers a permission request; the exit status must be 0.
    fn hook(&self, command: &str) -> Answer {
        Answer::of(self.start(command))
    }

    fn run(&self, line: &str) -> Output {
        let mut command = self.command(BINARY);
        command.args(line.split_whitespace()).stdin(Stdio::null());
        command.output().expect("the program")
    }

    /// What a command prints that must succeed.
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(
            output.status.success(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// What `log` prints where nothing fits, which its status says, too.
    fn nothing_fits(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(3), "{line}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn verified(&self) -> Report {
        verify(&self.state()).expect("a report")
    }

    /// All that is recorded, file by file.
    fn entries(&self) -> Vec<Entry> {
        let files = Files::list(&self.state()).expect("files");
        let paths = files.chain().chain(files.siblings.iter().map(PathBuf::as_path));
        let read = |path: &Path| fs::read(path).expect("a file");
        paths
            .flat_map(|path| lines(&read(path)).map(|one| one.entry).collect::<Vec<_>>())
            .collect()
    }
}

fn request(command: &str) -> String {
    event("PermissionRequest", "Bash", &serde_json::json!({ "command": command }))
}

fn event(name: &str, tool: &str, input: &serde_json::Value) -> String {
    let event = serde_json::json!({
        "session_id": "s1", "permission_mode": "default", "hook_event_name": name,
        "tool_name": tool, "tool_input": input,
    });
    event.to_string()
}

/// Starts it and gives it its whole input.
fn begun(mut command: Command, input: &str) -> Child {
    let mut child = command.spawn().expect("the program");
    // It may have been killed, or may not want it.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child
}

struct Answer {
    stdout: String,
    stderr: String,
}

impl Answer {
    fn of(child: Child) -> Self {
        let output = child.wait_with_output().expect("its end");
        let answer = Answer {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        };
        assert_eq!(output.status.code(), Some(0), "{}", answer.stderr);
        answer
    }
}
