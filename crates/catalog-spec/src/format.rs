//! The TOML of `src/catalog/commands`: its types, its checks, and the diagnostics that say what to write instead.
//!
//! The `Raw` types are the file as typed; an `Entry` is one that was checked. Nothing unchecked leaves this module.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::{Diagnostic, Source};
use crate::witness::Witness;
use crate::words::{EffectSpec, Role, Style, Tier, Times};

/// The most values that one option takes as separate words.
const MAX_VALUES: usize = 4;

/// One command or subcommand.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Spellings that behave the same. A subcommand's may be several words.
    pub names: Vec<String>,
    pub about: String,
    /// `None`: no registry that the checks reach has the program. A subcommand has none of its own.
    pub witness: Option<Witness>,
    /// The programs that it runs itself, by name. Only the tests look at these.
    pub helpers: Vec<String>,
    pub style: Style,
    /// `-5` is an option.
    pub numeric: bool,
    /// No option can do harm, so a word of unknown value may stand where an option may.
    pub inert: bool,
    /// The options are accepted after a subcommand too.
    pub global: bool,
    pub options: Vec<Opt>,
    /// Files, by name and with blanks between, that hold code: at or above the current directory it runs this even where it
    /// only says what it is.
    pub obeys: String,
    pub operands: Vec<Slot>,
    /// What it does to the current directory where no operand names a path.
    pub here: Option<Role>,
    /// What its standard input is where no operand is a program or code.
    pub input: Option<Role>,
    pub effects: Vec<EffectSpec>,
    /// What it does instead where there is no operand.
    pub bare: Vec<EffectSpec>,
    pub whens: Vec<When>,
    /// The parser in Rust that reads all words.
    pub grammar: Option<String>,
    pub subs: Vec<Entry>,
    pub examples: Vec<Example>,
    pub file: String,
    pub line: usize,
}

/// One option, in all its spellings.
#[derive(Clone, Debug, Default)]
pub struct Opt {
    pub spellings: Vec<String>,
    /// The role of each value; a flag has none.
    pub values: Vec<Role>,
    /// The value may be left out, and is only understood glued to the option.
    pub optional: bool,
    /// Where nothing else is given, the command only says what it is.
    pub describes: bool,
    /// The only values that are understood: `#` for a number, `x*` for what begins with `x`, `@name` for a name or path
    /// without `:` and `=` that does not begin with `-` or `@`, `@word` for such a name that is no path, `@below` for a path below the current
    /// directory, `@project` for a path whose directories hold configuration or plugins that are run, `@repo` for `OWNER/NAME`, `@image` for an image that is not fetched from an unknown host, `@fields` for `NAME=VALUE,..` without `@`, `@field` for `KEY=VALUE` whose value does not begin with `@`, `@query` for such a one that holds no change by GraphQL, `@text` for any exact text that does not begin with `@`, `@list` for several of what is listed with commas between; empty where every value is.
    pub known: Vec<String>,
}

/// One place in an operand grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub role: Role,
    pub times: Times,
    /// The only words that are understood here, as for an option's value.
    pub known: Vec<String>,
}

/// What changes where one of some options is present.
#[derive(Clone, Debug)]
pub struct When {
    /// Indexes into `Entry::options`.
    pub options: Vec<usize>,
    /// Indexes into `Entry::options` too: where one of these is given, nothing changes.
    pub without: Vec<usize>,
    /// The operand grammar that replaces the entry's.
    pub operands: Option<Vec<Slot>>,
    /// The role that operands of the roles path-read and tree-visible play instead.
    pub reads: Option<Role>,
    pub here: Option<Role>,
    /// What its standard input is.
    pub input: Option<Role>,
    /// What is done in addition.
    pub effects: Vec<EffectSpec>,
}

/// A line of shell and what the whole judgement must say of it.
#[derive(Clone, Debug)]
pub struct Example {
    pub command: String,
    /// `None`: it must stay unproven.
    pub tier: Option<Tier>,
    pub line: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    options: Vec<RawOptions>,
    #[serde(default)]
    command: Vec<Spanned<RawCommand>>,
}

