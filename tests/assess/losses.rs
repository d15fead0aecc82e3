//! What a call would throw away, counted before it is gone.

use std::fmt::Write as _;
use std::time::Duration;

use countersign::assess::loss::{self, Bound, Deed, Loss};

use crate::{Machine, judged};

fn losses(machine: &Machine, command: &str) -> Vec<Loss> {
    loss::of(&judged(machine, command), &machine.facts(), Duration::from_secs(60))
}

/// Each of these commands is said to lose this, in words.
#[track_caller]
fn told(machine: &Machine, expected: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (command, words) in expected {
        let found: Vec<String> = losses(machine, command).iter().map(Loss::to_string).collect();
        if found.join("; ") != *words {
            let _ = writeln!(wrong, "{command:?}: {:?}, not {words:?}", found.join("; "));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn files_that_are_deleted_are_counted_and_compared_with_git() {
    let machine = Machine::new();
    machine.write("src/draft.rs", "fn draft() {}\n");
    told(
        &machine,
        &[
            ("rm README.md", "deletes 1 file (7 B), which git holds"),
            ("rm notes.txt", "deletes 1 file (11 B), not in git"),
            ("rm notes.txt README.md", "deletes 2 files (18 B), 1 of them not in git"),
            ("rm -r src", "deletes 4 files (52 B), 1 of them not in git"),
            ("rm -r docs data.csv", "deletes 2 files (10 B), all of which git holds"),
            (
                "rm -rf src src/main.rs && rm -r src",
                "deletes 4 files (52 B), 1 of them not in git",
            ),
            ("cd src && rm main.rs", "deletes 1 file (13 B), which git holds"),
            ("rm nothing-there", ""),
            ("ls src", ""),
        ],
    );
    machine.write("src/main.rs", "fn main() { changed() }\n");
    told(
        &machine,
        &[("rm -r src", "deletes 4 files (63 B), 2 of them not in git")],
    );
}

#[test]
fn what_tools_make_again_is_told_apart() {
    told(
        &Machine::new(),
        &[(
            "rm -rf target notes.txt",
            "deletes 2 files (13 B), none of them in git (1 made again by tools)",
        )],
    );
}

#[test]
fn what_lies_outside_the_project_is_not_said_to_be_in_git_or_not() {
    told(
        &Machine::new(),
        &[("rm ~/letter.txt", "deletes 1 file (5 B), not known to be in git")],
    );
}

#[test]
fn with_the_repository_goes_all_that_it_holds() {
    let machine = Machine::new();
    let found = losses(&machine, "rm -rf .");
    assert!(
        matches!(found.as_slice(), [all] if all.unheld == all.files && all.bound == Bound::Exact),
        "{found:?}"
    );
}

#[test]
fn files_that_are_overwritten_are_counted_unless_something_is_only_added() {
    let machine = Machine::new();
    told(
        &machine,
        &[
            ("echo x > notes.txt", "overwrites or changes 1 file (11 B), not in git"),
            (
                "echo x > README.md",
                "overwrites or changes 1 file (7 B), which git holds",
            ),
            (
                "cp list.txt notes.txt",
                "overwrites or changes 1 file (11 B), not in git",
            ),
            (
                "mv list.txt notes.txt",
                "overwrites or changes 1 file (11 B), not in git",
            ),
            ("mv notes.txt elsewhere.txt", ""),
            ("echo x >> notes.txt", ""),
            ("echo x > new.txt", ""),
            ("mkdir src", ""),
        ],
    );
}

#[test]
fn what_git_itself_discards_is_counted() {
    let machine = Machine::new();
    machine.write("README.md", "changed\n");
    machine.write("src/lib.rs", "pub fn b() {}\n");
    machine.write("src/draft.rs", "x\n");
    let both = "discards the uncommitted changes of 2 files (22 B)";
    let one = "discards the uncommitted changes of 1 file (14 B)";
    told(
        &machine,
        &[
            ("git reset --hard", both),
            ("git checkout -f", both),
            ("git checkout -- .", both),
            ("git restore .", both),
            ("git checkout -- src", one),
            ("git restore src/lib.rs", one),
            ("cd src && git checkout -- .", one),
            ("cd src && git reset --hard HEAD", both),
            ("git restore docs", ""),
            ("git restore --staged .", ""),
            ("git checkout main", ""),
            ("git stash", ""),
            // What another commit has in the place of untracked files is not known.
            (
                "git reset --hard HEAD~1",
                "discards the uncommitted changes of at least 2 files (at least 22 B)",
            ),
            (
                "git checkout -- '*.rs'",
                "discards the uncommitted changes of files, and how many is not known",
            ),
            ("cd src && git clean -fdx", "deletes 1 file (2 B), not in git"),
            ("git clean -fdx src", "deletes 1 file (2 B), not in git"),
            ("git clean -n", ""),
        ],
    );
}

#[test]
fn a_staged_change_may_stay_where_only_the_working_tree_is_put_back() {
    let machine = Machine::new();
    machine.write("README.md", "changed\n");
    machine.git(&["add", "README.md"]);
    told(
        &machine,
        &[
            ("git reset --hard", "discards the uncommitted changes of 1 file (8 B)"),
            (
                "git restore .",
                "discards the uncommitted changes of at most 1 file (at most 8 B)",
            ),
        ],
    );
}

#[test]
fn what_is_chosen_among_files_is_at_most_all_of_them() {
    let machine = Machine::new();
    for command in [
        "find src -name '*.rs' -delete",
        "find src -newer README.md -name \"$x\" -exec rm -r {} +",
        "git rm -r src",
    ] {
        let found = losses(&machine, command);
        assert!(
            matches!(found.as_slice(), [loss] if loss.bound == Bound::AtMost && loss.files == 3),
            "{command}: {found:?}"
        );
    }
    let found = losses(&machine, "find src -name '*.rs' -exec rm {} +");
    assert!(
        matches!(found.as_slice(), [loss] if loss.bound == Bound::AtMost && loss.files == 2),
        "{found:?}"
    );
    // Ignored files stay, and which these are is not asked.
    let found = losses(&machine, "git clean -fd");
    assert!(
        matches!(found.as_slice(), [loss] if loss.bound == Bound::AtMost && loss.files == 4),
        "{found:?}"
    );
}

#[test]
fn a_repository_below_is_left_by_git_clean() {
    let machine = Machine::new();
    machine.write("vendored/file", "x\n");
    machine.git_in(&machine.project().join("vendored"), &["init", "-q"]);
    let files = |command: &str| losses(&machine, command).first().map_or(0, |loss| loss.files);
    assert_eq!(files("git clean -fdx"), 4);
    assert!(files("git clean -ffdx") > 4);
}

#[test]
fn more_than_is_counted_is_a_least_and_never_a_wrong_number() {
    let machine = Machine::new();
    for number in 0..4200 {
        machine.write(&format!("many/{number}"), "x");
    }
    let found = losses(&machine, "rm -rf many");
    assert!(
        matches!(found.as_slice(), [loss] if loss.bound == Bound::AtLeast && (4000..=4200).contains(&loss.files)),
        "{found:?}"
    );
    let told = found[0].to_string();
    assert!(
        told.starts_with("deletes at least 4,0") && told.contains("at least 4,0"),
        "{told}"
    );
}

#[test]
fn without_time_nothing_is_claimed() {
    let machine = Machine::new();
    machine.write("README.md", "changed\n");
    for command in ["rm -r src", "git reset --hard", "git clean -fdx"] {
        let found = loss::of(&judged(&machine, command), &machine.facts(), Duration::ZERO);
        assert!(
            matches!(found.as_slice(), [loss] if loss.bound == Bound::Unknown),
            "{command}: {found:?}"
        );
    }
}

#[test]
fn of_what_was_not_understood_no_number_is_told() {
    let machine = Machine::new();
    told(&machine, &[("rm --no-such-option -r src", ""), ("rm -r src $MORE", "")]);
}

#[test]
fn one_call_may_do_all_three() {
    let machine = Machine::new();
    machine.write("README.md", "changed\n");
    let deeds: Vec<Deed> = losses(&machine, "rm -r docs; git reset --hard; echo x > list.txt")
        .iter()
        .map(|loss| loss.deed)
        .collect();
    assert_eq!(deeds, [Deed::Deletes, Deed::Overwrites, Deed::Discards]);
}
