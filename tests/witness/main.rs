//! The tools as witnesses: every option that an entry lists is one that its program knows, with a value where the entry
//! says so. The programs are those of the image (`tests/image/build`), each asked in a cage for its own help and manuals.
//!
//! A run takes a sample of the programs, whose seed is printed; COUNTERSIGN_LAB=all takes all.

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

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use asks::Asks;
use catalog_spec::{Entry, Opt, Witness};
use exceptions::Exceptions;
use image::{Answer, Image, say};
use parallel::in_parallel;
use probe::Verdict;
use reading::{Reading, Shown};
use sample::sample;

/// How many programs a sample has.
const SAMPLE: usize = 40;

/// A command of the catalog, by one of its names, whose options are to be confirmed.
struct Subject<'a> {
    entry: &'a Entry,
    /// The words after the program's name.
    sub: Vec<String>,
    /// Another name that is to behave the same is only asked, not tried: it must not contradict.
    first: bool,
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
    /// The program has the option, but not as the entry says.
    contradicted: bool,
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
    let chosen = sample(image.choose(&entries), SAMPLE);
    let asks = Asks::load();
    let doubts = in_parallel(&chosen, |(entry, witness)| doubts(&image, &asks, entry, witness));
    let exceptions = Exceptions::load();
    let doubted: BTreeSet<&String> = doubts.iter().map(|doubt| &doubt.option).collect();
    let asked: BTreeSet<String> = chosen
        .iter()
        .flat_map(|(entry, witness)| image.programs(entry, witness).into_iter().map(move |run| (*entry, run)))
        .flat_map(|(entry, run)| options(entry, name(&run)))
        .collect();
    let idle: Vec<&String> = exceptions
        .all()
        .filter(|option| asked.contains(*option) && !doubted.contains(option))
        .collect();
    let wrong: Vec<String> = doubts
        .iter()
        .filter(|doubt| !exceptions.has(&doubt.option))
        .map(Doubt::to_string)
        .collect();
    say(&format!(
        "{} options of {} programs asked for, {} doubted, {} of these known exceptions",
        asked.len(),
        chosen.len(),
        doubts.len(),
        doubts.len() - wrong.len()
    ));
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
    let named = |entry: &Entry| -> Vec<String> { entry.names.iter().flat_map(|name| options(entry, name)).collect() };
    let known: BTreeSet<String> = entries.iter().flat_map(named).collect();
    let exceptions = Exceptions::load();
    let strange: Vec<&String> = exceptions.all().filter(|option| !known.contains(*option)).collect();
    assert!(strange.is_empty(), "{strange:#?}");
}

/// Every option of the entry's program of this name and of its subcommands, as `COMMAND OPTION`.
fn options(entry: &Entry, name: &str) -> Vec<String> {
    let with = |words: &str, of: &Entry| -> Vec<String> {
        let spellings = of.options.iter().flat_map(|option| &option.spellings);
        spellings.map(|spelling| format!("{words} {spelling}")).collect()
    };
    let named = |sub: &Entry| -> Vec<String> {
        sub.names
            .iter()
            .flat_map(|s| with(&format!("{name} {s}"), sub))
            .collect()
    };
    with(name, entry)
        .into_iter()
        .chain(entry.subs.iter().flat_map(named))
        .collect()
}

/// The program that these words start, a builtin of bash too.
fn name(run: &[String]) -> &str {
    run.last().expect("a command has words")
}

/// Every option that one name of the entry or of a subcommand contradicts, or that none confirms. One that only some of
/// them have is refused by the others, which harms nobody.
fn doubts(image: &Image, asks: &Asks, entry: &Entry, witness: &Witness) -> Vec<Doubt> {
    let programs = image.programs(entry, witness);
    if programs.is_empty() {
        return vec![Doubt {
            at: place(entry),
            option: entry.names[0].clone(),
            why: format!("the package `{witness}` has no such program"),
            contradicted: true,
        }];
    }
    let path = Image::search_path(witness);
    let mut doubts: Vec<Doubt> = Vec::new();
    let mut unconfirmed: BTreeMap<(usize, &str), Vec<Doubt>> = BTreeMap::new();
    for run in &programs {
        for (of, spelling, doubt) in doubts_of(image, asks, entry, &path, run, run == &programs[0]) {
            if doubt.contradicted {
                doubts.push(doubt);
            } else {
                unconfirmed.entry((of.line, spelling)).or_default().push(doubt);
            }
        }
    }
    for ((line, _), all) in unconfirmed {
        let sub = entry.subs.iter().find(|sub| sub.line == line);
        if all.len() == programs.len() * sub.map_or(1, |sub| sub.names.len()) {
            doubts.extend(all.into_iter().next());
        }
    }
    doubts
}

