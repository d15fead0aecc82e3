//! Where a path is, by its components alone: secret and becomes-code win, then the project, then scratch.
//!
//! `assess` asks twice, for the path as written and for its real path, so a symbolic link hides nothing. Names are
//! compared without case, because some file systems do. The lists are this file's knowledge; they name nothing that
//! opens a door, a name that is missing from them only stays with the place its directory has.

use std::path::{Component, Path, PathBuf};

use crate::effect::Place;
use crate::facts::Facts;

/// What is done to the path: looking at a hook is harmless, changing it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Look,
    Change,
}

/// The place of an absolute path without `.` and `..` (see [`normalize`]).
pub fn of(path: &Path, facts: &Facts, purpose: Purpose) -> Place {
    facts.memory.place(path, purpose, || found(path, facts, purpose))
}

fn found(path: &Path, facts: &Facts, purpose: Purpose) -> Place {
    let names = names(path);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let insides = in_homes(&names, path, facts);
    if is_secret(&names) || insides.iter().any(|inside| is_secret_of_home(inside)) {
        return Place::Secret;
    }
    if purpose == Purpose::Change && insides.iter().any(|inside| is_in(inside, STARTUP_HOME)) {
        return Place::Startup;
    }
    if let Some(inside) = facts.root_of(path).and_then(|root| path.strip_prefix(root).ok()) {
        let inside = self::names(inside);
        let inside: Vec<&str> = inside.iter().map(String::as_str).collect();
        return in_project(path, &inside, facts, purpose);
    }
    if insides.is_empty() {
        of_machine(&names, purpose)
    } else if purpose == Purpose::Change && facts.on_path(path) {
        Place::Startup
    } else if insides.iter().all(|inside| is_in(inside, CACHE_HOME)) {
        Place::Cache
    } else {
        Place::Home
    }
}

/// Whether [`of`] finds a secret here, asked of every file of a walk.
pub fn is_secret_at(path: &Path, facts: &Facts) -> bool {
    let names = names(path);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    is_secret(&names)
        || in_homes(&names, path, facts)
            .iter()
            .any(|inside| is_secret_of_home(inside))
}

/// Whether in this directory a file is a secret only by its own name: one of the project's that no list speaks of.
pub fn names_tell_secrets(dir: &Path, facts: &Facts) -> bool {
    let plain = |name: &String| !name.starts_with('.') && name != "library" && name != "proc" && name != "etc";
    facts.in_project(dir) && names(dir).iter().all(plain) && !is_secret_at(dir, facts)
}

fn is_secret_of_home(inside: &[&str]) -> bool {
    is_in(inside, SECRET_HOME)
}

/// The absolute path with `.` and `..` resolved by their names alone.
pub fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// Whether a file of this name holds a secret wherever it is.
pub fn secret_file_name(name: &str) -> bool {
    let name = folded(name);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let is_public = |text: &str| {
        [
            "pub",
            "cert",
            "certs",
            "certificate",
            "chain",
            "fullchain",
            "ca",
            "cacert",
            "bundle",
            "public",
        ]
        .iter()
        .any(|word| text.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word))
    };
    let after_env = name.strip_prefix(".env").map(|rest| rest.chars().next());
    if after_env.is_some_and(|next| next.is_none_or(|c| !c.is_alphanumeric())) || extension == "env" && !stem.is_empty()
    {
        return !["example", "sample", "template", "dist", "defaults"].contains(&extension);
    }
    if name.starts_with("id_") && extension != "pub" {
        return ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"]
            .iter()
            .any(|key| name.starts_with(key));
    }
    match extension {
        "pem" => !is_public(stem),
        "key" | "p12" | "pfx" | "jks" | "keystore" | "kdbx" | "ppk" | "agekey" | "gpg" | "tfstate" | "keychain" => true,
        "" if name.ends_with("-key") || name.ends_with("_key") => !is_public(&name),
        _ => SECRET_FILES.binary_search(&name.as_str()).is_ok(),
    }
}

