//! What the person configures, through the program: the hook's answers, `explain` and `policy show`.

#[path = "support/cli.rs"]
mod cli;

use std::fs;
use std::path::PathBuf;

use cli::Home;
use serde_json::{Value, json};

/// What the hook answers: `allow`, `deny` with its message, or `none`.
#[derive(Debug, PartialEq)]
enum Answer {
    Allow,
    Deny(String),
    None,
}

struct Asked {
    answer: Answer,
    said: String,
}

fn ask(home: &Home, event: &str, mode: &str, tool: &str, input: &Value) -> Asked {
    let event = json!({
        "hook_event_name": event,
        "session_id": "s",
        "cwd": home.project(),
        "permission_mode": mode,
        "tool_name": tool,
        "tool_input": input,
    });
    let output = home.run(&["hook"], event.to_string().as_bytes());
    assert!(output.status.success());
    let line = String::from_utf8(output.stdout).expect("text");
    let answer: Value = serde_json::from_str(&line).expect("one object");
    let decision = &answer["hookSpecificOutput"]["decision"];
    Asked {
        answer: match decision["behavior"].as_str() {
            Some("allow") => Answer::Allow,
            Some("deny") => Answer::Deny(decision["message"].as_str().expect("a message").to_owned()),
            Some(other) => panic!("{other}"),
            None => Answer::None,
        },
        said: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Writes the person's configuration.
fn configure(home: &Home, text: &str) -> PathBuf {
    let dir = home.project().with_file_name(".config").join("countersign");
    fs::create_dir_all(&dir).expect("directories");
    fs::write(dir.join("config.toml"), text).expect("a configuration");
    dir.join("config.toml")
}

fn shell(home: &Home, command: &str) -> Answer {
    shell_call(home, command).answer
}

fn shell_call(home: &Home, command: &str) -> Asked {
    ask(
        home,
        "PermissionRequest",
        "default",
        "Bash",
        &json!({ "command": command }),
    )
}

/// One command of each tier: safe, low, medium in the project, medium outside, high, critical.
const COMMANDS: [&str; 6] = [
    "cat README.md",
    "mkdir made",
    "echo x > Makefile",
    "curl https://docs.rs/serde",
    "rm README.md",
    "rm -rf ~",
];

fn letters(home: &Home) -> String {
    let letter = |command: &&str| match shell(home, command) {
        Answer::Allow => 'a',
        Answer::Deny(_) => 'd',
        Answer::None => '-',
    };
    COMMANDS.iter().map(letter).collect()
}

#[test]
fn each_preset_lets_through_what_it_says() {
    for (text, expected) in [
        ("", "a-----"),
        ("preset = \"watch\"", "------"),
        ("preset = \"calm\"", "a-----"),
        ("preset = \"steady\"", "aa----"),
        ("preset = \"flow\"", "aaa---"),
        ("preset = \"strict\"", "a----d"),
        ("[tiers]\nmedium = \"allow\"", "a-aa--"),
        (
            "preset = \"steady\"\n[tiers]\nhigh = \"deny\"\nsafe = \"ask\"",
            "-a--d-",
        ),
    ] {
        let home = Home::new();
        configure(&home, text);
        assert_eq!(letters(&home), expected, "{text}");
    }
}

#[test]
fn a_project_file_only_tightens() {
    for (person, project, expected) in [
        ("preset = \"steady\"", "preset = \"calm\"", "a-----"),
        ("preset = \"calm\"", "preset = \"flow\"", "a-----"),
        ("preset = \"flow\"", "[tiers]\nmedium = \"ask\"", "aa----"),
        ("preset = \"flow\"", "[tiers]\nmedium = \"allow\"", "aaa---"),
        ("", "[tiers]\ncritical = \"deny\"", "a----d"),
        ("preset = \"strict\"", "[tiers]\ncritical = \"ask\"", "a----d"),
        (
            "preset = \"steady\"",
            "[[rule]]\nprogram = \"mkdir\"\naction = \"ask\"",
            "a-----",
        ),
        (
            "preset = \"steady\"",
            "[[rule]]\nprogram = \"mkdir\"\ntier = \"high\"",
            "a-----",
        ),
        (
            "[[rule]]\nprogram = \"mkdir\"\ntier = \"safe\"",
            "[[rule]]\nprogram = \"mkdir\"\ntier = \"low\"",
            "a-----",
        ),
    ] {
        let home = Home::new();
        configure(&home, person);
        fs::write(home.project().join(".countersign.toml"), project).expect("a file");
        assert_eq!(letters(&home), expected, "{person} / {project}");
    }
}

#[test]
fn in_plan_mode_nothing_above_safe_is_let_through() {
    let home = Home::new();
    configure(
        &home,
        "preset = \"flow\"\n[[rule]]\nprogram = \"frobnicate\"\ntier = \"low\"",
    );
    let asked =
        |mode, command: &str| ask(&home, "PermissionRequest", mode, "Bash", &json!({ "command": command })).answer;
    assert_eq!(asked("plan", "cat README.md"), Answer::Allow);
    for command in ["mkdir made", "echo x > Makefile", "frobnicate"] {
        assert_eq!(asked("plan", command), Answer::None, "{command}");
        assert_eq!(asked("default", command), Answer::Allow, "{command}");
    }
}

#[test]
fn a_denial_tells_the_model_the_persons_reason() {
    let home = Home::new();
    configure(
        &home,
        "[[rule]]\nprogram = \"npm\"\nargs = [\"publish\", \"**\"]\naction = \"deny\"\nreason = \"releases are made by CI\"\n\
         [[rule]]\nprogram = \"yarn\"\naction = \"deny\"\n",
    );
    assert_eq!(
        shell(&home, "cd src && npm publish"),
        Answer::Deny("[countersign:policy] releases are made by CI".into())
    );
    let Answer::Deny(message) = shell(&home, "yarn install") else {
        panic!("denied");
    };
    assert!(
        message.starts_with("[countersign:policy] ") && message.len() > 25,
        "{message}"
    );
    assert_eq!(shell(&home, "npm ci"), Answer::None);
}

#[test]
fn the_hosts_own_ask_rules_stand_above_every_rule_of_ours() {
    let home = Home::new();
    configure(
        &home,
        "preset = \"steady\"\n[[rule]]\nprogram = \"mkdir\"\ntier = \"safe\"\n",
    );
    assert_eq!(shell(&home, "mkdir made"), Answer::Allow);
    fs::create_dir_all(home.project().join(".claude")).expect("a directory");
    let settings = home.project().join(".claude/settings.json");
    fs::write(&settings, r#"{"permissions":{"ask":["Bash(mkdir *)"]}}"#).expect("settings");
    assert_eq!(shell(&home, "mkdir made"), Answer::None);
    assert_eq!(shell(&home, "cat README.md"), Answer::Allow);
}

#[test]
fn a_project_that_sets_variables_which_programs_obey_gets_nothing_let_through() {
    for (env, expected) in [
        (r#"{"HOME":"/elsewhere"}"#, Answer::None),
        (r#"{"PATH":"/p/bin:/usr/bin"}"#, Answer::None),
        (r#"{"XDG_CONFIG_HOME":"/p"}"#, Answer::None),
        (r#"{"GIT_SSH_COMMAND":"./x"}"#, Answer::None),
        (r#"{"LD_PRELOAD":"./x.so"}"#, Answer::None),
        (r#"{"GIT_EDITOR":"./x"}"#, Answer::None),
        (r#"{"CLAUDE_CONFIG_DIR":"/p"}"#, Answer::None),
        (r#"{"WHATEVER":"x"}"#, Answer::None),
        (r#"{"NO_COLOR":"1","BASH_DEFAULT_TIMEOUT_MS":"120000"}"#, Answer::Allow),
    ] {
        let home = Home::new();
        fs::create_dir_all(home.project().join(".claude")).expect("a directory");
        for name in ["settings.json", "settings.local.json"] {
            let file = home.project().join(".claude").join(name);
            fs::write(&file, format!(r#"{{"env":{env}}}"#)).expect("settings");
            assert_eq!(shell(&home, "cat README.md"), expected, "{name}: {env}");
            fs::remove_file(file).expect("gone");
        }
    }
}

#[test]
fn a_configuration_that_does_not_hold_is_no_decision_for_every_call_and_says_the_line() {
    let home = Home::new();
    let file = configure(&home, "preset = \"calm\"\n[[rule]]\nprogram = \"ls\"\n");
    let asked = shell_call(&home, "true");
    assert_eq!(asked.answer, Answer::None);
    assert_eq!(
        asked.said,
        format!(
            "countersign: no decision until the configuration is right: {}:2: `[[rule]]`: the rule says nothing of what; \
             add `tier`, or action = \"ask\" or \"deny\"\n",
            file.display()
        )
    );
    configure(&home, "");
    let project = home.project().join(".countersign.toml");
    fs::write(&project, "[tiers]\nlow = \"alow\"\n").expect("a file");
    let asked = shell_call(&home, "true");
    assert_eq!(asked.answer, Answer::None);
    assert!(
        asked
            .said
            .contains(&format!("{}:2: `low = \"alow\"`", project.display())),
        "{}",
        asked.said
    );
}

#[test]
fn a_call_that_cannot_be_read_is_left_alone_whatever_a_rule_says_of_its_tool() {
    let home = Home::new();
    configure(&home, "[[rule]]\ntool = \"Bash\"\naction = \"deny\"\n");
    assert!(matches!(shell(&home, "cat README.md"), Answer::Deny(_)));
    for input in [json!({}), json!({ "command": 5 })] {
        let asked = ask(&home, "PermissionRequest", "default", "Bash", &input);
        assert_eq!(asked.answer, Answer::None);
        assert!(
            asked.said.contains("the input of Bash cannot be read"),
            "{}",
            asked.said
        );
    }
}

#[test]
fn explain_says_which_limits_apply_and_takes_nothing_of_them() {
    let home = Home::new();
    let file = configure(&home, "[limits]\nBash = \"3/day\"\nGlob = \"1/day\"\n");
    let limit = format!("(the limit Bash = \"3/day\": 3 left ({}:2))", file.display());
    for _ in 0..2 {
        let text = shown(&home, &["explain", "cat README.md"]);
        assert!(text.contains(&limit) && !text.contains("Glob"), "{text}");
        assert!(text.contains("= safe and understood: runs without a prompt"), "{text}");
    }
    assert_eq!(shell(&home, "cat README.md"), Answer::Allow);
    let json: Value = serde_json::from_str(&shown(&home, &["explain", "--json", "cat README.md"])).expect("JSON");
    assert_eq!(
        json["limits"],
        json!([format!("Bash = \"3/day\": 2 left ({}:2)", file.display())])
    );
}

/// Where nobody may be asked, a wrong line must not open what a guard or a rule keeps shut.
#[test]
fn a_configuration_that_does_not_hold_lets_nothing_through_and_leaves_the_guard_standing() {
    let home = Home::new();
    let used = |arguments: &[&str], command: &str| {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": home.project(),
            "permission_mode": "auto", "tool_name": "Bash", "tool_input": { "command": command },
        });
        let output = home.run(arguments, event.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&output.stdout).expect("one object");
        let said = String::from_utf8(output.stderr).expect("text");
        (
            answer["hookSpecificOutput"]["permissionDecision"]
                .as_str()
                .unwrap_or("none")
                .to_owned(),
            said,
        )
    };
    let guard = ["hook", "--early", "--guard", "critical"];
    fs::write(home.project().join(".countersign.toml"), "low = \"deny\"\n").expect("a file");
    configure(&home, "[[rule]]\nprogram = \"npm\"\naction = \"deny\"\n");
    assert_eq!(used(&guard, "rm -rf ~").0, "deny");
    assert_eq!(
        used(&["hook", "--early"], "npm test").0,
        "deny",
        "the person's own rules hold"
    );
    let (answer, said) = used(&guard, "cat README.md");
    assert_eq!(answer, "none");
    assert!(said.contains(".countersign.toml:1: `low"), "{said}");
    configure(&home, "preset = 1\n");
    assert_eq!(used(&guard, "rm -rf ~").0, "deny");
    assert_eq!(used(&guard, "cat README.md").0, "none");
}

#[test]
fn a_configuration_inside_the_project_does_not_hold() {
    let home = Home::new();
    let dir = home.project().join("conf/countersign");
    fs::create_dir_all(&dir).expect("directories");
    fs::write(dir.join("config.toml"), "preset = \"flow\"\n").expect("a file");
    let config_home = home.project().join("conf");
    let output = home.run_with(
        &[("XDG_CONFIG_HOME", &config_home)],
        &["policy", "show", "--effective"],
        b"",
    );
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("lies in the project, where the agent writes"), "{said}");
}

#[test]
fn rules_reach_the_other_tools() {
    let home = Home::new();
    configure(
        &home,
        "[[rule]]\ntool = \"WebFetch\"\nhost = \"docs.acme.example\"\ntier = \"safe\"\n\
         [[rule]]\nserver = \"tracker\"\ntool = \"get_*\"\ntier = \"safe\"\n\
         [[rule]]\npath = \"docs/**\"\naction = \"deny\"\nreason = \"docs are generated\"\n",
    );
    let asked = |tool: &str, input: Value| ask(&home, "PermissionRequest", "default", tool, &input).answer;
    let fetch = |url: &str| asked("WebFetch", json!({ "url": url, "prompt": "what" }));
    assert_eq!(fetch("https://docs.acme.example/a"), Answer::Allow);
    assert_eq!(fetch("https://acme.example/a"), Answer::None);
    assert_eq!(asked("mcp__tracker__get_issue", json!({ "id": "7" })), Answer::Allow);
    assert_eq!(asked("mcp__tracker__close_issue", json!({ "id": "7" })), Answer::None);
    let file = home.project().join("docs/a.md");
    assert_eq!(
        asked("Write", json!({ "file_path": file, "content": "x" })),
        Answer::Deny("[countersign:policy] docs are generated".into())
    );
}

fn shown(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(arguments, b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn policy_show_effective_names_who_set_every_answer_and_every_rule() {
    let home = Home::new();
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let unset = "the preset `calm`, as nothing else is configured";
    assert_eq!(
        lines(shown(&home, &["policy", "show", "--effective"])),
        [
            format!("  safe      allow             {unset}"),
            format!("  low       ask               {unset}"),
            format!("  medium    ask               {unset}"),
            format!("  high      ask               {unset}"),
            format!("  critical  ask               {unset}"),
        ]
    );
    let person = configure(
        &home,
        "preset = \"flow\"\n\n[[rule]]\nprogram = \"git\"\nargs = [\"push\"]\naction = \"deny\"\n",
    );
    let project: PathBuf = home.project().join(".countersign.toml");
    fs::write(&project, "[tiers]\nmedium = \"ask\"\n").expect("a file");
    let (person, project) = (person.display(), project.display());
    let flow = format!("the preset `flow` ({person}:1)");
    assert_eq!(
        lines(shown(&home, &["policy", "show", "--effective"])),
        [
            format!("  safe      allow             {flow}"),
            format!("  low       allow             {flow}"),
            format!("  medium    ask               a line of `[tiers]` ({project}:2)"),
            format!("  high      ask               {flow}"),
            format!("  critical  ask               {flow}"),
            format!("  program = \"git\", args = [\"push\"] is denied  ({person}:3)"),
        ]
    );
}

#[test]
fn policy_show_names_the_files_and_what_each_sets() {
    let home = Home::new();
    let text = shown(&home, &["policy", "show"]);
    let lines: Vec<&str> = text.lines().collect();
    let [person, project, hint] = lines.as_slice() else {
        panic!("{text}");
    };
    assert!(person.ends_with("config.toml: is not there") && project.ends_with(".countersign.toml: is not there"));
    assert!(hint.contains("--effective"), "{text}");
    let person = configure(&home, "[tiers]\nlow = \"allow\"\n");
    let text = shown(&home, &["policy", "show"]);
    let expected = format!(
        "{0}:\n  low       allow             a line of `[tiers]` ({0}:2)\n",
        person.display()
    );
    assert!(text.starts_with(&expected), "{text}");
}

#[test]
fn explain_names_the_rule_and_its_file() {
    let home = Home::new();
    let file = configure(&home, "[[rule]]\nprogram = \"frobnicate\"\ntier = \"safe\"\n");
    let text = shown(&home, &["explain", "frobnicate now"]);
    let lines: Vec<&str> = text.lines().collect();
    let rated = format!("counts as safe by the rule at {}:1", file.display());
    assert!(lines.iter().any(|line| line.trim() == rated), "{text}");
    assert!(
        lines.contains(&"= safe and vouched for: runs without a prompt"),
        "{text}"
    );
    configure(&home, "preset = \"stedy\"\n");
    let text = shown(&home, &["explain", "true"]);
    assert!(text.contains("= safe and understood: keeps its prompt"), "{text}");
    assert!(
        text.contains("(no decision until the configuration is right: "),
        "{text}"
    );
}
