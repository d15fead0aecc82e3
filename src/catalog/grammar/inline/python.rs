//! Python. Imports of `sys` and `json` only: whether these are the library's own, whoever knows the directory says.

use super::{Cursor, DEPTH, Harmless, Lexis, NAMES, Token, is_class, lists, tokens};

const LEXIS: Lexis = Lexis {
    marks: "+-*/%=<>!()[]{},:.;&|",
    names: |byte| byte == b'_',
    is_python: true,
};

const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif else except finally \
    for from global if import in is lambda nonlocal not or pass raise return try while with yield";
/// What the language means by a name of its own, beside its classes of errors, and the modules that may be imported.
const BUILTINS: &str = "abs aiter all anext any apply ascii bin bool breakpoint bytearray bytes callable chr classmethod \
    compile complex copyright credits delattr dict dir divmod enumerate eval exec execfile exit filter float format \
    frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map \
    max memoryview min next object oct open ord pow print property quit range raw_input reload repr reversed round set \
    setattr slice sorted staticmethod str sum super tuple type vars zip sys json";
/// Functions of data, which may also be called by another: `key=len`.
const FUNCTIONS: &str = "abs all any bool chr dict enumerate float hex int len list max min ord print range repr \
    reversed round set sorted str sum tuple zip";
const METHODS: &str = "get keys values items strip lstrip rstrip split splitlines join lower upper title startswith \
    endswith replace read readlines count index find";
/// What may be named in a call: `print(x, end='')`.
const KEYS: &str = "indent sort_keys ensure_ascii separators sep end file reverse";
/// Of these, what is called.
const CALLED_KEYS: &str = "default key";
const OF_SYS: &str = "version version_info platform executable prefix maxsize byteorder argv stdin stdout stderr";
/// Each is read without a module that does not belong to the interpreter.
const ENCODINGS: &str = "utf-8 utf8 UTF-8 utf-8-sig ascii latin-1";
/// Long ones first.
const OPERATORS: &str = "== != <= >= // + - * / % < > | &";

struct Python<'a> {
    code: Cursor<'a>,
    /// The names that hold data here, the innermost last.
    bound: Vec<&'a str>,
    modules: Vec<&'a str>,
    harmless: Harmless,
    depth: usize,
}

/// Reads a program; `None`: it is not in the set.
pub fn read(text: &str) -> Option<Harmless> {
    let mut python = Python {
        code: Cursor::new(tokens(text, &LEXIS)?),
        bound: Vec::new(),
        modules: Vec::new(),
        harmless: Harmless::default(),
        depth: 0,
    };
    if python.code.peek().is_some() {
        python.block(0)?;
    }
    python.code.peek().is_none().then_some(python.harmless)
}

impl<'a> Python<'a> {
    /// Statements of one indentation, up to a line that has less.
    fn block(&mut self, indent: usize) -> Option<()> {
        self.deepen()?;
        loop {
            self.statement(indent)?;
            match self.code.peek() {
                Some(Token::Line(next)) if next == indent => self.code.at += 1,
                Some(Token::Line(next)) if next > indent => return None,
                Some(Token::Line(_)) | None => break,
                Some(_) => return None,
            }
        }
        self.depth -= 1;
        Some(())
    }

    fn statement(&mut self, indent: usize) -> Option<()> {
        let outer = self.bound.len();
        // Only what follows `with` is surely run.
        let is_run = self.code.peek() == Some(Token::Name("with"));
        match self.code.peek()? {
            Token::Name("for") => self.for_clause(Self::list)?,
            Token::Name("if" | "elif") => {
                self.code.at += 1;
                self.expression()?;
            }
            Token::Name("else") => self.code.at += 1,
            Token::Name("with") => self.with_clause()?,
            _ => return self.line(),
        }
        self.code.need(':')?;
        match self.code.peek()? {
            Token::Line(inner) if inner > indent => {
                self.code.at += 1;
                self.block(inner)?;
            }
            _ => self.line()?,
        }
        if !is_run {
            self.bound.truncate(outer);
        }
        Some(())
    }

    /// `for x in` and what gives the values: the names hold after it.
    fn for_clause(&mut self, values: fn(&mut Self) -> Option<()>) -> Option<()> {
        self.code.at += 1;
        let names = self.targets()?;
        self.code.eat(&[Token::Name("in")]).then_some(())?;
        values(self)?;
        self.bind(&names)
    }

