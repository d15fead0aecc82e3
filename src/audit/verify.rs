//! Checks the chain: what was changed, removed, moved, added or cut since it was written.
//!
//! It shows only that; whoever may write the files can write the whole chain anew, `log.head` with it.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::Path;

use super::chain::{Closing, Link, WAIT, ZEROS, read_head, sha256};
use super::files::{Files, HEAD};
use crate::own_files::{has_lock, is_absent, open};

/// How every line of ours begins.
const BEGINNING: &[u8] = br#"{"v":"#;

/// What the check found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whole lines, in all files.
    pub lines: u64,
    pub files: usize,
    /// Parts of lines that a process or a full disk left behind; nothing to worry about.
    pub torn: usize,
    /// In the order of the files. Empty: everything is as it was written.
    pub faults: Vec<Fault>,
}

/// One thing that is not as it was written.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file's name in the state directory.
    pub file: String,
    /// Counted from 1; none where it is the file as a whole.
    pub line: Option<usize>,
    /// What it means, for a person; lower case, without a full stop.
    pub what: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// The files as they were at one moment, for hooks go on writing.
struct Snapshot {
    files: Files,
    /// The file that is written to, as long as it was.
    log: Vec<u8>,
    head: Option<Link>,
}

/// Checks the record in `dir`; where there is none, there is nothing wrong with it.
///
/// # Errors
/// Those of reading the files.
pub fn verify(dir: &Path) -> io::Result<Report> {
    let Snapshot { files, log, head } = snapshot(dir)?;
    let mut report = Report::default();
    let mut last = start();
    missing_files(&files, &mut report);
    for path in files.chain() {
        let read;
        let bytes = if files.log.as_deref() == Some(path) {
            &log
        } else {
            read = read_whole(path)?;
            &read
        };
        last = check(&name(path), bytes, last, &mut report);
    }
    check_head(head, &last, &mut report);
    for path in &files.siblings {
        check(&name(path), &read_whole(path)?, start(), &mut report);
    }
    Ok(report)
}

fn snapshot(dir: &Path) -> io::Result<Snapshot> {
    let head_path = dir.join(HEAD);
    let head = match open(&head_path, &mut OpenOptions::new()) {
        Ok(head) => Some(head),
        Err(error) if is_absent(&error) => None,
        Err(error) => return Err(error),
    };
    // Without the lock a line that is just being written may look torn, and that is all.
    if let Some(head) = &head {
        has_lock(head, WAIT)?;
    }
    let files = Files::list(dir)?;
    let log = files.log.as_deref().map_or(Ok(Vec::new()), read_whole)?;
    let head = head.and_then(|head| read_head(&head));
    Ok(Snapshot { files, log, head })
}

fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, &mut OpenOptions::new())?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn missing_files(files: &Files, report: &mut Report) {
    let mut expected = 1;
    for (number, path) in &files.rotated {
        if *number != expected {
            let what = format!("the log before it is missing (number {expected})");
            report.fault(&name(path), None, what);
        }
        expected = number + 1;
    }
}

fn check_head(head: Option<Link>, last: &Link, report: &mut Report) {
    let Some(head) = head else { return };
    if head.number > last.number {
        let what = format!(
            "the last lines of the log were removed: it was written to number {}, and ends with {}",
            head.number, last.number
        );
        report.fault(HEAD, None, what);
    } else if head.number == last.number && head.hash != last.hash && last.hash != UNKNOWN {
        let what = "the last line of the log is not the one that was written last".to_owned();
        report.fault(HEAD, None, what);
    }
}

/// Before the first line of a chain.
fn start() -> Link {
    Link {
        number: 0,
        hash: ZEROS.to_owned(),
    }
}

/// The hash of a line that was changed: what it was is not known.
const UNKNOWN: &str = "";

