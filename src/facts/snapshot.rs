//! What the host's shell snapshot makes of a name. Claude Code writes the aliases, functions and options of the person's
//! start-up files to `shell-snapshots/snapshot-SHELL-MILLISECONDS-ID.sh` below its configuration directory when a
//! session starts, and sources that file before each command; it removes the file when the session ends.
//!
//! Seen with 2.1.332, bash 5.2 and zsh 5.9: each alias begins a line as `alias -- NAME=VALUE`, each function of the
//! person's as `NAME ()`, in bash inside `eval $'..'` (2.1.207: in base64). The functions that the host adds itself (`find`, `grep`, `pkill`,
//! `rg`) begin with the word `function` and do what their names say, so they are not looked for.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memmem;

/// The longest snapshot that is read, in bytes.
const MAX_SNAPSHOT: u64 = 2 * 1024 * 1024;
/// Longer than most snapshots, in bytes.
const USUAL_SNAPSHOT: usize = 64 * 1024;
/// At most this many files are looked at to find the newest.
const MAX_SNAPSHOTS: usize = 1024;

/// The newest snapshot; without a text where there is none.
#[derive(Debug, Default)]
pub struct ShellSnapshot {
    text: Vec<u8>,
    /// There is one, and it cannot be read or is too long.
    pub unreadable: bool,
}

/// What an alias stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alias {
    Text(String),
    /// Its quoting is not one that the shells write.
    Unclear,
}

impl ShellSnapshot {
    /// Reads the newest snapshot in a directory. Which session wrote it is not known: sessions of one person have the
    /// same start-up files.
    pub fn newest(directory: &Path) -> Self {
        let Some(path) = newest(directory) else {
            return ShellSnapshot::default();
        };
        // Room for most snapshots, which then take two reads.
        let mut text = Vec::with_capacity(USUAL_SNAPSHOT);
        let read = File::open(path).and_then(|file| file.take(MAX_SNAPSHOT + 1).read_to_end(&mut text));
        let unreadable = read.is_err() || text.len() as u64 > MAX_SNAPSHOT;
        ShellSnapshot { text, unreadable }
    }

    /// What the alias of this name stands for, if there is one.
    pub fn alias(&self, name: &str) -> Option<Alias> {
        let begins = format!("\nalias -- {name}=");
        let at = memmem::rfind(&self.text, begins.as_bytes())?;
        let rest = &self.text[at + begins.len()..];
        // The host takes away again those that its own functions would not get past.
        if memmem::find(rest, format!("\nunalias {name} ").as_bytes()).is_some() {
            return None;
        }
        Some(unquoted(rest).map_or(Alias::Unclear, Alias::Text))
    }

    /// Whether the person's start-up files make this name a function.
    pub fn is_function(&self, name: &str) -> bool {
        let encoded = base64(&format!("{name} () \n"), name.len() + 3);
        let begins = [
            format!("\n{name} ()"),
            format!("\neval $'{name} ()"),
            format!("\neval \"$(echo '{encoded}"),
        ];
        begins
            .iter()
            .any(|begins| memmem::find(&self.text, begins.as_bytes()).is_some())
    }

    /// Whether a pattern may match other names than it does in a shell without options.
    pub fn matches_otherwise(&self) -> bool {
        const OPTIONS: &[&str] = &[
            "shopt -s dotglob",
            "shopt -s failglob",
            "shopt -s globstar",
            "shopt -s nocaseglob",
            "shopt -s nullglob",
            "set -o noglob",
            "setopt cshnullglob",
            "setopt globdots",
            "setopt globstarshort",
            "setopt markdirs",
            "setopt nocaseglob",
            "setopt noglob",
            "setopt nullglob",
        ];
        OPTIONS
            .iter()
            .any(|option| memmem::find(&self.text, format!("\n{option}\n").as_bytes()).is_some())
    }
}

/// The file whose name says the latest time.
fn newest(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.take(MAX_SNAPSHOTS).flatten();
    let dated = entries.filter_map(|entry| {
        let name = entry.file_name();
        let (_, rest) = name.to_str()?.strip_prefix("snapshot-")?.split_once('-')?;
        let milliseconds: u64 = rest.split('-').next()?.parse().ok()?;
        Some((milliseconds, name))
    });
    dated.max().map(|(_, name)| directory.join(name))
}

