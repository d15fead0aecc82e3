//! This user's terminals, which show what waits at the relay and answer it.
//!
//! Nothing of a request is shown before its card was verified against the machines that this user knows: of any other, its
//! id alone. What is shown is what the verdict names, so that a relay can swap nothing.

mod answer;
mod board;
mod card;
mod form;
mod watch;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use countersign::approver::Reply;
use countersign::escape::{visible, visible_json};
use countersign::report::steps::Paint;
use countersign_protocol::card::Kind;
use countersign_protocol::verdict::Then;
use countersign_protocol::{KeyPair, Request, SignedVerdict, Verdict};
use serde_json::{Value, json};

use crate::client::{Client, Failed};
use crate::identity::{self, Identity, Pinned, TERMINAL};
use answer::Given;
use board::Board;
use card::Shown;
pub use watch::{WatchArgs, watch};

/// The status where nothing waits that fits.
const NOTHING_FITS: u8 = 3;
/// The fewest digits that name a request.
const LEAST_DIGITS: usize = 6;
/// How many digits of an id are shown, and more where two would look the same.
const SHORT: usize = 8;

#[derive(Debug, Args)]
pub struct PendingArgs {
    /// One JSON object a line, with the whole card
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct ApproveArgs {
    /// The request's id, or how it begins: at least 6 digits
    id: String,
    /// Ask nothing more; something critical is asked about all the same
    #[arg(long)]
    yes: bool,
    /// Only if the card is this one, by the digest that was shown with it
    #[arg(long, value_name = "HEX")]
    digest: Option<String>,
    /// Have the offer of this number remembered too
    #[arg(long, value_name = "N")]
    remember: Option<u32>,
    /// Edit the input first, in $VISUAL or $EDITOR; what comes of it is judged again
    #[arg(long, conflicts_with = "remember")]
    edit: bool,
    /// Answer a question by an option of it; both by number or as they are written; again for more options
    #[arg(long, value_name = "QUESTION=OPTION")]
    answer: Vec<String>,
    /// Answer a question in other words
    #[arg(long, value_name = "QUESTION=WORDS")]
    text: Vec<String>,
    /// The mode after an approved plan: accept-edits or auto
    #[arg(long, value_name = "MODE", value_parser = then)]
    then: Option<Then>,
}

#[derive(Debug, Args)]
pub struct DenyArgs {
    /// The request's id, or how it begins: at least 6 digits
    id: String,
    /// What the agent is told
    #[arg(long, value_name = "WORDS")]
    message: Option<String>,
    /// End the agent's turn; it is told nothing then
    #[arg(long, conflicts_with = "message")]
    stop: bool,
}

fn then(word: &str) -> Result<Then, String> {
    match word {
        "accept-edits" => Ok(Then::AcceptEdits),
        "auto" => Ok(Then::Auto),
        _ => Err("it is accept-edits or auto".into()),
    }
}

/// Shows what waits, a line each.
pub fn pending(args: &PendingArgs) -> Result<ExitCode> {
    let terminal = Terminal::read()?;
    let requests = terminal.waiting()?;
    let mut out = io::stdout().lock();
    for request in &requests {
        match args.json {
            true => writeln!(out, "{}", visible_json(&terminal.object(request).to_string()))?,
            false => {
                let short = short(&request.id, &requests);
                writeln!(
                    out,
                    "{}",
                    terminal.line(request, short, paint(io::stdout().is_terminal()))
                )?;
            }
        }
    }
    if requests.is_empty() {
        eprintln!("Nothing waits for an answer.");
        return Ok(ExitCode::from(NOTHING_FITS));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lets one call run, once its card was shown.
pub fn approve(args: &ApproveArgs) -> Result<ExitCode> {
    no_agent()?;
    let terminal = Arc::new(Terminal::read()?);
    let requests = terminal.waiting()?;
    let Some(shown) = terminal.find(&args.id, &requests)? else {
        return Ok(ExitCode::from(NOTHING_FITS));
    };
    if let Some(seen) = &args.digest
        && !seen.eq_ignore_ascii_case(shown.digest())
    {
        bail!(
            "this is another card than the one you saw: its digest is {}; nothing was answered",
            shown.digest()
        );
    }
    let wanted = wanted(args, &shown)?;
    // What does not fit the card is said before the person is asked anything.
    if !wanted.answers.is_empty() || shown.card.kind != Kind::Questions {
        terminal.sign(&shown, wanted.clone())?;
    }
    let Some(wanted) = confirmed(args, &shown, wanted, || {
        Board::listening(&terminal, Some(requests.clone()))
    })?
    else {
        eprintln!("Nothing was answered.");
        return Ok(ExitCode::FAILURE);
    };
    let verdict = terminal.sign(&shown, wanted)?;
    terminal.give(&shown, &verdict)
}

/// The answer that the options give.
fn wanted(args: &ApproveArgs, shown: &Shown) -> Result<Verdict> {
    let card = shown.card;
    let is_answered = !args.answer.is_empty() || !args.text.is_empty();
    if is_answered && card.kind != Kind::Questions {
        bail!("nothing was answered: no question is asked");
    }
    let remember = args.remember.map(|number| {
        shown.offer(number).ok_or_else(|| {
            let offers = card.offers.len();
            anyhow!("nothing was answered: {offers} offers to remember are on the card, and none of number {number}")
        })
    });
    Ok(Verdict {
        remember: remember.transpose()?,
        then: args.then,
        answers: match is_answered {
            true => answer::of_options(card, &args.answer, &args.text)?,
            false => Vec::new(),
        },
        ..shown.allow()
    })
}

/// The answer, once the card was shown and the person has said that they mean it; `None`: they do not.
///
/// # Errors
/// They must be asked, and cannot be.
fn confirmed(
    args: &ApproveArgs,
    shown: &Shown,
    wanted: Verdict,
    board: impl FnOnce() -> Arc<Board>,
) -> Result<Option<Verdict>> {
    let is_open = shown.card.kind == Kind::Questions && wanted.answers.is_empty();
    if args.yes && !args.edit && !is_open && !shown.is_critical() {
        let mut out = io::stdout().lock();
        for line in shown.lines(paint(io::stdout().is_terminal())) {
            writeln!(out, "{line}")?;
        }
        return Ok(Some(wanted));
    }
    let asked = board().stand(shown, |screen| {
        for line in shown.lines(paint(true)) {
            screen.say(&line);
        }
        if is_open {
            return form::answers(screen, shown).map(Some);
        }
        let wanted = match args.edit {
            true => form::edited(screen, shown),
            false => Some(wanted),
        };
        let is_meant = wanted.is_some() && (args.yes && !shown.is_critical() || form::sure(screen, shown)?);
        Ok(wanted.filter(|_| is_meant))
    });
    match asked? {
        Ok(wanted) => Ok(wanted),
        Err(Reply::Absent(why)) => bail!("you cannot be asked, and nothing was answered: {why}"),
        Err(_) => Ok(None),
    }
}

/// Refuses one call.
pub fn deny(args: &DenyArgs) -> Result<ExitCode> {
    let terminal = Terminal::read()?;
    let requests = terminal.waiting()?;
    let Some(shown) = terminal.find(&args.id, &requests)? else {
        return Ok(ExitCode::from(NOTHING_FITS));
    };
    let wanted = shown.deny(args.message.as_deref().unwrap_or_default(), args.stop);
    let verdict = terminal.sign(&shown, wanted)?;
    terminal.give(&shown, &verdict)
}

/// The agent's own shell answers nothing: what it asks is for a person.
fn no_agent() -> Result<()> {
    match env::var_os("CLAUDECODE") {
        None => Ok(()),
        Some(_) => bail!(
            "this is a shell of Claude Code's (CLAUDECODE is set), and what an agent asks it must not allow itself; \
             nothing was answered. Do it in a terminal of your own"
        ),
    }
}

fn paint(is_terminal: bool) -> Paint {
    Paint(is_terminal && env::var_os("NO_COLOR").is_none())
}

/// As many digits as tell this id from the others.
fn short<'a>(id: &'a str, requests: &[Request]) -> &'a str {
    let same = |end: usize| {
        requests
            .iter()
            .filter(|other| other.id.get(..end) == id.get(..end))
            .count()
    };
    let end = (SHORT..id.len()).find(|end| same(*end) == 1);
    end.and_then(|end| id.get(..end)).unwrap_or(id)
}

/// This user, as one who answers.
struct Terminal {
    known: Vec<Pinned>,
    pair: KeyPair,
    client: Client,
}

impl Terminal {
    fn read() -> Result<Self> {
        let dir = identity::dir()?;
        let identity = Identity::read(&dir, TERMINAL)?;
        let identity = identity.ok_or_else(|| anyhow!("no relay is on: `countersign relay on` turns one on"))?;
        Ok(Terminal {
            client: Client::new(&identity)?.guarded(&dir),
            pair: identity.pair()?,
            known: identity.pinned,
        })
    }

