//! The steps of a judged call, for a person: what each does, what of it is not understood, how it is rated.

use std::io::{self, Write};

use crate::effect::{Step, Tier};
use crate::escape::visible;
use crate::judge::Judgement;

use super::describe_with_place;

/// Colours for a terminal, or none.
#[derive(Clone, Copy)]
pub struct Paint(pub bool);

impl Paint {
    /// A tier in the margin.
    pub fn tier(self, tier: Tier) -> String {
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

/// Writes each step with its effects and doubts, and the line that sums the call up, without its end.
///
/// # Errors
/// Those of `out`.
pub fn write(judgement: &Judgement, paint: Paint, out: &mut impl Write) -> io::Result<()> {
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
    write!(
        out,
        "= {} and {proven}",
        paint.wrap(colour(ruling.tier), ruling.tier.as_str())
    )
}

/// How a rule rates a step.
pub fn rating(judgement: &Judgement, number: usize) -> Option<String> {
    let mut rated = judgement.ruling.rated.iter();
    let (_, tier, origin) = rated.find(|(step, ..)| *step == number)?;
    Some(format!("counts as {tier} by the rule at {origin}"))
}

/// What a step does, what of it is not understood, and how it is rated, each once.
fn told(step: &Step, rating: Option<String>) -> Vec<String> {
    let effects = step.effects.iter().map(describe_with_place);
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
pub fn quoted(text: &str) -> String {
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "-_./,:=+@%^{}".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Decision;
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
                counts: false,
                token: None,
            },
            losses: None,
        };
        let mut out = Vec::new();
        write(&judgement, Paint(colour), &mut out).expect("memory");
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
