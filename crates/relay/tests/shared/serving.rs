//! This repository's relay in the foreground.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub const RELAY: &str = env!("CARGO_BIN_EXE_countersign-relay");
/// Where any port is free.
pub const ANYWHERE: &str = "127.0.0.1:0";

/// A relay that serves for as long as a test has it.
pub struct Serving {
    pub child: Child,
    /// Where it listens: a host and a port.
    pub address: String,
}

impl Serving {
    /// Serves from the directory `dir` at the address `listen`, by a command that starts the relay's program.
    pub fn start(command: &mut Command, listen: &str, dir: &Path, more: &[&str]) -> Serving {
        let mut child = command
            .args(["serve", "--log", "--listen", listen, "--dir"])
            .arg(dir)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the relay starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("its first line");
        let (_, address) = line
            .trim()
            .rsplit_once("http://")
            .unwrap_or_else(|| panic!("it says `{line}`"));
        let address = address.to_owned();
        Serving { child, address }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
