//! JavaScript for Node. Its own modules (`fs`) cannot be taken by a file of the project.

use std::ops::Range;

use super::{Cursor, DEPTH, Harmless, Lexis, NAMES, Token, is_class, lists, tokens};

const LEXIS: Lexis = Lexis {
    marks: "+-*%=<>!()[]{},:.;&|?",
    names: |byte| matches!(byte, b'_' | b'$'),
    is_python: false,
};

const KEYWORDS: &str = "arguments async await break case catch class const continue debugger default delete do else enum \
    eval export extends false finally for from function get if implements import in instanceof interface let new null of \
    package private protected public return set static super switch this throw true try typeof undefined using var void \
    while with yield";
/// What the language, Node, and the scope of its `-e` and `-p` mean by a name, beside classes.
const GLOBALS: &str = "JSON URL NaN global globalThis process console isFinite isNaN parseFloat parseInt decodeURI \
    decodeURIComponent encodeURI encodeURIComponent escape unescape clearImmediate clearInterval clearTimeout \
    setImmediate setInterval setTimeout queueMicrotask structuredClone atob btoa gc performance fetch crypto navigator \
    localStorage sessionStorage require module exports assert async_hooks buffer child_process cluster constants dgram \
    diagnostics_channel dns domain events fs http http2 https inspector net os path perf_hooks punycode querystring quic \
    readline repl sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi \
    worker_threads zlib";
/// Each by its whole name; those with `(` are called, the others are values.
const OF_GLOBALS: &str = "console.log( console.error( console.info( process.version process.versions process.platform \
    process.arch process.argv process.execPath process.cwd( process.exit( JSON.stringify( JSON.parse( Object.keys( \
    Object.values( Object.entries( Array.isArray( Array.from( Date.now( Math.max( Math.min( Math.round( Math.floor( \
    Math.ceil( Math.abs( Math.sqrt( Math.PI Number( String( Boolean( parseInt( parseFloat(";
/// Of these, those whose second argument is called.
const CALL_THE_SECOND: &str = "JSON.stringify( JSON.parse( Array.from(";
/// Functions of data, which may also be called by another: `.map(Number)`.
const FUNCTIONS: &str = "Boolean Number String parseFloat parseInt";
const METHODS: &str = "at concat endsWith every filter find flat flatMap forEach includes indexOf join map padEnd padStart \
    reduce reverse slice some sort split startsWith toFixed toISOString toLowerCase toString toUpperCase trim";
/// Of these, those whose first argument is called.
const CALL_THE_FIRST: &str = "every filter find flatMap forEach map reduce some sort";
/// Through these a value of data leads to code.
const LEADS_ON: &str = "constructor prototype call apply bind caller callee arguments";
/// What an object has under these is called to turn it into something else.
const CONVERTS: &str = "toJSON toString valueOf then";
/// Long ones first.
const OPERATORS: &str = "=== !== >>> == != <= >= && || ?? << >> ** + - * % < > & |";

/// A name that holds data, and the tokens of what it is a key of, if of anything.
type Bound<'a> = (&'a str, Range<usize>);

struct JavaScript<'a> {
    code: Cursor<'a>,
    /// The names that hold data here, the innermost last; each stands there once.
    bound: Vec<Bound<'a>>,
    harmless: Harmless,
    depth: usize,
}

/// Reads a program or an expression; `None`: it is not in the set.
pub fn read(text: &str) -> Option<Harmless> {
    // Old comments that hide what follows.
    if text.contains("<!--") || text.contains("-->") {
        return None;
    }
    let mut script = JavaScript {
        code: Cursor::new(tokens(text, &LEXIS)?),
        bound: Vec::new(),
        harmless: Harmless::default(),
        depth: 0,
    };
    while script.code.peek().is_some() {
        script.statement()?;
    }
    Some(script.harmless)
}

fn leads_on(name: &str) -> bool {
    name.starts_with("__") || lists(LEADS_ON, name)
}

/// Whether what an object has under this name is data, and never called by what is listed here.
fn is_no_function(name: &str) -> bool {
    !leads_on(name) && !lists(CONVERTS, name) && !lists(METHODS, name)
}

