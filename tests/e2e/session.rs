//! One session of the real host, told as a story: which release, which mode, which hooks and rules, which calls the
//! model makes; then what happened on the screen, to the files, and what the model was told.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
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

/// What a session is asked to do.
const ERRAND: &str = "please run the errand";

pub struct Session {
    host: Host,
    sandbox: Sandbox,
    args: Vec<String>,
    settings: Map<String, Value>,
    hooks: Hooks,
    install: Option<Vec<&'static str>>,
    /// Variables of the session beside the sandbox's own.
    variables: Vec<(&'static str, String)>,
    /// `countersign run` starts the host.
    is_run: bool,
    /// The messages for the host come from a pipe that the test writes to.
    is_fed: bool,
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
        Session::in_turns(host, calls.into().into_iter().map(|call| vec![call]))
    }

    /// The same, with the calls of each turn made together.
    pub fn in_turns(host: Host, turns: impl IntoIterator<Item = Vec<ToolUse>>) -> Session {
        Session::of(host, Sandbox::new(turns.into_iter().collect()))
    }

    /// Another session of the same user's, beside one that has not started yet, in a project of its own.
    pub fn beside(other: &Session, calls: impl Into<Vec<ToolUse>>) -> Session {
        let turns = calls.into().into_iter().map(|call| vec![call]);
        Session::of(other.host, Sandbox::beside(&other.sandbox, turns.collect()))
    }

