//! Every claim is put beside git itself: a marker file tells whether git really ran a program.

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::config::{self, Weight};
use super::*;

/// What git would find from here, asked for the first time.
fn discover(start: &Path) -> Discovery {
    let real = fs::canonicalize(start).unwrap_or_else(|_| start.to_path_buf());
    super::discover(&real, &mut Found::new(), super::is_searchable)
}

mod objects;
mod tracked;

/// A home directory with one repository in it, on which git sees nothing of the machine's own configuration.
struct Lab {
    directory: TempDir,
    settled: Cell<u64>,
}

impl Lab {
    fn new() -> Lab {
        let lab = Lab::empty();
        lab.git("home", &["init", "-q", "-b", "main", "../repo"]);
        lab.write("repo/a.txt", "one\n");
        lab.git("repo", &["add", "a.txt"]);
        lab.git("repo", &["commit", "-qm", "First"]);
        lab.settle("repo");
        lab
    }

    fn empty() -> Lab {
        let directory = TempDir::new().expect("a temporary directory");
        fs::create_dir(directory.path().join("home")).expect("home is made");
        Lab {
            directory,
            settled: Cell::new(0),
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        fs::canonicalize(self.directory.path())
            .expect("the directory exists")
            .join(relative)
    }

    fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("the parent is made");
        fs::write(&path, text).expect("the file is written");
        path
    }

    /// A program that leaves a marker.
    fn program(&self, relative: &str) -> PathBuf {
        let marker = self.path("marker");
        let path = self.write(relative, &format!("#!/bin/sh\n: >> {}\n", marker.display()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is made executable");
        path
    }

    fn try_git(&self, directory: &str, args: &[&str]) -> Output {
        Command::new("git")
            .args(args)
            .current_dir(self.path(directory))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("PATH is set"))
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "Ada")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "ada@example.com")))
            .stdin(std::process::Stdio::null())
            .output()
            .expect("git is installed")
    }

    #[track_caller]
    fn git(&self, directory: &str, args: &[&str]) -> String {
        let output = self.try_git(directory, args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8(output.stdout).expect("git prints text")
    }

    /// Makes the files older than the index, so that nothing is racily clean. Each time by other whole seconds, since git
    /// does not compare fractions.
    fn settle(&self, repository: &str) {
        self.settled.set(self.settled.get() + 1);
        let past = SystemTime::now() - Duration::from_secs(60 * self.settled.get());
        for entry in fs::read_dir(self.path(repository)).expect("the repository is listed") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let file = fs::File::options().append(true).open(&path).expect("it opens");
                file.set_modified(past).expect("its time is set");
            }
        }
        self.git(repository, &["update-index", "-q", "--really-refresh"]);
    }

    /// Every file below a directory.
    fn files_below(&self, relative: &str) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut directories = vec![self.path(relative)];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).expect("the directory is listed") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    directories.push(path)
                } else {
                    files.push(path)
                }
            }
        }
        files.sort();
        files
    }

    fn repository(&self, relative: &str) -> Repository {
        match discover(&self.path(relative)) {
            Discovery::Repository(repository) => repository,
            other => panic!("{relative}: {other:?}"),
        }
    }

    fn trust(&self, relative: &str) -> Trust {
        let home = self.path("home");
        let surroundings = Surroundings {
            home: Some(&home),
            ..Surroundings::default()
        };
        trust(&self.repository(relative), &surroundings)
    }

    /// Git ran the marker's program during these reads.
    fn runs_on_reads(&self, directory: &str) -> bool {
        let file = format!("{directory}/a.txt");
        // A new time and the same content make status write the index; new content makes diff read it.
        let text = fs::read_to_string(self.path(&file)).expect("the file is read");
        self.write(&file, &text);
        let on_status = self.ran(directory, &[&["status"]]);
        self.write(&file, "two\n");
        on_status
            || self.ran(
                directory,
                &[&["status"], &["diff"], &["log", "-p", "-1"], &["show", "HEAD"]],
            )
    }

    fn ran(&self, directory: &str, commands: &[&[&str]]) -> bool {
        let marker = self.path("marker");
        let _ = fs::remove_file(&marker);
        for args in commands {
            self.try_git(directory, args);
        }
        marker.exists()
    }
}

#[track_caller]
fn names(reasons: &[String], text: &str) {
    assert!(reasons.iter().any(|r| r.contains(text)), "{text} is not in {reasons:?}");
}

