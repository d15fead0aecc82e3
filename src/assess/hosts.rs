//! Who answers at an address: this machine, a known host, one seen for the first time, or one that hides what it is.
//!
//! Shell commands and the host's tools ask the same questions here. Nothing is looked up: a name is what it says.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::address::{self, Address};
use super::bash::{Gathered, Work};
use super::{roles, secrets};
use crate::effect::{Action, Effect, EffectSpec, Reach, Subject, Undo};
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// Hosts of public documentation and code that answer everybody the same and publish nothing that is only asked.
const KNOWN: &[&str] = &[
    "api.github.com",
    "cppreference.com",
    "deno.com",
    "developer.apple.com",
    "developer.mozilla.org",
    "doc.rust-lang.org",
    "docs.docker.com",
    "docs.github.com",
    "docs.gitlab.com",
    "docs.npmjs.com",
    "docs.oracle.com",
    "docs.python.org",
    "docs.rs",
    "docs.ruby-lang.org",
    "docs.rust-lang.org",
    "en.cppreference.com",
    "en.wikipedia.org",
    "git-scm.com",
    "github.com",
    "go.dev",
    "kotlinlang.org",
    "kubernetes.io",
    "learn.microsoft.com",
    "lib.rs",
    "man7.org",
    "nodejs.org",
    "peps.python.org",
    "pkg.go.dev",
    "postgresql.org",
    "react.dev",
    "rust-lang.github.io",
    "stackoverflow.com",
    "vuejs.org",
    "wiki.archlinux.org",
    "www.gnu.org",
    "www.postgresql.org",
    "www.python.org",
    "www.rfc-editor.org",
    "www.rust-lang.org",
    "www.sqlite.org",
    "www.typescriptlang.org",
    "www.w3.org",
];

/// Names that a cloud answers with the credentials of its machine.
const METADATA: &[&str] = &[
    "instance-data",
    "metadata",
    "metadata.azure.internal",
    "metadata.google.internal",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
];

/// Addresses of the same: AWS, GCP, Azure and others; ECS; EKS; Alibaba; Oracle.
const METADATA_V4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254);

/// Endings of names inside a network, and names under which the whole world reaches addresses inside one.
const INTERNAL: &[&str] = &[
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "private",
    "svc",
    "localtest.me",
    "lvh.me",
    "nip.io",
    "sslip.io",
    "vcap.me",
    "xip.io",
];

/// Ports on which a machine is controlled: container engines and clusters, debuggers, databases without a password,
/// mail, remote shells.
const CONTROL_PORTS: &[u16] = &[
    22, 23, 25, 2019, 2375, 2376, 2377, 2379, 2380, 3306, 4243, 4646, 5037, 5432, 5984, 5985, 5986, 6379, 6443, 8001,
    8200, 8500, 9200, 9222, 9229, 9300, 10250, 10255, 11211, 15672, 27017,
];

/// Schemes of addresses that name a bucket of a service where others have a host.
const BUCKETS: &[&str] = &["gs", "s3"];

/// Who answers at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Loopback,
    Known,
    New,
    /// Inside a private network.
    Internal,
    /// It hands out the credentials of the machine.
    Metadata,
    /// An address without a name.
    Numeric,
    /// It is written in a form that hides what it is.
    Disguised(&'static str),
    /// It is not the known host that it looks like.
    Alike(&'static str),
}

/// Connecting to a host that is named alone.
pub fn host(arg: &Arg, gathered: &mut Gathered) {
    let Some(text) = arg.value.literal() else {
        return unknown(arg, gathered);
    };
    // What is asked for beside a host: `+short`.
    if text.starts_with('+') {
        return;
    }
    let name = text.rsplit_once('@').map_or(text, |(_, name)| name);
    let (name, port) = match name.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name, port.parse().ok()),
        _ => (name, None),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']').to_lowercase();
    let host = match text.contains('@') {
        true => strange(named(&name)),
        false => named(&name),
    };
    connect(host, &name, port, arg, gathered);
}

/// Connecting to what an address names, or reading the file that it names; and what the address carries out.
pub fn url(arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let Some(text) = arg.value.literal() else {
        return unknown(arg, gathered);
    };
    if text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        return file(text, &text[5..], arg, state, work, gathered);
    }
    // No address has such a form: it is a path, as git takes one.
    if text.starts_with(['/', '.']) && !text.starts_with("//") {
        roles::path(Action::Read, arg, state, work, gathered);
        return gathered.effect(connecting(Reach::New), text);
    }
    match address::read(text) {
        Ok(address) => ask(&address, arg, gathered),
        Err(why) => {
            unreadable(text, why, arg, gathered);
            secrets::sent(text, gathered);
        }
    }
}

