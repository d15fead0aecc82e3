//! `countersign run -- claude ..`: a headless Claude Code whose permission prompts this process answers.
//!
//! claude speaks `stream-json` on its standard input and output, and both pass through here. Threads: one reads our
//! standard input, one writes claude's, one settles each request, and the main one reads what claude says. Between our
//! input and claude's lies a queue without a bound, so that nobody ever waits in a circle: a caller that writes much
//! before it reads costs memory, and never stands still.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::value::RawValue;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::relay;
use crate::approver::terminal::Terminal;
use crate::approver::{Approver, Running, Withdrawal};
use crate::assess::bash;
use crate::call::Mode;
use crate::desk::{self, Desk, Settled};
use crate::escape::visible;
use crate::facts::Facts;
use crate::presence::Presence;
use crate::wire::control::{self, FromHost, Made};
use crate::wire::once::diagnose;
use crate::wire::request;

/// What claude is started with, so that it asks here.
const FLAGS: [(&str, Option<&str>); 5] = [
    ("--print", None),
    ("--input-format", Some("stream-json")),
    ("--output-format", Some("stream-json")),
    ("--verbose", None),
    ("--permission-prompt-tool", Some("stdio")),
];
/// After our input has ended, how long a new turn may take to begin once one has ended. Messages that claude takes
/// together end in one turn.
const BETWEEN_TURNS: Duration = Duration::from_secs(2);
/// The longest line that is looked at; a longer one passes as it is.
const MAX_LINE: usize = 32 * 1024 * 1024;
/// Tools without a command that leave the shell where it stands. Another one may not, as one that enters a worktree.
const STAY: [&str; 27] = [
    "Agent",
    "AskUserQuestion",
    "BashOutput",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "SendMessage",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];
/// How much of a command the report at the end shows, in characters.
const MAX_SHOWN: usize = 100;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Messages for claude go to standard input as stream-json lines, or one task to --prompt. Your configuration \
    decides; what it leaves open is asked at the terminal, if there is one: allow, deny, edit, always, explain, stop, or say \
    something instead. What claude prints and its exit status are passed on; what was denied, and what ran without being asked \
    about, is told on standard error. docs/headless.md has the whole of it.\n\n\
    Example: countersign run --text --prompt 'fix the failing test' -- claude --model sonnet"
)]
pub struct Args {
    /// The one message for claude; without it messages are read from standard input
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Print what the model says instead of claude's JSON lines
    #[arg(long)]
    text: bool,
    /// claude and its arguments
    #[arg(required = true, last = true, value_name = "claude ..")]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.prompt.is_none() && io::stdin().is_terminal() {
        bail!(
            "there is no message for claude; give the task with --prompt, or messages as stream-json on standard input"
        );
    }
    let start = std::env::current_dir().context("the current directory is not known")?;
    relay::take_over(&start);
    drive(args, start, Arc::new(Terminal))
}

/// Runs claude, and answers by policy and by this approver.
pub fn drive(args: Args, start: PathBuf, approver: Arc<dyn Approver>) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("signals cannot be waited for")?;
    let mut claude = started(&args.command)?;
    let host = claude.id();
    let has_terminal = File::open("/dev/tty").is_ok();
    thread::spawn(move || {
        for signal in signals.forever() {
            // What a terminal sends, it sends to claude as well.
            if signal != SIGINT || !has_terminal {
                pass_on(host, signal);
            }
        }
    });
    let (queue, lines) = mpsc::channel();
    let input = claude.stdin.take().context("claude has no standard input")?;
    let output = claude.stdout.take().context("claude has no standard output")?;
    let (ended, teller) = UnixStream::pair().context("no descriptor is left")?;
    thread::spawn(move || write_lines(&lines, input));
    let session = Arc::new(Session {
        approver,
        presence: Presence::announced(host),
        start: start.clone(),
        queue,
        running: Running::default(),
        heard: Mutex::new(Heard {
            cwd: Some(start),
            ..Heard::default()
        }),
    });
    let reader = Arc::clone(&session);
    thread::spawn(move || match args.prompt {
        Some(prompt) => {
            reader.heard().messages += 1;
            reader.send(&control::message(&prompt));
            reader.end_input();
        }
        None => reader.pass_input(io::stdin().lock()),
    });
    let waiter = thread::spawn(move || {
        let status = claude.wait();
        drop(teller);
        status
    });
    let output = Output { pipe: output, ended };
    session.pass_output(BufReader::with_capacity(64 * 1024, output), args.text);
    session.running.withdraw_all();
    // It may go on for a while after its output has ended.
    let status = waiter.join().map_err(|_| anyhow!("claude's end was missed"))?;
    let status = status.context("claude's end cannot be waited for")?;
    session.report(status);
    Ok(exit_code(status))
}