/// Options that several entries of the same file take, under a name for `with`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOptions {
    name: Spanned<String>,
    describes: Option<Spanned<String>>,
    flags: Option<Spanned<String>>,
    #[serde(default)]
    values: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCommand {
    name: Option<Spanned<String>>,
    names: Option<Vec<Spanned<String>>>,
    about: Option<String>,
    witness: Option<Spanned<String>>,
    #[serde(default)]
    helpers: String,
    style: Option<Spanned<String>>,
    #[serde(default)]
    numeric: bool,
    #[serde(default)]
    inert: bool,
    #[serde(default)]
    global: bool,
    with: Option<Spanned<String>>,
    describes: Option<Spanned<String>>,
    #[serde(default)]
    obeys: String,
    flags: Option<Spanned<String>>,
    #[serde(default)]
    values: BTreeMap<Spanned<String>, Spanned<String>>,
    operands: Option<Spanned<String>>,
    here: Option<Spanned<String>>,
    input: Option<Spanned<String>>,
    #[serde(default)]
    effects: Vec<Spanned<String>>,
    #[serde(default)]
    bare: Vec<Spanned<String>>,
    #[serde(default)]
    when: BTreeMap<Spanned<String>, RawWhen>,
    grammar: Option<Spanned<String>>,
    #[serde(default)]
    sub: Vec<Spanned<RawCommand>>,
    #[serde(default)]
    examples: BTreeMap<Spanned<String>, Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWhen {
    without: Option<Spanned<String>>,
    operands: Option<Spanned<String>>,
    #[serde(rename = "path-read")]
    reads: Option<Spanned<String>>,
    here: Option<Spanned<String>>,
    input: Option<Spanned<String>>,
    #[serde(default)]
    effects: Vec<Spanned<String>>,
}

/// Reads and checks every `*.toml` of a directory, in the order of their names.
///
/// # Errors
/// Every fault of every file, or that one cannot be read.
pub fn load_dir(dir: &Path) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    let unreadable = |path: &Path, error: std::io::Error| {
        vec![Diagnostic {
            file: path.display().to_string(),
            line: 1,
            message: error.to_string(),
        }]
    };
    let mut paths = Vec::new();
    for item in std::fs::read_dir(dir).map_err(|e| unreadable(dir, e))? {
        let path = item.map_err(|e| unreadable(dir, e))?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, e))?;
        files.push((path.display().to_string(), text));
    }
    parse_files(&files)
}

/// Checks files given as name and text.
///
/// # Errors
/// Every fault of every file.
pub fn parse_files(files: &[(String, String)]) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut faults = Vec::new();
    for (file, text) in files {
        let mut source = Source::new(file, text);
        if let Some(raw) = source.read::<RawFile>() {
            let mut checker = Checker {
                source: &mut source,
                sets: &raw.options,
            };
            for command in &raw.command {
                let entry = checker.entry(command, None);
                entries.push(entry);
            }
        }
        faults.append(&mut source.faults);
    }
    faults.extend(duplicates(&entries));
    if faults.is_empty() { Ok(entries) } else { Err(faults) }
}

/// A fault for each name that an earlier entry has already.
fn duplicates(entries: &[Entry]) -> Vec<Diagnostic> {
    let mut first: BTreeMap<&str, &Entry> = BTreeMap::new();
    let mut faults = Vec::new();
    for entry in entries {
        for name in &entry.names {
            if let Some(earlier) = first.insert(name, entry) {
                faults.push(Diagnostic {
                    file: entry.file.clone(),
                    line: entry.line,
                    message: format!(
                        "`{name}` has an entry already at {}:{}; keep one",
                        earlier.file, earlier.line
                    ),
                });
            }
        }
    }
    faults
}

struct Checker<'a, 'b> {
    source: &'a mut Source<'b>,
    sets: &'a [RawOptions],
}

impl Checker<'_, '_> {
    /// Checks one command, or one subcommand of `parent`.
    fn entry(&mut self, spanned: &Spanned<RawCommand>, parent: Option<&str>) -> Entry {
        let raw = spanned.get_ref();
        let names = self.names(spanned);
        let title = names.first().cloned().unwrap_or_default();
        if raw.about.is_none() && parent.is_none() {
            let message = format!("`{title}` has no `about`; write what it does in a few words");
            self.source.fault(&spanned.span(), message);
        }
        let witness = self.witness(raw.witness.as_ref(), parent);
        let style = self.style(raw.style.as_ref());
        let options = self.options(raw, style);
        let operands = self.operands(raw.operands.as_ref(), style);
        let entry = Entry {
            witness,
            helpers: raw.helpers.split_whitespace().map(str::to_owned).collect(),
            style,
            numeric: raw.numeric,
            inert: raw.inert,
            global: raw.global,
            obeys: raw.obeys.clone(),
            here: self.one_role(raw.here.as_ref()),
            input: self.one_role(raw.input.as_ref()),
            effects: self.effects(&raw.effects),
            bare: self.effects(&raw.bare),
            whens: self.whens(raw, &options, style),
            grammar: raw.grammar.as_ref().map(|g| g.get_ref().clone()),
            subs: self.subs(spanned, parent, &title),
            examples: self.examples(&raw.examples),
            about: raw.about.clone().unwrap_or_default(),
            file: self.source.file.to_owned(),
            line: self.source.line(spanned.span().start),
            names,
            options,
            operands,
        };
        if let (Some(grammar), false) = (&raw.grammar, entry.options.is_empty() && entry.operands.is_empty()) {
            let message = format!(
                "the grammar `{}` reads all words of `{title}`; leave out flags, values and operands",
                grammar.get_ref()
            );
            self.source.fault(&grammar.span(), message);
        }
        entry
    }

