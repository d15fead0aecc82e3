//! What the last commit holds of a file, beside what git says of it.

use super::*;
use Tracked::{Changed, Staged, Unchanged, Unknown, Untracked};

fn tracked(repository: &Repository, path: &Path) -> Tracked {
    let snapshot = Snapshot::of(repository);
    snapshot.map_or(Unknown, |mut snapshot| snapshot.files(&[path.to_owned()])[0])
}

fn tracked_in(lab: &Lab, path: &str) -> Tracked {
    let repository = path.split('/').next().unwrap_or_default();
    tracked(&lab.repository(repository), &lab.path(path))
}

fn set_time(path: &Path, time: SystemTime) {
    let file = fs::File::options().append(true).open(path).expect("it opens");
    file.set_modified(time).expect("its time is set");
}

fn time_of(path: &Path) -> SystemTime {
    fs::metadata(path).expect("it exists").modified().expect("a time")
}

#[test]
fn unchanged_changed_and_untracked_files_are_told_apart_in_every_version_of_the_index() {
    for version in ["2", "3", "4"] {
        let lab = Lab::new();
        lab.write("repo/a.txt.long/b", "b\n");
        lab.write("repo/empty", "");
        lab.git("repo", &["add", "."]);
        lab.git("repo", &["commit", "-qm", "Second"]);
        lab.git("repo", &["update-index", "--index-version", version]);
        if version == "3" {
            // Only an extended flag makes git write version 3.
            lab.git("repo", &["update-index", "--skip-worktree", "a.txt.long/b"]);
        }
        lab.settle("repo");
        let header = fs::read(lab.path("repo/.git/index")).expect("the index is read");
        assert_eq!(header[7].to_string(), version);
        assert_eq!(tracked_in(&lab, "repo/a.txt"), Unchanged, "version {version}");
        assert_eq!(tracked_in(&lab, "repo/empty"), Unchanged);
        assert_eq!(tracked_in(&lab, "repo/a.tx"), Untracked);
        lab.write("repo/new", "");
        assert_eq!(tracked_in(&lab, "repo/new"), Untracked);
        lab.write("repo/a.txt", "longer than before\n");
        assert_eq!(tracked_in(&lab, "repo/a.txt"), Changed);
        fs::remove_file(lab.path("repo/a.txt")).expect("it is removed");
        assert_eq!(tracked_in(&lab, "repo/a.txt"), Changed);
        fs::set_permissions(lab.path("repo/empty"), fs::Permissions::from_mode(0o755)).expect("its mode is set");
        assert_eq!(tracked_in(&lab, "repo/empty"), Changed);
    }
}

#[test]
fn what_is_staged_is_not_committed() {
    let lab = Lab::new();
    lab.write("repo/new", "new\n");
    lab.write("repo/a.txt", "two\n");
    lab.program("repo/tool");
    lab.git("repo", &["add", "."]);
    for path in ["repo/new", "repo/a.txt", "repo/tool"] {
        assert_eq!(tracked_in(&lab, path), Staged, "{path}");
    }
    lab.git("repo", &["commit", "-qm", "Second"]);
    for path in ["repo/new", "repo/a.txt", "repo/tool"] {
        assert_eq!(tracked_in(&lab, path), Unchanged, "{path}");
    }
    lab.git("repo", &["rm", "-q", "--cached", "new"]);
    assert_eq!(tracked_in(&lab, "repo/new"), Staged);
    lab.git("repo", &["update-index", "--chmod=+x", "a.txt"]);
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Staged);
    lab.git("repo", &["reset", "-q", "--soft", "HEAD^"]);
    assert_eq!(tracked_in(&lab, "repo/tool"), Staged);
}

#[test]
fn before_the_first_commit_nothing_is_held() {
    let lab = Lab::empty();
    lab.git("home", &["init", "-q", "../repo"]);
    lab.write("repo/a.txt", "one\n");
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Untracked);
    lab.git("repo", &["add", "a.txt"]);
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Staged);
}