/// Sorted, so that a name is found by halving.
const SECRET_FILES: &[&str] = &[
    ".bash_history",
    ".boto",
    ".claude.json",
    ".credentials.json",
    ".dockercfg",
    ".envrc",
    ".git-credentials",
    ".histfile",
    ".htpasswd",
    ".irb_history",
    ".my.cnf",
    ".mysql_history",
    ".netrc",
    ".node_repl_history",
    ".pgpass",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".rediscli_history",
    ".s3cfg",
    ".sops.yaml.key",
    ".sqlite_history",
    ".vault-token",
    ".vault_pass",
    ".viminfo",
    ".zsh_history",
    "_netrc",
    "auth.json",
    "client_secret.json",
    "credentials",
    "credentials.csv",
    "credentials.json",
    "credentials.toml",
    "credentials.yaml",
    "credentials.yml",
    "fish_history",
    "gshadow",
    "gshadow-",
    "kubeconfig",
    "master.key",
    "oauth_creds.json",
    "secret.json",
    "secret.yaml",
    "secret.yml",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "service-account.json",
    "service_account.json",
    "serviceaccount.json",
    "shadow",
    "shadow-",
    "ssh_host_ecdsa_key",
    "ssh_host_ed25519_key",
    "ssh_host_rsa_key",
    "terraform.tfstate.backup",
    "token.json",
    "wallet.dat",
];

/// Directories below a home whose every file is a secret.
const SECRET_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gh",
    ".config/gcloud",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/doctl",
    ".config/heroku",
    ".config/glab-cli",
    ".config/sops",
    ".config/github-copilot",
    ".config/google-chrome",
    ".config/chromium",
    ".config/bravesoftware",
    ".config/git/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".thunderbird",
    ".terraform.d",
    ".npmrc",
    ".yarnrc.yml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".composer/auth.json",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".bitcoin",
    ".ethereum",
    ".electrum",
    ".fly",
    ".config/configstore",
    ".claude/.credentials.json",
    "library/keychains",
    "library/cookies",
    "library/application support/google/chrome",
    "library/application support/firefox",
    ".databrickscfg",
    ".oci",
    ".snowflake",
    ".config/snowflake",
    ".netlify",
    ".config/netlify",
    ".vercel",
    ".pulumi",
    ".config/stripe",
    ".ngrok2",
    ".config/ngrok",
    ".local/state/countersign/relay",
    "library/application support/countersign/relay",
];

/// Files and directories below a home that the person's shell, tools, the host or Countersign run or obey.
const STARTUP_HOME: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".pam_environment",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".xresources",
    ".gitconfig",
    ".gitattributes",
    ".gitignore_global",
    ".config/git",
    ".config/fish",
    ".config/zsh",
    ".config/systemd",
    ".config/autostart",
    ".config/environment.d",
    ".config/countersign",
    ".local/state/countersign",
    ".local/share/countersign",
    ".config/direnv",
    ".config/nvim",
    ".config/pip",
    ".config/npm",
    ".config/mise",
    ".config/starship.toml",
    ".config/nushell",
    ".config/plasma-workspace",
    ".config/user-dirs.dirs",
    ".config/code",
    ".config/cargo",
    ".config/uv",
    ".config/go",
    ".config/containers",
    ".config/tmux",
    ".config/kitty",
    ".config/alacritty",
    ".config/wezterm",
    ".config/powershell",
    ".vim",
    ".vimrc",
    ".gvimrc",
    ".exrc",
    ".emacs",
    ".emacs.d",
    ".nanorc",
    ".tmux.conf",
    ".screenrc",
    ".curlrc",
    ".wgetrc",
    ".hgrc",
    ".editrc",
    ".mailcap",
    ".lesskey",
    ".less",
    ".gdbinit",
    ".lldbinit",
    ".pdbrc",
    ".pythonrc",
    ".pythonstartup",
    ".psqlrc",
    ".sqliterc",
    ".irbrc",
    ".pryrc",
    ".gemrc",
    ".condarc",
    ".pip",
    ".yarnrc",
    ".pnpmrc",
    ".bunfig.toml",
    ".bazelrc",
    ".asdfrc",
    ".tool-versions",
    ".envrc",
    ".direnvrc",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".vscode",
    ".vscode-server",
    ".idea",
    ".local/bin",
    "bin",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".rustup/settings.toml",
    "go/bin",
    ".npm-global",
    ".volta/bin",
    ".bun/bin",
    ".deno/bin",
    ".nvm",
    ".pyenv/shims",
    ".rbenv/shims",
    ".asdf",
    ".gradle/init.gradle",
    ".gradle/init.d",
    ".m2/extensions.xml",
    ".sbt",
    ".local/share/applications",
    ".local/share/systemd",
    ".local/lib",
    "library/launchagents",
    "library/python",
    ".oh-my-zsh",
    ".bash_it",
    ".antigen",
    ".zinit",
    ".zplug",
    ".config/zed",
    ".mcp.json",
    "claude.md",
    "agents.md",
];

