//! Reads `tar` where it lists, makes or unpacks an archive on this machine with plain options; everything else is a doubt.
//!
//! Unpacking writes what the archive names, which may be a file that becomes code. GNU tar runs the decompressor that the
//! archive's content or name asks for from PATH, which is what tar is expected to do. `host:archive` reaches another
//! machine. Sources: the manuals of GNU tar 1.34 and libarchive's bsdtar 3.6.

use catalog_spec::{Action, EffectSpec, Place, Undo};

use super::{Reading, Role, doubt, names, uses, words::is_one_word};
use crate::shell::{Arg, Span, Value};

/// Letters that change only how members are packed, named or shown.
const LETTERS: &[u8] = b"vzjJapkmhO";
const FLAGS: &[&str] = &[
    "--auto-compress",
    "--bzip2",
    "--gzip",
    "--keep-old-files",
    "--no-same-owner",
    "--no-same-permissions",
    "--numeric-owner",
    "--verbose",
    "--xz",
    "--zstd",
];

/// What was given so far.
#[derive(Default)]
struct Given<'a> {
    /// `t`, `c` or `x`.
    action: Option<u8>,
    archive: Option<&'a Arg>,
    directory: Option<&'a Arg>,
    /// A directory holds for the members behind it only: another one was given, or it stands behind a member.
    moved: bool,
    members: Vec<&'a Arg>,
}

/// Reads the words of `tar`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let Some((program, words)) = args.split_first() else {
        return;
    };
    if let [
        Arg {
            value: Value::Literal(text),
            ..
        },
    ] = words
        && matches!(text.as_str(), "--help" | "--version")
    {
        return;
    }
    match Given::of(words, program.span) {
        Ok(given) => given.apply(program.span, reading),
        Err((span, why)) => doubt(reading, span, why),
    }
}

impl<'a> Given<'a> {
    fn of(words: &'a [Arg], span: Span) -> Result<Self, (Span, String)> {
        let mut given = Given::default();
        let mut rest = words.iter();
        let mut first = true;
        while let Some(word) = rest.next() {
            let refused = |why: &str| (word.span, format!("{why} of tar is not understood"));
            let bundle = std::mem::take(&mut first);
            let text = match word.value.literal() {
                Some(text) if bundle || text.starts_with('-') && text != "-" => text,
                _ if bundle => return Err((word.span, "what tar does is not known".to_owned())),
                _ if word.value.may_be_option() || !is_one_word(&word.value) => return Err(refused("a word")),
                _ => {
                    given.members.push(word);
                    continue;
                }
            };
            let mut value = || rest.next().ok_or_else(|| refused("a missing value"));
            match text {
                "--list" => given.act(b't').map_err(refused)?,
                "-C" | "--directory" => {
                    given.moved |= given.directory.is_some() || !given.members.is_empty();
                    given.directory = Some(value()?);
                }
                "--file" => given.archive = Some(value()?),
                _ if FLAGS.contains(&text) || excludes(text) => {}
                _ if text.starts_with("--") => return Err(refused(&format!("`{text}`"))),
                _ => {
                    let letters = text.strip_prefix('-').unwrap_or(text);
                    for (at, letter) in letters.bytes().enumerate() {
                        match letter {
                            b't' | b'c' | b'x' => given.act(letter).map_err(refused)?,
                            b'f' if at + 1 == letters.len() => given.archive = Some(value()?),
                            _ if LETTERS.contains(&letter) => {}
                            _ => return Err(refused(&format!("`{text}`"))),
                        }
                    }
                }
            }
        }
        if given.action.is_none() || given.archive.is_none() {
            return Err((span, "tar lacks its archive, or what it does with it".to_owned()));
        }
        Ok(given)
    }

    fn act(&mut self, action: u8) -> Result<(), &'static str> {
        match self.action.replace(action) {
            None => Ok(()),
            Some(_) => Err("a second action"),
        }
    }

    fn apply(&self, span: Span, reading: &mut Reading) {
        let local = |arg: &&Arg| {
            let texts = arg.value.alternatives();
            texts.is_some_and(|texts| !texts.iter().any(|text| text.contains(':')))
        };
        let Some(archive) = self.archive.filter(local) else {
            return doubt(reading, span, "the archive of tar may be on another machine");
        };
        let role = if self.action == Some(b'c') {
            Role::PathWrite
        } else {
            Role::PathRead
        };
        if archive.value != Value::Literal("-".into()) {
            uses(reading, role, archive.clone());
        }
        match self.action {
            Some(b'c') => self.members.iter().for_each(|member| self.packed(member, reading)),
            Some(b'x') => {
                let directory = self.directory.into_iter().cloned();
                directory.for_each(|directory| uses(reading, Role::PathWrite, directory));
                reading.effects.push(EffectSpec {
                    place: Place::BecomesCode,
                    undo: Undo::Lost,
                    ..EffectSpec::of(Action::Write)
                });
            }
            _ => {}
        }
    }

    /// A member is read with all below it, from the directory that was given.
    fn packed(&self, member: &Arg, reading: &mut Reading) {
        let text = member.value.literal().unwrap_or_default();
        match self.directory.map(|directory| directory.value.literal()) {
            _ if self.moved => doubt(reading, member.span, "tar packs from more than one directory"),
            _ if text.starts_with('@') => doubt(
                reading,
                member.span,
                "`@` names an archive to some and a file to others",
            ),
            Some(None) => doubt(reading, member.span, "the directory that tar packs from is not known"),
            Some(Some(directory)) if !text.is_empty() && !text.starts_with('/') => {
                names(reading, Role::TreeRead, &format!("{directory}/{text}"), member.span);
            }
            Some(Some(_)) if text.is_empty() => doubt(reading, member.span, "what tar packs is not known"),
            Some(Some(_)) | None => uses(reading, Role::TreeRead, member.clone()),
        }
    }
}

/// Options with a glued value that names no file and no program.
fn excludes(text: &str) -> bool {
    ["--exclude=", "--strip-components="]
        .iter()
        .any(|option| text.starts_with(option))
}
