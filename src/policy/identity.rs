//! Who asks, and where: what a rule, a window or an escalation may require besides the call itself.
//!
//! The machine is told by its host name: one word that a person knows and writes, asked for by one system call. It is no
//! secret and proves nothing to others; but to change it takes rights that an agent has not, and a machine that was named
//! anew, or a container, fits no name that was written down. `/etc/machine-id` is not everywhere, is to be kept
//! confidential, and says nothing to whoever reads the file.

use super::pattern;
use super::rules::Match;
use crate::call::{Agent, Call};
use crate::facts::Facts;

/// The name of the session's own loop.
const MAIN: &str = "main";

/// What is required; without either, nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// `main`, or a pattern for the type of a subagent.
    pub agent: Option<String>,
    /// A pattern for the host name.
    pub machine: Option<String>,
}

impl Who {
    /// Whether it is who is required. `Maybe` where a face does not say which agent asks.
    pub fn fits(&self, call: &Call, facts: &Facts) -> Match {
        let agent = self.agent.as_ref().map(|named| is_agent(named, &call.agent));
        let machine = self
            .machine
            .as_ref()
            .map(|named| pattern::text(named, facts.machine()).into());
        agent.into_iter().chain(machine).min().unwrap_or(Match::Yes)
    }

    /// As it would be written in the file: each key with its value.
    pub fn written(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [("agent", self.agent.as_deref()), ("machine", self.machine.as_deref())];
        all.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }
}

/// A project may call its subagents as it likes, also `main`, which then is none.
fn is_agent(named: &str, agent: &Agent) -> Match {
    match agent {
        Agent::Main => pattern::text(named, MAIN).into(),
        Agent::Sub { kind: Some(kind), .. } => (named != MAIN && pattern::text(named, kind)).into(),
        Agent::Sub { kind: None, .. } if named == MAIN => Match::No,
        Agent::Sub { kind: None, .. } | Agent::Unknown => Match::Maybe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(named: &str, agent: Agent) -> Match {
        let mut call = crate::wire::event::classify_event(r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#)
            .expect("a call");
        call.agent = agent;
        let who = Who {
            agent: Some(named.into()),
            machine: None,
        };
        who.fits(&call, &Facts::default())
    }

    fn sub(kind: Option<&str>) -> Agent {
        Agent::Sub {
            id: "a1".into(),
            kind: kind.map(str::to_owned),
        }
    }

    #[test]
    fn the_main_agent_is_no_subagent_whatever_that_is_called() {
        for (named, agent, expected) in [
            ("main", Agent::Main, Match::Yes),
            ("main", sub(Some("main")), Match::No),
            ("main", sub(Some("Explore")), Match::No),
            ("main", sub(None), Match::No),
            ("main", Agent::Unknown, Match::Maybe),
            ("Explore", sub(Some("Explore")), Match::Yes),
            ("Explore", sub(Some("explore")), Match::No),
            ("Exp*", sub(Some("Explore")), Match::Yes),
            ("Explore", sub(None), Match::Maybe),
            ("Explore", Agent::Main, Match::No),
            ("*", Agent::Main, Match::Yes),
            ("*", Agent::Unknown, Match::Maybe),
        ] {
            assert_eq!(fits(named, agent.clone()), expected, "{named} {agent:?}");
        }
    }

    #[test]
    fn the_machine_is_its_host_name_and_both_must_fit() {
        let call = crate::wire::event::classify_event(r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#)
            .expect("a call");
        let facts = Facts::default();
        facts.machine.set("build-7".into()).expect("not asked for yet");
        for (agent, machine, expected) in [
            (None, Some("build-7"), Match::Yes),
            (None, Some("build-*"), Match::Yes),
            (None, Some("build"), Match::No),
            (Some("main"), Some("build-7"), Match::Yes),
            (Some("Explore"), Some("build-7"), Match::No),
            (Some("main"), Some("laptop"), Match::No),
            (None, None, Match::Yes),
        ] {
            let who = Who {
                agent: agent.map(str::to_owned),
                machine: machine.map(str::to_owned),
            };
            assert_eq!(who.fits(&call, &facts), expected, "{who:?}");
        }
    }
}
