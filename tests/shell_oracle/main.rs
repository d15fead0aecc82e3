//! The parser against the shells themselves: what it accepts they accept, and what they run its tree shows.
//!
//! Every run has a fresh seed, which is printed; COUNTERSIGN_SEED repeats one, COUNTERSIGN_INPUTS sets how many scripts.

#[path = "../support/cage.rs"]
mod cage;
#[path = "../support/random.rs"]
mod random;
mod scripts;
mod seeds;
#[path = "../support/shells.rs"]
mod shells;
mod shown;

use countersign::shell::parse;
use random::Random;
use shells::Shell;
use shown::Shown;

/// How many scripts a test tries, if COUNTERSIGN_INPUTS does not say.
const INPUTS: usize = 500;

/// The scripts of a run that the parser accepts: all seeds, then generated ones.
fn accepted(salt: u64) -> Vec<String> {
    shells::check_programs();
    let set = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("the clock is past 1970");
    let seed = set("COUNTERSIGN_SEED").unwrap_or(u64::from(now.subsec_nanos()) ^ now.as_secs());
    let inputs = set("COUNTERSIGN_INPUTS").map_or(INPUTS, |number| usize::try_from(number).expect("a count"));
    let mut random = Random::new(seed.wrapping_add(salt));
    let made = (0..inputs).map(|_| scripts::script(&mut random));
    let all: Vec<String> = seeds::SEEDS.iter().map(|seed| (*seed).to_owned()).chain(made).collect();
    let tried = all.len();
    let accepted: Vec<String> = all.into_iter().filter(|script| parse(script).is_ok()).collect();
    println!(
        "COUNTERSIGN_SEED={seed}: {tried} scripts tried, {} accepted",
        accepted.len()
    );
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
