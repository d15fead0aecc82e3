//! From effects to a tier: one table, tested over its whole product.
//!
//! Promises: a greater loss or a longer reach never lowers a tier, nothing that touches a secret is below high, and
//! nothing unproven is safe. The sense of the tiers is in docs/tiers.md; this table is the law.

use crate::effect::{Action, EffectSpec, Place, Reach, Step, Tier, Undo};

/// The tier of one effect.
pub fn tier(effect: EffectSpec) -> Tier {
    let tier = match effect.action {
        Action::Inspect | Action::Read => looking(effect.place),
        Action::Disclose => Tier::Medium,
        Action::Write | Action::Mode => changing(effect.place, effect.undo),
        Action::Delete => deleting(effect.place, effect.undo),
        Action::Control => controlling(effect.place, effect.undo),
        Action::Execute => executing(effect),
        Action::Connect => connecting(effect.reach),
        Action::Send => sending(effect.undo, effect.reach),
        Action::Privilege => Tier::Critical,
    };
    if effect.place == Place::Secret {
        tier.max(Tier::High)
    } else {
        tier
    }
}

/// The tier of a step: its worst effect, and never safe while a doubt is left.
pub fn step_tier(step: &Step) -> Tier {
    let worst = step
        .effects
        .iter()
        .map(|effect| tier(effect.spec))
        .max()
        .unwrap_or(Tier::Safe);
    floor(worst, step.proven())
}

/// Keeps what is not proven above safe.
pub fn floor(tier: Tier, proven: bool) -> Tier {
    if proven { tier } else { tier.max(Tier::Medium) }
}

fn looking(place: Place) -> Tier {
    match place {
        Place::Nowhere
        | Place::Scratch
        | Place::Project
        | Place::Cache
        | Place::Repository
        | Place::System
        | Place::Build
        | Place::BecomesCode => Tier::Safe,
        Place::Home | Place::Other | Place::Startup => Tier::Medium,
        Place::Secret => Tier::High,
    }
}

fn changing(place: Place, undo: Undo) -> Tier {
    let least = match place {
        Place::Scratch | Place::Project | Place::Repository => Tier::Low,
        Place::Cache | Place::Build => Tier::Medium,
        Place::BecomesCode | Place::Home | Place::Other | Place::Nowhere => Tier::High,
        Place::System | Place::Startup | Place::Secret => Tier::Critical,
    };
    least.max(lost(place, undo))
}

fn deleting(place: Place, undo: Undo) -> Tier {
    let least = match place {
        Place::Scratch | Place::Project => Tier::Low,
        Place::Cache | Place::Build => Tier::Medium,
        Place::Repository | Place::BecomesCode => Tier::High,
        Place::Home | Place::Other | Place::Nowhere => {
            if undo >= Undo::Lost {
                Tier::Critical
            } else {
                Tier::High
            }
        }
        Place::System | Place::Startup | Place::Secret => Tier::Critical,
    };
    least.max(lost(place, undo))
}

/// Scratch is made to be thrown away, so losing it is milder.
fn lost(place: Place, undo: Undo) -> Tier {
    match undo {
        Undo::Nothing | Undo::Kept => Tier::Low,
        Undo::Lost if place == Place::Scratch => Tier::Medium,
        Undo::Lost => Tier::High,
        Undo::Forever => Tier::Critical,
    }
}

fn controlling(place: Place, undo: Undo) -> Tier {
    let least = match place {
        Place::System | Place::Startup | Place::Secret => Tier::Critical,
        Place::Nowhere
        | Place::Scratch
        | Place::Project
        | Place::Cache
        | Place::Repository
        | Place::Build
        | Place::BecomesCode
        | Place::Home
        | Place::Other => Tier::Low,
    };
    least.max(match undo {
        Undo::Nothing => Tier::Low,
        Undo::Kept => Tier::Medium,
        Undo::Lost => Tier::High,
        Undo::Forever => Tier::Critical,
    })
}

/// Code is as good as whoever vouches for it: the project's commit, or nobody.
fn executing(effect: EffectSpec) -> Tier {
    let vouched = matches!(
        effect.place,
        Place::Project | Place::Cache | Place::Build | Place::System
    );
    match (effect.undo, effect.reach) {
        (Undo::Forever, _) | (_, Reach::New | Reach::Shared) => Tier::Critical,
        (Undo::Nothing | Undo::Kept, Reach::Here | Reach::Service | Reach::Loopback | Reach::Known) if vouched => {
            Tier::Medium
        }
        (Undo::Nothing | Undo::Kept | Undo::Lost, Reach::Here | Reach::Service | Reach::Loopback | Reach::Known) => {
            Tier::High
        }
    }
}

