//! What a person may have Countersign remember with an allow: a rule of their own, for this exact command or for this
//! program and subcommand. It is offered only where it would have let this very call through.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use super::config;
use super::rules::Conditions;
use crate::call::{Call, Input};
use crate::catalog;
use crate::decision::{Offer, Remember, Scope};
use crate::effect::{Effect, Place, Reach, Step, Tier, Undo};
use crate::own_files;
use crate::report::steps::quoted;
use crate::shell::ast::Span;
use crate::shell::{Arg, Value};

/// Whoever changes the configuration holds this lock meanwhile.
const LOCK: &str = "config.lock";
/// How long is waited for it.
const TURN: Duration = Duration::from_secs(2);

/// The rules that could be remembered of a call of these steps: for a command line of one command, every word of which is
/// known and none of which a rule would read as a pattern.
pub fn candidates(call: &Call, steps: &[Step]) -> Vec<Conditions> {
    let (Input::Shell { .. }, [step]) = (&call.input, steps) else {
        return Vec::new();
    };
    let words: Option<Vec<String>> = step.words.iter().cloned().collect();
    let Some((program, args)) = words.as_deref().and_then(|words| words.split_first()) else {
        return Vec::new();
    };
    let is_plain = |word: &String| !word.contains('*') && !word.chars().any(char::is_control);
    if !is_plain(program) || !args.iter().all(is_plain) {
        return Vec::new();
    }
    let rule = |args: Vec<String>| Conditions {
        program: Some(program.clone()),
        args: Some(args),
        ..Conditions::default()
    };
    // With other words it may do more of what this one does: only what stays in the project and loses nothing may vary.
    let subcommand = subcommand(step).filter(|_| step.tier <= Tier::Medium && step.effects.iter().all(stays));
    let subcommand = subcommand.map(|words| rule(words.into_iter().chain(["**".to_owned()]).collect()));
    [rule(args.to_vec())].into_iter().chain(subcommand).collect()
}

/// Whether an effect stays in the project, or in what nobody misses, and can be undone.
fn stays(effect: &Effect) -> bool {
    let places = [
        Place::Nowhere,
        Place::Scratch,
        Place::Project,
        Place::Cache,
        Place::Repository,
        Place::Build,
    ];
    effect.spec.reach <= Reach::Loopback && effect.spec.undo < Undo::Lost && places.contains(&effect.spec.place)
}

/// The words of the subcommand that stands right after the program.
fn subcommand(step: &Step) -> Option<Vec<String>> {
    let arg = |word: &Option<String>| Arg {
        value: Value::Literal(word.clone().unwrap_or_default()),
        span: Span::default(),
    };
    let args: Vec<Arg> = step.words.iter().map(arg).collect();
    let reading = catalog::read(&args)?;
    let words: Vec<String> = reading.subcommand.split_whitespace().map(str::to_owned).collect();
    let stand = step.words.iter().skip(1).map(Option::as_ref);
    (!words.is_empty() && words.iter().map(Some).eq(stand.take(words.len()))).then_some(words)
}

/// The rule as it is offered.
pub fn offer(rule: Conditions) -> Offer {
    let args = rule.args.iter().flatten();
    let words: Vec<&str> = rule.program.iter().chain(args).map(String::as_str).collect();
    let change = match words.split_last() {
        Some((&"**", named)) => format!("allow {} with any words, inside the project", line(named)),
        _ => format!("allow exactly {}", line(&words)),
    };
    Offer {
        change,
        scope: Some(Scope::Countersign),
        remember: Remember::Rule(Box::new(rule)),
    }
}

