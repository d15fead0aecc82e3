//! What one classification takes inside a process that has started: the parse, the assessment and the decision by the
//! default policy, over everyday commands in a real repository, and over 64 KiB of hostile text.
//!
//! `cargo bench --bench classify`; further words choose the texts whose names hold them. Everyday commands are classified
//! twice: by facts that remember what the file system said, which leaves the classification itself, and by facts that ask
//! it anew for each call, as the hook does. Times are told; with `-- --hold` callgrind counts the instructions, and it
//! fails when they pass a bound.

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
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// At most so many instructions: the mean of the everyday commands, where nothing is asked of the file system.
const EVERYDAY: u64 = 150_000;
/// At most so many instructions of each hostile text.
const HOSTILE: u64 = 300_000_000;
/// How often callgrind sees the everyday commands once what is remembered is known.
const COUNTED: u64 = 10;
/// Only classify, once or more, the commands of a file: what callgrind is started with.
const COUNT: &str = "--count";
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
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, project, commands, times] = words.as_slice()
        && flag == COUNT
    {
        classify_all(
            Path::new(project),
            Path::new(commands),
            times.parse().expect("a number"),
        );
        return ExitCode::SUCCESS;
    }
    let hold = words.iter().any(|word| word == "--hold");
    let chosen: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|word| name.contains(word.as_str()));
    let everyday: Vec<&str> = COMMANDS.iter().copied().filter(|command| is_chosen(command)).collect();
    let hostile: Vec<(&str, String)> = hostile().into_iter().filter(|(name, _)| is_chosen(name)).collect();
    let project = tempfile::TempDir::new().expect("a temporary directory");
    make(project.path());
    time(project.path(), &everyday, &hostile);
    match hold && !count(project.path(), &everyday, &hostile) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// Facts of the project, as far as they are asked for.
fn facts(project: &Path) -> Facts {
    let mut facts = Facts::live(Some(project));
    facts.set_project(project);
    facts
}

fn time(project: &Path, everyday: &[&str], hostile: &[(&str, String)]) {
    let (mut facts, policy) = (facts(project), Policy::default());
    println!("{:<46} {:>10} {:>10}", "everyday", "remembered", "asked anew");
    let (mut remembered, mut asked) = (Vec::new(), Vec::new());
    for command in everyday {
        let call = call(command, project);
        timed(&call, &policy, &facts);
        remembered.push(median((0..ROUNDS).map(|_| timed(&call, &policy, &facts))));
        asked.push(median((0..ROUNDS).map(|_| {
            facts.forget();
            timed(&call, &policy, &facts)
        })));
        let last = |times: &[Duration]| times[times.len() - 1];
        println!("{command:<46} {:>10.1?} {:>10.1?}", last(&remembered), last(&asked));
    }
    println!(
        "{:<46} {:>10.1?} {:>10.1?}\n",
        "median of all",
        median(remembered.into_iter()),
        median(asked.into_iter())
    );
    println!("{:<46} {:>10}", "64 KiB of, in processor time", "best of 3");
    for (name, text) in hostile {
        let call = call(text, project);
        let times = (0..3).map(|_| {
            facts.forget();
            let before = processor_time();
            timed(&call, &policy, &facts);
            processor_time() - before
        });
        println!("{name:<46} {:>10.1?}", times.min().expect("three"));
    }
}

/// Counts instructions and says them; whether all are within their bounds.
fn count(project: &Path, everyday: &[&str], hostile: &[(&str, String)]) -> bool {
    let none = counted(project, &[], 0);
    let mean = match everyday.len() as u64 {
        0 => 0,
        commands => {
            let known = counted(project, everyday, 1);
            (counted(project, everyday, 1 + COUNTED) - known) / COUNTED / commands
        }
    };
    println!("\n{:<46} {:>13}", "instructions", "");
    println!("{:<46} {mean:>13}  (bound {EVERYDAY})", "everyday, the mean of all");
    let mut most = 0;
    for (name, text) in hostile {
        let count = counted(project, &[text], 1) - none;
        println!("{name:<46} {count:>13}");
        most = most.max(count);
    }
    println!("{:<46} {most:>13}  (bound {HOSTILE})", "the most");
    mean <= EVERYDAY && most <= HOSTILE
}

/// The instructions of a process that classifies these commands so many times.
fn counted(project: &Path, commands: &[&str], times: u64) -> u64 {
    let file = project.with_extension("commands");
    fs::write(&file, serde_json::json!(commands).to_string()).expect("a file");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("this program's path"))
        .arg(COUNT)
        .args([project, &file])
        .arg(times.to_string())
        .output()
        .expect("this bench needs the program `valgrind`");
    fs::remove_file(&file).expect("the file is there");
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.unwrap_or_else(|| panic!("callgrind gave no count:\n{report}"))
}

/// What callgrind looks at.
fn classify_all(project: &Path, commands: &Path, times: u64) {
    let commands = fs::read_to_string(commands).expect("the commands");
    let commands: Vec<String> = serde_json::from_str(&commands).expect("a list of commands");
    let (facts, policy) = (facts(project), Policy::default());
    let calls: Vec<Call> = commands.iter().map(|command| call(command, project)).collect();
    for _ in 0..times {
        for call in &calls {
            timed(call, &policy, &facts);
        }
    }
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// What this process has taken of a processor so far, so that other processes do not count.
fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the usage of this process");
    let micros = |time: TimeVal| Duration::from_micros((time.tv_sec() * 1_000_000 + time.tv_usec()) as u64);
    micros(usage.user_time()) + micros(usage.system_time())
}

/// One classification.
fn timed(call: &Call, policy: &Policy, facts: &Facts) -> Duration {
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
        ("many wrappers", fill("", "env ", "ls")),
        ("many wrappers after an unknown", fill("unknown", " env", " ls")),
        (
            "a long text after many evals",
            numbered(&format!("unknown {}'", "eval ".repeat(30)), "cat a#;", "'"),
        ),
        ("many evals of what is refused", fill("", "eval 'coproc (", "")),
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
