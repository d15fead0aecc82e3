//! Every object beside what `git cat-file` says of it.

use super::super::objects::{Format, Store};
use super::*;

/// A repository with a history that git packs as deltas.
fn history(format: &str) -> Lab {
    let lab = Lab::empty();
    lab.git(
        "home",
        &[
            "init",
            "-q",
            "-b",
            "main",
            &format!("--object-format={format}"),
            "../repo",
        ],
    );
    let mut random = Random::new();
    let mut lines: Vec<String> = (0..400)
        .map(|n| format!("line {n} of {}\n", random.below(1 << 30)))
        .collect();
    for commit in 0..12 {
        let at = random.below(lines.len());
        lines[at] = format!("another line {commit}\n");
        lines.truncate(lines.len() - 3);
        lab.write("repo/long.txt", &lines.concat());
        for n in 0..30 - commit {
            lab.write(&format!("repo/sub/f{n}"), &format!("{n} {}\n", random.below(3)));
        }
        let _ = fs::remove_file(lab.path(&format!("repo/sub/f{}", 30 - commit)));
        lab.git("repo", &["add", "-A"]);
        lab.git("repo", &["commit", "-qm", &format!("Commit {commit}")]);
    }
    lab
}

impl Lab {
    /// The file among the packs whose name ends so.
    fn file_in_packs(&self, ending: &str) -> String {
        let files = self.files_below("repo/.git/objects/pack");
        let found = files.iter().find(|path| path.extension().is_some_and(|e| e == ending));
        found.expect("a pack").display().to_string()
    }
}

/// Every object: its name, its kind and its content.
fn all(lab: &Lab) -> Vec<(String, String, Vec<u8>)> {
    let list = lab.git(
        "repo",
        &[
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname) %(objecttype)",
        ],
    );
    list.lines()
        .map(|line| {
            let (name, kind) = line.split_once(' ').expect("a name and a kind");
            (
                name.to_owned(),
                kind.to_owned(),
                lab.try_git("repo", &["cat-file", kind, name]).stdout,
            )
        })
        .collect()
}

#[test]
fn every_object_is_read_as_git_reads_it() {
    let packings: &[(&str, &[&str])] = &[
        ("loose", &["status"]),
        ("deltas by offset", &["repack", "-adfq", "--depth=50"]),
        (
            "deltas by name",
            &["-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50"],
        ),
        ("long offsets", &["repack", "-adfq"]),
    ];
    for (format, hash) in [(Format::Sha1, "sha1"), (Format::Sha256, "sha256")] {
        let lab = history(hash);
        let objects = all(&lab);
        for (packing, command) in packings {
            lab.git("repo", command);
            if *packing == "long offsets" {
                let (pack, index) = (lab.file_in_packs("pack"), lab.file_in_packs("idx"));
                fs::remove_file(&index).expect("it is removed");
                lab.git("repo", &["index-pack", "--index-version=2,0x40", &pack]);
            }
            let store = Store::new(lab.path("repo/.git/objects"), format);
            for (name, kind, content) in &objects {
                let parsed = format.parse(name.as_bytes()).expect("a name");
                assert!(
                    store.read(kind, &parsed).as_ref() == Some(content),
                    "{hash}, {packing}: {kind} {name}"
                );
                assert_eq!(
                    store.length(&parsed),
                    Some(content.len() as u64),
                    "{packing}: {kind} {name}"
                );
                let other = if kind == "tree" { "commit" } else { "tree" };
                assert_eq!(store.read(other, &parsed), None);
            }
            if packing.starts_with("deltas") {
                let listed = lab.git("repo", &["verify-pack", "-v", &lab.file_in_packs("idx")]);
                assert!(listed.contains("chain length = 3"), "{listed}");
            }
        }
        assert_eq!(
            Store::new(lab.path("repo/.git/objects"), format).read("blob", &[7; 32]),
            None
        );
    }
}

#[test]
fn a_damaged_object_is_none() {
    let lab = history("sha1");
    lab.git("repo", &["repack", "-adfq"]);
    lab.write("repo/more", "more\n");
    lab.git("repo", &["add", "."]);
    lab.git("repo", &["commit", "-qm", "Loose"]);
    let objects = all(&lab);
    let files = lab.files_below("repo/.git/objects");
    let mut random = Random::new();
    let (mut right, mut none) = (0, 0);
    for _ in 0..400 {
        let file = &files[random.below(files.len())];
        let bytes = fs::read(file).expect("it is read");
        fs::remove_file(file).expect("it is removed");
        fs::write(file, random.damage(&bytes)).expect("it is written");
        let store = Store::new(lab.path("repo/.git/objects"), Format::Sha1);
        for _ in 0..8 {
            let (name, kind, content) = &objects[random.below(objects.len())];
            match store.read(kind, &Format::Sha1.parse(name.as_bytes()).expect("a name")) {
                Some(read) => {
                    assert!(read == *content, "{name} after damage to {}", file.display());
                    right += 1;
                }
                None => none += 1,
            }
        }
        fs::write(file, bytes).expect("it is written");
    }
    assert!(right > 100 && none > 100, "{right} read, {none} not");
}

#[test]
fn a_delta_that_feeds_on_itself_ends() {
    // One entry, a delta by name whose base is itself.
    let lab = Lab::empty();
    let name = [0x11; 20];
    let mut pack = b"PACK\0\0\0\x02\0\0\0\x01".to_vec();
    pack.push(7 << 4 | 4);
    pack.extend(name);
    pack.extend(miniz_oxide::deflate::compress_to_vec_zlib(&[0, 0, 0, 0], 6));
    pack.extend([0; 20]);
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for byte in 0..256u32 {
        index.extend(u32::from(byte >= 0x11).to_be_bytes());
    }
    index.extend(name);
    index.extend([0; 4]);
    index.extend(12u32.to_be_bytes());
    lab.write("objects/pack/pack-1.pack", "");
    fs::write(lab.path("objects/pack/pack-1.pack"), pack).expect("it is written");
    fs::write(lab.path("objects/pack/pack-1.idx"), index).expect("it is written");
    let mut wide = [0; 32];
    wide[..20].copy_from_slice(&name);
    assert_eq!(Store::new(lab.path("objects"), Format::Sha1).read("tree", &wide), None);
}

#[test]
fn an_object_that_unpacks_without_end_is_none() {
    let lab = Lab::empty();
    let mut object = b"tree 99999999\0".to_vec();
    object.resize(9 * 1024 * 1024, 0);
    let name = "11".repeat(20);
    lab.write("objects/11/x", "");
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&object, 6);
    fs::write(lab.path("objects/11").join(&name[2..]), packed).expect("it is written");
    let store = Store::new(lab.path("objects"), Format::Sha1);
    assert_eq!(
        store.read("tree", &Format::Sha1.parse(name.as_bytes()).expect("a name")),
        None
    );
}
