//! The person at the terminal that this process was started from, asked in lines of text.
//!
//! It is asked through `/dev/tty`, for standard input and output belong to the host. One question stands at a time,
//! whoever asks on this terminal; what was typed before a question stood counts for nothing; and a process in the
//! background, which the terminal would stop, asks nobody.

pub mod editor;
pub mod questions;
pub mod screen;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

use serde_json::Value;

use super::{Approver, Card, Reply, Withdrawal};
use crate::call::Input;
use crate::decision::{Allow, Answer, Decision, Deny, NextMode, Reason, Remember, Run};
use crate::escape::{visible, visible_json};
use crate::pause::Length;
use crate::report::{self, steps};
use screen::Screen;

/// The most lines of an input that are shown at once, and the most characters of a line.
pub const MAX_LINES: usize = 30;
const MAX_LINE: usize = 200;
/// The most lines that its steps take.
const MAX_STEP_LINES: usize = 60;

/// The terminal of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal;

impl Approver for Terminal {
    fn is_there(&self) -> bool {
        File::open("/dev/tty").is_ok()
    }

    fn ask(&self, card: &Card, withdrawal: &Withdrawal) -> Reply {
        let reply = Screen::open(card.until, withdrawal).and_then(|mut screen| {
            let reply = match card.request.call.input {
                Input::Question => questions::ask(&mut screen, card),
                Input::Plan => plan(&mut screen, card),
                _ => call(&mut screen, card),
            };
            match &reply {
                Err(Reply::Withdrawn(_)) => screen.say("(not asked any more: it was answered elsewhere, or has ended)"),
                Err(Reply::Unanswered) => screen.say("(no answer in time)"),
                Ok(_) | Err(_) => {}
            }
            reply
        });
        reply.unwrap_or_else(|reply| reply)
    }
}

/// What may be chosen for an ordinary call, with the keys that choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Allow,
    Deny,
    Edit,
    Always,
    Explain,
    Stop,
    Instead,
}

const CHOICES: [(Choice, &str, &str); 7] = [
    (Choice::Allow, "a", "allow"),
    (Choice::Deny, "d", "deny"),
    (Choice::Edit, "e", "edit"),
    (Choice::Always, "w", "always"),
    (Choice::Explain, "x", "explain"),
    (Choice::Stop, "s", "stop"),
    (Choice::Instead, "i", "instead"),
];

impl Choice {
    /// The choice that a line names, and the words after it.
    pub fn read(line: &str) -> Option<(Self, &str)> {
        let (word, words) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let word = word.to_lowercase();
        let chosen = CHOICES.iter().find(|(_, key, name)| word == *key || word == *name);
        chosen.map(|(choice, ..)| (*choice, words.trim()))
    }
}

/// The choices in one line.
fn offered(card: &Card) -> String {
    let mut text = String::from("[a]llow  [d]eny WHY  [e]dit  ");
    if !card.offers.is_empty() {
        text.push_str("al[w]ays  ");
    }
    text.push_str("e[x]plain  [s]top the turn");
    if card.can_say_instead {
        text.push_str("  [i]nstead say WORDS");
    }
    text
}

fn call(screen: &mut Screen, card: &Card) -> Result<Reply, Reply> {
    let mut is_whole = !screen.show(&heading(card), &input_lines(card), MAX_LINES);
    let steps = steps(card);
    let shown = steps.len().min(MAX_STEP_LINES);
    screen.say(&steps[steps.len() - shown..].join("\n"));
    if shown < steps.len() {
        is_whole = false;
        screen.say(&format!("[{} lines of its steps are not shown]", steps.len() - shown));
    }
    loop {
        screen.say(&offered(card));
        let line = screen.line("> ")?;
        let Some((choice, words)) = Choice::read(&line) else {
            continue;
        };
        match choice {
            Choice::Allow if !words.is_empty() => {
                screen.say("An allow takes no words; write `allow` alone, or `deny` with the words.");
            }
            Choice::Allow if !is_whole => {
                screen.say("Not all of it was shown; `explain` shows the rest, then you can allow it.");
            }
            Choice::Allow => return Ok(decided(card, Allow::Run(Run::default()))),
            Choice::Deny => return Ok(denied(card, words, false)),
            Choice::Stop => return Ok(denied(card, "", true)),
            Choice::Edit => {
                if let Some(input) = editor::edit(screen, card) {
                    return Ok(Reply::Edited(input));
                }
            }
            Choice::Always => {
                if !is_whole {
                    screen.say("Not all of it was shown; `explain` shows the rest first.");
                } else if let Some(remember) = remembered(screen, card)? {
                    return Ok(decided(
                        card,
                        Allow::Run(Run {
                            remember: Some(remember),
                            ..Run::default()
                        }),
                    ));
                }
            }
            Choice::Explain => {
                screen.show("The whole of it:", &input_lines(card), usize::MAX);
                screen.say(&steps.join("\n"));
                screen.show("", &explained(card), usize::MAX);
                // What was typed before it was shown is no answer to it.
                screen.forget_typed();
                is_whole = true;
            }
            Choice::Instead if !card.can_say_instead => {
                screen.say("Here the agent can only be told with a denial; write `deny` and the words.");
            }
            Choice::Instead => {
                let words = match words {
                    "" => screen.line("say instead> ")?.trim().to_owned(),
                    words => words.to_owned(),
                };
                if !words.is_empty() {
                    return Ok(Reply::SayInstead(words));
                }
            }
        }
    }
}

