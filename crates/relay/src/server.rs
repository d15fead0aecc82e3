//! `countersign-relay serve`: the relay, until it is told to end.

mod bus;
pub mod clients;
mod http;
mod limits;
mod log;
mod metrics;
mod online;
mod replaced;
mod rest;
mod store;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use countersign::own_files;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, mpsc, watch};

use bus::Bus;
use clients::{CLIENTS, Clients};
use http::Relay;
use log::Log;
use store::postgres::Postgres;
use store::sqlite::Sqlite;
use store::{ORPHANED, Sql, Store};

use crate::clock::Steady;
use crate::daemon::{self, Lock};

/// How long what has ended is kept, in milliseconds.
const KEPT: i64 = 7 * 24 * 60 * 60 * 1000;
const BETWEEN_SWEEPS: Duration = Duration::from_secs(1);
/// The most connections, as far as the system gives so many descriptors.
const MOST_CONNECTIONS: usize = 16_384;
/// Descriptors that are not connections.
const OTHER_DESCRIPTORS: usize = 64;
/// How long a connection may say nothing, or take for the head of a request.
const HEAD_WITHIN: Duration = Duration::from_secs(20);
/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 16 * 1024;
/// How long requests may take to their end when the relay is to end.
const ENDS_WITHIN: Duration = Duration::from_secs(3);
/// What is said where there is no room for one more connection.
const NO_ROOM: &str = "HTTP/1.1 503 Service Unavailable\r\ncountersign-protocol: 1\r\ncontent-type: application/json\r\n\
    content-length: 78\r\nretry-after: 5\r\nconnection: close\r\n\r\n\
    {\"error\":\"unavailable\",\"message\":\"the relay has no room for more connections\"}";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen: an address of this machine's own loopback
    #[arg(long, default_value = "127.0.0.1:47163")]
    listen: SocketAddr,
    /// The directory of the relay's own files
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// A file whose first line says how PostgreSQL is reached; without it, SQLite in the directory
    #[arg(long, value_name = "FILE")]
    postgres: Option<PathBuf>,
    /// Write the log to relay.log in the directory, not to standard error
    #[arg(long)]
    log: bool,
    /// Go on as a process that belongs to no session
    #[arg(long, hide = true)]
    detach: bool,
}

pub fn run(args: Args) -> Result<()> {
    if args.detach {
        return daemon::detach();
    }
    if !args.listen.ip().is_loopback() {
        bail!(
            "{} is not of this machine's loopback; what stands in the open needs TLS in front of it",
            args.listen
        );
    }
    own_files::private_dir(&args.dir)?;
    let lock = Lock::take(&args.dir)?;
    tokio::runtime::Runtime::new()?.block_on(open(&args, &lock))
}

async fn open(args: &Args, lock: &Lock) -> Result<()> {
    match &args.postgres {
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
            let sql = Postgres::connect(text.lines().next().unwrap_or_default()).await?;
            serve(args, lock, sql).await
        }
        None => serve(args, lock, Sqlite::open(&args.dir.join("relay.db"))?).await,
    }
}

async fn serve<S: Sql + 'static>(args: &Args, lock: &Lock, sql: S) -> Result<()> {
    let (told, to_tell) = mpsc::unbounded_channel();
    let relay = Arc::new(Relay {
        store: Store::open(sql).await?,
        bus: Arc::new(Bus::default()),
        clients: Clients::of_file(args.dir.join(CLIENTS))?,
        online: Default::default(),
        rates: Default::default(),
        metrics: Default::default(),
        log: match args.log {
            true => Log::to_file(&args.dir.join(daemon::LOG))?,
            false => Log::StandardError,
        },
        connections: Default::default(),
        told,
        ending: watch::Sender::new(false),
    });
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("{} cannot be listened on", args.listen))?;
    let address = listener.local_addr()?;
    lock.listens(Some(address))?;
    say!("countersign-relay: listening on http://{address}");
    relay
        .log
        .write("started", json!({"version": env!("CARGO_PKG_VERSION")}));
    tokio::spawn(sweep(Arc::clone(&relay)));
    tokio::spawn(tell(Arc::clone(&relay), to_tell));
    tokio::spawn(hear(Arc::clone(&relay)));

    let most = room_for_connections();
    let room = Arc::new(Semaphore::new(most));
    let router = http::router(Arc::clone(&relay));
    let (mut told_to_end, mut replaced) = (pin!(told_to_end()), pin!(replaced::replaced()));
    let is_replaced = loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut told_to_end => break false,
            () = &mut replaced => break true,
        };
        let Ok((stream, _)) = accepted else {
            // No descriptor is left, or the other end has gone already.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (relay, router, room) = (Arc::clone(&relay), router.clone(), Arc::clone(&room));
        match room.try_acquire_owned() {
            Ok(place) => tokio::spawn(async move {
                relay.connections.fetch_add(1, Ordering::Relaxed);
                connection(stream, router, relay.ending.subscribe()).await;
                relay.connections.fetch_sub(1, Ordering::Relaxed);
                drop(place);
            }),
            Err(_) => tokio::spawn(async move {
                let mut stream = stream;
                let _ = tokio::time::timeout(ENDS_WITHIN, stream.write_all(NO_ROOM.as_bytes())).await;
            }),
        };
    };
    lock.listens(None)?;
    drop(listener);
    relay.log.write(
        "ending",
        json!({"connections": relay.connections.load(Ordering::Relaxed), "replaced": is_replaced}),
    );
    relay.ending.send_replace(true);
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(ENDS_WITHIN, room.acquire_many(all)).await;
    relay.log.write("ended", json!({}));
    if is_replaced {
        // A failure, after which whoever keeps it running starts the new one.
        bail!("this program's file was replaced or removed: the relay that is there now is started when it is needed");
    }
    Ok(())
}

