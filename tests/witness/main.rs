//! The tools as witnesses: every option that an entry lists is one that its program knows, with a value where the entry
//! says so. The programs are those of the image (`tests/image/build`), each asked in a cage for its own help and manuals.
//!
//! A run takes a sample of the programs, whose seed is printed; COUNTERSIGN_LAB=all takes all, and COUNTERSIGN_ONLY names
//! those to look at, with blanks between them.

mod asks;
#[path = "../support/cage.rs"]
mod cage;
mod exceptions;
#[path = "../support/image.rs"]
mod image;
#[path = "../support/parallel.rs"]
mod parallel;
mod probe;
mod reading;
#[path = "../support/sample.rs"]
mod sample;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use asks::Asks;
use catalog_spec::{Entry, Opt, Witness};
use exceptions::Exceptions;
use image::{Answer, Image};
use parallel::in_parallel;
use probe::Verdict;
use reading::{Reading, Shown};
use sample::sample;

/// How many programs a sample has.
const SAMPLE: usize = 40;

/// A command of the catalog whose options are to be confirmed.
struct Subject<'a> {
    entry: &'a Entry,
    /// The words after the program's name.
    sub: Vec<String>,
    reading: Reading,
    /// Every option that no text settles yet, with its spelling.
    open: Vec<(&'a Opt, &'a str)>,
}

/// An option that the program does not confirm.
struct Doubt {
    at: String,
    /// `git log --oneline`.
    option: String,
    why: String,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.at, self.option, self.why)
    }
}

#[test]
fn every_option_of_an_entry_is_known_to_its_program_with_that_value() {
    let Some(image) = Image::find() else { return };
    let entries = catalog_spec::load_dir(Path::new("src/catalog/commands")).expect("a catalog without errors");
    let only = std::env::var("COUNTERSIGN_ONLY").ok();
    let chosen: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.witness.is_some())
        .filter(|entry| match &only {
            Some(only) => only.split(' ').any(|name| entry.names.iter().any(|n| n == name)),
            None => true,
        })
        .collect();
    let chosen = sample(chosen, SAMPLE);
    let asks = Asks::load();
    let doubts = in_parallel(&chosen, |entry| match &entry.witness {
        Some(witness) => doubts(&image, &asks, entry, witness),
        None => Vec::new(),
    });
    let exceptions = Exceptions::load();
    let doubted: BTreeSet<&String> = doubts.iter().map(|doubt| &doubt.option).collect();
    let asked: BTreeSet<String> = chosen.iter().flat_map(|e| options(e)).collect();
    let idle: Vec<&String> = exceptions
        .all()
        .filter(|option| asked.contains(*option) && !doubted.contains(option))
        .collect();
    let wrong: Vec<String> = doubts
        .iter()
        .filter(|doubt| !exceptions.has(&doubt.option))
        .map(Doubt::to_string)
        .collect();
    println!(
        "{} options asked for, {} doubted, {} of these known exceptions",
        asked.len(),
        doubts.len(),
        doubts.len() - wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{} options are not confirmed:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(idle.is_empty(), "exceptions that are not needed: {idle:#?}");
}

#[test]
fn every_exception_names_an_option_of_the_catalog() {
    let entries = catalog_spec::load_dir(Path::new("src/catalog/commands")).expect("a catalog without errors");
    let known: BTreeSet<String> = entries.iter().flat_map(options).collect();
    let exceptions = Exceptions::load();
    let strange: Vec<&String> = exceptions.all().filter(|option| !known.contains(*option)).collect();
    assert!(strange.is_empty(), "{strange:#?}");
}

/// Every option of an entry and its subcommands, as `COMMAND OPTION`.
fn options(entry: &Entry) -> Vec<String> {
    let own = entry.options.iter().flat_map(|option| &option.spellings);
    let mut all: Vec<String> = own.map(|spelling| format!("{} {spelling}", entry.names[0])).collect();
    for sub in &entry.subs {
        all.extend(
            options(sub)
                .into_iter()
                .map(|option| format!("{} {option}", entry.names[0])),
        );
    }
    all
}

