//! The example agents of docs/sdk.md, to the letter, on the real SDKs.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::api::{Told, ToolUse};
use crate::program::{Language, PATIENCE, Program, within};

fn agent(language: Language, calls: &[ToolUse]) -> Program {
    let source = match language {
        Language::JavaScript => "examples/agent.mjs",
        Language::Python => "examples/agent.py",
    };
    Program::new(language, source, &["please run the errand"], calls.to_vec())
}

fn bash(command: &str) -> ToolUse {
    ToolUse {
        name: "Bash",
        input: json!({"command": command, "description": "a step of the test"}),
    }
}

fn told(program: &Program, turn: usize) -> Told {
    let told = program.sandbox.api.told(turn);
    told.unwrap_or_else(|| {
        panic!(
            "the model was never told about call {turn}\n{}",
            program.sandbox.report()
        )
    })
}

/// Each decision on a call that came to the callback.
fn decisions(program: &Program) -> Vec<[String; 3]> {
    let recorded = program
        .recorded()
        .into_iter()
        .filter(|[event, ..]| event == "can_use_tool");
    recorded.map(|[_, action, by, reason]| [action, by, reason]).collect()
}

fn shows(tui: &crate::tui::Tui, program: &Program, words: &str) {
    if tui
        .watch(PATIENCE, |screen| screen.contains(words).then_some(()))
        .is_none()
    {
        panic!(
            "no `{words}` on the screen\n{}\n{}",
            tui.screen().trim_end(),
            program.sandbox.report()
        );
    }
}

fn typed(tui: &crate::tui::Tui, words: &str) {
    tui.type_text(words);
    tui.press(&["Enter"]);
}

fn plays_out(tui: &crate::tui::Tui, program: &Program) {
    if within(PATIENCE, || program.sandbox.api.has_ended().then_some(())).is_none() {
        panic!(
            "it does not end\n{}\n{}",
            tui.screen().trim_end(),
            program.sandbox.report()
        );
    }
}

/// What is safe runs unchanged, from where the shell stands; what needs a person is denied where nobody can be asked, and
/// the model reads why.
fn decides_without_a_person(language: Language) {
    // Looking outside of the project's own directory is asked about; after the `cd` only the shell knows what `..` is.
    let calls = [
        bash("cd sub && git log --format=%s"),
        bash("git -C .. status --short && cat notes.txt"),
        bash("rm mine.txt"),
    ];
    let program = agent(language, &calls);
    let mine = program.sandbox.project().join("sub/mine.txt");
    fs::write(&mine, "mine\n").expect("a file that git does not hold");
    let (printed, succeeded) = program.run();
    assert!(succeeded, "{printed}");
    assert_eq!(
        told(&program, 0),
        Told {
            is_error: false,
            text: "Begin".into()
        }
    );
    assert!(told(&program, 1).text.contains("a note"), "{:?}", told(&program, 1));
    let denial = told(&program, 2);
    assert!(
        denial.is_error && denial.text.starts_with("[countersign:policy] "),
        "{denial:?}"
    );
    assert!(denial.text.contains("there is no terminal"), "{denial:?}");
    assert!(mine.exists());
    assert!(
        printed.contains("denied: Bash") && printed.ends_with("all done\n"),
        "{printed}"
    );
    let decided = decisions(&program);
    assert_eq!(
        decided.last().expect("decisions"),
        &["deny", "unanswered", "policy"].map(String::from)
    );
    assert!(decided.iter().rev().skip(1).all(|one| one[0] == "allow"), "{decided:?}");
}

/// A call that a rule of the host lets pass never comes to the callback; the guard sees it.
fn guards_what_the_callback_never_sees(language: Language) {
    let program = agent(language, &[bash("rm mine.txt"), bash("sudo -n true")]);
    let mine = program.sandbox.project().join("mine.txt");
    fs::write(&mine, "mine\n").expect("a file that git does not hold");
    let settings = json!({"permissions": {"allow": ["Bash(rm *)", "Bash(sudo *)"]}});
    fs::write(program.sandbox.settings_file(), settings.to_string()).expect("settings");
    let (printed, succeeded) = program.run();
    assert!(succeeded, "{printed}");
    assert!(!told(&program, 0).is_error && !mine.exists(), "{printed}");
    let denial = told(&program, 1);
    assert!(
        denial.is_error && denial.text.contains("[countersign:policy] critical"),
        "{denial:?}"
    );
    assert_eq!(decisions(&program), [[""; 3]; 0]);
}

