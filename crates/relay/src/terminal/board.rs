//! What waits at the relay, as one thread hears of it while another one shows it.
//!
//! A card that does not wait any more is taken from the screen by the listener, through the same withdrawal that the
//! approver at the host's own terminal knows.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use countersign::approver::terminal::screen::Screen;
use countersign::approver::{Reply, Why, Withdrawal};
use countersign_protocol::Request;
use countersign_protocol::state::Pending;

use super::Terminal;
use super::card::Shown;
use crate::client::Failed;

/// How long one poll waits.
const WAIT: Duration = Duration::from_secs(25);
/// Pauses before a relay that does not answer is asked again grow from the one to the other.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// A relay that answers at once that nothing has changed is asked no more often.
const QUICKEST: Duration = Duration::from_millis(100);

/// What the listener knows, and what it is to take from the screen.
#[derive(Default)]
pub struct Board {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub struct State {
    /// What waits, the oldest first; `None` before the relay's first answer.
    pub waiting: Option<Vec<Request>>,
    /// Why the relay gives no answer just now.
    pub trouble: Option<String>,
    /// The relay refuses this terminal.
    refused: Option<String>,
    /// The person or the system has ended this command.
    ended: bool,
    /// What stands on the screen.
    asked: Option<(String, Arc<Withdrawal>)>,
}

impl State {
    fn waits(&self, id: &str) -> bool {
        self.waiting.iter().flatten().any(|request| request.id == id)
    }
}

impl Board {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A board that the relay's answers are kept on from now on.
    pub fn listening(terminal: &Arc<Terminal>, waiting: Option<Vec<Request>>) -> Arc<Self> {
        let board = Arc::new(Board::default());
        board.state().waiting = waiting;
        let (listener, terminal) = (Arc::clone(&board), Arc::clone(terminal));
        thread::spawn(move || listen(&terminal, &listener));
        board
    }

    /// The command ends: what stands is taken down, and nothing is said any more.
    pub fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Takes the terminal for one card, until it is answered or does not wait any more; that is said.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn stand<T>(
        &self,
        shown: &Shown,
        ask: impl FnOnce(&mut Screen) -> Result<T, Reply>,
    ) -> io::Result<Result<T, Reply>> {
        let withdrawal = Arc::new(Withdrawal::new()?);
        let standing = (shown.card.id.clone(), Arc::clone(&withdrawal));
        self.change(|state| state.asked = Some(standing));
        // No longer by any clock: the relay and the machine that asks know how much of it is left.
        let until = Instant::now() + Duration::from_millis(shown.card.lives_for);
        let asked = Screen::open(until, &withdrawal).and_then(|mut screen| {
            let asked = ask(&mut screen);
            match &asked {
                Err(Reply::Withdrawn(_)) if self.state().ended => {}
                Err(Reply::Withdrawn(_)) => screen.say("(not asked any more: it was answered elsewhere, or has ended)"),
                Err(Reply::Unanswered) => screen.say("(not asked any more: its time has passed)"),
                Ok(_) | Err(_) => {}
            }
            asked
        });
        self.change(|state| state.asked = None);
        Ok(asked)
    }

    /// Changes what is known, and takes down what is not asked any more.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        if let Some((id, withdrawal)) = &state.asked
            && (state.ended || !state.waits(id))
        {
            withdrawal.withdraw(Why::AnsweredElsewhere);
        }
        self.changed.notify_all();
    }

    /// Waits until there is something to say or to do.
    pub fn next(&self, mut of: impl FnMut(&mut State) -> Option<Next>) -> Next {
        let mut state = self.state();
        loop {
            if state.ended {
                return Next::Ended;
            }
            if let Some(why) = state.refused.take() {
                return Next::Refused(why);
            }
            if let Some(next) = of(&mut state) {
                return next;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What the showing thread does next.
pub enum Next {
    Show(Vec<Request>),
    /// The relay gives no answer, and why; or it does again.
    Trouble(Option<String>),
    Refused(String),
    Ended,
}

/// Keeps the board as the relay has it, for as long as the relay takes this terminal.
fn listen(terminal: &Terminal, board: &Board) {
    let mut known = None;
    let mut pause = PAUSES.0;
    loop {
        let begun = Instant::now();
        // The count of changes is of one run of the relay: after a failure it may be another's.
        let answer = match known {
            Some(revision) => terminal.client.pending(WAIT, revision),
            None => terminal.client.pending(Duration::ZERO, 0),
        };
        match answer {
            Ok(Pending { revision, requests }) => {
                (known, pause) = (Some(revision), PAUSES.0);
                board.change(|state| {
                    state.waiting = Some(requests);
                    state.trouble = None;
                });
                thread::sleep(QUICKEST.saturating_sub(begun.elapsed()));
            }
            Err(Failed::Refused {
                status: 401 | 403 | 426,
                message,
                ..
            }) => return board.change(|state| state.refused = Some(message)),
            Err(failed) => {
                known = None;
                board.change(|state| state.trouble = Some(failed.to_string()));
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }
}
