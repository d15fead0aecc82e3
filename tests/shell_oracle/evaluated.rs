//! Variables whose text zsh reads as arithmetic, and so runs the commands in it: when they are assigned, or once something
//! has run.

use std::collections::BTreeSet;

use countersign::catalog::environment::obeyed_by_shell;

use crate::shells::{self, Shell};

/// Where the shell is; its text holds the name of every variable that it knows.
const ZSH: &str = "/bin/zsh";
/// A command that only an evaluation runs; `psvar` is always an array.
const TEXT: &str = "'psvar[$(K1)1]'";

/// The words of a program that could name a variable.
fn names() -> BTreeSet<String> {
    let program = std::fs::read(ZSH).unwrap_or_else(|error| panic!("this test needs the program {ZSH}: {error}"));
    let words = program.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let words = words.filter(|word| word.len() > 1 && word[0].is_ascii_uppercase());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

#[test]
fn every_variable_whose_text_zsh_evaluates_is_known_to_be_obeyed_by_it() {
    shells::check_programs();
    let names: Vec<String> = names().into_iter().collect();
    assert!(names.iter().any(|name| name == "HISTSIZE"), "{ZSH} says no names");
    let used = |name: &String| format!("{name}={TEXT}; /bin/true; cd .; pushd .; popd; [[ -n x ]]; /bin/true");
    let scripts: Vec<String> = names.iter().map(used).collect();
    let runs = shells::tried(Shell::Zsh, &scripts);
    let evaluated = |commands: &[Vec<String>]| commands.iter().any(|words| words == &["K1"]);
    let evaluated: Vec<&String> = names
        .iter()
        .zip(&runs)
        .filter(|(_, run)| evaluated(run))
        .map(|(name, _)| name)
        .collect();
    println!("zsh evaluates {evaluated:?}");
    assert!(evaluated.iter().any(|name| *name == "SHLVL"), "nothing was evaluated");
    let missing: Vec<_> = evaluated.iter().filter(|name| !obeyed_by_shell(name)).collect();
    assert!(missing.is_empty(), "zsh evaluates {missing:?}");
}
