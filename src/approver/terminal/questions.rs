//! The questions of `AskUserQuestion` and `ask_person`, asked one after another.

use super::super::{Card, Reply};
use super::screen::Screen;
use super::{decided, denied};
use crate::decision::Allow;
use crate::escape::visible;
use crate::questions::{self, Answer, Answers, Question};

/// What a person says to the questions.
#[derive(Debug)]
pub enum Said {
    Answers(Answers),
    /// Words to all of it, in place of answers.
    Reply(String),
    /// The turn is to end.
    Stop,
}

/// Asks the questions of the card.
///
/// # Errors
/// The reply where no answer comes.
pub fn ask(screen: &mut Screen, card: &Card) -> Result<Reply, Reply> {
    let asked = questions::read(&card.request.call.raw_input).map_err(Reply::Absent)?;
    Ok(match form(screen, &asked)? {
        Said::Answers(answers) => decided(card, Allow::Answers(answers)),
        Said::Reply(words) => denied(card, &words, false),
        Said::Stop => denied(card, "", true),
    })
}

/// Asks every question; the person may instead reply in words to all of them, or stop the turn.
///
/// # Errors
/// The reply where no answer comes.
pub fn form(screen: &mut Screen, asked: &[Question]) -> Result<Said, Reply> {
    let mut answers = Vec::new();
    for (number, question) in (1..).zip(asked) {
        screen.say("");
        screen.say(&format!("Countersign: the agent asks ({number} of {})", asked.len()));
        show(screen, question);
        match answer(screen, question)? {
            Typed::Answer(answer) => answers.push((question.text.clone(), answer)),
            Typed::Said(said) => return Ok(said),
        }
    }
    Ok(Said::Answers(Answers(answers)))
}

fn show(screen: &mut Screen, question: &Question) {
    if !question.header.is_empty() {
        screen.say(&format!("  [{}]", visible(&question.header)));
    }
    for line in question.text.lines() {
        screen.say(&format!("  {}", visible(line)));
    }
    for (number, option) in (1..).zip(&question.options) {
        let description = match option.description.is_empty() {
            true => String::new(),
            false => format!(" - {}", visible(&option.description)),
        };
        screen.say(&format!("    {number}  {}{description}", visible(&option.label)));
        // Whatever markup it is written in, it is shown as the text that it is.
        for line in option.preview.iter().flat_map(|preview| preview.lines()) {
            screen.say(&format!("         | {}", visible(line)));
        }
    }
}

/// A typed line.
#[derive(Debug)]
enum Typed {
    /// To the one question.
    Answer(Answer),
    /// To all of them.
    Said(Said),
}

fn answer(screen: &mut Screen, question: &Question) -> Result<Typed, Reply> {
    let how = match question.multi_select {
        true => "The numbers of one or more",
        false => "A number",
    };
    loop {
        screen.say(&format!(
            "{how}, or o WORDS for another answer, r WORDS to reply to all of it, s to stop the turn"
        ));
        let line = screen.line("> ")?;
        if let Some(said) = read(&line, question) {
            return Ok(said);
        }
    }
}

/// What a typed line says; `None` where it says nothing that fits.
fn read(line: &str, question: &Question) -> Option<Typed> {
    let line = line.trim();
    let (word, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let words = words.trim();
    match (word, words.is_empty()) {
        ("s", true) => return Some(Typed::Said(Said::Stop)),
        ("o", false) => return Some(Typed::Answer(Answer::Text(words.to_owned()))),
        ("r", false) => return Some(Typed::Said(Said::Reply(words.to_owned()))),
        _ => {}
    }
    let label = |word: &str| {
        let number: usize = word.parse().ok()?;
        Some(question.options.get(number.checked_sub(1)?)?.label.clone())
    };
    let numbers = line.split([' ', ',']).filter(|word| !word.is_empty());
    let labels: Vec<String> = numbers.map(label).collect::<Option<_>>()?;
    let answer = match labels.as_slice() {
        [label] if !question.multi_select => Answer::One(label.clone()),
        _ => Answer::Many(labels),
    };
    let fits = Answers(vec![(question.text.clone(), answer.clone())]).fit(std::slice::from_ref(question));
    fits.then_some(Typed::Answer(answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::Choice;

    fn sizes(multi_select: bool) -> Question {
        let choice = |label: &str| Choice {
            label: label.into(),
            description: String::new(),
            preview: None,
        };
        Question {
            text: "Which size?".into(),
            header: "Size".into(),
            options: vec![choice("S"), choice("L")],
            multi_select,
        }
    }

    fn answered(line: &str, multi_select: bool) -> Option<Answer> {
        match read(line, &sizes(multi_select)) {
            Some(Typed::Answer(answer)) => Some(answer),
            _ => None,
        }
    }

    #[test]
    fn numbers_name_options_and_words_are_another_answer() {
        assert_eq!(answered(" 2 ", false), Some(Answer::One("L".into())));
        assert_eq!(answered("1, 2", true), Some(Answer::Many(vec!["S".into(), "L".into()])));
        let words = Answer::Text("neither of them".into());
        assert_eq!(answered("o neither of them", false), Some(words));
    }

    #[test]
    fn what_names_no_option_is_no_answer() {
        for line in ["", "0", "3", "-1", "1 2", "S", "o", "o  ", "r", "x"] {
            assert_eq!(answered(line, false), None, "{line}");
        }
        assert_eq!(answered("1 1", true), None, "twice the same");
    }

    #[test]
    fn a_reply_and_a_stop_stand_in_place_of_answers() {
        let reply = read("r ask me later", &sizes(false));
        assert!(
            matches!(&reply, Some(Typed::Said(Said::Reply(words))) if words == "ask me later"),
            "{reply:?}"
        );
        assert!(matches!(read("s", &sizes(false)), Some(Typed::Said(Said::Stop))));
    }
}
