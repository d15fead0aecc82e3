use super::*;
use crate::shell::ast::{Command, Script};
use crate::shell::parse;
use crate::shell::state::Positional;

/// A machine with a home, one variable and two files.
struct Around;

impl Surroundings for Around {
    fn variable(&self, name: &str, _: &State) -> Option<String> {
        (name == "HOME").then(|| "/home/dev".to_owned())
    }

    fn output(&self, _: &Script, _: &State) -> Option<Value> {
        None
    }

    fn home(&self, _: &State) -> Option<String> {
        Some("/home/dev".to_owned())
    }

    fn keeps(&self, _: usize) -> bool {
        true
    }

    fn matches(&self, pattern: &[PatternPart], _: &State) -> Option<Vec<Vec<String>>> {
        match pattern {
            [PatternPart::Glob(_)] => Some(vec![vec!["a".into()], vec!["b".into()]]),
            [PatternPart::Text(dir), PatternPart::Glob(_)] if dir == "none/" => Some(vec![vec!["none/*".into()]]),
            _ => None,
        }
    }
}

fn state() -> State {
    let mut state = State::default();
    state.assign("x", Value::Literal("one".into()));
    state.assign("two", Value::OneOf(vec!["a".into(), "b".into()]));
    state.assign("spaced", Value::Literal("a b".into()));
    state.assign("empty", Value::Literal(String::new()));
    state.assign("lost", Value::UNKNOWN);
    state
}

fn words_of(script: Script) -> Vec<Word> {
    match script.items.into_iter().next().map(|item| item.first.stages) {
        Some(mut stages) => match stages.remove(0).command {
            Command::Simple { words, .. } => words,
            other => panic!("{other:?} is no simple command"),
        },
        None => Vec::new(),
    }
}

/// What the words after `echo` become.
fn values(text: &str) -> Vec<Value> {
    let script = parse(&format!("echo {text}")).unwrap_or_else(|refusal| panic!("{text}: {}", refusal.what));
    let words = words_of(script);
    words[1..]
        .iter()
        .flat_map(|word| expand(word, &state(), &Around))
        .map(|arg| arg.value)
        .collect()
}

fn literals(text: &str) -> Vec<String> {
    let literal = |value: Value| {
        value
            .literal()
            .map(str::to_owned)
            .unwrap_or_else(|| panic!("{text}: {value:?}"))
    };
    values(text).into_iter().map(literal).collect()
}

fn unknown(prefix: &str, single: bool) -> Value {
    Value::Unknown {
        prefix: prefix.to_owned(),
        single,
    }
}

#[test]
fn text_and_quotes_become_one_word() {
    assert_eq!(
        literals("ab a'b c'd \"e f\" g\\ h '' $'t\\tu'"),
        ["ab", "ab cd", "e f", "g h", "", "t\tu"]
    );
}

#[test]
fn braces_make_words_in_order() {
    assert_eq!(
        literals("a{b,c}d {1..3} {x,y}{1,2}"),
        ["abd", "acd", "1", "2", "3", "x1", "x2", "y1", "y2"]
    );
    assert_eq!(literals("'{a,b}' {a}"), ["{a,b}", "{a}"]);
}

#[test]
fn a_tilde_is_the_home_only_where_the_shell_takes_it_so() {
    assert_eq!(
        literals("~ ~/x '~' \"~/x\" a~"),
        ["/home/dev", "/home/dev/x", "~", "~/x", "a~"]
    );
    assert_eq!(values("~other/x"), [unknown("/", true)]);
}

#[test]
fn a_variable_is_what_it_was_given() {
    assert_eq!(
        literals("$x ${x} \"$x\" a$x\"b\" $HOME"),
        ["one", "one", "one", "aoneb", "/home/dev"]
    );
    assert_eq!(values("$two"), [Value::OneOf(vec!["a".into(), "b".into()])]);
    assert_eq!(values("\"p/$two\""), [Value::OneOf(vec!["p/a".into(), "p/b".into()])]);
}

#[test]
fn a_value_that_splits_or_vanishes_unquoted_is_not_known() {
    assert_eq!(values("$spaced"), [unknown("", false)]);
    assert_eq!(values("$empty"), [unknown("", false)]);
    assert_eq!(literals("\"$spaced\" \"$empty\""), ["a b", ""]);
}

#[test]
fn what_is_not_known_keeps_the_text_before_it() {
    assert_eq!(values("$lost"), [unknown("", false)]);
    assert_eq!(values("\"$never\""), [unknown("", true)]);
    assert_eq!(values("\"src/$never\""), [unknown("src/", true)]);
    assert_eq!(values("src/$never"), [unknown("src/", false)]);
    assert_eq!(values("--o=\"$x/$lost\""), [unknown("--o=one/", true)]);
}

#[test]
fn operations_on_a_variable_are_not_computed() {
    for text in ["\"${x:-a}\"", "\"${x#o}\"", "\"${x/o/a}\"", "\"${x^}\"", "\"${x:1}\""] {
        assert_eq!(values(text), [unknown("", true)], "{text}");
    }
}

