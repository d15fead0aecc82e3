//! A relay that does as the test says: by itself it keeps to the protocol, or hands on to a real one, and the test changes
//! what it answers at any step.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use countersign_protocol::keys::KeyPair;
use countersign_protocol::verdict::{Answer as Says, Verdict};
use countersign_protocol::{SignedCard, SignedVerdict, VERSION};
use serde_json::{Value, json};

/// What the hook asks of its relay, in the order in which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Presence,
    Put,
    Poll,
    Consume,
    Withdraw,
    Outcome,
    /// Of an approver.
    Pending,
    /// Of an approver.
    Decide,
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub step: Step,
    pub at: Instant,
    pub line: String,
    pub head: String,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (is, value) = line.split_once(':')?;
            is.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// What is sent back.
#[derive(Clone, Debug)]
pub enum Answer {
    /// An answer of the protocol's form.
    Json(u16, Value),
    /// These bytes, and the end of the connection.
    Raw(Vec<u8>),
    /// The first bytes, and then the others, one a second.
    Drip(Vec<u8>, Vec<u8>),
    /// The first bytes, and then the others for ever.
    Endless(Vec<u8>, Vec<u8>),
    /// Nothing, for ever.
    Silence,
    /// The end of the connection.
    Close,
}

impl Answer {
    pub fn refusal(status: u16) -> Answer {
        let code = match status {
            401 => "token",
            404 => "unknown",
            409 => "already_consumed",
            410 => "expired",
            429 => "rate",
            _ => "unavailable",
        };
        Answer::Json(status, json!({"error": code, "message": "the double says so"}))
    }
}

/// A request that the test may answer otherwise.
pub struct Turn<'a> {
    pub seen: &'a Seen,
    /// How many of this step came before.
    pub before: usize,
    pub device: &'a KeyPair,
    kept: &'a Mutex<Kept>,
    real: Option<SocketAddr>,
}

#[derive(Default)]
struct Kept {
    card: Option<SignedCard>,
    seen: Vec<Seen>,
}

type Script = dyn Fn(&Turn) -> Answer + Send + Sync;

impl Turn<'_> {
    pub fn step(&self) -> Step {
        self.seen.step
    }

    /// What a relay would answer that keeps to the protocol, with a device that allows everything at once.
    pub fn honest(&self) -> Answer {
        if let Some(real) = self.real {
            return forward(real, self.seen).unwrap_or(Answer::Close);
        }
        match self.step() {
            Step::Presence => Answer::Json(200, json!({"paired": 1, "online": 1})),
            Step::Put => Answer::Json(201, self.request("pending", None)),
            Step::Poll => Answer::Json(200, self.request("decided", Some(&self.allow()))),
            Step::Consume => Answer::Json(200, self.request("consumed", Some(&self.allow()))),
            Step::Withdraw => Answer::Json(200, self.request("withdrawn", None)),
            Step::Outcome => Answer::Json(200, self.request("consumed", Some(&self.allow()))),
            Step::Pending | Step::Decide => Answer::Close,
        }
    }

    /// The card that was put last.
    pub fn card(&self) -> SignedCard {
        let kept = self.kept.lock().expect("the double's memory");
        kept.card.clone().expect("a card was put")
    }

    /// The object of the request.
    pub fn request(&self, status: &str, verdict: Option<&SignedVerdict>) -> Value {
        let card = self.card();
        let mut request = json!({"id": card.card.id, "status": status, "revision": 2, "card": card});
        if let Some(verdict) = verdict {
            request["verdict"] = json!(verdict);
        }
        request
    }

    /// An answer to the card, before it is signed.
    pub fn verdict(&self, says: Says) -> Verdict {
        let card = self.card().card;
        Verdict::new(&card, says, 1_796_000_000_000).expect("a card")
    }

    pub fn allow(&self) -> SignedVerdict {
        self.verdict(Says::Allow).sign(self.device).expect("a signature")
    }
}

/// The relay, for as long as the test has it.
pub struct Double {
    pub url: String,
    kept: Arc<Mutex<Kept>>,
}

impl Double {
    pub fn new(device: &KeyPair, script: impl Fn(&Turn) -> Answer + Send + Sync + 'static) -> Double {
        Double::start(device, None, Arc::new(script))
    }

    /// Before a real relay, to which it hands on.
    pub fn before(
        real: SocketAddr,
        device: &KeyPair,
        script: impl Fn(&Turn) -> Answer + Send + Sync + 'static,
    ) -> Double {
        Double::start(device, Some(real), Arc::new(script))
    }

