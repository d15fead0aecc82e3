//! The person's `config.toml` and a project's `.countersign.toml`: from text to what holds.
//!
//! A file is checked as a whole: one wrong line, and every call stays with the person until it is right. A project's
//! file may only tighten, so it has fewer keys, and it does not matter who could have written it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::identity::Who;
use super::limits::{Limit, MAX_COUNT, Rate};
use super::rules::{Conditions, Escalation, Origin, Owner, PathPattern, Rule, Verdict};
use super::tiers::{Answer, Preset, Table};
use super::windows::{DAYS, Hours, Outside, Window};
use super::zone::{DAY, Zone};
use crate::decision::Hold;
use crate::effect::Tier;
use crate::own_files::{self, own_uid};
use crate::pause::parse_length;
use crate::wire::output::NoDecision;

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The most rules of one file, as of the other lists: every call is compared with each.
const MAX_RULES: usize = 500;
/// The longest time-out of an escalation: the longest that the host lets a hook run.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most characters of a line that a message quotes.
const MAX_SHOWN: usize = 120;

/// The name of a project's file, in its root.
pub const PROJECT_FILE: &str = ".countersign.toml";

/// All that is set; what is not set has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub hook: Hook,
    pub headless: Headless,
    pub relay: Relay,
    pub log: Log,
    pub policy: Policy,
    /// The files that were there, the person's first.
    pub files: Vec<PathBuf>,
}

/// What calls are answered with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub table: Table,
    /// In the order of the files; the person's stand first. So do the others.
    pub rules: Vec<Rule>,
    pub windows: Vec<Window>,
    pub limits: Vec<Limit>,
    pub escalations: Vec<Escalation>,
}

/// `[hook]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hook {
    /// `no_decision = "block"` (default) or `"empty"`.
    pub no_decision: NoDecision,
}

/// `[headless]`: where this process is asked in a person's place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Headless {
    /// How long a person is waited for: a length such as `"30m"`, or `"0"` for not at all. Default: 10 minutes.
    #[serde(deserialize_with = "wait")]
    pub wait: Duration,
    /// What comes of a call that nobody answers.
    pub unanswered: Unanswered,
}

impl Default for Headless {
    fn default() -> Self {
        Headless {
            wait: Duration::from_secs(600),
            unanswered: Unanswered::default(),
        }
    }
}

/// What the host is told of a call that needs a person and has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unanswered {
    /// That nobody decided, in the words of the protocol; the host then denies it in its own.
    None,
    /// A denial with its reason.
    #[default]
    Deny,
    /// A denial that ends the turn.
    DenyAndStop,
}

fn wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "0" | "0s" => Ok(Duration::ZERO),
        length => parse_length(length).map_err(D::Error::custom),
    }
}

/// `[relay]`: which calls are put to a relay, where one is on, and how long it is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Relay {
    /// The least tier that is held there, of what policy leaves open. Default: safe, which is all of it.
    #[serde(deserialize_with = "tier")]
    pub from: Tier,
    /// How long a call waits before anybody is asked elsewhere. Default: 8 seconds where somebody sits at the session, else
    /// none.
    #[serde(deserialize_with = "some_wait")]
    pub grace: Option<Duration>,
    /// How long a subagent's call is held at most, and any call while no device is there to answer. Default: not at all.
    #[serde(deserialize_with = "wait")]
    pub subagent_wait: Duration,
}

impl Default for Relay {
    fn default() -> Self {
        Relay {
            from: Tier::Safe,
            grace: None,
            subagent_wait: Duration::ZERO,
        }
    }
}

fn some_wait<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    wait(deserializer).map(Some)
}

fn tier<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tier, D::Error> {
    let word = String::deserialize(deserializer)?;
    Tier::parse(&word).ok_or_else(|| D::Error::custom("write safe, low, medium, high or critical"))
}

/// `[log]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// The input of every call is recorded too, its secrets masked. Default: it is not.
    pub input: bool,
}