    fn names(&mut self, spanned: &Spanned<RawCommand>) -> Vec<String> {
        let raw = spanned.get_ref();
        let given: Vec<&Spanned<String>> = match (&raw.name, &raw.names) {
            (Some(name), None) => vec![name],
            (None, Some(names)) if !names.is_empty() => names.iter().collect(),
            (Some(_) | None, Some(_)) | (None, None) => {
                self.source.fault(
                    &spanned.span(),
                    "write either `name = \"..\"` or `names = [\"..\", \"..\"]`",
                );
                Vec::new()
            }
        };
        for name in &given {
            let text = name.get_ref();
            if text.split(' ').any(str::is_empty) || text.contains('/') {
                let message = format!("`{text}` is no name; write words with single spaces, without a directory");
                self.source.fault(&name.span(), message);
            }
        }
        given.into_iter().map(|n| n.get_ref().clone()).collect()
    }

    fn witness(&mut self, witness: Option<&Spanned<String>>, parent: Option<&str>) -> Option<Witness> {
        let text = witness?;
        if let Some(parent) = parent {
            let message = format!("a subcommand has the witness of its command; write it at `{parent}`");
            self.source.fault(&text.span(), message);
        }
        match Witness::parse(text.get_ref()) {
            Ok(witness) => Some(witness),
            Err(message) => {
                self.source.fault(&text.span(), message);
                None
            }
        }
    }

    fn style(&mut self, style: Option<&Spanned<String>>) -> Style {
        let Some(text) = style else { return Style::Gnu };
        Style::parse(text.get_ref()).unwrap_or_else(|| {
            let message = format!(
                "`{}` is no style; write one of: {}",
                text.get_ref(),
                spelled(Style::ALL)
            );
            self.source.fault(&text.span(), message);
            Style::Gnu
        })
    }

    fn options(&mut self, raw: &RawCommand, style: Style) -> Vec<Opt> {
        let mut options = self.listed(raw.describes.as_ref(), raw.flags.as_ref(), &raw.values, style);
        let Some(with) = &raw.with else { return options };
        for name in with.get_ref().split_whitespace() {
            let Some(set) = self.sets.iter().find(|set| set.name.get_ref() == name) else {
                let message = format!("no `[[options]]` of this file has the name `{name}`");
                self.source.fault(&with.span(), message);
                continue;
            };
            // What the entry says itself holds.
            let known = |spelling: &String| options.iter().any(|o: &Opt| o.spellings.contains(spelling));
            let mut more = self.listed(set.describes.as_ref(), set.flags.as_ref(), &set.values, style);
            more.iter_mut()
                .for_each(|option| option.spellings.retain(|s| !known(s)));
            options.extend(more.into_iter().filter(|option| !option.spellings.is_empty()));
        }
        options
    }

    /// The options of a table's `describes`, `flags` and `values`.
    fn listed(
        &mut self,
        describes: Option<&Spanned<String>>,
        flags: Option<&Spanned<String>>,
        values: &BTreeMap<Spanned<String>, Spanned<String>>,
        style: Style,
    ) -> Vec<Opt> {
        let mut options: Vec<Opt> = Vec::new();
        for (list, describes) in [(describes, true), (flags, false)] {
            let Some(list) = list else { continue };
            for flag in list.get_ref().split_whitespace() {
                let option = Opt {
                    describes,
                    ..Opt::default()
                };
                self.spellings(&mut options, style, list, &[flag], option);
            }
        }
        for (spellings, roles) in values {
            let words: Vec<&str> = spellings.get_ref().split_whitespace().collect();
            let option = self.value_roles(roles);
            self.spellings(&mut options, style, spellings, &words, option);
        }
        options
    }

