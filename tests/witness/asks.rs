//! What a program is asked for: its help and manuals, in the ways that programs have.

use std::path::Path;

use serde::Deserialize;

/// How many rounds `rounds` gives.
pub const ROUNDS: usize = 4;

/// Ways to ask that only one program has, from `asks.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asks {
    ask: Vec<Ask>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    program: String,
    /// The subcommand, if it is not the program itself; `*` is every one.
    #[serde(default)]
    sub: String,
    /// The whole command; `SUB` stands for the words of the subcommand.
    command: String,
    /// Why the common ways do not tell all.
    #[serde(rename = "why")]
    _why: String,
}

impl Asks {
    pub fn load() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/witness/asks.toml");
        let text = std::fs::read_to_string(file).expect("the ways to ask");
        toml::from_str(&text).expect("ways to ask without mistakes")
    }

    /// The commands to run, round by round; a later round is only needed where the earlier ones did not tell all. `run`
    /// starts the program called `name`; `sub` is empty for the program itself.
    pub fn rounds(&self, run: &[String], name: &str, sub: &[String]) -> Vec<Vec<Vec<String>>> {
        let own = |before: &[&str], after: &[&str]| {
            let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
            [run.to_vec(), strings(before), sub.to_vec(), strings(after)].concat()
        };
        let page = [&[name.to_owned()], sub].concat().join("-");
        let mut first = vec![own(&[], &["--help"])];
        first.extend(self.special(name, sub));
        let mut third = vec![own(&[], &["-h"]), own(&["help"], &[])];
        if run.len() > 1 {
            third.push(["bash", "-c", "help \"$1\"", "bash", name].map(str::to_owned).to_vec());
        }
        vec![
            first,
            vec![["man", "-P", "cat", "--", &page].map(str::to_owned).to_vec()],
            third,
            vec![own(&[], &["help"]), own(&[], &["-help"]), own(&[], &["--help-all"])],
        ]
    }

    fn special(&self, name: &str, sub: &[String]) -> Vec<Vec<String>> {
        let matching = self
            .ask
            .iter()
            .filter(|ask| ask.program == name && (ask.sub == sub.join(" ") || (ask.sub == "*" && !sub.is_empty())));
        let words = |ask: &Ask| {
            let command = ask.command.replace("SUB", &sub.join(" "));
            command.split_whitespace().map(str::to_owned).collect()
        };
        matching.map(words).collect()
    }
}
