//! What `doctor` says of an arrangement. A script stands for the installed hook.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{BINARY, Home, our_request_entry};

const VERSION: &str = "case $1 in --version) echo countersign 0.1.0; exit;; esac";

/// Stands for the hook: allows all but the dangerous command.
fn sound() -> String {
    format!(
        r#"{VERSION}
case $(cat) in
  *'rm -rf'*) echo '{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest"}}}}';;
  *) echo '{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow"}}}}}}';;
esac"#
    )
}

/// A home whose installed command is a script, and whose host asks about everything.
fn installed(script: &str) -> Home {
    let home = Home::new();
    home.script("bin/countersign", script);
    home.write(
        "home/.claude/settings.json",
        &settings(&home, json!({}), json!({"permissions": {"defaultMode": "default"}})),
    );
    home
}

/// Settings with our entry, its hook and the root changed by what is given.
fn settings(home: &Home, hook: Value, root: Value) -> String {
    let mut entry = our_request_entry(home.path("bin/countersign").to_str().unwrap());
    entry["hooks"][0]
        .as_object_mut()
        .unwrap()
        .extend(hook.as_object().unwrap().clone());
    let mut settings = json!({"hooks": {"PermissionRequest": [entry]}});
    settings
        .as_object_mut()
        .unwrap()
        .extend(root.as_object().unwrap().clone());
    settings.to_string()
}

/// The exit code, and what was found as "mark topic: what".
fn examined(home: &Home) -> (i32, Vec<String>) {
    let output = home.run("doctor --json");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let line = |finding: &Value| {
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        format!("{} {}: {}", text("mark"), text("topic"), text("what"))
    };
    let found = report["findings"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(report["ok"], output.status.success());
    (output.status.code().unwrap(), found)
}

#[track_caller]
fn expect(home: &Home, code: i32, start: &str, part: &str) {
    let (got, found) = examined(home);
    let said = found.iter().any(|line| line.starts_with(start) && line.contains(part));
    assert!(said, "no `{start}` with `{part}`: {found:#?}");
    assert_eq!(got, code, "{found:#?}");
}

#[test]
fn a_sound_installation_is_in_order_throughout() {
    let (code, found) = examined(&installed(&sound()));
    assert_eq!(code, 0);
    assert!(found.iter().all(|line| line.starts_with("ok ")), "{found:#?}");
    assert!(found.iter().any(|line| line.contains("is allowed")));
    assert!(found.iter().any(|line| line.contains("is left to you")));
}

#[test]
fn what_install_wires_allows_the_harmless_call_and_leaves_the_dangerous_one() {
    let home = Home::with_settings(r#"{"permissions":{"defaultMode":"default"}}"#);
    home.ok("install --early --guard critical");
    let (code, found) = examined(&home);
    assert_eq!(code, 0, "{found:#?}");
    for (event, dangerous) in [("PermissionRequest", "is left to you"), ("PreToolUse", "is denied")] {
        let said = |end: &str| found.iter().any(|line| line.contains(event) && line.ends_with(end));
        assert!(said("is allowed") && said(dangerous), "{found:#?}");
    }
}

#[test]
fn a_hook_that_never_allows_is_a_failure_unless_an_ask_rule_may_hold_it_back() {
    let home = installed(&format!("{VERSION}\necho '{{}}'"));
    expect(&home, 1, "fail answer", "keeps its prompt");
    let rules = json!({"permissions": {"defaultMode": "default", "ask": ["Bash"]}});
    home.write("home/.claude/settings.json", &settings(&home, json!({}), rules));
    expect(&home, 0, "warn answer", "an ask rule of yours");
}

#[test]
fn nothing_wired_is_a_failure() {
    expect(
        &Home::new(),
        1,
        "fail wired",
        "no permission prompt reaches Countersign",
    );
}

#[test]
fn a_hook_that_allows_the_dangerous_call_is_a_failure() {
    let home = installed(&sound().replace("rm -rf", "no such text"));
    expect(&home, 1, "fail answer", "ALLOWED");
}

#[test]
fn a_guard_that_lets_the_dangerous_call_pass_is_a_failure() {
    let home = installed(&format!("{VERSION}\necho '{{}}'"));
    let guard = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": home.path("bin/countersign"), "args": ["hook", "--guard", "critical"]}
    ]}]}});
    home.write("home/.claude/settings.json", &guard.to_string());
    expect(&home, 1, "fail answer", "not stopped by the guard");
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#;
    let denies = format!("{VERSION}\ncase $(cat) in *'rm -rf'*) echo '{deny}';; esac");
    home.script("bin/countersign", &denies);
    let (_, found) = examined(&home);
    assert!(
        found
            .iter()
            .any(|line| line.starts_with("ok answer") && line.ends_with("is denied")),
        "{found:#?}"
    );
}

