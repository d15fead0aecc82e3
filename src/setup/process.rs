//! Runs another program for a bounded time. `doctor` asks the host's version and the installed hook with it.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What a program printed on standard output, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub printed: String,
    pub status: ExitStatus,
}

/// How long a program that has ended may leave its output open before that counts as a fault.
const QUIET: Duration = Duration::from_secs(1);

/// Runs the command with `input` on standard input.
///
/// The limit starts when the program starts and ends with it; a program that is still there then is killed.
///
/// # Errors
/// Says, lower case, for a person to read, why nothing is known of an answer.
pub fn run(command: &mut Command, input: &str, limit: Duration) -> Result<Ran, String> {
    let started = Instant::now();
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.map_err(|error| format!("cannot be started: {error}"))?;
    let (send, output) = mpsc::channel();
    if let Some(mut stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.read_to_end(&mut bytes);
            send.send(read.map(|_| bytes)).ok();
        });
    }
    if let Some(mut stdin) = child.stdin.take() {
        // A program that answers without reading closes its end first, which is its right.
        let input = input.to_owned();
        thread::spawn(move || stdin.write_all(input.as_bytes()).ok());
    }
    let status = wait(&mut child, started, limit)?;
    match output.recv_timeout(QUIET) {
        Ok(Ok(bytes)) => match String::from_utf8(bytes) {
            Ok(printed) => Ok(Ran { printed, status }),
            Err(_) => Err("printed something that is not UTF-8".to_owned()),
        },
        Ok(Err(error)) => Err(format!("its output cannot be read: {error}")),
        Err(_) => Err("ended but left a child that holds its standard output".to_owned()),
    }
}

fn wait(child: &mut Child, started: Instant, limit: Duration) -> Result<ExitStatus, String> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if started.elapsed() < limit => thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                child.kill().ok();
                child.wait().ok();
                return Err(format!("did not end within {} s", limit.as_secs_f32()));
            }
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    }
}