#[test]
fn where_times_do_not_tell_the_content_does() {
    let lab = Lab::new();
    let path = lab.path("repo/a.txt");
    let before = time_of(&path);
    set_time(&path, SystemTime::now() - Duration::from_secs(9));
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Unchanged, "only looked at again");
    // The same size and a restored time: only the inode's change time is left to tell.
    fs::write(&path, "two\n").expect("it is written");
    set_time(&path, before);
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Changed);
    fs::write(&path, "one\n").expect("it is written");
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Unchanged, "written again as it was");

    // Staged at the very time that the index was written.
    set_time(&lab.path("repo/.git/index"), time_of(&path));
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Unchanged);
    fs::write(&path, "two\n").expect("it is written");
    set_time(&path, time_of(&lab.path("repo/.git/index")));
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Changed);
}

#[test]
fn a_fresh_clone_is_unchanged_at_once() {
    let lab = Lab::new();
    symlink("a.txt", lab.path("repo/link")).expect("a link is made");
    lab.write("repo/empty", "");
    lab.git("repo", &["add", "."]);
    lab.git("repo", &["commit", "-qm", "Second"]);
    lab.git("home", &["clone", "-q", "../repo", "../clone"]);
    for path in ["clone/a.txt", "clone/link", "clone/empty"] {
        assert_eq!(tracked_in(&lab, path), Unchanged, "{path}");
    }
    fs::remove_file(lab.path("clone/link")).expect("it is removed");
    symlink("b.txt", lab.path("clone/link")).expect("a link is made");
    assert_eq!(tracked_in(&lab, "clone/link"), Changed);
}

#[test]
fn content_is_compared_up_to_a_size() {
    let lab = Lab::new();
    let text = "x".repeat(1024 * 1024 + 1);
    lab.write("repo/large", &text);
    lab.git("repo", &["add", "."]);
    lab.git("repo", &["commit", "-qm", "Second"]);
    lab.settle("repo");
    assert_eq!(tracked_in(&lab, "repo/large"), Unchanged);
    lab.write("repo/large", &text);
    assert_eq!(tracked_in(&lab, "repo/large"), Unknown);
}

#[test]
fn many_files_are_looked_up_at_once() {
    let lab = Lab::new();
    lab.write("repo/new", "");
    let paths = ["repo/new", "repo/a.txt", "repo", "home"].map(|path| lab.path(path));
    let mut snapshot = Snapshot::of(&lab.repository("repo")).expect("a snapshot");
    assert_eq!(snapshot.files(&paths), [Untracked, Unchanged, Unknown, Unknown]);
}

#[test]
fn flags_directories_and_odd_indexes_prove_nothing() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let lab = Lab::new();
        lab.git("repo", &["update-index", flag, "a.txt"]);
        assert_eq!(tracked_in(&lab, "repo/a.txt"), Unknown, "{flag}");
    }
    let lab = Lab::new();
    lab.write("repo/later", "");
    lab.git("repo", &["add", "-N", "later"]);
    assert_eq!(tracked_in(&lab, "repo/later"), Unknown);
    lab.git("repo", &["update-index", "--split-index"]);
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Unknown);
    names(&lab.trust("repo").reads, "split");

    let lab = Lab::new();
    lab.write("repo/sub/b", "");
    lab.git("repo", &["add", "."]);
    lab.git("repo", &["commit", "-qm", "Second"]);
    lab.git("repo", &["sparse-checkout", "set", "--cone", "--sparse-index", "none"]);
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Unknown);
}

#[test]
fn what_a_filter_leaves_out_is_not_held() {
    let lab = Lab::new();
    lab.git("repo", &["config", "filter.strip.clean", "head -n 1"]);
    lab.write("repo/.gitattributes", "*.book filter=strip\n");
    lab.write("repo/one.book", "code\n");
    lab.write("repo/two.book", "code\noutput of an hour\n");
    lab.git("repo", &["add", "."]);
    lab.git("repo", &["commit", "-qm", "Second"]);
    for _ in 0..2 {
        lab.settle("repo");
        assert_eq!(tracked_in(&lab, "repo/one.book"), Unchanged);
        assert_eq!(tracked_in(&lab, "repo/two.book"), Changed);
        lab.git("repo", &["gc", "-q"]);
    }
}

