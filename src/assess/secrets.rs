//! Credentials in a text that is written to a file or leaves the machine, by the forms that issuers gave them.
//!
//! A text may stand here as it is, or as source code writes it, with backslashes before quotes and `\n` for a new line.
//!
//! What is found here only raises a tier, so a form that is missing opens nothing that was closed.

use memchr::{memchr2_iter, memchr3_iter};

use super::address;
use super::bash::Gathered;
use crate::effect::{Action, EffectSpec, Place, Reach};

/// A text that is sent with a question and is longer than this, in bytes, carries something out.
const MAX_SENT: usize = 400;

/// The longest value of a password or key that is looked at, in bytes.
const MAX_VALUE: usize = 200;

/// The longest part of a token that is looked at, in bytes.
const MAX_TOKEN: usize = 512;

/// Text that leaves the machine: what of it looks like a credential, or like data that is carried out.
pub fn sent(text: &str, gathered: &mut Gathered) {
    let plain = address::decoded(text);
    let plain = plain.as_deref().unwrap_or(text);
    if let Some(kind) = find(plain).or_else(|| looks_secret(plain).then_some("what looks like a credential")) {
        shown(&format!("{kind} in what it sends"), gathered);
    }
    if text.len() > MAX_SENT {
        let spec = EffectSpec {
            reach: Reach::New,
            ..EffectSpec::of(Action::Connect)
        };
        gathered.effect(spec, "another machine, with more text than a question needs");
    }
}

/// A credential is told to whoever reads what the call writes or sends.
pub fn shown(what: &str, gathered: &mut Gathered) {
    let spec = EffectSpec {
        place: Place::Secret,
        ..EffectSpec::of(Action::Disclose)
    };
    gathered.effect(spec, what);
}

/// A credential's name with a value, or a long run of letters and digits as keys and encoded data have.
fn looks_secret(text: &str) -> bool {
    let names = [
        "password",
        "passwd",
        "token",
        "secret",
        "api_key",
        "api-key",
        "apikey",
        "access_key",
        "private_key",
        "bearer",
    ];
    let lower = text.to_ascii_lowercase();
    let named = names.iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let rest = lower[at + name.len()..].trim_start_matches(['"', '\'', ' ']);
            rest.strip_prefix(['=', ':'])
                .is_some_and(|value| !value.trim().is_empty())
        })
    });
    named
        || text
            .split(|c: char| !c.is_ascii_alphanumeric() && !"_+-=".contains(c))
            .any(is_key)
}

fn is_key(word: &str) -> bool {
    let bytes = word.as_bytes();
    let has_letters = bytes.iter().any(u8::is_ascii_alphabetic);
    let run = word.split(['-', '+', '=']).any(|run| {
        run.len() >= 32 && run.bytes().any(|b| b.is_ascii_digit()) && run.bytes().any(|b| b.is_ascii_alphabetic())
    });
    // Digits that stand between letters as they do in chance text, and letters of both cases.
    let turns = bytes.windows(2).filter(|pair| {
        pair.iter().all(u8::is_ascii_alphanumeric) && pair[0].is_ascii_digit() != pair[1].is_ascii_digit()
    });
    let both_cases = bytes.iter().any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase);
    run || has_letters && both_cases && bytes.len() >= 24 && turns.count() >= 5
}

/// What a credential in a text is: "a GitHub token". `None` where there is none.
pub fn find(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    // Every form of a token holds one of these bytes, all of which are rare.
    memchr3_iter(b'_', b'-', b'K', bytes)
        .chain(memchr3_iter(b'S', b'z', b'J', bytes))
        .find_map(|at| token(bytes, at))
        .or_else(|| memchr2_iter(b'=', b':', bytes).find_map(|at| assigned(bytes, at)))
}

