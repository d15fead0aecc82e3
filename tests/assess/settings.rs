//! Settings of git that run, reach or trust something are named, whether they are given for one command or written down.

use std::path::Path;

use countersign::effect::Tier;
use countersign::report;

use crate::{Machine, judged};

#[test]
fn every_example_of_a_setting_has_at_least_the_tier_that_is_said() {
    let machine = Machine::new();
    let (settings, examples) =
        catalog_spec::load_settings(Path::new("src/catalog/git-settings.toml")).expect("settings without errors");
    assert!(settings.len() > 60 && examples.len() > 25);
    for (command, tier) in &examples {
        let least = Tier::parse(tier).expect("a tier");
        let found = judged(&machine, command);
        assert!(found.tier >= least, "{command} is {}, not {tier}", found.tier);
    }
}

#[test]
fn every_setting_is_named_and_high_or_worse() {
    let machine = Machine::new();
    let (settings, _) =
        catalog_spec::load_settings(Path::new("src/catalog/git-settings.toml")).expect("settings without errors");
    for setting in settings {
        let key = setting.key.replace('*', "some");
        let given = judged(&machine, &format!("git -c {key}=./x status"));
        assert!(given.tier >= Tier::High && !given.proven(), "{key}: {:?}", given.steps);
        let why = format!("`{key}` {}", setting.why);
        assert!(
            report::reasons(&given).contains(&why),
            "{key}: {:?}",
            report::reasons(&given)
        );
        for command in [
            format!("git config {key} ./x"),
            format!("git config --global {key} ./x"),
            format!("git config set {key} ./x"),
            format!("git config --add {key} ./x"),
        ] {
            let written = judged(&machine, &command);
            assert_eq!(written.tier, Tier::Critical, "{command}");
            let said = report::summary(&written);
            assert!(
                said.contains(&format!("`{key}`, which {}", setting.why)),
                "{command}: {said}"
            );
        }
    }
}

#[test]
fn a_key_is_known_however_its_letters_are_written_and_only_as_a_whole() {
    let machine = Machine::new();
    let reasons = |command: &str| report::reasons(&judged(&machine, command)).join("; ");
    assert!(reasons("git -c Core.PAGER=./x log").contains("`Core.PAGER` names a program"));
    assert!(reasons("git -c diff.a.b.textconv=./x log").contains("names a program"));
    assert!(!reasons("git -c core.pagers=./x log").contains("names a program"));
    assert!(!reasons("git -c diff.textconv=./x log").contains("names a program"));
}

#[test]
fn a_setting_from_the_environment_is_high() {
    let machine = Machine::new();
    for command in ["git --config-env=core.pager=X log", "git --config-env color.ui=X log"] {
        let found = judged(&machine, command);
        assert!(
            found.tier >= Tier::High && !found.proven(),
            "{command}: {:?}",
            found.steps
        );
    }
}

#[test]
fn reading_a_setting_stays_as_it_was() {
    crate::all(
        &Machine::new(),
        "safe",
        &[
            "git config core.pager",
            "git config --get alias.st",
            "git -c core.pager=cat log",
        ],
    );
}
