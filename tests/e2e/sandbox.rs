//! A throw-away world for one session of the host: a fresh HOME, a project that is a git repository, settings, a
//! scripted API and a log of the hooks' events. Nothing of the person's own HOME or environment reaches it.

use std::cell::OnceCell;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::{Api, ToolUse};
use crate::desk::Desk;

/// The product, as built for these tests.
pub const COUNTERSIGN: &str = env!("CARGO_BIN_EXE_countersign");

/// Made up; the host only asks that there is one.
const KEY: &str = "sk-ant-api03-made-up-for-a-scripted-api-0000000000000000";

/// Keeps what the host says about an event, then becomes the hook.
const RECORDER: &str = "#!/bin/sh\n\
    heard=$(mktemp \"$1/$2.XXXXXX\") || exit 0\n\
    shift 2\n\
    cat >\"$heard\"\n\
    exec \"$@\" <\"$heard\"\n";

pub struct Sandbox {
    /// Ended before the directories go.
    desk: OnceCell<Desk>,
    root: TempDir,
    home: PathBuf,
    pub api: Api,
    _turn: Option<Turn>,
}

impl Sandbox {
    /// Waits for its turn (two sessions run at a time), then lays out the world.
    pub fn new(turns: Vec<Vec<ToolUse>>) -> Sandbox {
        Sandbox::of(None, turns, Some(Turn::wait()))
    }

    /// A world of its own for a session of the same user: its HOME is the other's, and so is its turn. Before either starts.
    pub fn beside(other: &Sandbox, turns: Vec<Vec<ToolUse>>) -> Sandbox {
        Sandbox::of(Some(other.home()), turns, None)
    }

    fn of(home: Option<PathBuf>, turns: Vec<Vec<ToolUse>>, turn: Option<Turn>) -> Sandbox {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let root = tempfile::Builder::new()
            .prefix("e2e-")
            .tempdir_in(place)
            .expect("a directory for the sandbox");
        let sandbox = Sandbox {
            desk: OnceCell::new(),
            home: home.unwrap_or_else(|| root.path().join("home")),
            root,
            api: Api::start(turns),
            _turn: turn,
        };
        fs::create_dir_all(sandbox.home.join(".claude")).expect("the user's directory");
        for directory in ["project/sub", "tmp", "events", "hooks"] {
            fs::create_dir_all(sandbox.root().join(directory)).expect("the sandbox's directories");
        }
        sandbox.executable("record", RECORDER);
        sandbox.lay_out_project();
        sandbox.skip_first_run();
        sandbox
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn home(&self) -> PathBuf {
        self.home.clone()
    }

    /// The user's second terminal. The first look at it turns the relay on.
    pub fn desk(&self) -> &Desk {
        self.desk.get_or_init(|| Desk::open(self))
    }

    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    pub fn debug_file(&self) -> PathBuf {
        self.root().join("debug.txt")
    }

    /// The user's settings file.
    pub fn settings_file(&self) -> PathBuf {
        self.home().join(".claude/settings.json")
    }

    /// Puts an executable script into the sandbox's hooks directory.
    pub fn executable(&self, name: &str, script: &str) -> PathBuf {
        let path = self.root().join("hooks").join(name);
        fs::write(&path, script).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the script's mode");
        path
    }

    /// Puts a program into the session's PATH.
    pub fn program(&self, name: &str, script: &str) {
        let bin = self.home().join(".local/bin");
        fs::create_dir_all(&bin).expect("the directory for programs");
        let link = bin.join(name);
        std::os::unix::fs::symlink(self.executable(name, script), link).expect("the program's link");
    }

    /// A hook entry that records what it hears and then runs `program`.
    pub fn recorded(&self, event: &str, program: &[String]) -> Value {
        let mut args = vec![self.root().join("events").display().to_string(), event.to_owned()];
        args.extend_from_slice(program);
        json!({"matcher": "*", "hooks": [{"type": "command", "command": self.root().join("hooks/record"), "args": args}]})
    }

    /// What the recording hooks of `event` were told, in the order of the files' times.
    pub fn heard(&self, event: &str) -> Vec<Value> {
        let mut files: Vec<_> = fs::read_dir(self.root().join("events"))
            .expect("the events directory")
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(event))
            .map(|entry| (entry.metadata().and_then(|meta| meta.modified()).ok(), entry.path()))
            .collect();
        files.sort();
        files
            .iter()
            .filter_map(|(_, path)| serde_json::from_slice(&fs::read(path).ok()?).ok())
            .collect()
    }

    /// The calls that the hooks of `event` were asked about: a shell call's command, another tool's name.
    pub fn asked(&self, event: &str) -> Vec<String> {
        let call = |heard: &Value| {
            let name = heard["tool_input"]["command"].as_str().or(heard["tool_name"].as_str());
            name.unwrap_or_default().to_owned()
        };
        self.heard(event).iter().map(call).collect()
    }

