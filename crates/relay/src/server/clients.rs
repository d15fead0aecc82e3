//! Who may talk to the relay: machines that ask and devices that answer, each known by the hash of its token.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use countersign_protocol::PublicKey;
use countersign_protocol::canonical::sha256;
use serde::{Deserialize, Serialize};

use crate::identity::write_private;

/// The file of them in the relay's directory.
pub const CLIENTS: &str = "clients.json";

/// What a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Asks, and takes answers.
    Machine,
    /// Sees what is asked, and answers.
    Approver,
}

/// One client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    pub role: Role,
    /// No two clients have the same.
    pub name: String,
    pub key: PublicKey,
    /// SHA-256 of its token: the relay's store alone gives nobody a token.
    pub token: String,
}

/// The file's clients, in its order; one that is not there, or empty, names nobody.
///
/// # Errors
/// It cannot be read, is no list of clients, or two of them have one name or token.
pub fn read(path: &Path) -> Result<Vec<Client>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let clients: Vec<Client> = serde_json::from_str(&text).with_context(|| {
        let path = path.display();
        format!("{path} is no list of clients: mend it, or remove it, run `countersign relay on` and pair anew")
    })?;
    let mut known = HashSet::new();
    for client in &clients {
        if !known.insert(&client.name) || !known.insert(&client.token) {
            bail!(
                "{}: there are two of the name or token of {}",
                path.display(),
                client.name
            );
        }
    }
    Ok(clients)
}

/// Writes the file whole, or leaves the one before.
///
/// # Errors
/// Those of the file system.
pub fn write(path: &Path, clients: &[Client]) -> Result<()> {
    write_private(path, &serde_json::to_vec_pretty(clients)?)
}

/// Every client that is known, as the file says it at the moment.
#[derive(Debug)]
pub struct Clients {
    path: PathBuf,
    read: Mutex<(Option<Stamp>, Arc<Known>)>,
}

pub type Known = HashMap<String, Arc<Client>>;
/// What differs when a file was written anew: its number, its length, and when, to the nanosecond.
type Stamp = (u64, u64, i64, i64);

impl Clients {
    /// The clients of this file, which is read again whenever it changes.
    ///
    /// # Errors
    /// As [`read`].
    pub fn of_file(path: PathBuf) -> Result<Self> {
        let known = (stamp(&path), Arc::new(by_token(read(&path)?)));
        Ok(Clients {
            path,
            read: Mutex::new(known),
        })
    }

    /// The client that this token belongs to. Found by the token's hash, so no comparison tells how much of it was right.
    pub fn of(&self, token: &str) -> Option<Arc<Client>> {
        self.known().get(&sha256(token.as_bytes())).cloned()
    }

    /// Whether this client is still known as it was.
    pub fn still(&self, client: &Client) -> bool {
        self.known().get(&client.token).is_some_and(|known| **known == *client)
    }

    /// All of them, by the hash of their tokens.
    ///
    /// While the file cannot be read it names nobody, for somebody may just have been struck from it.
    pub fn known(&self) -> Arc<Known> {
        let mut read_before = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.path);
        if now != read_before.0 {
            let clients = read(&self.path).unwrap_or_else(|error| {
                eprintln!("countersign-relay: {error:#}; until it is mended nobody is known");
                Vec::new()
            });
            *read_before = (now, Arc::new(by_token(clients)));
        }
        Arc::clone(&read_before.1)
    }
}

fn by_token(clients: Vec<Client>) -> Known {
    let clients = clients.into_iter();
    clients.map(|client| (client.token.clone(), Arc::new(client))).collect()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let of = |file: Metadata| (file.ino(), file.len(), file.ctime(), file.ctime_nsec());
    fs::metadata(path).ok().map(of)
}
