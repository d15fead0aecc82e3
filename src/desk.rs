//! Where a request that the host puts to this process is settled: by policy, else by a person, else by what the person
//! has set for calls that nobody answers. The prompt tool, the control protocol and the SDKs all bring theirs here.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::approver::{Approver, Card, Reply, Shown, Withdrawal};
use crate::audit::Masker;
use crate::audit::entry::{Action, Answered, Entry};
use crate::call::Input;
use crate::decision::{Allow, Asked, Decision, Deny, Hold, Reason};
use crate::effect::Tier;
use crate::facts::Facts;
use crate::judge::{self, Judgement};
use crate::own_files;
use crate::pause::{self, Length, Pause};
use crate::policy::config::{self, Config, Unanswered};
use crate::policy::{By, Circumstances, Wiring};
use crate::presence::{HandedOn, Presence};
use crate::report;
use crate::wire::EventKind;
use crate::wire::once::{self, diagnose};
use crate::wire::output::permission_result;
use crate::wire::request::{Request, offers};

/// How long the hook of the same host has to hand on where the session stands.
const HANDING_ON: Duration = Duration::from_secs(1);
/// How often it is looked for meanwhile.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Said while it is off.
const OFF: &str = "Countersign is switched off; `countersign on` switches it on.";

/// Everything that settling needs beside the request.
pub struct Desk<'a> {
    pub approver: &'a dyn Approver,
    /// Where a hook of the same host hands on what it knows.
    pub presence: Option<&'a Presence>,
    /// Where the host was started: its project, if nothing names another.
    pub start: PathBuf,
    /// The face can end the turn and tell the agent something.
    pub can_say_instead: bool,
}

/// How a request was settled.
#[derive(Debug, PartialEq, Eq)]
pub enum Settled {
    /// The host's `PermissionResult`, on one line.
    Result(String),
    /// The same, which ends the turn; then the agent is told these words.
    SayInstead { result: String, words: String },
    /// Nobody decided, and it is to be left to the host; why.
    Undecided(String),
    /// The host does not want an answer any more.
    Withdrawn,
}

impl Desk<'_> {
    /// Settles one request, and records how.
    pub fn settle(&self, request: Request, withdrawal: &Withdrawal) -> Settled {
        let mut case = Case {
            desk: self,
            request,
            withdrawal,
            begun: Instant::now(),
            arrived: SystemTime::now(),
            edited: false,
            sought: self.presence.is_none(),
            left_open: false,
        };
        loop {
            if let ControlFlow::Break(settled) = case.round() {
                return settled;
            }
        }
    }

    /// The machine as it is now, and the project of where the host was started: where the shell stands may be in a
    /// repository below, in which the project's rules would not be found.
    fn facts(&self) -> Facts {
        let mut facts = Facts::live(Some(&self.start));
        // The host reads its settings there, and not at the repository's top.
        if facts.in_project(&self.start) && !facts.project.contains(&self.start) {
            facts.project.push(self.start.clone());
        }
        facts
    }

    /// What policy makes of it, by the configuration as it is now.
    fn judged(&self, request: &Request, pause: Pause) -> Bench {
        let facts = self.facts();
        let file = own_files::config_file();
        let (config, invalid) = match config::effective(file.as_deref(), &facts.project) {
            Ok(config) => (config, None),
            Err(invalid) => (Config::default(), Some(invalid)),
        };
        let event = EventKind::CanUseTool;
        let circumstances = Circumstances {
            attended: !config.headless.wait.is_zero() && self.approver.is_there(),
            ..Circumstances::live(pause)
        };
        let mut judgement = judge::judge(
            event,
            &request.call,
            Wiring::default(),
            &config.policy,
            &circumstances,
            &facts,
        );
        if let Some(invalid) = invalid {
            judgement.ruling.withdraw(event, &invalid);
        }
        if judgement.ruling.by.must_be_told() {
            diagnose(&judgement.ruling.by.to_string());
        }
        if matches!(
            judgement.ruling.decision,
            Decision::None | Decision::Ask(_) | Decision::Hold(_)
        ) {
            judgement.count(&facts);
        }
        Bench {
            judgement,
            config,
            project: facts.project.first().cloned(),
        }
    }
}

/// A request on its way to be settled.
struct Case<'a> {
    desk: &'a Desk<'a>,
    request: Request,
    withdrawal: &'a Withdrawal,
    begun: Instant,
    arrived: SystemTime,
    /// The person has changed the input.
    edited: bool,
    /// What the hook of the same host knows was looked for.
    sought: bool,
    /// Only a person lets it run, whatever policy says of it now.
    left_open: bool,
}

