//! Keeps secrets out of the record: by value, by name and by shape. What is masked in vain costs a word of the record,
//! what is not masked costs the secret, so in doubt it is masked.

use std::env;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::catalog::environment::secret_name;

const MASKED: &str = "[masked]";

/// A variable's value shorter than this, in bytes, would mask ordinary words.
const MIN_VALUE: usize = 8;

/// How tokens of well-known services begin, and how many bytes follow at least: letters, digits, `_`, `-` and `.`.
const TOKENS: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("eyJ", 17),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghr_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("hf_", 20),
    ("npm_", 20),
    ("pypi-", 20),
    ("rk_live_", 10),
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("whsec_", 16),
    ("xapp-", 10),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxo-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
];

/// The shortest token in [`TOKENS`], in bytes.
const MIN_TOKEN: usize = 15;

/// A value of this many bytes after `name=`, without a blank and as mixed as a key, is taken for one.
const MIN_MIXED: usize = 24;

/// The variable in which the host names the session: by it the record tells sessions apart.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// Knows the values that must not be written.
#[derive(Debug, Default)]
pub struct Masker {
    /// Names and values of this process's environment. They never leave it.
    variables: Vec<(String, String)>,
}

/// Where a text holds secrets.
#[derive(Default)]
struct Secrets {
    /// What is a secret by itself: a value of the environment, a token of a known form.
    known: Vec<Range<usize>>,
    /// What is taken for one because of what stands around it.
    guessed: Vec<Range<usize>>,
}

impl Masker {
    pub fn of_environment() -> Self {
        let variables = env::vars_os().filter_map(|(name, value)| {
            let value = value.into_string().ok().filter(|value| value.len() >= MIN_VALUE)?;
            let name = name.into_string().ok().filter(|name| name != SESSION)?;
            Some((name, value))
        });
        Masker {
            variables: variables.collect(),
        }
    }

    /// The text with each secret in it replaced.
    pub fn text(&self, text: &str) -> String {
        let Secrets { mut known, guessed } = self.secrets(text);
        known.extend(guessed);
        replaced(text, known)
    }

    /// The same for somebody who is to allow what the text says, and how many bytes of it they do not see that may be more
    /// than a secret: what is masked because of what stands around it may be code as well.
    pub fn for_approval(&self, text: &str) -> (String, usize) {
        let Secrets { mut known, guessed } = self.secrets(text);
        let is_known = |range: &Range<usize>| {
            known
                .iter()
                .any(|known| known.start <= range.start && range.end <= known.end)
        };
        let hidden = guessed.iter().filter(|range| !is_known(range)).map(Range::len).sum();
        known.extend(guessed);
        (replaced(text, known), hidden)
    }

    fn secrets(&self, text: &str) -> Secrets {
        let mut secrets = Secrets::default();
        if text.len() >= MIN_VALUE {
            self.values(text, &mut secrets.known);
        }
        if text.len() >= MIN_TOKEN {
            tokens(text, &mut secrets.known);
            private_keys(text, &mut secrets.guessed);
            logins(text, &mut secrets.guessed);
        }
        named(text, &mut secrets.guessed);
        secrets
    }

