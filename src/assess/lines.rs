//! What the turns of a loop go through: the lines that it reads, and the words that a command prints for it.
//!
//! A line is known only where nothing else may read from the same input: half a line is another word.

use super::bash::Work;
use super::input::{self, Input};
use super::paths;
use super::printed;
use crate::shell::ast::{
    AssignedValue, Assignment, Command, Condition, Connector, Parameter, ParameterOperation, Part, Pipeline,
    RedirectKind, Script, Stage, Word,
};
use crate::shell::expansion::expand_single;
use crate::shell::state::State;
use crate::shell::{Value, is_identifier};

/// At most so many lines or words are taken for what one variable may hold.
const MAX_LINES: usize = 128;

/// One of these words, whichever turn it is.
pub fn one_of(values: &[Value]) -> Value {
    let known: Option<Vec<&[String]>> = values.iter().map(Value::alternatives).collect();
    match (known.map(|all| all.concat()), values) {
        (Some(texts), _) if !texts.is_empty() => Value::OneOf(texts),
        (_, [one]) if one.is_digits() || matches!(one, Value::Under { .. }) => one.clone(),
        _ => Value::UNKNOWN,
    }
}

/// The standard input of a compound command: also the text of the one file that it is redirected from, in the project.
pub fn of_compound(input: &Input, is_piped: bool, stage: &Stage, state: &State, work: &Work<'_>) -> Input {
    let mut redirects = stage.redirects.iter().filter(|it| is_input(&it.kind, it.descriptor));
    match (redirects.next().map(|it| &it.kind), redirects.next()) {
        (Some(RedirectKind::Read(word)), None) if !is_piped && !state.wrote => {
            text_of(word, state, work).unwrap_or_default()
        }
        _ => input.clone(),
    }
}

fn is_input(kind: &RedirectKind, descriptor: Option<u32>) -> bool {
    let by_default = match kind {
        RedirectKind::Read(_) | RedirectKind::ReadWrite(_) | RedirectKind::HereDoc(_) | RedirectKind::HereString(_) => {
            true
        }
        // Which of both these copy is told only by the descriptor.
        RedirectKind::Duplicate(_) | RedirectKind::Close => descriptor.is_none(),
        RedirectKind::Write(_) | RedirectKind::WriteBoth(_) | RedirectKind::Append(_) | RedirectKind::AppendBoth(_) => {
            false
        }
    };
    descriptor.map_or(by_default, |descriptor| descriptor == 0)
}

fn text_of(word: &Word, state: &State, work: &Work<'_>) -> Option<Input> {
    let value = expand_single(word, state, work);
    let path = work
        .facts
        .real(&paths::absolute(value.literal()?, state.cwd.as_deref())?);
    let text = work.facts.in_project(&path).then(|| work.facts.text(&path))??;
    Some(Input::Text(text))
}

/// The variable that `while read -r NAME` reads a line into, and the lines that it may be.
pub fn read(condition: &Script, body: &Script, input: &Input, state: &State) -> Option<(String, Value)> {
    let [item] = condition.items.as_slice() else {
        return None;
    };
    let [
        Stage {
            command: Command::Simple { assignments, words },
            redirects,
            ..
        },
    ] = item.first.stages.as_slice()
    else {
        return None;
    };
    let texts: Vec<&str> = words.iter().map(text).collect::<Option<_>>()?;
    let (is_raw, name) = match texts.as_slice() {
        ["read", "-r", name] => (true, *name),
        ["read", name] => (false, *name),
        _ => return None,
    };
    let keeps_blanks = match assignments.as_slice() {
        [] if state.get("IFS").is_none() && !state.opaque => false,
        [
            Assignment {
                name,
                append: false,
                value: AssignedValue::Scalar(word),
                ..
            },
        ] if name == "IFS" && word.parts.iter().all(is_empty) => true,
        _ => return None,
    };
    let is_plain = redirects.is_empty() && !item.background && !item.first.negated && is_identifier(name);
    // `|| [ -n "$line" ]`, for a last line without its end.
    let is_test = |(connector, pipeline): &(Connector, Pipeline)| {
        *connector == Connector::Or && pipeline.stages.iter().all(is_lone_test)
    };
    if !is_plain || state.has_functions() || !item.rest.iter().all(is_test) || !Leaves(name).script(body) {
        return None;
    }
    let values = match input {
        Input::Unknown => return None,
        Input::Lines(_) => input::words(input, &input::LINES)?,
        Input::Text(text) if !is_raw && text.contains('\\') => return None,
        Input::Text(text) => {
            // Behind the last newline no line begins.
            let text = text.strip_suffix('\n').unwrap_or(text);
            let lines = text.split('\n').map(|line| match keeps_blanks {
                true => line,
                false => line.trim_matches([' ', '\t']),
            });
            let mut lines: Vec<String> = lines.map(str::to_owned).collect();
            lines.sort_unstable();
            lines.dedup();
            // Some programs read their input where they are given `-`.
            if lines.len() > MAX_LINES || lines.iter().any(|line| line == "-") {
                return None;
            }
            vec![Value::OneOf(lines)]
        }
    };
    Some((name.to_owned(), one_of(&values)))
}

