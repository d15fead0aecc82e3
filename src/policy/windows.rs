//! Time windows: when, and for whom, calls are let through at all.
//!
//! Windows of one file about the same tiers and tools add up: one that is open is enough. Those about other tiers or
//! tools, and those of the project beside the person's, must each have one that is open.

use std::fmt;
use std::time::SystemTime;

use super::identity::Who;
use super::pattern;
use super::rules::{Match, Origin, Owner};
use super::zone::{DAY, Zone};
use crate::call::Call;
use crate::effect::Tier;
use crate::facts::Facts;

/// The days of the week as they are written.
pub const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// One `[[window]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub origin: Origin,
    pub owner: Owner,
    /// `None`: at any time.
    pub hours: Option<Hours>,
    /// Who must ask within the hours.
    pub who: Who,
    pub outside: Outside,
    /// The tiers that it is about; empty: all.
    pub tiers: Vec<Tier>,
    /// Patterns for the tools that it is about; empty: all.
    pub tools: Vec<String>,
}

/// A part of each of some days, by the clocks of one zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hours {
    /// The days that it begins on, from Monday.
    pub days: [bool; 7],
    /// Minutes of the day: the first that belongs to it, and the first that does not any more. Where the end is not after
    /// the beginning, it is on the next day.
    pub from: u16,
    pub to: u16,
    pub zone: Zone,
}

/// What becomes of a call that a window is about while it is closed. The later is the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outside {
    /// No policy allows it.
    #[default]
    Ask,
    Deny,
}

impl Outside {
    pub const ALL: [Outside; 2] = [Outside::Ask, Outside::Deny];

    pub const fn as_str(self) -> &'static str {
        match self {
            Outside::Ask => "ask",
            Outside::Deny => "deny",
        }
    }
}

/// Why no window lets a call through. The later counts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closed {
    /// One is open, but not for this agent or this machine.
    Identity,
    Hours,
}

impl Hours {
    fn hold(&self, now: SystemTime) -> bool {
        let Some((today, minute)) = self.zone.local(now) else {
            return false;
        };
        let (today, yesterday) = (self.days[usize::from(today)], self.days[(usize::from(today) + 6) % 7]);
        let (after, before) = (minute >= self.from, minute < self.to);
        match self.from < self.to {
            true => today && after && before,
            false => today && after || yesterday && before,
        }
    }
}

impl Window {
    fn is_about(&self, tier: Tier, call: &Call) -> bool {
        let tool = |named: &String| pattern::text(named, &call.tool);
        (self.tiers.is_empty() || self.tiers.contains(&tier)) && (self.tools.is_empty() || self.tools.iter().any(tool))
    }

    fn adds_up_with(&self, other: &Window) -> bool {
        (&self.tiers, &self.tools) == (&other.tiers, &other.tools)
    }

    /// `None`: the call is within the window.
    fn closed(&self, call: &Call, facts: &Facts, now: SystemTime) -> Option<Closed> {
        if !self.hours.as_ref().is_none_or(|hours| hours.hold(now)) {
            return Some(Closed::Hours);
        }
        (self.who.fits(call, facts) < Match::Yes).then_some(Closed::Identity)
    }
}

/// The window of `owner` that stops the call, with why and what it then asks for: the strictest of those that are closed.
pub fn closed<'a>(
    windows: &'a [Window],
    owner: Owner,
    tier: Tier,
    call: &Call,
    facts: &Facts,
    now: SystemTime,
) -> Option<(&'a Window, Closed, Outside)> {
    let of_call: Vec<&Window> = windows
        .iter()
        .filter(|window| window.owner == owner && window.is_about(tier, call))
        .collect();
    let refusal = |first: &&'a Window| {
        let together = || of_call.iter().filter(|window| window.adds_up_with(first));
        let why: Option<Vec<Closed>> = together().map(|window| window.closed(call, facts, now)).collect();
        let why = why?.into_iter().min()?;
        let outside = together().map(|window| window.outside).max()?;
        let window = together().find(|window| window.closed(call, facts, now) == Some(why))?;
        Some((*window, why, outside))
    };
    let refusals = of_call.iter().filter_map(refusal);
    refusals.rev().max_by_key(|(_, why, outside)| (*outside, *why))
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days != [true; 7] {
            let days: Vec<&str> = DAYS
                .iter()
                .zip(self.days)
                .filter_map(|(day, is)| is.then_some(*day))
                .collect();
            write!(f, "{} ", days.join(", "))?;
        }
        if (self.from, self.to) != (0, DAY) {
            let [from, to] = [self.from, self.to].map(|minute| format!("{:02}:{:02}", minute / 60, minute % 60));
            write!(f, "{from}-{to} ")?;
        }
        f.write_str(&self.zone.name)
    }
}

impl fmt::Display for Window {
    /// On one line: when, for whom, for what, and what holds outside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.hours.iter().map(Hours::to_string).collect();
        parts.extend(self.who.written().map(|(key, value)| format!("{key} = {value:?}")));
        if !self.tiers.is_empty() {
            let tiers: Vec<&str> = self.tiers.iter().map(|tier| tier.as_str()).collect();
            parts.push(format!("for {}", tiers.join(", ")));
        }
        if !self.tools.is_empty() {
            parts.push(format!("for {}", self.tools.join(", ")));
        }
        write!(f, "{}, outside = {:?}", parts.join(", "), self.outside.as_str())
    }
}

#[cfg(test)]
mod tests;