/// Directories below a home that a package manager restores.
const CACHE_HOME: &[&str] = &[
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    ".rustup/toolchains",
    ".npm/_cacache",
    ".npm/_logs",
    ".local/share/pnpm",
    ".m2/repository",
    ".gradle/caches",
    "go/pkg",
    ".pub-cache",
    ".nuget/packages",
    ".ivy2",
    ".gem/ruby",
    ".pyenv/versions",
    ".rbenv/versions",
    "library/caches",
];

/// Project paths, from the project's root, that the person's git or host runs or obeys by itself.
const STARTUP_PROJECT: &[&str] = &[".claude", ".countersign.toml", ".envrc"];

/// Names, anywhere in a project, of files and directories that a tool, CI or the agent runs or obeys.
const BECOMES_CODE: &[&str] = &[
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".circleci",
    ".buildkite",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".woodpecker",
    ".azure-pipelines",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    ".teamcity",
    ".husky",
    ".lefthook",
    "lefthook.yml",
    ".lefthook.yml",
    ".pre-commit-config.yaml",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".devcontainer.json",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    ".yarn",
    ".bunfig.toml",
    "bunfig.toml",
    ".cargo",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".tool-versions",
    ".mise.toml",
    "mise.toml",
    ".mise",
    ".rtx.toml",
    ".direnv",
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    ".hg",
    ".jj",
    ".rprofile",
    ".mcp.json",
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".cursorrules",
    ".windsurfrules",
    ".windsurf",
    ".clinerules",
    ".roo",
    ".aider.conf.yml",
    ".continue",
    "claude.md",
    "claude.local.md",
    "agents.md",
    "agents.override.md",
    "gemini.md",
    "copilot-instructions.md",
    "sitecustomize.py",
    "usercustomize.py",
    ".envrc",
    ".exrc",
    ".vimrc",
    ".nvimrc",
    ".nvim.lua",
    ".gdbinit",
    ".lldbinit",
    ".bazelrc",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".pip",
    "pip.conf",
    ".pypirc",
    ".mvn",
    "gradle-wrapper.properties",
    "gradlew",
    "mvnw",
    ".netlify",
    "netlify.toml",
    "vercel.json",
    "fly.toml",
    "app.yaml",
    "cloudbuild.yaml",
    "renovate.json",
    "dependabot.yml",
    "codecov.yml",
    "crontab",
    ".terraformrc",
    ".psqlrc",
    ".sqliterc",
    ".curlrc",
    ".wgetrc",
    ".inputrc",
    ".ripgreprc",
    ".git-blame-ignore-revs",
];

/// Names, anywhere in a project, of files that building or testing it runs.
const BUILD: &[&str] = &[
    "package.json",
    "makefile",
    "gnumakefile",
    "build.rs",
    "cargo.toml",
    "conftest.py",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "tox.ini",
    "noxfile.py",
    "pytest.ini",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "pom.xml",
    "build.sbt",
    "build.xml",
    "cmakelists.txt",
    "meson.build",
    "configure",
    "configure.ac",
    "dockerfile",
    "containerfile",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yml",
    "compose.yaml",
    "justfile",
    "taskfile.yml",
    "rakefile",
    "gemfile",
    "gulpfile.js",
    "gruntfile.js",
    "deno.json",
    "deno.jsonc",
    "mix.exs",
    "composer.json",
    "go.mod",
    "go.work",
    "build.zig",
    "workspace",
    "build.bazel",
    "build",
    "module.bazel",
    "flake.nix",
    "default.nix",
    "shell.nix",
    "pnpm-workspace.yaml",
    "turbo.json",
    "nx.json",
    "lerna.json",
    "procfile",
    "vagrantfile",
    "snakefile",
    "dune",
    "package.swift",
    "project.clj",
    "rebar.config",
    "rebar.config.script",
    "angular.json",
    "ansible.cfg",
    "cdk.json",
    "config.nims",
    "nim.cfg",
    "phpstan.neon",
    "phpunit.xml",
    "phpunit.xml.dist",
    "project.json",
    "pulumi.yaml",
    ".rspec",
    ".rubocop.yml",
    "sconscript",
    "sconstruct",
    "serverless.yml",
    "taskfile.yaml",
    "tiltfile",
    "workspace.bazel",
    "wscript",
    "wrangler.toml",
];

