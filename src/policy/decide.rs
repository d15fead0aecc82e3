//! From an assessment to a decision: the rules of each event.

use crate::call::{Call, Input};
use crate::decision::{Allow, Decision, Deny, Reason, Run};
use crate::effect::{Assessment, Step, Tier};
use crate::wire::EventKind;

/// What the entry in the host's settings asks of a `PreToolUse` hook. By default it only watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// Allows harmless calls before the host asks.
    pub early: bool,
    pub guard: Option<Guard>,
}

/// Stops calls in every mode of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The lowest tier that is stopped.
    pub tier: Tier,
    /// Asks the person instead of denying.
    pub asks: bool,
}

/// The decision on a call.
///
/// Allowed is only what is safe and proven, in every mode, plan mode included. A question or a plan is never decided
/// here. Where the host's own ask rules may match, the caller must not come here for an allow
/// (see [`host_rules`](super::host_rules)).
pub fn decide(event: EventKind, call: &Call, assessment: &Assessment, wiring: Wiring) -> Decision {
    if call.input.is_for_person() {
        return Decision::None;
    }
    let leaves_sandbox = matches!(
        &call.input,
        Input::Shell {
            leaves_sandbox: true,
            ..
        }
    );
    let harmless = assessment.tier == Tier::Safe && assessment.proven() && !leaves_sandbox;
    match event {
        EventKind::PermissionRequest if harmless => allow(),
        EventKind::PermissionRequest => Decision::None,
        EventKind::PreToolUse => match wiring.guard {
            Some(guard) if assessment.tier >= guard.tier => stop(guard, assessment),
            _ if wiring.early && harmless => allow(),
            _ => Decision::None,
        },
    }
}

fn allow() -> Decision {
    Decision::Allow(Allow::Run(Run::default()))
}

fn stop(guard: Guard, assessment: &Assessment) -> Decision {
    let message = format!(
        "{} ({} or above is stopped here): {}",
        assessment.tier,
        guard.tier,
        worst(assessment)
    );
    if guard.asks {
        return Decision::Ask(message);
    }
    Decision::Deny(Deny {
        reason: Reason::Policy,
        message,
        interrupt: false,
    })
}

/// What makes the assessment as bad as it is, in a few words: the first of the worst steps.
fn worst(assessment: &Assessment) -> String {
    let step = assessment.steps.iter().find(|step| step.tier == assessment.tier);
    let doubt = step.and_then(|step| step.doubts.first()).or(assessment.doubts.first());
    match (step, doubt) {
        (Some(step), _) if !step.effects.is_empty() => format!("`{}` would {}", step.program, deeds(step)),
        (_, Some(doubt)) => format!("not understood: {}", doubt.why),
        (Some(step), None) => format!("`{}`", step.program),
        (None, None) => "the call as a whole".into(),
    }
}

