//! git runs what a repository says, so it is read only in the session's own, and only while nothing there runs.

use countersign::effect::Tier;

use crate::{Machine, all, judged};

const LOOKS: &[&str] = &[
    "git status",
    "git log -5",
    "git diff",
    "git -C src status",
    "cd src && git log",
];

#[track_caller]
fn refused(machine: &Machine, commands: &[&str]) {
    for command in commands {
        let found = judged(machine, command);
        assert!(
            !found.proven() && found.tier >= Tier::High,
            "{command}: {:?}",
            found.steps
        );
    }
}

#[test]
fn looking_at_the_sessions_own_repository_is_safe() {
    all(&Machine::new(), "safe", LOOKS);
}

#[test]
fn a_repositorys_own_settings_are_shown_unless_they_hold_a_secret() {
    const SHOWN: &[&str] = &["git config --local --list", "cat .git/config"];
    let machine = Machine::new();
    machine.git(&["config", "branch.token-refresh.merge", "refs/heads/main"]);
    all(&machine, "safe", SHOWN);
    for (key, value) in [
        ("http.https://github.com/.extraheader", "AUTHORIZATION: basic eA=="),
        ("remote.origin.url", "https://me:secret@github.com/a/b"),
        ("sendemail.smtpPass", "x"),
    ] {
        let machine = Machine::new();
        machine.git(&["config", key, value]);
        for command in SHOWN {
            assert!(judged(&machine, command).tier >= Tier::High, "{key}: {command}");
        }
    }
    for line in [
        "[http] extraheader = AUTHORIZATION: basic eA==",
        "[remote \"x\"]\n\turl = https:\"//me:ghp_x@github.com/x\"",
        "[remote \"x\"]\n\turl = HTTPS://ghp_x@github.com/x",
        "[remote \"x\"]\n\turl = https://me:gh\\\np_x@github.com/x",
        "[remote \"x\"]\n\turl = ssh://me:secret@example.invalid/x",
        "[url \"ftp://me:secret@example.invalid/\"]\n\tinsteadOf = x:",
        "[http]\n\tproxy = me:secret@proxy:80",
        "[credential]\n\thelper = \"!f() { echo username=x; echo password=y; }; f\"",
    ] {
        let machine = Machine::new();
        let file = machine.project().join(".git/config");
        let own = std::fs::read_to_string(&file).expect("its settings");
        std::fs::write(&file, format!("{own}{line}\n")).expect("its settings");
        for command in SHOWN {
            assert!(judged(&machine, command).tier >= Tier::High, "{line}: {command}");
        }
    }
    for line in [
        "[remote \"x\"]\n\turl = git@github.com:x/y.git",
        "[remote \"x\"]\n\turl = ssh://git@github.com/x/y.git",
        "[user]\n\temail = dev@example.com",
    ] {
        let machine = Machine::new();
        let file = machine.project().join(".git/config");
        let own = std::fs::read_to_string(&file).expect("its settings");
        std::fs::write(&file, format!("{own}{line}\n")).expect("its settings");
        all(&machine, "safe", SHOWN);
    }
}

#[test]
fn where_there_is_no_repository_git_runs_nothing() {
    let machine = Machine::new();
    machine.write_home("plain/file", "x\n");
    all(&machine, "medium", &["cd ../plain && git status"]);
}

#[test]
fn another_repository_is_not_looked_at_unasked() {
    let machine = Machine::new();
    machine.write_home("other/file", "x\n");
    machine.git_in(&machine.home().join("other"), &["init", "-q"]);
    refused(
        &machine,
        &[
            "git -C ../other status",
            "cd ../other && git log",
            "env -C ../other git diff",
        ],
    );
    machine.write("vendored/file", "x\n");
    machine.git_in(&machine.project().join("vendored"), &["init", "-q"]);
    refused(&machine, &["git -C vendored status", "cd vendored && git status"]);
    all(&machine, "safe", &["git status"]);
}

#[test]
fn a_configuration_that_runs_programs_stops_every_look() {
    for (key, value) in [
        ("core.fsmonitor", "./x"),
        ("diff.external", "./x"),
        ("core.pager", "./x"),
        ("include.path", "../x"),
    ] {
        let machine = Machine::new();
        machine.git(&["config", key, value]);
        let found = judged(&machine, "git diff");
        assert!(!found.proven(), "{key}: {:?}", found.steps);
    }
}

