//! Which program a name means, who vouches for it, and how far a connection reaches.

use std::path::PathBuf;

use countersign::assess::bash;
use countersign::effect::Tier;

use crate::{Machine, all, does, judged};

#[test]
fn the_projects_own_code_counts_as_committed() {
    let machine = Machine::new();
    all(
        &machine,
        "medium",
        &[
            "./scripts/run.sh",
            "sh scripts/run.sh",
            "source scripts/run.sh",
            "node_modules/.bin/tsc",
            "cargo test",
            "make test",
        ],
    );
    machine.write("scripts/run.sh", "#!/bin/sh\nrm -rf ~\n");
    machine.write("new.sh", "#!/bin/sh\n");
    all(
        &machine,
        "high",
        &["./scripts/run.sh", "sh scripts/run.sh", "./new.sh", "bash new.sh"],
    );
}

#[test]
fn what_an_earlier_command_may_have_written_is_not_vouched_for() {
    all(
        &Machine::new(),
        "high",
        &[
            "echo x > run.sh; ./run.sh",
            "echo x > scripts/run.sh && ./scripts/run.sh",
            "touch build.rs; cargo test",
            "(touch build.rs); cargo test",
            "bash -c 'touch build.rs'; cargo test",
            "touch build.rs | cargo test",
            "if true; then touch build.rs; fi; cargo test",
            "for f in a; do touch build.rs; done; cargo test",
            "cd ..; cargo test",
            "echo x > src/lib.rs && cargo test",
            "sed -i s/a/b/ src/lib.rs && cargo test",
            "rm src/lib.rs && cargo test",
            "git stash && cargo test",
            "git checkout main && cargo test",
            "cp /tmp/kit/x src/x.rs; cargo test",
            "mkdir -p src/x && touch src/x/mod.rs && cargo test",
            "cargo run > src/made.rs && cargo test",
            "cargo run -- 'fn main() { }' && cargo test",
            "npm run write -- a=b && npm test",
            "npm run write <<< 'x()' && npm test",
            "npm run write <<'X' && npm test\nx()\nX",
            "echo 'x()' | npm run write && npm test",
            "npm ci && npm test",
            "echo x > target/debug/demo; ./target/debug/demo",
            "echo x > node_modules/.bin/tsc; node_modules/.bin/tsc",
            "rm -rf node_modules && npx tsc",
            "source scripts/run.sh && cargo test",
        ],
    );
    // The tests may leave a link under that name before it is touched.
    all(&Machine::new(), "unproven", &["touch build.rs & wait; cargo test"]);
}

#[test]
fn what_leaves_the_projects_own_code_as_it_is_does_not_count_as_writing_it() {
    let machine = Machine::new();
    machine.write(".venv/bin/activate", "VIRTUAL_ENV=x\n");
    machine.write("dist/app.js", "");
    machine.git(&["add", ".venv/bin/activate"]);
    machine.git(&["commit", "-q", "-m", "venv"]);
    all(
        &machine,
        "medium",
        &[
            "rm -rf target && cargo build",
            "rm -rf node_modules && npm run build",
            "mkdir -p out && make test",
            "cargo fmt && cargo clippy",
            "npm run lint && npm test",
            "cargo build 2>&1 | tail -5 && cargo test",
            "cargo test 2>&1 | tee /tmp/countersign-made-up.log",
            "npm run dev > /tmp/countersign-made-up.log 2>&1 &",
            "cargo test > /tmp/countersign-made-up.log; cargo clippy",
            "rm -rf target; ./scripts/run.sh",
            "source .venv/bin/activate && pytest",
            ". .venv/bin/activate; pytest -q",
        ],
    );
}

#[test]
fn what_was_written_to_scratch_is_not_run_from_there() {
    let machine = Machine::new();
    all(
        &machine,
        "high",
        &[
            "echo x > /tmp/a.test.js; npm test -- /tmp/a.test.js",
            "echo x > /tmp/a.test.js; npm test -- --config=/tmp/a.test.js",
            "echo x > /tmp/a.test.js; npm test -- ../../../a.test.js",
            "echo x > /tmp/kit/Makefile; make -C /tmp/kit",
            "echo x > /tmp/run.sh; sh /tmp/run.sh",
            "echo x > /tmp/kit/package.json; cd /tmp/kit; npm test",
            "rm -rf /tmp/kit; cd /tmp/kit || npm test -- ~/x",
        ],
    );
    let tier = |command: &str, change: &dyn Fn(&mut countersign::facts::Facts)| {
        let mut facts = machine.facts();
        change(&mut facts);
        bash::assess(command, Some(&machine.project()), &facts).tier
    };
    let write = "echo x > /tmp/bin/npm; npm test";
    assert_eq!(tier(write, &|_| {}), Tier::Medium);
    // A directory of PATH, and one where a project's tools look for more of it.
    assert_eq!(
        tier(write, &|facts| facts.path.insert(0, "/tmp/bin".into())),
        Tier::High
    );
    let is_in_scratch = |facts: &mut countersign::facts::Facts| {
        facts.home = Some("/home/dev".into());
        facts.project.push("/tmp/elsewhere".into());
    };
    assert_eq!(
        tier("echo x > /tmp/package.json; cargo test", &is_in_scratch),
        Tier::High
    );
}