#[test]
fn a_fresh_repository_and_a_fresh_clone_run_nothing() {
    let lab = Lab::new();
    assert_eq!(lab.trust("repo"), Trust::default());
    lab.git("home", &["clone", "-q", "../repo", "../clone"]);
    assert_eq!(lab.trust("clone"), Trust::default());
    assert!(!lab.runs_on_reads("repo"));
}

#[test]
fn every_setting_that_runs_a_program_on_a_read_is_named() {
    let settings: &[(&str, Option<&str>)] = &[
        ("core.fsmonitor", None),
        ("diff.external", None),
        ("diff.x.textconv", Some("*.txt diff=x\n")),
        ("diff.x.command", Some("*.txt diff=x\n")),
        ("filter.x.clean", Some("*.txt filter=x\n")),
        ("filter.x.process", Some("*.txt filter=x\n")),
    ];
    for (key, attributes) in settings {
        let lab = Lab::new();
        let program = lab.program("evil");
        lab.git("repo", &["config", key, &program.to_string_lossy()]);
        if let Some(attributes) = attributes {
            lab.write("repo/.git/info/attributes", attributes);
        }
        assert!(lab.runs_on_reads("repo"), "git runs {key}");
        names(&lab.trust("repo").reads, key);
    }
}

#[test]
fn a_signature_shown_by_configuration_runs_gpg_and_is_named() {
    let lab = Lab::new();
    let program = lab.program("gpg");
    let tree = lab.git("repo", &["rev-parse", "HEAD^{tree}"]);
    let who = "Ada <ada@example.com> 1700000000 +0000";
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aa\n -----END PGP SIGNATURE-----";
    let commit = format!(
        "tree {}\nauthor {who}\ncommitter {who}\n{signature}\n\nSigned\n",
        tree.trim()
    );
    let file = lab.write("commit", &commit);
    let name = lab.git("repo", &["hash-object", "-w", "-t", "commit", &file.to_string_lossy()]);
    lab.git("repo", &["update-ref", "refs/heads/main", name.trim()]);
    lab.git("repo", &["config", "gpg.program", &program.to_string_lossy()]);
    lab.git("repo", &["config", "log.showSignature", "true"]);
    assert!(lab.runs_on_reads("repo"));
    names(&lab.trust("repo").reads, "gpg.program");
    names(&lab.trust("repo").reads, "log.showsignature");
}

#[test]
fn an_include_in_the_repository_is_a_reason_whatever_it_holds() {
    let lab = Lab::new();
    let program = lab.program("evil");
    lab.write("repo/more", &format!("[core]\n fsmonitor = {}\n", program.display()));
    lab.git("repo", &["config", "include.path", "../more"]);
    assert!(lab.runs_on_reads("repo"));
    names(&lab.trust("repo").reads, "include.path");
}

#[test]
fn configuration_of_a_worktree_counts() {
    let lab = Lab::new();
    let program = lab.program("evil");
    lab.git("repo", &["worktree", "add", "-q", "../other"]);
    lab.git("repo", &["config", "extensions.worktreeConfig", "true"]);
    lab.git(
        "other",
        &["config", "--worktree", "core.fsmonitor", &program.to_string_lossy()],
    );
    assert!(lab.runs_on_reads("other"));
    names(&lab.trust("other").reads, "core.fsmonitor");
    assert!(lab.trust("repo").reads_are_inert());
}

#[test]
fn the_post_index_change_hook_runs_on_reads_wherever_hooks_are() {
    for hooks in [None, Some("repo/.husky"), Some("elsewhere")] {
        let lab = Lab::new();
        lab.program(&format!("{}/post-index-change", hooks.unwrap_or("repo/.git/hooks")));
        if let Some(hooks) = hooks {
            let value = match hooks.strip_prefix("repo/") {
                Some(relative) => relative.to_owned(),
                None => lab.path(hooks).to_string_lossy().into_owned(),
            };
            lab.git("repo", &["config", "core.hooksPath", &value]);
        }
        assert!(lab.runs_on_reads("repo"), "{hooks:?}");
        names(&lab.trust("repo").reads, "post-index-change");
    }
}

#[test]
fn a_relative_hooks_directory_of_the_persons_own_configuration_leads_into_the_project() {
    let lab = Lab::new();
    lab.program("repo/.githooks/post-index-change");
    lab.write("home/more", "[core]\n\thooksPath = .githooks\n");
    lab.write("home/.gitconfig", "[includeIf \"gitdir:/\"]\n\tpath = more\n");
    assert!(lab.runs_on_reads("repo"));
    names(&lab.trust("repo").reads, ".githooks/post-index-change");
}

