//! What the words of a command say whose meaning is not known. It may be a wrapper (`rtk rm -rf ~`), or a client of
//! something that others depend on. What is found may only raise a tier.

use super::bash::{Gathered, Work};
use super::words;
use crate::catalog;
use crate::effect::{Action, EffectSpec, Place, Reach, Undo};
use crate::shell::state::State;
use crate::shell::{self, Arg, Span, Value};

/// At most this many words of one command are taken for the start of another.
const MAX_STARTS: usize = 16;

/// Adds what the words of a command say that nobody knows, and the critical commands among them as steps.
pub fn raise(args: &[Arg], span: Span, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let texts: Vec<&str> = args.iter().skip(1).filter_map(|arg| arg.value.literal()).collect();
    // The first words are most often what is done.
    let verbs: Vec<&str> = texts
        .iter()
        .copied()
        .filter(|text| !text.starts_with('-'))
        .take(2)
        .collect();
    if verbs.iter().any(|verb| words::any(verb, words::DESTROYS)) {
        let spec = EffectSpec {
            undo: Undo::Lost,
            reach: Reach::Known,
            ..EffectSpec::of(Action::Send)
        };
        gathered.effect(spec, "what its words say it destroys");
    }
    if texts
        .iter()
        .any(|text| !text.contains('/') && words::any(text, words::CREDENTIALS))
    {
        let spec = EffectSpec {
            place: Place::Secret,
            ..EffectSpec::of(Action::Disclose)
        };
        gathered.effect(spec, "what its words call a secret");
    }
    let mut starts = 0;
    for (at, arg) in args.iter().enumerate().skip(1) {
        let Some(text) = arg.value.literal() else { continue };
        if text.contains(char::is_whitespace) {
            for words in shell::scan(text) {
                let words = words.into_iter().map(|text| Arg {
                    value: Value::Literal(work.at_home(text)),
                    span: arg.span,
                });
                let words = words.collect();
                work.guess(words, span, state);
            }
        } else if starts < MAX_STARTS && names_a_command(text) && at + 1 < args.len() {
            starts += 1;
            work.guess(args[at..].to_vec(), span, state);
        }
    }
}

fn names_a_command(text: &str) -> bool {
    catalog::lists(text.rsplit('/').next().unwrap_or_default())
}