fn ask(address: &Address<'_>, arg: &Arg, gathered: &mut Gathered) {
    if ["s3", "gs"].contains(&address.scheme.as_str()) {
        gathered.effect(connecting(Reach::New), format!("the bucket {}", address.host));
        return secrets::sent(address.rest, gathered);
    }
    let mut host = named(&address.host);
    if let Some(user) = address.user {
        host = strange(host);
        if user.contains(['.', '%']) {
            gathered.doubt("what stands before the `@` is not the host", arg.span);
        }
        if user.contains(':') {
            secrets::shown("a password in the address", gathered);
        }
    }
    if !["http", "https", "ws", "wss"].contains(&address.scheme.as_str()) {
        host = strange(host);
    }
    if BUCKETS.contains(&address.scheme.as_str()) {
        // Whoever may have made it, wherever it is: its name is no host's.
        gathered.add(Effect {
            subject: Subject::Host(address.host.clone()),
            ..Effect::new(connecting(Reach::New), format!("the bucket {}", address.host))
        });
    } else {
        connect(host, &address.host, address.port, arg, gathered);
    }
    if host != Host::Loopback {
        secrets::sent(address.rest, gathered);
    }
}

/// The same host asked in a way that is not what it is known for.
fn strange(host: Host) -> Host {
    match host {
        Host::Loopback | Host::Known => Host::New,
        Host::New | Host::Internal | Host::Metadata | Host::Numeric | Host::Disguised(_) | Host::Alike(_) => host,
    }
}

/// Connecting to `name`, in lower case, at which `host` answers.
fn connect(host: Host, name: &str, port: Option<u16>, arg: &Arg, gathered: &mut Gathered) {
    let mut shown = match port {
        Some(port) if name.contains(':') => format!("[{name}]:{port}"),
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    };
    let mut reach = Reach::New;
    match host {
        Host::Loopback => {
            reach = Reach::Loopback;
            if port.is_some_and(|port| CONTROL_PORTS.contains(&port)) {
                let spec = EffectSpec {
                    undo: Undo::Lost,
                    ..EffectSpec::of(Action::Control)
                };
                gathered.effect(spec, format!("what listens at {shown}"));
            }
        }
        Host::Known if port.is_none() => reach = Reach::Known,
        Host::Known | Host::New => {}
        Host::Internal => shown.push_str(", inside a private network"),
        Host::Metadata => secrets::shown("the credentials that this host hands out", gathered),
        Host::Numeric => shown.push_str(", an address without a name"),
        Host::Disguised(why) => gathered.doubt(why, arg.span),
        Host::Alike(known) => gathered.doubt(format!("{name} is not {known}, which it looks like"), arg.span),
    }
    gathered.add(Effect {
        subject: Subject::Host(name.to_owned()),
        ..Effect::new(connecting(reach), shown)
    });
}

/// Connecting to an address that names no host which every client agrees on.
fn unreadable(text: &str, why: &str, arg: &Arg, gathered: &mut Gathered) {
    gathered.doubt(why, arg.span);
    gathered.effect(connecting(Reach::New), text);
}

fn unknown(arg: &Arg, gathered: &mut Gathered) {
    gathered.doubt("where it connects to is not known", arg.span);
    gathered.effect(connecting(Reach::New), "a host that is not known");
}

fn connecting(reach: Reach) -> EffectSpec {
    EffectSpec {
        reach,
        ..EffectSpec::of(Action::Connect)
    }
}

/// Reads the file that `file:` and `rest` name on this machine.
fn file(text: &str, rest: &str, arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let path = address::decoded(path).filter(|path| !path.contains(['\0', '\\']));
    match path {
        Some(path) if host.is_empty() || host.eq_ignore_ascii_case("localhost") => {
            let path = Arg {
                value: Value::Literal(path),
                span: arg.span,
            };
            roles::path(Action::Read, &path, state, work, gathered);
        }
        _ => unreadable(text, "which file the address names is not known", arg, gathered),
    }
}

