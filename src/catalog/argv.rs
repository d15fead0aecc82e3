//! Reads a command's words by its entry: options by exact spelling and arity, then operands by their grammar.
//!
//! The grammar is positive. What an entry does not list is a doubt, never a guess; so is a word of unknown value
//! wherever one of its values would be read in another way.

use catalog_spec::{Style, Times};

use super::blob::{Node, Opt, Slot, When};
use super::{Inner, Misread, Reading, Role, Use, grammar};
use crate::shell::{Arg, Span, Value, is_identifier};

/// Reads `args`, whose first word is the name that `node` is the entry of.
pub fn read(node: Node, args: &[Arg]) -> Reading {
    let mut parser = Parser {
        args,
        at: 1,
        nodes: vec![node],
        present: Vec::new(),
        operands: Vec::new(),
        ended: false,
        effects_at: 0,
        describing: true,
        reading: Reading::default(),
    };
    parser.command();
    parser.reading
}

/// How a word that may be an option is read, apart from the text of its value.
#[derive(Clone, PartialEq, Eq)]
struct Shape {
    /// Each option in it, with the level of the node that defines it.
    options: Vec<(usize, Opt)>,
    /// Where in the word the last option's value begins, if it stands there.
    value_at: Option<usize>,
}

struct Parser<'a> {
    args: &'a [Arg],
    at: usize,
    /// The command and, once found, its subcommand.
    nodes: Vec<Node>,
    /// The options that were given: the level of the node, the option's number.
    present: Vec<(usize, u32)>,
    operands: Vec<&'a Arg>,
    /// No word from here on is an option.
    ended: bool,
    /// Where in the reading the effects of the innermost node begin.
    effects_at: usize,
    /// Every option so far stands behind the last subcommand and, given alone, makes it say what it is.
    describing: bool,
    reading: Reading,
}

impl<'a> Parser<'a> {
    fn command(&mut self) {
        let Some(node) = self.enter() else { return };
        while let Some(arg) = self.next() {
            self.word(node, arg);
        }
        self.finish(node);
    }

    /// Takes up a node: its text and effects; finds its subcommand, if it has some. `None` where no operands are to be
    /// read: a grammar in Rust has read them, or what the subcommand is is not known.
    fn enter(&mut self) -> Option<Node> {
        let node = self.node();
        self.effects_at = self.reading.effects.len();
        self.reading.effects.extend(node.effects());
        if !node.about().is_empty() {
            self.reading.about = node.about();
        }
        if let Some(name) = node.grammar() {
            match grammar::whole(name) {
                Some(read) => read(&self.args[self.at - 1..], &mut self.reading),
                None => self.doubt(self.args[0].span, format!("the grammar `{name}` is not known")),
            }
            return None;
        }
        if node.has_subs() {
            self.subcommand(node)
        } else {
            Some(node)
        }
    }

    /// Reads the options that stand before the subcommand, and the subcommand's name.
    fn subcommand(&mut self, node: Node) -> Option<Node> {
        while let Some(arg) = self.next() {
            if self.ended || !arg.value.may_be_option() {
                self.at -= 1;
                return self.named(node);
            }
            self.word(node, arg);
            if !self.operands.is_empty() {
                self.doubt(arg.span, "which subcommand this is is not known".to_owned());
                return None;
            }
        }
        Some(node)
    }

    /// Finds the longest subcommand whose words stand here.
    fn named(&mut self, node: Node) -> Option<Node> {
        let mut name = String::new();
        let mut found = None;
        for (at, arg) in self.args.iter().enumerate().skip(self.at) {
            if !name.is_empty() {
                name.push(' ');
            }
            if !node.sub_begins(&name) {
                break;
            }
            let Some(word) = arg.value.literal() else {
                let begins = |text: &String| node.sub_begins(&format!("{name}{text}"));
                let is_operand = match &arg.value {
                    Value::OneOf(texts) => !texts.iter().any(begins),
                    Value::Unknown { prefix, single: true } => !begins(prefix),
                    _ => false,
                };
                if found.is_some() && is_operand {
                    break;
                }
                self.doubt(arg.span, "which subcommand this is is not known".to_owned());
                return None;
            };
            name.push_str(word);
            found = node.sub(&name).map(|(name, sub)| (name, sub, at + 1)).or(found);
        }
        let Some((name, sub, end)) = found else {
            let arg = &self.args[self.at];
            let word = arg.value.literal().unwrap_or("this");
            let why = format!("`{word}` is not a subcommand that is known of {}", self.name());
            self.doubt(arg.span, why);
            return None;
        };
        self.at = end;
        self.ended = false;
        self.reading.subcommand = name;
        self.nodes.push(sub);
        self.describing = self.present.is_empty();
        self.enter()
    }

