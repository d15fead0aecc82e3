//! `install` and `uninstall` on settings files of every shape.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{BINARY, Home, our_request_entry, parsed};

/// Settings that a person may have, none with an entry of ours.
const SHAPES: &[&str] = &[
    "{}",
    "{}\n",
    "",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n    \"permissions\": {\"allow\": [\"Bash(ls *)\", \"Read\"], \"deny\": []},\n    \"model\": \"opus\"\n}",
    "{\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n",
    "{\r\n  \"model\": \"opus\"\r\n}\r\n",
    "{\"model\":\"opus\",\"env\":{\"Ä\":\"\\u00e9 “x” 🦀\"}}",
    "{ \"z\": 1e3 , \"a\" : 1.50,\n\n\n   \"m\": [ 1,2 ,3 ] }\n\n",
    "\u{feff}{\n  \"model\": \"opus\"\n}\n",
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": {\n    \"PermissionRequest\": []\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"PermissionRequest\": [\n      {\"matcher\": \"Edit\", \"hooks\": \
     [{\"type\": \"command\", \"command\": \"other hook\"}]}\n    ],\n    \"Stop\": []\n  },\n  \"model\": \"opus\"\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"hooks\": [\n          {\n            \
     \"type\": \"command\",\n            \"command\": \"dcg\"\n          }\n        ]\n      }\n    ]\n  }\n}\n",
    "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}}\n",
];

#[test]
fn whatever_the_file_looked_like_uninstalling_gives_its_bytes_back() {
    for shape in SHAPES {
        for flags in ["", "--early", "--early --guard high", "--guard critical --guard-asks"] {
            let home = Home::with_settings(shape);
            home.ok(&format!("install {flags}"));
            assert_ne!(home.settings(), *shape);
            home.ok("uninstall");
            assert_eq!(home.settings(), *shape, "after install {flags}");
        }
    }
}

#[test]
fn a_second_installation_changes_no_byte_and_leaves_no_backup() {
    for shape in SHAPES {
        let home = Home::with_settings(shape);
        home.ok("install --early");
        let (once, names) = (home.settings(), home.names("home/.claude"));
        let said = home.ok("install --early");
        assert!(said.starts_with("Already installed"), "{said}");
        home.ok("install");
        assert_eq!(home.settings(), once, "{shape}");
        assert_eq!(home.names("home/.claude"), names);
    }
}

#[test]
fn everything_else_in_the_file_is_kept_in_its_order() {
    for shape in SHAPES.iter().filter(|shape| !shape.is_empty()) {
        let home = Home::with_settings(shape);
        home.ok("install");
        let (before, after) = (parsed(shape), parsed(&home.settings()));
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let kept: Vec<String> = keys(&after)
            .into_iter()
            .filter(|key| before.get(key).is_some())
            .collect();
        assert_eq!(kept, keys(&before));
        for key in keys(&before).iter().filter(|key| *key != "hooks") {
            assert_eq!(after[key], before[key]);
        }
    }
}

#[test]
fn a_missing_file_is_made_private() {
    let home = Home::new();
    home.ok("install");
    let mode = |relative: &str| fs::metadata(home.path(relative)).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode("home/.claude"), mode("home/.claude/settings.json")),
        (0o700, 0o600)
    );
    assert_eq!(
        parsed(&home.settings()),
        json!({"hooks": {"PermissionRequest": [our_request_entry(BINARY)]}})
    );
    assert!(home.settings().ends_with("}\n"));
}

#[test]
fn a_file_in_four_blanks_gets_an_entry_in_four_blanks() {
    let home = Home::with_settings("{\n    \"model\": \"opus\"\n}\n");
    home.ok("install");
    let expected = format!(
        r#"{{
    "model": "opus",
    "hooks": {{
        "PermissionRequest": [
            {{
                "matcher": "*",
                "hooks": [
                    {{
                        "type": "command",
                        "command": "{BINARY}",
                        "args": [
                            "hook",
                            "--deadline",
                            "25"
                        ],
                        "timeout": 30
                    }}
                ]
            }}
        ]
    }}
}}
"#
    );
    assert_eq!(home.settings(), expected);
}

