//! Requests that are sent again until one is answered, beside a person who may take the question back at any moment.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use countersign::approver::{Reply, Withdrawal, Woken};
use countersign_protocol::keys::random_hex;

use crate::client::Failed;
use crate::daemon;

/// Pauses between tries grow from the first to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// A relay that answers at once that nothing has changed is asked no more often.
const QUICKEST: Duration = Duration::from_millis(200);

/// Nobody waits for the answer any more.
#[derive(Clone, Debug, Default)]
pub struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    fn is_so(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// How long is tried, and what is done about a relay that does not answer.
#[derive(Clone, Debug)]
pub struct Tries {
    until: Instant,
    silent: Duration,
    /// The directory of what this machine knows of its relay.
    dir: PathBuf,
}

impl Tries {
    pub fn new(until: Instant, silent: Duration, dir: PathBuf) -> Self {
        Tries { until, silent, dir }
    }

    /// The same for a relay that may be silent for longer.
    pub fn patient(&self, silent: Duration) -> Self {
        Tries { silent, ..self.clone() }
    }

    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Starts this machine's own relay where that is to serve and does not. Nothing is sent before that: another program
    /// may have taken its port.
    fn is_served(&self) -> Result<(), Failed> {
        match daemon::ensure(&self.dir) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failed::Off),
            Err(error) => Err(Failed::Unreachable(format!("{error:#}"))),
        }
    }

    /// Sends a request until it is answered.
    pub fn of<T>(&self, given_up: &GivenUp, mut request: impl FnMut() -> Result<T, Failed>) -> Result<T, Failed> {
        self.until_some(given_up, || request().map(Some))
    }

    /// Sends a request until it is answered with something. An answer that is none of the protocol's, and a no that stays
    /// one, end it; what may be otherwise next time does not, for as long as the relay may be silent.
    pub fn until_some<T>(
        &self,
        given_up: &GivenUp,
        mut request: impl FnMut() -> Result<Option<T>, Failed>,
    ) -> Result<T, Failed> {
        let mut heard = Instant::now();
        let mut pause = PAUSES.0;
        loop {
            let begun = Instant::now();
            let (rest, met) = match self.is_served().and_then(|()| request()) {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => {
                    (heard, pause) = (Instant::now(), PAUSES.0);
                    (QUICKEST.saturating_sub(begun.elapsed()), Failed::Unanswered)
                }
                Err(failed) if !failed.may_pass() || heard.elapsed() >= self.silent => return Err(failed),
                Err(failed) => {
                    let rest = jittered(pause);
                    pause = (pause * 2).min(PAUSES.1);
                    (rest, failed)
                }
            };
            if given_up.is_so() || self.left() <= rest {
                return Err(met);
            }
            thread::sleep(rest);
        }
    }
}

/// Between half of the pause and all of it, so that many who wait for one relay do not come back at once.
fn jittered(pause: Duration) -> Duration {
    let chance = random_hex::<1>()
        .ok()
        .and_then(|hex| u32::from_str_radix(&hex, 16).ok());
    pause / 2 + pause / 512 * chance.unwrap_or(255)
}

/// Does `work` in a thread of its own, and waits for its end, until the time has passed or the question is taken back;
/// then nobody waits for it any more, and what is under way ends by its own limits.
///
/// # Errors
/// The reply that ends the question.
pub fn beside<T: Send + 'static>(
    withdrawal: &Withdrawal,
    until: Instant,
    work: impl FnOnce(&GivenUp) -> T + Send + 'static,
) -> Result<T, Reply> {
    let absent = |error: std::io::Error| Reply::Absent(format!("it cannot be waited for: {error}"));
    let (told, teller) = UnixStream::pair().map_err(absent)?;
    let (sender, receiver) = mpsc::channel();
    let given_up = GivenUp::default();
    let to_work = given_up.clone();
    thread::spawn(move || {
        let _ = sender.send(work(&to_work));
        // Its end alone would wake whoever waits; a byte says it too.
        let _ = (&teller).write_all(b"e");
    });
    let woken = withdrawal.wait_for_input(told.as_fd(), until);
    given_up.0.store(true, Ordering::SeqCst);
    match woken {
        Woken::Input => receiver
            .recv()
            .map_err(|_| Reply::Absent("waiting has ended with an error of Countersign's own".into())),
        Woken::Withdrawn(why) => Err(Reply::Withdrawn(why)),
        Woken::Late => Err(Reply::Unanswered),
    }
}
