//! Where a regular expression between delimiters ends.
//!
//! Most programs pass over a delimiter inside `[..]`, as POSIX has it, but differ in what closes the brackets; the one
//! true awk and old seds stop at every delimiter, and refuse a program whose expression then has an open bracket.

/// How a program finds the `]` that closes a bracket expression.
#[derive(Clone, Copy)]
struct View {
    backslash_quotes: bool,
    has_classes: bool,
}

const VIEWS: [View; 3] = [
    // POSIX, GNU sed.
    View {
        backslash_quotes: false,
        has_classes: true,
    },
    // awk.
    View {
        backslash_quotes: true,
        has_classes: true,
    },
    // busybox sed.
    View {
        backslash_quotes: false,
        has_classes: false,
    },
];

/// The position of the `delimiter` that ends the expression at the begin of `text`, where all programs agree on it or
/// refuse the text. `None`: they do not, or there is no end.
pub(super) fn end(text: &str, delimiter: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = VIEWS[0].end(bytes, delimiter)?;
    let agreed = VIEWS.iter().all(|view| view.end(bytes, delimiter) == Some(end));
    let first = unquoted(bytes, delimiter)?;
    let refused = || VIEWS.iter().all(|view| view.end(&bytes[..=first], delimiter).is_none());
    (agreed && (first == end || refused())).then_some(end)
}

/// The first delimiter that no backslash quotes, brackets or not.
fn unquoted(text: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        match *text.get(at)? {
            byte if byte == delimiter => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

impl View {
    /// The first delimiter that stands outside brackets and that no backslash quotes.
    fn end(self, text: &[u8], delimiter: u8) -> Option<usize> {
        let mut at = 0;
        loop {
            match *text.get(at)? {
                byte if byte == delimiter => return Some(at),
                b'\\' => at += 2,
                b'[' => at = self.after_bracket(text, at + 1)?,
                _ => at += 1,
            }
        }
    }

    /// The position after the `]` that ends the bracket expression whose content starts at `at`.
    fn after_bracket(self, text: &[u8], mut at: usize) -> Option<usize> {
        if text.get(at) == Some(&b'^') {
            at += 1;
        }
        if text.get(at) == Some(&b']') {
            at += 1;
        }
        loop {
            match (*text.get(at)?, text.get(at + 1)) {
                (b']', _) => return Some(at + 1),
                (b'[', Some(kind @ (b':' | b'.' | b'='))) if self.has_classes => {
                    let name = text.get(at + 2..)?;
                    // A class has a short name; without a bound the search would not be linear.
                    let name = &name[..name.len().min(32)];
                    at += 4 + name.windows(2).position(|pair| pair == [*kind, b']'])?;
                }
                (b'\\', _) if self.backslash_quotes => at += 2,
                _ => at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn a_delimiter_inside_brackets_is_passed_over() {
        for regex in [
            "",
            "abc",
            "[/]",
            "[^/]*$",
            "[]/]",
            "[[:alpha:]_]+",
            r"a\/b",
            r"[\/]x",
            r"\[",
            r"[\.]",
        ] {
            assert_eq!(end(&format!("{regex}/rest/]/"), b'/'), Some(regex.len()), "{regex}");
        }
    }

    #[test]
    fn an_end_that_programs_disagree_on_is_none() {
        for text in [
            r"[\]/x]/",
            "[[:alpha:]/]w f/",
            r"[\][]/]/",
            "abc",
            "[",
            "[^]/",
            r"\",
            "[a\\",
            "[[:",
            "a\\/",
        ] {
            assert_eq!(end(text, b'/'), None, "{text}");
        }
    }
}
