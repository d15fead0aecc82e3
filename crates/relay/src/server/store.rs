//! Requests as they are kept: every change is one statement that compares and sets, so that of two answers one wins.
//!
//! The statements are the same on SQLite and PostgreSQL; [`sqlite`] and [`postgres`] only execute them. Time is given by
//! the caller, in milliseconds since 1970 by the relay's clock; a clock that jumps can only end a request early or leave
//! it pending for a while, for the machine that asks keeps time by its own.

pub mod postgres;
pub mod sqlite;
#[cfg(test)]
mod tests;

use std::future::Future;

use anyhow::{Context, Result, bail};
use countersign_protocol::{Outcome, Request, SignedCard, SignedVerdict, Status, Why};

/// The tables, made if they are not there.
pub const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS request (
  id TEXT PRIMARY KEY,
  machine TEXT NOT NULL,
  idempotency TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL,
  revision BIGINT NOT NULL,
  card TEXT NOT NULL,
  verdict TEXT,
  why TEXT,
  outcome TEXT,
  consume_key TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS request_idempotency ON request (machine, idempotency);
CREATE INDEX IF NOT EXISTS request_status ON request (status, expires_at);
CREATE INDEX IF NOT EXISTS request_pending ON request (machine, status);
";

/// The column that the tables of an earlier version lack. SQLite knows no `ADD COLUMN IF NOT EXISTS`.
const ADDED: &str = "ALTER TABLE request ADD COLUMN consume_key TEXT";
const IS_ADDED: &str = "SELECT consume_key FROM request LIMIT 0";

const COLUMNS: &str =
    "id, status, revision, card, verdict, why, outcome, machine, body, idempotency, created_at, expires_at, seen_at";

/// The most pending requests of one machine.
const MOST_PENDING: i64 = 200;
/// A machine that has asked for nothing this long has ended, in milliseconds: two polls of 25 seconds, and what a network
/// takes.
pub const ORPHANED: i64 = 60_000;
/// How far the clocks of relays on one database may be apart, in milliseconds.
const APART: i64 = 5_000;

/// A value in a statement or a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Text(String),
    Whole(i64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<i64> for Cell {
    fn from(whole: i64) -> Self {
        Cell::Whole(whole)
    }
}

/// A database that executes one statement after another.
pub trait Sql: Send + Sync {
    /// Several relays may use it at once: the time of day is what they have in common.
    const IS_SHARED: bool = false;

    /// The rows that a statement gives, once its changes are kept. Its parameters are `$1`, `$2` .., first used in that
    /// order.
    fn rows(&self, statement: &str, parameters: Vec<Cell>) -> impl Future<Output = Result<Vec<Vec<Cell>>>> + Send;

    /// Tells the other relays on the database that these requests have changed.
    fn tell(&self, _ids: &[String]) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }

    /// Hands on, for ever, which requests other relays have changed; `None` where some of it may have been missed.
    fn hear(&self, _heard: impl Fn(Option<&str>) + Send + Sync) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
}

/// What came of a request that was put.
#[derive(Debug)]
pub enum Put {
    Created(Request),
    /// The same key and the same body as before.
    Replayed(Request),
    /// The same key or id, and another body.
    Conflict,
    /// The machine has too many pending ones.
    Full,
}

/// What came of a change.
#[derive(Debug)]
pub enum Changed {
    /// It is done, so many milliseconds after the request was put.
    Done(Request, i64),
    /// The same, and whoever asks has done it before.
    Again(Request, i64),
    /// It stands otherwise, and stays so.
    Not(Request),
    /// There is no such request, or it is another machine's.
    Unknown,
}

/// A request to be kept.
#[derive(Debug)]
pub struct New<'a> {
    pub machine: &'a str,
    pub idempotency: &'a str,
    /// The SHA-256 of the body as it came.
    pub body: &'a str,
    pub card: &'a SignedCard,
}

/// The requests in a database.
#[derive(Debug)]
pub struct Store<S> {
    sql: S,
}

