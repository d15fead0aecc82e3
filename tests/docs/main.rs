//! The documentation is run: every `$ ` line of a fenced `console` or `sh` block in README.md and docs/*.md, file by
//! file, each in a fresh HOME and a fresh copy of a small project. The output shown must be the output printed; `...`
//! stands for any text, and alone on a line for any lines. The home's path is shown as `/home/dev`. A command must
//! succeed; a failure is shown by `; echo "status $?"`.

mod commands;
mod demo;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const ANY: &str = "...";

#[test]
fn every_session_that_the_documentation_shows_runs_as_shown() {
    let wrong: Vec<String> = pages().iter().flat_map(|page| check(page)).collect();
    assert!(
        wrong.is_empty(),
        "the documentation shows what is not so:\n\n{}",
        wrong.join("\n\n")
    );
}

#[test]
fn the_readme_shows_sessions_that_are_run() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    assert!(!steps(&readme).is_empty(), "README.md has no `console` block");
}

#[test]
fn every_test_that_the_page_on_security_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/security.md")).expect("the page");
    let is_test = |name: &&str| name.matches('_').count() > 3 && !name.contains([' ', '/', '.']);
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() > 30, "{}", named.len());
    let mut sources = String::new();
    let mut places = vec![root.join("crates/relay")];
    while let Some(place) = places.pop() {
        if place.is_dir() {
            let inside = fs::read_dir(place).expect("a directory");
            places.extend(inside.map(|entry| entry.expect("an entry").path()));
        } else if place.extension().is_some_and(|extension| extension == "rs") {
            sources += &fs::read_to_string(place).expect("a source");
        }
    }
    for name in named {
        assert!(
            sources.contains(&format!("fn {name}(")),
            "docs/security.md names {name}"
        );
    }
}

#[test]
fn the_entry_that_the_catalogs_page_shows_is_one_that_the_build_takes() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/catalog.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, entry) = page.split_once("```toml\n").expect("an entry");
    let (entry, _) = entry.split_once("```").expect("its end");
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    fs::write(dir.path().join("page.toml"), entry).expect("the entry's file");
    let entries = catalog_spec::load_dir(dir.path()).expect("an entry without mistakes");
    assert_eq!(entries.len(), 1);
}

#[test]
fn the_page_of_the_sdks_holds_the_example_programs_to_the_letter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/sdk.md")).expect("the page");
    let examples: Vec<PathBuf> = fs::read_dir(root.join("examples"))
        .expect("the examples")
        .map(|entry| entry.expect("an example").path())
        .collect();
    assert!(!examples.is_empty());
    for example in examples {
        let text = fs::read_to_string(&example).expect("an example");
        let has = ["js", "python", "rust"]
            .iter()
            .any(|language| page.contains(&format!("```{language}\n{text}```")));
        assert!(has, "docs/sdk.md does not hold {} as it stands", example.display());
    }
}

#[test]
fn every_page_that_is_linked_is_there() {
    for page in pages() {
        let text = fs::read_to_string(&page).expect("the page");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let file = link.split('#').next().unwrap_or_default();
            assert!(page.with_file_name(file).exists(), "{}: {link}", page.display());
        }
    }
}

#[test]
fn shown_output_must_be_printed_to_the_letter() {
    assert!(agree("one\ntwo", "one\ntwo\n"));
    assert!(!agree("one\ntwo", "one\ntoo"));
    assert!(!agree("one", "one\ntwo"));
    assert!(!agree("", "something"));
}

#[test]
fn dots_stand_for_any_text_within_their_line_or_for_any_lines() {
    assert!(agree("took ... ms", "took 12 ms"));
    assert!(!agree("took ... ms", "took 12 s"));
    assert!(agree("first\n...\nlast", "first\na\nb\nlast"));
    assert!(agree("first\n...", "first"));
    assert!(!agree("first\n...\nlast", "first\na"));
    assert!(!agree("a ... b", "a\nb"));
}

#[test]
fn a_page_gives_its_commands_with_their_outputs_in_order() {
    let page =
        "text\n```console\n$ one\nout\n$ two \\\n> more\n```\n```sh\nnot shown as run\n```\n```rust\n$ no\n```\n";
    let steps = steps(page);
    let told: Vec<_> = steps
        .iter()
        .map(|step| (step.line, step.command.as_str(), step.shown.as_str()))
        .collect();
    assert_eq!(told, [(3, "one", "out\n"), (5, "two \\\nmore", "")]);
}

