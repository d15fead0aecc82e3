//! `countersign log`: what was answered, and whether the record is as it was written.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::Context;

use crate::audit::entry::{Action, Entry, Step};
use crate::audit::files::{self, Files, Recorded};
use crate::audit::time;
use crate::audit::verify::verify;
use crate::decision::Reason;
use crate::effect::Tier;
use crate::escape::visible;
use crate::own_files;
use crate::pause::{self, Pause, parse_length};

/// At most this many steps of a call are shown; the rest are counted.
const MAX_STEPS: usize = 4;

/// At most this many faults are listed; the rest are counted.
const MAX_FAULTS: usize = 20;

/// The status that tells a script that no answer fits, and from it a failure.
const NOTHING_FITS: u8 = 3;

/// How often `--follow` looks for new lines.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "One line an answer: when (UTC), what was answered, the tier, the tool, what each step would do, who decided.\n\
    The status is 0 if an answer was shown, and 3 if none fits. docs/log.md says what is recorded and what --verify can show.\n\n\
    Example: countersign log --since 1h --reason timeout --json"
)]
pub struct Args {
    /// Show the last N answers
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    lines: usize,
    /// Then show each new one, until interrupted
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    only: Only,
    /// Print the recorded lines as they are
    #[arg(long)]
    json: bool,
    /// Check that nothing was changed, removed or added; ends with 1 if something was
    #[arg(long, conflicts_with_all = ["lines", "follow", "json", "session", "tool", "tier", "action", "reason", "project", "since", "until"])]
    verify: bool,
}

/// Which answers are shown: those that fit all of it.
#[derive(Debug, clap::Args)]
struct Only {
    /// Only of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only of this tier and above
    #[arg(long, value_name = "TIER", value_parser = tier)]
    tier: Option<Tier>,
    /// Only those answered so
    #[arg(long)]
    action: Option<Action>,
    /// Only denials for this reason: policy, denied_by_person, timeout ..
    #[arg(long, value_name = "CODE", value_parser = reason)]
    reason: Option<Reason>,
    /// Only of the project of this name
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only since then: 2h, 3d, 2026-11-30 or 2026-11-30T14:05 (UTC)
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    until: Option<String>,
}

fn tier(text: &str) -> Result<Tier, String> {
    Tier::parse(text).ok_or("write safe, low, medium, high or critical".into())
}

fn reason(text: &str) -> Result<Reason, String> {
    let named = Reason::ALL.into_iter().find(|reason| reason.as_str() == text);
    named.ok_or_else(|| format!("write {}", Reason::ALL.map(Reason::as_str).join(", ")))
}

/// A length of time before now, or a point in time.
fn moment(text: &str) -> Result<String, String> {
    match parse_length(text) {
        Ok(length) => Ok(time::written(SystemTime::now() - length)),
        Err(_) => time::parse_start(text),
    }
}

impl Only {
    fn fits(&self, entry: &Entry) -> bool {
        let is = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        let found = entry.tier.as_deref().and_then(Tier::parse);
        is(&self.session, &entry.session)
            && is(&self.tool, &entry.tool)
            && is(&self.project, &entry.project)
            && self.tier.is_none_or(|least| found.is_some_and(|tier| tier >= least))
            && self.action.is_none_or(|action| action == entry.action)
            && self
                .reason
                .is_none_or(|reason| entry.reason.as_deref() == Some(reason.as_str()))
            && self.since.as_ref().is_none_or(|since| entry.time >= *since)
            && self.until.as_ref().is_none_or(|until| entry.time < *until)
    }
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let dir = own_files::state_dir().context("no home directory is known, so there is no record")?;
    let out = &mut io::stdout().lock();
    if args.verify {
        check(&dir, out)
    } else {
        show(&args, &dir, out).with_context(|| format!("the record in {} cannot be shown", dir.display()))
    }
}

fn show(args: &Args, dir: &Path, out: &mut impl Write) -> io::Result<ExitCode> {
    let mut reader = Reader::default();
    let listed = Files::list(dir)?;
    let last = last(&listed, args, &mut reader)?;
    print_all(&last, args.json, out)?;
    if args.follow {
        return follow(args, dir, reader, out);
    }
    if last.is_empty() && !args.json {
        let what = match listed.is_empty() {
            true => "Nothing is recorded yet",
            false => "Nothing recorded fits",
        };
        writeln!(out, "{what} ({}).", dir.display())?;
    }
    if let (Pause::Frozen(freeze), false) = (pause::now(), args.json) {
        writeln!(out, "Now every call is denied: {}.", visible(&freeze.to_string()))?;
    }
    Ok(match last.is_empty() {
        true => ExitCode::from(NOTHING_FITS),
        false => ExitCode::SUCCESS,
    })
}

/// Shows what is added, until the process is ended or nobody reads any more.
fn follow(args: &Args, dir: &Path, mut reader: Reader, out: &mut impl Write) -> io::Result<ExitCode> {
    loop {
        thread::sleep(BETWEEN_LOOKS);
        let listed = Files::list(dir)?;
        let mut new = Vec::new();
        for path in listed.chain().chain(listed.siblings.iter().map(PathBuf::as_path)) {
            new.extend(reader.read(path)?);
        }
        new.retain(|recorded| args.only.fits(&recorded.entry));
        print_all(&new, args.json, out)?;
    }
}

