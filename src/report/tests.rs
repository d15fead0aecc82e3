use super::*;
use crate::effect::{Around, Doubt, EffectSpec, Step, Tier};
use crate::risk;
use crate::shell::Span;

fn effect(action: Action, place: Place, undo: Undo, target: &str) -> Effect {
    let spec = EffectSpec {
        place,
        undo,
        ..EffectSpec::of(action)
    };
    Effect::new(spec, target)
}

fn doubt(why: &str) -> Doubt {
    Doubt {
        why: why.to_owned(),
        span: Span::default(),
        unlisted: false,
    }
}

fn assessment(effects: Vec<Effect>, doubts: &[&str]) -> Assessment {
    let mut step = Step {
        program: "x".into(),
        words: Vec::new(),
        effects,
        doubts: doubts.iter().map(|why| doubt(why)).collect(),
        tier: Tier::Safe,
        span: Span::default(),
        around: Around::default(),
    };
    step.tier = risk::step_tier(&step);
    Assessment {
        tier: step.tier,
        steps: vec![step],
        doubts: Vec::new(),
        commands: Vec::new(),
        parsed: Some(true),
    }
}

#[test]
fn a_summary_names_the_worst_first_and_each_once() {
    let read = effect(Action::Read, Place::Project, Undo::Nothing, "a");
    let delete = effect(Action::Delete, Place::Project, Undo::Lost, "b");
    let found = assessment(vec![read.clone(), delete, read], &[]);
    assert_eq!(summary(&found), "deletes b, which loses work; reads a");
}

#[test]
fn a_summary_says_how_much_it_leaves_out() {
    let many = (0..9).map(|n| effect(Action::Read, Place::Project, Undo::Nothing, &n.to_string()));
    let text = summary(&assessment(many.collect(), &[]));
    assert!(text.ends_with("; 3 more"), "{text}");
}

#[test]
fn nothing_understood_is_not_nothing_done() {
    assert_eq!(summary(&assessment(Vec::new(), &[])), "does nothing beyond printing");
    assert_eq!(summary(&assessment(Vec::new(), &["odd"])), "not understood");
}

#[test]
fn reasons_stand_once_each_the_whole_scripts_first() {
    let mut found = assessment(Vec::new(), &["b", "c", "b"]);
    found.doubts.push(doubt("a"));
    assert_eq!(reasons(&found), ["a", "b", "c"]);
}

#[test]
fn nothing_hidden_reaches_a_reader() {
    let hidden = "a\u{202e}b\u{1b}[31m\n\u{200b}";
    let found = assessment(
        vec![effect(Action::Read, Place::Other, Undo::Nothing, hidden)],
        &[hidden],
    );
    for text in [summary(&found), reasons(&found).join(";")] {
        assert!(
            text.contains("\\u{202e}") && text.contains("\\u{1b}") && text.contains("\\n"),
            "{text}"
        );
        assert!(
            !text
                .chars()
                .any(|c| c.is_control() || c == '\u{202e}' || c == '\u{200b}'),
            "{text:?}"
        );
    }
}

#[test]
fn every_effect_can_be_said() {
    for &action in Action::ALL {
        for &place in Place::ALL {
            for &undo in Undo::ALL {
                for target in ["", "x"] {
                    let text = describe(&effect(action, place, undo, target));
                    assert!(
                        !text.is_empty() && text == text.trim() && !text.contains("  "),
                        "{text:?}"
                    );
                    assert!(undo != Undo::Forever || text.contains("cannot be undone"), "{text}");
                    assert!(place != Place::Secret || text.contains("secret"), "{text}");
                }
            }
        }
    }
}
