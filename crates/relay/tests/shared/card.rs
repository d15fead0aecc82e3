//! A card for tests: the first of docs/protocol.vectors.json, which asks whether `rm notes.txt` may run.

use std::sync::LazyLock;

use countersign_protocol::Card;
use countersign_protocol::keys::random_hex;
use serde_json::Value;

static CARD: LazyLock<Card> = LazyLock::new(|| {
    let vectors = include_str!("../../../../docs/protocol.vectors.json");
    let vectors: Value = serde_json::from_str(vectors).expect("JSON");
    serde_json::from_value(vectors["cards"][0]["card"].clone()).expect("a card")
});

/// A card under an id that no other has, so that nobody has put it yet.
pub fn card() -> Card {
    Card {
        id: random_hex::<16>().expect("an id"),
        ..CARD.clone()
    }
}
