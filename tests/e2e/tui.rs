//! The host's terminal screen, driven in a tmux server of its own (own socket, no configuration). It presses keys and
//! reads the screen; it touches no other server and ends only what it started.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::sandbox::Sandbox;

const GLANCE: Duration = Duration::from_millis(40);
/// How long the host may take from its start to its input box: its program has hundreds of megabytes to be read.
const PATIENCE: Duration = Duration::from_secs(180);

pub struct Tui {
    /// A short path of its own: a socket's path has a low limit.
    socket: TempDir,
}

impl Tui {
    /// Starts `program` on a screen of 150 by 50.
    pub fn start(sandbox: &Sandbox, program: &Path, args: &[String]) -> Tui {
        let socket = tempfile::Builder::new()
            .prefix("cs-tmux-")
            .tempdir()
            .expect("a directory for the socket");
        let tui = Tui { socket };
        let started = tui
            .tmux()
            .args([
                "-f",
                "/dev/null",
                "new-session",
                "-d",
                "-s",
                "host",
                "-x",
                "150",
                "-y",
                "50",
                "-c",
            ])
            .arg(sandbox.project())
            .arg(program)
            .args(args)
            .args([";", "set-option", "remain-on-exit", "on"])
            .env_clear()
            .envs(sandbox.environment())
            .output();
        let started = started.unwrap_or_else(|error| panic!("this test needs the program `tmux`: {error}"));
        assert!(
            started.status.success(),
            "tmux did not start: {}",
            String::from_utf8_lossy(&started.stderr)
        );
        tui
    }

    pub fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p", "-t", "host"])
    }

    /// Presses keys by their tmux names.
    pub fn press(&self, keys: &[&str]) {
        self.ask(&[&["send-keys", "-t", "host"], keys].concat());
    }

    pub fn type_text(&self, text: &str) {
        self.ask(&["send-keys", "-t", "host", "-l", text]);
    }

    /// Forgets what the screen shows.
    pub fn clear(&self) {
        self.ask(&["send-keys", "-t", "host", "-R", ";", "clear-history", "-t", "host"]);
    }

    /// Closes the terminal.
    pub fn close(&self) {
        self.ask(&["kill-server"]);
    }

    /// The process that was started on the terminal.
    pub fn process(&self) -> u32 {
        let pid = self.ask(&["list-panes", "-t", "host", "-F", "#{pane_pid}"]);
        pid.trim().parse().expect("the process of the terminal")
    }

    /// Looks at the screen until `seen` gives something, or the time is over.
    pub fn watch<T>(&self, limit: Duration, mut seen: impl FnMut(&str) -> Option<T>) -> Option<T> {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            if let Some(found) = seen(&self.screen()) {
                return Some(found);
            }
            sleep(GLANCE);
        }
        None
    }

    /// Waits for the input box, answering what the host asks before it.
    pub fn reach_input(&self) -> Option<()> {
        self.watch(PATIENCE, |screen| {
            let asked = [
                "trust this folder",
                "Do you trust",
                "Is this a project you",
                "Press Enter to continue",
            ];
            if asked.iter().any(|question| screen.contains(question)) {
                self.press(&["Enter"]);
                sleep(Duration::from_millis(300));
                return None;
            }
            let ready =
                screen.contains("? for shortcuts") || screen.lines().any(|line| line.trim_start().starts_with('❯'));
            ready.then_some(())
        })
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(self.socket.path().join("s"));
        tmux
    }

    fn ask(&self, args: &[&str]) -> String {
        let output = self
            .tmux()
            .args(args)
            .stdin(Stdio::null())
            .output()
            .expect("tmux answers");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// Whether a question of the host stands on the screen.
pub fn dialog_on(screen: &str) -> bool {
    ["Do you want to", "Would you like to proceed", "Esc to cancel"]
        .iter()
        .any(|words| screen.contains(words))
}

impl Drop for Tui {
    fn drop(&mut self) {
        let host = self.ask(&["list-panes", "-t", "host", "-F", "#{pane_pid}"]);
        self.ask(&["kill-server"]);
        let proc = Path::new("/proc").join(host.trim());
        let end = Instant::now() + Duration::from_secs(5);
        while !host.trim().is_empty() && proc.exists() && Instant::now() < end {
            sleep(GLANCE);
        }
        if !host.trim().is_empty() && proc.exists() {
            Command::new("kill").args(["-KILL", host.trim()]).status().ok();
        }
    }
}