    fn next(&mut self) -> Option<&'a Arg> {
        let arg = self.args.get(self.at)?;
        self.at += 1;
        Some(arg)
    }

    /// The innermost node.
    fn node(&self) -> Node {
        self.nodes[self.nodes.len() - 1]
    }

    /// The command's name and its subcommand, as an entry spells them.
    fn name(&self) -> String {
        let name = self
            .args
            .first()
            .and_then(|a| a.value.literal())
            .unwrap_or("this command");
        format!("{name} {}", self.reading.subcommand).trim_end().to_owned()
    }

    fn doubt(&mut self, span: Span, why: String) {
        self.reading.doubts.push(Misread { why, span });
    }

    /// Reads one word that is an option or an operand.
    fn word(&mut self, node: Node, arg: &'a Arg) {
        if self.ended || node.style() == Style::None {
            return self.operands.push(arg);
        }
        match &arg.value {
            Value::Literal(text) => self.literal(node, arg, text),
            Value::OneOf(texts) => self.one_of(node, arg, texts),
            Value::Under { directory, .. } => self.unknown(node, arg, directory, true),
            Value::Numbered { before, .. } => self.unknown(node, arg, before, true),
            Value::Unknown { prefix, single } => self.unknown(node, arg, prefix, *single),
        }
    }

    fn literal(&mut self, node: Node, arg: &'a Arg, text: &str) {
        if text == "--" && node.style() != Style::Dash {
            self.ended = true;
        } else if text == "-" && node.style() == Style::Shell {
            self.doubt(arg.span, "a lone `-` ends the options of a shell".to_owned());
        } else if !looks_like_option(node, text) {
            self.operand(node, arg);
        } else if node.numeric() && is_number(text) {
            // Nothing is opened, run or changed by a number.
        } else {
            match self.shape(text) {
                Ok(shape) => self.option(&shape, arg),
                Err(why) => {
                    self.describing = false;
                    self.doubt(arg.span, why);
                }
            }
        }
    }

    /// Every alternative must be read in the same way.
    fn one_of(&mut self, node: Node, arg: &'a Arg, texts: &[String]) {
        if texts.iter().all(|t| !looks_like_option(node, t)) && !self.is_shell_dash(node, texts) {
            return self.operand(node, arg);
        }
        let shapes: Option<Vec<Shape>> = texts
            .iter()
            .map(|t| {
                (looks_like_option(node, t) && t != "--")
                    .then(|| self.shape(t).ok())
                    .flatten()
            })
            .collect();
        match shapes.as_deref() {
            Some([first, rest @ ..]) if rest.iter().all(|s| s == first) => {
                let shape = first.clone();
                self.option(&shape, arg);
            }
            Some(_) | None => self.doubt(arg.span, "what this word is differs from turn to turn".to_owned()),
        }
    }

    fn is_shell_dash(&self, node: Node, texts: &[String]) -> bool {
        node.style() == Style::Shell && texts.iter().any(|t| t == "-")
    }

    fn unknown(&mut self, node: Node, arg: &'a Arg, prefix: &str, single: bool) {
        if single && self.glued_unknown(arg, prefix) {
            return;
        }
        let may_be_option = arg.value.may_be_option() || looks_like_option(node, prefix);
        if may_be_option && !node.inert() {
            self.doubt(
                arg.span,
                "this word is not known and could be read as an option".to_owned(),
            );
        }
        self.operand(node, arg);
    }

    /// `--option=UNKNOWN`, or `-oX` and something unknown after it: the option is known, its value is not.
    fn glued_unknown(&mut self, arg: &'a Arg, prefix: &str) -> bool {
        let Ok(shape) = self.shape(prefix) else { return false };
        let glued = shape.value_at.is_some();
        if glued {
            self.option(&shape, arg);
        }
        glued
    }

    fn operand(&mut self, node: Node, arg: &'a Arg) {
        self.operands.push(arg);
        if matches!(node.style(), Style::Posix | Style::Shell) {
            self.ended = true;
        }
    }

    /// Splits a word that looks like an option into the options it holds.
    fn shape(&self, text: &str) -> Result<Shape, String> {
        let long = text.starts_with("--");
        if long || self.node().style() == Style::Dash {
            self.whole_word(text)
        } else {
            self.cluster(text)
        }
    }

    /// `--option`, `--option=value`.
    fn whole_word(&self, text: &str) -> Result<Shape, String> {
        if let Some(option) = self.find(text) {
            return Ok(Shape {
                options: vec![option],
                value_at: None,
            });
        }
        let Some((spelling, _)) = text.split_once('=') else {
            return Err(self.not_known(text));
        };
        match self.find(spelling) {
            Some(option) if option.1.optional || option.1.words() == 1 => Ok(Shape {
                options: vec![option],
                value_at: Some(spelling.len() + 1),
            }),
            Some(_) => Err(format!("`{spelling}` takes no value after `=`")),
            None => Err(self.not_known(spelling)),
        }
    }

    /// `-abc`: letters without a value, then perhaps one with; after it the rest of the word is the value.
    fn cluster(&self, text: &str) -> Result<Shape, String> {
        let sign = text.get(..1).unwrap_or_default();
        let mut shape = Shape {
            options: Vec::new(),
            value_at: None,
        };
        for (at, letter) in text.char_indices().skip(1) {
            let spelling = format!("{sign}{letter}");
            let option = self.find(&spelling).ok_or_else(|| self.not_known(&spelling))?;
            shape.options.push(option);
            let rest = at + letter.len_utf8();
            if option.1.takes_value() && rest < text.len() {
                if self.node().style() == Style::Shell || (!option.1.optional && option.1.words() != 1) {
                    return Err(format!("what stands after `{spelling}` in one word is not understood"));
                }
                shape.value_at = Some(rest);
                break;
            }
        }
        Ok(shape)
    }

    /// The option of this spelling, of the innermost node or of one whose options hold everywhere.
    fn find(&self, spelling: &str) -> Option<(usize, Opt)> {
        let last = self.nodes.len() - 1;
        (0..=last)
            .rev()
            .filter(|&level| level == last || self.nodes[level].global())
            .find_map(|level| Some((level, self.nodes[level].option(spelling)?)))
    }

    fn not_known(&self, spelling: &str) -> String {
        format!("`{spelling}` is not an option that is known of {}", self.name())
    }

    /// Takes the options of a word and, where the last one wants them, the words that are its values.
    fn option(&mut self, shape: &Shape, arg: &'a Arg) {
        // Behind a subcommand help is still asked for; what the version is, only some programs say there.
        let innermost = self.nodes.len() - 1;
        let is_help = arg
            .value
            .literal()
            .is_some_and(|word| ["-h", "-help", "--help"].contains(&word));
        let describes = |(level, option): &(usize, Opt)| option.describes && (*level == innermost || is_help);
        self.describing &= shape.options.iter().all(describes);
        self.present
            .extend(shape.options.iter().map(|(level, o)| (*level, o.id)));
        let Some((_, last)) = shape.options.last() else { return };
        if let Some(at) = shape.value_at {
            let value = Arg {
                value: arg.value.without_prefix(at),
                span: arg.span,
            };
            for role in last.roles() {
                self.value(role, last.known, &value);
            }
        } else if !last.optional {
            self.separate_values(*last, arg);
        }
    }

    fn separate_values(&mut self, option: Opt, arg: &Arg) {
        for role in option.roles() {
            if matches!(role, Role::Command | Role::Module) {
                let rest = self.args.get(self.at..).unwrap_or_default();
                self.at = self.args.len();
                if let (Role::Module, Some(arg)) = (role, rest.first()) {
                    self.reading.uses.push(Use { role, arg: arg.clone() });
                }
                return self.inner_command(&rest.iter().collect::<Vec<_>>(), arg.span);
            }
            let Some(value) = self.next() else {
                self.doubt(arg.span, "the option's value is missing".to_owned());
                return;
            };
            if is_many(value) && !self.node().inert() {
                self.doubt(
                    value.span,
                    "this may be none or several words, so the words after it are unclear".to_owned(),
                );
            }
            self.value(role, option.known, value);
        }
    }

    fn value(&mut self, role: Role, known: &str, value: &Arg) {
        if role == Role::PathWrite && value.value.literal() == Some("-") {
            return; // Standard output.
        }
        if role != Role::Directory {
            self.role(role, known, value);
        } else if self.reading.directory.replace(value.clone()).is_some() {
            // Where it acts is no word among its others: those are read from there, this one from where it starts.
            self.doubt(value.span, "the directory is changed twice".to_owned());
        }
    }

    /// Records what a word is for. `known` lists the only words that are understood; empty: all are.
    fn role(&mut self, role: Role, known: &str, arg: &Arg) {
        if !is_known(known, &arg.value) {
            let why = match arg.value.literal() {
                Some(word) => format!("`{word}` is not on the list of what {} may be given here", self.name()),
                None => format!("what {} is given here is not known", self.name()),
            };
            self.doubt(arg.span, why);
        }
        if known.split(' ').any(|word| word == "@project") {
            self.reading.beside.push(arg.clone());
        }
        match role {
            Role::Plain => {}
            Role::Shell | Role::Code | Role::Python | Role::JavaScript => self.reading.inner.push(Inner::Code {
                role,
                code: arg.clone(),
                words: None,
            }),
            Role::Sed | Role::Awk | Role::Jq | Role::Template | Role::Find | Role::Sql | Role::Sqlite => {
                grammar::embedded(role, arg, &mut self.reading)
            }
            Role::Command | Role::Package => self.inner_command(&[arg], arg.span),
            Role::Module => {
                self.reading.uses.push(Use { role, arg: arg.clone() });
                self.inner_command(&[arg], arg.span);
            }
            Role::Remote | Role::RemoteShell => self.elsewhere(role, &[arg], None),
            Role::EnvAssign if !is_assignable(&arg.value) => {
                self.doubt(arg.span, "this is not the plain name of a variable".to_owned());
            }
            Role::PathRead
            | Role::TreeRead
            | Role::TreeVisible
            | Role::TreeFilter
            | Role::PathInspect
            | Role::PathWrite
            | Role::PathDelete
            | Role::PathMode
            | Role::Permissions
            | Role::Mount
            | Role::Directory
            | Role::Config
            | Role::Program
            | Role::Host
            | Role::Url
            | Role::Secret
            | Role::Env
            | Role::EnvAssign => self.reading.uses.push(Use { role, arg: arg.clone() }),
        }
    }

    /// Gives the operands their roles, once all words are read.
    fn finish(&mut self, node: Node) {
        if self.describing && self.operands.is_empty() && !self.present.is_empty() {
            self.reading.obeys = node.obeys();
            return self.reading.effects.truncate(self.effects_at);
        }
        let Changed {
            slots: changed,
            here,
            input,
        } = self.changed_by_options(node);
        let operands = std::mem::take(&mut self.operands);
        let bare = if changed.is_some() || self.only_describes_itself() {
            Vec::new()
        } else {
            node.bare()
        };
        let own_input = node.input().filter(|_| changed.is_none());
        let slots = changed.unwrap_or_else(|| node.operands());
        let names_no_code = operands.len() <= slots.iter().take_while(|slot| !is_code(slot.role)).count();
        let is_dash = operands.first().is_some_and(|arg| arg.value.literal() == Some("-"));
        let dash = is_dash && slots.first().is_some_and(|slot| slot.role == Role::Program);
        if !self.only_describes_itself() {
            self.reading.input = input.or(own_input.filter(|_| names_no_code || dash));
        }
        let nothing_to_do = self.reading.input.is_some() && dash
            || operands.is_empty()
                && (!bare.is_empty() || self.reading.input.is_some() || self.only_describes_itself());
        if !bare.is_empty() && operands.is_empty() {
            let own = self.effects_at..self.effects_at + node.effects().len();
            self.reading.effects.splice(own, bare);
        } else if operands.iter().all(|arg| is_many(arg)) {
            self.reading.effects.extend(bare);
        }
        self.reject_split_subcommand(&operands);
        let before = self.reading.uses.len();
        if !nothing_to_do {
            self.assign(&slots, &operands);
        }
        let named = self.reading.uses[before..]
            .iter()
            .any(|u| is_path(u.role) && !is_many(&u.arg));
        if let (Some(role), false) = (here, named) {
            self.here(role);
        }
        // An option that does not make it describe itself need not keep it from doing something.
        if node.has_subs() && self.reading.effects.len() == self.effects_at {
            let why = format!("what {} does without a subcommand is not known", self.name());
            self.doubt(self.args[0].span, why);
        }
    }

    /// What the options given change.
    fn changed_by_options(&mut self, node: Node) -> Changed {
        let mut slots: Option<Vec<Slot>> = None;
        let mut input = None;
        let mut reads: Option<Role> = None;
        let mut here = node.here();
        for when in self.whens_that_hold() {
            here = when.here().or(here);
            input = when.input().or(input);
            if let Some(role) = when.reads()
                && reads.replace(role).is_some_and(|earlier| earlier != role)
            {
                self.doubt(
                    self.args[0].span,
                    "two options change what the paths are for".to_owned(),
                );
            }
            if let Some(changed) = when.operands()
                && slots.replace(changed.clone()).is_some_and(|earlier| earlier != changed)
            {
                self.doubt(
                    self.args[0].span,
                    "two options change what the operands mean".to_owned(),
                );
            }
        }
        let Some(role) = reads else {
            return Changed { slots, here, input };
        };
        let mut slots = slots.unwrap_or_else(|| node.operands());
        for slot in &mut slots {
            if matches!(slot.role, Role::PathRead | Role::TreeVisible) {
                slot.role = role;
            }
        }
        Changed {
            slots: Some(slots),
            here,
            input,
        }
    }

    /// What the options given change of the innermost node; effects are taken of the others too.
    fn whens_that_hold(&mut self) -> Vec<When> {
        let last = self.nodes.len() - 1;
        let mut holding = Vec::new();
        for (level, at) in self.nodes.clone().into_iter().enumerate() {
            let given = |of: &dyn Fn(u32) -> bool| self.present.iter().any(|&(l, id)| l == level && of(id));
            let present =
                |when: &When| (when.always() || given(&|id| when.concerns(id))) && !given(&|id| when.yields_to(id));
            let here: Vec<When> = at.whens().filter(present).collect();
            self.reading.effects.extend(here.iter().flat_map(|w| w.effects()));
            if level == last {
                holding = here;
            }
        }
        holding
    }

    /// `git stash -q list`: an option between the words of a longer subcommand hides it.
    fn reject_split_subcommand(&mut self, operands: &[&Arg]) {
        let [parent, _] = self.nodes[..] else { return };
        let Some(word) = operands.first().and_then(|arg| arg.value.literal()) else {
            return;
        };
        if parent.sub(&format!("{} {word}", self.reading.subcommand)).is_some() {
            let why = format!("whether `{word}` is a subcommand or an operand is not clear");
            self.doubt(operands[0].span, why);
        }
    }

    fn here(&mut self, role: Role) {
        let dot = Arg {
            value: Value::Literal(".".to_owned()),
            span: self.args[0].span,
        };
        self.role(role, "", &dot);
    }

    fn assign(&mut self, slots: &[Slot], operands: &[&'a Arg]) {
        if let Some(first) = operands.iter().position(|arg| is_many(arg)) {
            return self.assign_unclear(slots, operands, first);
        }
        let required = |s: &&Slot| matches!(s.times, Times::One | Times::Many);
        let Some(extra) = operands.len().checked_sub(slots.iter().filter(required).count()) else {
            return self.doubt(self.args[0].span, format!("{} needs more operands", self.name()));
        };
        let optional = slots.iter().filter(|s| s.times == Times::Maybe).count().min(extra);
        let mut counts = Counts {
            optional,
            open: extra - optional,
        };
        let mut rest = operands;
        for slot in slots {
            if let (Role::Command | Role::Package, Some(first)) = (slot.role, rest.first()) {
                if slot.role == Role::Package {
                    let arg = (*first).clone();
                    self.reading.uses.push(Use { role: slot.role, arg });
                }
                return self.inner_command(rest, first.span);
            }
            if matches!(slot.role, Role::Remote | Role::RemoteShell) && !rest.is_empty() {
                let before = operands.len() - rest.len();
                return self.elsewhere(slot.role, rest, operands[..before].last().copied());
            }
            let (taken, left) = rest.split_at(counts.of(slot.times).min(rest.len()));
            for arg in taken {
                self.role(slot.role, slot.known, arg);
            }
            if let (
                Style::Shell,
                Some(Inner::Code {
                    role: Role::Shell,
                    words,
                    ..
                }),
            ) = (self.node().style(), self.reading.inner.last_mut())
                && slot.role == Role::Shell
            {
                *words = Some(left.iter().map(|&arg| arg.clone()).collect());
            }
            rest = left;
        }
        if let Some(arg) = rest.first() {
            self.doubt(arg.span, format!("{} takes no further operand", self.name()));
        }
    }

    /// A command that runs on another machine or in a container, whose name stands before it.
    fn elsewhere(&mut self, role: Role, words: &[&Arg], place: Option<&Arg>) {
        // The options of a wrapper that takes some behind its operands end there.
        let is = |arg: &&Arg, text: &str| arg.value.literal() == Some(text);
        let begins_with_option = words[0].value.literal().is_some_and(|text| text.starts_with('-'));
        let begin = words
            .iter()
            .position(|word| is(word, "--"))
            .filter(|_| begins_with_option);
        let words = &words[begin.map_or(0, |at| at + 1)..];
        let args = match role {
            Role::RemoteShell => {
                let texts: Option<Vec<&str>> = words.iter().map(|word| word.value.literal()).collect();
                let code = texts.map_or(Value::UNKNOWN, |texts| Value::Literal(texts.join(" ")));
                grammar::shell(code, self.args[0].span)
            }
            _ => words.iter().map(|&word| word.clone()).collect(),
        };
        let by = match place.and_then(|place| place.value.literal()) {
            Some(place) => format!("on {place}, not on this machine"),
            None => "not on this machine".to_owned(),
        };
        self.reading.inner.push(Inner::Elsewhere { args, by });
    }

    /// Some operand may be none or several words: from there on all places must mean the same.
    fn assign_unclear(&mut self, slots: &[Slot], operands: &[&'a Arg], first: usize) {
        let fixed = slots.iter().take_while(|s| s.times == Times::One).count();
        let open = |s: &Slot| matches!(s.times, Times::Any | Times::Many);
        let alike = |slot: &Slot, fixed| fixed <= first || slots.iter().all(|s| s.role == slot.role);
        match slots.get(fixed..) {
            Some([slot]) if open(slot) && alike(slot, fixed) => {
                for (index, arg) in operands.iter().enumerate() {
                    let slot = slots.get(index).unwrap_or(slot);
                    self.role(slot.role, slot.known, arg);
                }
            }
            Some(_) | None => {
                let why = "this may be none or several words, so what the operands mean is unclear".to_owned();
                self.doubt(operands[first].span, why);
            }
        }
    }

    /// Takes up the words of a command that is run; `span` is where it should stand.
    fn inner_command(&mut self, words: &[&Arg], span: Span) {
        if words.is_empty() {
            return self.doubt(span, "the command to run is missing".to_owned());
        }
        self.reading.inner.push(Inner::Command {
            args: words.iter().map(|&arg| arg.clone()).collect(),
        });
    }

    /// `--help` or `--version`, listed by the entry, was given: no operand is needed.
    fn only_describes_itself(&self) -> bool {
        let given = |name| {
            self.find(name)
                .is_some_and(|(level, o)| self.present.contains(&(level, o.id)))
        };
        given("--help") || given("--version")
    }
}

/// What the options given leave of an entry.
struct Changed {
    /// The operand grammar that replaces the entry's.
    slots: Option<Vec<Slot>>,
    /// The role of the current directory.
    here: Option<Role>,
    /// What the options make of standard input.
    input: Option<Role>,
}

/// How many operands the optional places and the open one take beyond what is required.
struct Counts {
    optional: usize,
    open: usize,
}

impl Counts {
    fn of(&mut self, times: Times) -> usize {
        match times {
            Times::One => 1,
            Times::Maybe if self.optional > 0 => {
                self.optional -= 1;
                1
            }
            Times::Maybe => 0,
            Times::Any => std::mem::take(&mut self.open),
            Times::Many => 1 + std::mem::take(&mut self.open),
        }
    }
}

fn looks_like_option(node: Node, text: &str) -> bool {
    let minus = text.len() > 1 && text.starts_with('-');
    minus || (node.style() == Style::Shell && text.starts_with('+'))
}

fn is_number(text: &str) -> bool {
    text.len() > 1 && text.bytes().skip(1).all(|b| b.is_ascii_digit())
}

/// Whether every text that the value can be is listed: `#` lists all numbers, `x*` all that begins with `x`, `*x` all that
/// `@name` lists and that ends with `x`, and `@name`, `@word`, `@below`, `@project`, `@repo`, `@image`, `@package`,
/// `@fields`, `@field`, `@query` and `@text` a kind of words; `@list` lists several of what is listed, with commas between.
fn is_known(known: &str, value: &Value) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let begins = |text: &str| {
        let mut beginnings = known.split(' ').filter_map(|k| k.strip_suffix('*'));
        beginnings.any(|beginning| text.starts_with(beginning))
    };
    let one = |word: &str, text: &str| match word {
        "#" => number(text),
        "@name" => is_name(text),
        "@word" => is_word(text),
        "@below" => is_below(text),
        "@project" => is_path_or_pattern(text),
        "@repo" => is_repository(text),
        "@image" => is_image(text),
        "@package" => is_package(text),
        "@fields" => is_fields(text),
        "@text" => !text.starts_with('@'),
        "@field" => is_field(text),
        // A document changes something only by an operation that begins with one of these words.
        "@query" => is_field(text) && !text.contains("mutation") && !text.contains("subscription"),
        _ if word.starts_with('*') && word.len() > 1 => is_name(text) && text.ends_with(&word[1..]),
        _ => word == text,
    };
    let listed = |text: &str| known.split(' ').any(|word| one(word, text)) || begins(text);
    let several = known.split(' ').any(|word| word == "@list");
    let listed = |text: &String| listed(text) || several && text.contains(',') && text.split(',').all(listed);
    known.is_empty()
        || match value {
            Value::Literal(text) => listed(text),
            Value::OneOf(texts) => texts.iter().all(listed),
            Value::Under { directory, .. } => known.split(' ').any(|word| match word {
                "@below" => is_below(directory),
                "@project" => is_path_or_pattern(directory),
                _ => false,
            }),
            Value::Numbered { before, after, hash } => match (before.as_str(), after.as_str()) {
                ("", "") => known
                    .split(' ')
                    .any(|word| matches!(word, "@name" | "@word") || !hash && word == "#"),
                _ => begins(before),
            },
            Value::Unknown { prefix, single } => *single && begins(prefix),
        }
}

