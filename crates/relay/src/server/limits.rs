//! How much one client may ask of the relay.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many requests a client may send at once, and how many more each second.
const AT_ONCE: f64 = 400.0;
const A_SECOND: f64 = 100.0;

/// A token bucket for each client, by its name.
#[derive(Debug, Default)]
pub struct Rates(Mutex<HashMap<String, Bucket>>);

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// Counts a request of this client, or says how long to wait before the next.
    pub fn take(&self, name: &str, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets
            .entry(name.to_owned())
            .or_insert(Bucket { left: AT_ONCE, at: now });
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + since * A_SECOND).min(AT_ONCE);
        bucket.at = now;
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / A_SECOND));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_asks_too_much_waits_and_the_others_do_not() {
        let (rates, now) = (Rates::default(), Instant::now());
        let taken = (0..1000).filter(|_| rates.take("one", now).is_ok()).count();
        assert_eq!(taken, 400);
        let wait = rates.take("one", now).expect_err("it must wait");
        assert!(rates.take("other", now).is_ok());
        assert!(rates.take("one", now + wait / 2).is_err());
        assert!(rates.take("one", now + wait * 2).is_ok());
        let later = now + Duration::from_secs(3600);
        let taken = (0..1000).filter(|_| rates.take("one", later).is_ok()).count();
        assert_eq!(taken, 400, "what is not used does not pile up");
    }
}
