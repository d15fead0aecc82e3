use super::*;
use PatternPart::{Glob, Text};

fn names(pattern: &[PatternPart], dir: &Path) -> Option<Vec<String>> {
    let words = matches(pattern, Some(dir), &Facts::default())?;
    let one = |mut word: Vec<String>| {
        assert_eq!(word.len(), 1, "{word:?}");
        word.remove(0)
    };
    Some(words.into_iter().map(one).collect())
}

fn text(text: &str) -> PatternPart {
    Text(text.to_owned())
}

fn glob(text: &str) -> PatternPart {
    Glob(text.to_owned())
}

/// A directory with these files in it.
fn with(files: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for file in files {
        let path = root.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, "").expect("a file");
    }
    root
}

#[test]
fn a_star_matches_names_in_order_and_no_leading_dot() {
    let dir = with(&["b.rs", "a.rs", ".c.rs", "d.txt"]);
    assert_eq!(
        names(&[glob("*"), text(".rs")], dir.path()),
        Some(vec!["a.rs".into(), "b.rs".into()])
    );
    assert_eq!(
        names(&[text("."), glob("*"), text(".rs")], dir.path()),
        Some(vec![".c.rs".into()])
    );
}

#[test]
fn a_question_mark_and_a_set_match_one_character() {
    let dir = with(&["a1", "a2", "b1", "a10"]);
    assert_eq!(
        names(&[text("a"), glob("?")], dir.path()),
        Some(vec!["a1".into(), "a2".into()])
    );
    assert_eq!(
        names(&[glob("[ab]"), text("1")], dir.path()),
        Some(vec!["a1".into(), "b1".into()])
    );
    assert_eq!(names(&[glob("[!a]"), text("1")], dir.path()), Some(vec!["b1".into()]));
    assert_eq!(names(&[text("a"), glob("[2-9]")], dir.path()), Some(vec!["a2".into()]));
}

#[test]
fn a_range_of_letters_counts_both_cases_as_some_locales_do() {
    let dir = with(&["A", "b"]);
    assert_eq!(names(&[glob("[a-c]")], dir.path()), Some(vec!["A".into(), "b".into()]));
}

#[test]
fn a_pattern_goes_through_directories() {
    let dir = with(&["x/a.rs", "y/b.rs", "y/z/c.rs"]);
    let pattern = [glob("*"), text("/"), glob("*"), text(".rs")];
    assert_eq!(
        names(&pattern, dir.path()),
        Some(vec!["x/a.rs".into(), "y/b.rs".into()])
    );
}

#[test]
fn nothing_is_in_a_file_that_a_pattern_matches_on_its_way() {
    let dir = with(&["a.rs", "x/a.rs", "x/y/b.rs"]);
    std::os::unix::fs::symlink("a.rs", dir.path().join("z")).expect("a link");
    let names = |pattern: &[PatternPart]| names(pattern, dir.path());
    assert_eq!(
        names(&[glob("*"), text("/"), glob("*"), text(".rs")]),
        Some(vec!["x/a.rs".into()])
    );
    assert_eq!(
        names(&[glob("*"), text("/"), glob("*"), text("/"), glob("*")]),
        Some(vec!["x/y/b.rs".into()])
    );
}

#[test]
fn two_stars_are_what_either_shell_finds() {
    let dir = with(&[
        "a.rs",
        "x/b.rs",
        "x/y/c.rs",
        "x/.h/d.rs",
        "out/e.rs",
        "src/f.rs",
        "src/g/h.rs",
    ]);
    std::fs::rename(dir.path().join("out"), dir.path().join(".out")).expect("a hidden directory");
    std::os::unix::fs::symlink(".out", dir.path().join("link")).expect("a link");
    let words = |pattern: &[PatternPart]| matches(pattern, Some(dir.path()), &Facts::default());
    let deep = [glob("*"), glob("*"), text("/"), glob("*"), text(".rs")];
    let all = ["a.rs", "link/e.rs", "src/f.rs", "src/g/h.rs", "x/b.rs", "x/y/c.rs"].map(str::to_owned);
    assert_eq!(words(&deep), Some(vec![all.to_vec(); STAND_INS]));
    // No more words than names: one of these two is found or both.
    let below = [text("src/"), glob("*"), glob("*"), text("/"), glob("*"), text(".rs")];
    let both = ["src/f.rs", "src/g/h.rs"].map(str::to_owned);
    assert_eq!(words(&below), Some(vec![both.to_vec(); 2]));
    // What bash does not match it leaves as it is.
    let none = [text("x/y/"), glob("*"), glob("*"), text("/"), glob("*"), text(".rs")];
    let either = ["x/y/**/*.rs", "x/y/c.rs"].map(str::to_owned);
    assert_eq!(words(&none), Some(vec![either.to_vec(); 2]));
    // Elsewhere both read them as one.
    assert_eq!(
        names(&[text("src/"), glob("*"), glob("*")], dir.path()),
        names(&[text("src/"), glob("*")], dir.path())
    );
    assert_eq!(
        names(&[glob("*"), glob("*"), text(".rs")], dir.path()),
        Some(vec!["a.rs".into()])
    );
}

#[test]
fn two_stars_below_more_directories_than_are_looked_at_are_not_known() {
    let files: Vec<String> = (0..MAX_MATCHES + 1).map(|n| format!("d{n}/f")).collect();
    let dir = with(&files.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(names(&[glob("*"), glob("*"), text("/"), text("f")], dir.path()), None);
}

#[test]
fn what_matches_nothing_stands_for_itself() {
    let dir = with(&["a"]);
    assert_eq!(names(&[text("no"), glob("*")], dir.path()), Some(vec!["no*".into()]));
}

#[test]
fn what_is_not_plain_or_not_seen_is_not_known() {
    let dir = with(&["a"]);
    assert_eq!(names(&[glob("*"), glob("*"), glob("*")], dir.path()), None);
    assert_eq!(names(&[glob("[[:alpha:]]")], dir.path()), None);
    assert_eq!(
        names(&[text("nowhere/"), glob("*")], dir.path()),
        Some(vec!["nowhere/*".into()])
    );
    assert_eq!(matches(&[glob("*")], None, &Facts::default()), None);
}

#[test]
fn more_names_than_are_looked_at_are_not_known() {
    let files: Vec<String> = (0..MAX_MATCHES + 1).map(|n| format!("f{n}")).collect();
    let dir = with(&files.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(names(&[text("f"), glob("*")], dir.path()), None);
    assert_eq!(
        names(&[text("f"), glob("?")], dir.path()).map(|all| all.len()),
        Some(10)
    );
}

#[test]
fn a_filter_of_names_fits_as_grep_and_ripgrep_take_it() {
    for (pattern, name, fits) in [
        ("*.rs", "a.rs", Some(true)),
        ("*.rs", "a.rsx", Some(false)),
        ("*.rs", ".rs", Some(true)),
        ("*", ".env", Some(true)),
        ("?.rs", "a.rs", Some(true)),
        ("[ab].rs", "c.rs", Some(false)),
        ("a.rs", "a.rs", Some(true)),
        ("*.{rs,toml}", "a.rs", Some(true)),
        ("*.{rs,toml}", ".env", Some(false)),
        ("*.{rs,{a,b}}", "a.rs", None),
        ("!*.rs", "a.rs", None),
        ("src/*.rs", "a.rs", Some(true)),
        ("src/**/.e*", ".env", Some(true)),
        ("[", "a", None),
    ] {
        assert_eq!(name_fits(pattern, name), fits, "{pattern} {name}");
    }
}
