//! At most one object leaves a process, whole, whatever happens to it.
//!
//! Whoever wants to answer (the judge, the [watchdog](super::watchdog) at the deadline, the panic hook) must first win one
//! atomic claim.
//! The winner writes the whole line with one `write(2)`, does what is to be done after it, and ends the process with
//! status 0; everybody else stays silent. What is done after the answer cannot outlast the deadline: the watchdog then
//! ends the process.
//!
//! SIGTERM and SIGKILL keep their default disposition: they end the process between two instructions, so before the
//! `write` or after it. POSIX makes a write of at most `PIPE_BUF` bytes to a pipe one piece, and `PIPE_BUF` is 4096 on
//! Linux; every answer that echoes no input is shorter (`output::MAX_TOLD`). On macOS it is 512, which an allow and no
//! decision fit into. A longer answer that a signal cuts is no JSON object any more, and the host takes that as no
//! decision. SIGSTOP changes nothing either: after SIGCONT the deadline has passed, and an answer that comes after it
//! is no decision.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::EventKind;
use super::output::{NoDecision, output};
use super::watchdog::{self, Late};
use crate::audit::{self, Entry};
use crate::decision::{Decision, Deny};
use crate::escape::visible;

/// The most bytes of a diagnosis.
const MAX_DIAGNOSIS: usize = 1000;

/// What is done once an error was answered with no decision: told the event and why.
pub type AfterError = Box<dyn Fn(EventKind, &str) + Send + Sync>;

/// The right to answer on standard output, once.
pub struct Once {
    shared: Arc<Shared>,
    deadline: Instant,
}

struct Shared {
    after_error: AfterError,
    limit: Duration,
    /// What is printed where nobody decides, by what is known so far.
    silence: Mutex<Silence>,
}

#[derive(Clone, Debug)]
struct Silence {
    event: EventKind,
    no_decision: NoDecision,
    decision: Decision,
}

impl Silence {
    fn line(&self) -> String {
        output(self.event, None, &self.decision, self.no_decision)
    }
}

impl Once {
    /// Starts the watchdog and takes over panics: from here on the process ends with status 0 and at most one object.
    /// `limit`, in whole seconds, runs from this call to the answer; when it has passed, the answer is no decision.
    /// `expected` is the event that an error is answered for until the real one is known.
    pub fn start(expected: EventKind, limit: Duration, after_error: AfterError) -> Self {
        let once = Once {
            shared: Arc::new(Shared {
                after_error,
                limit,
                silence: Mutex::new(Silence {
                    event: expected,
                    no_decision: NoDecision::default(),
                    decision: Decision::None,
                }),
            }),
            deadline: Instant::now() + limit,
        };
        let shared = Arc::clone(&once.shared);
        panic::set_hook(Box::new(move |panic| {
            if watchdog::claim() {
                shared.give_none(&format!("an error in Countersign itself: {panic}"));
            }
            process::exit(0)
        }));
        once.shared.prepare();
        match watchdog::start(limit) {
            Ok(()) => once,
            Err(error) => once.none(&format!("the watchdog cannot start: {error}")),
        }
    }

    /// From now on an error is answered for `event`.
    pub fn expect(&self, event: EventKind) {
        self.shared.silence().event = event;
        self.shared.prepare();
    }

    /// From now on no decision is printed so.
    pub fn print_none_as(&self, no_decision: NoDecision) {
        self.shared.silence().no_decision = no_decision;
        self.shared.prepare();
    }

    /// How no decision is printed.
    pub fn none_is_printed_as(&self) -> NoDecision {
        self.shared.silence().no_decision
    }

    /// From now on this denial is printed where otherwise there would be no decision.
    pub fn deny_instead(&self, denial: Deny) {
        self.shared.silence().decision = Decision::Deny(denial);
        self.shared.prepare();
    }

    /// Answers with `line` and comes back; the caller then ends the process. After the deadline the answer is no
    /// decision, and this ends it.
    pub fn answer(&self, line: &str) {
        self.claim_or_end();
        if Instant::now() >= self.deadline {
            self.shared.give_none("the answer came after the deadline");
            process::exit(0)
        }
        self.shared.print(line);
    }

    /// Answers with no decision (or the denial that is to stand instead), says why on standard error, and ends the process.
    pub fn none(&self, why: &str) -> ! {
        self.claim_or_end();
        self.shared.give_none(why);
        process::exit(0)
    }

    /// Answers that this process steps aside, says why on standard error, and ends the process.
    pub fn aside(&self, why: &str) -> ! {
        self.claim_or_end();
        self.shared.silence().decision = Decision::Aside;
        self.shared.give(why);
        process::exit(0)
    }

    /// Stops the watchdog, for another program that takes this process over and starts its own.
    pub fn stop_watching(&self) {
        watchdog::stop();
    }

    /// When no answer counts any more.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Where the watchdog has answered already, what is left is to say so and to end.
    fn claim_or_end(&self) {
        if !watchdog::claim() {
            let event = self.shared.silence().event;
            (self.shared.after_error)(event, &self.shared.late());
            process::exit(0)
        }
    }
}

impl Shared {
    fn silence(&self) -> MutexGuard<'_, Silence> {
        self.silence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_none(&self, why: &str) {
        let event = self.give(why);
        (self.after_error)(event, why);
    }

    fn give(&self, why: &str) -> EventKind {
        let silence = self.silence().clone();
        self.print(&silence.line());
        diagnose(why);
        silence.event
    }

    /// What the watchdog would say.
    fn prepare(&self) {
        let answer = self.silence().line() + "\n";
        watchdog::prepare(Late {
            answer,
            why: diagnosis(&self.late()),
        });
    }

    fn late(&self) -> String {
        let seconds = self.limit.as_secs();
        format!("no decision within {seconds} s: the question stays with you")
    }

    /// Only for the one who has the claim.
    fn print(&self, line: &str) {
        write_whole(io::stdout(), format!("{line}\n"));
        watchdog::given();
    }
}

/// Adds a line to the record, or tells why it cannot be: nothing here can change the answer.
pub fn record(entry: &Entry) {
    if let Err(error) = audit::record(entry) {
        diagnose(&format!("the answer stands, but is not recorded: {error}"));
    }
}

/// One line on standard error. It has no part in the answer.
pub fn diagnose(why: &str) {
    write_whole(io::stderr(), diagnosis(why));
}

/// One line for standard error, with nothing hidden in it.
fn diagnosis(why: &str) -> String {
    let mut line: String = visible(why).chars().take(MAX_DIAGNOSIS).collect();
    line.insert_str(0, "countersign: ");
    line.push('\n');
    line
}

/// One `write(2)`, past the buffers of the standard library, which may write in pieces. A reader that is gone is no
/// error: nobody is left to tell.
fn write_whole(stream: impl AsFd, text: String) {
    if let Ok(descriptor) = stream.as_fd().try_clone_to_owned() {
        let _ = File::from(descriptor).write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnosis_is_one_bounded_line_without_control_characters() {
        let line = diagnosis(&format!("a\n\u{1b}[31m{}", "é".repeat(5000)));
        assert!(line.starts_with("countersign: a\\n\\u{1b}[31m"));
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.chars().count() < MAX_DIAGNOSIS + 20);
    }
}
