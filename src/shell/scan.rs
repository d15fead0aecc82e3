//! A forgiving look at a script that the parser refuses, so that a danger in it is still named.
//!
//! What it finds may only raise a tier, never lower one: it over-approximates, knows no grammar and never fails.

use std::iter::Peekable;
use std::str::Chars;

/// How often text that came out of quotes is looked at again.
const LEVELS: usize = 3;

/// Words after which a command may start.
const OPENERS: &[&str] = &[
    "!",
    "{",
    "}",
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "while",
    "until",
    "do",
    "done",
    "esac",
    "time",
    "coproc",
    "[[",
    "noglob",
    "nocorrect",
    "-",
];

/// The likely simple commands of a script, each as its words with quotes removed as well as can be.
///
/// Quoted text, comments and here-documents are looked at too, for they may be code. A command may be listed more than once, and
/// more than once in different lengths. Linear in the length of `source`, whatever it holds.
pub fn scan(source: &str) -> Vec<Vec<String>> {
    let joined = source.replace("\\\n", "").replace("${IFS}", " ").replace("$IFS", " ");
    let mut commands = Vec::new();
    // Once as if no quote meant anything: a stray one can hide nothing then.
    let blind = joined.replace(['\'', '"', '\\'], "");
    Scan::default().run(&blind, &mut commands);
    let mut texts = vec![joined];
    for _ in 0..LEVELS {
        // What is looked at again is a part of what was looked at before: each level is no longer than the last.
        texts = texts
            .iter()
            .flat_map(|text| Scan::default().run(text, &mut commands))
            .collect();
    }
    commands
}

#[derive(Default)]
struct Scan {
    /// The commands around the substitution that is read.
    outer: Vec<(Vec<String>, Vec<usize>)>,
    words: Vec<String>,
    /// Where in `words` a command of its own may start.
    starts: Vec<usize>,
    word: String,
    in_word: bool,
    /// The next word is the target of a redirection, `<` or `>`.
    target_of: Option<char>,
    found: Vec<Vec<String>>,
    /// Text to look at again.
    again: Vec<String>,
}

impl Scan {
    /// Adds the commands of `text`; returns what should be looked at again.
    fn run(mut self, text: &str, commands: &mut Vec<Vec<String>>) -> Vec<String> {
        let mut chars = text.chars().peekable();
        let mut last = ' ';
        let mut in_backquotes = false;
        while let Some(c) = chars.next() {
            match c {
                '\'' | '"' => self.quoted(c, &mut chars),
                '\\' => self.word.extend(chars.next()),
                '$' if matches!(chars.peek(), Some('\'' | '"' | '(')) => {}
                '#' if !self.in_word => self.comment(&mut chars),
                '`' if in_backquotes => self.close(),
                '`' | '(' => self.open(),
                ')' => self.close(),
                '&' if matches!(last, '<' | '>') || chars.peek() == Some(&'>') => self.end_word(),
                ';' | '&' | '|' | '\n' | '\r' => self.end_command(),
                '<' | '>' => self.redirect(c),
                _ if c.is_whitespace() || c.is_control() => self.end_word(),
                _ => self.word.push(c),
            }
            in_backquotes ^= c == '`';
            self.in_word |= !self.word.is_empty();
            last = c;
        }
        while !self.outer.is_empty() {
            self.close();
        }
        self.end_command();
        commands.append(&mut self.found);
        self.again
    }

    fn quoted(&mut self, quote: char, chars: &mut Peekable<Chars>) {
        self.in_word = true;
        while let Some(c) = chars.next() {
            match c {
                _ if c == quote => break,
                '\\' if quote == '"' => self.word.extend(chars.next()),
                _ => self.word.push(c),
            }
        }
    }

    fn comment(&mut self, chars: &mut Peekable<Chars>) {
        let mut text = String::new();
        while let Some(c) = chars.next_if(|c| *c != '\n') {
            text.push(c);
        }
        self.again.push(text);
    }

    fn open(&mut self) {
        self.end_word();
        self.target_of = None;
        self.outer
            .push((std::mem::take(&mut self.words), std::mem::take(&mut self.starts)));
    }

    /// Ends a substitution; the command around it goes on, or, after the pattern of a case, a new one starts.
    fn close(&mut self) {
        self.end_command();
        (self.words, self.starts) = self.outer.pop().unwrap_or_default();
        self.starts.push(self.words.len());
    }

