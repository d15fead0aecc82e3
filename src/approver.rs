//! Who answers a call that policy leaves open. An approver is shown a card and gives a reply; it knows nothing of the
//! host's JSON, and nothing of policy.

pub mod elsewhere;
mod running;
pub mod terminal;

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::value::RawValue;

pub use running::Running;

use crate::decision::{Answer, Decision, Offer};
use crate::effect::{Effect, Tier};
use crate::judge::Judgement;
use crate::wire::request::Request;

/// What an approver is shown.
#[derive(Clone, Copy, Debug)]
pub struct Card<'a> {
    pub request: &'a Request,
    pub judgement: &'a Judgement,
    /// The project's directory.
    pub project: Option<&'a Path>,
    /// Somebody sits at the session, whose own dialog waits for the same answer.
    pub attended: bool,
    /// The input is not the agent's any more: the person has edited it, and is asked about what it is now.
    pub edited: bool,
    /// What may be remembered with an allow.
    pub offers: &'a [Offer],
    /// The person may stop the turn and say something instead.
    pub can_say_instead: bool,
    /// No answer counts after it.
    pub until: Instant,
}

/// What a person has seen that the call would do.
#[derive(Clone, Debug)]
pub struct Shown {
    tier: Tier,
    proven: bool,
    effects: Vec<Effect>,
}

impl Shown {
    pub fn of(judgement: &Judgement) -> Self {
        Shown {
            tier: judgement.ruling.tier,
            proven: judgement.ruling.proven,
            effects: effects(judgement).cloned().collect(),
        }
    }

    /// Whether the call would do nothing else now. A script that nobody vouches for is not looked into, then or now.
    pub fn covers(&self, now: &Judgement) -> bool {
        let ruling = &now.ruling;
        ruling.tier <= self.tier
            && (ruling.proven || !self.proven)
            && effects(now).all(|effect| self.effects.contains(effect))
    }
}

fn effects(judgement: &Judgement) -> impl Iterator<Item = &Effect> {
    judgement.assessment.steps.iter().flat_map(|step| &step.effects)
}

/// What came of asking.
#[derive(Debug)]
pub enum Reply {
    Decided {
        decision: Decision,
        /// What was answered, and when.
        answer: Box<Answer>,
    },
    /// The person wants this input instead; it has yet to be judged and confirmed.
    Edited(Box<RawValue>),
    /// The turn ends, and the agent is told these words.
    SayInstead(String),
    /// Nobody answered in time.
    Unanswered,
    /// The answer is not wanted any more.
    Withdrawn(Why),
    /// Nobody is there to ask; why.
    Absent(String),
    /// Whoever there is cannot be reached; why.
    Unreachable(String),
}

/// Puts a card to a person.
pub trait Approver: Send + Sync {
    /// Whether somebody can be asked at all, as far as that is known before.
    fn is_there(&self) -> bool;

    /// Waits for an answer until the card's time has passed or `withdrawal` comes.
    fn ask(&self, card: &Card, withdrawal: &Withdrawal) -> Reply;
}

/// Why a question was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The call was answered in another place, or is not asked about any more.
    AnsweredElsewhere,
    /// The session that asked has ended.
    SessionEnded,
}

/// By which the one who asked takes the question back; who waits for input can wait for it too.
#[derive(Debug)]
pub struct Withdrawal {
    withdrawn: OnceLock<Why>,
    told: UnixStream,
    teller: UnixStream,
}

impl Withdrawal {
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        let (told, teller) = UnixStream::pair()?;
        Ok(Withdrawal {
            withdrawn: OnceLock::new(),
            told,
            teller,
        })
    }

    /// The answer is not wanted any more. Only the first reason counts.
    pub fn withdraw(&self, why: Why) {
        if self.withdrawn.set(why).is_ok() {
            // The reason alone is enough for whoever does not sleep.
            let _ = (&self.teller).write_all(b"w");
        }
    }

    /// Why the question was taken back, if it was.
    pub fn withdrawn(&self) -> Option<Why> {
        self.withdrawn.get().copied()
    }

    /// Sleeps for `time` at most, or until the question is taken back.
    pub fn wait(&self, time: Duration) -> Option<Why> {
        wait_for(&[self.told.as_fd()], Instant::now() + time);
        self.withdrawn()
    }

    /// Waits until `input` can be read, the question is taken back, or the time has passed.
    pub fn wait_for_input(&self, input: BorrowedFd, until: Instant) -> Woken {
        let ready = wait_for(&[self.told.as_fd(), input], until);
        match (self.withdrawn(), ready) {
            (Some(why), _) => Woken::Withdrawn(why),
            (None, [_, true]) => Woken::Input,
            (None, _) => Woken::Late,
        }
    }
}

/// What has ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    Input,
    Withdrawn(Why),
    Late,
}

/// Which of the descriptors can be read, once one can or the time has passed.
fn wait_for<const N: usize>(descriptors: &[BorrowedFd; N], until: Instant) -> [bool; N] {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok();
        let mut polled = descriptors.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        match poll(&mut polled, left.as_ref()) {
            Ok(0) => return [false; N],
            Ok(_) => return polled.map(|polled| !polled.revents().is_empty()),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return [false; N],
        }
    }
}

/// Whether the other end of a terminal is gone, after which it can be read for ever and gives nothing.
fn has_hung_up(terminal: impl AsFd) -> bool {
    let mut polled = [PollFd::new(&terminal, PollFlags::IN)];
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut polled, Some(&Timespec::default())).is_ok() && polled[0].revents().intersects(gone)
}

/// Reads what is there, at most the buffer's length.
fn read_some(mut input: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_is_taken_back_wakes_who_waits_at_once() {
        let withdrawal = Withdrawal::new().expect("descriptors");
        assert_eq!(withdrawal.wait(Duration::from_millis(1)), None);
        std::thread::scope(|scope| {
            scope.spawn(|| withdrawal.withdraw(Why::SessionEnded));
            assert_eq!(withdrawal.wait(Duration::from_secs(60)), Some(Why::SessionEnded));
        });
        withdrawal.withdraw(Why::AnsweredElsewhere);
        let first = Some(Why::SessionEnded);
        assert_eq!(withdrawal.wait(Duration::from_secs(60)), first, "and stays taken back");
    }
}
