use super::super::config::{self, Policy};
use super::*;
use crate::assess;
use crate::wire::event::classify_event;

/// A home with a project in it, and rules in files of their own.
struct Site {
    dir: tempfile::TempDir,
    facts: Facts,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().canonicalize().expect("a path");
        let app = home.join("app");
        for name in ["app/docs", "app/src", "tools", "conf"] {
            std::fs::create_dir_all(home.join(name)).expect("directories");
        }
        for name in [
            "app/.env",
            "app/docs/a.md",
            "app/src/main.rs",
            "app/run.sh",
            "notes.txt",
        ] {
            std::fs::write(home.join(name), "x\n").expect("a file");
        }
        std::os::unix::fs::symlink(home.join("notes.txt"), app.join("docs/out.md")).expect("a link");
        let mut facts = Facts {
            home: Some(home.clone()),
            path: vec!["/usr/bin".into(), "/bin".into()],
            ..Facts::default()
        };
        facts.set_project(&app);
        Site { dir, facts }
    }

    fn policy(&self, person: &str, project: &str) -> Policy {
        let file = self.dir.path().join("conf/config.toml");
        std::fs::write(&file, person).expect("a file");
        std::fs::write(self.facts.project[0].join(config::PROJECT_FILE), project).expect("a file");
        let config = config::effective(Some(&file), &self.facts.project).expect("a configuration");
        config.policy
    }

    fn call(&self, tool: &str, input: &str) -> Call {
        let cwd = self.facts.project[0].display();
        let line = format!(r#"{{"tool_name":"{tool}","tool_input":{input},"cwd":"{cwd}"}}"#);
        classify_event(&line).expect("an event")
    }

    /// The tier of the whole call and whether it is proven, once every step is rated.
    fn of(&self, policy: &Policy, tool: &str, input: &str) -> (Tier, bool) {
        let call = self.call(tool, input);
        let assessment = assess::assess(&call, &self.facts);
        let steps = assessment.steps.iter();
        let rated: Vec<Rated> = steps
            .map(|step| rate(&policy.rules, &call, step, &self.facts))
            .collect();
        let tier = rated.iter().map(|rated| rated.tier).max().expect("a step");
        (tier, rated.iter().all(|rated| rated.proven))
    }

    fn shell(&self, policy: &Policy, command: &str) -> (Tier, bool) {
        let input = serde_json::json!({ "command": command }).to_string();
        self.of(policy, "Bash", &input)
    }
}

const VOUCH: &str = r#"
[[rule]]
program = "frobnicate"
args = ["status", "**"]
tier = "safe"
"#;

#[test]
fn a_rule_vouches_for_a_program_that_is_not_in_the_catalog_with_the_words_it_names() {
    let site = Site::new();
    let policy = site.policy(VOUCH, "");
    for command in [
        "frobnicate status",
        "frobnicate status --all x",
        "cd src && frobnicate status | head -3",
    ] {
        assert_eq!(site.shell(&policy, command), (Tier::Safe, true), "{command}");
    }
    for command in [
        "frobnicate",
        "frobnicate delete",
        "frobnicate x status",
        "frobnicated status",
    ] {
        assert!(!site.shell(&policy, command).1, "{command}");
    }
}

#[test]
fn a_rule_never_reaches_what_stands_around_its_command() {
    let site = Site::new();
    let policy = site.policy(VOUCH, "");
    for command in [
        "frobnicate status > ~/.bashrc",
        "frobnicate status > ../notes.txt",
        "frobnicate status $(rm -rf ~)",
        "frobnicate status \"$(cat ~/.ssh/id_rsa)\"",
        "LD_PRELOAD=./x.so frobnicate status",
        "PATH=.:$PATH frobnicate status",
        "frobnicate status $UNKNOWN",
        "frobnicate status; rm -rf ~",
        "sudo frobnicate status",
        "frobnicate status < ../notes.txt",
        "frobnicate() { rm -rf ~; }; frobnicate status",
    ] {
        assert_ne!(site.shell(&policy, command), (Tier::Safe, true), "{command}");
    }
    assert_eq!(site.shell(&policy, "frobnicate status > new.txt"), (Tier::Low, true));
}

