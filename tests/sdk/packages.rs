//! The packages of other people that these tests run, by pinned version, each registry's fetched once.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const NPM: [&str; 2] = [
    "@anthropic-ai/claude-agent-sdk@0.3.332",
    "@modelcontextprotocol/sdk@1.32.2",
];
const PYPI: [&str; 2] = ["claude-agent-sdk==0.2.189", "mcp==2.3.0"];

/// The `node_modules` that holds the packages for JavaScript (about 450 MB).
pub fn for_node() -> PathBuf {
    let install = |place: &Path| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
        npm.arg(place).args(NPM);
        npm
    };
    fetched(&named("npm", &NPM), install).join("node_modules")
}

/// What PYTHONPATH must name for the packages for Python (about 450 MB).
pub fn for_python() -> PathBuf {
    let version = said("python3", &["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
    let install = |place: &Path| {
        let mut pip = Command::new("python3");
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--root-user-action=ignore",
            "--target",
        ]);
        pip.arg(place).args(PYPI);
        pip
    };
    fetched(&named(&format!("python{}", version.trim()), &PYPI), install)
}

/// The interpreter's own path: what the name means here it may not mean in a session.
pub fn node() -> String {
    said("node", &["-p", "process.execPath"])
}

pub fn python() -> String {
    said("python3", &["-c", "import sys; print(sys.executable)"])
}

fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs the program `{program}`: {error}"));
    assert!(output.status.success(), "{program} {args:?} failed");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A directory's name that tells these packages from other versions of them.
fn named(kind: &str, packages: &[&str]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    format!("{kind}-{}", packages.join("-")).chars().map(plain).collect()
}

/// Installs beside the final place and renames, so that an interrupted fetch is never taken for a whole one.
fn fetched(name: &str, install: impl Fn(&Path) -> Command) -> PathBuf {
    let cache = cache();
    fs::create_dir_all(&cache).unwrap_or_else(|error| panic!("{} cannot be made: {error}", cache.display()));
    let lock = File::create(cache.join("lock")).expect("the cache's lock file");
    lock.lock().expect("the cache's lock");
    let place = cache.join(name);
    if place.exists() {
        return place;
    }
    let partial = tempfile::tempdir_in(&cache).expect("a directory in the cache");
    let mut command = install(partial.path());
    let program = command.get_program().to_owned();
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("this test needs the program {program:?}: {error}"));
    assert!(
        output.status.success(),
        "the packages of these tests are not in {} and could not be fetched; without a network, set COUNTERSIGN_SDK_CACHE \
         to a directory that holds them\n{command:?}\n{}",
        place.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    fs::rename(partial.keep(), &place).expect("moving the fetched packages into their place");
    place
}

fn cache() -> PathBuf {
    let named = |variable: &str| {
        std::env::var_os(variable)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    named("COUNTERSIGN_SDK_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("countersign-sdks")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/countersign-sdks")))
        .expect("COUNTERSIGN_SDK_CACHE, XDG_CACHE_HOME or HOME must name a place for the packages")
}
