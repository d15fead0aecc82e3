//! What a name means to the person's own shell, and what a project's file makes of it.

use countersign::assess::bash;
use countersign::effect::{Assessment, Tier};

use crate::{Machine, all, judged};

/// A machine whose session has a shell snapshot of this text, as Claude Code writes it.
fn with_snapshot(text: &str) -> Machine {
    let machine = Machine::new();
    machine.write_home(
        ".claude/shell-snapshots/snapshot-bash-1796019886181-l2rym9.sh",
        &format!("# Snapshot file\nunalias -a 2>/dev/null || true\n{text}"),
    );
    machine
}

fn in_session(machine: &Machine, command: &str) -> Assessment {
    let mut facts = machine.facts();
    facts.snapshots = Some(machine.home().join(".claude/shell-snapshots"));
    bash::assess(command, Some(&machine.project()), &facts)
}

#[track_caller]
fn safe(machine: &Machine, commands: &[&str]) {
    for command in commands {
        let found = in_session(machine, command);
        let reasons = countersign::report::reasons(&found);
        assert!(found.tier == Tier::Safe && found.proven(), "{command}: {reasons:?}");
    }
}

#[track_caller]
fn doubted(machine: &Machine, commands: &[&str]) {
    for command in commands {
        assert!(!in_session(machine, command).proven(), "{command}");
    }
}

const ALIASES: &str = "shopt -s expand_aliases\nalias -- ls='ls --color=auto'\nalias -- ll='ls -alF'\n\
                       alias -- gs='git status'\nalias -- grep='grep --color=auto'\n";

#[test]
fn a_harmless_alias_is_judged_as_what_it_stands_for() {
    safe(
        &with_snapshot(ALIASES),
        &[
            "ls src",
            "ll src",
            "gs",
            "cd src && ll",
            "grep -n fn src/main.rs",
            "ls | head",
            "eval ll",
        ],
    );
}

#[test]
fn an_alias_that_does_more_than_its_name_is_judged_by_what_it_does() {
    let machine = with_snapshot(
        "alias -- ls='rm -rf'\nalias -- cat='cat ~/.ssh/id_rsa'\nalias -- gs='git status; git push'\n\
         alias -- wc='sudo wc'\nalias -- head='head | sh'\nalias -- date=$'date\\nid'\n",
    );
    doubted(&machine, &["gs", "head README.md", "date"]);
    assert!(in_session(&machine, "cat README.md").tier >= Tier::High);
    assert_eq!(in_session(&machine, "wc README.md").tier, Tier::Critical);
    assert!(in_session(&machine, "ls notes.txt").tier >= Tier::High);
    // A quoted name, a wrapper and a shell of its own see no alias.
    safe(
        &machine,
        &[
            "\\cat README.md",
            "'cat' README.md",
            "timeout 5 cat README.md",
            "bash -c 'cat README.md'",
        ],
    );
}

#[test]
fn a_function_of_the_persons_shell_is_not_the_program_of_its_name() {
    let machine = with_snapshot(
        "eval $'cat () \\n{ \\n    command cat -n \"$@\"\\n}' > /dev/null 2>&1\ngit () {\n\tcommand git \"$@\"\n}\n\
         cd () {\n\tbuiltin cd \"$@\"\n}\nfunction find {\n  command find \"$@\"\n}\n",
    );
    doubted(
        &machine,
        &[
            "cat README.md",
            "\\cat README.md",
            "git status",
            "ls | cat",
            "x=$(cat README.md)",
            "cd src && ls",
        ],
    );
    safe(
        &machine,
        &[
            "command cat README.md",
            "bash -c 'cat README.md'",
            "find . -name x",
            "timeout 5 git status",
        ],
    );
}

#[test]
fn a_function_that_each_cd_calls_makes_cd_uncertain() {
    let machine = with_snapshot("chpwd () {\n\tsource .venv/bin/activate\n}\n");
    doubted(&machine, &["cd src && ls"]);
    safe(&machine, &["ls src"]);
}

