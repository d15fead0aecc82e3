//! Many hooks at once, some of them killed at any moment.

use std::process::Child;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};

use super::random::Random;
use super::{ALLOW, Home};

const AT_ONCE: usize = 64;
const ROUNDS: usize = 6;

/// As often short as long, up to an eighth of a second.
fn microseconds(random: &mut Random) -> Duration {
    let digits = random.below(17);
    Duration::from_micros(random.below(2 << digits) as u64)
}

/// Whether it ended by itself. Its answer is whole or not there.
fn ended_by_itself(child: Child) -> bool {
    let output = child.wait_with_output().expect("its end");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    match output.status.code() {
        Some(code) => {
            assert_eq!(
                (code, stdout.as_str()),
                (0, ALLOW),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            true
        }
        None => {
            assert!(stdout.is_empty() || stdout == ALLOW, "half an answer: {stdout}");
            false
        }
    }
}

#[test]
fn hooks_killed_at_any_moment_leave_a_record_that_verifies_and_lacks_nobody_elses_line() {
    let seed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_nanos() as u64
        | 1;
    let mut random = Random::new(seed);
    let home = Home::new();
    let (mut by_themselves, mut killed) = (0, 0);
    for round in 0..ROUNDS {
        let mut children = Vec::new();
        let mut killers = Vec::new();
        for number in 0..AT_ONCE {
            let child = home.start(&format!("echo {round} {number}"));
            if random.below(3) == 0 {
                let (pid, delay) = (Pid::from_child(&child), microseconds(&mut random));
                killers.push(thread::spawn(move || {
                    thread::sleep(delay);
                    // It may have ended, but is not yet waited for: the id is still its own.
                    let _ = kill_process(pid, Signal::KILL);
                }));
            }
            children.push(child);
        }
        for killer in killers {
            killer.join().expect("a kill");
        }
        let ended: Vec<bool> = children.into_iter().map(ended_by_itself).collect();
        let whole = ended.iter().filter(|by_itself| **by_itself).count();
        by_themselves += whole as u64;
        killed += AT_ONCE - whole;
        let report = home.verified();
        assert_eq!(report.faults, [], "seed {seed}, round {round}");
        assert!(
            report.lines >= by_themselves,
            "seed {seed}: {} lines of {by_themselves}",
            report.lines
        );
    }
    assert!(
        killed > 0 && by_themselves > 0,
        "seed {seed}: {killed} killed, {by_themselves} not"
    );
    assert_eq!(home.entries().len() as u64, home.verified().lines);
    home.ok("log --verify");
}
