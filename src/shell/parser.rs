//! The way in, and the grammar of lists, pipelines and simple commands.
//!
//! Called by the assessment of a script and by whoever finds a script inside a word. Words, redirections and compound
//! commands have files of their own.

use super::ast::{
    AssignedValue, Assignment, Command, Connector, Item, Pipeline, Redirect, RedirectKind, Script, Span, Stage, Word,
};
use super::cursor::{Budget, MAX_COMMANDS, Parsed, Parser, is_word_end};
use super::words::{Place, ends_word_list};

/// The longest script that is parsed, in bytes.
pub const MAX_BYTES: usize = 64 * 1024;

/// Why a script was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A short name, lower case: "coproc", "unterminated quote".
    pub what: String,
    pub span: Span,
}

/// Parses a whole script.
///
/// # Errors
/// A [`Refusal`] names the first construct that is outside the accepted subset.
pub fn parse(source: &str) -> Result<Script, Refusal> {
    let mut parser = Parser::new(source, None, Budget::default());
    if source.len() > MAX_BYTES {
        return parser.refuse("script too long");
    }
    parser.refuse_control_characters()?;
    let script = parser.script(End::Text)?;
    parser.check_end()?;
    Ok(script)
}

/// What ends a list of commands; it is not consumed.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The end of the text.
    Text,
    /// `)`
    Paren,
    /// One of these reserved words.
    Words(&'static [&'static str]),
    /// `;;` or `esac`
    Arm,
}

/// Names to which zsh ties meaning of its own: setting `path` sets PATH, and it runs `NULLCMD` where a command is missing.
const ZSH_NAMES: &[&str] = &[
    "NULLCMD",
    "READNULLCMD",
    "argv",
    "cdpath",
    "dirstack",
    "fignore",
    "fpath",
    "mailpath",
    "manpath",
    "module_path",
    "path",
    "psvar",
];

/// Tables of zsh that only an array sets: `functions=(ls 'rm x')` defines a function. As plain variables zsh rejects them.
const ZSH_TABLES: &[&str] = &[
    "aliases",
    "builtins",
    "commands",
    "dis_aliases",
    "dis_builtins",
    "dis_functions",
    "dis_galiases",
    "dis_saliases",
    "functions",
    "galiases",
    "modules",
    "nameddirs",
    "options",
    "parameters",
    "saliases",
    "userdirs",
    "widgets",
];

/// Words that open or close a construct where a command may start, in bash or in zsh.
const RESERVED: &[&str] = &[
    "!",
    "{",
    "}",
    "[[",
    "case",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "esac",
    "fi",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "nocorrect",
    "noglob",
    "repeat",
    "select",
    "then",
    "time",
    "until",
    "while",
    "-",
    "]]",
];

/// Builtins whose `name=~/x` operands both shells expand as assignments.
const DECLARES: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