#[test]
fn early_is_for_shell_tools_and_with_a_guard_one_entry_is_for_every_tool() {
    let home = Home::new();
    home.ok("install --early");
    let entry = &parsed(&home.settings())["hooks"]["PreToolUse"];
    assert_eq!(entry[0]["matcher"], "Bash|Monitor");
    home.ok("install --early --guard critical --guard-asks");
    let entry = &parsed(&home.settings())["hooks"]["PreToolUse"];
    let args = json!([
        "hook",
        "--deadline",
        "5",
        "--early",
        "--guard",
        "critical",
        "--guard-asks"
    ]);
    let hook = json!({"type": "command", "command": BINARY, "args": args, "timeout": 10});
    assert_eq!(*entry, json!([{"matcher": "*", "hooks": [hook]}]));
}

#[test]
fn what_no_option_names_stays_and_what_one_takes_away_goes() {
    let home = Home::new();
    home.ok("install --early --guard high");
    let full = home.settings();
    home.ok("install");
    assert_eq!(home.settings(), full);
    home.ok("install --no-guard");
    assert!(home.settings().contains("--early") && !home.settings().contains("--guard"));
    home.ok("install --no-early");
    assert_eq!(
        parsed(&home.settings()),
        json!({"hooks": {"PermissionRequest": [our_request_entry(BINARY)]}})
    );
}

#[test]
fn without_a_terminal_only_what_was_named_is_added_and_yes_takes_the_recommendation() {
    let (plain, yes) = (Home::new(), Home::new());
    plain.ok("install");
    yes.ok("install --yes");
    assert!(!plain.settings().contains("PreToolUse"));
    assert!(yes.settings().contains("--early"));
}

/// Runs `install` on a terminal of its own, with what a person types, and gives what the terminal showed.
fn on_a_terminal(home: &Home, typed: &str) -> String {
    let mut terminal = home.command("script");
    terminal.args(["-qec", &format!("{BINARY} install"), "/dev/null"]);
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = terminal.spawn().expect("the program `script` is needed");
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn on_a_terminal_early_is_offered_and_the_change_is_shown_before_it_is_written() {
    let home = Home::new();
    let shown = on_a_terminal(&home, "\n\n");
    assert!(
        shown.contains("early, before") && shown.contains("+  \"hooks\"") && shown.contains("Write this?"),
        "{shown}"
    );
    assert!(home.settings().contains("--early"));
}

#[test]
fn on_a_terminal_no_means_no() {
    let (without, nothing) = (Home::new(), Home::new());
    on_a_terminal(&without, "n\ny\n");
    assert!(without.settings().contains("PermissionRequest") && !without.settings().contains("--early"));
    let shown = on_a_terminal(&nothing, "maybe\ny\nno\n");
    assert!(
        shown.contains("Please answer y or n") && shown.contains("Nothing was changed"),
        "{shown}"
    );
    assert!(!nothing.path("home/.claude").exists());
}

#[test]
fn an_older_entry_is_updated_where_it_stands() {
    let old = r#"{
  "hooks": {
    "PermissionRequest": [
      {"hooks": [{"type": "command", "command": "/old/place/countersign", "args": ["hook"], "timeout": 600}]},
      {"matcher": "Edit", "hooks": [{"type": "command", "command": "other"}]}
    ]
  }
}
"#;
    let home = Home::with_settings(old);
    home.ok("install");
    let groups = parsed(&home.settings())["hooks"]["PermissionRequest"].clone();
    assert_eq!(groups[0], our_request_entry(BINARY));
    assert_eq!(groups[1]["hooks"][0]["command"], "other");
    assert_eq!(groups.as_array().unwrap().len(), 2);
}

