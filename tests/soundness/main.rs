//! The soundness lab: what an entry calls safe is run, and traced. Every example of tier safe of a program that the image
//! (`tests/image/build`) has runs in a cage on a scratch project under strace, and must change nothing, connect nowhere
//! and execute only the programs that it and its entry name. So does every option with which an entry says that the
//! program only describes itself. The project is full of configuration that would tell of it if it were loaded.
//!
//! A run takes a sample, whose seed is printed; COUNTERSIGN_LAB=all takes all. COUNTERSIGN_DRAW=1 with it writes
//! docs/soundness.md anew.

#[path = "../support/cage.rs"]
mod cage;
mod canaries;
mod deeds;
#[path = "../support/image.rs"]
mod image;
mod page;
#[path = "../support/parallel.rs"]
mod parallel;
#[path = "../support/sample.rs"]
mod sample;
#[expect(dead_code, reason = "the machine in miniature has more than the lab needs")]
#[path = "../support/mod.rs"]
mod support;
mod tolerated;

use std::collections::BTreeSet;
use std::path::Path;

use canaries::Canaries;
use catalog_spec::{Entry, Tier, Witness};
use countersign::effect::{Assessment, Reach};
use deeds::Deed;
use image::{Answer, Image, say};
use parallel::in_parallel;
use sample::sample;
use support::Machine;
use tolerated::Tolerated;

/// How many examples a sample has.
const SAMPLE: usize = 120;
const PROJECT: &str = "/home/dev/project";
/// What starts a script, named by the script itself.
const INTERPRETERS: &[&str] = &["env", "node", "python3", "perl", "ruby", "bash", "sh", "dash"];

/// One line to run.
struct Trial<'a> {
    program: &'a Entry,
    witness: &'a Witness,
    command: String,
    at: String,
    /// The programs that the entry says it runs itself.
    helpers: BTreeSet<&'a str>,
}

/// What a run showed.
pub enum Outcome {
    /// It did nothing that it may not, and succeeded.
    Clean,
    /// The same, but it failed: nothing was there that it asks for.
    Failed,
    /// The image lacks a program of the example.
    Missing,
    /// It did what these tolerances allow.
    Tolerated(BTreeSet<usize>),
    /// It did this.
    Wrong(Vec<String>),
}

#[test]
fn what_an_entry_calls_safe_changes_nothing_connects_nowhere_and_runs_nothing_else() {
    let Some(image) = Image::find() else { return };
    let entries = catalog_spec::load_dir(Path::new("src/catalog/commands")).expect("a catalog without errors");
    let chosen = image.choose(&entries);
    let all: Vec<Trial> = chosen.iter().flat_map(|(e, w)| trials(&image, e, w)).collect();
    let known = all.len();
    let trials = sample(all, SAMPLE);
    let (canaries, tolerated) = (Canaries::load(), Tolerated::load());
    let outcomes = in_parallel(&trials, |trial| vec![outcome(&image, &canaries, &tolerated, trial)]);
    let mut counts = page::Counts::of(chosen.len());
    let mut wrong = Vec::new();
    for (trial, outcome) in trials.iter().zip(&outcomes) {
        counts.add(outcome);
        if let Outcome::Wrong(deeds) = outcome {
            wrong.push(format!("{}: {}\n    {}", trial.at, trial.command, deeds.join("\n    ")));
        }
    }
    say(&counts.to_string());
    assert!(
        wrong.is_empty(),
        "{} of {} did more than look:\n{}",
        wrong.len(),
        trials.len(),
        wrong.join("\n")
    );
    if std::env::var_os("COUNTERSIGN_DRAW").is_some() {
        assert!(
            trials.len() == known && chosen.len() == entries.iter().filter(|entry| entry.witness.is_some()).count(),
            "the page tells of a whole run: COUNTERSIGN_LAB=all, with all packages in the image"
        );
        page::write(&counts, &tolerated);
    }
}

/// The safe examples of an entry and of its subcommands, and the options with which each describes itself.
fn trials<'a>(image: &Image, entry: &'a Entry, witness: &'a Witness) -> Vec<Trial<'a>> {
    let programs = image.programs(entry, witness);
    let mut trials = Vec::new();
    for owner in std::iter::once(entry).chain(&entry.subs) {
        let examples = owner.examples.iter().filter(|example| example.tier == Some(Tier::Safe));
        let examples = examples.map(|example| (example.command.clone(), example.line));
        let subcommand = owner.names.first().filter(|_| !std::ptr::eq(owner, entry));
        let descriptions = programs.iter().filter(|words| words.len() == 1).flat_map(|words| {
            let name = [words.first(), subcommand].into_iter().flatten().map(String::as_str);
            let name = name.collect::<Vec<_>>().join(" ");
            let options = owner.options.iter().filter(|option| option.describes);
            options.flat_map(move |option| {
                let lines = option.spellings.iter().map(|spelling| format!("{name} {spelling}"));
                lines.map(|line| (line, owner.line)).collect::<Vec<_>>()
            })
        });
        for (command, line) in examples.chain(descriptions) {
            trials.push(Trial {
                program: entry,
                witness,
                command,
                at: format!("{}:{line}", owner.file),
                helpers: entry.helpers.iter().chain(&owner.helpers).map(String::as_str).collect(),
            });
        }
    }
    trials
}

