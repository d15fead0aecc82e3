//! The host's own `permissions.ask` rules, and what a project's settings put into the environment.
//!
//! Such a rule brings a call to the `PermissionRequest` hook, and an allow of the hook would override it. So before
//! any allow the rules are read, and where one may match there is no allow. The host's matching is not repeated here:
//! this errs towards "may match", and so does every file that cannot be read.
//!
//! Not seen: rules given on the host's command line (`--settings`), by the operating system's device management or by
//! a server.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::facts::{Facts, MANAGED};
use crate::own_files::is_absent;

/// Where the host's settings are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The directories of the person's settings. Both `~/.claude` and `CLAUDE_CONFIG_DIR` are read: a project can set
    /// the variable, and must not hide a rule by it.
    pub user: Vec<PathBuf>,
    /// The project's root directories.
    pub project: Vec<PathBuf>,
    pub managed: PathBuf,
}

impl Sources {
    /// The sources of a session: the person's home, the value of `CLAUDE_CONFIG_DIR`, the project's roots.
    pub fn of(home: Option<&Path>, config_dir: Option<&OsStr>, project: &[PathBuf]) -> Self {
        let config_dir = config_dir.filter(|dir| !dir.is_empty()).map(PathBuf::from);
        Sources {
            user: home
                .map(|home| home.join(".claude"))
                .into_iter()
                .chain(config_dir)
                .collect(),
            project: project.to_owned(),
            managed: MANAGED.into(),
        }
    }

    fn of_project(&self) -> impl Iterator<Item = PathBuf> {
        let names = [".claude/settings.json", ".claude/settings.local.json"];
        let root = move |root: &PathBuf| names.map(|name| root.join(name));
        self.project.iter().flat_map(root)
    }

    fn of_person(&self) -> io::Result<Vec<PathBuf>> {
        let mut files: Vec<PathBuf> = self.user.iter().map(|dir| dir.join("settings.json")).collect();
        // A server's managed settings, as the host keeps them between sessions.
        files.extend(self.user.iter().map(|dir| dir.join("remote-settings.json")));
        files.push(self.managed.join("managed-settings.json"));
        match fs::read_dir(self.managed.join("managed-settings.d")) {
            Ok(entries) => {
                for entry in entries {
                    files.push(entry?.path());
                }
            }
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(files)
    }
}

/// The ask rules of all sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskRules {
    rules: Vec<String>,
    /// The variables that the project's own settings set for the host and every program it starts, this one included.
    pub project_variables: Vec<(String, String)>,
    /// Why not all rules are known, where that is so: then every call may match.
    unknown: Option<String>,
}

#[derive(Default, Deserialize)]
struct Settings {
    permissions: Option<Permissions>,
    env: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
struct Permissions {
    ask: Option<Vec<String>>,
}

/// Reads the ask rules of all sources. A file that is not there, or is blank, has none.
pub fn read(sources: &Sources, facts: &Facts) -> AskRules {
    let mut known = AskRules::default();
    let of_person = match sources.of_person() {
        Ok(files) => files,
        Err(error) => {
            known.unknown = Some(format!("{}: {error}", sources.managed.display()));
            return known;
        }
    };
    for file in of_person {
        known.read(&file, facts);
    }
    for file in sources.of_project() {
        let variables = known.read(&file, facts).into_iter();
        known.project_variables.extend(variables.map(|(name, value)| {
            let text = value.as_str().map(str::to_owned);
            (name, text.unwrap_or_else(|| value.to_string()))
        }));
    }
    known
}

impl AskRules {
    /// Takes a file's rules, and gives its variables.
    fn read(&mut self, file: &Path, facts: &Facts) -> serde_json::Map<String, serde_json::Value> {
        match settings(file, facts) {
            Ok(settings) => {
                let permissions = settings.permissions;
                self.rules
                    .extend(permissions.and_then(|permissions| permissions.ask).unwrap_or_default());
                settings.env.unwrap_or_default()
            }
            Err(why) => {
                self.unknown = Some(why);
                serde_json::Map::new()
            }
        }
    }
}

fn settings(file: &Path, facts: &Facts) -> Result<Settings, String> {
    match facts.settings(file).map_err(|why| why.to_string())?.as_deref() {
        None | Some("") => Ok(Settings::default()),
        Some(text) => serde_json::from_str(text).map_err(|error| format!("{}: {error}", file.display())),
    }
}

/// A simple command.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Its words joined by blanks, up to the first that is not known.
    pub text: &'a str,
    /// Every word is known.
    pub whole: bool,
}

