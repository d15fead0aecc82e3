//! A card on this terminal, and what the person types to it: in the words of the approver at the host's own terminal, for
//! whoever knows the one knows the other.

use countersign::approver::Reply;
use countersign::approver::terminal::questions::{Said, form};
use countersign::approver::terminal::screen::Screen;
use countersign::approver::terminal::{Choice, MAX_LINES, editor};
use countersign::call::Input;
use countersign::escape::visible;
use countersign::questions::{self, Answer, Question};
use countersign::report::steps::Paint;
use countersign_protocol::Verdict;
use countersign_protocol::card::{Kind, Scope};
use countersign_protocol::verdict::{Answered, Then};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::card::{Shown, reach};

/// The key, and the name, that leave a card for later.
const LATER: [&str; 2] = ["l", "later"];

/// Shows the card and asks; `None`: it is left for later.
///
/// # Errors
/// The reply where no answer comes.
pub fn ask(screen: &mut Screen, shown: &Shown, paint: Paint) -> Result<Option<Verdict>, Reply> {
    let is_whole = !screen.show(&shown.heading(), &shown.input(), MAX_LINES);
    for line in shown.about(paint) {
        screen.say(&line);
    }
    let mut asking = Asking {
        screen,
        shown,
        is_whole,
    };
    match shown.card.kind {
        Kind::Call => asking.call(),
        Kind::Questions => answers(asking.screen, shown).map(Some),
        Kind::Plan => asking.plan(),
    }
}

struct Asking<'a, 'b, 'c> {
    screen: &'a mut Screen<'b>,
    shown: &'a Shown<'c>,
    /// All of the input stood on the screen.
    is_whole: bool,
}

impl Asking<'_, '_, '_> {
    fn call(&mut self) -> Result<Option<Verdict>, Reply> {
        loop {
            self.screen.say(&self.offered());
            let line = self.screen.line("> ")?;
            if is_later(&line) {
                return Ok(None);
            }
            let wanted = match Choice::read(&line) {
                Some((Choice::Allow, "")) => Some(self.shown.allow()),
                Some((Choice::Deny, words)) => return Ok(Some(self.shown.deny(words, false))),
                Some((Choice::Stop, _)) => return Ok(Some(self.shown.deny("", true))),
                Some((Choice::Edit, _)) => {
                    let wanted = edited(self.screen, self.shown);
                    // The editor showed all of it.
                    self.is_whole |= wanted.is_some();
                    wanted
                }
                Some((Choice::Always, _)) => self.remembered()?.map(|index| Verdict {
                    remember: Some(index),
                    ..self.shown.allow()
                }),
                Some((Choice::Explain, _)) => {
                    self.explain();
                    None
                }
                Some((Choice::Allow, _)) => {
                    let how = "An allow takes no words; write `allow` alone, or `deny` with the words.";
                    self.screen.say(how);
                    None
                }
                Some((Choice::Instead, _)) => {
                    let how = "Here the agent can only be told with a denial; write `deny` and the words.";
                    self.screen.say(how);
                    None
                }
                None => None,
            };
            if let Some(wanted) = wanted
                && self.may_allow()?
            {
                return Ok(Some(wanted));
            }
        }
    }

    fn offered(&self) -> String {
        let card = self.shown.card;
        let mut text = String::new();
        if !self.shown.is_cut() {
            text.push_str("[a]llow  ");
        }
        text.push_str("[d]eny WHY  ");
        if card.may_edit {
            text.push_str("[e]dit  ");
        }
        if !card.offers.is_empty() {
            text.push_str("al[w]ays  ");
        }
        text.push_str("e[x]plain  [s]top the turn  [l]ater");
        text
    }

    /// Whether all of it was shown, and the person means it where it is critical.
    fn may_allow(&mut self) -> Result<bool, Reply> {
        if self.shown.is_cut() {
            self.screen
                .say("Not all of it is here: it can be denied, and allowed only where it was asked.");
            return Ok(false);
        }
        if !self.is_whole {
            self.screen
                .say("Not all of it was shown; `explain` shows the rest, then you can allow it.");
            return Ok(false);
        }
        if !self.shown.is_critical() {
            return Ok(true);
        }
        typed_word(self.screen, self.shown)
    }

    fn explain(&mut self) {
        self.screen.show("The whole of it:", &self.shown.input(), usize::MAX);
        // What was typed before it was shown is no answer to it.
        self.screen.forget_typed();
        self.is_whole = true;
    }

    /// Which offer is remembered, from 0; `None`: none after all.
    fn remembered(&mut self) -> Result<Option<u32>, Reply> {
        let offers = &self.shown.card.offers;
        if offers.is_empty() {
            self.screen.say("Nothing is offered to be remembered here.");
            return Ok(None);
        }
        self.screen.say("Allow it now, and from now on:");
        for (number, offer) in (1..).zip(offers) {
            let words = visible(&offer.words);
            self.screen.say(&format!("  {number}  {words}, {}", reach(offer.scope)));
        }
        let preselected = (1..).zip(offers).find(|(_, offer)| offer.scope == Scope::Session);
        let preselected: Option<u32> = preselected.map(|(number, _)| number);
        let prompt = match preselected {
            Some(number) => format!("which one (nothing: {number}, n: none)> "),
            None => "which one (nothing: none)> ".to_owned(),
        };
        let line = self.screen.line(&prompt)?;
        Ok(match line.trim() {
            "" => preselected.map(|number| number - 1),
            number => number.parse().ok().and_then(|number| self.shown.offer(number)),
        })
    }

    fn plan(&mut self) -> Result<Option<Verdict>, Reply> {
        loop {
            self.screen.say(
                "[a]pprove  approve and accept [e]dits  approve and a[u]to  [d]eny WHAT TO CHANGE  e[x]plain: the whole \
                 plan  [s]top the turn  [l]ater",
            );
            let line = self.screen.line("> ")?;
            if is_later(&line) {
                return Ok(None);
            }
            let (word, words) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
            let then = match word.to_lowercase().as_str() {
                "a" | "approve" => None,
                "e" | "edits" => Some(Then::AcceptEdits),
                "u" | "auto" => Some(Then::Auto),
                "d" | "deny" => return Ok(Some(self.shown.deny(words.trim(), false))),
                "s" | "stop" => return Ok(Some(self.shown.deny("", true))),
                "x" | "explain" => {
                    self.explain();
                    continue;
                }
                _ => continue,
            };
            if self.may_allow()? {
                return Ok(Some(Verdict {
                    then,
                    ..self.shown.allow()
                }));
            }
        }
    }
}

