//! Reads the few `openssl` commands that only look: `version`, and `x509` and `req` where they print.
//!
//! Options that load an engine or provider are not listed. Source: the OpenSSL 3.0 manual.

use super::{Reading, Role, doubt, uses, words::is_one_word};
use crate::shell::Arg;

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
                    (Some("-in"), Some(file)) if is_one_word(&file.value) => {
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
        _ => doubt(reading, program.span, "this command of openssl is not known"),
    }
}

fn listed(known: &[&str], word: &Arg) -> bool {
    word.value.literal().is_some_and(|text| known.contains(&text))
}
