use std::os::unix::fs::PermissionsExt;

use super::*;

/// What a file of this text sets, or its mistake without the directory before the file's name.
fn holding(text: &str) -> Result<Config, String> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("config.toml");
    fs::write(&path, text).expect("a file");
    read(&path).map_err(|error| told(&error, dir.path()))
}

fn of_project(text: &str) -> Result<Policy, String> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(PROJECT_FILE);
    fs::write(&path, text).expect("a file");
    let policy = read_of_project(&path).map_err(|error| told(&error, dir.path()))?;
    Ok(policy.expect("a policy"))
}

fn told(error: &Invalid, dir: &Path) -> String {
    error.to_string().replace(&format!("{}/", dir.display()), "")
}

fn answers(policy: &Policy) -> Vec<&'static str> {
    Tier::ALL
        .iter()
        .map(|&tier| policy.table.answer(tier).0.as_str())
        .collect()
}

#[test]
fn without_a_file_every_setting_has_its_default() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = read(&dir.path().join("config.toml")).expect("defaults");
    assert_eq!(config, Config::default());
    assert_eq!(config.hook.no_decision, NoDecision::Block);
    assert_eq!(answers(&config.policy), ["allow", "ask", "ask", "ask", "ask"]);
    for text in ["", "# nothing\n", "[hook]\n", "[tiers]\n"] {
        assert_eq!(holding(text).expect(text).policy, Policy::default());
    }
}

#[test]
fn no_decision_is_set_by_its_two_names() {
    for (name, value) in [("block", NoDecision::Block), ("empty", NoDecision::Empty)] {
        let config = holding(&format!("# mine\n[hook]\nno_decision = \"{name}\"\n")).expect("a configuration");
        assert_eq!(config.hook.no_decision, value);
    }
}

#[test]
fn a_preset_sets_every_tier_and_a_line_of_tiers_one_of_them() {
    for (text, expected) in [
        ("preset = \"watch\"", ["ask", "ask", "ask", "ask", "ask"]),
        ("preset = \"calm\"", ["allow", "ask", "ask", "ask", "ask"]),
        ("preset = \"steady\"", ["allow", "allow", "ask", "ask", "ask"]),
        (
            "preset = \"flow\"",
            ["allow", "allow", "allow_in_project", "ask", "ask"],
        ),
        ("preset = \"strict\"", ["allow", "ask", "ask", "ask", "deny"]),
        ("tiers.low = \"allow\"", ["allow", "allow", "ask", "ask", "ask"]),
        (
            "preset = \"flow\"\n[tiers]\nmedium = \"allow\"\nhigh = \"deny\"\nsafe = \"ask\"",
            ["ask", "allow", "allow", "deny", "ask"],
        ),
    ] {
        assert_eq!(answers(&holding(text).expect(text).policy), expected, "{text}");
    }
}

#[test]
fn an_answer_knows_the_line_that_set_it() {
    let config = holding("\npreset = \"steady\"\n\n[tiers]\nhigh = \"deny\"\n").expect("a configuration");
    let setter = |tier| config.policy.table.answer(tier).1.to_string();
    assert!(setter(Tier::Low).contains("`steady`") && setter(Tier::Low).ends_with("config.toml:2)"));
    assert!(setter(Tier::High).starts_with("a line of `[tiers]`") && setter(Tier::High).ends_with("config.toml:5)"));
}

#[test]
fn a_rule_is_read_whole_and_knows_its_line() {
    let text = r#"
[[rule]]
program = "git"
args = ["push", "**"]
action = "deny"
reason = "the person pushes"

[[rule]]
tool = "WebFetch"
host = "Docs.Example.com"
tier = "safe"
"#;
    let rules = holding(text).expect("rules").policy.rules;
    let shown: Vec<String> = rules
        .iter()
        .map(|rule| format!("{} {} {}", rule.origin.line, rule.when, rule.then))
        .collect();
    assert_eq!(
        shown,
        [
            r#"2 program = "git", args = ["push", "**"] is denied: the person pushes"#,
            r#"8 tool = "WebFetch", host = "docs.example.com" is safe"#,
        ]
    );
}

