//! `countersign relay service`: the relay as a service of this user's, which the system starts at login and again after
//! a failure: a systemd user unit, or a launchd agent on macOS.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use countersign::setup::host;

use crate::daemon;
use crate::identity::{self, Identity, MACHINE};

/// By this a file is known as ours.
const MARK: &str = "Written by `countersign relay service install`; `countersign relay service uninstall` removes it.";
const UNIT: &str = "countersign-relay.service";
const LABEL: &str = "countersign.relay";

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Have the system start the relay at login
    Install,
    /// Take that back; the relay itself stays on
    Uninstall,
    /// Whether that is so
    Status,
}

/// Who starts services for a user.
#[derive(Clone, Copy, Debug)]
enum Manager {
    Systemd,
    Launchd,
}

pub fn run(verb: &Verb) -> Result<ExitCode> {
    let manager = Manager::of_this_system();
    let file = manager.file()?;
    match verb {
        Verb::Install => install(manager, &file)?,
        Verb::Uninstall => uninstall(manager, &file)?,
        Verb::Status => match is_ours(&file)? {
            Some(true) => say!("{} starts the relay at login.", file.display()),
            Some(false) => say!("{} is not Countersign's.", file.display()),
            None => say!("The relay is started when it is needed; the system knows of no service."),
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the system starts the relay by a file of ours.
///
/// # Errors
/// The file cannot be read.
pub fn is_installed() -> Result<bool> {
    Ok(is_ours(&Manager::of_this_system().file()?)? == Some(true))
}

fn install(manager: Manager, file: &Path) -> Result<()> {
    let dir = identity::dir()?;
    let machine = Identity::read(&dir, MACHINE)?;
    let machine = machine.context("the relay is off: turn it on first with `countersign relay on`")?;
    let address = daemon::local(&machine.url);
    let address = address.with_context(|| format!("the relay at {} is not this machine's to start", machine.url))?;
    if is_ours(file)? == Some(false) {
        bail!(
            "{} is there and not Countersign's, so it was left as it is",
            file.display()
        );
    }
    let text = manager.text(path(&daemon::program()?)?, address, path(&dir)?);
    let folder = file.parent().context("the service's file has no directory")?;
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))?;
    say!("Wrote {}.", file.display());
    // One relay serves from a directory: the one that runs makes room for the service's.
    daemon::end(&dir)?;
    if manager.tell(&manager.start(file)) {
        say!("The system starts the relay now and at every login.");
        return Ok(());
    }
    daemon::ensure(&dir).map(drop)
}

/// Has the service, where the system starts the relay by a file of ours, start it at this address; says so where it did
/// not.
///
/// # Errors
/// The file cannot be read or written.
pub fn follow(address: SocketAddr, dir: &Path) -> Result<()> {
    let manager = Manager::of_this_system();
    let file = manager.file()?;
    if is_ours(&file)? != Some(true) {
        return Ok(());
    }
    let text = manager.text(path(&daemon::program()?)?, address, path(dir)?);
    if fs::read_to_string(&file)? != text {
        fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        say!("Changed where the system starts the relay, in {}.", file.display());
        manager.tell(&manager.reload());
    }
    Ok(())
}

fn uninstall(manager: Manager, file: &Path) -> Result<()> {
    match is_ours(file)? {
        None => say!("There is no {}; nothing to remove.", file.display()),
        Some(false) => bail!("{} is not Countersign's, so it was left as it is", file.display()),
        Some(true) => {
            manager.tell(&manager.stop(file));
            fs::remove_file(file).with_context(|| format!("{} cannot be removed", file.display()))?;
            say!("Removed {}.", file.display());
        }
    }
    Ok(())
}

/// Whether the file is there, and then whether it is ours.
fn is_ours(file: &Path) -> Result<Option<bool>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.contains(MARK))),
        Err(error) if countersign::own_files::is_absent(&error) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", file.display())),
    }
}

fn path(path: &Path) -> Result<&str> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r', '\0']));
    text.with_context(|| format!("{} cannot be written into a service's file", path.display()))
}

impl Manager {
    fn of_this_system() -> Self {
        match cfg!(target_os = "macos") {
            true => Manager::Launchd,
            false => Manager::Systemd,
        }
    }

