//! The host's web tools: which host is asked, and whether what is sent carries a secret out.

use super::bash::{Gathered, Work};
use super::{hosts, secrets};
use crate::effect::{Action, EffectSpec, Reach};
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

/// What `WebFetch` does.
pub fn fetch(url: &str, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let arg = Arg {
        value: Value::Literal(url.to_owned()),
        span: Span::default(),
    };
    hosts::url(&arg, state, work, gathered);
}

/// What `WebSearch` does: its words go to the host's own search.
pub fn search(query: &str, gathered: &mut Gathered) {
    let spec = EffectSpec {
        reach: Reach::Known,
        ..EffectSpec::of(Action::Connect)
    };
    gathered.effect(spec, "a search engine");
    secrets::sent(query, gathered);
}
