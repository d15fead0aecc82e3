//! Reads git's index (versions 2, 3 and 4) in place: one linear scan, bounded, no allocation per entry.
//!
//! It knows the file format and nothing of paths on disk. What it does not understand is an error.

use super::objects::Name;

/// What the index holds of one path.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub ctime: (u32, u32),
    pub mtime: (u32, u32),
    pub inode: u32,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u32,
    /// The object that holds the staged content.
    pub name: Name,
    /// The merge stage; 0 where there is no conflict.
    pub stage: u8,
    /// A flag says that the working copy is not to be looked at (assume-unchanged, skip-worktree) or that nothing is
    /// staged yet (intent-to-add).
    pub flagged: bool,
}

/// The type bits of a submodule's entry.
pub const GITLINK: u32 = 0o160_000;
/// The type bits of a directory, which only a sparse index holds.
pub const DIRECTORY: u32 = 0o040_000;

/// Calls `visit` with every path and entry, in order, until it says `false`.
///
/// `hash` is the length of an object name: 20, or 32 in a SHA-256 repository.
///
/// # Errors
/// Says why the index is not understood: damaged, another version, split or sparse, or an extension that git would have to obey.
/// Extensions stand after the entries, so `visit` may have been called before an error.
pub fn scan(index: &[u8], hash: usize, mut visit: impl FnMut(&[u8], &Entry) -> bool) -> Result<(), &'static str> {
    let damaged = "the index is damaged";
    let body = index.len().checked_sub(hash).ok_or(damaged)?;
    let index = &index[..body];
    if index.get(..4) != Some(b"DIRC") {
        return Err(damaged);
    }
    let version = word(index, 4).ok_or(damaged)?;
    if !(2..=4).contains(&version) {
        return Err("the index has an unknown version");
    }
    let count = word(index, 8).ok_or(damaged)?;
    let mut path = Vec::new();
    let mut at = 12;
    let mut visiting = true;
    for _ in 0..count {
        let (entry, header) = entry(&index[at..], hash, version).ok_or(damaged)?;
        let rest = &index[at + header..];
        let (name, length) = if version == 4 {
            let length = header + unpack_path(rest, &mut path).ok_or(damaged)?;
            (path.as_slice(), length)
        } else {
            let end = rest.iter().position(|b| *b == 0).ok_or(damaged)?;
            (&rest[..end], (header + end + 8) & !7)
        };
        visiting = visiting && visit(name, &entry);
        at += length;
        if at > index.len() {
            return Err(damaged);
        }
    }
    extensions(&index[at..])
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// The fixed part of an entry, and its length.
fn entry(bytes: &[u8], hash: usize, version: u32) -> Option<(Entry, usize)> {
    let field = |n: usize| word(bytes, n * 4);
    let mut name = [0; 32];
    name.get_mut(..hash)?.copy_from_slice(bytes.get(40..40 + hash)?);
    let flags_at = 40 + hash;
    let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
    let extended = version >= 3 && flags & 0x4000 != 0;
    let more = match extended {
        true => u16::from_be_bytes(bytes.get(flags_at + 2..flags_at + 4)?.try_into().ok()?),
        false => 0,
    };
    let entry = Entry {
        ctime: (field(0)?, field(1)?),
        mtime: (field(2)?, field(3)?),
        inode: field(5)?,
        mode: field(6)?,
        uid: field(7)?,
        gid: field(8)?,
        size: field(9)?,
        name,
        stage: ((flags >> 12) & 3) as u8,
        flagged: flags & 0x8000 != 0 || more != 0,
    };
    Some((entry, flags_at + if extended { 4 } else { 2 }))
}

/// Version 4: how many bytes of the previous path go, then what is appended. Gives the length read.
fn unpack_path(bytes: &[u8], path: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    let mut byte = *bytes.first()?;
    let mut strip = usize::from(byte & 127);
    while byte & 128 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        strip = strip
            .checked_add(1)?
            .checked_mul(128)?
            .checked_add(usize::from(byte & 127))?;
    }
    let suffix = &bytes[at + 1..];
    let end = suffix.iter().position(|b| *b == 0)?;
    path.truncate(path.len().checked_sub(strip)?);
    path.extend_from_slice(&suffix[..end]);
    Some(at + 1 + end + 1)
}

/// Optional extensions begin with a capital and change no meaning; the others do.
fn extensions(mut bytes: &[u8]) -> Result<(), &'static str> {
    let damaged = "the index is damaged";
    while !bytes.is_empty() {
        let signature = bytes.get(..4).ok_or(damaged)?;
        if !signature[0].is_ascii_uppercase() {
            return Err(match signature {
                b"link" => "the index is split",
                b"sdir" => "the index is sparse",
                _ => "the index has an unknown extension",
            });
        }
        let size = word(bytes, 4).ok_or(damaged)? as usize;
        bytes = size.checked_add(8).and_then(|n| bytes.get(n..)).ok_or(damaged)?;
    }
    Ok(())
}
