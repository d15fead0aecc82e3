//! Reads `tar` where it lists an archive (`tar tf x.tgz`); everything else is a doubt.
//!
//! GNU tar runs the decompressor that the archive's content asks for from PATH, which is what tar is expected to do.
//! `host:archive` reaches another machine. Source: the GNU tar 1.34 manual.

use super::{Reading, Role, doubt, uses, words::is_one_word};
use crate::shell::{Arg, Value};

/// Reads the words of `tar`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let Some((program, words)) = args.split_first() else {
        return;
    };
    let span = words.first().unwrap_or(program).span;
    let Some(first) = words.first().and_then(|word| word.value.literal()) else {
        return doubt(reading, span, "what tar does is not known");
    };
    if matches!(first, "--help" | "--version") {
        return;
    }
    let letters = first.strip_prefix('-').unwrap_or(first);
    let lists = letters.contains('t') && letters.bytes().all(|b| b"tvzjJf".contains(&b));
    if !lists || letters.matches('f').count() != 1 || !letters.ends_with('f') {
        return doubt(reading, span, format!("`tar {first}` is not a plain listing"));
    }
    let Some((archive, members)) = words[1..].split_first() else {
        return doubt(reading, span, "tar lacks its archive");
    };
    let local = archive
        .value
        .alternatives()
        .is_some_and(|texts| !texts.iter().any(|text| text.contains(':')));
    if !local {
        return doubt(
            reading,
            archive.span,
            "the archive that tar lists may be on another machine",
        );
    }
    if archive.value != Value::Literal("-".into()) {
        uses(reading, Role::PathRead, archive.clone());
    }
    if let Some(member) = members
        .iter()
        .find(|member| member.value.may_be_option() || !is_one_word(&member.value))
    {
        doubt(reading, member.span, "a word of tar may be an option");
    }
}
