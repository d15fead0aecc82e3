//! What a verdict makes of the call that was shown. It was checked: it fits its card.

use std::time::Instant;

use countersign::approver::{Card, Reply};
use countersign::call::Input;
use countersign::decision::{self, Allow, Decision, Deny, NextMode, Reason, Run};
use countersign::questions::{self, Answers};
use countersign_protocol::verdict::{Answer, Answered, Then, Verdict};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// # Errors
/// The reply where the verdict cannot be carried out.
pub fn of(verdict: &Verdict, card: &Card, device: String) -> Result<Reply, Reply> {
    if let (Answer::Allow, Some(input)) = (verdict.answer, &verdict.input) {
        let edited = edited(card.request.call.raw_input.get(), input);
        return edited
            .map(Reply::Edited)
            .map_err(|error| Reply::Absent(format!("the edited input is none: {error}")));
    }
    let decision = match verdict.answer {
        Answer::Deny if verdict.stop => Decision::Deny(Deny::stopping(Reason::DeniedByPerson)),
        Answer::Deny => {
            let words = verdict.note.clone().unwrap_or_default();
            Decision::Deny(Deny::new(Reason::DeniedByPerson, words))
        }
        Answer::Allow => Decision::Allow(allow(verdict, card).map_err(Reply::Absent)?),
    };
    Ok(Reply::Decided {
        decision,
        answer: Box::new(decision::Answer {
            digest: card.request.call.digest(),
            tool_use_id: card.request.tool_use_id.clone(),
            device: Some(device),
            given_at: Instant::now(),
        }),
    })
}

/// The input with these fields in place of its own. What the person was not shown, such as a time limit, stays.
fn edited(input: &str, fields: &str) -> serde_json::Result<Box<RawValue>> {
    let mut object: Map<String, Value> = serde_json::from_str(input)?;
    object.extend(serde_json::from_str::<Map<String, Value>>(fields)?);
    to_raw_value(&object)
}

fn allow(verdict: &Verdict, card: &Card) -> Result<Allow, String> {
    match card.request.call.input {
        Input::Question => answers(verdict, card).map(Allow::Answers),
        Input::Plan => Ok(Allow::Plan {
            then: verdict.then.map(|then| match then {
                Then::AcceptEdits => NextMode::AcceptEdits,
                Then::Auto => NextMode::Auto,
            }),
        }),
        _ => {
            let offer = verdict
                .remember
                .and_then(|index| card.offers.get(usize::try_from(index).ok()?));
            Ok(Allow::Run(Run {
                remember: offer.map(|offer| offer.remember.clone()),
                ..Run::default()
            }))
        }
    }
}

fn answers(verdict: &Verdict, card: &Card) -> Result<Answers, String> {
    let questions = questions::read(&card.request.call.raw_input)?;
    let given = questions.iter().zip(&verdict.answers).map(|(question, answered)| {
        let answer = match answered {
            Answered::Text(text) => questions::Answer::Text(text.clone()),
            Answered::Labels(labels) => match labels.as_slice() {
                [label] => questions::Answer::One(label.clone()),
                several => questions::Answer::Many(several.to_vec()),
            },
        };
        (question.text.clone(), answer)
    });
    let answers = Answers(given.collect());
    match answers.fit(&questions) {
        true => Ok(answers),
        false => Err("the answers do not fit the questions".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_changes_what_it_names_and_nothing_else() {
        let input = r#"{"command":"npm test","timeout":5000,"description":"d"}"#;
        let edited = edited(input, r#"{"command":"npm run x"}"#).expect("an object");
        assert_eq!(
            edited.get(),
            r#"{"command":"npm run x","timeout":5000,"description":"d"}"#
        );
        for broken in ["[]", "\"x\"", "{", "null"] {
            assert!(super::edited(input, broken).is_err(), "{broken}");
        }
    }
}
