//! One file a subcommand: its arguments and its `run`. Input and output happen here, at the rim.

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// A line on standard output. Nobody may be reading it any more, which is no reason to leave a change half made.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

mod classify;
mod completions;
pub mod decide;
mod doctor;
mod explain;
mod freeze;
pub mod hook;
mod install;
mod log;
pub mod mcp;
mod off;
mod on;
mod policy;
pub mod relay;
pub mod run;
mod thaw;
mod uninstall;

#[derive(Debug, Parser)]
#[command(name = "countersign", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer one hook event from standard input (Claude Code calls this)
    Hook(hook::Args),
    /// Show what a command would do, step by step, and why
    Explain(explain::Args),
    /// Classify events: JSON lines in, JSON lines out, in order
    Classify(classify::Args),
    /// Answer permission prompts of a headless session over MCP (Claude Code starts this)
    Mcp(mcp::Args),
    /// Decide one request of an SDK's canUseTool from standard input
    Decide(decide::Args),
    /// Run Claude Code headless and answer its permission prompts, at this terminal if need be
    Run(run::Args),
    /// Add Countersign to Claude Code's settings
    Install(install::Args),
    /// Remove Countersign from Claude Code's settings
    Uninstall(uninstall::Args),
    /// Check what is wired, and send two test events through it
    Doctor(doctor::Args),
    /// Show what was answered, and check that the record is whole
    Log(log::Args),
    /// Give no opinion on any call, for a while or until `on`
    Off(off::Args),
    /// Answer again after `off`
    On(on::Args),
    /// Deny every call, until `thaw`
    Freeze(freeze::Args),
    /// Answer again after `freeze`
    Thaw(thaw::Args),
    /// Show what is allowed, asked about and denied, and which file says so
    Policy(policy::Args),
    /// Turn an approval relay on or off, start it, or show how it stands
    Relay(relay::Args),
    /// Show what waits for a person
    Pending(relay::Args),
    /// Allow one call that waits, from this terminal
    Approve(relay::Args),
    /// Deny one call that waits
    Deny(relay::Args),
    /// Show calls as they come to wait, and answer them
    Watch(relay::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

/// The whole grammar of the command line.
fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    hook::run_if_asked();
    let result = match Cli::parse().command {
        Command::Hook(args) => hook::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Classify(args) => classify::run(args),
        Command::Mcp(args) => mcp::run(args),
        Command::Decide(args) => decide::run(args),
        Command::Run(args) => run::run(args),
        Command::Install(args) => install::run(args),
        Command::Uninstall(args) => uninstall::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Log(args) => log::run(args),
        Command::Off(args) => off::run(args),
        Command::On(args) => on::run(args),
        Command::Freeze(args) => freeze::run(args),
        Command::Thaw(args) => thaw::run(args),
        Command::Policy(args) => policy::run(args),
        Command::Relay(args) => relay::run(None, args),
        Command::Pending(args) => relay::run(Some("pending"), args),
        Command::Approve(args) => relay::run(Some("approve"), args),
        Command::Deny(args) => relay::run(Some("deny"), args),
        Command::Watch(args) => relay::run(Some("watch"), args),
        Command::Completions(args) => completions::run(args),
    };
    result.unwrap_or_else(|error| {
        let io = error.downcast_ref::<io::Error>();
        // Who has seen enough is told nothing more.
        if io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        eprintln!("countersign: {error:#}");
        ExitCode::FAILURE
    })
}
