//! `AskUserQuestion`: what is asked, and the answers to it.
//!
//! Only a person answers a question. This file checks that an answer fits what was asked; how it is written for the
//! host stands in `wire::output`.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;

/// One question as the host sends it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Question {
    #[serde(rename = "question")]
    pub text: String,
    #[serde(default)]
    pub header: String,
    #[serde(default)]
    pub options: Vec<Choice>,
    /// More than one option may be chosen.
    #[serde(default, rename = "multiSelect")]
    pub multi_select: bool,
}

/// One offered answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Choice {
    pub label: String,
    #[serde(default)]
    pub description: String,
    /// What it would look like, in whatever markup the agent wrote.
    #[serde(default)]
    pub preview: Option<String>,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The label of one option.
    One(String),
    /// The labels of one or more options, of a question that takes several.
    Many(Vec<String>),
    /// Free text; not empty.
    Text(String),
}

/// The answers to every question of one call: the question's text, and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers(pub Vec<(String, Answer)>);

#[derive(Deserialize)]
struct QuestionsInput {
    questions: Vec<Question>,
    /// What the host would read in place of ours.
    #[serde(default)]
    answers: Option<serde::de::IgnoredAny>,
}

/// The questions of an `AskUserQuestion` input.
///
/// # Errors
/// One line for a person: no question, the same text twice (an answer could not say which it means), answers that are
/// there already, or another shape.
pub fn read(input: &RawValue) -> Result<Vec<Question>, String> {
    let input: QuestionsInput =
        serde_json::from_str(input.get()).map_err(|error| format!("the questions cannot be read: {error}"))?;
    if input.answers.is_some() {
        return Err("the questions carry answers already".into());
    }
    if input.questions.is_empty() {
        return Err("no question is asked".into());
    }
    let mut texts = HashSet::new();
    match input.questions.iter().find(|question| !texts.insert(&question.text)) {
        Some(twice) => Err(format!("the question \"{}\" is asked twice", twice.text)),
        None => Ok(input.questions),
    }
}

impl Answers {
    /// Whether every question has exactly one answer, of a kind that it takes.
    pub fn fit(&self, questions: &[Question]) -> bool {
        self.0.len() == questions.len()
            && questions.iter().all(|question| {
                let mut own = self.0.iter().filter(|(text, _)| *text == question.text);
                matches!((own.next(), own.next()), (Some((_, answer)), None) if answer.fits(question))
            })
    }
}

impl Answer {
    fn fits(&self, question: &Question) -> bool {
        let offered = |label: &String| question.options.iter().any(|choice| choice.label == *label);
        match self {
            Answer::One(label) => offered(label),
            Answer::Many(labels) => {
                let distinct: HashSet<&String> = labels.iter().collect();
                question.multi_select
                    && !labels.is_empty()
                    && distinct.len() == labels.len()
                    && labels.iter().all(offered)
            }
            Answer::Text(text) => !text.trim().is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).expect("test JSON")
    }

    fn colour() -> Vec<Question> {
        read(&raw(
            r#"{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}"#,
        ))
        .expect("a question")
    }

    fn to_colour(answer: Answer) -> Answers {
        Answers(vec![("Which colour?".into(), answer)])
    }

    #[test]
    fn an_offered_label_and_free_text_fit() {
        assert!(to_colour(Answer::One("Red".into())).fit(&colour()));
        assert!(to_colour(Answer::Text("neither".into())).fit(&colour()));
    }

    #[test]
    fn a_label_that_was_not_offered_does_not_fit() {
        assert!(!to_colour(Answer::One("Green".into())).fit(&colour()));
    }

    #[test]
    fn several_labels_fit_only_a_question_that_takes_several() {
        let both = to_colour(Answer::Many(vec!["Red".into(), "Blue".into()]));
        assert!(!both.fit(&colour()));
        let mut several = colour();
        several[0].multi_select = true;
        assert!(both.fit(&several));
        assert!(!to_colour(Answer::Many(vec!["Red".into(), "Red".into()])).fit(&several));
        assert!(!to_colour(Answer::Many(Vec::new())).fit(&several));
    }

    #[test]
    fn every_question_needs_exactly_one_answer() {
        assert!(!Answers::default().fit(&colour()));
        let twice = Answers(vec![
            ("Which colour?".into(), Answer::One("Red".into())),
            ("Which colour?".into(), Answer::One("Blue".into())),
        ]);
        assert!(!twice.fit(&colour()));
        assert!(!Answers(vec![("Which size?".into(), Answer::Text("S".into()))]).fit(&colour()));
    }

    #[test]
    fn questions_that_cannot_be_told_apart_are_refused() {
        let twice = raw(r#"{"questions":[{"question":"Q"},{"question":"Q"}]}"#);
        assert!(read(&twice).unwrap_err().contains("twice"));
    }

    #[test]
    fn questions_with_answers_already_in_them_are_refused() {
        assert!(read(&raw(r#"{"questions":[{"question":"Q"}],"answers":{"Q":"A"}}"#)).is_err());
    }
}
