//! What one step leaves behind for the next: a link that leads elsewhere, a script that was changed, a file that is handed on.

use countersign::assess::bash;
use countersign::effect::Tier;

use crate::{Machine, all, judged, verdict};

/// None of these is let through: something in it is not understood, or it is high.
#[track_caller]
fn stopped(machine: &Machine, commands: &[&str]) {
    let is_let_through = |command: &&&str| {
        let found = judged(machine, command);
        found.proven() && found.tier < Tier::High
    };
    let wrong: Vec<String> = commands
        .iter()
        .filter(is_let_through)
        .map(|command| format!("{command:?} is {}", verdict(machine, command)))
        .collect();
    assert!(wrong.is_empty(), "let through:\n{}", wrong.join("\n"));
}

/// A project with a link out of it, and one that an environment of Python was copied into.
fn furnished() -> Machine {
    let machine = Machine::new();
    machine.link("docs/h", "../..");
    machine.write("scripts/build.sh", "#!/bin/sh\n");
    machine.write("scripts/wrap.sh", "#!/bin/sh\n\"$@\"\n");
    machine.write("scripts/load.mjs", "await import(process.argv[2]);\n");
    machine.git(&["add", "docs", "scripts"]);
    machine.git(&["commit", "-q", "-m", "more"]);
    machine.write("untracked.sh", "#!/bin/sh\n");
    machine.write("untracked.rs", "fn main() {}\n");
    machine.write(".venv/bin/python", "#!/bin/sh\n");
    machine.write(".venv/bin/python3.12", "#!/bin/sh\n");
    machine.write(".venv/bin/pytest", "#!/bin/sh\n");
    machine.write(".venv/bin/activate", "VIRTUAL_ENV=x\n");
    machine.git(&["add", "-f", ".venv/bin/activate"]);
    machine.git(&["commit", "-q", "-m", "venv"]);
    machine
}

#[test]
fn a_link_that_was_made_in_scratch_is_remembered() {
    let machine = furnished();
    stopped(
        &machine,
        &[
            "cp -P docs/h /tmp/made-up && echo x >> /tmp/made-up/.bashrc",
            "cp -P docs/h /tmp/made-up && rm -rf /tmp/made-up/Documents",
            "cp -d docs/h /tmp/made-up; echo x > /tmp/made-up/notes",
            "cp -r docs /tmp/made-up && cp data.csv /tmp/made-up/h/.zshrc",
            "cp -a docs/. /tmp/made-up && touch /tmp/made-up/h/.zshrc",
            "mv docs/h /tmp/made-up && echo x >> /tmp/made-up/.bashrc",
            "mv docs /tmp/made-up && echo x >> /tmp/made-up/h/.bashrc",
            "git worktree add /tmp/made-up FETCH_HEAD && echo x >> /tmp/made-up/l/.bashrc",
            "tar -xf data.tar -C /tmp/made-up && echo x >> /tmp/made-up/l/.bashrc",
            "(cp -P docs/h /tmp/made-up); echo x >> /tmp/made-up/.bashrc",
            "cp -P docs/h /tmp/made-up | echo x >> /tmp/made-up/.bashrc",
        ],
    );
    all(
        &machine,
        "low",
        &[
            "cp data.csv /tmp/made-up && cat /tmp/made-up",
            "cp data.csv made-up.csv && cat made-up.csv",
            "cp -r src /tmp/made-up && echo x > /tmp/made-up/new.rs",
            "mv data.csv made-up.csv && cat made-up.csv",
            "git add -A && git commit -m x && echo x > made-up.txt",
        ],
    );
}