/// Every option of the entry that the program which these words start does not confirm: whose it is, and its spelling.
fn doubts_of<'a>(
    image: &Image,
    asks: &Asks,
    entry: &'a Entry,
    path: &str,
    run: &[String],
    first: bool,
) -> Vec<(&'a Entry, &'a str, Doubt)> {
    let of_sub = |sub: &'a Entry| {
        let named = |(at, name): (usize, &String)| subject(sub, name, first && at == 0);
        sub.names.iter().enumerate().map(named).collect::<Vec<_>>()
    };
    let mut subjects = vec![subject(entry, "", first)];
    subjects.extend(entry.subs.iter().flat_map(of_sub));
    let mut rounds: Vec<Vec<Vec<Vec<String>>>> = subjects.iter().map(|s| asks.rounds(run, name(run), &s.sub)).collect();
    for round in 0..asks::ROUNDS {
        // The program itself is always asked, for its subcommands may have no text of their own.
        let open = |(at, subject): (usize, &Subject)| {
            let enough = !subject.first && (round > 1 || subject.reading.defines());
            ((at == 0 && round < 2) || !(subject.open.is_empty() || enough)).then_some(at)
        };
        let open: Vec<usize> = subjects.iter().enumerate().filter_map(open).collect();
        let asked: Vec<Vec<Vec<String>>> = open.iter().map(|&at| rounds[at].remove(0)).collect();
        let mut answers = in_repository(image, path, asked.concat()).into_iter();
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
        .flat_map(|subject| subject.tried(image, path, run))
        .collect()
}

fn subject<'a>(entry: &'a Entry, sub: &str, first: bool) -> Subject<'a> {
    let spelled = |option: &'a Opt| option.spellings.iter().map(move |spelling| (option, spelling.as_str()));
    Subject {
        entry,
        sub: sub.split_whitespace().map(str::to_owned).collect(),
        first,
        reading: Reading::default(),
        open: entry.options.iter().flat_map(spelled).collect(),
    }
}

impl<'a> Subject<'a> {
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
    fn tried(&self, image: &Image, path: &str, run: &[String]) -> Vec<(&'a Entry, &'a str, Doubt)> {
        let command = [run, &self.sub[..]].concat();
        let (tried, left): (Vec<_>, Vec<_>) = self
            .open
            .iter()
            .partition(|(_, spelling)| self.first || !self.reading.of(spelling).is_empty());
        let doubt = |option: &Opt, spelling: &str, why: String, contradicted: bool| Doubt {
            at: place(self.entry),
            option: [&[name(run).to_owned()], &self.sub[..], &[spelling.to_owned()]]
                .concat()
                .join(" "),
            why: format!("{}; {why}", wanted(option)),
            contradicted,
        };
        let mut doubts: Vec<(&Entry, &str, Doubt)> = left
            .into_iter()
            .map(|&(option, spelling)| {
                (
                    self.entry,
                    spelling,
                    doubt(option, spelling, "no text shows it".to_owned(), false),
                )
            })
            .collect();
        let commands: Vec<Vec<String>> = tried
            .iter()
            .flat_map(|(_, spelling)| probe::tries(&command, spelling))
            .collect();
        if commands.is_empty() {
            return doubts;
        }
        let answers = in_repository(image, path, [vec![probe::control(&command)], commands].concat());
        let (control, answers) = (&answers[0], &answers[1..]);
        for (&(option, spelling), answers) in tried.into_iter().zip(answers.chunks_exact(probe::TRIES)) {
            let shown = self.reading.of(spelling);
            let (why, contradicted) = match probe::verdict(control, answers, spelling) {
                Verdict::Known(tried) if fits(option, &tried) => continue,
                // A flag may end the program before it looks at what follows, so the text must not say otherwise.
                Verdict::Accepted if !option.optional && (!option.values.is_empty() || shown.is_empty()) => continue,
                // It is refused alone, so its value stands in the same word.
                Verdict::Unknown if option.optional && shown.contains(&Shown::Valued) => continue,
                Verdict::Known(tried) => (format!("its text shows {shown:?}, trying it {tried:?}"), true),
                Verdict::Unknown => (format!("the program refuses it, its text shows {shown:?}"), false),
                Verdict::Accepted | Verdict::Unclear => (format!("its text shows {shown:?}"), !shown.is_empty()),
            };
            doubts.push((self.entry, spelling, doubt(option, spelling, why, contradicted)));
        }
        doubts
    }
}

/// The answers to commands in a repository with a commit, for git says little of options where there is none.
fn in_repository(image: &Image, path: &str, commands: Vec<Vec<String>>) -> Vec<Answer> {
    let commit = "git init -q; git -c user.name=dev -c user.email=dev@example.invalid commit -q --allow-empty -m start";
    let begin = ["bash", "-c", commit].map(str::to_owned).to_vec();
    let answers = image.run(path, &["--chdir", cage::HOME], &[vec![begin], commands].concat());
    answers.into_iter().skip(1).collect()
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
