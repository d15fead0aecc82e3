//! Where the tests run programs that may do anything: bubblewrap, without network, rights or a writable file system.

use std::path::Path;
use std::process::Command;

/// The home of what runs in a cage: empty. Only it and the rest of `/tmp` can be written.
pub const HOME: &str = "/tmp/w";

/// A command that runs the words that are added to it in a cage of its own, with this root to read.
pub fn cage(root: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-all",
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--new-session",
    ]);
    command.arg("--ro-bind").arg(root).arg("/");
    command.args(["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
    command.args(["--dir", HOME, "--clearenv"]);
    for (name, value) in [("HOME", HOME), ("LC_ALL", "C.UTF-8")] {
        command.args(["--setenv", name, value]);
    }
    command
}