/// Directories that a tool makes again, and the files of which one stands beside it.
const REGENERABLE: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    ("node_modules", &["package.json"]),
    ("dist", &["package.json", "pyproject.toml", "setup.py"]),
    (
        "build",
        &[
            "package.json",
            "pyproject.toml",
            "setup.py",
            "build.gradle",
            "build.gradle.kts",
            "CMakeLists.txt",
        ],
    ),
    ("out", &["package.json"]),
    ("coverage", &["package.json"]),
    (".next", &["package.json"]),
    (".nuxt", &["package.json"]),
    (".svelte-kit", &["package.json"]),
    (".turbo", &["package.json"]),
    (".parcel-cache", &["package.json"]),
    (
        ".gradle",
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
        ],
    ),
    (".venv", &["pyproject.toml", "requirements.txt", "setup.py"]),
    ("venv", &["pyproject.toml", "requirements.txt", "setup.py"]),
    (".tox", &["tox.ini", "pyproject.toml"]),
    ("__pycache__", &[]),
    (".pytest_cache", &[]),
    (".mypy_cache", &[]),
    (".ruff_cache", &[]),
    (".terraform", &[]),
    ("_build", &["mix.exs"]),
    ("deps", &["mix.exs"]),
    ("zig-out", &["build.zig"]),
    ("zig-cache", &["build.zig"]),
];

const SCRATCH: &[&[&str]] = &[
    &["tmp"],
    &["var", "tmp"],
    &["private", "tmp"],
    &["private", "var", "tmp"],
    &["dev", "shm"],
];

/// Device files that hold nothing and change nothing.
const INERT_DEVICES: &[&str] = &[
    "null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty",
];

const SYSTEM: &[&str] = &[
    "usr",
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "etc",
    "opt",
    "var",
    "proc",
    "sys",
    "boot",
    "nix",
    "snap",
    "dev",
    "run",
    "srv",
    "library",
    "system",
    "applications",
    "private",
];

fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(folded(&name.to_string_lossy())),
            _ => None,
        })
        .collect()
}

/// The name as a file system that ignores case compares it, and one that ignores what does not show.
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let shows = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String = name.chars().filter(shows).collect();
    // By way of capitals, for some letters are another's small one, as `\u{17f}` is an `s`.
    plain.to_uppercase().to_lowercase()
}

fn is_secret(names: &[&str]) -> bool {
    if let ["proc", process, rest @ ..] = names {
        let of_process = process.starts_with(|c: char| c.is_ascii_digit()) || ["self", "thread-self"].contains(process);
        let secret = |name: &&str| {
            [
                "environ",
                "mem",
                "fd",
                "root",
                "cwd",
                "map_files",
                "maps",
                "task",
                "auxv",
                "stack",
            ]
            .contains(name)
        };
        return of_process && rest.iter().any(secret) || ["kcore", "kmem", "keys", "key-users"].contains(process);
    }
    // What containers are given.
    if names.starts_with(&["run", "secrets"]) || names.starts_with(&["var", "run", "secrets"]) {
        return true;
    }
    if let ["etc", rest @ ..] = names {
        let top = rest.first().copied().unwrap_or_default();
        let keys = rest.starts_with(&["ssl", "private"])
            || rest.starts_with(&["ssh"]) && rest.last().is_some_and(|n| n.ends_with("_key"));
        if keys
            || [
                "sudoers",
                "sudoers.d",
                "shadow",
                "gshadow",
                "krb5.keytab",
                "kubernetes",
                "wireguard",
                "ppp",
            ]
            .contains(&top)
        {
            return true;
        }
    }
    if let Some(inside) = below_any_home(names)
        && is_secret_of_home(inside)
    {
        return true;
    }
    names.last().is_some_and(|name| secret_file_name(name)) || names.iter().any(|n| *n == ".ssh" || *n == ".gnupg")
}