fn started(command: &[OsString]) -> anyhow::Result<Child> {
    let (program, args) = command.split_first().context("name claude after `--`")?;
    let given = |flag: &str| {
        args.iter().position(|arg| {
            let arg = arg.as_encoded_bytes();
            arg == flag.as_bytes()
                || arg
                    .strip_prefix(flag.as_bytes())
                    .is_some_and(|rest| rest.starts_with(b"="))
        })
    };
    let mut flags: Vec<&str> = Vec::new();
    for (flag, value) in FLAGS {
        match (given(flag), value) {
            (None, Some(value)) => flags.extend([flag, value]),
            (None, None) => flags.push(flag),
            (Some(_), None) => {}
            (Some(at), Some(value)) => {
                let glued = format!("{flag}={value}");
                let same = args[at] == *glued || args.get(at + 1).is_some_and(|next| next == value);
                if !same {
                    bail!("`countersign run` needs {flag} {value}; leave out the other one");
                }
            }
        }
    }
    let child = Command::new(program)
        .args(flags)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    child.with_context(|| format!("{} does not start", visible(&program.to_string_lossy())))
}

fn pass_on(process: u32, signal: i32) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(signal)) {
        // One that has ended needs none.
        let _ = kill_process(pid, signal);
    }
}

/// A line for claude, or the end of its input.
enum ToHost {
    Line(Vec<u8>),
    End,
}

fn write_lines(lines: &Receiver<ToHost>, mut input: ChildStdin) {
    for line in lines {
        match line {
            // A claude that reads no more is about to end.
            ToHost::Line(line) if input.write_all(&line).is_err() => return,
            ToHost::Line(_) => {}
            ToHost::End => return,
        }
    }
}

/// claude's output. It ends with claude, even where something that claude has started holds it open.
struct Output {
    pipe: ChildStdout,
    /// Closed at the other end once claude has ended.
    ended: UnixStream,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut both = [&self.pipe as &dyn AsFd, &self.ended]
            .map(|stream| PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::IN));
        poll(&mut both, None)?;
        // What was written before the end may have come after the look at the pipe.
        let mut pipe = [PollFd::new(&self.pipe, PollFlags::IN)];
        match poll(&mut pipe, Some(&Timespec::default()))? {
            0 if !both[1].revents().is_empty() => Ok(0),
            _ => self.pipe.read(buffer),
        }
    }
}

struct Session {
    approver: Arc<dyn Approver>,
    presence: Option<Presence>,
    start: PathBuf,
    queue: Sender<ToHost>,
    /// The requests that are being settled, by their ids.
    running: Running,
    heard: Mutex<Heard>,
}

/// What was heard of the session so far.
#[derive(Default)]
struct Heard {
    /// Where its shell stands, as long as that is known.
    cwd: Option<PathBuf>,
    /// The mode in which the turn began.
    mode: Option<Mode>,
    messages: u64,
    begun: u64,
    ended: u64,
    input_ended: bool,
    /// The calls of the model by their ids, those that were asked about, that have run, that were denied.
    made: HashMap<String, Made>,
    /// Where the shell stood before a call, as far as that is known.
    stood: HashMap<String, PathBuf>,
    asked: HashSet<String>,
    /// The ids of all requests.
    requests: HashSet<String>,
    ran: Vec<String>,
    denied: Vec<(String, String)>,
}