impl<'a> JavaScript<'a> {
    /// A statement. Where a line end stands for `;` is not asked: what begins no statement here continues one for the
    /// language, and is refused.
    fn statement(&mut self) -> Option<()> {
        match self.code.peek()? {
            Token::Mark(';') => self.code.at += 1,
            Token::Mark('{') => {
                self.code.at += 1;
                let outer = self.bound.len();
                self.deepen()?;
                while !self.code.mark('}') {
                    self.statement()?;
                }
                self.depth -= 1;
                self.bound.truncate(outer);
            }
            Token::Name("const" | "let" | "var") => self.declaration()?,
            Token::Name("if") => {
                self.code.at += 1;
                self.code.need('(')?;
                self.expression()?;
                self.code.need(')')?;
                self.branch()?;
            }
            Token::Name("else") => {
                self.code.at += 1;
                self.branch()?;
            }
            Token::Name("for") => self.loops()?,
            Token::Name("return") => {
                self.code.at += 1;
                if !matches!(self.code.peek(), None | Some(Token::Mark(';' | '}'))) {
                    self.expression()?;
                }
            }
            _ => self.expression()?,
        }
        Some(())
    }

    /// A statement that may not be run: what it binds holds in it alone.
    fn branch(&mut self) -> Option<()> {
        let outer = self.bound.len();
        self.deepen()?;
        self.statement()?;
        self.depth -= 1;
        self.bound.truncate(outer);
        Some(())
    }

    fn declaration(&mut self) -> Option<()> {
        loop {
            self.code.at += 1;
            // Wherever the name is anything, it is this.
            let module = |name| {
                [
                    Token::Name("fs"),
                    Token::Mark('='),
                    Token::Name("require"),
                    Token::Mark('('),
                    Token::Text(Some(name)),
                    Token::Mark(')'),
                ]
            };
            if self.code.eat(&module("fs")) || self.code.eat(&module("node:fs")) {
                if matches!(self.code.peek(), Some(Token::Mark(mark)) if !",;".contains(mark)) {
                    return None;
                }
            } else {
                let names = self.pattern()?;
                self.code.need('=')?;
                self.expression()?;
                self.bind(&names, 0..0)?;
            }
            if self.code.peek() != Some(Token::Mark(',')) {
                return Some(());
            }
        }
    }

    /// `for (const x of xs)`, `for (const k in d)`.
    fn loops(&mut self) -> Option<()> {
        self.code.at += 1;
        self.code.need('(')?;
        let Token::Name("const" | "let" | "var") = self.code.next()? else {
            return None;
        };
        let is_name = matches!(self.code.peek(), Some(Token::Name(_)));
        let names = self.pattern()?;
        let Token::Name(kind @ ("of" | "in")) = self.code.next()? else {
            return None;
        };
        let start = self.code.at;
        self.expression()?;
        let end = self.code.at;
        let keys = [
            Token::Name("Object"),
            Token::Mark('.'),
            Token::Name("keys"),
            Token::Mark('('),
        ];
        let of = match kind {
            _ if !is_name => 0..0,
            "in" => start..end,
            _ if self.code.tokens[start..end].starts_with(&keys) => start + keys.len()..end - 1,
            _ => 0..0,
        };
        // Only a name, or a member by its name of one, is surely the same object again.
        let is_same = |(at, token): (usize, &Token)| match token {
            Token::Name(_) => at % 2 == 0,
            token => at % 2 == 1 && *token == Token::Mark('.'),
        };
        let of = if self.code.tokens[of.clone()].iter().enumerate().all(is_same) {
            of
        } else {
            0..0
        };
        self.code.need(')')?;
        let outer = self.bound.len();
        self.bind(&names, of)?;
        self.branch()?;
        self.bound.truncate(outer);
        Some(())
    }

