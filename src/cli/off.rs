//! `countersign off [LENGTH]`: no opinion on any call, for a while or until `on`.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Context;

use crate::escape::visible;
use crate::pause::{self, Length, Pause};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// For how long: 30m, 1h, 2d; without it until `countersign on`
    #[arg(value_name = "LENGTH", value_parser = pause::parse_length)]
    length: Option<Duration>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let dir = pause::dir().context("no home directory is known, so nothing can be switched off")?;
    let until = args.length.map(|length| SystemTime::now() + length);
    pause::start(&dir, until).with_context(|| format!("{} cannot be written, so nothing changed", dir.display()))?;
    let end = args.length.map_or("until `countersign on`".into(), |length| {
        format!("for {}", Length(length))
    });
    if let Pause::Frozen(freeze) = pause::now() {
        say!(
            "Countersign will be off {end}, once it is thawed. Until then it denies every call: it is {}.",
            visible(&freeze.to_string())
        );
        return Ok(ExitCode::SUCCESS);
    }
    say!(
        "Countersign is off {end}: it gives no opinion, no guard stops a call, and Claude Code does as it would without it."
    );
    Ok(ExitCode::SUCCESS)
}
