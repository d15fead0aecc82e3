//! What a tree shows: the words of all its commands, in every branch, body and substitution.

use std::collections::{BTreeMap, BTreeSet};

use countersign::shell::ast::*;

#[derive(Default)]
pub struct Shown {
    /// By the name of a command, the words after it; `None` where they are not all known.
    commands: BTreeMap<String, BTreeSet<Option<Vec<String>>>>,
    /// Literal text that can become the name of a command whose word is not known.
    loose: String,
    any_loose: bool,
    /// A name may hold digits that only the shell knows, such as those of `$$`.
    any_number: bool,
    /// A name may be that of any file, or anything else that only the shell knows.
    any_glob: bool,
}

impl Shown {
    pub fn of(script: &Script) -> Self {
        let mut shown = Shown::default();
        shown.script(script);
        shown
    }

    /// Whether a command that a shell ran stands in the tree.
    pub fn shows(&self, words: &[String]) -> bool {
        let Some((name, rest)) = words.split_first() else {
            return false;
        };
        let known = self.commands.get(name);
        known.is_some_and(|known| known.contains(&None) || known.contains(&Some(rest.to_vec())))
            || self.may_become(name)
    }

    /// Whether a command whose name the tree does not know can be this one.
    fn may_become(&self, name: &str) -> bool {
        let known = || {
            let mut pieces = name
                .split(|c: char| !c.is_alphanumeric())
                .filter(|piece| !piece.is_empty());
            pieces.all(|piece| self.composes(piece))
        };
        // Where the word before a redirection becomes nothing, zsh runs one of these.
        let null_command = matches!(name, "cat" | "more" | "pager");
        self.any_loose && (self.any_glob || null_command || known())
    }

    /// Whether expansions can put a piece of a name together.
    fn composes(&self, piece: &str) -> bool {
        let unknown = |c: char| self.any_number && c.is_ascii_digit();
        let piece = piece.trim_matches(unknown);
        let tokens = || {
            self.loose
                .split(|c: char| !c.is_alphanumeric())
                .filter(|token| !token.is_empty())
        };
        self.loose.contains(piece)
            || tokens().any(|token| piece.strip_prefix(token).is_some_and(|rest| self.composes(rest)))
    }

    fn script(&mut self, script: &Script) {
        for item in &script.items {
            self.pipeline(&item.first);
            item.rest.iter().for_each(|(_, pipeline)| self.pipeline(pipeline));
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.stages.iter().for_each(|stage| self.stage(stage));
    }

    fn stage(&mut self, stage: &Stage) {
        for redirect in &stage.redirects {
            match &redirect.kind {
                RedirectKind::Read(word)
                | RedirectKind::Write(word)
                | RedirectKind::Append(word)
                | RedirectKind::WriteBoth(word)
                | RedirectKind::AppendBoth(word)
                | RedirectKind::ReadWrite(word)
                | RedirectKind::HereDoc(word)
                | RedirectKind::HereString(word) => self.word(word),
                RedirectKind::Duplicate(_) | RedirectKind::Close => {}
            }
        }
        self.command(&stage.command);
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple { assignments, words } => self.simple(assignments, words),
            Command::Group(script) | Command::Subshell(script) => self.script(script),
            Command::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.script(condition);
                    self.script(body);
                }
                otherwise.iter().for_each(|body| self.script(body));
            }
            Command::While { condition, body, .. } => {
                self.script(condition);
                self.script(body);
            }
            Command::For { words, body, .. } => {
                words.iter().flatten().for_each(|word| self.loose_word(word));
                self.script(body);
            }
            Command::Case { subject, arms } => {
                self.word(subject);
                for arm in arms {
                    arm.patterns.iter().for_each(|word| self.word(word));
                    self.script(&arm.body);
                }
            }
            Command::Test(condition) => self.condition(condition),
            Command::Arithmetic(arithmetic) => self.parts(&arithmetic.parts),
            Command::Function { body, .. } => self.stage(body),
        }
    }

    fn simple(&mut self, assignments: &[Assignment], words: &[Word]) {
        for assignment in assignments {
            match &assignment.value {
                AssignedValue::Scalar(word) => self.loose_word(word),
                AssignedValue::Array(words) => words.iter().for_each(|word| self.loose_word(word)),
            }
        }
        words.iter().for_each(|word| self.word(word));
        let Some(first) = words.first() else { return };
        match literal(&first.parts) {
            Some(name) => {
                let rest = words[1..].iter().map(expanded_word).collect::<Option<Vec<_>>>();
                self.commands
                    .entry(name)
                    .or_default()
                    .insert(rest.map(|words| words.concat()));
            }
            None => {
                self.any_loose = true;
                words.iter().for_each(|word| self.loose_word(word));
            }
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Not(inner) => self.condition(inner),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.condition(left);
                self.condition(right);
            }
            Condition::Word(word) | Condition::Unary(_, word) => self.word(word),
            Condition::Binary(left, _, right) => {
                self.word(left);
                self.word(right);
            }
        }
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    /// A word whose text may become a command's name.
    fn loose_word(&mut self, word: &Word) {
        self.word(word);
        let source = format!("{:?}", word.parts);
        // `$-` lists the shell's own options.
        self.any_glob |= source.contains("Glob(") || source.contains("name: \"-\"");
        self.any_number |= source.contains("Arithmetic(")
            || source.contains("Length")
            || ["$", "!", "#", "?", "-"]
                .iter()
                .any(|name| source.contains(&format!("name: \"{name}\"")));
        for spelling in spellings(&word.parts) {
            self.loose.push_str(&spelling);
            self.loose.push(' ');
        }
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
                Part::DoubleQuoted(inner) => self.parts(inner),
                Part::Parameter(parameter) => parameter
                    .operation
                    .iter()
                    .for_each(|operation| self.operation(operation)),
                Part::CommandSubstitution(script) | Part::ProcessSubstitution { script, .. } => self.script(script),
                Part::Arithmetic(arithmetic) => self.parts(&arithmetic.parts),
                Part::Brace(alternatives) => alternatives.iter().for_each(|inner| self.parts(inner)),
            }
        }
    }

    fn operation(&mut self, operation: &ParameterOperation) {
        match operation {
            ParameterOperation::Length => {}
            ParameterOperation::Default(operator, word) => {
                if operator.ends_with('=') {
                    self.loose_word(word);
                }
                self.word(word);
            }
            ParameterOperation::Strip(_, word) => self.word(word),
            ParameterOperation::Replace(_, pattern, replacement) => {
                self.word(pattern);
                replacement.iter().for_each(|word| self.word(word));
            }
            ParameterOperation::Case(_, pattern) => pattern.iter().for_each(|word| self.word(word)),
            ParameterOperation::Substring(offset, length) => {
                self.parts(&offset.parts);
                length.iter().for_each(|length| self.parts(&length.parts));
            }
        }
    }
}