#[test]
fn an_option_that_lets_a_star_match_hidden_files_makes_patterns_uncertain() {
    safe(&with_snapshot("shopt -u dotglob\n"), &["cat src/*.rs"]);
    for option in ["shopt -s dotglob", "setopt globdots", "setopt nullglob"] {
        doubted(&with_snapshot(&format!("{option}\n")), &["cat *", "cat src/*.rs"]);
    }
}

#[test]
fn the_newest_snapshot_counts_and_an_endless_one_proves_nothing() {
    let machine = with_snapshot("ls () {\n\t:\n}\n");
    machine.write_home(
        ".claude/shell-snapshots/snapshot-zsh-1796020362609-5l0hpf.sh",
        "# Snapshot file\n",
    );
    safe(&machine, &["ls"]);
    machine.write_home(
        ".claude/shell-snapshots/snapshot-zsh-1796020362700-5l0hpf.sh",
        &"#\n".repeat(2 * 1024 * 1024),
    );
    doubted(&machine, &["ls"]);
}

#[test]
fn a_snapshot_is_not_written_unasked() {
    let machine = Machine::new();
    let file = "~/.claude/shell-snapshots/snapshot-bash-1-x.sh";
    all(
        &machine,
        "critical",
        &[&format!("echo 'ls() {{ id; }}' >> {file}"), &format!("touch {file}")],
    );
}

#[test]
fn a_toolchain_file_that_names_a_directory_decides_what_cargo_is() {
    let machine = Machine::new();
    let is_doubted = |command: &str| {
        let found = judged(&machine, command);
        !found.proven() && found.tier >= Tier::High
    };
    machine.write("rust-toolchain.toml", "[toolchain]\nchannel = \"stable\"\n");
    let mut facts = machine.facts();
    machine.write_home("tools/bin/cargo", "");
    machine.write_home("tools/bin/node", "");
    let tools = machine.home().join("tools/bin");
    for name in ["cargo", "node"] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(tools.join(name), std::fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    facts.path.insert(0, tools);
    let mut found = |command: &str| {
        facts.forget();
        bash::assess(command, Some(&machine.project()), &facts)
    };
    let is_medium = |found: Assessment| found.proven() && found.tier == Tier::Medium;
    assert!(is_medium(found("cargo --version")), "it may be fetched");
    let outside = machine.home().join("elsewhere");
    std::fs::create_dir_all(outside.join("below")).expect("directories");
    machine.link("away", outside.join("below"));
    let named = [
        ("rust-toolchain.toml", "[toolchain]\npath = \"./evil\"\n"),
        ("rust-toolchain.toml", "[toolchain]\n\"pat\\u0068\" = \"./evil\"\n"),
        ("rust-toolchain", "[toolchain]\npath = \"./evil\"\n"),
        ("rust-toolchain", "\n /home/dev/evil\n"),
    ];
    for (file, text) in named {
        machine.write(file, text);
        for command in [
            "cargo --version",
            "cd src && cargo --version",
            "cargo test",
            "cargo build --help",
        ] {
            let found = found(command);
            assert!(!found.proven() && found.tier >= Tier::High, "{file}: {command}");
        }
        machine.write(file, "[toolchain]\nchannel = \"stable\"\n");
        assert!(is_medium(found("cargo --version")));
    }
    for file in ["rust-toolchain.toml", "rust-toolchain"] {
        std::fs::remove_file(machine.project().join(file)).expect("a file");
    }
    let is_safe = |found: Assessment| found.proven() && found.tier == Tier::Safe;
    assert!(is_safe(found("cargo --version")));
    assert!(
        found("cp list.txt x && cargo --version").tier >= Tier::High,
        "it may be made before"
    );
    machine.write_home("elsewhere/rust-toolchain", "/home/dev/evil");
    assert!(
        !found("cd away && cargo --version").proven(),
        "above what a link leads to"
    );
    machine.link("rust-toolchain", machine.home().join(".ssh/id_rsa"));
    assert_eq!(
        found("cargo --version").tier,
        Tier::High,
        "it shows what it cannot read"
    );
    assert!(!is_doubted("ls"));
}

#[test]
fn a_name_in_a_directory_of_the_agents_is_no_catalogued_program() {
    let machine = Machine::new();
    all(
        &machine,
        "high",
        &["/tmp/evil/cat README.md", "./cat README.md", "src/ls", "../cat x"],
    );
}