/// Either file. A project's has neither `hook`, `headless`, `relay` nor `log`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileText {
    hook: Option<Spanned<Hook>>,
    headless: Option<Spanned<Headless>>,
    relay: Option<Spanned<Relay>>,
    log: Option<Spanned<Log>>,
    preset: Option<Spanned<String>>,
    tiers: Tiers,
    rule: Vec<Spanned<RuleText>>,
    window: Vec<Spanned<WindowText>>,
    limits: BTreeMap<String, Spanned<String>>,
    escalate: Vec<Spanned<RuleText>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tiers {
    safe: Option<Spanned<String>>,
    low: Option<Spanned<String>>,
    medium: Option<Spanned<String>>,
    high: Option<Spanned<String>>,
    critical: Option<Spanned<String>>,
}

/// One `[[rule]]` or `[[escalate]]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RuleText {
    program: Option<Spanned<String>>,
    args: Option<Spanned<Vec<String>>>,
    path: Option<Spanned<String>>,
    host: Option<Spanned<String>>,
    tool: Option<Spanned<String>>,
    server: Option<Spanned<String>>,
    agent: Option<Spanned<String>>,
    machine: Option<Spanned<String>>,
    tier: Option<Spanned<String>>,
    action: Option<Spanned<String>>,
    reason: Option<Spanned<String>>,
    timeout: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WindowText {
    days: Option<Spanned<Vec<String>>>,
    from: Option<Spanned<String>>,
    to: Option<Spanned<String>>,
    zone: Option<Spanned<String>>,
    agent: Option<Spanned<String>>,
    machine: Option<Spanned<String>>,
    tiers: Option<Spanned<Vec<String>>>,
    tools: Option<Spanned<Vec<String>>>,
    outside: Option<Spanned<String>>,
}

/// Why a configuration does not hold.
#[derive(Debug)]
pub enum Invalid {
    Unreadable {
        path: PathBuf,
        error: io::Error,
    },
    /// Others could have written it.
    NotYours {
        path: PathBuf,
        why: &'static str,
    },
    TooLong {
        path: PathBuf,
    },
    Wrong {
        path: PathBuf,
        line: usize,
        text: String,
        why: String,
    },
    /// The person's file lies where the agent writes.
    InProject {
        path: PathBuf,
    },
}

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Unreadable { path, error } => write!(f, "{} cannot be read: {error}", path.display()),
            Invalid::NotYours { path, why } => {
                write!(f, "{path} {why}", path = path.display())
            }
            Invalid::TooLong { path } => write!(f, "{} is longer than {MAX_BYTES} bytes", path.display()),
            Invalid::Wrong { path, line, text, why } => {
                write!(f, "{}:{line}: `{text}`: {why}", path.display())
            }
            Invalid::InProject { path } => write!(
                f,
                "{} lies in the project, where the agent writes: set HOME and XDG_CONFIG_HOME outside of it",
                path.display()
            ),
        }
    }
}

/// Reads the person's file at `path`; a file that is not there sets nothing, and then nothing is parsed.
///
/// # Errors
/// [`Invalid`]: the file is unreadable, too long, not UTF-8, belongs to somebody else than this user or root, may be
/// written by everybody, or holds anything but known keys with fitting values.
pub fn read(path: &Path) -> Result<Config, Invalid> {
    match text_of(path, true)? {
        Some(text) => of_text(path, &text),
        None => Ok(Config::default()),
    }
}

/// What a text sets that is, or is to be, the person's file at `path`.
///
/// # Errors
/// [`Invalid`]: it holds anything but known keys with fitting values.
pub fn of_text(path: &Path, text: &str) -> Result<Config, Invalid> {
    let source = Source::of(path, text);
    let mut file = source.parse()?;
    Ok(Config {
        hook: file.hook.take().map(Spanned::into_inner).unwrap_or_default(),
        headless: file.headless.take().map(Spanned::into_inner).unwrap_or_default(),
        relay: file.relay.take().map(Spanned::into_inner).unwrap_or_default(),
        log: file.log.take().map(Spanned::into_inner).unwrap_or_default(),
        policy: source.policy(Owner::Person, file)?,
        files: vec![path.to_owned()],
    })
}

