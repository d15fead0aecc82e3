//! The requests that a long-lived face is settling, each of which the host may take back.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Why, Withdrawal};

/// How long what still stands has to be taken down.
const TAKING_DOWN: Duration = Duration::from_millis(500);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The requests by their ids.
#[derive(Debug, Default)]
pub struct Running(Mutex<HashMap<String, Arc<Withdrawal>>>);

impl Running {
    fn requests(&self) -> MutexGuard<'_, HashMap<String, Arc<Withdrawal>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The request of this id is being settled; gives the other one where one stands under the same id, and then nothing
    /// has changed.
    pub fn begin(&self, id: &str, withdrawal: &Arc<Withdrawal>) -> Option<Arc<Withdrawal>> {
        match self.requests().entry(id.to_owned()) {
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::clone(withdrawal));
                None
            }
            Entry::Occupied(standing) => Some(Arc::clone(standing.get())),
        }
    }

    /// The request of this id is settled.
    pub fn end(&self, id: &str) {
        self.requests().remove(id);
    }

    /// The host takes back the request of this id; `true` if it stood.
    pub fn withdraw(&self, id: &str) -> bool {
        let withdrawal = self.requests().get(id).cloned();
        if let Some(withdrawal) = &withdrawal {
            withdrawal.withdraw(Why::AnsweredElsewhere);
        }
        withdrawal.is_some()
    }

    /// Nobody wants any answer any more: waits until what stands on a terminal is taken down, for half a second at most.
    pub fn withdraw_all(&self) {
        self.requests()
            .values()
            .for_each(|withdrawal| withdrawal.withdraw(Why::SessionEnded));
        let end = Instant::now() + TAKING_DOWN;
        while !self.requests().is_empty() && Instant::now() < end {
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}
