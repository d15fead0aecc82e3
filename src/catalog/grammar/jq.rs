//! Reads jq filters, and what yq shares with them: that they only compute, and whether they show the environment.
//!
//! A scanner over tokens: every function a filter names must be listed or defined in it. It accepts more than jq does
//! (jq refuses those filters before it reads anything). Sources: the jq 1.7 manual, the lexers of jq 1.6 and 1.7.

use super::cursor::Cursor;
use super::{DEPTH, Reading, Role, discloses_environment, names};
use crate::shell::Span;

/// What a filter may name. jq and the two programs called yq have different functions.
pub(super) struct Dialect {
    pub(super) program: &'static str,
    /// Functions that only compute.
    pub(super) functions: &'static [&'static str],
    /// A key after a dot may hold any character up to a blank or bracket, so only plain ones are read.
    pub(super) loose_keys: bool,
}

const JQ: Dialect = Dialect {
    program: "jq",
    functions: &[
        "IN",
        "INDEX",
        "JOIN",
        "abs",
        "acos",
        "acosh",
        "add",
        "all",
        "any",
        "arrays",
        "ascii",
        "ascii_downcase",
        "ascii_upcase",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "booleans",
        "bsearch",
        "builtins",
        "capture",
        "cbrt",
        "ceil",
        "combinations",
        "contains",
        "copysign",
        "cos",
        "cosh",
        "debug",
        "del",
        "delpaths",
        "drem",
        "empty",
        "endswith",
        "erf",
        "error",
        "exp",
        "exp10",
        "exp2",
        "expm1",
        "explode",
        "fabs",
        "false",
        "fdim",
        "finites",
        "first",
        "flatten",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "format",
        "frexp",
        "from_entries",
        "fromdate",
        "fromdateiso8601",
        "fromjson",
        "fromstream",
        "gamma",
        "getpath",
        "gmtime",
        "group_by",
        "gsub",
        "halt",
        "halt_error",
        "has",
        "have_decnum",
        "have_literal_numbers",
        "hypot",
        "implode",
        "in",
        "index",
        "indices",
        "infinite",
        "input",
        "input_line_number",
        "inputs",
        "inside",
        "isempty",
        "isinfinite",
        "isnan",
        "isnormal",
        "isvalid",
        "iterables",
        "join",
        "keys",
        "keys_unsorted",
        "last",
        "ldexp",
        "length",
        "lgamma",
        "limit",
        "localtime",
        "log",
        "log10",
        "log1p",
        "log2",
        "logb",
        "ltrimstr",
        "map",
        "map_values",
        "match",
        "max",
        "max_by",
        "min",
        "min_by",
        "mktime",
        "modf",
        "nan",
        "nearbyint",
        "normals",
        "not",
        "now",
        "nth",
        "null",
        "nulls",
        "numbers",
        "objects",
        "path",
        "paths",
        "pick",
        "pow",
        "pow10",
        "range",
        "recurse",
        "recurse_down",
        "reverse",
        "rindex",
        "rint",
        "round",
        "rtrimstr",
        "scalars",
        "scan",
        "select",
        "setpath",
        "significand",
        "sin",
        "sinh",
        "skip",
        "sort",
        "sort_by",
        "split",
        "splits",
        "sqrt",
        "startswith",
        "stderr",
        "strflocaltime",
        "strftime",
        "strings",
        "strptime",
        "sub",
        "tan",
        "tanh",
        "test",
        "tgamma",
        "to_entries",
        "toarray",
        "todate",
        "todateiso8601",
        "dateadd",
        "datesub",
        "date",
        "tojson",
        "tonumber",
        "tostream",
        "tostring",
        "transpose",
        "trim",
        "ltrim",
        "rtrim",
        "true",
        "trunc",
        "truncate_stream",
        "type",
        "unique",
        "unique_by",
        "until",
        "utf8bytelength",
        "values",
        "walk",
        "while",
        "with_entries",
        "leaf_paths",
        "repeat",
        "isfinite",
        "scalars_or_empty",
        "trimstr",
        "nextafter",
        "remainder",
    ],
    loose_keys: false,
};

const KEYWORDS: &[&str] = &[
    "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "and", "or", "label", "break",
];

const FORMATS: &[&str] = &[
    "text", "json", "csv", "tsv", "html", "uri", "urid", "sh", "base64", "base64d", "base32", "base32d",
];

/// Reads one jq filter.
///
/// # Errors
/// Names what was not understood.
pub(super) fn read(code: &str, span: Span, reading: &mut Reading) -> Result<(), String> {
    read_dialect(&JQ, code, span, reading)
}

