//! A program of somebody else's in a sandbox of its own: a project, a home, `countersign` on PATH, the packages in reach.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::api::ToolUse;
use crate::packages;
use crate::sandbox::{COUNTERSIGN, Sandbox};
use crate::tui::Tui;

/// How long a program may take before the test gives up.
pub const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug)]
pub enum Language {
    JavaScript,
    Python,
}

pub struct Program {
    pub sandbox: Sandbox,
    /// What starts it.
    words: Vec<String>,
}

impl Program {
    /// A program of the repository, and the calls that the scripted model makes, one a turn.
    pub fn new(language: Language, source: &str, arguments: &[&str], calls: Vec<ToolUse>) -> Program {
        let sandbox = sandbox(calls);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        let place = sandbox.root().join("program");
        fs::create_dir(&place).expect("the program's directory");
        let file = place.join(source.file_name().expect("a file"));
        fs::copy(&source, &file).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        let mut words = match language {
            Language::JavaScript => {
                symlink(packages::for_node(), place.join("node_modules")).expect("the packages in reach");
                vec![packages::node()]
            }
            Language::Python => {
                let path = format!("PYTHONPATH={}", packages::for_python().display());
                vec![path, packages::python()]
            }
        };
        words.push(file.display().to_string());
        words.extend(arguments.iter().map(|&argument| argument.to_owned()));
        Program { sandbox, words }
    }

    /// A script for the shell, which has `claude` on its PATH.
    pub fn script(text: &str, calls: Vec<ToolUse>) -> Program {
        let sandbox = sandbox(calls);
        let claude = packages::for_node().join("@anthropic-ai/claude-agent-sdk-linux-x64/claude");
        symlink(claude, sandbox.home().join(".local/bin/claude")).expect("claude on PATH");
        let words = ["sh", "-c", text].map(str::to_owned).into();
        Program { sandbox, words }
    }

    /// Runs to its end where there is no terminal; gives what it printed on both outputs, and whether it succeeded.
    pub fn run(&self) -> (String, bool) {
        let file = self.sandbox.root().join("printed.txt");
        let output = File::create(&file).expect("a file for the output");
        // A session of its own has no terminal.
        let child = Command::new("setsid")
            .args(["--wait", "env"])
            .args(&self.words)
            .current_dir(self.sandbox.project())
            .env_clear()
            .envs(self.sandbox.environment())
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output)
            .spawn();
        let mut child = child.unwrap_or_else(|error| panic!("this test needs the program `setsid`: {error}"));
        let status = within(PATIENCE, || child.try_wait().expect("its state"));
        let printed = fs::read_to_string(&file).unwrap_or_default();
        let Some(status) = status else {
            child.kill().ok();
            panic!("it does not end\n{printed}\n{}", self.sandbox.report());
        };
        (printed, status.success())
    }

    /// Starts it on a terminal.
    pub fn on_terminal(&self) -> Tui {
        Tui::start(&self.sandbox, Path::new("/usr/bin/env"), &self.words)
    }

    /// What is recorded: for each line its event, what was answered, by whom, and the reason of a denial.
    pub fn recorded(&self) -> Vec<[String; 4]> {
        let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let lines = self.sandbox.record();
        let keys = ["event", "action", "by", "reason"];
        lines.iter().map(|line| keys.map(|key| text(line, key))).collect()
    }
}

/// With `countersign` on PATH.
fn sandbox(calls: Vec<ToolUse>) -> Sandbox {
    let sandbox = Sandbox::new(calls.into_iter().map(|call| vec![call]).collect());
    let bin = sandbox.home().join(".local/bin");
    fs::create_dir_all(&bin).expect("a directory on PATH");
    symlink(COUNTERSIGN, bin.join("countersign")).expect("countersign on PATH");
    sandbox
}

/// Looks until `seen` gives something, or the time is over.
pub fn within<T>(limit: Duration, mut seen: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(found) = seen() {
            return Some(found);
        }
        sleep(Duration::from_millis(40));
    }
    None
}
