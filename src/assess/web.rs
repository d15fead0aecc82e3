//! The host's web tools: which host is asked, and whether what is sent carries a secret out.

use super::bash::{Gathered, Work};
use super::hosts;
use crate::effect::{Action, EffectSpec, Place, Reach};
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

/// What `WebFetch` does.
pub fn fetch(url: &str, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let arg = Arg {
        value: Value::Literal(url.to_owned()),
        span: Span::default(),
    };
    hosts::url(&arg, state, work, gathered);
    carries(url, gathered);
}

/// What `WebSearch` does: its words go to the host's own search.
pub fn search(query: &str, gathered: &mut Gathered) {
    let spec = EffectSpec {
        reach: Reach::Known,
        ..EffectSpec::of(Action::Connect)
    };
    gathered.effect(spec, "a search engine");
    carries(query, gathered);
}

/// Text that leaves the machine and looks as if it held a credential.
fn carries(text: &str, gathered: &mut Gathered) {
    if looks_secret(text) {
        let spec = EffectSpec {
            place: Place::Secret,
            reach: Reach::New,
            ..EffectSpec::of(Action::Send)
        };
        gathered.effect(spec, "what looks like a credential");
    }
}

/// A credential's name with a value, or a long run of letters and digits as keys have.
fn looks_secret(text: &str) -> bool {
    let names = [
        "password",
        "passwd",
        "token",
        "secret",
        "api_key",
        "apikey",
        "access_key",
        "private_key",
        "bearer",
    ];
    let lower = text.to_lowercase();
    let named = names.iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let rest = lower[at + name.len()..].trim_start_matches(['"', '\'', ' ']);
            rest.strip_prefix(['=', ':'])
                .is_some_and(|value| !value.trim().is_empty())
        })
    });
    let is_key = |word: &str| {
        word.len() >= 32 && word.bytes().any(|b| b.is_ascii_digit()) && word.bytes().any(|b| b.is_ascii_alphabetic())
    };
    named || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_value_and_a_long_key_look_secret_and_a_question_does_not() {
        assert!(looks_secret("https://x.example/?token=abc"));
        assert!(looks_secret("what is \"password\": \"hunter\""));
        assert!(looks_secret("0123456789abcdef0123456789abcdef"));
        assert!(!looks_secret("how do I store a password hash in rust"));
        assert!(!looks_secret(
            "https://docs.rs/serde/latest/serde/trait.Deserialize.html"
        ));
    }
}
