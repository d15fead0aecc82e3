//! Was the call answered in another place already, or has its session ended? Then its card must go.
//!
//! The host ends its hook with SIGTERM when the person refuses a call, but when they allow it only once the tool has
//! finished. Until then three things tell: a new child of the host that runs this very command (Linux, by `/proc`); the
//! result of the call in the session's transcript; and that the host is gone. None of them opens anything: a sign that is
//! mistaken takes a card down and leaves the question with the host's own dialog.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use super::{Why, Withdrawal};
use crate::call::{Call, Input};
use crate::process::{Told, told};

/// How often it is looked.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// How much of the transcript's end is read for calls that were made before, in bytes: the model's message with this call is
/// among the last things in it.
const LOOKED_BACK: u64 = 2 * 1024 * 1024;
/// The most that is read of it at once, in bytes.
const MAX_READ: u64 = 8 * 1024 * 1024;

/// The signs that a call was answered, as they were when it was asked about.
#[derive(Debug)]
pub struct Signs {
    hosts: Vec<Host>,
    command: Option<String>,
    transcript: Option<Transcript>,
}

impl Signs {
    /// Notes how things stand now. The first of `hosts` is the host itself.
    pub fn of(call: &Call, hosts: &[u32], transcript: Option<PathBuf>) -> Self {
        let command = match &call.input {
            Input::Shell { command, .. } => Some(bare(command)),
            _ => None,
        };
        Signs {
            hosts: hosts.iter().map(|id| Host::of(*id)).collect(),
            command,
            transcript: transcript.and_then(|path| Transcript::open(path, call)),
        }
    }

    /// Why the question is settled, if there is a sign of it now.
    pub fn look(&mut self) -> Option<Why> {
        if self.hosts.first().is_some_and(|host| !host.lives()) {
            return Some(Why::SessionEnded);
        }
        let runs = self.command.as_ref().is_some_and(|command| {
            let mut hosts = self.hosts.iter_mut();
            hosts.any(|host| host.has_started(command))
        });
        let has_result = self.transcript.as_mut().is_some_and(Transcript::has_result);
        (runs || has_result).then_some(Why::AnsweredElsewhere)
    }

    /// Looks from time to time, in a thread of its own, and takes the question back once there is a sign.
    pub fn watch(mut self, withdrawal: Arc<Withdrawal>) {
        thread::spawn(move || {
            while withdrawal.wait(BETWEEN_LOOKS).is_none() {
                if let Some(why) = self.look() {
                    withdrawal.withdraw(why);
                }
            }
        });
    }
}

/// Tells why the host ends its hook, when it does: the question was answered, or its session ends with it. The first of
/// `hosts` is the host itself.
pub fn why_ended(hosts: &[u32]) -> impl Fn() -> Why + Send + use<> {
    let host = hosts.first().map(|id| Host::of(*id));
    move || match &host {
        Some(host) if !host.lives() || host.has_lost_terminal() => Why::SessionEnded,
        _ => Why::AnsweredElsewhere,
    }
}

/// A process that starts the agent's commands.
#[derive(Debug)]
struct Host {
    id: u32,
    /// When it started, in the kernel's count; `None` where the system does not say.
    started: Option<String>,
    /// Its terminal, by number; 0: it has none.
    terminal: Option<String>,
    /// Children that were looked at.
    known: HashSet<u32>,
}

impl Host {
    fn of(id: u32) -> Self {
        Host {
            id,
            started: told(id, Told::Started),
            terminal: told(id, Told::Terminal),
            known: children(id).collect(),
        }
    }

    fn lives(&self) -> bool {
        let named = i32::try_from(self.id).ok().and_then(Pid::from_raw);
        // Another user's process is there too.
        let is_there = named.is_some_and(|id| !matches!(test_kill_process(id), Err(rustix::io::Errno::SRCH)));
        // One that has ended stays listed until its parent asks after it, which some never do.
        is_there
            && self.started == told(self.id, Told::Started)
            && told(self.id, Told::State).is_none_or(|state| state != "Z")
    }

    /// Whether the terminal that it had is gone; the system takes it from all that ran there.
    fn has_lost_terminal(&self) -> bool {
        self.terminal.is_some() && self.terminal != told(self.id, Told::Terminal)
    }