/// Reads the file of a project, if it has one.
///
/// # Errors
/// [`Invalid`], as for the person's file, but for who may write to it.
pub fn read_of_project(path: &Path) -> Result<Option<Policy>, Invalid> {
    let Some(text) = text_of(path, false)? else {
        return Ok(None);
    };
    let source = Source::of(path, &text);
    let file = source.parse()?;
    let of_person = file
        .hook
        .as_ref()
        .map(Spanned::span)
        .or(file.headless.as_ref().map(Spanned::span))
        .or(file.relay.as_ref().map(Spanned::span))
        .or(file.log.as_ref().map(Spanned::span));
    match of_person {
        Some(span) => Err(source.wrong(
            &span,
            "a project may only tighten, so this belongs in your own config.toml",
        )),
        None => source.policy(Owner::Project, file).map(Some),
    }
}

/// What holds in a project: the person's file, if there is one, tightened by the project's.
///
/// # Errors
/// As [`Config::tighten`].
pub fn effective(person: Option<&Path>, roots: &[PathBuf]) -> Result<Config, Invalid> {
    let mut config = person.map_or_else(|| Ok(Config::default()), read)?;
    config.tighten(roots)?;
    Ok(config)
}

impl Config {
    /// Tightens by the file of each of the project's roots that has one.
    ///
    /// # Errors
    /// [`Invalid`]: the project's file does not hold, or the person's own file lies in the project.
    pub fn tighten(&mut self, roots: &[PathBuf]) -> Result<(), Invalid> {
        for path in &self.files {
            let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            if roots
                .iter()
                .any(|root| real.starts_with(root) || path.starts_with(root))
            {
                return Err(Invalid::InProject { path: path.clone() });
            }
        }
        for path in roots.iter().map(|root| root.join(PROJECT_FILE)) {
            let Some(project) = read_of_project(&path)? else {
                continue;
            };
            // A root may stand there under two names.
            let real = fs::canonicalize(&path).ok();
            if self.files.iter().any(|known| fs::canonicalize(known).ok() == real) {
                continue;
            }
            self.policy.table.tighten(project.table);
            self.policy.rules.extend(project.rules);
            self.policy.windows.extend(project.windows);
            self.policy.limits.extend(project.limits);
            self.policy.escalations.extend(project.escalations);
            self.files.push(path);
        }
        Ok(())
    }
}

/// The text of a file; `None` where there is none.
fn text_of(path: &Path, yours: bool) -> Result<Option<String>, Invalid> {
    let unreadable = |error| Invalid::Unreadable {
        path: path.into(),
        error,
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if own_files::is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !metadata.is_file() {
        return Err(unreadable(io::Error::other("it is not a file")));
    }
    if yours {
        // Who may write to the directory of the file itself may replace it.
        let real = fs::canonicalize(path).map_err(unreadable)?;
        let above = real.parent().unwrap_or(Path::new("/"));
        let above_metadata = fs::metadata(above).map_err(unreadable)?;
        for (path, metadata) in [(path, &metadata), (above, &above_metadata)] {
            if let Some(why) = not_yours(metadata.uid(), metadata.mode(), own_uid()) {
                return Err(Invalid::NotYours { path: path.into(), why });
            }
        }
    }
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Invalid::TooLong { path: path.into() });
    }
    Ok(Some(text))
}

fn not_yours(owner: u32, mode: u32, own: u32) -> Option<&'static str> {
    if owner != own && owner != 0 {
        return Some("belongs to another user: make it yours with `chown`");
    }
    (mode & 0o002 != 0).then_some("may be written by everybody: run `chmod go-w` on it")
}

/// A file's text, and what is found in it.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
    /// Where its lines end.
    ends: Vec<usize>,
}

