//! How the compiled catalog lies in its bytes: agreed here between the writer (`compile`) and the reader (the hook).
//!
//! A table of little-endian 32-bit words, then a pool of text. Offsets count words from the start; a text is its offset
//! in bytes from the start of the pool, where two bytes of length stand before it. Offset 0 is the empty text. There
//! are no pointers, so the bytes need no relocation and nothing is parsed before it is looked up.

/// The first word: tells a catalog of this layout from anything else.
pub const MAGIC: u32 = 0x3143_5343;

/// Where in the header each list (its count, then its offset) and the pool (its offset in bytes) stand.
pub const COMMANDS: usize = 1;
pub const VARIABLES: usize = 3;
pub const PRINTABLE: usize = 5;
pub const CREDENTIALS: usize = 7;
pub const SHAPES: usize = 9;
pub const POOL: usize = 11;
pub const HEADER_WORDS: usize = 12;

/// A named row: the name, then the offset of its node. Sorted by name.
pub const NAMED_WORDS: usize = 2;

/// A node is one command or subcommand: single words first, then lists.
pub const NODE_ABOUT: usize = 0;
pub const NODE_GRAMMAR: usize = 1;
/// The style's byte, and above it the `BIT_`s.
pub const NODE_BITS: usize = 2;
/// The bytes of two roles, each plus one, 0 for none: what it does to the current directory, what its standard input is.
pub const NODE_HERE: usize = 3;
pub const NODE_OPTIONS: usize = 4;
pub const NODE_OPERANDS: usize = 6;
pub const NODE_EFFECTS: usize = 8;
pub const NODE_BARE: usize = 10;
pub const NODE_WHENS: usize = 12;
pub const NODE_SUBS: usize = 14;
/// A text of the files by which it runs code even where it only says what it is.
pub const NODE_OBEYS: usize = 16;
pub const NODE_WORDS: usize = 17;

pub const BIT_NUMERIC: u32 = 1 << 8;
pub const BIT_INERT: u32 = 1 << 9;
pub const BIT_GLOBAL: u32 = 1 << 10;

/// An option's row: the spelling; then its number (spellings of one option share it) shifted by two, above the two
/// `OPTION_` bits, and from `OPTION_SHAPE` on the number of its shape. Sorted by spelling.
pub const OPTION_WORDS: usize = 2;
pub const OPTION_SHAPE: u32 = 16;
/// The value may be left out.
pub const OPTION_OPTIONAL: u32 = 1;
/// Given alone, the command only says what it is.
pub const OPTION_DESCRIBES: u32 = 2;

/// A shape, which many options share: the roles of the values, one byte each, plus one, the first in the lowest byte; the
/// values that are known (a text of words, `#` for a number, `x*` for a beginning, `*x` for an end, `@name` and its like;
/// empty for any).
pub const SHAPE_WORDS: usize = 2;

/// What changes with an option: the options' numbers (a list), whether it has operands of its own, these (a list), the
/// effects it adds (a list), its `here` and `input` as in a node, the role that path-read becomes, the options without which it holds (a list).
pub const WHEN_OPTIONS: usize = 0;
pub const WHEN_HAS_OPERANDS: usize = 2;
pub const WHEN_OPERANDS: usize = 3;
pub const WHEN_EFFECTS: usize = 5;
pub const WHEN_HERE: usize = 7;
pub const WHEN_READS: usize = 8;
pub const WHEN_WITHOUT: usize = 9;
pub const WHEN_WORDS: usize = 11;

/// An operand's row: the role's byte and above it the byte of `Times`; the words that are known, as for an option.
pub const SLOT_WORDS: usize = 2;

/// An effect's word: the bytes of action, place, loss and reach, the first in the lowest.
pub const ONE_WORD: usize = 1;

/// A variable's row: the name (a trailing `*` stands for any rest), the byte of its `VariableRule`, a text.
pub const VARIABLE_WORDS: usize = 3;
