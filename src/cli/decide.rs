//! `countersign decide`: one request of an SDK's `canUseTool` in, one `PermissionResult` out.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::relay;
use crate::approver::terminal::Terminal;
use crate::approver::{Approver, Why, Withdrawal};
use crate::desk::{self, Desk, Settled};
use crate::wire::event::MAX_BYTES;
use crate::wire::request;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Standard input is one object: {\"tool_name\", \"input\"} and, as far as they are known, \"tool_use_id\", \"cwd\", \
    \"permission_mode\", \"suggestions\" and what else the callback is given, in the spelling of either SDK. Start it in the \
    directory that the session was started in, whose project it judges by. The status is 0 exactly if a result was printed. \
    SIGTERM takes the question back.\n\n\
    Example: echo '{\"tool_name\":\"Bash\",\"input\":{\"command\":\"git status\"},\"cwd\":\"'$PWD'\"}' | countersign decide\n\n\
    docs/sdk.md has whole programs for TypeScript and Python."
)]
pub struct Args {}

/// Success only where the result has left.
fn printed(result: &str) -> anyhow::Result<ExitCode> {
    let written = io::stdout().write_all(format!("{result}\n").as_bytes());
    // Not as an error of a pipe, which elsewhere is none.
    let flushed = written.and_then(|()| io::stdout().flush());
    flushed.map_err(|error| anyhow!("the result cannot be printed: {error}"))?;
    Ok(ExitCode::SUCCESS)
}

pub fn run(_: Args) -> anyhow::Result<ExitCode> {
    let start = std::env::current_dir().context("the current directory is not known")?;
    relay::take_over(&start);
    decide(start, &Terminal)
}

/// Decides by policy, and by this approver.
pub fn decide(start: PathBuf, approver: &dyn Approver) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let withdrawal = Arc::new(Withdrawal::new().context("no descriptor is left")?);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("signals cannot be waited for")?;
    let taker = Arc::clone(&withdrawal);
    thread::spawn(move || signals.forever().for_each(|_| taker.withdraw(Why::SessionEnded)));
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .context("standard input cannot be read")?;
    let request = match request::read(&bytes) {
        Ok(request) => request,
        Err(why) => {
            return printed(&desk::malformed(&why, &start, begun));
        }
    };
    let desk = Desk {
        approver,
        presence: None,
        start,
        can_say_instead: false,
    };
    match desk.settle(request, &withdrawal) {
        Settled::Result(result) | Settled::SayInstead { result, .. } => printed(&result),
        Settled::Undecided(why) => bail!("no decision: {why}"),
        Settled::Withdrawn => bail!("no decision: the question was taken back"),
    }
}
