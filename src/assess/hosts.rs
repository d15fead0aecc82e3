//! How far a connection reaches: this machine, a known host, or one seen for the first time.

use super::bash::{Gathered, Work};
use super::roles;
use crate::effect::{Action, Effect, EffectSpec, Reach, Subject};
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// Hosts of public documentation and code that answer everybody the same.
const KNOWN: &[&str] = &[
    "docs.rs",
    "doc.rust-lang.org",
    "docs.python.org",
    "developer.mozilla.org",
    "nodejs.org",
    "go.dev",
    "pkg.go.dev",
    "docs.github.com",
    "github.com",
    "api.github.com",
    "kubernetes.io",
    "docs.docker.com",
    "en.wikipedia.org",
    "stackoverflow.com",
    "man7.org",
    "www.rust-lang.org",
    "www.python.org",
    "react.dev",
    "www.typescriptlang.org",
];

/// Ports on this machine that control it: container engines, debuggers, databases without a password.
const CONTROL_PORTS: &[&str] = &[
    "2375", "2376", "9200", "9229", "10250", "6443", "8001", "2379", "5985", "11211", "6379", "27017",
];

/// Connecting to a host that is named alone.
pub fn host(arg: &Arg, gathered: &mut Gathered) {
    match arg.value.literal() {
        Some(host) => gathered.add(connection(reach(host, None), host, host)),
        None => unknown(arg, gathered),
    }
}

/// Connecting to what an address names, or reading the file that it names.
pub fn url(arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let Some(text) = arg.value.literal() else {
        return unknown(arg, gathered);
    };
    if let Some(path) = text.strip_prefix("file://") {
        let file = Arg {
            value: Value::Literal(path.trim_start_matches("localhost").to_owned()),
            span: arg.span,
        };
        roles::path(Action::Read, &file, state, work, gathered);
        return;
    }
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if !["http", "https"].contains(&scheme) || authority.contains('@') || !text.is_ascii() {
        return gathered.effect(
            EffectSpec {
                reach: Reach::New,
                ..EffectSpec::of(Action::Connect)
            },
            text,
        );
    }
    let (name, port) = authority
        .rsplit_once(':')
        .map_or((authority, None), |(name, port)| (name, Some(port)));
    let reach = if rest.contains('?') {
        reach(name, port).max(Reach::Known)
    } else {
        reach(name, port)
    };
    gathered.add(connection(reach, name, authority));
}

fn connection(reach: Reach, host: &str, shown: &str) -> Effect {
    let spec = EffectSpec {
        reach,
        ..EffectSpec::of(Action::Connect)
    };
    Effect {
        subject: Subject::Host(host.to_ascii_lowercase()),
        ..Effect::new(spec, shown)
    }
}

fn unknown(arg: &Arg, gathered: &mut Gathered) {
    gathered.doubt("where it connects to is not known", arg.span);
    gathered.effect(
        EffectSpec {
            reach: Reach::New,
            ..EffectSpec::of(Action::Connect)
        },
        "a host that is not known",
    );
}

fn reach(host: &str, port: Option<&str>) -> Reach {
    let host = host.to_ascii_lowercase();
    if ["localhost", "127.0.0.1", "[::1]", "::1"].contains(&host.as_str()) {
        return if port.is_some_and(|port| CONTROL_PORTS.contains(&port)) {
            Reach::New
        } else {
            Reach::Loopback
        };
    }
    if KNOWN.contains(&host.as_str()) && port.is_none_or(|port| port == "443") {
        Reach::Known
    } else {
        Reach::New
    }
}
