//! A scripted stand-in for the model's Messages API on a loopback port: it plays the tool calls turn by turn and remembers
//! every request. The turn to play is read from the conversation itself, so that repeated and parallel requests get
//! the same answer. It knows nothing of hooks, terminals or files.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// One tool call that the scripted model makes.
#[derive(Clone, Debug)]
pub struct ToolUse {
    pub name: &'static str,
    pub input: Value,
}

/// What the model was given back for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub is_error: bool,
    pub text: String,
}

/// The server. It stops listening when it is dropped.
pub struct Api {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    /// The calls that the model makes together, turn by turn.
    turns: Vec<Vec<ToolUse>>,
    seen: Mutex<Vec<Seen>>,
    closed: AtomicBool,
}

/// A request, and how it was taken.
#[derive(Debug)]
struct Seen {
    what: What,
    path: String,
    body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Turn(usize),
    /// A subagent's part.
    Delegated,
    /// Every call was made; the model says it is done.
    Final,
    /// A request that offers no tools: a title, a summary, a classifier.
    Side,
    /// Anything that is not a message.
    Other,
}

const ID: &str = "toolu_scripted_";

/// What a subagent is asked to do. Whoever is asked this makes the one call that comes with it.
pub const DELEGATED: &str = "please do the delegated errand: ";
/// The number of a subagent's call.
pub const OF_SUBAGENT: usize = 1000;

/// Where this stands in a call's input, the model writes half of a surrogate pair, which no text of Rust can hold.
pub const HALF_A_PAIR: &str = "(half a pair)";

impl Api {
    /// Serves `turns` until dropped.
    pub fn start(turns: Vec<Vec<ToolUse>>) -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let address = listener.local_addr().expect("the port's address");
        let shared = Arc::new(Shared {
            turns,
            seen: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if server.closed.load(Ordering::SeqCst) {
                    return;
                }
                let server = Arc::clone(&server);
                // The host drops connections whenever it likes; a broken one is no fault of the test.
                thread::spawn(move || server.serve(&stream).ok());
            }
        });
        Api { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether the host has asked for any part of the conversation.
    pub fn has_begun(&self) -> bool {
        self.any(|what| matches!(what, What::Turn(_) | What::Final))
    }

    /// Whether the model has said that it is done.
    pub fn has_ended(&self) -> bool {
        self.any(|what| what == What::Final)
    }

    /// Whether the person has said these words to the model.
    pub fn was_said(&self, words: &str) -> bool {
        let seen = self.shared.seen.lock().expect("the request log");
        let bodies = seen.iter().filter(|request| request.what != What::Side);
        bodies
            .flat_map(|request| messages(&request.body, "user"))
            .any(|message| {
                let content = &message["content"];
                let texts = content.as_array().into_iter().flatten().map(|block| &block["text"]);
                texts
                    .chain([content])
                    .any(|text| text.as_str().is_some_and(|text| text.contains(words)))
            })
    }

    /// What the model was told about its call of the number `call`, counted from 0, once it was told.
    pub fn told(&self, call: usize) -> Option<Told> {
        let id = format!("{ID}{call}");
        let seen = self.shared.seen.lock().expect("the request log");
        seen.iter()
            .flat_map(|request| blocks(&request.body, "user"))
            .find_map(|block| {
                let result = block["type"] == "tool_result" && block["tool_use_id"] == id.as_str();
                result.then(|| Told {
                    is_error: block["is_error"] == true,
                    text: text(&block["content"]),
                })
            })
    }

    /// One line a request, for a failed test's report.
    pub fn log(&self) -> String {
        let seen = self.shared.seen.lock().expect("the request log");
        seen.iter()
            .map(|request| format!("{:?} {}\n", request.what, request.path))
            .collect()
    }

    fn any(&self, wanted: impl Fn(What) -> bool) -> bool {
        self.shared
            .seen
            .lock()
            .expect("the request log")
            .iter()
            .any(|request| wanted(request.what))
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        TcpStream::connect(self.address).ok();
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let (method, path) = (
            words.next().unwrap_or_default().to_owned(),
            words.next().unwrap_or_default().to_owned(),
        );
        let mut body = vec![0; content_length(&mut reader)?];
        reader.read_exact(&mut body)?;
        let body = String::from_utf8_lossy(&body).replace(r"\ud800", HALF_A_PAIR);
        let body: Value = serde_json::from_str(&body).unwrap_or(Value::Null);
        let (what, answer) = self.answer(&method, &path, &body);
        let streamed = body["stream"] == true && what != What::Other;
        self.seen
            .lock()
            .expect("the request log")
            .push(Seen { what, path, body });
        let (kind, answer) = match streamed {
            true => ("text/event-stream", events(&answer)),
            false => ("application/json", answer.to_string()),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            answer.len()
        );
        let mut stream = stream;
        stream.write_all(head.as_bytes())?;
        if method != "HEAD" {
            stream.write_all(answer.as_bytes())?;
        }
        stream.flush()
    }

    fn answer(&self, method: &str, path: &str, body: &Value) -> (What, Value) {
        let route = path.split('?').next().unwrap_or_default();
        if route.ends_with("/count_tokens") {
            return (What::Other, json!({"input_tokens": 900}));
        }
        if method != "POST" || !route.ends_with("/v1/messages") {
            return (What::Other, json!({"data": [], "has_more": false}));
        }
        let says = |text: &str| json!([{"type": "text", "text": text}]);
        let (what, content, stop) = match self.calls_made(body) {
            None => (What::Side, says("{\"title\": \"errand\"}"), "end_turn"),
            Some(made) if let Some(command) = delegated(body) => match made {
                0 => {
                    let input = json!({"command": command, "description": "a step of the subagent"});
                    let call =
                        json!({"type": "tool_use", "id": format!("{ID}{OF_SUBAGENT}"), "name": "Bash", "input": input});
                    (What::Delegated, json!([call]), "tool_use")
                }
                _ => (What::Delegated, says("the delegated errand is done"), "end_turn"),
            },
            Some(made) => match self.turn_after(made) {
                None => (What::Final, says("all done"), "end_turn"),
                Some((turn, calls)) => {
                    let calls = (made..).zip(calls).map(|(number, call)| {
                        json!({"type": "tool_use", "id": format!("{ID}{number}"), "name": call.name, "input": call.input})
                    });
                    (What::Turn(turn), calls.collect(), "tool_use")
                }
            },
        };
        let message = json!({
            "id": "msg_scripted", "type": "message", "role": "assistant", "model": body["model"],
            "content": content, "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": 9, "output_tokens": 4, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        });
        (what, message)
    }

    /// How many calls the conversation holds; `None` for a request that offers no tools.
    fn calls_made(&self, body: &Value) -> Option<usize> {
        body["tools"].as_array().filter(|tools| !tools.is_empty())?;
        let last = blocks(body, "assistant")
            .filter_map(|block| block["id"].as_str()?.strip_prefix(ID)?.parse::<usize>().ok())
            .max();
        Some(last.map_or(0, |call| call + 1))
    }

    /// The turn that begins after so many calls.
    fn turn_after(&self, made: usize) -> Option<(usize, &[ToolUse])> {
        let mut before = 0;
        for (turn, calls) in self.turns.iter().enumerate() {
            if before == made {
                return Some((turn, calls));
            }
            before += calls.len();
        }
        None
    }
}

