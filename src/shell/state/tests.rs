use std::rc::Rc;

use super::*;
use crate::shell::parse;

fn literal(text: &str) -> Value {
    Value::Literal(text.to_owned())
}

fn in_src() -> State {
    State::in_directory(Some("/p/src".into()))
}

#[test]
fn only_what_both_ways_agree_on_stays_known() {
    let (mut one, mut other) = (in_src(), in_src());
    one.assign("same", literal("a"));
    other.assign("same", literal("a"));
    one.assign("differs", literal("a"));
    other.assign("differs", literal("b"));
    one.assign("here", literal("a"));
    other.assign("there", literal("a"));
    one.merge(other);
    assert_eq!(one.cwd, Some("/p/src".into()));
    assert_eq!(one.get("same"), Some(&literal("a")));
    for name in ["differs", "here", "there"] {
        assert_eq!(one.get(name), Some(&Value::UNKNOWN), "{name}");
    }
    assert_eq!(one.get("never"), None);
}

#[test]
fn two_directories_are_none() {
    let mut one = in_src();
    one.merge(State::in_directory(Some("/p".into())));
    assert_eq!(one.cwd, None);
}

#[test]
fn what_one_way_did_to_files_is_done() {
    let mut one = in_src();
    one.merge(State {
        wrote: true,
        relinked: true,
        opaque: true,
        ..in_src()
    });
    assert!(one.wrote && one.relinked && one.opaque);
}

fn body() -> Rc<Stage> {
    let script = parse("{ :; }").expect("a script");
    Rc::new(script.items[0].first.stages[0].clone())
}

#[test]
fn a_function_of_one_way_may_be_there() {
    let (mut one, mut other) = (in_src(), in_src());
    let body = body();
    one.define("both", body.clone());
    other.define("both", body.clone());
    one.define("one", body.clone());
    other.define("other", body.clone());
    one.merge(other);
    assert_eq!(one.function("both"), Some(true));
    assert_eq!(one.function("one"), Some(false));
    assert_eq!(one.function("other"), Some(false));
    assert_eq!(one.function("none"), None);
    assert!(one.body("both").is_some() && one.body("one").is_none());
    let mut another = in_src();
    another.define("both", self::body());
    one.merge(another);
    assert_eq!(one.function("both"), Some(false));
}

#[test]
fn merging_with_itself_changes_nothing() {
    let mut state = in_src();
    state.assign("a", literal("b"));
    state.define("f", body());
    let same = state.clone();
    state.merge(same);
    assert_eq!(state.get("a"), Some(&literal("b")));
    assert_eq!(state.function("f"), Some(true));
}

#[test]
fn a_frozen_variable_takes_nothing_more_in_any_way() {
    let mut state = in_src();
    state.assign("a", literal("b"));
    state.freeze("a");
    let mut merged = in_src();
    merged.merge(state.clone());
    for state in [&mut state, &mut merged] {
        state.assign("a", literal("c"));
        assert_eq!(state.get("a"), Some(&Value::UNKNOWN));
    }
}

#[test]
fn what_unknown_code_may_have_changed_is_forgotten() {
    let mut state = in_src();
    state.assign("a", literal("b"));
    state.forget_all();
    assert_eq!(state.cwd, None);
    assert!(state.opaque);
    assert_eq!(state.get("a"), Some(&Value::UNKNOWN));
}

#[test]
fn a_child_knows_where_it_is_and_no_more() {
    let mut state = State {
        relinked: true,
        ..in_src()
    };
    state.assign("a", literal("b"));
    state.freeze("a");
    state.define("f", body());
    let mut child = state.child();
    assert_eq!(child.cwd, state.cwd);
    assert!(child.relinked);
    assert_eq!(child.get("a"), Some(&Value::UNKNOWN));
    assert_eq!(child.function("f"), None);
    child.assign("a", literal("c"));
    assert_eq!(child.get("a"), Some(&literal("c")));
}

#[test]
fn of_a_child_only_what_it_did_to_files_is_left() {
    let mut state = in_src();
    let mut child = state.child();
    child.cwd = None;
    child.wrote = true;
    child.assign("a", literal("b"));
    state.after_child(&child);
    assert_eq!(state.cwd, Some("/p/src".into()));
    assert!(state.wrote);
    assert_eq!(state.get("a"), None);
}