#[test]
fn nothing_critical_is_rated_milder() {
    let site = Site::new();
    let policy = site.policy(
        "[[rule]]\nprogram = \"rm\"\ntier = \"safe\"\n[[rule]]\npath = \"~/**\"\ntier = \"safe\"\n[[rule]]\ntool = \"Write\"\ntier = \"safe\"\n",
        "",
    );
    for command in ["rm -rf ~", "rm ~/.ssh/id_rsa", "echo x > ~/.bashrc", "rm -rf /etc"] {
        assert_eq!(site.shell(&policy, command).0, Tier::Critical, "{command}");
    }
    let path = site.dir.path().canonicalize().expect("a path").join(".bashrc");
    let input = serde_json::json!({ "file_path": path, "content": "x" }).to_string();
    assert_eq!(site.of(&policy, "Write", &input).0, Tier::Critical);
    assert!(site.shell(&policy, "rm app/../docs/a.md").0 <= Tier::High);
}

#[test]
fn a_secret_is_vouched_for_only_by_its_path() {
    let site = Site::new();
    let by_program = site.policy("[[rule]]\nprogram = \"cat\"\ntier = \"safe\"\n", "");
    assert_eq!(site.shell(&by_program, "cat .env").0, Tier::High);
    assert_eq!(site.shell(&by_program, "cat ../notes.txt").0, Tier::Medium);
    let by_wildcard = site.policy("[[rule]]\nprogram = \"cat\"\npath = \"**\"\ntier = \"safe\"\n", "");
    assert_eq!(site.shell(&by_wildcard, "cat .env").0, Tier::High);
    let by_path = site.policy("[[rule]]\nprogram = \"cat\"\npath = \".env\"\ntier = \"low\"\n", "");
    assert_eq!(site.shell(&by_path, "cat .env").0, Tier::Low);
    assert_eq!(site.shell(&by_path, "cat .env ../notes.txt").0, Tier::Medium);
}

#[test]
fn a_file_that_the_agent_could_have_written_is_not_vouched_for() {
    let site = Site::new();
    let policy = site.policy("[[rule]]\nprogram = \"./run.sh\"\ntier = \"safe\"\n", "");
    assert_eq!(site.shell(&policy, "./run.sh").0, Tier::High);
}

#[test]
fn a_milder_path_rule_needs_the_path_as_written_and_as_resolved() {
    let site = Site::new();
    let policy = site.policy("[[rule]]\npath = \"docs/**\"\ntier = \"safe\"\n", "");
    assert_eq!(
        site.shell(&policy, "echo x > docs/new.md").0,
        Tier::Low,
        "a redirection is not its own word"
    );
    assert_eq!(site.shell(&policy, "touch docs/a.md").0, Tier::Safe);
    assert_ne!(
        site.shell(&policy, "touch docs/out.md").0,
        Tier::Safe,
        "a link leads out"
    );
    assert_ne!(site.shell(&policy, "touch docs/a.md src/main.rs").0, Tier::Safe);
    assert_ne!(site.shell(&policy, "touch docs/../src/main.rs").0, Tier::Safe);
}

#[test]
fn a_rule_for_a_host_vouches_for_that_host_alone() {
    let site = Site::new();
    let policy = site.policy("[[rule]]\nhost = \"*.acme.example\"\ntier = \"safe\"\n", "");
    let fetch = |url: &str| {
        site.of(
            &policy,
            "WebFetch",
            &serde_json::json!({ "url": url, "prompt": "x" }).to_string(),
        )
        .0
    };
    assert_eq!(fetch("https://docs.acme.example/x"), Tier::Safe);
    assert_ne!(fetch("https://docs.acme.example.evil.example/x"), Tier::Safe);
    assert_ne!(
        site.shell(&policy, "curl -O https://docs.acme.example/x").0,
        Tier::Safe,
        "it writes a file"
    );
}

#[test]
fn a_rule_for_a_tool_does_not_vouch_for_a_shell_command() {
    let site = Site::new();
    let policy = site.policy(
        "[[rule]]\ntool = \"T*\"\ntier = \"safe\"\n[[rule]]\ntool = \"Bash\"\ntier = \"safe\"\n[[rule]]\ntool = \"mcp__box__*\"\ntier = \"safe\"\n",
        "",
    );
    assert_ne!(site.shell(&policy, "touch new.txt"), (Tier::Safe, true));
    assert!(!site.shell(&policy, "frobnicate").1);
    assert_eq!(site.of(&policy, "TodoRead", "{}"), (Tier::Safe, true));
    for input in [
        r#"{"command":"rm -rf src"}"#,
        r#"{"command":"{ echo x; } > CLAUDE.md"}"#,
        r#"{"command":"x=1 > ../notes"}"#,
        r#"{"path":"../notes.txt"}"#,
    ] {
        assert_ne!(site.of(&policy, "mcp__box__run", input), (Tier::Safe, true), "{input}");
    }
}

