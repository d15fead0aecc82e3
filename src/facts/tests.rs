use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

mod roots;

fn dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn project(root: &str, home: &str) -> Vec<PathBuf> {
    let mut facts = Facts {
        home: Some(home.into()),
        ..Facts::default()
    };
    facts.set_project(Path::new(root));
    facts.project
}

#[test]
fn a_home_the_root_and_what_holds_a_home_are_no_project() {
    for root in [
        "/",
        "/home",
        "/home/dev",
        "/home/other",
        "/Users",
        "/Users/me",
        "/root",
        "/srv/people",
        "/srv",
    ] {
        assert!(project(root, "/srv/people/dev").is_empty(), "{root}");
    }
    for root in [
        "/home/dev/app",
        "/work",
        "/root/app",
        "/srv/people/dev/app",
        "/srv/other",
    ] {
        assert_eq!(project(root, "/srv/people/dev"), [PathBuf::from(root)], "{root}");
    }
}

#[test]
fn a_project_is_known_by_its_name_and_by_its_real_path() {
    let root = dir();
    let real = root.path().canonicalize().expect("a path").join("real");
    fs::create_dir(&real).expect("a directory");
    let link = real.with_file_name("link");
    symlink(&real, &link).expect("a link");
    let mut facts = Facts::default();
    facts.set_project(&link);
    assert_eq!(facts.project, [link.clone(), real.clone()]);
    assert!(facts.in_project(&real.join("x")) && facts.in_project(&link.join("x")));
    assert!(!facts.in_project(&real.with_file_name("real2")));
}

#[test]
fn a_real_path_follows_links_to_the_end_even_where_nothing_is_yet() {
    let root = dir();
    let root = root.path().canonicalize().expect("a path");
    fs::create_dir(root.join("there")).expect("a directory");
    symlink("there", root.join("link")).expect("a link");
    symlink("/nowhere/at/all", root.join("dangling")).expect("a link");
    symlink("there/../later", root.join("relative")).expect("a link");
    let facts = Facts::default();
    assert_eq!(facts.real(&root.join("link/new/file")), root.join("there/new/file"));
    assert_eq!(facts.real(&root.join("link/../x")), root.join("x"));
    assert_eq!(facts.real(&root.join("dangling")), Path::new("/nowhere/at/all"));
    assert_eq!(facts.real(&root.join("dangling/x")), Path::new("/nowhere/at/all/x"));
    assert_eq!(facts.real(&root.join("relative")), root.join("later"));
    assert_eq!(facts.real(&root.join("no/such/../x")), root.join("no/x"));
}

