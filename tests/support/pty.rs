//! A terminal of a test's own, with a program on it whose standard streams are pipes.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::pty::openpty;
use tempfile::TempDir;

/// How long a busy machine may take over one step.
pub const PATIENCE: Duration = Duration::from_secs(30);
const GLANCE: Duration = Duration::from_millis(5);

/// What a person sees and types on.
pub struct Pty {
    keyboard: File,
    shown: Arc<Mutex<String>>,
    /// Kept open, so that the terminal outlives every program on it.
    screen: OwnedFd,
}

impl Pty {
    pub fn new() -> Self {
        let pair = openpty(None, None).expect("a terminal");
        let keyboard = File::from(pair.master);
        let mut output = keyboard.try_clone().expect("a handle");
        let shown = Arc::new(Mutex::new(String::new()));
        let watched = Arc::clone(&shown);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..count]);
                watched.lock().expect("the screen").push_str(&text);
            }
        });
        Pty {
            keyboard,
            shown,
            screen: pair.slave,
        }
    }

    /// Starts `command`, with its arguments, environment and directory, on this terminal. What the returned file is
    /// given is its standard input, which ends when the file is dropped; its output and errors are piped.
    pub fn start(&self, command: &Command) -> (Child, File) {
        let place = TempDir::new().expect("a directory");
        let pipe = place.path().join("in");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        // Open for both, so that no side waits for the other one.
        let input = File::options().read(true).write(true).open(&pipe).expect("the pipe");
        let mut on_terminal = Command::new("setsid");
        on_terminal
            .args(["--ctty", "sh", "-c", "exec \"$@\" <\"$0\""])
            .arg(&pipe)
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .stdin(Stdio::from(self.screen.try_clone().expect("a handle")))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = command.get_current_dir() {
            on_terminal.current_dir(directory);
        }
        let child = on_terminal.spawn();
        let child = child.unwrap_or_else(|error| panic!("these tests need the program `setsid`: {error}"));
        // The pipe's name must be there until the shell has opened it.
        let input_name = format!("/proc/{}/fd/0", child.id());
        wait_for("the program opens its input", || {
            std::fs::read_link(&input_name).is_ok_and(|name| name == pipe)
        });
        (child, input)
    }

    /// Waits until the screen shows these words, and forgets everything up to their end.
    pub fn shows(&self, words: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut shown = self.shown.lock().expect("the screen");
            if let Some(start) = shown.find(words) {
                shown.drain(..start + words.len());
                return;
            }
            assert!(Instant::now() < end, "the screen does not show `{words}` but:\n{shown}");
            drop(shown);
            thread::sleep(GLANCE);
        }
    }

    /// Whether the screen has shown these words.
    pub fn has_shown(&self, words: &str) -> bool {
        self.shown.lock().expect("the screen").contains(words)
    }

    /// Types a line at the next prompt.
    pub fn types(&self, line: &str) {
        self.shows("> ");
        self.press(&format!("{line}\n"));
    }

    /// Presses keys, whatever the screen shows.
    pub fn press(&self, keys: &str) {
        let mut keyboard = &self.keyboard;
        keyboard.write_all(keys.as_bytes()).expect("the terminal takes it");
    }
}

/// Waits until it is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::sleep(GLANCE);
    }
}