    fn of(host: Host, sandbox: Sandbox) -> Session {
        Session {
            host,
            sandbox,
            args: Vec::new(),
            settings: Map::new(),
            hooks: Vec::new(),
            install: None,
            variables: Vec::new(),
            is_run: false,
            is_fed: false,
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

    /// What the person has set for Countersign.
    pub fn configured(self, text: &str) -> Session {
        let dir = self.sandbox.home().join(".config/countersign");
        fs::create_dir_all(&dir).expect("the configuration's directory");
        fs::write(dir.join("config.toml"), text).expect("the configuration");
        self
    }

    /// One more variable in the environment of a headless session.
    pub fn variable(mut self, name: &'static str, value: &str) -> Session {
        self.variables.push((name, value.to_owned()));
        self
    }

    /// The host asks `countersign mcp` in a person's place.
    pub fn asking_mcp(self) -> Session {
        let config = self.sandbox.countersign(&["mcp", "--config"], "");
        self.asking_mcp_by(&config)
    }

    /// The same, with a configuration of the test's own.
    pub fn asking_mcp_by(mut self, config: &str) -> Session {
        let tool = "mcp__countersign__permission_prompt";
        let words = ["--mcp-config", config.trim(), "--permission-prompt-tool", tool];
        self.args.extend(words.map(str::to_owned));
        self
    }

    /// `countersign run` starts the host and answers what it asks.
    pub fn under_run(mut self) -> Session {
        self.is_run = true;
        self
    }

    /// The same, with messages that the test writes.
    pub fn under_run_fed(mut self) -> Session {
        self.is_fed = true;
        self.under_run()
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
        terminal.send(ERRAND);
        terminal
    }

    /// Runs the host without a screen to its end, where there is no terminal.
    pub fn headless(self) -> Headless {
        self.headless_while(|_| {})
    }

    /// The same, with something else that is done meanwhile.
    pub fn headless_while(mut self, act: impl FnOnce(&Sandbox)) -> Headless {
        let words = self.headless_words();
        let root = self.sandbox.root().to_owned();
        let file = |name: &str| File::create(root.join(name)).expect("a file for the host's output");
        // Away from the terminal that the tests may have been started from.
        let mut child = Command::new("setsid")
            .args(&words)
            .current_dir(self.sandbox.project())
            .env_clear()
            .envs(self.sandbox.environment())
            .envs(self.variables)
            .stdin(Stdio::null())
            .stdout(file(OUT))
            .stderr(file(ERR))
            .spawn()
            .unwrap_or_else(|error| panic!("this test needs the program `setsid`: {error}"));
        let acted = catch_unwind(AssertUnwindSafe(|| act(&self.sandbox)));
        if let Err(failure) = acted {
            child.kill().ok();
            child.wait().ok();
            eprintln!("{}", report(&self.sandbox));
            resume_unwind(failure);
        }
        let end = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = child.try_wait().expect("the host's state") {
                break status;
            }
            if Instant::now() > end {
                child.kill().ok();
                child.wait().ok();
                panic!("{words:?} did not end\n{}", report(&self.sandbox));
            }
            sleep(Duration::from_millis(40));
        };
        Headless {
            sandbox: self.sandbox,
            status,
        }
    }

    /// Starts the host without a screen, on a terminal where a person can be asked.
    pub fn attended(mut self) -> Attended {
        let words = self.headless_words();
        let root = self.sandbox.root().to_owned();
        let input = root.join(IN);
        let feed = match self.is_fed {
            false => {
                symlink("/dev/null", &input).expect("a link");
                None
            }
            true => {
                let made = Command::new("mkfifo").arg(&input).status().expect("mkfifo");
                assert!(made.success(), "mkfifo: {made}");
                // Open for both, so that neither side waits for the other to open it.
                let feed = File::options().read(true).write(true).open(&input);
                Some(feed.expect("the pipe"))
            }
        };
        // The terminal is held open beside the standard streams: without it the terminal would be gone. The shell stays,
        // for tmux loses the exit status of what it starts now and then.
        let script =
            format!("trap : INT;  \"$@\" 9>&2 <\"$0/{IN}\" >\"$0/{OUT}\" 2>\"$0/{ERR}\"; echo $? >\"$0/{STATUS}\"");
        let mut args = vec!["-c".to_owned(), script, root.display().to_string()];
        args.push("env".to_owned());
        args.extend(self.variables.iter().map(|(name, value)| format!("{name}={value}")));
        args.extend(words);
        let tui = Tui::start(&self.sandbox, Path::new("/bin/sh"), &args);
        Attended {
            tui,
            sandbox: self.sandbox,
            feed,
        }
    }

    /// The host as it is started without a screen, with whoever starts it.
    fn headless_words(&mut self) -> Vec<String> {
        let executable = self.prepare().display().to_string();
        let mut words = match (self.is_run, self.is_fed) {
            (false, _) => vec![executable, "-p".to_owned(), ERRAND.to_owned()],
            (true, true) => [COUNTERSIGN, "run", "--", &executable].map(str::to_owned).into(),
            (true, false) => [COUNTERSIGN, "run", "--prompt", ERRAND, "--", &executable]
                .map(str::to_owned)
                .into(),
        };
        words.append(&mut self.args);
        words
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

    /// Chooses the answer of this name in the dialog on the screen, by its number.
    pub fn chooses(&self, answer: &str) {
        let screen = self.tui.screen();
        let number = screen.lines().find_map(|line| {
            let (number, name) = line.trim_start_matches(['❯', ' ']).split_once(". ")?;
            (name.trim() == answer).then(|| number.to_owned())
        });
        match number {
            Some(number) => self.press(&number),
            None => self.fail(&format!("no answer is called `{answer}`")),
        }
    }

    /// Closes the terminal: everything on it is told that it is gone.
    pub fn close(&self) {
        self.tui.close();
    }

    /// The host's own process.
    pub fn process(&self) -> u32 {
        self.tui.process()
    }

    /// Waits until the screen shows no dialog.
    pub fn shows_no_dialog(&self) {
        let gone = self.tui.watch(PATIENCE, |screen| (!dialog_on(screen)).then_some(()));
        if gone.is_none() {
            self.fail("a dialog stands");
        }
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

/// A headless session that has ended.
pub struct Headless {
    sandbox: Sandbox,
    status: ExitStatus,
}

impl Headless {
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// What the model was told about its call of this number.
    pub fn told(&self, call: usize) -> Told {
        let told = self.sandbox.api.told(call);
        told.unwrap_or_else(|| panic!("the model was never told about call {call}\n{}", report(&self.sandbox)))
    }

    pub fn status(&self) -> ExitStatus {
        self.status
    }

    /// What was written to standard output.
    pub fn out(&self) -> String {
        written(&self.sandbox, OUT)
    }

    /// What was written to standard error.
    pub fn err(&self) -> String {
        written(&self.sandbox, ERR)
    }
}

/// A headless session on a terminal. No key is pressed unless a test says so.
pub struct Attended {
    tui: Tui,
    sandbox: Sandbox,
    feed: Option<File>,
}

impl Attended {
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Writes a line to the host's messages.
    pub fn feed(&mut self, line: &str) {
        let feed = self.feed.as_mut().expect("a session that is fed");
        writeln!(feed, "{line}").expect("the pipe takes it");
    }

    /// Sends what the host is asked to do as a message.
    pub fn feed_errand(&mut self) {
        let message = json!({"type": "user", "message": {"role": "user", "content": ERRAND}});
        self.feed(&message.to_string());
    }

    /// There are no more messages.
    pub fn feed_ends(&mut self) {
        self.feed = None;
    }

    /// Waits until the screen shows `words`.
    pub fn shows(&self, words: &str) {
        self.wait_for(&format!("the screen shows `{words}`"), |screen| {
            screen.contains(words).then_some(())
        });
    }

    /// Types a line at the prompt that stands on the screen, and clears the screen for the next.
    pub fn types(&self, line: &str) {
        self.wait_for("a prompt stands at the end of the screen", |screen| {
            screen.trim_end().ends_with('>').then_some(())
        });
        self.tui.clear();
        self.tui.type_text(line);
        self.tui.press(&["Enter"]);
    }

    pub fn press(&self, key: &str) {
        self.tui.press(&[key]);
    }

    /// Waits until the model is told about its call of this number.
    pub fn told(&self, call: usize) -> Told {
        self.wait_for(&format!("the model is told about call {call}"), |_| {
            self.sandbox.api.told(call)
        })
    }

    /// Waits until the process on the terminal has ended; gives its exit status.
    pub fn ended(&self) -> String {
        self.wait_for("the process ends", |_| self.exit_status())
    }

    fn exit_status(&self) -> Option<String> {
        let status = written(&self.sandbox, STATUS);
        status.strip_suffix('\n').map(str::to_owned)
    }

    /// The process that was started on the terminal.
    pub fn process(&self) -> u32 {
        self.wait_for("the process starts", |_| children(self.tui.process()).first().copied())
    }

    /// What was written to standard output.
    pub fn out(&self) -> String {
        written(&self.sandbox, OUT)
    }

    /// What was written to standard error.
    pub fn err(&self) -> String {
        written(&self.sandbox, ERR)
    }

    /// Waits until `seen` gives something, or fails once the process has ended and it still does not.
    pub fn wait_for<T>(&self, what: &str, mut seen: impl FnMut(&str) -> Option<T>) -> T {
        let mut has_ended = false;
        let found = self.tui.watch(PATIENCE, |screen| match seen(screen) {
            None if has_ended => Some(None),
            found => {
                has_ended = self.exit_status().is_some();
                found.map(Some)
            }
        });
        found.flatten().unwrap_or_else(|| {
            let screen = self.tui.screen();
            panic!(
                "not so: {what}\n--- screen\n{}\n{}",
                screen.trim_end(),
                report(&self.sandbox)
            )
        })
    }
}

/// The files of a headless session's standard streams, in the sandbox.
const IN: &str = "in";
const OUT: &str = "out.txt";
const ERR: &str = "err.txt";
const STATUS: &str = "status.txt";

/// The processes that this one has started and that are not reaped yet.
pub fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let children: String = tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .collect();
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn written(sandbox: &Sandbox, file: &str) -> String {
    let bytes = fs::read(sandbox.root().join(file)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn report(sandbox: &Sandbox) -> String {
    let (out, err) = (written(sandbox, OUT), written(sandbox, ERR));
    format!("--- output\n{out}\n--- errors\n{err}\n{}", sandbox.report())
}
