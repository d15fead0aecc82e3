//! The tree of an accepted script. Every node knows the bytes it came from.

/// A half-open range of bytes of the script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// Commands that run one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub items: Vec<Item>,
}

impl Script {
    /// The words of a script that is one simple command, without assignments and redirections.
    pub fn lone_command(&self) -> Option<&[Word]> {
        let [item] = self.items.as_slice() else { return None };
        let [stage] = item.first.stages.as_slice() else {
            return None;
        };
        let Command::Simple { assignments, words } = &stage.command else {
            return None;
        };
        let plain = !item.background && item.rest.is_empty() && stage.redirects.is_empty() && assignments.is_empty();
        plain.then_some(words)
    }
}

/// One list element, ended by `;`, `&` or a newline.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Connector, Pipeline)>,
    /// Ended by `&`.
    pub background: bool,
}

impl Item {
    /// A lone command in the foreground.
    pub(super) fn of(command: Command, span: Span) -> Self {
        let stage = Stage {
            command,
            redirects: Vec::new(),
            pipes_stderr: false,
            span,
        };
        let first = Pipeline {
            timed: false,
            negated: false,
            stages: vec![stage],
        };
        Item {
            first,
            rest: Vec::new(),
            background: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// `[time] [!] a | b |& c`. At least one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    pub timed: bool,
    pub negated: bool,
    pub stages: Vec<Stage>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub command: Command,
    pub redirects: Vec<Redirect>,
    /// Followed by `|&`: standard error goes into the pipe too.
    pub pipes_stderr: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Assignments and words; either may be empty, not both unless the stage has redirects.
    Simple {
        assignments: Vec<Assignment>,
        words: Vec<Word>,
    },
    Group(Script),
    Subshell(Script),
    If {
        branches: Vec<(Script, Script)>,
        otherwise: Option<Script>,
    },
    /// `while`, or `until` where `until` is set.
    While {
        until: bool,
        condition: Script,
        body: Script,
    },
    /// `for name in words`; `None` where `in` is absent (the positional parameters).
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<CaseArm>,
    },
    /// `[[ .. ]]`
    Test(Condition),
    /// `(( .. ))`
    Arithmetic(Arithmetic),
    Function {
        name: String,
        body: Box<Stage>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct CaseArm {
    pub patterns: Vec<Word>,
    pub body: Script,
}

/// What stands between `[[` and `]]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    /// A lone word: true if not empty.
    Word(Word),
    /// `-f word`: the operator as written.
    Unary(String, Word),
    /// `a == b`: the operator as written. An operator that evaluates arithmetic (`-eq` ..) takes its words as code.
    Binary(Word, String, Word),
}

/// `name=value`, `name+=value`, `name=(a b)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub name: String,
    pub append: bool,
    pub value: AssignedValue,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AssignedValue {
    Scalar(Word),
    Array(Vec<Word>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Redirect {
    /// The descriptor that is redirected; `None` is the operator's own.
    pub descriptor: Option<u32>,
    pub kind: RedirectKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RedirectKind {
    /// `< word`
    Read(Word),
    /// `> word`, `>| word`
    Write(Word),
    /// `>> word`
    Append(Word),
    /// `&> word`, `>& word` (a file)
    WriteBoth(Word),
    /// `&>> word`
    AppendBoth(Word),
    /// `<> word`
    ReadWrite(Word),
    /// `>&2`, `<&0`: a literal descriptor
    Duplicate(u32),
    /// `>&-`, `<&-`
    Close,
    /// `<<word`: the body. A quoted delimiter gives one `Part::Quoted`, else expansions are parsed.
    HereDoc(Word),
    /// `<<< word`
    HereString(Word),
}

/// A word: its parts in order, not yet expanded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Word {
    pub parts: Vec<Part>,
    pub span: Span,
}

impl Word {
    /// The text of a word that is one unquoted literal.
    pub fn as_bare_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether a literal word is quoted or escaped more than its characters need, as in `r''m`, `tr\ue` and `"c"at`.
    /// Only who means to mislead a reader writes so. Quotes around a whole stretch, and one escape before a word, are usual.
    pub fn is_disguised(&self) -> bool {
        let mut text = String::new();
        let mut joint = false;
        for part in &self.parts {
            let piece = match part {
                Part::Literal(piece) | Part::Quoted(piece) => piece,
                Part::DoubleQuoted(inner) => match inner.as_slice() {
                    [] => "",
                    [Part::Quoted(piece)] => piece,
                    _ => return false,
                },
                _ => return false,
            };
            // `-I"x"` has a glued value, `\cat` passes an alias by.
            let usual = match self.parts.first() {
                Some(Part::Literal(first)) => *first == text && text.len() == 2 && text.starts_with('-'),
                Some(Part::Quoted(first)) => *first == text && text.len() == 1,
                _ => false,
            };
            let around = text.chars().next_back().zip(piece.chars().next());
            joint |=
                !usual && around.is_some_and(|(before, after)| before.is_alphanumeric() && after.is_alphanumeric());
            text.push_str(piece);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
        let quoting = (self.span.end - self.span.start) as usize;
        text.chars().all(plain) && (joint || quoting > text.len() + MAX_QUOTING)
    }
}

/// The most bytes that usual quoting adds to a word: those of `$''`.
const MAX_QUOTING: usize = 3;

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Unquoted literal text without any special meaning.
    Literal(String),
    /// Text that quotes protect: `'..'`, `\x`, `$'..'` with its escapes resolved, the literal stretches of `".."`.
    Quoted(String),
    /// `".."`: `Quoted`, `Parameter`, `CommandSubstitution` and `Arithmetic` parts only.
    DoubleQuoted(Vec<Part>),
    Parameter(Parameter),
    /// `$(..)` and backticks.
    CommandSubstitution(Script),
    /// `<(..)`, or `>(..)` where `output` is set.
    ProcessSubstitution {
        output: bool,
        script: Script,
    },
    /// `$((..))`
    Arithmetic(Arithmetic),
    /// Unquoted `*`, `?`, or a whole `[..]` as written.
    Glob(String),
    /// `{a,b}`: the alternatives, each a list of parts. `{1..9}` is expanded to literals up to a bound, else refused.
    Brace(Vec<Vec<Part>>),
    /// `~` or `~name` at the start of a word or after `:`/`=` where the shell expands it. `~+`, `~-` are refused.
    Tilde(Option<String>),
}

/// `$name`, `${name}`, `${name OP word}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// A variable's name, or one of `0-9 @ * # ? - $ !` (positional numbers may be longer).
    pub name: String,
    /// `[..]` as written inside the brackets: only `@`, `*` or decimal digits are accepted.
    pub index: Option<String>,
    pub operation: Option<ParameterOperation>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ParameterOperation {
    /// `${#name}`
    Length,
    /// `:-` `-` `:=` `=` `:+` `+` `:?` `?` with the word. The operator as written.
    Default(String, Word),
    /// `#` `##` `%` `%%` with the pattern.
    Strip(String, Word),
    /// `/` `//` `/#` `/%` with pattern and replacement.
    Replace(String, Word, Option<Word>),
    /// `^` `^^` `,` `,,` with an optional pattern.
    Case(String, Option<Word>),
    /// `:offset[:length]`, each an arithmetic expression.
    Substring(Arithmetic, Option<Arithmetic>),
}

/// An arithmetic expression that was understood: numbers, plain names, operators. Substitutions in it are kept as parts.
///
/// A subscript, an assignment to an array, or text that is not understood is refused by the parser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arithmetic {
    /// Names whose value bash evaluates again as arithmetic.
    pub names: Vec<String>,
    /// Names that the expression assigns (`=`, `+=`, `++` ..).
    pub assigned: Vec<String>,
    /// `$name`, `$(..)` and so on inside the expression.
    pub parts: Vec<Part>,
    /// It only counts up, where it does.
    pub count: Option<Count>,
    pub span: Span,
}

/// An expression such as `7`, `i`, `$i + 1`, `i = j + 1`, `i++` or `i += 2`: of a number without a sign it makes another one,
/// and no turn of a loop adds as much as could overflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Count {
    /// The name whose number it begins with.
    pub of: Option<String>,
}