impl<S: Sql> Store<S> {
    /// # Errors
    /// The tables cannot be made.
    pub async fn open(sql: S) -> Result<Self> {
        for statement in SCHEMA
            .split(';')
            .map(str::trim)
            .filter(|statement| !statement.is_empty())
        {
            sql.rows(statement, Vec::new())
                .await
                .context("the relay's tables cannot be made")?;
        }
        if sql.rows(IS_ADDED, Vec::new()).await.is_err() {
            let added = sql.rows(ADDED, Vec::new()).await;
            // Another relay on the database may have been quicker.
            if sql.rows(IS_ADDED, Vec::new()).await.is_err() {
                added.context("the relay's tables cannot be brought to this version")?;
            }
        }
        Ok(Store { sql })
    }

    /// The database beneath, which carries word between relays.
    pub fn sql(&self) -> &S {
        &self.sql
    }

    /// Whether something can be kept at present.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn is_writable(&self) -> Result<()> {
        let statement = "UPDATE request SET revision = revision WHERE id = ''";
        self.sql.rows(statement, Vec::new()).await.map(|_| ())
    }

    /// Keeps a new request, unless one with its key is there.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn put(&self, new: &New<'_>, now: i64) -> Result<Put> {
        let card = &new.card.card;
        let expires = now.saturating_add(i64::try_from(card.lives_for).unwrap_or(i64::MAX));
        let statement = format!(
            "INSERT INTO request (id, machine, idempotency, body, status, revision, card, created_at, expires_at, seen_at)
             SELECT $1, $2, $3, $4, 'pending', 1, $5, CAST($6 AS BIGINT), CAST($7 AS BIGINT), CAST($6 AS BIGINT)
             WHERE (SELECT COUNT(*) FROM request WHERE machine = $2 AND status = 'pending' AND expires_at > $6) < CAST($8 AS BIGINT)
             ON CONFLICT DO NOTHING RETURNING {COLUMNS}"
        );
        let parameters = vec![
            card.id.as_str().into(),
            new.machine.into(),
            new.idempotency.into(),
            new.body.into(),
            serde_json::to_string(new.card)?.as_str().into(),
            now.into(),
            expires.into(),
            MOST_PENDING.into(),
        ];
        if let Some(row) = self.sql.rows(&statement, parameters).await?.first() {
            return Ok(Put::Created(read(row, now)?));
        }
        let statement = format!("SELECT {COLUMNS} FROM request WHERE machine = $1 AND idempotency = $2 OR id = $3");
        let parameters = vec![new.machine.into(), new.idempotency.into(), card.id.as_str().into()];
        let rows = self.sql.rows(&statement, parameters).await?;
        match rows.as_slice() {
            [] => Ok(Put::Full),
            [row] if row[7..10] == [new.machine.into(), new.body.into(), new.idempotency.into()] => {
                Ok(Put::Replayed(read(row, now)?))
            }
            _ => Ok(Put::Conflict),
        }
    }

    /// A request of this machine, as it is now; that its machine asks is noted.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn poll(&self, id: &str, machine: &str, now: i64) -> Result<Option<Request>> {
        let statement = format!("UPDATE request SET seen_at = $1 WHERE id = $2 AND machine = $3 RETURNING {COLUMNS}");
        let rows = self
            .sql
            .rows(&statement, vec![now.into(), id.into(), machine.into()])
            .await?;
        rows.first().map(|row| read(row, now)).transpose()
    }

    /// Any machine's request, as it is now.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn get(&self, id: &str, now: i64) -> Result<Option<Request>> {
        let statement = format!("SELECT {COLUMNS} FROM request WHERE id = $1");
        let rows = self.sql.rows(&statement, vec![id.into()]).await?;
        rows.first().map(|row| read(row, now)).transpose()
    }

    /// Every request that waits, the oldest first.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn pending(&self, now: i64) -> Result<Vec<Request>> {
        let statement = format!(
            "SELECT {COLUMNS} FROM request WHERE status = 'pending' AND expires_at > $1 AND seen_at >= $2
             ORDER BY created_at, id"
        );
        let rows = self
            .sql
            .rows(&statement, vec![now.into(), (now - ORPHANED).into()])
            .await?;
        rows.iter().map(|row| read(row, now)).collect()
    }

    /// How many requests wait.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn waiting(&self) -> Result<u64> {
        let statement = "SELECT COUNT(*) FROM request WHERE status = 'pending'";
        match self.sql.rows(statement, Vec::new()).await?.first().map(Vec::as_slice) {
            Some([Cell::Whole(count)]) => Ok(u64::try_from(*count)?),
            other => bail!("{other:?} is no count"),
        }
    }

    /// Whether nothing waits, for an answer or for its machine to take that.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn is_idle(&self) -> Result<bool> {
        let statement = "SELECT id FROM request WHERE status IN ('pending', 'decided') LIMIT 1";
        Ok(self.sql.rows(statement, Vec::new()).await?.is_empty())
    }

    /// Takes an approver's verdict, if the request still waits and its machine still asks.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn decide(&self, id: &str, verdict: &SignedVerdict, now: i64) -> Result<Changed> {
        let statement = format!(
            "UPDATE request SET status = 'decided', verdict = $1, revision = revision + 1
             WHERE id = $2 AND status = 'pending' AND expires_at > $3 AND seen_at >= $4 RETURNING {COLUMNS}"
        );
        let verdict = serde_json::to_string(verdict)?;
        let parameters = vec![verdict.as_str().into(), id.into(), now.into(), (now - ORPHANED).into()];
        self.changed(&statement, parameters, id, None, now).await
    }

    /// Gives the verdict to the machine that asked, once; and again, until its time has passed, to whoever has the key
    /// that it was given with. The key is the SHA-256 of what was sent.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn consume(&self, id: &str, machine: &str, key: Option<&str>, now: i64) -> Result<Changed> {
        let key = key.map_or(Cell::Null, Cell::from);
        let statement = format!(
            "UPDATE request SET status = 'consumed', consume_key = $1, revision = revision + 1
             WHERE id = $2 AND machine = $3 AND status = 'decided' AND expires_at > $4 RETURNING {COLUMNS}"
        );
        let parameters = vec![key.clone(), id.into(), machine.into(), now.into()];
        let changed = self.changed(&statement, parameters, id, Some(machine), now).await?;
        if !matches!(changed, Changed::Not(_)) {
            return Ok(changed);
        }
        // NULL equals nothing: without a key it is given to nobody again.
        let statement = format!(
            "SELECT {COLUMNS} FROM request
             WHERE consume_key = $1 AND id = $2 AND machine = $3 AND status = 'consumed' AND expires_at > $4"
        );
        let parameters = vec![key, id.into(), machine.into(), now.into()];
        match self.sql.rows(&statement, parameters).await?.first() {
            Some(row) => Ok(Changed::Again(read(row, now)?, now - whole(&row[10])?)),
            None => Ok(changed),
        }
    }

    /// Takes the question back, if it still waits or nobody took its answer.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn withdraw(&self, id: &str, machine: &str, why: Why, now: i64) -> Result<Changed> {
        let statement = format!(
            "UPDATE request SET status = 'withdrawn', why = $1, revision = revision + 1
             WHERE id = $2 AND machine = $3 AND status IN ('pending', 'decided') RETURNING {COLUMNS}"
        );
        let parameters = vec![word(&why)?.as_str().into(), id.into(), machine.into()];
        self.changed(&statement, parameters, id, Some(machine), now).await
    }

    /// Notes what became of the call.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn note(&self, id: &str, machine: &str, outcome: Outcome, now: i64) -> Result<Changed> {
        let statement = format!(
            "UPDATE request SET outcome = $1, revision = revision + 1
             WHERE id = $2 AND machine = $3 AND outcome IS NULL AND status <> 'pending' RETURNING {COLUMNS}"
        );
        let parameters = vec![word(&outcome)?.as_str().into(), id.into(), machine.into()];
        self.changed(&statement, parameters, id, Some(machine), now).await
    }

    /// Where a machine has asked about a request at a time that is yet to come, the clock was set back since: the times
    /// of the request go back with it, so that it lives no longer by that.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn set_back(&self, now: i64) -> Result<()> {
        let statement = "UPDATE request SET created_at = created_at - (seen_at - $1),
             expires_at = expires_at - (seen_at - $1), seen_at = $1 WHERE seen_at > $2 RETURNING id";
        let parameters = vec![now.into(), (now + APART).into()];
        self.sql.rows(statement, parameters).await.map(drop)
    }

    /// Withdraws what no machine asks about any more: its session has ended.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn orphan(&self, now: i64) -> Result<Vec<String>> {
        let statement = "UPDATE request SET status = 'withdrawn', why = 'session_ended', revision = revision + 1
             WHERE status = 'pending' AND seen_at < $1 RETURNING id";
        self.ids(statement, now - ORPHANED).await
    }

    /// Forgets what has ended and was made before then.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn forget(&self, made_before: i64) -> Result<Vec<String>> {
        let statement =
            "DELETE FROM request WHERE status NOT IN ('pending', 'decided') AND created_at < $1 RETURNING id";
        self.ids(statement, made_before).await
    }

    /// Ends what has lived its time.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn expire(&self, now: i64) -> Result<Vec<String>> {
        let statement = "UPDATE request SET status = 'expired', revision = revision + 1
             WHERE status IN ('pending', 'decided') AND expires_at <= $1 RETURNING id";
        self.ids(statement, now).await
    }

    async fn ids(&self, statement: &str, time: i64) -> Result<Vec<String>> {
        let rows = self.sql.rows(statement, vec![time.into()]).await?;
        rows.iter().map(|row| text(&row[0])).collect()
    }

    /// The request after a change, or how it stands where the change did not fit.
    async fn changed(
        &self,
        statement: &str,
        parameters: Vec<Cell>,
        id: &str,
        machine: Option<&str>,
        now: i64,
    ) -> Result<Changed> {
        if let Some(row) = self.sql.rows(statement, parameters).await?.first() {
            return Ok(Changed::Done(read(row, now)?, now - whole(&row[10])?));
        }
        let statement = format!("SELECT {COLUMNS} FROM request WHERE id = $1");
        let rows = self.sql.rows(&statement, vec![id.into()]).await?;
        match rows.first() {
            Some(row) if machine.is_none_or(|machine| row[7] == machine.into()) => Ok(Changed::Not(read(row, now)?)),
            _ => Ok(Changed::Unknown),
        }
    }
}

