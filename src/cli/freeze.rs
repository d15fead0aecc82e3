//! `countersign freeze [--reason WORDS]`: every call is denied until `thaw`.

use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::Context;

use crate::pause;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Why, for the record and for `doctor`; at most 500 bytes. The agent is not told
    #[arg(long, value_name = "WORDS", value_parser = reason)]
    reason: Option<String>,
}

fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty; leave it out, or say why".into()),
        trimmed if trimmed.len() > pause::MAX_REASON => Err(format!("write at most {} bytes", pause::MAX_REASON)),
        trimmed => Ok(trimmed.to_owned()),
    }
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let dir = pause::dir().context("no home directory is known, so nothing can be frozen")?;
    pause::freeze(&dir, SystemTime::now(), args.reason.as_deref())
        .with_context(|| format!("{} cannot be written, so NOTHING IS FROZEN", dir.display()))?;
    say!("Countersign is frozen until `countersign thaw`: it denies every call that comes to it, and ends the turn.");
    Ok(ExitCode::SUCCESS)
}