/// One command of a page, and the output that the page shows for it.
struct Step {
    line: usize,
    command: String,
    shown: String,
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(root.join("docs"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let mut pages: Vec<_> = docs
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.push(root.join("README.md"));
    pages.retain(|page| page.exists());
    pages.sort();
    pages
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    // Within a block: whether it is one that is run, and whether a command was seen in it.
    let (mut block, mut begun) = (None, false);
    for (number, line) in page.lines().enumerate() {
        if let Some(kind) = line.strip_prefix("```") {
            (block, begun) = (block.is_none().then(|| matches!(kind.trim(), "console" | "sh")), false);
        } else if block != Some(true) {
            continue;
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                line: number + 1,
                command: command.to_owned(),
                shown: String::new(),
            });
            begun = true;
        } else if let Some(step) = steps.last_mut().filter(|_| begun) {
            match line.strip_prefix("> ").filter(|_| step.shown.is_empty()) {
                Some(more) => step.command.extend(["\n", more]),
                None => step.shown.extend([line, "\n"]),
            }
        }
    }
    steps
}

/// Runs a page's commands in order; gives a report for each that does not do what is shown.
fn check(page: &Path) -> Vec<String> {
    let steps = steps(&fs::read_to_string(page).expect("the page"));
    if steps.is_empty() {
        return Vec::new();
    }
    let home = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a home");
    let project = lay_out_project(home.path());
    let judge = |step: &Step| {
        let (printed, succeeded) = run(&step.command, home.path(), &project);
        let place = format!("{}:{}: $ {}", page.display(), step.line, step.command);
        match (succeeded, agree(&step.shown, &printed)) {
            (true, true) => None,
            (false, _) => Some(format!("{place}\nfailed and printed:\n{printed}")),
            (true, false) => Some(format!(
                "{place}\nis shown to print:\n{}but printed:\n{printed}",
                step.shown
            )),
        }
    };
    steps.iter().filter_map(judge).collect()
}

/// What the command printed on both outputs together, and whether it succeeded.
fn run(command: &str, home: &Path, project: &Path) -> (String, bool) {
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign"))
        .parent()
        .expect("the binary's directory");
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1\n{command}"))
        .current_dir(project)
        .env_clear()
        .env("HOME", home)
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display()))
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("sh starts");
    let printed = String::from_utf8_lossy(&output.stdout).replace(&home.display().to_string(), "/home/dev");
    (printed, output.status.success())
}

/// A small shop in `home`: a git repository with a little of everything that the documentation speaks of.
fn lay_out_project(home: &Path) -> PathBuf {
    let project = home.join("shop");
    fs::create_dir_all(project.join("src")).expect("the project");
    for (file, text) in [
        ("README.md", "# Shop\n"),
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        ),
        ("src/main.rs", "fn main() {\n    // TODO: sell something\n}\n"),
    ] {
        fs::write(project.join(file), text).expect("a project file");
    }
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=Dev",
            "-c",
            "user.email=dev@example.invalid",
            "commit",
            "--quiet",
            "-m",
            "Open the shop",
        ],
    ] {
        let done = Command::new("git")
            .args(words)
            .current_dir(&project)
            .env("HOME", home)
            .status();
        let done = done.unwrap_or_else(|error| panic!("this test needs the program `git`: {error}"));
        assert!(done.success(), "git {words:?} failed");
    }
    project
}

fn agree(shown: &str, printed: &str) -> bool {
    let lines = |text: &str| {
        text.trim_end()
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    lines_agree(&lines(shown), &lines(printed))
}

fn lines_agree(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == ANY => {
            lines_agree(rest, printed)
                || printed
                    .split_first()
                    .is_some_and(|(_, later)| lines_agree(shown, later))
        }
        (Some((first, rest)), Some((line, later))) => line_agrees(first, line) && lines_agree(rest, later),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Whether the parts of `shown` between its dots stand in `line` in their order, the outer ones at its ends.
fn line_agrees(shown: &str, line: &str) -> bool {
    let parts: Vec<&str> = shown.split(ANY).collect();
    let [first, middle @ .., last] = &parts[..] else {
        return shown == line;
    };
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