fn is_lone_test(stage: &Stage) -> bool {
    let name = match &stage.command {
        Command::Simple { assignments, words } if assignments.is_empty() => words.first().and_then(text),
        _ => None,
    };
    matches!(name, Some("[" | "test")) && stage.redirects.is_empty()
}

fn text(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Literal(text) | Part::Quoted(text)] => Some(text),
        _ => None,
    }
}

fn is_empty(part: &Part) -> bool {
    match part {
        Part::Literal(text) | Part::Quoted(text) => text.is_empty(),
        Part::DoubleQuoted(inner) => inner.iter().all(is_empty),
        _ => false,
    }
}

/// What leaves alone, or reads to its end, the input that lines are read from into this variable.
struct Leaves<'a>(&'a str);

/// Programs that read all of their standard input or nothing of it.
const LEAVE_OR_EMPTY: &[&str] = &[
    ":",
    "[",
    "basename",
    "cat",
    "cp",
    "dirname",
    "du",
    "echo",
    "false",
    "file",
    "ls",
    "md5sum",
    "mkdir",
    "mv",
    "printf",
    "readlink",
    "realpath",
    "rm",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "test",
    "touch",
    "true",
    "wc",
];

impl Leaves<'_> {
    fn script(&self, script: &Script) -> bool {
        let mut pipelines = script
            .items
            .iter()
            .flat_map(|item| std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)));
        pipelines.all(|pipeline| {
            let mut stages = pipeline.stages.iter().enumerate();
            stages.all(|(number, stage)| self.stage(stage, number > 0))
        })
    }

    fn stage(&self, stage: &Stage, is_piped: bool) -> bool {
        let of_redirect = |kind: &RedirectKind| match kind {
            RedirectKind::Read(word)
            | RedirectKind::Write(word)
            | RedirectKind::Append(word)
            | RedirectKind::WriteBoth(word)
            | RedirectKind::AppendBoth(word)
            | RedirectKind::HereDoc(word)
            | RedirectKind::HereString(word) => self.word(word),
            RedirectKind::Duplicate(descriptor) => *descriptor > 0,
            RedirectKind::ReadWrite(_) => false,
            RedirectKind::Close => true,
        };
        let has_own = |kind: &RedirectKind| {
            matches!(
                kind,
                RedirectKind::Read(_) | RedirectKind::HereDoc(_) | RedirectKind::HereString(_)
            )
        };
        let redirects = stage.redirects.iter();
        let is_own = is_piped
            || redirects
                .clone()
                .any(|it| has_own(&it.kind) && matches!(it.descriptor, None | Some(0)));
        if !redirects.clone().all(|it| of_redirect(&it.kind)) {
            return false;
        }
        match &stage.command {
            Command::Simple { assignments, words } => {
                let of_assignment = |it: &Assignment| match &it.value {
                    AssignedValue::Scalar(word) => self.word(word),
                    AssignedValue::Array(words) => words.iter().all(|word| self.word(word)),
                };
                let keeps_line = assignments.iter().all(|it| it.name != self.0);
                keeps_line
                    && assignments.iter().all(of_assignment)
                    && words.iter().all(|word| self.word(word))
                    && (is_own || words.is_empty() || self.command(words))
            }
            Command::Group(script) | Command::Subshell(script) => self.script(script),
            Command::If { branches, otherwise } => {
                let mut scripts = branches
                    .iter()
                    .flat_map(|(condition, body)| [condition, body])
                    .chain(otherwise);
                scripts.all(|script| self.script(script))
            }
            Command::Test(condition) => self.condition(condition),
            Command::Arithmetic(expression) => expression.parts.iter().all(|part| self.part(part)),
            Command::While { .. } | Command::For { .. } | Command::Case { .. } | Command::Function { .. } => false,
        }
    }

    /// Of other programs only those, whose last word is the line that was read as a file of theirs.
    fn command(&self, words: &[Word]) -> bool {
        let Some(name) = words.first().and_then(text) else {
            return false;
        };
        if LEAVE_OR_EMPTY.contains(&name) {
            return true;
        }
        let Some((last, before)) = words[1..].split_last() else {
            return false;
        };
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let before = before.last().map(|word| text(word).unwrap_or("-"));
        let follows = match name {
            "head" | "tail" => before.is_none_or(|word| !word.starts_with('-') || is_number(&word[1..])),
            "grep" | "sed" => before.is_some_and(|word| !word.starts_with('-')),
            _ => false,
        };
        follows && self.is_line(last)
    }

    fn is_line(&self, word: &Word) -> bool {
        let is_it = |it: &Parameter| it.name == self.0 && it.index.is_none() && it.operation.is_none();
        match word.parts.as_slice() {
            [Part::DoubleQuoted(inner)] => matches!(inner.as_slice(), [Part::Parameter(it)] if is_it(it)),
            _ => false,
        }
    }

    fn condition(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Not(inner) => self.condition(inner),
            Condition::And(left, right) | Condition::Or(left, right) => self.condition(left) && self.condition(right),
            Condition::Word(word) | Condition::Unary(_, word) => self.word(word),
            Condition::Binary(left, _, right) => self.word(left) && self.word(right),
        }
    }

    fn word(&self, word: &Word) -> bool {
        word.parts.iter().all(|part| self.part(part))
    }

    fn part(&self, part: &Part) -> bool {
        match part {
            Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => true,
            Part::DoubleQuoted(parts) => parts.iter().all(|part| self.part(part)),
            Part::Brace(alternatives) => alternatives.iter().flatten().all(|part| self.part(part)),
            Part::CommandSubstitution(script) => self.script(script),
            Part::ProcessSubstitution { .. } => false,
            Part::Arithmetic(expression) => expression.parts.iter().all(|part| self.part(part)),
            Part::Parameter(parameter) => match &parameter.operation {
                None | Some(ParameterOperation::Length | ParameterOperation::Case(_, None)) => true,
                Some(
                    ParameterOperation::Default(_, word)
                    | ParameterOperation::Strip(_, word)
                    | ParameterOperation::Case(_, Some(word))
                    | ParameterOperation::Replace(_, word, None),
                ) => self.word(word),
                Some(ParameterOperation::Replace(_, word, Some(by))) => self.word(word) && self.word(by),
                Some(ParameterOperation::Substring(from, length)) => {
                    let mut parts = from.parts.iter().chain(length.iter().flat_map(|length| &length.parts));
                    parts.all(|part| self.part(part))
                }
            },
        }
    }
}

