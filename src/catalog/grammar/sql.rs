//! Reads SQL that is given to `sqlite3`, `psql` or `mysql` as a word, statement by statement.
//!
//! A plain read adds nothing to what its command does already. A change says how much goes with it. A function that is
//! not known to only compute, a quoting that the implementations read differently, a comment and a client's own command
//! are doubts; so is every statement that is not listed. A word that names destruction or a credential only ever raises.
//! Sources: the manuals of SQLite 3.40, PostgreSQL 15 and MySQL 8.0.

use catalog_spec::{Action, EffectSpec, Place, Reach, Undo};

use super::cursor::Cursor;
use super::{Reading, executes};

/// What holds the data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// A file, through the library of `sqlite3`.
    File,
    /// A server, on which others may depend.
    Server,
}

/// Functions that only compute, in every implementation that has them, and the pragmas that SQLite has as functions.
const FUNCTIONS: &str = "abs age any_value array_agg array_length avg bool_and bool_or btrim cast ceil ceiling char_length coalesce \
    concat concat_ws count cume_dist current_database current_schema curdate database date date_add date_format \
    date_part date_sub date_trunc datediff datetime day dense_rank exp extract first_value floor format from_unixtime glob greatest \
    group_concat hex hour if ifnull iif instr isnull json json_agg json_array json_array_length json_each json_extract json_group_array \
    json_group_object json_object json_type json_valid jsonb_agg jsonb_array_elements jsonb_array_length jsonb_build_object \
    jsonb_object_keys julianday lag last_value lead least left length like ln log lower lpad ltrim max md5 min minute mod month now \
    nth_value ntile nullif octet_length overlay percent_rank percentile_cont pg_database_size pg_relation_size pg_size_pretty \
    pg_total_relation_size position pow power pragma_foreign_key_list pragma_index_info pragma_index_list pragma_table_info printf \
    quarter quote random rank regexp_match regexp_replace repeat replace reverse right round row_number row_to_json rpad rtrim second \
    sign split_part sqlite_version sqrt strftime string_agg strpos substr substring substring_index sum time timestampdiff to_char \
    to_date to_json to_jsonb to_number to_timestamp total trim trunc typeof unicode unixepoch unnest upper version week year";

/// Words that may stand before a bracket without being a function.
const BEFORE_BRACKETS: &str = "all and any as between bigint bit by case char check decimal distinct else except exists filter float from \
    group having if in index int integer intersect into join key like limit materialized not numeric offset on or order over partition \
    primary references select set some table text then timestamp union unique using values varchar when where with";

/// Words that a read has in no place: they change data, move it in or out, or run something.
const CHANGES: &str = "alter analyse attach call comment copy create deallocate declare delete detach do drop dumpfile execute grant handler \
    import insert install into kill load lock merge notify outfile prepare refresh reindex rename reset revoke set truncate update \
    upsert vacuum";

/// Pragmas of SQLite that are asked without an argument, or with the name of a table or index.
const PRAGMAS: &str = "collation_list compile_options database_list encoding foreign_key_check foreign_key_list foreign_keys \
    freelist_count function_list index_info index_list index_xinfo integrity_check journal_mode module_list page_count page_size \
    pragma_list quick_check schema_version table_info table_list table_xinfo user_version";

/// Commands of the `sqlite3` shell that only look, or set how the rest is shown.
const DOTS: &str = "tables schema fullschema indexes indices databases dbinfo headers header mode width nullvalue timer help show version quit exit";

/// Tables of the `sqlite3` shell that hold what files hold. A condition may stand for their arguments, so no bracket tells them.
const FILES: &[&str] = &["fsdir", "zipfile"];

/// Names that hold what proves who somebody is.
const CREDENTIALS: &[&str] = &[
    "pg_authid",
    "pg_shadow",
    "pg_user_mapping",
    "authentication_string",
    "passwd",
    "password",
    "secret",
    "token",
    "api_key",
    "apikey",
    "credential",
    "private_key",
];

/// Statements and the rights that go with them which take away more than rows that are named.
const DESTROYS: &[&str] = &["drop", "truncate", "grant", "revoke", "shutdown"];

/// First words that the `mysql` client takes on a line for itself.
const CLIENT: &[&str] = &[
    "source",
    "system",
    "tee",
    "pager",
    "edit",
    "delimiter",
    "connect",
    "notee",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A keyword or plain name, in lower case; whether a bracket follows.
    Word(String, bool),
    /// A string or a quoted name.
    Quoted,
    /// Any other sign, and numbers.
    Sign(u8),
}

