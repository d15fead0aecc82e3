//! A permission prompt that policy leaves open is held for a person somewhere else, while the host's own dialog stays live
//! beside it. Whoever answers first has answered.
//!
//! The hook itself only hands such a call over (`cli::relay`): the program that takes it, `countersign-relay hold`, runs
//! the same hook again, and comes here.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::approver::elsewhere::{self, Signs};
use crate::approver::{Approver, Card, Reply, Shown, Withdrawal};
use crate::call::{Agent, Call, Input};
use crate::decision::{Allow, Asked, Decision, Deny, Offer, Reason, Remember, Run};
use crate::effect::Tier;
use crate::facts::Facts;
use crate::judge::{self, Judgement};
use crate::own_files;
use crate::pause::{self, Length, Pause};
use crate::policy::rules::Conditions;
use crate::policy::{By, Config, remember};
use crate::wire::EventKind;
use crate::wire::event::Event;
use crate::wire::once::{Once, diagnose};
use crate::wire::request::{HostView, Request, offers};
use crate::wire::twin::Standing;

/// The longest deadline of a hook that never holds, in seconds. What is wired without a relay ends before this.
pub const AT_ONCE: u64 = 25;

/// From the last moment in which an answer counts to the deadline: to print it and to write it down.
const MARGIN: Duration = Duration::from_secs(2);
/// How long a person before the machine has before anybody else is asked.
const ATTENDED_GRACE: Duration = Duration::from_secs(8);

/// Takes a call further that policy leaves open.
pub trait Holder {
    /// It waits in this process, which has the lock of the hook before it; else it hands the process over.
    const WAITS: bool;

    /// Has a person decide, or leaves the judgement as it is.
    fn hold(&self, held: Held);

    /// What became of it was printed: an allow, or anything else.
    fn printed(&self, allowed: bool);
}

/// A call that is held, and all that is known of it.
pub struct Held<'a> {
    pub once: &'a Once,
    /// The event as it came.
    pub bytes: &'a [u8],
    pub event: &'a Event,
    pub judgement: &'a mut Judgement,
    pub config: &'a Config,
    pub facts: &'a Facts,
    /// Somebody sits at the session.
    pub attended: bool,
    /// The host, and what may be it where that is not known.
    pub hosts: Vec<u32>,
    /// Judges a call as this one was judged, by what holds at that moment and this state of the switch; to try it, also by one
    /// more rule.
    pub judge: &'a dyn Fn(&Call, Pause, Option<&Conditions>) -> Judgement,
    pub lock: Option<&'a Standing>,
}

/// The relay's own files: `~/.local/state/countersign/relay`, by `XDG_STATE_HOME`.
pub fn relay_dir() -> Option<PathBuf> {
    Some(own_files::state_dir()?.join("relay"))
}

/// The file that says who this machine is to its relay. A relay is on where it is there.
pub const MACHINE: &str = "machine.json";

/// Whether a relay is on. Never where the project could have chosen which relay that is.
pub fn relay_is_on(facts: &Facts) -> bool {
    relay_is_here(facts) && judge::led_by_project(facts).is_none()
}

fn relay_is_here(facts: &Facts) -> bool {
    relay_dir().is_some_and(|dir| dir.join(MACHINE).is_file() && !facts.in_project(&dir))
}

/// Whether a person somewhere else is to be asked: policy has left the call open, its tier is one that the person wants
/// held, and a relay is on.
pub fn is_wanted(event: &Event, judgement: &Judgement, config: &Config, facts: &Facts) -> bool {
    let ruling = &judgement.ruling;
    let is_open = match &ruling.decision {
        Decision::Hold(_) => true,
        Decision::None | Decision::Ask(_) => event.call.input.is_for_person() || ruling.tier >= config.relay.from,
        Decision::Allow(_) | Decision::Deny(_) | Decision::Aside => false,
    };
    let is_valid = !matches!(ruling.by, By::Configuration(_));
    let may_wait = !matches!(event.call.agent, Agent::Sub { .. }) || !config.relay.subagent_wait.is_zero();
    let would_wait = event.kind == EventKind::PermissionRequest && is_open && is_valid && may_wait;
    if !would_wait || !relay_is_here(facts) {
        return false;
    }
    let led = judge::led_by_project(facts);
    if let Some(name) = &led {
        diagnose(&format!(
            "nobody is asked elsewhere: {}",
            By::ProjectVariable(name.clone())
        ));
    }
    led.is_none()
}

