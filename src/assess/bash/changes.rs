//! What a script may change of the state of the shell that runs it, read off its tree alone.

use std::collections::HashSet;

use super::evaluation::is_digits;
use crate::assess::builtins::{self, StateChange};
use crate::shell::ast::{AssignedValue, Assignment, Command, Condition, Part, Pipeline, Script, Stage, Word};
use crate::shell::state::State;
use crate::shell::{self, Value, is_identifier};

/// Commands after which what follows them may not run.
const JUMPS: &[&str] = &["break", "continue", "return"];
/// A number that a loop starts to count from is no longer.
const MAX_DIGITS: usize = 6;

/// Forgets what a loop's body may change, before it is read once for every turn.
pub(super) fn forget_assigned(script: &Script, state: &mut State) {
    let mut changes = Changes::default();
    changes.of_script(script);
    for body in state.bodies() {
        match body {
            Some(body) => changes.of_command(&body.command),
            None => changes.anything = true,
        }
    }
    if changes.anything || !changes.called.is_empty() {
        state.forget_all();
    }
    if changes.any_name {
        state.forget_variables();
    }
    if changes.positional {
        state.positional = None;
    }
    let counted = changes.counted(state);
    for name in changes.names {
        state.forget(&name);
    }
    for (name, _) in changes.counts {
        match counted.contains(&name) {
            true => state.count(&name),
            false => state.forget(&name),
        }
    }
    for name in changes.fixed {
        state.freeze(&name);
    }
    if changes.directory {
        state.forget_directory();
    }
}

/// Whether a loop with this body is read turn by turn: it moves the shell, or runs what the loop's variable names, and every
/// turn runs to its end.
pub(super) fn goes_by_turns(body: &Script, name: &str, texts: &[String], state: &State) -> bool {
    let mut changes = Changes::default();
    changes.of_script(body);
    let calls_none = changes.called.is_empty();
    let is_it = changes.called.iter().all(|called| called == name);
    let calls_it = is_it && !changes.assigns(name) && !changes.any_name && texts.iter().all(|text| goes_on(text));
    let runs_on = !changes.jumps && !changes.anything && !may_break(state);
    (changes.moves || !calls_none) && calls_it && runs_on
}

/// Whether a function that is called in this state may return before its end. What it runs that is not known by name may
/// be a `return`.
pub(super) fn may_return(body: &Stage, state: &State) -> bool {
    let mut changes = Changes::default();
    changes.of_command(&body.command);
    let positional = state.positional.as_ref().filter(|it| it.counted && !changes.positional);
    let is_harmless = |called: &String| {
        let number = if called == "@" { Ok(1) } else { called.parse::<usize>() };
        let word = number.ok().and_then(|number| positional?.words.get(number));
        word.and_then(Value::alternatives)
            .is_some_and(|texts| texts.iter().all(|text| goes_on(text)))
    };
    changes.jumps || changes.anything || !changes.called.iter().all(is_harmless) || may_break(state)
}

/// Whether what follows a command of this name runs, and in the state that was before.
fn goes_on(name: &str) -> bool {
    let is_jump = JUMPS.contains(&name) || ["exit", "time"].contains(&name);
    !is_jump && builtins::state_change(name) == StateChange::Nothing
}

/// Whether a function may break the loop that it is called in, as it does in zsh.
fn may_break(state: &State) -> bool {
    state.bodies().any(|body| {
        body.is_none_or(|body| {
            let mut changes = Changes::default();
            changes.of_command(&body.command);
            changes.breaks
        })
    })
}

/// Whether code leaves the shell that runs it as it was: its directory, its variables, its names.
pub fn changes_nothing(code: &str) -> bool {
    let mut changes = Changes::default();
    if let Ok(script) = shell::parse(code) {
        changes.of_script(&script);
    } else {
        changes.anything = true;
    }
    let nothing = Changes {
        moves: changes.moves,
        jumps: changes.jumps,
        breaks: changes.breaks,
        ..Changes::default()
    };
    changes == nothing
}

/// What a script may change of the state, read off its tree alone.
#[derive(Default, PartialEq)]
struct Changes {
    names: HashSet<String>,
    /// It assigns a variable whose name is not known.
    any_name: bool,
    /// Given a number that is made of another variable's, or of none.
    counts: Vec<(String, Option<String>)>,
    /// `$1` and so on.
    positional: bool,
    /// Variables that name what it runs.
    called: HashSet<String>,
    /// It changes the directory of the shell, or of one that it starts.
    moves: bool,
    /// It leaves a turn of a loop, or the loop.
    jumps: bool,
    /// It does so by `break` or `continue`.
    breaks: bool,
    /// Made read-only.
    fixed: HashSet<String>,
    directory: bool,
    anything: bool,
}

