//! `countersign-relay`: keeps what waits for a person, and hands on what they decide.

/// Prints a line. Whoever reads may have had enough and gone, which is no fault.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

mod approver;
#[cfg(test)]
#[path = "../tests/shared/card.rs"]
mod card;
mod client;
mod clock;
mod daemon;
mod faces;
mod hold;
mod identity;
#[cfg(test)]
#[path = "../tests/shared/postgres.rs"]
mod postgres;
mod server;
mod service;
mod switch;
mod terminal;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "countersign-relay", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Turn the relay on: what policy leaves open may be answered elsewhere
    On(switch::On),
    /// Turn the relay off; its keys are kept
    Off(switch::Off),
    /// Whether the relay is on, answers, and who could answer
    Status,
    /// Start the relay of this machine if it should run and does not
    Ensure,
    /// Have the system start the relay at login, by systemd or launchd
    #[command(subcommand)]
    Service(service::Verb),
    /// Answer one hook event that policy has left open (the hook starts this)
    #[command(hide = true)]
    Hold(hold::Args),
    /// `countersign mcp` while a relay is on
    #[command(hide = true)]
    Mcp,
    /// `countersign run` while a relay is on
    #[command(hide = true)]
    Run(countersign::cli::run::Args),
    /// `countersign decide` while a relay is on
    #[command(hide = true)]
    Decide,
    /// Serve until told to end (SIGTERM)
    Serve(server::Args),
    /// Show what waits for an answer
    Pending(terminal::PendingArgs),
    /// Let one waiting call run
    Approve(terminal::ApproveArgs),
    /// Refuse one waiting call
    Deny(terminal::DenyArgs),
    /// Ask at this terminal about each call as it comes to wait
    Watch(terminal::WatchArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::On(args) => done(switch::on(args)),
        Command::Off(args) => done(switch::off(args)),
        Command::Status => done(switch::status()),
        Command::Ensure => done(identity::dir().and_then(|dir| daemon::ensure(&dir).map(drop))),
        Command::Service(verb) => service::run(&verb),
        Command::Hold(args) => hold::run(&args),
        Command::Mcp => faces::mcp(),
        Command::Run(args) => faces::run(args),
        Command::Decide => faces::decide(),
        Command::Serve(args) => done(server::run(args)),
        Command::Pending(args) => terminal::pending(&args),
        Command::Approve(args) => terminal::approve(&args),
        Command::Deny(args) => terminal::deny(&args),
        Command::Watch(args) => terminal::watch(&args),
    };
    result.unwrap_or_else(|error| {
        let io = error.downcast_ref::<io::Error>();
        // Who has seen enough is told nothing more.
        if io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        eprintln!("countersign-relay: {error:#}");
        ExitCode::FAILURE
    })
}

fn done(result: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}
