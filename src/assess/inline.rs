//! Inline code of the tiny set that `grammar::inline` reads, against the machine: whether the library it imports and the
//! files it reads are what their names say.

use super::bash::{Gathered, Work};
use super::{paths, roles};
use crate::catalog::{Role, grammar::inline};
use crate::effect::Action;
use crate::facts::Kind;
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// What the library loads of itself for `json` and for `MODULES`, and to show an error: a file of one of these names, in the directory
/// that Python looks in first, would be run in its place.
const LIBRARY: &[&str] = &[
    "_bisect",
    "_bootlocale",
    "_bz2",
    "_collections_abc",
    "_compat_pickle",
    "_colorize",
    "_compression",
    "_hashlib",
    "_heapq",
    "_json",
    "_locale",
    "_lzma",
    "_missing_stdlib_info",
    "_opcode",
    "_operator",
    "_pickle",
    "_pyrepl",
    "_random",
    "_sha2",
    "_sha512",
    "_sre",
    "_struct",
    "_suggestions",
    "_weakrefset",
    "_winapi",
    "abc",
    "annotationlib",
    "argparse",
    "ast",
    "binascii",
    "bisect",
    "bz2",
    "codecs",
    "codeop",
    "collections",
    "compression",
    "contextlib",
    "copy",
    "copyreg",
    "dataclasses",
    "difflib",
    "dis",
    "encodings",
    "enum",
    "errno",
    "fnmatch",
    "functools",
    "genericpath",
    "gettext",
    "grp",
    "hashlib",
    "heapq",
    "imp",
    "importlib",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "keyword",
    "linecache",
    "locale",
    "lzma",
    "math",
    "nt",
    "ntpath",
    "opcode",
    "operator",
    "org",
    "os",
    "pathlib",
    "pickle",
    "pkgutil",
    "posixpath",
    "pwd",
    "random",
    "re",
    "reprlib",
    "runpy",
    "shutil",
    "signal",
    "site",
    "sitecustomize",
    "sre_compile",
    "sre_constants",
    "sre_parse",
    "stat",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "token",
    "tokenize",
    "traceback",
    "tracemalloc",
    "types",
    "typing",
    "unicodedata",
    "urllib",
    "usercustomize",
    "warnings",
    "weakref",
    "zipfile",
    "zipimport",
    "zlib",
    "apport_python_hook",
    "apport",
];

/// Modules that are run and load nothing but what `LIBRARY` names.
const MODULES: &[&str] = &["json.tool"];

/// Whether `python -m` runs a module of the library by this name that does no more than its entry says.
pub fn is_library_module(name: &Arg, state: &State, work: &Work<'_>) -> bool {
    let is_listed = name.value.literal().is_some_and(|name| MODULES.contains(&name));
    is_listed && !state.wrote && finds_its_library(state, work)
}

/// Whether this code only prints and reads; what it reads is noted. Nothing is noted otherwise.
pub fn is_harmless(role: Role, code: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) -> bool {
    let Some(text) = code.value.literal().filter(|_| !state.wrote) else {
        return false;
    };
    let harmless = match role {
        Role::Python if finds_its_library(state, work) => inline::python(text),
        Role::JavaScript => inline::javascript(text),
        _ => None,
    };
    let Some(harmless) = harmless else { return false };
    if !harmless.requires.iter().all(|name| is_json(name, state, work)) {
        return false;
    }
    for name in harmless.reads.into_iter().chain(harmless.requires) {
        let value = Value::Literal(name);
        roles::path(Action::Read, &Arg { value, span: code.span }, state, work, gathered);
    }
    true
}

/// Python looks into the current directory first, and into what PYTHONPATH names.
fn finds_its_library(state: &State, work: &Work<'_>) -> bool {
    let Some(names) = state.cwd.as_deref().and_then(|cwd| work.facts.list(cwd)) else {
        return false;
    };
    let is_library = |name: &str| LIBRARY.contains(&name.split('.').next().unwrap_or_default());
    !work.facts.environment.contains("PYTHONPATH")
        && !names
            .iter()
            .any(|name| is_library(&name.to_string_lossy().to_ascii_lowercase()))
}

/// A file that is read as JSON: a directory of the name, or one whose link leads to another name, would be run.
fn is_json(name: &str, state: &State, work: &Work<'_>) -> bool {
    paths::absolute(name, state.cwd.as_deref()).is_some_and(|path| {
        let real = work.facts.real(&path);
        !state.relinked && work.facts.kind(&path) == Kind::File && real.extension().is_some_and(|it| it == "json")
    })
}
