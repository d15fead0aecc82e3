use super::*;
use std::thread;

fn limit(tool: &str, rate: &str) -> Limit {
    Limit {
        origin: Origin::of("config.toml", 3),
        owner: Owner::Person,
        tool: tool.into(),
        rate: Rate::parse(rate).expect("a rate"),
    }
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
}

/// When the limit that refuses has a token again, in seconds after the beginning.
fn refused(result: Result<Token, Refusal>) -> u64 {
    match result {
        Err(Refusal::Empty { until, .. }) => until.duration_since(at(0)).expect("later").as_secs(),
        other => panic!("not used up: {other:?}"),
    }
}

#[test]
fn a_rate_is_a_number_and_a_unit() {
    for (text, shown) in [
        ("60/hour", "60/hour"),
        (" 1 / day", "1/day"),
        ("100000/second", "100000/second"),
    ] {
        assert_eq!(Rate::parse(text).expect(text).to_string(), shown);
    }
    for text in [
        "",
        "60",
        "0/hour",
        "-1/hour",
        "1.5/hour",
        "60/week",
        "100001/day",
        "60/hours",
        "60/hour/day",
        "/hour",
    ] {
        assert_eq!(Rate::parse(text), None, "{text}");
    }
}

#[test]
fn a_full_bucket_gives_as_many_as_its_limit_names_and_then_one_after_each_part_of_the_time() {
    for rate in ["1/day", "7/day", "60/hour", "3/second", "33333/second", "100000/minute"] {
        let dir = tempfile::tempdir().expect("a directory");
        let limit = limit("Bash", rate);
        let (part, count) = (limit.rate.part(), limit.rate.count);
        let now = nanos(at(0));
        let mut buckets = Buckets::read(dir.path()).expect("nothing");
        let mut given = 0;
        while buckets.spare(&[&limit], now).is_ok() {
            let full = buckets.full(&limit, now) + part;
            buckets.set(&limit.bucket(), full);
            given += 1;
        }
        assert_eq!(given, count, "{rate}");
        assert!(buckets.spare(&[&limit], now + part - 1).is_err() && buckets.spare(&[&limit], now + part).is_ok());
    }
}

#[test]
fn tokens_are_taken_from_the_file_and_come_back_with_time() {
    let dir = tempfile::tempdir().expect("a directory");
    let limit = limit("Bash", "2/hour");
    let take = |seconds| take(dir.path(), &[&limit], at(seconds));
    let left = |seconds| left(dir.path(), &[&limit], at(seconds)).expect("a number")[0];
    assert_eq!(left(0), 2);
    take(0).expect("the first");
    take(600).expect("the second");
    assert_eq!((left(600), refused(take(601))), (0, 1800));
    assert_eq!((left(1799), left(1800), left(3600), left(9_999_999)), (0, 1, 2, 2));
    take(1800).expect("the third");
    assert_eq!(refused(take(1801)), 3600);
}

#[test]
fn a_token_that_is_given_back_can_be_taken_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let limit = limit("*", "1/day");
    let token = take(dir.path(), &[&limit], at(0)).expect("a token");
    refused(take(dir.path(), &[&limit], at(0)));
    token.give_back().expect("written");
    let token = take(dir.path(), &[&limit], at(0)).expect("a token");
    // Given back when it has come back by itself, it makes no second one.
    let later = 2 * 86_400;
    take(dir.path(), &[&limit], at(later))
        .expect("a token")
        .give_back()
        .expect("written");
    token.give_back().expect("written");
    assert_eq!(left(dir.path(), &[&limit], at(later)).expect("a number"), [1]);
}

#[test]
fn a_call_takes_of_all_its_limits_or_of_none() {
    let dir = tempfile::tempdir().expect("a directory");
    let (own, all) = (limit("Bash", "1/hour"), limit("*", "2/day"));
    let both = [&own, &all];
    take(dir.path(), &both, at(0)).expect("tokens");
    assert_eq!(refused(take(dir.path(), &both, at(1))), 3600);
    assert_eq!(left(dir.path(), &both, at(1)).expect("numbers"), [0, 1]);
    take(dir.path(), &[&all], at(1)).expect("the other tool's");
    assert_eq!(refused(take(dir.path(), &both, at(2))), 43_200, "the later of the two");
}