/// A token of a known issuer whose prefix holds the byte `at`.
fn token(bytes: &[u8], at: usize) -> Option<&'static str> {
    let (before, after) = bytes.split_at(at + 1);
    let (kind, start, least) = match before {
        [.., b'g', b'h', b'p' | b'o' | b'u' | b's' | b'r', b'_'] => ("a GitHub token", 4, 30),
        [.., b'h', b'u', b'b', b'_', b'p', b'a', b't', b'_'] => ("a GitHub token", 11, 40),
        [.., b'g', b'l', b'p', b'a', b't', b'-'] => ("a GitLab token", 6, 20),
        [.., b'x', b'o', b'x', b'a' | b'b' | b'e' | b'p' | b'r' | b's', b'-'] => ("a Slack token", 5, 12),
        [.., b's' | b'r', b'k', b'_', b'l', b'i', b'v', b'e', b'_'] => ("a payment key", 8, 16),
        [.., b's', b'k', b'-'] => ("an API key", 3, 32),
        [.., b'n', b'p', b'm', b'_'] => ("a registry token", 4, 30),
        [.., b'p', b'y', b'p', b'i', b'-'] => ("a registry token", 5, 50),
        [.., b'h', b'f', b'_'] => ("an API key", 3, 30),
        [.., b'd', b'o', b'p', b'_', b'v', b'1', b'_'] => ("an API key", 7, 40),
        [.., b'A', b'I', b'z'] if after.starts_with(b"a") => ("a Google API key", 3, 35),
        [.., b'A', b'K'] if after.starts_with(b"IA") => ("an AWS access key", 2, 18),
        [.., b'A', b'S'] if after.starts_with(b"IA") => ("an AWS access key", 2, 18),
        [.., b'e', b'y', b'J'] => ("a signed token", 3, 16),
        [.., b'K', b'E', b'Y', b'-'] => ("a private key", 4, 50),
        [.., b'-'] if after.starts_with(b"----BEGIN ") => {
            let line = &after[..after.len().min(64)];
            let is_private = line.windows(11).any(|part| part == b"PRIVATE KEY");
            return is_private.then_some("a private key");
        }
        _ => return None,
    };
    let inside_a_word = match &before[..before.len() - start] {
        [.., b'\\', b'n' | b'r' | b't'] => false,
        [.., last] => last.is_ascii_alphanumeric(),
        [] => false,
    };
    let of_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let tail = &after[..after.iter().take(MAX_TOKEN).take_while(of_token).count()];
    let mixed = tail.iter().any(u8::is_ascii_digit) && tail.iter().any(u8::is_ascii_alphabetic);
    let whole = match kind {
        "an AWS access key" => tail.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()),
        "a signed token" => after[tail.len()..].starts_with(b".eyJ"),
        _ => mixed,
    };
    (!inside_a_word && tail.len() >= least && whole).then_some(kind)
}

/// A value that is given, by `=` or `:` at `at`, to a name that tells of a credential; or the password in an address.
fn assigned(bytes: &[u8], at: usize) -> Option<&'static str> {
    let after = &bytes[at + 1..bytes.len().min(at + 1 + MAX_VALUE)];
    if let Some(address) = after.strip_prefix(b"//") {
        let authority = address.split(|b| b"/?#\"'`<>\\ \n".contains(b)).next()?;
        let user = &authority[..authority.iter().rposition(|&b| b == b'@')?];
        let password = &user[user.iter().position(|&b| b == b':')? + 1..];
        return looks_real(password).then_some("a password in an address");
    }
    let before = &bytes[at.saturating_sub(64)..at];
    // The first of a row of signs was asked already.
    if before.last() == Some(&bytes[at]) {
        return None;
    }
    // `==` compares, and a prefix such as `b` or `r` may stand before a quote.
    let start = after.iter().position(|b| !b" \t=brf\\".contains(b))?;
    let value = match &after[start..] {
        [quote @ (b'"' | b'\'' | b'`'), rest @ ..] => {
            let value = &rest[..rest.iter().position(|b| b == quote || *b == b'\n')?];
            value.strip_suffix(b"\\").unwrap_or(value)
        }
        // As environment files and the like write it: `API_TOKEN=abc`.
        _ if before.last().is_some_and(u8::is_ascii_uppercase) => {
            let line = after.split(|b| b"\n\\\"".contains(b)).next()?.trim_ascii();
            let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_!@#%^&*+/=-".contains(b);
            Some(line).filter(|line| line.iter().all(plain) && line.iter().any(u8::is_ascii_digit))?
        }
        _ => return None,
    };
    (names_credential(before) && looks_real(value)).then_some("a password or key")
}

