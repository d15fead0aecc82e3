//! The person's rules: each rates one kind of step anew, or has it asked about or denied.
//!
//! A rule that is stricter holds as soon as it may match. A rule that is milder vouches only for what it names: the
//! command's own words and what they do, every word known. It never reaches redirections, variables, substitutions,
//! what is critical, a file that the agent could have written, or, unless it names the path, what lies outside the
//! project or is a secret. A word that the catalog does not list in a program that it knows is vouched for only by a rule
//! that spells the whole command, since what such a word does to the others is not known.

use std::fmt;
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::identity::Who;
use super::pattern;
use crate::call::{Call, Input};
use crate::decision::Hold;
use crate::effect::{Action, Doubt, Effect, Gap, Place, Reach, Step, Subject, Tier, Undo};
use crate::facts::{Facts, Kind};
use crate::pause::Length;
use crate::risk;

/// Where in a file something is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub file: Arc<Path>,
    /// From 1.
    pub line: usize,
}

impl Origin {
    pub fn of(file: impl AsRef<Path>, line: usize) -> Self {
        Origin {
            file: file.as_ref().into(),
            line,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// Whose file a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Person,
    /// It may only tighten.
    Project,
}

/// One `[[escalate]]`: a call with such a step is never allowed by policy, but put to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    pub origin: Origin,
    pub owner: Owner,
    pub when: Conditions,
    /// What the person is shown, and how long their answer is waited for.
    pub hold: Hold,
}

/// One `[[rule]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub origin: Origin,
    pub owner: Owner,
    pub when: Conditions,
    pub then: Verdict,
}

impl Rule {
    /// A rule that the person may come to have: what it names is safe.
    pub fn tried(when: &Conditions) -> Self {
        Rule {
            origin: Origin::of("(a rule that is offered)", 1),
            owner: Owner::Person,
            when: when.clone(),
            then: Verdict::Rate(Tier::Safe),
        }
    }
}

/// What a step must be for the rule to match it; at least one is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The program's name, or a path as it is written.
    pub program: Option<String>,
    /// The words after the program.
    pub args: Option<Vec<String>>,
    pub path: Option<PathPattern>,
    pub host: Option<String>,
    /// The tool's name; beside `server`, the name that the server gives it.
    pub tool: Option<String>,
    pub server: Option<String>,
    /// Who must ask, and where.
    pub who: Who,
}

/// What becomes of a step that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Rate(Tier),
    Ask,
    /// With what the model reads.
    Deny(Option<String>),
}

impl fmt::Display for Conditions {
    /// As it would be written in the file, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| format!("{text:?}");
        let args = self.args.as_ref().map(|args| {
            let words: Vec<String> = args.iter().map(|word| quoted(word)).collect();
            format!("[{}]", words.join(", "))
        });
        let all = [
            ("tool", self.tool.as_deref().map(quoted)),
            ("server", self.server.as_deref().map(quoted)),
            ("program", self.program.as_deref().map(quoted)),
            ("args", args),
            ("path", self.path.as_ref().map(|path| quoted(&path.to_string()))),
            ("host", self.host.as_deref().map(quoted)),
        ];
        let set = all.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let who = self.who.written().map(|(key, value)| (key, quoted(value)));
        let written = set.chain(who).map(|(key, value)| format!("{key} = {value}"));
        f.write_str(&written.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Escalation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is put to a person", self.when)?;
        if let Some(timeout) = self.hold.timeout {
            write!(f, " for {}", Length(timeout))?;
        }
        write!(f, ": {}", self.hold.reason)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Rate(tier) => write!(f, "is {tier}"),
            Verdict::Ask => write!(f, "is asked about"),
            Verdict::Deny(None) => write!(f, "is denied"),
            Verdict::Deny(Some(reason)) => write!(f, "is denied: {reason}"),
        }
    }
}

/// A pattern for absolute paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    base: Base,
    components: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    Project,
}

