use super::*;
use crate::effect::Place::*;
use Purpose::{Change, Look};

fn facts() -> Facts {
    Facts {
        home: Some("/home/dev".into()),
        project: vec!["/home/dev/app".into()],
        path: vec![
            "/usr/bin".into(),
            "/home/dev/tools".into(),
            "/home/dev/app/tools".into(),
        ],
        ..Facts::default()
    }
}

#[track_caller]
fn all(purpose: Purpose, place: Place, paths: &[&str]) {
    for path in paths {
        assert_eq!(of(Path::new(path), &facts(), purpose), place, "{path}");
    }
}

#[test]
fn secrets_are_known_by_name_wherever_they_lie() {
    for purpose in [Look, Change] {
        all(
            purpose,
            Secret,
            &[
                "/home/dev/app/.env",
                "/home/dev/app/.env.local",
                "/home/dev/app/deep/down/prod.env",
                "/home/dev/app/id_rsa",
                "/tmp/id_ed25519.bak",
                "/srv/server.key",
                "/home/dev/app/tls/server.pem",
                "/home/dev/app/credentials.json",
                "/etc/shadow",
                "/home/dev/.netrc",
                "/home/dev/.bash_history",
                "/home/dev/app/terraform.tfstate",
                "/mnt/backup/.ssh/config",
            ],
        );
    }
}

#[test]
fn secrets_are_known_by_the_directory_they_lie_in() {
    all(
        Look,
        Secret,
        &[
            "/home/dev/.ssh",
            "/home/dev/.ssh/config",
            "/home/dev/.aws/config",
            "/home/dev/.local/state/countersign/relay/terminal.json",
            "/home/other/.kube/config",
            "/root/.gnupg/x",
            "/Users/dev/.docker/config.json",
            "/home/dev/.config/gh/hosts.yml",
            "/home/dev/Library/Keychains/login",
            "/etc/ssl/private/x",
            "/etc/sudoers.d/x",
            "/etc/ssh/ssh_host_rsa_key",
            "/proc/self/environ",
            "/proc/1/mem",
            "/proc/12/fd/3",
            "/proc/self/root/etc/hosts",
            "/proc/kcore",
            "/run/secrets/db",
            "/var/run/secrets/kubernetes.io/serviceaccount/token",
        ],
    );
}

#[test]
fn names_are_compared_as_file_systems_do_that_fold_letters() {
    all(
        Look,
        Secret,
        &[
            "/home/dev/.\u{17f}sh/x",
            "/home/dev/app/.en\u{200d}v",
            "/home/dev/.AW\u{17f}/x",
        ],
    );
    all(
        Change,
        Startup,
        &[
            "/home/dev/.ba\u{17f}hrc",
            "/home/dev/app/.g\u{200c}it/hooks/x",
            "/home/dev/app/.CLAUDE/x",
        ],
    );
    all(Change, BecomesCode, &["/home/dev/app/.hu\u{17f}\u{212a}y/pre-commit"]);
    all(
        Change,
        Project,
        &["/home/dev/app/stra\u{df}e.txt", "/home/dev/app/\u{fc}ber.md"],
    );
}

#[test]
fn examples_and_public_halves_are_no_secrets() {
    all(
        Look,
        Project,
        &[
            "/home/dev/app/.env.example",
            "/home/dev/app/.env.sample",
            "/home/dev/app/id_rsa.pub",
            "/home/dev/app/ca.pem",
            "/home/dev/app/tls/fullchain.pem",
            "/home/dev/app/environment.ts",
            "/home/dev/app/src/secrets.rs",
            "/home/dev/app/key.rs",
            "/home/dev/app/token.rs",
        ],
    );
}

#[test]
fn names_are_compared_without_case() {
    all(
        Look,
        Secret,
        &[
            "/home/dev/app/.ENV",
            "/home/dev/.SSH/id_rsa",
            "/HOME/dev/.aws/x",
            "/home/dev/app/Server.KEY",
        ],
    );
    all(
        Change,
        Startup,
        &["/home/dev/.BashRC", "/home/dev/app/.GIT/Hooks/pre-commit"],
    );
    all(
        Change,
        BecomesCode,
        &["/home/dev/app/Agents.MD", "/home/dev/app/.GitHub/x"],
    );
}

#[test]
fn what_the_persons_tools_obey_matters_to_whoever_changes_it() {
    let files = [
        "/home/dev/.bashrc",
        "/home/dev/.zshrc",
        "/home/dev/.profile",
        "/home/dev/.gitconfig",
        "/home/dev/.config/git/config",
        "/home/dev/.config/systemd/user/x.service",
        "/home/dev/.claude/settings.json",
        "/home/dev/.config/countersign/config.toml",
        "/home/dev/.local/bin/x",
        "/home/dev/.cargo/config.toml",
        "/home/other/.bashrc",
        "/root/.profile",
        "/home/dev/tools/ls",
    ];
    all(Change, Startup, &files);
    all(Look, Home, &files);
}