    /// `with open('x') as f`.
    fn with_clause(&mut self) -> Option<()> {
        loop {
            self.code.at += 1;
            self.code.eat(&[Token::Name("open")]).then_some(())?;
            self.open()?;
            match [self.code.next()?, self.code.next()?] {
                [Token::Name("as"), Token::Name(name)] => self.bind(&[name])?,
                _ => return None,
            }
            if self.code.peek() != Some(Token::Mark(',')) {
                return Some(());
            }
        }
    }

    /// Simple statements up to the end of the line.
    fn line(&mut self) -> Option<()> {
        loop {
            self.simple()?;
            if !self.code.mark(';') || matches!(self.code.peek(), None | Some(Token::Line(_))) {
                return Some(());
            }
        }
    }

    fn simple(&mut self) -> Option<()> {
        match self.code.peek()? {
            Token::Name("import") => return self.import(),
            Token::Name("pass" | "break" | "continue") => {
                self.code.at += 1;
                return Some(());
            }
            _ => {}
        }
        let mut names = Vec::new();
        while let Some(targets) = self.assigned() {
            names.extend(targets);
        }
        if !names.is_empty() {
            self.list()?;
            return self.bind(&names);
        }
        let start = self.code.at;
        self.expression()?;
        // `d['x'] = 1`, `n += 1`: what it changes is data.
        let is_data = match self.code.tokens[start..self.code.at] {
            [Token::Name(_)] => true,
            [Token::Name(_), .., last] => last == Token::Mark(']'),
            _ => false,
        };
        if is_data && (self.code.mark('=') || self.augments()) {
            return self.list();
        }
        self.more()
    }

    fn import(&mut self) -> Option<()> {
        loop {
            self.code.at += 1;
            match self.code.next()? {
                Token::Name(module @ ("sys" | "json")) => self.modules.push(module),
                _ => return None,
            }
            if self.code.peek() != Some(Token::Mark(',')) {
                return Some(());
            }
        }
    }

