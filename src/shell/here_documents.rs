//! Here-documents: their delimiters and bodies. Called by redirections.
//!
//! The bodies of a line start after its newline; the cursor jumps over them when it gets there.

use super::ast::{Part, Word};
use super::cursor::{HereLine, Parsed, Parser, is_word_end};
use super::quotes::Context;

/// A delimiter after quote removal.
struct Delimiter {
    text: String,
    quoted: bool,
    /// `<<-`: leading tabs are dropped.
    strips_tabs: bool,
}

impl Parser<'_> {
    /// The body of a here-document, after `<<`.
    pub(super) fn here_document(&mut self, start: usize) -> Parsed<Word> {
        if self.budget.in_arithmetic {
            return self.refuse_from("here-document inside arithmetic", start);
        }
        let strips_tabs = self.eat(b'-');
        self.skip_blanks();
        let delimiter = self.delimiter(strips_tabs, start)?;
        if self.one_line {
            return self.refuse_from("here-document inside a word of another", start);
        }
        let line = self.here_line(start)?;
        let (body, end) = self.body_lines(line.resume, &delimiter, start)?;
        self.here = Some(HereLine {
            newline: line.newline,
            resume: end,
        });
        let span = self.span_of(line.resume, end);
        let parts = self.body_parts(body, delimiter.quoted)?;
        Ok(Word { parts, span })
    }

    fn delimiter(&mut self, strips_tabs: bool, start: usize) -> Parsed<Delimiter> {
        let mut text = String::new();
        let mut quoted = false;
        while let Some(byte) = self.raw().filter(|byte| !is_word_end(*byte)) {
            match byte {
                b'\'' | b'"' => {
                    quoted = true;
                    text.push_str(&self.delimiter_quotes(byte, start)?);
                }
                b'\\'
                    if self
                        .byte(self.at + 1)
                        .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') =>
                {
                    quoted = true;
                    self.bump();
                }
                _ if byte.is_ascii_alphanumeric()
                    || byte == b'_'
                    || (!text.is_empty() && b"-.!:@%+/,".contains(&byte)) =>
                {
                    text.push(char::from(byte));
                    self.bump();
                }
                _ => return self.refuse_from("unusual here-document delimiter", start),
            }
        }
        if text.is_empty() || matches!(self.raw(), Some(b'(')) {
            return self.refuse_from("unusual here-document delimiter", start);
        }
        Ok(Delimiter {
            text,
            quoted,
            strips_tabs,
        })
    }

    fn delimiter_quotes(&mut self, quote: u8, start: usize) -> Parsed<String> {
        self.bump();
        let mut text = String::new();
        while let Some(byte) = self.raw() {
            self.bump();
            match byte {
                _ if byte == quote => return Ok(text),
                _ if byte.is_ascii_alphanumeric() || b"_-.!:@%+/, #=*".contains(&byte) => text.push(char::from(byte)),
                _ => break,
            }
        }
        self.refuse_from("unusual here-document delimiter", start)
    }

    /// Where this line ends and where its next body starts.
    fn here_line(&mut self, start: usize) -> Parsed<HereLine> {
        if let Some(line) = self.here {
            return Ok(line);
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(length) = rest.find('\n') else {
            return self.refuse_from("unterminated here-document", start);
        };
        if rest[..length].ends_with('\\') {
            return self.refuse_from("line continuation after a here-document operator", start);
        }
        Ok(HereLine {
            newline: self.at + length,
            resume: self.at + length + 1,
        })
    }

    /// The offsets of the body's bytes that count, and where the text goes on after the delimiter.
    fn body_lines(&mut self, from: usize, delimiter: &Delimiter, start: usize) -> Parsed<(Vec<usize>, usize)> {
        let mut body = Vec::new();
        let mut at = from;
        let mut continued = false;
        while at < self.text.len() {
            let rest = &self.text[at..];
            let line = rest.find('\n').map_or(rest, |length| &rest[..length]);
            let next = (at + line.len() + 1).min(self.text.len());
            let kept = if delimiter.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if kept == delimiter.text {
                if continued {
                    return self.refuse_from("here-document delimiter after a line continuation", start);
                }
                return Ok((body, next));
            }
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            continued = !delimiter.quoted && backslashes % 2 == 1;
            // Joined with the next line, this one could become the delimiter.
            if continued && (delimiter.strips_tabs || delimiter.text.starts_with(&kept[..kept.len() - 1])) {
                return self.refuse_from("line continuation in a here-document", start);
            }
            body.extend(at + line.len() - kept.len()..next);
            at = next;
        }
        self.refuse_from("unterminated here-document", start)
    }

    fn body_parts(&mut self, body: Vec<usize>, quoted: bool) -> Parsed<Vec<Part>> {
        let bytes: Vec<u8> = body.iter().filter_map(|at| self.byte(*at)).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if quoted {
            return Ok(vec![Part::Quoted(text)]);
        }
        let mut offsets = body;
        offsets.push(offsets.last().map_or(0, |last| last + 1));
        self.inner_text(&text, offsets, |p| p.quoted_parts(Context::HereDoc))
    }
}
