//! Reads awk programs: that they only compute and print, and which files and variables they name.
//!
//! A scanner that knows every token, the brackets around it and the statement it stands in; it accepts more than awk
//! does (awk refuses those programs before it runs anything) but splits what awk accepts as all of gawk, mawk, the one
//! true awk and busybox do. Where one of them would see a regular expression and another a division, it refuses.
//! Sources: the gawk 5 manual, POSIX, the grammars of the four.

use super::cursor::Cursor;
use super::{DEPTH, Reading, Role, discloses_environment, executes, names, regex};
use crate::shell::{Span, is_identifier};

/// Functions that compute, or act on streams the program opened itself.
const FUNCTIONS: &[&str] = &[
    "and", "asort", "asorti", "atan2", "close", "compl", "cos", "exp", "fflush", "gensub", "gsub", "index", "int",
    "isarray", "length", "log", "lshift", "match", "mktime", "or", "patsplit", "rand", "rshift", "sin", "split",
    "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr", "systime", "tolower", "toupper", "typeof",
    "xor",
];

/// Words after which an operand or a statement begins.
const KEYWORDS: &[&str] = &["else", "do", "return", "exit", "delete"];

/// Words that are not understood: some awks reserve them and others do not, or they reach beyond the program.
const REFUSED: &[&str] = &[
    "func",
    "switch",
    "case",
    "default",
    "SYMTAB",
    "FUNCTAB",
    "bindtextdomain",
    "dcgettext",
    "dcngettext",
    "TEXTDOMAIN",
];

/// Reads one program.
///
/// # Errors
/// Names what was not understood.
pub(super) fn read(code: &str, span: Span, reading: &mut Reading) -> Result<(), String> {
    let mut program = Program {
        cursor: Cursor::new(code),
        before: Before::Start,
        open: Vec::new(),
        printing: None,
        called: Vec::new(),
        defined: Vec::new(),
        span,
        reading,
    };
    while program.token()? {}
    program.finish()
}

/// What stands before the token at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    /// A statement or rule begins: a `/` opens a regular expression.
    Start,
    /// After a `,`, `&&` or `||`: an operand follows, perhaps on the next line.
    Continues,
    /// After `==` or `!=`.
    Compares,
    /// After another operator or an opening bracket: an operand follows on this line.
    Operator,
    /// After `if`, `while` or `for`: a parenthesis follows that is no operand.
    Condition,
    /// A number, variable, subscript or parenthesis: a `/` divides.
    Value,
    /// Something after which implementations may read a `/` either way.
    Unclear,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Condition,
    Group,
    Subscript,
    Block,
}

struct Program<'a> {
    cursor: Cursor<'a>,
    before: Before,
    open: Vec<Open>,
    /// Inside a `print` or `printf` statement: how many brackets were open where it began.
    printing: Option<usize>,
    called: Vec<&'a str>,
    defined: Vec<&'a str>,
    span: Span,
    reading: &'a mut Reading,
}

impl<'a> Program<'a> {
    fn finish(self) -> Result<(), String> {
        if !self.open.is_empty() {
            return Err("a bracket of the awk program is not closed".into());
        }
        match self.called.iter().find(|name| !self.defined.contains(name)) {
            Some(name) => Err(format!("`{name}` is not an awk function that is known")),
            None => Ok(()),
        }
    }

    /// Reads one token. `false`: the program ends here.
    fn token(&mut self) -> Result<bool, String> {
        self.blanks();
        let Some(byte) = self.cursor.peek() else {
            return Ok(false);
        };
        match byte {
            b'\n' => self.newline()?,
            b'#' => self.comment()?,
            b'"' => {
                self.string()?;
                self.before = Before::Unclear;
            }
            b'0'..=b'9' | b'.' => self.number()?,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name()?,
            b'(' | b'[' | b'{' => self.opens(byte)?,
            b')' | b']' | b'}' => self.closes(byte)?,
            b'/' => self.slash()?,
            _ => self.operator()?,
        }
        Ok(true)
    }

    fn newline(&mut self) -> Result<(), String> {
        self.cursor.at += 1;
        match self.before {
            Before::Continues => return Ok(()),
            Before::Operator | Before::Compares | Before::Condition => {
                return Err("a line of the awk program ends inside an expression".into());
            }
            Before::Start | Before::Value | Before::Unclear => {}
        }
        if self.open.last().is_some_and(|open| *open != Open::Block) {
            return Err("a line of the awk program ends inside brackets".into());
        }
        self.ends_statement();
        Ok(())
    }

