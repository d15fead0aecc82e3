//! The commands that docs/headless.md shows with claude, as they stand there, on the real one.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::api::ToolUse;
use crate::program::Program;

/// The page's blocks for the shell that are no sessions, in their order.
fn blocks() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/headless.md");
    let page = fs::read_to_string(page).expect("the page");
    let blocks = page
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    blocks.map(str::to_owned).collect()
}

/// Runs it where there is no terminal and the hook is installed with its guard: a look from where the shell stands, then
/// a loss, then what the guard stops.
fn run(script: &str) -> (Program, String) {
    let bash = |command: &str| ToolUse {
        name: "Bash",
        input: json!({"command": command, "description": "a step of the test"}),
    };
    let calls = ["cd sub && git log --format=%s", "rm mine.txt", "sudo -n true"].map(bash);
    let program = Program::script(script, calls.into());
    program.sandbox.countersign(&["install", "--guard", "critical"], "");
    let mine = program.sandbox.project().join("sub/mine.txt");
    fs::write(&mine, "mine\n").expect("a file that git does not hold");
    let (printed, succeeded) = program.run();
    assert!(succeeded, "{printed}\n{}", program.sandbox.report());
    let told = |call| program.sandbox.api.told(call).unwrap_or_else(|| panic!("{printed}"));
    assert_eq!(
        (told(0).is_error, told(0).text.as_str()),
        (false, "Begin"),
        "{}",
        program.sandbox.report()
    );
    assert!(
        told(1).is_error && told(1).text.starts_with("[countersign:policy] "),
        "{:?}",
        told(1)
    );
    assert!(mine.exists());
    assert!(told(2).is_error);
    let guarded = ["PreToolUse", "deny", "guard", "policy"].map(str::to_owned);
    assert_eq!(program.recorded().last(), Some(&guarded));
    (program, printed)
}

#[test]
fn the_page_shows_the_prompt_tool_run_and_a_job() {
    let [prompt_tool, run, job] = blocks().try_into().expect("three blocks");
    assert!(
        prompt_tool.starts_with("claude -p ")
            && run.starts_with("countersign run ")
            && job.contains(&prompt_tool[..60])
    );
}

#[test]
fn the_command_with_the_prompt_tool_runs_as_shown() {
    let (_, printed) = run(&blocks()[0]);
    assert_eq!(printed, "all done\n");
}

#[test]
fn the_command_around_claude_runs_as_shown() {
    let (_, printed) = run(&blocks()[1]);
    assert!(printed.contains("all done\n"), "{printed}");
    assert!(
        printed.contains("countersign: denied: Bash `rm mine.txt`\n"),
        "{printed}"
    );
}

#[test]
fn the_job_says_as_shown_that_something_was_denied() {
    let (program, printed) = run(&blocks()[2]);
    assert_eq!(printed, "Something was denied; denied.jsonl says what, and why.\n");
    let denied = fs::read_to_string(program.sandbox.project().join("denied.jsonl")).expect("the job's file");
    assert!(denied.contains(r#""reason":"policy""#), "{denied}");
}
