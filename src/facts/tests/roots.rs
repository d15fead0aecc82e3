//! What counts as the project besides its own root.

use std::process::Command;

use super::*;

/// A home with a project and a place beside it.
struct Lab {
    root: tempfile::TempDir,
}

impl Lab {
    fn new() -> Lab {
        let lab = Lab { root: dir() };
        for name in ["home/app", "home/other", "home/.claude"] {
            fs::create_dir_all(lab.path(name)).expect("a directory");
        }
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().expect("a path").join(name)
    }

    fn git(&self, dir: &str, args: &[&str]) {
        let out = Command::new("git")
            .args(["-c", "user.name=dev", "-c", "user.email=dev@example.invalid"])
            .args(args)
            .current_dir(self.path(dir))
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git, which these tests need");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }

    /// A repository in the project with one commit.
    fn with_repository() -> Lab {
        let lab = Lab::new();
        lab.git("home/app", &["init", "-q"]);
        lab.git("home/app", &["commit", "-q", "--allow-empty", "-m", "First"]);
        lab
    }

    fn adds(&self, directories: &str) {
        let text = format!(r#"{{"permissions":{{"allow":[],"additionalDirectories":{directories}}}}}"#);
        fs::write(self.path("home/.claude/settings.json"), text).expect("the settings are written");
    }

    fn facts(&self, project: &str) -> Facts {
        let mut facts = Facts {
            home: Some(self.path("home")),
            settings: vec![self.path("home/.claude/settings.json")],
            ..Facts::default()
        };
        facts.set_project(&self.path(project));
        facts
    }

    #[track_caller]
    fn all(&self, project: &str, inside: &[&str], outside: &[&str]) {
        let facts = self.facts(project);
        for path in inside {
            assert!(facts.in_project(&self.path(path)), "{path} is not in the project");
        }
        for path in outside {
            assert!(!facts.in_project(&self.path(path)), "{path} is in the project");
        }
    }
}

#[test]
fn linked_worktrees_are_the_project_whichever_of_them_the_session_is_in() {
    let lab = Lab::with_repository();
    lab.git("home/app", &["worktree", "add", "-q", "../linked"]);
    lab.git("home/app", &["worktree", "add", "-q", ".trees/inner"]);
    let outside = ["home/linked2/x", "home/other/x", "home", "home/x"];
    lab.all("home/app", &["home/app/x", "home/linked", "home/linked/x"], &outside);
    lab.all("home/linked", &["home/app/x", "home/linked/x"], &outside);
    let inner = lab.path("home/app/.trees/inner");
    assert_eq!(
        lab.facts("home/app").root_of(&inner.join("x")),
        Some(&*inner),
        "the nearest root"
    );
    let elsewhere = lab.facts("home/other");
    assert!(!elsewhere.in_project(&lab.path("home/linked")));
}

#[test]
fn a_worktree_that_is_named_on_one_side_alone_is_none() {
    let lab = Lab::with_repository();
    lab.git("home/app", &["worktree", "add", "-q", "../linked"]);
    let entry = lab.path("home/app/.git/worktrees/linked");
    // The repository names a directory that knows nothing of it, or another one's.
    for named in ["home/other/.git", "home/second/.git", "home/.git", "home/linked"] {
        lab.git("home", &["init", "-q", "second"]);
        fs::write(entry.join("gitdir"), lab.path(named).as_os_str().as_encoded_bytes()).expect("it is written");
        lab.all(
            "home/app",
            &["home/app"],
            &["home/other/x", "home/second/x", "home/linked/x", "home/x"],
        );
    }
    // A directory names the repository, which does not know it.
    let text = format!("gitdir: {}\n", entry.display());
    fs::write(lab.path("home/other/.git"), text).expect("it is written");
    lab.all("home/app", &["home/app"], &["home/other/x"]);
}

#[test]
fn a_home_is_no_worktree() {
    let lab = Lab::with_repository();
    lab.git("home/app", &["worktree", "add", "-q", "../linked"]);
    let entry = lab.path("home/app/.git/worktrees/linked");
    fs::rename(lab.path("home/linked/.git"), lab.path("home/.git")).expect("it is moved");
    fs::write(
        entry.join("gitdir"),
        lab.path("home/.git").as_os_str().as_encoded_bytes(),
    )
    .expect("it is written");
    assert_eq!(git::worktrees(&lab.path("home/app")), [lab.path("home")]);
    lab.all("home/app", &["home/app"], &["home", "home/x", "home/other/x"]);
}

#[test]
fn directories_that_the_person_added_are_the_project() {
    let lab = Lab::new();
    symlink(lab.path("home/other"), lab.path("home/way")).expect("a link");
    lab.adds(r#"["~/way", "relative", "../other2"]"#);
    lab.all(
        "home/app",
        &["home/way/x", "home/other/x"],
        &["home/relative", "home/other2", "home/x"],
    );
    lab.adds(&format!(r#"["{}"]"#, lab.path("home/app/../other").display()));
    lab.all("home/app", &["home/other/x"], &["home/x", "home/others"]);
}

#[test]
fn no_setting_makes_a_home_or_what_holds_it_the_project() {
    let lab = Lab::new();
    symlink(lab.path("home"), lab.path("way")).expect("a link");
    for added in ["/", "~", "~/", "~/..", "/home", "~/app/..", "/root"] {
        lab.adds(&format!(r#"["{added}"]"#));
        lab.all("home/app", &["home/app"], &["home/other", "home/.ssh", "x"]);
    }
    lab.adds(&format!(r#"["{}"]"#, lab.path("way").display()));
    lab.all("home/app", &["home/app"], &["home/other", "way/x"]);
}

#[test]
fn only_the_persons_own_settings_add() {
    let lab = Lab::new();
    fs::create_dir_all(lab.path("home/app/.claude")).expect("a directory");
    for name in ["settings.json", "settings.local.json"] {
        let text = r#"{"permissions":{"additionalDirectories":["~/other"]}}"#;
        fs::write(lab.path("home/app/.claude").join(name), text).expect("it is written");
    }
    lab.all("home/app", &["home/app"], &["home/other"]);
    for broken in [
        "",
        "[",
        r#"{"permissions":{"additionalDirectories":"~/other"}}"#,
        r#"{"permissions":[]}"#,
    ] {
        fs::write(lab.path("home/.claude/settings.json"), broken).expect("it is written");
        lab.all("home/app", &["home/app"], &["home/other"]);
    }
}
