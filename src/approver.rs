//! Who answers a call that policy leaves open. An approver is shown a card and gives a reply; it knows nothing of the
//! host's JSON, and nothing of policy.

mod running;
pub mod terminal;

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::value::RawValue;

pub use running::Running;

use crate::decision::{Answer, Decision};
use crate::judge::Judgement;
use crate::wire::request::Request;

/// What an approver is shown.
#[derive(Clone, Copy, Debug)]
pub struct Card<'a> {
    pub request: &'a Request,
    pub judgement: &'a Judgement,
    /// The input is not the agent's any more: the person has edited it, and is asked about what it is now.
    pub edited: bool,
    /// What the host offers to remember, in words.
    pub suggestions: &'a [String],
    /// The person may stop the turn and say something instead.
    pub can_say_instead: bool,
    /// No answer counts after it.
    pub until: Instant,
}

/// What came of asking.
#[derive(Debug)]
pub enum Reply {
    Decided {
        decision: Decision,
        /// What was answered, and when.
        answer: Answer,
    },
    /// The person wants this input instead; it has yet to be judged and confirmed.
    Edited(Box<RawValue>),
    /// The turn ends, and the agent is told these words.
    SayInstead(String),
    /// Nobody answered in time.
    Unanswered,
    /// The answer is not wanted any more.
    Withdrawn,
    /// Nobody is there to ask; why.
    Absent(String),
}

/// Puts a card to a person.
pub trait Approver: Sync {
    /// Whether somebody can be asked at all, as far as that is known before.
    fn is_there(&self) -> bool;

    /// Waits for an answer until the card's time has passed or `withdrawal` comes.
    fn ask(&self, card: &Card, withdrawal: &Withdrawal) -> Reply;
}

/// By which the one who asked takes the question back; who waits for input can wait for it too.
#[derive(Debug)]
pub struct Withdrawal {
    withdrawn: AtomicBool,
    told: UnixStream,
    teller: UnixStream,
}

impl Withdrawal {
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        let (told, teller) = UnixStream::pair()?;
        Ok(Withdrawal {
            withdrawn: AtomicBool::new(false),
            told,
            teller,
        })
    }

    /// The answer is not wanted any more.
    pub fn withdraw(&self) {
        if !self.withdrawn.swap(true, Ordering::SeqCst) {
            // The flag alone is enough for whoever does not sleep.
            let _ = (&self.teller).write_all(b"w");
        }
    }

    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::SeqCst)
    }

    /// Sleeps for `time` at most; `true` if the question was taken back meanwhile.
    pub fn wait(&self, time: Duration) -> bool {
        wait_for(&[self.told.as_fd()], Instant::now() + time);
        self.is_withdrawn()
    }

    /// Waits until `input` can be read, the question is taken back, or the time has passed.
    fn wait_for_input(&self, input: BorrowedFd, until: Instant) -> Woken {
        let ready = wait_for(&[self.told.as_fd(), input], until);
        match ready {
            _ if self.is_withdrawn() => Woken::Withdrawn,
            [_, true] => Woken::Input,
            _ => Woken::Late,
        }
    }
}

enum Woken {
    Input,
    Withdrawn,
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
        assert!(!withdrawal.wait(Duration::from_millis(1)));
        std::thread::scope(|scope| {
            scope.spawn(|| withdrawal.withdraw());
            assert!(withdrawal.wait(Duration::from_secs(60)));
        });
        assert!(withdrawal.wait(Duration::from_secs(60)), "and stays taken back");
    }
}