fn connecting(reach: Reach) -> Tier {
    match reach {
        Reach::Here | Reach::Service => Tier::Safe,
        Reach::Loopback | Reach::Known => Tier::Medium,
        Reach::New | Reach::Shared => Tier::High,
    }
}

fn sending(undo: Undo, reach: Reach) -> Tier {
    match (undo, reach) {
        (Undo::Forever, _) | (Undo::Lost, Reach::Shared) => Tier::Critical,
        (Undo::Nothing | Undo::Kept, Reach::Here | Reach::Service | Reach::Loopback) => Tier::Medium,
        (Undo::Nothing | Undo::Kept | Undo::Lost, _) => Tier::High,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Around, Doubt, Effect};
    use crate::shell::Span;

    fn product() -> impl Iterator<Item = EffectSpec> {
        Action::ALL.iter().flat_map(|&action| {
            Place::ALL.iter().flat_map(move |&place| {
                Undo::ALL.iter().flat_map(move |&undo| {
                    Reach::ALL.iter().map(move |&reach| EffectSpec {
                        action,
                        place,
                        undo,
                        reach,
                    })
                })
            })
        })
    }

    #[test]
    fn a_greater_loss_never_lowers_the_tier() {
        for effect in product() {
            for &undo in Undo::ALL.iter().filter(|&&undo| undo > effect.undo) {
                assert!(
                    tier(EffectSpec { undo, ..effect }) >= tier(effect),
                    "{effect:?} against {undo}"
                );
            }
        }
    }

    #[test]
    fn a_longer_reach_never_lowers_the_tier() {
        for effect in product() {
            for &reach in Reach::ALL.iter().filter(|&&reach| reach > effect.reach) {
                assert!(
                    tier(EffectSpec { reach, ..effect }) >= tier(effect),
                    "{effect:?} against {reach}"
                );
            }
        }
    }

    #[test]
    fn a_secret_is_the_worst_place_for_every_action() {
        for effect in product() {
            let secret = tier(EffectSpec {
                place: Place::Secret,
                ..effect
            });
            assert!(secret >= Tier::High, "{effect:?}");
            assert!(secret >= tier(effect), "{effect:?}");
        }
    }

    #[test]
    fn leaving_the_project_never_lowers_the_tier() {
        for effect in product().filter(|e| e.place == Place::Project) {
            for place in [
                Place::Home,
                Place::Other,
                Place::Startup,
                Place::BecomesCode,
                Place::Build,
            ] {
                assert!(
                    tier(EffectSpec { place, ..effect }) >= tier(effect),
                    "{effect:?} against {place}"
                );
            }
        }
    }

    #[test]
    fn only_looking_and_service_reads_are_safe() {
        for effect in product().filter(|&e| tier(e) == Tier::Safe) {
            let looks = matches!(effect.action, Action::Inspect | Action::Read);
            let service = effect.action == Action::Connect && effect.reach <= Reach::Service;
            assert!(looks || service, "{effect:?}");
        }
    }

    #[test]
    fn changing_what_the_person_or_the_system_runs_is_critical() {
        for effect in product().filter(|e| matches!(e.action, Action::Write | Action::Mode | Action::Delete)) {
            if matches!(effect.place, Place::Startup | Place::System | Place::Secret) {
                assert_eq!(tier(effect), Tier::Critical, "{effect:?}");
            }
        }
    }

    #[test]
    fn an_unproven_step_is_never_safe_and_a_doubt_never_lowers_it() {
        for spec in product() {
            let mut step = Step {
                program: "x".into(),
                words: Vec::new(),
                effects: vec![Effect::new(spec, "")],
                doubts: Vec::new(),
                tier: Tier::Safe,
                span: Span::default(),
                around: Around::default(),
            };
            let proven = step_tier(&step);
            step.doubts.push(Doubt {
                why: "anything".into(),
                span: Span::default(),
                unlisted: false,
            });
            assert!(step_tier(&step) > Tier::Safe && step_tier(&step) >= proven, "{spec:?}");
        }
    }

    #[test]
    fn one_more_effect_never_lowers_a_step() {
        let some: Vec<EffectSpec> = product().step_by(37).collect();
        for &a in &some {
            for &b in &some {
                let step = |effects: Vec<EffectSpec>| Step {
                    program: String::new(),
                    words: Vec::new(),
                    effects: effects.into_iter().map(|spec| Effect::new(spec, "")).collect(),
                    doubts: Vec::new(),
                    tier: Tier::Safe,
                    span: Span::default(),
                    around: Around::default(),
                };
                assert!(step_tier(&step(vec![a, b])) >= step_tier(&step(vec![a])));
            }
        }
    }
}
