use super::super::tiers::{Preset, Table};
use super::*;
use crate::call::Agent;
use crate::effect::{Around, Doubt, EffectSpec, Step};
use crate::pause::Pause;
use crate::shell::Span;
use serde_json::value::RawValue;

const MODES: [Mode; 5] = [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::Auto, Mode::Unknown];
const EVENTS: [EventKind; 2] = [EventKind::PermissionRequest, EventKind::PreToolUse];

fn call(input: Input, mode: Mode) -> Call {
    Call {
        tool: "Bash".into(),
        input,
        raw_input: RawValue::from_string("{}".into()).expect("test JSON"),
        suggestions: Vec::new(),
        cwd: None,
        session: None,
        agent: Agent::Main,
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
        gap: None,
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

/// The decision by a table alone, in a project at /p.
fn by_table(table: Table, event: EventKind, call: &Call, assessment: &Assessment, wiring: Wiring) -> Ruling {
    let policy = Policy {
        table,
        ..Policy::default()
    };
    let facts = Facts {
        project: vec!["/p".into()],
        ..Facts::default()
    };
    let circumstances = Circumstances::live(Pause::On);
    decide(event, call, assessment, wiring, &policy, &circumstances, &facts)
}

fn decided(event: EventKind, call: &Call, assessment: &Assessment, wiring: Wiring) -> Decision {
    by_table(Table::default(), event, call, assessment, wiring).decision
}

fn of(preset: Preset) -> Table {
    Table::of(preset, &Origin::of("config.toml", 1))
}

fn allows(ruling: &Ruling) -> bool {
    matches!(ruling.decision, Decision::Allow(_))
}

#[test]
fn only_safe_and_proven_calls_inside_the_sandbox_are_allowed_without_configuration() {
    for wiring in wirings() {
        for (&tier, event) in Tier::ALL.iter().flat_map(|tier| EVENTS.map(|event| (tier, event))) {
            for (proven, leaves) in [(true, true), (true, false), (false, true), (false, false)] {
                for mode in MODES {
                    let decision = decided(event, &call(shell(leaves), mode), &assessed(tier, proven), wiring);
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
fn each_preset_allows_its_tiers_and_no_setting_allows_what_is_unproven_or_leaves_the_sandbox() {
    for preset in Preset::ALL {
        for (&tier, mode) in Tier::ALL.iter().flat_map(|tier| MODES.map(|mode| (tier, mode))) {
            let asked = |proven, leaves| {
                let call = call(shell(leaves), mode);
                let event = EventKind::PermissionRequest;
                by_table(of(preset), event, &call, &assessed(tier, proven), Wiring::default())
            };
            let ruling = asked(true, false);
            let meant = match preset.answer(tier) {
                Answer::Allow | Answer::AllowInProject => mode != Mode::Plan || tier == Tier::Safe,
                Answer::Ask | Answer::Deny => false,
            };
            assert_eq!(allows(&ruling), meant, "{} {tier} {mode:?}", preset.as_str());
            let denied = matches!(ruling.decision, Decision::Deny(_));
            assert_eq!(
                denied,
                preset.answer(tier) == Answer::Deny,
                "{} {tier}",
                preset.as_str()
            );
            assert!(!allows(&asked(false, false)) && !allows(&asked(true, true)));
        }
    }
}

#[test]
fn what_is_allowed_in_the_project_stays_there() {
    let path = |path: &str| Subject::Path {
        named: path.into(),
        real: path.into(),
    };
    let of_effect = |words: &str, subject: Subject| {
        let mut assessment = assessed(Tier::Medium, true);
        let effect = Effect::new(EffectSpec::parse(words).expect("an effect"), "x");
        assessment.steps[0].effects = vec![Effect { subject, ..effect }];
        let event = EventKind::PermissionRequest;
        by_table(
            of(Preset::Flow),
            event,
            &call(shell(false), Mode::Default),
            &assessment,
            Wiring::default(),
        )
    };
    for (words, subject) in [
        ("execute project kept", Subject::None),
        ("execute project kept", path("/p/run.sh")),
        ("write build", path("/p/Makefile")),
        ("delete cache kept", path("/p/target")),
    ] {
        assert!(allows(&of_effect(words, subject)), "{words}");
    }
    for (words, subject) in [
        ("connect known", Subject::Host("docs.rs".into())),
        ("connect loopback", Subject::None),
        ("read other", path("/srv/x")),
        ("read home", path("/h/x")),
        ("delete cache kept", path("/h/.cargo/registry")),
        ("execute project kept", path("/other/run.sh")),
        ("execute project kept known", Subject::None),
        ("disclose", Subject::None),
        ("send known", Subject::None),
        ("control kept", Subject::None),
    ] {
        let ruling = of_effect(words, subject);
        assert!(!allows(&ruling), "{words}");
        assert!(matches!(ruling.by, By::LeavesProject(_)), "{words}: {:?}", ruling.by);
    }
}

#[test]
fn who_decided_is_said_with_the_line() {
    let asked = |table, tier, proven| {
        let event = EventKind::PermissionRequest;
        let call = call(shell(false), Mode::Default);
        by_table(table, event, &call, &assessed(tier, proven), Wiring::default())
            .by
            .to_string()
    };
    assert_eq!(
        asked(Table::default(), Tier::Low, true),
        "low is `ask` by the preset `calm`, as nothing else is configured"
    );
    assert_eq!(
        asked(of(Preset::Steady), Tier::Low, true),
        "low is `allow` by the preset `steady` (config.toml:1)"
    );
    assert_eq!(
        asked(of(Preset::Flow), Tier::Medium, false),
        "what is not understood is never let through unasked"
    );
    assert_eq!(
        asked(of(Preset::Strict), Tier::Critical, true),
        "critical is `deny` by the preset `strict` (config.toml:1)"
    );
}

#[test]
fn a_denial_by_the_table_holds_for_every_event() {
    for event in EVENTS {
        let call = call(shell(false), Mode::Auto);
        let ruling = by_table(
            of(Preset::Strict),
            event,
            &call,
            &assessed(Tier::Critical, true),
            Wiring::default(),
        );
        assert!(matches!(ruling.decision, Decision::Deny(deny) if deny.message.contains("`rm` deletes x")));
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
                let decision = decided(event, &call(input.clone(), Mode::Plan), &assessed(tier, true), wiring);
                assert!(matches!(decision, Decision::None));
            }
        }
    }
}

#[test]
fn a_permission_request_is_allowed_when_harmless_whatever_the_wiring() {
    for wiring in wirings() {
        let call = call(shell(false), Mode::Default);
        let decision = decided(EventKind::PermissionRequest, &call, &assessed(Tier::Safe, true), wiring);
        assert!(matches!(decision, Decision::Allow(_)));
        let decision = decided(
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
        decided(EventKind::PreToolUse, &call, &safe, early),
        Decision::Allow(_)
    ));
    assert!(matches!(
        decided(EventKind::PreToolUse, &call, &safe, Wiring::default()),
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
    let below = decided(
        EventKind::PreToolUse,
        &call,
        &assessed(Tier::Medium, true),
        guard(false),
    );
    assert!(matches!(below, Decision::None));
    for tier in [Tier::High, Tier::Critical] {
        let Decision::Deny(deny) = decided(EventKind::PreToolUse, &call, &assessed(tier, true), guard(false)) else {
            panic!("{tier} is denied");
        };
        assert!(
            deny.message.contains("`rm` deletes x") && !deny.interrupt,
            "{}",
            deny.message
        );
        let asked = decided(EventKind::PreToolUse, &call, &assessed(tier, true), guard(true));
        assert!(matches!(asked, Decision::Ask(why) if why.contains("deletes x")));
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
    let asked = decided(
        EventKind::PreToolUse,
        &call(shell(false), Mode::Default),
        &unknown,
        wiring,
    );
    assert!(matches!(asked, Decision::Ask(why) if why.contains("`--odd` is not known")));
}
