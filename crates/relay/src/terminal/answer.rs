//! What this person answers, signed and given to the relay.

use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use countersign::escape::visible;
use countersign_protocol::card::Question;
use countersign_protocol::verdict::Answered;
use countersign_protocol::{Card, SignedVerdict, Verdict};

use super::Terminal;
use super::card::Shown;
use crate::client::Failed;
use crate::clock;

/// How long is waited before a verdict is given again whose arrival is not known.
const AGAIN: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// What came of a verdict.
#[derive(Debug)]
pub enum Given {
    Counts,
    /// It was decided, taken back or expired before; in the relay's words.
    TooLate(String),
}

impl Terminal {
    /// Dates and signs the answer to this very card.
    pub fn sign(&self, shown: &Shown, wanted: Verdict) -> Result<SignedVerdict> {
        let verdict = Verdict {
            decided_at: clock::now(),
            ..wanted
        };
        let signed = verdict.sign(&self.pair).map_err(|why| anyhow!(why))?;
        let checked = signed.verify(&[self.pair.public()], shown.card);
        checked.map_err(|why| anyhow!("nothing was answered: {why}"))?;
        Ok(signed)
    }

    /// Gives the verdict to the relay; where its arrival is not known, a few times.
    ///
    /// # Errors
    /// The relay does not take it, for another reason than that it is late.
    pub fn hand_in(&self, verdict: &SignedVerdict) -> Result<Given, Failed> {
        let mut pauses = AGAIN.iter();
        let mut lost = false;
        loop {
            match self.client.decide(verdict) {
                Ok(_) => return Ok(Given::Counts),
                Err(Failed::Refused {
                    status: 404 | 409 | 410,
                    message,
                    ..
                }) => {
                    let own = match lost {
                        true => "; it may have been this answer, whose arrival was not known",
                        false => "",
                    };
                    return Ok(Given::TooLate(message + own));
                }
                Err(Failed::Unreachable(why)) => match pauses.next() {
                    Some(pause) => thread::sleep(*pause),
                    None => return Err(Failed::Unreachable(why)),
                },
                Err(failed) => return Err(failed),
            }
            lost = true;
        }
    }
}

/// The answers that options of the command line give: `picked` names options, `said` is in the person's own words.
///
/// # Errors
/// One names no question, or no option of it; or a question has several answers of which one is in words.
pub fn of_options(card: &Card, picked: &[String], said: &[String]) -> Result<Vec<Answered>> {
    let mut answers: Vec<Option<Answered>> = vec![None; card.questions.len()];
    for option in picked {
        let (at, words) = question(card, option)?;
        let label = label(&card.questions[at], words)?;
        match &mut answers[at] {
            none @ None => *none = Some(Answered::Labels(vec![label])),
            Some(Answered::Labels(labels)) => labels.push(label),
            Some(Answered::Text(_)) => bail!("question {} is answered in words already", at + 1),
        }
    }
    for option in said {
        let (at, words) = question(card, option)?;
        if answers[at].replace(Answered::Text(words.to_owned())).is_some() {
            bail!("question {} has more than one answer", at + 1);
        }
    }
    let answers = answers.into_iter().enumerate().map(|(at, answer)| {
        answer.ok_or_else(|| {
            let question = visible(&card.questions[at].text);
            anyhow!("question {} has no answer: {question}", at + 1)
        })
    });
    answers.collect()
}

/// The question that `QUESTION=WORDS` names by its number, its header or its text, and the words.
fn question<'a>(card: &Card, option: &'a str) -> Result<(usize, &'a str)> {
    let words = |name: &str| option.strip_prefix(name)?.strip_prefix('=');
    let named = card.questions.iter().enumerate().filter_map(|(at, question)| {
        let names = [(at + 1).to_string(), question.header.clone(), question.text.clone()];
        let named = names.iter().find_map(|name| words(name));
        named.map(|words| (at, words))
    });
    match named.collect::<Vec<_>>().as_slice() {
        [one] => Ok(*one),
        [] => bail!(
            "`{}` names no question that is asked; it is NUMBER=WORDS, or the question's text",
            visible(option)
        ),
        _ => bail!(
            "`{}` may mean more than one question; name it by its number",
            visible(option)
        ),
    }
}

/// The label that the words are, or whose number they are.
fn label(question: &Question, words: &str) -> Result<String> {
    let labels = || question.options.iter().map(|option| option.label.as_str());
    let numbered = || labels().nth(words.parse::<usize>().ok()?.checked_sub(1)?);
    match labels().find(|label| *label == words).or_else(numbered) {
        Some(label) => Ok(label.to_owned()),
        None => {
            let labels: Vec<_> = labels().map(visible).collect();
            bail!(
                "`{}` is none of the options ({}); --text gives an answer in other words",
                visible(words),
                labels.join(", ")
            )
        }
    }
}