/// Checks one file of a chain whose last line so far is `last`; gives the last one now.
fn check(file: &str, bytes: &[u8], mut last: Link, report: &mut Report) -> Link {
    report.files += 1;
    let mut offset = 0;
    // Where what is no whole line begins, and in which line.
    let mut torn_from: Option<(usize, usize)> = None;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(closing) = Closing::read(text) {
            report.lines += 1;
            let torn = torn_from.take().map(|(from, at)| (&bytes[from..offset - 1], at));
            check_torn(file, index + 1, torn, closing.torn.as_deref(), report);
            last = check_line(file, index + 1, text, closing, last, report);
        } else if torn_from.is_none() {
            torn_from = Some((offset, index + 1));
        }
        offset += line.len();
    }
    if let Some((from, at)) = torn_from {
        check_end(file, at, &bytes[from..], report);
    }
    last
}

/// What no whole line is, and the line after it, which has to vouch for it.
fn check_torn(file: &str, line: usize, torn: Option<(&[u8], usize)>, vouched: Option<&str>, report: &mut Report) {
    match (torn, vouched) {
        (None, None) => {}
        (Some((torn, _)), Some(hash)) if is_ours(torn) && sha256(&[torn]) == hash => report.torn += 1,
        (Some((_, at)), _) => report.fault(
            file,
            Some(at),
            "it was not written by Countersign, or was changed".to_owned(),
        ),
        (None, Some(_)) => report.fault(file, Some(line), "the torn line before it was removed".to_owned()),
    }
}

fn check_end(file: &str, line: usize, torn: &[u8], report: &mut Report) {
    if is_ours(torn) {
        report.torn += 1;
    } else {
        report.fault(
            file,
            Some(line),
            "it was not written by Countersign, or was changed".to_owned(),
        );
    }
}

/// Whether each line of it is the beginning of one of ours.
fn is_ours(torn: &[u8]) -> bool {
    torn.split(|byte| *byte == b'\n')
        .all(|line| line.starts_with(BEGINNING) || BEGINNING.starts_with(line))
}

fn check_line(file: &str, line: usize, text: &[u8], closing: Closing, last: Link, report: &mut Report) -> Link {
    let due = last.number.saturating_add(1);
    let number = closing.link.number;
    if sha256(&[&text[..closing.hashed]]) != closing.link.hash {
        report.fault(file, Some(line), "it was changed after it was written".to_owned());
        return Link {
            number: due,
            hash: UNKNOWN.to_owned(),
        };
    }
    if number < due {
        let what = format!("it stands in the wrong place: it is number {number}, and number {due} is due");
        report.fault(file, Some(line), what);
        return last;
    }
    if number > due {
        let missing = match number - due {
            1 => format!("number {due} is"),
            _ => format!("numbers {due} to {} are", number - 1),
        };
        report.fault(file, Some(line), format!("before it, {missing} missing"));
    } else if last.hash != UNKNOWN && last.hash != closing.prev {
        let what = "the line before it is not the one that it was written after".to_owned();
        report.fault(file, Some(line), what);
    }
    closing.link
}

