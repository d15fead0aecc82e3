//! A person who is asked at the terminal of this process and at the relay at once: whoever answers first has answered.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use countersign::approver::terminal::Terminal;
use countersign::approver::{Approver, Card, Reply, Why, Withdrawal};

use super::Relay;

/// How soon it is seen that the question was taken back.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The terminal, where there is one, and the relay.
#[derive(Debug)]
pub struct Anywhere(pub Relay);

impl Approver for Anywhere {
    fn is_there(&self) -> bool {
        Terminal.is_there() || self.0.is_there()
    }

    fn ask(&self, card: &Card, withdrawal: &Withdrawal) -> Reply {
        if !Terminal.is_there() {
            return self.0.ask(card, withdrawal);
        }
        let withdrawals = (Withdrawal::new(), Withdrawal::new());
        let (Ok(at_terminal), Ok(at_relay)) = withdrawals else {
            return Reply::Absent("no descriptor is left".into());
        };
        let (sender, replies) = mpsc::channel();
        thread::scope(|scope| {
            let to_terminal = sender.clone();
            let (asked_here, asked_there) = (&at_terminal, &at_relay);
            scope.spawn(move || to_terminal.send(Terminal.ask(card, asked_here)));
            scope.spawn(move || sender.send(self.0.ask(card, asked_there)));
            let reply = first(&replies, withdrawal);
            // The threads end with what they ask.
            let why = withdrawal.withdrawn().unwrap_or(Why::AnsweredElsewhere);
            at_terminal.withdraw(why);
            at_relay.withdraw(why);
            reply
        })
    }
}

/// The first of two replies that says something, or the last; or that the question was taken back.
fn first(replies: &mpsc::Receiver<Reply>, withdrawal: &Withdrawal) -> Reply {
    let mut last = None;
    loop {
        match replies.recv_timeout(BETWEEN_LOOKS) {
            Ok(reply @ (Reply::Absent(_) | Reply::Unreachable(_) | Reply::Unanswered)) if last.is_none() => {
                last = Some(reply);
            }
            Ok(reply) => return reply,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if let Some(why) = withdrawal.withdrawn() {
                    return Reply::Withdrawn(why);
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return last
                    .unwrap_or_else(|| Reply::Absent("asking has ended with an error of Countersign's own".into()));
            }
        }
    }
}
