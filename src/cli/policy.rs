//! `countersign policy show`: what is configured, and what holds where you are.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};

use crate::effect::Tier;
use crate::escape::visible;
use crate::facts::Facts;
use crate::own_files;
use crate::pause::{self, Pause};
use crate::policy::Policy;
use crate::policy::config::{self, PROJECT_FILE};
use crate::policy::tiers::Setter;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show what each file sets, or what holds in this directory
    Show(ShowArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The answer to each tier and every rule, with the file and line that set it
    #[arg(long)]
    effective: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Command::Show(args) = args.command;
    let cwd = std::env::current_dir().context("the current directory cannot be found")?;
    let facts = Facts::live(Some(&cwd));
    let person = own_files::config_file().ok_or_else(|| anyhow!("no home directory is known; set HOME"))?;
    let mut out = io::stdout().lock();
    if let Pause::Frozen(freeze) = pause::now() {
        writeln!(out, "Now every call is denied: {}.", visible(&freeze.to_string()))?;
    }
    let doubtful = || "no call is decided until this is right";
    if args.effective {
        let config = config::effective(Some(&person), &facts.project).with_context(doubtful)?;
        write_policy(&config.policy, true, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let own = config::read(&person).with_context(doubtful)?;
    write_file(&person, (!own.files.is_empty()).then_some(&own.policy), &mut out)?;
    if let Some(path) = facts.project.first().map(|root| root.join(PROJECT_FILE)) {
        let project = config::read_of_project(&path).with_context(doubtful)?;
        write_file(&path, project.as_ref(), &mut out)?;
    }
    writeln!(out, "`countersign policy show --effective` shows what holds here.")?;
    Ok(ExitCode::SUCCESS)
}

fn write_file(path: &Path, policy: Option<&Policy>, out: &mut impl Write) -> io::Result<()> {
    let shown = visible(&path.to_string_lossy()).into_owned();
    match policy {
        None => writeln!(out, "{shown}: is not there"),
        Some(policy) => {
            writeln!(out, "{shown}:")?;
            write_policy(policy, false, out)
        }
    }
}

/// The table and all that stands beside it; without `all` only those answers that a line of a file has set.
fn write_policy(policy: &Policy, all: bool, out: &mut impl Write) -> io::Result<()> {
    for &tier in Tier::ALL {
        let (answer, setter) = policy.table.answer(tier);
        if all || *setter != Setter::Default {
            let setter = visible(&setter.to_string()).into_owned();
            writeln!(out, "  {:9} {:17} {setter}", tier.as_str(), answer.as_str())?;
        }
    }
    for rule in &policy.rules {
        let line = format!("{} {}  ({})", rule.when, rule.then, rule.origin);
        writeln!(out, "  {}", visible(&line))?;
    }
    let windows = policy
        .windows
        .iter()
        .map(|window| (format!("window: {window}"), &window.origin));
    let limits = policy
        .limits
        .iter()
        .map(|limit| (format!("limit: {limit}"), &limit.origin));
    let escalations = policy.escalations.iter().map(|one| (one.to_string(), &one.origin));
    for (line, origin) in windows.chain(limits).chain(escalations) {
        writeln!(out, "  {}", visible(&format!("{line}  ({origin})")))?;
    }
    Ok(())
}