/// The last lines that fit, in the order of time. Older files are passed over once there are enough.
fn last(listed: &Files, args: &Args, reader: &mut Reader) -> io::Result<Vec<Recorded>> {
    let mut found: Vec<Recorded> = Vec::new();
    let siblings = listed.siblings.iter().map(PathBuf::as_path);
    for path in siblings.chain(listed.chain().rev()) {
        if found.len() >= args.lines && listed.rotated.iter().any(|(_, rotated)| rotated == path) {
            reader.skip(path)?;
            continue;
        }
        found.extend(reader.read(path)?.into_iter().filter(|one| args.only.fits(&one.entry)));
    }
    found.sort_by(|one, other| one.entry.time.cmp(&other.entry.time));
    Ok(found.split_off(found.len().saturating_sub(args.lines)))
}

/// Reads what was added to files since it last looked. A file is known by its inode, so a log that is renamed stays the
/// same.
#[derive(Default)]
struct Reader {
    done: HashMap<u64, u64>,
}

impl Reader {
    fn read(&mut self, path: &Path) -> io::Result<Vec<Recorded>> {
        let mut file = match own_files::open(path, &mut OpenOptions::new()) {
            Ok(file) => file,
            // It was renamed meanwhile, and is found by its new name the next time.
            Err(error) if own_files::is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let done = self.done.entry(file.metadata()?.ino()).or_default();
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(*done))?;
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        *done += whole as u64;
        Ok(files::lines(&bytes[..whole]).collect())
    }

    fn skip(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::metadata(path)?;
        self.done.insert(metadata.ino(), metadata.len());
        Ok(())
    }
}

fn print_all(recorded: &[Recorded], json: bool, out: &mut impl Write) -> io::Result<()> {
    for one in recorded {
        if json {
            writeln!(out, "{}", one.line)?;
        } else {
            writeln!(out, "{}", told(&one.entry))?;
        }
    }
    out.flush()
}

/// One answer on one line.
fn told(entry: &Entry) -> String {
    let time = entry.time.get(..19).unwrap_or(&entry.time).replacen('T', " ", 1);
    let tier = entry.tier.as_deref().unwrap_or("-");
    let tool = entry.tool.as_deref().unwrap_or("-");
    let line = format!(
        "{time}Z  {:5}  {tier:8}  {tool}  {}  ({})",
        entry.action.as_str(),
        what(entry),
        decided(entry)
    );
    visible(&line).into_owned()
}

fn what(entry: &Entry) -> String {
    if let Some(why) = &entry.why {
        return why.clone();
    }
    let tool = entry.tool.as_deref().unwrap_or_default();
    let steps = entry.steps.iter().take(MAX_STEPS);
    let mut steps: Vec<String> = steps.map(|of| step(of, tool)).collect();
    let more = entry.steps.len().saturating_sub(MAX_STEPS) + entry.steps_left_out;
    if more > 0 {
        steps.push(format!("{more} more"));
    }
    let mut what = steps.join("; ");
    if entry.proven == Some(false) {
        what.push_str(if what.is_empty() {
            "not understood"
        } else {
            "; not understood completely"
        });
    }
    what
}

/// A step of a tool that is no shell is the tool itself, which was named.
fn step(step: &Step, tool: &str) -> String {
    let effects = step
        .effects
        .iter()
        .map(|effect| format!("{} {}", effect.action, effect.target));
    let mut effects: Vec<String> = effects.map(|effect| effect.trim_end().to_owned()).collect();
    effects.dedup();
    let more = effects.len().saturating_sub(MAX_STEPS) + step.effects_left_out;
    effects.truncate(MAX_STEPS);
    if more > 0 {
        effects.push(format!("{more} more"));
    }
    match (step.program == tool, effects.is_empty()) {
        (true, _) => effects.join(", "),
        (false, true) => step.program.clone(),
        (false, false) => format!("{}: {}", step.program, effects.join(", ")),
    }
}

/// Who decided; by which rule, where the word alone does not tell; and the reason code of a denial.
fn decided(entry: &Entry) -> String {
    let tells_itself = matches!(entry.by.as_str(), "policy" | "unproven" | "plan_mode" | "person");
    let rule = entry.rule.as_ref().filter(|_| !tells_itself);
    let reason = entry.reason.iter().map(|reason| format!("; {reason}"));
    std::iter::once(rule.unwrap_or(&entry.by).clone())
        .chain(reason)
        .collect()
}

/// Ends with 1 where something is not as it was written.
fn check(dir: &Path, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let report = verify(dir).with_context(|| format!("the record in {} cannot be read", dir.display()))?;
    for fault in report.faults.iter().take(MAX_FAULTS) {
        writeln!(out, "{}", visible(&fault.to_string()))?;
    }
    if report.faults.len() > MAX_FAULTS {
        writeln!(out, "and {} more", report.faults.len() - MAX_FAULTS)?;
    }
    if report.torn > 0 {
        writeln!(out, "{}", torn(report.torn))?;
    }
    writeln!(out, "{} in {}", report.summary(), dir.display())?;
    if !report.faults.is_empty() {
        writeln!(
            out,
            "What is named was changed, added or taken away after it was written. To begin anew, move the files `log*` elsewhere."
        )?;
    }
    Ok(match report.faults.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn torn(count: usize) -> String {
    let lines = if count == 1 {
        "1 torn line".to_owned()
    } else {
        format!("{count} torn lines")
    };
    format!("note: {lines}, left by a process that was killed or a full disk; nothing was tampered with there")
}
