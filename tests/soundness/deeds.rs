//! What a traced command did that a command that only looks may not do, from the lines that strace wrote.

use std::path::{Component, Path, PathBuf};

/// System calls that strace is asked for.
pub const TRACED: &str = "execve,execveat,open,openat,openat2,creat,truncate,ftruncate,rename,renameat,renameat2,unlink,\
unlinkat,rmdir,mkdir,mkdirat,mknod,mknodat,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,?fchmodat2,chown,fchown,\
lchown,fchownat,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr,utime,utimes,futimesat,utimensat,\
connect,sendto,sendmsg,sendmmsg,bind,io_uring_setup,mount,ptrace,chdir,fchdir";

/// `write PATH`, `delete PATH`, `rename PATH`, `mode PATH`, `connect ADDRESS`, `execute PATH WORDS..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deed {
    pub action: &'static str,
    pub target: String,
    /// Of `execute` only: its words.
    pub words: Vec<String>,
}

/// What one process did, from its own lines; `directory` is where it began.
pub fn deeds(trace: &str, directory: &str) -> Vec<Deed> {
    let mut directory = PathBuf::from(directory);
    let mut found = Vec::new();
    for line in trace.lines() {
        let Some((call, rest)) = line.split_once('(').filter(|(call, _)| is_traced(call)) else {
            continue;
        };
        let (arguments, result) = rest.rsplit_once(" = ").unwrap_or((rest, "0"));
        if !happened(result) {
            continue;
        }
        let strings = strings(arguments);
        if call == "chdir" {
            directory = absolute(&directory, strings.first().map_or("", String::as_str));
            continue;
        }
        let Some(action) = action(call, arguments) else {
            continue;
        };
        let target = match action {
            "connect" => arguments.to_owned(),
            "execute" => strings.first().cloned().unwrap_or_default(),
            _ => strings.first().map_or_else(
                || named(arguments),
                |path| {
                    absolute(&from(arguments).unwrap_or_else(|| directory.clone()), path)
                        .display()
                        .to_string()
                },
            ),
        };
        let words = if action == "execute" {
            strings.into_iter().skip(1).collect()
        } else {
            Vec::new()
        };
        found.push(Deed { action, target, words });
    }
    found
}

fn is_traced(call: &str) -> bool {
    TRACED.split(',').any(|name| name.trim_start_matches('?') == call)
}

/// Whether the call did something, or would have but for the cage.
fn happened(result: &str) -> bool {
    !result.starts_with("-1 ")
        || ["EROFS", "EACCES", "EPERM", "ENETUNREACH", "EINPROGRESS", "ECONNREFUSED"]
            .iter()
            .any(|e| result.contains(e))
}

fn action(call: &str, arguments: &str) -> Option<&'static str> {
    let opens_to_write = || {
        ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
            .iter()
            .any(|flag| arguments.contains(flag))
    };
    Some(match call {
        "execve" | "execveat" => "execute",
        "open" | "openat" | "openat2" if opens_to_write() => "write",
        "open" | "openat" | "openat2" | "fchdir" => return None,
        "unlink" | "unlinkat" | "rmdir" => "delete",
        "rename" | "renameat" | "renameat2" => "rename",
        "chmod" | "fchmod" | "fchmodat" | "fchmodat2" | "chown" | "fchown" | "lchown" | "fchownat" => "mode",
        // Without an address: an answer on a connection that was made, or was given.
        "connect" | "bind" => "connect",
        "sendto" | "sendmsg" | "sendmmsg" if arguments.contains("sa_family=") => "connect",
        "sendto" | "sendmsg" | "sendmmsg" => return None,
        "io_uring_setup" | "mount" => "escape",
        // A tracer is told of by what it traces, which is traced too.
        "ptrace" => return None,
        _ => "write",
    })
}

/// The quoted texts of a call's arguments, their escapes taken for what they are.
fn strings(arguments: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut signs = arguments.chars();
    while signs.by_ref().any(|sign| sign == '"') {
        let mut text = String::new();
        while let Some(sign) = signs.next() {
            match sign {
                '"' => break,
                '\\' => match signs.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(other) => text.push(other),
                    None => {}
                },
                other => text.push(other),
            }
        }
        found.push(text);
    }
    found
}

/// The directory that `AT_FDCWD</x>` or `3</x>` names before a path.
fn from(arguments: &str) -> Option<PathBuf> {
    let (before, _) = arguments.split_once('"')?;
    let (_, path) = before.split_once('<')?;
    Some(PathBuf::from(path.split('>').next()?))
}

/// The file that a descriptor is shown to be, `3</x>`.
fn named(arguments: &str) -> String {
    let path = arguments.split_once('<').and_then(|(_, path)| path.split_once('>'));
    path.map_or(arguments, |(path, _)| path).to_owned()
}

/// The path from this directory, without `.` and `..`.
fn absolute(directory: &Path, path: &str) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in directory.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> Vec<String> {
        let deeds = deeds(line, "/home/dev/project");
        deeds
            .into_iter()
            .map(|deed| format!("{} {}", deed.action, deed.target))
            .collect()
    }

    #[test]
    fn what_changes_something_is_told_with_its_whole_path() {
        for (line, deed) in [
            (
                r#"openat(AT_FDCWD</home/dev/project>, "a/../b", O_WRONLY|O_CREAT, 0666) = 3</home/dev/project/b>"#,
                "write /home/dev/project/b",
            ),
            (r#"unlink("x") = 0"#, "delete /home/dev/project/x"),
            (
                r#"unlinkat(4</srv>, "x", 0) = -1 EROFS (Read-only file system)"#,
                "delete /srv/x",
            ),
            (r#"rename("a", "/b") = 0"#, "rename /home/dev/project/a"),
            (r#"fchmod(3</home/dev/x>, 0600) = 0"#, "mode /home/dev/x"),
            (
                r#"execve("/usr/bin/less", ["less", "-R"], 0x1 /* 9 vars */) = 0"#,
                "execute /usr/bin/less",
            ),
        ] {
            assert_eq!(told(line), [deed], "{line}");
        }
    }

    #[test]
    fn what_only_looks_or_did_nothing_is_not_told() {
        for line in [
            r#"openat(AT_FDCWD</>, "b", O_RDONLY|O_CLOEXEC) = 3</b>"#,
            r#"unlink("x") = -1 ENOENT (No such file or directory)"#,
            r#"execve("/usr/local/bin/x", ["x"], 0x1 /* 9 vars */) = -1 ENOENT (No such file or directory)"#,
            "+++ exited with 0 +++",
        ] {
            assert!(told(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_path_is_taken_from_where_the_process_went() {
        assert_eq!(
            told("chdir(\"src\") = 0\nmkdir(\"x\", 0777) = 0"),
            ["write /home/dev/project/src/x"]
        );
    }
}
