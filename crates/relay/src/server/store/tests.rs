//! The times of a request, which no clock of a test waits for.

use countersign_protocol::keys::{Algorithm, KeyPair};
use countersign_protocol::verdict::{Answer, SignedVerdict, Verdict};
use countersign_protocol::{Card, SignedCard, Status, Why};

use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::{APART, Changed, New, ORPHANED, Put, Sql, Store};
use crate::card::card;
use crate::postgres::Database;

const START: i64 = 1_796_000_000_000;

async fn store() -> (Store<Sqlite>, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a directory");
    let sqlite = Sqlite::open(&dir.path().join("relay.db")).expect("a database");
    (Store::open(sqlite).await.expect("a store"), dir)
}

/// A card of this number that lives for ten minutes, and an answer to it.
fn asked(number: u8) -> (SignedCard, SignedVerdict) {
    let pair = KeyPair::generate(Algorithm::Ed25519).expect("a key");
    let card = Card {
        id: format!("{number:032x}"),
        lives_for: 600_000,
        ..card()
    };
    let verdict = Verdict::new(&card, Answer::Allow, 1).expect("a card");
    (card.sign(&pair).expect("signed"), verdict.sign(&pair).expect("signed"))
}

async fn put<S: Sql>(store: &Store<S>, card: &SignedCard) {
    let new = New {
        machine: "laptop",
        idempotency: &card.card.id,
        body: &card.card.id,
        card,
    };
    assert!(matches!(store.put(&new, START).await, Ok(Put::Created(_))));
}

fn status(changed: anyhow::Result<Changed>) -> (bool, Status, Option<Why>) {
    match changed.expect("an answer") {
        Changed::Done(request, _) => (true, request.status, request.why),
        Changed::Again(..) => panic!("it was not done before"),
        Changed::Not(request) => (false, request.status, request.why),
        Changed::Unknown => panic!("there is no such request"),
    }
}

#[tokio::test]
async fn a_request_whose_machine_has_missed_two_polls_is_not_decided_though_nobody_has_swept() {
    let (store, _dir) = store().await;
    let (card, verdict) = asked(1);
    let id = card.card.id.as_str();
    put(&store, &card).await;
    let late = START + ORPHANED + 1;
    let withdrawn = (false, Status::Withdrawn, Some(Why::SessionEnded));
    assert_eq!(status(store.decide(id, &verdict, late).await), withdrawn);
    assert!(store.pending(late).await.expect("what waits").is_empty());
    // It was only late, and asks again before it is swept.
    let asks = store
        .poll(id, "laptop", late)
        .await
        .expect("a poll")
        .expect("a request");
    assert_eq!(asks.status, Status::Pending);
    assert_eq!(
        status(store.decide(id, &verdict, late + ORPHANED).await),
        (true, Status::Decided, None)
    );
}

#[tokio::test]
async fn what_was_swept_stays_withdrawn() {
    let (store, _dir) = store().await;
    let (card, verdict) = asked(2);
    let id = card.card.id.as_str();
    put(&store, &card).await;
    assert!(store.orphan(START + ORPHANED).await.expect("swept").is_empty());
    let late = START + ORPHANED + 1;
    assert_eq!(store.orphan(late).await.expect("swept"), [id]);
    let asks = store
        .poll(id, "laptop", late)
        .await
        .expect("a poll")
        .expect("a request");
    assert_eq!((asks.status, asks.why), (Status::Withdrawn, Some(Why::SessionEnded)));
    assert_eq!(status(store.decide(id, &verdict, late).await).1, Status::Withdrawn);
}

#[tokio::test]
async fn a_verdict_is_not_taken_after_its_time_and_a_clock_that_goes_back_brings_none_back() {
    let (store, _dir) = store().await;
    let (card, verdict) = asked(3);
    let id = card.card.id.as_str();
    put(&store, &card).await;
    assert!(status(store.decide(id, &verdict, START + 1).await).0);
    let late = START + 600_000;
    assert_eq!(
        status(store.consume(id, "laptop", None, late).await),
        (false, Status::Expired, None)
    );
    assert_eq!(store.expire(late).await.expect("swept"), [id]);
    assert_eq!(
        status(store.consume(id, "laptop", None, START + 2).await),
        (false, Status::Expired, None)
    );
}

#[tokio::test]
async fn a_verdict_is_given_again_to_the_key_it_was_taken_with_until_its_time_has_passed() {
    let (store, _dir) = store().await;
    let (card, verdict) = asked(6);
    let id = card.card.id.as_str();
    put(&store, &card).await;
    let consume = |machine, key, now| store.consume(id, machine, key, now);
    let undecided = consume("laptop", Some("one"), START).await;
    assert_eq!(status(undecided), (false, Status::Pending, None), "no key is kept yet");
    assert!(status(store.decide(id, &verdict, START).await).0);
    let Ok(Changed::Done(taken, _)) = consume("laptop", Some("one"), START).await else {
        panic!("it is not taken");
    };
    assert_eq!((taken.status, &taken.verdict), (Status::Consumed, &Some(verdict)));
    let (last, over) = (START + 599_999, START + 600_000);
    for now in [START, last] {
        let again = consume("laptop", Some("one"), now).await;
        assert!(
            matches!(&again, Ok(Changed::Again(request, _)) if *request == taken),
            "{again:?}"
        );
    }
    for (key, now) in [(Some("other"), START), (None, START), (Some("one"), over)] {
        let refused = consume("laptop", key, now).await;
        assert_eq!(status(refused), (false, Status::Consumed, None), "{key:?}");
    }
    assert!(matches!(
        consume("desktop", Some("one"), START).await,
        Ok(Changed::Unknown)
    ));
}