impl PathPattern {
    /// `/x` is absolute, `~/x` in the home, anything else in the project. `None` where it holds `..`, nothing, a `**` that
    /// is not a name of its own, or what other tools read as a pattern or a variable.
    pub fn parse(text: &str) -> Option<Self> {
        let (base, rest) = match (text.strip_prefix('/'), text.strip_prefix("~/")) {
            (Some(rest), _) => (Base::Root, rest),
            (_, Some(rest)) => (Base::Home, rest),
            (None, None) => (Base::Project, text),
        };
        let components: Vec<String> = rest
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_owned)
            .collect();
        let is_name = |part: &String| part != ".." && (part == "**" || !part.contains("**"));
        let foreign = rest.contains(['{', '}', '[', ']', '?', '$', '!', '~', '\\']) || text.trim() != text;
        let fits = !components.is_empty() && components.iter().all(is_name) && !foreign;
        fits.then_some(PathPattern { base, components })
    }

    fn fits(&self, path: &Path, facts: &Facts, case: Case) -> bool {
        self.holds(path, facts, case, pattern::words)
    }

    /// Whether something below this directory may fit.
    fn may_fit_below(&self, path: &Path, facts: &Facts) -> bool {
        let mut bases = self.bases(facts);
        (bases.any(|base| base.starts_with(path)) || self.holds(path, facts, Case::Folded, pattern::may_go_on))
            && facts.kind(path) == Kind::Directory
    }

    fn holds(&self, path: &Path, facts: &Facts, case: Case, fits: fn(&[String], &[String]) -> bool) -> bool {
        let pattern: Vec<String> = self.components.iter().map(|part| case.of_text(part)).collect();
        // In another working tree of the project the same path is meant.
        let nearest = (self.base == Base::Project).then(|| facts.root_of(path)).flatten();
        self.bases(facts).chain(nearest).any(|base| {
            path.strip_prefix(base).is_ok_and(|rest| {
                let parts: Vec<String> = rest.components().map(|part| case.of(&part)).collect();
                fits(&pattern, &parts)
            })
        })
    }

    fn bases<'a>(&self, facts: &'a Facts) -> Box<dyn Iterator<Item = &'a Path> + 'a> {
        match self.base {
            Base::Root => Box::new(iter::once(Path::new("/"))),
            Base::Home => Box::new(facts.home.iter().map(PathBuf::as_path)),
            Base::Project => Box::new(facts.project.iter().map(PathBuf::as_path)),
        }
    }

    /// It names the file itself and not all files of a kind.
    fn names_file(&self) -> bool {
        self.components.last().is_some_and(|last| !last.contains('*'))
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = match self.base {
            Base::Root => "/",
            Base::Home => "~/",
            Base::Project => "",
        };
        write!(f, "{base}{}", self.components.join("/"))
    }
}

/// Some file systems do not tell upper from lower case, so what is stricter does not either.
#[derive(Clone, Copy)]
enum Case {
    Exact,
    Folded,
}

impl Case {
    fn of(self, part: &Component<'_>) -> String {
        self.of_text(&part.as_os_str().to_string_lossy())
    }

    fn of_text(self, text: &str) -> String {
        match self {
            Case::Exact => text.to_owned(),
            Case::Folded => text.to_lowercase(),
        }
    }
}

/// How surely a rule matches a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    No,
    /// A word is not known, or stands among options.
    Maybe,
    Yes,
}

impl From<bool> for Match {
    fn from(yes: bool) -> Self {
        if yes { Match::Yes } else { Match::No }
    }
}