#[test]
fn lists_may_be_any_number_of_words_even_in_quotes() {
    assert_eq!(values("\"$@\""), [unknown("", false)]);
    assert_eq!(values("\"${a[@]}\""), [unknown("", false)]);
    assert_eq!(values("\"$*\""), [unknown("", true)]);
}

#[test]
fn what_commands_print_is_not_known() {
    assert_eq!(values("$(ls)"), [unknown("", false)]);
    assert_eq!(values("\"$(ls)\""), [unknown("", true)]);
    assert_eq!(values("pre-\"$(ls)\"-post"), [unknown("pre-", true)]);
    assert_eq!(values("$((1 - 1))"), [unknown("", true)]);
    assert_eq!(literals("<(ls)"), ["/dev/stdin"]);
}

#[test]
fn what_only_counts_is_a_number_wherever_it_stands_in_a_word() {
    let number = |before: &str, after: &str| Value::Numbered {
        before: before.to_owned(),
        after: after.to_owned(),
        hash: false,
    };
    let mut counting = state();
    counting.assign("i", Value::Literal("7".into()));
    counting.count("n");
    let value = |text: &str| {
        let words = words_of(parse(&format!("echo {text}")).expect("a script"));
        let args = expand(&words[1], &counting, &Around);
        args.into_iter().map(|arg| arg.value).collect::<Vec<_>>()
    };
    for text in [
        "$n",
        "\"$n\"",
        "${n}",
        "$((n))",
        "$((n + 1))",
        "$(($n+1))",
        "$((i+1))",
        "${#x}",
        "\"$#\"",
        "$?",
    ] {
        assert_eq!(value(text), [number("", "")], "{text}");
    }
    assert_eq!(value("src/log$n.txt"), [number("src/log", ".txt")]);
    assert_eq!(value("$n-$n"), [unknown("", true)]);
    for text in [
        "$((n - 1))",
        "$((n * 2))",
        "$((n + n))",
        "$((-n))",
        "$((x + 1))",
        "$((n + 1000000000))",
    ] {
        assert_ne!(value(text), [number("", "")], "{text}");
    }
    assert_eq!(value("$i"), [Value::Literal("7".into())]);
}

#[test]
fn words_behind_the_code_of_a_shell_are_its_own() {
    let mut inner = state();
    let positional = |words: &[Value], counted| {
        Some(Positional {
            words: words.into(),
            counted,
        })
    };
    let words = [literal("sh"), literal("a b"), unknown("c", true)];
    inner.positional = positional(&words, true);
    let value = |text: &str| {
        let words = words_of(parse(&format!("echo {text}")).expect("a script"));
        let args = expand(&words[1], &inner, &Around);
        args.into_iter().map(|arg| arg.value).collect::<Vec<_>>()
    };
    assert_eq!(value("\"$1\""), [literal("a b")]);
    assert_eq!(value("\"$@\""), [literal("a b"), unknown("c", true)]);
    assert_eq!(value("\"$0\""), [literal("sh")]);
    assert_eq!(value("\"$3\""), [literal("")]);
    assert_eq!(value("$1"), [unknown("", false)]);
    assert_eq!(value("$@"), [unknown("", false)]);
    inner.positional = positional(&[], true);
    let name = words_of(parse("echo \"$0\"").expect("a script"));
    assert_eq!(expand(&name[1], &inner, &Around)[0].value, unknown("", true));
    inner.positional = positional(&words, false);
    let value = |text: &str| {
        let words = words_of(parse(&format!("echo {text}")).expect("a script"));
        let args = expand(&words[1], &inner, &Around);
        args.into_iter().map(|arg| arg.value).collect::<Vec<_>>()
    };
    assert_eq!(value("\"$1\""), [unknown("", true)]);
    assert_eq!(value("\"$3\""), [unknown("", true)]);
    assert_eq!(value("\"$@\""), words[1..]);
}

fn literal(text: &str) -> Value {
    Value::Literal(text.to_owned())
}

#[test]
fn a_pattern_becomes_the_names_it_matches_or_itself() {
    let found = |name: &str| Value::OneOf(vec![name.to_owned()]);
    assert_eq!(values("*"), [found("a"), found("b")]);
    assert_eq!(values("none/*"), [found("none/*")]);
    assert_eq!(values("other/*"), [unknown("other/", false)]);
    assert_eq!(values("\"$never\"*"), [unknown("", false)]);
    assert_eq!(literals("'*'"), ["*"]);
}

#[test]
fn more_words_than_are_kept_are_not_known() {
    let many = "{a,b}".repeat(9);
    assert_eq!(values(&many), [Value::UNKNOWN]);
    let alternatives = "$two".repeat(8);
    assert_eq!(values(&alternatives), [unknown("", true)]);
}

#[test]
fn an_assignment_takes_one_word_as_it_stands() {
    let single = |text: &str| {
        let words = words_of(parse(&format!("echo {text}")).expect("a word"));
        expand_single(&words[1], &state(), &Around)
    };
    assert_eq!(single("*"), Value::Literal("*".into()));
    assert_eq!(single("$spaced"), Value::Literal("a b".into()));
    assert_eq!(single("$empty"), Value::Literal(String::new()));
    assert_eq!(single("$(ls)"), unknown("", true));
    assert_eq!(single("a$lost"), unknown("a", true));
}
