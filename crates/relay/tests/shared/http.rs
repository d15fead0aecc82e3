//! HTTP as it is written, a connection for each request.
#![allow(dead_code, reason = "not every test says all of it")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use countersign_protocol::{VERSION, VERSION_HEADER};
use serde_json::{Value, json};

/// An answer of the relay's.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Value,
}

/// A request of the protocol by whoever has this token, with more headers, each with the end of its line.
pub fn send(address: &str, token: &str, method: &str, path: &str, headers: &str, body: &str) -> Reply {
    let headers =
        format!("host: {address}\r\n{VERSION_HEADER}: {VERSION}\r\nauthorization: Bearer {token}\r\n{headers}");
    raw(address, method, path, &headers, body)
}

/// What the relay tells everybody.
pub fn get(address: &str, path: &str) -> Reply {
    raw(address, "GET", path, "host: localhost\r\n", "")
}

/// A request as it is written, on a connection of its own.
pub fn raw(address: &str, method: &str, path: &str, headers: &str, body: &str) -> Reply {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    let length = body.len();
    let request =
        format!("{method} {path} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    // A relay that refuses before the whole has come may close first.
    stream.write_all(request.as_bytes()).ok();
    answer(&mut stream)
}

/// What comes until the connection is closed.
pub fn answer(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok();
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    Reply {
        status: head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_default(),
        head: head.to_owned(),
        body: serde_json::from_str(body).unwrap_or_else(|_| json!(body)),
    }
}
