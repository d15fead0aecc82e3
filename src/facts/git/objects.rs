//! Reads single objects of a repository: loose ones and those in packs, deltas resolved, each checked against its name.
//!
//! So what is damaged or was put there by hand is no object. Bounded in size and in depth. Not read: alternates,
//! packs with an index of version 1, and replacements (`refs/replace`). Formats: gitformat-pack(5).

use std::cell::OnceCell;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// The longest object that is read, in bytes.
const MAX_OBJECT: usize = 8 * 1024 * 1024;
/// The most that is unpacked for one object, in bytes: its deltas, and every stage on the way.
const MAX_UNPACKED: usize = 8 * MAX_OBJECT;
/// The longest chain of deltas that is followed; git makes them at most 250 long where nobody sets another number.
const MAX_CHAIN: usize = 256;
/// The most packs that are searched.
const MAX_PACKS: usize = 256;

/// So many packed bytes hold the longest code of a block and the first bytes of an object, which say how long it is.
const MAX_HEADER: usize = 512;

/// An object's name. A SHA-1 fills the first 20 bytes, the rest is 0.
pub type Name = [u8; 32];

/// How a repository names its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Sha1,
    Sha256,
}

impl Format {
    /// The length of a name, in bytes.
    pub fn length(self) -> usize {
        match self {
            Format::Sha1 => 20,
            Format::Sha256 => 32,
        }
    }

    /// The name of an object: `kind` is `blob`, `tree` or `commit`.
    pub fn name_of(self, kind: &str, content: &[u8]) -> Name {
        let header = format!("{kind} {}\0", content.len());
        match self {
            Format::Sha1 => widened(&Sha1::new().chain_update(header).chain_update(content).finalize()),
            Format::Sha256 => widened(&Sha256::new().chain_update(header).chain_update(content).finalize()),
        }
    }

    /// A name written in hexadecimal digits, which must be all of `text`.
    pub fn parse(self, text: &[u8]) -> Option<Name> {
        let mut name = [0; 32];
        if text.len() != self.length() * 2 {
            return None;
        }
        for (byte, digits) in name.iter_mut().zip(text.chunks(2)) {
            let digit = |at: usize| char::from(digits[at]).to_digit(16);
            *byte = (digit(0)? << 4 | digit(1)?) as u8;
        }
        Some(name)
    }

    /// The name that `bytes` begin with.
    pub fn read(self, bytes: &[u8]) -> Option<Name> {
        bytes.get(..self.length()).map(widened)
    }
}

fn widened(bytes: &[u8]) -> Name {
    let mut name = [0; 32];
    name[..bytes.len()].copy_from_slice(bytes);
    name
}

/// The objects of one repository.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    format: Format,
    packs: OnceCell<Vec<Pack>>,
}

impl Store {
    /// The objects below the `objects` directory of a repository.
    pub fn new(directory: PathBuf, format: Format) -> Self {
        Store {
            directory,
            format,
            packs: OnceCell::new(),
        }
    }

    /// The content of the object of this kind and name; `None` where it is not here, too large, or not what it says.
    pub fn read(&self, kind: &str, name: &Name) -> Option<Vec<u8>> {
        let packed = || self.packs().iter().find_map(|pack| pack.read(name));
        let (found, content) = self.loose(name).or_else(packed)?;
        (found == kind && self.format.name_of(kind, &content) == *name).then_some(content)
    }

    /// How long the object of this name is, in bytes, by what stands at its beginning; `None` where it is not here.
    pub fn length(&self, name: &Name) -> Option<u64> {
        let loose = || {
            let mut start = [0; MAX_HEADER];
            let file = File::open(self.loose_path(name)).ok()?;
            let read = file.read_at(&mut start, 0).ok()?;
            let (_, length, _) = header(&beginning(&start[..read]))?;
            Some(length as u64)
        };
        loose().or_else(|| self.packs().iter().find_map(|pack| pack.length_of(name)))
    }

    fn packs(&self) -> &[Pack] {
        self.packs
            .get_or_init(|| packs(&self.directory.join("pack"), self.format))
    }

    fn loose_path(&self, name: &Name) -> PathBuf {
        let hex: String = name[..self.format.length()]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        self.directory.join(&hex[..2]).join(&hex[2..])
    }

    fn loose(&self, name: &Name) -> Option<(&'static str, Vec<u8>)> {
        let (bytes, _) = super::bounded(&self.loose_path(name), MAX_OBJECT as u64).ok()??;
        let mut object = decompress_to_vec_zlib_with_limit(&bytes, MAX_OBJECT).ok()?;
        let (kind, length, header) = header(&object)?;
        object.drain(..header);
        (object.len() == length).then_some((kind, object))
    }
}

