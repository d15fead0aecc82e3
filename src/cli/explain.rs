//! `countersign explain`: what a command would do, step by step, and why.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

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
use crate::policy::Wiring;
use crate::policy::config::{self, Config};
use crate::report;
use crate::report::steps::{self, Paint, quoted, rating};
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
    let mut judgement = judge::judge(EventKind::PermissionRequest, &call, wiring, &config.policy, &facts);
    if let Some(invalid) = invalid {
        judgement.ruling.withdraw(EventKind::PermissionRequest, &invalid);
    }
    let mut out = io::stdout().lock();
    if args.json {
        let json = serde_json::to_string_pretty(&Json::of(&judgement))?;
        writeln!(out, "{}", visible_json(&json))?;
    } else {
        let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        print(&judgement, Paint(colour), &mut out)?;
    }
    Ok(ExitCode::SUCCESS)
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
    writeln!(out, "  ({})", visible(&ruling.by.to_string()))?;
    if is_off() {
        writeln!(
            out,
            "  (just now every call keeps its prompt: Countersign is switched off)"
        )?;
    }
    Ok(())
}

fn is_off() -> bool {
    pause::file().is_some_and(|file| pause::read(&file, SystemTime::now()) != Pause::On)
}

fn verdict(decision: &Decision) -> String {
    match decision {
        Decision::Allow(_) => "runs without a prompt".to_owned(),
        Decision::Deny(deny) => format!("denied: {}", visible(&deny.message)),
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
    steps: Vec<JsonStep<'a>>,
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
    fn of(judgement: &'a Judgement) -> Self {
        let (assessment, ruling) = (&judgement.assessment, &judgement.ruling);
        Json {
            tier: ruling.tier.as_str(),
            proven: ruling.proven,
            by: ruling.by.to_string(),
            decision: match ruling.decision {
                Decision::Allow(_) => "allow",
                Decision::Deny(_) => "deny",
                Decision::Ask(_) | Decision::None | Decision::Aside => "none",
            },
            summary: report::summary(assessment),
            reasons: report::reasons(assessment),
            steps: (0..)
                .zip(&assessment.steps)
                .map(|(number, step)| JsonStep::of(step, rating(judgement, number)))
                .collect(),
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