/// Reads a text of SQL, or a command of the client.
///
/// # Errors
/// Why it is not understood; what is known of it nevertheless is in the reading.
pub(super) fn read(text: &str, holder: Holder, reading: &mut Reading) -> Result<(), String> {
    raise(text, holder, reading);
    let text = text.trim();
    // The `mysql` client shows the answer in lines.
    let text = text
        .strip_suffix("\\G")
        .filter(|_| holder == Holder::Server)
        .unwrap_or(text);
    let command = match holder {
        Holder::File => text.strip_prefix('.'),
        Holder::Server => text.strip_prefix('\\'),
    };
    let outcome = match command {
        Some(command) => client(command, holder),
        None if holder == Holder::File && FILES.iter().any(|name| text.to_ascii_lowercase().contains(name)) => {
            Err("a table that reads files is not understood".to_owned())
        }
        None => tokens(text).and_then(|tokens| {
            let mut statements = tokens.split(|token| *token == Token::Sign(b';'));
            statements.try_for_each(|tokens| statement(tokens, holder, reading))
        }),
    };
    outcome.inspect_err(|_| executes(reading))
}

/// What the words of a text say even where it is not understood.
fn raise(text: &str, holder: Holder, reading: &mut Reading) {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    if words.any(|word| DESTROYS.contains(&word)) {
        changes(holder, Undo::Forever, reading);
    }
    if CREDENTIALS.iter().any(|name| lower.contains(name)) {
        reading.effects.push(EffectSpec {
            place: Place::Secret,
            ..EffectSpec::of(Action::Disclose)
        });
    }
}

/// A file loses what is taken from it; what others read from a server is gone for them too.
fn changes(holder: Holder, undo: Undo, reading: &mut Reading) {
    reading.effects.push(match holder {
        Holder::File => EffectSpec {
            place: Place::Project,
            undo: Undo::Lost,
            ..EffectSpec::of(Action::Write)
        },
        Holder::Server => EffectSpec {
            undo,
            reach: if undo == Undo::Forever {
                Reach::Shared
            } else {
                Reach::New
            },
            ..EffectSpec::of(Action::Send)
        },
    });
}

/// `.tables`, `\dt public.*`: a backquote, a bar or a slash in it would reach out.
fn client(command: &str, holder: Holder) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.*?%+ ".contains(c);
    let name = command.split(' ').next().unwrap_or_default();
    let listed = match holder {
        Holder::File => has(DOTS, name),
        Holder::Server => {
            let letters = name.trim_end_matches(['S', '+']);
            letters.starts_with('d') && letters.bytes().all(|b| b.is_ascii_lowercase()) && letters.len() <= 3
                || matches!(letters, "l" | "conninfo" | "x")
        }
    };
    if listed && command.chars().all(plain) {
        Ok(())
    } else {
        Err(format!(
            "`{command}` is no command of the client that is known to only look"
        ))
    }
}

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut cursor = Cursor::new(text);
    let mut tokens = Vec::new();
    let mut line_begins = true;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\n' => line_begins = true,
            b' ' | b'\t' | b'\r' => {}
            b'\'' | b'"' | b'`' => {
                quoted(&mut cursor, byte)?;
                tokens.push(Token::Quoted);
                line_begins = false;
                continue;
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                let word = cursor.word().to_ascii_lowercase();
                if line_begins && CLIENT.contains(&word.as_str()) {
                    return Err(format!("`{word}` may be a command of the client"));
                }
                let called = text[cursor.at..].trim_start().starts_with('(');
                tokens.push(Token::Word(word, called));
                line_begins = false;
                continue;
            }
            b'-' if text[cursor.at..].starts_with("--") => return Err("a comment in SQL is not understood".to_owned()),
            b'/' if text[cursor.at..].starts_with("/*") => return Err("a comment in SQL is not understood".to_owned()),
            b'#' | b'\\' | b'$' | b'[' | b'@' => {
                return Err(format!("`{}` in SQL means different things", char::from(byte)));
            }
            _ if byte.is_ascii() => {
                tokens.push(Token::Sign(byte));
                line_begins = false;
            }
            _ => return Err("SQL outside ASCII is not understood".to_owned()),
        }
        cursor.next();
    }
    Ok(tokens)
}

/// A quote is doubled inside; a backslash escapes it in some implementations, and in some it does not.
fn quoted(cursor: &mut Cursor<'_>, quote: u8) -> Result<(), String> {
    cursor.next();
    while let Some(byte) = cursor.next() {
        match byte {
            b'\\' => return Err("a backslash in quoted SQL means different things".to_owned()),
            _ if byte == quote && !cursor.eat(quote) => return Ok(()),
            _ => {}
        }
    }
    Err("a quote in SQL is not closed".to_owned())
}

