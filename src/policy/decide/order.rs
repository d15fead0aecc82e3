//! What decides before what, with the whole of a configuration: each pair of the order, and that a project only tightens.

use std::time::{Duration, UNIX_EPOCH};

use super::super::circumstances::Buckets;
use super::super::config::{self, PROJECT_FILE};
use super::*;
use crate::assess;
use crate::call::Agent;
use crate::pause::{Freeze, Pause};
use crate::wire::event::classify_event;

/// A command that is low, so that `steady` allows it.
const COMMAND: &str = "mkdir made";

const STEADY: &str = "preset = \"steady\"\n";
const DENIED: &str = "[[rule]]\nprogram = \"mkdir\"\naction = \"deny\"\n";
const ASKED: &str = "[[rule]]\nprogram = \"mkdir\"\naction = \"ask\"\n";
const LISTED: &str = "[[rule]]\nprogram = \"mkdir\"\nargs = [\"made\"]\ntier = \"low\"\n";
/// Closed on a Tuesday.
const WINDOW: &str = "[[window]]\ndays = [\"mon\"]\nzone = \"UTC\"\noutside = \"deny\"\n";
/// Open, but for a subagent.
const IDENTITY: &str = "[[window]]\nagent = \"Explore\"\ntiers = [\"low\"]\noutside = \"deny\"\n";
const ESCALATED: &str = "[[escalate]]\nprogram = \"mkdir\"\nreason = \"makes a mess\"\ntimeout = \"10m\"\n";
const LIMITED: &str = "[limits]\nBash = \"1/day\"\n";
const TIER: &str = "[tiers]\nlow = \"deny\"\n";

struct Site {
    dir: tempfile::TempDir,
    facts: Facts,
    circumstances: Circumstances,
}

impl Site {
    /// Without a person, on a Tuesday.
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().canonicalize().expect("a path");
        for name in ["app/src", "conf", "state"] {
            std::fs::create_dir_all(home.join(name)).expect("directories");
        }
        let mut facts = Facts {
            home: Some(home.clone()),
            path: vec!["/usr/bin".into(), "/bin".into()],
            ..Facts::default()
        };
        facts.set_project(&home.join("app"));
        let circumstances = Circumstances {
            now: UNIX_EPOCH + Duration::from_secs(5 * 86_400 + 3600),
            attended: false,
            buckets: Buckets::In(home.join("state")),
            ..Circumstances::live(Pause::On)
        };
        Site {
            dir,
            facts,
            circumstances,
        }
    }

    fn policy(&self, person: &str, project: &str) -> Policy {
        let file = self.dir.path().join("conf/config.toml");
        std::fs::write(&file, person).expect("a file");
        std::fs::write(self.facts.project[0].join(PROJECT_FILE), project).expect("a file");
        let config = config::effective(Some(&file), &self.facts.project).expect("a configuration");
        config.policy
    }

    fn call(&self, command: &str) -> Call {
        let cwd = self.facts.project[0].display();
        let line = format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"{command}"}},"cwd":"{cwd}"}}"#);
        classify_event(&line).expect("an event")
    }

    fn ruled(&self, event: EventKind, call: &Call, wiring: Wiring, policy: &Policy) -> Ruling {
        let assessment = assess::assess(call, &self.facts);
        let mut ruling = decide(
            event,
            call,
            &assessment,
            wiring,
            policy,
            &self.circumstances,
            &self.facts,
        );
        ruling.count(call, &policy.limits, &self.circumstances);
        ruling
    }

    /// The command's ruling on a permission request.
    fn asked(&self, person: &str, project: &str) -> Ruling {
        let policy = self.policy(person, project);
        self.ruled(
            EventKind::PermissionRequest,
            &self.call(COMMAND),
            Wiring::default(),
            &policy,
        )
    }
}

/// What was decided, and by what.
fn told(ruling: &Ruling) -> String {
    let decision = match &ruling.decision {
        Decision::Allow(_) => "allow",
        Decision::Deny(deny) => deny.reason.as_str(),
        Decision::Ask(_) => "ask",
        Decision::Hold(_) => "hold",
        Decision::None => "none",
        Decision::Aside => "aside",
    };
    format!("{decision} by {}", ruling.by.word())
}

