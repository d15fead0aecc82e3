//! What one classification takes inside a process that has started: the parse, the assessment and the decision by the
//! default policy, over everyday commands in a real repository, and over 64 KiB of hostile text.
//!
//! `cargo bench --bench classify`; with `-- --hold` it fails when a bound is passed. What the machine says is asked anew
//! for each call, as the hook does, but for the environment and the project's roots, which a hook reads once.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use countersign::call::Call;
use countersign::facts::Facts;
use countersign::pause::Pause;
use countersign::policy::{Circumstances, Policy, Wiring};
use countersign::shell::MAX_BYTES;
use countersign::wire::EventKind;
use countersign::wire::event::classify_event;
use countersign::{assess, policy};

/// The median over the everyday commands.
const EVERYDAY: Duration = Duration::from_micros(20);
/// Each hostile text.
const HOSTILE: Duration = Duration::from_millis(50);
/// How often each everyday command is classified.
const ROUNDS: usize = 300;

/// The kinds of commands that agents run all day.
const COMMANDS: &[&str] = &[
    "ls -la",
    "pwd",
    "git status",
    "git log --oneline -5",
    "git diff --stat",
    "git branch --show-current",
    "cd src && git status",
    "cat README.md",
    "head -20 README.md",
    "sed -n 1,40p src/main.rs",
    "rg -n TODO src",
    "grep -rn 'fn main' src",
    "find src -name '*.rs'",
    "wc -l src/main.rs",
    "ls src | head",
    "cargo test",
    "cargo build 2>&1 | tail -5",
    "npm test",
    "npm run build",
    "git add -A && git commit -m 'a change'",
    "git push",
    "mkdir -p out",
    "rm -rf target",
    "rm notes.txt",
    "python3 -c 'print(1)'",
    "curl -s https://example.invalid/x",
    "docker ps",
    "gh pr view 12",
    "for f in src/*.rs; do wc -l \"$f\"; done",
    "echo done",
];

fn main() -> ExitCode {
    let hold = std::env::args().any(|word| word == "--hold");
    let project = tempfile::TempDir::new().expect("a temporary directory");
    make(project.path());
    let mut facts = Facts::live(Some(project.path()));
    facts.set_project(project.path());
    let policy = Policy::default();

    println!("{:<46} {:>10}", "everyday", "median");
    let mut medians: Vec<Duration> = COMMANDS
        .iter()
        .map(|command| {
            let call = call(command, project.path());
            let mut times: Vec<Duration> = (0..ROUNDS).map(|_| timed(&call, &policy, &facts)).collect();
            times.sort();
            println!("{command:<46} {:>10.1?}", times[ROUNDS / 2]);
            times[ROUNDS / 2]
        })
        .collect();
    medians.sort();
    let median = medians[medians.len() / 2];
    println!("{:<46} {median:>10.1?}  (bound {EVERYDAY:?})\n", "median of all");

    println!("{:<46} {:>10}", "64 KiB of", "best of 3");
    let mut slowest = Duration::ZERO;
    for (name, text) in hostile() {
        let call = call(&text, project.path());
        let best = (0..3).map(|_| timed(&call, &policy, &facts)).min().expect("three");
        println!("{name:<46} {best:>10.1?}");
        slowest = slowest.max(best);
    }
    println!("{:<46} {slowest:>10.1?}  (bound {HOSTILE:?})", "slowest");
    match hold && (median > EVERYDAY || slowest > HOSTILE) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// One classification, by facts that have forgotten all that the last one looked at.
fn timed(call: &Call, policy: &Policy, facts: &Facts) -> Duration {
    facts.plain.borrow_mut().clear();
    let start = Instant::now();
    let assessment = assess::assess(call, facts);
    let ruling = policy::decide(
        EventKind::PermissionRequest,
        call,
        &assessment,
        Wiring::default(),
        policy,
        &Circumstances::live(Pause::On),
        facts,
    );
    let took = start.elapsed();
    std::hint::black_box(ruling);
    took
}

fn call(command: &str, cwd: &Path) -> Call {
    let event = serde_json::json!({ "tool_name": "Bash", "tool_input": { "command": command }, "cwd": cwd });
    classify_event(&event.to_string()).expect("a Bash call")
}

/// A small repository with what the everyday commands name.
fn make(dir: &Path) {
    for (name, text) in [
        ("README.md", "# Demo\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib.rs", "pub fn a() {}\n"),
        ("Cargo.toml", "[package]\nname = \"demo\"\n"),
        ("Cargo.lock", "version = 4\n"),
        ("package.json", "{\"scripts\":{\"build\":\"true\"}}\n"),
    ] {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a file");
    }
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["commit", "-q", "-m", "start"],
    ] {
        let done = Command::new("git")
            .args(["-c", "user.name=dev", "-c", "user.email=dev@example.invalid"])
            .args(args)
            .current_dir(dir)
            .status()
            .expect("git, which this benchmark needs");
        assert!(done.success(), "git {args:?}");
    }
    fs::write(dir.join("notes.txt"), "mine\n").expect("a file");
}