/// One statement; an empty one does nothing.
fn statement(tokens: &[Token], holder: Holder, reading: &mut Reading) -> Result<(), String> {
    let Some(first) = tokens.first() else { return Ok(()) };
    let words: Vec<&str> = tokens.iter().filter_map(word).collect();
    functions(tokens)?;
    let Token::Word(verb, _) = first else {
        return Err("this SQL does not begin with a word".to_owned());
    };
    match (verb.as_str(), holder) {
        ("select" | "with" | "values" | "explain" | "table", _) | ("describe" | "desc", Holder::Server) => {
            only_reads(&words)
        }
        ("show", Holder::Server) => shows(&words),
        ("pragma", Holder::File) => pragma(tokens),
        ("begin" | "commit" | "rollback" | "end", _) if words.len() <= 2 => Ok(()),
        ("insert" | "update" | "delete" | "create", _) => {
            let everything = matches!(verb.as_str(), "update" | "delete") && !words.contains(&"where");
            let undo = if everything { Undo::Forever } else { Undo::Lost };
            changes(holder, undo, reading);
            contained(&words)
        }
        ("drop" | "truncate" | "alter" | "grant" | "revoke", _) => {
            changes(holder, Undo::Forever, reading);
            Ok(())
        }
        _ => Err(format!("`{verb}` is no statement of SQL that is understood")),
    }
}

fn word(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word, _) => Some(word),
        Token::Quoted | Token::Sign(_) => None,
    }
}

/// Every function that is called is one that only computes; a quoted name could be any.
fn functions(tokens: &[Token]) -> Result<(), String> {
    let words: Vec<&str> = tokens.iter().take(4).filter_map(word).collect();
    // The name of a table, which its columns follow in brackets.
    let names_table = |before: Option<&str>| match before {
        Some("into") => words.first() == Some(&"insert"),
        Some("table" | "exists") => words.first() == Some(&"create"),
        Some("on") => words.first() == Some(&"create") && words.contains(&"index"),
        _ => false,
    };
    let mut before = None;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            _ if names_table(before) => {}
            Token::Word(word, true) if !has(FUNCTIONS, word) && !has(BEFORE_BRACKETS, word) && !has(PRAGMAS, word) => {
                return Err(format!("`{word}(..)` is no function that is known to only compute"));
            }
            Token::Quoted if tokens.get(at + 1) == Some(&Token::Sign(b'(')) => {
                return Err("a function with a quoted name is not understood".to_owned());
            }
            Token::Word(..) | Token::Quoted | Token::Sign(_) => {}
        }
        before = word(token);
    }
    Ok(())
}

/// A read holds no word that changes something: `WITH x AS (DELETE ..)`, `SELECT .. INTO`, `EXPLAIN ANALYZE UPDATE`.
fn only_reads(words: &[&str]) -> Result<(), String> {
    match words.iter().find(|word| has(CHANGES, word)) {
        Some(word) => Err(format!("`{word}` stands in what else only reads")),
        None => Ok(()),
    }
}

/// A change of rows, or a new table, does nothing beyond it: no file, no other statement, no code that is kept.
fn contained(words: &[&str]) -> Result<(), String> {
    const MADE: &str = "table index unique temp temporary view schema database";
    match words {
        ["create", made, ..] if !has(MADE, made) => return Err(format!("what `create {made}` makes is not followed")),
        _ => {}
    }
    let own = |word: &&&str| !matches!(**word, "into" | "set" | "update" | "delete" | "do");
    match words[1..].iter().filter(own).find(|word| has(CHANGES, word)) {
        Some(word) => Err(format!("`{word}` stands in a statement that changes something else")),
        None => Ok(()),
    }
}

/// `SHOW TABLES`, `SHOW server_version`, `SHOW CREATE TABLE x`; what users may do holds hashes of passwords.
fn shows(words: &[&str]) -> Result<(), String> {
    if words.iter().any(|word| matches!(*word, "grants" | "user")) {
        return Err("what users may do is not understood".to_owned());
    }
    match words {
        [_, "create", "table" | "view" | "database", rest @ ..] => only_reads(rest),
        _ => only_reads(&words[1.min(words.len())..]),
    }
}

/// `PRAGMA name` and `PRAGMA name(table)`; with another argument or `=` it sets something.
fn pragma(tokens: &[Token]) -> Result<(), String> {
    match &tokens[1.min(tokens.len())..] {
        [Token::Word(name, false)] if has(PRAGMAS, name) => Ok(()),
        [
            Token::Word(name, true),
            Token::Sign(b'('),
            Token::Word(..) | Token::Quoted,
            Token::Sign(b')'),
        ] if has(
            "table_info table_xinfo index_list index_info index_xinfo foreign_key_list foreign_key_check",
            name,
        ) =>
        {
            Ok(())
        }
        _ => Err("this pragma is not one that is known to only look".to_owned()),
    }
}