/// The first rule that may match a call, as it is written; or why the rules are not known.
///
/// `command` is the text of a shell call. `programs` are its simple commands, wherever they stand; with none of them
/// known every shell rule may match. `paths` are the absolute paths that the
/// call touches, as named and as resolved.
pub fn may_match(
    known: &AskRules,
    tool: &str,
    command: Option<&str>,
    programs: &[Command<'_>],
    paths: &[&Path],
) -> Option<String> {
    if let Some(why) = &known.unknown {
        return Some(format!("settings that cannot be read ({why})"));
    }
    let text = command.map(|text| Command { text, whole: true });
    let commands: Vec<Command> = text.into_iter().chain(programs.iter().copied()).collect();
    let call = Asked {
        tool,
        is_shell: command.is_some(),
        commands: if programs.is_empty() { &[] } else { &commands },
        paths,
    };
    known.rules.iter().find(|rule| call.may_match(rule)).cloned()
}

struct Asked<'a> {
    tool: &'a str,
    is_shell: bool,
    /// Empty where they are not known.
    commands: &'a [Command<'a>],
    paths: &'a [&'a Path],
}

/// Tools that the host's `Read` rules cover, and those that its `Edit` rules cover.
const READERS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];
const WRITERS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

impl Asked<'_> {
    fn may_match(&self, rule: &str) -> bool {
        let Some((name, specifier)) = split(rule.trim()) else {
            return true;
        };
        let names_files = READERS.contains(&name) || WRITERS.contains(&name);
        match name {
            "Bash" | "Monitor" if self.is_shell => self.commands_may_match(specifier),
            _ if names_files && self.is_shell => self.paths_may_match(specifier),
            _ if names_files && covers(name, self.tool) => self.paths.is_empty() || self.paths_may_match(specifier),
            _ => names_tool(name, self.tool),
        }
    }

    fn commands_may_match(&self, specifier: Option<&str>) -> bool {
        let Some(pattern) = specifier else {
            return true;
        };
        self.commands.is_empty() || self.commands.iter().any(|command| starts_alike(pattern, *command))
    }

    fn paths_may_match(&self, specifier: Option<&str>) -> bool {
        self.paths
            .iter()
            .any(|path| specifier.is_none_or(|pattern| holds_parts_of(pattern, path)))
    }
}

/// `Name` or `Name(specifier)`; a blank specifier or `*` is none. `None` for any other form.
fn split(rule: &str) -> Option<(&str, Option<&str>)> {
    let (name, specifier) = match rule.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')')?.trim()),
        None => (rule, ""),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-*.".contains(&byte);
    let plain = !name.is_empty() && name.bytes().all(is_name);
    plain.then_some((
        name,
        Some(specifier).filter(|specifier| !["", "*", "**"].contains(specifier)),
    ))
}

/// What opens a part of a script without being a command's first word.
const KEYWORDS: [&str; 9] = [
    "case", "coproc", "for", "function", "if", "select", "time", "until", "while",
];