impl<'s> Source<'s> {
    fn of(path: &'s Path, text: &'s str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Source { path, text, ends }
    }

    fn parse(&self) -> Result<FileText, Invalid> {
        toml::from_str(self.text).map_err(|error| {
            let why = error.message().trim().replace('\n', ", ");
            let why = match hint(&why) {
                Some(hint) => format!("{why}; {hint}"),
                None => why,
            };
            self.wrong(&error.span().unwrap_or_default(), why)
        })
    }

    fn wrong(&self, span: &Range<usize>, why: impl Into<String>) -> Invalid {
        let line = self.line(span);
        Invalid::Wrong {
            path: self.path.into(),
            line,
            text: shown(self.text.lines().nth(line - 1).unwrap_or_default()),
            why: why.into(),
        }
    }

    /// The line that a span begins in, from 1.
    fn line(&self, span: &Range<usize>) -> usize {
        self.ends.partition_point(|end| *end < span.start) + 1
    }

    fn origin(&self, span: &Range<usize>) -> Origin {
        Origin::of(self.path, self.line(span))
    }

    fn policy(&self, owner: Owner, file: FileText) -> Result<Policy, Invalid> {
        let tiers = file.tiers;
        let mut table = match (file.preset, owner) {
            (Some(name), _) => Table::of(self.preset(&name)?, &self.origin(&name.span())),
            (None, Owner::Person) => Table::default(),
            (None, Owner::Project) => Table::open(),
        };
        let lines = [tiers.safe, tiers.low, tiers.medium, tiers.high, tiers.critical];
        for (&tier, line) in Tier::ALL.iter().zip(lines) {
            if let Some(line) = line {
                table.set(tier, self.answer(tier, &line)?, self.origin(&line.span()));
            }
        }
        self.not_too_many(&file.rule, "rules")?;
        self.not_too_many(&file.escalate, "escalations")?;
        self.not_too_many(&file.window, "windows")?;
        let rules = file.rule.into_iter().map(|rule| self.rule(owner, rule));
        let windows = file.window.into_iter().map(|window| self.window(owner, window));
        let limits = file
            .limits
            .into_iter()
            .map(|(tool, rate)| self.limit(owner, tool, &rate));
        let escalations = file.escalate.into_iter().map(|text| self.escalation(owner, text));
        Ok(Policy {
            table,
            rules: rules.collect::<Result<_, _>>()?,
            windows: windows.collect::<Result<_, _>>()?,
            limits: limits.collect::<Result<_, _>>()?,
            escalations: escalations.collect::<Result<_, _>>()?,
        })
    }

    fn not_too_many<T>(&self, all: &[Spanned<T>], what: &str) -> Result<(), Invalid> {
        let Some(one) = all.get(MAX_RULES) else { return Ok(()) };
        let why = format!(
            "there are more than {MAX_RULES} {what}, and every call is compared with each; merge some with `*` or `**`"
        );
        Err(self.wrong(&one.span(), why))
    }

    fn preset(&self, name: &Spanned<String>) -> Result<Preset, Invalid> {
        let named = Preset::ALL.into_iter().find(|preset| preset.as_str() == name.get_ref());
        named.ok_or_else(|| {
            self.wrong(
                &name.span(),
                format!(
                    "there is no preset `{}`; write \"watch\", \"calm\", \"steady\", \"flow\" or \"strict\"",
                    name.get_ref()
                ),
            )
        })
    }

    fn answer(&self, tier: Tier, word: &Spanned<String>) -> Result<Answer, Invalid> {
        let wrong = |why: String| Err(self.wrong(&word.span(), why));
        let answer = Answer::ALL.into_iter().find(|answer| answer.as_str() == word.get_ref());
        match answer {
            None => wrong(format!(
                "`{}` is no answer; write \"allow\", \"allow_in_project\", \"ask\" or \"deny\"",
                word.get_ref()
            )),
            Some(Answer::Allow | Answer::AllowInProject) if tier == Tier::Critical => {
                wrong("nothing critical is allowed without a person; write \"ask\" or \"deny\"".into())
            }
            Some(Answer::Allow | Answer::AllowInProject) if tier == Tier::High => wrong(
                "high calls are not allowed as a whole; write \"ask\" or \"deny\", and a [[rule]] for what you trust"
                    .into(),
            ),
            Some(answer) => Ok(answer),
        }
    }