#[test]
fn hooks_of_writes_run_on_commits_only() {
    for hook in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "reference-transaction",
    ] {
        let lab = Lab::new();
        lab.program(&format!("repo/.git/hooks/{hook}"));
        assert!(!lab.runs_on_reads("repo"), "{hook} on a read");
        assert!(lab.ran("repo", &[&["commit", "-qam", "Second"]]), "{hook} on a commit");
        let trust = lab.trust("repo");
        assert!(trust.reads_are_inert(), "{hook}: {trust:?}");
        names(&trust.writes, hook);
    }
    let lab = Lab::new();
    lab.program("repo/.git/hooks/post-checkout");
    assert!(lab.ran("repo", &[&["checkout", "-q", "-b", "topic"]]));
    names(&lab.trust("repo").writes, "post-checkout");
}

#[test]
fn samples_and_files_that_are_not_executable_are_no_hooks() {
    let lab = Lab::new();
    lab.program("repo/.git/hooks/post-index-change.sample");
    lab.write("repo/.git/hooks/pre-commit", "#!/bin/sh\n");
    assert!(!lab.runs_on_reads("repo"));
    assert_eq!(lab.trust("repo"), Trust::default());
}

#[test]
fn git_starts_itself_in_submodules_and_obeys_their_configuration() {
    let lab = Lab::new();
    lab.git("home", &["init", "-q", "../inner"]);
    lab.git("inner", &["commit", "-q", "--allow-empty", "-m", "Inner"]);
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        "../inner",
        "sub",
    ];
    lab.git("repo", &add);
    lab.git("repo", &["commit", "-qm", "Add a submodule"]);
    assert_eq!(lab.trust("repo"), Trust::default());
    let program = lab.program("evil");
    lab.git("repo/sub", &["config", "core.fsmonitor", &program.to_string_lossy()]);
    assert!(lab.runs_on_reads("repo"));
    names(&lab.trust("repo").reads, "core.fsmonitor");
}