/// A name or a path that can be no option, no URL, no `host:`, no assignment and no `@file` of further words.
fn is_name(text: &str) -> bool {
    let inside = |b: u8| b.is_ascii_alphanumeric() || b"._/@-".contains(&b);
    !text.is_empty() && !text.starts_with(['-', '@']) && text.bytes().all(inside)
}

/// A name that can be no path.
fn is_word(text: &str) -> bool {
    is_name(text) && !text.starts_with('.') && !text.contains('/')
}

/// A path that leads to nothing outside the current directory, links apart.
fn is_below(text: &str) -> bool {
    is_path_or_pattern(text) && !text.starts_with(['/', '~']) && text.split('/').all(|part| part != "..")
}

/// A path, or a pattern for paths that the program itself expands and none of which begins elsewhere than the text does; no
/// `scheme:` stands before it, and no sign of an option.
fn is_path_or_pattern(text: &str) -> bool {
    let scheme = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-".contains(&b));
    let address = text
        .split_once(':')
        .is_some_and(|(before, after)| scheme(before) && !after.starts_with(':'));
    let leads_elsewhere = |part: &str| !part.starts_with(|c: char| c.is_alphanumeric() || "._*[@-".contains(c));
    let braces = text.contains('{') && (text.contains("..") || text.split(['{', ',']).skip(1).any(leads_elsewhere));
    !text.is_empty() && !text.starts_with(['-', '+', '@', ':']) && !text.starts_with("!!") && !address && !braces
}