    fn rule(&self, owner: Owner, rule: Spanned<RuleText>) -> Result<Rule, Invalid> {
        let span = rule.span();
        let text = rule.into_inner();
        if let Some(timeout) = &text.timeout {
            return Err(self.wrong(
                &timeout.span(),
                "a rule waits for nobody; leave it out, or write an [[escalate]]",
            ));
        }
        let when = self.conditions(&span, &text)?;
        let then = self.verdict(owner, &span, &text)?;
        Ok(Rule {
            origin: self.origin(&span),
            owner,
            when,
            then,
        })
    }

    fn escalation(&self, owner: Owner, text: Spanned<RuleText>) -> Result<Escalation, Invalid> {
        let span = text.span();
        let text = text.into_inner();
        if let Some(other) = text.tier.as_ref().or(text.action.as_ref()) {
            return Err(self.wrong(
                &other.span(),
                "an escalation always asks a person; leave it out, or write a [[rule]]",
            ));
        }
        let when = self.conditions(&span, &text)?;
        let reason = match &text.reason {
            Some(reason) if !reason.get_ref().trim().is_empty() => reason.get_ref().trim().to_owned(),
            Some(_) | None => {
                let at = text.reason.as_ref().map_or(span.clone(), Spanned::span);
                return Err(self.wrong(
                    &at,
                    "the person is not told why; add `reason`, such as reason = \"changes production\"",
                ));
            }
        };
        let timeout = text.timeout.as_ref().map(|timeout| self.timeout(timeout)).transpose()?;
        Ok(Escalation {
            origin: self.origin(&span),
            owner,
            when,
            hold: Hold { reason, timeout },
        })
    }

    fn timeout(&self, text: &Spanned<String>) -> Result<Duration, Invalid> {
        let length = parse_length(text.get_ref()).map_err(|why| self.wrong(&text.span(), why))?;
        match length {
            length if length > MAX_TIMEOUT => Err(self.wrong(
                &text.span(),
                "nobody is waited for longer than a day; write 24h or less",
            )),
            length => Ok(length),
        }
    }

    fn limit(&self, owner: Owner, tool: String, text: &Spanned<String>) -> Result<Limit, Invalid> {
        let span = text.span();
        let misnamed = match tool.trim().is_empty() {
            true => Some("it is for no tool; name one, or write \"*\" for all"),
            false => misnamed_tool(&tool),
        };
        if let Some(why) = misnamed {
            return Err(self.wrong(&span, why));
        }
        let rate = Rate::parse(text.get_ref()).ok_or_else(|| {
            self.wrong(
                &span,
                format!(
                    "`{}` is no limit; write a number from 1 to {MAX_COUNT} and a unit: \"60/hour\"; units are second, minute, \
                     hour and day",
                    text.get_ref()
                ),
            )
        })?;
        Ok(Limit {
            origin: self.origin(&span),
            owner,
            tool,
            rate,
        })
    }

