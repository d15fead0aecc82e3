//! Tools of MCP servers. What they do is theirs, so none is proven; what their names and arguments say may only raise.

use super::bash::{Gathered, Work};
use super::{arguments, words};
use crate::call::Text;
use crate::effect::{Action, EffectSpec, Gap, Reach, Undo};
use crate::shell::Span;
use crate::shell::state::State;

/// Verbs that only look, as the first word of a tool's name.
const LOOKS: &[&str] = &[
    "browse",
    "check",
    "count",
    "describe",
    "diff",
    "fetch",
    "find",
    "get",
    "inspect",
    "list",
    "lookup",
    "navigate",
    "preview",
    "query",
    "read",
    "resolve",
    "retrieve",
    "screenshot",
    "search",
    "show",
    "snapshot",
    "stat",
    "status",
    "view",
];

/// Verbs that hand out something for good.
const PUBLISHES: &[&str] = &["publish", "release"];

/// Verbs that run code.
const RUNS: &[&str] = &[
    "bash", "command", "eval", "evaluate", "exec", "execute", "invoke", "run", "script", "sh", "shell", "spawn",
    "terminal",
];

/// Judges a call of an MCP server's tool.
pub fn call(server: &str, verb: &str, texts: &[Text], state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let parts = words::of(verb);
    let own = words::of(server);
    let any = |list: &[&str]| parts.iter().any(|word| list.contains(&word.as_str()));
    let verb = parts.iter().find(|word| !own.contains(word)).or(parts.first());
    let joins = parts.iter().any(|word| ["and", "or", "then"].contains(&word.as_str()));
    let looks = !joins && verb.is_some_and(|verb| LOOKS.contains(&verb.as_str()));
    let (spec, action) = if any(words::DESTROYS) {
        (shared(Undo::Lost), Action::Delete)
    } else if looks {
        let spec = EffectSpec {
            reach: Reach::Known,
            ..EffectSpec::of(Action::Connect)
        };
        (spec, Action::Read)
    } else if any(PUBLISHES) {
        (shared(Undo::Forever), Action::Write)
    } else {
        (shared(Undo::Kept), Action::Write)
    };
    gathered.effect(spec, format!("the MCP server {server}"));
    if !looks && any(RUNS) {
        gathered.unvouched("what it is told to run");
    }
    gathered.unlisted(
        Gap::Program,
        "what a tool of an MCP server does is not known",
        Span::default(),
    );
    for text in texts {
        arguments::judge(text, action, state, work, gathered);
    }
}

fn shared(undo: Undo) -> EffectSpec {
    EffectSpec {
        undo,
        reach: Reach::Shared,
        ..EffectSpec::of(Action::Send)
    }
}