/// Any number of words, each one of these.
pub struct Words {
    pub values: Vec<Value>,
    /// There is one or none.
    pub one: bool,
}

/// The words that a lone `$(..)` becomes, or a variable that holds a hash or nothing: any number of these, none of them a
/// pattern.
pub fn words(word: &Word, state: &State, work: &Work<'_>) -> Option<Words> {
    let (words, one) = match word.parts.as_slice() {
        [Part::CommandSubstitution(script)] if splits_at_blanks(state, work) => {
            let printed = printed(script, state, work)?;
            let one = matches!(&printed, Input::Lines(lines) if lines.one);
            (input::words(&printed, &input::LINES)?, one)
        }
        [Part::Parameter(it)] if it.index.is_none() && it.operation.is_none() && splits_at_blanks(state, work) => (
            vec![state.get(&it.name).filter(|value| value.is_digits())?.clone()],
            true,
        ),
        _ => return None,
    };
    let is_literal = |text: &String| !text.contains(['*', '?', '[']);
    let are_literal = |value: &Value| match value.alternatives() {
        Some(texts) => texts.iter().all(is_literal),
        None => value.is_digits(),
    };
    let are_few = words.len() <= MAX_LINES && words.iter().all(are_literal);
    are_few.then_some(Words { values: words, one })
}

/// The hash, or nothing, that a `$(..)` puts in its place.
pub fn number(script: &Script, state: &State, work: &Work<'_>) -> Option<Value> {
    let [stage] = script.items.first()?.first.stages.as_slice() else {
        return None;
    };
    let Command::Simple { words, .. } = &stage.command else {
        return None;
    };
    let name = |at: usize| words.get(at).and_then(Word::as_bare_literal);
    // The machine is not looked at for a list of names.
    let is_number = match name(0)? {
        "git" => matches!(name(1), Some("merge-base" | "rev-list" | "rev-parse")),
        name => ["docker", "pgrep"].contains(&name),
    };
    if !is_number || !splits_at_blanks(state, work) {
        return None;
    }
    match printed(script, state, work)? {
        Input::Lines(lines) if lines.one && lines.each.iter().all(Value::is_digits) => Some(Value::digits(true)),
        _ => None,
    }
}

/// What a script prints that is one pipeline.
fn printed(script: &Script, state: &State, work: &Work<'_>) -> Option<Input> {
    let [item] = script.items.as_slice() else { return None };
    let is_plain = !item.background && item.rest.is_empty() && !item.first.negated;
    is_plain.then(|| printed::printed_by(&item.first, state, work))
}

fn splits_at_blanks(state: &State, work: &Work<'_>) -> bool {
    state.get("IFS").is_none() && !state.opaque && !work.facts.environment.contains("IFS")
}
