//! Whether the relay is on and answers, and whether the host waits for it as long as it should.

use super::Findings;
use super::layers::{Entry, Layer, ours};
use crate::hold;
use crate::setup::host::{PERMISSION_REQUEST, SESSION_START};
use crate::setup::relay;

pub fn relay(layers: &[Layer], findings: &mut Findings) {
    let entries = ours(layers);
    let of = |event: &'static str| entries.iter().filter(move |entry| entry.found.event == event);
    let waits = |entry: &&Entry| entry.deadline().is_some_and(|seconds| seconds > hold::AT_ONCE as f64);
    let (holding, ensured) = (
        of(PERMISSION_REQUEST).any(|entry| waits(&entry)),
        of(SESSION_START).next().is_some(),
    );
    if !relay::is_on() {
        match holding || ensured {
            true => findings.warn(
                "relay",
                "it is off, and the settings are those for one",
                "run `countersign install`",
            ),
            false => findings.ok("relay", "off"),
        }
        return;
    }
    match relay::say(&["status"]) {
        Ok(said) => findings.ok("relay", said.trim().replace('\n', " ")),
        Err(why) => findings.fail(
            "relay",
            format!("it is on and does not answer: countersign-relay {why}"),
            "run `countersign relay on` to see why, or `countersign relay off`",
        ),
    }
    if !holding || !ensured {
        let what = "it is on, and Claude Code does not wait for it";
        findings.warn("relay", what, "run `countersign install`");
    }
}
