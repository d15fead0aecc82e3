//! A verified card as lines of text.
//!
//! All that a machine or an agent wrote goes through `visible`: nothing of it is obeyed by a terminal or hidden from the
//! person.

use std::time::Duration;

use countersign::decision;
use countersign::effect;
use countersign::escape::visible;
use countersign::pause::Length;
use countersign::report::steps::Paint;
use countersign_protocol::canonical::NotCanonical;
use countersign_protocol::card::{Kind, Scope, Tier};
use countersign_protocol::verdict::Answer;
use countersign_protocol::{Card, Verdict};

use crate::clock;

/// The digits of the digest that are typed to allow something critical.
const TYPED: usize = 6;
/// How far two clocks may be apart and still tell when it was asked, in milliseconds.
const APART: u64 = 60_000;

/// A card that a known machine has signed.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    pub card: &'a Card,
    /// How the machine is known here.
    pub machine: &'a str,
    /// What allows it as it is, once that is dated and signed.
    allow: Verdict,
}

impl<'a> Shown<'a> {
    /// # Errors
    /// A number in the card has no canonical form.
    pub fn new(card: &'a Card, machine: &'a str) -> Result<Self, NotCanonical> {
        let allow = Verdict::new(card, Answer::Allow, 0)?;
        Ok(Shown { card, machine, allow })
    }

    /// What a verdict names: SHA-256 of the card.
    pub fn digest(&self) -> &str {
        &self.allow.card
    }

    /// The verdict that allows it as it is, before it is signed.
    pub fn allow(&self) -> Verdict {
        self.allow.clone()
    }

    /// The place of the offer that a person knows by this number, which counts from 1; `None` where there is none.
    pub fn offer(&self, number: u32) -> Option<u32> {
        let index = number.checked_sub(1)?;
        ((index as usize) < self.card.offers.len()).then_some(index)
    }

    /// The verdict that denies it, with words if there are any, before it is signed.
    pub fn deny(&self, words: &str, stop: bool) -> Verdict {
        Verdict {
            answer: Answer::Deny,
            note: (!words.is_empty()).then(|| words.to_owned()),
            stop,
            ..self.allow()
        }
    }

    pub fn is_critical(&self) -> bool {
        self.card.tier == Tier::Critical
    }

    /// What a person types to allow something critical.
    pub fn word(&self) -> &str {
        &self.digest()[..TYPED]
    }

    fn tier(&self, paint: Paint) -> String {
        paint.tier(match self.card.tier {
            Tier::Safe => effect::Tier::Safe,
            Tier::Low => effect::Tier::Low,
            Tier::Medium => effect::Tier::Medium,
            Tier::High => effect::Tier::High,
            Tier::Critical => effect::Tier::Critical,
        })
    }

    /// One line that tells this request from the others.
    pub fn line(&self, short: &str, paint: Paint) -> String {
        let card = self.card;
        let session: String = card.session.chars().take(8).collect();
        let [host, project, session, tool, summary] =
            [&card.host, &card.project, &session, &card.tool, &card.summary].map(|text| visible(text));
        let tier = self.tier(paint);
        format!(
            "{short}  {tier}{host}  {project}  {session}  {tool}  {summary}  ({})",
            self.times()
        )
    }

    /// By the machine's clock when it asked and by this one's now: as good as the two agree.
    fn times(&self) -> String {
        let (asked, now) = (self.card.created_at, clock::now());
        // What waits was asked before now, and has time left.
        if asked > now + APART || now > asked + self.card.lives_for + APART {
            return "when it was asked is not known: the clocks differ".into();
        }
        let age = Duration::from_millis(now.saturating_sub(asked));
        let left = Duration::from_millis(self.card.lives_for).saturating_sub(age);
        format!("asked {} ago, {} left", Length(age), Length(left))
    }

    pub fn heading(&self) -> String {
        let card = self.card;
        let tool = visible(&card.tool);
        let asks = match (card.kind, card.edited) {
            (Kind::Questions, _) => "the agent asks".to_owned(),
            (Kind::Plan, _) => "the agent's plan".to_owned(),
            (Kind::Call, true) => format!("{tool}, as it was edited: may it run?"),
            (Kind::Call, false) => format!("may {tool} run?"),
        };
        format!("Countersign: {asks}")
    }

