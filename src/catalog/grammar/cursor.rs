//! Where a reader of a small language stands in its text, byte by byte. `awk`, `sed` and `jq` read through it; it knows
//! none of them.

/// A text and a place in it, which never leaves it.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    /// In bytes from the start.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// The byte at hand; `None` at the end.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes the byte at hand.
    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Takes this byte if it is at hand.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Takes bytes for as long as they are wanted.
    pub(super) fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    /// Takes the identifier at hand; empty if there is none.
    pub(super) fn word(&mut self) -> &'a str {
        let start = self.at;
        if self.peek().is_some_and(|b| !b.is_ascii_digit()) {
            self.skip(|b| b.is_ascii_alphanumeric() || b == b'_');
        }
        &self.text[start..self.at]
    }
}