    fn start(device: &KeyPair, real: Option<SocketAddr>, script: Arc<Script>) -> Double {
        let device = Arc::new(
            KeyPair::from_pkcs8(countersign_protocol::keys::Algorithm::Ed25519, device.pkcs8()).expect("a key"),
        );
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        // With a path: what has none counts as this machine's own relay, which would be started.
        let url = format!("http://{}/at", listener.local_addr().expect("its address"));
        let kept = Arc::new(Mutex::new(Kept::default()));
        let memory = Arc::clone(&kept);
        thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { continue };
                let (script, memory, device) = (Arc::clone(&script), Arc::clone(&memory), Arc::clone(&device));
                // Who asks may be gone already.
                thread::spawn(move || serve(connection, &*script, &memory, &device, real));
            }
        });
        Double { url, kept }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("the double's memory")
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.kept().seen.clone()
    }

    /// The requests of one step.
    pub fn of(&self, step: Step) -> Vec<Seen> {
        let seen = self.seen().into_iter();
        seen.filter(|seen| seen.step == step).collect()
    }

    pub fn count(&self, step: Step) -> usize {
        self.of(step).len()
    }

    pub fn card(&self) -> Option<SignedCard> {
        self.kept().card.clone()
    }
}

fn serve(
    mut connection: TcpStream,
    script: &Script,
    kept: &Mutex<Kept>,
    device: &KeyPair,
    real: Option<SocketAddr>,
) -> Option<()> {
    let seen = read(&mut connection)?;
    let before = {
        let mut kept = kept.lock().expect("the double's memory");
        let before = kept.seen.iter().filter(|other| other.step == seen.step).count();
        if seen.step == Step::Put {
            kept.card = serde_json::from_str(&seen.body).ok();
        }
        kept.seen.push(seen.clone());
        before
    };
    let answer = script(&Turn {
        seen: &seen,
        before,
        device,
        kept,
        real,
    });
    write(&mut connection, answer).ok()
}

fn read(connection: &mut TcpStream) -> Option<Seen> {
    connection.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let mut bytes = Vec::new();
    let head_end = loop {
        let mut more = [0; 16 * 1024];
        let count = connection.read(&mut more).ok().filter(|count| *count > 0)?;
        bytes.extend(&more[..count]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).ok()?;
    let line = head.lines().next()?.replacen("/at/", "/", 1);
    let mut seen = Seen {
        step: step(&line)?,
        at: Instant::now(),
        line,
        head,
        body: String::new(),
    };
    let length = seen
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap_or(0));
    let mut body = bytes.split_off(head_end);
    let mut rest = vec![0; length - body.len().min(length)];
    connection.read_exact(&mut rest).ok()?;
    body.extend(rest);
    seen.body = String::from_utf8(body).ok()?;
    Some(seen)
}

fn step(line: &str) -> Option<Step> {
    let (method, path) = line.split_once(' ')?;
    let path = path.split([' ', '?']).next()?;
    Some(match (method, path.rsplit('/').next()?) {
        ("GET", "presence") => Step::Presence,
        ("GET", "pending") => Step::Pending,
        ("GET", _) => Step::Poll,
        ("DELETE", _) => Step::Withdraw,
        ("POST", "requests") => Step::Put,
        ("POST", "consume") => Step::Consume,
        ("POST", "outcome") => Step::Outcome,
        ("POST", "decision") => Step::Decide,
        _ => return None,
    })
}

/// Hands a request on as it came, and gives the answer as it comes.
fn forward(real: SocketAddr, seen: &Seen) -> Option<Answer> {
    let mut connection = TcpStream::connect(real).ok()?;
    let (_, rest) = seen.head.split_once("\r\n")?;
    let kept = |line: &&str| !line.is_empty() && !line.to_lowercase().starts_with("connection:");
    let head = rest
        .lines()
        .filter(kept)
        .fold(seen.line.clone(), |head, line| head + "\r\n" + line);
    let message = format!("{head}\r\nconnection: close\r\n\r\n{}", seen.body);
    connection.write_all(message.as_bytes()).ok()?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).ok()?;
    (!answer.is_empty()).then_some(Answer::Raw(answer))
}

/// An HTTP answer of the protocol's version.
pub fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncountersign-protocol: {VERSION}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
        .into_bytes()
}

fn write(connection: &mut TcpStream, answer: Answer) -> std::io::Result<()> {
    match answer {
        Answer::Json(status, body) => {
            let status = format!("{status} Status");
            connection.write_all(&http(&status, "content-type: application/json\r\n", &body.to_string()))?;
        }
        Answer::Raw(bytes) => connection.write_all(&bytes)?,
        Answer::Drip(first, others) => {
            connection.write_all(&first)?;
            for byte in others {
                connection.write_all(&[byte])?;
                thread::sleep(Duration::from_secs(1));
            }
        }
        Answer::Endless(first, others) => {
            connection.write_all(&first)?;
            loop {
                connection.write_all(&others)?;
            }
        }
        Answer::Silence => thread::sleep(Duration::from_secs(120)),
        Answer::Close => {}
    }
    connection.shutdown(Shutdown::Both)
}
