//! SQL for servers and for files.

use super::*;
use crate::effect::{Action, Undo};

/// Statements that look, in both dialects.
const READS: &[&str] = &[
    "SELECT 1",
    "select * from users where id = 3 limit 5;",
    "SELECT count(*), max(created_at) FROM \"orders\" o JOIN items i ON i.order_id = o.id GROUP BY 1 ORDER BY 2 DESC",
    "SELECT name FROM t WHERE note = 'it''s; here' AND n IN (1, 2)",
    "WITH x AS (SELECT a FROM t) SELECT coalesce(a, 0) FROM x",
    "EXPLAIN SELECT a FROM t",
    "SELECT a\nFROM t\nWHERE b > 1.5e3",
    "BEGIN; SELECT 1; COMMIT",
    "",
];

/// What is no single plain read of the data, in both dialects.
const REFUSED: &[&str] = &[
    "SELECT load_extension('x')",
    "SELECT writefile('x', 'y')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_catalog.pg_read_file('x')",
    "SELECT \"pg_read_file\"('x')",
    "SELECT \"pg_read_file\" ('x')",
    "SELECT U&\"pg_read_file\"('x')",
    "SELECT 1 FROM a JOIN b ON pg_read_file('x') = ''",
    "SELECT LOAD_FILE('/etc/passwd')",
    "SELECT * FROM dblink('host=evil', 'select 1')",
    "SELECT a INTO OUTFILE '/tmp/x' FROM t",
    "SELECT a FROM t INTO DUMPFILE 'x'",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "EXPLAIN ANALYZE DELETE FROM t",
    "COPY t TO PROGRAM 'sh'",
    "COPY (SELECT 1) TO '/tmp/x'",
    "ATTACH 'x' AS y",
    "VACUUM INTO 'x'",
    "CALL f()",
    "DO $$ BEGIN END $$",
    "SET x = 1",
    "GRANT",
    "SELECT 1 /*! , load_file('x') */",
    "SELECT 1 -- x",
    "SELECT 'a\\' || load_file('x') || 'b'",
    "SELECT 'open",
    "SELECT $$x$$",
    "SELECT 1\nsystem id",
    "\u{0440}elect 1",
    "(SELECT 1)",
    "SELECT 1; \\! id",
    "CREATE FUNCTION f() RETURNS int",
    "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE TABLE a AS SELECT writefile('x', 'y')",
    "INSERT INTO t SELECT readfile('x')",
];

fn doubted(role: Role, code: &str) {
    let reading = program(role, code);
    let runs = reading.effects.iter().any(|effect| effect.action == Action::Execute);
    assert!(
        !reading.doubts.is_empty() && runs || code == "GRANT",
        "{code}: {reading:?}"
    );
}

/// How much a text takes away: the losses of its effects.
fn losses(role: Role, code: &str) -> Vec<(Action, Undo)> {
    let reading = program(role, code);
    assert!(reading.doubts.is_empty(), "{code}: {reading:?}");
    reading
        .effects
        .iter()
        .map(|effect| (effect.action, effect.undo))
        .collect()
}

#[test]
fn plain_reads_do_nothing() {
    all_harmless(Role::Sql, READS);
    all_harmless(Role::Sqlite, READS);
    all_harmless(
        Role::Sql,
        &[
            "SHOW TABLES",
            "SHOW CREATE TABLE t",
            "SELECT a FROM t\\G",
            "DESCRIBE t",
            "\\dt",
            "\\d+ public.*",
            "\\l",
        ],
    );
    all_harmless(
        Role::Sqlite,
        &[
            ".tables",
            ".schema users",
            ".mode csv",
            "PRAGMA table_info(users)",
            "PRAGMA table_info('users');",
            "PRAGMA user_version",
        ],
    );
}

#[test]
fn what_is_no_plain_read_is_doubted_and_counts_as_code() {
    for code in REFUSED {
        doubted(Role::Sql, code);
        doubted(Role::Sqlite, code);
    }
    for code in [
        "\\! id",
        "\\copy t to x",
        "\\i x",
        "\\d `id`",
        "\\o |sh",
        "\\g",
        "SHOW GRANTS",
        "PRAGMA user_version",
    ] {
        doubted(Role::Sql, code);
    }
    for code in [
        ".shell id",
        ".system id",
        ".import '|id' t",
        ".output x",
        ".once |sh",
        ".read x",
        ".load x",
        ".tables `x`",
        "select data from fsdir where path = 'x'",
        "select * from \"FsDir\"",
        "select * from zipfile where file = 'x'",
        "PRAGMA user_version = 5",
        "PRAGMA journal_mode(wal)",
        "PRAGMA writable_schema(1)",
        "SHOW TABLES",
    ] {
        doubted(Role::Sqlite, code);
    }
}

#[test]
fn a_change_says_how_much_goes() {
    let lost = [(Action::Send, Undo::Lost)];
    for code in [
        "INSERT INTO t (a) VALUES (1)",
        "UPDATE t SET a = 1 WHERE b = 2",
        "DELETE FROM t WHERE a = 1",
        "CREATE TABLE t (a int)",
    ] {
        assert_eq!(losses(Role::Sql, code), lost, "{code}");
        assert_eq!(losses(Role::Sqlite, code), [(Action::Write, Undo::Lost)], "{code}");
    }
    for code in [
        "DELETE FROM t",
        "UPDATE t SET a = 1",
        "DROP TABLE t",
        "TRUNCATE t",
        "select 1; drop table t",
    ] {
        assert!(
            losses(Role::Sql, code).contains(&(Action::Send, Undo::Forever)),
            "{code}"
        );
        assert!(
            losses(Role::Sqlite, code).contains(&(Action::Write, Undo::Lost)),
            "{code}"
        );
    }
}

#[test]
fn a_word_that_names_destruction_or_a_credential_raises_even_where_the_rest_is_not_understood() {
    let destroyed = |effect: &crate::effect::EffectSpec| effect.undo == Undo::Forever;
    assert!(
        program(Role::Sql, "DO $$ DROP TABLE t $$")
            .effects
            .iter()
            .any(destroyed)
    );
    for code in ["SELECT password_hash FROM users", "SELECT * FROM pg_shadow"] {
        assert!(
            losses(Role::Sql, code).contains(&(Action::Disclose, Undo::Nothing)),
            "{code}"
        );
    }
}