    fn window(&self, owner: Owner, window: Spanned<WindowText>) -> Result<Window, Invalid> {
        let span = window.span();
        let text = window.into_inner();
        let who = self.who(&text.agent, &text.machine)?;
        let hours = self.hours(&span, &text)?;
        if hours.is_none() && who == Who::default() {
            return Err(self.wrong(
                &span,
                "the window says nothing of when; add `days`, or `from` and `to`, and `zone`",
            ));
        }
        let outside = match &text.outside {
            None => Outside::default(),
            Some(word) => {
                let named = Outside::ALL
                    .into_iter()
                    .find(|outside| outside.as_str() == word.get_ref());
                named.ok_or_else(|| {
                    let why = format!(
                        "`{}` is no answer outside of a window; write \"ask\" or \"deny\"",
                        word.get_ref()
                    );
                    self.wrong(&word.span(), why)
                })?
            }
        };
        let tier = |name: &String| {
            Tier::parse(name).ok_or_else(|| {
                format!("there is no tier `{name}`; write \"safe\", \"low\", \"medium\", \"high\" or \"critical\"")
            })
        };
        let tool = |name: &String| match name.trim().is_empty() {
            true => Err("it is empty; leave it out, or name something".to_owned()),
            false => misnamed_tool(name).map_or(Ok(name.clone()), |why| Err(why.to_owned())),
        };
        Ok(Window {
            origin: self.origin(&span),
            owner,
            hours,
            who,
            outside,
            tiers: self.each(&text.tiers, "tiers", tier)?,
            tools: self.each(&text.tools, "tools", tool)?,
        })
    }

    fn hours(&self, span: &Range<usize>, text: &WindowText) -> Result<Option<Hours>, Invalid> {
        let named = text.days.is_some() || text.from.is_some() || text.to.is_some();
        let zone = match (&text.zone, named) {
            (None, false) => return Ok(None),
            (Some(zone), false) => {
                return Err(self.wrong(
                    &zone.span(),
                    "a zone is of days or times; add `days`, or `from` and `to`",
                ));
            }
            (None, true) => {
                let why = "whose clocks are meant is not said; add `zone`, such as zone = \"Europe/Berlin\" or \"UTC\"";
                return Err(self.wrong(span, why));
            }
            (Some(zone), true) => Zone::named(zone.get_ref()).map_err(|why| self.wrong(&zone.span(), why))?,
        };
        let day = |name: &String| {
            DAYS.iter().position(|day| day == name).ok_or_else(|| {
                format!(
                    "there is no day `{name}`; write {}",
                    DAYS.map(|day| format!("\"{day}\"")).join(", ")
                )
            })
        };
        let days = self.each(&text.days, "days", day)?;
        let from = self.minute(&text.from, 0)?;
        let to = self.minute(&text.to, DAY)?;
        if from == to || from == DAY {
            let at = text
                .from
                .as_ref()
                .or(text.to.as_ref())
                .map_or(span.clone(), Spanned::span);
            return Err(self.wrong(&at, "it ends when it begins; for whole days leave out `from` and `to`"));
        }
        Ok(Some(Hours {
            days: std::array::from_fn(|day| days.is_empty() || days.contains(&day)),
            from,
            to,
            zone,
        }))
    }

    /// A time of day as its minute.
    fn minute(&self, text: &Option<Spanned<String>>, unset: u16) -> Result<u16, Invalid> {
        let Some(text) = text else { return Ok(unset) };
        let two = |digits: &str| {
            let plain = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u16>().ok().filter(|_| plain)
        };
        let minute = text.get_ref().split_once(':').and_then(|(hour, minute)| {
            let (hour, minute) = (two(hour)?, two(minute)?);
            (hour < 24 && minute < 60 || (hour, minute) == (24, 0)).then_some(hour * 60 + minute)
        });
        minute.ok_or_else(|| {
            let why = format!(
                "`{}` is no time of day; write \"09:00\", up to \"24:00\"",
                text.get_ref()
            );
            self.wrong(&text.span(), why)
        })
    }

    /// Each word of a list, understood; a list that is there names something.
    fn each<T>(
        &self,
        list: &Option<Spanned<Vec<String>>>,
        what: &str,
        understand: impl Fn(&String) -> Result<T, String>,
    ) -> Result<Vec<T>, Invalid> {
        let Some(list) = list else { return Ok(Vec::new()) };
        let wrong = |why: String| self.wrong(&list.span(), why);
        if list.get_ref().is_empty() {
            return Err(wrong(format!("the list is empty; leave out `{what}` for all")));
        }
        list.get_ref()
            .iter()
            .map(|word| understand(word).map_err(wrong))
            .collect()
    }