#[test]
fn a_planted_bare_repository_is_not_entered() {
    let machine = Machine::new();
    for (name, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", "[core]\n\tbare = true\n"),
        ("refs/x", ""),
        ("objects/x", ""),
    ] {
        machine.write(&format!("sub/{name}"), text);
    }
    refused(&machine, &["cd sub && git status", "git -C sub log"]);
}

#[test]
fn a_repository_that_an_earlier_command_may_have_planted_is_not_entered() {
    let machine = Machine::new();
    refused(
        &machine,
        &[
            "echo x > src/HEAD; cd src && git status",
            "touch src/config; git -C src status",
            "cp -r list.txt src; cd src; git log",
        ],
    );
}

#[test]
fn hooks_are_run_by_what_changes_and_not_by_what_looks() {
    let machine = Machine::new();
    all(&machine, "low", &["git commit -m x", "git add README.md"]);
    machine.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    all(&machine, "safe", &["git status", "git log"]);
    let found = judged(&machine, "git commit -m x");
    assert!(found.tier >= Tier::High, "{:?}", found.steps);
}

#[test]
fn the_list_of_a_rebase_is_a_program() {
    let machine = Machine::new();
    all(
        &machine,
        "critical",
        &[
            "mkdir .git/rebase-merge",
            "echo 'exec id' > .git/rebase-merge/git-rebase-todo",
            "cp -r src .git/rebase-merge",
        ],
    );
}

#[test]
fn what_loses_work_or_leaves_the_machine_is_high_or_worse() {
    let machine = Machine::new();
    all(
        &machine,
        "high",
        &["git checkout -- .", "git push", "git reset --hard", "git clean -fd"],
    );
    all(&machine, "critical", &["git push --force origin main"]);
}

#[test]
fn variables_that_move_git_are_no_harmless_setting() {
    let machine = Machine::new();
    for command in [
        "GIT_DIR=/tmp/x git status",
        "GIT_SSH_COMMAND=./x git fetch",
        "export GIT_WORK_TREE=/; git status",
        "env GIT_CONFIG_GLOBAL=./x git status",
        "git -c core.pager=./x log",
        "git --git-dir=/tmp/x status",
        "git --exec-path=. status",
    ] {
        assert!(!judged(&machine, command).proven(), "{command}");
    }
}

#[test]
fn what_a_project_calls_the_persons_configuration_is_not_theirs() {
    let machine = Machine::new();
    let mut facts = machine.facts();
    facts.home = Some(machine.project().join("src"));
    let status = |facts: &countersign::facts::Facts| {
        countersign::assess::bash::assess("git status", Some(&machine.project()), facts)
    };
    assert!(!status(&facts).proven());
    facts.home = Some(machine.home());
    facts.forget();
    assert!(status(&facts).proven());
    facts.xdg_config_home = Some(machine.project().join("docs"));
    facts.forget();
    assert!(!status(&facts).proven());
}

#[test]
fn a_linked_worktree_is_as_good_as_the_first() {
    let machine = Machine::new();
    machine.git(&["worktree", "add", "-q", "../linked"]);
    machine.git(&["worktree", "add", "-q", ".claude/worktrees/topic"]);
    all(
        &machine,
        "safe",
        &[
            "cat ../linked/README.md",
            "git -C ../linked status",
            "cd ../linked && git log",
        ],
    );
    all(
        &machine,
        "low",
        &[
            "rm ../linked/README.md",
            "echo x > ../linked/new.txt",
            "echo x > .claude/worktrees/topic/README.md",
        ],
    );
    all(&machine, "medium", &["../linked/scripts/run.sh"]);
    machine.write_home("linked/scripts/run.sh", "#!/bin/sh\necho other\n");
    machine.write_home("linked/notes.txt", "mine\n");
    all(
        &machine,
        "high",
        &["../linked/scripts/run.sh", "rm ../linked/notes.txt"],
    );
    all(
        &machine,
        "critical",
        &["echo x > ../linked/.git", "echo x > .claude/settings.json"],
    );
    all(&machine, "medium", &["cat ../linked2/x"]);
}
