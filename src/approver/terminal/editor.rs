//! A person edits an input in their own editor, in a file that only they can read.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use serde_json::value::RawValue;

use super::super::Card;
use super::screen::Screen;
use crate::call::Input;
use crate::own_files;

/// What an editor needs of the environment; the rest may hold the host's secrets.
const PASSED: [&str; 16] = [
    "COLORTERM",
    "DISPLAY",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TERMINFO",
    "TMPDIR",
    "USER",
    "WAYLAND_DISPLAY",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

/// The input that the person wants instead; `None`, and said why, where nothing was changed or not into an input.
pub fn edit(screen: &mut Screen, card: &Card) -> Option<Box<RawValue>> {
    let call = &card.request.call;
    let whole: Value = serde_json::from_str(call.raw_input.get()).unwrap_or_default();
    let (before, name) = match &call.input {
        Input::Shell { command, .. } => (command.clone(), "command.sh"),
        _ => (serde_json::to_string_pretty(&whole).unwrap_or_default(), "input.json"),
    };
    let after = edited(screen, &before, name).and_then(|after| match after.trim_end() == before.trim_end() {
        true => Err("nothing was changed".into()),
        false => Ok(after),
    });
    let input = after.and_then(|after| {
        let text = match &call.input {
            Input::Shell { .. } => with_command(whole, after.trim_end()),
            _ => after,
        };
        let raw = RawValue::from_string(text).map_err(|error| format!("that is no JSON: {error}"))?;
        Input::read(&call.tool, &raw).map(|_| raw)
    });
    input
        .map_err(|why| screen.say(&format!("It stays as it was: {why}.")))
        .ok()
}

fn with_command(mut whole: Value, command: &str) -> String {
    if let Some(field) = whole.get_mut("command") {
        *field = Value::from(command);
    }
    whole.to_string()
}

/// The text as the person's editor leaves it, in a file of this name while it is edited.
///
/// # Errors
/// One line for a person: the file cannot be written, or the editor fails.
pub fn edited(screen: &mut Screen, text: &str, name: &str) -> Result<String, String> {
    let dir = own_files::runtime_dir().ok_or("no home directory is known")?;
    own_files::private_dir(&dir).map_err(|error| error.to_string())?;
    let path = dir.join(format!("edit-{}-{name}", std::process::id()));
    let done = write(&path, text)
        .and_then(|()| run_editor(screen, &path))
        .and_then(|()| fs::read_to_string(&path).map_err(|error| error.to_string()));
    let _ = fs::remove_file(&path);
    screen.forget_typed();
    done
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let _ = fs::remove_file(path);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| writeln!(file, "{text}"))
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn run_editor(screen: &Screen, path: &Path) -> Result<(), String> {
    let named = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|text| !text.trim().is_empty()));
    let editor = named.unwrap_or_else(|| "vi".into());
    let (program, words) = editor.trim().split_once(' ').unwrap_or((editor.trim(), ""));
    let stream = || screen.handle().map(Stdio::from).map_err(|error| error.to_string());
    let passed = PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let status = Command::new(program)
        .args(words.split_whitespace())
        .arg(path)
        .env_clear()
        .envs(passed)
        .stdin(stream()?)
        .stdout(stream()?)
        .stderr(stream()?)
        .status()
        .map_err(|error| format!("the editor `{program}` does not start: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("the editor `{program}` ended with {status}")),
    }
}