impl Parser<'_> {
    fn refuse_control_characters(&mut self) -> Parsed<()> {
        let odd = |byte: u8| (byte < b' ' && !b"\t\n\r\x1b".contains(&byte)) || byte == 0x7f;
        match self.text.bytes().position(odd) {
            Some(at) => {
                self.at = at;
                self.refuse("control character")
            }
            None => Ok(()),
        }
    }

    /// A list of commands up to `end`; may be empty.
    pub(super) fn script(&mut self, end: End) -> Parsed<Script> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.is_at(end) {
                return Ok(Script { items });
            }
            let (item, ended) = self.item()?;
            items.push(item);
            if !ended && !self.is_closed_by(end) {
                let what = if self.peek().is_none() {
                    "unexpected end"
                } else {
                    "text after a command"
                };
                return self.refuse(what);
            }
        }
    }

    /// A list of commands up to `end`, which bash does not let be empty.
    pub(super) fn full_script(&mut self, end: End) -> Parsed<Script> {
        let script = self.script(end)?;
        if script.items.is_empty() {
            return self.refuse("no command");
        }
        Ok(script)
    }

    fn is_at(&mut self, end: End) -> bool {
        match end {
            End::Text => self.peek().is_none(),
            End::Paren => self.peek() == Some(b')'),
            End::Words(words) => words.contains(&self.bare_word_ahead().0.as_str()),
            End::Arm => self.at_double_semicolon() || self.bare_word_ahead().0 == "esac",
        }
    }

    /// Whether `end` may follow a command that nothing ended: reserved words may not.
    fn is_closed_by(&mut self, end: End) -> bool {
        match end {
            End::Text | End::Paren => self.is_at(end),
            End::Words(_) => false,
            End::Arm => self.at_double_semicolon(),
        }
    }

    fn at_double_semicolon(&mut self) -> bool {
        self.peek() == Some(b';') && self.peek_second() == Some(b';')
    }

    /// Skips blanks, newlines and comments; a newline steps over the here-documents of its line.
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'#') => self.skip_comment()?,
                Some(b'\n') => self.newline()?,
                _ => return Ok(()),
            }
        }
    }

    fn newline(&mut self) -> Parsed<()> {
        if self.one_line {
            return self.refuse("newline inside a word after a here-document operator");
        }
        match self.here.take() {
            Some(line) if line.newline == self.at => self.at = line.resume,
            Some(_) => return self.refuse("here-document without its body"),
            None => self.bump(),
        }
        Ok(())
    }

    fn skip_comment(&mut self) -> Parsed<()> {
        if self.budget.in_arithmetic {
            return self.refuse("comment inside arithmetic");
        }
        while let Some(byte) = self.raw() {
            match byte {
                b'\n' => break,
                b'\r' | 0x1b => return self.refuse("control character"),
                _ => self.bump(),
            }
        }
        Ok(())
    }

    /// One list element, and whether `;`, `&` or a newline ended it.
    fn item(&mut self) -> Parsed<(Item, bool)> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        while let Some(connector) = self.connector() {
            self.skip_newlines()?;
            rest.push((connector, self.pipeline()?));
        }
        self.skip_blanks();
        if self.peek() == Some(b'#') {
            self.skip_comment()?;
        }
        let (background, ended) = match self.peek() {
            Some(b';') => (false, self.semicolon()?),
            Some(b'&') => (true, self.ampersand()?),
            Some(b'\n') => {
                self.newline()?;
                (false, true)
            }
            _ => (false, false),
        };
        let assigns_only = |pipeline: &Pipeline| {
            let last = pipeline.stages.last();
            last.is_some_and(|stage| matches!(&stage.command, Command::Simple { words, .. } if words.is_empty()))
        };
        if background && (assigns_only(&first) || rest.iter().any(|(_, pipeline)| assigns_only(pipeline))) {
            return self.refuse("assignment in the background");
        }
        let item = Item {
            first,
            rest,
            background,
        };
        Ok((item, ended))
    }

    fn connector(&mut self) -> Option<Connector> {
        self.skip_blanks();
        let connector = match (self.peek()?, self.peek_second()?) {
            (b'&', b'&') => Connector::And,
            (b'|', b'|') => Connector::Or,
            _ => return None,
        };
        self.bump();
        self.peek();
        self.bump();
        Some(connector)
    }

    /// Steps over a single `;`; leaves `;;` for the case arm that it ends.
    fn semicolon(&mut self) -> Parsed<bool> {
        match self.peek_second() {
            Some(b';') => Ok(false),
            Some(b'&' | b'|') => self.refuse("case fall-through"),
            _ => {
                self.bump();
                Ok(true)
            }
        }
    }

    fn ampersand(&mut self) -> Parsed<bool> {
        self.bump();
        match self.peek() {
            Some(b'|' | b'!') => self.refuse("zsh disown operator"),
            _ => Ok(true),
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.skip_blanks();
        let start = self.at;
        let timed = self.prefix("time")?;
        if timed && self.budget.untimed {
            return self.refuse_from("nested time", start);
        }
        if timed
            && matches!(
                self.peek(),
                None | Some(b'-' | b'\n' | b';' | b'&' | b'|' | b')' | b'#')
            )
        {
            return self.refuse_from("time without a plain command", start);
        }
        let negated = self.prefix("!")?;
        let (word, _) = self.bare_word_ahead();
        if (timed && negated) || ((timed || negated) && (word == "time" || word == "!")) {
            return self.refuse_from("time and ! together", start);
        }
        let untimed = self.budget.untimed;
        self.budget.untimed |= timed;
        let stages = self.stages()?;
        self.budget.untimed = untimed;
        Ok(Pipeline { timed, negated, stages })
    }

    /// Steps over `time` or `!` and the blanks that must follow.
    fn prefix(&mut self, word: &str) -> Parsed<bool> {
        let found = self.eat_word(word);
        if found
            && !self
                .peek()
                .is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';'))
        {
            return self.refuse(&format!("{word} without a blank"));
        }
        if found {
            self.skip_blanks();
        }
        Ok(found)
    }

    fn stages(&mut self) -> Parsed<Vec<Stage>> {
        let mut stages = Vec::new();
        loop {
            let mut stage = self.stage()?;
            self.skip_blanks();
            let pipes = self.peek() == Some(b'|') && self.peek_second() != Some(b'|');
            if pipes {
                self.bump();
                stage.pipes_stderr = self.eat(b'&');
            }
            stages.push(stage);
            if !pipes {
                return Ok(stages);
            }
            self.skip_newlines()?;
            if matches!(self.bare_word_ahead().0.as_str(), "time" | "!") {
                return self.refuse("time or ! inside a pipeline");
            }
        }
    }

    /// One command with its redirections.
    pub(super) fn stage(&mut self) -> Parsed<Stage> {
        self.skip_blanks();
        self.budget.commands += 1;
        if self.budget.commands > MAX_COMMANDS {
            return self.refuse("too many commands");
        }
        let start = self.at;
        match self.compound()? {
            Some(command) => self.finish_compound(command, start),
            None => self.simple(start),
        }
    }

    /// Reads what may follow a compound command: redirections only.
    pub(super) fn finish_compound(&mut self, command: Command, start: usize) -> Parsed<Stage> {
        let mut end = self.at;
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
            end = self.at;
        }
        if !matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'#')) {
            return self.refuse("text after a compound command");
        }
        Ok(self.stage_of(command, redirects, start, end))
    }

    fn stage_of(&self, command: Command, redirects: Vec<Redirect>, start: usize, end: usize) -> Stage {
        Stage {
            command,
            redirects,
            pipes_stderr: false,
            span: self.span_of(start, end),
        }
    }

    fn simple(&mut self, start: usize) -> Parsed<Stage> {
        let mut assignments = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        let mut redirects = Vec::new();
        let mut declares = false;
        let mut end = start;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if ends_word_list(self.peek()) {
                break;
            } else if self.peek() == Some(b'(') {
                if words.len() != 1 || !assignments.is_empty() || !redirects.is_empty() {
                    return self.refuse("parenthesis after a word");
                }
                return self.function_after(&words[0], start);
            } else if !words.is_empty() {
                words.push(self.word(Place::Argument { declares })?);
            } else if let Some(assignment) = self.assignment()? {
                assignments.push(assignment);
            } else {
                let word = self.command_word()?;
                declares = word.as_bare_literal().is_some_and(|name| DECLARES.contains(&name));
                words.push(word);
            }
            end = self.at;
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return self.refuse("no command");
        }
        if words.is_empty() && assignments.is_empty() && !self.is_file_substitution(&redirects, start) {
            // zsh runs $NULLCMD there.
            return self.refuse_from("redirection without a command", start);
        }
        let is_array = |a: &Assignment| matches!(a.value, AssignedValue::Array(_));
        if !words.is_empty() && assignments.iter().any(is_array) {
            return self.refuse_from("array assignment before a command", start);
        }
        Ok(self.stage_of(Command::Simple { assignments, words }, redirects, start, end))
    }

    /// Whether the whole of a command substitution is `<file`, which both shells answer themselves.
    fn is_file_substitution(&mut self, redirects: &[Redirect], start: usize) -> bool {
        let opens = self.text[..start].trim_end_matches([' ', '\t']).ends_with("$(");
        let reads = matches!(redirects, [redirect] if matches!(redirect.kind, RedirectKind::Read(_)));
        opens && reads && self.peek() == Some(b')')
    }

    fn command_word(&mut self) -> Parsed<Word> {
        let (bare, end) = self.bare_word_ahead();
        if RESERVED.contains(&bare.as_str()) {
            let start = self.at;
            self.at = end;
            return self.refuse_from(&format!("misplaced {bare}"), start);
        }
        self.word(Place::Command)
    }

    /// `name=..` or `name+=..` if that is next.
    fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        self.refuse_numbered_assignment()?;
        let Some((name, end)) = self.name_ahead() else {
            return Ok(None);
        };
        let start = self.at;
        self.at = end;
        let append = self.peek() == Some(b'+') && self.peek_second() == Some(b'=');
        if append {
            self.bump();
        }
        match self.peek() {
            Some(b'=') => self.bump(),
            Some(b'[') => return self.refuse_from("subscript before a command", start),
            _ => {
                self.at = start;
                return Ok(None);
            }
        }
        self.check_assignable(&name, start)?;
        let value = if self.peek() == Some(b'(') {
            if ZSH_TABLES.contains(&name.as_str()) {
                return self.refuse_from("assignment to a zsh variable", start);
            }
            AssignedValue::Array(self.deeper(Self::array)?)
        } else {
            AssignedValue::Scalar(self.word(Place::Value)?)
        };
        let span = self.span_from(start);
        Ok(Some(Assignment {
            name,
            append,
            value,
            span,
        }))
    }

    /// `1=x` is a command for bash and an assignment for zsh.
    fn refuse_numbered_assignment(&mut self) -> Parsed<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.bump();
        }
        if self.at > start && matches!(self.peek(), Some(b'=' | b'+' | b'[')) {
            return self.refuse_from("assignment to a number", start);
        }
        self.at = start;
        Ok(())
    }

    /// Refuses names that mean something else to zsh.
    pub(super) fn check_assignable(&self, name: &str, start: usize) -> Parsed<()> {
        if ZSH_NAMES.contains(&name) {
            return self.refuse_from("assignment to a zsh variable", start);
        }
        Ok(())
    }

    fn array(&mut self) -> Parsed<Vec<Word>> {
        self.bump();
        let mut words = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.peek() {
                Some(b')') => {
                    self.bump();
                    break;
                }
                Some(b'[') => return self.refuse("subscript in an array"),
                None => return self.refuse("unterminated array"),
                Some(b'<' | b'>') => return self.refuse("redirection in an array"),
                Some(byte) if is_word_end(byte) => return self.refuse("operator in an array"),
                Some(_) => words.push(self.word(Place::Element)?),
            }
        }
        // bash reads a `#` that stands here as part of the word, and what follows as a command.
        let ended = ends_word_list(self.peek()) && self.peek() != Some(b'#');
        if !ended && !matches!(self.peek(), Some(b' ' | b'\t')) {
            return self.refuse("text after an array");
        }
        Ok(words)
    }
}