impl Case<'_> {
    /// Judges the call and, where policy leaves it open, puts it to the person once; goes on where either has to be done
    /// again.
    fn round(&mut self) -> ControlFlow<Settled> {
        let mut bench = self.ruled()?;
        if let Some(HandedOn { cwd, is_open }) = self.handed_on() {
            self.request.call.cwd = Some(cwd);
            self.left_open = is_open;
            bench.judgement.ruling.give_back();
            return ControlFlow::Continue(());
        }
        let asked = Asked {
            digest: self.request.call.digest(),
            tool_use_id: self.request.tool_use_id.clone(),
            at: Instant::now(),
            within: bench.wait(),
        };
        let (reason, why) = match self.ask(&bench, &asked) {
            Reply::Edited(raw) => match Input::read(&self.request.call.tool, &raw) {
                Ok(input) => {
                    (self.request.call.input, self.request.call.raw_input) = (input, raw);
                    self.edited = true;
                    bench.judgement.ruling.give_back();
                    return ControlFlow::Continue(());
                }
                Err(why) => (Reason::Policy, why),
            },
            Reply::Decided { decision, answer } => match answer.counts(&asked) {
                Ok(()) => return self.decided(bench, decision, answer.device),
                Err(void) => (Reason::Timeout, void.to_string()),
            },
            Reply::SayInstead(words) => return ControlFlow::Break(self.say_instead(bench, words)),
            Reply::Unanswered => (
                Reason::Timeout,
                format!("nobody answered within {}", Length(asked.within)),
            ),
            Reply::Absent(why) => (
                bench.judgement.ruling.by.reason().unwrap_or(Reason::Policy),
                format!("nobody can be asked: {why}"),
            ),
            Reply::Unreachable(why) => (Reason::RelayUnreachable, why),
            Reply::Withdrawn(_) => {
                bench.decide(Decision::None, By::Withdrawn);
                bench.judgement.ruling.give_back();
                bench.record(&self.request, self.begun, Action::None);
                return ControlFlow::Break(Settled::Withdrawn);
            }
        };
        ControlFlow::Break(bench.unanswered(&self.request, self.begun, reason, &why))
    }

    /// What policy leaves open; breaks where it decides, or where Countersign is off.
    fn ruled(&self) -> ControlFlow<Settled, Bench> {
        let mut bench = self.judged()?;
        let ruling = &mut bench.judgement.ruling;
        if matches!(ruling.by, By::Frozen(_)) {
            return ControlFlow::Break(bench.settle(&self.request, self.begun));
        }
        if self.request.is_for_screen() {
            let why = "Only the terminal can answer this, and it is not asked here.";
            ruling.decision = Decision::Deny(Deny::new(Reason::UndoneByHost, why.into()));
            ruling.by = By::OnlyScreen;
        }
        match &ruling.decision {
            Decision::Allow(_) if self.edited || self.left_open || self.request.is_for_person() => {
                ruling.decision = Decision::None;
                ruling.by = By::HostAsks;
                ControlFlow::Continue(bench)
            }
            Decision::Allow(_) | Decision::Deny(_) => ControlFlow::Break(bench.settle(&self.request, self.begun)),
            _ => ControlFlow::Continue(bench),
        }
    }

    /// The call as policy sees it now; breaks where Countersign is off.
    fn judged(&self) -> ControlFlow<Settled, Bench> {
        match pause::now() {
            Pause::Off { .. } | Pause::Unreadable(_) => ControlFlow::Break(Settled::Undecided(OFF.into())),
            pause => ControlFlow::Continue(self.desk.judged(&self.request, pause)),
        }
    }

    /// What a person has decided. An allow counts for what they were shown: things may have changed while they were waited
    /// for.
    fn decided(&mut self, mut bench: Bench, mut decision: Decision, device: Option<String>) -> ControlFlow<Settled> {
        if let Decision::Allow(allow) = &mut decision {
            let shown = Shown::of(&bench.judgement);
            bench.judgement.ruling.give_back();
            bench = self.judged()?;
            let ruling = &bench.judgement.ruling;
            // Also where everything was frozen.
            if matches!(ruling.decision, Decision::Deny(_)) {
                return ControlFlow::Break(bench.settle(&self.request, self.begun));
            }
            if matches!(ruling.by, By::Configuration(_)) {
                let why = ruling.by.to_string();
                return ControlFlow::Break(bench.unanswered(&self.request, self.begun, Reason::Policy, &why));
            }
            if !shown.covers(&bench.judgement) {
                diagnose("the call has come to do more than you were shown, so you are asked again");
                self.left_open = true;
                bench.judgement.ruling.give_back();
                return ControlFlow::Continue(());
            }
            if let Allow::Run(run) = allow {
                run.input = self.edited.then(|| self.request.call.raw_input.clone());
            }
        }
        bench.decide(decision, device.map_or(By::Person, By::Device));
        ControlFlow::Break(bench.settle(&self.request, self.begun))
    }

    fn say_instead(&self, mut bench: Bench, words: String) -> Settled {
        bench.decide(Decision::Deny(Deny::stopping(Reason::DeniedByPerson)), By::Person);
        match bench.settle(&self.request, self.begun) {
            Settled::Result(result) => Settled::SayInstead { result, words },
            other => other,
        }
    }

    /// What the hook of the same host knows of the call, if it says so in time; looked for once, where the request does not
    /// say where it stands. What was there before the request is of an earlier call that was the same.
    fn handed_on(&mut self) -> Option<HandedOn> {
        if self.sought || self.request.call.cwd.is_some() {
            return None;
        }
        self.sought = true;
        let presence = self.desk.presence?;
        let digest = self.request.call.digest();
        let end = Instant::now() + HANDING_ON;
        loop {
            if let Some(handed_on) = presence.take(&digest, self.arrived) {
                return Some(handed_on);
            }
            if Instant::now() >= end || self.withdrawal.wait(BETWEEN_LOOKS).is_some() {
                return None;
            }
        }
    }

    fn ask(&self, bench: &Bench, asked: &Asked) -> Reply {
        if let Some(why) = self.withdrawal.withdrawn() {
            return Reply::Withdrawn(why);
        }
        if asked.within.is_zero() {
            return Reply::Absent("`headless.wait` is 0".into());
        }
        // Nothing critical is remembered.
        let offers = match bench.judgement.ruling.tier {
            Tier::Critical => Vec::new(),
            _ => offers(&self.request.call.suggestions),
        };
        let card = Card {
            request: &self.request,
            judgement: &bench.judgement,
            project: bench.project.as_deref(),
            attended: false,
            edited: self.edited,
            offers: &offers,
            can_say_instead: self.desk.can_say_instead,
            until: asked.at + asked.within,
        };
        self.desk.approver.ask(&card, self.withdrawal)
    }
}