    /// The JSON with each secret in its texts replaced, and all that stands under a secret's name.
    pub fn json(&self, raw: &RawValue) -> Option<Box<RawValue>> {
        let mut value: Value = serde_json::from_str(raw.get()).ok()?;
        self.value(&mut value);
        to_raw_value(&value).ok()
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => {
                let names_secret = ["name", "key"]
                    .iter()
                    .any(|key| fields.get(*key).and_then(Value::as_str).is_some_and(is_secret_name));
                for (key, mut value) in std::mem::take(fields) {
                    if is_secret_name(&key) || names_secret && key == "value" {
                        value = Value::from(MASKED);
                    }
                    self.value(&mut value);
                    fields.insert(self.text(&key), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Values of variables whose names are a secret's. Most values stand nowhere in the text, so the name is asked last.
    fn values(&self, text: &str, found: &mut Vec<Range<usize>>) {
        for (name, value) in &self.variables {
            if value.len() <= text.len() && text.contains(value.as_str()) && secret_name(name) {
                let starts = text.match_indices(value.as_str()).map(|(start, _)| start);
                found.extend(starts.map(|start| start..start + value.len()));
            }
        }
    }
}

/// Tokens by how they begin, at the beginning of a word.
fn tokens(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + MIN_TOKEN <= bytes.len() {
        let begins = bytes[at].is_ascii_alphabetic() && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
        let token = begins.then(|| {
            TOKENS
                .iter()
                .find(|(start, _)| bytes[at..].starts_with(start.as_bytes()))
        });
        let Some((start, least)) = token.flatten() else {
            at += 1;
            continue;
        };
        let rest = &text[at + start.len()..];
        let length = run(rest, |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        let mixed = rest[..length]
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if length >= *least && mixed {
            found.push(at..at + start.len() + length);
        }
        at += start.len();
    }
}

/// PEM blocks, to their end or the text's.
fn private_keys(text: &str, found: &mut Vec<Range<usize>>) {
    const END: &str = "-----END ";
    for (start, _) in text.match_indices("-----BEGIN ") {
        let end = text[start..].find(END).and_then(|end| {
            let after = start + end + END.len();
            Some(after + text[after..].find("-----")? + 5)
        });
        found.push(start..end.unwrap_or(text.len()));
    }
}

/// `user:password@` and a token in its place, after `://`.
fn logins(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let authority = run(&text[start..], |byte| !b"/?#\"' \t\n".contains(&byte));
        let Some(login) = text[start..start + authority].rfind('@') else {
            continue;
        };
        match text[start..start + login].find(':') {
            Some(colon) => found.push(start + colon + 1..start + login),
            None if login >= MIN_TOKEN => found.push(start..start + login),
            None => {}
        }
    }
}

/// What follows a secret's name: `name=value`, `name: value`, `"name": "value"`, `--name value`; and what looks like a
/// key after any `name=`.
fn named(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let value = match byte {
            b'=' => {
                let secret = is_secret_name(name_before(text, at));
                let value = after_sign(text, at, |byte| !b" \t\n&;,)}]|".contains(&byte));
                value.filter(|value| secret || looks_like_key(&text[value.clone()]))
            }
            b':' if is_secret_name(name_before(text, at)) && is_single(bytes, at) => {
                after_sign(text, at, |byte| byte != b'\n')
            }
            b' ' | b'\t' => match word_before(text, at) {
                "-u" | "--user" | "--proxy-user" => after_sign(text, at, of_word).and_then(|value| {
                    let colon = text[value.clone()].find(':')?;
                    Some(value.start + colon + 1..value.end)
                }),
                word if is_secret_option(word) => after_sign(text, at, of_word),
                _ => None,
            },
            _ => None,
        };
        found.extend(value);
    }
}

/// The name that ends before the sign at `at`, quotes and blanks between them passed over.
fn name_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_end_matches([' ', '"', '\'', '\\']);
    let length = before.bytes().rev().take_while(|&byte| is_of_name(byte)).count();
    &before[before.len() - length..]
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// No `::` and no `://`.
fn is_single(bytes: &[u8], at: usize) -> bool {
    let colon = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b':');
    !colon(at.checked_sub(1)) && !colon(Some(at + 1)) && !bytes[at + 1..].starts_with(b"//")
}

/// The word that ends at `at`.
fn word_before(text: &str, at: usize) -> &str {
    let before = &text.as_bytes()[..at];
    let length = before.iter().rev().take_while(|&&byte| is_of_name(byte)).count();
    &text[at - length..at]
}

fn of_word(byte: u8) -> bool {
    !b" \t\n".contains(&byte)
}

fn is_secret_option(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(is_secret_name)
}

/// What stands after the sign at `at`: in its quotes, or as far as `goes_on`, a quote at most.
fn after_sign(text: &str, at: usize, goes_on: impl Fn(u8) -> bool) -> Option<Range<usize>> {
    let rest = &text[at + 1..];
    let trimmed = rest.trim_start_matches([' ', '\t', '\\']);
    let mut start = text.len() - trimmed.len();
    let length = match trimmed.chars().next()? {
        quote @ ('"' | '\'') => {
            start += 1;
            trimmed[1..].find(quote).unwrap_or(trimmed.len() - 1)
        }
        _ => run(trimmed, |byte| goes_on(byte) && byte != b'"' && byte != b'\''),
    };
    (length > 0).then(|| start..start + length)
}

/// Long, without blanks, and of capital and small letters and digits, or of 32 and more hexadecimal digits.
fn looks_like_key(value: &str) -> bool {
    let of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"+_-=~".contains(&byte);
    let any = |kind: fn(&u8) -> bool| value.as_bytes().iter().any(kind);
    let mixed = any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_digit);
    let digits = value.len() >= 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.len() >= MIN_MIXED && value.bytes().all(of_key) && (mixed || digits)
}

/// Whether something is called like a secret, however its words are joined: `apiKey`, `x-api-key`, `API_KEY`, `sig`.
fn is_secret_name(name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let mut joined = String::with_capacity(name.len() + 4);
    let mut after_small = false;
    for character in name.chars() {
        match character {
            '-' | '.' => joined.push('_'),
            _ if after_small && character.is_ascii_uppercase() => joined.extend(['_', character]),
            _ => joined.push(character),
        }
        after_small = character.is_ascii_lowercase();
    }
    secret_name(&joined) || joined.eq_ignore_ascii_case("sig")
}

/// How many bytes at the beginning go on. `goes_on` takes all bytes of one character that is not ASCII alike.
fn run(text: &str, goes_on: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !goes_on(byte)).unwrap_or(text.len())
}

