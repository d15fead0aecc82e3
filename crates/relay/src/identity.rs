//! Who this user is to a relay: as a machine that asks, as a terminal that answers. Each is one file in the relay's
//! directory that nobody else reads; what is secret in it stays in it.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use countersign::own_files;
use countersign_protocol::canonical::{hex, unhex};
use countersign_protocol::keys::Algorithm;
use countersign_protocol::{KeyPair, PublicKey};
use serde::{Deserialize, Serialize};

/// The file of the machine that asks.
pub const MACHINE: &str = "machine.json";
/// The file of this user's terminals, which answer.
pub const TERMINAL: &str = "terminal.json";

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// A party of the protocol, and whom it believes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Where the relay is, without a slash at the end.
    pub url: String,
    /// A file of certificates in PEM, believed in place of the public authorities'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// How the others call it.
    pub name: String,
    /// What it shows to the relay: 64 hexadecimal digits. Secret.
    pub token: Secret,
    /// Its signing key, PKCS #8 in hexadecimal. Secret.
    pub key: Secret,
    pub alg: Algorithm,
    /// Whose signatures it believes: the devices that answer to a machine, the machines that ask a device.
    pub pinned: Vec<Pinned>,
}

/// A key that was met once and is believed from then on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    pub name: String,
    pub key: PublicKey,
}

/// A text that no diagnosis shows.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

/// `~/.local/state/countersign/relay`, by `XDG_STATE_HOME`: everything of the relay.
///
/// # Errors
/// No home is known.
pub fn dir() -> Result<PathBuf> {
    let state = own_files::state_dir().context("no home directory is known: set HOME")?;
    Ok(state.join("relay"))
}

impl Identity {
    /// A new party with a key and a token of its own, which believes nobody yet.
    ///
    /// # Errors
    /// The system has no random numbers to give.
    pub fn new(url: &str, name: &str) -> Result<Self> {
        let pair = KeyPair::generate(Algorithm::Ed25519).map_err(|why| anyhow!(why))?;
        Ok(Identity {
            url: url.to_owned(),
            ca: None,
            name: name.to_owned(),
            token: token()?,
            key: Secret(hex(pair.pkcs8())),
            alg: Algorithm::Ed25519,
            pinned: Vec::new(),
        })
    }

    /// Goes to another relay, which is to know nothing that opens the one before.
    ///
    /// # Errors
    /// The system has no random numbers to give.
    pub fn go_to(&mut self, url: &str) -> Result<()> {
        self.url = url.to_owned();
        self.token = token()?;
        Ok(())
    }

    /// The party in `file` of the relay's directory; `None` where there is none.
    ///
    /// # Errors
    /// The file cannot be read, belongs to another user, can be read by others, or is damaged.
    pub fn read(dir: &Path, file: &str) -> Result<Option<Self>> {
        let path = dir.join(file);
        let mut text = String::new();
        match own_files::open(&path, &mut OpenOptions::new()) {
            Err(error) if own_files::is_absent(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
            Ok(file) => {
                own_files::only_own(&path, &file)?;
                file.take(MAX_BYTES).read_to_string(&mut text)?
            }
        };
        let read = serde_json::from_str(&text).map_err(anyhow::Error::from);
        let read = read.and_then(|identity: Self| identity.pair().map(|_| identity));
        let identity = read.with_context(|| {
            format!(
                "{} is damaged, and its keys are lost with it: run `countersign relay off --forget`, then `countersign \
                 relay on`, which makes new ones",
                path.display()
            )
        })?;
        Ok(Some(identity))
    }

    /// Writes the file whole, or leaves the one before.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, dir: &Path, file: &str) -> Result<()> {
        write_private(&dir.join(file), &serde_json::to_vec_pretty(self)?)
    }

    /// The key that it signs with.
    ///
    /// # Errors
    /// The file holds no key.
    pub fn pair(&self) -> Result<KeyPair> {
        let bytes = unhex(&self.key.0).context("the identity's key is no hexadecimal text")?;
        KeyPair::from_pkcs8(self.alg, &bytes).map_err(|why| anyhow!(why))
    }

    /// The keys that it believes.
    pub fn believed(&self) -> Vec<PublicKey> {
        self.pinned.iter().map(|pinned| pinned.key.clone()).collect()
    }

    /// Believes this key from now on; a party of the same name is no longer believed by another key.
    pub fn pin(&mut self, name: &str, key: PublicKey) {
        self.pinned.retain(|pinned| pinned.name != name);
        self.pinned.push(Pinned {
            name: name.to_owned(),
            key,
        });
    }
}

fn token() -> Result<Secret> {
    let digits = countersign_protocol::keys::random_hex::<32>();
    digits.map(Secret).map_err(|why| anyhow!(why))
}

/// Replaces a file in one step by one that nobody else can read; its directory is made if it is not there.
///
/// # Errors
/// Those of the file system.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let dir = path.parent().context("the file has no directory")?;
    own_files::private_dir(dir)?;
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let written = (|| {
        let mut options = OpenOptions::new();
        let (mut file, _) = own_files::open_private(&fresh, options.write(true).create(true).truncate(true))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&fresh, path)
    })();
    if written.is_err() {
        // The error of the write is what the person is told.
        let _ = fs::remove_file(&fresh);
    }
    written.with_context(|| format!("{} cannot be written", path.display()))
}
