//! Which devices could answer now: those that asked for what waits not long ago.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::clients::{Clients, Role};

/// For how long a device counts as online after it asked.
const ONLINE: Duration = Duration::from_secs(120);

/// When each device last asked, by its name.
#[derive(Debug, Default)]
pub struct Online(Mutex<HashMap<String, Instant>>);

impl Online {
    /// The device asks now.
    pub fn asks(&self, name: &str) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(name.to_owned(), Instant::now());
    }

    /// How many may answer, and how many of them are online.
    pub fn count(&self, clients: &Clients) -> (usize, usize) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, at| at.elapsed() < ONLINE);
        let known = clients.known();
        let approvers = known.values().filter(|client| client.role == Role::Approver);
        approvers.fold((0, 0), |(paired, online), client| {
            (paired + 1, online + usize::from(asked.contains_key(&client.name)))
        })
    }
}