    fn value_roles(&mut self, text: &Spanned<String>) -> Opt {
        let (roles, optional) = match text.get_ref().strip_suffix('?') {
            Some(roles) => (roles, true),
            None => (text.get_ref().as_str(), false),
        };
        let mut option = Opt {
            optional,
            ..Opt::default()
        };
        for word in roles.split_whitespace() {
            let (role, known) = self.role_and_known(text, word);
            option.values.extend(role);
            option.known.extend(known);
        }
        let count = option.values.len();
        if count > MAX_VALUES || (count > 1 && (optional || !option.known.is_empty())) {
            let message = format!(
                "`{}` names too many values; at most {MAX_VALUES}, and one where it is optional or its words are listed",
                text.get_ref()
            );
            self.source.fault(&text.span(), message);
        }
        if text.get_ref().trim().is_empty() {
            let message = "an option under `values` has a role; list it in `flags` if it takes no value";
            self.source.fault(&text.span(), message);
        }
        option
    }

    /// Adds an option in its spellings.
    fn spellings(
        &mut self,
        options: &mut Vec<Opt>,
        style: Style,
        at: &Spanned<String>,
        spellings: &[&str],
        option: Opt,
    ) {
        for spelling in spellings {
            if let Some(message) = misspelt(spelling, style) {
                self.source.fault(&at.span(), message);
            }
            if options.iter().any(|o| o.spellings.iter().any(|s| s == spelling)) {
                let message = format!("`{spelling}` is listed twice; keep it once, as a flag or with its value's role");
                self.source.fault(&at.span(), message);
            }
        }
        options.push(Opt {
            spellings: spellings.iter().map(|&s| s.to_owned()).collect(),
            ..option
        });
    }

    /// `role`, or `role=word,word` where only these words are understood.
    fn role_and_known(&mut self, at: &Spanned<String>, word: &str) -> (Option<Role>, Vec<String>) {
        let (role, known) = word.split_once('=').unwrap_or((word, ""));
        let known = known.split(',').filter(|w| !w.is_empty()).map(str::to_owned).collect();
        (self.role(at, role), known)
    }

    fn role(&mut self, at: &Spanned<String>, word: &str) -> Option<Role> {
        let role = Role::parse(word);
        if role.is_none() {
            let message = format!("`{word}` is no role; write one of: {}", spelled(Role::ALL));
            self.source.fault(&at.span(), message);
        }
        role
    }

    fn one_role(&mut self, text: Option<&Spanned<String>>) -> Option<Role> {
        text.and_then(|text| self.role(text, text.get_ref()))
    }

    fn operands(&mut self, text: Option<&Spanned<String>>, style: Style) -> Vec<Slot> {
        let Some(text) = text else { return Vec::new() };
        let mut slots = Vec::new();
        for word in text.get_ref().split_whitespace() {
            let (name, times) = match word.char_indices().last() {
                Some((at, '?' | '*' | '+')) => (&word[..at], Times::parse(&word[at..]).unwrap_or(Times::One)),
                Some(_) | None => (word, Times::One),
            };
            let (role, known) = self.role_and_known(text, name);
            slots.extend(role.map(|role| Slot { role, times, known }));
        }
        if let Some(message) = ambiguous(&slots, style) {
            self.source.fault(&text.span(), message);
        }
        slots
    }

    fn effects(&mut self, texts: &[Spanned<String>]) -> Vec<EffectSpec> {
        let mut effects = Vec::new();
        for text in texts {
            match EffectSpec::parse(text.get_ref()) {
                Ok(effect) => effects.push(effect),
                Err(error) => {
                    let message =
                        format!("{error}; write \"ACTION [PLACE] [UNDO] [REACH]\", as in \"send shared forever\"");
                    self.source.fault(&text.span(), message);
                }
            }
        }
        effects
    }

    fn whens(&mut self, raw: &RawCommand, options: &[Opt], style: Style) -> Vec<When> {
        let mut whens = Vec::new();
        for (spellings, when) in &raw.when {
            let without = when.without.as_ref();
            whens.push(When {
                options: self.named(spellings, options),
                without: without.map_or_else(Vec::new, |w| self.named(w, options)),
                operands: when.operands.as_ref().map(|o| self.operands(Some(o), style)),
                reads: self.one_role(when.reads.as_ref()),
                here: self.one_role(when.here.as_ref()),
                input: self.one_role(when.input.as_ref()),
                effects: self.effects(&when.effects),
            });
        }
        whens
    }