#[test]
fn a_dangling_link_that_leads_to_another_is_followed_to_the_last() {
    let root = dir();
    let root = root.path().canonicalize().expect("a path");
    symlink("second", root.join("first")).expect("a link");
    symlink("/elsewhere/file", root.join("second")).expect("a link");
    assert_eq!(Facts::default().real(&root.join("first")), Path::new("/elsewhere/file"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_links_of_a_process_are_not_followed_for_they_lead_elsewhere_for_the_command() {
    let root = dir();
    let root = root.path().canonicalize().expect("a path");
    symlink("/proc/self/cwd", root.join("here")).expect("a link");
    symlink("/proc/self/root/etc", root.join("etc")).expect("a link");
    let facts = Facts::default();
    let own = Path::new("/proc").join(std::process::id().to_string());
    assert_eq!(facts.real(&root.join("here/x")), own.join("cwd/x"));
    assert_eq!(facts.real(&root.join("etc/hosts")), own.join("root/etc/hosts"));
    assert_eq!(facts.real(Path::new("/dev/fd/../cwd/x")), own.join("cwd/x"));
    assert_eq!(facts.real(Path::new("/proc/mounts")), own.join("mounts"));
}

#[test]
fn what_is_missing_hides_no_link_behind_it() {
    let root = dir();
    let root = root.path().canonicalize().expect("a path");
    symlink("/elsewhere", root.join("link")).expect("a link");
    let facts = Facts::default();
    assert_eq!(facts.real(&root.join("none/../link/x")), Path::new("/elsewhere/x"));
    assert_eq!(facts.real(&root.join("none/x/../../link/x")), Path::new("/elsewhere/x"));
}

#[test]
fn a_ring_of_links_ends() {
    let root = dir();
    symlink("b", root.path().join("a")).expect("a link");
    symlink("a", root.path().join("b")).expect("a link");
    let facts = Facts::default();
    facts.real(&root.path().join("a/x"));
    assert_eq!(facts.kind(&root.path().join("a")), Kind::Other);
}

#[test]
fn a_path_is_a_file_a_directory_missing_or_something_else() {
    let root = dir();
    fs::write(root.path().join("file"), "").expect("a file");
    symlink("nothing", root.path().join("dangling")).expect("a link");
    let facts = Facts::default();
    assert_eq!(facts.kind(&root.path().join("file")), Kind::File);
    assert_eq!(facts.kind(root.path()), Kind::Directory);
    assert_eq!(facts.kind(&root.path().join("none")), Kind::Missing);
    assert_eq!(facts.kind(&root.path().join("dangling")), Kind::Other);
    assert_eq!(facts.kind(Path::new("/dev/null")), Kind::Other);
}

#[test]
fn a_name_is_the_first_file_on_path_that_can_be_run() {
    let root = dir();
    let root = root.path().canonicalize().expect("a path");
    for (dir, mode) in [("one", 0o644), ("two", 0o755), ("three", 0o755)] {
        fs::create_dir(root.join(dir)).expect("a directory");
        fs::write(root.join(dir).join("tool"), "").expect("a file");
        fs::set_permissions(root.join(dir).join("tool"), fs::Permissions::from_mode(mode)).expect("permissions");
    }
    let facts = |path: &[PathBuf]| Facts {
        path: path.to_vec(),
        ..Facts::default()
    };
    let all = [
        root.join("none"),
        root.join("one"),
        root.join("two"),
        root.join("three"),
    ];
    let path = root.join("two/tool");
    assert_eq!(
        facts(&all).find("tool"),
        Found::File {
            real: path.clone(),
            path
        }
    );
    assert_eq!(facts(&all).find("other"), Found::Nowhere);
    assert_eq!(facts(&["bin".into(), root.join("two")]).find("tool"), Found::Relative);
    assert!(matches!(
        facts(&[root.join("two"), "bin".into()]).find("tool"),
        Found::File { .. }
    ));
}

#[test]
fn a_walk_lists_files_and_links_and_does_not_follow_them() {
    let root = dir();
    fs::create_dir_all(root.path().join("a/b")).expect("directories");
    fs::create_dir(root.path().join("skipped")).expect("a directory");
    fs::write(root.path().join("a/b/file"), "").expect("a file");
    fs::write(root.path().join("skipped/file"), "").expect("a file");
    symlink("..", root.path().join("a/up")).expect("a link");
    let tree = Facts::default().tree(root.path(), &|path| path.ends_with("skipped"));
    assert_eq!(tree.files, [root.path().join("a/b/file")]);
    assert_eq!(tree.links, [root.path().join("a/up")]);
    assert_eq!(tree.skipped, [root.path().join("skipped")]);
    assert!(!tree.cut);
}

#[test]
fn a_walk_and_a_list_have_an_end() {
    let root = dir();
    for n in 0..=MAX_NAMES.max(MAX_TREE) {
        fs::write(root.path().join(n.to_string()), "").expect("a file");
    }
    assert!(Facts::default().tree(root.path(), &|_| false).cut);
    assert_eq!(Facts::default().list(root.path()), None);
}

#[test]
fn what_not_everybody_may_read_is_told() {
    let root = dir();
    let file = root.path().join("file");
    fs::write(&file, "").expect("a file");
    for (mode, open) in [(0o644, true), (0o640, false)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("permissions");
        assert_eq!(Facts::default().world_readable(&file), open);
    }
    assert!(Facts::default().world_readable(&root.path().join("none")));
}

#[test]
fn only_a_directory_can_be_entered() {
    let root = dir();
    fs::write(root.path().join("file"), "").expect("a file");
    let facts = Facts::default();
    assert!(facts.can_enter(root.path()));
    assert!(!facts.can_enter(&root.path().join("file")));
    assert!(!facts.can_enter(&root.path().join("none")));
}

#[test]
fn the_home_in_the_user_database_is_the_one_of_this_user() {
    let database = b"root:x:0:0:root:/root:/bin/sh\n# a comment\nodd:x\ndev:x:1000:1000:Dev,,,:/srv/people/dev:/bin/zsh\nno:x:7:7::relative:\n";
    assert_eq!(home_of(0, database), Some("/root".into()));
    assert_eq!(home_of(1000, database), Some("/srv/people/dev".into()));
    assert_eq!(home_of(7, database), None);
    assert_eq!(home_of(100, database), None);
}

#[test]
fn a_home_that_the_variable_hides_is_no_project_either() {
    let mut facts = Facts {
        home: Some("/srv/app/home".into()),
        own_home: Some("/srv/people/dev".into()),
        ..Facts::default()
    };
    for root in ["/srv/people/dev", "/srv/people", "/srv", "/srv/app/home", "/srv/app"] {
        facts.set_project(Path::new(root));
        assert_eq!(facts.project, Vec::<PathBuf>::new(), "{root}");
    }
}

#[test]
fn what_was_asked_is_not_asked_again_until_it_is_forgotten() {
    let dir = dir();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    let mut facts = Facts::default();
    let kinds = |facts: &Facts| [facts.kind(&file), facts.kind(&link)];
    let before = [Kind::Missing, Kind::Missing];
    assert_eq!(kinds(&facts), before);
    fs::write(&file, "text").expect("a file");
    symlink(&file, &link).expect("a link");
    assert_eq!((kinds(&facts), facts.exists(&link)), (before, false));
    facts.forget();
    assert_eq!((kinds(&facts), facts.is_link(&link)), ([Kind::File; 2], true));
    assert_eq!(facts.text(&link).as_deref(), Some("text"));
}

#[test]
fn a_path_with_a_dot_at_its_end_is_another_question() {
    let dir = dir();
    let file = dir.path().join("file");
    fs::write(&file, "").expect("a file");
    let facts = Facts::default();
    assert_eq!(facts.kind(&file), Kind::File);
    assert!(!facts.can_enter(&file) && facts.can_enter(dir.path()));
}