/// Opens tables as the version before has made them.
async fn opens_the_tables_of_the_version_before<S: Sql>(store: Store<S>) {
    let (taken, decided) = (asked(7), asked(8));
    for (card, verdict) in [&taken, &decided] {
        put(&store, card).await;
        assert!(status(store.decide(&card.card.id, verdict, START).await).0);
    }
    let consume = async |store: &Store<S>, card: &SignedCard| {
        let consumed = store.consume(&card.card.id, "laptop", Some("one"), START).await;
        consumed.expect("an answer")
    };
    assert!(matches!(consume(&store, &taken.0).await, Changed::Done(..)));
    let before = "ALTER TABLE request DROP COLUMN consume_key";
    store
        .sql
        .rows(before, Vec::new())
        .await
        .expect("the tables as they were");

    let store = Store::open(store.sql).await.expect("the tables of this version");
    let stays = consume(&store, &taken.0).await;
    assert!(
        matches!(stays, Changed::Not(_)),
        "nobody knows who has taken it: {stays:?}"
    );
    assert!(matches!(consume(&store, &decided.0).await, Changed::Done(..)));
    let store = Store::open(store.sql).await.expect("the same tables");
    assert!(matches!(consume(&store, &decided.0).await, Changed::Again(..)));
}

#[tokio::test]
async fn the_tables_of_the_version_before_are_kept_on_with_on_sqlite() {
    let (store, _dir) = store().await;
    opens_the_tables_of_the_version_before(store).await;
}

#[tokio::test]
async fn the_tables_of_the_version_before_are_kept_on_with_on_postgresql() {
    let Some(database) = Database::start() else { return };
    let address = std::fs::read_to_string(&database.address).expect("the address");
    let postgres = Postgres::connect(address.trim()).await.expect("PostgreSQL");
    opens_the_tables_of_the_version_before(Store::open(postgres).await.expect("a store")).await;
}

#[tokio::test]
async fn what_has_ended_is_forgotten_and_what_waits_is_not() {
    let (store, _dir) = store().await;
    let (over, _) = asked(4);
    let (waits, _) = asked(5);
    put(&store, &over).await;
    put(&store, &waits).await;
    let withdrawn = store.withdraw(&over.card.id, "laptop", Why::Timeout, START).await;
    assert_eq!(status(withdrawn), (true, Status::Withdrawn, Some(Why::Timeout)));
    assert_eq!(
        store.forget(START + 1).await.expect("forgotten"),
        [over.card.id.as_str()]
    );
    assert!(store.get(&over.card.id, START).await.expect("an answer").is_none());
    assert!(store.get(&waits.card.id, START).await.expect("an answer").is_some());
}

#[tokio::test]
async fn of_statements_that_are_committed_together_one_that_fails_leaves_the_others() {
    let (store, _dir) = store().await;
    let sql = store.sql();
    let insert = |id: &str| {
        let statement = "INSERT INTO request (id, machine, idempotency, body, status, revision, card, created_at, expires_at, seen_at)
            VALUES ($1, 'm', $1, '', 'pending', 1, '', 0, 0, 0) RETURNING id";
        super::Sql::rows(sql, statement, vec![id.into()])
    };
    let (one, twice, wrong, other) = tokio::join!(
        insert("a"),
        insert("a"),
        super::Sql::rows(sql, "NO STATEMENT", Vec::new()),
        insert("b")
    );
    assert!(one.is_ok() && other.is_ok());
    assert!(twice.is_err() && wrong.is_err());
    assert_eq!(store.waiting().await.expect("a count"), 2);
}

#[tokio::test]
async fn a_clock_that_is_set_back_lets_nothing_live_longer() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let (store, _dir) = store().await;
    let ((left, _), (over, _)) = (asked(6), asked(7));
    put(&store, &left).await;
    put(&store, &over).await;
    let withdrawn = store.withdraw(&over.card.id, "laptop", Why::Timeout, START).await;
    assert!(status(withdrawn).0);
    let back = START - 3653 * DAY;
    store.set_back(back).await.expect("set back");
    assert!(store.orphan(back + ORPHANED).await.expect("swept").is_empty());
    assert_eq!(
        store.orphan(back + ORPHANED + 1).await.expect("swept"),
        [left.card.id.as_str()]
    );
    assert_eq!(store.forget(back + 1).await.expect("forgotten").len(), 2);
}

#[tokio::test]
async fn clocks_that_differ_a_little_change_no_times() {
    let (store, _dir) = store().await;
    let (card, _) = asked(8);
    put(&store, &card).await;
    store.set_back(START - APART).await.expect("set back");
    assert!(store.expire(START + 599_999).await.expect("swept").is_empty());
    assert_eq!(store.expire(START + 600_000).await.expect("swept").len(), 1);
}