impl Session {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, line: &str) {
        let _ = self.queue.send(ToHost::Line(format!("{line}\n").into_bytes()));
    }

    /// Everything on our standard input, line by line.
    fn pass_input(&self, mut input: impl BufRead) {
        loop {
            let mut line = Vec::new();
            match (&mut input).take(MAX_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            if control::is_message(&line) {
                self.heard().messages += 1;
            }
            if self.queue.send(ToHost::Line(line)).is_err() {
                return;
            }
        }
        self.end_input();
    }

    /// Our input has ended. claude's ends when it has nothing left to do: until then it needs answers.
    fn end_input(&self) {
        let mut heard = self.heard();
        heard.input_ended = true;
        if heard.ended >= heard.messages {
            let _ = self.queue.send(ToHost::End);
        }
    }

    /// Everything that claude says, until it says no more.
    fn pass_output(self: &Arc<Self>, mut output: impl BufRead, as_text: bool) {
        let mut out = io::stdout().lock();
        let mut is_whole = true;
        loop {
            let mut line = Vec::new();
            match (&mut output).take(MAX_LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let began_whole = std::mem::replace(&mut is_whole, line.ends_with(b"\n"));
            let is_ours = began_whole && self.take(&line);
            let written = match (is_ours, as_text) {
                (true, _) => Ok(()),
                (false, false) => out.write_all(&line).and_then(|()| out.flush()),
                (false, true) => control::said(&line).map_or(Ok(()), |said| writeln!(out, "{}", shown(&said))),
            };
            if written.is_err() {
                // Nobody reads: claude is told so by its own output.
                return;
            }
        }
    }

    /// Takes a line of claude; `true` if nobody else is to see it.
    fn take(self: &Arc<Self>, line: &[u8]) -> bool {
        match control::read(line) {
            FromHost::Ask { id, request } => {
                self.start(id, request);
                return true;
            }
            FromHost::TakenBack { id } => return self.running.withdraw(&id),
            FromHost::Begin { cwd, mode } => {
                let mut heard = self.heard();
                heard.mode = mode.as_deref().map(Mode::named);
                heard.begun += 1;
                heard.cwd = cwd.map(PathBuf::from).filter(|cwd| cwd.is_absolute());
            }
            FromHost::End { denied } => self.end_turn(denied),
            FromHost::Calls(calls) => self.note(calls),
            FromHost::Ran(ids) => self.heard().ran.extend(ids),
            FromHost::Other => {}
        }
        false
    }

    fn end_turn(self: &Arc<Self>, denied: Vec<control::Denied>) {
        let mut heard = self.heard();
        heard.ended += 1;
        heard
            .denied
            .extend(denied.into_iter().map(|denied| (denied.tool_use_id, denied.tool_name)));
        if !heard.input_ended {
            return;
        }
        if heard.ended >= heard.messages {
            let _ = self.queue.send(ToHost::End);
            return;
        }
        let ended = heard.ended;
        let session = Arc::clone(self);
        thread::spawn(move || {
            thread::sleep(BETWEEN_TURNS);
            let heard = session.heard();
            if heard.ended == ended && heard.begun <= ended {
                let _ = session.queue.send(ToHost::End);
            }
        });
    }

    fn note(&self, calls: Vec<Made>) {
        let mut heard = self.heard();
        for call in calls {
            if let Some(cwd) = heard.cwd.clone() {
                if may_move(&call, &cwd) {
                    heard.cwd = None;
                }
                heard.stood.insert(call.id.clone(), cwd);
            }
            heard.made.insert(call.id.clone(), call);
        }
    }

    /// Settles a request beside the others.
    fn start(self: &Arc<Self>, id: String, request: Box<RawValue>) {
        let withdrawal = match Withdrawal::new() {
            Ok(withdrawal) => Arc::new(withdrawal),
            Err(error) => return self.send(&control::failure(&id, &format!("no call can be taken: {error}"))),
        };
        if !self.heard().requests.insert(id.clone()) {
            // An answer could not say which of the two it means.
            return self.send(&control::failure(&id, "a request with this id was there already"));
        }
        self.running.begin(&id, &withdrawal);
        let session = Arc::clone(self);
        thread::spawn(move || {
            session.settle(&id, &request, &withdrawal);
            session.running.end(&id);
        });
    }

    fn settle(&self, id: &str, request: &RawValue, withdrawal: &Withdrawal) {
        let begun = Instant::now();
        let mut request = match request::read(request.get().as_bytes()) {
            Ok(request) => request,
            Err(why) => return self.send(&control::answer(id, &desk::malformed(&why, &self.start, begun))),
        };
        {
            let mut heard = self.heard();
            heard.asked.extend(request.tool_use_id.clone());
            request.call.mode = heard.mode.unwrap_or(request.call.mode);
            // A subagent's shell stands where nobody here has seen.
            let stood = request
                .tool_use_id
                .as_ref()
                .filter(|_| request.call.agent.id().is_none());
            request.call.cwd = stood.and_then(|id| heard.stood.get(id)).cloned();
        }
        let desk = Desk {
            approver: &*self.approver,
            presence: self.presence.as_ref(),
            start: self.start.clone(),
            can_say_instead: true,
        };
        match desk.settle(request, withdrawal) {
            Settled::Result(result) => self.send(&control::answer(id, &result)),
            Settled::SayInstead { result, words } => {
                // Counted first: the turn may have ended before the words are on their way.
                self.heard().messages += 1;
                self.send(&control::answer(id, &result));
                self.send(&control::message(&words));
            }
            Settled::Undecided(why) => self.send(&control::failure(id, &why)),
            Settled::Withdrawn => {}
        }
    }

    /// What was denied, and what ran unasked, on standard error.
    fn report(&self, status: ExitStatus) {
        let heard = self.heard();
        for (id, tool) in &heard.denied {
            let command = heard.made.get(id).and_then(|made| made.command.as_deref());
            diagnose(&format!("denied: {tool}{}", command.map(called).unwrap_or_default()));
        }
        let mut unasked: BTreeMap<&str, usize> = BTreeMap::new();
        for made in heard
            .ran
            .iter()
            .filter(|id| !heard.asked.contains(*id))
            .filter_map(|id| heard.made.get(id))
        {
            *unasked.entry(&made.tool).or_default() += 1;
        }
        if !unasked.is_empty() {
            let named: Vec<String> = unasked.iter().map(|(tool, count)| format!("{tool} {count}")).collect();
            diagnose(&format!("ran without being asked about: {}", named.join(", ")));
        }
        if heard.messages == 0 && status.success() {
            diagnose("claude was given no message; give the task with --prompt");
        }
    }
}

/// Whether a call may leave the shell in another directory.
fn may_move(call: &Made, cwd: &Path) -> bool {
    let Some(command) = &call.command else {
        return !STAY.contains(&call.tool.as_str()) && !call.tool.starts_with("mcp__");
    };
    let found = bash::assess(command, Some(cwd), &Facts::live(Some(cwd)));
    let moving = |program: &str| ["cd", "pushd", "popd", "eval", "source", "."].contains(&program);
    !found.proven() || found.steps.iter().any(|step| moving(&step.program))
}

fn called(command: &str) -> String {
    let line = visible(command);
    let cut = line.char_indices().nth(MAX_SHOWN);
    match cut {
        Some((end, _)) => format!(" `{}..`", &line[..end]),
        None => format!(" `{line}`"),
    }
}

/// What a model says, line by line, nothing in it obeyed by a terminal.
fn shown(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// claude's own; one that a signal has ended gives 128 and its number, as shells do.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}
