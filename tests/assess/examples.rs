//! Every example of the catalog, judged as a whole in a small project: the tier that its entry promises.

use std::path::Path;

use crate::{Machine, assess};
use catalog_spec::{Entry, Example, Tier};

/// The examples of an entry and of its subcommands.
fn examples(entry: &Entry) -> Vec<(Example, String)> {
    let own = entry
        .examples
        .iter()
        .map(|example| (example.clone(), entry.file.clone()));
    own.chain(entry.subs.iter().flat_map(examples)).collect()
}

#[test]
fn every_example_has_the_tier_that_its_entry_says() {
    let machine = Machine::new();
    let entries = catalog_spec::load_dir(Path::new("src/catalog/commands")).expect("a catalog without errors");
    let mut wrong = Vec::new();
    let mut count = 0;
    for (example, file) in entries.iter().flat_map(examples) {
        count += 1;
        let command = machine.here(&example.command);
        let expected = example.tier.map_or("unproven", Tier::as_str);
        let assessment = assess(&machine, &machine.project(), &command);
        let reasons = countersign::report::reasons(&assessment).join("; ");
        let found = if assessment.proven() {
            assessment.tier.as_str()
        } else {
            "unproven"
        };
        if found != expected {
            let summary = countersign::report::summary(&assessment);
            let at = format!("{file}:{}", example.line);
            wrong.push(format!(
                "{at}: {found} instead of {expected}: {command}   [{summary}] {reasons}"
            ));
        }
    }
    assert!(count > 200, "only {count} examples");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
