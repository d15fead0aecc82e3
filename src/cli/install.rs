//! `countersign install`: adds our entries to the host's settings.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::builder::PossibleValuesParser;
use diffy::DiffOptions;
use serde_json::Value;

use crate::effect::Tier;
use crate::policy::{Guard, Wiring};
use crate::setup::file::{SettingsFile, check, read, unchanged};
use crate::setup::host::Places;
use crate::setup::wiring::{self, Entries};
use crate::setup::{program, relay};

/// Without a terminal nothing is asked: the entry for permission prompts is written, and what no option names stays
/// as it is now (at first: not early, no guard).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "On a terminal the change is shown and asked about first. Without one nothing is asked: the entry \
    for permission prompts is written, and what no option names stays as it is."
)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Also allow harmless calls before a prompt is considered: no dialog flashes up, and it works in auto mode too
    #[arg(long, overrides_with = "no_early")]
    early: bool,

    /// Answer permission prompts only
    #[arg(long)]
    no_early: bool,

    /// Deny calls at or above this tier in every mode, auto mode included
    #[arg(long, value_name = "TIER", overrides_with = "no_guard", value_parser = PossibleValuesParser::new(["high", "critical"]))]
    guard: Option<String>,

    /// Let the guard ask you instead of denying
    #[arg(long, requires = "guard")]
    guard_asks: bool,

    /// Take the guard away
    #[arg(long)]
    no_guard: bool,

    /// Ask nothing and take the recommended answers (early: yes)
    #[arg(long, short)]
    yes: bool,
}

/// Which settings file, and whether it is really written.
#[derive(Debug, clap::Args)]
pub struct Target {
    /// The settings file [default: settings.json in CLAUDE_CONFIG_DIR or ~/.claude]
    #[arg(long, value_name = "PATH", conflicts_with = "project")]
    settings: Option<PathBuf>,

    /// This project only: .claude/settings.local.json, which is yours, and not settings.json, which others share
    #[arg(long)]
    project: bool,

    /// Show the change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

impl Target {
    pub fn path(&self) -> Result<PathBuf> {
        match &self.settings {
            Some(path) => Ok(path.clone()),
            None if self.project => Ok(Places::find()?.local_settings()),
            None => Ok(Places::find()?.user_settings()),
        }
    }

    /// The options that name the same file again, with a blank before them.
    fn options(&self) -> String {
        match &self.settings {
            Some(path) => format!(" --settings {}", path.display()),
            None if self.project => " --project".to_owned(),
            None => String::new(),
        }
    }
}

pub fn run(args: Args) -> Result<ExitCode> {
    let path = args.target.path()?;
    let file = SettingsFile::read(&path)?;
    let before = file.text()?;
    let settings = read(&path, before)?;
    let asks = io::stdin().is_terminal() && io::stderr().is_terminal() && !args.yes && !args.target.dry_run;
    let wanted = wanted(&args, &settings, asks)?;
    let after = wiring::wire(before, &wanted).with_context(|| unchanged(&path))?;
    check(&path, &after)?;

    if after == before {
        say!("Already installed in {}; nothing to change.", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    if args.target.dry_run {
        say!("{}", diff(&path, before, &after).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    if asks {
        eprint!("{}", diff(&path, before, &after));
        if !ask("Write this?")? {
            say!("Nothing was changed.");
            return Ok(ExitCode::SUCCESS);
        }
    }
    let backup = file.replace(&after)?;
    report(&path, &wanted, backup.as_deref(), &args.target);
    Ok(ExitCode::SUCCESS)
}

fn wanted(args: &Args, settings: &Value, asks: bool) -> Result<Entries> {
    let binary = program::path().context("this program cannot find its own file")?;
    let binary = binary.into_os_string().into_string();
    let binary =
        binary.map_err(|path| anyhow::anyhow!("{} is not UTF-8, so it cannot be written into JSON", path.display()))?;
    let now = wiring::present(settings);
    let early = match (args.early, args.no_early) {
        (true, _) => true,
        (_, true) => false,
        _ if now.early || args.yes => true,
        _ => asks && ask(EARLY_QUESTION)?,
    };
    let chosen = args.guard.as_deref().and_then(Tier::parse).map(|tier| Guard {
        tier,
        asks: args.guard_asks,
    });
    let guard = if args.no_guard { None } else { chosen.or(now.guard) };
    Ok(Entries {
        binary,
        wiring: Wiring { early, guard },
        relay: relay::is_on(),
    })
}

const EARLY_QUESTION: &str = "Allow harmless shell commands early, before Claude Code considers a prompt? \
     Then no dialog flashes up, and it works in auto mode too.";

/// Asks on the terminal; an empty answer means yes.
fn ask(question: &str) -> Result<bool> {
    loop {
        eprint!("{question} [Y/n] ");
        io::stderr().flush()?;
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer)? == 0 {
            bail!("no answer came, so nothing was changed");
        }
        match answer.trim().to_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => eprintln!("Please answer y or n."),
        }
    }
}

/// The change as a unified diff.
pub fn diff(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    DiffOptions::new()
        .set_original_filename(name.clone())
        .set_modified_filename(name)
        .create_patch(before, after)
        .to_string()
}

fn report(path: &Path, wired: &Entries, backup: Option<&Path>, target: &Target) {
    say!("Installed in {}:", path.display());
    say!("  permission prompts: answered by {}", wired.binary);
    if wired.relay {
        say!("  what is left open: held for whoever answers at the relay, beside Claude Code's own dialog");
    }
    if wired.wiring.early {
        say!("  harmless shell commands: allowed before a prompt is considered");
    }
    if let Some(guard) = wired.wiring.guard {
        let does = if guard.asks { "brought to you" } else { "denied" };
        say!("  calls of tier {} and above: {does} in every mode", guard.tier);
    }
    if let Some(backup) = backup {
        say!("The file as it was: {}", backup.display());
    }
    if Path::new(&wired.binary).starts_with(std::env::current_dir().unwrap_or_default()) {
        say!("Warning: the program lies in the directory you are in. An agent that works here can replace it.");
    }
    say!(
        "Running sessions take it up within seconds. Check with `countersign doctor`, undo with `countersign uninstall{}`.",
        target.options()
    );
}
