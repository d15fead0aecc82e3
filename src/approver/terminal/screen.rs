//! The terminal as lines in and out.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};

use super::super::{Reply, Withdrawal, Woken, has_hung_up, read_some};
use super::MAX_LINE;
use crate::own_files;

/// How often a terminal that another question stands on is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);
/// The most bytes of a line.
const MAX_TYPED: usize = 64 * 1024;

/// The terminal while one question stands on it. It is left as it was found.
pub struct Screen<'a> {
    tty: File,
    _turn: Turn,
    found: Termios,
    until: Instant,
    withdrawal: &'a Withdrawal,
    /// What was read and not yet taken as a line.
    typed: Vec<u8>,
}

/// Where this process stands towards its terminal.
struct Place {
    /// What tells the terminal from others; the file /dev/tty is the same for all of them.
    terminal: String,
    is_foreground: bool,
}

impl Place {
    /// By `/proc`: what the calls of the library take for impossible is so in a namespace of processes that was entered within
    /// a session, as bubblewrap does it; group and session are 0 then, and nobody can say who is in the foreground.
    #[cfg(target_os = "linux")]
    fn towards(_tty: &File) -> io::Result<Self> {
        use crate::process::{Told, told};

        let own = |what| told("self", what).ok_or_else(|| io::Error::other("the system does not say"));
        let (group, foreground) = (own(Told::Group)?, own(Told::Foreground)?);
        if group == "0" || foreground == "0" {
            return Err(io::Error::other(
                "it was given to processes that cannot be seen from here",
            ));
        }
        Ok(Place {
            terminal: own(Told::Terminal)?,
            is_foreground: group == foreground,
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn towards(tty: &File) -> io::Result<Self> {
        Ok(Place {
            terminal: rustix::process::getsid(None)?.as_raw_nonzero().to_string(),
            is_foreground: rustix::termios::tcgetpgrp(tty)? == rustix::process::getpgrp(),
        })
    }
}

/// The turn to ask on this terminal, among all that may ask there.
struct Turn {
    path: PathBuf,
    _lock: File,
}

impl Turn {
    /// `None` while another one has it.
    fn take(terminal: &str) -> io::Result<Option<Self>> {
        let dir = own_files::runtime_dir().ok_or_else(|| io::Error::other("no home directory is known"))?;
        own_files::private_dir(&dir)?;
        let path = dir.join(format!("terminal-{terminal}"));
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)?;
        match lock.try_lock() {
            // Who had it may have removed the file in between.
            Ok(())
                if fs::metadata(&path).is_ok_and(|named| lock.metadata().is_ok_and(|own| own.ino() == named.ino())) =>
            {
                Ok(Some(Turn { path, _lock: lock }))
            }
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // While it is locked: nobody else has taken it yet.
        let _ = fs::remove_file(&self.path);
    }
}

impl<'a> Screen<'a> {
    /// Takes the terminal once no other question stands on it.
    ///
    /// # Errors
    /// The reply where nobody can be asked.
    pub fn open(until: Instant, withdrawal: &'a Withdrawal) -> Result<Self, Reply> {
        let absent = |why: &str, error: io::Error| Reply::Absent(format!("{why}: {error}"));
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
        let tty = tty.map_err(|_| Reply::Absent("there is no terminal".into()))?;
        let place = Place::towards(&tty).map_err(|error| absent("the terminal is not ours", error))?;
        if !place.is_foreground {
            return Err(Reply::Absent("this process is in the terminal's background".into()));
        }
        let turn = loop {
            match Turn::take(&place.terminal) {
                Ok(Some(turn)) => break turn,
                Ok(None) if Instant::now() >= until => return Err(Reply::Unanswered),
                Ok(None) => {
                    if let Some(why) = withdrawal.wait(BETWEEN_TRIES) {
                        return Err(Reply::Withdrawn(why));
                    }
                }
                Err(error) => return Err(absent("the terminal cannot be locked", error)),
            }
        };
        let found = tcgetattr(&tty).map_err(|error| absent("the terminal says nothing of itself", error.into()))?;
        let mut plain = found.clone();
        plain.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHOE | LocalModes::ISIG;
        plain.input_modes |= InputModes::ICRNL;
        plain.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        tcsetattr(&tty, OptionalActions::Now, &plain)
            .map_err(|error| absent("the terminal obeys nothing", error.into()))?;
        let _ = tcflush(&tty, QueueSelector::IFlush);
        Ok(Screen {
            tty,
            _turn: turn,
            found,
            until,
            withdrawal,
            typed: Vec::new(),
        })
    }

    /// One line of our own; a terminal that is gone shows in the next read.
    pub fn say(&mut self, line: &str) {
        let _ = writeln!(self.tty, "{line}");
    }

    /// A heading and at most `most` lines, those left out counted; `true` if something was left out.
    pub fn show(&mut self, heading: &str, lines: &[String], most: usize) -> bool {
        if !heading.is_empty() {
            self.say("");
            self.say(heading);
        }
        if lines.len() <= most {
            return self.show_lines(lines, most);
        }
        let tail = most / 4;
        let left = lines.len() - most;
        self.show_lines(&lines[..most - tail], most);
        self.say(&format!("    [{left} lines are not shown]"));
        self.show_lines(&lines[lines.len() - tail..], most);
        true
    }

    fn show_lines(&mut self, lines: &[String], most: usize) -> bool {
        let mut cut = false;
        for line in lines {
            let end = line.char_indices().nth(MAX_LINE).map(|(end, _)| end);
            match end.filter(|_| most < usize::MAX) {
                Some(end) => {
                    cut = true;
                    let left = line[end..].chars().count();
                    self.say(&format!("    {} [{left} more characters are not shown]", &line[..end]));
                }
                None => self.say(&format!("    {line}")),
            }
        }
        cut
    }

    /// The next line that the person types, without its end.
    ///
    /// # Errors
    /// The reply where none comes.
    pub fn line(&mut self, prompt: &str) -> Result<String, Reply> {
        let _ = write!(self.tty, "{prompt}");
        loop {
            if let Some(end) = self.typed.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.typed.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            let woken = self.withdrawal.wait_for_input(self.tty.as_fd(), self.until);
            let ended = match woken {
                Woken::Input => {
                    self.read()?;
                    continue;
                }
                Woken::Withdrawn(why) => Reply::Withdrawn(why),
                Woken::Late => Reply::Unanswered,
            };
            self.say("");
            return Err(ended);
        }
    }

    fn read(&mut self) -> Result<(), Reply> {
        let mut buffer = [0; 4096];
        match read_some(&self.tty, &mut buffer) {
            Ok(0) if has_hung_up(&self.tty) => return Err(Reply::Absent("the terminal is gone".into())),
            // The end of input, typed: an empty line.
            Ok(0) => self.typed.push(b'\n'),
            Ok(count) => self.typed.extend_from_slice(&buffer[..count]),
            Err(error) => return Err(Reply::Absent(format!("the terminal is gone: {error}"))),
        }
        if self.typed.len() > MAX_TYPED {
            self.typed.clear();
            self.say("(that line is too long, and counts for nothing)");
        }
        Ok(())
    }

    /// A handle of its own, for a program that takes over the screen.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn handle(&self) -> io::Result<File> {
        self.tty.try_clone()
    }

    /// Forgets what was typed so far.
    pub fn forget_typed(&mut self) {
        self.typed.clear();
        let _ = tcflush(&self.tty, QueueSelector::IFlush);
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.tty, OptionalActions::Now, &self.found);
    }
}