fn is_later(line: &str) -> bool {
    LATER.contains(&line.trim().to_lowercase().as_str())
}

/// Whether the person means to allow it. What is critical takes a word that stands on this card alone.
///
/// # Errors
/// The reply where no answer comes.
pub fn sure(screen: &mut Screen, shown: &Shown) -> Result<bool, Reply> {
    if shown.is_critical() {
        return typed_word(screen, shown);
    }
    let line = screen.line("Allow it? [y/N]> ")?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn typed_word(screen: &mut Screen, shown: &Shown) -> Result<bool, Reply> {
    let line = screen.line(&format!("This is critical. To allow it, type {}> ", shown.word()))?;
    let is_word = line.trim() == shown.word();
    if !is_word {
        screen.say("That is not the word; nothing was answered.");
    }
    Ok(is_word)
}

/// The input as the person's editor leaves it, to be judged again; `None`, and said why, where it stays.
pub fn edited(screen: &mut Screen, shown: &Shown) -> Option<Verdict> {
    let card = shown.card;
    if !card.may_edit {
        screen.say("It cannot be edited from here.");
        return None;
    }
    let before = &card.preview.head;
    // Of a shell's call the card shows the command, of any other the whole input.
    let is_shell = matches!(read(&card.tool, with_command(before)), Ok((Input::Shell { .. }, _)));
    let name = if is_shell { "command.sh" } else { "input.json" };
    let after = editor::edited(screen, before, name).and_then(|after| match after.trim_end() {
        after if after == before.trim_end() => Err("nothing was changed".to_owned()),
        after if is_shell => read(&card.tool, with_command(after)),
        after => no_field_is_removed(before, after).and_then(|()| read(&card.tool, after.to_owned())),
    });
    match after {
        Ok((_, input)) => Some(Verdict {
            input: Some(input),
            ..shown.allow()
        }),
        Err(why) => {
            screen.say(&format!("It stays as it was: {}.", visible(&why)));
            None
        }
    }
}

/// The machine that asks keeps every field that a verdict does not name, for a card need not show all of them.
fn no_field_is_removed(before: &str, after: &str) -> Result<(), String> {
    let after: Map<String, Value> =
        serde_json::from_str(after).map_err(|error| format!("that is no JSON object: {error}"))?;
    let before: Map<String, Value> = serde_json::from_str(before).unwrap_or_default();
    match before.keys().find(|name| !after.contains_key(*name)) {
        Some(name) => Err(format!(
            "`{name}` was taken out, and from here a field can be changed, not removed"
        )),
        None => Ok(()),
    }
}

fn with_command(command: &str) -> String {
    json!({ "command": command }).to_string()
}

/// The input that the text is, and the text.
fn read(tool: &str, text: String) -> Result<(Input, String), String> {
    let raw = RawValue::from_string(text).map_err(|error| format!("that is no JSON: {error}"))?;
    Ok((Input::read(tool, &raw)?, raw.get().to_owned()))
}

/// Asks every question of the card.
///
/// # Errors
/// The reply where no answer comes.
pub fn answers(screen: &mut Screen, shown: &Shown) -> Result<Verdict, Reply> {
    let questions = shown.card.questions.iter().map(|question| Question {
        text: question.text.clone(),
        header: question.header.clone(),
        options: question
            .options
            .iter()
            .map(|option| questions::Choice {
                label: option.label.clone(),
                description: option.description.clone(),
                preview: option.preview.clone(),
            })
            .collect(),
        multi_select: question.several,
    });
    let questions: Vec<Question> = questions.collect();
    loop {
        let answers = match form(screen, &questions)? {
            Said::Answers(answers) => answers.0.into_iter().map(|(_, answer)| answered(answer)).collect(),
            Said::Reply(words) => return Ok(shown.deny(&words, false)),
            Said::Stop => return Ok(shown.deny("", true)),
        };
        if !shown.is_critical() || typed_word(screen, shown)? {
            return Ok(Verdict {
                answers,
                ..shown.allow()
            });
        }
    }
}

fn answered(answer: Answer) -> Answered {
    match answer {
        Answer::One(label) => Answered::Labels(vec![label]),
        Answer::Many(labels) => Answered::Labels(labels),
        Answer::Text(text) => Answered::Text(text),
    }
}