/// The request of a row; what has ended by its times has, whether or not that is written down yet.
fn read(row: &[Cell], now: i64) -> Result<Request> {
    let [
        id,
        status,
        revision,
        card,
        verdict,
        why,
        outcome,
        _,
        _,
        _,
        _,
        expires,
        seen,
    ] = row
    else {
        bail!("a row of the relay's table is too short");
    };
    let mut request = Request {
        id: text(id)?,
        status: named::<Status>(status)?.context("a request has no status")?,
        revision: u64::try_from(whole(revision)?)?,
        card: serde_json::from_str(&text(card)?)?,
        verdict: match verdict {
            Cell::Text(verdict) => Some(serde_json::from_str(verdict)?),
            _ => None,
        },
        why: named(why)?,
        outcome: named(outcome)?,
    };
    match request.status {
        Status::Pending | Status::Decided if whole(expires)? <= now => request.status = Status::Expired,
        Status::Pending if whole(seen)? < now - ORPHANED => {
            (request.status, request.why) = (Status::Withdrawn, Some(Why::SessionEnded));
        }
        _ => {}
    }
    Ok(request)
}

fn whole(cell: &Cell) -> Result<i64> {
    match cell {
        Cell::Whole(whole) => Ok(*whole),
        other => bail!("{other:?} is no number"),
    }
}

fn text(cell: &Cell) -> Result<String> {
    match cell {
        Cell::Text(text) => Ok(text.clone()),
        other => bail!("{other:?} is no text"),
    }
}

/// A word of the protocol.
fn named<T: serde::de::DeserializeOwned>(cell: &Cell) -> Result<Option<T>> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Text(word) => Ok(Some(serde_json::from_value(word.as_str().into())?)),
        Cell::Whole(number) => bail!("{number} is no word"),
    }
}

fn word(value: &impl serde::Serialize) -> Result<String> {
    match serde_json::to_value(value)? {
        serde_json::Value::String(word) => Ok(word),
        other => bail!("{other} is no word"),
    }
}
