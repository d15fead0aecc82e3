//! An address taken apart, if every client takes it apart the same way.
//!
//! Browsers and libraries disagree about backslashes, blanks, missing slashes, percent signs and a second `@` in an
//! address, and so about which host is asked. An address with one of those names no host that could be trusted.

use std::borrow::Cow;

use crate::escape::visible;

/// The parts of an address.
#[derive(Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// In lower case; `http` where none is written, as clients take it.
    pub scheme: String,
    /// In lower case, without the brackets of an IPv6 address.
    pub host: String,
    /// Where it is not the scheme's own.
    pub port: Option<u16>,
    /// What stands before the `@`.
    pub user: Option<&'a str>,
    /// Path, query and fragment.
    pub rest: &'a str,
}

/// Reads an address.
///
/// # Errors
/// Why clients may disagree about it, or that it names no host; lower case, without a full stop.
pub fn read(text: &str) -> Result<Address<'_>, &'static str> {
    if text.contains(' ') || matches!(visible(text), Cow::Owned(_)) {
        return Err("the address holds blanks or characters that do not show");
    }
    let before_query = text.split(['?', '#']).next().unwrap_or_default();
    if before_query.contains('\\') {
        return Err("the address holds a backslash, which some read as a slash");
    }
    let (scheme, after) = scheme(text);
    let after = after.ok_or("the address has no two slashes after its scheme")?;
    let (authority, rest) = after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()));
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, _)) if user.contains('@') => return Err("the address holds more than one `@`"),
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let (host, port) = match host.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        Some((inside, port)) => (inside, port.strip_prefix(':').or((!port.is_empty()).then_some("?"))),
        None => host
            .split_once(':')
            .map_or((host, None), |(host, port)| (host, Some(port))),
    };
    let own_port = match scheme.as_str() {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        "ssh" => 22,
        _ => 0,
    };
    let port = match port.filter(|port| !port.is_empty()) {
        // As in `git@host:path`, which is no port.
        Some(_) if scheme == "ssh" && !text.contains("://") => None,
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => {
            Some(port.parse().map_err(|_| "the address has a port that does not exist")?)
        }
        Some(_) => return Err("the address has a port that is no number"),
        None => None,
    };
    if authority.contains('[') && !host.contains(':') {
        return Err("the address holds a name in brackets, where only a number may be");
    }
    if host.is_empty() {
        return Err("the address names no host");
    }
    if host.contains('%') {
        return Err("the address encodes its host");
    }
    let of_host = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-._:".contains(c);
    if !host.chars().all(of_host) {
        return Err("the address has characters in its host that no host has");
    }
    Ok(Address {
        scheme,
        host: host.to_lowercase(),
        port: port.filter(|port| *port != own_port),
        user,
        rest,
    })
}

/// The scheme, and what stands after it and its two slashes, if it has them.
fn scheme(text: &str) -> (String, Option<&str>) {
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    if let Some(rest) = text.strip_prefix("//") {
        return ("http".to_owned(), Some(rest));
    }
    match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => {
            let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
            if let Some(rest) = rest.strip_prefix("//") {
                (scheme.to_ascii_lowercase(), Some(rest))
            } else if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) {
                ("http".to_owned(), Some(text))
            } else if scheme.contains('.') {
                ("ssh".to_owned(), Some(text))
            } else {
                (scheme.to_ascii_lowercase(), None)
            }
        }
        Some((user, _)) if user.contains('@') && !user.contains('/') => ("ssh".to_owned(), Some(text)),
        _ => ("http".to_owned(), Some(text)),
    }
}

/// A text with its percent signs decoded; `None` where one is followed by no two digits, or they make no UTF-8.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = after.split_first_chunk::<2>()?;
        let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
        let value = digits.reduce(|high, low| Some(high? * 16 + low?))??;
        bytes.push(u8::try_from(value).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_an_address_are_found() {
        let parts = |text: &'static str| {
            let address = read(text).expect(text);
            (address.scheme, address.host, address.port, address.user, address.rest)
        };
        let of = |scheme: &str, host: &str, port, user, rest| (scheme.to_owned(), host.to_owned(), port, user, rest);
        for (text, expected) in [
            ("https://docs.rs", of("https", "docs.rs", None, None, "")),
            (
                "HTTPS://Docs.RS:443/a?b#c",
                of("https", "docs.rs", None, None, "/a?b#c"),
            ),
            ("http://docs.rs:443?x", of("http", "docs.rs", Some(443), None, "?x")),
            ("docs.rs/serde", of("http", "docs.rs", None, None, "/serde")),
            ("docs.rs:8080/x", of("http", "docs.rs", Some(8080), None, "/x")),
            ("//docs.rs/x", of("http", "docs.rs", None, None, "/x")),
            (
                "https://a:b@docs.rs/@c",
                of("https", "docs.rs", None, Some("a:b"), "/@c"),
            ),
            ("http://[::1]:80/", of("http", "::1", None, None, "/")),
            ("http://[fe80::1]:8080", of("http", "fe80::1", Some(8080), None, "")),
            ("git@docs.rs:a/b", of("ssh", "docs.rs", None, Some("git"), "/b")),
            ("ssh://git@docs.rs/a", of("ssh", "docs.rs", None, Some("git"), "/a")),
            ("docs.rs?u=http://x", of("http", "docs.rs", None, None, "?u=http://x")),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn an_address_that_clients_read_differently_is_refused() {
        for text in [
            "https://docs.rs\\@fresh.example/",
            "https:\\\\docs.rs",
            "https://docs.rs /x",
            " https://docs.rs",
            "https://docs.rs\n",
            "ht\ttps://docs.rs",
            "https://docs.rs/\u{202e}x",
            "https://docs.rs/\u{200b}",
            "https:docs.rs",
            "https:/docs.rs",
            "https:///docs.rs",
            "https://",
            "https://@/",
            "https://a@b@docs.rs",
            "https://%64ocs.rs",
            "https://docs.rs:x/",
            "https://docs.rs:99999/",
            "https://docs.rs:80:80/",
            "https://[::1]x/",
            "https://[docs.rs]/",
            "https://{docs,fresh}.rs/",
            "https://docs.rs;x/",
            "javascript:alert(1)",
            "data:text/html,x",
            "mailto:a@b.example",
            "about:blank",
            "",
        ] {
            assert!(read(text).is_err(), "{text:?}: {:?}", read(text));
        }
    }

    #[test]
    fn percent_signs_are_decoded_or_it_is_said_that_they_cannot_be() {
        assert_eq!(decoded("/a%2Fb%c3%A9").as_deref(), Some("/a/b\u{e9}"));
        for text in ["%", "%4", "%zz", "%ff", "%+1"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
