//! `countersign explain`: what a command would do, step by step, and why.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

use crate::call::Call;
use crate::decision::Decision;
use crate::effect::Step;
use crate::escape::{visible, visible_json};
use crate::facts::Facts;
use crate::judge::{self, Judgement};
use crate::own_files;
use crate::pause::{self, Pause};
use crate::policy::config::{self, Config};
use crate::policy::limits::{self, Limit};
use crate::policy::{Buckets, Circumstances, Policy, Wiring};
use crate::report::steps::{self, Paint, quoted, rating};
use crate::report::{self, ShownLoss};
use crate::wire::{self, EventKind};

/// Judges as the hook would, from the directory it is called in.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The command is judged as if a session in this directory asked to run it. Nothing is run.\n\n\
    Example: countersign explain 'cd src && git log -5'"
)]
pub struct Args {
    /// The command, best in single quotes; of several words each is taken as the shell gives it
    #[arg(required_unless_present = "event", conflicts_with = "event", trailing_var_arg = true)]
    command: Vec<String>,
    /// Explain the event in this file (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let call = match &args.event {
        Some(path) => captured(path)?,
        None => typed(&joined(&args.command)?)?,
    };
    let facts = Facts::live(call.cwd.as_deref());
    let (config, invalid) = match config::effective(own_files::config_file().as_deref(), &facts.project) {
        Ok(config) => (config, None),
        Err(invalid) => (Config::default(), Some(invalid)),
    };
    let wiring = Wiring::default();
    // What the call is by itself; that everything is frozen or off is said beside it.
    let circumstances = Circumstances {
        buckets: Buckets::Shown,
        ..Circumstances::live(Pause::On)
    };
    let mut judgement = judge::judge(
        EventKind::PermissionRequest,
        &call,
        wiring,
        &config.policy,
        &circumstances,
        &facts,
    );
    if let Some(invalid) = invalid {
        judgement.ruling.withdraw(EventKind::PermissionRequest, &invalid);
    }
    judgement.count(&facts);
    let mut out = io::stdout().lock();
    let limits = limits(&call, &config.policy, &circumstances);
    if args.json {
        let json = serde_json::to_string_pretty(&Json::of(&judgement, limits))?;
        writeln!(out, "{}", visible_json(&json))?;
    } else {
        let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        print(&judgement, Paint(colour), &mut out)?;
        for limit in limits {
            writeln!(out, "  (the limit {limit})")?;
        }
        print_switches(&mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Each limit on the call's tool, and how much of it is left.
fn limits(call: &Call, policy: &Policy, circumstances: &Circumstances) -> Vec<String> {
    let of_call: Vec<&Limit> = policy.limits.iter().filter(|limit| limit.is_for(&call.tool)).collect();
    if of_call.is_empty() {
        return Vec::new();
    }
    let dir = circumstances.buckets.dir();
    let left = match dir.and_then(|dir| limits::left(&dir, &of_call, circumstances.now)) {
        Ok(left) => left.iter().map(|left| format!("{left} left")).collect(),
        Err(error) => vec![format!("cannot be counted: {error}"); of_call.len()],
    };
    let told = of_call
        .iter()
        .zip(left)
        .map(|(limit, left)| format!("{limit}: {left} ({})", limit.origin));
    told.map(|limit| visible(&limit).into_owned()).collect()
}

/// One word is a command as it stands; of several each is quoted again, as the shell had them.
fn joined(words: &[String]) -> anyhow::Result<String> {
    let command = match words {
        [one] => one.clone(),
        several => several.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    anyhow::ensure!(
        !command.trim().is_empty(),
        "there is no command to explain; give one in single quotes"
    );
    Ok(command)
}

fn captured(path: &PathBuf) -> anyhow::Result<Call> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .context("standard input cannot be read")?;
    } else {
        let shown = visible(&path.to_string_lossy()).into_owned();
        let mut file = File::open(path).with_context(|| format!("{shown} cannot be opened"))?;
        file.read_to_end(&mut bytes)
            .with_context(|| format!("{shown} cannot be read"))?;
    }
    let text = std::str::from_utf8(&bytes).context("the event is not UTF-8")?;
    wire::event::classify_event(text).map_err(|error| anyhow::anyhow!("this is no event that can be judged: {error}"))
}

fn typed(command: &str) -> anyhow::Result<Call> {
    let cwd = std::env::current_dir().context("the current directory is not known")?;
    let event = serde_json::json!({ "tool_name": "Bash", "tool_input": { "command": command }, "cwd": cwd });
    wire::event::classify_event(&event.to_string()).map_err(|error| anyhow::anyhow!("{error}"))
}

fn print(judgement: &Judgement, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    steps::write(judgement, paint, out)?;
    let ruling = &judgement.ruling;
    writeln!(out, ": {}", verdict(&ruling.decision))?;
    for loss in judgement.losses.iter().flatten() {
        writeln!(out, "  it {loss}")?;
    }
    writeln!(out, "  ({})", visible(&ruling.by.to_string()))?;
    Ok(())
}

fn print_switches(out: &mut impl Write) -> io::Result<()> {
    match pause::now() {
        Pause::On => Ok(()),
        Pause::Off { .. } | Pause::Unreadable(_) => writeln!(
            out,
            "  (just now every call keeps its prompt: Countersign is switched off)"
        ),
        Pause::Frozen(freeze) => writeln!(
            out,
            "  (just now every call is denied: Countersign is {})",
            visible(&freeze.to_string())
        ),
    }
}

fn verdict(decision: &Decision) -> String {
    match decision {
        Decision::Allow(_) => "runs without a prompt".to_owned(),
        Decision::Deny(deny) => format!("denied: {}", visible(&deny.message)),
        Decision::Hold(_) => "is put to a person".to_owned(),
        Decision::Ask(_) | Decision::None | Decision::Aside => "keeps its prompt".to_owned(),
    }
}

#[derive(Serialize)]
struct Json<'a> {
    tier: &'a str,
    proven: bool,
    decision: &'a str,
    by: String,
    summary: String,
    reasons: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    losses: Vec<ShownLoss>,
    steps: Vec<JsonStep<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<String>,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    program: &'a str,
    words: &'a [Option<String>],
    tier: &'a str,
    proven: bool,
    span: [u32; 2],
    effects: Vec<String>,
    doubts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rated: Option<String>,
}

