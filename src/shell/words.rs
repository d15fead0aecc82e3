//! Words: literals, globs, braces, tildes, and where a word ends.
//!
//! Called wherever the grammar wants a word; what a character means depends on the place. Quotes and parameters have files of
//! their own.

use super::ast::{Part, Word};
use super::cursor::{MAX_RANGED, Parsed, Parser, is_word_end};
use super::is_identifier;
use super::parser::End;
use super::quotes::Context;

/// The most words that a range such as `{1..99}` may become.
const MAX_RANGE: i64 = 256;

/// Where a word stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The name of a command.
    Command,
    /// A word after it; `declares` where both shells read `name=~/x` as an assignment.
    Argument { declares: bool },
    /// The right side of an assignment.
    Value,
    /// One of a list: of an array, of `for`.
    Element,
    /// The target of a redirection.
    Target,
    /// The subject or a pattern of `case`.
    Pattern,
    /// An operand inside `[[ .. ]]`.
    Test,
}

impl Place {
    fn braces(self) -> Braces {
        match self {
            Place::Command | Place::Argument { .. } | Place::Element => Braces::Expand,
            Place::Value => Braces::Keep,
            Place::Target | Place::Pattern | Place::Test => Braces::Refuse,
        }
    }

    /// Whether both shells take `name=` here for an assignment, with its tildes.
    fn assigns(self) -> bool {
        matches!(self, Place::Value | Place::Argument { declares: true })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Braces {
    Expand,
    Keep,
    Refuse,
}

/// What is remembered along one word.
struct WordState {
    place: Place,
    /// The last part was `$name` or a lone `$`: bash expands braces first, and their text would join it.
    bare: bool,
    globbed: bool,
    /// `~`, `^` or `#` inside the word: beside a glob, an operator for zsh.
    zsh_operator: bool,
}

/// Whether a list of words ends before `byte`, which stands where a word would start.
pub(super) fn ends_word_list(byte: Option<u8>) -> bool {
    matches!(byte, None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'#'))
}

/// Appends a part; adjacent literals of one kind become one.
pub(super) fn push(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Literal(text)), Part::Literal(more)) | (Some(Part::Quoted(text)), Part::Quoted(more)) => {
            text.push_str(&more);
        }
        (_, part) => parts.push(part),
    }
}

pub(super) fn push_literal(parts: &mut Vec<Part>, c: char) {
    match parts.last_mut() {
        Some(Part::Literal(text)) => text.push(c),
        _ => parts.push(Part::Literal(c.into())),
    }
}

