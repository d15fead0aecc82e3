//! The person's `config.toml`. What stands in it is checked as a whole: one wrong line, and calls stay with the person
//! until it is right.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::own_files::{self, own_uid};
use crate::wire::output::NoDecision;

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// What the person has set; what is not set has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub hook: Hook,
}

/// `[hook]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hook {
    /// `no_decision = "block"` (default) or `"empty"`.
    pub no_decision: NoDecision,
}

/// Why a configuration does not hold.
#[derive(Debug)]
pub enum Invalid {
    Unreadable {
        path: PathBuf,
        error: io::Error,
    },
    /// Others could have written it.
    NotYours {
        path: PathBuf,
        why: &'static str,
    },
    TooLong {
        path: PathBuf,
    },
    Wrong {
        path: PathBuf,
        line: usize,
        text: String,
        why: String,
    },
}

impl std::error::Error for Invalid {}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Unreadable { path, error } => write!(f, "{} cannot be read: {error}", path.display()),
            Invalid::NotYours { path, why } => {
                write!(
                    f,
                    "{path} {why}: run `chmod go-w` on it, or make it yours",
                    path = path.display()
                )
            }
            Invalid::TooLong { path } => write!(f, "{} is longer than {MAX_BYTES} bytes", path.display()),
            Invalid::Wrong { path, line, text, why } => {
                let why = why.trim().replace('\n', ", ");
                write!(f, "{path}:{line}: `{text}`: {why}", path = path.display())?;
                match hint(&why) {
                    Some(hint) => write!(f, "; {hint}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// What to write instead, for mistakes that the parser's words do not settle.
fn hint(why: &str) -> Option<&'static str> {
    if why.contains("unknown field") {
        return Some("the one key so far is `no_decision`, below `[hook]`");
    }
    let about_no_decision = why.contains("unknown variant") || why.contains("string or table");
    about_no_decision.then_some(r#"write no_decision = "block" or no_decision = "empty""#)
}

/// Reads the file at `path`; a file that is not there sets nothing, and then nothing is parsed.
///
/// # Errors
/// [`Invalid`]: the file is unreadable, too long, not UTF-8, belongs to somebody else than this user or root, may be
/// written by everybody, or holds anything but known keys with fitting values.
pub fn read(path: &Path) -> Result<Config, Invalid> {
    let unreadable = |error| Invalid::Unreadable {
        path: path.into(),
        error,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if own_files::is_absent(&error) => return Ok(Config::default()),
        Err(error) => return Err(unreadable(error)),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    if let Some(why) = not_yours(metadata.uid(), metadata.mode(), own_uid()) {
        return Err(Invalid::NotYours { path: path.into(), why });
    }
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(Invalid::TooLong { path: path.into() });
    }
    toml::from_str(&text).map_err(|error| wrong(path, &text, &error))
}

fn not_yours(owner: u32, mode: u32, own: u32) -> Option<&'static str> {
    if owner != own && owner != 0 {
        return Some("belongs to another user");
    }
    (mode & 0o002 != 0).then_some("may be written by everybody")
}

fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> Invalid {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    Invalid::Wrong {
        path: path.into(),
        line,
        text: text.lines().nth(line - 1).unwrap_or_default().trim().to_owned(),
        why: error.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn holding(text: &str) -> Result<Config, String> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("config.toml");
        fs::write(&path, text).expect("a file");
        read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_file_every_setting_has_its_default() {
        let dir = tempfile::tempdir().expect("a directory");
        let config = read(&dir.path().join("config.toml")).expect("defaults");
        assert_eq!(config.hook.no_decision, NoDecision::Block);
        assert_eq!(holding(""), Ok(Config::default()));
        assert_eq!(holding("[hook]\n"), Ok(Config::default()));
    }

    #[test]
    fn no_decision_is_set_by_its_two_names() {
        for (name, value) in [("block", NoDecision::Block), ("empty", NoDecision::Empty)] {
            let config = holding(&format!("# mine\n[hook]\nno_decision = \"{name}\"\n")).expect("a configuration");
            assert_eq!(config.hook.no_decision, value);
        }
    }

    #[test]
    fn a_mistake_shows_its_line_and_what_to_write_instead() {
        for (text, line, shown, hint) in [
            (
                "[hook]\nno_decision = \"blok\"\n",
                2,
                "no_decision = \"blok\"",
                "\"block\" or no_decision = \"empty\"",
            ),
            (
                "[hook]\n\nno_descision = \"block\"\n",
                3,
                "no_descision",
                "`no_decision`",
            ),
            ("preset = \"flow\"\n", 1, "preset", "`no_decision`, below `[hook]`"),
            ("[hook\n", 1, "[hook", ""),
            (
                "[hook]\nno_decision = \"block\"\nno_decision = \"empty\"\n",
                3,
                "no_decision = \"empty\"",
                "duplicate",
            ),
            ("[hook]\nno_decision = 5\n", 2, "no_decision = 5", ""),
        ] {
            let error = holding(text).expect_err(text);
            assert!(error.contains(&format!("config.toml:{line}: `")), "{error}");
            assert!(error.contains(shown) && error.contains(hint), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_file_that_everybody_may_write_to_does_not_hold() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("config.toml");
        fs::write(&path, "").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).expect("chmod");
        assert!(matches!(read(&path), Err(Invalid::NotYours { .. })));
    }

    #[test]
    fn a_file_of_another_user_does_not_hold_but_one_of_root_does() {
        assert_eq!(not_yours(1001, 0o600, 1000), Some("belongs to another user"));
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
}
