//! The tool call inside an event, typed once.
//!
//! A face reads raw JSON into a [`Call`]; from there on nobody looks at loose JSON to learn what is asked. The input
//! and the suggestions also stay as received, for echoing them byte for byte.

use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::audit::chain::sha256;

/// What the agent asks to do.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name as the host spells it.
    pub tool: String,
    /// The typed input.
    pub input: Input,
    /// The input as received, byte for byte. An object.
    pub raw_input: Box<RawValue>,
    /// Each suggestion as received, byte for byte.
    pub suggestions: Vec<Box<RawValue>>,
    /// The directory that relative paths are read against, absolute; `None` where the face carries none.
    pub cwd: Option<PathBuf>,
    pub session: Option<String>,
    /// Who asks.
    pub agent: Agent,
    pub mode: Mode,
}

impl Call {
    /// What an answer to this call must name: SHA-256 of the tool's name, a zero byte and the input as received, as 64
    /// hexadecimal digits.
    pub fn digest(&self) -> String {
        sha256(&[self.tool.as_bytes(), b"\0", self.raw_input.get().as_bytes()])
    }
}

/// Who asks within a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Agent {
    /// The session's own loop.
    Main,
    /// A subagent, and the type that it was started as, where that is known.
    Sub { id: String, kind: Option<String> },
    /// The face does not say.
    #[default]
    Unknown,
}

impl Agent {
    /// The id of a subagent.
    pub fn id(&self) -> Option<&str> {
        match self {
            Agent::Sub { id, .. } => Some(id),
            Agent::Main | Agent::Unknown => None,
        }
    }
}

/// The typed input of the tools that Countersign reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A shell command, of `Bash` or of a tool that runs one.
    Shell {
        command: String,
        /// The call asks to leave the host's sandbox.
        leaves_sandbox: bool,
    },
    /// `Read`, `NotebookRead`: one file. The path as the agent wrote it.
    Read { path: String },
    /// `Write`, `Edit`, `MultiEdit`, `NotebookEdit`: one file, and each text that is put into it.
    Write { path: String, texts: Vec<Quoted> },
    /// `Glob`: names that match a pattern, below a directory.
    Names { pattern: String, path: Option<String> },
    /// `Grep`: content below a path, of files whose names fit the filter.
    Content {
        path: Option<String>,
        filter: Option<String>,
    },
    /// `WebFetch`
    Fetch { url: String },
    /// `WebSearch`
    Search { query: String },
    /// A tool of an MCP server, and every text among its arguments.
    Mcp {
        server: String,
        verb: String,
        texts: Vec<Text>,
    },
    /// `AskUserQuestion`: only a person can answer.
    Question,
    /// `ExitPlanMode`: only a person can approve.
    Plan,
    /// Every other tool, and every text in its input.
    Other { texts: Vec<Text> },
}

/// A text as JSON writes it, between quotes and with its escapes. It may be a file's whole content, which is looked at
/// as it is: to take its escapes out costs more than all else that is done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(String);

impl Quoted {
    /// The text between its quotes.
    pub fn escaped(&self) -> &str {
        &self.0[1..self.0.len() - 1]
    }

    /// The text itself; `None` where it is half of a surrogate pair.
    pub fn plain(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }
}

impl<'de> Deserialize<'de> for Quoted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        if raw.starts_with('"') {
            Ok(Quoted(raw.to_owned()))
        } else {
            Err(D::Error::custom("a text is expected"))
        }
    }
}

/// A text somewhere in an input that has no fixed form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The nearest key above it, empty where there is none.
    pub key: String,
    pub text: String,
}

#[derive(Deserialize)]
struct FileInput {
    #[serde(alias = "notebook_path")]
    file_path: String,
}

#[derive(Deserialize)]
struct WriteInput {
    #[serde(alias = "notebook_path")]
    file_path: String,
    content: Option<Quoted>,
    new_string: Option<Quoted>,
    new_source: Option<Quoted>,
    #[serde(default)]
    edits: Vec<OneEdit>,
}

#[derive(Deserialize)]
struct OneEdit {
    new_string: Quoted,
}

#[derive(Deserialize)]
struct NamesInput {
    pattern: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct ContentInput {
    path: Option<String>,
    glob: Option<String>,
}

#[derive(Deserialize)]
struct FetchInput {
    url: String,
}

#[derive(Deserialize)]
struct SearchInput {
    query: String,
}

#[derive(Deserialize)]
struct ShellInput {
    command: String,
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    leaves_sandbox: Option<bool>,
}

impl Input {
    /// Only a person can answer it: a question or a plan.
    pub fn is_for_person(&self) -> bool {
        matches!(self, Input::Question | Input::Plan)
    }

