use std::path::Path;

use catalog_spec::{Entry, load_dir, load_environment};

use super::*;

fn entries() -> Vec<Entry> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/catalog/commands");
    load_dir(&dir).expect("the build has checked the files")
}

/// Compares a node with what the files say of it, all the way down.
fn compare(node: Node, entry: &Entry) {
    let name = &entry.names[0];
    assert_eq!(node.about(), entry.about, "{name}");
    assert_eq!(node.style(), entry.style, "{name}");
    assert_eq!(node.grammar().map(str::to_owned), entry.grammar, "{name}");
    assert_eq!(
        (node.numeric(), node.inert(), node.global()),
        (entry.numeric, entry.inert, entry.global),
        "{name}"
    );
    assert_eq!(node.here(), entry.here, "{name}");
    assert_eq!(node.effects(), entry.effects, "{name}");
    assert_eq!(node.bare(), entry.bare, "{name}");
    compare_slots(&node.operands(), &entry.operands);
    for (id, option) in (0..).zip(&entry.options) {
        for spelling in &option.spellings {
            let found = node
                .option(spelling)
                .unwrap_or_else(|| panic!("{name} lists {spelling}"));
            assert_eq!(found.id, id, "{name} {spelling}");
            assert_eq!(found.optional, option.optional, "{name} {spelling}");
            assert_eq!(found.known, option.known.join(" "), "{name} {spelling}");
            assert_eq!(found.roles().collect::<Vec<_>>(), option.values, "{name} {spelling}");
        }
    }
    let whens: Vec<When> = node.whens().collect();
    assert_eq!(whens.len(), entry.whens.len(), "{name}");
    for (when, expected) in whens.into_iter().zip(&entry.whens) {
        assert!(
            (0..)
                .zip(&entry.options)
                .all(|(id, _)| when.concerns(id) == expected.options.contains(&(id as usize)))
        );
        assert_eq!(when.effects(), expected.effects, "{name}");
        assert_eq!((when.here(), when.reads()), (expected.here, expected.reads), "{name}");
        assert_eq!(when.operands().is_some(), expected.operands.is_some(), "{name}");
        compare_slots(
            &when.operands().unwrap_or_default(),
            expected.operands.as_deref().unwrap_or_default(),
        );
    }
    for sub in &entry.subs {
        for name in &sub.names {
            let (found, node) = node.sub(name).unwrap_or_else(|| panic!("{name} is a subcommand"));
            assert_eq!(found, name);
            compare(node, sub);
        }
    }
}

fn compare_slots(slots: &[Slot], expected: &[catalog_spec::Slot]) {
    let slots: Vec<_> = slots.iter().map(|s| (s.role, s.times, s.known.to_owned())).collect();
    let expected: Vec<_> = expected.iter().map(|s| (s.role, s.times, s.known.join(" "))).collect();
    assert_eq!(slots, expected);
}

#[test]
fn the_bytes_say_what_the_files_say() {
    assert_eq!(word(0), MAGIC);
    let entries = entries();
    assert!(entries.len() > 100);
    for entry in &entries {
        for name in &entry.names {
            compare(command(name).unwrap_or_else(|| panic!("{name} is there")), entry);
        }
    }
}

#[test]
fn a_name_that_no_file_gives_is_not_found() {
    for name in ["", "a", "zzzz", "gitt", "ls ", "é"] {
        assert!(command(name).is_none(), "{name}");
    }
    let ls = command("ls").expect("ls is there");
    for option in ["", "-", "--", "--al", "--alll", "-é"] {
        assert!(ls.option(option).is_none(), "{option}");
    }
}

#[test]
fn the_names_are_sorted_so_that_they_are_found() {
    let list = List::new(COMMANDS, NAMED_WORDS);
    let names: Vec<&str> = list.rows().map(text_at).collect();
    assert!(names.is_sorted());
    assert_eq!(names.len(), entries().iter().map(|e| e.names.len()).sum::<usize>());
}

#[test]
fn the_variables_are_those_of_their_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/catalog/environment.toml");
    let environment = load_environment(&path).expect("the build has checked the file");
    for expected in &environment.variables {
        let name = expected.name.replace('*', "X");
        assert!(variable(&name).is_some(), "{name}");
        if name == expected.name {
            assert_eq!(
                variable(&name),
                Some((expected.rule, text_of(&expected.text))),
                "{name}"
            );
        }
    }
    assert_eq!(credential_words().collect::<Vec<_>>(), environment.credentials);
    assert!(
        environment
            .printable
            .iter()
            .all(|name| printable(&name.replace('*', "X")))
    );
}

/// The same text, as the bytes hold it.
fn text_of(text: &str) -> &'static str {
    let held = List::new(VARIABLES, VARIABLE_WORDS).rows().map(|row| text_at(row + 2));
    held.into_iter().find(|held| *held == text).expect("the text is held")
}

#[test]
fn every_grammar_that_an_entry_names_has_a_parser() {
    for entry in entries() {
        for named in std::iter::once(&entry).chain(&entry.subs) {
            if let Some(grammar) = &named.grammar {
                assert!(
                    crate::catalog::grammar::whole(grammar).is_some(),
                    "{}: {grammar}",
                    named.names[0]
                );
            }
        }
    }
}

#[test]
fn every_command_has_examples_and_one_that_is_not_let_through() {
    for entry in entries() {
        let examples: Vec<_> = entry
            .examples
            .iter()
            .chain(entry.subs.iter().flat_map(|s| &s.examples))
            .collect();
        assert!(
            examples.len() >= 3,
            "{} has {} examples",
            entry.names[0],
            examples.len()
        );
        let kept = |tier: &Option<catalog_spec::Tier>| tier.is_none_or(|tier| tier > catalog_spec::Tier::Medium);
        assert!(examples.iter().any(|e| kept(&e.tier)), "{}", entry.names[0]);
    }
}