/// What a word that is not listed does to the words after it nobody has read.
#[test]
fn a_word_that_is_not_listed_needs_a_rule_that_spells_the_command() {
    let site = Site::new();
    let wide = site.policy(
        "[[rule]]\nprogram = \"find\"\ntier = \"safe\"\n[[rule]]\nprogram = \"git\"\nargs = [\"log\", \"**\"]\ntier = \"safe\"\n\
         [[rule]]\nprogram = \"awk\"\ntier = \"safe\"\n[[rule]]\nprogram = \"env\"\ntier = \"safe\"\n[[rule]]\nprogram = \"xargs\"\ntier = \"safe\"\n",
        "",
    );
    for command in [
        "find . -weird -exec rm -rf ~ ';'",
        "find . -fprint /tmp/x -weird",
        "git log --output=/tmp/x",
        "awk 'BEGIN{system(\"rm -rf ~\")}'",
        "env --weird rm -rf ~",
        "xargs --weird rm -rf ~",
    ] {
        assert!(!site.shell(&wide, command).1, "{command}");
    }
    let spelled = site.policy(
        "[[rule]]\nprogram = \"ls\"\nargs = [\"--weird\", \"src\"]\ntier = \"safe\"\n",
        "",
    );
    assert_eq!(site.shell(&spelled, "ls --weird src"), (Tier::Safe, true));
    assert!(!site.shell(&spelled, "ls --weird docs").1);
}

#[test]
fn what_lies_outside_is_vouched_for_only_by_its_path() {
    let site = Site::new();
    let policy = site.policy(
        "[[rule]]\nprogram = \"frobnicate\"\ntier = \"safe\"\n[[rule]]\nprogram = \"cp\"\ntier = \"safe\"\n",
        "",
    );
    for command in [
        "frobnicate ~/.ssh/id_rsa",
        "frobnicate -o ~/.bashrc",
        "frobnicate --out=/home/other/x",
        "frobnicate @../notes.txt",
        "frobnicate -I../notes.txt",
        "cp docs/a.md ../copy",
        "cp docs/a.md CLAUDE.md",
    ] {
        assert_ne!(site.shell(&policy, command), (Tier::Safe, true), "{command}");
    }
    for command in [
        "frobnicate docs/a.md",
        "frobnicate --out=docs/x -v",
        "cp docs/a.md docs/b.md",
    ] {
        assert_eq!(site.shell(&policy, command), (Tier::Safe, true), "{command}");
    }
}

#[test]
fn code_that_may_be_the_agents_is_not_vouched_for_by_the_program_that_runs_it() {
    let site = Site::new();
    let policy = site.policy(
        "[[rule]]\nprogram = \"make\"\ntier = \"safe\"\n[[rule]]\nprogram = \"bash\"\ntier = \"safe\"\n",
        "",
    );
    assert_eq!(site.shell(&policy, "make").0, Tier::Safe);
    for command in ["cd /tmp && make", "echo x > Makefile; make", "bash run.sh"] {
        assert_eq!(site.shell(&policy, command).0, Tier::High, "{command}");
    }
}

