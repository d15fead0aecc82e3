//! An assessment in words: what `explain`, `classify` and a denial say. Everything that came from the agent is shown
//! with its hidden characters written out.

pub mod steps;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::assess::loss::{Bound, Loss};
use crate::effect::{Action, Assessment, Effect, Place, Reach, Subject, Undo};
use crate::escape::visible;

/// What a call would throw away, for programs to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownLoss {
    /// `deletes`, `overwrites` or `discards`.
    pub deed: String,
    /// `exact`, `at_least`, `at_most`, or `unknown`, where there are no numbers.
    pub bound: String,
    #[serde(default, skip_serializing_if = "Option::is_none", flatten)]
    pub counted: Option<Counted>,
}

/// The numbers of a loss; what they count is said at [`Loss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub files: u64,
    pub bytes: u64,
    pub unheld: u64,
    pub unsure: u64,
    pub gone: u64,
}

impl ShownLoss {
    pub fn of(loss: &Loss) -> Self {
        ShownLoss {
            deed: loss.deed.as_str().to_owned(),
            bound: loss.bound.as_str().to_owned(),
            counted: (loss.bound != Bound::Unknown).then_some(Counted {
                files: loss.files,
                bytes: loss.bytes,
                unheld: loss.unheld,
                unsure: loss.unsure,
                gone: loss.gone,
            }),
        }
    }
}

/// At most this many effects are named in a summary; the rest are counted.
const MAX_NAMED: usize = 6;

/// A plan of the agent's as a person approves it: its text, and whatever is approved with it.
pub fn plan(input: &RawValue) -> String {
    let fields: Map<String, Value> = serde_json::from_str(input.get()).unwrap_or_default();
    let text = fields.get("plan").and_then(Value::as_str).unwrap_or_default();
    let mut shown = match text.trim() {
        "" => "(The plan came without a text.)".to_owned(),
        _ => text.to_owned(),
    };
    for (name, value) in &fields {
        if !matches!(name.as_str(), "plan" | "planFilePath") {
            let value = serde_json::to_string_pretty(value).unwrap_or_default();
            shown.push_str(&format!("\n\nApproved with it: {name} {value}"));
        }
    }
    shown
}

/// One line: the effects, worst first, each once.
pub fn summary(assessment: &Assessment) -> String {
    let mut effects: Vec<&Effect> = assessment.steps.iter().flat_map(|step| &step.effects).collect();
    effects.sort_by_key(|effect| std::cmp::Reverse(crate::risk::tier(effect.spec)));
    let mut named: Vec<String> = Vec::new();
    for effect in effects {
        let text = describe(effect);
        if !named.contains(&text) {
            named.push(text);
        }
    }
    let more = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    match (named.is_empty(), assessment.proven()) {
        (true, true) => "does nothing beyond printing".to_owned(),
        (true, false) => "not understood".to_owned(),
        (false, _) => named.join("; "),
    }
}