#[test]
fn a_projects_bucket_is_its_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let of = |file| Limit {
        owner: Owner::Project,
        origin: Origin::of(file, 1),
        ..limit("Bash", "1/day")
    };
    for limit in [limit("Bash", "1/day"), of("/a/x.toml"), of("/b/x.toml")] {
        take(dir.path(), &[&limit], at(0)).expect("a token");
        refused(take(dir.path(), &[&limit], at(0)));
    }
}

#[test]
fn a_clock_that_is_set_back_empties_a_bucket_for_no_longer_than_it_takes_to_fill() {
    let dir = tempfile::tempdir().expect("a directory");
    let limit = limit("Bash", "2/hour");
    take(dir.path(), &[&limit], at(90_000_000)).expect("in the future");
    assert_eq!(refused(take(dir.path(), &[&limit], at(0))), 1800);
    let file = fs::read_to_string(dir.path().join(FILE)).expect("the file");
    take(dir.path(), &[&limit], at(90_000_000 + 1)).expect(&file);
}

#[test]
fn a_lower_limit_holds_at_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mild, strict) = (limit("Bash", "10/hour"), limit("Bash", "1/hour"));
    for _ in 0..10 {
        take(dir.path(), &[&mild], at(0)).expect("a token");
    }
    assert_eq!(refused(take(dir.path(), &[&strict], at(0))), 3600);
}

#[test]
fn what_cannot_be_read_or_written_gives_no_token_and_stays_as_it_is() {
    let whole = format!("{HEADER}5 Bash\n");
    for text in [
        "",
        "x",
        HEADER.trim_end(),
        &whole[..whole.len() - 1],
        &format!("{whole}Bash 5\n"),
        &format!("{HEADER}-5 Bash\n"),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join(FILE), text).expect("a file");
        let result = take(dir.path(), &[&limit("Bash", "1/day")], at(0));
        assert!(matches!(result, Err(Refusal::Uncounted(_))), "{text}");
        assert!(matches!(
            look(dir.path(), &[&limit("Bash", "1/day")], at(0)),
            Err(Refusal::Uncounted(_))
        ));
        assert_eq!(fs::read_to_string(dir.path().join(FILE)).expect("the file"), text);
    }
    for name in [FILE, LOCK, DRAFT] {
        let dir = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join(name)).expect("a link");
        let result = take(dir.path(), &[&limit("Bash", "1/day")], at(0));
        assert!(matches!(result, Err(Refusal::Uncounted(_))), "{name}");
        assert!(!dir.path().join("elsewhere").exists());
    }
}

#[test]
fn what_a_process_left_half_written_is_written_over() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join(DRAFT), "x".repeat(10_000)).expect("a draft");
    take(dir.path(), &[&limit("Bash", "1/day")], at(0)).expect("a token");
    refused(take(dir.path(), &[&limit("Bash", "1/day")], at(0)));
}

#[test]
fn full_buckets_are_forgotten() {
    let dir = tempfile::tempdir().expect("a directory");
    take(dir.path(), &[&limit("Bash", "1/second")], at(0)).expect("a token");
    take(dir.path(), &[&limit("Read", "1/second")], at(5)).expect("a token");
    let text = fs::read_to_string(dir.path().join(FILE)).expect("the file");
    assert_eq!(text, format!("{HEADER}{} Read\n", nanos(at(6))));
}

#[test]
fn many_at_once_get_exactly_as_many_as_there_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let tries = || {
        let (limit, now) = (limit("Bash", "50/day"), at(0));
        (0..20).filter(|_| take(dir.path(), &[&limit], now).is_ok()).count()
    };
    let given = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(tries)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .sum::<usize>()
    });
    assert_eq!(given, 50);
}