#[test]
fn entries_of_ours_are_known_in_shell_form_and_beside_other_hooks() {
    let mixed = r#"{"hooks": {"PermissionRequest": [
  {"hooks": [{"type": "command", "command": "'/my tools/countersign' hook --deadline 9"},
             {"type": "command", "command": "other"}]},
  {"hooks": [{"type": "command", "command": "countersign hook"}]}
]}}"#;
    let home = Home::with_settings(mixed);
    home.ok("uninstall");
    let expected = json!({"hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "other"}]}]}});
    assert_eq!(parsed(&home.settings()), expected);
}

#[test]
fn an_entry_of_ours_beside_another_hook_gets_a_place_of_its_own() {
    let mixed = r#"{"hooks": {"PermissionRequest": [
  {"matcher": "Bash", "hooks": [{"type": "command", "command": "countersign hook"}, {"type": "command", "command": "other"}]}
]}}"#;
    let home = Home::with_settings(mixed);
    home.ok("install");
    let theirs = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "other"}]});
    let expected = json!({"hooks": {"PermissionRequest": [theirs, our_request_entry(BINARY)]}});
    assert_eq!(parsed(&home.settings()), expected);
}

#[test]
fn hooks_that_only_look_like_ours_are_left_alone() {
    let theirs = r#"{"hooks": {"PermissionRequest": [{"hooks": [
  {"type": "command", "command": "/bin/not-countersign", "args": ["hook"]},
  {"type": "command", "command": "/bin/countersign", "args": ["classify"]},
  {"type": "command", "command": "echo countersign hook"},
  {"type": "http", "url": "http://127.0.0.1/countersign"}
]}]}}"#;
    let home = Home::with_settings(theirs);
    let said = home.ok("uninstall");
    assert!(said.contains("nothing to remove"), "{said}");
    assert_eq!(home.settings(), theirs);
}

#[test]
fn broken_json_is_refused_with_its_place_and_not_touched() {
    for (broken, place) in [
        ("{\n  // mine\n  \"model\": \"opus\"\n}\n", "line 2 column 3"),
        ("{\n  \"model\": \"opus\",\n}\n", "line 3 column 1"),
        ("{\"model\": \"opus\"", "line 1 column 16"),
        ("[]", "not an object"),
        ("{} {}", "line 1 column 4"),
    ] {
        let home = Home::with_settings(broken);
        for verb in ["install", "uninstall"] {
            let said = home.refused(verb);
            assert!(said.contains(place) && said.contains("left as it is"), "{verb}: {said}");
            assert_eq!(home.settings(), broken);
            assert_eq!(home.names("home/.claude"), ["settings.json"]);
        }
    }
}

#[test]
fn settings_that_the_host_passes_over_are_refused_and_not_touched() {
    for (faulty, path) in [
        (r#"{"hooks": []}"#, "`hooks`"),
        (r#"{"hooks": {"PermissionRequest": {}}}"#, "`hooks.PermissionRequest`"),
        (
            r#"{"hooks": {"PreToolUse": [{"matcher": "*"}]}}"#,
            "`hooks.PreToolUse.0.hooks`",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}]}}"#,
            "`hooks.PreToolUse.0.hooks.0.timeout`",
        ),
        (r#"{"permissions": {"allow": "Bash"}}"#, "`permissions.allow`"),
    ] {
        let home = Home::with_settings(faulty);
        let said = home.refused("install");
        assert!(said.contains(path) && said.contains("left as it is"), "{said}");
        assert_eq!(home.settings(), faulty);
    }
}

#[test]
fn a_fault_that_costs_only_itself_is_named_and_not_in_the_way() {
    let home = Home::with_settings(r#"{"hooks": {"NoSuchEvent": [], "PostToolUse": {}}}"#);
    let output = home.run("install");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && said.contains("NoSuchEvent") && said.contains("PostToolUse"),
        "{said}"
    );
    assert!(home.settings().contains("PermissionRequest"));
}