    /// The host's own log lines that speak of hooks.
    pub fn debug_lines(&self) -> String {
        let log = fs::read(self.debug_file()).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let told = log
            .lines()
            .filter(|line| line.contains("PermissionRequest") || line.contains("Hook"));
        told.map(|line| format!("{}\n", line.chars().take(300).collect::<String>()))
            .collect()
    }

    /// Every transcript line of the session.
    pub fn transcript(&self) -> String {
        let projects = fs::read_dir(self.home().join(".claude/projects"))
            .into_iter()
            .flatten()
            .flatten();
        let files = projects.flat_map(|project| fs::read_dir(project.path()).into_iter().flatten().flatten());
        files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect()
    }

    /// The whole environment of the session.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |path: PathBuf| path.display().to_string();
        vec![
            ("HOME", path(self.home())),
            (
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", path(self.home().join(".local/bin"))),
            ),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("SHELL", "/bin/bash".to_owned()),
            ("TMPDIR", path(self.root().join("tmp"))),
            ("CLAUDE_CODE_TMPDIR", path(self.root().join("tmp"))),
            ("ANTHROPIC_BASE_URL", self.api.url()),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_ERROR_REPORTING", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1".to_owned()),
        ]
    }

    /// Runs the product in the project with the session's environment; gives what it prints.
    pub fn countersign(&self, args: &[&str], input: &str) -> String {
        let mut child = Command::new(COUNTERSIGN)
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .envs(self.environment())
            .env("CLAUDE_PROJECT_DIR", self.project())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("countersign starts");
        // A command that reads no input may be gone before it is written.
        child
            .stdin
            .take()
            .expect("its standard input")
            .write_all(input.as_bytes())
            .ok();
        let output = child.wait_with_output().expect("countersign ends");
        let complaint = String::from_utf8_lossy(&output.stderr);
        // An empty record is no failure of `log`.
        let is_empty = args.first() == Some(&"log") && output.status.code() == Some(3);
        assert!(
            output.status.success() || is_empty,
            "countersign {args:?}: {}: {complaint}",
            output.status
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The record of what Countersign answered, in order.
    pub fn record(&self) -> Vec<Value> {
        let lines = self.countersign(&["log", "--json", "--lines", "1000"], "");
        lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("a recorded line"))
            .collect()
    }

    /// A report for a failed test: what the API saw, what the hooks heard, what the host logged.
    pub fn report(&self) -> String {
        let heard: Vec<_> = ["PreToolUse", "PermissionRequest"]
            .map(|event| (event, self.asked(event)))
            .into();
        let settings = fs::read_to_string(self.settings_file()).unwrap_or_default();
        let (requests, log) = (self.api.log(), self.debug_lines());
        format!("--- settings\n{settings}\n--- requests\n{requests}--- hooks heard\n{heard:?}\n--- debug log\n{log}")
    }

    fn lay_out_project(&self) {
        for (file, text) in [("README.md", "# A small project\n"), ("sub/notes.txt", "a note\n")] {
            fs::write(self.project().join(file), text).expect("a project file");
        }
        for args in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=Dev",
                "-c",
                "user.email=dev@example.invalid",
                "commit",
                "--quiet",
                "-m",
                "Begin",
            ],
        ] {
            let done = Command::new("git")
                .args(args)
                .current_dir(self.project())
                .env("HOME", self.home())
                .status();
            let done = done.unwrap_or_else(|error| panic!("this test needs the program `git`: {error}"));
            assert!(done.success(), "git {args:?} failed");
        }
    }

    /// Answers the host's first-run questions beforehand, as a person's earlier sessions would have.
    fn skip_first_run(&self) {
        let file = self.home().join(".claude.json");
        let before = fs::read(&file).unwrap_or_default();
        let mut settled = serde_json::from_slice(&before).unwrap_or_else(|_| {
            json!({
                "hasCompletedOnboarding": true, "lastOnboardingVersion": "9.9.9", "theme": "dark", "numStartups": 3,
                "autoUpdates": false, "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
                "projects": {},
            })
        });
        settled["projects"][self.project().display().to_string()] = json!({
            "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 5,
        });
        fs::write(file, settled.to_string()).expect("the host's own state file");
    }
}

/// Leave to run: two sessions at a time, however many test threads there are.
struct Turn;

static RUNNING: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

impl Turn {
    fn wait() -> Turn {
        let running = RUNNING.lock().expect("the count of sessions");
        *FREED
            .wait_while(running, |running| *running >= 2)
            .expect("the count of sessions") += 1;
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock().expect("the count of sessions") -= 1;
        FREED.notify_one();
    }
}