/// The kind and length that a loose object says, and the length of that.
fn header(object: &[u8]) -> Option<(&'static str, usize, usize)> {
    let end = object.iter().take(32).position(|b| *b == 0)?;
    let header = std::str::from_utf8(&object[..end]).ok()?;
    let (kind, length) = header.split_once(' ')?;
    let kind = KINDS.iter().flatten().find(|k| **k == kind)?;
    Some((kind, length.parse().ok()?, end + 1))
}

/// What packed bytes, of which the end is missing, begin with.
fn beginning(packed: &[u8]) -> Vec<u8> {
    decompress_to_vec_zlib_with_limit(packed, MAX_HEADER).unwrap_or_else(|cut| cut.output)
}

/// The kinds by their number in a pack.
const KINDS: [Option<&str>; 8] = [
    None,
    Some("commit"),
    Some("tree"),
    Some("blob"),
    Some("tag"),
    None,
    None,
    None,
];
const OFFSET_DELTA: u8 = 6;
const NAME_DELTA: u8 = 7;

fn packs(directory: &Path, format: Format) -> Vec<Pack> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "idx"))
        .take(MAX_PACKS)
        .filter_map(|path| Pack::open(&path, format))
        .collect()
}

/// A pack and its index.
#[derive(Debug)]
struct Pack {
    format: Format,
    index: File,
    /// How many objects the index has.
    count: u64,
    data: File,
    /// The length of `data`, in bytes.
    length: u64,
}

/// Where an index's list of names begins: behind its signature, its version and the fan-out table.
const NAMES_AT: u64 = 8 + 256 * 4;

impl Pack {
    fn open(path: &Path, format: Format) -> Option<Pack> {
        let regular = |path: &Path| {
            let length = fs::metadata(path).ok().filter(|m| m.is_file())?.len();
            Some((File::open(path).ok()?, length))
        };
        let (index, index_length) = regular(path)?;
        let (data, length) = regular(&path.with_extension("pack"))?;
        if at::<8>(&index, 0)? != *b"\xfftOc\0\0\0\x02" {
            return None;
        }
        let count = u64::from(word(&index, NAMES_AT - 4)?);
        // A name, a checksum and an offset for every object.
        (index_length >= NAMES_AT + count * (format.length() as u64 + 8)).then_some(Pack {
            format,
            index,
            count,
            data,
            length,
        })
    }