impl<'a> Json<'a> {
    fn of(judgement: &'a Judgement, limits: Vec<String>) -> Self {
        let (assessment, ruling) = (&judgement.assessment, &judgement.ruling);
        Json {
            tier: ruling.tier.as_str(),
            proven: ruling.proven,
            by: ruling.by.to_string(),
            decision: match ruling.decision {
                Decision::Allow(_) => "allow",
                Decision::Deny(_) => "deny",
                Decision::Ask(_) | Decision::Hold(_) | Decision::None | Decision::Aside => "none",
            },
            summary: report::summary(assessment),
            reasons: report::reasons(assessment),
            losses: judgement.losses.iter().flatten().map(ShownLoss::of).collect(),
            steps: (0..)
                .zip(&assessment.steps)
                .map(|(number, step)| JsonStep::of(step, rating(judgement, number)))
                .collect(),
            limits,
        }
    }
}

impl<'a> JsonStep<'a> {
    fn of(step: &'a Step, rated: Option<String>) -> Self {
        JsonStep {
            program: &step.program,
            words: &step.words,
            tier: step.tier.as_str(),
            proven: step.proven(),
            span: [step.span.start, step.span.end],
            rated,
            effects: step.effects.iter().map(report::describe_with_place).collect(),
            doubts: step
                .doubts
                .iter()
                .map(|doubt| visible(&doubt.why).into_owned())
                .collect(),
        }
    }
}