    /// Whether a child that is new runs this command, given without its quotes.
    fn has_started(&mut self, command: &str) -> bool {
        let mut found = false;
        for child in children(self.id) {
            if self.known.contains(&child) {
                continue;
            }
            let arguments = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            let arguments = String::from_utf8_lossy(&arguments);
            // A child that has not become its program yet is looked at again.
            if !arguments.contains(EVAL) {
                continue;
            }
            self.known.insert(child);
            found |= runs(&arguments, command);
        }
        found
    }
}

const EVAL: &str = "eval";

/// The host runs a command as `bash -c '.. && eval 'COMMAND' < /dev/null && pwd ..'` (2.1.207 to 2.1.332), with its quotes
/// quoted once more.
fn runs(arguments: &str, command: &str) -> bool {
    let arguments = bare(arguments);
    // What stands before it, a path of the person's among it, may hold the same letters.
    let mut evaluated = arguments
        .match_indices(EVAL)
        .map(|(at, _)| &arguments[at + EVAL.len()..]);
    evaluated.any(|text| {
        text.strip_prefix(command).is_some_and(|rest| {
            let rest = rest.trim_start_matches("</dev/null");
            rest.is_empty() || rest.starts_with("&&pwd") || rest.starts_with('\0')
        })
    })
}

/// A text without quotes, backslashes and blanks, in which every way of quoting a command is the same.
fn bare(text: &str) -> String {
    let kept = |c: &char| !matches!(c, '\'' | '"' | '\\') && !c.is_whitespace();
    text.chars().filter(kept).collect()
}

/// The children of every thread of a process.
fn children(id: u32) -> impl Iterator<Item = u32> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    threads.flat_map(|thread| {
        let list = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        list.split_whitespace()
            .filter_map(|id| id.parse().ok())
            .collect::<Vec<_>>()
    })
}

/// What the host writes down of the session, read as it grows.
#[derive(Debug)]
struct Transcript {
    path: PathBuf,
    /// How far it was read, in bytes.
    read: u64,
    /// The beginning of a line whose end is not there yet.
    begun: Vec<u8>,
    tool: String,
    input: Value,
    /// The ids of calls that may be this one, and have no result.
    open: HashSet<String>,
}

impl Transcript {
    fn open(path: PathBuf, call: &Call) -> Option<Self> {
        let length = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        let input = match call.input {
            // The host fills these in itself, from elsewhere.
            Input::Question | Input::Plan => Value::Null,
            _ => serde_json::from_str(call.raw_input.get()).ok()?,
        };
        let mut transcript = Transcript {
            path,
            read: length.saturating_sub(LOOKED_BACK),
            begun: Vec::new(),
            tool: call.tool.clone(),
            input,
            open: HashSet::new(),
        };
        // A result that is there already belongs to an earlier call that was the same.
        transcript.has_result();
        Some(transcript)
    }

    /// Whether the result of a call that may be this one was written since the last look.
    fn has_result(&mut self) -> bool {
        let Some(fresh) = self.fresh() else { return false };
        self.begun.extend(fresh);
        let mut found = false;
        let Some(end) = self.begun.iter().rposition(|&byte| byte == b'\n') else {
            return false;
        };
        let rest = self.begun.split_off(end + 1);
        let whole = std::mem::replace(&mut self.begun, rest);
        for line in whole.split(|&byte| byte == b'\n') {
            found |= self.take(line);
        }
        found
    }

    fn fresh(&mut self) -> Option<Vec<u8>> {
        let length = fs::metadata(&self.path).ok()?.len();
        if length <= self.read {
            // It was cut or replaced: what comes is new.
            self.read = length;
            return None;
        }
        let mut file = File::open(&self.path).ok()?;
        file.seek(SeekFrom::Start(self.read)).ok()?;
        let mut fresh = Vec::new();
        let count = file.take(MAX_READ).read_to_end(&mut fresh).ok()?;
        self.read += count as u64;
        Some(fresh)
    }