#[test]
fn a_repositorys_hooks_and_configuration_run_and_the_rest_of_it_is_data() {
    let runs = [
        "/home/dev/app/.git/hooks/pre-commit",
        "/home/dev/app/.git/config",
        "/home/dev/app/.git",
        "/home/dev/app/.git/info/attributes",
        "/home/dev/app/sub/.git/hooks/x",
        "/home/dev/app/.git/modules/m/config",
    ];
    all(Change, Startup, &runs);
    all(Look, Repository, &runs);
    all(
        Change,
        Repository,
        &["/home/dev/app/.git/index", "/home/dev/app/.git/refs/heads/main"],
    );
}

#[test]
fn what_tools_ci_and_agents_obey_becomes_code() {
    let files = [
        "/home/dev/app/AGENTS.md",
        "/home/dev/app/docs/CLAUDE.md",
        "/home/dev/app/.github/workflows/ci.yml",
        "/home/dev/app/.vscode/tasks.json",
        "/home/dev/app/.husky/pre-commit",
        "/home/dev/app/.npmrc",
        "/home/dev/app/.cargo/config.toml",
        "/home/dev/app/node_modules/.bin/tsc",
        "/home/dev/app/.venv/bin/python",
        "/home/dev/app/x.pth",
        "/home/dev/app/tools/x",
        "/home/dev/app/.gitattributes",
    ];
    all(Change, BecomesCode, &files);
    all(
        Change,
        Startup,
        &["/home/dev/app/.claude/settings.json", "/home/dev/app/.countersign.toml"],
    );
}

#[test]
fn what_building_or_testing_runs_is_a_build_file() {
    all(
        Change,
        Build,
        &[
            "/home/dev/app/package.json",
            "/home/dev/app/sub/Cargo.toml",
            "/home/dev/app/build.rs",
            "/home/dev/app/Makefile",
            "/home/dev/app/rules.mk",
            "/home/dev/app/conftest.py",
            "/home/dev/app/vite.config.ts",
            "/home/dev/app/Dockerfile.prod",
            "/home/dev/app/.eslintrc.cjs",
        ],
    );
}

#[test]
fn ordinary_files_of_the_project_are_just_that() {
    all(
        Change,
        Project,
        &[
            "/home/dev/app",
            "/home/dev/app/src/main.rs",
            "/home/dev/app/README.md",
            "/home/dev/app/git/config",
            "/home/dev/app/hooks/x",
        ],
    );
}

#[test]
fn a_directory_is_made_again_only_with_its_manifest_beside_it() {
    let root = tempfile::tempdir().expect("a directory");
    let facts = || Facts {
        project: vec![root.path().into()],
        ..Facts::default()
    };
    let place = |path: &str| of(&root.path().join(path), &facts(), Change);
    assert_eq!(place("target/debug/x"), Project);
    std::fs::write(root.path().join("Cargo.toml"), "").expect("a file");
    assert_eq!(place("target"), Cache);
    assert_eq!(place("target/debug/x"), Cache);
    assert_eq!(place("node_modules/x"), Project);
    assert_eq!(place("sub/target/x"), Project);
    assert_eq!(place("src/__pycache__/x"), Cache);
    assert_eq!(place("targets/x"), Project);
}

#[test]
fn scratch_is_everybodys_and_its_root_is_the_systems() {
    all(
        Change,
        Scratch,
        &["/tmp/x", "/var/tmp/x/y", "/dev/shm/x", "/private/tmp/x"],
    );
    all(Change, System, &["/tmp", "/var/tmp", "/dev/shm"]);
    all(Look, Scratch, &["/tmp", "/tmp/x"]);
    all(Change, Other, &["/tmpx/y"]);
}

#[test]
fn devices_and_processes_are_told_apart() {
    all(Look, Nowhere, &["/dev/null", "/dev/stdin", "/dev/tty", "/dev/urandom"]);
    all(Change, Nowhere, &["/dev/null", "/dev/stderr"]);
    all(
        Look,
        Other,
        &[
            "/dev/sda",
            "/dev/null/x",
            "/run/user/1000/bus",
            "/srv/x",
            "/proc/1/cmdline",
            "/proc/self/status",
        ],
    );
    all(Change, System, &["/dev/sda", "/proc/sys/kernel/x", "/run/x"]);
    all(Look, System, &["/proc/cpuinfo", "/proc/meminfo", "/sys/class"]);
}

#[test]
fn the_system_is_there_to_be_looked_at_and_the_rest_is_not() {
    all(
        Look,
        System,
        &[
            "/",
            "/usr/bin/ls",
            "/etc/hosts",
            "/opt/x",
            "/Applications/X.app",
            "/nix/store/x",
        ],
    );
    all(Change, System, &["/", "/usr/bin/ls", "/etc/hosts"]);
    all(Look, Other, &["/mnt/x", "/data/x", "/etcetera/x"]);
}

