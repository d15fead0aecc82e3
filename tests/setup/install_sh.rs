//! `install.sh`, with the program that the tests were built with standing for a prebuilt one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::{BINARY, Home, parsed};

const ALLOW: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;
const NO_DECISION: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}"#;

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh")
}

fn sha256(path: &str) -> String {
    let output = Command::new("sha256sum")
        .arg(path)
        .output()
        .expect("sha256sum is needed");
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

fn install(home: &Home, args: &[&str]) -> Output {
    let mut command = home.command(script().to_str().unwrap());
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

/// Installs the prebuilt program, with more options, and gives what was said.
fn prebuilt(home: &Home, more: &[&str]) -> String {
    let digest = sha256(BINARY);
    let output = install(home, &[&["--prebuilt", BINARY, "--sha256", &digest], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(home: &Home, args: &[&str]) -> String {
    let output = install(home, args);
    assert!(!output.status.success(), "{args:?} was not refused");
    String::from_utf8(output.stderr).unwrap()
}

fn nothing_installed(home: &Home) {
    assert!(!home.path("home/.claude").exists());
    assert!(!home.path("home/.local/bin").exists() || home.names("home/.local/bin").is_empty());
}

#[test]
fn one_command_installs_the_program_wires_it_and_shows_what_it_does() {
    let home = Home::new();
    let said = prebuilt(&home, &[]);
    let program = home.path("home/.local/bin/countersign");
    let entry = &parsed(&home.settings())["hooks"]["PermissionRequest"][0];
    assert_eq!(*entry, super::our_request_entry(program.to_str().unwrap()));
    for part in [
        "asks:     cd src && ls | wc -l",
        "asks:     rm -rf ~",
        "Undo it:",
        "doctor",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    let (harmless, dangerous) = said.split_once("rm -rf ~").unwrap();
    assert!(
        harmless.contains(&format!("answers:  {ALLOW}")) && harmless.contains("you are not asked"),
        "{said}"
    );
    assert!(
        dangerous.contains(&format!("answers:  {NO_DECISION}")) && dangerous.contains("you are asked"),
        "{said}"
    );
}

#[test]
fn running_it_again_changes_no_setting_and_leaves_one_program() {
    let home = Home::new();
    prebuilt(&home, &["--early"]);
    let settings = home.settings();
    let said = prebuilt(&home, &[]);
    assert!(said.contains("Already installed"), "{said}");
    assert_eq!(home.settings(), settings);
    assert_eq!(home.names("home/.local/bin"), ["countersign"]);
    assert_eq!(home.names("home/.claude"), ["settings.json"]);
}

#[test]
fn its_own_undo_leaves_nothing() {
    let home = Home::with_settings("{ \"model\": \"opus\" }");
    let said = prebuilt(&home, &[]);
    let undo = said.lines().last().unwrap().strip_prefix("Undo it:").unwrap().trim();
    assert!(
        home.command("/bin/sh")
            .args(["-c", undo])
            .output()
            .unwrap()
            .status
            .success(),
        "{undo}"
    );
    assert_eq!(home.settings(), "{ \"model\": \"opus\" }");
    assert!(home.names("home/.local/bin").is_empty());
}

#[test]
fn a_file_with_another_digest_is_not_installed() {
    let home = Home::new();
    let said = refused(&home, &["--prebuilt", BINARY, "--sha256", &"0".repeat(64)]);
    assert!(
        said.contains(&sha256(BINARY)) && said.contains("nothing was installed"),
        "{said}"
    );
    nothing_installed(&home);
}

#[test]
fn a_file_without_a_digest_and_a_digest_without_a_file_are_refused() {
    let home = Home::new();
    assert!(refused(&home, &["--prebuilt", BINARY]).contains("--sha256"));
    assert!(refused(&home, &["--sha256", &"0".repeat(64)]).contains("--prebuilt"));
    assert!(refused(&home, &["--prefix"]).contains("needs a value"));
    nothing_installed(&home);
}

#[test]
fn a_program_that_does_not_run_here_is_not_installed() {
    let home = Home::new();
    let broken = home.write("broken", "not a program");
    let broken = broken.to_str().unwrap();
    let said = refused(&home, &["--prebuilt", broken, "--sha256", &sha256(broken)]);
    assert!(said.contains("nothing was installed"), "{said}");
    nothing_installed(&home);
}

#[test]
fn the_relay_comes_with_a_digest_of_its_own_and_goes_with_the_undo() {
    let home = Home::new();
    let said = prebuilt(&home, &[]);
    assert!(said.contains("The relay is not installed"), "{said}");
    let relay = home.script("relay", "echo countersign-relay 0.1.0");
    let relay = relay.to_str().unwrap();
    let said = prebuilt(&home, &["--prebuilt-relay", relay, "--relay-sha256", &sha256(relay)]);
    assert!(said.contains("Installed countersign-relay 0.1.0"), "{said}");
    assert_eq!(home.names("home/.local/bin"), ["countersign", "countersign-relay"]);
    assert!(
        !prebuilt(&home, &[]).contains("The relay is not installed"),
        "it is there"
    );
    let undo = said.lines().last().unwrap().strip_prefix("Undo it:").unwrap().trim();
    let undone = home.command("/bin/sh").args(["-c", undo]).output().unwrap();
    assert!(undone.status.success(), "{undo}");
    assert!(home.names("home/.local/bin").is_empty());
}

#[test]
fn of_two_programs_of_which_one_is_not_the_one_that_is_meant_neither_is_installed() {
    let home = Home::new();
    let relay = home.script("relay", "exit 1");
    let (relay, digest) = (relay.to_str().unwrap(), sha256(BINARY));
    let both = ["--prebuilt", BINARY, "--sha256", &digest, "--prebuilt-relay", relay];
    assert!(refused(&home, &both).contains("--relay-sha256"));
    assert!(refused(&home, &[&both[..], &["--relay-sha256", &digest]].concat()).contains("nothing was installed"));
    let broken = sha256(relay);
    assert!(refused(&home, &[&both[..], &["--relay-sha256", &broken]].concat()).contains("does not run"));
    assert!(refused(&home, &["--prebuilt-relay", relay]).contains("--prebuilt"));
    nothing_installed(&home);
}

#[test]
fn the_settings_can_be_left_alone_and_the_place_chosen() {
    let home = Home::new();
    let prefix = home.path("a place");
    let said = prebuilt(&home, &["--no-settings", "--prefix", prefix.to_str().unwrap()]);
    assert!(prefix.join("bin/countersign").exists());
    assert!(!home.path("home/.claude").exists());
    assert!(said.contains("is not on your PATH"), "{said}");
}

#[test]
fn no_hint_is_given_when_the_place_is_on_path() {
    let home = Home::new();
    let said = prebuilt(&home, &["--prefix", home.root.path().to_str().unwrap()]);
    assert!(!said.contains("is not on your PATH"), "{said}");
}

#[test]
fn other_options_reach_the_installer() {
    let home = Home::new();
    prebuilt(&home, &["--early", "--guard", "critical"]);
    assert!(home.settings().contains("\"--early\"") && home.settings().contains("\"critical\""));
}

#[test]
fn settings_that_cannot_be_changed_are_told_with_the_way_on() {
    let home = Home::with_settings("{ broken");
    let said = refused(&home, &["--prebuilt", BINARY, "--sha256", &sha256(BINARY)]);
    assert!(
        said.contains("line 1 column 3") && said.contains("settings were not changed"),
        "{said}"
    );
    assert_eq!(home.settings(), "{ broken");
}

/// PATH with the tools the script needs and nothing else.
fn bare_tools(home: &Home, more: &[&str]) -> String {
    for tool in [
        &["dirname", "cat", "mkdir", "mktemp", "rm", "sed", "cp", "chmod", "mv"],
        more,
    ]
    .concat()
    {
        let found = ["/usr/bin", "/bin"]
            .map(|dir| Path::new(dir).join(tool))
            .into_iter()
            .find(|path| path.exists());
        let found = found.unwrap_or_else(|| panic!("{tool} is needed"));
        symlink(found, home.path("bin").join(tool)).unwrap();
    }
    home.path("bin").to_str().unwrap().to_owned()
}

#[test]
fn what_is_missing_for_a_build_is_named_with_how_to_get_it() {
    let home = Home::new();
    let path = bare_tools(&home, &[]);
    let run = || {
        let output = home
            .command("/bin/sh")
            .arg(script())
            .env("PATH", &path)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = run();
    assert!(said.contains("cargo is not there") && said.contains("rustup"), "{said}");
    home.script("bin/cargo", "echo 'cargo 1.70.0 (abc 2023-01-01)'");
    let said = run();
    assert!(
        said.contains("cc, which Rust links with") && said.contains("apt install"),
        "{said}"
    );
    home.script("bin/cc", "");
    let said = run();
    assert!(
        said.contains("cargo 1.70.0") && said.contains("rustup update"),
        "{said}"
    );
    nothing_installed(&home);
}

#[test]
fn without_a_prebuilt_program_the_sources_beside_the_script_are_built() {
    let home = Home::new();
    let path = bare_tools(&home, &["wc"]);
    fs::create_dir_all(home.path("clone/target/release")).unwrap();
    fs::copy(script(), home.path("clone/install.sh")).unwrap();
    home.script("bin/cc", "");
    fs::create_dir_all(home.path("clone/target/relay")).unwrap();
    let relay = home.script("relay", "echo countersign-relay 0.1.0");
    let built = |program: &str| home.path("clone/target").join(program).display().to_string();
    let body = format!(
        "[ \"$1\" = --version ] && echo 'cargo 1.95.0' && exit\necho \"$*\"\ncase $* in\n\
         *relay*) cp {} {};;\n*) cp {BINARY} {};;\nesac",
        relay.display(),
        built("relay/countersign-relay"),
        built("release/countersign"),
    );
    home.script("bin/cargo", &body);
    let output = home
        .command("/bin/sh")
        .arg(home.path("clone/install.sh"))
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let manifest = home.path("clone/Cargo.toml");
    for built in [
        "--release --locked --package countersign",
        "--profile relay --locked --package countersign-relay",
    ] {
        let words = format!("build {built} --manifest-path {}", manifest.display());
        assert!(said.contains(&words), "{said}");
    }
    assert_eq!(home.names("home/.local/bin"), ["countersign", "countersign-relay"]);
    assert!(
        home.settings()
            .contains(home.path("home/.local/bin/countersign").to_str().unwrap())
    );
}