/// Why the call is not let through as it is: each doubt once, in the order of the script.
pub fn reasons(assessment: &Assessment) -> Vec<String> {
    let mut reasons = Vec::new();
    let doubts = assessment
        .doubts
        .iter()
        .chain(assessment.steps.iter().flat_map(|step| &step.doubts));
    for doubt in doubts {
        let reason = visible(&doubt.why).into_owned();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// One effect: "deletes notes.txt, which cannot be had again".
pub fn describe(effect: &Effect) -> String {
    described(effect, place_note(effect.spec.action, effect.spec.place))
}

/// One effect with the place of every path: "reads notes.txt (in the project)".
pub fn describe_with_place(effect: &Effect) -> String {
    let is_path = matches!(effect.subject, Subject::Path { .. }) && !["", "."].contains(&effect.target.as_str());
    let quiet = is_path.then(|| quiet_place(effect.spec.place)).flatten();
    described(effect, place_note(effect.spec.action, effect.spec.place).or(quiet))
}

fn described(effect: &Effect, note: Option<&str>) -> String {
    let spec = effect.spec;
    let target = visible(&effect.target);
    let verb = match spec.action {
        Action::Inspect => "looks at",
        Action::Read => "reads",
        Action::Disclose => "shows",
        Action::Write => "writes",
        Action::Mode => "changes the permissions of",
        Action::Delete => "deletes",
        Action::Control => "changes the state of",
        Action::Execute => "runs",
        Action::Connect => "connects to",
        Action::Send => "changes",
        Action::Privilege => "gains rights",
    };
    let object = match &*target {
        "" => standing_for(effect),
        "." => "the project",
        "~" => "the whole home directory",
        named => named,
    };
    let mut text = format!("{verb} {object}").trim_end().to_owned();
    if let Some(place) = note.filter(|_| effect.target != "~") {
        text.push_str(&format!(" ({place})"));
    }
    match spec.undo {
        Undo::Nothing | Undo::Kept => {}
        Undo::Lost if spec.action == Action::Execute && target.is_empty() => text.push_str(" that nobody vouches for"),
        Undo::Lost if spec.action == Action::Execute => text.push_str(", which nobody vouches for"),
        Undo::Lost => text.push_str(", which loses work"),
        Undo::Forever => text.push_str(", which cannot be undone"),
    }
    text
}

fn standing_for(effect: &Effect) -> &'static str {
    match (effect.spec.action, effect.spec.reach) {
        (Action::Execute, Reach::New | Reach::Shared) => "code from elsewhere",
        (Action::Execute, _) if effect.spec.undo <= Undo::Kept => "the project's own code",
        (Action::Execute, _) => "code",
        (Action::Connect, Reach::Service) => "a service that the person is logged in to",
        (Action::Connect, Reach::Loopback) => "a server on this machine",
        (Action::Connect, _) => "another machine",
        (Action::Send, Reach::Shared) => "what others depend on",
        (Action::Send, _) => "something on another machine",
        (Action::Disclose, _) if effect.spec.place == Place::Secret => "a secret",
        (Action::Disclose, _) => "what may hold a secret",
        (Action::Control, _) => "this machine or session",
        (Action::Privilege, _) => "",
        (Action::Write | Action::Mode | Action::Delete | Action::Read | Action::Inspect, _) => {
            match effect.spec.place {
                Place::Repository => "the repository",
                Place::Project => "the project's files",
                Place::Cache => "dependencies",
                Place::System => "the system",
                Place::Startup => "what the person's tools obey",
                Place::Secret => "a secret",
                Place::Nowhere | Place::Scratch | Place::Build | Place::BecomesCode | Place::Home | Place::Other => {
                    "files"
                }
            }
        }
    }
}

/// A place that goes without saying in a summary.
fn quiet_place(place: Place) -> Option<&'static str> {
    match place {
        Place::Project | Place::Build | Place::BecomesCode => Some("in the project"),
        Place::Scratch => Some("scratch"),
        Place::Cache => Some("restored by tools"),
        Place::Repository => Some("in the repository"),
        Place::System => Some("in the system"),
        Place::Nowhere | Place::Home | Place::Other | Place::Startup | Place::Secret => None,
    }
}

fn place_note(action: Action, place: Place) -> Option<&'static str> {
    match place {
        Place::Nowhere | Place::Project | Place::Scratch | Place::Cache | Place::Repository => None,
        Place::System => (!matches!(action, Action::Read | Action::Inspect)).then_some("part of the system"),
        Place::Build => (!matches!(action, Action::Read | Action::Inspect)).then_some("runs when the project is built"),
        Place::BecomesCode => {
            (!matches!(action, Action::Read | Action::Inspect)).then_some("is run or obeyed by tools later")
        }
        Place::Home => Some("in the home directory"),
        Place::Other => (action != Action::Execute).then_some("outside the project"),
        Place::Startup => Some("is run or obeyed without asking"),
        Place::Secret => Some("secret"),
    }
}

#[cfg(test)]
mod tests;
