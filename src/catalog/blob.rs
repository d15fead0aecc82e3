//! Reads the compiled catalog. `catalog_spec::layout` says how it lies in its bytes; nothing here knows what it means.
//!
//! The bytes come from the build script alone. Every access is checked against their bounds; a test walks all of them.

use catalog_spec::layout::*;
use catalog_spec::{Action, EffectSpec, Place, Reach, Role, Style, Times, Undo, VariableRule};

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalog.bin"));

/// A run of rows of equal width.
#[derive(Clone, Copy)]
struct List {
    count: usize,
    at: usize,
    width: usize,
}

impl List {
    /// The list whose count and offset stand at word `at`.
    fn new(at: usize, width: usize) -> Self {
        List {
            count: size(at),
            at: size(at + 1),
            width,
        }
    }

    /// Where each row begins.
    fn rows(self) -> impl Iterator<Item = usize> {
        (0..self.count).map(move |row| self.at + row * self.width)
    }

    /// The row whose first word is this text, in a list sorted by it.
    fn find(self, text: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let row = self.at + middle * self.width;
            match text_at(row).cmp(text) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(row),
            }
        }
        None
    }
}

/// One command or subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(usize);

/// An option of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opt {
    /// Spellings of one option share it.
    pub id: u32,
    /// The value may be left out, and is only understood glued to the option.
    pub optional: bool,
    /// Given alone, the command only says what it is.
    pub describes: bool,
    roles: u32,
    /// The only values that are understood, separated by blanks: `#` for a number, `x*` for what begins with `x`; empty
    /// where every value is.
    pub known: &'static str,
}

impl Opt {
    /// The role of each value; a flag has none.
    pub fn roles(self) -> impl Iterator<Item = Role> {
        self.roles.to_le_bytes().into_iter().filter_map(role_plus_one)
    }

    /// It takes a value, or may take one.
    pub fn takes_value(self) -> bool {
        self.roles != 0
    }

    /// How many words of their own its values take.
    pub fn words(self) -> usize {
        if self.optional { 0 } else { self.roles().count() }
    }
}

/// One place in an operand grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub role: Role,
    pub times: Times,
    /// The only words that are understood here, as for an option's value.
    pub known: &'static str,
}

/// What changes where one of some options is present.
#[derive(Clone, Copy)]
pub struct When(usize);

impl When {
    /// Whether it speaks of no option.
    pub fn always(self) -> bool {
        word(self.0 + WHEN_OPTIONS) == 0
    }

    /// Whether it speaks of the option with this number.
    pub fn concerns(self, id: u32) -> bool {
        List::new(self.0 + WHEN_OPTIONS, ONE_WORD)
            .rows()
            .any(|row| word(row) == id)
    }

    /// Whether it changes nothing where the option with this number is given too.
    pub fn yields_to(self, id: u32) -> bool {
        List::new(self.0 + WHEN_WITHOUT, ONE_WORD)
            .rows()
            .any(|row| word(row) == id)
    }

    /// The operand grammar that replaces the node's.
    pub fn operands(self) -> Option<Vec<Slot>> {
        (word(self.0 + WHEN_HAS_OPERANDS) != 0).then(|| slots(self.0 + WHEN_OPERANDS))
    }

    pub fn effects(self) -> Vec<EffectSpec> {
        effects(self.0 + WHEN_EFFECTS)
    }

    /// What it does to the current directory where no operand names a path.
    pub fn here(self) -> Option<Role> {
        role_plus_one(byte(word(self.0 + WHEN_HERE), 0))
    }

    /// What its standard input is.
    pub fn input(self) -> Option<Role> {
        role_plus_one(byte(word(self.0 + WHEN_HERE), 1))
    }

    /// The role that operands of the roles path-read and tree-visible play instead.
    pub fn reads(self) -> Option<Role> {
        role_plus_one(byte(word(self.0 + WHEN_READS), 0))
    }
}

