//! What the grammars promise, command by command.

use super::support::*;
use crate::catalog::Role;

mod dangers;
mod languages;
mod programs;
mod sql;

/// Asserts that each program of the language is harmless as it stands.
fn all_harmless(role: Role, programs: &[&str]) {
    for code in programs {
        let reading = program(role, code);
        assert!(is_harmless(&reading), "{code}: {reading:?}");
    }
}

/// Asserts that each program of the language raises a doubt.
fn all_doubted(role: Role, programs: &[&str]) {
    for code in programs {
        let reading = program(role, code);
        assert!(!reading.doubts.is_empty(), "{code} raised no doubt");
    }
}

fn all_lines_harmless(lines: &[&str]) {
    for text in lines {
        let reading = line(text);
        assert!(is_harmless(&reading), "{text}: {reading:?}");
    }
}

fn all_lines_doubted(lines: &[&str]) {
    for text in lines {
        assert!(!line(text).doubts.is_empty(), "{text} raised no doubt");
    }
}
