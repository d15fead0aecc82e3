//! What has happened since the start, as Prometheus reads it: counts and times, no content.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The upper bounds of the times from a question to its answer, in seconds.
const BOUNDS: [u32; 11] = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];

#[derive(Debug, Default)]
pub struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// By the template of the path, and the status.
    answers: BTreeMap<(String, u16), u64>,
    /// By the word of docs/protocol.md.
    refusals: BTreeMap<String, u64>,
    /// What became of requests, by a word.
    requests: BTreeMap<&'static str, u64>,
    /// Answers that took no longer than each bound.
    within: [u64; BOUNDS.len()],
    decisions: u64,
    seconds: f64,
}

/// What is measured when it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    pub pending: u64,
    pub listeners: usize,
    pub connections: usize,
    pub paired: usize,
    pub online: usize,
}

impl Metrics {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn answered(&self, route: &str, status: u16, refusal: Option<&str>) {
        let mut counts = self.counts();
        *counts.answers.entry((route.to_owned(), status)).or_default() += 1;
        if let Some(refusal) = refusal {
            *counts.refusals.entry(refusal.to_owned()).or_default() += 1;
        }
    }

    /// So many requests have come to this.
    pub fn requests(&self, word: &'static str, many: usize) {
        *self.counts().requests.entry(word).or_default() += many as u64;
    }

    /// A person has answered, so long after the question was put.
    pub fn decided(&self, millis: i64) {
        let seconds = (millis.max(0) as f64) / 1000.0;
        let mut counts = self.counts();
        counts.decisions += 1;
        counts.seconds += seconds;
        for (within, bound) in counts.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= f64::from(bound));
        }
    }

    pub fn text(&self, now: Now) -> String {
        let counts = self.counts();
        let mut text = String::new();
        let mut line = |words: std::fmt::Arguments| {
            // Writing to a text does not fail.
            let _ = writeln!(text, "countersign_relay_{words}");
        };
        let gauges = [
            ("pending", now.pending),
            ("held_polls", now.listeners as u64),
            ("connections", now.connections as u64),
            ("devices_paired", now.paired as u64),
            ("devices_online", now.online as u64),
        ];
        for (name, value) in gauges {
            line(format_args!("{name} {value}"));
        }
        for (word, count) in &counts.requests {
            line(format_args!("requests_total{{became=\"{word}\"}} {count}"));
        }
        for (code, count) in &counts.refusals {
            line(format_args!("refusals_total{{error=\"{code}\"}} {count}"));
        }
        for ((route, status), count) in &counts.answers {
            line(format_args!(
                "answers_total{{route=\"{route}\",status=\"{status}\"}} {count}"
            ));
        }
        for (within, bound) in counts.within.iter().zip(BOUNDS) {
            line(format_args!("decision_seconds_bucket{{le=\"{bound}\"}} {within}"));
        }
        line(format_args!(
            "decision_seconds_bucket{{le=\"+Inf\"}} {}",
            counts.decisions
        ));
        line(format_args!("decision_seconds_sum {}", counts.seconds));
        line(format_args!("decision_seconds_count {}", counts.decisions));
        typed(&text)
    }
}

/// Puts the type of each metric before its first line.
fn typed(lines: &str) -> String {
    let mut text = String::new();
    let mut before = "";
    for line in lines.lines() {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        let (name, kind) = match name.split_once("_seconds_") {
            Some((start, _)) => (&name[..start.len() + "_seconds".len()], "histogram"),
            None if name.ends_with("_total") => (name, "counter"),
            None => (name, "gauge"),
        };
        if name != before {
            let _ = writeln!(text, "# TYPE {name} {kind}");
            before = name;
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_told_as_prometheus_reads_it() {
        let metrics = Metrics::default();
        metrics.answered("/v1/requests", 201, None);
        metrics.answered("/v1/requests", 429, Some("rate"));
        metrics.requests("created", 1);
        metrics.decided(4_500);
        metrics.decided(90_000_000);
        let now = Now {
            pending: 3,
            listeners: 2,
            connections: 4,
            paired: 1,
            online: 0,
        };
        let text = metrics.text(now);
        for line in [
            "# TYPE countersign_relay_pending gauge\ncountersign_relay_pending 3\n",
            "# TYPE countersign_relay_requests_total counter\ncountersign_relay_requests_total{became=\"created\"} 1\n",
            "countersign_relay_refusals_total{error=\"rate\"} 1\n",
            "countersign_relay_answers_total{route=\"/v1/requests\",status=\"201\"} 1\n",
            "# TYPE countersign_relay_decision_seconds histogram\ncountersign_relay_decision_seconds_bucket{le=\"1\"} 0\n",
            "_bucket{le=\"5\"} 1\n",
            "_bucket{le=\"86400\"} 1\n",
            "_bucket{le=\"+Inf\"} 2\n",
            "_sum 90004.5\ncountersign_relay_decision_seconds_count 2\n",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert_eq!(text.matches("# TYPE").count(), 9);
    }
}
