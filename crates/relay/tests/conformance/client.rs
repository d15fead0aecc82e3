//! Machines and devices, and what they say to a relay.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use countersign_protocol::keys::{Algorithm, KeyPair, random_hex};
use countersign_protocol::verdict::{Answer, SignedVerdict, Verdict};
use countersign_protocol::{Card, Code, PublicKey, Refusal, SignedCard, VERSION, VERSION_HEADER, canonical, read};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ureq::Agent;

use crate::card::card;

/// One party, with everything that makes it up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Party {
    role: String,
    name: String,
    alg: Algorithm,
    /// PKCS #8 in hexadecimal.
    secret: String,
    pub token: String,
}

impl Party {
    fn new(role: &str, name: &str, alg: Algorithm) -> Party {
        Party {
            role: role.into(),
            name: name.into(),
            alg,
            secret: canonical::hex(KeyPair::generate(alg).expect("a key").pkcs8()),
            token: random_hex::<32>().expect("a token"),
        }
    }

    pub fn pair(&self) -> KeyPair {
        let secret = canonical::unhex(&self.secret).expect("hexadecimal");
        KeyPair::from_pkcs8(self.alg, &secret).expect("a key")
    }

    pub fn public(&self) -> PublicKey {
        self.pair().public()
    }
}

/// Two machines and two devices, of each algorithm one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parties {
    pub machine: Party,
    pub other_machine: Party,
    pub device: Party,
    pub other_device: Party,
}

impl Parties {
    pub fn new() -> Parties {
        Parties {
            machine: Party::new("machine", "machine", Algorithm::Ed25519),
            other_machine: Party::new("machine", "other-machine", Algorithm::P256),
            device: Party::new("approver", "device", Algorithm::P256),
            other_device: Party::new("approver", "other-device", Algorithm::Ed25519),
        }
    }

    /// Those of a directory. `None` where they are made only now, and the relay is to be told of its clients.json.
    pub fn of_dir(dir: &Path) -> Option<Parties> {
        let secrets = dir.join("secrets.json");
        if let Ok(text) = std::fs::read(&secrets) {
            return Some(serde_json::from_slice(&text).expect("the parties that an earlier run has made"));
        }
        let parties = Parties::new();
        std::fs::create_dir_all(dir).expect("the directory");
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(secrets)
            .expect("secrets.json");
        file.write_all(&serde_json::to_vec_pretty(&parties).expect("JSON"))
            .expect("secrets.json");
        std::fs::write(dir.join("clients.json"), parties.clients()).expect("clients.json");
        None
    }

    /// As a relay is told of them.
    pub fn clients(&self) -> String {
        let all = [&self.machine, &self.other_machine, &self.device, &self.other_device];
        let client = |party: &Party| {
            let token = canonical::sha256(party.token.as_bytes());
            json!({"role": party.role, "name": party.name, "key": party.public(), "token": token})
        };
        format!("{:#}", Value::from(all.map(client).to_vec()))
    }
}

/// The way to a relay. Every answer that comes this way must name the version, and every refusal must be one.
#[derive(Clone)]
pub struct Client {
    pub base: String,
    pub parties: Parties,
    agent: Agent,
    /// Every word that the relay has refused with.
    pub seen: Arc<Mutex<HashSet<Code>>>,
}

/// An answer: its status and its body.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Value,
    /// In seconds.
    pub retry_after: Option<u64>,
}

impl Reply {
    /// The word of a refusal.
    pub fn error(&self) -> Option<Code> {
        serde_json::from_value(self.body["error"].clone()).ok()
    }

    /// The answer is a request, whole.
    #[track_caller]
    pub fn request(&self) -> countersign_protocol::Request {
        assert!((200..300).contains(&self.status), "{self:?}");
        read(self.body.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer refuses with this word.
    #[track_caller]
    pub fn refuses(&self, code: Code) {
        assert_eq!((self.status, self.error()), (code.status(), Some(code)), "{self:?}");
    }
}

/// A request to be sent; what is not said is left out.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub token: Option<&'a str>,
    pub key: Option<&'a str>,
    pub version: Option<&'a str>,
    pub body: &'a [u8],
}

impl<'a> Call<'a> {
    pub fn new(method: &'a str, path: &'a str, who: &'a Party) -> Call<'a> {
        Call {
            method,
            path,
            token: Some(&who.token),
            key: None,
            version: Some(VERSION),
            body: b"",
        }
    }
}

impl Client {
    pub fn new(base: &str, parties: &Parties) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        Client {
            base: base.trim_end_matches('/').to_owned(),
            parties: parties.clone(),
            agent: config.into(),
            seen: Arc::default(),
        }
    }

