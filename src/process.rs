//! What the system says of a process.

use std::fmt::Display;
use std::fs;

/// What is told of a process in `/proc/ID/stat`: proc(5). The number is the field's, counted from 0 after the name in
/// parentheses.
#[derive(Debug, Clone, Copy)]
pub enum Told {
    State = 0,
    Parent = 1,
    Group = 2,
    /// The terminal that it belongs to, by number; 0: none.
    Terminal = 4,
    /// The process group in that terminal's foreground.
    Foreground = 5,
    /// When it started, in the kernel's count.
    Started = 19,
}

/// What is told of the process with this number, or of `self`. `None` where the system does not say: no such process, or not
/// Linux. A process or group outside of the namespace that this one lives in is told of as 0.
pub fn told(id: impl Display, what: Told) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(what as usize).map(str::to_owned)
}
