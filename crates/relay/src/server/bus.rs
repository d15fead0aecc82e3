//! Wakes whoever waits for a change of a request, or of what is pending.
//!
//! A change is state in the store; the bus only says that it is worth looking. Nobody loses one who first listens and then
//! looks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

#[derive(Debug)]
pub struct Bus {
    waiting: Mutex<HashMap<String, Arc<Notify>>>,
    changes: watch::Sender<u64>,
}

impl Default for Bus {
    fn default() -> Self {
        Bus {
            waiting: Mutex::default(),
            // Of two runs of the relay no two numbers are the same: it counts up slower than time does.
            changes: watch::Sender::new(super::now().unsigned_abs()),
        }
    }
}

impl Bus {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Arc<Notify>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens for changes of one request, until the listener is dropped.
    pub fn listen(self: &Arc<Self>, id: &str) -> Listener {
        let notify = Arc::clone(self.waiting().entry(id.to_owned()).or_default());
        Listener {
            bus: Arc::clone(self),
            id: id.to_owned(),
            notify,
        }
    }

    /// A counter that moves with every change of any request.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The request of this id has changed.
    pub fn changed(&self, id: &str) {
        if let Some(notify) = self.waiting().get(id) {
            notify.notify_waiters();
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Any request may have changed.
    pub fn anything(&self) {
        self.waiting().values().for_each(|notify| notify.notify_waiters());
        self.changes.send_modify(|count| *count += 1);
    }

    /// How many requests are listened for.
    pub fn listeners(&self) -> usize {
        self.waiting().len()
    }
}

/// Somebody who listens for one request.
#[derive(Debug)]
pub struct Listener {
    bus: Arc<Bus>,
    id: String,
    notify: Arc<Notify>,
}

impl Listener {
    /// The next change; it is not missed that comes after the call and before the await.
    pub fn next(&self) -> tokio::sync::futures::Notified<'_> {
        self.notify.notified()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut waiting = self.bus.waiting();
        // Its own and the table's: nobody else listens.
        if Arc::strong_count(&self.notify) <= 2 {
            waiting.remove(&self.id);
        }
    }
}
