//! One session of the real host, told as a story: which release, which mode, which hooks and rules, which calls the
//! model makes; then what happened on the screen, to the files, and what the model was told.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::api::{Told, ToolUse};
use crate::host::Host;
use crate::sandbox::{COUNTERSIGN, Sandbox};
use crate::tui::{Tui, dialog_on};

/// How long a scripted step of the host may take before the test gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// The hooks' programs, by event, as words to execute.
type Hooks = Vec<(&'static str, Vec<String>)>;

pub struct Session {
    host: Host,
    sandbox: Sandbox,
    args: Vec<String>,
    settings: Map<String, Value>,
    hooks: Hooks,
    install: Option<Vec<&'static str>>,
}

/// A call of the Bash tool.
pub fn bash(command: &str) -> ToolUse {
    ToolUse {
        name: "Bash",
        input: json!({"command": command, "description": "a step of the test"}),
    }
}

/// A call of the Write tool: a new file in the project.
pub fn write(name: &str) -> ToolUse {
    ToolUse {
        name: "Write",
        input: json!({"file_path": name, "content": "new\n"}),
    }
}

impl Session {
    /// A session in which the model makes `calls`, one a turn, in the host's manual mode.
    pub fn new(host: Host, calls: impl Into<Vec<ToolUse>>) -> Session {
        let sandbox = Sandbox::new(calls.into());
        Session {
            host,
            sandbox,
            args: Vec::new(),
            settings: Map::new(),
            hooks: Vec::new(),
            install: None,
        }
        .mode("default")
    }

    pub fn mode(mut self, mode: &str) -> Session {
        self.args = vec!["--permission-mode".to_owned(), mode.to_owned()];
        self
    }

    /// Passes no mode: the host starts in the one it chooses itself.
    pub fn mode_of_the_host(mut self) -> Session {
        self.args.clear();
        self
    }

    /// Sets one top-level key of the user's settings.
    pub fn setting(mut self, key: &str, value: Value) -> Session {
        self.settings.insert(key.to_owned(), value);
        self
    }

    /// A hook that prints `answer` whatever it is asked; empty: it says nothing.
    pub fn hook_prints(self, event: &'static str, answer: &str) -> Session {
        let program = match answer.is_empty() {
            true => vec!["true".to_owned()],
            false => ["printf", "%s\\n", answer].map(str::to_owned).into(),
        };
        self.hook(event, program)
    }

    /// A hook that executes `program`; what it is asked is recorded.
    pub fn hook(mut self, event: &'static str, program: Vec<String>) -> Session {
        self.hooks.push((event, program));
        self
    }

    /// Wires the product into the user's settings by its own `countersign install`.
    pub fn installed(mut self, options: &[&'static str]) -> Session {
        self.install = Some(options.to_vec());
        self
    }

    /// The product behind the recorder, started with the arguments that follow `hook`.
    pub fn countersign(self, event: &'static str, args: &[&str]) -> Session {
        self.hook(
            event,
            [&[COUNTERSIGN, "hook"], args]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .collect(),
        )
    }

    /// A file in the project, beside what is committed there.
    pub fn file(self, name: &str) -> Session {
        fs::write(self.sandbox.project().join(name), "here\n").expect("a project file");
        self
    }

    /// The sandbox, to put more into it.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Moves the hooks out of the settings and into a plugin that the host is started with.
    pub fn wired_by_plugin(mut self) -> Session {
        let plugin = self.sandbox.root().join("plugin");
        fs::create_dir_all(plugin.join(".claude-plugin")).expect("the plugin's directory");
        fs::create_dir_all(plugin.join("hooks")).expect("the plugin's directory");
        let manifest = json!({"name": "errand", "version": "0.1.0", "description": "hooks of a test"});
        fs::write(plugin.join(".claude-plugin/plugin.json"), manifest.to_string()).expect("the plugin's manifest");
        let hooks = json!({"hooks": self.take_hooks()});
        fs::write(plugin.join("hooks/hooks.json"), hooks.to_string()).expect("the plugin's hooks");
        self.plugin_dir(plugin)
    }

    /// Starts the host with the plugin at `directory`.
    pub fn plugin_dir(mut self, directory: PathBuf) -> Session {
        self.args
            .extend(["--plugin-dir".to_owned(), directory.display().to_string()]);
        self
    }

    /// Starts the host's terminal screen and sends the prompt.
    pub fn in_terminal(mut self) -> Terminal {
        let executable = self.prepare();
        let tui = Tui::start(&self.sandbox, &executable, &self.args);
        let mut terminal = Terminal {
            tui,
            sandbox: self.sandbox,
            dialogs: Dialogs::default(),
        };
        terminal.send("please run the errand");
        terminal
    }

    /// Runs `claude -p` to its end.
    pub fn headless(mut self) -> Headless {
        let executable = self.prepare();
        let root = self.sandbox.root().to_owned();
        let output = File::create(root.join("output.txt")).expect("a file for the host's output");
        let mut child = Command::new(&executable)
            .args(["-p", "please run the errand"])
            .args(&self.args)
            .current_dir(self.sandbox.project())
            .env_clear()
            .envs(self.sandbox.environment())
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a second handle"))
            .stderr(output)
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", executable.display()));
        let end = Instant::now() + PATIENCE;
        while child.try_wait().expect("the host's state").is_none() {
            if Instant::now() > end {
                child.kill().ok();
                child.wait().ok();
                let output = fs::read_to_string(root.join("output.txt")).unwrap_or_default();
                panic!(
                    "`claude -p` did not end\n--- output\n{output}\n{}",
                    self.sandbox.report()
                );
            }
            sleep(Duration::from_millis(40));
        }
        Headless { sandbox: self.sandbox }
    }

    fn take_hooks(&mut self) -> Map<String, Value> {
        let mut entries = Map::new();
        for (event, program) in self.hooks.drain(..) {
            let list = entries.entry(event).or_insert_with(|| json!([]));
            list.as_array_mut()
                .expect("a list of entries")
                .push(self.sandbox.recorded(event, &program));
        }
        entries
    }

    /// Writes the settings and gives the host's executable.
    fn prepare(&mut self) -> PathBuf {
        let hooks = self.take_hooks();
        if !hooks.is_empty() {
            self.settings.insert("hooks".to_owned(), Value::Object(hooks));
        }
        if !self.settings.is_empty() {
            let settings = Value::Object(std::mem::take(&mut self.settings));
            fs::write(self.sandbox.settings_file(), settings.to_string()).expect("the user's settings");
        }
        if let Some(options) = &self.install {
            let settings = self.sandbox.settings_file().display().to_string();
            self.sandbox
                .countersign(&[&["install", "--settings", &settings], &options[..]].concat(), "");
        }
        self.args.extend([
            "--debug-file".to_owned(),
            self.sandbox.debug_file().display().to_string(),
        ]);
        self.host.executable()
    }
}

/// A running session on a terminal. No key is pressed unless a test says so.
pub struct Terminal {
    tui: Tui,
    sandbox: Sandbox,
    dialogs: Dialogs,
}

/// The dialogs seen so far.
#[derive(Default)]
struct Dialogs {
    since: Option<Instant>,
    longest: Duration,
    screens: Vec<String>,
}

impl Dialogs {
    fn look(&mut self, screen: &str) {
        if !dialog_on(screen) {
            self.since = None;
            return;
        }
        if self.since.is_none() {
            self.screens.push(screen.to_owned());
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        self.longest = self.longest.max(since.elapsed());
    }

    /// How long the dialog on the screen has stood; zero if there is none.
    fn standing(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Terminal {
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Waits until the model is told what came of the call of `turn`.
    pub fn told(&mut self, turn: usize) -> Told {
        let (api, dialogs) = (&self.sandbox.api, &mut self.dialogs);
        let told = self.tui.watch(PATIENCE, |screen| {
            dialogs.look(screen);
            api.told(turn)
        });
        told.unwrap_or_else(|| self.fail(&format!("the model was never told about call {turn}")))
    }

    /// Waits until a dialog about `words` has stood for `time` without a break, and nobody answered it.
    pub fn dialog_stands(&mut self, words: &str, time: Duration) {
        let dialogs = &mut self.dialogs;
        let stood = self.tui.watch(PATIENCE, |screen| {
            dialogs.look(screen);
            let stands = screen.contains(words) && dialogs.standing() >= time;
            stands.then_some(())
        });
        if stood.is_none() {
            self.fail(&format!("no dialog about `{words}` stood for {time:?}"));
        }
    }

    /// Plays on until the model says that it is done. No key is pressed.
    pub fn play_out(&mut self) {
        let (api, dialogs) = (&self.sandbox.api, &mut self.dialogs);
        let ended = self.tui.watch(PATIENCE, |screen| {
            dialogs.look(screen);
            api.has_ended().then_some(())
        });
        if ended.is_none() {
            self.fail("the session did not come to its end by itself");
        }
    }

    pub fn press(&self, key: &str) {
        self.tui.press(&[key]);
    }

    /// Waits until the screen shows `words`.
    pub fn shows(&self, words: &str) {
        if self
            .tui
            .watch(PATIENCE, |screen| screen.contains(words).then_some(()))
            .is_none()
        {
            self.fail(&format!("the screen does not show `{words}`"));
        }
    }

    /// The screens on which dialogs came up, however briefly they were seen.
    pub fn dialogs(&self) -> &[String] {
        &self.dialogs.screens
    }

    /// The longest time that a dialog was seen to stand.
    pub fn longest_dialog(&self) -> Duration {
        self.dialogs.longest
    }

    pub fn fail(&self, why: &str) -> ! {
        panic!(
            "{why}\n--- screen\n{}\n{}",
            self.tui.screen().trim_end(),
            self.sandbox.report()
        );
    }

    fn send(&mut self, prompt: &str) {
        if self.tui.reach_input().is_none() {
            self.fail("the host never showed its input box");
        }
        self.tui.type_text(prompt);
        if self
            .tui
            .watch(PATIENCE, |screen| screen.contains(prompt).then_some(()))
            .is_none()
        {
            self.fail("the prompt did not appear in the input box");
        }
        // A key pressed while the host is still starting is lost now and then.
        for _ in 0..5 {
            self.tui.press(&["Enter"]);
            let (api, dialogs) = (&self.sandbox.api, &mut self.dialogs);
            let begun = self.tui.watch(Duration::from_secs(4), |screen| {
                dialogs.look(screen);
                api.has_begun().then_some(())
            });
            if begun.is_some() {
                return;
            }
        }
        self.fail("the host did not send the prompt to the model");
    }
}

/// A finished `claude -p`.
pub struct Headless {
    sandbox: Sandbox,
}

impl Headless {
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// What the model was told about the call of `turn`.
    pub fn told(&self, turn: usize) -> Told {
        let told = self.sandbox.api.told(turn);
        told.unwrap_or_else(|| panic!("the model was never told about call {turn}\n{}", self.sandbox.report()))
    }
}