#[test]
fn of_each_two_that_have_something_to_say_the_earlier_decides() {
    // A rate limit that is used up is the same line in every file: its bucket is emptied before.
    let stages = [
        (DENIED, "policy by rule"),
        (LISTED, "allow by policy"),
        (WINDOW, "outside_hours by window"),
        (IDENTITY, "identity by identity"),
        (LIMITED, "rate_limited by limit"),
        (ESCALATED, "hold by escalation"),
        (TIER, "policy by policy"),
    ];
    let site = Site::new();
    site.asked(&format!("{STEADY}{LIMITED}"), "");
    for (number, (first, decides)) in stages.iter().enumerate() {
        assert_eq!(told(&site.asked(&format!("{STEADY}{first}"), "")), *decides, "{first}");
        for (second, _) in &stages[number + 1..] {
            // What the table denies is let through by nobody, so neither a list nor a limit has anything to say of it.
            let nothing_to_say = *second == TIER && [LISTED, LIMITED].contains(first);
            let decides = if nothing_to_say { "policy by policy" } else { decides };
            assert_eq!(
                told(&site.asked(&format!("{STEADY}{first}{second}"), "")),
                decides,
                "{first}{second}"
            );
        }
    }
}

#[test]
fn a_freeze_decides_before_everything_and_of_questions_too() {
    let mut site = Site::new();
    let frozen = Freeze::Ordered {
        since: UNIX_EPOCH,
        reason: Some("a leak".into()),
    };
    site.circumstances.freeze = Some(frozen);
    for text in ["", DENIED, LISTED, WINDOW, IDENTITY, LIMITED, ESCALATED, TIER] {
        let ruling = site.asked(&format!("{STEADY}{text}"), "");
        assert_eq!(told(&ruling), "frozen by frozen", "{text}");
        assert!(matches!(&ruling.decision, Decision::Deny(deny) if deny.interrupt && deny.message.is_empty()));
        assert!(
            ruling
                .by
                .to_string()
                .starts_with("frozen since 1970-01-01T00:00:00Z: a leak; `countersign thaw`")
        );
    }
    let question = r#"{"tool_name":"AskUserQuestion","tool_input":{"questions":[]}}"#;
    let question = classify_event(question).expect("an event");
    for event in [EventKind::PermissionRequest, EventKind::PreToolUse] {
        let ruling = site.ruled(event, &question, Wiring::default(), &Policy::default());
        assert_eq!(told(&ruling), "frozen by frozen");
    }
    let mut ruling = site.asked("", "");
    let invalid = Invalid::TooLong { path: "x".into() };
    ruling.withdraw(EventKind::PermissionRequest, &invalid);
    assert_eq!(
        told(&ruling),
        "frozen by frozen",
        "a configuration that does not hold takes no freeze back"
    );
}

#[test]
fn a_rule_that_asks_decides_before_the_list_and_all_that_follows() {
    let site = Site::new();
    for text in ["", LISTED, WINDOW, IDENTITY, LIMITED, ESCALATED, TIER] {
        assert_eq!(
            told(&site.asked(&format!("{STEADY}{ASKED}{text}"), "")),
            "none by rule",
            "{text}"
        );
    }
    assert_eq!(told(&site.asked(&format!("{ASKED}{DENIED}"), "")), "policy by rule");
}

#[test]
fn a_list_covers_a_call_only_if_it_vouches_for_every_step() {
    let site = Site::new();
    let policy = site.policy(&format!("{STEADY}{LISTED}{WINDOW}"), "");
    let ruled = |command| {
        let call = site.call(command);
        told(&site.ruled(EventKind::PermissionRequest, &call, Wiring::default(), &policy))
    };
    assert_eq!(ruled("mkdir made"), "allow by policy");
    assert_eq!(ruled("mkdir made && mkdir made"), "allow by policy");
    assert_eq!(ruled("mkdir made && ls"), "outside_hours by window");
    assert_eq!(ruled("mkdir other"), "outside_hours by window");
}

#[test]
fn outside_a_window_that_asks_nothing_is_let_through_and_nothing_is_denied() {
    let site = Site::new();
    let asks = WINDOW.replace("deny", "ask");
    let ruling = site.asked(&format!("{STEADY}{asks}"), "");
    assert_eq!(told(&ruling), "none by window");
    assert_eq!(ruling.by.reason(), Some(Reason::OutsideHours));
    let text = ruling.by.to_string();
    assert!(
        text.starts_with("outside the hours of the window mon UTC, outside = \"ask\" (/"),
        "{text}"
    );
    assert!(text.ends_with("config.toml:2)"), "{text}");
}

