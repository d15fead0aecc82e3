//! Makes scripts: by a grammar, and by mutating the seeds.

use crate::random::Random;
use crate::seeds::{PIECES, SEEDS};

/// A script of either kind.
pub fn script(random: &mut Random) -> String {
    let mut text = if random.chance(35) {
        generated(random)
    } else {
        mutated(random)
    };
    // The drivers read NUL between scripts.
    text.retain(|c| c != '\0');
    text
}

fn mutated(random: &mut Random) -> String {
    let mut chars: Vec<char> = random.pick(SEEDS).chars().collect();
    for _ in 0..random.below(4) {
        mutate(&mut chars, random);
    }
    chars.into_iter().collect()
}

fn mutate(chars: &mut Vec<char>, random: &mut Random) {
    let at = random.below(chars.len() + 1);
    let to = (at + random.below(6)).min(chars.len());
    match random.below(6) {
        0 => drop(chars.drain(at..to)),
        1 => {
            let copy: Vec<char> = chars[at..to].to_vec();
            let target = random.below(chars.len() + 1);
            chars.splice(target..target, copy);
        }
        2 => {
            let other: Vec<char> = random.pick(SEEDS).chars().collect();
            let from = random.below(other.len() + 1);
            chars.truncate(at);
            chars.extend(&other[from..]);
        }
        3 => {
            let other: Vec<char> = random.pick(SEEDS).chars().collect();
            chars.splice(at..at, other);
        }
        _ => drop(chars.splice(at..at, random.pick(PIECES).chars())),
    }
}

fn generated(random: &mut Random) -> String {
    let mut writer = Writer {
        random,
        bodies: Vec::new(),
        commands: 0,
    };
    let mut text = writer.list(3);
    text.push_str(&writer.end_line());
    text
}

struct Writer<'a> {
    random: &'a mut Random,
    /// Bodies of here-documents that wait for the end of the line.
    bodies: Vec<String>,
    commands: usize,
}

impl Writer<'_> {
    fn end_line(&mut self) -> String {
        let mut text = String::from("\n");
        for body in self.bodies.drain(..) {
            text.push_str(&body);
        }
        text
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = self.pipeline(depth);
        while self.random.chance(30) {
            let separator = match self.random.below(6) {
                0 => " && ".into(),
                1 => " || ".into(),
                2 => " & ".into(),
                3 => self.end_line(),
                _ => "; ".into(),
            };
            text.push_str(&separator);
            text.push_str(&self.pipeline(depth));
        }
        text
    }

    fn closed_list(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        let end = if self.random.chance(60) {
            "; ".into()
        } else {
            self.end_line()
        };
        format!("{list}{end}")
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.random.chance(8) {
            text.push_str(self.random.pick(&["! ", "time "]));
        }
        text.push_str(&self.command(depth));
        while self.random.chance(15) {
            text.push_str(self.random.pick(&[" | ", "|", " |& ", " |\n"]));
            text.push_str(&self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(60) {
            return self.simple(depth);
        }
        let inner = depth - 1;
        match self.random.below(9) {
            0 => format!("{{ {}}}", self.closed_list(inner)),
            1 => format!("({})", self.list(inner)),
            2 => format!(
                "if {}then {}else {}fi",
                self.closed_list(inner),
                self.closed_list(inner),
                self.closed_list(inner)
            ),
            3 => format!("while {}do {}done", self.closed_list(inner), self.closed_list(inner)),
            4 => format!(
                "for i in {} {}; do {}done",
                self.word(inner),
                self.word(inner),
                self.closed_list(inner)
            ),
            5 => format!(
                "case {} in {}|d) {};; *) {}esac",
                self.word(inner),
                self.word(inner),
                self.list(inner),
                self.closed_list(inner)
            ),
            6 => format!("f() {{ {}}}; f {}", self.closed_list(inner), self.word(inner)),
            7 => format!(
                "[[ {} == {} && ! -z {} ]]",
                self.word(inner),
                self.word(inner),
                self.word(inner)
            ),
            _ => format!("{{ {}}} {}", self.closed_list(inner), self.redirect(inner)),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        self.commands += 1;
        let mut text = String::new();
        if self.random.chance(12) {
            text.push_str(&format!("a={} ", self.word(depth)));
        }
        let number = self.commands;
        let name = match self.random.below(9) {
            0 => format!("'K{number}'"),
            1 => format!("\"K\"{number}"),
            2 => format!("K\\\n{number}"),
            3 => format!("\\K{number}"),
            _ => format!("K{number}"),
        };
        text.push_str(&name);
        for _ in 0..self.random.below(4) {
            text.push(' ');
            let more = if self.random.chance(20) {
                self.redirect(depth)
            } else {
                self.word(depth)
            };
            text.push_str(&more);
        }
        text
    }

    fn redirect(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            0 => self.here_document(depth),
            1 => format!("<<< {}", self.word(depth)),
            2 => self.random.pick(&["2>&1", ">&2", "<&0", "2>&-", "&>d"]).into(),
            3 if depth > 0 => format!("< <({})", self.list(depth - 1)),
            _ => format!(
                "{}{}",
                self.random.pick(&[">", "> ", ">>", "2>", "<", "&>", ">|"]),
                self.word(depth)
            ),
        }
    }

    fn here_document(&mut self, depth: usize) -> String {
        let (operator, indent) = if self.random.chance(30) {
            ("<<-", "\t")
        } else {
            ("<<", "")
        };
        let (delimiter, quoted) = match self.random.below(4) {
            0 => ("'E'", true),
            1 => ("E\"O\"", true),
            2 => ("\\E", true),
            _ => ("E", false),
        };
        let close: String = delimiter.chars().filter(|c| c.is_ascii_alphabetic()).collect();
        let line = match self.random.below(5) {
            0 if quoted => "$(K9) `K9".into(),
            0 => "$(K8) `K9`".into(),
            1 => "it's \"d\" \\$(K9)".into(),
            2 => "d \\\\".into(),
            3 if depth > 0 && !quoted => format!("${{v:-$({})}}", self.simple(0)),
            _ => String::new(),
        };
        self.bodies.push(format!("{indent}{line}\n{indent}{close}\n"));
        format!("{operator}{delimiter}")
    }

    fn word(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.random.below(3) {
            text.push_str(&self.piece(depth));
        }
        text
    }

    fn piece(&mut self, depth: usize) -> String {
        if depth > 0 && self.random.chance(25) {
            let pending = std::mem::take(&mut self.bodies);
            let mut list = self.list(depth - 1);
            if !self.bodies.is_empty() {
                list.push_str(&self.end_line());
            }
            self.bodies = pending;
            return match self.random.below(5) {
                0 => format!("`{}`", list.replace(['`', '\\'], "")),
                1 => format!("\"$({list})\""),
                2 => format!("${{v:-$({list})}}"),
                3 => format!("$((1 + $({list})))"),
                _ => format!("$({list})"),
            };
        }
        self.random
            .pick(&[
                "d",
                "'K9; d'",
                "\"K9 & d\"",
                "$v",
                "\"$v\"",
                "${v}",
                "${v:-d}",
                "\"${v%d}\"",
                "$((1+2))",
                "*",
                "?",
                "[a-d]",
                "{a,b}",
                "~",
                "/d",
                "\\;",
                "\\\n",
                "-d",
                "$'\\n'",
                "=d",
                ":d",
                "@",
                "#d",
                "^",
                "\"d\\\"K9\"",
                "$1",
                "${#v}",
                "${v//d/e}",
                "é",
                "1",
                "{}",
                "'",
                "\"",
            ])
            .into()
    }
}
