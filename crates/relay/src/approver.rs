//! A person who is asked through the relay.
//!
//! The relay only keeps and hands on. What is believed is the signature of a device that this machine has pinned, over the
//! very card that this process holds itself; everything else that goes wrong is nobody's answer.

mod anywhere;
mod card;
mod reply;
mod tries;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use countersign::approver::{Approver, Card, Reply, Why, Withdrawal};
use countersign::call::Agent;
use countersign_protocol::keys::random_hex;
use countersign_protocol::{Outcome, Request, SignedCard, SignedVerdict, Status, Verdict};

use crate::client::{Client, Failed};
use crate::identity::{self, Identity};
pub use anywhere::Anywhere;
use tries::{Tries, beside};

/// How long the relay may give no answer before the question is left to others.
const SILENT_AT_FIRST: Duration = Duration::from_secs(15);
/// The same once it has the question, which it keeps while it is started anew.
const SILENT: Duration = Duration::from_secs(120);
/// How long a poll waits: less where the network cuts what lasts longer.
const WAITS: [Duration; 3] = [Duration::from_secs(25), Duration::from_secs(10), Duration::from_secs(3)];
/// A poll that ends before this was not cut for its length.
const CUT: Duration = Duration::from_secs(2);
/// How long the relay has to hear that the question is taken back: the host kills its hook 1.5 seconds after SIGTERM.
const TAKING_BACK: Duration = Duration::from_millis(900);
/// How long one small request may take.
const ONE: Duration = Duration::from_secs(5);

/// This machine's way to whoever answers.
#[derive(Debug)]
pub struct Relay {
    dir: PathBuf,
    identity: Identity,
    client: Client,
    /// How long is waited for a subagent's call, and while no device is there.
    short_wait: Duration,
    /// The request whose verdict was taken last.
    taken: Mutex<Option<String>>,
}

impl Relay {
    /// # Errors
    /// No relay is on, its file cannot be read, or its address is none that may be used.
    pub fn open(dir: &Path, short_wait: Duration) -> Result<Self> {
        let identity = Identity::read(dir, identity::MACHINE)?;
        let identity = identity.context("no relay is on; `countersign relay on` turns one on")?;
        Ok(Relay {
            dir: dir.to_owned(),
            client: Client::new(&identity)?.guarded(dir),
            identity,
            short_wait,
            taken: Mutex::new(None),
        })
    }