/// A request as it was judged.
struct Bench {
    judgement: Judgement,
    config: Config,
    project: Option<PathBuf>,
}

impl Bench {
    fn decide(&mut self, decision: Decision, by: By) {
        self.judgement.ruling.decision = decision;
        self.judgement.ruling.by = by;
    }

    /// How long a person is waited for.
    fn wait(&self) -> Duration {
        match &self.judgement.ruling.decision {
            Decision::Hold(Hold {
                timeout: Some(timeout), ..
            }) => *timeout,
            _ => self.config.headless.wait,
        }
    }

    /// Nobody decided, for this reason.
    fn unanswered(&mut self, request: &Request, begun: Instant, reason: Reason, why: &str) -> Settled {
        let denial = match self.config.headless.unanswered {
            Unanswered::None => {
                self.decide(Decision::None, By::Unanswered(why.to_owned()));
                self.judgement.ruling.give_back();
                self.record(request, begun, Action::None);
                return Settled::Undecided(format!("It needs a person, and {why}."));
            }
            Unanswered::DenyAndStop => Deny::stopping(reason),
            Unanswered::Deny => Deny::new(
                reason,
                format!(
                    "It needs a person, and {why}. It is {}: {}",
                    self.judgement.ruling.tier,
                    report::summary(&self.judgement.assessment)
                ),
            ),
        };
        self.decide(Decision::Deny(denial), By::Unanswered(why.to_owned()));
        self.settle(request, begun)
    }

    fn settle(&mut self, request: &Request, begun: Instant) -> Settled {
        // Everything may have been frozen while a person was asked.
        if let (Decision::Allow(_), Pause::Frozen(freeze)) = (&self.judgement.ruling.decision, pause::now()) {
            self.decide(Decision::Deny(Deny::frozen()), By::Frozen(freeze.to_string()));
        }
        if !matches!(self.judgement.ruling.decision, Decision::Allow(_)) {
            self.judgement.ruling.give_back();
        }
        let Some(result) = permission_result(Some(&request.call), &self.judgement.ruling.decision) else {
            self.record(request, begun, Action::None);
            return Settled::Undecided("The answer does not fit the call, or the host would refuse it.".into());
        };
        self.record(request, begun, Action::of(&self.judgement.ruling.decision));
        Settled::Result(result)
    }

    fn record(&self, request: &Request, begun: Instant, action: Action) {
        let answered = Answered {
            event: EventKind::CanUseTool,
            call: Some(&request.call),
            project: self.project.as_deref(),
            took: begun.elapsed(),
        };
        let mask = Masker::of_environment();
        let mut entry = Entry::judged(&answered, &self.judgement, action, &mask);
        if self.config.log.input {
            entry.keep_input(&request.call, &mask);
        }
        once::record(&entry);
    }
}

/// The answer to a request that cannot be read: a denial that says so.
pub fn malformed(why: &str, start: &Path, begun: Instant) -> String {
    let answered = Answered {
        event: EventKind::CanUseTool,
        call: None,
        project: Some(start),
        took: begun.elapsed(),
    };
    let mask = Masker::of_environment();
    let mut entry = Entry::refused(&answered, Reason::Malformed, why, &mask);
    let mut denial = Deny::new(Reason::Malformed, format!("The call cannot be read: {why}."));
    if let Pause::Frozen(freeze) = pause::now() {
        denial = Deny::frozen();
        entry.was_frozen(&freeze, &mask);
    }
    once::record(&entry);
    permission_result(None, &Decision::Deny(denial)).expect("a denial needs no call")
}
