//! `countersign thaw`: ends what `freeze` began.

use std::process::ExitCode;

use anyhow::Context;

use crate::escape::visible;
use crate::pause::{self, Pause};

#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(Args {}: Args) -> anyhow::Result<ExitCode> {
    let dir = pause::dir().context("no home directory is known, so nothing can be thawed")?;
    let before = match pause::now() {
        Pause::Frozen(freeze) => format!("it was {freeze}"),
        Pause::On | Pause::Off { .. } | Pause::Unreadable(_) => "it was not frozen".into(),
    };
    pause::thaw(&dir).with_context(|| format!("{} cannot be changed, so it stays frozen", dir.display()))?;
    if let Pause::Frozen(freeze) = pause::now() {
        anyhow::bail!("it is still {freeze}");
    }
    let off = match pause::now() {
        Pause::Off { .. } | Pause::Unreadable(_) => " It is switched off; `countersign on` switches it on.",
        Pause::On | Pause::Frozen(_) => "",
    };
    say!("Countersign is thawed ({}).{off}", visible(&before));
    Ok(ExitCode::SUCCESS)
}