/// Asks the approver, and makes of its reply what the call is answered with.
///
/// Nothing is let through that was not shown: an input that the person has edited, and a call that has come to do worse
/// while it waited, are put to them again.
pub fn settle(held: Held, approver: &dyn Approver) {
    let grace = if held.attended { ATTENDED_GRACE } else { Duration::ZERO };
    let grace = held.config.relay.grace.unwrap_or(grace);
    let mut waiting = match Waiting::begin(held) {
        Ok(waiting) => waiting,
        Err((judgement, error)) => return leave(judgement, format!("it cannot be waited for: {error}")),
    };
    match waiting.withdrawal.wait(grace) {
        Some(_) => waiting.taken_back(),
        None => while waiting.ask(approver).is_continue() {},
    }
}

/// Nobody has decided, for this reason, which is said.
pub fn leave(judgement: &mut Judgement, why: String) {
    diagnose(&format!("nobody has answered elsewhere: {why}"));
    judgement.ruling.decision = Decision::None;
    judgement.ruling.by = By::Unanswered(why);
    judgement.ruling.give_back();
}

/// A question that stands.
struct Waiting<'a> {
    held: Held<'a>,
    /// The call as it was last shown, which the person may have edited.
    request: Request,
    edited: bool,
    withdrawal: Arc<Withdrawal>,
}

impl<'a> Waiting<'a> {
    /// Looks out for everything that would settle it.
    fn begin(held: Held<'a>) -> Result<Self, (&'a mut Judgement, io::Error)> {
        let (withdrawal, mut signals) = match (Withdrawal::new(), Signals::new([SIGINT, SIGTERM, SIGHUP])) {
            (Ok(withdrawal), Ok(signals)) => (Arc::new(withdrawal), signals),
            (Err(error), _) | (_, Err(error)) => return Err((held.judgement, error)),
        };
        let told = Arc::clone(&withdrawal);
        let why = elsewhere::why_ended(&held.hosts);
        thread::spawn(move || {
            for _ in signals.forever() {
                told.withdraw(why());
            }
        });
        let transcript = held.event.transcript.clone().filter(|path| path.is_absolute());
        Signs::of(&held.event.call, &held.hosts, transcript).watch(Arc::clone(&withdrawal));
        let request = Request {
            call: held.event.call.clone(),
            tool_use_id: None,
            host: HostView::default(),
        };
        Ok(Waiting {
            held,
            request,
            edited: false,
            withdrawal,
        })
    }

    /// Puts the call to the person once; goes on where it has to be put to them again.
    fn ask(&mut self, approver: &dyn Approver) -> ControlFlow<()> {
        let asked = Asked {
            digest: self.request.call.digest(),
            tool_use_id: None,
            at: Instant::now(),
            within: self.within(),
        };
        let reply = self.reply(approver, &asked);
        let shown = Shown::of(self.held.judgement);
        match reply {
            Reply::Edited(raw) => {
                match Input::read(&self.request.call.tool, &raw) {
                    Ok(input) => (self.request.call.input, self.request.call.raw_input) = (input, raw),
                    Err(why) => return self.leave(format!("the edited input is none: {why}")),
                }
                self.edited = true;
                return self.judge_again();
            }
            Reply::Decided { mut decision, answer } => {
                if let Err(void) = answer.counts(&asked) {
                    return self.leave(void.to_string());
                }
                if let Decision::Allow(allow) = &mut decision {
                    self.judge_again()?;
                    if !shown.covers(self.held.judgement) {
                        diagnose("the call has come to do more than you were shown, so you are asked again");
                        return ControlFlow::Continue(());
                    }
                    if let Allow::Run(run) = allow {
                        remember(run, answer.device.as_deref());
                        run.input = self.edited.then(|| self.request.call.raw_input.clone());
                    }
                }
                self.decide(decision, answer.device.map_or(By::Person, By::Device));
            }
            // Nothing can be said to the agent from here but with a denial.
            Reply::SayInstead(words) => {
                self.decide(Decision::Deny(Deny::new(Reason::DeniedByPerson, words)), By::Person);
            }
            Reply::Unanswered => return self.leave(format!("nobody answered within {}", Length(asked.within))),
            Reply::Absent(why) | Reply::Unreachable(why) => return self.leave(why),
            Reply::Withdrawn(_) => self.taken_back(),
        }
        ControlFlow::Break(())
    }