fn hostile() -> Vec<(&'static str, String)> {
    let numbered = |start: &str, piece: &str, end: &str| {
        let mut text = start.to_owned();
        for number in 0.. {
            let next = piece.replace('#', &number.to_string());
            if text.len() + next.len() + end.len() > MAX_BYTES {
                break;
            }
            text.push_str(&next);
        }
        text + end
    };
    vec![
        ("deep subshells", fill("", "(", "")),
        ("deep substitutions", fill("echo ", "$(", "")),
        ("deep groups", fill("", "{ ", "")),
        ("deep braces", fill("echo ", "{a,", "")),
        ("a path of 32,000 parts", fill("cat ", "a/", "")),
        ("a path of 32,000 parts, deleted", fill("rm -rf /", "a/", "")),
        ("a path of 32,000 parts, run", fill("./", "a/", "x")),
        ("a path of 32,000 parts, written", fill("echo x > ", "a/", "x")),
        ("a path of 32,000 parts of a home", fill("cat ~/", "a/", "")),
        ("a path of 32,000 parts in an assignment", fill("x=", "a/", "; cat $x")),
        ("a path of 32,000 parts, entered", fill("cd ", "a/", " && ls")),
        ("a climb of 20,000 parts", fill("cat ", "../", "x")),
        ("a path of 32,000 parts after git -C", fill("git -C ", "a/", " status")),
        ("a path of 32,000 parts, searched", fill("rg x ", "a/", "")),
        ("a path of 32,000 parts, found", fill("find ", "a/", " -name x")),
        ("a path of 32,000 parts with a pattern", fill("ls ", "a/", "*")),
        (
            "a path of 32,000 parts to an unknown program",
            fill("unknown ", "a/", ""),
        ),
        ("a path of 32,000 parts refused", fill("coproc cat ", "a/", "")),
        ("many words", fill("cat", " a", "")),
        ("many different words", numbered("cat", " a#", "")),
        ("many different paths", numbered("cat", " a#/b/c", "")),
        ("many different deletions", numbered("rm -f", " src/a#", "")),
        ("many quotes", fill("echo ", "'a'\"b\"", "")),
        ("many open quotes", fill("echo ", "'\"", "")),
        ("many commands", fill("", "ls;", "")),
        ("many different commands", numbered("", "cat a#;", "")),
        ("many deletions", numbered("", "rm a#;", "")),
        ("many pipes", fill("ls", "|cat", "")),
        ("many assignments", numbered("", "v#=x;", "")),
        ("many functions", numbered("", "f#() { ls; };", "")),
        ("many unknown commands", numbered("", "unknown# x;", "")),
        (
            "many dangers in quotes of an unknown",
            numbered("unknown '", "rm -rf a#;", "'"),
        ),
        ("many programs after an unknown", fill("unknown", " rm", "")),
        ("many short lists of programs", fill("unknown x;", "a rm cat ls;", "")),
        ("a long here-document", fill("cat <<E\n", "$v `ls`\n", "E\n")),
        (
            "a long here-document run by bash",
            numbered("bash <<'E'\n", "rm a#\n", "E\n"),
        ),
        ("many here-documents", fill("", "cat <<A\nx\nA\n", "")),
        ("a long inner script", numbered("bash -c '", "cat a#;", "'")),
        ("a refused end", numbered("", "rm a#;", "coproc (")),
    ]
}

fn fill(start: &str, piece: &str, end: &str) -> String {
    let count = (MAX_BYTES - start.len() - end.len()) / piece.len();
    format!("{start}{}{end}", piece.repeat(count))
}