impl Changes {
    fn of_script(&mut self, script: &Script) {
        for item in &script.items {
            self.of_pipeline(&item.first);
            item.rest.iter().for_each(|(_, pipeline)| self.of_pipeline(pipeline));
        }
    }

    fn of_pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.stages.iter().for_each(|stage| self.of_command(&stage.command));
    }

    fn of_command(&mut self, command: &Command) {
        match command {
            Command::Simple { assignments, words } => {
                assignments
                    .iter()
                    .for_each(|it| self.of_assignment(it, words.is_empty()));
                self.of_words(words);
            }
            Command::Group(inner) => self.of_script(inner),
            // It changes only its own copy.
            Command::Subshell(inner) => {
                let mut own = Changes::default();
                own.of_script(inner);
                self.moves |= own.moves;
                self.called.extend(own.called);
            }
            Command::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.of_script(condition);
                    self.of_script(body);
                }
                otherwise.iter().for_each(|body| self.of_script(body));
            }
            Command::While { condition, body, .. } => {
                self.of_script(condition);
                self.of_script(body);
            }
            Command::For { name, body, .. } => {
                self.names.insert(name.clone());
                self.of_script(body);
            }
            Command::Case { arms, .. } => arms.iter().for_each(|arm| self.of_script(&arm.body)),
            Command::Arithmetic(expression) => match (&expression.count, expression.assigned.as_slice()) {
                (Some(count), [name]) => self.counts.push((name.clone(), count.of.clone())),
                (_, assigned) => self.names.extend(assigned.iter().cloned()),
            },
            Command::Test(condition) => {
                let set = set_by_match(condition).iter();
                self.names.extend(set.map(|&name| name.to_owned()));
            }
            Command::Function { .. } => self.anything = true,
        }
    }

    fn of_assignment(&mut self, assignment: &Assignment, lasting: bool) {
        let of = match &assignment.value {
            AssignedValue::Scalar(word) if lasting && !assignment.append => counted_of(word),
            AssignedValue::Scalar(_) | AssignedValue::Array(_) => None,
        };
        match of {
            Some(of) => self.counts.push((assignment.name.clone(), of)),
            None => drop(self.names.insert(assignment.name.clone())),
        }
    }

    /// The variables that hold a number before the loop and after every turn of it.
    fn counted(&self, state: &State) -> HashSet<String> {
        let names = self.counts.iter().map(|(name, _)| name.clone());
        let mut counted: HashSet<String> = names
            .filter(|name| state.is_number(name) && !self.names.contains(name))
            .collect();
        loop {
            let is_number = |of: &String| counted.contains(of) || state.is_number(of) && !self.assigns(of);
            let broken = self
                .counts
                .iter()
                .find(|(name, of)| counted.contains(name) && !of.as_ref().is_none_or(is_number));
            match broken {
                Some((name, _)) => counted.remove(name),
                None => return counted,
            };
        }
    }

    fn assigns(&self, name: &str) -> bool {
        self.names.contains(name) || self.counts.iter().any(|(counted, _)| counted == name)
    }

    fn of_words(&mut self, words: &[Word]) {
        let name = match words.first().map(|word| word.parts.as_slice()) {
            None => return,
            Some([Part::Literal(name) | Part::Quoted(name)]) => name.as_str(),
            Some(parts) => {
                let inner = match parts {
                    [Part::DoubleQuoted(inner)] => inner.as_slice(),
                    parts => parts,
                };
                if let [Part::Parameter(it)] = inner
                    && it.index.is_none()
                    && it.operation.is_none()
                {
                    self.called.insert(it.name.clone());
                    return;
                }
                self.anything = true;
                return;
            }
        };
        if builtins::runs_in_this_shell(name) || name == "time" {
            return self.of_wrapped(name, &words[1..]);
        }
        self.jumps |= JUMPS.contains(&name);
        self.breaks |= ["break", "continue"].contains(&name);
        match builtins::state_change(name) {
            StateChange::Nothing => {}
            StateChange::Directory => {
                self.directory = true;
                self.moves = true;
            }
            StateChange::Positional => self.positional = true,
            StateChange::Names => {
                let fixes = |word: &Word| name_in(word).is_some_and(|text| text.starts_with('-') && text.contains('r'));
                if name == "readonly" || name != "read" && words.iter().any(fixes) {
                    self.fixed.extend(words.iter().filter_map(name_in));
                }
                let named = match name {
                    "printf" => named_by_printf(&words[1..]),
                    _ => &words[1..],
                };
                self.names.extend(named.iter().filter_map(name_in));
                self.any_name |= named.iter().any(names_any);
                if name != "printf" {
                    self.names
                        .extend(builtins::ASSIGNED_UNNAMED.iter().map(|&name| name.to_owned()));
                }
            }
            StateChange::Anything => self.anything = true,
        }
    }

    /// The words of `command`, `builtin` or `time`, which run a command in this very shell.
    fn of_wrapped(&mut self, wrapper: &str, words: &[Word]) {
        match words.first().and_then(name_in).as_deref() {
            Some("-v" | "-V") if wrapper == "command" => {}
            Some("-p") if wrapper == "time" => self.of_words(&words[1..]),
            Some(option) if option.starts_with('-') => self.anything = true,
            Some(_) | None => self.of_words(words),
        }
    }
}

