//! The answers that test hooks print. The bytes of the product's own answers stand here and nowhere else in these
//! tests.

/// The host's answer form for a PermissionRequest hook: run it.
pub const ALLOW: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;

/// No decision: the question stays with the person.
pub const NONE: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}"#;

/// What a denied model reads, to the byte.
pub const DENIED: &str = "[countersign:policy] this file is kept: ask before you remove \"it\"";

/// Do not run it; the model is told [`DENIED`].
pub fn deny() -> String {
    serde_json::json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {
        "behavior": "deny", "message": DENIED,
    }}})
    .to_string()
}

/// The PreToolUse answer that runs a call before any dialog.
pub const EARLY_ALLOW: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"known"}}"#;

/// The PreToolUse answer that refuses a call in every mode.
pub fn early_deny() -> String {
    serde_json::json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": DENIED,
    }})
    .to_string()
}

/// The PreToolUse answer that brings the dialog in every mode.
pub const EARLY_ASK: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"look"}}"#;