    /// Sends a request once, whatever comes.
    pub fn once(&self, call: &Call) -> Reply {
        let Call { method, path, .. } = call;
        let mut request = ureq::http::Request::builder()
            .method(*method)
            .uri(format!("{}{path}", self.base))
            .header("content-type", "application/json");
        let bearer = call.token.map(|token| format!("Bearer {token}"));
        let headers = [
            ("authorization", bearer.as_deref()),
            ("idempotency-key", call.key),
            (VERSION_HEADER, call.version),
        ];
        for (name, value) in headers {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let request = request.body(call.body.to_vec()).expect("a request");
        let request = self
            .agent
            .configure_request(request)
            .allow_non_standard_methods(true)
            .build();
        let mut response = self
            .agent
            .run(request)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let version = response.headers().get(VERSION_HEADER).cloned();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|after| after.to_str().ok()?.parse().ok());
        let text = response.body_mut().read_to_string().expect("a body");
        let reply = Reply {
            status: response.status().as_u16(),
            body: serde_json::from_str(&text).unwrap_or(Value::String(text)),
            retry_after,
        };
        assert!(
            version.is_some_and(|version| version == VERSION),
            "{method} {path}: the answer does not name its version: {reply:?}"
        );
        if reply.status >= 300 {
            let refusal: Refusal = read(reply.body.to_string().as_bytes())
                .unwrap_or_else(|error| panic!("{method} {path}: no refusal ({error}): {reply:?}"));
            assert_eq!(refusal.error.status(), reply.status, "{method} {path}: {reply:?}");
            assert!(!refusal.message.is_empty(), "{method} {path}: {reply:?}");
            self.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(refusal.error);
        }
        reply
    }

    /// Sends a request, and again after a while where the relay has had too many.
    pub fn send(&self, call: &Call) -> Reply {
        loop {
            let reply = self.once(call);
            if reply.error() != Some(Code::Rate) {
                return reply;
            }
            thread::sleep(Duration::from_secs(reply.retry_after.expect("Retry-After")));
        }
    }

    /// A card that nobody has put yet, whose input cannot be edited.
    pub fn card(&self) -> Card {
        Card {
            may_edit: false,
            ..card()
        }
    }

    pub fn signed(&self, card: &Card) -> SignedCard {
        card.clone().sign(&self.parties.machine.pair()).expect("a signed card")
    }

    pub fn post(&self, who: &Party, card: &SignedCard, key: &str) -> Reply {
        self.post_text(who, &serde_json::to_vec(card).expect("JSON"), key)
    }

    pub fn post_text(&self, who: &Party, body: &[u8], key: &str) -> Reply {
        self.send(&Call {
            key: Some(key),
            body,
            ..Call::new("POST", "/v1/requests", who)
        })
    }

    /// Puts a card of the machine's, which the relay takes.
    #[track_caller]
    pub fn put(&self, card: &Card) {
        let reply = self.post(&self.parties.machine, &self.signed(card), &card.id);
        assert_eq!(reply.status, 201, "{reply:?}");
    }

    /// Puts a new card, which the relay takes.
    #[track_caller]
    pub fn put_one(&self) -> Card {
        let card = self.card();
        self.put(&card);
        card
    }

    pub fn get(&self, card: &Card, query: &str) -> Reply {
        let path = format!("/v1/requests/{}{query}", card.id);
        self.send(&Call::new("GET", &path, &self.parties.machine))
    }

    pub fn verdict(&self, card: &Card, answer: Answer) -> Verdict {
        Verdict::new(card, answer, 1_796_000_000_500).expect("a card")
    }

    /// The device decides.
    pub fn decide(&self, card: &Card, verdict: Verdict) -> Reply {
        let device = &self.parties.device;
        self.hand_in(card, &verdict.sign(&device.pair()).expect("a signed verdict"), device)
    }

    pub fn hand_in(&self, card: &Card, verdict: &SignedVerdict, device: &Party) -> Reply {
        let body = serde_json::to_vec(verdict).expect("JSON");
        self.hand_in_text(card, &body, device)
    }

    pub fn hand_in_text(&self, card: &Card, body: &[u8], device: &Party) -> Reply {
        let path = format!("/v1/requests/{}/decision", card.id);
        self.send(&Call {
            body,
            ..Call::new("POST", &path, device)
        })
    }

    pub fn allow(&self, card: &Card) -> Reply {
        self.decide(card, self.verdict(card, Answer::Allow))
    }

    pub fn deny(&self, card: &Card) -> Reply {
        self.decide(card, self.verdict(card, Answer::Deny))
    }

    /// By a key that nobody else has.
    pub fn consume(&self, card: &Card) -> Reply {
        self.consume_with(card, Some(&random_hex::<32>().expect("a key")))
    }

    pub fn consume_with(&self, card: &Card, key: Option<&str>) -> Reply {
        let path = format!("/v1/requests/{}/consume", card.id);
        self.send(&Call {
            key,
            ..Call::new("POST", &path, &self.parties.machine)
        })
    }

    pub fn withdraw(&self, card: &Card, why: &str) -> Reply {
        let path = format!("/v1/requests/{}", card.id);
        let body = json!({"why": why}).to_string();
        self.send(&Call {
            body: body.as_bytes(),
            ..Call::new("DELETE", &path, &self.parties.machine)
        })
    }

    pub fn report(&self, card: &Card, outcome: &str) -> Reply {
        let path = format!("/v1/requests/{}/outcome", card.id);
        let body = json!({"outcome": outcome}).to_string();
        self.send(&Call {
            body: body.as_bytes(),
            ..Call::new("POST", &path, &self.parties.machine)
        })
    }

    pub fn pending(&self, query: &str) -> countersign_protocol::state::Pending {
        let path = format!("/v1/pending{query}");
        let reply = self.send(&Call::new("GET", &path, &self.parties.device));
        read(reply.body.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}: {reply:?}"))
    }

    pub fn presence(&self) -> countersign_protocol::state::Presence {
        let reply = self.send(&Call::new("GET", "/v1/presence", &self.parties.machine));
        read(reply.body.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}: {reply:?}"))
    }
}
