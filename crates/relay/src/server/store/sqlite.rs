//! SQLite in a file: what a relay on one machine needs.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use countersign::own_files;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use tokio::sync::oneshot;

use super::{Cell, Sql};

/// The most statements that are committed together.
const MOST_TOGETHER: usize = 256;
/// How large the write-ahead log stays when it is written anew, in bytes.
const LOG_KEPT: i64 = 4 * 1024 * 1024;

/// One connection on a thread of its own. Statements that wait for it are committed together, so that many of them wait
/// for the disk once; each is still a change of its own that happens or does not.
#[derive(Clone, Debug)]
pub struct Sqlite(Sender<Job>);

#[derive(Debug)]
struct Job {
    statement: String,
    parameters: Vec<Cell>,
    answer: oneshot::Sender<Result<Rows>>,
}

type Rows = Vec<Vec<Cell>>;

impl Sqlite {
    /// Opens the file, and makes it if it is not there. What was committed survives the end of the process and of the
    /// machine.
    ///
    /// # Errors
    /// It cannot be opened, or is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        // SQLite gives the files beside it the mode of this one.
        own_files::open_private(path, OpenOptions::new().write(true).create(true))?;
        let connection = sound(path).with_context(|| {
            format!(
                "{path} cannot be used. If it is damaged, move {path}, {path}-wal and {path}-shm elsewhere and start again: \
                 what waits then is left to Claude Code's own dialogs, and nothing else is lost",
                path = path.display()
            )
        })?;
        let (jobs, queue) = channel();
        std::thread::Builder::new()
            .name("sqlite".into())
            .spawn(move || work(&connection, &queue))?;
        Ok(Sqlite(jobs))
    }
}

fn sound(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "journal_size_limit", LOG_KEPT)?;
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(connection),
        damage => bail!("{damage}"),
    }
}

impl Sql for Sqlite {
    async fn rows(&self, statement: &str, parameters: Vec<Cell>) -> Result<Rows> {
        let (answer, answered) = oneshot::channel();
        let job = Job {
            statement: statement.to_owned(),
            parameters,
            answer,
        };
        let gone = "the thread of the database has ended";
        self.0.send(job).map_err(|_| anyhow!(gone))?;
        answered.await.context(gone)?
    }
}

/// Executes what comes until nobody is left who could send more.
fn work(connection: &Connection, queue: &Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        let rest = std::iter::from_fn(|| queue.try_recv().ok());
        let jobs: Vec<Job> = std::iter::once(first).chain(rest.take(MOST_TOGETHER - 1)).collect();
        let done = together(connection, &jobs);
        if done.is_err() && !connection.is_autocommit() {
            // What is not committed counts for nothing; where even this fails, the next beginning says so.
            let _ = connection.execute_batch("ROLLBACK");
        }
        let answers: Vec<Result<Rows>> = match done {
            Ok(answers) => answers,
            Err(error) => jobs.iter().map(|_| Err(anyhow!("{error:#}"))).collect(),
        };
        for (job, answer) in jobs.into_iter().zip(answers) {
            // Whoever asked may have gone.
            let _ = job.answer.send(answer);
        }
    }
}

/// The answers of all, once they are on the disk.
fn together(connection: &Connection, jobs: &[Job]) -> Result<Vec<Result<Rows>>> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let answers = jobs.iter().map(|job| {
        let answer = execute(connection, job);
        match connection.is_autocommit() {
            // An error of the disk has taken back the others' changes as well.
            true => Err(answer
                .err()
                .unwrap_or_else(|| anyhow!("the database has taken the changes back"))),
            false => Ok(answer),
        }
    });
    let answers = answers.collect::<Result<Vec<_>>>()?;
    connection.execute_batch("COMMIT")?;
    Ok(answers)
}

fn execute(connection: &Connection, job: &Job) -> Result<Rows> {
    let mut statement = connection.prepare_cached(&job.statement)?;
    let columns = statement.column_count();
    let parameters = job.parameters.iter().map(|cell| match cell {
        Cell::Null => Value::Null,
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Whole(whole) => Value::Integer(*whole),
    });
    let mut found = statement.query(params_from_iter(parameters))?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let cells = (0..columns).map(|column| match row.get_ref(column)? {
            ValueRef::Integer(whole) => Ok(Cell::Whole(whole)),
            ValueRef::Text(text) => Ok(Cell::Text(String::from_utf8_lossy(text).into_owned())),
            _ => Ok(Cell::Null),
        });
        rows.push(cells.collect::<Result<Vec<Cell>>>()?);
    }
    Ok(rows)
}
