//! What a tier means for the answer: the presets, and a table that the person may set tier by tier.

use std::fmt;

use super::rules::Origin;
use crate::effect::Tier;

/// What is answered to a call of a tier. A later one is stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    Allow,
    /// Allows what stays in the project: no network, nothing read or changed outside.
    AllowInProject,
    /// The person is asked.
    Ask,
    Deny,
}

impl Answer {
    pub const ALL: [Answer; 4] = [Answer::Allow, Answer::AllowInProject, Answer::Ask, Answer::Deny];

    pub const fn as_str(self) -> &'static str {
        match self {
            Answer::Allow => "allow",
            Answer::AllowInProject => "allow_in_project",
            Answer::Ask => "ask",
            Answer::Deny => "deny",
        }
    }
}

/// A named table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Every call keeps its prompt.
    Watch,
    /// What only looks runs unasked.
    #[default]
    Calm,
    /// So does what changes the project and is undone without loss. Nothing of the project's own code runs unasked.
    Steady,
    /// So does what runs the project's code and stays in the project. The agent may then run code that it wrote.
    Flow,
    /// As calm, and what is critical is denied.
    Strict,
}

impl Preset {
    pub const ALL: [Preset; 5] = [
        Preset::Watch,
        Preset::Calm,
        Preset::Steady,
        Preset::Flow,
        Preset::Strict,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Preset::Watch => "watch",
            Preset::Calm => "calm",
            Preset::Steady => "steady",
            Preset::Flow => "flow",
            Preset::Strict => "strict",
        }
    }

    /// What the preset answers to a call of `tier`.
    pub const fn answer(self, tier: Tier) -> Answer {
        match (self, tier) {
            (Preset::Watch, _) => Answer::Ask,
            (_, Tier::Safe) | (Preset::Steady | Preset::Flow, Tier::Low) => Answer::Allow,
            (Preset::Flow, Tier::Medium) => Answer::AllowInProject,
            (Preset::Strict, Tier::Critical) => Answer::Deny,
            _ => Answer::Ask,
        }
    }
}

/// Who has set an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setter {
    /// Nobody, so the default preset holds.
    Default,
    Preset(Preset, Origin),
    /// A line of `[tiers]`.
    Line(Origin),
}

impl fmt::Display for Setter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setter::Default => write!(
                f,
                "the preset `{}`, as nothing else is configured",
                Preset::default().as_str()
            ),
            Setter::Preset(preset, origin) => write!(f, "the preset `{}` ({origin})", preset.as_str()),
            Setter::Line(origin) => write!(f, "a line of `[tiers]` ({origin})"),
        }
    }
}

/// The answer to each tier, and who has set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table(Vec<(Answer, Setter)>);

impl Default for Table {
    fn default() -> Self {
        Self::by(Preset::default(), &Setter::Default)
    }
}

impl Table {
    pub fn of(preset: Preset, origin: &Origin) -> Self {
        Self::by(preset, &Setter::Preset(preset, origin.clone()))
    }

    /// Allows everything, so that it tightens nothing: what a project's file begins with.
    pub fn open() -> Self {
        Table(Tier::ALL.iter().map(|_| (Answer::Allow, Setter::Default)).collect())
    }

    fn by(preset: Preset, setter: &Setter) -> Self {
        let answers = Tier::ALL.iter().map(|&tier| (preset.answer(tier), setter.clone()));
        Table(answers.collect())
    }

    pub fn set(&mut self, tier: Tier, answer: Answer, origin: Origin) {
        self.0[tier as usize] = (answer, Setter::Line(origin));
    }

    /// The answer to a call of `tier`, and who has set it.
    pub fn answer(&self, tier: Tier) -> (Answer, &Setter) {
        let (answer, setter) = &self.0[tier as usize];
        (*answer, setter)
    }

    /// Takes from `other` each answer that is stricter.
    pub fn tighten(&mut self, other: Table) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            if other.0 > own.0 {
                *own = other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_preset_answers_as_it_is_documented() {
        use Answer::{Allow, AllowInProject, Ask, Deny};
        for (preset, answers) in [
            (Preset::Watch, [Ask, Ask, Ask, Ask, Ask]),
            (Preset::Calm, [Allow, Ask, Ask, Ask, Ask]),
            (Preset::Steady, [Allow, Allow, Ask, Ask, Ask]),
            (Preset::Flow, [Allow, Allow, AllowInProject, Ask, Ask]),
            (Preset::Strict, [Allow, Ask, Ask, Ask, Deny]),
        ] {
            let given: Vec<Answer> = Tier::ALL.iter().map(|&tier| preset.answer(tier)).collect();
            assert_eq!(given, answers, "{}", preset.as_str());
        }
    }

    #[test]
    fn no_preset_allows_what_is_high_or_critical() {
        for preset in Preset::ALL {
            assert!(preset.answer(Tier::High) >= Answer::Ask && preset.answer(Tier::Critical) >= Answer::Ask);
        }
    }

    #[test]
    fn tightening_takes_the_stricter_answer_of_each_tier_and_never_a_milder_one() {
        let origin = Origin::of("x.toml", 1);
        for ours in Preset::ALL {
            for theirs in Preset::ALL {
                let mut table = Table::of(ours, &origin);
                table.tighten(Table::of(theirs, &origin));
                for &tier in Tier::ALL {
                    let both = ours.answer(tier).max(theirs.answer(tier));
                    assert_eq!(table.answer(tier).0, both);
                }
            }
        }
    }
}