#[test]
fn a_conflict_is_a_change() {
    let lab = Lab::new();
    lab.git("repo", &["checkout", "-qb", "topic"]);
    lab.write("repo/a.txt", "theirs\n");
    lab.git("repo", &["commit", "-qam", "Theirs"]);
    lab.git("repo", &["checkout", "-q", "main"]);
    lab.write("repo/a.txt", "ours\n");
    lab.git("repo", &["commit", "-qam", "Ours"]);
    assert!(!lab.try_git("repo", &["merge", "topic"]).status.success());
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Changed);
}

#[test]
fn a_submodule_holds_its_own_files() {
    let lab = Lab::new();
    lab.git("home", &["clone", "-q", "../repo", "../repo/sub"]);
    lab.git("repo", &["add", "sub"]);
    lab.git("repo", &["commit", "-qm", "Second"]);
    assert_eq!(tracked_in(&lab, "repo/sub"), Unknown);
    assert_eq!(tracked_in(&lab, "repo/sub/a.txt"), Untracked);
    let submodule = lab.repository("repo/sub");
    assert_eq!(tracked(&submodule, &lab.path("repo/sub/a.txt")), Unchanged);
}

/// A file that every way of keeping the last commit must give.
fn committed_below(lab: &Lab) {
    lab.write("repo/deep/down/file", "deep\n");
    lab.git("repo", &["add", "."]);
    lab.git("repo", &["commit", "-qm", "Second"]);
}

#[test]
fn the_last_commit_is_found_however_it_is_kept() {
    let ways: &[(&str, &[&[&str]])] = &[
        ("loose", &[]),
        ("packed", &[&["gc", "-q"]]),
        ("packed refs", &[&["pack-refs", "--all"]]),
        ("detached", &[&["checkout", "-q", "--detach"]]),
        (
            "a ref that names another",
            &[
                &["symbolic-ref", "refs/heads/alias", "refs/heads/main"],
                &["symbolic-ref", "HEAD", "refs/heads/alias"],
            ],
        ),
        (
            "a name that began longer ones",
            &[
                &["branch", "topic/x"],
                &["branch", "-D", "topic/x"],
                &["checkout", "-qb", "topic"],
                &["pack-refs", "--all"],
            ],
        ),
    ];
    for (way, commands) in ways {
        let lab = Lab::new();
        committed_below(&lab);
        for command in *commands {
            lab.git("repo", command);
        }
        if way.starts_with("a name") {
            let _ = fs::create_dir(lab.path("repo/.git/refs/heads/topic"));
        }
        assert_eq!(tracked_in(&lab, "repo/deep/down/file"), Unchanged, "{way}");
        assert_eq!(tracked_in(&lab, "repo/deep/down"), Unknown, "{way}");
        lab.write("repo/deep/down/file", "peed\n");
        assert_eq!(tracked_in(&lab, "repo/deep/down/file"), Changed, "{way}");
        lab.git("repo", &["add", "."]);
        assert_eq!(tracked_in(&lab, "repo/deep/down/file"), Staged, "{way}");
    }
}

#[test]
fn a_head_that_is_a_link_names_a_branch() {
    let lab = Lab::new();
    fs::remove_file(lab.path("repo/.git/HEAD")).expect("it is removed");
    symlink("refs/heads/main", lab.path("repo/.git/HEAD")).expect("a link is made");
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Unchanged);
}

#[test]
fn what_is_kept_elsewhere_or_in_another_way_is_unknown() {
    let lab = Lab::new();
    lab.git("home", &["clone", "-q", "--shared", "../repo", "../shared"]);
    assert_eq!(tracked_in(&lab, "shared/a.txt"), Unknown);

    let lab = Lab::new();
    lab.git("repo", &["config", "extensions.refStorage", "reftable"]);
    assert_eq!(tracked_in(&lab, "repo/a.txt"), Unknown);

    for head in [
        "ref: refs/heads/../../config\n",
        "ref: refs/bisect/bad\n",
        "ref: refs/heads/loop\n",
        "00\n",
    ] {
        let lab = Lab::new();
        lab.write("repo/.git/refs/heads/loop", "ref: refs/heads/loop\n");
        let repository = lab.repository("repo");
        lab.write("repo/.git/HEAD", head);
        assert_eq!(tracked(&repository, &lab.path("repo/a.txt")), Unknown, "{head}");
    }
}

