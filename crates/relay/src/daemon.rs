//! Starts the relay of this machine when it is needed, as a process of its own that outlives whoever started it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use countersign::own_files;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Pid;

use crate::identity::{Identity, MACHINE};

/// Whoever serves from a directory holds its lock, which ends with the process, and says in it who it is and, while it
/// does, where it listens.
const LOCK: &str = "relay.lock";
/// Whoever starts a relay holds this one meanwhile, so that it is started once.
const STARTING: &str = "starting.lock";
/// The longest lock that is read, in bytes.
const MAX_LOCK: u64 = 1024;
/// How the relay's file is called.
const PROGRAM: &str = "countersign-relay";
/// What the relay says of its own running.
pub const LOG: &str = "relay.log";
/// How long a relay may take until it answers.
const PATIENCE: Duration = Duration::from_secs(3);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Where a relay on this machine listens, by its address; `None` where it is another's to run.
pub fn local(url: &str) -> Option<SocketAddr> {
    let address: SocketAddr = url
        .strip_prefix("http://")?
        .replace("localhost", "127.0.0.1")
        .parse()
        .ok()?;
    address.ip().is_loopback().then_some(address)
}

/// Sees to it that the relay of this machine runs, if there is one to run; whether a relay is on, here or elsewhere.
///
/// # Errors
/// It does not answer within three seconds, listens elsewhere, or another program has its port.
pub fn ensure(dir: &Path) -> Result<bool> {
    let Some(machine) = Identity::read(dir, MACHINE)? else {
        return Ok(false);
    };
    local(&machine.url).map_or(Ok(()), |address| run(dir, address))?;
    Ok(true)
}

/// The same at this address; or, where it `may_move`, where the relay of this directory listens already, and where
/// another program has the port, at one that is free. Where it runs then.
///
/// # Errors
/// As [`ensure`].
pub fn run_near(dir: &Path, address: SocketAddr, may_move: bool) -> Result<SocketAddr> {
    let is_free = |address| TcpListener::bind(address).and_then(|listener| listener.local_addr());
    let listens = holder(dir)?.and_then(|holder| holder.address);
    let address = match listens {
        Some(other) if may_move => other,
        Some(other) if other != address => {
            end(dir)?;
            address
        }
        _ => address,
    };
    if !may_move || is_running(dir)? || is_free(address).is_ok() {
        match run(dir, address) {
            // Taken by another meanwhile.
            Err(_) if may_move && !is_running(dir)? => {}
            ran => return ran.map(|()| address),
        }
    }
    let address = is_free(SocketAddr::new(address.ip(), 0)).context("no port is free")?;
    run(dir, address)?;
    Ok(address)
}

fn run(dir: &Path, address: SocketAddr) -> Result<()> {
    if serves(dir, address)? && answers(address) {
        return Ok(());
    }
    let starting = lock_file(dir, STARTING)?;
    if !own_files::has_lock(&starting, PATIENCE * 2)? {
        bail!("another start of the relay does not come to an end");
    }
    let mut end = Instant::now() + PATIENCE;
    let mut is_started = false;
    loop {
        match holder(dir)?.map(|holder| holder.address) {
            None if !is_started => {
                if TcpListener::bind(address).is_err() {
                    bail!(
                        "another program listens on {address}: end it, or run `countersign relay on`, which takes \
                         another port"
                    );
                }
                start(dir, address)?;
                (is_started, end) = (true, Instant::now() + PATIENCE);
            }
            Some(Some(listens)) if listens != address => bail!(
                "the relay of this machine listens on {listens}, and is known on {address}: run `countersign relay \
                 on`, which sets that right"
            ),
            Some(Some(_)) if answers(address) => return Ok(()),
            _ => {}
        }
        if Instant::now() > end {
            bail!(
                "the relay does not answer on {address}; {} says why",
                dir.join(LOG).display()
            );
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// The lock of a directory, held by the relay that serves from it.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// # Errors
    /// Another relay holds it; those of the file system.
    pub fn take(dir: &Path) -> Result<Self> {
        let lock = Lock(lock_file(dir, LOCK)?);
        // Who only looks whether it is held holds it for a moment.
        if !own_files::has_lock(&lock.0, Duration::from_secs(1))? {
            bail!("a relay serves from {} already", dir.display());
        }
        lock.listens(None)?;
        Ok(lock)
    }

    /// Says where this process listens: on nothing before it has the port and once it is to give it back, for clients
    /// take it from here that the port is the relay's.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn listens(&self, address: Option<SocketAddr>) -> Result<()> {
        let address = address.map(|address| format!("{address}\n"));
        let text = format!("{}\n{}", std::process::id(), address.unwrap_or_default());
        self.0.set_len(0)?;
        Ok(self.0.write_all_at(text.as_bytes(), 0)?)
    }
}

/// Who holds the lock of a directory, as far as the lock says it.
#[derive(Clone, Copy, Debug, Default)]
struct Holder {
    process: Option<Pid>,
    address: Option<SocketAddr>,
}

/// Who holds the lock of this directory.
fn holder(dir: &Path) -> Result<Option<Holder>> {
    let mut lock = lock_file(dir, LOCK)?;
    // Shared, so that of two who look neither takes the other for a relay.
    match lock.try_lock_shared() {
        Ok(()) => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let mut bytes = Vec::new();
    Read::by_ref(&mut lock).take(MAX_LOCK).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| Pid::from_raw(line.parse().ok()?));
    Ok(Some(match process.filter(|process| is_relay(*process)) {
        // What the relay before it wrote says nothing of this one.
        None => Holder::default(),
        process => Holder {
            process,
            address: lines.next().and_then(|line| line.parse().ok()),
        },
    }))
}

/// Whether this process runs a relay, as far as the system tells.
fn is_relay(process: Pid) -> bool {
    let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe"));
    match program(&process.as_raw_nonzero().to_string()) {
        // A program that was replaced meanwhile is called `countersign-relay (deleted)`.
        Ok(path) => path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(PROGRAM.as_bytes())),
        Err(_) => program("self").is_err() && rustix::process::test_kill_process(process).is_ok(),
    }
}

