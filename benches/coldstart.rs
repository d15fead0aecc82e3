//! What one call of the hook costs: wall time, processor time and memory against `/bin/true`, interleaved so that a
//! busy machine is busy for both; instructions counted by callgrind; and the size of the binary. Prints the tables of
//! docs/performance.md. `--hold` fails when a bound is passed; `--rounds N` changes the number of rounds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use serde_json::json;
use tempfile::TempDir;

const HOOK: &str = env!("CARGO_BIN_EXE_countersign");
const NOTHING: &str = "/bin/true";
/// Started but not counted, so that files are in the cache.
const WARM_UP: usize = 5;
/// The bounds that `--hold` keeps: instructions of an ordinary call, of one that walks through two hundred files and of
/// one that carries 100 kB; bytes of the binary. How many times `/bin/true` a call may take by the clock is only told:
/// a clock says as much of the machine's other work as of the call.
const ORDINARY: u64 = 1_300_000;
const WALK: u64 = 6_000_000;
const LONG: u64 = 10_000_000;
const TIMES: f64 = 1.7;
const BYTES: u64 = 4 << 20;

fn main() -> ExitCode {
    let options = Options::read();
    if let Some(event) = &options.peak {
        println!("{}", peak(event));
        return ExitCode::SUCCESS;
    }
    let scene = Scene::new();
    let mut over = Vec::new();
    time(&scene, options.rounds);
    count(&scene, &mut over);
    let bytes = fs::metadata(HOOK).expect("the binary's size").len();
    println!("\nThe binary has {bytes} bytes.");
    if bytes > BYTES {
        over.push(format!("the binary has more than {BYTES} bytes"));
    }
    for bound in &over {
        eprintln!("coldstart: over a bound: {bound}");
    }
    match options.hold && !over.is_empty() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

struct Options {
    rounds: usize,
    hold: bool,
    /// Only start the hook on this event and print its peak memory: a process of its own keeps it apart.
    peak: Option<PathBuf>,
}

impl Options {
    fn read() -> Options {
        let mut options = Options {
            rounds: 500,
            hold: false,
            peak: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--rounds" => options.rounds = words.next().and_then(|n| n.parse().ok()).expect("--rounds N"),
                "--hold" => options.hold = true,
                "--peak" => options.peak = Some(words.next().expect("--peak EVENT").into()),
                "--bench" => {} // cargo's own
                other => panic!("coldstart takes --rounds N and --hold, not `{other}`"),
            }
        }
        options
    }
}

/// A real repository, a fresh HOME and the events, one file each.
struct Scene {
    _root: TempDir,
    events: Vec<Event>,
}

struct Event {
    name: &'static str,
    /// At most this many instructions.
    most: u64,
    file: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        let root = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory for the bench");
        let project = root.path().join("project");
        fs::create_dir_all(project.join("src")).expect("the project");
        fs::create_dir_all(root.path().join("home")).expect("the home");
        for number in 0..200 {
            fs::write(project.join(format!("src/part_{number}.rs")), "pub fn part() {}\n").expect("a source file");
        }
        for words in [
            &["init", "--quiet"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=Dev",
                "-c",
                "user.email=dev@example.invalid",
                "commit",
                "--quiet",
                "-m",
                "Begin",
            ],
        ] {
            let done = Command::new("git")
                .args(words)
                .current_dir(&project)
                .env("HOME", root.path())
                .status();
            assert!(
                done.expect("this bench needs the program `git`").success(),
                "git {words:?} failed"
            );
        }
        let long = "a line of a new file\n".repeat(5000);
        let calls = [
            (
                "a safe compound",
                ORDINARY,
                "Bash",
                json!({"command": "cd src && git status", "description": "state"}),
            ),
            (
                "a search of 200 files",
                WALK,
                "Bash",
                json!({"command": "rg -n TODO src | head -20", "description": "search"}),
            ),
            (
                "a dangerous one",
                ORDINARY,
                "Bash",
                json!({"command": "rm -rf ~/projects", "description": "clean"}),
            ),
            (
                "one not understood",
                ORDINARY,
                "Bash",
                json!({"command": "for f in *; do frob $f; done", "description": "x"}),
            ),
            (
                "a write of 100 kB",
                LONG,
                "Write",
                json!({"file_path": project.join("src/new.rs"), "content": long}),
            ),
        ];
        let events = calls.map(|(name, most, tool, input)| {
            let event = json!({
                "session_id": "7e7b1b36-0f54-4d9b-a1a5-2c1b4a8d0c11",
                "transcript_path": root.path().join("home/.claude/projects/p/7e7b1b36.jsonl"),
                "cwd": project, "prompt_id": "0c6f8f0e-7d0a-4b39-9a2e-5d1b9c7a2f44", "permission_mode": "default",
                "effort": {"level": "medium"}, "hook_event_name": "PermissionRequest",
                "tool_name": tool, "tool_input": input,
                "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
            });
            let path = root.path().join(format!("{}.json", name.replace(' ', "-")));
            fs::write(&path, format!("{event}\n")).expect("an event file");
            Event { name, most, file: path }
        });
        Scene {
            events: events.into(),
            _root: root,
        }
    }
}

