//! The time of day, which anybody may set, and a clock that goes on steadily meanwhile. What a process itself waits for is
//! measured by neither, but by [`Instant`].

use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A clock that was right when it was set last, and has gone on since, whoever has set the time of day.
#[derive(Debug)]
pub struct Steady(Mutex<(u64, Instant)>);

impl Steady {
    /// One that is right.
    pub fn new() -> Self {
        Steady(Mutex::new((now(), Instant::now())))
    }

    /// Sets it by the time of day.
    pub fn set(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (now(), Instant::now());
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> u64 {
        let (then, at) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        then.saturating_add(u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