#[test]
fn a_server_is_vouched_for_by_its_verbs() {
    let site = Site::new();
    let policy = site.policy(
        "[[rule]]\nserver = \"tracker\"\ntool = \"get_*\"\ntier = \"safe\"\n",
        "",
    );
    assert_eq!(
        site.of(&policy, "mcp__tracker__get_issue", r#"{"id":"7"}"#),
        (Tier::Safe, true)
    );
    for tool in [
        "mcp__tracker__delete_issue",
        "mcp__other__get_issue",
        "mcp__tracker__forget_it",
    ] {
        assert_ne!(site.of(&policy, tool, r#"{"id":"7"}"#), (Tier::Safe, true), "{tool}");
    }
}

#[test]
fn the_first_rule_about_a_step_rates_it() {
    let site = Site::new();
    let exception =
        "[[rule]]\nprogram = \"ls\"\nargs = [\"docs\"]\ntier = \"safe\"\n[[rule]]\nprogram = \"ls\"\ntier = \"high\"\n";
    let policy = site.policy(exception, "");
    assert_eq!(site.shell(&policy, "ls docs").0, Tier::Safe);
    assert_eq!(site.shell(&policy, "ls src").0, Tier::High);
    assert_eq!(
        site.shell(&policy, "/bin/ls src").0,
        Tier::High,
        "a stricter rule knows the program by its path"
    );
}

#[test]
fn a_project_raises_whatever_the_person_says_and_lowers_nothing() {
    let site = Site::new();
    let person = "[[rule]]\nprogram = \"touch\"\ntier = \"safe\"\n";
    let policy = site.policy(person, "[[rule]]\npath = \"docs/**\"\ntier = \"high\"\n");
    assert_eq!(site.shell(&policy, "touch docs/a.md").0, Tier::High);
    assert_eq!(site.shell(&policy, "touch src/new.rs").0, Tier::Safe);
    let policy = site.policy(
        "",
        "[[rule]]\nprogram = \"frobnicate\"\ntier = \"low\"\n[[rule]]\nprogram = \"rm\"\ntier = \"low\"\n",
    );
    assert!(!site.shell(&policy, "frobnicate").1);
    assert_eq!(site.shell(&policy, "rm -r src").0, Tier::High);
}

#[test]
fn a_projects_rule_raises_what_the_person_has_lowered() {
    let site = Site::new();
    let person = "[[rule]]\nprogram = \"frobnicate\"\ntier = \"safe\"\n";
    for (project, tier) in [
        ("low", Tier::Low),
        ("medium", Tier::Medium),
        ("critical", Tier::Critical),
    ] {
        let policy = site.policy(
            person,
            &format!("[[rule]]\nprogram = \"frobnicate\"\ntier = \"{project}\"\n"),
        );
        assert_eq!(site.shell(&policy, "frobnicate"), (tier, true));
    }
}

#[test]
fn a_denial_is_certain_or_asks_and_stands_before_a_question() {
    let site = Site::new();
    let policy = site.policy(
        "[[rule]]\nprogram = \"git\"\naction = \"ask\"\n[[rule]]\nprogram = \"git\"\nargs = [\"push\", \"**\"]\naction = \"deny\"\n",
        "",
    );
    let stopped = |command: &str| {
        let input = serde_json::json!({ "command": command }).to_string();
        let call = site.call("Bash", &input);
        let assessment = assess::assess(&call, &site.facts);
        let stop = stop(&policy.rules, Owner::Person, &call, &assessment.steps, &site.facts)?;
        Some((stop.rule.origin.line, stop.denial().is_some()))
    };
    assert_eq!(stopped("git push origin main"), Some((4, true)));
    assert_eq!(stopped("cd src && /usr/bin/git push"), Some((4, true)));
    assert_eq!(stopped("git log"), Some((1, false)));
    assert_eq!(stopped("git -C . push"), Some((1, false)), "words among options ask");
    assert_eq!(stopped("ls"), None);
}

#[test]
fn a_denied_program_or_host_is_known_in_other_spellings() {
    let site = Site::new();
    let policy = site.policy(
        "[[rule]]\nprogram = \"./run.sh\"\naction = \"deny\"\n[[rule]]\nhost = \"evil.example\"\naction = \"deny\"\n",
        "",
    );
    let stopped = |command: &str| {
        let call = site.call("Bash", &serde_json::json!({ "command": command }).to_string());
        let assessment = assess::assess(&call, &site.facts);
        stop(&policy.rules, Owner::Person, &call, &assessment.steps, &site.facts).is_some()
    };
    for command in [
        "./run.sh",
        "bash run.sh",
        ".//run.sh",
        "cd src && ../run.sh",
        "$PWD/run.sh",
        "curl https://evil.example/x",
        "curl HTTPS://EVIL.example./x",
        "git clone git@evil.example:x",
        "pip install x",
    ] {
        assert!(stopped(command), "{command}");
    }
    assert!(!stopped("cat run.sh") && !stopped("curl https://docs.rs/x"));
}

#[test]
fn a_stricter_path_rule_needs_one_path_of_several_in_any_case() {
    let site = Site::new();
    let policy = site.policy("[[rule]]\npath = \"docs/**\"\naction = \"deny\"\n", "");
    let stopped = |tool: &str, input: serde_json::Value| {
        let call = site.call(tool, &input.to_string());
        let assessment = assess::assess(&call, &site.facts);
        stop(&policy.rules, Owner::Person, &call, &assessment.steps, &site.facts).is_some()
    };
    let shell = |command: &str| stopped("Bash", serde_json::json!({ "command": command }));
    for command in [
        "cat README.md docs/a.md",
        "cat DOCS/a.md",
        "cat src/../docs/a.md",
        "echo x > docs/b.md",
    ] {
        assert!(shell(command), "{command}");
    }
    for command in ["grep -r x .", "rg x", "rm -r .", "git stash", "rm -rf ../app"] {
        assert!(shell(command), "{command}: what is below it counts");
    }
    for command in ["cat src/main.rs", "ls", "ls -R .", "rg x src", "git status"] {
        assert!(!shell(command), "{command}");
    }
    let file = site.facts.project[0].join("docs/a.md");
    assert!(stopped(
        "Edit",
        serde_json::json!({ "file_path": file, "old_string": "x", "new_string": "y" })
    ));
}
