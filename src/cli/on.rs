//! `countersign on`: ends what `off` began.

use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::Context;

use crate::escape::visible;
use crate::pause::{self, Length, Pause};

#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(Args {}: Args) -> anyhow::Result<ExitCode> {
    let dir = pause::dir().context("no home directory is known, so nothing can be switched on")?;
    let now = SystemTime::now();
    let before = match pause::read(&dir, now) {
        Pause::On => "it was on already".into(),
        Pause::Off { until: None } => "it was off without an end".into(),
        Pause::Off { until: Some(until) } => {
            format!(
                "it was off for another {}",
                Length(until.duration_since(now).unwrap_or_default())
            )
        }
        Pause::Unreadable(why) => format!("it was off, since {}", visible(&why)),
        Pause::Frozen(_) => String::new(),
    };
    pause::end(&dir).with_context(|| format!("{} cannot be changed, so it stays off", dir.display()))?;
    if let Pause::Frozen(freeze) = pause::now() {
        say!(
            "Countersign is not off, but denies every call: it is {}. `countersign thaw` ends that.",
            visible(&freeze.to_string())
        );
        return Ok(ExitCode::SUCCESS);
    }
    say!("Countersign is on ({before}).");
    Ok(ExitCode::SUCCESS)
}
