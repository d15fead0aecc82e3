//! The page of all commands: what the catalog knows, family by family.
//!
//! After a change of the catalog, `COUNTERSIGN_DRAW=1 cargo test --test docs` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use catalog_spec::Entry;

const NO_WITNESS: &str = "no witness";

#[test]
fn the_page_of_commands_says_what_the_catalog_knows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = catalog_spec::load_dir(&root.join("src/catalog/commands")).expect("a catalog without errors");
    let file = root.join("docs/commands.md");
    let written = page(&entries);
    if std::env::var_os("COUNTERSIGN_DRAW").is_some() {
        fs::write(&file, &written).expect("the page");
    }
    assert!(
        fs::read_to_string(&file).is_ok_and(|kept| kept == written),
        "{} is stale; write it anew with COUNTERSIGN_DRAW=1 cargo test --test docs",
        file.display()
    );
}

fn page(entries: &[Entry]) -> String {
    let programs: usize = entries.iter().map(|entry| entry.names.len()).sum();
    let subcommands: usize = entries.iter().map(|entry| names(&entry.subs).len()).sum();
    let examples: usize = entries.iter().map(examples).sum();
    let witnessed: usize = entries
        .iter()
        .filter(|entry| entry.witness.is_some())
        .map(|entry| entry.names.len())
        .sum();
    let mut page = format!(
        "# Commands\n\n\
         What Countersign knows by name: {programs} programs and {subcommands} subcommands, with {examples} examples \
         that are judged as tests. This page is written from the catalog.\n\n\
         The witness is the package whose program the tests ask whether it knows every option that the entry lists \
         ({witnessed} programs). \u{201c}{NO_WITNESS}\u{201d}: no package that the tests can install has the program, \
         and the entry rests on its manual. [Adding a command](catalog.md) says what an entry is.\n"
    );
    for family in entries.chunk_by(|a, b| a.file == b.file) {
        let title = Path::new(&family[0].file)
            .file_stem()
            .expect("a file's name")
            .to_string_lossy();
        let _ = write!(
            page,
            "\n## {title}\n\n| program | what it does | subcommands | witness |\n|---|---|---|---|\n"
        );
        let mut family: Vec<&Entry> = family.iter().collect();
        family.sort_by_key(|entry| &entry.names);
        for entry in family {
            let witness = entry
                .witness
                .as_ref()
                .map_or(NO_WITNESS.to_owned(), ToString::to_string);
            let cells = [
                entry.names.join(", "),
                entry.about.clone(),
                grouped(&names(&entry.subs)),
                witness,
            ];
            let _ = writeln!(page, "| {} |", cells.map(|cell| escaped(&cell)).join(" | "));
        }
    }
    page
}

/// All names, in their order.
fn names(entries: &[Entry]) -> Vec<&str> {
    let mut names: Vec<&str> = entries
        .iter()
        .flat_map(|entry| &entry.names)
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

/// The names with what they share said once: `add, rm; remote: add, show`.
fn grouped(names: &[&str]) -> String {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        let (shared, last) = name.rsplit_once(' ').unwrap_or(("", name));
        groups.entry(shared).or_default().push(last);
    }
    let said = groups.iter().map(|(shared, last)| match *shared {
        "" => last.join(", "),
        _ => format!("{shared}: {}", last.join(", ")),
    });
    said.collect::<Vec<_>>().join("; ")
}

fn examples(entry: &Entry) -> usize {
    entry.examples.len() + entry.subs.iter().map(examples).sum::<usize>()
}

/// The text with every sign that Markdown reads as its own taken for what it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for sign in text.chars() {
        if "\\`*_[]<>|".contains(sign) {
            escaped.push('\\');
        }
        escaped.push(sign);
    }
    escaped
}
