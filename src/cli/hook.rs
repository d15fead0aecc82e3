//! `countersign hook`: one event in, at most one object out, status 0 whatever happens.
//!
//! The host starts this process for every call, so its arguments are read before clap is touched, and it opens no file
//! that it does not need. A usage error of clap would end with status 2, which the host takes as a denial of a
//! `PreToolUse` event; here a wrong argument is no decision.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::{self, ExitCode};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::relay::HandOver;
use crate::audit::Masker;
use crate::audit::entry::{Action, Answered, Entry};
use crate::call::Call;
use crate::decision::{Decision, Deny};
use crate::effect::Tier;
use crate::facts::Facts;
use crate::hold::{self, AT_ONCE, Held, Holder};
use crate::judge::{self, Judgement};
use crate::own_files;
use crate::pause::{self, Freeze, Pause};
use crate::policy::config::{self, Invalid};
use crate::policy::rules::{Conditions, Rule};
use crate::policy::{Buckets, Circumstances, Config, Guard, Policy, Wiring};
use crate::presence::{HandedOn, Other};
use crate::process::{Told, told};
use crate::wire::EventKind;
use crate::wire::event::{self, Event, MAX_BYTES};
use crate::wire::once::{self, Once};
use crate::wire::output::output;
use crate::wire::twin::{self, Standing};

/// The deadline where the arguments set none, in seconds.
const DEADLINE: u64 = AT_ONCE;

/// The longest deadline: the longest time that the host lets a hook run.
const LONGEST_DEADLINE: u64 = 24 * 60 * 60;

#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct Args {
    /// From the start to the answer; when it has passed there is no decision
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = DEADLINE)]
    deadline: u64,
    /// Answer `allow` to a PreToolUse event of a harmless call
    #[arg(long)]
    early: bool,
    /// Deny PreToolUse events of this tier and above: low, medium, high or critical
    #[arg(long, value_name = "TIER", value_parser = tier)]
    guard: Option<Tier>,
    /// Let the guard ask instead of denying
    #[arg(long, requires = "guard")]
    guard_asks: bool,
}

fn seconds(text: &str) -> Result<u64, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|seconds| (1..=LONGEST_DEADLINE).contains(seconds));
    seconds.ok_or(format!("write a whole number of seconds from 1 to {LONGEST_DEADLINE}"))
}

fn tier(text: &str) -> Result<Tier, String> {
    let tier = Tier::parse(text).filter(|&tier| tier > Tier::Safe);
    tier.ok_or("write low, medium, high or critical".into())
}

impl Args {
    /// Reads the arguments after `hook`, exactly those that clap would accept.
    ///
    /// # Errors
    /// One line for a person.
    pub fn read(words: &[OsString]) -> Result<Self, String> {
        let mut deadline = None;
        let mut guard = None;
        let (mut early, mut guard_asks) = (false, false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let word = word.to_str().ok_or("an argument is not UTF-8")?;
            let (name, glued) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let mut value = || {
                let value = glued.or_else(|| words.next().and_then(|value| value.to_str()));
                value.ok_or_else(|| format!("{name} needs a value"))
            };
            let twice = || format!("{name} is given twice");
            let named = |error: String| format!("{name}: {error}");
            match (name, glued) {
                ("--deadline", _) if deadline.is_some() => return Err(twice()),
                ("--deadline", _) => deadline = Some(seconds(value()?).map_err(named)?),
                ("--guard", _) if guard.is_some() => return Err(twice()),
                ("--guard", _) => guard = Some(tier(value()?).map_err(named)?),
                ("--early", None) if early => return Err(twice()),
                ("--early", None) => early = true,
                ("--guard-asks", None) if guard_asks => return Err(twice()),
                ("--guard-asks", None) => guard_asks = true,
                _ => return Err(format!("`{word}` is no argument of hook")),
            }
        }
        if guard_asks && guard.is_none() {
            return Err("--guard-asks needs --guard".into());
        }
        Ok(Args {
            deadline: deadline.unwrap_or(DEADLINE),
            early,
            guard,
            guard_asks,
        })
    }

    /// Those of an entry that answers permission prompts within so many seconds.
    pub const fn of_permission_requests(deadline: u64) -> Self {
        Args {
            deadline,
            early: false,
            guard: None,
            guard_asks: false,
        }
    }

    fn wiring(&self) -> Wiring {
        Wiring {
            early: self.early,
            guard: self.guard.map(|tier| Guard {
                tier,
                asks: self.guard_asks,
            }),
        }
    }
}