impl Conditions {
    /// Whether the step is, or may be, one that the rule is about: one path or host of several is enough.
    pub fn touches(&self, call: &Call, step: &Step, facts: &Facts) -> Match {
        let worst = |of_effect: &dyn Fn(&Effect) -> Match| step.effects.iter().map(of_effect).max();
        let of_path = |pattern: &PathPattern| worst(&|effect| may_be_path(pattern, effect, facts));
        let of_host = |pattern: &String| worst(&|effect| may_be_host(pattern, effect));
        let all = [
            self.tool.as_ref().map(|tool| self.is_tool(tool, call).into()),
            self.server.as_ref().map(|server| is_server(server, call).into()),
            self.program.as_ref().map(|program| may_be_program(program, step)),
            self.args.as_ref().map(|args| may_be_args(args, step)),
            self.path.as_ref().map(|pattern| of_path(pattern).unwrap_or(Match::No)),
            self.host.as_ref().map(|pattern| of_host(pattern).unwrap_or(Match::No)),
            (self.who != Who::default()).then(|| self.who.fits(call, facts)),
        ];
        all.into_iter().flatten().min().unwrap_or(Match::No)
    }

    /// The tier that the step has if everything that the rule vouches for is `tier`; `None` where it does not vouch for
    /// the step, whoever asks, or a doubt is left that it cannot settle.
    fn vouches(&self, tier: Tier, call: &Call, step: &Step, facts: &Facts) -> Option<Tier> {
        let bound_to_effects = self.path.is_some() || self.host.is_some();
        // A shell command is vouched for by its program, every other call by its tool.
        let command = match step.words.is_empty() {
            false => self.program.is_some(),
            true => self.tool.is_some() || self.server.is_some(),
        };
        let settles = |doubt: &Doubt| match doubt.gap {
            Some(Gap::Program) => command,
            Some(Gap::Word) => command && self.spells_the_command(),
            None => false,
        };
        let (around, own) = step.doubts.split_at(step.around.doubts);
        let settled = around.is_empty() && own.iter().all(settles);
        if step.tier == Tier::Critical || !settled || !(command || bound_to_effects) || !self.names(call, step) {
            return None;
        }
        let named = |effect: &Effect| self.names_effect(effect, step, facts);
        let (around, own) = step.effects.split_at(step.around.effects);
        let left = around.iter().chain(own.iter().filter(|effect| !named(effect)));
        let left = left.map(|effect| risk::tier(effect.spec)).max().unwrap_or(Tier::Safe);
        (!bound_to_effects || own.iter().any(named)).then(|| tier.max(left))
    }

    fn spells_the_command(&self) -> bool {
        self.args
            .as_ref()
            .is_some_and(|args| !args.iter().any(|word| word.contains('*')))
    }

    /// Whether the command's own words are exactly those that the rule names.
    fn names(&self, call: &Call, step: &Step) -> bool {
        let words: Option<Vec<&String>> = step.words.iter().map(Option::as_ref).collect();
        let Some(words) = words else { return false };
        let (program, args) = match words.split_first() {
            Some((program, args)) => (Some(*program), args),
            // What a script does outside of its commands is nobody's own word.
            None if step.program != call.tool => return false,
            None => (None, &[][..]),
        };
        self.tool.as_ref().is_none_or(|tool| self.is_tool(tool, call))
            && self.server.as_ref().is_none_or(|server| is_server(server, call))
            && self.program.as_ref().is_none_or(|named| program == Some(named))
            && self
                .args
                .as_ref()
                .is_none_or(|pattern| pattern::words_without_options(pattern, args))
    }

    /// Whether the rule vouches for this effect of a command that it names.
    fn names_effect(&self, effect: &Effect, step: &Step, facts: &Facts) -> bool {
        let place = effect.spec.place;
        let named = match (&self.path, &self.host) {
            (Some(pattern), _) => effect.subject.paths().is_some_and(|[named, real]| {
                let delicate = matches!(place, Place::Secret | Place::BecomesCode | Place::Startup);
                let fits = |path| pattern.fits(path, facts, Case::Exact);
                fits(named) && fits(real) && (!delicate || pattern.names_file())
            }),
            (None, Some(pattern)) => effect.subject.host().is_some_and(|host| pattern::text(pattern, host)),
            (None, None) => match effect.subject {
                Subject::Path { .. } => matches!(
                    place,
                    Place::Nowhere | Place::Scratch | Place::Project | Place::Cache | Place::Repository | Place::Build
                ),
                Subject::Host(_) | Subject::None => !matches!(place, Place::Secret | Place::Startup),
            },
        };
        named && self.names_code(effect, step)
    }