    /// Where it comes from, and what to know of it before it is answered.
    pub fn about(&self, paint: Paint) -> Vec<String> {
        let card = self.card;
        let mut lines = vec![format!("{}{}", self.tier(paint), visible(&card.summary))];
        lines.extend(
            card.reasons
                .iter()
                .map(|reason| format!("          {}", visible(reason))),
        );
        if !card.understood && card.kind == Kind::Call {
            lines.push("          not understood completely".into());
        }
        let mut from = format!("on {}", visible(&card.host));
        if card.host != self.machine {
            from.push_str(&format!(" (known here as {})", visible(self.machine)));
        }
        from.push_str(&format!(", project {}", visible(&card.project)));
        if let Some(cwd) = &card.cwd {
            from.push_str(&format!(", in {}", visible(cwd)));
        }
        from.push_str(&format!(", session {}", visible(&card.session)));
        if let Some(agent) = &card.agent {
            from.push_str(&format!(", subagent {}", visible(agent)));
        }
        lines.push(from);
        if card.attended {
            lines.push("somebody sits there: Claude Code's own dialog takes the answer too".into());
        }
        if card.preview.masked {
            lines.push("something in it is masked: it holds what looks like a secret".into());
        }
        if self.is_cut() {
            lines.push(
                "not all of it is here, so that it can be denied and not allowed; allow it where it was asked".into(),
            );
        }
        for (number, offer) in (1..).zip(&card.offers) {
            lines.push(format!(
                "--remember {number}: {}, {}",
                visible(&offer.words),
                reach(offer.scope)
            ));
        }
        lines.push(format!("id {}, digest {}", card.id, self.digest()));
        lines.push(self.times());
        lines
    }

    /// Some of the input is not on the card: nobody has seen all of what would run.
    pub fn is_cut(&self) -> bool {
        self.card.preview.left_out > 0
    }

    /// What is asked, with what may be answered.
    fn questions(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for question in &self.card.questions {
            lines.push(visible(&question.text).into_owned());
            for option in &question.options {
                let between = if option.description.is_empty() { "" } else { ": " };
                let (label, description) = (visible(&option.label), visible(&option.description));
                lines.push(format!("    {label}{between}{description}"));
            }
        }
        lines
    }

    /// The input, or what of it is on the card.
    pub fn input(&self) -> Vec<String> {
        if self.card.kind == Kind::Questions {
            return self.questions();
        }
        let preview = &self.card.preview;
        let written = |text: &str| {
            text.split('\n')
                .map(|line| visible(line).into_owned())
                .collect::<Vec<_>>()
        };
        let mut lines = written(&preview.head);
        if self.is_cut() {
            lines.push(format!("[{} bytes are not shown]", preview.left_out));
            lines.extend(written(&preview.tail));
        }
        lines
    }

    /// The whole card.
    pub fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = vec![self.heading()];
        lines.extend(self.input().into_iter().map(|line| format!("    {line}")));
        lines.extend(self.about(paint));
        lines
    }

    /// What is said once the verdict is given.
    pub fn given(&self, verdict: &Verdict) -> String {
        let card = self.card;
        let (tool, summary) = (visible(&card.tool), visible(&card.summary));
        match (verdict.answer, &verdict.input) {
            (Answer::Allow, Some(_)) => format!(
                "Edited: {tool} ({}). As it is now it is judged again, and comes back under another id for you to confirm",
                card.id
            ),
            (Answer::Allow, None) => format!("Allowed: {tool}, {summary} ({})", card.id),
            (Answer::Deny, _) => format!("Denied: {tool}, {summary} ({})", card.id),
        }
    }
}

/// How far an offer reaches, in words.
pub fn reach(scope: Scope) -> &'static str {
    let scope = match scope {
        Scope::Session => decision::Scope::Session,
        Scope::Local => decision::Scope::Local,
        Scope::Project => decision::Scope::Project,
        Scope::User => decision::Scope::User,
        Scope::Countersign => decision::Scope::Countersign,
    };
    scope.words()
}