/// Runs the hook if that is what the process's arguments ask for, and then does not come back. `hook --help` is left to
/// clap.
pub fn run_if_asked() {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    match words.split_first() {
        Some((hook, rest)) if hook == "hook" && !asks_for_help(rest) => run_here(Args::read(rest)),
        _ => {}
    }
}

fn asks_for_help(words: &[OsString]) -> bool {
    matches!(words, [word] if ["-h", "--help", "-V", "--version"].iter().any(|help| word == help))
}

/// What clap found, should anything but the first word have been `hook`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    run_here(Ok(args))
}

/// What is held is handed over: this process answers at once or not at all.
fn run_here(args: Result<Args, String>) -> ! {
    let deadline = args.as_ref().map_or(DEADLINE, |args| args.deadline);
    let end = Instant::now() + Duration::from_secs(deadline);
    answer(args, judge::judge, HandOver { end })
}

/// What judges a call: [`judge::judge`], but for tests.
pub type Judge = fn(EventKind, &Call, Wiring, &Policy, &Circumstances, &Facts) -> Judgement;

/// Answers the event on standard input by `judge`, records the answer, and ends the process. What policy leaves open goes
/// to the holder, if the deadline is longer than [`AT_ONCE`] and a relay is on.
///
/// Wrong arguments, an unreadable event or configuration, a panic of `judge`, the deadline: no decision. Until the event
/// is known, that is no decision on a `PermissionRequest`, or on a `PreToolUse` if the arguments are for one.
pub fn answer<H: Holder>(args: Result<Args, String>, judge: Judge, holder: H) -> ! {
    let known = Arc::new(Known::default());
    let deadline = args.as_ref().map_or(DEADLINE, |args| args.deadline);
    let wiring = args.as_ref().map(Args::wiring).unwrap_or_default();
    let expected = match wiring {
        Wiring {
            early: false,
            guard: None,
        } => EventKind::PermissionRequest,
        Wiring { .. } => EventKind::PreToolUse,
    };
    let for_errors = Arc::clone(&known);
    let record_error = move |event, why: &str| for_errors.record_error(event, why);
    let own_deadline = if H::WAITS { deadline } else { deadline.min(AT_ONCE) };
    let once = Once::start(expected, Duration::from_secs(own_deadline), Box::new(record_error));
    let pause = look_at_the_switches(&once, &known);
    if let Err(why) = args {
        once.none(&format!("{why}; see `countersign hook --help`"));
    }
    let (mut config, mut invalid) = configure(&once);
    let bytes = read_input(&once);
    let event = match event::read(&bytes) {
        Ok(event) => known.event.get_or_init(|| event),
        Err(error) => {
            once.expect(error.kind.unwrap_or(expected));
            once.none(&error.why)
        }
    };
    once.expect(event.kind);
    // While everything is frozen each twin denies, whoever holds the lock.
    let frozen = matches!(pause, Pause::Frozen(_));
    // Whoever waits has the lock of the hook that it was.
    let lock = (!frozen && !H::WAITS)
        .then(|| step_aside_for_twin(&once, &bytes, wiring))
        .flatten();
    let facts = Facts::live(event.call.cwd.as_deref());
    if invalid.is_none() {
        invalid = config.tighten(&facts.project).err();
    }
    let mut circumstances = Circumstances::live(pause);
    let other = other_answering(event.kind);
    if other.is_some() {
        // It counts what both of them let through.
        circumstances.buckets = Buckets::Shown;
    }
    let mut judgement = judge(event.kind, &event.call, wiring, &config.policy, &circumstances, &facts);
    if let Some(invalid) = invalid {
        judgement.ruling.withdraw(event.kind, &invalid);
    }
    if judgement.ruling.by.must_be_told() {
        once::diagnose(&judgement.ruling.by.to_string());
    }
    if let Some(other) = other
        && !is_settled(&judgement, &event.call, &config.policy)
    {
        let is_open = !matches!(judgement.ruling.decision, Decision::Allow(_) | Decision::Deny(_));
        leave_to(&other, &once, &event.call, is_open);
    }
    if (H::WAITS || deadline > AT_ONCE) && hold::is_wanted(event, &judgement, &config, &facts) {
        holder.hold(Held {
            once: &once,
            bytes: &bytes,
            event,
            judgement: &mut judgement,
            config: &config,
            facts: &facts,
            attended: circumstances.attended,
            hosts: hosts(),
            judge: &|call, pause, rule| judged_again(event.kind, call, wiring, judge, pause, rule),
            lock: lock.as_ref(),
        });
    }
    let none = once.none_is_printed_as();
    let line = output(event.kind, Some(&event.call), &judgement.ruling.decision, none);
    once.answer(&line);
    let answered = Answered {
        project: facts.project.first().map(PathBuf::as_path),
        ..known.answered(event.kind)
    };
    let action = match line == output(event.kind, Some(&event.call), &Decision::None, none) {
        true => Action::None,
        false => Action::of(&judgement.ruling.decision),
    };
    holder.printed(action == Action::Allow);
    if action != Action::Allow {
        judgement.count(&facts);
        // Nobody here learns what a person says to it.
        judgement.ruling.give_back();
    }
    let mask = Masker::of_environment();
    let mut entry = Entry::judged(&answered, &judgement, action, &mask);
    if config.log.input {
        entry.keep_input(&event.call, &mask);
    }
    once::record(&entry);
    process::exit(0)
}