/// Who answers at a host, in lower case and without brackets.
fn named(host: &str) -> Host {
    if !host.is_ascii() || host.split('.').any(|label| label.starts_with("xn--")) {
        return Host::Disguised("the host has letters beyond ASCII, which may look like others");
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return numbered(address);
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_hexadecimal = last
        .strip_prefix("0x")
        .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let is_decimal = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    if host.contains(':') || is_hexadecimal || is_decimal {
        return Host::Disguised("the host is a number in an unusual form");
    }
    let below = |ending: &str| name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'));
    if ["localhost", "ip6-localhost", "localhost.localdomain"].contains(&name) || below("localhost") {
        return Host::Loopback;
    }
    if METADATA.contains(&name) {
        return Host::Metadata;
    }
    if !name.contains('.') || INTERNAL.contains(&name) || INTERNAL.iter().any(|ending| below(ending)) {
        return Host::Internal;
    }
    match KNOWN.iter().find(|known| **known == name) {
        Some(_) if name == host => Host::Known,
        Some(known) => Host::Alike(known),
        None => KNOWN
            .iter()
            .find(|known| looks_like(name, known))
            .map_or(Host::New, |known| Host::Alike(known)),
    }
}

fn numbered(address: IpAddr) -> Host {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            let shared = a == 100 && (64..128).contains(&b);
            let special = a == 0 || a >= 224 || (a, b, c) == (192, 0, 0) || a == 198 && (18..20).contains(&b);
            if v4.is_loopback() || v4.is_unspecified() {
                Host::Loopback
            } else if METADATA_V4.contains(&v4) {
                Host::Metadata
            } else if v4.is_private() || v4.is_link_local() || shared || special {
                Host::Internal
            } else {
                Host::Numeric
            }
        }
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => numbered(IpAddr::V4(v4)),
            None if v6.is_loopback() || v6.is_unspecified() => Host::Loopback,
            None if v6 == METADATA_V6 => Host::Metadata,
            None if v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_multicast() => Host::Internal,
            None => Host::Numeric,
        },
    }
}

/// Whether a host that is not `known` may be taken for it: it holds that name, or differs by one letter or by letters
/// that look alike. What belongs to the same owner does not count.
fn looks_like(name: &str, known: &str) -> bool {
    let known = known.strip_prefix("www.").unwrap_or(known);
    let owner = |host: &'_ str| host.rmatch_indices('.').nth(1).map_or(0, |(dot, _)| dot + 1);
    if name[owner(name)..] == known[owner(known)..] {
        return false;
    }
    let is_edge = |c: Option<char>| c.is_none_or(|c| c == '.' || c == '-');
    let holds = |part: &str| {
        name.match_indices(part).any(|(at, _)| {
            let (before, after) = (name[..at].chars().next_back(), name[at + part.len()..].chars().next());
            is_edge(before) && is_edge(after)
        })
    };
    holds(known)
        || known.len() >= 7 && (holds(&known.replace('.', "-")) || one_edit(name.as_bytes(), known.as_bytes()))
        || name.len().abs_diff(known.len()) <= 3 && folded(name) == folded(known)
}

/// Whether one letter more, less, changed or swapped with the next makes the one the other.
fn one_edit(a: &[u8], b: &[u8]) -> bool {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    match (a, b) {
        ([x, y, rest @ ..], [v, w, other @ ..]) if x == w && y == v && rest == other => true,
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([_, rest @ ..], _) if rest == b => true,
        (_, [_, other @ ..]) => a == other,
        _ => false,
    }
}