    fn redirect(&mut self, operator: char) {
        if self.word.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word.clear();
            self.in_word = false;
        }
        self.end_word();
        self.target_of = Some(operator);
    }

    fn end_word(&mut self) {
        if !std::mem::take(&mut self.in_word) {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let may_be_code = word.contains(|c: char| c.is_whitespace() || ";|&`(".contains(c))
            || (word.starts_with('{') && word.contains(','));
        match word.split_once('=') {
            // What is assigned, to a variable or an alias, may be run by its name.
            Some((_, value)) if is_assignment(&word) => self.again.push(value.to_owned()),
            _ if may_be_code => self.again.push(word.clone()),
            _ => {}
        }
        if let Some(operator) = self.target_of.take() {
            // In case that was no redirection.
            self.starts.push(self.words.len());
            if operator == '<' && !self.words.is_empty() {
                // Shells and clients of databases read a here-string as what `-c` gives.
                self.found
                    .push([self.words.as_slice(), &["-c".into(), word.clone()]].concat());
            }
            // What the file is written by; and a here-string may be one command.
            self.found.push(if operator == '>' {
                vec!["tee".into(), word]
            } else {
                vec![word]
            });
            return;
        }
        let starts_command = self.words.is_empty() || self.starts.last() == Some(&self.words.len());
        if starts_command && word.starts_with('{') && word.contains(',') {
            let pieces = word.split(['{', '}', ',']).filter(|piece| !piece.is_empty());
            self.words.extend(pieces.map(str::to_owned));
        } else if OPENERS.contains(&word.as_str()) || (starts_command && is_assignment(&word)) {
            self.starts.push(self.words.len());
        } else {
            let may_open = word == "in";
            self.words.push(word);
            if may_open {
                self.starts.push(self.words.len());
            }
        }
    }

    /// Lists the command as a whole, and each stretch of it that may be one.
    fn end_command(&mut self) {
        self.end_word();
        self.target_of = None;
        let words = std::mem::take(&mut self.words);
        let mut starts = std::mem::take(&mut self.starts);
        starts.push(words.len());
        let mut from = 0;
        for to in starts {
            if to > from && to - from < words.len() {
                self.found.push(words[from..to].to_vec());
            }
            from = to;
        }
        if !words.is_empty() {
            self.found.push(words);
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_+[]".contains(c))
}

#[cfg(test)]
mod tests {
    use super::scan;

    fn finds(source: &str, command: &str) -> bool {
        scan(source).iter().any(|words| words.join(" ") == command)
    }

    #[test]
    fn finds_a_danger_wherever_a_shell_may_run_it() {
        let sources = [
            "coproc rm -rf /",
            "select x in a; do rm -rf /; done",
            "a; rm -rf /",
            "a && rm -rf / || b",
            "a | rm -rf / &",
            "a\nrm -rf /\nb",
            "echo $(rm -rf /)",
            "echo \"$(rm -rf /)\"",
            "echo `rm -rf /`",
            "echo \"`rm -rf \"/\"`\"",
            "bash -c 'rm -rf /'",
            "eval \"bash -c 'rm -rf /'\"",
            "r''m -r\"f\" \\/",
            "rm -r\\\nf /",
            "{rm,-rf,/}",
            "rm${IFS}-rf$IFS/",
            "f() { rm -rf /; }",
            "if x; then rm -rf /; fi",
            "! rm -rf /",
            "A=1 B=2 rm -rf /",
            ">x rm 2>&1 -rf >y /",
            "rm -rf $(x) /",
            "echo $(case x in a) rm -rf /;; esac)",
            "echo <(rm -rf /)",
            "# it's\nrm -rf /",
            "# rm -rf /",
            "cat <<E\nit's\nE\nrm -rf /",
            "echo 'unterminated; rm -rf /",
            "echo ) rm -rf /",
            "while x; do\n\trm -rf /\ndone; select",
            "x='rm -rf /'; $x",
            "alias x=\"rm -rf /\"",
        ];
        for source in sources {
            assert!(finds(source, "rm -rf /"), "{source:?}: {:?}", scan(source));
        }
        assert!(finds("echo x >> ~/.bashrc; coproc", "tee ~/.bashrc"));
    }

    #[test]
    fn finds_nothing_where_there_is_nothing() {
        assert!(scan("").is_empty());
        assert!(scan(" ;;\n&& ( ) ` ").is_empty());
    }

    #[test]
    fn stays_linear_in_hostile_text() {
        for piece in [
            "(", ") ", "`", "'", "\"", "\\", "{a,b} ", "> x ", "# ' \n", "$(", "then ", "\"'", "=", "a=1 ",
        ] {
            let source = piece.repeat(64 * 1024 / piece.len());
            let listed: usize = scan(&source)
                .iter()
                .map(|words| words.iter().map(|word| word.len() + 1).sum::<usize>())
                .sum();
            assert!(listed <= 16 * source.len(), "{piece:?} gave {listed} bytes");
        }
    }
}