/// The program, ready to start on `event` as the host would start it: nothing of this process's environment but the
/// search path, and the event on standard input.
fn command(program: &str, event: &Path) -> Command {
    let root = event.parent().expect("the scene's directory");
    let mut command = Command::new(program);
    command
        .current_dir(root.join("project"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", root.join("home"))
        .env("CLAUDECODE", "1")
        .env("CLAUDE_PROJECT_DIR", root.join("project"))
        .stdin(File::open(event).expect("the event"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn hook(event: &Path) -> Command {
    let mut hook = command(HOOK, event);
    hook.arg("hook");
    hook
}

fn children() -> Usage {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("the children's usage")
}

fn processor_time(usage: &Usage) -> Duration {
    let micros =
        |time: nix::sys::time::TimeVal| Duration::from_micros((time.tv_sec() * 1_000_000 + time.tv_usec()) as u64);
    micros(usage.user_time()) + micros(usage.system_time())
}

#[derive(Default)]
struct Samples {
    wall: Vec<Duration>,
    processor: Vec<Duration>,
}

impl Samples {
    fn take(&mut self, mut command: Command) {
        let before = processor_time(&children());
        let start = Instant::now();
        let status = command.status().expect("the program starts");
        self.wall.push(start.elapsed());
        self.processor.push(processor_time(&children()) - before);
        assert!(
            status.success(),
            "{command:?} ended with {status}: nothing is measured by a failure"
        );
    }

    fn medians(&mut self) -> (f64, f64) {
        (median(&mut self.wall), median(&mut self.processor))
    }
}

/// In microseconds.
fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn time(scene: &Scene, rounds: usize) {
    let mut nothing = Samples::default();
    let mut hooks: Vec<Samples> = scene.events.iter().map(|_| Samples::default()).collect();
    for round in 0..WARM_UP + rounds {
        if round == WARM_UP {
            nothing = Samples::default();
            hooks.fill_with(Samples::default);
        }
        nothing.take(command(NOTHING, &scene.events[0].file));
        for (samples, event) in hooks.iter_mut().zip(&scene.events) {
            samples.take(hook(&event.file));
        }
    }
    let (wall, processor) = nothing.medians();
    println!("Medians of {rounds} interleaved rounds.\n");
    println!("| call | wall µs | processor µs | peak kB | × wall | × processor |\n|---|---|---|---|---|---|");
    println!("| `{NOTHING}` | {wall:.0} | {processor:.0} | | 1.00 | 1.00 |");
    for (samples, Event { name, file, .. }) in hooks.iter_mut().zip(&scene.events) {
        let (hook_wall, hook_processor) = samples.medians();
        let (times, times_processor) = (hook_wall / wall, hook_processor / processor);
        let peak = peak_apart(file);
        println!("| {name} | {hook_wall:.0} | {hook_processor:.0} | {peak} | {times:.2} | {times_processor:.2} |");
        if times > TIMES {
            println!("More than {TIMES} times `{NOTHING}`: {name}.");
        }
    }
}

/// The hook's peak memory in kB, asked of a fresh process that has no other children.
fn peak_apart(event: &Path) -> String {
    let bench = std::env::current_exe().expect("this program's path");
    let output = Command::new(bench)
        .arg("--peak")
        .arg(event)
        .output()
        .expect("this program starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn peak(event: &Path) -> i64 {
    let status = hook(event).status().expect("the hook starts");
    assert!(status.success(), "the hook ended with {status}");
    children().max_rss()
}

fn count(scene: &Scene, over: &mut Vec<String>) {
    println!("\n| call | instructions |\n|---|---|");
    for Event { name, most, file } in &scene.events {
        let mut counted = command("valgrind", file);
        counted
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", HOOK, "hook"])
            .stderr(Stdio::piped());
        let output = counted.output().expect("this bench needs the program `valgrind`");
        let report = String::from_utf8_lossy(&output.stderr);
        let collected = report
            .lines()
            .find_map(|line| line.split_once("Collected :")?.1.trim().parse::<u64>().ok());
        let collected = collected.unwrap_or_else(|| panic!("callgrind gave no count:\n{report}"));
        println!("| {name} | {collected} |");
        if collected > *most {
            over.push(format!("{name}: {collected} instructions, and {most} is the most"));
        }
    }
}