impl Node {
    pub fn about(self) -> &'static str {
        text_at(self.0 + NODE_ABOUT)
    }

    /// The parser in Rust that reads all words.
    pub fn grammar(self) -> Option<&'static str> {
        Some(text_at(self.0 + NODE_GRAMMAR)).filter(|name| !name.is_empty())
    }

    pub fn style(self) -> Style {
        decode(Style::from_byte(byte(word(self.0 + NODE_BITS), 0)))
    }

    /// `-5` is an option.
    pub fn numeric(self) -> bool {
        word(self.0 + NODE_BITS) & BIT_NUMERIC != 0
    }

    /// A word of unknown value may stand where an option may.
    pub fn inert(self) -> bool {
        word(self.0 + NODE_BITS) & BIT_INERT != 0
    }

    /// The options are accepted after a subcommand too.
    pub fn global(self) -> bool {
        word(self.0 + NODE_BITS) & BIT_GLOBAL != 0
    }

    /// The names of files, with blanks between, by which it runs code even where it only says what it is.
    pub fn obeys(self) -> &'static str {
        text_at(self.0 + NODE_OBEYS)
    }

    /// What it does to the current directory where no operand names a path.
    pub fn here(self) -> Option<Role> {
        role_plus_one(byte(word(self.0 + NODE_HERE), 0))
    }

    /// What its standard input is where no operand is a program or code.
    pub fn input(self) -> Option<Role> {
        role_plus_one(byte(word(self.0 + NODE_HERE), 1))
    }

    /// The option with exactly this spelling.
    pub fn option(self, spelling: &str) -> Option<Opt> {
        let row = List::new(self.0 + NODE_OPTIONS, OPTION_WORDS).find(spelling)?;
        let head = word(row + 1);
        let shape = word(SHAPES + 1) as usize + SHAPE_WORDS * (head >> OPTION_SHAPE) as usize;
        Some(Opt {
            id: (head & ((1 << OPTION_SHAPE) - 1)) >> 2,
            optional: head & OPTION_OPTIONAL != 0,
            describes: head & OPTION_DESCRIBES != 0,
            roles: word(shape),
            known: text_at(shape + 1),
        })
    }

    pub fn operands(self) -> Vec<Slot> {
        slots(self.0 + NODE_OPERANDS)
    }

    pub fn effects(self) -> Vec<EffectSpec> {
        effects(self.0 + NODE_EFFECTS)
    }

    /// What it does instead where there is no operand.
    pub fn bare(self) -> Vec<EffectSpec> {
        effects(self.0 + NODE_BARE)
    }

    pub fn whens(self) -> impl Iterator<Item = When> {
        List::new(self.0 + NODE_WHENS, WHEN_WORDS).rows().map(When)
    }

    pub fn has_subs(self) -> bool {
        size(self.0 + NODE_SUBS) != 0
    }

    /// The subcommand of this name, which may be several words.
    pub fn sub(self, name: &str) -> Option<(&'static str, Node)> {
        named(List::new(self.0 + NODE_SUBS, NAMED_WORDS), name)
    }

    /// Whether a subcommand's name begins with this text.
    pub fn sub_begins(self, text: &str) -> bool {
        List::new(self.0 + NODE_SUBS, NAMED_WORDS)
            .rows()
            .any(|row| text_at(row).starts_with(text))
    }
}

/// The entry of this name; `python3.11` is a `python3`.
pub fn command(name: &str) -> Option<Node> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let name = match name.strip_prefix("python3.") {
        Some(minor) if is_number(minor) => "python3",
        _ => name,
    };
    named(List::new(COMMANDS, NAMED_WORDS), name).map(|(_, node)| node)
}

/// What is known of setting a variable: the rule for its values, and the rule's text.
pub fn variable(name: &str) -> Option<(VariableRule, &'static str)> {
    let row = find_pattern(List::new(VARIABLES, VARIABLE_WORDS), name)?;
    Some((
        decode(VariableRule::from_byte(byte(word(row + 1), 0))),
        text_at(row + 2),
    ))
}

/// Whether the variable is listed as one whose value may be shown.
pub fn printable(name: &str) -> bool {
    find_pattern(List::new(PRINTABLE, ONE_WORD), name).is_some()
}

/// The words that tell of a credential in a variable's name.
pub fn credential_words() -> impl Iterator<Item = &'static str> {
    List::new(CREDENTIALS, ONE_WORD).rows().map(text_at)
}

fn named(list: List, name: &str) -> Option<(&'static str, Node)> {
    list.find(name).map(|row| (text_at(row), Node(size(row + 1))))
}

/// The row of this name, or of a pattern `PREFIX*` that it matches.
fn find_pattern(list: List, name: &str) -> Option<usize> {
    let matches = |row: &usize| {
        text_at(*row)
            .strip_suffix('*')
            .is_some_and(|prefix| name.starts_with(prefix))
    };
    list.find(name).or_else(|| list.rows().find(matches))
}

fn slots(at: usize) -> Vec<Slot> {
    let slot = |row| Slot {
        role: decode(Role::from_byte(byte(word(row), 0))),
        times: decode(Times::from_byte(byte(word(row), 1))),
        known: text_at(row + 1),
    };
    List::new(at, SLOT_WORDS).rows().map(slot).collect()
}

fn effects(at: usize) -> Vec<EffectSpec> {
    let effect = |row| EffectSpec {
        action: decode(Action::from_byte(byte(word(row), 0))),
        place: decode(Place::from_byte(byte(word(row), 1))),
        undo: decode(Undo::from_byte(byte(word(row), 2))),
        reach: decode(Reach::from_byte(byte(word(row), 3))),
    };
    List::new(at, ONE_WORD).rows().map(effect).collect()
}

fn role_plus_one(byte: u8) -> Option<Role> {
    byte.checked_sub(1).map(|byte| decode(Role::from_byte(byte)))
}

/// A word of the vocabulary that the build script wrote. A panic here leaves the question with the person.
fn decode<T>(word: Option<T>) -> T {
    word.unwrap_or_else(|| panic!("the compiled catalog holds a word that this version does not know"))
}

fn byte(word: u32, at: usize) -> u8 {
    word.to_le_bytes()[at]
}

fn word(at: usize) -> u32 {
    let bytes = &BYTES[at * 4..at * 4 + 4];
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn size(at: usize) -> usize {
    word(at) as usize
}

/// The text whose place the word at `at` tells.
fn text_at(at: usize) -> &'static str {
    let start = size(POOL) + size(at);
    let length = usize::from(u16::from_le_bytes([BYTES[start], BYTES[start + 1]]));
    std::str::from_utf8(&BYTES[start + 2..start + 2 + length]).unwrap_or_default()
}

#[cfg(test)]
mod tests;