#[test]
fn a_link_to_the_whole_project_or_from_outside_of_it_is_no_ordinary_one() {
    let machine = furnished();
    let project = machine.project().display().to_string();
    for command in [
        "ln -s P /tmp/made-up",
        "ln -s P /tmp/made-up && cp data.csv /tmp/made-up/.git/hooks/pre-commit",
        "ln -s P /tmp/made-up && cp data.csv /tmp/made-up/.claude/settings.json",
        "ln -s P /tmp/made-up && rm -rf /tmp/made-up/.git",
        "ln -s P /tmp/made-up && rm -rf /tmp/made-up/notes.txt",
        "ln -s P/notes.txt /tmp/made-up && echo x > /tmp/made-up",
        "ln -s P /tmp/made-up && grep -r SECRET /tmp/made-up/",
        "ln -s P/scripts /tmp/made-up && echo x > /tmp/made-up/run.sh && ./scripts/run.sh",
        "ln -s . made-up",
        "ln -s ../project made-up",
        "cd src && ln -s .. made-up",
    ] {
        stopped(&machine, &[&command.replace('P', &project)]);
    }
    stopped(
        &machine,
        &[
            "ln -s README.md R.md && echo x > R.md",
            "ln notes.txt R.md && echo x > R.md",
            "ln -s src made-up && rm -rf made-up/lib.rs",
        ],
    );
    all(
        &machine,
        "low",
        &[
            "ln -s README.md R.md",
            "ln -s src made-up",
            "ln -s README.md R.md && ls",
        ],
    );
}

#[test]
fn a_redirection_may_follow_a_link_that_an_earlier_command_brought() {
    let machine = furnished();
    stopped(
        &machine,
        &[
            "git merge -q evil && echo x >> l/.zshenv",
            "git checkout evil && echo x > l/notes",
            "git switch evil; echo x > l/notes",
            "git rebase evil && echo x > l/notes",
            "git cherry-pick evil && echo x > l/notes",
            "git stash pop && echo x > l/notes",
            "git pull && echo x > l/notes",
            "git reset --keep evil && echo x > l/notes",
            "npm ci && echo x > l/notes",
            "mv docs/h l && echo x > l/notes",
            "cp -P docs/h l && echo x > l/notes",
            "git checkout evil && { echo x; } > l/notes",
            "git checkout evil && echo x >> README.md",
            "git checkout evil && sed -i s/a/b/ src/lib.rs",
            "git checkout evil && rm -rf src/lib.rs",
            "git checkout evil && rm -rf docs/",
            "git checkout evil && cat < l/notes",
            "git checkout -b made-up evil && echo x > l/notes",
            "git checkout -B main && git switch -C main evil && echo x > l/notes",
            "git switch -c made-up evil && echo x > l/notes",
            "git checkout --orphan made-up && echo x > l/notes",
            "echo \"$(git checkout -q evil)\" > l/notes",
            "for i in 1 2; do echo x > l/notes; git checkout evil; done",
            "echo x > l/notes & git checkout evil",
            "trap \"echo x > $HOME/project/l/notes\" EXIT; git checkout evil",
        ],
    );
    all(
        &machine,
        "low",
        &[
            "git checkout main && ls",
            "git checkout main && cat README.md",
            "git checkout main && rm README.md",
            "git checkout -b made-up && echo x > made-up.txt",
            "git switch -c made-up && echo x > made-up.txt",
            "git rm -q data.csv && echo x > made-up.txt",
            "echo x > made-up.txt && git add made-up.txt",
            "gh pr diff 12 > /tmp/made-up && cat /tmp/made-up",
            "rg x src > /tmp/made-up; cat /tmp/made-up",
            "mkdir -p made-up && echo x > made-up/notes",
            "echo \"$(git rev-parse HEAD)\" > made-up.txt",
        ],
    );
}

#[test]
fn what_git_resets_with_keep_is_another_commits() {
    let machine = furnished();
    stopped(
        &machine,
        &[
            "git reset --keep FETCH_HEAD && ./scripts/run.sh",
            "git reset --keep FETCH_HEAD && make test",
            "git reset --keep FETCH_HEAD && rm -rf l/Documents",
        ],
    );
    all(&machine, "low", &["git reset HEAD~1", "git reset --keep HEAD~1"]);
    all(&machine, "medium", &["git reset --soft HEAD~1 && make test"]);
}

