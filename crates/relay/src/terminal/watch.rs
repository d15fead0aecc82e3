//! `countersign watch`: shows each call as it comes to wait, and asks, one after the other.

use std::collections::HashSet;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::{Result, anyhow, bail};
use countersign::approver::terminal::Terminal as OwnTerminal;
use countersign::approver::terminal::screen::Screen;
use countersign::approver::{Approver, Reply};
use countersign::escape::{visible, visible_json};
use countersign_protocol::Request;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::answer::Given;
use super::board::{Board, Next};
use super::card::Shown;
use super::{SHORT, Terminal, UNKNOWN, form, no_agent, paint};

#[derive(Debug, clap::Args)]
pub struct WatchArgs {
    /// End after one call
    #[arg(long)]
    once: bool,
    /// Ring the terminal's bell for each
    #[arg(long, conflicts_with = "json")]
    bell: bool,
    /// Ask nothing; one JSON object a line for each call that comes to wait or does not wait any more
    #[arg(long)]
    json: bool,
}

pub fn watch(args: &WatchArgs) -> Result<ExitCode> {
    if !args.json {
        no_agent()?;
        if !OwnTerminal.is_there() {
            bail!("there is no terminal to ask on; `countersign watch --json` only tells what waits");
        }
    }
    let terminal = Arc::new(Terminal::read()?);
    let board = Board::listening(&terminal, None);
    end_on_signals(&board)?;
    match args.json {
        true => tell(args, &terminal, &board),
        false => ask(args, &terminal, &board),
    }
}

fn end_on_signals(board: &Arc<Board>) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let board = Arc::clone(board);
    thread::spawn(move || {
        for _ in &mut signals {
            board.end();
        }
    });
    Ok(())
}

/// What one is shown next who has dealt with what `of` leaves out; `None`: it is to end. Trouble with the relay is said on
/// the way, once.
///
/// # Errors
/// The relay refuses this terminal.
fn next(
    board: &Board,
    has_said: &mut bool,
    mut of: impl FnMut(&[Request]) -> Option<Vec<Request>>,
) -> Result<Option<Vec<Request>>> {
    loop {
        let next = board.next(|state| match (&state.trouble, *has_said) {
            (Some(why), false) => Some(Next::Trouble(Some(why.clone()))),
            (None, true) => Some(Next::Trouble(None)),
            _ => of(state.waiting.as_deref()?).map(Next::Show),
        });
        match next {
            Next::Show(requests) => return Ok(Some(requests)),
            Next::Trouble(why) => {
                say_trouble(why.as_deref());
                *has_said = why.is_some();
            }
            Next::Refused(why) => bail!("the relay refuses this terminal: {}", visible(&why)),
            Next::Ended => return Ok(None),
        }
    }
}

fn say_trouble(why: Option<&str>) {
    match why {
        Some(why) => eprintln!("({}; it is tried again)", visible(why)),
        None => eprintln!("(the relay answers again)"),
    }
}

/// Asks about one call after the other.
fn ask(args: &WatchArgs, terminal: &Terminal, board: &Board) -> Result<ExitCode> {
    say!("What comes to wait is shown here. Ctrl-C ends it.");
    let mut seen: HashSet<String> = HashSet::new();
    let mut has_said = false;
    loop {
        let next = next(board, &mut has_said, |waiting| {
            seen.retain(|id| waiting.iter().any(|request| request.id == *id));
            let request = waiting.iter().find(|request| !seen.contains(&request.id));
            request.map(|request| vec![request.clone()])
        });
        let Some(requests) = next? else {
            return Ok(ExitCode::SUCCESS);
        };
        for request in requests {
            match terminal.verified(&request) {
                Some(shown) => {
                    put(args, terminal, board, &shown)?;
                    if args.once {
                        return Ok(ExitCode::SUCCESS);
                    }
                }
                None => {
                    let start: String = request.id.chars().take(SHORT).collect();
                    say!("{}  {UNKNOWN}", visible(&start));
                }
            }
            seen.insert(request.id);
        }
    }
}

/// Puts one card on the screen until it is answered, left or gone.
fn put(args: &WatchArgs, terminal: &Terminal, board: &Board, shown: &Shown) -> Result<()> {
    let asked = board.stand(shown, |screen| {
        if args.bell {
            screen.say("\u{7}");
        }
        answered(terminal, shown, screen)
    })?;
    match asked {
        Err(Reply::Absent(why)) => Err(anyhow!("you cannot be asked any more: {why}")),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Asks until an answer was given or the card is left for later.
fn answered(terminal: &Terminal, shown: &Shown, screen: &mut Screen) -> Result<(), Reply> {
    loop {
        let Some(wanted) = form::ask(screen, shown, paint(true))? else {
            screen.say(&format!(
                "(it waits on: `countersign approve {}`)",
                &shown.card.id[..SHORT]
            ));
            return Ok(());
        };
        let given = terminal.sign(shown, wanted).and_then(|verdict| {
            let given = terminal.hand_in(&verdict)?;
            Ok((verdict, given))
        });
        match given {
            Ok((verdict, Given::Counts)) => {
                screen.say(&shown.given(&verdict.verdict));
                return Ok(());
            }
            Ok((_, Given::TooLate(why))) => {
                screen.say(&format!("Too late: {}.", visible(&why)));
                return Ok(());
            }
            Err(error) => screen.say(&format!("{}. You are asked again.", visible(&format!("{error:#}")))),
        }
    }
}

/// Tells programs what comes to wait and what does not wait any more.
fn tell(args: &WatchArgs, terminal: &Terminal, board: &Board) -> Result<ExitCode> {
    let mut told: Vec<String> = Vec::new();
    let mut has_said = false;
    loop {
        let next = next(board, &mut has_said, |waiting| {
            let ids = waiting.iter().map(|request| &request.id);
            (!ids.eq(told.iter())).then(|| waiting.to_vec())
        });
        let Some(waiting) = next? else {
            return Ok(ExitCode::SUCCESS);
        };
        let mut out = io::stdout().lock();
        for id in told
            .iter()
            .filter(|id| waiting.iter().all(|request| request.id != **id))
        {
            let gone = json!({"event": "gone", "id": id});
            writeln!(out, "{}", visible_json(&gone.to_string()))?;
        }
        for request in waiting.iter().filter(|request| !told.contains(&request.id)) {
            let mut object = json!({"event": "waiting"});
            if let (Some(object), serde_json::Value::Object(fields)) =
                (object.as_object_mut(), terminal.object(request))
            {
                object.extend(fields);
            }
            writeln!(out, "{}", visible_json(&object.to_string()))?;
        }
        out.flush()?;
        told = waiting.into_iter().map(|request| request.id).collect();
        if args.once && !told.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
    }
}
