//! `mcp`, `run` and `decide` as the hook's program has them, with a person elsewhere to ask as well. While a relay is on,
//! that program becomes this one.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use countersign::cli::{decide, mcp, run};
use countersign::own_files;
use countersign::policy::config;

use crate::approver::{Anywhere, Relay};
use crate::identity;

pub fn mcp() -> Result<ExitCode> {
    mcp::serve(start()?, Arc::new(anywhere()?))
}

pub fn run(args: run::Args) -> Result<ExitCode> {
    run::drive(args, start()?, Arc::new(anywhere()?))
}

pub fn decide() -> Result<ExitCode> {
    decide::decide(start()?, &anywhere()?)
}

fn start() -> Result<std::path::PathBuf> {
    std::env::current_dir().context("the current directory is not known")
}

fn anywhere() -> Result<Anywhere> {
    // A wrong file is told with the first call.
    let config = own_files::config_file().and_then(|file| config::read(&file).ok());
    let short_wait = config.unwrap_or_default().relay.subagent_wait;
    Ok(Anywhere(Relay::open(&identity::dir()?, short_wait)?))
}