#[test]
fn another_name_of_a_file_is_no_copy_of_it() {
    let machine = furnished();
    stopped(
        &machine,
        &[
            "cp -l .git/config /tmp/made-up && echo x > /tmp/made-up",
            "cp -l notes.txt /tmp/made-up && echo x > /tmp/made-up",
            "cp --link ~/.bashrc /tmp/made-up && echo x > /tmp/made-up",
            "cp -l scripts/run.sh /tmp/made-up && echo x > /tmp/made-up && ./scripts/run.sh",
            "cp -al src /tmp/made-up && echo x > /tmp/made-up/main.rs && cargo test",
            "cp -rl src made-up && echo x > made-up/main.rs",
        ],
    );
    all(&machine, "low", &["cp -a src /tmp/made-up"]);
}

#[test]
fn a_directory_above_or_behind_one_of_path_is_on_path() {
    let machine = furnished();
    machine.write_home("kit", "");
    let behind = tempfile::TempDir::new().expect("a directory");
    let linked = machine.home().join("linked-bin");
    std::os::unix::fs::symlink(behind.path(), &linked).expect("a link");
    let mut facts = machine.facts();
    let tier = |command: &str, facts: &countersign::facts::Facts| {
        let command = command.replace("BEHIND", &behind.path().to_string_lossy());
        bash::assess(&command, Some(&machine.project()), facts).tier
    };
    let lines = [
        "mv /tmp/made-up-kit/tools /tmp/made-up-tools && make test",
        "cp -r /tmp/made-up-kit/tools/. /tmp/made-up-tools && make test",
        "cp /tmp/made-up-kit/make BEHIND/make && make test",
        "cp /tmp/made-up-kit/make BEHIND/make",
        "echo x > BEHIND/made-up && make test",
    ];
    for line in lines {
        assert!(tier(line, &facts) < Tier::High, "{line}");
    }
    facts.path.insert(0, "/tmp/made-up-tools/bin".into());
    facts.path.insert(0, linked);
    facts.forget();
    for line in lines {
        assert!(tier(line, &facts) >= Tier::High, "{line}");
    }
    assert_eq!(tier("make test > /tmp/made-up.log", &facts), Tier::Medium);
}

#[test]
fn what_was_written_to_scratch_is_not_handed_to_the_projects_own_code() {
    let machine = furnished();
    machine.git(&["add", "-f", ".venv"]);
    machine.git(&["commit", "-q", "-m", "all of it"]);
    machine.link("way", "/tmp/made-up.mjs");
    let write = |rest: &str| format!("echo x > /tmp/made-up.mjs; {rest}");
    let handed = [
        "./scripts/wrap.sh sh /tmp/made-up.mjs",
        "./scripts/wrap.sh sh < /tmp/made-up.mjs",
        "./scripts/wrap.sh 'sh /tmp/made-up.mjs'",
        "cat /tmp/made-up.mjs | ./scripts/wrap.sh sh",
        "{ ./scripts/wrap.sh sh; } < /tmp/made-up.mjs",
        "node scripts/load.mjs /tmp/made-up.mjs",
        "bash scripts/run.sh /tmp/made-up.mjs",
        "python3 scripts/tool.py /tmp/made-up.mjs",
        ".venv/bin/pytest /tmp/made-up.mjs",
        "npm test -- --import=file:///tmp/made-up.mjs",
        "npm test -- --import=file://localhost/tmp/made-up.mjs",
        "npm test -- --import=file:/tmp/made-up.mjs",
        "npm test -- --import=file:///%74mp/made-up.mjs",
        "npm test -- --import=file:../../../made-up.mjs",
        "npm test -- --reporters=default,/tmp/made-up.mjs",
        "npm test -- --reporters=http://localhost,/tmp/made-up.mjs",
        "npm test -- a:/tmp/made-up.mjs",
        "npm test < /tmp/made-up.mjs",
        "bash -c 'source scripts/wrap.sh /tmp/made-up.mjs'",
        "cd /tmp; ~/project/scripts/wrap.sh sh made-up.mjs",
        "npm test -- way",
    ];
    for command in handed {
        assert_eq!(judged(&machine, &write(command)).tier, Tier::High, "{command}");
    }
    all(
        &machine,
        "medium",
        &[
            "cargo test 2>&1 | tee /tmp/made-up.log",
            "cargo test > /tmp/made-up.log 2>&1; tail -50 /tmp/made-up.log; cargo clippy",
            "cargo test > /tmp/made-up.log 2>&1; grep -c FAILED /tmp/made-up.log | sort; cargo clippy",
            "npm run dev > /tmp/made-up.log 2>&1 &",
            "npm run build > /tmp/made-up.log && npm test -- --reporters=default,json src/app.ts:3",
            "npm run build > /tmp/made-up.log && npm test -- http://localhost:3000/a",
            "./scripts/run.sh src/lib.rs < data.csv",
            "./scripts/run.sh /tmp/made-up",
        ],
    );
}