    fn file(self) -> Result<PathBuf> {
        let home = host::home().context("no home directory is known: set HOME")?;
        let configured = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute());
        Ok(match self {
            Manager::Systemd => configured
                .unwrap_or(home.join(".config"))
                .join("systemd/user")
                .join(UNIT),
            Manager::Launchd => home.join("Library/LaunchAgents").join(format!("{LABEL}.plist")),
        })
    }

    fn text(self, program: &str, address: SocketAddr, dir: &str) -> String {
        match self {
            Manager::Systemd => unit(program, address, dir),
            Manager::Launchd => plist(program, address, dir),
        }
    }

    /// What starts the service, now and at every login.
    fn start(self, file: &Path) -> Vec<Vec<String>> {
        match self {
            Manager::Systemd => lines(&[
                "systemctl --user daemon-reload",
                "systemctl --user enable --now countersign-relay",
            ]),
            Manager::Launchd => vec![launchctl("bootstrap", &file.display().to_string())],
        }
    }

    /// What has the system read a changed file; launchd reads it at the next login.
    fn reload(self) -> Vec<Vec<String>> {
        match self {
            Manager::Systemd => lines(&["systemctl --user daemon-reload"]),
            Manager::Launchd => Vec::new(),
        }
    }

    fn stop(self, file: &Path) -> Vec<Vec<String>> {
        match self {
            Manager::Systemd => lines(&["systemctl --user disable --now countersign-relay"]),
            Manager::Launchd => vec![launchctl("bootout", &file.display().to_string())],
        }
    }

    /// Runs the commands; where one fails, says which are left to the person.
    fn tell(self, commands: &[Vec<String>]) -> bool {
        let ran = |words: &Vec<String>| {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).stdin(std::process::Stdio::null());
            command.output().is_ok_and(|output| output.status.success())
        };
        let Some(failed) = commands.iter().position(|words| !ran(words)) else {
            return true;
        };
        say!("The system's service manager does not answer here. Where it does, run:");
        for words in &commands[failed..] {
            say!("  {}", words.join(" "));
        }
        false
    }
}

fn lines(lines: &[&str]) -> Vec<Vec<String>> {
    let words = |line: &&str| line.split(' ').map(str::to_owned).collect();
    lines.iter().map(words).collect()
}

fn launchctl(verb: &str, file: &str) -> Vec<String> {
    let domain = format!("gui/{}", countersign::own_files::own_uid());
    ["launchctl", verb, &domain, file].map(str::to_owned).to_vec()
}

/// Source: systemd.service(5), "Command lines", and systemd.syntax(7), "Quoting".
fn unit(program: &str, address: SocketAddr, dir: &str) -> String {
    let quoted = |word: &str| {
        let word = word
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('%', "%%")
            .replace('$', "$$");
        format!("\"{word}\"")
    };
    format!(
        "# {MARK}\n\
         [Unit]\n\
         Description=Countersign relay: keeps what waits for a person\n\
         StartLimitIntervalSec=60\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         ExecStart={} serve --log --listen {address} --dir {}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         UMask=0077\n\
         NoNewPrivileges=true\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        quoted(program),
        quoted(dir)
    )
}

/// Source: launchd.plist(5).
fn plist(program: &str, address: SocketAddr, dir: &str) -> String {
    let text = |word: &str| word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let words = [
        program,
        "serve",
        "--log",
        "--listen",
        &address.to_string(),
        "--dir",
        dir,
    ];
    let words: String = words
        .map(|word| format!("    <string>{}</string>\n", text(word)))
        .concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- {MARK} -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n\
         \x20 <key>Label</key>\n\
         \x20 <string>{LABEL}</string>\n\
         \x20 <key>ProgramArguments</key>\n\
         \x20 <array>\n\
         {words}\
         \x20 </array>\n\
         \x20 <key>RunAtLoad</key>\n\
         \x20 <true/>\n\
         \x20 <key>KeepAlive</key>\n\
         \x20 <dict>\n\
         \x20   <key>SuccessfulExit</key>\n\
         \x20   <false/>\n\
         \x20 </dict>\n\
         \x20 <key>Umask</key>\n\
         \x20 <integer>63</integer>\n\
         </dict>\n\
         </plist>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> SocketAddr {
        "127.0.0.1:47163".parse().expect("an address")
    }

    #[test]
    fn the_unit_starts_the_relay_as_it_is_started_by_hand() {
        let expected = "\
# Written by `countersign relay service install`; `countersign relay service uninstall` removes it.
[Unit]
Description=Countersign relay: keeps what waits for a person
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
ExecStart=\"/opt/100%% \\\"a\\\"/$$b/countersign-relay\" serve --log --listen 127.0.0.1:47163 --dir \"/home/dev/.local/state/countersign/relay\"
Restart=on-failure
RestartSec=2
UMask=0077
NoNewPrivileges=true

[Install]
WantedBy=default.target
";
        let program = "/opt/100% \"a\"/$b/countersign-relay";
        assert_eq!(
            unit(program, address(), "/home/dev/.local/state/countersign/relay"),
            expected
        );
    }

    #[test]
    fn the_agent_starts_the_relay_as_it_is_started_by_hand() {
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- Written by `countersign relay service install`; `countersign relay service uninstall` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>countersign.relay</string>
  <key>ProgramArguments</key>
  <array>
    <string>/Users/dev/a &amp; b/countersign-relay</string>
    <string>serve</string>
    <string>--log</string>
    <string>--listen</string>
    <string>127.0.0.1:47163</string>
    <string>--dir</string>
    <string>/Users/dev/Library/Application Support/countersign/relay</string>
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
"#;
        let dir = "/Users/dev/Library/Application Support/countersign/relay";
        assert_eq!(plist("/Users/dev/a & b/countersign-relay", address(), dir), expected);
    }
}
