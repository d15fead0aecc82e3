//! What is answered to a call.
//!
//! Policy and approvers make decisions; `wire::output` alone turns one into the host's words. Nothing here knows JSON
//! of the host beyond carrying an input that a person edited.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::policy::rules::Conditions;
use crate::questions::Answers;

/// The answer to one call.
#[derive(Clone, Debug)]
pub enum Decision {
    Allow(Allow),
    Deny(Deny),
    /// The person is to be asked, for this reason. An event that stands for asking already takes it as no decision.
    Ask(String),
    /// A person must be asked, for this reason and so long: no policy may allow it. A face that reaches a person puts it to
    /// them; to an event of the host it is as [`Decision::Ask`].
    Hold(Hold),
    /// No way to an opinion: the question stays with the person.
    None,
    /// This process steps aside: it is switched off, or another one answers the same event.
    Aside,
}

/// How a call is allowed. What does not fit the call is no decision.
#[derive(Clone, Debug)]
pub enum Allow {
    Run(Run),
    /// Approves a plan as it was received; the host then leaves plan mode.
    Plan {
        /// The mode after it; `None` leaves that to the host.
        then: Option<NextMode>,
    },
    Answers(Answers),
}

/// An ordinary call runs.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The whole input that replaces the one received; `None` leaves it.
    pub input: Option<Box<RawValue>>,
    /// What is remembered beside it.
    pub remember: Option<Remember>,
    /// Why, for the faces that show it: "reads files of the project". May be empty.
    pub why: String,
}

/// The mode that the host takes after an approved plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextMode {
    AcceptEdits,
    Auto,
}

/// What a person has remembered, so that they are not asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remember {
    /// A suggestion of the host's, by its place from 0, as the host sent it.
    Suggestion(usize),
    /// The same until the session ends, wherever the host would have kept it.
    ForSession(usize),
    /// A rule of the person's own.
    Rule(Box<Conditions>),
}

/// Something that a person may have remembered with an allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What is let through from then on, in words.
    pub change: String,
    /// How far it reaches; `None` for a suggestion that is not known, which is shown as it came.
    pub scope: Option<Scope>,
    pub remember: Remember,
}

/// Who keeps what is remembered, and how far it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Session,
    Local,
    Project,
    User,
    /// A rule in the person's own configuration.
    Countersign,
}

impl Scope {
    /// In words that follow a change.
    pub const fn words(self) -> &'static str {
        match self {
            Scope::Session => "for this session",
            Scope::Local => "for this project, in your local settings",
            Scope::Project => "for everyone on this project, in its settings",
            Scope::User => "for you everywhere, in your settings",
            Scope::Countersign => "for you everywhere, as a rule of Countersign",
        }
    }
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.change)?;
        self.scope.map_or(Ok(()), |scope| write!(f, ", {}", scope.words()))
    }
}

/// A call that only a person may let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// What the person is shown.
    pub reason: String,
    /// From asking the person to their answer; when it has passed, nobody has answered. `None`: as long as the face waits
    /// for any other call.
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug)]
pub struct Deny {
    pub reason: Reason,
    /// What the model reads after the reason code. May be empty.
    pub message: String,
    /// Ends the turn, where there is no message: the host would drop it.
    pub interrupt: bool,
}

/// Why a call was denied. One spelling, in every face and in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Policy,
    DeniedByPerson,
    Timeout,
    RelayUnreachable,
    Frozen,
    RateLimited,
    OutsideHours,
    Identity,
    Malformed,
    UndoneByHost,
}

impl Deny {
    /// A denial after which the agent goes on, with these words for it.
    pub const fn new(reason: Reason, message: String) -> Self {
        Deny {
            reason,
            message,
            interrupt: false,
        }
    }

    /// A denial that ends the turn. The host would drop its words, so it has none.
    pub const fn stopping(reason: Reason) -> Self {
        Deny {
            reason,
            message: String::new(),
            interrupt: true,
        }
    }

    /// While the person has frozen everything. It ends the turn.
    pub const fn frozen() -> Self {
        Deny::stopping(Reason::Frozen)
    }
}

impl Reason {
    pub const ALL: [Reason; 10] = [
        Reason::Policy,
        Reason::DeniedByPerson,
        Reason::Timeout,
        Reason::RelayUnreachable,
        Reason::Frozen,
        Reason::RateLimited,
        Reason::OutsideHours,
        Reason::Identity,
        Reason::Malformed,
        Reason::UndoneByHost,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Policy => "policy",
            Reason::DeniedByPerson => "denied_by_person",
            Reason::Timeout => "timeout",
            Reason::RelayUnreachable => "relay_unreachable",
            Reason::Frozen => "frozen",
            Reason::RateLimited => "rate_limited",
            Reason::OutsideHours => "outside_hours",
            Reason::Identity => "identity",
            Reason::Malformed => "malformed",
            Reason::UndoneByHost => "undone_by_host",
        }
    }

    /// What the model reads where a denial carries no words of its own.
    pub const fn sentence(self) -> &'static str {
        match self {
            Reason::Policy => "The person's rules do not allow this call.",
            Reason::DeniedByPerson => "The person refused this call.",
            Reason::Timeout => "Nobody answered in time.",
            Reason::RelayUnreachable => "The person who decides could not be reached.",
            Reason::Frozen => "The person has frozen this session: no call is allowed for now.",
            Reason::RateLimited => "Too many calls were asked for in a short time.",
            Reason::OutsideHours => "The person's rules allow no call at this hour.",
            Reason::Identity => "The person's rules do not let this call through from this agent or on this machine.",
            Reason::Malformed => "The call could not be read.",
            Reason::UndoneByHost => "The host has withdrawn this call.",
        }
    }
}

