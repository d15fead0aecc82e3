//! `countersign-relay hold`: the hook once more, with a person somewhere else to ask. The hook whose call policy has left
//! open has become this program, with the event on standard input.

use std::sync::OnceLock;
use std::time::Duration;

use countersign::cli::hook;
use countersign::hold::{self, Held, Holder};
use countersign::judge;
use countersign_protocol::Outcome;

use crate::approver::Relay;
use crate::identity;

/// How long the relay is told what became of the call, after it was answered.
const TELLING: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// From now to the answer; when it has passed there is no decision
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    deadline: u64,
}

/// Answers the event, and ends the process.
pub fn run(args: &Args) -> ! {
    let holder = AtRelay::default();
    hook::answer(
        Ok(hook::Args::of_permission_requests(args.deadline)),
        judge::judge,
        holder,
    )
}

/// Holds a call at the relay of this machine.
#[derive(Debug, Default)]
struct AtRelay {
    relay: OnceLock<Relay>,
}

impl Holder for AtRelay {
    const WAITS: bool = true;

    fn hold(&self, held: Held) {
        let opened = identity::dir().and_then(|dir| Relay::open(&dir, held.config.relay.subagent_wait));
        match opened {
            Ok(relay) => hold::settle(held, self.relay.get_or_init(|| relay)),
            Err(error) => hold::leave(held.judgement, format!("{error:#}")),
        }
    }

    fn printed(&self, allowed: bool) {
        let outcome = if allowed { Outcome::Ran } else { Outcome::Refused };
        if let Some(relay) = self.relay.get() {
            relay.tell(outcome, TELLING);
        }
    }
}