    /// Names to the left of a single `=`, which is taken too.
    fn assigned(&mut self) -> Option<Vec<&'a str>> {
        let start = self.code.at;
        let names = self.targets();
        if names.is_some() && self.code.mark('=') && self.code.peek() != Some(Token::Mark('=')) {
            return names;
        }
        self.code.at = start;
        None
    }

    /// Names and commas, brackets around some of them.
    fn targets(&mut self) -> Option<Vec<&'a str>> {
        let mut names = Vec::new();
        let mut brackets = 0usize;
        loop {
            match self.code.peek() {
                Some(Token::Name(name)) if !lists(KEYWORDS, name) => names.push(name),
                Some(Token::Mark('(')) => brackets += 1,
                Some(Token::Mark(')')) => brackets = brackets.checked_sub(1)?,
                Some(Token::Mark(',')) => {}
                _ => return (brackets == 0 && !names.is_empty()).then_some(names),
            }
            self.code.at += 1;
        }
    }

    fn deepen(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEPTH).then_some(())
    }

    fn bind(&mut self, names: &[&'a str]) -> Option<()> {
        let is_free =
            |name: &&str| !(name.starts_with("__") || is_class(name) || lists(KEYWORDS, name) || lists(BUILTINS, name));
        for name in names {
            if !self.bound.contains(name) {
                self.bound.push(name);
            }
        }
        (self.bound.len() <= NAMES && names.iter().all(is_free)).then_some(())
    }

    fn augments(&mut self) -> bool {
        "+-*/%|&"
            .chars()
            .any(|mark| self.code.eat(&[Token::Mark(mark), Token::Mark('=')]))
    }

    /// One expression or several.
    fn list(&mut self) -> Option<()> {
        self.expression()?;
        self.more()
    }

    fn more(&mut self) -> Option<()> {
        let ends = |token| matches!(token, Token::Line(_) | Token::Mark(';' | ':'));
        while self.code.mark(',') && !self.code.peek().is_none_or(ends) {
            self.expression()?;
        }
        Some(())
    }

    fn expression(&mut self) -> Option<()> {
        self.deepen()?;
        loop {
            self.operation()?;
            if !self.code.eat(&[Token::Name("if")]) {
                break;
            }
            self.operation()?;
            self.code.eat(&[Token::Name("else")]).then_some(())?;
        }
        self.depth -= 1;
        Some(())
    }

    /// Operands with operators between them.
    fn operation(&mut self) -> Option<()> {
        loop {
            while matches!(self.code.peek(), Some(Token::Mark('+' | '-') | Token::Name("not"))) {
                self.code.at += 1;
            }
            self.operand()?;
            match self.code.peek() {
                Some(Token::Name("and" | "or" | "in" | "is")) => self.code.at += 1,
                Some(Token::Name("not")) => {
                    let is_operator = self.code.eat(&[Token::Name("not"), Token::Name("in")]);
                    is_operator.then_some(())?;
                }
                _ => {
                    let Some(length) = self.code.operator(OPERATORS) else {
                        return Some(());
                    };
                    if self.code.rest().get(length) == Some(&Token::Mark('=')) {
                        return Some(());
                    }
                    self.code.at += length;
                }
            }
        }
    }

    fn operand(&mut self) -> Option<()> {
        match self.code.next()? {
            // A power can take for ever.
            Token::Number(base) => {
                if self.code.eat(&[Token::Mark('*'), Token::Mark('*')]) {
                    match self.code.next()? {
                        Token::Number(exponent) if base.len() < 10 && exponent.len() < 5 => {}
                        _ => return None,
                    }
                }
            }
            Token::Text(_) | Token::Format(_) => {
                self.code.at -= 1;
                self.strings()?;
            }
            Token::Mark('(') => self.items(')')?,
            Token::Mark('[') => self.items(']')?,
            Token::Mark('{') => self.items('}')?,
            Token::Name(name) => self.name(name)?,
            Token::Mark(_) | Token::Line(_) => return None,
        }
        loop {
            if self.code.mark('.') {
                match self.code.next()? {
                    Token::Name(method) if lists(METHODS, method) => self.arguments()?,
                    _ => return None,
                }
            } else if self.code.mark('[') {
                while !self.code.mark(']') {
                    if !self.code.mark(':') && !self.code.mark(',') {
                        self.expression()?;
                    }
                }
            } else {
                // What is data is not called.
                return (self.code.peek() != Some(Token::Mark('('))).then_some(());
            }
        }
    }

    fn name(&mut self, name: &'a str) -> Option<()> {
        match name {
            "None" | "True" | "False" => Some(()),
            "open" => self.open(),
            // A second argument of `str` names a codec, which may be a module that is not loaded yet; more of `type` make
            // a class.
            "str" | "type" => {
                self.code.need('(')?;
                self.expression()?;
                self.code.need(')')?;
                if name == "type" {
                    self.code.eat(&[Token::Mark('.'), Token::Name("__name__")]);
                }
                Some(())
            }
            "sys" | "json" => self.of_module(name),
            _ if lists(FUNCTIONS, name) => self.arguments(),
            _ => self.bound.contains(&name).then_some(()),
        }
    }

    fn of_module(&mut self, module: &str) -> Option<()> {
        if !self.modules.contains(&module) || !self.code.mark('.') {
            return None;
        }
        match (module, self.code.next()?) {
            ("sys", Token::Name("exit")) | ("json", Token::Name("load" | "loads" | "dumps")) => self.arguments(),
            ("sys", Token::Name(name)) if lists(OF_SYS, name) => Some(()),
            _ => None,
        }
    }

    /// After `open`: a file to be read.
    fn open(&mut self) -> Option<()> {
        self.code.need('(')?;
        let Token::Text(Some(path)) = self.code.next()? else {
            return None;
        };
        while self.code.mark(',') {
            match self.code.next()? {
                Token::Text(Some("r" | "rb" | "rt")) => {}
                Token::Name(key @ ("encoding" | "errors")) if self.code.mark('=') => match (key, self.code.next()?) {
                    ("encoding", Token::Text(Some(name))) if lists(ENCODINGS, name) => {}
                    ("errors", Token::Text(Some("ignore" | "replace" | "strict"))) => {}
                    _ => return None,
                },
                _ => return None,
            }
        }
        self.harmless.reads.push(path.to_owned());
        self.code.need(')')
    }

    fn arguments(&mut self) -> Option<()> {
        self.code.need('(')?;
        while !self.code.mark(')') {
            match *self.code.rest() {
                [Token::Name(key), Token::Mark('='), after, ..] if after != Token::Mark('=') => {
                    self.code.at += 2;
                    if lists(CALLED_KEYS, key) {
                        self.callback()?;
                    } else if lists(KEYS, key) {
                        self.expression()?;
                    } else {
                        return None;
                    }
                }
                _ => {
                    self.code.mark('*');
                    self.item()?;
                }
            }
            if !self.code.mark(',') {
                return self.code.need(')');
            }
        }
        Some(())
    }

    /// What is called for each value, or is no function.
    fn callback(&mut self) -> Option<()> {
        match self.code.next()? {
            Token::Name("lambda") => {
                let outer = self.bound.len();
                let names = self.targets()?;
                self.code.need(':')?;
                self.bind(&names)?;
                self.expression()?;
                self.bound.truncate(outer);
            }
            Token::Name(name) if name == "None" || lists(FUNCTIONS, name) => {}
            Token::Number(_) | Token::Text(_) => {}
            _ => return None,
        }
        matches!(self.code.peek()?, Token::Mark(',' | ')')).then_some(())
    }

    /// What stands in brackets, to the closing one.
    fn items(&mut self, close: char) -> Option<()> {
        while !self.code.mark(close) {
            self.code.mark('*');
            self.item()?;
            if !self.code.mark(',') {
                return self.code.need(close);
            }
        }
        Some(())
    }

    /// An item, `k: v`, or what is made for each of other values; the names of these hold within it.
    fn item(&mut self) -> Option<()> {
        let Some(clauses) = self.clauses() else {
            return self.element();
        };
        let (start, outer) = (self.code.at, self.bound.len());
        self.code.at = clauses;
        while self.code.peek() == Some(Token::Name("for")) {
            self.for_clause(Self::operation)?;
            while self.code.eat(&[Token::Name("if")]) {
                self.operation()?;
            }
        }
        let end = std::mem::replace(&mut self.code.at, start);
        self.element()?;
        self.bound.truncate(outer);
        (std::mem::replace(&mut self.code.at, end) == clauses).then_some(())
    }

    fn element(&mut self) -> Option<()> {
        self.expression()?;
        if self.code.mark(':') {
            self.expression()?;
        }
        Some(())
    }

    /// Where in this item the first `for` stands.
    fn clauses(&self) -> Option<usize> {
        let mut brackets = 0usize;
        for (ahead, token) in self.code.rest().iter().enumerate() {
            match token {
                Token::Mark('(' | '[' | '{') => brackets += 1,
                Token::Mark(')' | ']' | '}') => brackets = brackets.checked_sub(1)?,
                Token::Mark(',') if brackets == 0 => return None,
                Token::Name("for") if brackets == 0 => return Some(self.code.at + ahead),
                _ => {}
            }
        }
        None
    }

    /// Strings beside each other.
    fn strings(&mut self) -> Option<()> {
        loop {
            match self.code.peek() {
                Some(Token::Text(_)) => self.code.at += 1,
                Some(Token::Format(text)) => {
                    self.code.at += 1;
                    self.format(text)?;
                }
                _ => return Some(()),
            }
        }
    }

    fn format(&mut self, mut text: &'a str) -> Option<()> {
        while let Some(at) = text.find(['{', '}']) {
            let rest = &text[at..];
            text = match rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                Some(after) => after,
                None => {
                    let (field, after) = rest.strip_prefix('{')?.split_once('}')?;
                    self.field(field)?;
                    after
                }
            };
        }
        Some(())
    }

    /// `x`, `x!r`, `x:>10`.
    fn field(&mut self, field: &'a str) -> Option<()> {
        if field.contains(['{', '#', '\n']) {
            return None;
        }
        let (mut quote, mut brackets) = (None, 0usize);
        let mut end = field.len();
        for (at, byte) in field.bytes().enumerate() {
            match byte {
                b'\'' | b'"' if quote.is_none() => quote = Some(byte),
                _ if quote == Some(byte) => quote = None,
                _ if quote.is_some() => {}
                b'(' | b'[' => brackets += 1,
                b')' | b']' => brackets = brackets.checked_sub(1)?,
                b'!' if field.as_bytes().get(at + 1) == Some(&b'=') => {}
                b':' | b'!' if brackets == 0 => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        let inner = Cursor::new(tokens(&field[..end], &LEXIS)?);
        let outer = std::mem::replace(&mut self.code, inner);
        self.list()?;
        std::mem::replace(&mut self.code, outer).peek().is_none().then_some(())
    }
}