/// The image of a container that no host stands before, or a host of a public registry.
fn is_image(text: &str) -> bool {
    const REGISTRIES: &[&str] = &[
        "docker.io",
        "ghcr.io",
        "quay.io",
        "gcr.io",
        "mcr.microsoft.com",
        "public.ecr.aws",
        "registry.k8s.io",
    ];
    let inside = |b: u8| b.is_ascii_alphanumeric() || b"._/@:-".contains(&b);
    let public = |first: &str| REGISTRIES.contains(&first) || !first.contains(['.', ':']) && first != "localhost";
    !text.is_empty()
        && !text.starts_with(['-', '@', '.', '/'])
        && text.bytes().all(inside)
        && text.split_once('/').is_none_or(|(first, _)| public(first))
}

/// `NAME` or `@SCOPE/NAME`, with a version or without: neither an address nor a path, nor `OWNER/NAME` on a forge.
fn is_package(text: &str) -> bool {
    let inside = |b: u8| b.is_ascii_alphanumeric() || b"._@^~-".contains(&b);
    let name = match text.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map_or("", |(_, name)| name),
        None => text,
    };
    !name.is_empty() && !name.starts_with(['.', '-', '@', '~']) && name.bytes().all(inside)
}

/// `NAME=VALUE,NAME=VALUE..`, without an `@`, which would name a file whose content is the value.
fn is_fields(text: &str) -> bool {
    !text.contains('@') && text.split_once('=').is_some_and(|(name, _)| is_identifier(name))
}