/// Reads one filter of `dialect`.
///
/// # Errors
/// Names what was not understood.
pub(super) fn read_dialect(dialect: &Dialect, code: &str, span: Span, reading: &mut Reading) -> Result<(), String> {
    let mut filter = Filter {
        dialect,
        cursor: Cursor::new(code),
        open: Vec::new(),
        key: false,
        defined: Vec::new(),
        span,
        reading,
    };
    while filter.token()? {}
    match filter.open.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "a bracket or text of the {} filter is not closed",
            dialect.program
        )),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Group,
    List,
    Object,
    /// `\(..)` inside a text.
    Interpolation,
}

struct Filter<'a> {
    dialect: &'a Dialect,
    cursor: Cursor<'a>,
    open: Vec<Open>,
    /// An object's key may stand here.
    key: bool,
    defined: Vec<&'a str>,
    span: Span,
    reading: &'a mut Reading,
}

impl<'a> Filter<'a> {
    /// Reads one token. `false`: the filter ends here.
    fn token(&mut self) -> Result<bool, String> {
        self.cursor.skip(|b| matches!(b, b' ' | b'\t' | b'\n'));
        let key = std::mem::take(&mut self.key);
        let Some(byte) = self.cursor.peek() else {
            return Ok(false);
        };
        match byte {
            b'#' => {
                self.comment()?;
                self.key = key;
            }
            b'"' => {
                self.cursor.at += 1;
                self.string()?;
            }
            b'0'..=b'9' => self.number(),
            b'.' => self.dot()?,
            b'$' => self.variable()?,
            b'@' => self.format()?,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name(key)?,
            b'(' => self.opens(Open::Group)?,
            b'[' => self.opens(Open::List)?,
            b'{' => self.opens(Open::Object)?,
            b')' | b']' | b'}' => self.closes(byte)?,
            b',' => {
                self.cursor.at += 1;
                self.key = self.open.last() == Some(&Open::Object);
            }
            b':' if self.cursor.text[self.cursor.at..].starts_with("::") => {
                return Err(self.misread("a module's function is not known"));
            }
            b'|' | b':' | b';' | b'=' | b'<' | b'>' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b'?' => {
                self.cursor.at += 1
            }
            _ => {
                let letter = self.cursor.text[self.cursor.at..].chars().next().unwrap_or_default();
                return Err(self.misread(&format!("`{letter}` is not understood")));
            }
        }
        Ok(true)
    }

    /// A comment, which some versions continue on the next line after a backslash.
    fn comment(&mut self) -> Result<(), String> {
        self.cursor.skip(|b| b != b'\n');
        match self.cursor.text[..self.cursor.at].ends_with(['\\', '\r']) {
            true => Err(self.misread("a comment ends in a backslash")),
            false => Ok(()),
        }
    }

    /// The rest of a text, up to its closing quote or the next interpolation.
    fn string(&mut self) -> Result<(), String> {
        loop {
            match self.cursor.next() {
                Some(b'"') => return Ok(()),
                Some(b'\\') if self.cursor.peek() == Some(b'(') => return self.opens(Open::Interpolation),
                Some(b'\\') => self.cursor.at += 1,
                Some(_) => {}
                None => return Err(self.misread("a text is not closed")),
            }
        }
    }

    fn number(&mut self) {
        self.cursor.skip(|b| b.is_ascii_digit());
        if self.cursor.peek() == Some(b'.') {
            self.cursor.at += 1;
            self.cursor.skip(|b| b.is_ascii_digit());
        }
        let mark = self.cursor.at;
        if matches!(self.cursor.peek(), Some(b'e' | b'E')) {
            self.cursor.at += 1;
            if matches!(self.cursor.peek(), Some(b'+' | b'-')) {
                self.cursor.at += 1;
            }
            let digits = self.cursor.at;
            self.cursor.skip(|b| b.is_ascii_digit());
            if self.cursor.at == digits {
                self.cursor.at = mark;
            }
        }
    }

    /// `.`, `..`, `.key`, `."key"`, `.5`
    fn dot(&mut self) -> Result<(), String> {
        self.cursor.at += 1;
        match self.cursor.peek() {
            Some(b'.') => {
                self.cursor.at += 1;
                return Ok(());
            }
            Some(b'0'..=b'9') if !self.dialect.loose_keys => {
                self.number();
                return Ok(());
            }
            Some(_) => {}
            None => return Ok(()),
        }
        let key = self.cursor.word();
        let ends = matches!(
            self.cursor.peek(),
            None | Some(b' ' | b'\n' | b'.' | b'[' | b']' | b'|' | b',' | b')' | b'}' | b':' | b'=' | b'?' | b';')
        );
        let text = key.is_empty() && self.cursor.peek() == Some(b'"');
        if self.dialect.loose_keys && !ends && !text {
            return Err(self.misread(&format!("the key `.{key}` is not plain")));
        }
        Ok(())
    }