    /// Tells the relay what became of the call whose verdict was taken, if one was.
    pub fn tell(&self, outcome: Outcome, within: Duration) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(id) = taken {
            // The answer is given; whether the relay knows of it changes nothing.
            let _ = self.client.outcome(&id, outcome, within);
        }
    }

    /// Tries that start this machine's own relay where it does not answer.
    fn tries(&self, until: Instant, silent: Duration) -> Tries {
        Tries::new(until, silent, self.dir.clone())
    }

    /// The whole way of one card; `Err` where it ends before a verdict.
    fn answer(&self, card: &Card, withdrawal: &Withdrawal) -> Result<Reply, Reply> {
        let until = card.until.min(Instant::now() + self.patience(card, withdrawal)?);
        let held = self.sign(card, until)?;
        let (client, signed, tries) = (self.client.clone(), held.clone(), self.tries(until, SILENT_AT_FIRST));
        let waited = beside(withdrawal, until, move |given_up| {
            put(&client, &signed, &tries, given_up)?;
            wait(&client, &signed.card.id, &tries.patient(SILENT), given_up)
        });
        let taken = match waited {
            Ok(Ok(request)) => self.take(&held, request, withdrawal, until),
            Ok(Err(Failed::Unanswered)) => Err(Reply::Unanswered),
            Ok(Err(failed)) => Err(unreachable(&failed)),
            Err(reply) => Err(reply),
        };
        let (verdict, device) = taken.inspect_err(|reply| self.take_back(&held, reply))?;
        reply::of(&verdict, card, device)
    }

    /// How long is waited for this card; an error where nobody could answer it.
    fn patience(&self, card: &Card, withdrawal: &Withdrawal) -> Result<Duration, Reply> {
        const FOR_EVER: Duration = Duration::from_secs(7 * 24 * 60 * 60);
        if matches!(card.request.call.agent, Agent::Sub { .. }) {
            return match self.short_wait.is_zero() {
                true => Err(Reply::Absent(
                    "a subagent's call waits for nobody (`subagent_wait` is 0)".into(),
                )),
                false => Ok(self.short_wait),
            };
        }
        let (client, tries) = (self.client.clone(), self.tries(card.until, SILENT_AT_FIRST));
        let presence = beside(withdrawal, card.until, move |given_up| {
            tries.of(given_up, || client.presence(ONE))
        })?;
        match presence {
            Ok(presence) if presence.online > 0 => Ok(FOR_EVER),
            Ok(_) if !self.short_wait.is_zero() => Ok(self.short_wait),
            Ok(presence) if presence.paired == 0 => Err(Reply::Absent("no device is paired with the relay".into())),
            Ok(_) => Err(Reply::Absent(
                "no device that could answer is online (`countersign watch` makes a terminal one)".into(),
            )),
            Err(failed) => Err(unreachable(&failed)),
        }
    }

    fn sign(&self, card: &Card, until: Instant) -> Result<SignedCard, Reply> {
        let pair = self
            .identity
            .pair()
            .map_err(|error| Reply::Absent(format!("{error:#}")))?;
        let id = random_hex::<16>().map_err(Reply::Absent)?;
        let lives_for = until.saturating_duration_since(Instant::now());
        let card = card::of(card, id, &self.identity.name, lives_for);
        card.sign(&pair).map_err(Reply::Absent)
    }

    /// Takes the verdict of a request that stands no longer, if it counts: first it is checked, then taken, so that nobody
    /// can take it again, and what was taken is checked once more. Gives it with the device's name.
    fn take(
        &self,
        held: &SignedCard,
        request: Request,
        withdrawal: &Withdrawal,
        until: Instant,
    ) -> Result<(Verdict, String), Reply> {
        match request.status {
            Status::Decided => self.checked(held, request.verdict)?,
            Status::Pending => return Err(Reply::Absent("the relay says that nobody has answered".into())),
            // By this process's own clock it has not.
            Status::Expired => {
                return Err(Reply::Absent(
                    "by the relay's clock the time for an answer has passed".into(),
                ));
            }
            Status::Withdrawn | Status::Consumed => {
                return Err(Reply::Absent(
                    "the relay has ended the question without an answer".into(),
                ));
            }
        };
        let (client, id, tries) = (self.client.clone(), held.card.id.clone(), self.tries(until, SILENT));
        // Known to nobody but this process: where an answer is lost, it alone is given the verdict again.
        let key = random_hex::<32>().map_err(Reply::Absent)?;
        let consumed = beside(withdrawal, until, move |given_up| {
            tries.of(given_up, || client.consume(&id, &key, ONE))
        })?;
        let consumed = consumed.map_err(|failed| unreachable(&failed))?;
        if Instant::now() >= until {
            return Err(Reply::Unanswered);
        }
        let checked = self.checked(held, consumed.verdict)?;
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = Some(held.card.id.clone());
        Ok(checked)
    }

    /// The verdict, if a device that is pinned now has signed it for this card, and the device's name.
    fn checked(&self, held: &SignedCard, verdict: Option<SignedVerdict>) -> Result<(Verdict, String), Reply> {
        let refused = |why: String| Reply::Absent(format!("the answer that the relay gives does not count: {why}"));
        let verdict = verdict.ok_or_else(|| refused("there is none".into()))?;
        // Who answers may have been revoked meanwhile.
        let identity = Identity::read(&self.dir, identity::MACHINE).map_err(|error| refused(format!("{error:#}")))?;
        let identity = identity.ok_or_else(|| refused(Failed::Off.to_string()))?;
        let checked = verdict.verify(&identity.believed(), &held.card);
        let checked = checked.map_err(|why| refused(why.to_string()))?.clone();
        let device = identity.pinned.iter().find(|pinned| pinned.key.id() == verdict.sig.kid);
        Ok((checked, device.map(|pinned| pinned.name.clone()).unwrap_or_default()))
    }

    /// Takes the card down. One that the relay does not hear of, it takes down itself when nobody polls for it any more.
    fn take_back(&self, held: &SignedCard, reply: &Reply) {
        let why = match reply {
            Reply::Withdrawn(Why::AnsweredElsewhere) => countersign_protocol::Why::AnsweredElsewhere,
            Reply::Withdrawn(Why::SessionEnded) => countersign_protocol::Why::SessionEnded,
            _ => countersign_protocol::Why::Timeout,
        };
        let _ = self.client.withdraw(&held.card.id, why, TAKING_BACK);
    }
}

impl Approver for Relay {
    fn is_there(&self) -> bool {
        self.client.presence(ONE).is_ok_and(|presence| presence.online > 0)
    }

    fn ask(&self, card: &Card, withdrawal: &Withdrawal) -> Reply {
        let (Ok(reply) | Err(reply)) = self.answer(card, withdrawal);
        if let Reply::Edited(_) = reply {
            self.tell(Outcome::Superseded, ONE);
        }
        reply
    }
}

fn unreachable(failed: &Failed) -> Reply {
    Reply::Unreachable(failed.to_string())
}

/// Puts the card to the relay; the same key says to it that a second try is the same request.
fn put(client: &Client, card: &SignedCard, tries: &Tries, given_up: &tries::GivenUp) -> Result<(), Failed> {
    let key = countersign_protocol::canonical::sha256(format!("{}\0{}", card.card.id, card.card.digest).as_bytes());
    tries.of(given_up, || client.put(card, &key, ONE)).map(drop)
}

/// Polls until the request stands no longer.
fn wait(client: &Client, id: &str, tries: &Tries, given_up: &tries::GivenUp) -> Result<Request, Failed> {
    let mut cuts = 0;
    tries.until_some(given_up, || {
        let wait = WAITS[cuts.min(WAITS.len() - 1)];
        let begun = Instant::now();
        match client.poll(id, wait.min(tries.left()), tries.left()) {
            Ok(request) => Ok((request.status != Status::Pending).then_some(request)),
            Err(failed) => {
                cuts += usize::from(matches!(failed, Failed::Unreachable(_)) && begun.elapsed() > CUT);
                Err(failed)
            }
        }
    })
}