/// The text with these ranges replaced; those that touch become one.
fn replaced(text: &str, mut found: Vec<Range<usize>>) -> String {
    found.sort_by_key(|range| range.start);
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for range in found {
        if range.start > done || done == 0 {
            masked.push_str(&text[done..range.start.max(done)]);
            masked.push_str(MASKED);
        }
        done = done.max(range.end);
    }
    masked.push_str(&text[done..]);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_to_allow_a_text_is_told_that_more_than_a_known_secret_is_hidden() {
        let mask = masker();
        for word in [
            "mysql -pcorrect horse \"battery\"",
            "deploy --token ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaa1",
        ] {
            let (shown, hidden) = mask.for_approval(word);
            assert!(shown.contains(MASKED), "{shown}");
            assert_eq!(hidden, 0, "{shown}");
        }
        for code in [
            "python3 -c \"# -----BEGIN X\nimport os; os.system(chr(114))\"",
            "echo token: x; python3 run.py",
            "node -e 'api_key=require(1).exec(2)'",
            "perl -e '$token=unlink+q!notes.txt!'",
            "token=cm0gLXJmIG5vdGVzLnR4dA==; echo $token|base64 -d|sh",
            "restic --password-command /tmp/evil.sh backup x",
        ] {
            let (shown, hidden) = mask.for_approval(code);
            assert!(shown.contains(MASKED) && hidden > 0, "{shown} {hidden}");
        }
        assert_eq!(mask.for_approval("rm notes.txt"), ("rm notes.txt".to_owned(), 0));
    }

    fn masker() -> Masker {
        let variables = [
            ("DEPLOY_TOKEN", "correct horse \"battery\""),
            ("HOME", "/home/dev"),
            ("DB_PASSWORD", "motdepasse-é"),
        ];
        Masker {
            variables: variables
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        }
    }

    fn masked(text: &str) -> String {
        masker().text(text)
    }

    #[test]
    fn ordinary_texts_are_left_as_they_are() {
        for text in [
            "",
            "src/main.rs",
            "git push *",
            "~/projects/x",
            "https://docs.rs/serde/latest/serde/",
            "http://localhost:8080/a?page=2&sort=name",
            "git@github.com:dev/shop.git",
            "ssh://git@host/x.git",
            "task-1234567890123456",
            "sk-learn-is-a-nice-library-name",
            "cargo test --package shop -- --nocapture",
            "std::collections::HashMap",
            "rev=main",
            "LANG=C.UTF-8 ls",
            "key.txt",
            "日本語=はい",
            "/home/dev/x",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn tokens_are_known_by_how_they_begin() {
        let tail = "Ab3".repeat(14);
        for (start, _) in TOKENS {
            for (before, after) in [("", ""), ("echo ", " x"), ("\"", "\""), ("é", "é"), ("x_", "/y")] {
                let text = format!("{before}{start}{tail}{after}");
                assert_eq!(masked(&text), format!("{before}[masked]{after}"), "{text}");
            }
        }
        assert_eq!(
            masked("see eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl now"),
            "see [masked] now"
        );
    }

    #[test]
    fn the_shortest_token_is_not_longer_than_any() {
        let least = TOKENS.iter().map(|(start, least)| start.len() + least).min();
        assert_eq!(least, Some(MIN_TOKEN));
    }

    #[test]
    fn a_private_key_is_masked_to_its_end_or_the_texts() {
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----";
        assert_eq!(masked(&format!("a {key} b")), "a [masked] b");
        assert_eq!(masked(&format!("a {}", &key[..50])), "a [masked]");
    }

    #[test]
    fn what_follows_a_secrets_name_is_masked() {
        for (text, expected) in [
            ("password=hunter2", "password=[masked]"),
            ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[masked] psql"),
            ("--token=abc --x", "--token=[masked] --x"),
            ("--password hunter2 -v", "--password [masked] -v"),
            ("--api-key 'a b' c", "--api-key '[masked]' c"),
            (
                "{\"apiKey\": \"a b\", \"x\": 1}",
                "{\"apiKey\": \"[masked]\", \"x\": 1}",
            ),
            (r#"{\"secret\":\"abc\"}"#, r#"{\"secret\":\"[masked]"}"#),
            (
                "curl -H 'Authorization: Bearer abc def' x",
                "curl -H 'Authorization: [masked]' x",
            ),
            ("x-api-key: abc", "x-api-key: [masked]"),
            (
                "https://h/p?access_token=abc&b=1",
                "https://h/p?access_token=[masked]&b=1",
            ),
            (
                "https://h/p?X-Amz-Signature=abc",
                "https://h/p?X-Amz-Signature=[masked]",
            ),
            ("https://h/p?sv=1&sig=a%2Fb", "https://h/p?sv=1&sig=[masked]"),
            ("https://dev:hunter2@h/p", "https://dev:[masked]@h/p"),
            ("https://dev:hun@ter2@h/p", "https://dev:[masked]@h/p"),
            ("https://abcdefghijklmnopqrstuvw@h/p", "https://[masked]@h/p"),
            ("curl -u dev:hunter2 h", "curl -u dev:[masked] h"),
            ("clé_token=été fin", "clé_token=[masked] fin"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn what_looks_like_a_key_is_masked_after_any_name() {
        for value in ["aB3dE5gH7jK9mN1pQ3sT5vX7", "0123456789abcdef0123456789abcdef"] {
            assert_eq!(masked(&format!("x={value}&y=1")), "x=[masked]&y=1");
        }
        for value in [
            "abcdefghijklmnopqrstuvwxyz",
            "target/debug/Build-0123456789abc",
            "1764468184000",
        ] {
            let text = format!("x={value}");
            assert_eq!(masked(&text), text);
        }
    }

    #[test]
    fn the_values_of_variables_with_a_secrets_name_are_masked_wherever_they_stand() {
        assert_eq!(masked("a correct horse \"battery\" b"), "a [masked] b");
        assert_eq!(masked("motdepasse-émotdepasse-é"), "[masked]");
        assert_eq!(masked("/home/dev/motdepasse-é"), "/home/dev/[masked]");
    }

    #[test]
    fn json_is_masked_in_its_texts_and_under_its_names() {
        let raw = r#"{"command":"TOKEN=abc ls \u001b","env":{"API_KEY":["a",{"b":1}],"x":"ghp_abcdefghijklmnopqrst0"},"password":12345678,"list":[{"name":"DB_PASSWORD","value":"p"},{"name":"size","value":"p"}],"n":null}"#;
        let raw = RawValue::from_string(raw.to_owned()).expect("JSON");
        let expected = r#"{"command":"TOKEN=[masked] ls \u001b","env":{"API_KEY":"[masked]","x":"[masked]"},"password":"[masked]","list":[{"name":"DB_PASSWORD","value":"[masked]"},{"name":"size","value":"p"}],"n":null}"#;
        assert_eq!(masker().json(&raw).expect("JSON").get(), expected);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_masked_without_fault(text in "[a-zA-Z0-9:=/@'\"\\\\ é日\n&?_-]{0,80}", start in 0..TOKENS.len()) {
            let _ = masked(&text);
            let _ = masked(&format!("{text}{}{text}", TOKENS[start].0));
            let _ = masked(&format!("{text}://{text}@{text} -----BEGIN {text} --token {text} token={text}"));
        }
    }
}