/// Serves one connection, until it ends or the relay does.
async fn connection(stream: TcpStream, router: axum::Router, mut ending: watch::Receiver<bool>) {
    // A short answer is not to wait for the next.
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(MAX_HEAD);
    let mut served = pin!(builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)));
    // A connection that breaks has nobody left to be told.
    tokio::select! {
        _ = served.as_mut() => {}
        () = told(&mut ending) => {
            served.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(ENDS_WITHIN, served).await;
        }
    }
}

/// Waits until the relay is to end.
async fn told(ending: &mut watch::Receiver<bool>) {
    // Where nobody is left to say so, it ends as well.
    let _ = ending.wait_for(|ending| *ending).await;
}

/// As many descriptors as the system gives, and how many connections that is room for.
fn room_for_connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let given = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    let given = given
        .and_then(|given| usize::try_from(given).ok())
        .unwrap_or(usize::MAX);
    given.saturating_sub(OTHER_DESCRIPTORS).clamp(1, MOST_CONNECTIONS)
}

/// The time by which requests live and end.
static TIME: LazyLock<Steady> = LazyLock::new(Steady::new);

/// Milliseconds since 1970, as databases count.
fn now() -> i64 {
    i64::try_from(TIME.now()).unwrap_or(i64::MAX)
}

async fn told_to_end() {
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Ends what nobody waits for any more, and forgets what has ended long ago.
async fn sweep<S: Sql>(relay: Arc<Relay<S>>) {
    let mut broken = false;
    // While no relay served no machine could ask: each has as long as after a poll.
    let all_have_asked = Instant::now() + Duration::from_millis(ORPHANED.unsigned_abs());
    loop {
        tokio::time::sleep(BETWEEN_SWEEPS).await;
        let ended = async {
            // What is under way keeps its time, whoever sets the clock meanwhile; unless others keep time for it as well.
            if S::IS_SHARED || relay.store.is_idle().await? {
                TIME.set();
            }
            relay.store.set_back(now()).await?;
            let expired = relay.store.expire(now()).await?;
            let orphaned = match Instant::now() < all_have_asked {
                true => Vec::new(),
                false => relay.store.orphan(now()).await?,
            };
            relay.store.forget(now() - KEPT).await?;
            anyhow::Ok((expired, orphaned))
        };
        match ended.await {
            Ok((expired, orphaned)) => {
                relay.metrics.requests("expired", expired.len());
                relay.metrics.requests("orphaned", orphaned.len());
                expired.iter().chain(&orphaned).for_each(|id| relay.woken(id));
                broken = false;
            }
            // Said once, not every second.
            Err(error) if !broken => {
                relay.log.write("store", json!({"error": format!("{error:#}")}));
                broken = true;
            }
            Err(_) => {}
        }
    }
}

/// Tells other relays on the database what has changed, as much at once as there is.
async fn tell<S: Sql>(relay: Arc<Relay<S>>, mut to_tell: mpsc::UnboundedReceiver<String>) {
    let mut ids = Vec::new();
    while to_tell.recv_many(&mut ids, 100).await > 0 {
        // Those who miss it look again when their connection is made anew, and when a poll ends.
        let _ = relay.store.sql().tell(&ids).await;
        ids.clear();
    }
}

async fn hear<S: Sql>(relay: Arc<Relay<S>>) {
    let heard = |id: Option<&str>| match id {
        Some(id) => relay.bus.changed(id),
        None => relay.bus.anything(),
    };
    relay.store.sql().hear(heard).await;
}
