//! The plugin's files, and the launcher that finds the program for it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use countersign::setup::{host, wiring};
use serde_json::Value;

use super::Home;

const NO_DECISION: &str = "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\"}}\n";
/// Stands for the program: says where it lies, what it was given, and what came on standard input.
const ECHO: &str = r#"echo "$0 $*"; cat"#;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn json(relative: &str) -> Value {
    let path = repository().join(relative);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// Runs the launcher as the host does, with PATH as given.
fn launch(home: &Home, path: &str) -> Output {
    let mut command = home.command(repository().join("hooks/countersign-hook").to_str().unwrap());
    command
        .args(["hook", "--deadline", "25"])
        .env("PATH", path)
        .env("CLAUDE_PROJECT_DIR", home.path("project"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The launcher may end without reading.
    child.stdin.take().unwrap().write_all(b"the event").ok();
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// A directory that is neither scratch nor the project, as PATH entries are: below the build directory, or, where the
/// repository itself lies in scratch, where root may write.
fn directory_outside_scratch() -> tempfile::TempDir {
    let is_scratch = |dir: &&Path| {
        ["/tmp", "/var/tmp", "/dev/shm"]
            .iter()
            .any(|scratch| dir.starts_with(scratch))
    };
    let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let place = Some(build)
        .filter(|build| !is_scratch(build))
        .unwrap_or(Path::new("/opt"));
    tempfile::tempdir_in(place).unwrap_or_else(|error| {
        panic!(
            "this test needs a directory outside /tmp to write to: {}: {error}",
            place.display()
        )
    })
}

#[test]
fn the_hooks_file_holds_one_entry_of_ours_that_the_host_accepts() {
    let hooks = json("hooks/hooks.json");
    assert_eq!(host::faults(&hooks), []);
    let found = wiring::hooks(&hooks);
    assert_eq!(found.len(), 1);
    assert!(wiring::is_ours(found[0].hook) && found[0].event == host::PERMISSION_REQUEST);
    let settings = super::our_request_entry("${CLAUDE_PLUGIN_ROOT}/hooks/countersign-hook");
    assert_eq!(
        hooks["hooks"]["PermissionRequest"][0], settings,
        "the plugin and `install` wire the same"
    );
}

#[test]
fn the_plugin_has_the_programs_version_and_the_marketplace_lists_it() {
    let plugin = json(".claude-plugin/plugin.json");
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        json(".claude-plugin/marketplace.json")["plugins"][0]["name"],
        plugin["name"]
    );
}

#[test]
fn without_a_program_the_launcher_gives_no_decision_and_says_what_to_install() {
    let output = launch(&Home::new(), "/usr/bin:/bin");
    assert_eq!(said(&output), NO_DECISION);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("install.sh"));
}

#[test]
fn the_program_gets_the_arguments_and_the_event() {
    for place in ["home/.local/bin", "home/.cargo/bin"] {
        let home = Home::new();
        let program = home.script(&format!("{place}/countersign"), ECHO);
        let output = launch(&home, "/usr/bin:/bin");
        assert_eq!(
            said(&output),
            format!("{} hook --deadline 25\nthe event", program.display())
        );
    }
}

#[test]
fn a_program_on_an_absolute_path_entry_is_found() {
    let (home, tools) = (Home::new(), directory_outside_scratch());
    let program = tools.path().join("countersign");
    fs::copy(home.script("bin/countersign", ECHO), &program).unwrap();
    let output = launch(&home, &format!("/usr/bin:/bin:{}", tools.path().display()));
    assert!(
        said(&output).starts_with(program.to_str().unwrap()),
        "{}",
        said(&output)
    );
}

#[test]
fn a_program_where_an_agent_can_write_is_never_started() {
    let home = Home::new();
    home.script("project/bin/countersign", ECHO);
    home.script("project/countersign", ECHO);
    home.script("bin/countersign", ECHO);
    let project = home.path("project/bin");
    let scratch = home.path("bin");
    assert!(scratch.starts_with(std::env::temp_dir()));
    for path in [
        project.to_str().unwrap(),
        scratch.to_str().unwrap(),
        "bin",
        ".",
        "",
        "::",
    ] {
        let output = launch(&home, &format!("{path}:/usr/bin:/bin"));
        assert_eq!(said(&output), NO_DECISION, "{path}");
    }
}

#[test]
fn a_path_entry_that_leads_into_the_project_is_seen_through() {
    let (home, tools) = (Home::new(), directory_outside_scratch());
    home.script("project/bin/countersign", ECHO);
    let link = tools.path().join("link");
    std::os::unix::fs::symlink(home.path("project/bin"), &link).unwrap();
    let output = launch(&home, &format!("{}:/usr/bin:/bin", link.display()));
    assert_eq!(said(&output), NO_DECISION);
}