#[test]
fn bytes_that_are_no_text_are_refused_and_not_touched() {
    let home = Home::with_settings("");
    let path = home.path("home/.claude/settings.json");
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    assert!(home.refused("install").contains("UTF-8"));
    assert_eq!(fs::read(&path).unwrap(), b"{\"a\": \"\xff\"}");
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let home = Home::with_settings("{\n  \"model\": \"opus\"\n}\n");
    let before = home.settings();
    let shown = home.ok("install --dry-run");
    assert!(
        shown.contains("-  \"model\": \"opus\"\n+  \"model\": \"opus\",\n+  \"hooks\": {\n"),
        "{shown}"
    );
    assert!(shown.starts_with("--- "), "{shown}");
    assert_eq!(home.settings(), before);
    assert_eq!(home.names("home/.claude"), ["settings.json"]);

    home.ok("install");
    let installed = home.settings();
    let shown = home.ok("uninstall --dry-run");
    assert!(shown.contains("-  \"hooks\": {\n"), "{shown}");
    assert_eq!(home.settings(), installed);

    let fresh = Home::new();
    fresh.ok("install --dry-run");
    assert!(!fresh.path("home/.claude").exists());
}

#[test]
fn a_link_stays_a_link_and_a_mode_stays_a_mode() {
    let home = Home::new();
    let real = home.write("home/dotfiles/claude.json", "{\"model\": \"opus\"}\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(home.path("home/.claude")).unwrap();
    let link = home.path("home/.claude/settings.json");
    symlink("../dotfiles/claude.json", &link).unwrap();
    home.ok("install");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("../dotfiles/claude.json"));
    assert!(fs::read_to_string(&real).unwrap().contains("PermissionRequest"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    home.ok("uninstall");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"model\": \"opus\"}\n");
}

#[test]
fn a_link_that_leads_nowhere_and_a_directory_are_refused() {
    let home = Home::new();
    fs::create_dir_all(home.path("home/.claude")).unwrap();
    symlink("nowhere", home.path("home/.claude/settings.json")).unwrap();
    assert!(home.refused("install").contains("cannot be followed"));
    assert!(home.refused("install --settings .").contains("not a file"));
}

#[test]
fn the_backup_holds_the_bytes_from_before() {
    let shape = "{ \"model\":\"opus\" }";
    let home = Home::with_settings(shape);
    let said = home.ok("install");
    let names = home.names("home/.claude");
    assert_eq!(names.len(), 2);
    assert!(
        names[1].starts_with("settings.json.countersign-backup-2") && said.contains(&names[1]),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(home.path("home/.claude").join(&names[1])).unwrap(),
        shape
    );
}

#[test]
fn when_the_disk_takes_no_byte_the_file_is_as_it_was() {
    let home = Home::with_settings("{\"model\": \"opus\"}");
    let mut limited = home.command("/bin/sh");
    let output = limited
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" install", BINARY])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("nothing was changed"),
        "{said}"
    );
    assert_eq!(home.settings(), "{\"model\": \"opus\"}");
    assert_eq!(home.names("home/.claude"), ["settings.json"]);
}

#[test]
fn a_directory_that_cannot_be_made_is_said_and_nothing_changes() {
    let home = Home::new();
    // A file where the directory should be stops every user, root included.
    home.write("home/.claude", "in the way");
    let said = home.refused("install");
    assert!(said.contains(".claude"), "{said}");
    assert_eq!(fs::read_to_string(home.path("home/.claude")).unwrap(), "in the way");
}

#[test]
fn the_file_can_be_the_projects_or_a_named_one() {
    let home = Home::new();
    home.ok("install --project");
    let local = home.path("project/.claude/settings.local.json");
    assert!(fs::read_to_string(&local).unwrap().contains("PermissionRequest"));
    home.ok("install --settings named.json");
    assert!(home.path("project/named.json").exists());
    assert!(
        !home.path("home/.claude").exists(),
        "the person's own settings are not touched"
    );
    home.ok("uninstall --project");
    assert_eq!(fs::read_to_string(&local).unwrap(), "{}\n");
}

