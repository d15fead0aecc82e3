//! Writes the checked catalog as the bytes that `layout` describes.

use std::collections::HashMap;

use crate::environment::Environment;
use crate::format::{Entry, Opt, Slot, When};
use crate::layout::*;
use crate::words::{EffectSpec, Role};

/// The bytes of the catalog, for the program to carry.
pub fn compile(entries: &[Entry], environment: &Environment) -> Vec<u8> {
    let mut writer = Writer {
        words: vec![0; HEADER_WORDS],
        pool: vec![0, 0],
        texts: HashMap::from([(String::new(), 0)]),
        lists: HashMap::new(),
        shapes: Vec::new(),
    };
    writer.words[0] = MAGIC;
    let commands = writer.named(entries);
    let variables = environment
        .variables
        .iter()
        .map(|v| vec![writer.text(&v.name), v.rule as u32, writer.text(&v.text)])
        .collect();
    let variables = writer.list(variables);
    let printable = environment.printable.iter().map(|n| vec![writer.text(n)]).collect();
    let printable = writer.list(printable);
    let credentials = environment.credentials.iter().map(|n| vec![writer.text(n)]).collect();
    let credentials = writer.list(credentials);
    let shapes = std::mem::take(&mut writer.shapes);
    let shapes = writer.list(shapes.into_iter().map(Vec::from).collect());
    for (at, list) in [
        (COMMANDS, commands),
        (SHAPES, shapes),
        (VARIABLES, variables),
        (PRINTABLE, printable),
        (CREDENTIALS, credentials),
    ] {
        writer.words[at..at + 2].copy_from_slice(&list);
    }
    writer.finish()
}

struct Writer {
    words: Vec<u32>,
    pool: Vec<u8>,
    texts: HashMap<String, u32>,
    /// Where each list stands: equal ones are written once.
    lists: HashMap<Vec<u32>, u32>,
    /// The shapes of options, by their number.
    shapes: Vec<[u32; SHAPE_WORDS]>,
}

impl Writer {
    fn finish(mut self) -> Vec<u8> {
        self.words[POOL] = number(self.words.len() * 4);
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.append(&mut self.pool);
        bytes
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(&at) = self.texts.get(text) {
            return at;
        }
        let at = number(self.pool.len());
        let length = u16::try_from(text.len()).unwrap_or_else(|_| panic!("a text of {} bytes is too long", text.len()));
        self.pool.extend(length.to_le_bytes());
        self.pool.extend(text.as_bytes());
        self.texts.insert(text.to_owned(), at);
        at
    }

    /// Writes rows one after another; gives their count and offset.
    fn list(&mut self, rows: Vec<Vec<u32>>) -> [u32; 2] {
        let count = number(rows.len());
        let words: Vec<u32> = rows.into_iter().flatten().collect();
        let next = number(self.words.len());
        let at = *self.lists.entry(words).or_insert_with_key(|words| {
            self.words.extend(words);
            next
        });
        [count, at]
    }

    /// Writes nodes and the sorted index of their names.
    fn named(&mut self, entries: &[Entry]) -> [u32; 2] {
        let mut names = Vec::new();
        for entry in entries {
            let node = self.node(entry);
            names.extend(entry.names.iter().map(|name| (name.as_str(), node)));
        }
        names.sort_unstable();
        let rows = names
            .into_iter()
            .map(|(name, node)| vec![self.text(name), node])
            .collect();
        self.list(rows)
    }

    fn node(&mut self, entry: &Entry) -> u32 {
        let subs = self.named(&entry.subs);
        let options = self.options(&entry.options);
        let operands = self.slots(&entry.operands);
        let effects = self.list(effects_of(&entry.effects));
        let bare = self.list(effects_of(&entry.bare));
        let whens = entry.whens.iter().map(|w| self.when(w)).collect();
        let whens = self.list(whens);
        let mut bits = entry.style as u32;
        for (set, bit) in [
            (entry.numeric, BIT_NUMERIC),
            (entry.inert, BIT_INERT),
            (entry.global, BIT_GLOBAL),
        ] {
            bits |= if set { bit } else { 0 };
        }
        let grammar = entry.grammar.as_deref().unwrap_or_default();
        let single = [
            self.text(&entry.about),
            self.text(grammar),
            bits,
            optional_role(entry.here) | optional_role(entry.input) << 8,
        ];
        let obeys = self.text(&entry.obeys);
        let at = number(self.words.len());
        self.words.extend(single);
        self.words
            .extend([options, operands, effects, bare, whens, subs].into_iter().flatten());
        self.words.push(obeys);
        at
    }

    fn options(&mut self, options: &[Opt]) -> [u32; 2] {
        let mut rows = Vec::new();
        for (id, option) in options.iter().enumerate() {
            let mut head = short(id << 2);
            for (set, bit) in [(option.optional, OPTION_OPTIONAL), (option.describes, OPTION_DESCRIBES)] {
                head |= if set { bit } else { 0 };
            }
            let roles = option
                .values
                .iter()
                .rev()
                .fold(0, |roles, &role| roles << 8 | (role as u32 + 1));
            rows.extend(
                option
                    .spellings
                    .iter()
                    .map(|spelling| (spelling.as_str(), head, roles, option.known.join(" "))),
            );
        }
        rows.sort_unstable();
        let rows = rows
            .into_iter()
            .map(|(spelling, head, roles, known)| {
                vec![self.text(spelling), head | self.shape(roles, &known) << OPTION_SHAPE]
            })
            .collect();
        self.list(rows)
    }

    fn shape(&mut self, roles: u32, known: &str) -> u32 {
        let shape = [roles, self.text(known)];
        let at = self.shapes.iter().position(|s| *s == shape).unwrap_or_else(|| {
            self.shapes.push(shape);
            self.shapes.len() - 1
        });
        short(at)
    }

    fn slots(&mut self, slots: &[Slot]) -> [u32; 2] {
        let rows = slots
            .iter()
            .map(|s| vec![s.role as u32 | (s.times as u32) << 8, self.text(&s.known.join(" "))])
            .collect();
        self.list(rows)
    }

    fn when(&mut self, when: &When) -> Vec<u32> {
        let options = self.list(when.options.iter().map(|&id| vec![number(id)]).collect());
        let operands = self.slots(when.operands.as_deref().unwrap_or_default());
        let effects = self.list(effects_of(&when.effects));
        let mut row = Vec::from(options);
        row.push(u32::from(when.operands.is_some()));
        row.extend(operands);
        row.extend(effects);
        row.push(optional_role(when.here) | optional_role(when.input) << 8);
        row.push(optional_role(when.reads));
        row.extend(self.list(when.without.iter().map(|&id| vec![number(id)]).collect()));
        row
    }
}

fn effects_of(effects: &[EffectSpec]) -> Vec<Vec<u32>> {
    let word =
        |e: &EffectSpec| e.action as u32 | (e.place as u32) << 8 | (e.undo as u32) << 16 | (e.reach as u32) << 24;
    effects.iter().map(|e| vec![word(e)]).collect()
}

fn optional_role(role: Option<Role>) -> u32 {
    role.map_or(0, |role| role as u32 + 1)
}

/// Half a word.
fn short(value: usize) -> u32 {
    u16::try_from(value)
        .unwrap_or_else(|_| panic!("{value} is too large for the catalog"))
        .into()
}

/// A count or offset; the catalog stays far below 4 GiB.
fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or_else(|_| panic!("{value} is too large for the catalog"))
}
