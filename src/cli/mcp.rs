//! `countersign mcp`: an MCP server on standard input and output that Claude Code asks in a person's place.

use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use serde_json::value::RawValue;

use super::relay;
use crate::approver::terminal::Terminal;
use crate::approver::{Approver, Running, Why, Withdrawal};
use crate::desk::{self, Desk, Settled};
use crate::own_files;
use crate::policy::config::{self, Config};
use crate::presence::Presence;
use crate::wire::event::MAX_BYTES;
use crate::wire::mcp::{self, ASK_PERSON, Message, PERMISSION_PROMPT, Refused, ToolCall};
use crate::wire::request;

/// How often a client that wants to know is told that a call is still waiting.
const BETWEEN_PROGRESS: Duration = Duration::from_secs(5);
/// How much longer than we wait the host must.
const MARGIN: Duration = Duration::from_secs(30);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Claude Code starts this server, and asks it wherever it would ask a person:\n\n  \
    claude -p 'the task' --mcp-config \"$(countersign mcp --config)\" \\\n    \
    --permission-prompt-tool mcp__countersign__permission_prompt\n\n\
    Your configuration decides as for every permission prompt. What it leaves open is asked at the terminal, if there is one, \
    for as long as `wait` below [headless] in config.toml says; `unanswered` says what comes of it then. Have the hook \
    installed too (`countersign install`): it hands on where the shell stands, which this server is not told. \
    docs/headless.md has the whole of it."
)]
pub struct Args {
    /// Print the configuration that starts this server, for --mcp-config
    #[arg(long)]
    config: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.config {
        let program = std::env::current_exe().context("the path of this program is not known")?;
        say!("{}", server_config(&program, configured().headless.wait));
        return Ok(ExitCode::SUCCESS);
    }
    let start = std::env::current_dir().context("the current directory is not known")?;
    relay::take_over(&start);
    serve(start, Arc::new(Terminal))
}

/// Answers by policy, and by this approver.
pub fn serve(start: PathBuf, approver: Arc<dyn Approver>) -> anyhow::Result<ExitCode> {
    let server = Arc::new(Server {
        approver,
        start,
        presence: Presence::announced(parent_id()),
        output: Mutex::new(io::stdout()),
        running: Running::default(),
    });
    server.serve(io::stdin().lock());
    Ok(ExitCode::SUCCESS)
}

/// What the person has set, or the defaults: a wrong file is told with the first call.
fn configured() -> Config {
    let read = own_files::config_file().and_then(|file| config::read(&file).ok());
    read.unwrap_or_default()
}

/// The server in the host's words. Its own `timeout`, in milliseconds, holds whatever MCP_TOOL_TIMEOUT says.
fn server_config(program: &Path, wait: Duration) -> String {
    let timeout = u64::try_from((wait + MARGIN).as_millis()).unwrap_or(u64::MAX);
    let server = json!({"type": "stdio", "command": program, "args": ["mcp"], "timeout": timeout});
    json!({"mcpServers": {"countersign": server}}).to_string()
}

struct Server {
    approver: Arc<dyn Approver>,
    start: PathBuf,
    presence: Option<Presence>,
    output: Mutex<io::Stdout>,
    /// The calls that are being settled, by the id of their request.
    running: Running,
}

