//! Commands and code inside commands: inline code, standard input, words from data, containers.

use crate::{Machine, all, verdict};

const LOADS_JSON: &str = "python3 -c 'import json,sys; print(json.load(sys.stdin))' < package.json";

#[test]
fn a_module_in_the_directory_is_run_in_place_of_the_library() {
    let machine = Machine::new();
    all(&machine, "safe", &[LOADS_JSON]);
    for name in ["json.py", "re/__init__.py", "Enum.so"] {
        let machine = Machine::new();
        machine.write(name, "x = 1\n");
        assert_eq!(verdict(&machine, LOADS_JSON), "high", "{name}");
    }
    let after_a_write = format!("cp data.csv json.py; {LOADS_JSON}");
    assert_eq!(verdict(&machine, &after_a_write), "high");
}

#[test]
fn what_node_requires_is_json_only_as_a_file_of_that_name() {
    let machine = Machine::new();
    machine.link("evil.json", "src/app.ts");
    machine.write("dir.json/index.js", "x\n");
    all(
        &machine,
        "high",
        &[
            "node -p \"require('./evil.json')\"",
            "node -p \"require('./dir.json')\"",
            "node -p \"require('./missing.json')\"",
            "cp data.csv x.json; node -p \"require('./package.json')\"",
        ],
    );
    all(&machine, "safe", &["node -p \"require('./package.json').name\""]);
}

#[test]
fn names_that_xargs_splits_are_words_that_are_not_known() {
    let machine = Machine::new();
    all(&machine, "safe", &["find src -type f | xargs wc -l"]);
    machine.write("src/a -x", "x\n");
    all(
        &machine,
        "unproven",
        &["find src -type f | xargs ls", "find src | xargs ls"],
    );
    all(&machine, "safe", &["find src -type f -print0 | xargs -0 wc -l"]);
    let machine = Machine::new();
    std::fs::create_dir_all(machine.project().join("src/b -x")).expect("a directory");
    all(&machine, "unproven", &["find src | xargs ls"]);
    let machine = Machine::new();
    machine.write("-x", "fn\n");
    all(
        &machine,
        "unproven",
        &["rg -l fn | xargs cat", "grep -rl fn | xargs cat"],
    );
    all(&machine, "safe", &["rg -l fn src | xargs cat"]);
}

#[test]
fn words_from_data_are_judged_as_what_they_name() {
    let machine = Machine::new();
    all(
        &machine,
        "high",
        &[
            "find . -type f | xargs cat",
            "echo .env | xargs cat",
            "ls | xargs -I{} cat .env",
        ],
    );
    all(
        &machine,
        "critical",
        &["printf '%s\\n' ~ | xargs rm -rf", "echo ~ | xargs -I{} rm -rf {}"],
    );
    all(
        &machine,
        "unproven",
        &[
            "find . -name '*.rs' -printf '%p -x' | xargs ls",
            "find . -name '*.rs' 2>&1 | xargs ls",
            "find . -name '*.rs' | tr a b | xargs ls",
            "git ls-files ../x | xargs ls",
            "find . | xargs -d x ls",
            "git ls-files -z | xargs ls",
        ],
    );
}

#[test]
fn code_on_standard_input_is_the_code_that_runs() {
    let machine = Machine::new();
    all(
        &machine,
        "critical",
        &[
            "bash <<'E'\nls\nrm -rf ~\nE",
            "cat <<'E' | sh\nrm -rf ~\nE",
            "echo 'rm -rf ~' | env bash -s",
            "timeout 5 sh <<< 'rm -rf ~'",
        ],
    );
    all(
        &machine,
        "high",
        &[
            "cat README.md | sh",
            "sh < README.md",
            "bash <<'E'\nread -n2 x\n# rm notes.txt\nE",
        ],
    );
}
