//! What a person is shown, from what is known of the call.

use std::time::Duration;

use countersign::approver;
use countersign::audit::Masker;
use countersign::call::Input;
use countersign::decision;
use countersign::effect;
use countersign::questions;
use countersign::report;
use countersign_protocol::card::{
    Card, Choice, Kind, MAX_ITEMS, MAX_NAME, MAX_PREVIEW, MAX_REASONS, MAX_TEXT, Offer, Preview, Question, Scope, Tier,
};
use serde_json::{Map, Value};

use crate::clock;

/// How much of an input that is too long is shown of its beginning and of its end, in characters.
const HEAD: usize = 24 * 1024;
const TAIL: usize = 8 * 1024;
/// What stands at the end of a text that was cut.
const CUT: &str = " [cut]";

/// The card of a call, good for so long.
pub fn of(shown: &approver::Card, id: String, host: &str, lives_for: Duration) -> Card {
    let call = &shown.request.call;
    let ruling = &shown.judgement.ruling;
    let kind = match call.input {
        Input::Question => Kind::Questions,
        Input::Plan => Kind::Plan,
        _ => Kind::Call,
    };
    let project = shown.project.and_then(|project| project.file_name());
    let mask = Masker::of_environment();
    let (preview, questions) = (preview(shown, &mask), asked(shown, &mask));
    // What is cut of it nobody has seen.
    let cwd = call
        .cwd
        .as_ref()
        .map(|cwd| kept(&cwd.to_string_lossy(), MAX_TEXT, &mask));
    let unseen = cwd
        .iter()
        .map(|(_, cut)| cut)
        .chain(questions.iter().map(|(_, cut)| cut));
    let cut = bytes_cut(&call.tool, MAX_NAME) + unseen.sum::<u64>();
    let preview = Preview {
        left_out: preview.left_out + cut,
        ..preview
    };
    let questions: Vec<Question> = questions.into_iter().map(|(question, _)| question).collect();
    let summary = match kind {
        Kind::Call => mask.text(&report::summary(&shown.judgement.assessment)),
        Kind::Questions => match questions.first() {
            Some(question) => format!("asks you: {}", question.text),
            None => "asks you something".to_owned(),
        },
        Kind::Plan => "asks you to approve a plan".to_owned(),
    };
    Card {
        v: 1,
        id,
        kind,
        host: name(host),
        project: name(&project.unwrap_or_default().to_string_lossy()),
        cwd: cwd.map(|(cwd, _)| cwd),
        session: name(call.session.as_deref().unwrap_or_default()),
        agent: call.agent.id().map(name),
        tool: name(&call.tool),
        tier: tier(ruling.tier),
        understood: ruling.proven || kind != Kind::Call,
        summary: text(&summary),
        reasons: if kind == Kind::Call {
            reasons(shown, &mask)
        } else {
            Vec::new()
        },
        // What was masked cannot be edited, for the mask would take its place.
        may_edit: kind == Kind::Call && preview.left_out == 0 && !preview.masked,
        preview,
        questions,
        offers: if kind == Kind::Call {
            offers(shown, &mask)
        } else {
            Vec::new()
        },
        edited: shown.edited,
        attended: shown.attended,
        digest: call.digest(),
        created_at: clock::now(),
        lives_for: u64::try_from(lives_for.as_millis()).unwrap_or(u64::MAX).max(1),
    }
}

fn tier(tier: effect::Tier) -> Tier {
    match tier {
        effect::Tier::Safe => Tier::Safe,
        effect::Tier::Low => Tier::Low,
        effect::Tier::Medium => Tier::Medium,
        effect::Tier::High => Tier::High,
        effect::Tier::Critical => Tier::Critical,
    }
}

/// Why it was not let through: what decided, what would be lost, what was not understood.
fn reasons(shown: &approver::Card, mask: &Masker) -> Vec<String> {
    let judgement = shown.judgement;
    let lost = judgement.losses.iter().flatten().map(|loss| format!("it {loss}"));
    let unknown = report::reasons(&judgement.assessment)
        .into_iter()
        .map(|why| format!("not understood: {why}"));
    let told = [judgement.ruling.by.to_string()]
        .into_iter()
        .chain(beside(shown))
        .chain(lost)
        .chain(unknown);
    told.take(MAX_REASONS).map(|reason| text(&mask.text(&reason))).collect()
}