/// Where the host goes on by itself, no opinion would let the call run.
#[test]
fn a_window_that_only_asks_shields_a_call_from_no_guard_escalation_or_denial() {
    let site = Site::new();
    let guard = |asks| Wiring {
        early: true,
        guard: Some(Guard { tier: Tier::Low, asks }),
    };
    for window in [WINDOW, IDENTITY].map(|window| window.replace("deny", "ask")) {
        let policy = site.policy(&format!("{STEADY}{window}"), "");
        for (asks, expected) in [(false, "policy by guard"), (true, "ask by guard")] {
            let ruling = site.ruled(EventKind::PreToolUse, &site.call(COMMAND), guard(asks), &policy);
            assert_eq!(told(&ruling), expected, "{window}");
        }
        let asked = |person: &str, project: &str| told(&site.asked(&format!("{STEADY}{person}"), project));
        assert_eq!(asked(&format!("{window}{TIER}"), ""), "policy by policy");
        assert_eq!(asked(&format!("{window}{ESCALATED}"), ""), "hold by escalation");
        assert_eq!(asked(ESCALATED, &window), "hold by escalation");
    }
}

#[test]
fn a_rule_that_vouches_for_another_agent_is_named_where_the_call_is_not_let_through() {
    let site = Site::new();
    let rule = "[[rule]]\nprogram = \"frob\"\nagent = \"Explore\"\ntier = \"safe\"\n";
    let policy = site.policy(rule, "");
    let mut call = site.call("frob");
    let ruled =
        |site: &Site, call: &Call| told(&site.ruled(EventKind::PermissionRequest, call, Wiring::default(), &policy));
    assert_eq!(ruled(&site, &call), "none by identity");
    call.agent = Agent::Unknown;
    assert_eq!(ruled(&site, &call), "none by identity");
    call.agent = Agent::Sub {
        id: "a".into(),
        kind: Some("Explore".into()),
    };
    assert_eq!(ruled(&site, &call), "allow by rule");
    site.facts.machine.set("laptop".into()).expect("unset");
    let policy = site.policy(&rule.replace("agent = \"Explore\"", "machine = \"build\""), "");
    let ruling = site.ruled(EventKind::PermissionRequest, &call, Wiring::default(), &policy);
    assert_eq!(told(&ruling), "none by identity");
    assert!(
        ruling
            .by
            .to_string()
            .contains(r#"program = "frob", machine = "build" ("#),
        "{}",
        ruling.by
    );
}

#[test]
fn a_rule_that_stops_an_agent_asks_where_it_is_not_said_who_asks() {
    let site = Site::new();
    let policy = site.policy(
        &format!("{STEADY}[[rule]]\nagent = \"Explore\"\naction = \"deny\"\n"),
        "",
    );
    let mut call = site.call(COMMAND);
    for (agent, expected) in [
        (Agent::Main, "allow by policy"),
        (Agent::Unknown, "none by rule"),
        (
            Agent::Sub {
                id: "a".into(),
                kind: Some("Explore".into()),
            },
            "policy by rule",
        ),
    ] {
        call.agent = agent;
        let ruling = site.ruled(EventKind::PermissionRequest, &call, Wiring::default(), &policy);
        assert_eq!(told(&ruling), expected);
    }
}

#[test]
fn an_escalation_holds_the_call_for_its_reason_and_so_long_before_a_tool_is_used_too() {
    let site = Site::new();
    let policy = site.policy(&format!("{STEADY}{ESCALATED}"), "");
    let early = Wiring {
        early: true,
        guard: None,
    };
    for (event, wiring) in [
        (EventKind::PermissionRequest, Wiring::default()),
        (EventKind::PreToolUse, Wiring::default()),
        (EventKind::PreToolUse, early),
    ] {
        let ruling = site.ruled(event, &site.call(COMMAND), wiring, &policy);
        let Decision::Hold(hold) = &ruling.decision else {
            panic!("{ruling:?}");
        };
        assert_eq!(
            (hold.reason.as_str(), hold.timeout),
            ("makes a mess", Some(Duration::from_secs(600)))
        );
        assert!(
            ruling
                .by
                .to_string()
                .ends_with("config.toml:2 has you asked: makes a mess"),
            "{}",
            ruling.by
        );
    }
}

#[test]
fn a_limit_counts_what_policy_lets_through_or_puts_to_a_person_and_nothing_else() {
    let mut site = Site::new();
    let asked = |site: &Site, more: &str| site.asked(&format!("{STEADY}{LIMITED}{more}"), "");
    let asks = "[tiers]\nlow = \"ask\"\n";
    for uncounted in [ASKED, DENIED, LISTED, WINDOW, IDENTITY, TIER, asks] {
        assert!(asked(&site, uncounted).token.is_none(), "{uncounted}");
    }
    let mut held = asked(&site, ESCALATED);
    assert_eq!(
        (told(&held).as_str(), held.token.is_some()),
        ("hold by escalation", true)
    );
    assert_eq!(told(&asked(&site, "")), "rate_limited by limit");
    assert_eq!(told(&asked(&site, ESCALATED)), "rate_limited by limit");
    site.circumstances.attended = true;
    let over = asked(&site, ESCALATED);
    assert_eq!(told(&over), "hold by escalation", "a person's yes is not limited");
    assert!(over.token.is_none());
    site.circumstances.attended = false;
    held.give_back();
    held.give_back();
    assert_eq!(told(&asked(&site, "")), "allow by policy", "the person said no");
    assert_eq!(told(&asked(&site, "")), "rate_limited by limit");
}

#[test]
fn over_a_limit_a_person_is_asked_and_without_one_the_agent_is_told_when_to_come_again() {
    let mut site = Site::new();
    let text = format!("{STEADY}{LIMITED}");
    assert_eq!(told(&site.asked(&text, "")), "allow by policy");
    let ruling = site.asked(&text, "");
    let Decision::Deny(deny) = &ruling.decision else {
        panic!("{ruling:?}");
    };
    assert_eq!((deny.reason, deny.interrupt), (Reason::RateLimited, false));
    assert!(
        deny.message.starts_with("the limit Bash = \"1/day\" ("),
        "{}",
        deny.message
    );
    assert!(
        deny.message
            .ends_with("is used up; the next call is let through from 1970-01-07T01:00:01Z on"),
        "{}",
        deny.message
    );
    site.circumstances.attended = true;
    let ruling = site.asked(&text, "");
    assert_eq!(
        (told(&ruling), ruling.by.reason()),
        ("none by limit".into(), Some(Reason::RateLimited))
    );
    site.circumstances.now += Duration::from_secs(86_400);
    assert_eq!(told(&site.asked(&text, "")), "allow by policy");
}

#[test]
fn what_is_only_shown_takes_no_token() {
    let mut site = Site::new();
    site.circumstances.buckets = Buckets::In(site.dir.path().join("state/new"));
    let policy = site.policy(&format!("{STEADY}{LIMITED}"), "");
    let limits: Vec<&Limit> = policy.limits.iter().collect();
    let dir = site.circumstances.buckets.dir().expect("a directory");
    for _ in 0..3 {
        assert!(super::super::limits::look(&dir, &limits, site.circumstances.now).is_ok());
    }
    assert!(!dir.exists(), "nothing is made");
}

#[test]
fn a_bucket_that_cannot_be_read_lets_nothing_through() {
    let mut site = Site::new();
    std::fs::write(site.dir.path().join("state/limits"), "").expect("a file");
    let text = format!("{STEADY}{LIMITED}");
    assert_eq!(told(&site.asked(&text, "")), "rate_limited by limit");
    site.circumstances.attended = true;
    let ruling = site.asked(&text, "");
    assert_eq!(told(&ruling), "none by limit");
    assert!(
        ruling
            .by
            .to_string()
            .contains("calls cannot be counted, so none is let through"),
        "{}",
        ruling.by
    );
}

#[test]
fn a_project_makes_stricter_and_never_milder() {
    let site = Site::new();
    let asks = WINDOW.replace("deny", "ask");
    for (person, project, expected) in [
        (STEADY, WINDOW, "outside_hours by window"),
        (STEADY, asks.as_str(), "none by window"),
        (STEADY, IDENTITY, "identity by identity"),
        (STEADY, ESCALATED, "hold by escalation"),
        (STEADY, ASKED, "none by rule"),
        (STEADY, DENIED, "policy by rule"),
        // A question of the project's does not take the place of the person's denial.
        (TIER, asks.as_str(), "policy by policy"),
        (TIER, ESCALATED, "policy by policy"),
        (TIER, ASKED, "policy by policy"),
        (WINDOW, asks.as_str(), "outside_hours by window"),
        // Nor does an open window of the project's open the person's.
        (
            WINDOW,
            "[[window]]\ndays = [\"tue\"]\nzone = \"UTC\"\noutside = \"ask\"\n",
            "outside_hours by window",
        ),
        (ASKED, DENIED, "policy by rule"),
    ] {
        let ruling = site.asked(person, project);
        assert_eq!(told(&ruling), expected, "{person} / {project}");
    }
    assert_eq!(told(&site.asked(STEADY, LIMITED)), "allow by policy");
    assert_eq!(told(&site.asked(STEADY, LIMITED)), "rate_limited by limit");
    assert_eq!(
        told(&site.asked(&format!("{STEADY}{LIMITED}"), "")),
        "allow by policy",
        "the person's bucket is another"
    );
    let policy = site.policy("", ASKED.replace("mkdir", "rm").as_str());
    let guarded = Wiring {
        early: true,
        guard: Some(Guard {
            tier: Tier::Critical,
            asks: false,
        }),
    };
    let ruling = site.ruled(EventKind::PreToolUse, &site.call("rm -rf ~"), guarded, &policy);
    assert_eq!(told(&ruling), "policy by guard", "a project does not soften the guard");
}