impl Server {
    /// Answers until the client has nothing more to say; what is still waited for then ends with the process.
    fn serve(self: &Arc<Self>, mut input: impl BufRead) {
        let mut line = Vec::new();
        loop {
            line.clear();
            // One byte more than may be, so that what is too long is seen to be; then the rest of it is passed over.
            match (&mut input).take(MAX_BYTES as u64 + 1).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) if line.len() > MAX_BYTES && !line.ends_with(b"\n") => pass_over(&mut input),
                Ok(_) => {}
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match mcp::read(&line) {
                Ok(message) => self.take(message),
                Err(Refused(answer)) => self.send(&answer),
            }
        }
        self.running.withdraw_all();
    }

    fn take(self: &Arc<Self>, message: Message) {
        match message {
            Message::Request { id, method, params } if method == "tools/call" => {
                match mcp::tool_call(params.as_deref()) {
                    Ok(call) => self.start(id, call),
                    Err(why) => self.send(&mcp::invalid_params(&id, &why)),
                }
            }
            Message::Request { id, method, params } => self.send(&mcp::answer(&id, &method, params.as_deref())),
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                if let Some(id) = mcp::cancelled(params.as_deref()) {
                    self.running.withdraw(id.get());
                }
            }
            Message::Notification { .. } | Message::Response => {}
        }
    }

    /// Settles a call beside the others.
    fn start(self: &Arc<Self>, id: Box<RawValue>, call: ToolCall) {
        if call.name != PERMISSION_PROMPT && call.name != ASK_PERSON {
            let name = crate::escape::visible(&call.name).into_owned();
            return self.send(&mcp::invalid_params(&id, &format!("there is no tool {name}")));
        }
        let withdrawal = match Withdrawal::new() {
            Ok(withdrawal) => Arc::new(withdrawal),
            Err(error) => return self.send(&mcp::tool_result(&id, &format!("no call can be taken: {error}"), true)),
        };
        let key = id.get().to_owned();
        if let Some(standing) = self.running.begin(&key, &withdrawal) {
            // An answer could not say which of the two it means.
            standing.withdraw(Why::AnsweredElsewhere);
            return self.send(&mcp::invalid_params(&id, "a request with this id is being answered"));
        }
        let server = Arc::clone(self);
        thread::spawn(move || {
            let answer = server.while_telling(call.progress.as_deref(), || server.settle(&call, &withdrawal));
            server.running.end(&key);
            if let Some((text, is_error)) = answer {
                server.send(&mcp::tool_result(&id, &text, is_error));
            }
        });
    }

    /// The one text block that answers, and whether it tells of a failure; `None` where no answer is wanted any more.
    fn settle(&self, call: &ToolCall, withdrawal: &Withdrawal) -> Option<(String, bool)> {
        let begun = Instant::now();
        let asks_person = call.name == ASK_PERSON;
        let request = match asks_person {
            true => request::questions(&call.arguments),
            false => request::read(call.arguments.get().as_bytes()),
        };
        let request = match request {
            Ok(request) => request,
            Err(why) if asks_person => return Some((why, true)),
            Err(why) => return Some((desk::malformed(&why, &self.start, begun), false)),
        };
        let desk = Desk {
            approver: &*self.approver,
            presence: self.presence.as_ref(),
            start: self.start.clone(),
            can_say_instead: false,
        };
        let settled = desk.settle(request, withdrawal);
        match settled {
            Settled::Withdrawn => None,
            _ if withdrawal.withdrawn().is_some() => None,
            Settled::Result(result) | Settled::SayInstead { result, .. } if asks_person => {
                Some((request::answered(&result), false))
            }
            Settled::Result(result) | Settled::SayInstead { result, .. } => Some((result, false)),
            Settled::Undecided(why) => Some((why, true)),
        }
    }

    /// Does what `work` does, and tells the client from time to time that it is not done.
    fn while_telling<T>(&self, token: Option<&RawValue>, work: impl FnOnce() -> T) -> T {
        let Some(token) = token else { return work() };
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let teller = scope.spawn(|| {
                for count in 1.. {
                    thread::park_timeout(BETWEEN_PROGRESS);
                    if done.load(Ordering::SeqCst) {
                        return;
                    }
                    self.send(&mcp::progress(token, count, "Waiting for a person's answer"));
                }
            });
            let result = work();
            done.store(true, Ordering::SeqCst);
            teller.thread().unpark();
            result
        })
    }

    /// One line; a client that is gone is told nothing.
    fn send(&self, line: &str) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| output.flush());
    }
}

/// Reads up to the end of the line, and keeps nothing of it.
fn pass_over(input: &mut impl BufRead) {
    let mut rest = Vec::new();
    while matches!(input.take(64 * 1024).read_until(b'\n', &mut rest), Ok(count) if count > 0) && !rest.ends_with(b"\n")
    {
        rest.clear();
    }
}
