//! Waiting for what other processes do.

use std::thread;
use std::time::{Duration, Instant};

/// Waits until it is so, and fails where it is not within that time.
#[track_caller]
pub fn eventually(what: &str, within: Duration, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + within;
    while !is_so() {
        assert!(Instant::now() < end, "not in time: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