#[test]
fn a_line_of_a_loop_comes_after_every_other_of_it() {
    let machine = furnished();
    stopped(
        &machine,
        &[
            "for i in 1 2; do ./scripts/build.sh; cp untracked.sh scripts/build.sh; done",
            "for i in $(seq 9); do ./scripts/build.sh; cp untracked.sh scripts/build.sh; done",
            "for f in *.md; do make test; cp \"$f\" Makefile; done",
            "for d in src docs; do (cd $d && make test); cp untracked.sh src/Makefile; done",
            "while make test; do cp untracked.sh Makefile; done",
            "until make test; do cp untracked.sh Makefile; done",
            "while read -r f; do make test; cp \"$f\" Makefile; done < list.txt",
            "while true; do while make test; do sleep 1; done; cp untracked.sh Makefile; done",
            "for i in 1 2; do npm test -- /tmp/made-up; echo x > /tmp/made-up; done",
        ],
    );
    all(
        &machine,
        "medium",
        &[
            "for i in 1 2 3; do cargo test; done",
            "for i in 1 2 3; do ./scripts/run.sh; done",
            "for f in $(ls docs); do ./scripts/run.sh \"$f\"; done",
            "while ! ./scripts/run.sh; do sleep 1; done",
            "for i in 1 2 3; do cargo test 2>&1 | tail -3; sleep 1; done",
            "for d in src docs; do (cd $d && make test > /tmp/made-up.log); done",
            "until npm run ready > /tmp/made-up.log; do sleep 1; done",
        ],
    );
    all(
        &machine,
        "low",
        &[
            "for f in src/*.rs; do sed -i s/a/b/ \"$f\"; done",
            "for n in a b; do mkdir -p \"made-$n\"; done",
        ],
    );
}

#[test]
fn what_runs_beside_other_lines_may_come_after_them() {
    let machine = furnished();
    stopped(
        &machine,
        &[
            "./scripts/run.sh & cp untracked.sh scripts/run.sh",
            "{ sleep 1; ./scripts/run.sh; } & cp untracked.sh scripts/run.sh; wait",
            "(./scripts/run.sh &); cp untracked.sh scripts/run.sh",
            "bash -c './scripts/run.sh &'; cp untracked.sh scripts/run.sh",
            "(sleep 1; ./scripts/run.sh) | cp untracked.sh scripts/run.sh",
            "make test | cp untracked.sh Makefile",
            "{ sleep 1; make test; } | tee Makefile",
            "trap \"$HOME/project/scripts/run.sh\" EXIT; cp untracked.sh scripts/run.sh",
        ],
    );
    all(
        &machine,
        "medium",
        &[
            "npm run dev > /tmp/made-up.log 2>&1 & sleep 3; cat /tmp/made-up.log; npm test",
            "cargo build & cargo test & wait",
            "./scripts/run.sh > /tmp/made-up.log 2>&1 & sleep 3; tail /tmp/made-up.log",
            "./scripts/run.sh | tail -3",
            "./scripts/run.sh 2>&1 | tee /tmp/made-up.log | grep -c x",
            "trap 'echo done' EXIT; cargo test",
            "cargo build 2>&1 | grep warning > /tmp/made-up.log && cargo test",
            "cargo test 2>&1 | tee made-up.log",
        ],
    );
}

