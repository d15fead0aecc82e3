//! The parser against the shells themselves: what it accepts they accept, and what they run its tree shows.
//!
//! Every run has a fresh seed, which is printed; COUNTERSIGN_SEED repeats one, COUNTERSIGN_INPUTS sets how many scripts.

#[path = "../support/cage.rs"]
mod cage;
mod computed;
mod evaluated;
#[path = "../support/random.rs"]
mod random;
mod scripts;
mod seeds;
#[path = "../support/shells.rs"]
mod shells;
mod shown;

use std::path::Path;

use countersign::assess::bash;
use countersign::facts::Facts;
use countersign::shell::parse;
use random::Random;
use shells::Shell;
use shown::Shown;

/// How many scripts a test tries, if COUNTERSIGN_INPUTS does not say.
const INPUTS: usize = 500;

fn set(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn inputs() -> usize {
    set("COUNTERSIGN_INPUTS").map_or(INPUTS, |number| usize::try_from(number).expect("a count"))
}

/// Numbers of this run, which its seed repeats.
fn numbers(salt: u64) -> Random {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("the clock is past 1970");
    let seed = set("COUNTERSIGN_SEED").unwrap_or(u64::from(now.subsec_nanos()) ^ now.as_secs());
    println!("COUNTERSIGN_SEED={seed}");
    Random::new(seed.wrapping_add(salt))
}

/// The scripts of a run that the parser accepts: all seeds, then generated ones.
fn accepted(salt: u64) -> Vec<String> {
    shells::check_programs();
    let mut random = numbers(salt);
    let made = (0..inputs()).map(|_| scripts::script(&mut random));
    let all: Vec<String> = seeds::SEEDS.iter().map(|seed| (*seed).to_owned()).chain(made).collect();
    let tried = all.len();
    let accepted: Vec<String> = all.into_iter().filter(|script| parse(script).is_ok()).collect();
    println!("{tried} scripts tried, {} accepted", accepted.len());
    assert!(
        accepted.len() * 10 > tried,
        "too few accepted scripts to learn anything from"
    );
    accepted
}

fn assert_accepts(shell: Shell, salt: u64) {
    let scripts = accepted(salt);
    let answers = shells::checked(shell, &scripts);
    let wrong: Vec<String> = scripts
        .iter()
        .zip(&answers)
        .filter(|(_, (accepts, _))| !accepts)
        .map(|(script, (_, message))| format!("{script:?}: {message}"))
        .collect();
    assert!(
        wrong.is_empty(),
        "{shell:?} refuses {} accepted scripts:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn assert_shows(shell: Shell, salt: u64) {
    let scripts = accepted(salt);
    let runs = shells::tried(shell, &scripts);
    let total: usize = runs.iter().map(Vec::len).sum();
    println!("{shell:?} ran {total} commands");
    assert!(
        total > scripts.len() / 2,
        "{shell:?} ran almost nothing: the cage does not work"
    );
    let mut wrong = Vec::new();
    for (script, commands) in scripts.iter().zip(&runs) {
        let shown = Shown::of(&parse(script).expect("it was accepted before"));
        for words in commands.iter().filter(|words| !shown.shows(words)) {
            wrong.push(format!("{words:?} of {script:?}"));
        }
    }
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{shell:?} ran {} commands that the tree does not show:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn bash_accepts_every_accepted_script() {
    assert_accepts(Shell::Bash, 1);
}

#[test]
fn zsh_accepts_every_accepted_script() {
    assert_accepts(Shell::Zsh, 2);
}

#[test]
fn every_command_that_bash_runs_stands_in_the_tree() {
    assert_shows(Shell::Bash, 3);
}

#[test]
fn every_command_that_zsh_runs_stands_in_the_tree() {
    assert_shows(Shell::Zsh, 4);
}

/// Programs of the catalog, in place of the names that the scripts use: what they are given is computed, while a program
/// that nobody knows may change what every later word means.
const PROGRAMS: &[&str] = &[
    "cat", "wc", "ls", "head", "stat", "file", "du", "tail", "nl", "basename",
];

/// The script with each `K1` to `K9` as a program of the catalog.
fn with_programs(script: &str) -> String {
    let mut text = String::new();
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek().and_then(|next| next.to_digit(10)) {
            Some(digit) if c == 'K' => {
                chars.next();
                text.push_str(PROGRAMS[digit as usize]);
            }
            _ => text.push(c),
        }
    }
    text
}

/// Whether these are the words that were computed; what is not known stands for any number of words.
fn fits(computed: &[Option<String>], words: &[String]) -> bool {
    match computed.split_first() {
        None => words.is_empty(),
        Some((Some(known), rest)) => words
            .split_first()
            .is_some_and(|(word, more)| word == known && fits(rest, more)),
        Some((None, rest)) => (0..=words.len()).any(|taken| fits(rest, &words[taken..])),
    }
}

fn is_exactly(computed: &[Option<String>], words: &[String]) -> bool {
    computed
        .iter()
        .map(Option::as_deref)
        .eq(words.iter().map(|word| Some(word.as_str())))
}

/// Every command that a shell runs of a script which is understood has the words that were computed.
fn assert_computes(shell: Shell, salt: u64) {
    let facts = Facts {
        home: Some(cage::HOME.into()),
        environment: ["HOME", "PATH"].map(str::to_owned).into(),
        ..Facts::default()
    };
    let assess = |script: &str| bash::assess(script, Some(Path::new(cage::HOME)), &facts);
    let mut random = numbers(salt);
    let made = (0..inputs()).map(|_| computed::script(&mut random));
    let scripts: Vec<String> = accepted(salt)
        .iter()
        .map(|script| with_programs(script))
        .chain(made)
        // The name of a pipe is told otherwise by every shell.
        .filter(|script| !script.contains("<(") && !script.contains(">("))
        .filter(|script| assess(script).proven())
        .collect();
    let runs = shells::tried(shell, &scripts);
    let total: usize = runs.iter().map(Vec::len).sum();
    println!(
        "{shell:?} ran {total} commands of {} scripts that are understood",
        scripts.len()
    );
    assert!(total > 200, "too few commands to learn anything from");
    let mut exact = 0;
    let mut wrong = Vec::new();
    for (script, commands) in scripts.iter().zip(&runs) {
        let computed = assess(script).commands;
        for words in commands {
            exact += usize::from(computed.iter().any(|one| is_exactly(one, words)));
            if !computed.iter().any(|one| fits(one, words)) {
                wrong.push(format!("{words:?} of {script:?}: {computed:?}"));
            }
        }
    }
    println!("of {exact} every word was known");
    assert!(exact * 2 > total, "too few words are known to learn anything from");
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{shell:?} gave {} commands other words than were computed:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn bash_gives_every_command_the_words_that_were_computed() {
    assert_computes(Shell::Bash, 5);
}

#[test]
fn zsh_gives_every_command_the_words_that_were_computed() {
    assert_computes(Shell::Zsh, 6);
}