/// Whether a relay serves from this directory.
///
/// # Errors
/// Those of the file system.
pub fn is_running(dir: &Path) -> Result<bool> {
    Ok(holder(dir)?.is_some())
}

/// Whether the relay that serves from this directory is who listens on this address.
///
/// # Errors
/// Those of the file system.
pub fn serves(dir: &Path, address: SocketAddr) -> Result<bool> {
    Ok(holder(dir)?.is_some_and(|holder| holder.address == Some(address)))
}

/// The file of a lock, made if it is not there.
fn lock_file(dir: &Path, name: &str) -> Result<File> {
    let mut options = OpenOptions::new();
    Ok(own_files::open_private(&dir.join(name), options.write(true).create(true))?.0)
}

/// Whether something takes connections there.
fn answers(address: SocketAddr) -> bool {
    std::net::TcpStream::connect_timeout(&address, Duration::from_millis(500)).is_ok()
}

/// The file of this program.
///
/// # Errors
/// The system does not say.
pub fn program() -> Result<PathBuf> {
    std::env::current_exe().context("this program cannot find its own file")
}

/// Starts a process that leaves the session, starts the relay and ends: the relay belongs to nobody who could be ended.
fn start(dir: &Path, address: SocketAddr) -> Result<()> {
    let mut options = OpenOptions::new();
    let (log, _) = own_files::open_private(&dir.join(LOG), options.append(true).create(true))?;
    let mut command = Command::new(program()?);
    command
        .args(["serve", "--detach", "--listen", &address.to_string(), "--dir"])
        .arg(dir);
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .current_dir("/");
    let left = command.status().context("the relay cannot be started")?;
    if !left.success() {
        bail!("the relay cannot be started; {} says why", dir.join(LOG).display());
    }
    Ok(())
}

/// The second half of [`start`]: out of the session, and the same again without `--detach`.
///
/// # Errors
/// The process leads a group, or cannot start another.
pub fn detach() -> Result<()> {
    rustix::process::setsid().context("the session cannot be left")?;
    keep_only_standard_streams();
    let words = std::env::args_os().skip(1).filter(|word| word != "--detach");
    Command::new(program()?)
        .args(words)
        .spawn()
        .context("the relay cannot be started")?;
    Ok(())
}

/// What whoever started us left open is not handed on: the host waits for the end of its pipes.
#[allow(unsafe_code)]
fn keep_only_standard_streams() {
    let listed = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> = listed
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // SAFETY: a number that is not open is refused by the kernel, and a flag that only counts at the next exec takes
        // nothing from whoever owns an open one.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let _ = fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
}

/// Ends the relay that serves from this directory, if one does, and waits until it has.
///
/// # Errors
/// It does not end.
pub fn end(dir: &Path) -> Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    let Some(holder) = holder(dir)? else {
        return Ok(());
    };
    let process = holder.process.with_context(|| {
        let lock = dir.join(LOCK);
        format!(
            "the relay was not ended, for its lock names no relay's process: end the process that has {lock} open \
             (`fuser {lock}` names it), and remove that file",
            lock = lock.display()
        )
    })?;
    rustix::process::kill_process(process, rustix::process::Signal::TERM).context("the relay cannot be ended")?;
    let end = Instant::now() + PATIENCE * 2;
    while is_running(dir)? {
        if Instant::now() > end {
            bail!("the relay, process {}, does not end", process.as_raw_nonzero());
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}