/// The same call, or what a person has made of it, by what holds after they were waited for; with one more rule it is only
/// tried.
fn judged_again(
    event: EventKind,
    call: &Call,
    wiring: Wiring,
    judge: Judge,
    pause: Pause,
    rule: Option<&Conditions>,
) -> Judgement {
    let facts = Facts::live(call.cwd.as_deref());
    let read = config::effective(own_files::config_file().as_deref(), &facts.project);
    let (mut config, invalid) = match read {
        Ok(config) => (config, None),
        Err(invalid) => (Config::default(), Some(invalid)),
    };
    let mut circumstances = Circumstances::live(pause);
    if let Some(rule) = rule {
        circumstances.buckets = Buckets::Shown;
        config.policy.rules.push(Rule::tried(rule));
    }
    let mut judgement = judge(event, call, wiring, &config.policy, &circumstances, &facts);
    if let Some(invalid) = invalid {
        judgement.ruling.withdraw(event, &invalid);
    }
    judgement
}

/// What the record is told, whoever answers.
struct Known {
    start: Instant,
    event: OnceLock<Event>,
    freeze: OnceLock<Freeze>,
}

impl Default for Known {
    fn default() -> Self {
        Known {
            start: Instant::now(),
            event: OnceLock::new(),
            freeze: OnceLock::new(),
        }
    }
}

impl Known {
    fn answered(&self, event: EventKind) -> Answered<'_> {
        Answered {
            event,
            call: self.event.get().map(|event| &event.call),
            project: None,
            took: self.start.elapsed(),
        }
    }

    fn record_error(&self, event: EventKind, why: &str) {
        let mask = Masker::of_environment();
        let mut entry = Entry::error(&self.answered(event), why, &mask);
        if let Some(freeze) = self.freeze.get() {
            entry.was_frozen(freeze, &mask);
        }
        once::record(&entry);
    }
}

/// Steps aside while it is off. While it is frozen, every way from here ends in a denial.
fn look_at_the_switches(once: &Once, known: &Known) -> Pause {
    let pause = pause::now();
    match &pause {
        Pause::On => {}
        Pause::Off { .. } => once.aside("switched off; `countersign on` switches it on"),
        Pause::Unreadable(why) => once.aside(&format!("switched off, as it seems: {why}")),
        Pause::Frozen(freeze) => {
            once.deny_instead(Deny::frozen());
            known.freeze.get_or_init(|| freeze.clone());
        }
    }
    pause
}

/// What the person has set, or the defaults and why it does not hold.
fn configure(once: &Once) -> (Config, Option<Invalid>) {
    let Some(file) = own_files::config_file() else {
        return (Config::default(), None);
    };
    match config::read(&file) {
        Ok(config) => {
            once.print_none_as(config.hook.no_decision);
            (config, None)
        }
        Err(invalid) => (Config::default(), Some(invalid)),
    }
}

/// All of standard input, or one byte more than an event may have.
fn read_input(once: &Once) -> Vec<u8> {
    let mut bytes = Vec::new();
    match io::stdin().lock().take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(error) => once.none(&format!("the event cannot be read: {error}")),
    }
}

/// Takes the lock that a twin would find. What is wired differently is no twin: a guard must not be silenced by an
/// entry without one.
fn step_aside_for_twin(once: &Once, bytes: &[u8], wiring: Wiring) -> Option<Standing> {
    let dir = own_files::runtime_dir()?;
    let identity = twin::identity(&[&host_process(), format!("{wiring:?}").as_bytes(), bytes]);
    match twin::stand(&dir, identity) {
        Ok(Standing::Twin) => once.aside("another Countersign hook answers this event; wire only one"),
        Ok(alone) => Some(alone),
        Err(_) => None,
    }
}