/// Every option of the entry that its program does not confirm.
fn doubts(image: &Image, asks: &Asks, entry: &Entry, witness: &Witness) -> Vec<Doubt> {
    let Some(run) = image.program(entry, witness) else {
        return vec![Doubt {
            at: place(entry),
            option: entry.names[0].clone(),
            why: format!("the package `{witness}` has no such program"),
        }];
    };
    let name = run.last().expect("a command has words").clone();
    let mut subjects: Vec<Subject> = std::iter::once(entry)
        .chain(&entry.subs)
        .map(|e| subject(entry, e))
        .collect();
    let path = Image::search_path(witness);
    let mut rounds: Vec<Vec<Vec<Vec<String>>>> = subjects.iter().map(|s| asks.rounds(&run, &name, &s.sub)).collect();
    for round in 0..asks::ROUNDS {
        // The program itself is always asked, for its subcommands may have no text of their own.
        let open =
            |(at, subject): (usize, &Subject)| ((at == 0 && round < 2) || !subject.open.is_empty()).then_some(at);
        let open: Vec<usize> = subjects.iter().enumerate().filter_map(open).collect();
        let asked: Vec<Vec<Vec<String>>> = open.iter().map(|&at| rounds[at].remove(0)).collect();
        let mut answers = image.run(&path, &["--chdir", cage::HOME], &asked.concat()).into_iter();
        for (at, asked) in open.into_iter().zip(&asked) {
            let answers: Vec<Answer> = answers.by_ref().take(asked.len()).collect();
            subjects[at].read(&answers, asked);
        }
    }
    let (program, subs) = subjects.split_at_mut(1);
    for sub in subs.iter_mut().filter(|sub| !sub.reading.defines()) {
        sub.open
            .retain(|(option, spelling)| !fits(option, &program[0].reading.of(spelling)));
    }
    subjects
        .iter()
        .flat_map(|subject| subject.tried(image, &path, &run, entry))
        .collect()
}

fn subject<'a>(program: &Entry, entry: &'a Entry) -> Subject<'a> {
    let sub = if std::ptr::eq(program, entry) {
        ""
    } else {
        &entry.names[0]
    };
    let spelled = |option: &'a Opt| option.spellings.iter().map(move |spelling| (option, spelling.as_str()));
    Subject {
        entry,
        sub: sub.split_whitespace().map(str::to_owned).collect(),
        reading: Reading::default(),
        open: entry.options.iter().flat_map(spelled).collect(),
    }
}

impl Subject<'_> {
    /// Closes what these answers settle.
    fn read(&mut self, answers: &[Answer], commands: &[Vec<String>]) {
        for (answer, command) in answers.iter().zip(commands) {
            self.reading.add(&answer.text);
            let asked = command.last().expect("a command has words");
            let usage = answer.text.to_lowercase().contains("usage") && !probe::refuses(answer, asked);
            if usage || (answer.status == 0 && !answer.text.is_empty()) {
                // It answered, so it knows what it was asked with.
                self.open.retain(|(_, spelling)| spelling != asked);
            }
        }
        let reading = &self.reading;
        self.open
            .retain(|(option, spelling)| !fits(option, &reading.of(spelling)));
    }

    /// Tries what is still open; gives what stays so.
    fn tried(&self, image: &Image, path: &str, run: &[String], program: &Entry) -> Vec<Doubt> {
        let command = [run, &self.sub[..]].concat();
        let commands: Vec<Vec<String>> = self
            .open
            .iter()
            .flat_map(|(_, spelling)| probe::tries(&command, spelling))
            .collect();
        if commands.is_empty() {
            return Vec::new();
        }
        // git says nothing of options where there is no commit.
        let commit =
            "git init -q; git -c user.name=dev -c user.email=dev@example.invalid commit -q --allow-empty -m start";
        let begin = vec!["bash".to_owned(), "-c".to_owned(), commit.to_owned()];
        let answers = image.run(
            path,
            &["--chdir", cage::HOME],
            &[vec![begin, probe::control(&command)], commands].concat(),
        );
        let (control, answers) = (&answers[1], &answers[2..]);
        let mut doubts = Vec::new();
        for ((option, spelling), answers) in self.open.iter().zip(answers.chunks_exact(probe::TRIES)) {
            let shown = self.reading.of(spelling);
            let why = match probe::verdict(control, answers, spelling) {
                Verdict::Known(tried) if fits(option, &tried) => continue,
                // A flag may end the program before it looks at what follows, so the text must not say otherwise.
                Verdict::Accepted if !option.optional && (!option.values.is_empty() || shown.is_empty()) => continue,
                Verdict::Known(tried) => format!("{}; its text shows {shown:?}, trying it {tried:?}", wanted(option)),
                Verdict::Unknown => format!("{}; the program refuses it, its text shows {shown:?}", wanted(option)),
                Verdict::Accepted | Verdict::Unclear => format!("{}; its text shows {shown:?}", wanted(option)),
            };
            let words = [&[program.names[0].clone()], &self.sub[..], &[(*spelling).to_owned()]].concat();
            doubts.push(Doubt {
                at: place(self.entry),
                option: words.join(" "),
                why,
            });
        }
        doubts
    }
}

/// Whether what was shown allows what the entry says of an option's value.
fn fits(option: &Opt, shown: &BTreeSet<Shown>) -> bool {
    let has = |one: Shown| shown.contains(&one);
    if option.values.is_empty() {
        has(Shown::Bare) || has(Shown::Maybe)
    } else if option.optional {
        has(Shown::Maybe) || (has(Shown::Bare) && has(Shown::Valued))
    } else {
        has(Shown::Valued)
    }
}

fn wanted(option: &Opt) -> &'static str {
    match (option.values.is_empty(), option.optional) {
        (true, _) => "listed without a value",
        (false, true) => "listed with a value that may be left out",
        (false, false) => "listed with a value",
    }
}

fn place(entry: &Entry) -> String {
    format!("{}:{}", entry.file, entry.line)
}
