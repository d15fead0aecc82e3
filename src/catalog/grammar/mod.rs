//! What the option grammar of TOML cannot describe: small languages (sed, awk, jq) and commands whose words are one.
//!
//! `catalog::read` calls in here, with values that are already computed. The parsers are positive: what they do not
//! know by name becomes a doubt. They know neither the machine, nor places, nor policy.
//!
//! Where implementations (GNU, BSD, busybox, mawk, gawk ..) would split a text differently, it is refused.

mod awk;
mod builtins;
mod conditions;
mod cursor;
mod dd;
mod env;
pub mod find;
pub mod git;
pub mod inline;
mod jq;
mod openssl;
mod ps;
mod regex;
mod sed;
mod sql;
mod tar;
mod template;
mod words;
mod xargs;
mod yq;

use super::{Inner, Misread, Reading, Role, Use};
use crate::effect::{Action, EffectSpec, Place, Undo};
use crate::shell::{Arg, Span, Value};

/// How deep brackets may nest in an embedded program.
const DEPTH: usize = 24;

/// Reads a command's words, `args[0]` being the program's name.
pub type Whole = fn(&[Arg], &mut Reading);

/// Reads a program text of a small language, given as an operand or an option's value.
///
/// A text that is not known, and a role that is no such language, is a doubt.
pub fn embedded(role: Role, code: &Arg, reading: &mut Reading) {
    let read: fn(&str, Span, &mut Reading) -> Result<(), String> = match role {
        Role::Sed => sed::read,
        Role::Awk => awk::read,
        Role::Jq => jq::read,
        Role::Template => template::read,
        Role::Sql => |text, _, reading| sql::read(text, sql::Holder::Server, reading),
        Role::Sqlite => |text, _, reading| sql::read(text, sql::Holder::File, reading),
        _ => return doubt(reading, code.span, format!("{role} has no reader")),
    };
    let Some(texts) = code.value.alternatives() else {
        if role == Role::Template {
            discloses_environment(reading);
        }
        let language = role.as_str().trim_start_matches("code:");
        return doubt(
            reading,
            code.span,
            format!("the text of this {language} program is not known"),
        );
    };
    for text in texts {
        if let Err(why) = read(text, code.span, reading) {
            doubt(reading, code.span, why);
        }
    }
}

/// The parser in Rust that reads all words of a command, by the name that `grammar = ".."` gives in TOML.
pub fn whole(name: &str) -> Option<Whole> {
    Some(match name {
        "find" => find::read,
        "xargs" => xargs::read,
        "test" => conditions::read,
        "env" => env::read,
        "dd" => dd::read,
        "ps" => ps::read,
        "tar" => tar::read,
        "openssl" => openssl::read,
        "yq" => yq::read,
        "printf" => builtins::printf,
        "read" => builtins::read,
        "set" => builtins::set,
        "export" => builtins::export,
        "declare" => builtins::declare,
        "kill" => builtins::kill,
        _ => return None,
    })
}

fn doubt(reading: &mut Reading, span: Span, why: impl Into<String>) {
    reading.doubts.push(Misread { why: why.into(), span });
}

fn uses(reading: &mut Reading, role: Role, arg: Arg) {
    reading.uses.push(Use { role, arg });
}

/// A use of a word that an embedded text names.
fn names(reading: &mut Reading, role: Role, text: &str, span: Span) {
    let value = Value::Literal(text.to_owned());
    uses(reading, role, Arg { value, span });
}

/// The whole environment, or an unknown part of it, is shown.
fn discloses_environment(reading: &mut Reading) {
    reading.effects.push(EffectSpec {
        place: Place::Secret,
        ..EffectSpec::of(Action::Disclose)
    });
}

/// Code runs that nobody vouches for.
fn executes(reading: &mut Reading) {
    reading.effects.push(EffectSpec {
        undo: Undo::Lost,
        ..EffectSpec::of(Action::Execute)
    });
}

#[cfg(test)]
mod support;
#[cfg(test)]
mod tests;

/// A shell that runs this code.
pub(super) fn shell(code: Value, span: Span) -> Vec<Arg> {
    let literal = |text: &str| Value::Literal(text.to_owned());
    let values = [literal("sh"), literal("-c"), code];
    values.map(|value| Arg { value, span }).to_vec()
}