#[test]
fn a_promisor_remote_is_fetched_from_on_reads() {
    let lab = Lab::new();
    lab.git("repo", &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", lab.path("repo").display());
    lab.git(
        "home",
        &["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "../part"],
    );
    let program = lab.program("evil");
    lab.git(
        "part",
        &["config", "remote.origin.uploadpack", &program.to_string_lossy()],
    );
    assert!(lab.ran("part", &[&["log", "-p"]]));
    names(&lab.trust("part").reads, "remote.origin.promisor");
    names(&lab.trust("part").reads, "remote.origin.partialclonefilter");
    names(&lab.trust("part").writes, "remote.origin.uploadpack");
}

#[test]
fn inert_settings_run_nothing_and_are_no_reason() {
    let lab = Lab::new();
    let evil = lab.program("evil").to_string_lossy().into_owned();
    // Each takes the program's name where git reads text, so that running it would show.
    for key in [
        "user.name",
        "user.email",
        "branch.main.description",
        "branch.main.merge",
        "remote.o.url",
        "remote.o.fetch",
        "color.diff.meta",
        "log.date",
        "diff.wordRegex",
        "diff.x.xfuncname",
        "init.defaultBranch",
        "push.default",
        "core.whitespace",
        "gui.encoding",
        "tag.sort",
    ] {
        lab.git("repo", &["config", key, &evil]);
        assert!(!lab.runs_on_reads("repo"), "{key}");
        assert_eq!(lab.trust("repo"), Trust::default(), "{key}");
        lab.git("repo", &["config", "--unset", key]);
    }
}

#[test]
fn what_is_not_on_the_positive_list_is_a_reason() {
    let weight = |name: &str, value: &str| {
        Setting {
            name: name.into(),
            value: Some(value.into()),
        }
        .weight()
    };
    for name in [
        "core.pager",
        "core.attributesfile",
        "core.worktree",
        "core.alternaterefscommand",
        "core.hookspath",
        "alias.x",
        "pager.log",
        "extensions.partialclone",
        "gc.recentobjectshook",
        "uploadpack.packobjectshook",
        "hook.x.command",
        "hook.x.event",
        "tar.x.command",
        "trailer.x.command",
        "man.x.cmd",
        "browser.x.cmd",
        "includeif.gitdir:/.path",
        "pretty.x",
        "format.pretty",
        "mailmap.file",
        "x.y",
        "x",
        "",
    ] {
        assert_eq!(weight(name, "./x"), Weight::Reads, "{name}");
    }
    for name in [
        "core.sshcommand",
        "core.editor",
        "credential.helper",
        "http.https://x.y.extraheader",
        "url.x.insteadof",
        "merge.x.driver",
    ] {
        assert_eq!(weight(name, "./x"), Weight::Writes, "{name}");
    }
    assert_eq!(weight("remote.o.url", "https://example.com/x"), Weight::Inert);
    assert_eq!(weight("remote.o.url", "git@example.com:x/y.git"), Weight::Inert);
    for url in ["ext::sh -c x", "x::y", "foo://x", "-oProxyCommand=x"] {
        assert_eq!(weight("remote.o.url", url), Weight::Writes, "{url}");
    }
    assert_eq!(weight("core.bare", "false"), Weight::Inert);
    assert_eq!(weight("core.bare", "true"), Weight::Reads);
    assert_eq!(weight("submodule.x.update", "!./x"), Weight::Writes);
}

#[test]
fn the_persons_own_filters_are_vouched_for_and_the_repositorys_are_not() {
    let lab = Lab::new();
    let lfs = "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n";
    lab.write("home/.gitconfig", lfs);
    assert_eq!(lab.trust("repo"), Trust::default());
    lab.git("repo", &["config", "filter.lfs.clean", "git-lfs clean -- %f"]);
    names(&lab.trust("repo").reads, "filter.lfs.clean");
}

#[test]
fn broken_or_endless_configuration_is_a_reason() {
    let lab = Lab::new();
    lab.write("repo/.git/config", "[core\n");
    names(&lab.trust("repo").reads, "line");
    lab.write("repo/.git/config", &"#\n".repeat(200_000));
    names(&lab.trust("repo").reads, "too long");
    fs::remove_file(lab.path("repo/.git/config")).expect("it is removed");
    symlink("/dev/zero", lab.path("repo/.git/config")).expect("a link is made");
    names(&lab.trust("repo").reads, "not a file");
}

#[test]
fn variables_that_lead_git_elsewhere_are_named_and_harmless_ones_are_not() {
    let lab = Lab::new();
    let asked = |names: &[&str]| {
        let variables: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let surroundings = Surroundings {
            variables: &variables,
            ..Surroundings::default()
        };
        trust(&lab.repository("repo"), &surroundings).reads
    };
    assert!(asked(&["GIT_EDITOR", "GIT_PAGER", "GIT_AUTHOR_NAME", "PATH", "HOME"]).is_empty());
    for name in [
        "GIT_DIR",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_EXTERNAL_DIFF",
        "GIT_INDEX_FILE",
        "GIT_NEW",
    ] {
        names(&asked(&[name]), name);
    }
}

#[test]
fn a_repository_is_found_upwards_and_through_links_and_git_files() {
    let lab = Lab::new();
    lab.write("repo/deep/er/x", "");
    let found = lab.repository("repo/deep/er");
    assert_eq!(found.worktree, lab.path("repo"));
    assert_eq!(found.git_dir, lab.path("repo/.git"));
    symlink(lab.path("repo/deep"), lab.path("link")).expect("a link is made");
    assert_eq!(lab.repository("link"), found);
    lab.git("repo", &["worktree", "add", "-q", "../other"]);
    let other = lab.repository("other");
    assert_eq!(other.worktree, lab.path("other"));
    assert_eq!(other.git_dir, lab.path("repo/.git/worktrees/other"));
    assert_eq!(other.common_dir, found.common_dir);
}

#[test]
fn no_repository_is_none() {
    let lab = Lab::empty();
    assert_eq!(discover(&lab.path("home")), Discovery::None);
}

#[test]
fn a_bare_repository_planted_among_files_is_suspicious_because_git_obeys_it() {
    let lab = Lab::new();
    let program = lab.program("evil");
    lab.git("home", &["init", "-q", "--bare", "../repo/vendor/x"]);
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tbare = false\n\tfsmonitor = {}\n",
        program.display()
    );
    lab.write("repo/vendor/x/config", &config);
    lab.write("repo/vendor/f", "");
    assert!(lab.ran("repo/vendor/x", &[&["add", "../f"], &["status"]]));
    assert!(matches!(discover(&lab.path("repo/vendor/x")), Discovery::Suspicious(_)));
    assert!(matches!(
        discover(&lab.path("repo/vendor/x/refs")),
        Discovery::Suspicious(_)
    ));
}

#[test]
fn a_broken_git_directory_is_suspicious_because_git_looks_further_up() {
    let lab = Lab::new();
    lab.write("repo/sub/.git/HEAD", "ref: refs/heads/main\n");
    let top = lab.git("repo/sub", &["rev-parse", "--show-toplevel"]);
    assert_eq!(top.trim(), lab.path("repo").to_string_lossy());
    assert!(matches!(discover(&lab.path("repo/sub")), Discovery::Suspicious(_)));
    lab.write("repo/file/.git", "gitdir: nowhere\n");
    assert!(matches!(discover(&lab.path("repo/file")), Discovery::Suspicious(_)));
    assert!(matches!(discover(&lab.path("repo/gone")), Discovery::Suspicious(_)));
    assert!(matches!(discover(&lab.path("repo/.git")), Discovery::Suspicious(_)));
}

/// A small generator whose seed is printed, and taken from `COUNTERSIGN_SEED` where that is set.
struct Random(u64);

impl Random {
    fn new() -> Random {
        let fresh = || RandomState::new().build_hasher().finish();
        let seed = std::env::var("COUNTERSIGN_SEED").ok().and_then(|s| s.parse().ok());
        let seed = seed.unwrap_or_else(fresh);
        println!("COUNTERSIGN_SEED={seed}");
        Random(seed | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// The same bytes, cut, with a few of them changed, or both.
    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut damaged = bytes.to_vec();
        let changes = self.below(4);
        if changes == 0 || self.below(2) == 0 {
            damaged.truncate(self.below(bytes.len() + 1));
        }
        for _ in 0..changes {
            let at = self.below(damaged.len().max(1));
            if let Some(byte) = damaged.get_mut(at) {
                *byte = self.below(256) as u8;
            }
        }
        damaged
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

fn random_config(random: &mut Random) -> String {
    const HEADS: &[&str] = &[
        "[core]",
        "[a \"b\"]",
        "[A.B]",
        "[x \"q\\\"q\"]",
        "[x \"a\\\\b\"] # c",
        "[x\t\"y]\"]",
        "[s]k=v",
        "[s ]",
        "[s \"x\"",
        "[s\"x\"]",
        "[-]",
    ];
    const PIECES: &[&str] = &[
        "key",
        "Key-2",
        " = ",
        "=",
        "value",
        " ",
        "\t",
        "\"",
        "\\\"",
        "\\n",
        "\\t",
        "\\\\",
        "\\\n",
        "\\x",
        "# c",
        "; c",
        "\n",
        "\r\n",
        "\r",
        "é",
        "[z]",
        "true",
        "\n\t",
        "\u{b}",
        "0",
        ".",
        "'",
        "\n[core]\n",
        "!x",
        "\\b",
    ];
    let mut text = String::from(random.pick(HEADS));
    for _ in 0..random.below(14) {
        text.push_str(random.pick(PIECES));
        if random.below(3) == 0 {
            text.push_str("\nk = ");
        }
    }
    text
}

#[test]
fn configuration_is_read_as_git_reads_it() {
    let lab = Lab::empty();
    let mut random = Random::new();
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..600 {
        let text = random_config(&mut random);
        let file = lab.write("config", &text);
        let output = lab.try_git("home", &["config", "--list", "-z", "--file", &file.to_string_lossy()]);
        let ours = config::parse(text.as_bytes());
        if !output.status.success() {
            assert!(ours.is_err(), "git refuses {text:?}, we read {ours:?}");
            refused += 1;
            continue;
        }
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        let theirs: Vec<Setting> = listed
            .split_terminator('\0')
            .map(|item| match item.split_once('\n') {
                Some((name, value)) => Setting {
                    name: name.into(),
                    value: Some(value.into()),
                },
                None => Setting {
                    name: item.into(),
                    value: None,
                },
            })
            .collect();
        assert_eq!(ours, Ok(theirs), "{text:?}");
        accepted += 1;
    }
    assert!(accepted > 60 && refused > 60, "{accepted} accepted, {refused} refused");
}

#[test]
fn any_bytes_are_read_or_refused_without_a_panic() {
    let mut random = Random::new();
    for _ in 0..20_000 {
        let length = random.below(40);
        let bytes: Vec<u8> = (0..length)
            .map(|_| b"[]\"\\=\n\r #;ab.-\0\xff\xef"[random.below(17)])
            .collect();
        let _ = config::parse(&bytes);
    }
}
