//! Adding a line: chained to the one before by its hash, under one lock, with one `write(2)`.
//!
//! A line is a JSON object that ends in `,"seq":N,"prev":"H","hash":"H"}`: its number in the chain, the hash of the line
//! before it (zeros before the first), and the SHA-256 of its own bytes up to `,"hash"`. `log.head` is what is locked; it
//! holds the number and hash of the last line, so that lines cut off the log's end are missed: the next line then
//! chains to the last one that was written, and the gap stays.
//!
//! A process that is killed, or a disk that is full, may leave part of a line. The next line begins with a line break
//! and carries the SHA-256 of what was left in `torn`.
//!
//! Who cannot have the lock within 20 ms writes a file of its own, `log-sibling-*.jsonl`, with its own chain of one
//! line. A log of 8 MiB is renamed to `log-000001.jsonl` and so on, and the chain goes on in a new one; so is a log whose
//! last MiB holds the end of no line.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Access, access, statvfs};
use rustix::process::{Resource, getrlimit};
use sha2::{Digest, Sha256};

use super::files::{self, HEAD, LOG};
use crate::own_files::{has_lock, is_absent, named, open, open_private, private_dir};

/// A log this long, in bytes, is renamed before the next line.
pub const ROTATE_AT: u64 = 8 * 1024 * 1024;

/// How long the lock is waited for.
pub const WAIT: Duration = Duration::from_millis(20);

/// How far from its end a log is looked at for a whole line, in bytes: about what is read within [`WAIT`].
const MAX_TAIL: u64 = 1024 * 1024;

/// The length of `log.head`: twenty digits, a blank, the hash, a line break.
const HEAD_BYTES: usize = 20 + 1 + 64 + 1;

/// The hash before the first line.
pub const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A line's place in its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Counted from 1.
    pub number: u64,
    /// 64 hexadecimal digits.
    pub hash: String,
}

impl Link {
    /// What stands in `log.head` for a last line.
    fn head(&self) -> String {
        format!("{:020} {}\n", self.number, self.hash)
    }

    pub fn parse_head(text: &str) -> Option<Self> {
        let (number, hash) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Link {
            number: number.parse().ok()?,
            hash: is_hash(hash).then(|| hash.to_owned())?,
        })
    }
}

/// SHA-256 of the parts one after another, as 64 hexadecimal digits.
pub fn sha256(parts: &[&[u8]]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    let hash = hasher.finalize();
    let digits = hash.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Adds a line that says `body`, a JSON object, to the log in `dir`, which is created if need be.
///
/// # Errors
/// Those of the file system, with the file's name; a file or directory that is not this user's alone, or no regular file;
/// a line that the process's limit on file sizes forbids. Part of a line may then have been written; nothing else.
pub fn append(dir: &Path, body: &str) -> io::Result<()> {
    private_dir(dir)?;
    let head_path = dir.join(HEAD);
    let (head, _) = open_private(&head_path, OpenOptions::new().write(true).create(true))?;
    if !has_lock(&head, WAIT).map_err(named(&head_path))? {
        return append_beside(dir, body);
    }
    let path = dir.join(LOG);
    let (mut log, mut length) = open_private(&path, OpenOptions::new().append(true).create(true))?;
    let tail = Tail::of(&log, length).map_err(named(&path))?;
    let is_full = length >= ROTATE_AT && tail.torn.is_none() && !tail.is_open;
    if is_full || tail.is_buried {
        let kept = files::next_rotated(dir)?;
        fs::rename(&path, &kept).map_err(named(&kept))?;
        (log, length) = open_private(&path, OpenOptions::new().append(true).create_new(true))?;
    }
    let before = later(tail.last, read_head(&head));
    let (mut line, link) = closed(body, before.as_ref(), tail.torn.as_deref());
    if tail.torn.is_some() || tail.is_open {
        line.insert(0, '\n');
    }
    write(&log, length, &line).map_err(named(&path))?;
    head.write_all_at(link.head().as_bytes(), 0).map_err(named(&head_path))
}

/// A chain of one line in a file of its own.
fn append_beside(dir: &Path, body: &str) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let path = files::sibling(dir, process::id(), now.as_nanos());
    let (file, _) = open_private(&path, OpenOptions::new().append(true).create_new(true))?;
    let (line, _) = closed(body, None, None);
    write(&file, 0, &line).map_err(named(&path))
}