    /// Code that nobody vouches for, the person may: a program by its name, or a command that is spelled. A file that the
    /// agent may have written by now is neither. What runs no such code passes.
    fn names_code(&self, effect: &Effect, step: &Step) -> bool {
        let unvouched = effect.spec.action == Action::Execute && effect.spec.undo >= Undo::Lost;
        let unlisted = step.doubts.iter().any(|doubt| doubt.gap == Some(Gap::Program));
        let is_file = matches!(effect.subject, Subject::Path { .. });
        !unvouched || !is_file && (unlisted || self.spells_the_command())
    }

    fn is_tool(&self, pattern: &str, call: &Call) -> bool {
        match (&self.server, &call.input) {
            (Some(_), Input::Mcp { verb, .. }) => pattern::text(pattern, verb),
            _ => pattern::text(pattern, &call.tool),
        }
    }
}

fn is_server(pattern: &str, call: &Call) -> bool {
    matches!(&call.input, Input::Mcp { server, .. } if pattern::text(pattern, server))
}

/// `git` is also `/usr/bin/git`, and `./run.sh` is what `bash run.sh` runs.
fn may_be_program(named: &str, step: &Step) -> Match {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let runs = |effect: &Effect| {
        let file = effect.subject.paths().and_then(|[named, _]| named.file_name());
        effect.spec.action == Action::Execute && file.is_some_and(|file| file == base(named).as_str())
    };
    match step.words.first() {
        Some(Some(program)) => (base(program) == base(named) || step.effects.iter().any(runs)).into(),
        Some(None) => Match::Maybe,
        None => Match::No,
    }
}

/// A path that fits, or a directory in which one may be that is read, changed or removed as a whole.
fn may_be_path(pattern: &PathPattern, effect: &Effect, facts: &Facts) -> Match {
    let whole = matches!(
        effect.spec.action,
        Action::Read | Action::Write | Action::Mode | Action::Delete
    );
    match &effect.subject {
        Subject::Path { named, real } => {
            let paths = [named, real];
            if paths.iter().any(|path| pattern.fits(path, facts, Case::Folded)) {
                Match::Yes
            } else if whole && paths.iter().any(|path| pattern.may_fit_below(path, facts)) {
                Match::Maybe
            } else {
                Match::No
            }
        }
        Subject::None if whole && pattern.base == Base::Project && effect.spec.place != Place::Cache => Match::Maybe,
        Subject::None | Subject::Host(_) => Match::No,
    }
}

/// A host that fits, or one that is not known.
fn may_be_host(pattern: &str, effect: &Effect) -> Match {
    let connects = matches!(effect.spec.action, Action::Connect | Action::Send) && effect.spec.reach > Reach::Loopback;
    match &effect.subject {
        Subject::Host(host) => pattern::text(pattern, host.trim_end_matches('.')).into(),
        Subject::None if connects => Match::Maybe,
        Subject::None | Subject::Path { .. } => Match::No,
    }
}

/// Options of the program may stand before and between, so words in this order are enough for a doubt.
fn may_be_args(pattern: &[String], step: &Step) -> Match {
    let args = step.words.get(1..).unwrap_or_default();
    let known: Option<Vec<&String>> = args.iter().map(Option::as_ref).collect();
    if !step.words.is_empty() && known.is_some_and(|known| pattern::words(pattern, &known)) {
        Match::Yes
    } else if pattern::among(pattern, args) && !step.words.is_empty() {
        Match::Maybe
    } else {
        Match::No
    }
}

/// A step as the rules rate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rated<'a> {
    pub tier: Tier,
    pub proven: bool,
    /// The rule that rates it other than its effects do.
    pub by: Option<&'a Rule>,
    /// A rule of the person's vouches for it as it is rated.
    pub vouched: bool,
    /// The person's rule that would vouch for it, if somebody else asked, or elsewhere.
    pub withheld: Option<&'a Rule>,
}