/// The word at the beginning of a text, which ends at a newline outside of quotes: plain letters, `'..'` and `\x`.
fn unquoted(text: &[u8]) -> Option<String> {
    let mut word = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => return String::from_utf8(word).ok(),
            b'\'' => loop {
                match bytes.next()? {
                    b'\'' => break,
                    byte => word.push(byte),
                }
            },
            b'\\' => word.push(bytes.next()?),
            b'$' | b'`' | b'"' | b' ' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => return None,
            byte => word.push(byte),
        }
    }
    String::from_utf8(word).ok()
}

/// What any text that begins like this one begins with in base64: as many whole groups of three bytes as hold the first
/// `least` bytes.
fn base64(text: &str, least: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = text.as_bytes().chunks_exact(3).take(least.div_ceil(3));
    let digits = groups.flat_map(|group| {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[bits >> shift & 63]))
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(text: &str) -> ShellSnapshot {
        ShellSnapshot {
            text: text.as_bytes().to_vec(),
            unreadable: false,
        }
    }

    #[test]
    fn an_alias_is_read_as_the_shells_write_it() {
        let names = snapshot(
            "# Snapshot file\nalias -- ls='ls --color=auto'\nalias -- q='echo it'\\''s'\nalias -- m='a\nb'\n\
             alias -- w=whence\nalias -- z=$'a\\nb'\nalias -- grep='x'\nunalias grep 2>/dev/null || true\n",
        );
        let text = |text: &str| Some(Alias::Text(text.to_owned()));
        assert_eq!(names.alias("ls"), text("ls --color=auto"));
        assert_eq!(names.alias("q"), text("echo it's"));
        assert_eq!(names.alias("m"), text("a\nb"));
        assert_eq!(names.alias("w"), text("whence"));
        assert_eq!(names.alias("z"), Some(Alias::Unclear));
        assert_eq!(names.alias("grep"), None);
        assert_eq!(names.alias("l"), None);
    }

    #[test]
    fn a_function_is_found_in_both_shells_and_the_hosts_own_are_not_counted() {
        let names = snapshot(
            "# Snapshot file\ncat () {\n\tcommand cat -n\n}\neval $'ls () \\n{ \\n    :\\n}' > /dev/null 2>&1\n\
             function grep {\n  command grep\n}\neval \"$(echo 'YSAoKSAKeyAKfQo=' | base64 -d)\" > /dev/null 2>&1\n\
             eval \"$(echo 'YWIgKCkgCnsgCn0K' | base64 -d)\"\neval \"$(echo 'YWJjICgpIAp7IAp9Cg==' | base64 -d)\"\n",
        );
        assert!(names.is_function("a") && names.is_function("ab") && names.is_function("abc"));
        assert!(names.is_function("cat") && names.is_function("ls"));
        assert!(!names.is_function("grep") && !names.is_function("at") && !names.is_function("s"));
    }

    #[test]
    fn the_newest_is_read_and_one_that_is_too_long_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("a file");
        assert!(ShellSnapshot::newest(&dir.path().join("none")).text.is_empty());
        write("snapshot-bash-900-zz.sh", "old");
        write("snapshot-zsh-1000-aa.sh", "new");
        write("notes.txt", "other");
        let found = ShellSnapshot::newest(dir.path());
        assert_eq!((found.text.as_slice(), found.unreadable), (b"new".as_slice(), false));
        write("snapshot-zsh-2000-aa.sh", &"x".repeat(MAX_SNAPSHOT as usize + 1));
        assert!(ShellSnapshot::newest(dir.path()).unreadable);
    }

    #[test]
    fn an_option_that_changes_what_a_star_finds_is_noticed() {
        assert!(snapshot("#\nshopt -s dotglob\n").matches_otherwise());
        assert!(snapshot("#\nsetopt nullglob\n").matches_otherwise());
        assert!(!snapshot("#\nshopt -u dotglob\nshopt -s checkwinsize\n").matches_otherwise());
    }
}
