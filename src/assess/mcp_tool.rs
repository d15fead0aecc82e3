//! Tools of MCP servers. What they do is theirs, so none is proven; what their names and arguments say may only raise.

use super::arguments;
use super::bash::{Gathered, Work};
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

/// Verbs that destroy what others may depend on, wherever they stand in a tool's name.
const DESTROYS: &[&str] = &[
    "delete",
    "destroy",
    "drop",
    "erase",
    "prune",
    "purge",
    "remove",
    "revoke",
    "rm",
    "terminate",
    "truncate",
    "unpublish",
    "wipe",
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
    let words = words(verb);
    let own = self::words(server);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let verb = words.iter().find(|word| !own.contains(word)).or(words.first());
    let joins = words.iter().any(|word| ["and", "or", "then"].contains(&word.as_str()));
    let looks = !joins && verb.is_some_and(|verb| LOOKS.contains(&verb.as_str()));
    let (spec, action) = if any(DESTROYS) {
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

/// The words of a name, in lower case: `deleteRepo`, `delete_repo` and `delete-repo` are two each.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn shared(undo: Undo) -> EffectSpec {
    EffectSpec {
        undo,
        reach: Reach::Shared,
        ..EffectSpec::of(Action::Send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_split_where_its_words_begin() {
        assert_eq!(words("deleteRepo"), ["delete", "repo"]);
        assert_eq!(words("get_HTTP-status__x"), ["get", "http", "status", "x"]);
        assert_eq!(words(""), [""; 0]);
    }
}
