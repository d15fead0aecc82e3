//! `countersign relay on`, `off` and `status`: whether this user's calls may wait for a person elsewhere.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use countersign_protocol::canonical::sha256;

use crate::client;
use crate::daemon;
use crate::identity::{self, Identity, MACHINE, TERMINAL};
use crate::server::clients::{self, CLIENTS, Role};
use crate::service;

/// Where the relay of one machine listens, unless another has the port.
pub const PORT: u16 = 47163;
/// How often a directory is removed again that another has made a file in, and after how long.
const REMOVALS: u32 = 10;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(50);
/// The machine's file while the relay is off: its keys are kept, and the hook finds no relay.
const RESTING: &str = "machine.off.json";

#[derive(Debug, clap::Args)]
pub struct On {
    /// A relay elsewhere [default: one on this machine]
    #[arg(long)]
    url: Option<String>,
    /// The certificates, in PEM, that are believed of it, and no others
    #[arg(long, value_name = "FILE", requires = "url")]
    ca: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct Off {
    /// Also remove its keys and everything that it keeps; devices must be paired anew after that
    #[arg(long)]
    forget: bool,
}

pub fn on(args: On) -> Result<()> {
    let dir = identity::dir()?;
    countersign::own_files::private_dir(&dir)?;
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let known = match Identity::read(&dir, MACHINE)? {
        Some(machine) => Some(machine),
        None => Identity::read(&dir, RESTING)?,
    };
    let url = match (&args.url, &known) {
        (Some(url), _) => url.trim_end_matches('/').to_owned(),
        (None, Some(machine)) => machine.url.clone(),
        (None, None) => format!("http://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))),
    };
    let is_own = |url: &str| daemon::local(url).is_some();
    let is_another = known
        .as_ref()
        .is_some_and(|machine| machine.url != url && !(is_own(&machine.url) && is_own(&url)));
    let mut machine = known.map_or_else(|| Identity::new(&url, &host), Ok)?;
    let terminal = Identity::read(&dir, TERMINAL)?;
    let mut terminal = terminal.map_or_else(|| Identity::new(&url, &format!("terminal on {host}")), Ok)?;
    if is_another {
        machine.go_to(&url)?;
        terminal.go_to(&url)?;
    }
    machine.url = url;
    if args.url.is_some() {
        let ca = args.ca.as_deref().map(fs::canonicalize).transpose();
        let ca = ca.context("the file of certificates cannot be found")?;
        (machine.ca, terminal.ca) = (ca.clone(), ca);
    }
    client::Client::new(&machine)?;
    machine.pin(&terminal.name, terminal.pair()?.public());
    terminal.pin(&machine.name, machine.pair()?.public());

    let entries = [entry(&machine, Role::Machine)?, entry(&terminal, Role::Approver)?];
    if let Some(address) = daemon::local(&machine.url) {
        introduce(&dir, &entries)?;
        let address = daemon::run_near(&dir, address, args.url.is_none())?;
        machine.url = format!("http://{address}");
        service::follow(address, &dir)?;
    }
    terminal.url = machine.url.clone();
    terminal.write(&dir, TERMINAL)?;
    // Last, for with it the hook finds a relay.
    machine.write(&dir, MACHINE)?;
    let _ = fs::remove_file(dir.join(RESTING));
    rewire()?;
    let url = &machine.url;
    if is_own(url) {
        say!("The relay is on: {url}. What waits is shown by `countersign pending` in any terminal of yours.");
        say!("Keep `countersign watch` open in one: a call waits there only while somebody is there to answer it.");
    } else {
        say!("The relay is on: {url}. Whoever keeps it adds these two to its {CLIENTS}:");
        say!("{}", serde_json::to_string_pretty(&entries)?);
        if args.url.is_none() {
            say!(
                "It is the one that was on before. `countersign relay off --forget` and `on` turn to one on this machine."
            );
        }
        daemon::end(&dir)?;
        say_of_service()?;
    }
    Ok(())
}

pub fn off(args: Off) -> Result<()> {
    let dir = identity::dir()?;
    let on = dir.join(MACHINE);
    match fs::rename(&on, dir.join(RESTING)) {
        Ok(()) => say!("The relay is off: every question is left to Claude Code's own dialog."),
        Err(error) if countersign::own_files::is_absent(&error) => say!("The relay is off already."),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be renamed", on.display())),
    }
    let rewired = rewire();
    daemon::end(&dir)?;
    rewired?;
    say_of_service()?;
    if args.forget && dir.exists() {
        remove(&dir).with_context(|| format!("{} cannot be removed", dir.display()))?;
        say!("Removed {}.", dir.display());
    }
    Ok(())
}

/// Removes a directory, in which others may make a file meanwhile.
fn remove(dir: &Path) -> io::Result<()> {
    let mut tries = 0..REMOVALS;
    loop {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tries.next().is_some() => {
                thread::sleep(BETWEEN_REMOVALS);
            }
            removed => return removed,
        }
    }
}

fn say_of_service() -> Result<()> {
    if service::is_installed()? {
        say!("The system starts this machine's relay again at login: `countersign relay service uninstall` ends that.");
    }
    Ok(())
}

pub fn status() -> Result<()> {
    let dir = identity::dir()?;
    let Some(machine) = Identity::read(&dir, MACHINE)? else {
        say!("The relay is off.");
        return Ok(());
    };
    let within = Duration::from_secs(3);
    let presence = client::Client::new(&machine)?.guarded(&dir).presence(within);
    let presence = presence.with_context(|| format!("the relay is on, at {}", machine.url))?;
    say!("The relay is on, at {}, and answers.", machine.url);
    say!(
        "Devices that may answer: {}, of which online: {}.",
        presence.paired,
        presence.online
    );
    Ok(())
}

/// The host is to wait for the hook as long as the hook may wait, and no longer.
fn rewire() -> Result<()> {
    let changed = countersign::setup::relay::rewire().context("Claude Code's settings were not changed")?;
    for path in changed {
        say!(
            "Changed how long Claude Code waits for Countersign, in {}.",
            path.display()
        );
    }
    Ok(())
}

fn entry(identity: &Identity, role: Role) -> Result<clients::Client> {
    Ok(clients::Client {
        role,
        name: identity.name.clone(),
        key: identity.pair()?.public(),
        token: sha256(identity.token.0.as_bytes()),
    })
}

/// Makes the relay of this machine know its own machine and terminal; whom else it knows it goes on to know.
fn introduce(dir: &Path, entries: &[clients::Client]) -> Result<()> {
    let path = dir.join(CLIENTS);
    let before = clients::read(&path)?;
    let mut after = before.clone();
    for entry in entries {
        after.retain(|client| client.name != entry.name && client.token != entry.token);
        after.push(entry.clone());
    }
    if after.iter().all(|client| before.contains(client)) && after.len() == before.len() {
        return Ok(());
    }
    if let Some(client) = before.iter().find(|client| {
        entries
            .iter()
            .any(|entry| entry.name == client.name && entry.key != client.key)
    }) {
        bail!(
            "{} knows {} by another key: if that key is lost, take that entry out and turn the relay on again",
            path.display(),
            client.name
        );
    }
    clients::write(&path, &after)
}