impl Parser<'_> {
    /// The word at the cursor. Only a value may be empty.
    pub(super) fn word(&mut self, place: Place) -> Parsed<Word> {
        self.peek();
        let start = self.at;
        let mut state = WordState {
            place,
            bare: false,
            globbed: false,
            zsh_operator: false,
        };
        let parts = self.parts(&mut state, false)?;
        let end = self.at;
        let word = Word {
            parts,
            span: self.span_from(start),
        };
        if word.parts.is_empty() && place != Place::Value {
            return self.refuse("missing word");
        }
        if state.globbed && state.zsh_operator {
            return self.refuse_from("zsh glob operator", start);
        }
        if !word.parts.is_empty() && may_vanish(&word.parts) {
            // zsh keeps the empty word that bash drops.
            return self.refuse_from("empty brace alternative", start);
        }
        self.check_what_follows(&word, place)?;
        self.at = end;
        Ok(word)
    }

    fn check_what_follows(&mut self, word: &Word, place: Place) -> Parsed<()> {
        let next = self.peek();
        if next == Some(b'(') && place != Place::Command {
            return self.refuse("parenthesis after a word");
        }
        let redirects = matches!(next, Some(b'<' | b'>')) || (next == Some(b'&') && self.peek_second() == Some(b'>'));
        if redirects && word.as_bare_literal().is_some_and(is_descriptor) && place != Place::Value {
            return self.refuse("unusual descriptor");
        }
        Ok(())
    }

    /// The parts up to the end of the word, or of the alternative where `braced`.
    fn parts(&mut self, state: &mut WordState, braced: bool) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(byte) = self.peek() {
            if matches!(byte, b'<' | b'>') && self.peek_second() == Some(b'(') {
                self.whole_word_substitution(&mut parts, state, braced)?;
                break;
            }
            if is_word_end(byte) {
                break;
            }
            if braced && matches!(byte, b',' | b'}') {
                if state.bare {
                    return self.refuse("parameter at the edge of a brace");
                }
                break;
            }
            self.part(byte, &mut parts, state, braced)?;
        }
        Ok(parts)
    }

    fn part(&mut self, byte: u8, parts: &mut Vec<Part>, state: &mut WordState, braced: bool) -> Parsed<()> {
        let bare = std::mem::take(&mut state.bare);
        match byte {
            b'\'' => push(parts, self.single_quoted()?),
            b'"' => parts.push(self.double_quoted()?),
            b'\\' => push(parts, self.escaped()?),
            b'`' => parts.push(self.backquoted(Context::Bare)?),
            b'$' => {
                let expansion = self.dollar(Context::Bare)?;
                state.bare = expansion.bare;
                push(parts, expansion.part);
            }
            b'*' | b'?' => {
                self.bump();
                state.globbed = true;
                parts.push(Part::Glob(char::from(byte).into()));
            }
            b'[' => self.bracket_part(parts, state)?,
            b'{' if bare => return self.refuse("brace after a parameter"),
            b'{' => self.brace(parts, state)?,
            b'}' => return self.refuse("unbalanced brace"),
            b'~' => self.tilde_part(parts, state, braced)?,
            b'=' => self.equals(parts, state, braced)?,
            b'^' => self.caret(parts, state)?,
            b'#' if parts.is_empty() => return self.refuse("missing word"),
            b'#' => {
                state.zsh_operator = true;
                self.bump();
                push_literal(parts, '#');
            }
            _ => push_literal(parts, self.take_unquoted_char()?),
        }
        Ok(())
    }

    /// `<(..)` or `>(..)`, which must be the whole word: zsh and bash differ elsewhere.
    fn whole_word_substitution(&mut self, parts: &mut Vec<Part>, state: &WordState, braced: bool) -> Parsed<()> {
        let place = matches!(state.place, Place::Argument { .. } | Place::Target);
        if !parts.is_empty() || braced || !place {
            return self.refuse("process substitution inside a word");
        }
        let output = self.peek() == Some(b'>');
        self.bump();
        self.peek();
        self.bump();
        if self.peek() == Some(b'(') {
            return self.refuse("arithmetic as a process");
        }
        let script = self.substitution(|p| p.full_script(End::Paren))?;
        self.bump();
        if self
            .peek()
            .is_some_and(|byte| !is_word_end(byte) || matches!(byte, b'<' | b'>' | b'('))
        {
            return self.refuse("process substitution inside a word");
        }
        parts.push(Part::ProcessSubstitution { output, script });
        Ok(())
    }

    /// `\x`
    fn escaped(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.bump();
        match self.take_char() {
            Some(c) if c.is_control() => self.refuse_from("control character", start),
            Some(c) => Ok(Part::Quoted(c.into())),
            None => self.refuse_from("backslash at the end", start),
        }
    }

    fn bracket_part(&mut self, parts: &mut Vec<Part>, state: &mut WordState) -> Parsed<()> {
        if parts.is_empty() && self.peek_second().is_none_or(is_word_end) {
            self.bump();
            push_literal(parts, '[');
            return Ok(());
        }
        state.globbed = true;
        parts.push(self.bracket()?);
        Ok(())
    }

    /// A whole `[..]` of plain characters, ranges and classes.
    pub(super) fn bracket(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.bump();
        let mut text = String::from("[");
        if matches!(self.peek(), Some(b'!' | b'^')) {
            text.push(char::from(self.peek().unwrap_or_default()));
            self.bump();
        }
        let opening = text.len();
        while let Some(byte) = self.peek() {
            match byte {
                b']' if text.len() > opening => {
                    self.bump();
                    text.push(']');
                    return Ok(Part::Glob(text));
                }
                b'[' if self.peek_second() == Some(b':') => text.push_str(&self.character_class()?),
                _ if byte.is_ascii_alphanumeric() || b"_-.:@%+".contains(&byte) => {
                    self.bump();
                    text.push(char::from(byte));
                }
                _ => break,
            }
        }
        self.refuse_from("unusual bracket", start)
    }

    /// `[:alpha:]`
    fn character_class(&mut self) -> Parsed<String> {
        let start = self.at;
        self.bump();
        self.peek();
        self.bump();
        let Some((name, end)) = self.name_ahead() else {
            return self.refuse_from("unusual bracket", start);
        };
        self.at = end;
        if self.eat(b':') && self.eat(b']') {
            return Ok(format!("[:{name}:]"));
        }
        self.refuse_from("unusual bracket", start)
    }

    fn brace(&mut self, parts: &mut Vec<Part>, state: &mut WordState) -> Parsed<()> {
        let start = self.at;
        if parts.is_empty() && state.place == Place::Command {
            return self.refuse("brace at the start of a command");
        }
        self.bump();
        let mut alternatives = self.deeper(|p| {
            let mut alternatives = vec![p.parts(state, true)?];
            while p.eat(b',') {
                alternatives.push(p.parts(state, true)?);
            }
            Ok(alternatives)
        })?;
        if !self.eat(b'}') {
            return self.refuse_from("unbalanced brace", start);
        }
        state.bare = false;
        if alternatives.len() == 1 && alternatives[0].iter().any(has_dots) && state.place.braces() != Braces::Keep {
            alternatives = match alternatives[0].as_slice() {
                [Part::Literal(text)] => range(text).unwrap_or_default(),
                _ => Vec::new(),
            };
            if alternatives.is_empty() {
                return self.refuse_from("unusual brace range", start);
            }
            self.budget.ranged += alternatives.len();
            if self.budget.ranged > MAX_RANGED {
                return self.refuse_from("too many words from ranges", start);
            }
        }
        match state.place.braces() {
            Braces::Expand if alternatives.len() > 1 => parts.push(Part::Brace(alternatives)),
            Braces::Refuse if alternatives.len() > 1 => return self.refuse_from("brace expansion here", start),
            Braces::Expand | Braces::Keep | Braces::Refuse => keep_brace(parts, alternatives),
        }
        Ok(())
    }

    fn tilde_part(&mut self, parts: &mut Vec<Part>, state: &mut WordState, braced: bool) -> Parsed<()> {
        if parts.is_empty() && !braced {
            parts.push(self.tilde(state.place == Place::Value)?);
            return Ok(());
        }
        if parts.iter().all(is_nothing) {
            // zsh expands it there.
            return self.refuse("tilde after empty quotes");
        }
        let assigns = state.place.assigns() && !braced;
        let assigned_like = state.place != Place::Value && is_assignment_like(parts);
        let expands = match last_char(parts) {
            None => return self.refuse("tilde in a brace"),
            Some('=') if assigns && assigned_like && is_first_equals(parts) => true,
            Some('=') => return self.refuse("tilde after ="),
            Some(':') if assigns && (assigned_like || state.place == Place::Value) => true,
            Some(':') if assigned_like => return self.refuse("tilde after ="),
            Some(_) => false,
        };
        if expands {
            parts.push(self.tilde(true)?);
            return Ok(());
        }
        state.zsh_operator = true;
        self.bump();
        push_literal(parts, '~');
        Ok(())
    }

    /// `~` or `~name` and nothing else up to a slash (or colon, in an assignment) or the end of the word.
    fn tilde(&mut self, colon_ends: bool) -> Parsed<Part> {
        let start = self.at;
        self.bump();
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            let ordinary = byte.is_ascii_alphabetic() || byte == b'_';
            if !(ordinary || (!name.is_empty() && (byte.is_ascii_digit() || b".-".contains(&byte)))) {
                break;
            }
            name.push(char::from(byte));
            self.bump();
        }
        match self.peek() {
            Some(b':') if colon_ends => {}
            Some(b'/') | None => {}
            Some(byte) if is_word_end(byte) => {}
            Some(_) => return self.refuse_from("unusual tilde", start),
        }
        Ok(Part::Tilde((!name.is_empty()).then_some(name)))
    }

    /// `=` at the start of a word names the path of a command for zsh; `=` and `==` alone are left to `[`.
    fn equals(&mut self, parts: &mut Vec<Part>, state: &WordState, braced: bool) -> Parsed<()> {
        let start = self.at;
        let after_sign = state.place.assigns() && matches!(last_char(parts), Some(':' | '='));
        if parts.is_empty() || after_sign {
            let lone = matches!(state.place, Place::Argument { .. }) && !braced && !after_sign && self.is_lone_equals();
            if !lone {
                return self.refuse_from("word that starts with =", start);
            }
        }
        self.bump();
        push_literal(parts, '=');
        Ok(())
    }

    fn is_lone_equals(&mut self) -> bool {
        let start = self.at;
        self.bump();
        self.eat(b'=');
        let lone = self.peek().is_none_or(is_word_end);
        self.at = start;
        lone
    }

    /// `HEAD^`, `HEAD^2`, `HEAD^{tree}`: elsewhere zsh may take `^` for an operator.
    fn caret(&mut self, parts: &mut Vec<Part>, state: &mut WordState) -> Parsed<()> {
        let ends = self
            .peek_second()
            .is_none_or(|b| is_word_end(b) || b.is_ascii_digit() || b"^~:.{},@".contains(&b));
        if parts.is_empty() || !ends || matches!(last_char(parts), Some('/' | ':' | '=')) {
            return self.refuse("zsh glob operator");
        }
        state.zsh_operator = true;
        self.bump();
        push_literal(parts, '^');
        Ok(())
    }
}

