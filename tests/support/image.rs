//! The image that `tests/image/build` makes: the root of a Debian with the programs that the catalog's entries name, or
//! a sample of them.
//!
//! COUNTERSIGN_ONLY names the programs to look at, with blanks between them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use catalog_spec::{Entry, Registry, Witness};

use crate::cage;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games";
/// How long one command may take before it is ended.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many bytes of an output are looked at.
const OUTPUT: usize = 2_000_000;

pub struct Image {
    root: PathBuf,
    /// Its packages, as witnesses are written.
    packages: BTreeSet<String>,
}

/// What a command did: its status and all that it wrote on both outputs.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: i32,
    pub text: String,
}

impl Image {
    /// The image, or `None` (said on standard error) where nobody made it; then a run of CI fails.
    pub fn find() -> Option<Self> {
        let named = |variable: &str| {
            std::env::var_os(variable)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let root = named("COUNTERSIGN_IMAGE")
            .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("countersign-image")))
            .or_else(|| named("HOME").map(|home| home.join(".cache/countersign-image")))
            .expect("COUNTERSIGN_IMAGE, XDG_CACHE_HOME or HOME must name the place of the image");
        if let Ok(packages) = fs::read_to_string(root.join("var/lib/countersign/installed")) {
            let packages = packages.lines().map(str::to_owned).collect();
            return Some(Image { root, packages });
        }
        let missing = format!("the image {} is missing; tests/image/build makes it", root.display());
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        say(&format!("nothing is shown: {missing}"));
        None
    }

    /// The entries whose program is asked for and whose package the image has, with their witness; the programs of other
    /// packages are said.
    pub fn choose<'a>(&self, entries: &'a [Entry]) -> Vec<(&'a Entry, &'a Witness)> {
        let only = std::env::var("COUNTERSIGN_ONLY").ok();
        let asked = |entry: &Entry| match &only {
            Some(only) => only.split(' ').any(|name| entry.names.iter().any(|n| n == name)),
            None => true,
        };
        let witnessed = entries
            .iter()
            .filter_map(|entry| Some((entry, entry.witness.as_ref()?)));
        let (there, lacking): (Vec<_>, Vec<_>) = witnessed
            .filter(|(entry, _)| asked(entry))
            .partition(|(_, witness)| self.packages.contains(&witness.to_string()));
        let lacking: Vec<&str> = lacking.iter().map(|(entry, _)| entry.names[0].as_str()).collect();
        if !lacking.is_empty() {
            say(&format!(
                "{} programs have their package in the image; {} have not and are not looked at: {}",
                there.len(),
                lacking.len(),
                lacking.join(" ")
            ));
        }
        there
    }

    /// Where a package's programs are looked for, first to last.
    pub fn search_path(witness: &Witness) -> String {
        match witness.registry {
            Registry::Debian | Registry::Npm => PATH.to_owned(),
            Registry::Pypi => format!("/opt/{}/bin:{PATH}", witness.package),
        }
    }

    /// How the entry's programs are started: each of its names that the image has, or a builtin of bash. Empty: the
    /// package has no such program.
    pub fn programs(&self, entry: &Entry, witness: &Witness) -> Vec<Vec<String>> {
        let path = Self::search_path(witness);
        // A link may mean something only in the image.
        let there = |dir: &str, name: &str| self.root.join(&dir[1..]).join(name).symlink_metadata().is_ok();
        let found = entry
            .names
            .iter()
            .filter(|name| path.split(':').any(|dir| there(dir, name)));
        let found: Vec<Vec<String>> = found.map(|name| vec![name.clone()]).collect();
        if found.is_empty() && witness.package == "bash" {
            let builtin = |name: &String| ["bash", "-c", "\"$@\"", "bash", name].map(str::to_owned).to_vec();
            return entry.names.iter().map(builtin).collect();
        }
        found
    }

    /// Runs commands one after another in one cage, each without input, with `path` as PATH and these words for
    /// bubblewrap too.
    pub fn run(&self, path: &str, cage: &[&str], commands: &[Vec<String>]) -> Vec<Answer> {
        let mut script = format!(
            "ulimit -c 0; run() {{ timeout -k 1 {} \"$@\" </dev/null >/tmp/output 2>&1; printf '%s\\0' $?; \
             head -c {OUTPUT} /tmp/output | tr -d '\\0'; printf '\\0'; }}\n",
            PATIENCE.as_secs()
        );
        for command in commands {
            let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
            script += &format!("run {}\n", command.join(" "));
        }
        let mut command = cage::cage(&self.root);
        for (name, value) in [
            ("PATH", path),
            ("TERM", "dumb"),
            ("PAGER", "cat"),
            ("NO_COLOR", "1"),
            // Wide, so that what belongs together stands on one line.
            ("COLUMNS", "400"),
            ("MANWIDTH", "400"),
            // It warns and waits otherwise.
            ("FILTER_BRANCH_SQUELCH_WARNING", "1"),
        ] {
            command.args(["--setenv", name, value]);
        }
        let output = feed(command.args(cage).args(["bash", "-s"]), &script);
        let fields: Vec<&[u8]> = output.split(|&byte| byte == 0).collect();
        let answers: Vec<Answer> = fields.chunks_exact(2).map(answer).collect();
        assert_eq!(
            answers.len(),
            commands.len(),
            "the cage ended before the last of {commands:?}"
        );
        answers
    }
}

/// Says it on standard error, also where the harness keeps what a test that passes prints.
pub fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("standard error can be written");
}

fn answer(fields: &[&[u8]]) -> Answer {
    Answer {
        status: String::from_utf8_lossy(fields[0]).parse().unwrap_or(-1),
        text: String::from_utf8_lossy(fields[1]).into_owned(),
    }
}

/// The command's standard output, given this input.
fn feed(command: &mut Command, input: &str) -> Vec<u8> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap_or_else(|error| panic!("these tests need the program bwrap (bubblewrap): {error}"));
    let mut pipe = child.stdin.take().expect("standard input is a pipe");
    let input = input.to_owned();
    let feeder = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the cage can be waited for");
    feeder
        .join()
        .expect("the feeder does not panic")
        .expect("the cage reads its input");
    output.stdout
}

/// The word as a shell takes it for itself.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