/// The whole line, and its place in the chain.
fn closed(body: &str, before: Option<&Link>, torn: Option<&str>) -> (String, Link) {
    let (last_number, last_hash) = before.map_or((0, ZEROS), |link| (link.number, &link.hash));
    let number = last_number.saturating_add(1);
    let open = body.strip_suffix('}').unwrap_or(body);
    let note = torn.map_or(String::new(), |torn| format!(r#","torn":"{torn}""#));
    let mut line = format!(r#"{open}{note},"seq":{number},"prev":"{last_hash}""#);
    let hash = sha256(&[line.as_bytes()]);
    line.push_str(&format!(",\"hash\":\"{hash}\"}}\n"));
    (line, Link { number, hash })
}

/// One `write(2)`, unless the disk has no room for it. The limit on file sizes is asked first, for passing it is a
/// signal that ends the process.
fn write(mut file: &File, length: u64, line: &str) -> io::Result<()> {
    let end = length + line.len() as u64;
    if getrlimit(Resource::Fsize).current.is_some_and(|most| end > most) {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "the process's limit on file sizes is reached",
        ));
    }
    file.write_all(line.as_bytes())
}

/// Why no line could be added just now, as far as that is seen without adding one.
///
/// # Errors
/// Those that [`append`] would give.
pub fn could_append(dir: &Path) -> io::Result<()> {
    let there = dir.ancestors().find(|dir| dir.exists()).unwrap_or(dir);
    if there == dir {
        private_dir(dir)?;
    }
    let may = access(there, Access::WRITE_OK | Access::EXEC_OK).map_err(io::Error::from);
    may.map_err(named(there))?;
    for path in [dir.join(LOG), dir.join(HEAD)] {
        match open(&path, OpenOptions::new().write(true)) {
            Err(error) if !is_absent(&error) => return Err(error),
            _ => {}
        }
    }
    let disk = statvfs(there).map_err(io::Error::from).map_err(named(there))?;
    if disk.f_blocks > 0 && disk.f_bavail == 0 {
        return Err(named(there)(io::Error::new(
            io::ErrorKind::StorageFull,
            "the disk is full",
        )));
    }
    Ok(())
}

/// The last line that `log.head` knows of; none where it says nothing.
pub fn read_head(head: &File) -> Option<Link> {
    let mut text = [0; HEAD_BYTES];
    head.read_exact_at(&mut text, 0).ok()?;
    Link::parse_head(std::str::from_utf8(&text).ok()?)
}

/// The later of a log's last line and the one that `log.head` knows of. Of two with one number it is the head's: a last
/// line that was put in another's place is then missed by the next.
fn later(last: Option<Link>, head: Option<Link>) -> Option<Link> {
    match (last, head) {
        (Some(last), Some(head)) if last.number > head.number => Some(last),
        (last, head) => head.or(last),
    }
}

/// What a whole line says at its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Closing {
    pub link: Link,
    /// The hash of the line before.
    pub prev: String,
    /// The SHA-256 of the torn line before it, if there is one.
    pub torn: Option<String>,
    /// How many of its bytes its own hash is of.
    pub hashed: usize,
}

impl Closing {
    /// Reads the end of a line without its line break; `None` where it is not the end of a whole line.
    pub fn read(line: &[u8]) -> Option<Self> {
        let (rest, hash) = last_hash(line.strip_suffix(b"\"}")?, b",\"hash\":\"")?;
        let (open, prev) = last_hash(rest.strip_suffix(b"\"")?, b",\"prev\":\"")?;
        let digits = open.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (before, number) = open.split_at(open.len() - digits);
        let body = before.strip_suffix(b",\"seq\":")?;
        let torn = body
            .strip_suffix(b"\"")
            .and_then(|body| last_hash(body, b",\"torn\":\""));
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        Some(Closing {
            link: Link { number, hash },
            prev,
            torn: torn.map(|(_, hash)| hash),
            hashed: rest.len(),
        })
    }
}