/// In a headless session another process of ours may answer the host's prompts.
fn other_answering(event: EventKind) -> Option<Other> {
    let attended = env::var_os("CLAUDE_CODE_SESSION_ATTENDED").is_some_and(|attended| attended == "1");
    if attended || event != EventKind::PermissionRequest {
        return None;
    }
    Other::find(&own_files::runtime_dir()?, &hosts())
}

/// Whether policy has decided, and no limit is to be counted for it.
fn is_settled(judgement: &Judgement, call: &Call, policy: &Policy) -> bool {
    let ruling = &judgement.ruling;
    let limited = ruling.counts && policy.limits.iter().any(|limit| limit.is_for(&call.tool));
    matches!(ruling.decision, Decision::Allow(_) | Decision::Deny(_)) && !limited
}

/// What policy leaves open, and what is counted, is the other's to settle; this one hands on where the session stands.
fn leave_to(other: &Other, once: &Once, call: &Call, is_open: bool) -> ! {
    let handed_on = call.cwd.clone().map(|cwd| HandedOn { cwd, is_open });
    if let Some(handed_on) = handed_on
        && let Err(error) = other.hand_on(&call.digest(), &handed_on)
    {
        once::diagnose(&format!("the session's directory is not handed on: {error}"));
    }
    once.aside("another Countersign process of this session answers what policy leaves open");
}

/// The processes that may be the host: as it says itself, else those above this one, of which a shell may be one.
fn hosts() -> Vec<u32> {
    let said = env::var("CLAUDE_PID").ok().and_then(|pid| pid.parse().ok());
    said.map_or_else(
        || {
            let parent = parent_id();
            let above = told(parent, Told::Parent).and_then(|above| above.parse().ok());
            [parent].into_iter().chain(above).collect()
        },
        |pid| vec![pid],
    )
}

/// What tells the host's process from others: its id as it says it, else the parent's, which may be a shell.
fn host_process() -> Vec<u8> {
    let claude = env::var_os("CLAUDE_PID");
    let claude = claude
        .as_deref()
        .map(OsStr::as_encoded_bytes)
        .filter(|pid| !pid.is_empty());
    claude.map_or_else(|| parent_id().to_le_bytes().to_vec(), <[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Parser)]
    struct Hook {
        #[command(flatten)]
        args: Args,
    }

    fn by_hand(line: &str) -> Result<Args, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Args::read(&words)
    }

    fn by_clap(line: &str) -> Result<Args, clap::Error> {
        Hook::try_parse_from(["hook"].into_iter().chain(line.split_whitespace())).map(|hook| hook.args)
    }

    #[test]
    fn the_arguments_are_those_that_clap_shows_in_its_help() {
        let command = Hook::command();
        let mut flags: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
        flags.sort_unstable();
        assert_eq!(flags, ["deadline", "early", "guard", "guard-asks"]);
    }

    #[test]
    fn both_parsers_accept_and_refuse_the_same_lines_with_the_same_meaning() {
        let parts = [
            "--deadline 5",
            "--deadline=600",
            "--deadline",
            "--deadline=",
            "--deadline 0",
            "--deadline 86400",
            "--deadline 86401",
            "--deadline -5",
            "--deadline 1.5",
            "--deadline five",
            "--early",
            "--early=true",
            "--guard high",
            "--guard=critical",
            "--guard",
            "--guard=",
            "--guard safe",
            "--guard HIGH",
            "--guard-asks",
            "--guard-asks=x",
            "--unknown",
            "-x",
            "-",
            "word",
            "--earl",
            "--dead=5",
            "high",
        ];
        let lines = parts
            .iter()
            .flat_map(|first| parts.iter().map(move |second| format!("{first} {second}")));
        let threes = [
            "--early --guard low --guard-asks",
            "--guard-asks --deadline 9 --guard=medium",
            "",
        ];
        let lines = lines.chain(parts.iter().chain(&threes).map(|line| (*line).to_owned()));
        let mut accepted = 0;
        for line in lines {
            let (hand, clap) = (by_hand(&line), by_clap(&line));
            assert_eq!(hand.as_ref().ok(), clap.as_ref().ok(), "{line}: {hand:?} {clap:?}");
            accepted += usize::from(hand.is_ok());
        }
        assert!(accepted > 20, "{accepted}");
    }

    #[test]
    fn without_arguments_the_deadline_is_25_seconds_and_tool_uses_are_only_watched() {
        let args = by_hand("").expect("no arguments");
        assert_eq!((args.deadline, args.wiring()), (25, Wiring::default()));
    }
}