/// The command that a subagent is asked to run, in the subagent's own conversation.
fn delegated(body: &Value) -> Option<String> {
    let texts = messages(body, "user").flat_map(|message| match message["content"].as_array() {
        None => vec![&message["content"]],
        Some(blocks) => blocks.iter().map(|block| &block["text"]).collect(),
    });
    let asked = texts
        .filter_map(Value::as_str)
        .find_map(|text| text.split_once(DELEGATED));
    asked.map(|(_, command)| command.trim().to_owned())
}

/// Reads the head up to the blank line; gives the body's length.
fn content_length(reader: &mut impl BufRead) -> std::io::Result<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(length);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}

/// The content blocks of every message by `role`.
fn blocks<'a>(body: &'a Value, role: &'a str) -> impl Iterator<Item = &'a Value> {
    messages(body, role).flat_map(|message| message["content"].as_array().into_iter().flatten())
}

fn messages<'a>(body: &'a Value, role: &'a str) -> impl Iterator<Item = &'a Value> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages.filter(move |message| message["role"] == role)
}

/// A tool result's content, a string or a list of text blocks, as one text.
fn text(content: &Value) -> String {
    match content.as_array() {
        None => content.as_str().unwrap_or_default().to_owned(),
        Some(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// A whole message as the server-sent events that stream it.
fn events(message: &Value) -> String {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let stop = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let mut opening = block.clone();
        let delta = match block["type"] == "tool_use" {
            true => {
                opening["input"] = json!({});
                let input = block["input"].to_string().replace(HALF_A_PAIR, r"\ud800");
                json!({"type": "input_json_delta", "partial_json": input})
            }
            false => {
                opening["text"] = json!("");
                json!({"type": "text_delta", "text": block["text"]})
            }
        };
        events.extend([
            json!({"type": "content_block_start", "index": index, "content_block": opening}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    events.extend([
        json!({"type": "message_delta", "delta": stop, "usage": message["usage"]}),
        json!({"type": "message_stop"}),
    ]);
    let lines = events.iter().map(|event| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap_or_default()
        )
    });
    lines.collect()
}