#[test]
fn any_home_is_a_home_and_so_is_what_holds_them() {
    all(
        Look,
        Home,
        &[
            "/home",
            "/home/dev",
            "/home/other/x",
            "/root",
            "/root/x",
            "/Users/me/x",
            "/home/dev/letter.txt",
        ],
    );
    all(
        Look,
        Cache,
        &[
            "/home/dev/.cargo/registry/x",
            "/home/dev/.cache/x",
            "/home/dev/go/pkg/mod/x",
        ],
    );
}

#[test]
fn a_sibling_whose_name_begins_alike_is_not_the_project() {
    all(Look, Home, &["/home/dev/app2/x", "/home/dev/ap", "/home/dev/app-old/x"]);
    all(Look, Home, &["/home/developer/x"]);
}

#[test]
fn dots_are_resolved_by_name() {
    for (path, normal) in [
        ("/a/./b/../c", "/a/c"),
        ("/..", "/"),
        ("/a/../../b", "/b"),
        ("/a//b/", "/a/b"),
        ("/home/dev/app/../.ssh/x", "/home/dev/.ssh/x"),
    ] {
        assert_eq!(normalize(Path::new(path)), Path::new(normal), "{path}");
    }
}

#[test]
fn without_a_home_or_a_project_nothing_is_opened() {
    let nothing = Facts::default();
    let place = |path: &str| of(Path::new(path), &nothing, Look);
    assert_eq!(place("/home/dev/x"), Home);
    assert_eq!(place("/data/x"), Other);
    assert_eq!(place("/home/dev/.ssh/x"), Secret);
}

#[test]
fn the_secret_names_are_sorted_as_their_search_needs() {
    assert!(SECRET_FILES.is_sorted());
    assert!(secret_file_name("deploy-key") && secret_file_name("ssh_host_rsa_key") && !secret_file_name("public-key"));
    assert!(!secret_file_name("primary-key.md") && !secret_file_name("monkey"));
    assert!(secret_file_name("kubeconfig") && secret_file_name("WALLET.dat") && !secret_file_name("main.rs"));
}

#[test]
fn a_home_counts_whatever_the_variable_says() {
    let facts = |home: &str, own: Option<&str>| Facts {
        home: Some(home.into()),
        own_home: own.map(PathBuf::from),
        ..Facts::default()
    };
    // The person's home is at an uncommon place, and HOME hides it.
    let hidden = facts("/srv/app/fake", Some("/srv/people/dev"));
    for (path, purpose, place) in [
        ("/srv/people/dev/.aws/config", Look, Secret),
        ("/srv/people/dev/.bashrc", Change, Startup),
        ("/srv/people/dev/letter", Look, Home),
        ("/srv/People/Dev/.AWS/config", Look, Secret),
        ("/srv/people/dev/.cache/x", Look, Cache),
        ("/srv/app/fake/.aws/config", Look, Secret),
    ] {
        assert_eq!(of(Path::new(path), &hidden, purpose), place, "{path}");
    }
    // HOME makes a cache of a directory that is none.
    let path = Path::new("/home/dev/letters/go/pkg/x");
    assert_eq!(of(path, &facts("/home/dev/letters", None), Look), Home);
    assert_eq!(of(path, &facts("/home/dev/letters", Some("/home/dev")), Look), Home);
    assert_eq!(
        of(path, &facts("/home/dev/letters", Some("/home/dev/letters")), Look),
        Cache
    );
}

#[test]
fn what_the_persons_tools_obey_is_no_project_even_where_the_project_is() {
    for (root, path) in [
        ("/home/dev/.claude", "/home/dev/.claude/settings.json"),
        ("/home/dev/.config", "/home/dev/.config/git/config"),
        ("/home/dev/.config/nvim", "/home/dev/.config/nvim/init.lua"),
    ] {
        let facts = Facts {
            home: Some("/home/dev".into()),
            project: vec![root.into()],
            ..Facts::default()
        };
        assert_eq!(of(Path::new(path), &facts, Change), Startup, "{path}");
        assert_eq!(of(Path::new(path), &facts, Look), Project, "{path}");
    }
}

#[test]
fn the_project_has_its_own_case() {
    all(Look, Home, &["/home/dev/App/x", "/HOME/dev/app/x", "/home/DEV/app/x"]);
}

#[test]
fn what_the_host_keeps_for_a_session_is_scratch() {
    all(
        Change,
        Scratch,
        &[
            "/tmp/claude-1000/-home-dev-app/0f/scratchpad/x",
            "/private/tmp/claude-501/x",
        ],
    );
}

#[test]
fn a_process_s_own_names_for_a_directory_are_secrets() {
    all(
        Look,
        Secret,
        &[
            "/proc/self/cwd/src/main.rs",
            "/proc/self/root/home/dev/app/src/main.rs",
            "/proc/12/root",
            "/proc/thread-self/cwd",
            "/proc/self/task/1/root/x",
            "/proc/self/fd/3",
            "/PROC/self/cwd",
        ],
    );
    all(Look, Other, &["/dev/fd/3"]);
    all(Change, System, &["/dev/fd/3"]);
}
