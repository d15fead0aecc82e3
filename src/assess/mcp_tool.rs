//! Tools of MCP servers. What they do is theirs, so none is proven; what their names and arguments say may only raise.

use super::bash::{self, Gathered, Work};
use super::{files, roles};
use crate::effect::{Action, EffectSpec, Reach, Undo};
use crate::shell::Span;
use crate::shell::state::State;

/// Verbs that only look, as the first word of a tool's name.
const LOOKS: &[&str] = &[
    "get",
    "list",
    "read",
    "search",
    "find",
    "fetch",
    "query",
    "describe",
    "view",
    "show",
    "lookup",
    "count",
    "status",
    "check",
    "navigate",
    "snapshot",
    "screenshot",
    "resolve",
];

/// Verbs that change a file when an argument names one.
const WRITES: &[&str] = &[
    "write", "edit", "create", "update", "append", "save", "move", "rename", "delete", "remove",
];

/// Keys under which an argument is shell code.
const CODE: &[&str] = &["command", "cmd", "script", "shell", "code", "bash", "commandline"];

/// Judges a call of an MCP server's tool.
pub fn call(
    server: &str,
    verb: &str,
    texts: &[(String, String)],
    state: &State,
    work: &mut Work<'_>,
    gathered: &mut Gathered,
) {
    let words: Vec<String> = verb.split(['_', '-']).map(str::to_lowercase).collect();
    let starts = |list: &[&str]| words.first().is_some_and(|word| list.contains(&word.as_str()));
    let spec = if starts(LOOKS) {
        EffectSpec {
            reach: Reach::Known,
            ..EffectSpec::of(Action::Connect)
        }
    } else if words
        .iter()
        .any(|word| ["delete", "destroy", "drop", "remove", "purge"].contains(&word.as_str()))
    {
        shared(Undo::Lost)
    } else if LOOKS
        .iter()
        .chain(WRITES)
        .any(|known| words.iter().any(|word| word == known))
        || words.len() > 1
    {
        shared(Undo::Kept)
    } else {
        EffectSpec {
            reach: Reach::Known,
            ..EffectSpec::of(Action::Send)
        }
    };
    gathered.effect(spec, format!("the MCP server {server}"));
    gathered.unlisted("what a tool of an MCP server does is not known", Span::default());
    let action = if starts(LOOKS) { Action::Read } else { Action::Write };
    for (key, text) in texts {
        argument(&key.to_lowercase(), text, action, state, work, gathered);
    }
}

fn shared(undo: Undo) -> EffectSpec {
    EffectSpec {
        undo,
        reach: Reach::Shared,
        ..EffectSpec::of(Action::Send)
    }
}

/// A shell line, SQL, a URL or a path in an argument is judged as such.
fn argument(key: &str, text: &str, action: Action, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    if CODE.contains(&key) {
        let inner = bash::assess(text, state.cwd.as_deref(), work.facts);
        work.steps.extend(inner.steps);
        gathered.doubts.extend(inner.doubts);
    } else if let Some(undo) = sql(text) {
        gathered.effect(shared(undo), "a database");
    } else if text.contains("://") {
        super::web::fetch(text, state, work, gathered);
    } else if text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../") {
        roles::path(action, &files::word(text, work.facts), state, work, gathered);
    }
}

/// What SQL that changes something loses; `None` for text that is no such SQL. Any word of it counts, wherever it stands.
fn sql(text: &str) -> Option<Undo> {
    let upper = text.to_uppercase();
    let words: Vec<&str> = upper.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let has = |word: &str| words.contains(&word);
    let is_sql = [
        "SELECT", "FROM", "TABLE", "INTO", "SET", "DATABASE", "SCHEMA", "WHERE", "INDEX", "VIEW",
    ];
    if !is_sql.iter().any(|word| has(word)) {
        return None;
    }
    if has("DROP") || has("TRUNCATE") {
        Some(Undo::Forever)
    } else if [
        "DELETE", "UPDATE", "INSERT", "ALTER", "GRANT", "REVOKE", "MERGE", "REPLACE",
    ]
    .iter()
    .any(|word| has(word))
    {
        Some(Undo::Kept)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_that_destroys_is_worse_than_sql_that_changes_and_a_query_is_neither() {
        assert_eq!(sql("drop table users"), Some(Undo::Forever));
        assert_eq!(
            sql("with x as (delete from t returning *) select * from x"),
            Some(Undo::Kept)
        );
        assert_eq!(sql("select * from t"), None);
        assert_eq!(sql("please update the readme"), None);
    }
}