/// The variables that zsh sets where a condition matches an expression.
pub(super) fn set_by_match(condition: &Condition) -> &'static [&'static str] {
    match condition {
        Condition::Not(inner) => set_by_match(inner),
        Condition::And(left, right) | Condition::Or(left, right) => match set_by_match(left) {
            [] => set_by_match(right),
            set => set,
        },
        Condition::Binary(_, operator, _) if operator == "=~" => &["MATCH", "MBEGIN", "MEND", "match"],
        Condition::Word(_) | Condition::Unary(..) | Condition::Binary(..) => &[],
    }
}

/// Of which variable's number a word is made that only counts.
fn counted_of(word: &Word) -> Option<Option<String>> {
    let parts = match word.parts.as_slice() {
        [Part::DoubleQuoted(inner)] => inner.as_slice(),
        parts => parts,
    };
    match parts {
        [Part::Arithmetic(expression)] if expression.assigned.is_empty() => Some(expression.count.as_ref()?.of.clone()),
        [Part::Parameter(it)] if it.index.is_none() && it.operation.is_none() => Some(Some(it.name.clone())),
        [Part::Literal(text) | Part::Quoted(text)] if text.len() <= MAX_DIGITS && is_digits(text) => Some(None),
        _ => None,
    }
}

/// The name that a builtin such as `read` or `export` may assign by this word, where it is written out.
fn name_in(word: &Word) -> Option<String> {
    let (text, is_whole) = literal_start(&word.parts);
    let (name, ends) = match text.find(['=', '+']) {
        Some(at) => (&text[..at], true),
        None => (text.as_str(), is_whole),
    };
    ends.then(|| name.to_owned())
}

/// Whether a word may name a variable that is not known.
fn names_any(word: &Word) -> bool {
    let (text, _) = literal_start(&word.parts);
    name_in(word).is_none() && (text.is_empty() || is_identifier(&text))
}

/// The words of `printf` that may name a variable: none, unless the first may be `-v`.
fn named_by_printf(words: &[Word]) -> &[Word] {
    let Some((first, rest)) = words.split_first() else {
        return words;
    };
    let (text, is_whole) = literal_start(&first.parts);
    let is_list = |part: &Part| matches!(part, Part::Parameter(it) if it.name == "@" || it.index.is_some());
    let is_one = match first.parts.as_slice() {
        [Part::DoubleQuoted(inner)] => !inner.iter().any(is_list),
        _ => is_whole,
    };
    match (is_whole, is_one) {
        (true, _) if text != "-v" => &[],
        (false, _) if !"-v".starts_with(&text) => &[],
        (_, true) => rest,
        (_, false) => words,
    }
}

/// The text that a word starts with, and whether that is all of it.
fn literal_start(parts: &[Part]) -> (String, bool) {
    let mut start = String::new();
    for part in parts {
        match part {
            Part::Literal(text) | Part::Quoted(text) => start.push_str(text),
            Part::DoubleQuoted(inner) => {
                let (text, is_whole) = literal_start(inner);
                start.push_str(&text);
                if !is_whole {
                    return (start, false);
                }
            }
            _ => return (start, false),
        }
    }
    (start, true)
}
