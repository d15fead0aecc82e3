//! The protocol's requests as one party sends them: bounded in time and size, to the one address that it knows, and with
//! every answer that is not exactly the protocol's an error.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use countersign_protocol::state::{Pending, Presence};
use countersign_protocol::{Outcome, Request, SignedCard, SignedVerdict, VERSION_HEADER, Why};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use ureq::http::{Uri, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use crate::daemon;
use crate::identity::Identity;

/// The longest answer, in bytes: what waits on a full relay.
const MAX_ANSWER: u64 = 64 * 1024 * 1024;
/// The longest answer about one request, in bytes.
const MAX_ONE: u64 = 1024 * 1024;
const MAX_HEADERS: usize = 16 * 1024;
const CONNECT: Duration = Duration::from_secs(5);
/// For a request that waits for nothing.
const AT_ONCE: Duration = Duration::from_secs(10);
/// What a network may take beside a poll's own wait.
const SLACK: Duration = Duration::from_secs(5);

/// One party's way to its relay.
#[derive(Clone, Debug)]
pub struct Client {
    agent: ureq::Agent,
    base: String,
    token: String,
    /// The directory of this machine's own relay, and where it must listen whenever something is sent.
    own: Option<(PathBuf, SocketAddr)>,
}

/// Why a request came to nothing.
#[derive(Debug)]
pub enum Failed {
    /// No answer, or an error of the relay's own; the same request may be sent again.
    Unreachable(String),
    /// The relay says no, by a status and a word of docs/protocol.md.
    Refused { status: u16, code: String, message: String },
    /// What came is not the protocol's.
    Nonsense(String),
    /// The relay answers, and the person has not within the time.
    Unanswered,
    /// This user has turned the relay off meanwhile.
    Off,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Unreachable(why) => write!(f, "the relay does not answer: {why}"),
            Failed::Refused { code, message, .. } => write!(f, "the relay refuses ({code}): {message}"),
            Failed::Unanswered => write!(f, "nobody has answered in time"),
            Failed::Nonsense(why) => write!(f, "the relay's answer is none of this protocol: {why}"),
            Failed::Off => f.write_str("the relay was turned off"),
        }
    }
}

impl Failed {
    /// The same request may be answered otherwise the next time.
    pub fn may_pass(&self) -> bool {
        match self {
            Failed::Unreachable(_) => true,
            // Too many at once.
            Failed::Refused { status, .. } => *status == 429,
            Failed::Nonsense(_) | Failed::Unanswered | Failed::Off => false,
        }
    }
}

impl std::error::Error for Failed {}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    message: String,
}

/// What an answer to be read must say.
enum Method<'a> {
    Get,
    Post { key: Option<&'a str> },
    Delete,
}

impl Client {
    /// The way of this party to its relay.
    ///
    /// # Errors
    /// The address is neither https nor http to this machine's own loopback, or the file of certificates holds none.
    pub fn new(identity: &Identity) -> Result<Self> {
        let base = identity.url.trim_end_matches('/').to_owned();
        let at_home = is_safe(&base)?;
        let mut config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .max_redirects(0)
            .max_response_header_size(MAX_HEADERS)
            .http_status_as_error(false)
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")));
        if at_home {
            config = config.proxy(None);
        }
        if let Some(ca) = &identity.ca {
            config = config.tls_config(trusting(ca)?);
        }
        Ok(Client {
            agent: config.build().into(),
            base,
            token: identity.token.0.clone(),
            own: None,
        })
    }

    /// The same, but where the address is that of this machine's own relay, nothing is sent while the one that serves from
    /// `dir` does not listen there: then another program may have its port, and would learn the token.
    pub fn guarded(mut self, dir: &Path) -> Self {
        if let Some(address) = daemon::local(&self.base) {
            // By number, for another name of this machine may lead to another program.
            self.base = format!("http://{address}");
            self.own = Some((dir.to_owned(), address));
        }
        self
    }

    /// Puts a card to the relay. The same key with the same card may be sent again.
    ///
    /// # Errors
    /// [`Failed`]; as of all below.
    pub fn put(&self, card: &SignedCard, key: &str, within: Duration) -> Result<Request, Failed> {
        let body = json_of(card)?;
        self.send(
            Method::Post { key: Some(key) },
            "/v1/requests",
            Some(body),
            within.min(AT_ONCE),
            MAX_ONE,
        )
    }

    /// How the request stands, once it is not pending any more or `wait` has passed.
    pub fn poll(&self, id: &str, wait: Duration, within: Duration) -> Result<Request, Failed> {
        let path = format!("/v1/requests/{id}?wait={}", wait.as_secs());
        self.send(Method::Get, &path, None, (wait + SLACK).min(within), MAX_ONE)
    }

    /// Takes the question back.
    pub fn withdraw(&self, id: &str, why: Why, within: Duration) -> Result<Request, Failed> {
        let body = json!({ "why": why }).to_string();
        self.send(
            Method::Delete,
            &format!("/v1/requests/{id}"),
            Some(body),
            within.min(AT_ONCE),
            MAX_ONE,
        )
    }

    /// Takes the verdict. Nobody can take it again but with the same key.
    pub fn consume(&self, id: &str, key: &str, within: Duration) -> Result<Request, Failed> {
        let path = format!("/v1/requests/{id}/consume");
        self.send(
            Method::Post { key: Some(key) },
            &path,
            None,
            within.min(AT_ONCE),
            MAX_ONE,
        )
    }