/// A name with the letters that look like others read as those.
fn folded(name: &str) -> String {
    let name = name.replace("rn", "m").replace("vv", "w");
    let letter = |c: char| match c {
        '0' => 'o',
        '1' | 'i' => 'l',
        '3' => 'e',
        '5' => 's',
        '8' => 'b',
        _ => c,
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn all(expected: Host, hosts: &[&str]) {
        for host in hosts {
            assert_eq!(named(host), expected, "{host}");
        }
    }

    #[test]
    fn this_machine_is_known_by_every_usual_form() {
        all(
            Host::Loopback,
            &[
                "localhost",
                "localhost.",
                "app.localhost",
                "a.b.localhost",
                "localhost.localdomain",
                "ip6-localhost",
                "127.0.0.1",
                "127.0.0.2",
                "127.255.255.254",
                "0.0.0.0",
                "::1",
                "::",
                "0:0:0:0:0:0:0:1",
                "::ffff:127.0.0.1",
                "::ffff:7f00:1",
            ],
        );
    }

    #[test]
    fn a_number_in_an_unusual_form_is_a_disguise() {
        let disguised = Host::Disguised("the host is a number in an unusual form");
        let hosts = [
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.0.0.1",
            "0x7f.0x0.0x0.0x1",
            "0177.0.0.1",
            "017700000001",
            "127.0.0.01",
            "127.0.0.1.",
            "1",
            "0",
            "169.254.43518",
            "0xa9fea9fe",
            "256.1.1.1",
            "1.2.3.4.5",
            "docs.rs.1",
            "0x",
            "1::2::3",
            "docs.rs:x",
        ];
        all(disguised, &hosts);
    }

    #[test]
    fn what_hands_out_credentials_is_known_by_name_and_address() {
        all(
            Host::Metadata,
            &[
                "169.254.169.254",
                "169.254.170.2",
                "100.100.100.200",
                "192.0.0.192",
                "fd00:ec2::254",
                "::ffff:169.254.169.254",
                "metadata",
                "metadata.google.internal",
                "metadata.google.internal.",
                "metadata.azure.internal",
            ],
        );
    }

    #[test]
    fn addresses_and_names_inside_a_network_are_internal() {
        all(
            Host::Internal,
            &[
                "10.0.0.1",
                "10.255.255.255",
                "172.16.0.1",
                "172.31.0.1",
                "192.168.1.1",
                "169.254.1.1",
                "100.64.0.1",
                "0.1.2.3",
                "224.0.0.1",
                "255.255.255.255",
                "198.18.0.1",
                "fc00::1",
                "fd12::1",
                "fe80::1",
                "ff02::1",
                "::ffff:10.0.0.1",
                "intranet",
                "db",
                "printer.local",
                "nas.lan",
                "wiki.corp",
                "api.svc",
                "host.docker.internal",
                "router.home.arpa",
                "10.0.0.1.nip.io",
                "app.lvh.me",
                "localtest.me",
                "build.internal.",
            ],
        );
    }

    #[test]
    fn an_address_without_a_name_is_no_known_host() {
        let hosts = [
            "8.8.8.8",
            "1.1.1.1",
            "172.32.0.1",
            "100.128.0.1",
            "11.0.0.1",
            "2606:4700::1111",
        ];
        all(Host::Numeric, &hosts);
    }

    #[test]
    fn known_hosts_are_known_exactly() {
        all(
            Host::Known,
            &["docs.rs", "github.com", "www.rust-lang.org", "nodejs.org", "pkg.go.dev"],
        );
    }

    #[test]
    fn what_looks_like_a_known_host_is_told_apart() {
        for (host, known) in [
            ("docs.rs.", "docs.rs"),
            ("docs.rs.fresh.example", "docs.rs"),
            ("docs.rs-fresh.example", "docs.rs"),
            ("fresh-docs.rs", "docs.rs"),
            ("docs-rs.fresh.example", "docs.rs"),
            ("github.com.fresh.example", "github.com"),
            ("login-github.com", "github.com"),
            ("github-com.fresh.example", "github.com"),
            ("githud.com", "github.com"),
            ("gihtub.com", "github.com"),
            ("github.co", "github.com"),
            ("githubb.com", "github.com"),
            ("glthub.com", "github.com"),
            ("g1thub.com", "github.com"),
            ("d0cs.r5", "docs.rs"),
            ("ernberjs-nodejs.org", "nodejs.org"),
            ("man7.org.fresh.example", "man7.org"),
            ("stackoverfl0w.com", "stackoverflow.com"),
            ("nodejs.org.fresh.example", "nodejs.org"),
        ] {
            assert_eq!(named(host), Host::Alike(known), "{host}");
        }
    }

    #[test]
    fn letters_beyond_ascii_are_a_disguise() {
        let why = Host::Disguised("the host has letters beyond ASCII, which may look like others");
        all(
            why,
            &[
                "d\u{43e}cs.rs",
                "docs\u{3002}rs",
                "\u{ff47}ithub.com",
                "m\u{fc}nchen.example",
                "xn--dcs-qed.rs",
                "a.xn--p1ai",
            ],
        );
    }

    #[test]
    fn every_other_host_is_seen_for_the_first_time() {
        all(
            Host::New,
            &[
                "fresh.example",
                "blog.rust-lang.org",
                "gist.github.com",
                "sub.docs.rs",
                "rust-lang.org",
                "evil.github.io",
                "golang.org",
                "notlocalhost.example",
                "localhost.fresh.example",
                "127.0.0.1.fresh.example",
                "metadata.google.internal.fresh.example",
                "cafe.example",
            ],
        );
    }
}