/// Whether a rule's first word may be the command's, and the plain words after it stand among the others in this order.
/// Without a wildcard in it the first words must be equal; up to a wildcard they must start alike. A word that a shell would read differently than it is written, a keyword, and the host's
/// `field:value`, which looks at other fields of the input, may match anything.
fn starts_alike(pattern: &str, command: Command<'_>) -> bool {
    let (text, open) = pattern.strip_suffix(":*").map_or((pattern, false), |text| (text, true));
    let first = text.split_whitespace().next().unwrap_or_default();
    let literal = first.split_once(['*', '?']).map_or(first, |(literal, _)| literal);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+".contains(&byte);
    if literal.is_empty() || !literal.bytes().all(is_plain) || KEYWORDS.contains(&literal) {
        return true;
    }
    let whole = literal == first && (first.len() < text.len() || !open);
    let mut words = command.text.split_whitespace();
    let word = words.next().unwrap_or_default();
    let alike = [word, base_name(word)].iter().any(|word| {
        [literal, base_name(literal)].iter().any(|literal| {
            if whole {
                word == literal
            } else {
                word.starts_with(literal)
            }
        })
    });
    // The words that the pattern goes on with, options of the program's own between them.
    let mut further = text.split_whitespace().skip(1);
    let stands = |wanted: &str| {
        let is_plain = wanted.bytes().all(is_plain);
        !is_plain || words.any(|word| word == wanted || open && word.starts_with(wanted))
    };
    alike && (!command.whole || !whole || further.all(stands))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether the path has every part that the pattern names without a wildcard, whatever the order and the case. A
/// pattern that goes up again may mean any path.
fn holds_parts_of(pattern: &str, path: &Path) -> bool {
    let parts: Vec<&OsStr> = path.iter().collect();
    let literal = |part: &&str| !["", ".", "~"].contains(part) && !part.contains(['*', '?', '[', '{', '\\', '!']);
    let holds = |wanted: &str| parts.iter().any(|part| part.eq_ignore_ascii_case(wanted));
    pattern.split('/').any(|part| part == "..") || pattern.split('/').filter(literal).all(holds)
}

fn covers(name: &str, tool: &str) -> bool {
    let both = |group: &[&str]| group.contains(&name) && group.contains(&tool);
    both(&READERS) || both(&WRITERS)
}

/// Whether a rule's name is the tool's, or its MCP server's, or matches it by wildcards.
fn names_tool(name: &str, tool: &str) -> bool {
    if let Some((before, _)) = name.split_once('*') {
        return tool.starts_with(before);
    }
    // The host knows one tool under both names.
    let agents = ["Agent", "Task"];
    if agents.contains(&name) && agents.contains(&tool) {
        return true;
    }
    let of_server = tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"));
    tool == name || of_server && name.starts_with("mcp__")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::MAX_SETTINGS;

    fn rules(rules: &[&str]) -> AskRules {
        AskRules {
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
            ..AskRules::default()
        }
    }

    fn whole(text: &str) -> Command<'_> {
        Command { text, whole: true }
    }

    fn asks(rule: &str, programs: &[&str]) -> bool {
        let command = programs.join(" && ");
        let programs: Vec<Command> = programs.iter().copied().map(whole).collect();
        may_match(&rules(&[rule]), "Bash", Some(&command), &programs, &[]).is_some()
    }

    #[test]
    fn a_rule_for_the_whole_tool_matches_every_command() {
        for rule in ["Bash", "Bash()", "Bash(*)", "Bash(**)", " Bash "] {
            assert!(asks(rule, &["ls"]), "{rule}");
        }
    }

    #[test]
    fn a_rule_matches_by_its_plain_words_in_any_simple_command() {
        for rule in [
            "Bash(git:*)",
            "Bash(git*)",
            "Bash(git)",
            "Bash(git log *)",
            "Bash(git log:*)",
            "Bash(git lo:*)",
            "Bash(git * log)",
            "Bash(git l*)",
        ] {
            assert!(asks(rule, &["cd src", "git log"]), "{rule}");
            assert!(asks(rule, &["/usr/bin/git log"]), "{rule}");
            assert!(asks(rule, &["git -C . log"]), "{rule}");
            assert!(!asks(rule, &["ls -l", "rg git"]), "{rule}");
        }
        for rule in [
            "Bash(git push *)",
            "Bash(git push:*)",
            "Bash(git status)",
            "Bash(git log --all)",
        ] {
            assert!(!asks(rule, &["cd src", "git log -5"]), "{rule}");
        }
    }

    #[test]
    fn a_command_with_words_that_are_not_known_may_match_by_its_first() {
        let cut = Command {
            text: "git",
            whole: false,
        };
        let asked = |rule: &str| may_match(&rules(&[rule]), "Bash", Some("git $x"), &[cut], &[]);
        assert!(asked("Bash(git push *)").is_some() && asked("Bash(npm *)").is_none());
    }

    #[test]
    fn a_whole_first_word_does_not_match_a_longer_one_and_an_open_one_does() {
        assert!(!asks("Bash(git push)", &["gitk"]));
        assert!(!asks("Bash(ls *)", &["lsof"]));
        assert!(asks("Bash(ls*)", &["lsof"]));
        assert!(asks("Bash(ls:*)", &["lsof"]));
        assert!(asks("Bash(g*t push)", &["gh pr"]));
    }

    #[test]
    fn a_rule_that_starts_with_a_wildcard_or_is_odd_matches_everything() {
        for rule in [
            "Bash(* --force)",
            "Bash(*)",
            "Bash(?s)",
            "Bash(FOO=1 ls)",
            "Bash(run_in_background:true)",
            "Bash(for *)",
            "Bash(time ls)",
            "Bash('rm' x)",
            "Bash($(x))",
            "Bash(rm x",
            "",
            "Bash (rm)",
            "B@sh",
        ] {
            assert!(asks(rule, &["ls"]), "{rule}");
        }
    }

    #[test]
    fn without_known_commands_every_shell_rule_matches() {
        assert!(may_match(&rules(&["Bash(git push *)"]), "Bash", Some("<odd"), &[], &[]).is_some());
        assert!(may_match(&rules(&["Read(./.env)"]), "Bash", Some("<odd"), &[], &[]).is_none());
    }

    #[test]
    fn the_first_word_of_the_command_itself_counts_too() {
        let rule = rules(&["Bash(timeout *)"]);
        assert!(may_match(&rule, "Bash", Some("timeout 5 ls"), &[whole("ls")], &[]).is_some());
    }

    #[test]
    fn shell_rules_hold_for_every_shell_tool_and_for_no_other_tool() {
        assert!(
            may_match(
                &rules(&["Bash(tail *)"]),
                "Monitor",
                Some("tail -f x"),
                &[whole("tail -f x")],
                &[]
            )
            .is_some()
        );
        assert!(may_match(&rules(&["Bash"]), "Write", None, &[], &[]).is_none());
    }

    #[test]
    fn a_file_rule_matches_a_shell_call_by_the_paths_it_touches() {
        let touches = |rule: &str, path: &str| {
            may_match(
                &rules(&[rule]),
                "Bash",
                Some("cat x"),
                &[whole("cat x")],
                &[Path::new(path)],
            )
            .is_some()
        };
        for rule in [
            "Read(./.env)",
            "Read(**/.env)",
            "Read(//home/dev/p/.env)",
            "Edit(.ENV)",
            "Read(*)",
            "Read",
            "Write(p/**)",
            "Read(src/../.env)",
            "Read(other/../.env)",
        ] {
            assert!(touches(rule, "/home/dev/p/.env"), "{rule}");
        }
        for rule in ["Read(./secrets/**)", "Read(~/.ssh/**)", "Read(//home/other/**)"] {
            assert!(!touches(rule, "/home/dev/p/.env"), "{rule}");
        }
        assert!(touches("Read(~/.ssh/**)", "/home/dev/.ssh/id_rsa"));
        assert!(
            touches("Read(*.pem)", "/home/dev/p/main.rs"),
            "a pattern is not evaluated"
        );
    }

    #[test]
    fn other_tools_match_by_name_server_or_wildcard() {
        let matches = |rule: &str, tool: &str| may_match(&rules(&[rule]), tool, None, &[], &[]).is_some();
        for rule in [
            "mcp__probe__echo",
            "mcp__probe",
            "mcp__probe__*",
            "mcp__*",
            "*",
            "mcp__probe__e*",
        ] {
            assert!(matches(rule, "mcp__probe__echo"), "{rule}");
        }
        for rule in ["mcp__pro", "mcp__prober__*", "Bash", "mcp__probe__echo2"] {
            assert!(!matches(rule, "mcp__probe__echo"), "{rule}");
        }
        assert!(matches("WebFetch(domain:example.com)", "WebFetch"));
        assert!(matches("Edit(src/**)", "Write") && matches("Read(x)", "Grep"));
        assert!(!matches("WebFetch(domain:example.com)", "WebSearch"));
    }

    #[test]
    fn the_rule_is_named_as_it_is_written() {
        let known = rules(&["Bash(npm *)", "Bash(git push *)"]);
        assert_eq!(
            may_match(&known, "Bash", Some("git push x"), &[whole("git push x")], &[]).as_deref(),
            Some("Bash(git push *)")
        );
    }

    struct Host(tempfile::TempDir);

    impl Host {
        fn new() -> Self {
            Host(tempfile::tempdir().expect("a directory"))
        }

        fn file(self, name: &str, text: &str) -> Self {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(path, text).expect("a file");
            self
        }

        fn sources(&self) -> Sources {
            let at = |name: &str| self.0.path().join(name);
            Sources {
                managed: at("etc"),
                ..Sources::of(
                    Some(&at("home")),
                    Some(at("config").as_os_str()),
                    &[at("project"), at("added")],
                )
            }
        }

        fn asks(&self) -> Option<String> {
            may_match(
                &read(&self.sources(), &Facts::default()),
                "Bash",
                Some("git push x"),
                &[whole("git push x")],
                &[],
            )
        }
    }

    const ASK_GIT: &str = r#"{"model":"x","permissions":{"allow":["Bash(ls)"],"ask":["Bash(git *)"]}}"#;

    #[test]
    fn rules_are_found_in_every_source() {
        for file in [
            "home/.claude/settings.json",
            "config/settings.json",
            "project/.claude/settings.json",
            "project/.claude/settings.local.json",
            "added/.claude/settings.json",
            "etc/managed-settings.json",
            "etc/managed-settings.d/10-team.json",
        ] {
            assert_eq!(
                Host::new().file(file, ASK_GIT).asks().as_deref(),
                Some("Bash(git *)"),
                "{file}"
            );
        }
    }

    #[test]
    fn without_ask_rules_nothing_matches() {
        assert_eq!(Host::new().asks(), None);
        for text in [
            "",
            " \n",
            "{}",
            "\u{feff}{}",
            r#"{"permissions":null}"#,
            r#"{"permissions":{"deny":["Bash"]}}"#,
        ] {
            assert_eq!(
                Host::new().file("home/.claude/settings.json", text).asks(),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn a_file_that_cannot_be_understood_matches_every_call_and_is_named() {
        for text in [
            "{",
            "[]",
            "// comment\n{}",
            r#"{"permissions":[]}"#,
            r#"{"permissions":{"ask":"Bash"}}"#,
            r#"{"permissions":{"ask":[5]}}"#,
            r#"{"permissions":{},"permissions":{"ask":["Bash"]}}"#,
        ] {
            let reason = Host::new().file("home/.claude/settings.json", text).asks().expect(text);
            assert!(reason.contains("home/.claude/settings.json"), "{reason}");
        }
        let long = " ".repeat(MAX_SETTINGS as usize) + "{}";
        assert!(
            Host::new()
                .file("project/.claude/settings.json", &long)
                .asks()
                .expect("long")
                .contains("too long")
        );
        let host = Host::new().file("home/.claude/settings.json/inside", "");
        assert!(host.asks().is_some(), "a directory in its place");
    }
}