#[test]
fn what_is_switched_off_is_warned_of_and_a_configuration_that_does_not_hold_is_a_failure() {
    let home = installed(&format!("{VERSION}\necho '{{}}'"));
    home.ok("off 1h");
    expect(&home, 0, "warn pause", "switched off for another");
    expect(&home, 0, "ok answer", "as Countersign is switched off");
    home.ok("on");
    home.script("bin/countersign", &sound());
    expect(&home, 0, "ok pause", "not switched off");
    home.write("home/.config/countersign/config.toml", "no such = 1");
    expect(&home, 1, "fail config", "config.toml:1");
}

#[test]
fn calls_that_cannot_be_counted_are_a_failure() {
    let home = installed(&sound());
    home.write("home/.config/countersign/config.toml", "[limits]\nBash = \"60/hour\"\n");
    expect(&home, 0, "ok limits", "1 set, 0 used up");
    home.write("home/.local/state/countersign/limits", "");
    expect(&home, 1, "fail limits", "remove it to begin anew");
}

#[test]
fn what_is_frozen_is_warned_of_and_a_hook_that_does_not_heed_it_is_a_failure() {
    let home = Home::with_settings(r#"{"permissions":{"defaultMode":"default"}}"#);
    home.ok("install --early --guard critical");
    home.ok("freeze --reason leak");
    expect(&home, 0, "warn pause", ": leak: every call is denied");
    expect(&home, 0, "ok answer", "is denied, as everything is frozen");
    home.ok("thaw");
    let home = installed(&sound());
    home.ok("freeze");
    expect(&home, 1, "fail answer", "NOT denied, although everything is frozen");
}

#[test]
fn a_record_that_was_changed_or_cannot_be_written_is_warned_of() {
    let home = Home::with_settings(r#"{"permissions":{"defaultMode":"default"}}"#);
    home.ok("install");
    expect(&home, 0, "ok record", "nothing is recorded yet");
    expect(&home, 0, "ok record", "as it was written: 2 lines");
    let log = "home/.local/state/countersign/log.jsonl";
    let text = fs::read_to_string(home.path(log)).unwrap();
    home.write(log, &text.replace("allow", "none"));
    expect(&home, 0, "warn record", "NOT as it was written: 2 faults, 4 lines");
    fs::remove_file(home.path(log)).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path(log)).unwrap();
    expect(&home, 0, "warn record", "log.jsonl is a symbolic link");
}

#[test]
fn a_hook_that_fails_or_babbles_or_hangs_is_a_failure() {
    expect(&installed("exit 1"), 1, "fail answer", "exit status: 1");
    expect(&installed("echo allow"), 1, "fail answer", "one JSON object");
    let home = installed(&format!("{VERSION}\nexec sleep 60"));
    let hasty = json!({"timeout": 0.3, "args": ["hook"]});
    home.write("home/.claude/settings.json", &settings(&home, hasty, json!({})));
    expect(&home, 1, "fail answer", "did not end within 0.3 s");
}

#[test]
fn a_hook_that_leaves_a_child_on_its_output_is_a_failure() {
    let home = installed(&format!("{VERSION}\nsleep 8 &\necho '{{}}'"));
    expect(&home, 1, "fail answer", "left a child");
}

#[test]
fn a_program_that_is_gone_or_of_another_version_is_found() {
    let home = installed(&sound().replace("0.1.0", "9.9.9"));
    expect(&home, 0, "warn binary", "countersign 9.9.9");
    fs::remove_file(home.path("bin/countersign")).unwrap();
    expect(&home, 1, "fail binary", "no executable file");
}

#[test]
fn a_program_in_the_project_is_warned_of() {
    let home = installed(&sound());
    home.script("project/countersign", &sound());
    let text = home.settings().replace("bin/countersign", "project/countersign");
    home.write("home/.claude/settings.json", &text);
    expect(&home, 0, "warn binary", "an agent can replace it");
}

#[test]
fn settings_that_the_host_passes_over_are_a_failure() {
    let home = installed(&sound());
    home.write("project/.claude/settings.json", "{ // shared\n}");
    expect(&home, 1, "fail settings", "line 1 column 3");
    home.write("project/.claude/settings.json", r#"{"hooks": {"PreToolUse": 1}}"#);
    expect(&home, 1, "fail settings", "hooks.PreToolUse");
}

#[test]
fn hooks_switched_off_in_any_settings_are_a_failure() {
    let home = installed(&sound());
    home.write("project/.claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    expect(&home, 1, "fail switched-off", "settings.local.json");
    let home = installed(&sound());
    home.write(
        "managed/managed-settings.d/10-hooks.json",
        r#"{"allowManagedHooksOnly": true}"#,
    );
    expect(&home, 1, "fail switched-off", "organisation");
}

#[test]
fn what_the_mode_means_is_said() {
    let cases = [
        (json!({}), "warn mode", "none set"),
        (json!({"disableAutoMode": "disable"}), "ok mode", "disabled"),
        (
            json!({"permissions": {"disableAutoMode": "disable"}}),
            "ok mode",
            "disabled",
        ),
        (
            json!({"permissions": {"defaultMode": "acceptEdits"}}),
            "ok mode",
            "acceptEdits",
        ),
        (
            json!({"permissions": {"defaultMode": "auto"}}),
            "warn mode",
            "never come",
        ),
        (
            json!({"permissions": {"defaultMode": "plan"}}),
            "warn mode",
            "never come",
        ),
        (
            json!({"permissions": {"defaultMode": "dontAsk"}}),
            "warn mode",
            "not called",
        ),
        (
            json!({"permissions": {"defaultMode": "bypassPermissions"}}),
            "warn mode",
            "asks nothing",
        ),
    ];
    let home = installed(&sound());
    for (root, start, part) in cases {
        home.write("home/.claude/settings.json", &settings(&home, json!({}), root));
        expect(&home, 0, start, part);
    }
}

#[test]
fn the_projects_mode_wins_over_the_persons_and_the_organisations_over_both() {
    let home = installed(&sound());
    home.write(
        "project/.claude/settings.json",
        r#"{"permissions": {"defaultMode": "acceptEdits"}}"#,
    );
    expect(&home, 0, "ok mode", "project/.claude/settings.json");
    home.write(
        "managed/managed-settings.json",
        r#"{"permissions": {"defaultMode": "dontAsk"}}"#,
    );
    expect(&home, 0, "warn mode", "managed-settings.json");
}

#[test]
fn a_host_from_before_auto_mode_asks_with_no_mode_set() {
    let home = installed(&sound());
    home.write("home/.claude/settings.json", &settings(&home, json!({}), json!({})));
    home.script("bin/claude", "echo '2.1.280 (Claude Code)'");
    expect(&home, 0, "ok mode", "this version then asks");
    home.script("bin/claude", "echo '2.1.332 (Claude Code)'");
    expect(&home, 0, "warn mode", "auto mode");
    expect(&home, 0, "ok host", "2.1.332");
}

#[test]
fn an_early_entry_covers_auto_mode() {
    let home = Home::new();
    home.ok("install --early");
    let (_, found) = examined(&home);
    let covered = found
        .iter()
        .any(|line| line.starts_with("ok mode") && line.contains("before shell commands"));
    assert!(covered, "{found:#?}");
}

#[test]
fn other_hooks_that_decide_are_named_with_nothing_live_in_them_and_others_are_not() {
    let home = installed(&sound());
    let rival = r#"{"hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "yes-man \u001b[2K"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "beep"}]}],
            "PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}]}}"#;
    home.write("project/.claude/settings.json", rival);
    expect(&home, 0, "warn rival", r"yes-man \u{1b}[2K");
    let (_, found) = examined(&home);
    assert_eq!(
        found.iter().filter(|line| line.contains("rival")).count(),
        1,
        "{found:#?}"
    );
}

#[test]
fn twins_are_named() {
    let home = installed(&sound());
    let twin = home.settings();
    home.write("project/.claude/settings.local.json", &twin);
    expect(&home, 0, "warn twin", "wired 2 times");
}

#[test]
fn the_plugin_beside_the_settings_is_a_twin() {
    let home = installed(&sound());
    let enabled = json!({"enabledPlugins": {"countersign@shop": true}});
    home.write("home/.claude/settings.json", &settings(&home, json!({}), enabled));
    let root = home.path("cached-plugin");
    let installed = json!({"version": 2, "plugins": {"countersign@shop": [{"scope": "user", "installPath": root}]}});
    home.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    home.script("cached-plugin/hooks/countersign-hook", &sound());
    let program = "${CLAUDE_PLUGIN_ROOT}/hooks/countersign-hook";
    let hook = json!({"type": "command", "command": program, "args": ["hook"]});
    let hooks = json!({"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [hook]}]}});
    home.write("cached-plugin/hooks/hooks.json", &hooks.to_string());
    expect(&home, 0, "warn twin", "hooks.json");
    expect(
        &home,
        0,
        "ok answer",
        "hooks.json (PermissionRequest): `echo ready | wc -c` is allowed",
    );
}

#[test]
fn an_entry_that_turns_silence_into_a_denial_or_loses_the_answer_is_a_failure() {
    let home = installed(&sound());
    for (hook, part) in [
        (json!({"onFailure": "block"}), "onFailure"),
        (json!({"async": true}), "background"),
        (json!({"timeout": 20}), "before its own deadline of 25 s"),
    ] {
        home.write("home/.claude/settings.json", &settings(&home, hook, json!({})));
        expect(&home, 1, "fail entry", part);
    }
}

#[test]
fn what_everyone_may_write_is_a_failure() {
    let home = installed(&sound());
    let config = home.write("home/.config/countersign/config.toml", "");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
    expect(&home, 1, "fail permissions", "config.toml");
}

#[test]
fn the_words_for_a_person_say_what_to_do() {
    let output = Home::new().run("doctor");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("fail  wired: ") && said.contains("-> run `countersign install`"),
        "{said}"
    );
}

#[test]
fn a_prompt_server_that_is_given_up_before_the_person_is_warned_of() {
    let home = installed(&sound());
    let config = home.ok("mcp --config");
    home.write("project/.mcp.json", &config);
    expect(&home, 0, "ok mcp", "is waited for long enough");
    home.write("home/.config/countersign/config.toml", "[headless]\nwait = \"1h\"\n");
    expect(
        &home,
        0,
        "warn mcp",
        "is waited for 630 s (its `timeout`), but a person 1 h",
    );
    home.write("project/.mcp.json", &home.ok("mcp --config"));
    expect(&home, 0, "ok mcp", "is waited for long enough");
    let mut without: Value = serde_json::from_str(&config).unwrap();
    without["mcpServers"]["countersign"]["timeout"] = Value::Null;
    home.write("home/.claude.json", &without.to_string());
    let limit = json!({"permissions": {"defaultMode": "default"}, "env": {"MCP_TOOL_TIMEOUT": "60000"}});
    home.write("home/.claude/settings.json", &settings(&home, json!({}), limit));
    expect(&home, 0, "warn mcp", "(MCP_TOOL_TIMEOUT in ");
    fs::remove_file(home.path("home/.claude.json")).unwrap();
    fs::remove_file(home.path("project/.mcp.json")).unwrap();
    expect(&home, 0, "ok mcp", "ends calls of MCP servers after 60 s");
}

#[test]
fn a_short_start_up_and_a_server_with_a_taken_name_are_warned_of() {
    let home = installed(&sound());
    let project = home.path("project").canonicalize().unwrap();
    let servers = json!({"projects": {project.to_str().unwrap(): {"mcpServers": {"stdio": {"command": "x"}}}}});
    home.write("home/.claude.json", &servers.to_string());
    expect(&home, 0, "warn mcp", "the MCP server `stdio` in ");
    let start = json!({"permissions": {"defaultMode": "default"}, "env": {"MCP_TIMEOUT": "300"}});
    home.write("home/.claude/settings.json", &settings(&home, json!({}), start));
    expect(&home, 0, "warn mcp", "gives an MCP server 0.3 s to start");
}

/// A home in which the relay is on, and its program says this.
fn with_relay(says: &str, hook: Value, root: Value) -> (Home, PathBuf) {
    let home = Home::new();
    home.write("home/.local/state/countersign/relay/machine.json", "{}");
    home.script(
        "bin/countersign",
        &format!("case \"$*\" in *86400*) exec sleep 60;; esac\n{}", sound()),
    );
    home.write("home/.claude/settings.json", &settings(&home, hook, root));
    // The program beside this one is asked.
    let doctor = home.path("own/countersign");
    home.script("own/countersign-relay", says);
    fs::copy(BINARY, &doctor).unwrap();
    (home, doctor)
}

fn relay_findings(home: &Home, doctor: &Path) -> Vec<String> {
    let output = home
        .command(doctor.to_str().unwrap())
        .args(["doctor", "--json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let of_interest = |finding: &&Value| matches!(finding["topic"].as_str(), Some("relay" | "answer"));
    let line = |finding: &Value| {
        format!(
            "{}: {}",
            finding["mark"].as_str().unwrap(),
            finding["what"].as_str().unwrap()
        )
    };
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(of_interest)
        .map(line)
        .collect()
}

#[test]
fn a_relay_that_is_on_is_asked_for_and_its_hook_is_tested_without_asking_a_person() {
    let waits = json!({"args": ["hook", "--deadline", "86400"], "timeout": 86460});
    let (home, doctor) = with_relay("echo 'It answers.'; echo 'Two devices.'", waits, json!({}));
    let settings = home.path("home/.claude/settings.json");
    let mut with_start: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    let ensure = json!({"type": "command", "command": home.path("bin/countersign"), "args": ["relay", "ensure"]});
    with_start["hooks"]["SessionStart"] = json!([{"hooks": [ensure]}]);
    fs::write(&settings, with_start.to_string()).unwrap();
    let found = relay_findings(&home, &doctor);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert_eq!(found[0], "ok: It answers. Two devices.");
    assert!(
        found[1].contains("is allowed") && found[2].contains("is left to you"),
        "{found:#?}"
    );
}

#[test]
fn settings_that_do_not_fit_the_relay_and_a_relay_that_does_not_answer_are_told_of() {
    let (home, doctor) = with_relay("exit 1", json!({}), json!({}));
    let found = relay_findings(&home, &doctor);
    assert!(found[0].starts_with("fail: it is on and does not answer"), "{found:#?}");
    assert!(
        found[1].starts_with("warn: it is on, and Claude Code does not wait"),
        "{found:#?}"
    );
    let waits = json!({"args": ["hook", "--deadline", "86400"], "timeout": 86460});
    let (home, doctor) = with_relay("exit 1", waits, json!({}));
    fs::remove_dir_all(home.path("home/.local")).unwrap();
    let found = relay_findings(&home, &doctor);
    assert!(found[0].starts_with("warn: it is off, and the settings"), "{found:#?}");
}
