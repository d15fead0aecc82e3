//! `countersign relay`, `pending`, `approve`, `deny` and `watch` are commands of the program beside this one, which knows
//! the network; so is waiting for a person somewhere else, which the hook hands over.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::Context;

use crate::facts::Facts;
use crate::hold::{self, Held, Holder};
use crate::own_files;
use crate::setup::relay::{PROGRAM, program};
use crate::wire::once::diagnose;

/// What is passed on as it is.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Words for countersign-relay; --help shows them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORDS")]
    words: Vec<OsString>,
}

/// Becomes `countersign-relay` with these words, `first` before them.
pub fn run(first: Option<&str>, args: Args) -> anyhow::Result<ExitCode> {
    let program = program().context("this program cannot find its own file")?;
    // So that its help calls it what the person has typed.
    let called = if first.is_some() {
        "countersign"
    } else {
        "countersign relay"
    };
    let error = Command::new(&program).arg0(called).args(first).args(args.words).exec();
    Err(error).with_context(|| {
        let program = program.display();
        format!("{program}, which does this, cannot be started (./install.sh puts it there)")
    })
}

/// Lets `countersign-relay` take over what this process was started for, with the same words, if a relay is on: it can ask
/// a person elsewhere too. Where it cannot be started, this process goes on alone.
pub fn take_over(start: &Path) {
    if !hold::relay_is_on(&Facts::live(Some(start))) {
        return;
    }
    let started = program().map(|program| Command::new(program).args(std::env::args_os().skip(1)).exec());
    let (Ok(error) | Err(error)) = started;
    diagnose(&format!(
        "the relay is on, but nobody is asked there: {PROGRAM} cannot be started: {error}"
    ));
}

/// Hands a held call to `countersign-relay hold`, which takes this process over: the host goes on to wait for it, and to
/// end it, as it would the hook.
#[derive(Clone, Copy, Debug)]
pub struct HandOver {
    /// When the whole of it must have ended.
    pub end: Instant,
}

impl Holder for HandOver {
    const WAITS: bool = false;

    fn hold(&self, held: Held) {
        held.judgement.ruling.give_back();
        let why = match self.become_holder(&held) {
            Ok(never) => match never {},
            Err(error) => error,
        };
        diagnose(&format!(
            "nobody is asked elsewhere: {PROGRAM} cannot be started: {why}"
        ));
    }

    fn printed(&self, _: bool) {}
}

impl HandOver {
    fn become_holder(&self, held: &Held) -> io::Result<std::convert::Infallible> {
        let program = program()?;
        let event = event_file(held.bytes)?;
        let left = self.end.saturating_duration_since(Instant::now()).as_secs();
        if let Some(lock) = held.lock {
            lock.keep();
        }
        held.once.stop_watching();
        Err(Command::new(program)
            .args(["hold", "--deadline", &left.to_string()])
            .stdin(Stdio::from(event))
            .exec())
    }
}

/// The event, to be read again from its beginning, in a file that has no name any more.
fn event_file(bytes: &[u8]) -> io::Result<fs::File> {
    let dir = own_files::runtime_dir().ok_or_else(|| io::Error::other("no home directory is known"))?;
    own_files::private_dir(&dir)?;
    let path = dir.join(format!("held-{}", std::process::id()));
    let (mut file, _) = own_files::open_private(&path, OpenOptions::new().write(true).create(true).truncate(true))?;
    fs::remove_file(&path)?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
