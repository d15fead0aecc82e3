//! The tool call inside an event, typed once.

use std::path::PathBuf;

use serde_json::value::RawValue;

/// What the agent asks to do.
#[derive(Debug)]
pub struct Call {
    /// The tool's name as the host spells it.
    pub tool: String,
    /// The typed input.
    pub input: Input,
    /// The input as received, byte for byte.
    pub raw_input: Box<RawValue>,
    /// Each suggestion as received, byte for byte.
    pub suggestions: Vec<Box<RawValue>>,
    /// The directory that relative paths are read against; `None` where the face carries none.
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
