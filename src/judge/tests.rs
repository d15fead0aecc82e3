use std::fs;

use super::*;
use crate::effect::Tier;
use crate::pause::Pause;
use crate::wire::event::classify_event;

/// A home with a project in it, and the settings of the host.
struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn new(settings: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join(".claude")).expect("directories");
        fs::create_dir_all(dir.path().join("app/src")).expect("directories");
        fs::write(dir.path().join(".claude/settings.json"), settings).expect("settings");
        fs::write(dir.path().join("app/README.md"), "hello\n").expect("a file");
        Home { dir }
    }

    fn judged(&self, tool: &str, input: &str, wiring: Wiring, event: EventKind) -> Judgement {
        let project = self.dir.path().canonicalize().expect("a path").join("app");
        let mut facts = Facts {
            home: project.parent().map(Path::to_path_buf),
            path: vec!["/usr/bin".into(), "/bin".into()],
            ..Facts::default()
        };
        facts.set_project(&project);
        let line = format!(
            r#"{{"tool_name":"{tool}","tool_input":{input},"cwd":"{}"}}"#,
            project.display()
        );
        let policy = Policy::default();
        judge(
            event,
            &classify_event(&line).expect("an event"),
            wiring,
            &policy,
            &Circumstances::live(Pause::On),
            &facts,
        )
    }

    fn asked(&self, tool: &str, input: &str) -> Judgement {
        self.judged(tool, input, Wiring::default(), EventKind::PermissionRequest)
    }
}

fn command(text: &str) -> String {
    format!(r#"{{"command":"{text}"}}"#)
}

fn allows(judgement: &Judgement) -> bool {
    matches!(judgement.ruling.decision, Decision::Allow(_))
}

#[test]
fn what_is_harmless_and_understood_is_let_through_and_said() {
    let found = Home::new("{}").asked("Bash", &command("cat README.md"));
    match found.ruling.decision {
        Decision::Allow(Allow::Run(run)) => assert_eq!(run.why, "reads README.md"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_else_is_left_to_the_person() {
    let home = Home::new("{}");
    for text in [
        "rm README.md",
        "cat $x",
        "cat .env",
        "ls $((",
        "nosuchcommand",
        "echo x > new",
    ] {
        assert!(
            matches!(home.asked("Bash", &command(text)).ruling.decision, Decision::None),
            "{text}"
        );
    }
}

#[test]
fn leaving_the_sandbox_is_never_safe() {
    let input = r#"{"command":"ls","dangerouslyDisableSandbox":true}"#;
    let found = Home::new("{}").asked("Bash", input);
    assert!(!allows(&found));
    assert!(!found.assessment.proven() && found.assessment.tier >= Tier::High);
}

#[test]
fn a_question_a_plan_and_an_unknown_tool_are_never_decided() {
    let home = Home::new("{}");
    let early = Wiring {
        early: true,
        guard: None,
    };
    for (tool, input) in [
        ("AskUserQuestion", r#"{"questions":[{"question":"Q","options":[]}]}"#),
        ("ExitPlanMode", r#"{"plan":"p"}"#),
        ("Mystery", "{}"),
    ] {
        for event in [EventKind::PermissionRequest, EventKind::PreToolUse] {
            let found = home.judged(tool, input, early, event);
            assert!(
                matches!(found.ruling.decision, Decision::None),
                "{tool}: {:?}",
                found.ruling
            );
        }
    }
}

#[test]
fn an_ask_rule_of_the_host_holds_an_allow_back() {
    for rule in ["Bash(cat *)", "Bash", "Read(./README.md)", "Read(**/*.md)"] {
        let found = Home::new(&format!(r#"{{"permissions":{{"ask":["{rule}"]}}}}"#))
            .asked("Bash", &command("cd src && cat ../README.md"));
        assert!(!allows(&found), "{rule}");
        assert_eq!(found.ruling.by, By::HostRule(rule.to_owned()));
    }
    let found = Home::new(r#"{"permissions":{"ask":["Bash(git *)"]}}"#).asked("Bash", &command("cat README.md"));
    assert!(allows(&found), "{:?}", found.ruling.by);
}

#[test]
fn an_ask_rule_reaches_what_wrappers_and_code_run() {
    let home = Home::new(r#"{"permissions":{"ask":["Bash(cat *)"]}}"#);
    for text in [
        "timeout 5 cat README.md",
        "bash -c 'cat README.md'",
        "echo $(cat README.md)",
        "/bin/cat README.md",
        "eval 'cat README.md'",
        "LC_ALL=C cat README.md",
    ] {
        let found = home.asked("Bash", &command(text));
        assert!(!allows(&found), "{text}");
    }
}

#[test]
fn settings_that_cannot_be_read_hold_everything_back() {
    assert!(!allows(&Home::new("{ not json").asked("Bash", &command("ls"))));
}