    fn waiting(&self) -> Result<Vec<Request>, Failed> {
        self.client.pending(Duration::ZERO, 0).map(|pending| pending.requests)
    }

    /// What of a request can be believed and shown; `None` where no machine that is known has signed it as it is.
    fn verified<'a>(&'a self, request: &'a Request) -> Option<Shown<'a>> {
        let (machine, card) = self
            .known
            .iter()
            .find_map(|machine| Some((machine, request.card.verify(&machine.key).ok()?)))?;
        let shown = Shown::new(card, &machine.name).ok()?;
        (card.id == request.id).then_some(shown)
    }

    /// The one request that the digits name; `None`, and said, where none waits.
    fn find<'a>(&'a self, digits: &str, requests: &'a [Request]) -> Result<Option<Shown<'a>>> {
        let digits = digits.to_lowercase();
        if digits.len() < LEAST_DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            bail!(
                "`{}` names no request: an id, or at least its first {LEAST_DIGITS} digits, names one (`countersign \
                 pending` shows them)",
                visible(&digits)
            );
        }
        let named: Vec<&Request> = requests
            .iter()
            .filter(|request| request.id.starts_with(&digits))
            .collect();
        match named.as_slice() {
            [] => {
                eprintln!(
                    "Nothing waits whose id begins with {digits}: it was answered, was taken back, or has expired."
                );
                Ok(None)
            }
            [request] => match self.verified(request) {
                Some(shown) => Ok(Some(shown)),
                None => bail!("{digits} is {UNKNOWN}: nothing of it is believed, and it cannot be answered here"),
            },
            _ => bail!("more than one request begins with {digits}; give more digits"),
        }
    }