#[test]
fn looking_around_first_changes_nothing() {
    all(
        &Machine::new(),
        "medium",
        &[
            "ls; cargo test",
            "git status && cargo test",
            "timeout 5 ls && cargo test",
        ],
    );
    all(
        &Machine::new(),
        "safe",
        &["timeout 5 ls && cat src/*.rs", "bash -c ls; cat *.md"],
    );
}

#[test]
fn a_name_that_path_finds_in_the_project_is_that_file() {
    let machine = Machine::new();
    machine.write("bin/ls", "#!/bin/sh\nrm -rf ~\n");
    let mut facts = machine.facts();
    let found = |facts: &countersign::facts::Facts| bash::assess("ls", Some(&machine.project()), facts);
    facts.path.push(machine.project().join("bin"));
    assert_eq!(found(&facts).tier, Tier::Safe);
    facts.path.insert(0, machine.project().join("bin"));
    facts.forget();
    let found = found(&facts);
    assert!(!found.proven() && found.tier >= Tier::High);
}

#[test]
fn a_relative_directory_on_path_makes_every_name_uncertain() {
    let machine = Machine::new();
    for dir in ["bin", ".", ""] {
        let mut facts = machine.facts();
        facts.path.insert(0, PathBuf::from(dir));
        let found = bash::assess("ls", Some(&machine.project()), &facts);
        assert!(!found.proven(), "{dir:?}");
        // The shell's own commands are not looked for.
        assert!(
            bash::assess("echo a", Some(&machine.project()), &facts).proven(),
            "{dir:?}"
        );
    }
}

#[test]
fn a_directory_that_programs_are_found_in_is_no_ordinary_one() {
    let machine = Machine::new();
    let mut facts = machine.facts();
    facts.path.push(machine.home().join("tools"));
    facts.path.push(machine.project().join("tools"));
    let tier = |command: &str| bash::assess(command, Some(&machine.project()), &facts).tier;
    assert_eq!(tier("touch ~/tools/ls"), Tier::Critical);
    assert_eq!(tier("touch tools/ls"), Tier::High);
}

#[test]
fn wrappers_are_judged_as_what_they_run() {
    let machine = Machine::new();
    for wrapper in [
        "timeout 10",
        "nice",
        "env",
        "nohup",
        "stdbuf -oL",
        "command",
        "time",
        "exec",
    ] {
        all(&machine, "safe", &[&format!("{wrapper} ls")]);
        all(&machine, "high", &[&format!("{wrapper} rm notes.txt")]);
        all(&machine, "critical", &[&format!("{wrapper} rm -rf ~")]);
        does(&machine, &format!("{wrapper} cat README.md"), "read README.md");
    }
    all(
        &machine,
        "unproven",
        &["ls -R | xargs rm", "ls -R | xargs cat", "timeout 5", "env $x ls"],
    );
    all(&machine, "safe", &["echo a | xargs echo"]);
    all(&machine, "critical", &["sudo ls"]);
}

#[test]
fn code_given_in_the_command_is_nobodys_unless_it_is_shell() {
    let machine = Machine::new();
    all(&machine, "high", &["python3 -c 'import os'", "node -e x", "perl -e 1"]);
    all(
        &machine,
        "safe",
        &["bash -c ls", "sh -c 'cat README.md'", "eval 'ls' '-l'"],
    );
    for command in [
        "bash -c \"$x\"",
        "eval \"$x\"",
        "sh -c \"$(cat list.txt)\"",
        "trap \"$x\" EXIT",
    ] {
        let found = judged(&machine, command);
        assert!(!found.proven() && found.tier >= Tier::High, "{command}");
    }
}

#[test]
fn a_connection_is_judged_by_how_far_it_reaches() {
    let machine = Machine::new();
    all(
        &machine,
        "medium",
        &[
            "curl https://docs.rs/x",
            "curl http://localhost:3000/",
            "curl http://127.0.0.1/",
        ],
    );
    all(
        &machine,
        "high",
        &[
            "curl https://example.invalid/",
            "curl http://localhost:2375/",
            "curl https://docs.rs:8443/",
            "curl ftp://docs.rs/x",
            "curl file://$HOME/.ssh/id_rsa",
        ],
    );
    all(&machine, "safe", &["gh pr view 12", "docker ps", "kubectl get pods"]);
    for command in [
        "curl $x",
        "curl \"https://$x/\"",
        "curl \"https://docs.rs/$(cat .env)\"",
        "curl https://docs.rs@example.invalid/",
        "curl https://docs.rs.example.invalid/",
    ] {
        let found = judged(&machine, command);
        assert!(!found.proven() && found.tier >= Tier::High, "{command}");
    }
}

#[test]
fn what_a_program_says_of_itself_is_harmless_unless_it_obeys_a_file_that_is_there_or_may_be_by_then() {
    let machine = Machine::new();
    machine.write("docs/.mvn/jvm.config", "");
    let judged = |command| judged(&machine, command);
    for command in ["ansible --version", "mvn -v", "poetry --version", "rspec --version"] {
        let found = judged(command);
        assert!(found.tier == Tier::Safe && found.proven(), "{command}");
    }
    for command in [
        "cd docs && mvn -v",
        "mkdir -p docs/x && cd docs/x && mvn --version",
        "cp README.md ansible.cfg; ansible --version",
        "cd $(cat README.md); rspec --version",
    ] {
        assert_ne!(judged(command).tier, Tier::Safe, "{command}");
    }
    machine.write(".rspec", "<% system 'make' %>");
    assert_eq!(judged("cd src && rspec -h").tier, Tier::Medium);
}
