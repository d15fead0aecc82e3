//! `countersign classify`: JSON lines in, JSON lines out, in order.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::assess::{self, loss};
use crate::effect::{Assessment, Effect, Tier};
use crate::escape::visible_json;
use crate::facts::Facts;
use crate::report::{self, ShownLoss};
use crate::wire;

/// Reads events, one JSON object a line, from standard input: `{"tool_name": .., "tool_input": .., "cwd": ..}`.
///
/// Prints one object a line for each: `tier`, `proven`, `effects`, `reasons`, `summary`; for shell calls also `parsed`
/// and `commands`, and `losses` where files would be deleted, overwritten or put back. A line that cannot be read is answered with `error`, and its tier is `high`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each line: {\"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"ls\"}, \"cwd\": \"/project\"}"
)]
pub struct Args {}

#[derive(Serialize)]
struct Answer<'a> {
    tier: &'a str,
    proven: bool,
    effects: Vec<ShownEffect<'a>>,
    reasons: Vec<String>,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parsed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<&'a [Vec<Option<String>>]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    losses: Vec<ShownLoss>,
}

#[derive(Serialize)]
struct ShownEffect<'a> {
    action: &'a str,
    place: &'a str,
    undo: &'a str,
    reach: &'a str,
    target: &'a str,
}

#[derive(Serialize)]
struct Failure {
    tier: &'static str,
    proven: bool,
    error: String,
}

pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        answer(&line, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn answer(line: &[u8], out: &mut impl Write) -> anyhow::Result<()> {
    let call = match std::str::from_utf8(line) {
        Ok(text) => wire::event::classify_event(text).map_err(|error| error.to_string()),
        Err(_) => Err("the line is not UTF-8".to_owned()),
    };
    let json = match call {
        Ok(call) => {
            let facts = Facts::live(call.cwd.as_deref());
            serde_json::to_string(&shown(&assess::assess(&call, &facts), &facts))?
        }
        Err(error) => serde_json::to_string(&Failure {
            tier: "high",
            proven: false,
            error,
        })?,
    };
    writeln!(out, "{}", visible_json(&json))?;
    Ok(())
}

fn shown<'a>(assessment: &'a Assessment, facts: &Facts) -> Answer<'a> {
    let effects = assessment
        .steps
        .iter()
        .flat_map(|step| &step.effects)
        .map(shown_effect)
        .collect();
    Answer {
        tier: assessment.tier.as_str(),
        proven: assessment.proven(),
        effects,
        reasons: report::reasons(assessment),
        summary: report::summary(assessment),
        parsed: assessment.parsed,
        commands: assessment.parsed.map(|_| assessment.commands.as_slice()),
        losses: match assessment.tier {
            Tier::Safe => Vec::new(),
            _ => loss::of(assessment, facts, loss::MAX_TIME)
                .iter()
                .map(ShownLoss::of)
                .collect(),
        },
    }
}

fn shown_effect(effect: &Effect) -> ShownEffect<'_> {
    ShownEffect {
        action: effect.spec.action.as_str(),
        place: effect.spec.place.as_str(),
        undo: effect.spec.undo.as_str(),
        reach: effect.spec.reach.as_str(),
        target: &effect.target,
    }
}