/// `KEY=VALUE`, where the value is no file.
fn is_field(text: &str) -> bool {
    let key = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_[]".contains(&b));
    text.split_once('=')
        .is_some_and(|(name, value)| key(name) && !value.starts_with('@'))
}

/// `OWNER/NAME`, which no host can stand before.
fn is_repository(text: &str) -> bool {
    let owner = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    text.split_once('/')
        .is_some_and(|(first, name)| owner(first) && is_name(name) && !name.contains('/'))
}

/// `NAME`, `NAME=..` or `NAME+=..`, where the name cannot be a subscript that the shell evaluates.
fn is_assignable(value: &Value) -> bool {
    let plain = |text: &String, whole: bool| {
        let (name, rest) = text.split_at(text.find('=').unwrap_or(text.len()));
        let name = name.strip_suffix('+').filter(|_| !rest.is_empty()).unwrap_or(name);
        is_identifier(name) && (whole || !rest.is_empty())
    };
    match value {
        Value::Literal(text) => plain(text, true),
        Value::OneOf(texts) => texts.iter().all(|t| plain(t, true)),
        Value::Under { .. } => false,
        Value::Numbered { before, .. } => plain(before, false),
        Value::Unknown { prefix, single } => *single && plain(prefix, false),
    }
}

/// The word is code, or names a file of it.
fn is_code(role: Role) -> bool {
    matches!(
        role,
        Role::Program | Role::Shell | Role::Code | Role::Python | Role::JavaScript | Role::Sql | Role::Sqlite
    )
}

/// The word may be none or several.
fn is_many(arg: &Arg) -> bool {
    matches!(arg.value, Value::Unknown { single: false, .. })
}

fn is_path(role: Role) -> bool {
    match role {
        Role::PathRead
        | Role::TreeRead
        | Role::TreeVisible
        | Role::PathInspect
        | Role::PathWrite
        | Role::PathDelete
        | Role::PathMode
        | Role::Directory
        | Role::Config
        | Role::Program => true,
        Role::Plain
        | Role::TreeFilter
        | Role::Permissions
        | Role::Mount
        | Role::Host
        | Role::Url
        | Role::Secret
        | Role::Env
        | Role::EnvAssign
        | Role::Command
        | Role::Package
        | Role::Module
        | Role::Template
        | Role::Shell
        | Role::Code
        | Role::Sed
        | Role::Awk
        | Role::Jq
        | Role::Sql
        | Role::Sqlite
        | Role::Python
        | Role::JavaScript
        | Role::Remote
        | Role::RemoteShell
        | Role::Find => false,
    }
}

#[cfg(test)]
mod tests;