/// Whether `text` before `<` or `>` names a descriptor: `12` or `{fd}`.
fn is_descriptor(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) || (text.starts_with('{') && text.ends_with('}'))
}

/// Whether braces can leave nothing of a word.
fn may_vanish(parts: &[Part]) -> bool {
    parts
        .iter()
        .all(|part| matches!(part, Part::Brace(alternatives) if alternatives.iter().any(|inner| may_vanish(inner))))
}

fn has_dots(part: &Part) -> bool {
    matches!(part, Part::Literal(text) if text.contains(".."))
}

/// The character before the cursor: that of the literal it continues, else a stand-in for any other part.
/// Quotes with nothing between them.
fn is_nothing(part: &Part) -> bool {
    match part {
        Part::Literal(text) | Part::Quoted(text) => text.is_empty(),
        Part::DoubleQuoted(parts) => parts.iter().all(is_nothing),
        _ => false,
    }
}

fn last_char(parts: &[Part]) -> Option<char> {
    match parts.last()? {
        Part::Literal(text) => text.chars().last(),
        _ => Some('x'),
    }
}

fn is_assignment_like(parts: &[Part]) -> bool {
    let Some(Part::Literal(text)) = parts.first() else {
        return false;
    };
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    is_identifier(name.strip_suffix('+').unwrap_or(name))
}

