//! `countersign doctor`: prints what is wired, what stands in the way, and what to do.

use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::Result;
use serde_json::{Value, json};

use crate::facts::Facts;
use crate::own_files;
use crate::pause;
use crate::setup::doctor::{Finding, Given, Mark, VARIABLES, examine};
use crate::setup::host::Places;

/// Ends with 0 when everything is in order or only warned about, with 1 when something fails.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Nothing is changed; the two test events of each hook are recorded as any others. Ends with status 1 when something fails, else with 0."
)]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let places = Places::find()?;
    let given = Given {
        roots: Facts::live(Some(&places.project)).project,
        places,
        path: std::env::var_os("PATH").unwrap_or_default(),
        variables: VARIABLES
            .into_iter()
            .filter_map(|name| Some((name, std::env::var(name).ok()?)))
            .collect(),
        own: own_files::all_dirs(),
        config: own_files::config_file(),
        state: own_files::state_dir(),
        pause: pause::now(),
        now: SystemTime::now(),
    };
    let findings = examine(&given);
    let failed = findings.iter().any(|finding| finding.mark == Mark::Fail);
    if args.json {
        let listed: Vec<Value> = findings.iter().map(Finding::to_json).collect();
        say!(
            "{}",
            json!({"version": env!("CARGO_PKG_VERSION"), "ok": !failed, "findings": listed})
        );
    } else {
        findings.iter().for_each(print);
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(finding: &Finding) {
    say!("{:<4}  {}: {}", finding.mark.as_str(), finding.topic, finding.what);
    if let Some(remedy) = &finding.remedy {
        say!("      -> {remedy}");
    }
}
