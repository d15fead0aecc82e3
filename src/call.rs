//! The tool call inside an event, typed once.
//!
//! A face reads raw JSON into a [`Call`]; from there on nobody looks at loose JSON to learn what is asked. The input
//! and the suggestions also stay as received, for echoing them byte for byte.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;

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
    /// The subagent that asks, if one does.
    pub agent: Option<String>,
    pub mode: Mode,
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
    /// `AskUserQuestion`: only a person can answer.
    Question,
    /// `ExitPlanMode`: only a person can approve.
    Plan,
    /// Every other tool.
    Other,
}

#[derive(Deserialize)]
struct ShellInput {
    command: String,
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    leaves_sandbox: Option<bool>,
}

impl Input {
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
                let input: ShellInput = serde_json::from_str(raw.get())
                    .map_err(|error| format!("the input of {tool} cannot be read: {error}"))?;
                Ok(Input::Shell {
                    command: input.command,
                    leaves_sandbox: input.leaves_sandbox.unwrap_or(false),
                })
            }
            "AskUserQuestion" => Ok(Input::Question),
            "ExitPlanMode" => Ok(Input::Plan),
            _ => Ok(Input::Other),
        }
    }
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