fn is_first_equals(parts: &[Part]) -> bool {
    matches!(parts, [Part::Literal(text)] if text.find('=') == Some(text.len() - 1))
}

/// Puts back a brace that does not expand, as it was written.
fn keep_brace(parts: &mut Vec<Part>, alternatives: Vec<Vec<Part>>) {
    push_literal(parts, '{');
    for (index, alternative) in alternatives.into_iter().enumerate() {
        if index > 0 {
            push_literal(parts, ',');
        }
        for part in alternative {
            push(parts, part);
        }
    }
    push_literal(parts, '}');
}

/// The words of `1..9`, `9..1`, `1..9..2`, `a..e`; `None` for what the shells do not surely agree on.
fn range(text: &str) -> Option<Vec<Vec<Part>>> {
    let mut fields = text.split("..");
    let (first, last, step) = (fields.next()?, fields.next()?, fields.next());
    if fields.next().is_some() {
        return None;
    }
    let literal = |text: String| vec![Part::Literal(text)];
    if let (Some(first), Some(last)) = (letter(first), letter(last)) {
        let plain = step.is_none() && first < last && first.is_ascii_lowercase() == last.is_ascii_lowercase();
        return plain.then(|| (first..=last).map(|c| literal(c.into())).collect());
    }
    let (first, last) = (integer(first)?, integer(last)?);
    let step = step.map_or(Some(1), integer)?;
    if step < 1 || (first > last && step != 1) || (last - first).abs() / step >= MAX_RANGE || first == last {
        return None;
    }
    let mut numbers: Vec<i64> = (first.min(last)..=first.max(last))
        .step_by(usize::try_from(step).ok()?)
        .collect();
    if first > last {
        numbers.reverse();
    }
    Some(numbers.into_iter().map(|number| literal(number.to_string())).collect())
}

fn letter(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars
        .next()
        .filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
}

/// A decimal of at most seven digits without leading zeros, which would ask for padding.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() <= 7 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let padded = digits.starts_with('0') && text != "0";
    (plain && !padded).then(|| text.parse().ok()).flatten()
}