fn outcome(image: &Image, canaries: &Canaries, tolerated: &Tolerated, trial: &Trial) -> Outcome {
    if image.programs(trial.program, trial.witness).is_empty() {
        return Outcome::Wrong(vec![format!("the package `{}` has no such program", trial.witness)]);
    }
    let mut machine = Machine::new();
    canaries.plant(&machine);
    let mut judged = judge(&machine, &trial.command);
    if !judged.proven() || judged.tier != Tier::Safe {
        // The judgement saw a canary itself.
        machine = Machine::new();
        judged = judge(&machine, &trial.command);
    }
    let connects = reaches_out(&judged);
    let answers = run(image, &machine, trial);
    assert!(
        answers[1].text.contains("execve("),
        "strace saw nothing of {}: {}",
        trial.command,
        answers[0].text
    );
    let words = programs(&trial.command);
    let (mut used, mut wrong) = (BTreeSet::new(), Vec::new());
    for deed in answers[1..].iter().flat_map(|trace| deeds::deeds(&trace.text, PROJECT)) {
        let own = deed.action == "execute"
            && (deed.words.last().is_some_and(|word| *word == trial.command)
                || expected(&deed, &words, &trial.helpers));
        if own || (deed.action == "connect" && connects) {
            continue;
        }
        match tolerated.find(&words, &deed) {
            // What any program may do is no exception of this one.
            Some(at) if tolerated.all()[at].programs == "*" => {}
            Some(at) => _ = used.insert(at),
            None => wrong.push(
                format!("{} {} {}", deed.action, deed.target, deed.words.join(" "))
                    .trim_end()
                    .to_owned(),
            ),
        }
    }
    wrong.sort();
    wrong.dedup();
    match (wrong.is_empty(), used.is_empty(), answers[0].status) {
        (false, _, _) => Outcome::Wrong(wrong),
        (true, _, 127) => Outcome::Missing,
        (true, false, _) => Outcome::Tolerated(used),
        (true, true, 0) => Outcome::Clean,
        (true, true, _) => Outcome::Failed,
    }
}

fn judge(machine: &Machine, command: &str) -> Assessment {
    support::assess(machine, &machine.project(), &machine.here(command))
}

/// Whether the judgement says that the command reaches another program or machine, as a read of a service does.
fn reaches_out(assessment: &Assessment) -> bool {
    let mut effects = assessment.steps.iter().flat_map(|step| &step.effects);
    effects.any(|effect| effect.spec.reach != Reach::Here)
}

/// What the command answered, and then what strace wrote of each of its processes.
fn run(image: &Image, machine: &Machine, trial: &Trial) -> Vec<Answer> {
    let home = machine.home();
    let home = home.to_str().expect("a plain path");
    let cage = [
        "--tmpfs",
        "/home",
        "--bind",
        home,
        "/home/dev",
        "--setenv",
        "HOME",
        "/home/dev",
        "--chdir",
        PROJECT,
    ];
    let strace = [
        "strace",
        "-ff",
        "--seccomp-bpf",
        "-qq",
        "-y",
        "-s",
        "300",
        "-o",
        "/tmp/trace",
        "-e",
    ];
    let traced = format!("trace={}", deeds::TRACED);
    let words = strace
        .iter()
        .copied()
        .chain([traced.as_str(), "bash", "-c", trial.command.as_str()]);
    let commands = [
        words.map(str::to_owned).collect(),
        ["bash", "-c", "cat /tmp/trace.*"].map(str::to_owned).to_vec(),
    ];
    image.run(&Image::search_path(trial.witness), &cage, &commands)
}

/// The words of a command that may name a program.
fn programs(command: &str) -> Vec<String> {
    let words = command.split(|c: char| c.is_whitespace() || "|&;()<>'\"`".contains(c));
    let names = words
        .filter(|word| !word.is_empty())
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    names.map(str::to_owned).collect()
}

/// Whether a program is one that the command or its entry names, or what one such script says it is to be started by.
fn expected(deed: &Deed, words: &[String], helpers: &BTreeSet<&str>) -> bool {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let named = |path: &str| words.contains(&base(path)) || helpers.contains(base(path).as_str());
    let script = || deed.words.iter().skip(1).any(|word| word.contains('/') && named(word));
    named(&deed.target) || (INTERPRETERS.contains(&base(&deed.target).as_str()) && script())
}