    /// Where in the pack an object is.
    fn offset_of(&self, name: &Name) -> Option<u64> {
        let fan_out = |byte: u64| word(&self.index, 8 + byte * 4).map(u64::from);
        let first = u64::from(name[0]);
        let mut low = if first == 0 { 0 } else { fan_out(first - 1)? };
        let mut high = fan_out(first)?.min(self.count);
        let width = self.format.length() as u64;
        while low < high {
            let middle = low.midpoint(high);
            let mut found = [0; 32];
            let found_bytes = &mut found[..self.format.length()];
            self.index.read_exact_at(found_bytes, NAMES_AT + middle * width).ok()?;
            match found.cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset_at(middle),
            }
        }
        None
    }

    /// The offset of the object with this number in the index.
    fn offset_at(&self, number: u64) -> Option<u64> {
        let offsets = NAMES_AT + self.count * (self.format.length() as u64 + 4);
        let offset = word(&self.index, offsets + number * 4)?;
        if offset & 1 << 31 == 0 {
            return Some(u64::from(offset));
        }
        let long = offsets + self.count * 4 + u64::from(offset & !(1 << 31)) * 8;
        Some(u64::from_be_bytes(at(&self.index, long)?))
    }

    fn read(&self, name: &Name) -> Option<(&'static str, Vec<u8>)> {
        let mut offset = self.offset_of(name)?;
        let mut left = MAX_UNPACKED;
        let mut deltas = Vec::new();
        let (kind, mut content) = loop {
            let entry = self.entry(offset)?;
            left = left.checked_sub(entry.size)?;
            let unpacked = self.unpack(&entry)?;
            match entry.base {
                Base::Whole(kind) => break (kind, unpacked),
                Base::At(base) => offset = base,
                Base::Named(name) => offset = self.offset_of(&name)?,
            }
            deltas.push(unpacked);
            if deltas.len() > MAX_CHAIN {
                return None;
            }
        };
        for delta in deltas.iter().rev() {
            content = apply(&content, delta)?;
            left = left.checked_sub(content.len())?;
        }
        Some((kind, content))
    }

    fn length_of(&self, name: &Name) -> Option<u64> {
        let entry = self.entry(self.offset_of(name)?)?;
        if let Base::Whole(_) = entry.base {
            return Some(entry.size as u64);
        }
        let mut start = [0; MAX_HEADER];
        let read = self.data.read_at(&mut start, entry.packed_at).ok()?;
        let delta = beginning(&start[..read]);
        let mut delta = Bytes(&delta);
        delta.number()?;
        delta.number()
    }

    /// What stands at an offset, before its packed bytes.
    fn entry(&self, offset: u64) -> Option<Entry> {
        let mut header = [0; 64];
        let length = usize::try_from(self.length.checked_sub(offset)?).unwrap_or(64).min(64);
        self.data.read_exact_at(&mut header[..length], offset).ok()?;
        let mut header = Bytes(&header[..length]);
        let first = header.next()?;
        let mut size = u64::from(first & 15);
        if first & 128 != 0 {
            size |= header.number()?.checked_mul(16)?;
        }
        let kind = first >> 4 & 7;
        let base = match kind {
            OFFSET_DELTA => Base::At(offset.checked_sub(header.distance()?)?),
            NAME_DELTA => Base::Named(self.format.read(header.take(self.format.length())?)?),
            _ => Base::Whole(KINDS[usize::from(kind)]?),
        };
        let size = usize::try_from(size).ok()?;
        let packed_at = offset + (length - header.0.len()) as u64;
        Some(Entry { size, base, packed_at })
    }

    fn unpack(&self, entry: &Entry) -> Option<Vec<u8>> {
        if entry.size > MAX_OBJECT {
            return None;
        }
        // What does not shrink grows by a few bytes a block.
        let most = entry.size + entry.size / 32 + 1024;
        let there = usize::try_from(self.length.checked_sub(entry.packed_at)?).unwrap_or(most);
        let mut packed = vec![0; most.min(there)];
        self.data.read_exact_at(&mut packed, entry.packed_at).ok()?;
        let unpacked = decompress_to_vec_zlib_with_limit(&packed, entry.size + 1).ok()?;
        (unpacked.len() == entry.size).then_some(unpacked)
    }
}

struct Entry {
    /// The length once it is unpacked, in bytes.
    size: usize,
    base: Base,
    packed_at: u64,
}

/// What an entry of a pack is: an object, or a delta to another entry.
enum Base {
    Whole(&'static str),
    At(u64),
    Named(Name),
}

fn at<const N: usize>(file: &File, offset: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}

fn word(file: &File, offset: u64) -> Option<u32> {
    Some(u32::from_be_bytes(at(file, offset)?))
}

/// Bytes that are taken from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..56).step_by(7) {
            let byte = self.next()?;
            number |= u64::from(byte & 127) << shift;
            if byte & 128 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// How far back the base of a delta lies: as a number, but the highest first, and no two ways to write one.
    fn distance(&mut self) -> Option<u64> {
        let mut byte = self.next()?;
        let mut distance = u64::from(byte & 127);
        while byte & 128 != 0 {
            byte = self.next()?;
            distance = distance
                .checked_add(1)?
                .checked_mul(128)?
                .checked_add(u64::from(byte & 127))?;
        }
        (distance > 0).then_some(distance)
    }
}

/// Makes an object from its base and a delta.
fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut delta = Bytes(delta);
    let base_size = delta.number()?;
    let size = usize::try_from(delta.number()?)
        .ok()
        .filter(|size| *size <= MAX_OBJECT)?;
    if base_size != base.len() as u64 {
        return None;
    }
    let mut out = Vec::with_capacity(size);
    while let Some(instruction) = delta.next() {
        let piece = if instruction & 128 == 0 {
            // Zero is reserved.
            delta.take(usize::from(instruction)).filter(|piece| !piece.is_empty())?
        } else {
            let mut number = |bits: std::ops::Range<u8>| {
                let first = bits.start;
                bits.filter(|bit| instruction & 1 << bit != 0)
                    .try_fold(0, |number, bit| {
                        Some(number | usize::from(delta.next()?) << ((bit - first) * 8))
                    })
            };
            let start = number(0..4)?;
            let length = match number(4..7)? {
                0 => 0x10000,
                length => length,
            };
            base.get(start..start.checked_add(length)?)?
        };
        if piece.len() > size - out.len() {
            return None;
        }
        out.extend_from_slice(piece);
    }
    (out.len() == size).then_some(out)
}