fn deeds(step: &Step) -> String {
    let deeds = step
        .effects
        .iter()
        .map(|effect| format!("{} {}", effect.spec.action, effect.target));
    let mut deeds: Vec<String> = deeds.map(|deed| deed.trim_end().to_owned()).collect();
    deeds.dedup();
    deeds.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Mode;
    use crate::effect::{Action, Around, Doubt, Effect, EffectSpec};
    use crate::shell::Span;
    use serde_json::value::RawValue;

    const EVENTS: [EventKind; 2] = [EventKind::PermissionRequest, EventKind::PreToolUse];

    fn call(input: Input, mode: Mode) -> Call {
        Call {
            tool: "Bash".into(),
            input,
            raw_input: RawValue::from_string("{}".into()).expect("test JSON"),
            suggestions: Vec::new(),
            cwd: None,
            session: None,
            agent: None,
            mode,
        }
    }

    fn shell(leaves_sandbox: bool) -> Input {
        Input::Shell {
            command: "rm x".into(),
            leaves_sandbox,
        }
    }

    fn assessed(tier: Tier, proven: bool) -> Assessment {
        let doubt = Doubt {
            why: "`--odd` is not known".into(),
            span: Span::default(),
            unlisted: false,
        };
        Assessment {
            steps: vec![Step {
                program: "rm".into(),
                words: Vec::new(),
                effects: vec![Effect::new(EffectSpec::of(Action::Delete), "x")],
                doubts: if proven { Vec::new() } else { vec![doubt] },
                tier,
                span: Span::default(),
                around: Around::default(),
            }],
            doubts: Vec::new(),
            tier,
            commands: Vec::new(),
            parsed: Some(true),
        }
    }

    fn wirings() -> impl Iterator<Item = Wiring> {
        let guards = Tier::ALL
            .iter()
            .flat_map(|&tier| [true, false].map(|asks| Some(Guard { tier, asks })));
        let guards: Vec<Option<Guard>> = guards.chain([None]).collect();
        [true, false]
            .into_iter()
            .flat_map(move |early| guards.clone().into_iter().map(move |guard| Wiring { early, guard }))
    }

    #[test]
    fn only_safe_and_proven_calls_inside_the_sandbox_are_ever_allowed() {
        for wiring in wirings() {
            for (&tier, event) in Tier::ALL.iter().flat_map(|tier| EVENTS.map(|event| (tier, event))) {
                for (proven, leaves) in [(true, true), (true, false), (false, true), (false, false)] {
                    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::Auto, Mode::Unknown] {
                        let decision = decide(event, &call(shell(leaves), mode), &assessed(tier, proven), wiring);
                        let harmless = tier == Tier::Safe && proven && !leaves;
                        assert!(
                            harmless || !matches!(decision, Decision::Allow(_)),
                            "{event:?} {tier} {wiring:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn questions_and_plans_always_stay_with_the_person() {
        for (input, event) in [Input::Question, Input::Plan]
            .into_iter()
            .flat_map(|i| EVENTS.map(|e| (i.clone(), e)))
        {
            for wiring in wirings() {
                for tier in [Tier::Safe, Tier::Critical] {
                    let decision = decide(event, &call(input.clone(), Mode::Plan), &assessed(tier, true), wiring);
                    assert!(matches!(decision, Decision::None));
                }
            }
        }
    }

    #[test]
    fn a_permission_request_is_allowed_when_harmless_whatever_the_wiring() {
        for wiring in wirings() {
            let call = call(shell(false), Mode::Default);
            let decision = decide(EventKind::PermissionRequest, &call, &assessed(Tier::Safe, true), wiring);
            assert!(matches!(decision, Decision::Allow(_)));
            let decision = decide(
                EventKind::PermissionRequest,
                &call,
                &assessed(Tier::Critical, true),
                wiring,
            );
            assert!(matches!(decision, Decision::None));
        }
    }

    #[test]
    fn a_tool_use_is_allowed_early_only_where_that_is_wired() {
        let call = call(shell(false), Mode::Default);
        let safe = assessed(Tier::Safe, true);
        let early = Wiring {
            early: true,
            guard: None,
        };
        assert!(matches!(
            decide(EventKind::PreToolUse, &call, &safe, early),
            Decision::Allow(_)
        ));
        assert!(matches!(
            decide(EventKind::PreToolUse, &call, &safe, Wiring::default()),
            Decision::None
        ));
    }

    #[test]
    fn a_guard_stops_its_tier_and_above_and_names_the_effect() {
        let call = call(shell(false), Mode::Auto);
        let guard = |asks| Wiring {
            early: true,
            guard: Some(Guard { tier: Tier::High, asks }),
        };
        let below = decide(
            EventKind::PreToolUse,
            &call,
            &assessed(Tier::Medium, true),
            guard(false),
        );
        assert!(matches!(below, Decision::None));
        for tier in [Tier::High, Tier::Critical] {
            let Decision::Deny(deny) = decide(EventKind::PreToolUse, &call, &assessed(tier, true), guard(false)) else {
                panic!("{tier} is denied");
            };
            assert!(
                deny.message.contains("`rm` would delete x") && !deny.interrupt,
                "{}",
                deny.message
            );
            let asked = decide(EventKind::PreToolUse, &call, &assessed(tier, true), guard(true));
            assert!(matches!(asked, Decision::Ask(why) if why.contains("delete x")));
        }
    }

    #[test]
    fn a_guard_names_the_doubt_where_no_effect_is_known() {
        let mut unknown = assessed(Tier::High, false);
        unknown.steps[0].effects.clear();
        let guard = Guard {
            tier: Tier::High,
            asks: true,
        };
        let wiring = Wiring {
            early: false,
            guard: Some(guard),
        };
        let asked = decide(
            EventKind::PreToolUse,
            &call(shell(false), Mode::Default),
            &unknown,
            wiring,
        );
        assert!(matches!(asked, Decision::Ask(why) if why.contains("`--odd` is not known")));
    }
}