fn literal(parts: &[Part]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal(piece) | Part::Quoted(piece) => text.push_str(piece),
            Part::DoubleQuoted(inner) => text.push_str(&literal(inner)?),
            Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution { .. }
            | Part::Arithmetic(_)
            | Part::Glob(_)
            | Part::Brace(_)
            | Part::Tilde(_) => return None,
        }
    }
    Some(text)
}

/// The texts a word can become in the cage, where expansions are mostly empty; the first few.
fn spellings(parts: &[Part]) -> Vec<String> {
    let mut texts = vec![String::new()];
    for part in parts {
        let pieces = match part {
            Part::Literal(text) | Part::Quoted(text) | Part::Glob(text) => vec![text.clone()],
            Part::DoubleQuoted(inner) => spellings(inner),
            Part::Brace(alternatives) => alternatives.iter().flat_map(|inner| spellings(inner)).collect(),
            Part::Parameter(parameter) => match &parameter.operation {
                Some(ParameterOperation::Default(_, word)) => spellings(&word.parts),
                _ => [" ", ""].map(str::to_owned).to_vec(),
            },
            Part::Arithmetic(_) => vec![" 0 1 2 3 4 5 6 7 8 9 ".to_owned()],
            Part::Tilde(name) => vec![format!("~{}", name.as_deref().unwrap_or_default())],
            Part::CommandSubstitution(_) | Part::ProcessSubstitution { .. } => continue,
        };
        texts = texts
            .iter()
            .flat_map(|text| pieces.iter().map(move |piece| format!("{text}{piece}")))
            .take(200)
            .collect();
    }
    texts
}

/// The words that one word becomes, if that is known from the tree alone.
fn expanded(parts: &[Part]) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    for part in parts {
        let pieces = match part {
            Part::Literal(text) | Part::Quoted(text) => vec![text.clone()],
            Part::DoubleQuoted(inner) => vec![literal(inner)?],
            Part::Brace(alternatives) => alternatives
                .iter()
                .map(|inner| expanded(inner))
                .collect::<Option<Vec<_>>>()?
                .concat(),
            Part::Tilde(None) => vec![crate::cage::HOME.to_owned()],
            Part::Tilde(Some(_))
            | Part::Parameter(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution { .. }
            | Part::Arithmetic(_)
            | Part::Glob(_) => return None,
        };
        words = words
            .iter()
            .flat_map(|word| pieces.iter().map(move |piece| format!("{word}{piece}")))
            .collect();
    }
    Some(words)
}

/// The same for a whole word: an unquoted one that is empty vanishes.
fn expanded_word(word: &Word) -> Option<Vec<String>> {
    let mut words = expanded(&word.parts)?;
    let unquoted = word
        .parts
        .iter()
        .all(|part| matches!(part, Part::Literal(_) | Part::Brace(_)));
    words.retain(|word| !(unquoted && word.is_empty()));
    Some(words)
}
