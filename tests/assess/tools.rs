//! Calls of every tool but the shell: each line of `tools.txt` is judged in a small project.

use std::process::Command;

use crate::support::Machine;
use countersign::assess::assess;
use countersign::effect::Subject;
use countersign::effect::Tier::{High, Safe};
use countersign::report;
use countersign::risk;
use countersign::wire::event::classify_event;

/// One line of `tools.txt`.
struct Case<'a> {
    tool: &'a str,
    verdict: &'a str,
    input: &'a str,
    why: &'a str,
}

fn cases() -> Vec<Case<'static>> {
    let mut tool = "";
    let mut cases = Vec::new();
    for line in include_str!("tools.txt").lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            tool = name;
        } else if !line.is_empty() && !line.starts_with('#') {
            let (verdict, rest) = line.split_once(' ').expect(line);
            let (input, why) = rest.trim_start().rsplit_once("}  ").expect(line);
            let input = &rest.trim_start()[..=input.len()];
            cases.push(Case {
                tool,
                verdict,
                input,
                why,
            });
        }
    }
    cases
}

/// The small project, with files that git does not hold, or not as they are, and links and pipes.
fn machine() -> Machine {
    let machine = Machine::new();
    machine.write("a.ipynb", "{\"cells\":[]}\n");
    machine.write(".gitignore", "target\nnode_modules\n.env\nlocal.cfg\n");
    machine.git(&["add", "a.ipynb", ".gitignore"]);
    machine.git(&["commit", "-q", "-m", "a notebook"]);
    machine.write("mine.ipynb", "{\"cells\":[1]}\n");
    machine.write("local.cfg", "mine alone\n");
    machine.write("list.txt", "a\nb\n");
    machine.write("data.csv", "a,b\n1,2\n");
    machine.git(&["add", "data.csv"]);
    machine.link("outside", machine.home());
    machine.link("key", machine.home().join(".ssh/id_rsa"));
    machine.link("scratch", "/tmp");
    machine.link("hooks-link", ".git/hooks");
    let pipe = Command::new("mkfifo").arg(machine.project().join("pipe")).status();
    assert!(pipe.expect("mkfifo, which this test needs").success());
    machine
}

fn judged(machine: &Machine, case: &Case<'_>) -> (String, String) {
    let cwd = machine.project();
    let line = format!(
        r#"{{"tool_name":"{}","tool_input":{},"cwd":"{}"}}"#,
        case.tool,
        machine.here(case.input),
        cwd.display()
    );
    match classify_event(&line) {
        Ok(call) => {
            let assessment = assess(&call, &machine.facts());
            let doubtful = if assessment.proven() { "" } else { "?" };
            let told = format!("{} {:?}", report::summary(&assessment), report::reasons(&assessment));
            (format!("{}{doubtful}", assessment.tier), told)
        }
        Err(error) => ("error".to_owned(), error.to_string()),
    }
}

#[test]
fn every_tool_is_judged_by_what_its_input_says() {
    let machine = machine();
    let mut wrong = Vec::new();
    for case in cases() {
        let (found, told) = judged(&machine, &case);
        if found != case.verdict {
            let Case {
                tool,
                verdict,
                input,
                why,
            } = case;
            wrong.push(format!("{found} instead of {verdict}: {tool} {input} ({why}): {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn at_least_two_hundred_calls_are_judged_each_for_a_reason_of_its_own() {
    let mut seen: Vec<(&str, &str)> = cases().iter().map(|case| (case.tool, case.input)).collect();
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() == all && all >= 200, "{} of {all}", seen.len());
}

#[test]
fn no_tool_that_is_not_the_hosts_own_is_ever_proven() {
    let machine = Machine::new();
    for tool in [
        "mcp__a__get_x",
        "mcp__a__list",
        "mcp__plugin_a_b__read",
        "Unknown",
        "Skill",
        "mcp__",
        "mcp__a",
    ] {
        let line = format!(r#"{{"tool_name":"{tool}","tool_input":{{}},"cwd":"/"}}"#);
        let assessment = assess(&classify_event(&line).expect(tool), &machine.facts());
        assert!(!assessment.proven() && assessment.tier > Safe, "{tool}");
    }
}

#[test]
fn a_rule_that_names_a_host_cannot_vouch_for_what_is_more_than_a_connection() {
    let machine = Machine::new();
    for url in [
        "http://localhost:2375/containers/json",
        "http://169.254.169.254/latest",
        "https://a:b@fresh.example/",
        "https://docs.rs/?token=abc",
    ] {
        let line = format!(r#"{{"tool_name":"WebFetch","tool_input":{{"url":"{url}"}},"cwd":"/"}}"#);
        let assessment = assess(&classify_event(&line).expect(url), &machine.facts());
        let mut others = assessment.steps.iter().flat_map(|step| &step.effects);
        assert!(
            others.any(|effect| effect.subject == Subject::None && risk::tier(effect.spec) >= High),
            "{url}"
        );
    }
}

#[test]
fn of_more_arguments_than_are_looked_at_the_rest_may_be_anything() {
    let machine = Machine::new();
    let summary = |count: usize| {
        let paths: Vec<String> = (0..count).map(|n| format!("/usr/share/{n}")).collect();
        let input = format!("{{\"paths\":{paths:?}}}");
        let case = Case {
            tool: "mcp__files__read",
            verdict: "",
            input: &input,
            why: "",
        };
        judged(&machine, &case)
    };
    let (few, many) = (summary(100), summary(20_000));
    assert_ne!(few.0, many.0);
    assert!(many.0.contains("high"), "{many:?}");
}