#[test]
fn what_a_compiler_makes_is_not_the_projects_own() {
    let machine = furnished();
    all(
        &machine,
        "high",
        &[
            "cd target && rustc ../untracked.rs && ./untracked",
            "rustc untracked.rs --out-dir target && target/untracked",
            "cd target && gcc -o x ../src/x.c && ./x",
        ],
    );
    all(
        &machine,
        "medium",
        &["rustc src/main.rs", "cd target && rustc ../src/main.rs"],
    );
}

#[test]
fn an_interpreter_that_is_run_by_its_path_is_told_code_all_the_same() {
    let machine = furnished();
    machine.git(&["add", "-f", ".venv"]);
    machine.git(&["commit", "-q", "-m", "all of it"]);
    stopped(
        &machine,
        &[
            ".venv/bin/python -c 'import shutil; shutil.rmtree(\"x\")'",
            ".venv/bin/python3.12 -c 'import shutil; shutil.rmtree(\"x\")'",
            ".venv/bin/python - <<'E'\nimport shutil\nE",
            "echo 'import shutil' | .venv/bin/python",
            ".venv/bin/python < list.txt",
            "cat list.txt | .venv/bin/python -",
        ],
    );
    all(
        &machine,
        "medium",
        &[
            ".venv/bin/python scripts/tool.py",
            ".venv/bin/pytest -q",
            "source .venv/bin/activate && pytest",
        ],
    );
}

#[test]
fn everyday_sequences_stay_what_they_are() {
    let machine = furnished();
    all(
        &machine,
        "medium",
        &[
            "rm -rf target && cargo build",
            "npm run lint && npm test",
            "mkdir -p dist && npm run build",
            "cargo build && cargo test",
            "cargo test 2>&1 | tee /tmp/made-up",
            "npm run dev > /tmp/made-up.log 2>&1 &",
            "source .venv/bin/activate && pytest",
            "npm run build && ls dist && cat dist/made-up.js",
            "git pull && git log -3",
            "git pull && rm -rf target",
            "curl -s https://docs.rs/x -o /tmp/made-up && jq . /tmp/made-up",
        ],
    );
}

#[test]
fn what_runs_again_later_or_at_once_meets_the_links_that_are_made_meanwhile() {
    let machine = furnished();
    machine.write("untracked.sh", "echo x");
    stopped(
        &machine,
        &[
            "find . -maxdepth 1 -name '*.md' -exec rm -rf l/other \\; -exec mv docs/h l \\;",
            "echo a b | xargs -n1 sh -c 'rm -rf l/other; mv docs/h l'",
            "echo a b | xargs -n1 sh -c 'rm -rf l/other; git merge -q evil'",
            "find . -maxdepth 1 -name '*.md' -exec ./scripts/run.sh \\; -exec cp untracked.sh scripts/run.sh \\;",
            "watch 'rm -rf l/other; mv docs/h l'",
            "setsid -f make test; cp untracked.sh scripts/run.sh",
            "rm -rf l/other | mv docs/h l",
            "rm -rf node_modules l/other | git switch -q evil",
        ],
    );
    for command in [
        "find docs -name '*.md' -exec sed -i s/a/b/ {} +",
        "ls | xargs -n1 wc -l",
        "make test | tee /tmp/log",
    ] {
        let found = judged(&machine, command);
        assert!(
            found.proven() && found.tier <= Tier::Medium,
            "{command}: {}",
            found.tier
        );
    }
}
