//! `countersign explain`: what a command would do, step by step, and why.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde::Serialize;

use crate::call::Call;
use crate::decision::Decision;
use crate::effect::{Step, Tier};
use crate::escape::visible;
use crate::facts::Facts;
use crate::judge::{self, Judgement};
use crate::policy::Wiring;
use crate::report;
use crate::wire::{self, EventKind};

/// Explains a shell command as it would be judged here, or a captured event.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command; several words are joined by blanks
    #[arg(required_unless_present = "event", conflicts_with = "event")]
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
        None => typed(&args.command.join(" "))?,
    };
    let facts = Facts::live(call.cwd.as_deref());
    let judgement = judge::judge(EventKind::PermissionRequest, &call, Wiring::default(), &facts);
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &Json::of(&judgement))?;
        writeln!(out)?;
    } else {
        let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        print(&judgement, Paint(colour), &mut out)?;
    }
    Ok(ExitCode::SUCCESS)
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

/// Colours for a terminal, or none.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn tier(self, tier: Tier) -> String {
        let code = match tier {
            Tier::Safe => "32",
            Tier::Low => "36",
            Tier::Medium => "33",
            Tier::High => "31",
            Tier::Critical => "1;31",
        };
        self.wrap(code, tier.as_str())
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

fn print(judgement: &Judgement, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let assessment = &judgement.assessment;
    for step in &assessment.steps {
        writeln!(out, "{}  {}", paint.tier(step.tier), paint.wrap("1", &words(step)))?;
        for effect in &step.effects {
            writeln!(out, "    {}", report::describe(effect))?;
        }
        for doubt in &step.doubts {
            writeln!(
                out,
                "    {} {}",
                paint.wrap("33", "not understood:"),
                visible(&doubt.why)
            )?;
        }
    }
    for doubt in &assessment.doubts {
        writeln!(out, "{}", paint.wrap("33", &visible(&doubt.why)))?;
    }
    let proven = if assessment.proven() {
        "understood"
    } else {
        "not understood completely"
    };
    writeln!(out, "{}, {proven}: {}", paint.tier(assessment.tier), verdict(judgement))
}

fn verdict(judgement: &Judgement) -> String {
    match (&judgement.decision, &judgement.held_by) {
        (Decision::Allow(_), _) => "let through without asking".to_owned(),
        (Decision::Deny(deny), _) => format!("denied: {}", visible(&deny.message)),
        (Decision::Ask(_) | Decision::None | Decision::Aside, Some(rule)) => {
            format!("the host asks, by the rule {}", visible(rule))
        }
        (Decision::Ask(_) | Decision::None | Decision::Aside, None) => "the host asks".to_owned(),
    }
}

/// The step's words as they are known.
fn words(step: &Step) -> String {
    if step.words.is_empty() {
        return visible(&step.program).into_owned();
    }
    let words = step.words.iter().map(|word| match word {
        Some(text) if text.is_empty() || text.contains([' ', '\t', '\n', '\'', '"', '*', '$', ';', '|', '&']) => {
            format!("'{}'", visible(text))
        }
        Some(text) => visible(text).into_owned(),
        None => "…".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[derive(Serialize)]
struct Json<'a> {
    tier: &'a str,
    proven: bool,
    decision: &'a str,
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
}

impl<'a> Json<'a> {
    fn of(judgement: &'a Judgement) -> Self {
        let assessment = &judgement.assessment;
        Json {
            tier: assessment.tier.as_str(),
            proven: assessment.proven(),
            decision: match judgement.decision {
                Decision::Allow(_) => "allow",
                Decision::Deny(_) => "deny",
                Decision::Ask(_) | Decision::None | Decision::Aside => "none",
            },
            summary: report::summary(assessment),
            reasons: report::reasons(assessment),
            steps: assessment.steps.iter().map(JsonStep::of).collect(),
        }
    }
}

impl<'a> JsonStep<'a> {
    fn of(step: &'a Step) -> Self {
        JsonStep {
            program: &step.program,
            words: &step.words,
            tier: step.tier.as_str(),
            proven: step.proven(),
            span: [step.span.start, step.span.end],
            effects: step.effects.iter().map(report::describe).collect(),
            doubts: step
                .doubts
                .iter()
                .map(|doubt| visible(&doubt.why).into_owned())
                .collect(),
        }
    }
}
