//! Parses arguments, runs one command, exits once.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign::cli::main()
}