#[test]
fn linked_worktrees_have_a_last_commit_each() {
    let lab = Lab::new();
    lab.git("repo", &["worktree", "add", "-q", "../other"]);
    lab.write("other/b.txt", "b\n");
    lab.git("other", &["add", "."]);
    lab.git("other", &["commit", "-qm", "Second"]);
    assert_eq!(tracked_in(&lab, "other/a.txt"), Unchanged);
    assert_eq!(tracked_in(&lab, "other/b.txt"), Unchanged);
    assert_eq!(tracked(&lab.repository("other"), &lab.path("repo/a.txt")), Unknown);
    symlink(lab.path("repo"), lab.path("way")).expect("a link is made");
    assert_eq!(tracked(&lab.repository("repo"), &lab.path("way/a.txt")), Unchanged);
}

#[test]
fn sha256_repositories_are_read_too() {
    let lab = Lab::empty();
    lab.git("home", &["init", "-q", "--object-format=sha256", "../wide"]);
    lab.write("wide/sub/a.txt", "x\n");
    lab.write("wide/empty", "");
    lab.git("wide", &["add", "."]);
    assert_eq!(tracked_in(&lab, "wide/empty"), Staged);
    lab.git("wide", &["commit", "-qm", "First"]);
    for _ in 0..2 {
        assert_eq!(tracked_in(&lab, "wide/sub/a.txt"), Unchanged);
        assert_eq!(tracked_in(&lab, "wide/empty"), Unchanged);
        lab.git("wide", &["gc", "-q"]);
    }
    assert!(lab.trust("wide").reads_are_inert());
}

#[test]
fn a_damaged_index_is_unknown_and_never_panics() {
    let lab = Lab::new();
    for n in 0..40 {
        lab.write(&format!("repo/d{}/f{n}", n % 3), "");
    }
    lab.git("repo", &["add", "."]);
    lab.git("repo", &["update-index", "--index-version", "4"]);
    let index = fs::read(lab.path("repo/.git/index")).expect("the index is read");
    let mut random = Random::new();
    for _ in 0..3000 {
        let damaged = random.damage(&index);
        let _ = super::index::scan(&damaged, 20, |_, _| true);
    }
}

#[test]
fn no_damage_makes_a_changed_file_unchanged() {
    let lab = Lab::new();
    committed_below(&lab);
    lab.git("repo", &["gc", "-q"]);
    lab.git("repo", &["commit", "-q", "--allow-empty", "-m", "Loose"]);
    lab.write("repo/a.txt", "two\n");
    lab.write("repo/deep/down/file", "peed\n");
    let mut files = vec![
        lab.path("repo/.git/index"),
        lab.path("repo/.git/HEAD"),
        lab.path("repo/.git/packed-refs"),
    ];
    files.extend(lab.files_below("repo/.git/objects"));
    files.extend(lab.files_below("repo/.git/refs"));
    let repository = lab.repository("repo");
    let paths = [lab.path("repo/a.txt"), lab.path("repo/deep/down/file")];
    let mut random = Random::new();
    for _ in 0..600 {
        let file = &files[random.below(files.len())];
        let bytes = fs::read(file).expect("it is read");
        fs::remove_file(file).expect("it is removed");
        fs::write(file, random.damage(&bytes)).expect("it is written");
        let states = Snapshot::of(&repository).map(|mut snapshot| snapshot.files(&paths));
        assert!(
            !states.is_some_and(|states| states.contains(&Unchanged)),
            "{}",
            file.display()
        );
        fs::write(file, bytes).expect("it is written");
    }
    let states = Snapshot::of(&repository).map(|mut snapshot| snapshot.files(&paths));
    assert_eq!(states, Some(vec![Changed, Changed]));
}