    /// Types the input of `tool`.
    ///
    /// # Errors
    /// One line for a person: the input is no object, or a shell tool's `command` is missing, twice there or no string.
    pub fn read(tool: &str, raw: &RawValue) -> Result<Self, String> {
        if !raw.get().starts_with('{') {
            return Err(format!("the input of {tool} is not an object"));
        }
        match tool {
            "Bash" | "Monitor" => {
                let input: ShellInput = typed(tool, raw)?;
                Ok(Input::Shell {
                    command: input.command,
                    leaves_sandbox: input.leaves_sandbox.unwrap_or(false),
                })
            }
            "Read" | "NotebookRead" => Ok(Input::Read {
                path: typed::<FileInput>(tool, raw)?.file_path,
            }),
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
                let input: WriteInput = typed(tool, raw)?;
                let edits = input.edits.into_iter().map(|edit| edit.new_string);
                let texts = [input.content, input.new_string, input.new_source];
                Ok(Input::Write {
                    path: input.file_path,
                    texts: texts.into_iter().flatten().chain(edits).collect(),
                })
            }
            "Glob" => {
                let input: NamesInput = typed(tool, raw)?;
                Ok(Input::Names {
                    pattern: input.pattern,
                    path: input.path,
                })
            }
            "Grep" => {
                let input: ContentInput = typed(tool, raw)?;
                Ok(Input::Content {
                    path: input.path,
                    filter: input.glob,
                })
            }
            "WebFetch" => Ok(Input::Fetch {
                url: typed::<FetchInput>(tool, raw)?.url,
            }),
            "WebSearch" => Ok(Input::Search {
                query: typed::<SearchInput>(tool, raw)?.query,
            }),
            "AskUserQuestion" => Ok(Input::Question),
            "ExitPlanMode" => Ok(Input::Plan),
            _ => match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
                Some((server, verb)) => Ok(Input::Mcp {
                    server: server.to_owned(),
                    verb: verb.to_owned(),
                    texts: texts(&typed(tool, raw)?),
                }),
                None => Ok(Input::Other {
                    texts: texts(&typed(tool, raw)?),
                }),
            },
        }
    }
}

fn typed<'a, T: Deserialize<'a>>(tool: &str, raw: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| format!("the input of {tool} cannot be read: {error}"))
}

/// Every text in a JSON value, its keys included. A list of texts, and a command with its list of arguments, also
/// count as the one line that they may make. The depth of the value was bounded when the event was read.
pub fn texts(value: &Value) -> Vec<Text> {
    let mut texts = Vec::new();
    gather("", value, &mut texts);
    texts
}

fn gather(key: &str, value: &Value, texts: &mut Vec<Text>) {
    let mut push = |key: &str, text: String| {
        texts.push(Text {
            key: key.to_owned(),
            text,
        });
    };
    match value {
        Value::String(text) => push(key, text.clone()),
        Value::Array(values) => {
            if let Some(line) = line(values).filter(|_| values.len() > 1) {
                push(key, line);
            }
            values.iter().for_each(|value| gather(key, value, texts));
        }
        Value::Object(fields) => {
            let arguments = ["args", "arguments", "argv"].iter().find_map(|name| fields.get(*name));
            let arguments = arguments.and_then(Value::as_array).and_then(|values| line(values));
            for (key, value) in fields {
                if let (Value::String(program), Some(arguments)) = (value, &arguments) {
                    push(key, format!("{program} {arguments}"));
                }
                // A key may be a name, such as a file's.
                if key.contains(['/', ' ', '~']) {
                    push("", key.clone());
                }
            }
            fields.iter().for_each(|(key, value)| gather(key, value, texts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The texts of a list as the words of one command; `None` where it holds anything else.
fn line(values: &[Value]) -> Option<String> {
    let word = |text: &str| match text.contains([' ', '\t', '\n', '"', '\'']) {
        true => format!("'{}'", text.replace('\'', r"'\''")),
        false => text.to_owned(),
    };
    let words: Option<Vec<String>> = values.iter().map(|value| value.as_str().map(word)).collect();
    words.map(|words| words.join(" "))
}

/// The host's permission mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Default,
    AcceptEdits,
    Plan,
    Auto,
    /// A mode that this version does not know.
    Unknown,
}

impl Mode {
    /// The mode that the host names so. The terminal calls the default mode manual as well.
    pub fn named(name: &str) -> Self {
        match name {
            "default" | "manual" => Mode::Default,
            "acceptEdits" => Mode::AcceptEdits,
            "plan" => Mode::Plan,
            "auto" => Mode::Auto,
            _ => Mode::Unknown,
        }
    }
}