/// What is to be remembered; `None`: nothing after all.
fn remembered(screen: &mut Screen, card: &Card) -> Result<Option<Remember>, Reply> {
    if card.offers.is_empty() {
        screen.say("Claude Code offers nothing to remember here.");
        return Ok(None);
    }
    screen.say("Allow it now, and from now on:");
    for (number, offer) in (1..).zip(card.offers) {
        screen.say(&format!("  {number}  {}", visible(&offer.to_string())));
    }
    let line = screen.line("which one (nothing: none)> ")?;
    let number: Option<usize> = line.trim().parse().ok();
    Ok(number
        .and_then(|number| card.offers.get(number.checked_sub(1)?))
        .map(|offer| offer.remember.clone()))
}

fn plan(screen: &mut Screen, card: &Card) -> Result<Reply, Reply> {
    let text = report::plan(&card.request.call.raw_input);
    let lines: Vec<String> = text.lines().map(|line| visible(line).into_owned()).collect();
    let mut is_whole = !screen.show("Countersign: the agent's plan", &lines, MAX_LINES);
    loop {
        screen.say(
            "[a]pprove  approve and accept [e]dits  [d]eny WHAT TO CHANGE  e[x]plain: the whole plan  [s]top the turn",
        );
        let line = screen.line("> ")?;
        let (word, words) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let approve = |then| Ok(decided(card, Allow::Plan { then }));
        match word.to_lowercase().as_str() {
            "a" | "approve" | "e" | "edits" if !is_whole => screen.say("Not all of it was shown; `x` shows the rest."),
            "a" | "approve" => return approve(None),
            "e" | "edits" => return approve(Some(NextMode::AcceptEdits)),
            "d" | "deny" => return Ok(denied(card, words.trim(), false)),
            "s" | "stop" => return Ok(denied(card, "", true)),
            "x" | "explain" => {
                screen.show("", &lines, usize::MAX);
                screen.forget_typed();
                is_whole = true;
            }
            _ => {}
        }
    }
}

/// What each step would do, what all of it comes to, and what would be lost; the summary at the end.
fn steps(card: &Card) -> Vec<String> {
    let mut text = Vec::new();
    let by = &card.judgement.ruling.by;
    let written = steps::write(card.judgement, screen_paint(), &mut text)
        .and_then(|()| writeln!(text, ": {}", visible(&by.to_string())))
        .and_then(|()| {
            let mut losses = card.judgement.losses.iter().flatten();
            losses.try_for_each(|loss| writeln!(text, "  it {loss}"))
        });
    written.expect("memory takes all that is written");
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}

fn heading(card: &Card) -> String {
    let call = &card.request.call;
    let mut text = match card.edited {
        true => format!("Countersign: {}, as you edited it", visible(&call.tool)),
        false => format!("Countersign: may {} run?", visible(&call.tool)),
    };
    if let Some(cwd) = &call.cwd {
        let _ = write!(text, "  (in {})", visible(&cwd.to_string_lossy()));
    }
    if let Some(agent) = call.agent.id() {
        let _ = write!(text, "  (subagent {})", visible(agent));
    }
    let left = card.until.saturating_duration_since(Instant::now());
    let _ = write!(text, "  (waits {})", Length(left));
    text
}

/// The input as a person reads it: a command's lines, or the fields of another tool.
fn input_lines(card: &Card) -> Vec<String> {
    match &card.request.call.input {
        Input::Shell { command, .. } => command.split('\n').map(|line| visible(line).into_owned()).collect(),
        _ => {
            let input: Value = serde_json::from_str(card.request.call.raw_input.get()).unwrap_or_default();
            let text = serde_json::to_string_pretty(&input).unwrap_or_default();
            visible_json(&text).lines().map(str::to_owned).collect()
        }
    }
}

/// What the card leaves out.
fn explained(card: &Card) -> Vec<String> {
    let host = &card.request.host;
    let said = [
        ("Claude Code would have asked", &host.title),
        ("Claude Code asks because of", &host.reason_type),
        ("the path that it stopped at", &host.blocked_path),
    ];
    let said = said
        .into_iter()
        .filter_map(|(what, text)| Some(format!("{what}: {}", visible(text.as_ref()?))));
    said.chain(
        crate::report::reasons(&card.judgement.assessment)
            .into_iter()
            .map(|why| format!("not understood: {why}")),
    )
    .collect()
}

fn screen_paint() -> steps::Paint {
    steps::Paint(std::env::var_os("NO_COLOR").is_none())
}

fn decided(card: &Card, allow: Allow) -> Reply {
    answered(card, Decision::Allow(allow))
}

fn denied(card: &Card, words: &str, interrupt: bool) -> Reply {
    let denial = match interrupt {
        true => Deny::stopping(Reason::DeniedByPerson),
        false => Deny::new(Reason::DeniedByPerson, words.to_owned()),
    };
    answered(card, Decision::Deny(denial))
}

/// What the person has just said to what this card shows.
fn answered(card: &Card, decision: Decision) -> Reply {
    let answer = Answer {
        digest: card.request.call.digest(),
        tool_use_id: card.request.tool_use_id.clone(),
        device: None,
        given_at: Instant::now(),
    };
    Reply::Decided {
        decision,
        answer: Box::new(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_its_key_or_its_name_alone_and_words_may_follow() {
        assert_eq!(Choice::read("a"), Some((Choice::Allow, "")));
        assert_eq!(Choice::read("  ALLOW  "), Some((Choice::Allow, "")));
        assert_eq!(Choice::read("d not  now "), Some((Choice::Deny, "not  now")));
        assert_eq!(
            Choice::read("instead\tuse git mv"),
            Some((Choice::Instead, "use git mv"))
        );
        for nothing in ["", "  ", "al", "y", "allowed", "aa", "\u{430}"] {
            assert_eq!(Choice::read(nothing), None, "{nothing}");
        }
    }
}