    fn who(&self, agent: &Option<Spanned<String>>, machine: &Option<Spanned<String>>) -> Result<Who, Invalid> {
        Ok(Who {
            agent: self.plain(agent, |_| None)?,
            machine: self.plain(machine, misnamed_machine)?,
        })
    }

    fn conditions(&self, span: &Range<usize>, text: &RuleText) -> Result<Conditions, Invalid> {
        if let (Some(program), true) = (&text.program, text.tool.is_some() || text.server.is_some()) {
            return Err(self.wrong(
                &program.span(),
                "a program is run by the shell, whatever the tool; leave out `tool` and `server`",
            ));
        }
        if let (Some(args), None) = (&text.args, &text.program) {
            return Err(self.wrong(&args.span(), "words belong to a program; add `program`"));
        }
        if let (Some(_), Some(host)) = (&text.path, &text.host) {
            return Err(self.wrong(
                &host.span(),
                "an effect is on a path or on a host, not on both; make two rules of it",
            ));
        }
        if let Some(args) = &text.args
            && args.get_ref().iter().any(|word| word.contains("**") && word != "**")
        {
            return Err(self.wrong(
                &args.span(),
                "`**` stands alone, for any number of words; write `*` inside a word",
            ));
        }
        let path = match &text.path {
            Some(word) => Some(PathPattern::parse(word.get_ref()).ok_or_else(|| {
                self.wrong(
                    &word.span(),
                    "this is no path; write \"docs/**\" (in the project), \"~/notes/*\" or \"/opt/data/**\"; only `*` and `**` \
                     are special",
                )
            })?),
            None => None,
        };
        let conditions = Conditions {
            program: self.plain(&text.program, misnamed_program)?,
            args: text.args.as_ref().map(|args| args.get_ref().clone()),
            path,
            host: self.plain(&text.host, misnamed_host)?.map(|host| host.to_lowercase()),
            tool: self.plain(&text.tool, misnamed_tool)?,
            server: self.plain(&text.server, misnamed_server)?,
            who: self.who(&text.agent, &text.machine)?,
        };
        if conditions == Conditions::default() {
            return Err(self.wrong(
                span,
                "the rule says nothing of when; add `program`, `path`, `host`, `tool` or `server`",
            ));
        }
        let rates = text.tier.is_some() && conditions.path.is_none() && conditions.host.is_none();
        let names_all = |pattern: &Option<String>| pattern.as_ref().is_none_or(|p| p.chars().all(|c| c == '*'));
        if rates && conditions.program.is_none() && names_all(&conditions.tool) && names_all(&conditions.server) {
            return Err(self.wrong(span, "the rule would rate every tool; name the tools or the server"));
        }
        Ok(conditions)
    }

    /// A word that is not empty and not misnamed.
    fn plain(
        &self,
        word: &Option<Spanned<String>>,
        misnamed: fn(&str) -> Option<&'static str>,
    ) -> Result<Option<String>, Invalid> {
        let Some(word) = word else { return Ok(None) };
        let text = word.get_ref();
        let why = match text.trim() {
            "" => Some("it is empty; leave it out, or name something"),
            trimmed if trimmed != text => Some("blanks around it are taken as they stand; leave them out"),
            _ => misnamed(text),
        };
        match why {
            Some(why) => Err(self.wrong(&word.span(), why)),
            None => Ok(Some(text.clone())),
        }
    }