impl Report {
    /// In a few words, for the person: "as written: 57 lines".
    pub fn summary(&self) -> String {
        let lines = match self.lines {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        match self.faults.len() {
            0 if self.files == 0 => "nothing is recorded yet".to_owned(),
            0 => format!("as it was written: {lines}"),
            1 => format!("NOT as it was written: 1 fault, {lines}"),
            faults => format!("NOT as it was written: {faults} faults, {lines}"),
        }
    }

    fn fault(&mut self, file: &str, line: Option<usize>, what: String) {
        self.faults.push(Fault {
            file: file.to_owned(),
            line,
            what,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::append;
    use crate::audit::chain::ROTATE_AT;
    use crate::audit::files::LOG;
    use std::fs;
    use tempfile::TempDir;

    fn body(number: usize) -> String {
        format!(r#"{{"v":1,"n":{number}}}"#)
    }

    /// A record of so many lines.
    fn record(lines: usize) -> TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for number in 1..=lines {
            append(dir.path(), &body(number)).expect("a line");
        }
        dir
    }

    fn text(dir: &TempDir) -> String {
        fs::read_to_string(dir.path().join(LOG)).expect("the log")
    }

    fn faults(dir: &TempDir) -> Vec<String> {
        let report = verify(dir.path()).expect("a report");
        report.faults.iter().map(Fault::to_string).collect()
    }

    /// What is found after the log's lines were changed so.
    fn after(change: impl Fn(&mut Vec<String>)) -> Vec<String> {
        let dir = record(5);
        let mut lines: Vec<String> = text(&dir).lines().map(str::to_owned).collect();
        change(&mut lines);
        fs::write(dir.path().join(LOG), lines.join("\n") + "\n").expect("the log");
        faults(&dir)
    }

    #[test]
    fn what_was_written_holds_and_so_does_nothing() {
        let report = verify(record(5).path()).expect("a report");
        assert_eq!((report.lines, report.files, report.torn), (5, 1, 0));
        assert_eq!(report.faults, []);
        let nowhere = Path::new("/nonexistent/countersign");
        assert_eq!(verify(nowhere).expect("a report"), Report::default());
    }

    #[test]
    fn any_changed_byte_is_found() {
        let dir = record(3);
        let whole = text(&dir).into_bytes();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(dir.path().join(LOG), &changed).expect("the log");
            let found = faults(&dir);
            assert!(!found.is_empty(), "byte {at} of {}", whole.len());
        }
    }

    #[test]
    fn a_changed_line_is_named_and_the_rest_still_holds() {
        let found = after(|lines| lines[2] = lines[2].replace("\"n\":3", "\"n\":4"));
        assert_eq!(found, ["log.jsonl:3: it was changed after it was written"]);
    }

    #[test]
    fn a_removed_line_leaves_a_gap() {
        let found = after(|lines| drop(lines.remove(2)));
        assert_eq!(found, ["log.jsonl:3: before it, number 3 is missing"]);
        let found = after(|lines| drop(lines.drain(..3)));
        assert_eq!(found, ["log.jsonl:1: before it, numbers 1 to 3 are missing"]);
    }

    #[test]
    fn a_moved_line_is_found_at_both_places() {
        let found = after(|lines| lines.swap(1, 2));
        assert_eq!(
            found,
            [
                "log.jsonl:2: before it, number 2 is missing",
                "log.jsonl:3: it stands in the wrong place: it is number 2, and number 4 is due"
            ]
        );
    }

    #[test]
    fn a_line_with_a_right_hash_in_anothers_place_is_found_by_the_next() {
        let other = record(5);
        append(other.path(), "{}").expect("a line");
        let found = after(|lines| lines[2] = text(&record(1)).trim_end().replace("\"n\":1", "\"n\":7"));
        assert_eq!(found.len(), 1, "{found:?}");
        let forged = |lines: &mut Vec<String>| {
            let open = format!(r#"{{"v":1,"n":9,"seq":3,"prev":"{ZEROS}""#);
            lines[2] = format!(r#"{open},"hash":"{}"}}"#, sha256(&[open.as_bytes()]));
        };
        assert_eq!(
            after(forged),
            [
                "log.jsonl:3: the line before it is not the one that it was written after",
                "log.jsonl:4: the line before it is not the one that it was written after"
            ]
        );
    }

    #[test]
    fn lines_cut_off_the_end_are_missed_then_and_ever_after() {
        let dir = record(5);
        let kept: Vec<String> = text(&dir).lines().take(3).map(|line| format!("{line}\n")).collect();
        fs::write(dir.path().join(LOG), kept.concat()).expect("the log");
        let cut = "log.head: the last lines of the log were removed: it was written to number 5, and ends with 3";
        assert_eq!(faults(&dir), [cut]);
        append(dir.path(), &body(6)).expect("a line");
        append(dir.path(), &body(7)).expect("a line");
        assert_eq!(faults(&dir), ["log.jsonl:4: before it, numbers 4 to 5 are missing"]);
        fs::remove_file(dir.path().join(LOG)).expect("removal");
        append(dir.path(), &body(8)).expect("a line");
        assert_eq!(faults(&dir), ["log.jsonl:1: before it, numbers 1 to 7 are missing"]);
    }

    #[test]
    fn a_process_that_was_killed_at_any_byte_is_no_fault() {
        let dir = record(2);
        let whole = text(&dir);
        let first = whole.find('\n').expect("two lines") + 1;
        for end in first..whole.len() {
            fs::write(dir.path().join(LOG), &whole[..end]).expect("the log");
            // The head is written after the line.
            fs::write(dir.path().join(HEAD), "").expect("the head");
            let report = verify(dir.path()).expect("a report");
            let torn = usize::from(end > first && end < whole.len() - 1);
            assert_eq!((report.faults.as_slice(), report.torn), (&[][..], torn), "{end}");
            append(dir.path(), &body(2)).expect("a line");
            append(dir.path(), &body(3)).expect("a line");
            let report = verify(dir.path()).expect("a report");
            assert_eq!((report.faults.as_slice(), report.torn), (&[][..], torn), "{end}");
        }
    }

    #[test]
    fn two_processes_killed_one_after_the_other_are_no_fault() {
        let dir = record(1);
        let torn = text(&dir) + "{\"v\":1,\"n\n{\"v\":1,\"x";
        fs::write(dir.path().join(LOG), torn).expect("the log");
        append(dir.path(), &body(2)).expect("a line");
        assert_eq!(faults(&dir), [""; 0]);
    }

    #[test]
    fn what_somebody_else_wrote_is_found_even_when_lines_follow() {
        let dir = record(2);
        fs::write(dir.path().join(LOG), text(&dir) + "hello\n").expect("the log");
        let found = ["log.jsonl:3: it was not written by Countersign, or was changed"];
        assert_eq!(faults(&dir), found);
        append(dir.path(), &body(3)).expect("a line");
        assert_eq!(faults(&dir), found);
    }

    #[test]
    fn a_torn_line_that_was_removed_or_changed_is_found() {
        let dir = record(1);
        let (before, torn) = (text(&dir), "{\"v\":1,\"n");
        fs::write(dir.path().join(LOG), format!("{before}{torn}")).expect("the log");
        append(dir.path(), &body(2)).expect("a line");
        let whole = text(&dir);
        fs::write(dir.path().join(LOG), whole.replace(&format!("{torn}\n"), "")).expect("the log");
        assert_eq!(faults(&dir), ["log.jsonl:2: the torn line before it was removed"]);
        fs::write(
            dir.path().join(LOG),
            whole.replace(&format!("{torn}\n"), "{\"v\":1,\"m\n"),
        )
        .expect("the log");
        assert_eq!(
            faults(&dir),
            ["log.jsonl:2: it was not written by Countersign, or was changed"]
        );
    }

    #[test]
    fn a_missing_file_of_the_rotation_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let long = format!(r#"{{"v":1,"a":"{}"}}"#, "x".repeat(ROTATE_AT as usize / 2));
        for _ in 0..7 {
            append(dir.path(), &long).expect("a line");
        }
        assert_eq!(faults(&dir), [""; 0]);
        assert_eq!(verify(dir.path()).expect("a report").files, 4);
        fs::remove_file(dir.path().join("log-000002.jsonl")).expect("removal");
        assert_eq!(
            faults(&dir),
            [
                "log-000003.jsonl: the log before it is missing (number 2)",
                "log-000003.jsonl:1: before it, numbers 3 to 4 are missing"
            ]
        );
    }

    #[test]
    fn a_changed_sibling_is_found() {
        let dir = record(1);
        let path = super::super::files::sibling(dir.path(), 1, 1);
        fs::write(&path, text(&dir)).expect("a sibling");
        assert_eq!(faults(&dir), [""; 0]);
        fs::write(&path, text(&dir).replace("\"n\":1", "\"n\":2")).expect("a sibling");
        assert_eq!(
            faults(&dir),
            ["log-sibling-1-1.jsonl:1: it was changed after it was written"]
        );
    }
}