    /// `x`, `[x, y]`, `{x, y}`.
    fn pattern(&mut self) -> Option<Vec<&'a str>> {
        let close = match self.code.next()? {
            Token::Name(name) => return Some(vec![name]),
            Token::Mark('[') => ']',
            Token::Mark('{') => '}',
            _ => return None,
        };
        let mut names = Vec::new();
        while !self.code.mark(close) {
            match self.code.next()? {
                Token::Name(name) => names.push(name),
                Token::Mark(',') => {}
                _ => return None,
            }
        }
        Some(names)
    }

    fn bind(&mut self, names: &[&'a str], of: Range<usize>) -> Option<()> {
        for name in names {
            let is_meant = !is_no_function(name) || is_class(name) || lists(KEYWORDS, name) || lists(GLOBALS, name);
            if is_meant || self.holds(name) || self.bound.len() == NAMES {
                return None;
            }
            self.bound.push((name, of.clone()));
        }
        Some(())
    }

    fn holds(&self, name: &str) -> bool {
        self.bound.iter().any(|(bound, _)| *bound == name)
    }

    fn deepen(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEPTH).then_some(())
    }

    fn expression(&mut self) -> Option<()> {
        self.deepen()?;
        loop {
            while matches!(
                self.code.peek(),
                Some(Token::Mark('!' | '+' | '-') | Token::Name("typeof"))
            ) {
                self.code.at += 1;
                self.is_not_doubled()?;
            }
            self.operand()?;
            if let Some(length) = self.code.operator(OPERATORS) {
                self.code.at += length;
                self.is_not_doubled()?;
            } else if self.code.mark('?') {
                self.expression()?;
                self.code.need(':')?;
            } else {
                break;
            }
        }
        self.depth -= 1;
        Some(())
    }

    /// `++x`, `x += 1`: these change a name.
    fn is_not_doubled(&self) -> Option<()> {
        match (self.code.tokens[self.code.at - 1], self.code.peek()?) {
            (_, Token::Mark('=')) => None,
            (before @ Token::Mark('+' | '-'), after) if before == after => None,
            _ => Some(()),
        }
    }

    fn operand(&mut self) -> Option<()> {
        let start = self.code.at;
        match self.code.next()? {
            Token::Number(_) | Token::Text(_) => {}
            Token::Mark('(') => {
                self.expression()?;
                self.code.need(')')?;
            }
            Token::Mark('[') => self.listed(']', None)?,
            Token::Mark('{') => self.object()?,
            Token::Name("new") => {
                self.code.eat(&[Token::Name("Date")]).then_some(())?;
                self.arguments(None)?;
            }
            Token::Name("require") => self.required()?,
            Token::Name("fs") => self.of_files()?,
            Token::Name("true" | "false" | "null" | "undefined") => {}
            Token::Name(name) if self.holds(name) => {}
            Token::Name(name) => self.global(name)?,
            Token::Mark(_) | Token::Format(_) | Token::Line(_) => return None,
        }
        loop {
            let end = self.code.at;
            if self.code.mark('.') || self.code.eat(&[Token::Mark('?'), Token::Mark('.')]) {
                self.member()?;
            } else if self.code.mark('[') {
                // `x[0]` and `x['name']` are data, and `d[k]` for each key of `d`; a name that is worked out may lead on.
                match self.code.next()? {
                    Token::Number(_) => {}
                    Token::Text(Some(name)) if is_no_function(name) => {}
                    Token::Name(name) => {
                        let (_, of) = self.bound.iter().find(|(bound, _)| *bound == name)?.clone();
                        (self.code.tokens[of] == self.code.tokens[start..end]).then_some(())?;
                    }
                    _ => return None,
                }
                self.code.need(']')?;
            } else {
                // What is data is not called.
                return (self.code.peek() != Some(Token::Mark('('))).then_some(());
            }
        }
    }

    /// After a dot.
    fn member(&mut self) -> Option<()> {
        let Token::Name(name) = self.code.next()? else {
            return None;
        };
        if self.code.peek() != Some(Token::Mark('(')) {
            return is_no_function(name).then_some(());
        }
        lists(METHODS, name).then_some(())?;
        self.arguments(lists(CALL_THE_FIRST, name).then_some(0))
    }

    /// What is listed of a global.
    fn global(&mut self, name: &str) -> Option<()> {
        let mut whole = name.to_owned();
        if let [Token::Mark('.'), Token::Name(part), ..] = *self.code.rest() {
            self.code.at += 2;
            whole = format!("{whole}.{part}");
        }
        let is_called = self.code.peek() == Some(Token::Mark('('));
        if is_called {
            whole.push('(');
        }
        lists(OF_GLOBALS, &whole).then_some(())?;
        if is_called {
            self.arguments(lists(CALL_THE_SECOND, &whole).then_some(1))?;
        }
        Some(())
    }

    fn arguments(&mut self, called: Option<usize>) -> Option<()> {
        self.code.need('(')?;
        self.listed(')', called)
    }

    /// Values up to the closing bracket; that at `called` is what another function calls.
    fn listed(&mut self, close: char, called: Option<usize>) -> Option<()> {
        let mut count = 0;
        while !self.code.mark(close) {
            if Some(count) == called {
                self.callback()?;
            } else {
                self.expression()?;
            }
            count += 1;
            if !self.code.mark(',') {
                return self.code.need(close);
            }
        }
        Some(())
    }

    /// A function that is written here or listed, or what is no function.
    fn callback(&mut self) -> Option<()> {
        match *self.code.rest() {
            [Token::Mark('['), ..] => {
                self.code.at += 1;
                self.listed(']', None)?;
            }
            [
                Token::Number(_) | Token::Text(_) | Token::Name("null" | "undefined"),
                ..,
            ] => self.code.at += 1,
            [Token::Name(name), ..] if lists(FUNCTIONS, name) => self.code.at += 1,
            _ => return self.arrow(),
        }
        matches!(self.code.peek()?, Token::Mark(',' | ')')).then_some(())
    }

    fn arrow(&mut self) -> Option<()> {
        let outer = self.bound.len();
        let mut names = Vec::new();
        if self.code.mark('(') {
            while !self.code.mark(')') {
                names.extend(self.pattern()?);
                self.code.mark(',');
            }
        } else if let Token::Name(name) = self.code.next()? {
            names.push(name);
        }
        self.code.eat(&[Token::Mark('='), Token::Mark('>')]).then_some(())?;
        self.bind(&names, 0..0)?;
        if self.code.peek() == Some(Token::Mark('{')) {
            self.statement()?;
        } else {
            self.expression()?;
        }
        self.bound.truncate(outer);
        Some(())
    }

    /// After the `{` of a value.
    fn object(&mut self) -> Option<()> {
        while !self.code.mark('}') {
            match self.code.next()? {
                Token::Name(key) | Token::Text(Some(key)) if self.code.mark(':') => {
                    is_no_function(key).then_some(())?;
                    self.expression()?;
                }
                Token::Number(_) if self.code.mark(':') => self.expression()?,
                Token::Name(name) if self.holds(name) && is_no_function(name) => {}
                _ => return None,
            }
            if !self.code.mark(',') {
                return self.code.need('}');
            }
        }
        Some(())
    }

    /// What follows `require`: a file of JSON, or the module that reads files.
    fn required(&mut self) -> Option<()> {
        self.code.need('(')?;
        let Token::Text(Some(name)) = self.code.next()? else {
            return None;
        };
        self.code.need(')')?;
        if matches!(name, "fs" | "node:fs") {
            return self.of_files();
        }
        let is_path = ["./", "../", "/"].iter().any(|start| name.starts_with(start));
        if !is_path || !name.ends_with(".json") {
            return None;
        }
        self.harmless.requires.push(name.to_owned());
        Some(())
    }

    /// After `fs`: a read of a file, or whether there is one.
    fn of_files(&mut self) -> Option<()> {
        self.code.need('.')?;
        let Token::Name(name @ ("readFileSync" | "existsSync")) = self.code.next()? else {
            return None;
        };
        self.code.need('(')?;
        match self.code.next()? {
            // Standard input.
            Token::Number(_) if name == "readFileSync" => {}
            Token::Text(Some(path)) => self.harmless.reads.push(path.to_owned()),
            _ => return None,
        }
        if self.code.mark(',') && !matches!(self.code.next()?, Token::Text(_)) {
            return None;
        }
        self.code.need(')')
    }
}
