//! `countersign completions`: a completion script on standard output.

use std::io;
use std::process::ExitCode;

use clap_complete::Shell;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell it is for
    shell: Shell,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "countersign", &mut script);
    io::Write::write_all(&mut io::stdout(), &script)?;
    Ok(ExitCode::SUCCESS)
}
