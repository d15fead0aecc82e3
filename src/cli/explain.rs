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
use crate::effect::{Step, Tier};
use crate::escape::{visible, visible_json};
use crate::facts::Facts;
use crate::judge::{self, Judgement};
use crate::own_files;
use crate::pause::{self, Pause};
use crate::policy::Wiring;
use crate::policy::config::{self, Config};
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
    let mut judgement = judge::judge(EventKind::PermissionRequest, &call, wiring, &config.policy, &facts);
    if let Some(invalid) = invalid {
        judgement.ruling.withdraw(EventKind::PermissionRequest, &invalid);
    }
    judgement.count(&facts);
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

/// Colours for a terminal, or none.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    /// A tier in the margin.
    fn tier(self, tier: Tier) -> String {
        self.wrap(colour(tier), &format!("{:MARGIN$}", tier.as_str()))
    }

    fn told(self, line: &str) -> String {
        match line.strip_prefix(NOT_UNDERSTOOD) {
            Some(why) => format!("{}{why}", self.wrap("33", NOT_UNDERSTOOD)),
            None => line.to_owned(),
        }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

fn colour(tier: Tier) -> &'static str {
    match tier {
        Tier::Safe => "32",
        Tier::Low => "36",
        Tier::Medium => "33",
        Tier::High => "31",
        Tier::Critical => "1;31",
    }
}

/// Wide enough for the longest tier and a gap.
const MARGIN: usize = 10;

fn print(judgement: &Judgement, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let assessment = &judgement.assessment;
    let mut shown = Vec::new();
    for (number, step) in assessment.steps.iter().enumerate() {
        let said = (step.tier, words(step), told(step, rating(judgement, number)));
        // A script that is only guessed at gives the same step again and again.
        if shown.contains(&said) {
            continue;
        }
        let (tier, words, told) = &said;
        writeln!(out, "{}{}", paint.tier(*tier), paint.wrap("1", words))?;
        for line in told {
            writeln!(out, "{:MARGIN$}{}", "", paint.told(line))?;
        }
        shown.push(said);
    }
    for doubt in once(assessment.doubts.iter().map(|doubt| not_understood(&doubt.why))) {
        writeln!(out, "{:MARGIN$}{}", "", paint.told(&doubt))?;
    }
    let ruling = &judgement.ruling;
    let proven = match (assessment.proven(), ruling.proven) {
        (true, _) => "understood",
        (false, true) => "vouched for",
        (false, false) => "not understood completely",
    };
    writeln!(
        out,
        "= {} and {proven}: {}",
        paint.wrap(colour(ruling.tier), ruling.tier.as_str()),
        verdict(&ruling.decision)
    )?;
    for loss in judgement.losses.iter().flatten() {
        writeln!(out, "  it {loss}")?;
    }
    writeln!(out, "  ({})", visible(&ruling.by.to_string()))?;
    if is_off() {
        writeln!(
            out,
            "  (just now every call keeps its prompt: Countersign is switched off)"
        )?;
    }
    Ok(())
}

/// How a rule rates a step.
fn rating(judgement: &Judgement, number: usize) -> Option<String> {
    let mut rated = judgement.ruling.rated.iter();
    let (_, tier, origin) = rated.find(|(step, ..)| *step == number)?;
    Some(format!("counts as {tier} by the rule at {origin}"))
}

/// What a step does, what of it is not understood, and how it is rated, each once.
fn told(step: &Step, rating: Option<String>) -> Vec<String> {
    let effects = step.effects.iter().map(report::describe_with_place);
    let doubts = step.doubts.iter().map(|doubt| not_understood(&doubt.why));
    once(effects.chain(doubts).chain(rating))
}

fn once(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut told = Vec::new();
    for line in lines {
        if !told.contains(&line) {
            told.push(line);
        }
    }
    told
}

const NOT_UNDERSTOOD: &str = "not understood: ";

fn not_understood(why: &str) -> String {
    let why = visible(why);
    format!("{NOT_UNDERSTOOD}{}", why.strip_prefix(NOT_UNDERSTOOD).unwrap_or(&why))
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

/// The step's words as far as they are known, quoted as a shell would need them.
fn words(step: &Step) -> String {
    if step.words.is_empty() {
        return visible(&step.program).into_owned();
    }
    let words = step.words.iter().map(|word| match word {
        Some(text) => visible(&quoted(text)).into_owned(),
        None => "…".to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A word as a shell would need it.
fn quoted(text: &str) -> String {
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "-_./,:=+@%^{}".contains(character)
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
            losses: judgement.losses.iter().flatten().map(ShownLoss::of).collect(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Action, Around, Assessment, Doubt, Effect, EffectSpec};
    use crate::policy::{By, Ruling};
    use crate::shell::Span;

    fn step(words: &[Option<&str>]) -> Step {
        Step {
            program: words[0].unwrap_or_default().to_owned(),
            words: words.iter().map(|word| word.map(str::to_owned)).collect(),
            effects: Vec::new(),
            doubts: Vec::new(),
            tier: Tier::Safe,
            span: Span::default(),
            around: Around::default(),
        }
    }

    fn printed(steps: Vec<Step>, colour: bool) -> String {
        let judgement = Judgement {
            assessment: Assessment {
                steps,
                doubts: Vec::new(),
                tier: Tier::Medium,
                commands: Vec::new(),
                parsed: Some(true),
            },
            ruling: Ruling {
                decision: Decision::None,
                by: By::Unproven,
                tier: Tier::Medium,
                proven: true,
                rated: Vec::new(),
            },
            losses: None,
        };
        let mut out = Vec::new();
        print(&judgement, Paint(colour), &mut out).expect("memory");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_or_expand_them() {
        let words = |text: &str| words(&step(&[Some("echo"), Some(text)]));
        for plain in ["a", "--x=1", "src/main.rs", "é"] {
            assert_eq!(words(plain), format!("echo {plain}"));
        }
        for (text, shown) in [
            ("", "''"),
            ("a b", "'a b'"),
            ("~", "'~'"),
            ("$x", "'$x'"),
            ("(a)", "'(a)'"),
            ("it's", r"'it'\''s'"),
            ("a\nb", r"'a\nb'"),
            ("\u{202e}", r"'\u{202e}'"),
        ] {
            assert_eq!(words(text), format!("echo {shown}"));
        }
        assert_eq!(super::words(&step(&[Some("ls"), None])), "ls …");
    }

    #[test]
    fn what_is_said_twice_is_printed_once() {
        let mut twice = step(&[Some("ls"), Some("src")]);
        let effect = Effect::new(EffectSpec::of(Action::Inspect), "src");
        let doubt = Doubt {
            why: "not understood: coproc".into(),
            span: Span::default(),
            gap: None,
        };
        twice.effects = vec![effect.clone(), effect];
        twice.doubts = vec![doubt.clone(), doubt];
        let text = printed(vec![twice.clone(), twice], false);
        let lines: Vec<&str> = text.lines().take(3).collect();
        assert_eq!(
            lines,
            [
                "safe      ls src",
                "          looks at src",
                "          not understood: coproc"
            ]
        );
        assert_eq!(text.matches("ls src").count(), 1);
    }

    #[test]
    fn colours_change_nothing_but_the_colour() {
        let coloured = printed(vec![step(&[Some("ls")])], true);
        assert!(coloured.starts_with("\u{1b}[32msafe      \u{1b}[0m"));
        let plain = ["32", "33", "1", "0"]
            .iter()
            .fold(coloured, |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
        assert_eq!(plain, printed(vec![step(&[Some("ls")])], false));
    }
}