    /// Indexes into `options` of those that are named.
    fn named(&mut self, spellings: &Spanned<String>, options: &[Opt]) -> Vec<usize> {
        let mut indexes = Vec::new();
        for spelling in spellings.get_ref().split_whitespace() {
            match options.iter().position(|o| o.spellings.iter().any(|s| s == spelling)) {
                Some(index) if indexes.contains(&index) => {}
                Some(index) => indexes.push(index),
                None => {
                    let message =
                        format!("`when` names `{spelling}`, which no option defines; add it to `flags` or `values`");
                    self.source.fault(&spellings.span(), message);
                }
            }
        }
        self.complete(spellings, options, &indexes);
        indexes
    }

    /// A `when` must name an option in all its spellings: a key of `values` that lists several options is found here.
    fn complete(&mut self, at: &Spanned<String>, options: &[Opt], indexes: &[usize]) {
        for &index in indexes {
            let named = |spelling: &String| at.get_ref().split_whitespace().any(|s| s == spelling);
            if let Some(missing) = options[index].spellings.iter().find(|s| !named(s)) {
                let message = format!(
                    "`when` does not name `{missing}`, which `values` gives as a spelling of the same option; name it, or give \
                     each option a line of its own"
                );
                self.source.fault(&at.span(), message);
            }
        }
    }

    fn subs(&mut self, spanned: &Spanned<RawCommand>, parent: Option<&str>, title: &str) -> Vec<Entry> {
        let raw = spanned.get_ref();
        if let (Some(sub), Some(parent)) = (raw.sub.first(), parent) {
            let message = format!("a subcommand has no subcommands; write `name = \"{title} ..\"` below `{parent}`");
            self.source.fault(&sub.span(), message);
            return Vec::new();
        }
        if let (Some(operands), false) = (&raw.operands, raw.sub.is_empty()) {
            let message = format!("`{title}` has subcommands; give operands to these, not to it");
            self.source.fault(&operands.span(), message);
        }
        let subs: Vec<Entry> = raw.sub.iter().map(|s| self.entry(s, Some(title))).collect();
        self.source.faults.extend(duplicates(&subs));
        subs
    }

    fn examples(&mut self, raw: &BTreeMap<Spanned<String>, Spanned<String>>) -> Vec<Example> {
        let mut examples = Vec::new();
        for (command, expected) in raw {
            let tier = Tier::parse(expected.get_ref());
            if tier.is_none() && expected.get_ref() != "unproven" {
                let message = format!(
                    "`{}` is no expectation; write one of: {}, unproven",
                    expected.get_ref(),
                    spelled(Tier::ALL)
                );
                self.source.fault(&expected.span(), message);
            }
            examples.push(Example {
                command: command.get_ref().clone(),
                tier,
                line: self.source.line(command.span().start),
            });
        }
        examples
    }
}

/// Why this spelling cannot be an option in this style.
fn misspelt(spelling: &str, style: Style) -> Option<String> {
    let plus = spelling.starts_with('+');
    if plus && style != Style::Shell {
        return Some(format!("`{spelling}` is an option only with style = \"shell\""));
    }
    let body = spelling.strip_prefix(['-', '+']).unwrap_or_default();
    if body.is_empty() || body == "-" || spelling.contains('=') {
        return Some(format!(
            "`{spelling}` is no option; write it exactly as typed, without `=` and value"
        ));
    }
    let one_letter = body.chars().count() == 1;
    match style {
        Style::None => Some(format!(
            "`{spelling}` cannot be read with style = \"none\"; choose another style"
        )),
        Style::Dash => None,
        Style::Gnu | Style::Posix | Style::Shell if one_letter || (body.starts_with('-') && !plus) => None,
        Style::Gnu | Style::Posix | Style::Shell => Some(format!(
            "`{spelling}` would be read as a cluster of letters; write `-x`, `--long`, or style = \"dash\""
        )),
    }
}

/// Why these operands cannot be told apart.
fn ambiguous(slots: &[Slot], style: Style) -> Option<String> {
    let open = |s: &&Slot| matches!(s.times, Times::Any | Times::Many);
    if slots.iter().filter(open).count() > 1 {
        return Some("only one operand may have `*` or `+`, or they cannot be told apart".to_owned());
    }
    let command = slots
        .iter()
        .position(|s| matches!(s.role, Role::Command | Role::Package))?;
    if command + 1 != slots.len() || matches!(slots[command].times, Times::Any | Times::Many) {
        return Some("`command` takes all words that are left; write it last, without `*` or `+`".to_owned());
    }
    match style {
        Style::Gnu | Style::Dash => {
            Some("options after the command would be its own; write style = \"posix\" with `command`".to_owned())
        }
        Style::Posix | Style::Shell | Style::None => None,
    }
}

fn spelled(words: &[impl std::fmt::Display]) -> String {
    words.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