/// What else a shell call says of how its command runs.
fn beside(shown: &approver::Card) -> Vec<String> {
    if !matches!(shown.request.call.input, Input::Shell { .. }) {
        return Vec::new();
    }
    let fields: Map<String, Value> = serde_json::from_str(shown.request.call.raw_input.get()).unwrap_or_default();
    let others = fields
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "command" | "description"));
    others
        .map(|(name, value)| format!("it is called with {name} = {value}"))
        .collect()
}

fn preview(shown: &approver::Card, mask: &Masker) -> Preview {
    let call = &shown.request.call;
    let whole = match &call.input {
        Input::Shell { command, .. } => command.clone(),
        Input::Plan => report::plan(&call.raw_input),
        // They stand on the card by themselves.
        Input::Question => String::new(),
        _ => {
            let input: Value = serde_json::from_str(call.raw_input.get()).unwrap_or_default();
            serde_json::to_string_pretty(&input).unwrap_or_default()
        }
    };
    let (shown, hidden) = mask.for_approval(&whole);
    let length = shown.chars().count();
    let is_whole = length.max(whole.chars().count()) <= MAX_PREVIEW;
    let head: String = shown.chars().take(if is_whole { length } else { HEAD }).collect();
    let tail: String = shown.chars().skip(length.saturating_sub(TAIL).max(HEAD)).collect();
    let tail = if is_whole { String::new() } else { tail };
    let cut = if is_whole {
        0
    } else {
        (shown.len() - head.len() - tail.len()).max(1)
    };
    Preview {
        // What the mask hides beyond a word is not shown either.
        left_out: (cut + hidden) as u64,
        masked: shown != whole,
        head,
        tail,
    }
}

/// The questions, each with the bytes of it that do not fit on the card.
fn asked(shown: &approver::Card, mask: &Masker) -> Vec<(Question, u64)> {
    if !matches!(shown.request.call.input, Input::Question) {
        return Vec::new();
    }
    let questions = questions::read(&shown.request.call.raw_input).unwrap_or_default();
    let asked = questions.into_iter().map(|question| {
        let mut cut = 0;
        let mut kept = |whole: &str, most: usize| {
            let (shown, unseen) = kept(whole, most, mask);
            cut += unseen;
            shown
        };
        let asked = Question {
            text: kept(&question.text, MAX_TEXT),
            header: kept(&question.header, MAX_TEXT),
            options: question
                .options
                .into_iter()
                .map(|choice| Choice {
                    // An answer names it: one that is masked can be none.
                    label: kept(&choice.label, MAX_TEXT),
                    description: kept(&choice.description, MAX_TEXT),
                    preview: choice.preview.map(|preview| kept(&preview, MAX_PREVIEW)),
                })
                .collect(),
            several: question.multi_select,
        };
        (asked, cut)
    });
    asked.collect()
}

/// What may be remembered, but for what cannot be shown whole; by its place among all of it.
fn offers(shown: &approver::Card, mask: &Masker) -> Vec<Offer> {
    let whole =
        |offer: &&decision::Offer| offer.change.chars().count() <= MAX_TEXT && mask.text(&offer.change) == offer.change;
    match shown.offers.iter().all(|offer| whole(&offer)) {
        true => shown.offers.iter().take(MAX_ITEMS).map(offer).collect(),
        // An answer names an offer by its place.
        false => Vec::new(),
    }
}

fn offer(offer: &decision::Offer) -> Offer {
    Offer {
        words: offer.change.clone(),
        scope: match offer.scope {
            Some(decision::Scope::Session) => Scope::Session,
            Some(decision::Scope::Local) => Scope::Local,
            Some(decision::Scope::Project) => Scope::Project,
            Some(decision::Scope::Countersign) => Scope::Countersign,
            // What is not known may reach as far as anything.
            Some(decision::Scope::User) | None => Scope::User,
        },
    }
}

/// A text of the agent's as it stands on the card, and how many bytes of it are not seen there.
fn kept(whole: &str, most: usize, mask: &Masker) -> (String, u64) {
    let (shown, hidden) = mask.for_approval(whole);
    (within(&shown, most), bytes_cut(&shown, most) + hidden as u64)
}

/// How many bytes of a text do not fit.
fn bytes_cut(text: &str, most: usize) -> u64 {
    text.char_indices()
        .nth(most)
        .map_or(0, |(at, _)| (text.len() - at) as u64)
}

fn name(name: &str) -> String {
    within(name, MAX_NAME)
}

fn text(text: &str) -> String {
    within(text, MAX_TEXT)
}

/// The text, or its beginning and a word that it was cut.
fn within(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - CUT.len()).collect();
    kept + CUT
}
