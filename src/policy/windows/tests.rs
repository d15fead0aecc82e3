use super::*;
use crate::call::Agent;
use crate::wire::event::classify_event;
use std::time::{Duration, UNIX_EPOCH};

fn hours(days: &[usize], from: u16, to: u16, zone: &str) -> Hours {
    Hours {
        days: std::array::from_fn(|day| days.contains(&day)),
        from,
        to,
        zone: Zone::named(zone).expect("a zone"),
    }
}

fn window(line: usize, hours: Hours) -> Window {
    Window {
        origin: Origin::of("config.toml", line),
        owner: Owner::Person,
        hours: Some(hours),
        who: Who::default(),
        outside: Outside::Ask,
        tiers: Vec::new(),
        tools: Vec::new(),
    }
}

fn call(tool: &str) -> Call {
    classify_event(&format!(r#"{{"tool_name":"{tool}","tool_input":{{"command":"ls"}}}}"#)).expect("a call")
}

/// Monday 1970-01-05 is day 0.
fn at(day: u64, hour: u64, minute: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(((day + 4) * 24 + hour) * 3600 + minute * 60)
}

/// The line of the window that stops a call of the tier, why, and what it asks for.
fn stopped(windows: &[Window], tier: Tier, call: &Call, now: SystemTime) -> Option<(usize, Closed, Outside)> {
    closed(windows, Owner::Person, tier, call, &Facts::default(), now)
        .map(|(window, why, outside)| (window.origin.line, why, outside))
}

#[test]
fn a_window_is_open_from_its_first_minute_to_before_its_last_on_its_days() {
    let office = hours(&[0, 1, 2, 3, 4], 9 * 60, 17 * 60, "UTC");
    for (now, holds) in [
        (at(0, 8, 59), false),
        (at(0, 9, 0), true),
        (at(4, 16, 59), true),
        (at(4, 17, 0), false),
        (at(5, 12, 0), false),
    ] {
        assert_eq!(office.hold(now), holds, "{now:?}");
    }
    let whole = hours(&[6], 0, DAY, "UTC");
    assert!(whole.hold(at(6, 0, 0)) && whole.hold(at(6, 23, 59)) && !whole.hold(at(7, 0, 0)));
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_that_it_begins_on() {
    let night = hours(&[4], 22 * 60, 6 * 60, "UTC");
    for (now, holds) in [
        (at(4, 21, 59), false),
        (at(4, 22, 0), true),
        (at(5, 0, 0), true),
        (at(5, 5, 59), true),
        (at(5, 6, 0), false),
        (at(5, 22, 0), false),
        (at(4, 5, 0), false),
    ] {
        assert_eq!(night.hold(now), holds, "{now:?}");
    }
    let sunday = hours(&[6], 23 * 60, 60, "UTC");
    assert!(sunday.hold(at(7, 0, 30)), "Monday morning is still Sunday's");
}

#[test]
fn an_hour_that_clocks_leave_out_is_in_no_window_and_one_shown_twice_is_in_it_twice() {
    let (spring, autumn) = (1_774_746_000, 1_792_890_000);
    let holds =
        |from, to, seconds| hours(&[6], from, to, "Europe/Berlin").hold(UNIX_EPOCH + Duration::from_secs(seconds));
    // On 2026-03-29 no clock shows 02:30, so what begins then begins at three.
    assert!(!holds(150, 480, spring - 1) && holds(150, 480, spring));
    assert!((0..4 * 3600).all(|after| !holds(120, 180, spring - 7200 + after)));
    // On 2026-10-25 every minute from two to three comes twice.
    let open = (0..6 * 3600)
        .step_by(60)
        .filter(|after| holds(120, 180, autumn - 3 * 3600 + after));
    assert_eq!(open.count(), 120);
}

#[test]
fn windows_about_the_same_add_up_and_those_about_other_tools_must_each_be_open() {
    let morning = window(1, hours(&[0], 8 * 60, 12 * 60, "UTC"));
    let evening = window(5, hours(&[0], 18 * 60, 20 * 60, "UTC"));
    let shell = Window {
        tools: vec!["Ba*".into()],
        ..window(9, hours(&[0], 9 * 60, 10 * 60, "UTC"))
    };
    let all = [morning, evening, shell];
    let told = |tool, now| stopped(&all, Tier::Low, &call(tool), now).map(|(line, ..)| line);
    assert_eq!(told("Read2", at(0, 8, 0)), None);
    assert_eq!(told("Read2", at(0, 19, 0)), None);
    assert_eq!(told("Read2", at(0, 13, 0)), Some(1));
    assert_eq!(told("Bash", at(0, 9, 30)), None);
    assert_eq!(told("Bash", at(0, 8, 30)), Some(9));
    assert_eq!(
        told("Bash", at(0, 13, 0)),
        Some(1),
        "the first of those that are closed"
    );
}

#[test]
fn a_window_is_about_its_tiers_and_the_strictest_that_is_closed_counts() {
    let asks = Window {
        tiers: vec![Tier::Medium, Tier::High],
        ..window(1, hours(&[0], 8 * 60, 12 * 60, "UTC"))
    };
    let denies = Window {
        outside: Outside::Deny,
        tiers: vec![Tier::High],
        ..window(5, hours(&[0], 8 * 60, 12 * 60, "UTC"))
    };
    let all = [asks, denies];
    let told = |tier| stopped(&all, tier, &call("Bash"), at(1, 9, 0));
    assert_eq!(told(Tier::Low), None);
    assert_eq!(told(Tier::Medium), Some((1, Closed::Hours, Outside::Ask)));
    assert_eq!(told(Tier::High), Some((5, Closed::Hours, Outside::Deny)));
    assert!(
        closed(
            &all,
            Owner::Project,
            Tier::High,
            &call("Bash"),
            &Facts::default(),
            at(1, 9, 0)
        )
        .is_none()
    );
}

#[test]
fn an_open_window_lets_through_only_whom_it_names_and_the_hour_counts_before_that() {
    let main = Window {
        who: Who {
            agent: Some("main".into()),
            machine: None,
        },
        ..window(1, hours(&[0], 8 * 60, 12 * 60, "UTC"))
    };
    let mut call = call("Bash");
    let why = |call: &Call, now| stopped(std::slice::from_ref(&main), Tier::Low, call, now).map(|(_, why, _)| why);
    assert_eq!(why(&call, at(0, 9, 0)), None);
    call.agent = Agent::Sub {
        id: "a".into(),
        kind: Some("Explore".into()),
    };
    assert_eq!(why(&call, at(0, 9, 0)), Some(Closed::Identity));
    assert_eq!(why(&call, at(0, 13, 0)), Some(Closed::Hours));
    call.agent = Agent::Unknown;
    assert_eq!(
        why(&call, at(0, 9, 0)),
        Some(Closed::Identity),
        "a face that does not say who asks"
    );
}

#[test]
fn a_window_is_shown_as_it_is_meant() {
    let mut shown = window(1, hours(&[0, 4], 9 * 60, 17 * 60 + 30, "Europe/Berlin"));
    shown.tiers = vec![Tier::Low];
    shown.who.agent = Some("main".into());
    assert_eq!(
        shown.to_string(),
        "mon, fri 09:00-17:30 Europe/Berlin, agent = \"main\", for low, outside = \"ask\""
    );
    let always = window(1, hours(&[0, 1, 2, 3, 4, 5, 6], 0, DAY, "UTC"));
    assert_eq!(always.to_string(), "UTC, outside = \"ask\"");
}