/// A call that was put to a person, as far as their answer must name it. Times are of this process's own clock, which
/// nobody sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// [`Call::digest`](crate::call::Call::digest)
    pub digest: String,
    /// The host's id of the tool use, on the faces that have one.
    pub tool_use_id: Option<String>,
    pub at: Instant,
    /// From asking to the answer.
    pub within: Duration,
}

/// A person's answer, as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The digest of the call that the person was shown.
    pub digest: String,
    pub tool_use_id: Option<String>,
    /// From which device it came; `None` for the terminal of this process.
    pub device: Option<String>,
    /// When it reached this process.
    pub given_at: Instant,
}

/// Why an answer does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Void {
    /// It is about another call: another tool or another input.
    OtherCall,
    /// It is about the same call, made another time.
    OtherToolUse,
    /// It was there before anybody was asked.
    Early,
    Late,
}

impl Answer {
    /// Whether it answers what was asked. It names the digest, and the tool use exactly where that has an id; it was given
    /// after the question and before its time had passed.
    ///
    /// # Errors
    /// The first of these that does not hold.
    pub fn counts(&self, asked: &Asked) -> Result<(), Void> {
        if self.digest != asked.digest {
            return Err(Void::OtherCall);
        }
        if self.tool_use_id != asked.tool_use_id {
            return Err(Void::OtherToolUse);
        }
        match self.given_at.checked_duration_since(asked.at) {
            None => Err(Void::Early),
            Some(took) if took >= asked.within => Err(Void::Late),
            Some(_) => Ok(()),
        }
    }
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Void::OtherCall => "the answer is about another call",
            Void::OtherToolUse => "the answer is about the same call made another time",
            Void::Early => "the answer was there before anybody was asked",
            Void::Late => "the answer came too late",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tool_use_id: Option<&str>) -> Asked {
        Asked {
            digest: "d".into(),
            tool_use_id: tool_use_id.map(str::to_owned),
            at: Instant::now(),
            within: Duration::from_secs(60),
        }
    }

    /// An answer to what was asked, so long after it.
    fn answer(asked: &Asked, after: Duration) -> Answer {
        Answer {
            digest: asked.digest.clone(),
            tool_use_id: asked.tool_use_id.clone(),
            device: None,
            given_at: asked.at + after,
        }
    }

    #[test]
    fn an_answer_counts_from_the_question_to_before_its_time_has_passed() {
        for asked in [asked(None), asked(Some("toolu_1"))] {
            let counts = |after| answer(&asked, after).counts(&asked);
            assert_eq!(counts(Duration::ZERO), Ok(()));
            assert_eq!(counts(asked.within - Duration::from_nanos(1)), Ok(()));
            assert_eq!(counts(asked.within), Err(Void::Late));
            let early = Asked {
                at: asked.at + Duration::from_nanos(1),
                ..asked.clone()
            };
            assert_eq!(answer(&asked, Duration::ZERO).counts(&early), Err(Void::Early));
        }
    }

    #[test]
    fn an_answer_names_the_call_and_the_tool_use_where_it_has_an_id() {
        let once = asked(Some("toolu_1"));
        let given = answer(&once, Duration::ZERO);
        let about = |digest: &str, id: Option<&str>| Answer {
            digest: digest.into(),
            tool_use_id: id.map(str::to_owned),
            ..given.clone()
        };
        assert_eq!(about("d", Some("toolu_1")).counts(&once), Ok(()));
        assert_eq!(about("D", Some("toolu_1")).counts(&once), Err(Void::OtherCall));
        assert_eq!(about("", Some("toolu_1")).counts(&once), Err(Void::OtherCall));
        assert_eq!(about("d", Some("toolu_2")).counts(&once), Err(Void::OtherToolUse));
        assert_eq!(about("d", None).counts(&once), Err(Void::OtherToolUse));
        let without_id = asked(None);
        let named = Answer {
            given_at: without_id.at,
            ..given.clone()
        };
        assert_eq!(named.counts(&without_id), Err(Void::OtherToolUse));
    }

    #[test]
    fn a_digest_tells_tools_and_inputs_apart_to_the_byte() {
        let digest = |tool: &str, input: &str| {
            let line = format!(r#"{{"tool_name":"{tool}","tool_input":{input}}}"#);
            crate::wire::event::classify_event(&line).expect("a call").digest()
        };
        let one = digest("Bash", r#"{"command":"ls"}"#);
        assert_eq!(one, digest("Bash", r#"{"command":"ls"}"#));
        assert_eq!(one.len(), 64);
        for (tool, input) in [
            ("Monitor", r#"{"command":"ls"}"#),
            ("Bash", r#"{"command":"ls "}"#),
            ("Bash", r#"{"command": "ls"}"#),
            ("Bash", r#"{"command":"l\u0073"}"#),
        ] {
            assert_ne!(one, digest(tool, input), "{tool} {input}");
        }
    }
}