#[test]
fn windows_limits_and_escalations_are_read_whole_and_know_their_lines() {
    let text = r#"
[limits]
"*" = "500/day"
Bash = "60/hour"

[[window]]
days = ["mon", "fri"]
from = "22:00"
to = "06:00"
zone = "Europe/Berlin"
outside = "deny"
tiers = ["low", "medium"]
tools = ["Bash", "mcp__*"]
agent = "main"

[[window]]
machine = "build-*"

[[escalate]]
program = "terraform"
args = ["apply", "**"]
machine = "prod"
reason = " changes production "
timeout = "10m"

[[escalate]]
tool = "WebFetch"
reason = "leaves the house"
"#;
    let policy = holding(text).expect("a policy").policy;
    let limits: Vec<String> = policy
        .limits
        .iter()
        .map(|limit| format!("{} {limit}", limit.origin.line))
        .collect();
    assert_eq!(limits, [r#"3 * = "500/day""#, r#"4 Bash = "60/hour""#]);
    let windows: Vec<String> = policy
        .windows
        .iter()
        .map(|window| format!("{} {window}", window.origin.line))
        .collect();
    assert_eq!(
        windows,
        [
            r#"6 mon, fri 22:00-06:00 Europe/Berlin, agent = "main", for low, medium, for Bash, mcp__*, outside = "deny""#,
            r#"16 machine = "build-*", outside = "ask""#,
        ]
    );
    let escalations: Vec<String> = policy
        .escalations
        .iter()
        .map(|one| format!("{} {}: {:?}", one.origin.line, one.when, one.hold))
        .collect();
    assert_eq!(
        escalations,
        [
            r#"19 program = "terraform", args = ["apply", "**"], machine = "prod": Hold { reason: "changes production", timeout: Some(600s) }"#,
            r#"26 tool = "WebFetch": Hold { reason: "leaves the house", timeout: None }"#,
        ]
    );
}

#[test]
fn a_project_adds_its_windows_limits_and_escalations_to_the_persons() {
    let text = "[limits]\nBash = \"5/hour\"\n[[window]]\ndays = [\"sun\"]\nzone = \"UTC\"\n[[escalate]]\nprogram = \"ls\"\nreason = \"x\"\n";
    let dir = tempfile::tempdir().expect("a directory");
    let (home, project) = (dir.path().join("config.toml"), dir.path().join("app"));
    fs::create_dir(&project).expect("a directory");
    fs::write(&home, text).expect("a file");
    fs::write(project.join(PROJECT_FILE), text.replace("5/hour", "9/hour")).expect("a file");
    let policy = effective(Some(&home), &[project]).expect("a configuration").policy;
    let owners = [Owner::Person, Owner::Project];
    assert_eq!(policy.limits.iter().map(|one| one.owner).collect::<Vec<_>>(), owners);
    assert_eq!(policy.windows.iter().map(|one| one.owner).collect::<Vec<_>>(), owners);
    assert_eq!(
        policy.escalations.iter().map(|one| one.owner).collect::<Vec<_>>(),
        owners
    );
}

#[test]
fn every_mistake_shows_its_line_and_what_to_write_instead() {
    for (text, expected) in [
        (
            "preset = \"stedy\"",
            "config.toml:1: `preset = \"stedy\"`: there is no preset `stedy`; write \"watch\", \"calm\", \"steady\", \"flow\" or \"strict\"",
        ),
        (
            "[tiers]\nlow = \"alow\"",
            "config.toml:2: `low = \"alow\"`: `alow` is no answer; write \"allow\", \"allow_in_project\", \"ask\" or \"deny\"",
        ),
        (
            "[tiers]\ncritical = \"allow\"",
            "config.toml:2: `critical = \"allow\"`: nothing critical is allowed without a person; write \"ask\" or \"deny\"",
        ),
        (
            "[tiers]\nhigh = \"allow_in_project\"",
            "config.toml:2: `high = \"allow_in_project\"`: high calls are not allowed as a whole; write \"ask\" or \"deny\", and a [[rule]] for what you trust",
        ),
        (
            "[tiers]\nlo = \"allow\"",
            "config.toml:2: `lo = \"allow\"`: unknown field `lo`, expected one of `safe`, `low`, `medium`, `high`, `critical`",
        ),
        (
            "presett = \"calm\"",
            "config.toml:1: `presett = \"calm\"`: unknown field `presett`, expected one of `hook`, `headless`, `relay`, `log`, `preset`, `tiers`, `rule`, `window`, `limits`, `escalate`",
        ),
        (
            "preset = 5",
            "config.toml:1: `preset = 5`: invalid type: integer `5`, expected a string; write it in quotes",
        ),
        (
            "[hook]\nno_decision = \"blok\"",
            "config.toml:2: `no_decision = \"blok\"`: unknown variant `blok`, expected `block` or `empty`; write no_decision = \"block\" or no_decision = \"empty\"",
        ),
        (
            "[[rule]]\nprogram = \"ls\"",
            "config.toml:1: `[[rule]]`: the rule says nothing of what; add `tier`, or action = \"ask\" or \"deny\"",
        ),
        (
            "[[rule]]\ntier = \"safe\"",
            "config.toml:1: `[[rule]]`: the rule says nothing of when; add `program`, `path`, `host`, `tool` or `server`",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\ntier = \"low\"\naction = \"deny\"",
            "config.toml:4: `action = \"deny\"`: a rule rates or stops, not both; leave out `tier` or `action`",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\naction = \"allow\"",
            "config.toml:3: `action = \"allow\"`: a rule does not allow, it rates; write tier = \"safe\" instead of `action`",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\naction = \"stop\"",
            "config.toml:3: `action = \"stop\"`: there is no action `stop`; write \"ask\" or \"deny\"",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\ntier = \"none\"",
            "config.toml:3: `tier = \"none\"`: there is no tier `none`; write \"safe\", \"low\", \"medium\", \"high\" or \"critical\"",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\ntier = \"low\"\nreason = \"x\"",
            "config.toml:4: `reason = \"x\"`: a reason is told with a denial only; add action = \"deny\", or leave it out",
        ),
        (
            "[[rule]]\nprogram = \"git push\"\ntier = \"low\"",
            "config.toml:2: `program = \"git push\"`: a program is one name, or a path as commands write it; its words go into `args`",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\ntool = \"Bash\"\ntier = \"low\"",
            "config.toml:2: `program = \"ls\"`: a program is run by the shell, whatever the tool; leave out `tool` and `server`",
        ),
        (
            "[[rule]]\nargs = [\"x\"]\ntier = \"low\"",
            "config.toml:2: `args = [\"x\"]`: words belong to a program; add `program`",
        ),
        (
            "[[rule]]\nargs = \"push\"\nprogram = \"git\"\ntier = \"low\"",
            "config.toml:2: `args = \"push\"`: invalid type: string \"push\", expected a sequence; write a list of words, such as [\"push\", \"**\"]",
        ),
        (
            "[[rule]]\npath = \"../x\"\ntier = \"low\"",
            "config.toml:2: `path = \"../x\"`: this is no path; write \"docs/**\" (in the project), \"~/notes/*\" or \"/opt/data/**\"; only `*` and `**` are special",
        ),
        (
            "[[rule]]\ntool = \"\"\ntier = \"low\"",
            "config.toml:2: `tool = \"\"`: it is empty; leave it out, or name something",
        ),
        (
            "[[rule]]\nhost = \"https://x.example\"\ntier = \"low\"",
            "config.toml:2: `host = \"https://x.example\"`: a host is a name alone, without scheme, port or path; write \"docs.example.com\" or \"*.example.com\"",
        ),
        (
            "[[rule]]\ntool = \"Bash(git *)\"\naction = \"ask\"",
            "config.toml:2: `tool = \"Bash(git *)\"`: a tool is its name alone, such as \"WebFetch\" or \"mcp__tracker__*\"; what it is given goes into other keys",
        ),
        (
            "[[rule]]\nserver = \"mcp__tracker\"\naction = \"ask\"",
            "config.toml:2: `server = \"mcp__tracker\"`: a server is its name alone, without `mcp__`; the tool's name goes into `tool`",
        ),
        (
            "[[rule]]\ntool = \"*\"\ntier = \"safe\"",
            "config.toml:1: `[[rule]]`: the rule would rate every tool; name the tools or the server",
        ),
        (
            "[[rule]]\npath = \"docs/**\"\nhost = \"x.example\"\ntier = \"low\"",
            "config.toml:3: `host = \"x.example\"`: an effect is on a path or on a host, not on both; make two rules of it",
        ),
        (
            "[[rule]]\nprogram = \"git\"\nargs = [\"pu**\"]\naction = \"ask\"",
            "config.toml:3: `args = [\"pu**\"]`: `**` stands alone, for any number of words; write `*` inside a word",
        ),
        (
            "[[rule]]\ntool = \" Write\"\naction = \"ask\"",
            "config.toml:2: `tool = \" Write\"`: blanks around it are taken as they stand; leave them out",
        ),
        (
            "[rule]\nprogram = \"ls\"",
            "config.toml:1: `[rule]`: invalid type: map, expected a sequence; write it with two brackets, such as [[rule]]",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\naction = \"ask\"\ntimeout = \"5m\"",
            "config.toml:4: `timeout = \"5m\"`: a rule waits for nobody; leave it out, or write an [[escalate]]",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\naction = \"ask\"\nmachine = \"a b\"",
            "config.toml:4: `machine = \"a b\"`: a machine is its host name, as `uname -n` prints it; `*` stands for any part",
        ),
        (
            "[[rule]]\nprogram = \"ls\"\naction = \"ask\"\nagent = \"\"",
            "config.toml:4: `agent = \"\"`: it is empty; leave it out, or name something",
        ),
        (
            "[[rule]]\nagent = \"main\"\ntier = \"safe\"",
            "config.toml:1: `[[rule]]`: the rule would rate every tool; name the tools or the server",
        ),
        (
            "[[escalate]]\nprogram = \"terraform\"",
            "config.toml:1: `[[escalate]]`: the person is not told why; add `reason`, such as reason = \"changes production\"",
        ),
        (
            "[[escalate]]\nprogram = \"terraform\"\nreason = \" \"",
            "config.toml:3: `reason = \" \"`: the person is not told why; add `reason`, such as reason = \"changes production\"",
        ),
        (
            "[[escalate]]\nreason = \"x\"",
            "config.toml:1: `[[escalate]]`: the rule says nothing of when; add `program`, `path`, `host`, `tool` or `server`",
        ),
        (
            "[[escalate]]\nprogram = \"x\"\nreason = \"x\"\ntier = \"low\"",
            "config.toml:4: `tier = \"low\"`: an escalation always asks a person; leave it out, or write a [[rule]]",
        ),
        (
            "[[escalate]]\nprogram = \"x\"\nreason = \"x\"\naction = \"deny\"",
            "config.toml:4: `action = \"deny\"`: an escalation always asks a person; leave it out, or write a [[rule]]",
        ),
        (
            "[[escalate]]\nprogram = \"x\"\nreason = \"x\"\ntimeout = \"soon\"",
            "config.toml:4: `timeout = \"soon\"`: `soon` is no length of time: write 30m, 1h, 2d or 1h30m",
        ),
        (
            "[[escalate]]\nprogram = \"x\"\nreason = \"x\"\ntimeout = \"2d\"",
            "config.toml:4: `timeout = \"2d\"`: nobody is waited for longer than a day; write 24h or less",
        ),
        (
            "[[escalate]]\nprogram = \"x\"\nreason = \"x\"\ntime = \"2d\"",
            "config.toml:4: `time = \"2d\"`: unknown field `time`, expected one of `program`, `args`, `path`, `host`, `tool`, `server`, `agent`, `machine`, `tier`, `action`, `reason`, `timeout`",
        ),
        (
            "[limits]\nBash = \"60\"",
            "config.toml:2: `Bash = \"60\"`: `60` is no limit; write a number from 1 to 100000 and a unit: \"60/hour\"; units are second, minute, hour and day",
        ),
        (
            "[limits]\nBash = 60",
            "config.toml:2: `Bash = 60`: invalid type: integer `60`, expected a string; write it in quotes",
        ),
        (
            "[limits]\n\"Bash(ls)\" = \"60/hour\"",
            "config.toml:2: `\"Bash(ls)\" = \"60/hour\"`: a tool is its name alone, such as \"WebFetch\" or \"mcp__tracker__*\"; what it is given goes into other keys",
        ),
        (
            "[limits]\n\"\" = \"60/hour\"",
            "config.toml:2: `\"\" = \"60/hour\"`: it is for no tool; name one, or write \"*\" for all",
        ),
        (
            "[[limits]]\nBash = \"60/hour\"",
            "config.toml:1: `[[limits]]`: invalid type: sequence, expected a map; write it with one bracket on each side, such as [limits]",
        ),
        (
            "[[window]]\noutside = \"deny\"",
            "config.toml:1: `[[window]]`: the window says nothing of when; add `days`, or `from` and `to`, and `zone`",
        ),
        (
            "[[window]]\ndays = [\"mon\"]",
            "config.toml:1: `[[window]]`: whose clocks are meant is not said; add `zone`, such as zone = \"Europe/Berlin\" or \"UTC\"",
        ),
        (
            "[[window]]\nzone = \"UTC\"\nagent = \"main\"",
            "config.toml:2: `zone = \"UTC\"`: a zone is of days or times; add `days`, or `from` and `to`",
        ),
        (
            "[[window]]\nfrom = \"09:00\"\nzone = \"Europe/Bonn\"",
            "config.toml:3: `zone = \"Europe/Bonn\"`: this machine knows no time zone `Europe/Bonn`; write its IANA name, such as \"Europe/Berlin\" or \"UTC\"",
        ),
        (
            "[[window]]\ndays = [\"monday\"]\nzone = \"UTC\"",
            "config.toml:2: `days = [\"monday\"]`: there is no day `monday`; write \"mon\", \"tue\", \"wed\", \"thu\", \"fri\", \"sat\", \"sun\"",
        ),
        (
            "[[window]]\ndays = []\nzone = \"UTC\"",
            "config.toml:2: `days = []`: the list is empty; leave out `days` for all",
        ),
        (
            "[[window]]\ndays = \"mon\"\nzone = \"UTC\"",
            "config.toml:2: `days = \"mon\"`: invalid type: string \"mon\", expected a sequence; write a list of words, such as [\"push\", \"**\"]",
        ),
        (
            "[[window]]\nfrom = \"9:00\"\nzone = \"UTC\"",
            "config.toml:2: `from = \"9:00\"`: `9:00` is no time of day; write \"09:00\", up to \"24:00\"",
        ),
        (
            "[[window]]\nto = \"24:01\"\nzone = \"UTC\"",
            "config.toml:2: `to = \"24:01\"`: `24:01` is no time of day; write \"09:00\", up to \"24:00\"",
        ),
        (
            "[[window]]\nfrom = \"09:00\"\nto = \"09:00\"\nzone = \"UTC\"",
            "config.toml:2: `from = \"09:00\"`: it ends when it begins; for whole days leave out `from` and `to`",
        ),
        (
            "[[window]]\nfrom = \"09:00\"\nzone = \"UTC\"\noutside = \"allow\"",
            "config.toml:4: `outside = \"allow\"`: `allow` is no answer outside of a window; write \"ask\" or \"deny\"",
        ),
        (
            "[[window]]\nfrom = \"09:00\"\nzone = \"UTC\"\ntiers = [\"mild\"]",
            "config.toml:4: `tiers = [\"mild\"]`: there is no tier `mild`; write \"safe\", \"low\", \"medium\", \"high\" or \"critical\"",
        ),
        (
            "[[window]]\nfrom = \"09:00\"\nzone = \"UTC\"\ntools = [\"Bash(ls)\"]",
            "config.toml:4: `tools = [\"Bash(ls)\"]`: a tool is its name alone, such as \"WebFetch\" or \"mcp__tracker__*\"; what it is given goes into other keys",
        ),
        (
            "[[window]]\nfrom = 09:00:00\nzone = \"UTC\"",
            "config.toml:2: `from = 09:00:00`: invalid type: map, expected a string; write it in quotes",
        ),
        ("[hook", "config.toml:1: `[hook`: unclosed table, expected `]`"),
        (
            "[hook]\nno_decision = \"block\"\nno_decision = \"empty\"",
            "config.toml:3: `no_decision = \"empty\"`: duplicate key; leave one of the two",
        ),
    ] {
        assert_eq!(holding(text).expect_err(text), expected);
    }
}

#[test]
fn a_path_that_would_never_match_is_a_mistake() {
    for path in [
        "~",
        "~bob/x",
        "$HOME/x",
        "src/{a,b}",
        "src/[ab]",
        "src/?",
        "!docs",
        "docs/a**",
        "/",
        "",
        " docs",
        "a/../b",
    ] {
        let error = holding(&format!("[[rule]]\npath = '{path}'\naction = 'ask'\n")).expect_err(path);
        assert!(error.contains("this is no path"), "{path}: {error}");
    }
    for path in ["docs", "./docs/", "~/notes/*", "/opt/**", "**/*.pem", ".env"] {
        holding(&format!("[[rule]]\npath = '{path}'\naction = 'ask'\n")).expect(path);
    }
}

#[test]
fn a_long_line_is_cut_in_its_message_and_too_many_rules_are_refused() {
    let error = holding(&format!("preset = \"{}\"", "x".repeat(5000))).expect_err("no preset");
    assert!(error.contains("xx..`: there is no preset"), "{error}");
    let many = "[[rule]]\nprogram = \"x\"\naction = \"ask\"\n".repeat(MAX_RULES + 1);
    let error = holding(&many).expect_err("too many");
    assert!(
        error.contains(":1501: `[[rule]]`: there are more than 500 rules"),
        "{error}"
    );
}

#[test]
fn a_project_file_may_hold_what_tightens_and_nothing_else() {
    for (text, expected) in [
        (
            "[hook]\nno_decision = \"empty\"",
            ".countersign.toml:1: `[hook]`: a project may only tighten, so this belongs in your own config.toml",
        ),
        (
            "[[rule]]\nprogram = \"make\"\ntier = \"safe\"",
            ".countersign.toml:3: `tier = \"safe\"`: a project may only tighten; write a higher tier, or move the rule to your own config.toml",
        ),
        (
            "preset = \"loose\"",
            ".countersign.toml:1: `preset = \"loose\"`: there is no preset `loose`; write \"watch\", \"calm\", \"steady\", \"flow\" or \"strict\"",
        ),
    ] {
        assert_eq!(of_project(text).expect_err(text), expected);
    }
    let rules = of_project("[[rule]]\nprogram = \"make\"\ntier = \"high\"")
        .expect("a rule")
        .rules;
    assert_eq!(rules[0].owner, Owner::Project);
}

#[test]
fn a_project_takes_the_stricter_answer_of_each_tier_whatever_it_says() {
    let words = ["allow", "allow_in_project", "ask", "deny"];
    let dir = tempfile::tempdir().expect("a directory");
    let (home, project) = (dir.path().join("config.toml"), dir.path().join("app"));
    fs::create_dir(&project).expect("a directory");
    for (ours, own) in words.iter().enumerate() {
        for (theirs, other) in words.iter().enumerate() {
            fs::write(&home, format!("[tiers]\nmedium = \"{own}\"\n")).expect("a file");
            fs::write(project.join(PROJECT_FILE), format!("[tiers]\nmedium = \"{other}\"\n")).expect("a file");
            let config = effective(Some(&home), std::slice::from_ref(&project)).expect("a configuration");
            assert_eq!(answers(&config.policy)[2], words[ours.max(theirs)], "{own} {other}");
            assert_eq!(config.files, [home.clone(), project.join(PROJECT_FILE)]);
        }
    }
}

#[test]
fn a_project_file_that_is_silent_tightens_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let (home, project) = (dir.path().join("config.toml"), dir.path().join("app"));
    fs::create_dir(&project).expect("a directory");
    fs::write(&home, "preset = \"flow\"\n").expect("a file");
    fs::write(project.join(PROJECT_FILE), "# nothing\n").expect("a file");
    let config = effective(Some(&home), &[project]).expect("a configuration");
    assert_eq!(
        answers(&config.policy),
        ["allow", "allow", "allow_in_project", "ask", "ask"]
    );
}

#[test]
fn a_persons_file_in_the_project_does_not_hold() {
    let dir = tempfile::tempdir().expect("a directory");
    let root = dir.path().join("app");
    fs::create_dir(&root).expect("a directory");
    let inside = root.join("config.toml");
    fs::write(&inside, "preset = \"flow\"\n").expect("a file");
    let link = dir.path().join("config.toml");
    std::os::unix::fs::symlink(&inside, &link).expect("a link");
    let real = fs::canonicalize(&root).expect("a path");
    for path in [inside, link] {
        let error = effective(Some(&path), &[root.clone(), real.clone()]).expect_err("in the project");
        assert!(matches!(error, Invalid::InProject { .. }), "{error}");
        assert!(error.to_string().contains("lies in the project"), "{error}");
    }
}

#[test]
fn a_file_that_everybody_may_write_to_does_not_hold() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("config.toml");
    fs::write(&path, "").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).expect("chmod");
    let error = read(&path).expect_err("open to all");
    assert_eq!(
        told(&error, dir.path()),
        "config.toml may be written by everybody: run `chmod go-w` on it"
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("chmod");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("chmod");
    assert!(matches!(read(&path), Err(Invalid::NotYours { .. })), "its directory");
}

#[test]
fn a_file_of_another_user_does_not_hold_but_one_of_root_does() {
    assert_eq!(
        not_yours(1001, 0o600, 1000),
        Some("belongs to another user: make it yours with `chown`")
    );
    assert_eq!(not_yours(1000, 0o664, 1000), None);
    assert_eq!(not_yours(0, 0o644, 1000), None);
}

#[test]
fn what_cannot_be_read_does_not_hold() {
    let dir = tempfile::tempdir().expect("a directory");
    assert!(
        matches!(read(dir.path()), Err(Invalid::Unreadable { .. })),
        "a directory"
    );
    assert!(holding("\u{0}").is_err());
    assert!(
        holding(&"#".repeat(MAX_BYTES as usize + 1))
            .expect_err("long")
            .contains("longer")
    );
}
