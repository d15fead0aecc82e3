//! Reads the few `openssl` commands that only look: `version`, `x509` and `req` where they print, checksums, random text,
//! and `s_client` where it shows what a server answers.
//!
//! Options that load an engine or provider are not listed. Source: the OpenSSL 3.0 manual.

use catalog_spec::{Action, EffectSpec, Reach};

use super::{Reading, Role, doubt, names, uses, words::is_one_word};
use crate::shell::{Arg, Value};

const PRINTS: &[&str] = &[
    "-noout",
    "-text",
    "-subject",
    "-issuer",
    "-dates",
    "-startdate",
    "-enddate",
    "-serial",
    "-fingerprint",
    "-email",
    "-purpose",
    "-pubkey",
    "-modulus",
    "-sha1",
    "-sha256",
];
/// Algorithms of `dgst`, which are commands of their own too.
const DIGESTS: &[&str] = &[
    "md5",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "blake2b512",
    "blake2s256",
];
const CLIENT: &[&str] = &[
    "-showcerts",
    "-brief",
    "-quiet",
    "-tls1_2",
    "-tls1_3",
    "-no_ign_eof",
    "-status",
    "-4",
    "-6",
];
const VERSION: &[&str] = &["-a", "-b", "-d", "-f", "-o", "-p", "-v"];

/// Reads the words of `openssl`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let Some((program, words)) = args.split_first() else {
        return;
    };
    let command = words.first().and_then(|word| word.value.literal());
    let mut rest = words.get(1..).unwrap_or_default();
    match command {
        Some("version") => match rest.iter().find(|word| !listed(VERSION, word)) {
            None => {}
            Some(word) => doubt(reading, word.span, "a word of `openssl version` is not known"),
        },
        Some("x509" | "req") => {
            while let [word, after @ ..] = rest {
                rest = after;
                match (word.value.literal(), after.first()) {
                    // With `:` it may be an address, from which it is fetched.
                    (Some("-in"), Some(file)) if is_one_word(&file.value) && is_local(&file.value) => {
                        uses(reading, Role::PathRead, file.clone());
                        rest = &after[1..];
                    }
                    (Some("-ext" | "-inform" | "-nameopt"), Some(value)) if is_one_word(&value.value) => {
                        rest = &after[1..];
                    }
                    _ if listed(PRINTS, word) => {}
                    _ => return doubt(reading, word.span, "a word of openssl is not known"),
                }
            }
        }
        Some(name) if name == "dgst" || DIGESTS.contains(&name) => digest(rest, reading),
        Some("rand") => {
            let plain = |word: &&Arg| !word.value.literal().is_some_and(is_count_or_form);
            rest.iter().find(plain).into_iter().for_each(|word| {
                doubt(reading, word.span, "a word of `openssl rand` is not known");
            });
        }
        Some("s_client") => client(program, rest, reading),
        _ => doubt(reading, program.span, "this command of openssl is not known"),
    }
}

fn is_local(value: &Value) -> bool {
    let address = |texts: &[String]| texts.iter().any(|text| text.contains(':'));
    value.alternatives().is_none_or(|texts| !address(texts))
}

fn is_count_or_form(text: &str) -> bool {
    matches!(text, "-hex" | "-base64") || !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Checksums of files; with a key or a signature it is another matter.
fn digest(words: &[Arg], reading: &mut Reading) {
    let mut options = true;
    for word in words {
        let text = word.value.literal().filter(|_| options);
        let option = text.and_then(|text| text.strip_prefix('-'));
        match option {
            Some(name) if DIGESTS.contains(&name) || matches!(name, "hex" | "r" | "c" | "binary") => {}
            None if !word.value.may_be_option() && is_one_word(&word.value) => {
                options = false;
                uses(reading, Role::PathRead, word.clone());
            }
            Some(_) | None => return doubt(reading, word.span, "a word of openssl is not known"),
        }
    }
}

/// It sends its input; the host is that of `-connect`.
fn client(program: &Arg, mut rest: &[Arg], reading: &mut Reading) {
    let mut connects = false;
    while let [word, after @ ..] = rest {
        rest = after;
        match (word.value.literal(), after.first()) {
            (
                Some("-connect"),
                Some(Arg {
                    value: Value::Literal(at),
                    span,
                }),
            ) => {
                let host = at.rsplit_once(':').map_or(at.as_str(), |(host, _)| host);
                names(reading, Role::Host, host, *span);
                if !["localhost", "127.0.0.1", "[::1]"].contains(&host) {
                    reading.effects.push(EffectSpec {
                        reach: Reach::New,
                        ..EffectSpec::of(Action::Send)
                    });
                }
                connects = true;
                rest = &after[1..];
            }
            (Some("-servername" | "-starttls" | "-alpn"), Some(value)) if is_one_word(&value.value) => {
                rest = &after[1..]
            }
            (Some(text), _) if CLIENT.contains(&text) => {}
            _ => return doubt(reading, word.span, "a word of openssl is not known"),
        }
    }
    if !connects {
        doubt(reading, program.span, "where it connects to is not known");
    }
}

fn listed(known: &[&str], word: &Arg) -> bool {
    word.value.literal().is_some_and(|text| known.contains(&text))
}
