//! The list of environment variables: which are harmless to set, which are dangerous, which may be shown.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::{Diagnostic, Source};
use crate::words::VariableRule;

/// What is known of environment variables. Every list is sorted.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub variables: Vec<Variable>,
    /// Names whose value may be shown; a trailing `*` stands for any rest.
    pub printable: Vec<String>,
    /// Words in a name that tell of a credential.
    pub credentials: Vec<String>,
}

/// What is known of setting one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// A trailing `*` stands for any rest.
    pub name: String,
    pub rule: VariableRule,
    /// The words listed, or why it is dangerous.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    inert: Vec<Inert>,
    hazard: Vec<Hazard>,
    printable: String,
    credentials: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inert {
    names: Spanned<String>,
    /// `any`, `word`, `number` or `zone`.
    rule: Option<String>,
    /// The harmless values themselves.
    values: Option<Vec<String>>,
    /// The harmless values, where a value names a program.
    programs: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hazard {
    names: Spanned<String>,
    why: String,
}

/// Reads the file of variables.
///
/// # Errors
/// Every fault of the file, or that it cannot be read.
pub fn load_environment(path: &Path) -> Result<Environment, Vec<Diagnostic>> {
    let file = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => parse_environment(&file, &text),
        Err(error) => Err(vec![Diagnostic {
            file,
            line: 1,
            message: error.to_string(),
        }]),
    }
}

/// As `load_environment`, from text.
///
/// # Errors
/// Every fault of the text.
pub fn parse_environment(file: &str, text: &str) -> Result<Environment, Vec<Diagnostic>> {
    let mut source = Source::new(file, text);
    let Some(raw) = source.read::<File>() else {
        return Err(source.faults);
    };
    let mut variables = BTreeMap::new();
    for inert in raw.inert {
        let rule = inert.rule.as_deref().map(inert_rule);
        let (rule, text) = match (rule, &inert.values, &inert.programs) {
            (None, Some(values), None) => (VariableRule::Listed, values.join(" ")),
            (None, None, Some(programs)) => (VariableRule::Program, programs.join(" ")),
            (Some(Some(rule)), None, None) => (rule, String::new()),
            _ => {
                let message = "write one of `rule = \"any\"` (or word, number, zone), `values = [..]`, the harmless values, \
                               and `programs = [..]`, the harmless programs";
                source.fault(&inert.names.span(), message);
                continue;
            }
        };
        add(&mut source, &mut variables, &inert.names, rule, &text);
    }
    for hazard in raw.hazard {
        add(
            &mut source,
            &mut variables,
            &hazard.names,
            VariableRule::Hazard,
            &hazard.why,
        );
    }
    if !source.faults.is_empty() {
        return Err(source.faults);
    }
    Ok(Environment {
        variables: variables.into_values().collect(),
        printable: sorted(&raw.printable),
        credentials: sorted(&raw.credentials),
    })
}

fn inert_rule(text: &str) -> Option<VariableRule> {
    VariableRule::parse(text).filter(|rule| {
        !matches!(
            rule,
            VariableRule::Listed | VariableRule::Program | VariableRule::Hazard
        )
    })
}

fn add(
    source: &mut Source,
    variables: &mut BTreeMap<String, Variable>,
    names: &Spanned<String>,
    rule: VariableRule,
    text: &str,
) {
    for name in names.get_ref().split_whitespace() {
        let variable = Variable {
            name: name.to_owned(),
            rule,
            text: text.to_owned(),
        };
        if variables.insert(name.to_owned(), variable).is_some() {
            source.fault(&names.span(), format!("`{name}` is listed twice; keep one"));
        }
    }
}

fn sorted(words: &str) -> Vec<String> {
    let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words
}