fn below_any_home<'a>(names: &'a [&'a str]) -> Option<&'a [&'a str]> {
    match names {
        ["home" | "users", _, rest @ ..] | ["root", rest @ ..] => Some(rest),
        ["var", "root", rest @ ..] => Some(rest),
        _ => None,
    }
}

/// The components below each home that the path is in. Where it is not known that HOME is the person's own, the path
/// counts by every directory that may be a home.
fn in_homes<'a>(names: &'a [&'a str], path: &Path, facts: &Facts) -> Vec<&'a [&'a str]> {
    let mut insides: Vec<&[&str]> = facts
        .homes()
        .filter(|home| is_below(path, home))
        .filter_map(|home| names.get(home.components().count().saturating_sub(1)..))
        .collect();
    if insides.is_empty() || facts.home != facts.own_home {
        insides.extend(match names {
            ["home" | "users"] => Some(&[][..]),
            _ => below_any_home(names),
        });
    }
    insides
}

fn is_below(path: &Path, home: &Path) -> bool {
    let mut names = path.components();
    home.components().all(|part| {
        names
            .next()
            .is_some_and(|name| name.as_os_str().eq_ignore_ascii_case(part.as_os_str()))
    })
}

fn in_project(path: &Path, inside: &[&str], facts: &Facts, purpose: Purpose) -> Place {
    if let Some(git) = inside.iter().position(|name| *name == ".git") {
        let below = &inside[git + 1..];
        let runs = below.iter().any(|name| {
            [
                "hooks",
                "config",
                "config.worktree",
                "attributes",
                "commondir",
                "alternates",
                // A rebase that goes on runs what its list says.
                "rebase-merge",
                "git-rebase-todo",
            ]
            .contains(name)
        });
        return if purpose == Purpose::Change && (runs || below.is_empty()) {
            Place::Startup
        } else {
            Place::Repository
        };
    }
    if purpose == Purpose::Change && STARTUP_PROJECT.iter().any(|entry| starts_with(inside, entry)) {
        return Place::Startup;
    }
    let bin_of_dependencies = inside
        .windows(2)
        .any(|pair| matches!(pair, ["node_modules", ".bin"] | [".venv" | "venv", "bin" | "scripts"]));
    if bin_of_dependencies || facts.on_path(path) || inside.iter().any(|name| BECOMES_CODE.contains(name)) {
        return Place::BecomesCode;
    }
    if inside.last().is_some_and(|name| name.ends_with(".pth")) {
        return Place::BecomesCode;
    }
    if regenerable(path, inside.len(), facts) {
        return Place::Cache;
    }
    if inside.last().is_some_and(|name| is_build_file(name)) {
        return Place::Build;
    }
    Place::Project
}

fn is_build_file(name: &str) -> bool {
    BUILD.contains(&name)
        || name.ends_with(".mk")
        || name.ends_with(".cmake")
        || name.starts_with("dockerfile.")
        || [
            ".config.js",
            ".config.ts",
            ".config.mjs",
            ".config.cjs",
            ".config.mts",
            ".config.cts",
        ]
        .iter()
        .any(|ending| name.ends_with(ending))
        || name.starts_with(".eslintrc")
        || name.starts_with(".babelrc")
        || name.starts_with(".prettierrc")
}

/// Whether one of the last `depth` components is a directory that a tool makes again, its manifest beside it.
fn regenerable(path: &Path, depth: usize, facts: &Facts) -> bool {
    path.ancestors().take(depth).any(|dir| {
        let Some(name) = dir.file_name().and_then(|n| n.to_str()) else {
            return false;
        };
        REGENERABLE.iter().any(|(made, manifests)| {
            *made == name
                && (manifests.is_empty()
                    || manifests
                        .iter()
                        .any(|manifest| facts.exists(&dir.with_file_name(manifest))))
        })
    })
}

fn of_machine(names: &[&str], purpose: Purpose) -> Place {
    if let ["dev", device] = names
        && INERT_DEVICES.contains(device)
    {
        return Place::Nowhere;
    }
    if let Some(root) = SCRATCH.iter().find(|root| names.starts_with(root)) {
        // The directory itself belongs to everybody.
        return if purpose == Purpose::Change && names.len() == root.len() {
            Place::System
        } else {
            Place::Scratch
        };
    }
    match (names.first(), purpose) {
        (None, Purpose::Look) => Place::System,
        (None, Purpose::Change) => Place::System,
        (Some(&"dev" | &"run" | &"srv"), Purpose::Look) => Place::Other,
        (Some(&"proc"), Purpose::Look)
            if names.len() > 2 && names[1].starts_with(|c: char| c.is_ascii_digit() || c == 's') =>
        {
            Place::Other
        }
        (Some(first), _) if SYSTEM.contains(first) => Place::System,
        (Some(_), _) => Place::Other,
    }
}

/// Whether the components begin with one of these entries.
fn is_in(inside: &[&str], entries: &[&str]) -> bool {
    let Some(first) = inside.first() else {
        return false;
    };
    // Few entries begin alike, so most are told by their first name.
    entries
        .iter()
        .any(|entry| entry.starts_with(first) && starts_with(inside, entry))
}

/// Whether the components begin with `entry`, written with slashes.
fn starts_with(names: &[&str], entry: &str) -> bool {
    let mut names = names.iter();
    entry.split('/').all(|part| names.next() == Some(&part))
}

#[cfg(test)]
mod tests;
