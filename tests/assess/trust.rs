//! What in or around a repository makes a mere look run something, each beside a twin that runs nothing.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use catalog_spec::{Action, load_settings};
use countersign::effect::Tier;

use crate::{Machine, all, judged};

const LOOKS: &[&str] = &[
    "git status",
    "git log -3",
    "git diff",
    "git show HEAD",
    "cd src && git status",
];

/// A machine to which this was done is not looked at unasked, and its twin is.
#[track_caller]
fn twins(what: &str, spoil: impl Fn(&Machine), harmless: impl Fn(&Machine)) {
    let twin = Machine::new();
    harmless(&twin);
    all(&twin, "safe", LOOKS);
    let machine = Machine::new();
    spoil(&machine);
    for command in LOOKS {
        let found = judged(&machine, command);
        assert!(
            !found.proven() && found.tier >= Tier::High,
            "{what}: {command} is {}: {:?}",
            found.tier,
            found.steps
        );
    }
}

fn append(path: impl AsRef<Path>, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
    file.write_all(text.as_bytes()).expect("text");
}

/// Adds to the repository's own configuration.
fn configure(machine: &Machine, text: &str) {
    append(machine.project().join(".git/config"), text);
}

fn nothing(_: &Machine) {}

mod configuration {
    use super::*;

    #[test]
    fn every_setting_that_is_known_to_run_something_stops_a_look_or_is_for_what_changes() {
        // Git obeys these only where it commits, merges, fetches or starts an editor, a browser or a tool.
        const NOT_ON_A_LOOK: &[&str] = &[
            "core.askpass",
            "core.editor",
            "core.gitproxy",
            "core.hookspath",
            "core.sshcommand",
            "credential.",
            "difftool.",
            "mergetool.",
            "merge.",
            "interactive.",
            "protocol.",
            "remote.",
            "sendemail.",
            "sequence.",
            "submodule.",
        ];
        let (settings, _) = load_settings(Path::new("src/catalog/git-settings.toml")).expect("settings without errors");
        let machine = Machine::new();
        let file = machine.project().join(".git/config");
        let as_made = fs::read_to_string(&file).expect("a configuration");
        for setting in settings
            .iter()
            .filter(|setting| setting.effect.action == Action::Execute)
        {
            let key = setting.key.replace('*', "some");
            let (section, name) = key.rsplit_once('.').expect("a section");
            let section = match section.split_once('.') {
                Some((section, subsection)) => format!("{section} \"{subsection}\""),
                None => section.to_owned(),
            };
            fs::write(&file, format!("{as_made}[{section}]\n\t{name} = ./x\n")).expect("a configuration");
            let found = judged(&machine, "git status");
            let may_look = NOT_ON_A_LOOK.iter().any(|begin| key.starts_with(begin));
            assert!(may_look || !found.proven(), "{key}: {:?}", found.steps);
            let fetched = judged(&machine, "git fetch");
            assert!(
                fetched.tier >= Tier::High || key == "core.hookspath",
                "{key}: {:?}",
                fetched.steps
            );
        }
    }

