//! The vocabulary that the catalog's files and the program share.
//!
//! Every word has one spelling, used in TOML, in `classify`'s JSON and in `explain`.

/// Declares an enum whose variants have one spelling and one byte each.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every variant, in ascending order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The one spelling of this word.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// The word with this spelling, or `None`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }

            /// The word with this byte in the compiled catalog, or `None`.
            pub fn from_byte(byte: u8) -> Option<Self> {
                Self::ALL.get(usize::from(byte)).copied()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

vocabulary! {
    /// How bad a call could be, from harmless to irreversible. The order is the meaning.
    Tier {
        Safe = "safe",
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

vocabulary! {
    /// What a step does to its target.
    Action {
        /// Looks at names, sizes, times or derived facts; never at content.
        Inspect = "inspect",
        /// Reads content.
        Read = "read",
        /// Shows the environment, a credential or another secret that no path names.
        Disclose = "disclose",
        /// Creates or changes a file.
        Write = "write",
        /// Changes permissions, ownership or attributes.
        Mode = "mode",
        /// Removes a file.
        Delete = "delete",
        /// Changes a process, service or setting of this machine or session.
        Control = "control",
        /// Runs code that the catalog does not vouch for.
        Execute = "execute",
        /// Fetches from another machine.
        Connect = "connect",
        /// Changes something on another machine.
        Send = "send",
        /// Gains rights that the session did not have.
        Privilege = "privilege",
    }
}

vocabulary! {
    /// Where a path is. The declaration order is not a ranking: `risk` says what each means for each action.
    Place {
        /// No path is concerned.
        Nowhere = "nowhere",
        Scratch = "scratch",
        Project = "project",
        /// Dependencies that a package manager restores: `~/.cargo/registry`, `node_modules`.
        Cache = "cache",
        /// The repository's metadata below `.git` that runs nothing.
        Repository = "repository",
        /// World-readable files of the system that hold no secret.
        System = "system",
        /// Project files that building or testing the project runs: `package.json`, `Makefile`, `build.rs`.
        Build = "build",
        /// Project files that a tool, CI or the agent itself runs or obeys: CI files, `AGENTS.md`, a PATH directory.
        BecomesCode = "becomes-code",
        /// A home directory, other than the places named here.
        Home = "home",
        /// Anywhere else, or not known.
        Other = "other",
        /// What the person's shell, git, the host or Countersign runs or obeys by itself.
        Startup = "startup",
        /// Keys, tokens, credentials, private histories.
        Secret = "secret",
    }
}

vocabulary! {
    /// What is lost, in ascending order.
    Undo {
        /// Nothing is lost: the thing is new, or only looked at.
        Nothing = "nothing",
        /// What goes can be had again without loss: git holds it unchanged, or it is regenerable.
        Kept = "kept",
        /// Work is lost, or it is not known that none is.
        Lost = "lost",
        /// Nothing brings it back, and more than the project depends on it.
        Forever = "forever",
    }
}

vocabulary! {
    /// How far a step reaches, in ascending order.
    Reach {
        /// This machine.
        Here = "here",
        /// A catalogued read of the person's own logged-in client, endpoint and credentials from the person's configuration.
        Service = "service",
        /// A server on this machine.
        Loopback = "loopback",
        /// A host that is known.
        Known = "known",
        /// A host seen for the first time, or not known.
        New = "new",
        /// State that others depend on: a shared branch, a registry, production.
        Shared = "shared",
    }
}

vocabulary! {
    /// What a program does with a word it is given.
    Role {
        /// Text, a number, a pattern, a format: it names nothing that is opened or run.
        Plain = "plain",
        /// A path whose content is read.
        PathRead = "path-read",
        /// A directory tree whose content is read.
        TreeRead = "tree-read",
        /// A directory tree whose content is read, names that begin with a dot left out (rg, fd).
        TreeVisible = "tree-visible",
        /// A pattern for names, which the files of a tree must fit to be read.
        TreeFilter = "tree-filter",
        /// A path of which only names, sizes or derived facts are shown.
        PathInspect = "path-inspect",
        /// A path that is created or changed.
        PathWrite = "path-write",
        /// A path that is removed.
        PathDelete = "path-delete",
        /// A path whose permissions, owner or attributes change.
        PathMode = "path-mode",
        /// Permissions: a set-user or set-group bit lends the rights of the file's owner to whoever runs it.
        Permissions = "permissions",
        /// `SOURCE:TARGET`, or `type=bind,src=SOURCE,..`: a path of this machine that what runs in a container may change.
        Mount = "mount",
        /// A template of Go for what describes a container: it shows the environment unless it names fields that hold none.
        Template = "template",
        /// A directory that later relative paths are read against.
        Directory = "directory",
        /// A file of a configuration that may run programs.
        Config = "config",
        /// A program that is executed, with words the program chooses.
        Program = "program",
        /// A host name.
        Host = "host",
        /// A URL.
        Url = "url",
        /// A secret in clear text.
        Secret = "secret",
        /// The name of an environment variable whose value is shown.
        Env = "env",
        /// `NAME=VALUE` set in the environment of what runs next.
        EnvAssign = "env-assign",
        /// The first word of a command that is executed; the rest of the words are its own.
        Command = "command",
        /// The same, where the first word names a package: what the project has installed, else what is fetched for it.
        Package = "package",
        /// Shell code that is executed.
        Shell = "code:sh",
        /// Code in another language that is executed.
        Code = "code",
        /// A sed script.
        Sed = "code:sed",
        /// An awk program.
        Awk = "code:awk",
        /// A jq filter.
        Jq = "code:jq",
        /// A find expression.
        Find = "code:find",
        /// SQL for a server, or a command of its client.
        Sql = "code:sql",
        /// SQL for a file of SQLite, or a command of its shell.
        Sqlite = "code:sqlite",
        /// Python.
        Python = "code:python",
        /// JavaScript for Node.
        JavaScript = "code:js",
        /// The same, where the first word names a module that Python looks for in the current directory first.
        Module = "module",
        /// The first word of a command that is executed in a container or on another machine; the rest are its own.
        Remote = "remote",
        /// The same, but all words, put together with blanks, are code for the shell there.
        RemoteShell = "remote-shell",
    }
}

vocabulary! {
    /// How a program reads its options.
    Style {
        /// `--opt=v`, `--opt v`, clusters, options anywhere, `--` ends them.
        Gnu = "gnu",
        /// The same, but the first operand ends the options.
        Posix = "posix",
        /// `-opt v`, `-opt=v`, no clusters.
        Dash = "dash",
        /// As posix, but `+x` is an option too, and a value is always a word of its own.
        Shell = "shell",
        /// No options: every word is an operand.
        None = "none",
    }
}

vocabulary! {
    /// How often a place in an operand grammar is filled.
    Times {
        One = "",
        Maybe = "?",
        Any = "*",
        Many = "+",
    }
}

vocabulary! {
    /// Which values of an environment variable are known, and for what.
    VariableRule {
        /// Harmless whatever its value.
        Any = "any",
        /// Harmless where it is letters, digits and `_ . , : @ + -`, and does not begin with `:`.
        Word = "word",
        /// Harmless where it is digits only.
        Number = "number",
        /// Harmless where it names a time zone by a relative name without `..`.
        Zone = "zone",
        /// Harmless where it is one of the words listed.
        Listed = "listed",
        /// It names a program: harmless where it is one of those listed.
        Program = "program",
        /// Dangerous whatever its value.
        Hazard = "hazard",
    }
}

/// What an entry says of a step, whatever words it was given: `"send shared forever"` in TOML.
///
/// The order of the words is free; what is left out is the mildest: `nowhere`, `nothing`, `here`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EffectSpec {
    pub action: Action,
    pub place: Place,
    pub undo: Undo,
    pub reach: Reach,
}

impl EffectSpec {
    pub const fn of(action: Action) -> Self {
        EffectSpec {
            action,
            place: Place::Nowhere,
            undo: Undo::Nothing,
            reach: Reach::Here,
        }
    }

    /// Reads the TOML form.
    ///
    /// # Errors
    /// Names the word that is none of an action, a place, a loss or a reach, or says that the action is missing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut action = None;
        let mut spec = EffectSpec::of(Action::Inspect);
        for word in text.split_whitespace() {
            if let Some(a) = Action::parse(word) {
                action = Some(a);
            } else if let Some(place) = Place::parse(word) {
                spec.place = place;
            } else if let Some(undo) = Undo::parse(word) {
                spec.undo = undo;
            } else if let Some(reach) = Reach::parse(word) {
                spec.reach = reach;
            } else {
                return Err(format!("`{word}` is no action, place, loss or reach"));
            }
        }
        spec.action = action.ok_or_else(|| format!("`{text}` names no action"))?;
        Ok(spec)
    }
}