/// The person at the terminal answers questions, and has one suggestion remembered.
fn asks_the_person(language: Language) {
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"},
    ]}]});
    let ask = ToolUse {
        name: "AskUserQuestion",
        input: question,
    };
    let program = agent(language, &[ask, bash("rm mine.txt"), bash("touch new.txt")]);
    fs::write(program.sandbox.project().join("mine.txt"), "mine\n").expect("a file that git does not hold");
    let tui = program.on_terminal();
    shows(&tui, &program, "Which colour?");
    typed(&tui, "2");
    shows(&tui, &program, "rm mine.txt");
    typed(&tui, "w");
    shows(&tui, &program, "which one");
    typed(&tui, "1");
    // All suggestions together would have switched the host to a mode in which this is not asked about.
    shows(&tui, &program, "touch new.txt");
    typed(&tui, "d leave it");
    plays_out(&tui, &program);
    assert!(
        told(&program, 0).text.contains(r#""Which colour?"="Blue""#),
        "{:?}",
        told(&program, 0)
    );
    assert!(!told(&program, 1).is_error && !program.sandbox.project().join("mine.txt").exists());
    assert_eq!(
        told(&program, 2),
        Told {
            is_error: true,
            text: "[countersign:denied_by_person] leave it".into()
        }
    );
    let by = decisions(&program)
        .into_iter()
        .map(|[action, by, _]| (action, by))
        .collect::<Vec<_>>();
    assert_eq!(
        by,
        ["allow", "allow", "deny"].map(|action| (action.into(), "approver".into()))
    );
}

/// A callback that the host takes back ends its process, prints nothing and leaves a line in the record.
fn takes_back(language: Language) {
    let program = agent(language, &[bash("rm mine.txt")]);
    fs::write(program.sandbox.project().join("mine.txt"), "mine\n").expect("a file that git does not hold");
    // Another hook decides first, once the question stands.
    let decided = program.sandbox.root().join("decide");
    let rival = format!(
        "#!/bin/sh\nuntil [ -e {} ]; do sleep 0.05; done\necho '{}'\n",
        decided.display(),
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "not now"}}})
    );
    let rival = program.sandbox.executable("rival", &rival).display().to_string();
    let settings = json!({"hooks": {"PermissionRequest": [program.sandbox.recorded("PermissionRequest", &[rival])]}});
    fs::write(program.sandbox.settings_file(), settings.to_string()).expect("settings");
    let tui = program.on_terminal();
    shows(&tui, &program, "may Bash run?");
    assert_eq!(waiting(&program).len(), 1);
    fs::write(&decided, "").expect("the signal to decide");
    shows(&tui, &program, "(not asked any more");
    plays_out(&tui, &program);
    assert_eq!(
        told(&program, 0),
        Told {
            is_error: true,
            text: "not now".into()
        }
    );
    within(PATIENCE, || waiting(&program).is_empty().then_some(())).expect("the end of its process");
    assert_eq!(decisions(&program), [["none", "withdrawn", ""].map(String::from)]);
}

/// The processes of `countersign decide` that this sandbox's agent has started.
fn waiting(program: &Program) -> Vec<String> {
    let home = format!("HOME={}", program.sandbox.home().display());
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let of_ours = |process: &Path| {
        let read = |name: &str| fs::read(process.join(name)).unwrap_or_default();
        let has = |name: &str, wanted: &str| {
            read(name)
                .split(|byte| *byte == 0)
                .any(|word| word == wanted.as_bytes())
        };
        has("cmdline", "decide") && has("environ", &home)
    };
    let ours = processes.map(|entry| entry.path()).filter(|process| of_ours(process));
    ours.map(|process| process.display().to_string()).collect()
}

macro_rules! in_both_languages {
    ($($promise:ident: $javascript:ident, $python:ident;)*) => {$(
        #[test]
        fn $javascript() {
            $promise(Language::JavaScript);
        }

        #[test]
        fn $python() {
            $promise(Language::Python);
        }
    )*};
}

in_both_languages! {
    decides_without_a_person: in_javascript_safe_calls_run_and_others_are_denied_with_the_reason,
        in_python_safe_calls_run_and_others_are_denied_with_the_reason;
    guards_what_the_callback_never_sees: in_javascript_the_guard_stops_what_the_callback_never_sees,
        in_python_the_guard_stops_what_the_callback_never_sees;
    asks_the_person: in_javascript_the_person_answers_questions_and_has_one_suggestion_remembered,
        in_python_the_person_answers_questions_and_has_one_suggestion_remembered;
    takes_back: in_javascript_an_aborted_callback_takes_the_question_back,
        in_python_a_cancelled_callback_takes_the_question_back;
}
