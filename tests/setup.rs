//! Installing into, and removing from, settings files of every shape, and what doctor says of an arrangement.
//!
//! Every test has a home of its own; the person's is never touched.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_countersign");

/// A home directory with a project beside it, removed at the end.
struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for dir in ["home", "project", "bin", "managed"] {
            fs::create_dir(root.path().join(dir)).unwrap();
        }
        Self { root }
    }

    fn with_settings(text: &str) -> Self {
        let home = Self::new();
        home.write("home/.claude/settings.json", text);
        home
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn script(&self, relative: &str, body: &str) -> PathBuf {
        let path = self.write(relative, &format!("#!/bin/sh\n{body}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn settings(&self) -> String {
        fs::read_to_string(self.path("home/.claude/settings.json")).unwrap()
    }

    /// A command in the project, with this home and nothing of the real environment.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path("project"));
        command
            .env("HOME", self.path("home"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("CLAUDE_CODE_MANAGED_SETTINGS_PATH", self.path("managed"));
        command
    }

    fn run(&self, args: &str) -> Output {
        let mut command = self.command(BINARY);
        command.args(args.split_whitespace()).stdin(std::process::Stdio::null());
        command.output().unwrap()
    }

    fn ok(&self, args: &str) -> String {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{args}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs what must fail, and gives what it said.
    fn refused(&self, args: &str) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args} was not refused");
        String::from_utf8(output.stderr).unwrap()
    }

    fn names(&self, relative: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(relative)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

fn our_request_entry(binary: &str) -> Value {
    json!({"matcher": "*", "hooks": [
        {"type": "command", "command": binary, "args": ["hook", "--deadline", "25"], "timeout": 30}
    ]})
}

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
fn early_and_guard_go_into_one_entry_for_shell_tools() {
    let home = Home::new();
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
    assert_eq!(*entry, json!([{"matcher": "Bash|Monitor", "hooks": [hook]}]));
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

mod doctor {
    use super::*;

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
    fn a_hook_that_lets_nothing_through_is_warned_of() {
        expect(
            &installed(&format!("{VERSION}\necho '{{}}'")),
            0,
            "warn answer",
            "keeps its prompt",
        );
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
        let dir = "home/.claude/plugins/cache/shop/countersign/0.1.0/hooks";
        home.script(&format!("{dir}/countersign-hook"), &sound());
        let program = "${CLAUDE_PLUGIN_ROOT}/hooks/countersign-hook";
        let hook = json!({"type": "command", "command": program, "args": ["hook"]});
        let hooks = json!({"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [hook]}]}});
        home.write(&format!("{dir}/hooks.json"), &hooks.to_string());
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
}