    fn verdict(&self, owner: Owner, span: &Range<usize>, text: &RuleText) -> Result<Verdict, Invalid> {
        if let (Some(reason), false) = (&text.reason, is_deny(text)) {
            return Err(self.wrong(
                &reason.span(),
                "a reason is told with a denial only; add action = \"deny\", or leave it out",
            ));
        }
        match (&text.tier, &text.action) {
            (None, None) => Err(self.wrong(
                span,
                "the rule says nothing of what; add `tier`, or action = \"ask\" or \"deny\"",
            )),
            (Some(_), Some(action)) => Err(self.wrong(
                &action.span(),
                "a rule rates or stops, not both; leave out `tier` or `action`",
            )),
            (Some(tier), None) => self.rating(owner, tier),
            (None, Some(action)) => match action.get_ref().as_str() {
                "ask" => Ok(Verdict::Ask),
                "deny" => Ok(Verdict::Deny(
                    text.reason.as_ref().map(|reason| reason.get_ref().clone()),
                )),
                "allow" => Err(self.wrong(
                    &action.span(),
                    "a rule does not allow, it rates; write tier = \"safe\" instead of `action`",
                )),
                other => Err(self.wrong(
                    &action.span(),
                    format!("there is no action `{other}`; write \"ask\" or \"deny\""),
                )),
            },
        }
    }

    fn rating(&self, owner: Owner, word: &Spanned<String>) -> Result<Verdict, Invalid> {
        match Tier::parse(word.get_ref()) {
            Some(Tier::Safe) if owner == Owner::Project => Err(self.wrong(
                &word.span(),
                "a project may only tighten; write a higher tier, or move the rule to your own config.toml",
            )),
            Some(tier) => Ok(Verdict::Rate(tier)),
            None => Err(self.wrong(
                &word.span(),
                format!(
                    "there is no tier `{}`; write \"safe\", \"low\", \"medium\", \"high\" or \"critical\"",
                    word.get_ref()
                ),
            )),
        }
    }
}

fn misnamed_program(text: &str) -> Option<&'static str> {
    let foreign = text.contains(|c: char| c.is_whitespace() || c.is_control() || "*~$".contains(c));
    foreign.then_some("a program is one name, or a path as commands write it; its words go into `args`")
}

fn misnamed_host(text: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-*:".contains(c);
    let named = text.chars().all(plain) && !text.ends_with('.') && (text.matches(':').count() != 1);
    (!named).then_some(
        "a host is a name alone, without scheme, port or path; write \"docs.example.com\" or \"*.example.com\"",
    )
}

fn misnamed_tool(text: &str) -> Option<&'static str> {
    let foreign = text.contains(|c: char| c.is_whitespace() || "()".contains(c));
    foreign.then_some(
        "a tool is its name alone, such as \"WebFetch\" or \"mcp__tracker__*\"; what it is given goes into other keys",
    )
}

fn misnamed_server(text: &str) -> Option<&'static str> {
    let foreign = text.starts_with("mcp__") || text.contains("__") || text.contains(char::is_whitespace);
    foreign.then_some("a server is its name alone, without `mcp__`; the tool's name goes into `tool`")
}

fn misnamed_machine(text: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._*".contains(c);
    (!text.chars().all(plain)).then_some("a machine is its host name, as `uname -n` prints it; `*` stands for any part")
}

/// A line as a message quotes it.
fn shown(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}..", &line[..at]),
        None => line.to_owned(),
    }
}

fn is_deny(text: &RuleText) -> bool {
    text.action.as_ref().is_some_and(|action| action.get_ref() == "deny")
}

/// What to write instead, for mistakes that the parser's words do not settle.
fn hint(why: &str) -> Option<&'static str> {
    if why.contains("invalid type: map, expected a sequence") {
        Some("write it with two brackets, such as [[rule]]")
    } else if why.contains("expected a map") {
        Some("write it with one bracket on each side, such as [limits]")
    } else if why.contains("expected a sequence") {
        Some(r#"write a list of words, such as ["push", "**"]"#)
    } else if why.contains("expected a string") {
        Some("write it in quotes")
    } else if why.contains("duplicate key") {
        Some("leave one of the two")
    } else if why.contains("unknown variant") || why.contains("string or table") {
        Some(r#"write no_decision = "block" or no_decision = "empty""#)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