    /// Takes note of a line; `true` for the result of an open call.
    fn take(&mut self, line: &[u8]) -> bool {
        if memchr::memmem::find(line, b"\"tool_").is_none() {
            return false;
        }
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            return false;
        };
        // Other lines repeat what was said before.
        if !matches!(line["type"].as_str(), Some("assistant" | "user")) {
            return false;
        }
        let blocks = line["message"]["content"].as_array().map_or(&[][..], Vec::as_slice);
        let mut found = false;
        for block in blocks {
            match block["type"].as_str() {
                Some("tool_use") if block["name"] == *self.tool && may_be(&block["input"], &self.input) => {
                    self.open.extend(block["id"].as_str().map(str::to_owned));
                }
                Some("tool_result") => {
                    found |= block["tool_use_id"].as_str().is_some_and(|id| self.open.remove(id));
                }
                _ => {}
            }
        }
        found
    }
}

/// Whether the host may have made the input that it asks about of what the model has written: it adds what was left out,
/// drops what it does not know, makes a path absolute, and takes blanks from the ends of an edit's lines.
fn may_be(written: &Value, asked: &Value) -> bool {
    match (written, asked) {
        (Value::Object(written), Value::Object(asked)) => written
            .iter()
            .all(|(key, value)| asked.get(key).is_none_or(|asked| may_be(value, asked))),
        (Value::String(written), Value::String(asked)) => {
            let names = [written, asked].map(|text| Path::new(text).file_name());
            let is_path = asked.starts_with('/') && !asked.contains('\n');
            bare(written) == bare(asked) || is_path && names[0] == names[1]
        }
        // The host fills in what is null here.
        (written, asked) => written == asked || asked.is_null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    fn call(tool: &str, input: &str) -> Call {
        let line = format!(r#"{{"tool_name":"{tool}","tool_input":{input}}}"#);
        crate::wire::event::classify_event(&line).expect("a call")
    }

    fn used(id: &str, name: &str, input: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        ) + "\n"
    }

    fn result(id: &str) -> String {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"tool_use_id":"{id}","type":"tool_result","content":"x"}}]}}}}"#
        ) + "\n"
    }

    /// A transcript with these lines, the signs for a call as of then, and what writes on.
    fn watched(call: &Call, lines: &[String]) -> (Signs, impl Fn(&str) + use<>, tempfile::TempDir) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("t.jsonl");
        fs::write(&path, lines.concat()).expect("a transcript");
        let signs = Signs::of(call, &[], Some(path.clone()));
        let write = move |text: &str| {
            let mut file = fs::OpenOptions::new().append(true).open(&path).expect("the transcript");
            file.write_all(text.as_bytes()).expect("written");
        };
        (signs, write, dir)
    }

    #[test]
    fn the_result_of_this_call_in_the_transcript_settles_it() {
        let input = r#"{"file_path":"/p/a","old_string":"x","new_string":"y"}"#;
        let edit = call("Edit", &input.replace('}', r#","replace_all":false}"#));
        let (mut signs, write, _dir) = watched(&edit, &[used("t1", "Edit", input)]);
        assert_eq!(signs.look(), None);
        write(&result("t2"));
        assert_eq!(signs.look(), None, "of another call");
        let line = result("t1");
        let (first, second) = line.split_at(40);
        write(first);
        assert_eq!(signs.look(), None, "half a line");
        write(second);
        assert_eq!(signs.look(), Some(Why::AnsweredElsewhere));
    }

    #[test]
    fn a_call_is_known_again_though_the_host_has_changed_its_input() {
        for (tool, written, asked) in [
            (
                "Write",
                r#"{"file_path":"sub/a.txt","content":"x"}"#,
                r#"{"file_path":"/p/sub/a.txt","content":"x"}"#,
            ),
            (
                "Edit",
                r#"{"file_path":"~/a","old_string":"x","new_string":"y  \nz"}"#,
                r#"{"file_path":"/home/dev/a","old_string":"x","new_string":"y\nz","replace_all":false}"#,
            ),
        ] {
            let (mut signs, write, _dir) = watched(&call(tool, asked), &[used("t1", tool, written)]);
            write(&used(
                "t2",
                tool,
                &written.replace("a.txt", "b.txt").replace("~/a", "~/b"),
            ));
            write(&result("t2"));
            assert_eq!(signs.look(), None, "{tool}: another file");
            write(&result("t1"));
            assert_eq!(signs.look(), Some(Why::AnsweredElsewhere), "{tool}");
        }
    }

    #[test]
    fn results_of_earlier_and_of_other_calls_settle_nothing() {
        let remove = call("Bash", r#"{"command":"rm m","description":"d"}"#);
        let same = r#"{"command":"rm m","description":"d"}"#;
        let earlier = [
            used("t0", "Bash", same),
            result("t0"),
            used("t1", "Bash", r#"{"command":"rm n"}"#),
        ];
        let (mut signs, write, _dir) = watched(&remove, &earlier);
        write(&result("t0"));
        write(&result("t1"));
        write("not JSON \"tool_\n");
        let again = [used("t0", "Bash", same), result("t0")].concat();
        let again = again.replace(r#""type":"assistant""#, r#""type":"api-request-blob""#);
        write(&again.replace(r#""type":"user""#, r#""type":"api-request-blob""#));
        assert_eq!(signs.look(), None);
        // The host may write the model's message only after it has asked.
        write(&used("t2", "Bash", same));
        assert_eq!(signs.look(), None);
        write(&result("t2"));
        assert_eq!(signs.look(), Some(Why::AnsweredElsewhere));
    }

    #[test]
    fn a_transcript_that_is_missing_or_cut_settles_nothing() {
        let remove = call("Bash", r#"{"command":"rm m"}"#);
        assert_eq!(
            Signs::of(&remove, &[], Some("/nonexistent/t.jsonl".into())).look(),
            None
        );
        let (mut signs, write, dir) = watched(&remove, &[used("t1", "Bash", r#"{"command":"rm m"}"#)]);
        fs::write(dir.path().join("t.jsonl"), "").expect("cut");
        assert_eq!(signs.look(), None);
        write(&result("t1"));
        assert_eq!(signs.look(), Some(Why::AnsweredElsewhere), "what comes after it counts");
    }

    #[test]
    fn the_hosts_own_way_to_run_a_command_is_known_whatever_its_quotes() {
        let command = "echo 'a b' \"$HOME\" >out.txt; sleep 3; echo it\\'s done\nsleep 1 # x";
        let quoted = command.replace('\'', "'\"'\"'");
        let started = format!(
            "/bin/bash\0-c\0source /home/medieval/s.sh 2>/dev/null || true && eval '{quoted}' < /dev/null && pwd -P >| /tmp/c-cwd\0"
        );
        assert!(runs(&started, &bare(command)));
        for other in ["echo", "echo 'a b'", "sleep 1 # x", ""] {
            assert!(!runs(&started, &bare(other)), "{other}");
        }
        assert!(!runs("/bin/sh\0-c\0countersign hook\0", "rm"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_new_child_of_the_host_that_runs_the_command_settles_it() {
        let sleep = "sleep 30.25";
        let shell = |command: &str| {
            let line = format!("true && eval '{command}' < /dev/null && pwd -P >| /dev/null");
            Command::new("bash")
                .args(["-c", &line])
                .stdin(Stdio::null())
                .spawn()
                .expect("bash")
        };
        let asked = call("Bash", &format!(r#"{{"command":"{sleep}"}}"#));
        let mut before = shell(sleep);
        let mut signs = Signs::of(&asked, &[std::process::id()], None);
        let mut other = shell("sleep 30.5");
        assert_eq!(signs.look(), None);
        let mut ours = shell(sleep);
        let end = std::time::Instant::now() + Duration::from_secs(20);
        let mut found = None;
        while found.is_none() && std::time::Instant::now() < end {
            found = signs.look();
            thread::sleep(Duration::from_millis(10));
        }
        for child in [&mut before, &mut other, &mut ours] {
            child.kill().and_then(|()| child.wait()).expect("ended");
        }
        assert_eq!(found, Some(Why::AnsweredElsewhere));
    }

    #[test]
    fn the_hosts_end_ends_the_session() {
        let mut host = Command::new("sleep").arg("30").spawn().expect("sleep");
        let mut signs = Signs::of(&call("Read", r#"{"file_path":"/x"}"#), &[host.id()], None);
        assert_eq!(signs.look(), None);
        host.kill().expect("killed");
        #[cfg(target_os = "linux")]
        {
            let end = std::time::Instant::now() + Duration::from_secs(20);
            while signs.look().is_none() && std::time::Instant::now() < end {
                thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(
                signs.look(),
                Some(Why::SessionEnded),
                "its parent has not asked after it"
            );
        }
        host.wait().expect("ended");
        assert_eq!(signs.look(), Some(Why::SessionEnded));
    }
}