/// Splits off a hash that stands at the end after `key`.
fn last_hash<'a>(bytes: &'a [u8], key: &[u8]) -> Option<(&'a [u8], String)> {
    let (rest, hash) = bytes.split_at_checked(bytes.len().checked_sub(64)?)?;
    let hash = std::str::from_utf8(hash).ok().filter(|hash| is_hash(hash))?;
    Some((rest.strip_suffix(key)?, hash.to_owned()))
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// How a log ends.
#[derive(Default)]
struct Tail {
    /// The last whole line, if there is one, is further from the end than is looked; what follows it is not ours.
    is_buried: bool,
    last: Option<Link>,
    /// The SHA-256 of what stands after the last whole line, if anything does.
    torn: Option<String>,
    /// The last whole line lacks its line break.
    is_open: bool,
}

impl Tail {
    /// Reads from the end backwards, as far as it takes to see a whole line's end.
    fn of(log: &File, length: u64) -> io::Result<Self> {
        let mut window = 1024;
        loop {
            let start = length.saturating_sub(window);
            let mut bytes = vec![0; usize::try_from(length - start).map_err(io::Error::other)?];
            log.read_exact_at(&mut bytes, start)?;
            let breaks = (0..bytes.len()).rev().filter(|&at| bytes[at] == b'\n');
            let mut ends = std::iter::once(bytes.len()).chain(breaks);
            let whole = ends.find_map(|end| Some((end, Closing::read(&bytes[..end])?)));
            if whole.is_none() && start > 0 {
                if window >= MAX_TAIL {
                    return Ok(Tail {
                        is_buried: true,
                        ..Tail::default()
                    });
                }
                window *= 16;
                continue;
            }
            let (rest, last) = match whole {
                Some((end, closing)) => (bytes.get(end + 1..), Some(closing.link)),
                None => (Some(&bytes[..]), None),
            };
            let torn = rest.filter(|rest| !rest.is_empty());
            return Ok(Tail {
                is_buried: false,
                last,
                torn: torn.map(|torn| sha256(&[torn])),
                is_open: rest.is_none(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::Instant;

    fn lines(dir: &Path) -> Vec<String> {
        let text = fs::read_to_string(dir.join(LOG)).expect("a log");
        text.lines().map(str::to_owned).collect()
    }

    fn link(number: u64, digit: char) -> Link {
        Link {
            number,
            hash: digit.to_string().repeat(64),
        }
    }

    #[test]
    fn a_line_is_closed_by_its_number_the_hash_before_and_its_own() {
        let dir = tempfile::tempdir().expect("a directory");
        for body in [r#"{"a":1}"#, r#"{"a":2}"#] {
            append(dir.path(), body).expect("a line");
        }
        let [first, second] = &lines(dir.path())[..] else {
            panic!("two lines")
        };
        assert!(
            first.starts_with(&format!(r#"{{"a":1,"seq":1,"prev":"{ZEROS}","hash":""#)),
            "{first}"
        );
        let (first, second) = (
            Closing::read(first.as_bytes()).expect("its end"),
            (Closing::read(second.as_bytes()).expect("its end"), second),
        );
        assert_eq!((second.0.link.number, &second.0.prev), (2, &first.link.hash));
        assert_eq!(sha256(&[&second.1.as_bytes()[..second.0.hashed]]), second.0.link.hash);
    }

    #[test]
    fn a_log_that_something_else_filled_is_put_aside_and_not_read_through() {
        let dir = tempfile::tempdir().expect("a directory");
        append(dir.path(), r#"{"v":1}"#).expect("a line");
        let log = OpenOptions::new()
            .write(true)
            .open(dir.path().join(LOG))
            .expect("the log");
        log.set_len(1 << 40).expect("a log of nothing");
        append(dir.path(), r#"{"v":1}"#).expect("a line");
        let [line] = &lines(dir.path())[..] else {
            panic!("one line")
        };
        assert_eq!(Closing::read(line.as_bytes()).expect("its end").link.number, 2);
        assert!(dir.path().join("log-000001.jsonl").exists());
    }

    #[test]
    fn a_hash_is_sha_256_of_the_parts_joined() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&[b"a", b"", b"bc"]), abc);
    }

    #[test]
    fn what_a_line_says_of_itself_is_read_from_its_end_alone() {
        let (whole, own) = closed(r#"{"text":",\"seq\":7"}"#, Some(&link(41, 'a')), None);
        let whole = whole.trim_end();
        let closing = Closing::read(whole.as_bytes()).expect("its end");
        assert_eq!(
            (closing.link, closing.prev.as_str()),
            (own, link(41, 'a').hash.as_str())
        );
        let end = whole.find(r#","seq":42"#).expect("its number");
        assert!(Closing::read(&whole.as_bytes()[end..]).is_some());
        for cut in end + 1..whole.len() {
            assert_eq!(Closing::read(&whole.as_bytes()[cut..]), None);
            assert_eq!(Closing::read(&whole.as_bytes()[..cut]), None);
        }
    }

    #[test]
    fn the_head_is_read_as_it_is_written() {
        assert_eq!(Link::parse_head(&link(7, 'b').head()), Some(link(7, 'b')));
        assert_eq!(link(7, 'b').head().len(), link(u64::MAX, 'b').head().len());
        for wrong in ["", "7 bb\n", "x", &link(7, 'b').head()[..80]] {
            assert_eq!(Link::parse_head(wrong), None);
        }
    }

    #[test]
    fn the_next_line_follows_the_later_of_log_and_head() {
        let (old, new, other) = (link(4, 'a'), link(5, 'b'), link(5, 'c'));
        assert_eq!(
            later(Some(new.clone()), Some(old.clone())),
            Some(new.clone()),
            "killed in between"
        );
        assert_eq!(
            later(Some(old), Some(new.clone())),
            Some(new.clone()),
            "the log was cut"
        );
        assert_eq!(
            later(Some(other), Some(new.clone())),
            Some(new.clone()),
            "the last line was replaced"
        );
        assert_eq!(later(Some(new.clone()), None), Some(new.clone()));
        assert_eq!(later(None, Some(new.clone())), Some(new));
        assert_eq!(later(None, None), None);
    }

    #[test]
    fn a_torn_end_of_any_length_is_closed_and_vouched_for() {
        for torn in ["x".to_owned(), "{\"v\":1,\nhalf".to_owned(), "y".repeat(40_000)] {
            let dir = tempfile::tempdir().expect("a directory");
            append(dir.path(), r#"{"a":1}"#).expect("a line");
            let path = dir.path().join(LOG);
            let before = fs::read_to_string(&path).expect("a log");
            fs::write(&path, format!("{before}{torn}")).expect("a torn end");
            append(dir.path(), r#"{"a":2}"#).expect("a line");
            let after = fs::read_to_string(&path).expect("a log");
            let added = after
                .strip_prefix(&format!("{before}{torn}\n"))
                .expect("nothing was changed");
            let note = format!(r#"{{"a":2,"torn":"{}","seq":2,"#, sha256(&[torn.as_bytes()]));
            assert!(added.starts_with(&note), "{added}");
        }
    }

    #[test]
    fn a_full_log_is_renamed_and_the_chain_goes_on_in_a_new_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(ROTATE_AT as usize / 2));
        for _ in 0..5 {
            append(dir.path(), &long).expect("a line");
        }
        let size = |name: &str| fs::metadata(dir.path().join(name)).expect("a file").len();
        assert!(size("log-000001.jsonl") >= ROTATE_AT && size("log-000002.jsonl") >= ROTATE_AT);
        let last = lines(dir.path()).pop().expect("a line");
        assert_eq!(Closing::read(last.as_bytes()).expect("its end").link.number, 5);
        assert_eq!(fs::read_dir(dir.path()).expect("names").count(), 4);
    }

    #[test]
    fn files_and_directory_are_private_and_opened_files_become_so() {
        let dir = tempfile::tempdir().expect("a directory");
        let state = dir.path().join("a/b");
        append(&state, "{}").expect("a line");
        let mode = |path: &Path| fs::metadata(path).expect("metadata").mode() & 0o777;
        assert_eq!(mode(&state), 0o700);
        for name in [LOG, HEAD] {
            let path = state.join(name);
            assert_eq!(mode(&path), 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("chmod");
        }
        append(&state, "{}").expect("a line");
        assert_eq!((mode(&state.join(LOG)), mode(&state.join(HEAD))), (0o600, 0o600));
    }

    #[test]
    fn what_is_no_file_of_its_own_is_refused() {
        for name in [LOG, HEAD] {
            let dir = tempfile::tempdir().expect("a directory");
            let elsewhere = dir.path().join("elsewhere");
            fs::write(&elsewhere, "mine\n").expect("a file");
            std::os::unix::fs::symlink(&elsewhere, dir.path().join(name)).expect("a link");
            let error = append(dir.path(), "{}").expect_err("a link").to_string();
            assert!(error.ends_with(&format!("{name} is a symbolic link")), "{error}");
            assert_eq!(fs::read_to_string(&elsewhere).expect("the file"), "mine\n");
            fs::remove_file(dir.path().join(name)).expect("removal");
            fs::create_dir(dir.path().join(name)).expect("a directory");
            assert!(append(dir.path(), "{}").is_err());
        }
    }

    #[test]
    fn who_cannot_have_the_lock_in_time_writes_a_file_of_its_own() {
        let dir = tempfile::tempdir().expect("a directory");
        append(dir.path(), r#"{"a":1}"#).expect("a line");
        let head = File::open(dir.path().join(HEAD)).expect("the head");
        head.lock().expect("the lock");
        let start = Instant::now();
        append(dir.path(), r#"{"a":2}"#).expect("a line");
        assert!(start.elapsed() >= WAIT);
        head.unlock().expect("unlocked");
        append(dir.path(), r#"{"a":3}"#).expect("a line");
        assert_eq!(lines(dir.path()).len(), 2);
        let siblings = files::Files::list(dir.path()).expect("names").siblings;
        let text = fs::read_to_string(&siblings[0]).expect("the sibling");
        assert!(
            text.starts_with(&format!(r#"{{"a":2,"seq":1,"prev":"{ZEROS}""#)),
            "{text}"
        );
    }
}