/// Whether the text before `=` or `:` ends with a name that tells of a credential, a type after it aside.
fn names_credential(before: &[u8]) -> bool {
    let breaks = before.windows(2).rposition(|pair| pair[1] == b'\n' || pair == b"\\n");
    let line = breaks.map_or(before, |at| &before[at + 2..]);
    let ends_so = |text: &[u8]| {
        let of_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-".contains(b);
        let end = text.iter().rposition(of_name).map_or(0, |last| last + 1);
        let start = text[..end].iter().rposition(|b| !of_name(b)).map_or(0, |last| last + 1);
        let name: Vec<u8> = text[start..end].to_ascii_lowercase();
        let name: Vec<u8> = name.into_iter().filter(|b| !b"_-".contains(b)).collect();
        [
            "password",
            "passwd",
            "passphrase",
            "secret",
            "token",
            "apikey",
            "accesskey",
            "accountkey",
            "secretkey",
            "privatekey",
            "signingkey",
            "encryptionkey",
        ]
        .iter()
        .any(|word| name.ends_with(word.as_bytes()))
    };
    ends_so(line)
        || line
            .iter()
            .position(|&b| b == b':')
            .is_some_and(|colon| ends_so(&line[..colon]))
}

/// Not a placeholder, a word or a reference to where the value really is.
fn looks_real(value: &[u8]) -> bool {
    const STANDS_FOR: &[&str] = &[
        "${",
        "{{",
        "$(",
        "<",
        "example",
        "changeme",
        "change_me",
        "change-me",
        "placeholder",
        "your",
        "xxx",
        "***",
        "...",
        "dummy",
        "redacted",
        "fake",
        "test",
        "::",
        "://",
        "password",
        "secret",
    ];
    let text = String::from_utf8_lossy(value).to_lowercase();
    let is_colour = value.len() <= 9 && value.starts_with(b"#");
    let is_word = value.iter().all(|b| b.is_ascii_alphabetic() || b"_-. /:".contains(b));
    (6..MAX_VALUE).contains(&value.len())
        && value.is_ascii()
        && !is_colour
        && !value.iter().any(u8::is_ascii_whitespace)
        && !STANDS_FOR.iter().any(|part| text.contains(part))
        && (!is_word || value.len() >= 20 && value.iter().all(u8::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together here, so that no scanner takes this file for one that holds a credential.
    fn joined(parts: &[&str]) -> String {
        parts.concat()
    }

    #[test]
    fn credentials_are_known_by_their_form() {
        let forty = "a1B2c3D4e5".repeat(4);
        for (text, kind) in [
            (joined(&["-----BEGIN ", "RSA PRIVATE KEY-----\nMII"]), "a private key"),
            (joined(&["x\ngh", "p_", &forty]), "a GitHub token"),
            (joined(&["x\n-----BEGIN ", "PRIVATE KEY-----"]), "a private key"),
            (joined(&["-----BEGIN OPENSSH ", "PRIVATE KEY-----"]), "a private key"),
            (
                joined(&["id = \"AK", "IA", "ABCDEFGHIJ234567", "\""]),
                "an AWS access key",
            ),
            (joined(&["AS", "IA", "ABCDEFGHIJ234567"]), "an AWS access key"),
            (joined(&["t: gh", "p_", &forty]), "a GitHub token"),
            (joined(&["github_", "pat_", &forty]), "a GitHub token"),
            (joined(&["gl", "pat-", &forty]), "a GitLab token"),
            (joined(&["xox", "b-", "123456789012-abc"]), "a Slack token"),
            (joined(&["AI", "za", &forty]), "a Google API key"),
            (joined(&["sk", "-proj-", &forty]), "an API key"),
            (joined(&["sk", "_live_", &forty]), "a payment key"),
            (joined(&["np", "m_", &forty]), "a registry token"),
            (
                joined(&["ey", "JhbGciOiJIUzI1NiJ9", ".ey", "JzdWIiOiIxIn0.x"]),
                "a signed token",
            ),
            ("password = \"hunter2!\"".into(), "a password or key"),
            ("let db_password = \"tr0ub4dor\";".into(), "a password or key"),
            ("{\"apiKey\": \"9f8e7d6c5b4a\"}".into(), "a password or key"),
            ("const API_TOKEN: &str = \"9f8e7d6c5b4a\";".into(), "a password or key"),
            ("'client_secret' : '9f8e7d6c5b4a'".into(), "a password or key"),
            ("x\nDB_PASSWORD=hunter2\ny".into(), "a password or key"),
            ("      POSTGRES_PASSWORD: hunter2".into(), "a password or key"),
            ("postgres://app:tr0ub4dor@db/app".into(), "a password in an address"),
        ] {
            let escaped = text.replace('"', "\\\"").replace('\n', "\\n");
            assert_eq!((find(&text), find(&escaped)), (Some(kind), Some(kind)), "{text}");
        }
    }

    #[test]
    fn names_placeholders_and_code_are_no_credentials() {
        for text in [
            "",
            "let password = read_password()?;",
            "password: String,",
            "pub token: Option<&'a str>,",
            "password = \"\"",
            "password = \"changeme\"",
            "API_KEY=your-key-1-here",
            "API_KEY=${API_KEY}",
            "token = \"<token>\"",
            "\"password\": \"Passwort\"",
            "token: \"auth.token.label\"",
            "secret: process.env.SECRET",
            "https://user:password@localhost/",
            "https://docs.rs/serde/1.0.0/serde/",
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "a task-that-has-a-rather-long-name-and-no-digits",
            "desk-aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3",
            "npm_config_registry and hf_transfer",
            "KIASK AKIA eyJ _ - = : S z J K",
            "TOKEN_KIND = 3",
            "pub const SOME_TOKEN: kind_7 = kind_7::SOME;",
            "Token: \"#d8dee9\",",
            "TOKEN: &str = \"crate1::private::Number\"",
            "assert!(token == expected, \"é\");",
            "naïve: = \"ü\" é=",
        ] {
            let escaped = text.replace('"', "\\\"").replace('\n', "\\n");
            assert_eq!((find(text), find(&escaped)), (None, None), "{text}");
        }
    }

    #[test]
    fn every_end_of_a_text_is_looked_at_without_fault() {
        let text = "password = \"hunter2!\" -----BEGIN EC PRIVATE KEY----- https://a:b1b1b1b1@c é=é:é_é-é";
        for (at, _) in text.char_indices() {
            let _ = (find(&text[at..]), find(&text[..at]));
        }
    }

    #[test]
    fn a_named_value_and_a_long_key_look_secret_and_a_question_does_not() {
        for text in [
            "https://x.example/?token=abc",
            "what is \"password\": \"hunter\"",
            "0123456789abcdef0123456789abcdef",
            "/q/aGVsbG8gd29ybGQ0MjQyNDI0Mg==",
            "?d=eW91ciBzM2NyZXQga2V5IDQyIQ",
        ] {
            assert!(looks_secret(text), "{text}");
        }
        for text in [
            "how do I store a password hash in rust",
            "https://docs.rs/serde/latest/serde/trait.Deserialize.html",
            "/questions/12345678/how-do-i-convert-a-string-to-an-integer-in-rust",
            "/en/US/docs/Web/JavaScript/Reference/Global_Objects/Uint8Array",
            "?id=7e7b1b36-0f54-4d9b-a1a5-2c1b4a8d0c11",
        ] {
            assert!(!looks_secret(text), "{text}");
        }
    }

    #[test]
    fn a_text_of_nothing_but_beginnings_is_read_in_one_pass() {
        for part in ["=", ":", "-", "ghp_", "sk-", "x=b", "://a:b", "-----BEGIN "] {
            assert_eq!(find(&part.repeat(20_000)), None, "{part}");
        }
    }
}