/// The words as a shell would be given them, so that no two commands look the same.
fn line(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A text of TOML.
fn toml_text(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// The rule's conditions as lines of the file.
fn conditions(rule: &Conditions) -> String {
    let args: Vec<String> = rule.args.iter().flatten().map(|word| toml_text(word)).collect();
    let program = toml_text(rule.program.as_deref().unwrap_or_default());
    format!("program = {program}\nargs = [{}]", args.join(", "))
}

/// Adds the rule at the end of the person's configuration, whose directory is made if it is not there.
///
/// # Errors
/// The file cannot be written, or would not hold with it; then it stays as it is.
pub fn write(file: &Path, rule: &Conditions, who: &str) -> io::Result<()> {
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let dir = real
        .parent()
        .ok_or_else(|| io::Error::other("the configuration has no directory"))?;
    own_files::private_dir(dir)?;
    let mut options = OpenOptions::new();
    let (lock, _) = own_files::open_private(&dir.join(LOCK), options.write(true).create(true).truncate(false))?;
    if !own_files::has_lock(&lock, TURN)? {
        return Err(io::Error::other("another process is changing the configuration"));
    }
    let before = match fs::read_to_string(&real) {
        Ok(text) => text,
        Err(error) if own_files::is_absent(&error) => String::new(),
        Err(error) => return Err(error),
    };
    let gap = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let written = conditions(rule);
    let who = crate::escape::visible(who);
    let after =
        format!("{before}{gap}\n# Remembered with an allow from {who}.\n[[rule]]\n{written}\ntier = \"safe\"\n");
    config::of_text(&real, &after).map_err(|invalid| io::Error::other(invalid.to_string()))?;
    let fresh = real.with_extension(format!("new-{}", std::process::id()));
    let mut options = OpenOptions::new();
    let replaced =
        own_files::open_private(&fresh, options.write(true).create(true).truncate(true)).and_then(|(mut new, _)| {
            new.write_all(after.as_bytes())?;
            new.sync_all()?;
            fs::rename(&fresh, &real)
        });
    if replaced.is_err() {
        // The error of the write is what the person is told.
        let _ = fs::remove_file(&fresh);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates_of(command: &str) -> Vec<String> {
        let line = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/p"});
        let call = crate::wire::event::classify_event(&line.to_string()).expect("a call");
        let facts = crate::facts::Facts::live(call.cwd.as_deref());
        let steps = crate::assess::assess(&call, &facts).steps;
        candidates(&call, &steps).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_command_is_remembered_whole_or_by_its_program_and_subcommand() {
        assert_eq!(
            candidates_of("npm run build --silent"),
            [
                r#"program = "npm", args = ["run", "build", "--silent"]"#,
                r#"program = "npm", args = ["run", "**"]"#,
            ]
        );
        assert_eq!(
            candidates_of("deploy-docs now"),
            [r#"program = "deploy-docs", args = ["now"]"#]
        );
        assert_eq!(
            candidates_of("git push origin main"),
            [r#"program = "git", args = ["push", "origin", "main"]"#],
            "with other words it would go to other hosts"
        );
        for alone in ["systemctl stop x", "git clean -fd", "git branch -D x"] {
            assert_eq!(candidates_of(alone).len(), 1, "{alone}");
        }
        assert_eq!(
            candidates_of("rm notes.txt"),
            [r#"program = "rm", args = ["notes.txt"]"#],
            "without a subcommand only as it stands"
        );
    }

    #[test]
    fn what_is_not_one_plain_command_is_not_offered() {
        for command in ["npm test; npm run x", "rm *.log", "rm $x", "x=1", "npm run 'a*b'"] {
            assert!(candidates_of(command).is_empty(), "{command}");
        }
    }

    #[test]
    fn a_rule_is_added_to_what_is_there_or_nothing_is_changed() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("countersign/config.toml");
        let rule = |word: &str| Conditions {
            program: Some("deploy".into()),
            args: Some(vec![word.into()]),
            ..Conditions::default()
        };
        write(&file, &rule("a"), "a phone\u{1b}").expect("written");
        write(&file, &rule("say \"b\""), "a phone").expect("written");
        write(&file, &rule("x, args = \\ e\u{301}"), "a phone").expect("written");
        let config = config::read(&file).expect("it holds");
        let rules: Vec<String> = config.policy.rules.iter().map(|rule| rule.when.to_string()).collect();
        assert_eq!(
            rules,
            [
                r#"program = "deploy", args = ["a"]"#,
                r#"program = "deploy", args = ["say \"b\""]"#,
                r#"program = "deploy", args = ["x, args = \\ e\u{301}"]"#,
            ]
        );
        fs::write(&file, "preset = \"calm\"\nrule = []").expect("a file that cannot be added to");
        assert!(write(&file, &rule("c"), "x").is_err());
        assert_eq!(
            fs::read_to_string(&file).expect("the file"),
            "preset = \"calm\"\nrule = []"
        );
    }
}