    #[test]
    fn a_setting_counts_however_it_is_written() {
        for text in [
            "[core]\n\tfsmonitor = ./x\n",
            "[CORE]\n\tFSMonitor = ./x\n",
            "[core] fsmonitor = ./x\n",
            "[core]fsmonitor=./x",
            "[core]\r\n\tfsmonitor = ./x\r\n",
            "[core]\n\tfsmonitor = \\\n./x\n",
            "[core]\n\tfsmonitor = \"./x\" # a comment\n",
            "[core]\n\tfsmonitor = false\n\tfsmonitor = ./x\n",
            "[diff \"a\"]\n\ttextconv = ./x\n",
            "[diff.a]\n\ttextconv = ./x\n",
            "[log]\n\tshowSignature\n",
            "[unheard]\n\tof = x\n",
            "[core\n",
            "[core]\n\tfsmonitor = \"./x\n",
        ] {
            twins(
                text,
                |machine| configure(machine, text),
                |machine| {
                    configure(
                        machine,
                        "# fsmonitor = ./x\n; [core] pager = ./x\n[color]\n\tui = \"[core] fsmonitor = ./x\"\n",
                    );
                },
            );
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_as_one_is_no_reason_to_trust() {
        twins(
            "a configuration without end",
            |machine| configure(machine, &"# x\n".repeat(100_000)),
            |machine| configure(machine, &"# x\n".repeat(1000)),
        );
        twins(
            "a configuration that is a directory",
            |machine| {
                fs::remove_file(machine.project().join(".git/config")).expect("a file");
                fs::create_dir(machine.project().join(".git/config")).expect("a directory");
            },
            nothing,
        );
        twins(
            "a link to another configuration",
            |machine| {
                machine.write("evil", "[core]\n\trepositoryformatversion = 0\n\tpager = ./x\n");
                fs::remove_file(machine.project().join(".git/config")).expect("a file");
                machine.link(".git/config", "../evil");
            },
            |machine| machine.write("evil", "[core]\n\tpager = ./x\n"),
        );
    }

    #[test]
    fn an_include_is_a_reason_whatever_it_holds() {
        for text in [
            "[include]\n\tpath = ../more\n",
            "[includeIf \"gitdir:/\"]\n\tpath = ../more\n",
            "[includeIf \"onbranch:main\"]\n\tpath = ../more\n",
            "[includeIf \"hasconfig:remote.*.url:https://**\"]\n\tpath = ../more\n",
        ] {
            twins(
                text,
                |machine| configure(machine, text),
                // A file is obeyed by nobody who does not include it.
                |machine| machine.write("more", "[core]\n\tpager = ./x\n"),
            );
        }
    }

    #[test]
    fn what_the_persons_own_configuration_includes_from_the_project_is_the_projects() {
        let include = |machine: &Machine, condition: &str| {
            machine.write_home(
                ".gitconfig",
                &format!("[user]\n\tname = dev\n[{condition}]\n\tpath = project/shared.ini\n"),
            );
        };
        for condition in ["include", "includeIf \"gitdir:~/project/\""] {
            twins(
                condition,
                |machine| {
                    include(machine, condition);
                    machine.write("shared.ini", "[core]\n\tfsmonitor = ./x\n");
                },
                |machine| {
                    include(machine, condition);
                    machine.write("shared.ini", "[color]\n\tui = auto\n");
                },
            );
        }
        twins(
            "an include of an include",
            |machine| {
                machine.write_home(".gitconfig", "[include]\n\tpath = more.ini\n");
                machine.write_home("more.ini", "[include]\n\tpath = project/shared.ini\n");
                machine.write("shared.ini", "[diff]\n\texternal = ./x\n");
            },
            |machine| {
                machine.write_home(".gitconfig", "[include]\n\tpath = more.ini\n");
                machine.write_home("more.ini", "[diff]\n\texternal = /usr/bin/difft\n");
            },
        );
    }

    #[test]
    fn the_configuration_of_one_worktree_counts() {
        twins(
            "config.worktree",
            |machine| {
                machine.git(&["config", "extensions.worktreeConfig", "true"]);
                machine.git(&["config", "--worktree", "core.fsmonitor", "./x"]);
            },
            |machine| {
                machine.git(&["config", "extensions.worktreeConfig", "true"]);
                machine.git(&["config", "--worktree", "color.ui", "auto"]);
            },
        );
    }

    #[test]
    fn a_promised_object_is_fetched_on_a_look() {
        for key in [
            "remote.origin.promisor",
            "remote.origin.partialclonefilter",
            "extensions.partialClone",
        ] {
            twins(
                key,
                |machine| {
                    machine.git(&["remote", "add", "origin", "https://github.com/a/b"]);
                    machine.git(&[
                        "config",
                        key,
                        if key.ends_with("filter") { "blob:none" } else { "true" },
                    ]);
                },
                |machine| machine.git(&["remote", "add", "origin", "https://github.com/a/b"]),
            );
        }
    }

    #[test]
    fn variables_of_the_session_that_move_git_are_a_reason() {
        for (variable, is_inert) in [
            ("GIT_DIR", false),
            ("GIT_CONFIG_COUNT", false),
            ("GIT_EXTERNAL_DIFF", false),
            ("GIT_OBJECT_DIRECTORY", false),
            ("GIT_UNHEARD_OF", false),
            ("GIT_PAGER", true),
            ("GIT_AUTHOR_NAME", true),
        ] {
            let machine = Machine::new();
            let mut facts = machine.facts();
            facts.environment.insert(variable.to_owned());
            let found = countersign::assess::bash::assess("git status", Some(&machine.project()), &facts);
            assert_eq!(
                found.proven() && found.tier == Tier::Safe,
                is_inert,
                "{variable}: {:?}",
                found.steps
            );
        }
    }
}

mod attributes {
    use super::*;

    #[test]
    fn attributes_only_pick_among_drivers_that_a_configuration_names() {
        for (attribute, driver) in [
            ("*.rs diff=evil\n", "[diff \"evil\"]\n\ttextconv = ./x\n"),
            ("*.rs diff=evil\n", "[diff \"evil\"]\n\tcommand = ./x\n"),
            ("*.rs filter=evil\n", "[filter \"evil\"]\n\tclean = ./x\n"),
            ("*.rs filter=evil\n", "[filter \"evil\"]\n\tprocess = ./x\n"),
        ] {
            for file in [".gitattributes", "src/.gitattributes", ".git/info/attributes"] {
                twins(
                    driver,
                    |machine| {
                        machine.write(file, attribute);
                        configure(machine, driver);
                    },
                    |machine| machine.write(file, attribute),
                );
            }
        }
    }
}

mod hooks {
    use super::*;

    #[test]
    fn a_hook_that_a_look_triggers_is_a_reason_and_one_for_commits_is_none() {
        for name in ["post-index-change", "fsmonitor-watchman", "unheard-of"] {
            twins(
                name,
                |machine| machine.write(&format!(".git/hooks/{name}"), "#!/bin/sh\n"),
                |machine| {
                    machine.write(&format!(".git/hooks/{name}.sample"), "#!/bin/sh\n");
                    machine.write(".git/hooks/pre-commit", "#!/bin/sh\n");
                    machine.write(".git/hooks/post-index-change", "not to be run\n");
                },
            );
        }
    }

    #[test]
    fn a_hook_counts_wherever_the_configuration_puts_hooks() {
        for value in [".husky", "./.husky/", "src/../.husky"] {
            twins(
                value,
                |machine| {
                    machine.write(".husky/post-index-change", "#!/bin/sh\n");
                    machine.git(&["config", "core.hooksPath", value]);
                },
                |machine| {
                    machine.write(".husky/pre-commit", "#!/bin/sh\n");
                    machine.write(".husky/_/post-index-change", "#!/bin/sh\n");
                    machine.git(&["config", "core.hooksPath", value]);
                },
            );
        }
        twins(
            "hooks of the person in the project",
            |machine| {
                machine.write_home(".gitconfig", "[core]\n\thooksPath = ~/project/tools\n");
                machine.write("tools/post-index-change", "#!/bin/sh\n");
            },
            |machine| {
                machine.write_home(".gitconfig", "[core]\n\thooksPath = ~/project/tools\n");
                machine.write("tools/commit-msg", "#!/bin/sh\n");
            },
        );
    }

    #[test]
    fn links_hide_no_hook() {
        twins(
            "a hook that is a link",
            |machine| machine.link(".git/hooks/post-index-change", "../../scripts/run.sh"),
            |machine| machine.link(".git/hooks/post-index-change", "../../README.md"),
        );
        twins(
            "hooks that are a link",
            |machine| {
                machine.write("tools/post-index-change", "#!/bin/sh\n");
                fs::remove_dir_all(machine.project().join(".git/hooks")).expect("hooks");
                machine.link(".git/hooks", "../tools");
            },
            |machine| {
                machine.write("tools/pre-push", "#!/bin/sh\n");
                fs::remove_dir_all(machine.project().join(".git/hooks")).expect("hooks");
                machine.link(".git/hooks", "../tools");
            },
        );
    }
}

mod other_repositories {
    use super::*;

    /// What these commands do is not let through, and in the twin it is.
    #[track_caller]
    fn entered(what: &str, commands: &[&str], spoil: impl Fn(&Machine), harmless: impl Fn(&Machine)) {
        let twin = Machine::new();
        harmless(&twin);
        all(&twin, "safe", commands);
        let machine = Machine::new();
        spoil(&machine);
        for command in commands {
            let found = judged(&machine, command);
            assert!(
                !found.proven() && found.tier >= Tier::High,
                "{what}: {command}: {:?}",
                found.steps
            );
        }
    }

    const IN_SUB: &[&str] = &["cd sub && git status", "git -C sub log -3", "cd sub/deep && git diff"];

    fn plant(machine: &Machine, names: &[&str]) {
        machine.write("sub/deep/file", "x\n");
        for name in names {
            match name.strip_suffix('/') {
                Some(directory) => machine.write(&format!("sub/{directory}/keep"), ""),
                None => machine.write(&format!("sub/{name}"), "ref: refs/heads/main\n"),
            }
        }
    }

    #[test]
    fn files_of_a_bare_repository_make_a_directory_one() {
        for names in [
            &["HEAD", "objects/", "refs/"][..],
            &["HEAD", "objects/", "refs/", "config"],
            &["HEAD", "commondir"],
        ] {
            entered(
                "a bare repository",
                IN_SUB,
                |machine| plant(machine, names),
                |machine| plant(machine, &names[..1]),
            );
        }
    }

    #[test]
    fn a_repository_inside_is_another_one() {
        entered(
            "a repository inside",
            IN_SUB,
            |machine| {
                plant(machine, &[]);
                machine.git_in(&machine.project().join("sub"), &["init", "-q"]);
            },
            |machine| plant(machine, &[]),
        );
        entered(
            "a git file",
            IN_SUB,
            |machine| {
                plant(machine, &[]);
                machine.write_home("elsewhere/x", "");
                machine.git_in(&machine.home().join("elsewhere"), &["init", "-q"]);
                machine.write("sub/.git", "gitdir: ../../elsewhere/.git\n");
            },
            |machine| {
                plant(machine, &[]);
                machine.write("sub/git", "gitdir: ../../elsewhere/.git\n");
            },
        );
        entered(
            "a broken git file",
            IN_SUB,
            |machine| {
                plant(machine, &[]);
                machine.write("sub/.git", "gitdir: nowhere\n");
            },
            |machine| plant(machine, &[]),
        );
    }

    #[test]
    fn a_linked_worktree_obeys_what_it_finds_too() {
        let commands = &["git -C ../linked status", "cd ../linked && git diff"];
        let linked = |machine: &Machine| machine.git(&["worktree", "add", "-q", "../linked"]);
        let own = |machine: &Machine| machine.project().join(".git/worktrees/linked/config.worktree");
        entered(
            "a linked worktree with a configuration",
            commands,
            |machine| {
                linked(machine);
                append(own(machine), "[core]\n\tfsmonitor = ./x\n");
            },
            |machine| {
                linked(machine);
                append(own(machine), "[color]\n\tui = auto\n");
            },
        );
        entered(
            "a linked worktree with a hook",
            commands,
            |machine| {
                linked(machine);
                machine.write(".git/hooks/post-index-change", "#!/bin/sh\n");
            },
            linked,
        );
        entered(
            "a worktree of another repository",
            commands,
            |machine| {
                machine.write_home("other/x", "");
                let other = machine.home().join("other");
                machine.git_in(&other, &["init", "-q"]);
                machine.git_in(&other, &["add", "-A"]);
                machine.git_in(&other, &["commit", "-q", "-m", "x"]);
                machine.git_in(&other, &["worktree", "add", "-q", "../linked"]);
            },
            linked,
        );
    }

    /// Adds a submodule that is checked out.
    fn with_submodule(machine: &Machine) {
        machine.write_home("library/file", "x\n");
        let library = machine.home().join("library");
        machine.git_in(&library, &["init", "-q"]);
        machine.git_in(&library, &["add", "-A"]);
        machine.git_in(&library, &["commit", "-q", "-m", "x"]);
        machine.git(&[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "add",
            "-q",
            "../library",
            "library",
        ]);
        machine.git(&["commit", "-q", "-m", "library"]);
    }

    #[test]
    fn git_starts_itself_in_a_submodule_which_obeys_its_own_configuration() {
        twins(
            "a submodule's configuration",
            |machine| {
                with_submodule(machine);
                append(
                    machine.project().join(".git/modules/library/config"),
                    "[core]\n\tfsmonitor = ./x\n",
                );
            },
            with_submodule,
        );
        twins(
            "a submodule's hook",
            |machine| {
                with_submodule(machine);
                machine.write(".git/modules/library/hooks/post-index-change", "#!/bin/sh\n");
            },
            |machine| {
                with_submodule(machine);
                machine.write(".git/modules/library/hooks/pre-commit", "#!/bin/sh\n");
            },
        );
        twins(
            "a submodule that became another repository",
            |machine| {
                with_submodule(machine);
                fs::remove_file(machine.project().join("library/.git")).expect("a file");
                machine.write("library/.git", "gitdir: ../planted\n");
                machine.write("planted/config", "[core]\n\tfsmonitor = ./x\n");
            },
            |machine| {
                with_submodule(machine);
                machine.write("planted/config", "[core]\n\tfsmonitor = ./x\n");
            },
        );
    }

    #[test]
    fn a_directory_that_cannot_be_looked_into_is_not_trusted() {
        // Root may look anywhere.
        if fs::read_dir("/proc/1/fd").is_ok() {
            return;
        }
        let machine = Machine::new();
        let hooks = machine.project().join(".git/hooks");
        fs::set_permissions(&hooks, fs::Permissions::from_mode(0o100)).expect("permissions");
        assert!(!judged(&machine, "git status").proven());
        fs::set_permissions(&hooks, fs::Permissions::from_mode(0o755)).expect("permissions");
        assert!(judged(&machine, "git status").proven());
    }
}