/// Rates a step by the first of the person's rules that is about it, and then by each of the project's that raises it.
pub fn rate<'a>(rules: &'a [Rule], call: &Call, step: &Step, facts: &Facts) -> Rated<'a> {
    let of = |owner| {
        rules.iter().filter_map(move |rule| match rule.then {
            Verdict::Rate(tier) if rule.owner == owner => Some((rule, tier)),
            Verdict::Rate(_) | Verdict::Ask | Verdict::Deny(_) => None,
        })
    };
    let touches = |rule: &Rule| rule.when.touches(call, step, facts) > Match::No;
    let unrated = Rated {
        tier: step.tier,
        proven: step.proven(),
        by: None,
        vouched: false,
        withheld: None,
    };
    let mut withheld = None;
    let by_person = |(rule, tier): (&'a Rule, Tier)| {
        let milder = tier < step.tier || !step.proven();
        let mut vouched = rule.when.vouches(tier, call, step, facts);
        if vouched.is_some() && rule.when.who.fits(call, facts) < Match::Yes {
            vouched = None;
            withheld = withheld.or(milder.then_some(rule));
        }
        if let (Some(tier), true) = (vouched, milder) {
            return Some(Rated {
                tier,
                proven: true,
                by: Some(rule),
                vouched: true,
                ..unrated
            });
        }
        (tier >= step.tier && touches(rule)).then_some(Rated {
            tier,
            by: (tier > step.tier).then_some(rule),
            vouched: vouched == Some(tier),
            ..unrated
        })
    };
    let mut rated = of(Owner::Person).find_map(by_person).unwrap_or(unrated);
    rated.withheld = withheld;
    for (rule, tier) in of(Owner::Project) {
        if tier > rated.tier && touches(rule) {
            rated.tier = tier;
            rated.by = Some(rule);
            rated.vouched = false;
        }
    }
    rated
}

/// A rule that stops a call.
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a> {
    pub rule: &'a Rule,
    certain: bool,
}

impl Stop<'_> {
    /// The call is denied, and not only asked about: with the reason of the rule, if it gives one.
    pub fn denial(&self) -> Option<Option<&str>> {
        match &self.rule.then {
            Verdict::Deny(reason) if self.certain => Some(reason.as_deref()),
            Verdict::Deny(_) | Verdict::Ask | Verdict::Rate(_) => None,
        }
    }
}

/// The rule of `owner` that stops one of the steps, a denial before a question. A denial that only may match asks.
pub fn stop<'a>(rules: &'a [Rule], owner: Owner, call: &Call, steps: &[Step], facts: &Facts) -> Option<Stop<'a>> {
    let stops = || {
        let pairs = steps.iter().flat_map(|step| rules.iter().map(move |rule| (step, rule)));
        let pairs = pairs.filter(|(_, rule)| rule.owner == owner && !matches!(rule.then, Verdict::Rate(_)));
        pairs.filter_map(|(step, rule)| match rule.when.touches(call, step, facts) {
            Match::No => None,
            matched => Some(Stop {
                rule,
                certain: matched == Match::Yes,
            }),
        })
    };
    stops().find(|stop| stop.denial().is_some()).or_else(|| stops().next())
}

/// The first escalation of `owner` that one of the steps may be about.
pub fn escalation<'a>(
    escalations: &'a [Escalation],
    owner: Owner,
    call: &Call,
    steps: &[Step],
    facts: &Facts,
) -> Option<&'a Escalation> {
    let mut of_owner = escalations.iter().filter(|escalation| escalation.owner == owner);
    let touches = |escalation: &&Escalation| {
        steps
            .iter()
            .any(|step| escalation.when.touches(call, step, facts) > Match::No)
    };
    of_owner.find(touches)
}

#[cfg(test)]
mod tests;
