//! PostgreSQL, for several relays on one database.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::timeout;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, NoTls, Row, Statement};

use super::{Cell, Sql};

/// How many statements run at once; each connection waits for its own commit.
const CONNECTIONS: usize = 8;
/// The longest that a connection or a statement may take.
const PATIENCE: Duration = Duration::from_secs(5);
const BEFORE_ANOTHER_TRY: Duration = Duration::from_secs(1);
/// Where relays tell each other which requests have changed.
const CHANNEL: &str = "countersign_relay";

/// A few connections, each made when it is needed and made again after it has ended.
pub struct Postgres {
    address: String,
    /// What this relay puts before what it tells, to know its own words again.
    own: String,
    connections: Vec<Mutex<Option<Connected>>>,
    next: AtomicUsize,
}

struct Connected {
    client: Client,
    prepared: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects by a connection string, as `host=/run/postgresql dbname=relay`.
    ///
    /// # Errors
    /// Nobody answers there, or refuses.
    pub async fn connect(address: &str) -> Result<Self> {
        let random = countersign_protocol::keys::random_hex::<8>();
        let postgres = Postgres {
            address: address.to_owned(),
            own: random.map_err(|why| anyhow::anyhow!(why))?,
            connections: (0..CONNECTIONS).map(|_| Mutex::default()).collect(),
            next: AtomicUsize::new(0),
        };
        postgres.rows("SELECT 1", Vec::new()).await?;
        Ok(postgres)
    }

    /// A connection that nobody else uses meanwhile.
    async fn free(&self) -> MutexGuard<'_, Option<Connected>> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let mut from_start = (0..CONNECTIONS).map(|at| &self.connections[(start + at) % CONNECTIONS]);
        match from_start.find_map(|connection| connection.try_lock().ok()) {
            Some(free) => free,
            None => self.connections[start % CONNECTIONS].lock().await,
        }
    }

    async fn connected(&self) -> Result<Connected> {
        let connecting = timeout(PATIENCE, tokio_postgres::connect(&self.address, NoTls)).await;
        let (client, connection) = connecting
            .context("PostgreSQL does not answer")?
            .context("PostgreSQL cannot be reached")?;
        tokio::spawn(async move {
            // Whoever uses the connection next is told of its end.
            let _ = connection.await;
        });
        Ok(Connected {
            client,
            prepared: HashMap::new(),
        })
    }

    /// Listens on one connection until it ends.
    async fn listen(&self, heard: &(impl Fn(Option<&str>) + Send + Sync)) -> Result<()> {
        let (client, mut connection) = tokio_postgres::connect(&self.address, NoTls).await?;
        let messages = async {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(told) = message?
                    && let Some((by, ids)) = told.payload().split_once(' ')
                    && by != self.own
                {
                    ids.split(' ').for_each(|id| heard(Some(id)));
                }
            }
            bail!("the connection has ended")
        };
        let listening = async {
            client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
            // Whatever was told while nobody listened.
            heard(None);
            std::future::pending().await
        };
        tokio::select! {
            ended = messages => ended,
            failed = listening => failed,
        }
    }
}

impl Connected {
    async fn rows(&mut self, statement: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        if !self.prepared.contains_key(statement) {
            let prepared = self.client.prepare(statement).await?;
            self.prepared.insert(statement.to_owned(), prepared);
        }
        Ok(self.client.query(&self.prepared[statement], parameters).await?)
    }
}

impl Sql for Postgres {
    const IS_SHARED: bool = true;

    async fn rows(&self, statement: &str, parameters: Vec<Cell>) -> Result<Vec<Vec<Cell>>> {
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters
            .iter()
            .map(|cell| match cell {
                Cell::Null => &None::<String> as &(dyn ToSql + Sync),
                Cell::Text(text) => text,
                Cell::Whole(whole) => whole,
            })
            .collect();
        let mut slot = self.free().await;
        // Taken out meanwhile, so that a connection of unknown state is not used again.
        let mut connected = match slot.take() {
            Some(connected) if !connected.client.is_closed() => connected,
            _ => self.connected().await?,
        };
        let rows = timeout(PATIENCE, connected.rows(statement, &parameters)).await;
        let rows = rows.context("PostgreSQL does not answer")?;
        if !connected.client.is_closed() {
            *slot = Some(connected);
        }
        rows?.iter().map(cells).collect()
    }

    async fn tell(&self, ids: &[String]) -> Result<()> {
        let told = format!("{} {}", self.own, ids.join(" "));
        self.rows("SELECT pg_notify($1, $2)", vec![CHANNEL.into(), told.as_str().into()])
            .await?;
        Ok(())
    }

    async fn hear(&self, heard: impl Fn(Option<&str>) + Send + Sync) {
        loop {
            // While nobody listens, every statement says what is wrong with the database.
            let _ = self.listen(&heard).await;
            tokio::time::sleep(BEFORE_ANOTHER_TRY).await;
        }
    }
}

fn cells(row: &Row) -> Result<Vec<Cell>> {
    let columns = row.columns().iter().enumerate();
    columns
        .map(|(at, column)| match *column.type_() {
            Type::INT8 => Ok(row.try_get::<_, Option<i64>>(at)?.map_or(Cell::Null, Cell::Whole)),
            Type::TEXT => Ok(row.try_get::<_, Option<String>>(at)?.map_or(Cell::Null, Cell::Text)),
            _ => Ok(Cell::Null),
        })
        .collect()
}