    fn ends_statement(&mut self) {
        if self.printing.is_some_and(|depth| self.open.len() <= depth) {
            self.printing = None;
        }
        self.before = Before::Start;
    }

    fn comment(&mut self) -> Result<(), String> {
        self.cursor.skip(|b| b != b'\n');
        if self.cursor.text[..self.cursor.at].ends_with(['\\', '\r']) {
            return Err("a comment of the awk program ends in a backslash".into());
        }
        Ok(())
    }

    /// The text between the quotes, its escapes not resolved.
    fn string(&mut self) -> Result<&'a str, String> {
        self.cursor.at += 1;
        self.until(b'"')
    }

    /// The text up to an `end` on the same line that no backslash quotes.
    fn until(&mut self, end: u8) -> Result<&'a str, String> {
        let start = self.cursor.at;
        loop {
            match self.cursor.next() {
                Some(b) if b == end => return Ok(&self.cursor.text[start..self.cursor.at - 1]),
                Some(b'\\') if !matches!(self.cursor.peek(), None | Some(b'\n' | b'\r')) => self.cursor.at += 1,
                None | Some(b'\\' | b'\n' | b'\r') => {
                    return Err("a string or regular expression of the awk program does not end on its line".into());
                }
                Some(_) => {}
            }
        }
    }

    fn number(&mut self) -> Result<(), String> {
        let start = self.cursor.at;
        self.cursor.skip(|b| b.is_ascii_digit());
        if self.cursor.eat(b'.') {
            self.cursor.skip(|b| b.is_ascii_digit());
        }
        if self.cursor.text[start..self.cursor.at] == *"." {
            return Err("`.` in the awk program is not understood".into());
        }
        self.before = Before::Value;
        Ok(())
    }

    fn name(&mut self) -> Result<(), String> {
        let name = self.cursor.word();
        let called = self.cursor.peek() == Some(b'(');
        match name {
            "print" | "printf" => {
                self.printing = Some(self.open.len());
                self.before = Before::Operator;
                // A lone `print` may end its line.
                self.blanks();
                if matches!(self.cursor.peek(), None | Some(b'\n' | b';' | b'}' | b'#')) {
                    self.before = Before::Unclear;
                }
            }
            "if" | "while" | "for" => self.before = Before::Condition,
            "function" => return self.definition(),
            "getline" => return self.getline(),
            "system" => {
                executes(self.reading);
                return Err("the awk function `system` runs a shell command".into());
            }
            "ENVIRON" => self.environment()?,
            "ARGV" => self.argument()?,
            "PROCINFO" => self.sorting()?,
            _ if REFUSED.contains(&name) => return Err(format!("`{name}` in an awk program is not understood")),
            "in" => self.before = Before::Operator,
            _ if KEYWORDS.contains(&name) => self.before = Before::Start,
            "BEGIN" | "END" | "BEGINFILE" | "ENDFILE" | "next" | "nextfile" | "break" | "continue" => {
                self.before = Before::Unclear;
            }
            _ if FUNCTIONS.contains(&name) => {
                self.blanks();
                if self.cursor.peek() != Some(b'(') && name != "length" {
                    return Err(format!("the awk function `{name}` is not called"));
                }
                self.before = Before::Unclear;
            }
            _ => {
                if called {
                    self.called.push(name);
                }
                self.before = Before::Value;
            }
        }
        Ok(())
    }

    fn definition(&mut self) -> Result<(), String> {
        self.blanks();
        let name = self.cursor.word();
        let reserved = FUNCTIONS.contains(&name) || REFUSED.contains(&name) || KEYWORDS.contains(&name);
        self.blanks();
        if name.is_empty() || name == "system" || reserved || self.cursor.peek() != Some(b'(') {
            return Err("the name of an awk function is not understood".into());
        }
        self.defined.push(name);
        self.before = Before::Unclear;
        Ok(())
    }

    /// `getline`, `getline x` read the next record; `getline x < "file")` names a file.
    fn getline(&mut self) -> Result<(), String> {
        self.blanks();
        let variable = self.cursor.word();
        let known = FUNCTIONS.contains(&variable) || KEYWORDS.contains(&variable) || REFUSED.contains(&variable);
        if known || matches!(variable, "in" | "ENVIRON" | "ARGV" | "PROCINFO" | "system" | "getline") {
            return Err("what follows `getline` in the awk program is not understood".into());
        }
        self.blanks();
        let rest = &self.cursor.text[self.cursor.at..];
        if rest.starts_with('<') && !rest.starts_with("<=") {
            self.cursor.at += 1;
            let file = self.file("getline")?;
            if self.cursor.peek() != Some(b')') {
                return Err(
                    "the file that `getline` reads in the awk program is not a plain text in parentheses".into(),
                );
            }
            names(self.reading, Role::PathRead, file, self.span);
        } else if !(rest.is_empty() || rest.starts_with([')', ';', '\n', '}', '>', '=', '!', '#'])) {
            return Err("what follows `getline` in the awk program is not understood".into());
        }
        self.before = Before::Unclear;
        Ok(())
    }

    /// A string that names a file as it stands, and the blanks around it.
    fn file(&mut self, reader: &str) -> Result<&'a str, String> {
        self.blanks();
        if self.cursor.peek() != Some(b'"') {
            return Err(format!("the file that `{reader}` names in the awk program is computed"));
        }
        let file = self.string()?;
        self.blanks();
        if file.is_empty() || file == "-" || file.contains('\\') || file.starts_with("/inet") {
            return Err(format!(
                "`{file}`, which `{reader}` names in the awk program, is not a plain file"
            ));
        }
        Ok(file)
    }

    /// `ENVIRON["NAME"]` shows one variable, everything else all of them.
    fn environment(&mut self) -> Result<(), String> {
        self.before = Before::Value;
        let after = self.cursor.at;
        if let Some(name) = self.literal_index()?
            && is_identifier(name)
        {
            names(self.reading, Role::Env, name, self.span);
            return Ok(());
        }
        self.cursor.at = after;
        discloses_environment(self.reading);
        Ok(())
    }

    /// `["text"]`, if that is what follows.
    fn literal_index(&mut self) -> Result<Option<&'a str>, String> {
        self.blanks();
        if !self.cursor.eat(b'[') {
            return Ok(None);
        }
        self.blanks();
        if self.cursor.peek() != Some(b'"') {
            return Ok(None);
        }
        let text = self.string()?;
        self.blanks();
        Ok(self.cursor.eat(b']').then_some(text))
    }

    /// `ARGV[1]` may be compared; anything else could name other files.
    fn argument(&mut self) -> Result<(), String> {
        let compared = self.before == Before::Compares;
        let opened = self.cursor.eat(b'[');
        let start = self.cursor.at;
        self.cursor.skip(|b| b.is_ascii_digit());
        let indexed = opened && self.cursor.at > start && self.cursor.eat(b']');
        self.blanks();
        let ends = match self.cursor.peek() {
            None | Some(b')' | b'{' | b'}' | b';' | b'\n' | b',' | b'?') => true,
            Some(b'&') => self.cursor.text[self.cursor.at..].starts_with("&&"),
            Some(_) => false,
        };
        if !(compared && indexed && ends) {
            return Err("`ARGV` in an awk program can name other files".into());
        }
        self.before = Before::Value;
        Ok(())
    }

    /// `PROCINFO["sorted_in"] = "@.."` chooses an order; nothing else of it is known.
    fn sorting(&mut self) -> Result<(), String> {
        let index = self.literal_index()?;
        self.blanks();
        let assigned = self.cursor.eat(b'=');
        self.blanks();
        if index == Some("sorted_in") && assigned && self.cursor.text[self.cursor.at..].starts_with("\"@") {
            self.before = Before::Operator;
            return Ok(());
        }
        Err("`PROCINFO` in an awk program is not understood".into())
    }

    fn opens(&mut self, bracket: u8) -> Result<(), String> {
        self.cursor.at += 1;
        let (open, before) = match (bracket, self.before) {
            (b'(', Before::Condition) => (Open::Condition, Before::Operator),
            (b'(', _) => (Open::Group, Before::Operator),
            (b'[', _) => (Open::Subscript, Before::Operator),
            (_, Before::Operator | Before::Compares | Before::Continues) => {
                return Err("a `{` of the awk program stands in an expression".into());
            }
            (..) => (Open::Block, Before::Start),
        };
        if open == Open::Block && self.printing.is_some() {
            return Err("a `{` of the awk program stands in a `print`".into());
        }
        if self.open.len() == DEPTH {
            return Err("the awk program nests too deep".into());
        }
        self.open.push(open);
        self.before = before;
        Ok(())
    }

    fn closes(&mut self, bracket: u8) -> Result<(), String> {
        self.cursor.at += 1;
        let open = self.open.pop();
        if self.printing.is_some_and(|depth| self.open.len() < depth) && open != Some(Open::Block) {
            return Err("a bracket of the awk program closes outside its `print`".into());
        }
        match (bracket, open) {
            (b')', Some(Open::Condition)) => self.before = Before::Start,
            (b')', Some(Open::Group)) | (b']', Some(Open::Subscript)) => self.before = Before::Value,
            (b'}', Some(Open::Block)) => self.ends_statement(),
            _ => return Err("the brackets of the awk program do not match".into()),
        }
        Ok(())
    }

    fn slash(&mut self) -> Result<(), String> {
        self.cursor.at += 1;
        match self.before {
            Before::Value => {
                self.cursor.eat(b'=');
                self.before = Before::Operator;
                Ok(())
            }
            Before::Unclear | Before::Condition => {
                Err("a `/` of the awk program may divide or open a regular expression".into())
            }
            Before::Start | Before::Continues | Before::Compares | Before::Operator => {
                let rest = &self.cursor.text[self.cursor.at..];
                match regex::end(rest, b'/') {
                    Some(end) if !rest[..end].contains(['\n', '\r']) => self.cursor.at += end + 1,
                    _ => return Err("where a regular expression of the awk program ends is not clear".into()),
                }
                self.before = Before::Unclear;
                Ok(())
            }
        }
    }

    fn operator(&mut self) -> Result<(), String> {
        const OPERATORS: &[&str] = &[
            "**=", "&&", "||", "==", "!=", "<=", ">=", "!~", "++", "--", "+=", "-=", "*=", "%=", "^=", "**", ">>", "+",
            "-", "*", "%", "^", "!", "~", "<", ">", "=", "?", ":", ",", ";", "$",
        ];
        let rest = &self.cursor.text[self.cursor.at..];
        if rest.starts_with("|&") || (rest.starts_with('|') && !rest.starts_with("||")) {
            executes(self.reading);
            return Err("a pipe in an awk program runs a shell command".into());
        }
        let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) else {
            let letter = rest.chars().next().unwrap_or_default();
            return Err(format!("`{letter}` in the awk program is not understood"));
        };
        self.cursor.at += operator.len();
        match *operator {
            ">" | ">>" => return self.greater(operator),
            ";" if self.open.last() == Some(&Open::Condition) => self.before = Before::Operator,
            ";" => self.ends_statement(),
            "," | "&&" | "||" => self.before = Before::Continues,
            "==" | "!=" => self.before = Before::Compares,
            "++" | "--" | "$" => self.before = Before::Unclear,
            ":" if self.cursor.peek() == Some(b':') => {
                return Err("a namespace in the awk program is not understood".into());
            }
            _ => self.before = Before::Operator,
        }
        Ok(())
    }

    /// `>` compares, unless it stands in a `print` outside parentheses: then the print goes into a file.
    fn greater(&mut self, operator: &str) -> Result<(), String> {
        let inside = match self.printing {
            Some(depth) => self.open.get(depth..).unwrap_or_default(),
            None => &[Open::Group][..],
        };
        if inside.is_empty() {
            let file = self.file("print")?;
            if !matches!(self.cursor.peek(), None | Some(b';' | b'\n' | b'}' | b'#')) {
                return Err("the file that `print` names in the awk program is computed".into());
            }
            if !matches!(file, "/dev/stdout" | "/dev/stderr") {
                names(self.reading, Role::PathWrite, file, self.span);
            }
            self.before = Before::Unclear;
            return Ok(());
        }
        if operator == ">>" || !inside.contains(&Open::Group) {
            return Err("a `>` in the awk program may compare or write a file".into());
        }
        self.before = Before::Operator;
        Ok(())
    }

    /// Blanks and lines that a backslash joins.
    fn blanks(&mut self) {
        loop {
            self.cursor.skip(|b| matches!(b, b' ' | b'\t'));
            if !self.cursor.text[self.cursor.at..].starts_with("\\\n") {
                return;
            }
            self.cursor.at += 2;
        }
    }
}