#[test]
fn the_hosts_own_variable_moves_the_settings() {
    let home = Home::new();
    let mut command = home.command(BINARY);
    command.arg("install").env("CLAUDE_CONFIG_DIR", home.path("elsewhere"));
    assert!(command.output().unwrap().status.success());
    assert!(home.path("elsewhere/settings.json").exists());
    assert!(!home.path("home/.claude").exists());
}

#[test]
fn the_name_on_path_is_written_so_that_an_upgrade_keeps_working() {
    let home = Home::new();
    let link = home.path("bin/countersign");
    symlink(BINARY, &link).unwrap();
    let mut command = home.command("/bin/sh");
    assert!(
        command
            .args(["-c", "countersign install"])
            .output()
            .unwrap()
            .status
            .success()
    );
    assert!(home.settings().contains(link.to_str().unwrap()), "{}", home.settings());
}

#[test]
fn purging_removes_configuration_and_state_and_says_what_remains() {
    let home = Home::new();
    home.write("home/.config/countersign/config.toml", "");
    home.write("home/.local/state/countersign/audit.jsonl", "");
    let said = home.ok("uninstall");
    assert!(
        said.contains(".config/countersign") && said.contains("--purge") && said.contains(BINARY),
        "{said}"
    );
    home.ok("uninstall --purge --dry-run");
    assert!(home.path("home/.config/countersign").exists());
    home.ok("uninstall --purge");
    assert!(!home.path("home/.config/countersign").exists());
    assert!(!home.path("home/.local/state/countersign").exists());
}

#[test]
fn every_shell_gets_its_completions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = home.ok(&format!("completions {shell}"));
        assert!(
            script.contains("countersign") && script.contains("uninstall"),
            "{shell}"
        );
    }
}

#[test]
fn without_a_usable_home_nothing_is_written_where_one_stands() {
    let home = Home::new();
    let mut off = home.command(super::BINARY);
    let output = off.args(["off"]).env("HOME", "relative").output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no home directory is known"));
    assert_eq!(home.names("project"), [""; 0]);
}

#[test]
fn uninstall_names_the_backups_only_where_there_are_some() {
    let home = Home::new();
    assert!(!home.ok("uninstall").contains("backups"));
    home.ok("install");
    assert!(home.ok("uninstall").contains("backups"));
}

fn relay_is(home: &Home, on: bool) {
    let path = home.path("home/.local/state/countersign/relay/machine.json");
    match on {
        true => drop(home.write("home/.local/state/countersign/relay/machine.json", "{}")),
        false => fs::remove_file(path).unwrap(),
    }
}

#[test]
fn with_a_relay_on_the_host_waits_a_day_and_starts_the_relay_with_each_session_and_without_one_as_before() {
    for shape in SHAPES {
        let home = Home::with_settings(shape);
        home.ok("install --early");
        let before = home.settings();
        relay_is(&home, true);
        home.ok("install");
        let settings = parsed(&home.settings());
        let groups = settings["hooks"]["PermissionRequest"].as_array().unwrap();
        let hook = &groups.last().unwrap()["hooks"][0];
        assert_eq!(
            (&hook["timeout"], &hook["args"]),
            (&json!(86460), &json!(["hook", "--deadline", "86400"]))
        );
        let start =
            json!([{"hooks": [{"type": "command", "command": BINARY, "args": ["relay", "ensure"], "timeout": 10}]}]);
        assert_eq!(settings["hooks"]["SessionStart"], start);
        assert!(home.ok("install").starts_with("Already installed"));
        relay_is(&home, false);
        home.ok("install");
        assert_eq!(parsed(&home.settings()), parsed(&before), "{shape}");
        relay_is(&home, true);
        home.ok("install");
        home.ok("uninstall");
        assert_eq!(home.settings(), *shape);
    }
}

#[test]
fn uninstall_says_that_the_relay_is_still_on_and_how_to_end_it() {
    let home = Home::with_settings("{}");
    home.ok("install");
    assert!(!home.ok("uninstall").contains("countersign relay"));
    relay_is(&home, true);
    home.ok("install");
    assert!(home.ok("uninstall").contains("countersign relay off"));
}