    fn reply(&mut self, approver: &dyn Approver, asked: &Asked) -> Reply {
        if let Some(why) = self.withdrawal.withdrawn() {
            return Reply::Withdrawn(why);
        }
        let offers = self.offers();
        let Held {
            judgement,
            facts,
            attended,
            ..
        } = &mut self.held;
        judgement.count(facts);
        let card = Card {
            request: &self.request,
            judgement,
            project: facts.project.first().map(PathBuf::as_path),
            edited: self.edited,
            attended: *attended,
            offers: &offers,
            can_say_instead: false,
            until: asked.at + asked.within,
        };
        approver.ask(&card, &self.withdrawal)
    }

    /// What may be remembered with an allow. Nothing critical is, and nothing for an input that is not the agent's; a rule
    /// only where it would have let this very call through.
    fn offers(&self) -> Vec<Offer> {
        let call = &self.request.call;
        if self.edited || self.held.judgement.ruling.tier == Tier::Critical {
            return Vec::new();
        }
        let would_do = |rule: &Conditions| {
            let judgement = (self.held.judge)(call, Pause::On, Some(rule));
            matches!(judgement.ruling.decision, Decision::Allow(_))
        };
        let rules = remember::candidates(call, &self.held.judgement.assessment.steps).into_iter();
        let rules = rules.filter(would_do).map(remember::offer);
        offers(&call.suggestions).into_iter().chain(rules).collect()
    }

    /// Judges the call by what holds now; breaks where that decides by itself: policy has come to deny the call, or
    /// Countersign was switched off or frozen. What it allows, the person still has to.
    fn judge_again(&mut self) -> ControlFlow<()> {
        let pause = pause::now();
        if matches!(pause, Pause::Off { .. } | Pause::Unreadable(_)) {
            self.taken_back();
            return ControlFlow::Break(());
        }
        self.held.judgement.ruling.give_back();
        *self.held.judgement = (self.held.judge)(&self.request.call, pause, None);
        let ruling = &self.held.judgement.ruling;
        match &ruling.decision {
            Decision::Deny(_) => ControlFlow::Break(()),
            _ if matches!(ruling.by, By::Configuration(_)) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// How long the person is waited for.
    fn within(&self) -> Duration {
        let deadline = self.held.once.deadline();
        let left = deadline
            .saturating_duration_since(Instant::now())
            .saturating_sub(MARGIN);
        let own = match &self.held.judgement.ruling.decision {
            Decision::Hold(hold) => hold.timeout,
            _ => None,
        };
        let is_subagent = matches!(self.request.call.agent, Agent::Sub { .. });
        let of_subagent = is_subagent.then_some(self.held.config.relay.subagent_wait);
        [own, of_subagent].into_iter().flatten().fold(left, Duration::min)
    }

    fn decide(&mut self, decision: Decision, by: By) {
        self.held.judgement.ruling.decision = decision;
        self.held.judgement.ruling.by = by;
    }

    fn leave(&mut self, why: String) -> ControlFlow<()> {
        leave(self.held.judgement, why);
        ControlFlow::Break(())
    }

    fn taken_back(&mut self) {
        self.decide(Decision::Aside, By::Withdrawn);
        self.held.judgement.ruling.give_back();
    }
}

/// Writes down a rule that the person has remembered. Where it cannot be, the call runs all the same, and it is said.
fn remember(run: &Run, device: Option<&str>) {
    let Some(Remember::Rule(rule)) = &run.remember else {
        return;
    };
    let written = match own_files::config_file() {
        Some(file) => remember::write(&file, rule, device.unwrap_or("a terminal")),
        None => Err(io::Error::other("no home directory is known")),
    };
    if let Err(error) = written {
        diagnose(&format!("the call runs, but the rule is not remembered: {error}"));
    }
}