    /// Notes what became of the call.
    pub fn outcome(&self, id: &str, outcome: Outcome, within: Duration) -> Result<Request, Failed> {
        let body = json!({ "outcome": outcome }).to_string();
        let path = format!("/v1/requests/{id}/outcome");
        self.send(
            Method::Post { key: None },
            &path,
            Some(body),
            within.min(AT_ONCE),
            MAX_ONE,
        )
    }

    /// Who could answer.
    pub fn presence(&self, within: Duration) -> Result<Presence, Failed> {
        self.send(Method::Get, "/v1/presence", None, within.min(AT_ONCE), MAX_ONE)
    }

    /// What waits, as soon as it is other than at `revision` or `wait` has passed.
    pub fn pending(&self, wait: Duration, revision: u64) -> Result<Pending, Failed> {
        let path = format!("/v1/pending?wait={}&revision={revision}", wait.as_secs());
        self.send(Method::Get, &path, None, wait + AT_ONCE, MAX_ANSWER)
    }

    /// Gives a verdict.
    pub fn decide(&self, verdict: &SignedVerdict) -> Result<Request, Failed> {
        let body = json_of(verdict)?;
        let path = format!("/v1/requests/{}/decision", verdict.verdict.id);
        self.send(Method::Post { key: None }, &path, Some(body), AT_ONCE, MAX_ONE)
    }

    fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        within: Duration,
        most: u64,
    ) -> Result<T, Failed> {
        if let Some((dir, address)) = &self.own
            && !daemon::serves(dir, *address).unwrap_or(false)
        {
            return Err(Failed::Unreachable(format!(
                "this machine's own relay does not listen on {address}"
            )));
        }
        let mut request = ureq::http::Request::builder()
            .uri(format!("{}{path}", self.base))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(VERSION_HEADER, countersign_protocol::VERSION);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        request = match method {
            Method::Get => request.method("GET"),
            Method::Delete => request.method("DELETE"),
            Method::Post { key: None } => request.method("POST"),
            Method::Post { key: Some(key) } => request.method("POST").header("idempotency-key", key),
        };
        let request = request.body(body.unwrap_or_default());
        let request = request.map_err(|error| Failed::Nonsense(error.to_string()))?;
        let configured = self.agent.configure_request(request);
        let request = configured
            .timeout_global(Some(within))
            .allow_non_standard_methods(true)
            .build();
        let mut answer = self.agent.run(request).map_err(unreachable)?;
        let status = answer.status().as_u16();
        let version = answer
            .headers()
            .get(VERSION_HEADER)
            .and_then(|value| value.to_str().ok());
        let version = version.map(str::to_owned);
        let text = answer
            .body_mut()
            .with_config()
            .limit(most)
            .read_to_string()
            .map_err(unreachable)?;
        if status >= 500 {
            return Err(Failed::Unreachable(format!("it answers with status {status}")));
        }
        match version.as_deref() {
            Some(countersign_protocol::VERSION) => {}
            None => {
                return Err(Failed::Nonsense(format!(
                    "status {status}, and no word of the protocol's version"
                )));
            }
            Some(version) => {
                let own = countersign_protocol::VERSION;
                return Err(Failed::Nonsense(format!(
                    "it speaks version {version:?} of the protocol, not {own}"
                )));
            }
        }
        let nonsense = |error: serde_json::Error| Failed::Nonsense(error.to_string());
        if status >= 300 {
            let mut refusal: Refusal = serde_json::from_str(&text).map_err(nonsense)?;
            if status == 401 && self.own.is_some() {
                refusal
                    .message
                    .push_str("; `countersign relay on` makes this machine and its terminals known again");
            }
            return Err(Failed::Refused {
                status,
                code: refusal.error,
                message: refusal.message,
            });
        }
        serde_json::from_str(&text).map_err(nonsense)
    }
}

fn json_of(value: &impl Serialize) -> Result<String, Failed> {
    serde_json::to_string(value).map_err(|error| Failed::Nonsense(error.to_string()))
}

/// The error without the request's address, of which nothing is secret but which says nothing new either.
fn unreachable(error: ureq::Error) -> Failed {
    match error {
        ureq::Error::BodyExceedsLimit(most) => Failed::Nonsense(format!("it is longer than {most} bytes")),
        other => Failed::Unreachable(other.to_string()),
    }
}

/// Whether the address is this machine's own loopback; https may go anywhere.
///
/// # Errors
/// It is neither.
fn is_safe(base: &str) -> Result<bool> {
    let uri: Uri = base
        .parse()
        .with_context(|| format!("`{base}` is no address of a relay, such as https://relay.example"))?;
    let host = uri.host().unwrap_or_default();
    let at_home = host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback());
    match uri.scheme_str() {
        Some("https") => Ok(at_home),
        Some("http") if at_home => Ok(true),
        _ => bail!("`{base}`: a relay on another machine is reached by https only, such as https://relay.example"),
    }
}

fn trusting(file: &Path) -> Result<TlsConfig> {
    let text = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let parsed: Result<Vec<_>, _> = ureq::tls::parse_pem(&text).collect();
    let items = parsed.with_context(|| format!("{} holds no certificates in PEM", file.display()))?;
    let certificates: Vec<Certificate<'static>> = items
        .into_iter()
        .filter_map(|item| match item {
            ureq::tls::PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        bail!("{} holds no certificates in PEM", file.display());
    }
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::new_with_certs(&certificates))
        .build())
}
