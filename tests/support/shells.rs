//! Runs the real shells on many scripts: as nobody, without network, programs or a writable file system.

use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::cage::{HOME, cage};

/// An id that owns nothing.
const NOBODY: u32 = 65_534;
/// How long one shell may take over all its scripts, from its start; then it is killed and the test fails.
const PATIENCE: Duration = Duration::from_secs(900);

/// Reads scripts from standard input, each ended by NUL; writes a status and the messages for each.
const CHECK_BASH: &str = r#"
while IFS= read -r -d '' source; do
  message=$(eval "set -n
$source" 2>&1); printf '%s\0%s\0' "$?" "$message"
done"#;

/// zsh parses all that `eval` is given before it runs any of it.
const CHECK_ZSH: &str = r#"
while IFS= read -r -d '' source; do
  message=$(eval "exit 0
$source" 2>&1); printf '%s\0%s\0' "$?" "$message"
done"#;

/// Runs each script, a newline as RS so that a record is one write; writes its number and the words, US between them, of every command that the shell did not find.
const RUN_BASH: &str = r#"
exec 200>&1
FUNCNEST=6 NUMBER=0
command_not_found_handle() { local IFS=$'\x1f'; local line="$*" from=$'\n' to=$'\x1e'; printf '%s %s\0' "$NUMBER" "${line//$from/$to}" >&200; return $((RANDOM % 2)); }
while IFS= read -r -d '' source; do
  (ulimit -t 1; eval "$source") </dev/null >/dev/null 2>&1
  NUMBER=$((NUMBER + 1))
done"#;

const RUN_ZSH: &str = r#"
setopt no_nomatch
zmodload zsh/datetime
exec 9>&1
FUNCNEST=6 NUMBER=0
command_not_found_handler() { local IFS=$'\x1f'; local line="$*" from=$'\n' to=$'\x1e'; printf '%s %s\0' "$NUMBER" "${line//$from/$to}" >&9; return $((${EPOCHREALTIME##*.} % 2)); }
while IFS= read -r -d '' source; do
  (ulimit -t 1; eval "$source") </dev/null >/dev/null 2>&1
  NUMBER=$((NUMBER + 1))
done"#;

/// For each script, whether `shell` accepts its syntax, and what it said.
pub fn checked(shell: Shell, scripts: &[String]) -> Vec<(bool, String)> {
    let driver = match shell {
        Shell::Bash => CHECK_BASH,
        Shell::Zsh => CHECK_ZSH,
    };
    let fields = run(shell, driver, scripts);
    let answers: Vec<(bool, String)> = fields
        .chunks(2)
        .map(|pair| (pair[0] == "0" && !pair[1].contains("here-document"), pair[1].clone()))
        .collect();
    assert_eq!(answers.len(), scripts.len(), "{shell:?} stopped before its last script");
    answers
}

/// For each script, the commands that `shell` tried to run, each as its words.
pub fn tried(shell: Shell, scripts: &[String]) -> Vec<Vec<Vec<String>>> {
    let driver = match shell {
        Shell::Bash => RUN_BASH,
        Shell::Zsh => RUN_ZSH,
    };
    let mut commands = vec![Vec::new(); scripts.len()];
    for record in run(shell, driver, scripts) {
        // A shell that reaches its limit may be stopped in the middle of a record.
        let Some((number, words)) = record.split_once(' ') else {
            continue;
        };
        if let Some(commands) = number.parse().ok().and_then(|number: usize| commands.get_mut(number)) {
            commands.push(words.split('\u{1f}').map(|word| word.replace('\u{1e}', "\n")).collect());
        }
    }
    commands
}

#[derive(Clone, Copy, Debug)]
pub enum Shell {
    Bash,
    Zsh,
}

fn run(shell: Shell, driver: &str, scripts: &[String]) -> Vec<String> {
    let mut child = start(shell, driver);
    let mut input = child.stdin.take().expect("standard input is a pipe");
    let bytes: Vec<u8> = scripts.iter().flat_map(|script| script.bytes().chain([0])).collect();
    let feeder = std::thread::spawn(move || input.write_all(&bytes));
    let mut output = child.stdout.take().expect("standard output is a pipe");
    let (sender, receiver) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let result = output.read_to_end(&mut text).map(|_| text);
        sender.send(()).ok();
        result
    });
    let in_time = receiver.recv_timeout(PATIENCE).is_ok();
    child.kill().ok();
    child.wait().expect("the shell can be waited for");
    let text = reader
        .join()
        .expect("the reader does not panic")
        .expect("the shell's output can be read");
    feeder
        .join()
        .expect("the feeder does not panic")
        .expect("the shell reads all scripts");
    assert!(in_time, "{shell:?} did not finish within {PATIENCE:?}");
    let text = String::from_utf8_lossy(&text);
    let mut fields: Vec<String> = text.split('\0').map(str::to_owned).collect();
    fields.pop();
    fields
}

fn start(shell: Shell, driver: &str) -> Child {
    let mut command = cage(Path::new("/"));
    command.args(["--chdir", HOME, "--setenv", "PATH", "/nonexistent"]);
    match shell {
        Shell::Bash => command.args(["/bin/bash", "--norc", "--noprofile", "-c"]),
        Shell::Zsh => command.args(["/bin/zsh", "-f", "-c"]),
    };
    command.arg(format!("ulimit -f 2000; ulimit -c 0; {driver}"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let root = std::fs::metadata("/proc/self").expect("/proc is mounted").uid() == 0;
    if root {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
        .spawn()
        .unwrap_or_else(|error| panic!("these tests need the program bwrap (bubblewrap): {error}"))
}

/// Panics with the name of the first program that the tests need and do not find.
pub fn check_programs() {
    for (program, path) in [
        ("bash", "/bin/bash"),
        ("zsh", "/bin/zsh"),
        ("bwrap (bubblewrap)", "/usr/bin/bwrap"),
    ] {
        assert!(
            Path::new(path).exists(),
            "these tests need the program {program}, at {path}"
        );
    }
}