    fn line(&self, request: &Request, short: &str, paint: Paint) -> String {
        match self.verified(request) {
            Some(shown) => shown.line(short, paint),
            None => format!("{}  {UNKNOWN}", visible(short)),
        }
    }

    /// The request for programs: nothing but its id where it is not believed.
    fn object(&self, request: &Request) -> Value {
        match self.verified(request) {
            Some(shown) => json!({"id": request.id, "verified": true, "digest": shown.digest(), "card": shown.card}),
            None => json!({"id": request.id, "verified": false}),
        }
    }

    /// Gives the verdict, and says what came of it.
    fn give(&self, shown: &Shown, verdict: &SignedVerdict) -> Result<ExitCode> {
        match self.hand_in(verdict)? {
            Given::Counts => {
                say!("{}", shown.given(&verdict.verdict));
                Ok(ExitCode::SUCCESS)
            }
            Given::TooLate(why) => {
                eprintln!("Too late: {}.", visible(&why));
                Ok(ExitCode::FAILURE)
            }
        }
    }
}

/// What is said of a request that cannot be verified, beside its id.
const UNKNOWN: &str = "a request that no machine you know has signed";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};
    use countersign_protocol::keys::Algorithm;
    use countersign_protocol::{SignedCard, Status};

    use crate::card::card;

    /// A machine's key, and a terminal that knows the machine.
    fn pair() -> (KeyPair, Terminal) {
        let machine = KeyPair::generate(Algorithm::P256).expect("a key");
        let mut identity = Identity::new("http://127.0.0.1:1", "terminal").expect("an identity");
        identity.pin("laptop", machine.public());
        let terminal = Terminal {
            client: Client::new(&identity).expect("a client"),
            pair: identity.pair().expect("a key"),
            known: identity.pinned,
        };
        (machine, terminal)
    }

    fn signed(machine: &KeyPair) -> SignedCard {
        card().sign(machine).expect("a signed card")
    }

    fn request(card: SignedCard) -> Request {
        Request {
            id: card.card.id.clone(),
            status: Status::Pending,
            revision: 1,
            card,
            verdict: None,
            why: None,
            outcome: None,
        }
    }

    #[test]
    fn a_card_is_shown_as_its_machine_has_signed_it_under_its_own_id_or_not_at_all() {
        let (machine, terminal) = pair();
        let whole = request(signed(&machine));
        assert!(terminal.verified(&whole).is_some());

        let mut changed = whole.clone();
        changed.card.card.summary = "looks at notes.txt".into();
        let mut swapped = whole.clone();
        swapped.card = signed(&machine);
        let stranger = request(signed(&KeyPair::generate(Algorithm::P256).expect("a key")));
        let mut renamed = stranger.clone();
        renamed.card.sig.kid = machine.public().id();
        for (what, request) in [
            ("changed", changed),
            ("another card under its id", swapped),
            ("of a machine that is not known", stranger),
            ("in the name of a machine that is known", renamed),
        ] {
            assert!(terminal.verified(&request).is_none(), "{what}");
            let said = terminal.line(&request, "0011aabb", Paint(false));
            assert_eq!(said, format!("0011aabb  {UNKNOWN}"), "{what}");
            assert_eq!(
                terminal.object(&request),
                json!({"id": request.id, "verified": false}),
                "{what}"
            );
        }
    }

    #[test]
    fn an_id_is_shown_by_as_many_digits_as_tell_it_from_the_others() {
        let (machine, _) = pair();
        let mut requests: Vec<Request> = (0..3).map(|_| request(signed(&machine))).collect();
        let ids = ["00112233445566", "00112233449999", "ffff"];
        requests
            .iter_mut()
            .zip(ids)
            .for_each(|(request, id)| request.id = id.into());
        let shown: Vec<&str> = requests.iter().map(|request| short(&request.id, &requests)).collect();
        assert_eq!(shown, ["00112233445", "00112233449", "ffff"]);
    }

    #[test]
    fn the_commands_and_options_that_the_page_shows_are_there() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/approving.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let shown: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("$ countersign ")?.split(';').next())
            // What the service does has a page of its own.
            .filter(|line| !line.starts_with("relay "))
            .collect();
        assert!(shown.len() > 3, "{shown:?}");
        for line in shown {
            // Words stand in single quotes, or have none.
            let parts = line.split('\'').enumerate();
            let words = parts.flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            });
            let parsed = crate::Cli::try_parse_from(std::iter::once("countersign-relay").chain(words));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
        let command = crate::Cli::command();
        let own = ["pending", "approve", "deny", "watch"];
        let own = own.map(|name| command.find_subcommand(name).expect("a command"));
        let known: Vec<&str> = own
            .iter()
            .flat_map(|command| command.get_arguments())
            .filter_map(|arg| arg.get_long())
            .collect();
        for option in page.split("`--").skip(1) {
            let name = option
                .split(|character: char| !character.is_ascii_lowercase())
                .next()
                .expect("a name");
            assert!(known.contains(&name), "--{name}");
        }
        for name in known {
            assert!(page.contains(&format!("--{name}")), "the page does not name --{name}");
        }
    }
}