    fn variable(&mut self) -> Result<(), String> {
        self.cursor.at += 1;
        match self.cursor.word() {
            "" => Err(self.misread("`$` is not followed by a name")),
            "ENV" => {
                self.environment();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn format(&mut self) -> Result<(), String> {
        self.cursor.at += 1;
        let name = self.cursor.word();
        match FORMATS.contains(&name) {
            true => Ok(()),
            false => Err(self.misread(&format!("`@{name}` is not a format that is known"))),
        }
    }

    fn name(&mut self, key: bool) -> Result<(), String> {
        let name = self.cursor.word();
        if key && self.ends_key() {
            return Ok(());
        }
        match name {
            // jq 1.7 takes these as an object's value, and then a comma may stand inside them.
            "if" | "def" | "label" if self.open.last() == Some(&Open::Object) => {
                return Err(self.misread(&format!("`{name}` stands in an object without parentheses")));
            }
            "env" => self.environment(),
            "def" => return self.definition(),
            _ if KEYWORDS.contains(&name) || self.dialect.functions.contains(&name) => {}
            _ if self.defined.contains(&name) => {}
            _ => return Err(self.misread(&format!("`{name}` is not a function that is known"))),
        }
        Ok(())
    }

    /// Whether what was read was an object's key: `:`, `,` or `}` follows.
    fn ends_key(&self) -> bool {
        let rest = self.cursor.text[self.cursor.at..].trim_start_matches([' ', '\t', '\n']);
        rest.starts_with([',', '}']) || (rest.starts_with(':') && !rest.starts_with("::"))
    }

    /// `env.NAME` shows one variable, everything else all of them.
    fn environment(&mut self) {
        let rest = &self.cursor.text[self.cursor.at..];
        let name = rest.strip_prefix('.').unwrap_or_default();
        let end = name
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        if end > 0 && !name.starts_with(|c: char| c.is_ascii_digit()) {
            names(self.reading, Role::Env, &name[..end], self.span);
            self.cursor.at += 1 + end;
        } else {
            discloses_environment(self.reading);
        }
    }

    /// `def f: ..;`, `def f(g; $x): ..;`, after the `def`.
    fn definition(&mut self) -> Result<(), String> {
        self.blanks();
        let name = self.cursor.word();
        let mut more = vec![name];
        self.blanks();
        if self.cursor.peek() == Some(b'(') {
            loop {
                self.cursor.at += 1;
                self.blanks();
                self.cursor.at += usize::from(self.cursor.peek() == Some(b'$'));
                more.push(self.cursor.word());
                self.blanks();
                match self.cursor.peek() {
                    Some(b';') => {}
                    Some(b')') => break self.cursor.at += 1,
                    _ => return Err(self.misread("a definition is not understood")),
                }
            }
            self.blanks();
        }
        let reserved = |name: &&str| {
            name.is_empty()
                || KEYWORDS.contains(name)
                || matches!(
                    *name,
                    "def" | "env" | "import" | "include" | "input_filename" | "modulemeta"
                )
        };
        if self.cursor.next() != Some(b':') || more.iter().any(reserved) {
            return Err(self.misread("a definition is not understood"));
        }
        self.defined.append(&mut more);
        Ok(())
    }

    fn opens(&mut self, open: Open) -> Result<(), String> {
        self.cursor.at += 1;
        if self.open.len() == DEPTH {
            return Err(self.misread("it nests too deep"));
        }
        self.open.push(open);
        self.key = open == Open::Object;
        Ok(())
    }

    fn closes(&mut self, bracket: u8) -> Result<(), String> {
        self.cursor.at += 1;
        match (bracket, self.open.pop()) {
            (b')', Some(Open::Group)) | (b']', Some(Open::List)) | (b'}', Some(Open::Object)) => Ok(()),
            (b')', Some(Open::Interpolation)) => self.string(),
            _ => Err(self.misread("its brackets do not match")),
        }
    }

    fn misread(&self, what: &str) -> String {
        format!("in the {} filter, {what}", self.dialect.program)
    }

    fn blanks(&mut self) {
        self.cursor.skip(|b| matches!(b, b' ' | b'\t' | b'\n'));
    }
}
