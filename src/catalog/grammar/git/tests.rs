use crate::catalog::{EffectSpec, Reading, Role, read};
use crate::shell::{Arg, Span, Value};

/// Reads a line split at blanks; `$x` stands for one unknown word, `_` for a blank inside a word.
fn reading(line: &str) -> Reading {
    let value = |word: &str| match word.split_once("$x") {
        Some((prefix, _)) => Value::Unknown {
            prefix: prefix.to_owned(),
            single: true,
        },
        None => Value::Literal(word.replace('_', " ")),
    };
    let args: Vec<Arg> = line
        .split(' ')
        .map(|word| Arg {
            value: value(word),
            span: Span::default(),
        })
        .collect();
    read(&args).expect("git has an entry")
}

#[track_caller]
fn does(line: &str, effects: &[&str]) {
    let reading = reading(line);
    assert!(reading.doubts.is_empty(), "{line}: {:?}", reading.doubts);
    let expected: Vec<EffectSpec> = effects
        .iter()
        .map(|text| EffectSpec::parse(text).expect("the effect is spelled right"))
        .collect();
    let told = reading.told.iter().map(|(effect, _)| *effect);
    let found: Vec<EffectSpec> = reading.effects.iter().copied().chain(told).collect();
    assert_eq!(found, expected, "{line}");
}

#[track_caller]
fn uses(line: &str, expected: &[(Role, &str)]) {
    let reading = reading(line);
    assert!(reading.doubts.is_empty(), "{line}: {:?}", reading.doubts);
    let uses: Vec<(Role, &str)> = reading
        .uses
        .iter()
        .map(|u| (u.role, u.arg.value.literal().unwrap_or("?")))
        .collect();
    assert_eq!(uses, expected, "{line}");
}

#[track_caller]
fn doubted(line: &str) {
    let reading = reading(line);
    assert!(!reading.doubts.is_empty(), "{line} is understood");
}

#[test]
fn looking_has_no_effect_of_its_own() {
    for line in [
        "git status --porcelain",
        "git log --oneline -5 -- src",
        "git diff --stat HEAD~1",
        "git branch",
        "git branch -avv",
        "git branch --list x",
        "git branch -r --contains HEAD",
        "git branch --sort=-committerdate",
        "git tag",
        "git tag -l v1.*",
        "git tag -n3 v1",
        "git stash list",
        "git remote -v",
        "git remote show -n origin",
        "git symbolic-ref --short HEAD",
        "git config --get user.name",
        "git config user.name",
        "git config get remote.origin.url",
        "git config --list --name-only",
        "git config --local --list",
        "git config --local --get-regexp ^branch",
        "git clean -ndx",
        "git apply --check x.patch",
        "git format-patch --stdout HEAD~1",
        "git worktree list",
        "git reflog",
        "git --no-pager -c color.ui=always -c core.quotepath=off log",
    ] {
        does(line, &[]);
    }
}

#[test]
fn the_same_subcommands_change_things_in_their_other_forms() {
    let kept = "write repository kept";
    does("git branch topic", &[kept]);
    does("git branch -v topic", &[kept]);
    does("git branch -d topic", &[kept]);
    does("git branch -D topic", &[kept, "write repository lost"]);
    does("git branch -d -f topic", &[kept, "write repository lost"]);
    does("git branch -u origin/main", &[kept]);
    does("git tag v1", &[kept]);
    does("git tag -a -m x v1", &[kept]);
    does("git tag -d v1", &[kept, "write repository lost"]);
    does("git symbolic-ref HEAD refs/heads/x", &[kept]);
    does("git symbolic-ref --delete HEAD", &[kept]);
    does("git remote show origin", &["connect known"]);
    does("git clean -fd", &["delete project lost"]);
    does("git apply --check --apply x.patch", &["write project lost"]);
    does("git format-patch -o out HEAD~1", &["write project lost"]);
    does("git stash", &["write project kept"]);
    does("git stash drop", &["delete repository lost"]);
    does("git reflog expire --all", &["delete repository lost"]);
}

#[test]
fn switching_keeps_work_and_restoring_loses_it() {
    for line in [
        "git checkout topic",
        "git checkout feature/x",
        "git checkout -",
        "git checkout topic --",
        "git checkout -b topic origin/main",
        "git checkout -B topic",
        "git checkout --detach HEAD~1",
        "git switch topic",
        "git switch -c topic origin/main",
        "git switch --orphan topic",
    ] {
        does(line, &["write project kept"]);
    }
    for line in ["git checkout -b topic", "git checkout -qb topic", "git switch -c topic"] {
        does(line, &["write repository kept"]);
    }
    for line in [
        "git checkout -- x",
        "git checkout .",
        "git checkout ./x",
        "git checkout src/",
        "git checkout *.rs",
        "git checkout HEAD x",
        "git checkout HEAD -- x",
        "git checkout -q -- .",
        "git restore x",
        "git restore --staged --worktree x",
    ] {
        does(line, &["write project lost"]);
    }
    does("git checkout -f topic", &["write project lost", "write project lost"]);
    does("git restore --staged x", &["write repository kept"]);
    does("git reset --hard", &["write repository kept", "write project lost"]);
    does("git reset --soft HEAD~1", &["write repository kept"]);
    // A lone word may be a file's name.
    uses("git checkout topic", &[(Role::PathWrite, "topic")]);
    uses("git checkout topic --", &[]);
}

#[test]
fn a_push_is_rated_by_what_it_overwrites_and_where() {
    for line in [
        "git push",
        "git push -u origin HEAD",
        "git push origin topic",
        "git push origin main",
        "git push --tags",
    ] {
        does(line, &["send shared kept"]);
    }
    for line in [
        "git push -f origin topic",
        "git push --force-with-lease origin topic",
        "git push --force-with-lease=topic origin topic",
        "git push origin +topic",
        "git push origin :topic",
        "git push origin --delete topic",
        "git push -uf origin x:refs/heads/topic",
    ] {
        does(line, &["send known lost"]);
    }
    for line in [
        "git push -f",
        "git push --force origin",
        "git push -fu origin main",
        "git push origin +main",
        "git push origin +HEAD:master",
        "git push origin topic +x:refs/heads/develop",
        "git push origin :refs/heads/production",
        "git push origin -d release/1.2",
        "git push --force origin HEAD",
        "git push --force --tags origin topic",
        "git push -f origin tag v1",
        "git push --mirror origin",
        "git push -f origin refs/tags/v1",
        "git push -f origin topic:$x",
        "git push -- origin $x",
        "git push --force-with-lease origin trunk",
    ] {
        does(line, &["send shared forever"]);
    }
    for line in [
        "git push --receive-pack=./x origin",
        "git push --exec=./x",
        "git push --no-verify",
        "git push --forc origin topic",
        "git push origin $x",
    ] {
        doubted(line);
    }
}

#[test]
fn a_remotes_name_is_no_url_and_everything_else_is() {
    uses("git fetch origin main", &[]);
    uses("git push origin HEAD", &[]);
    uses(
        "git fetch https://example.com/x",
        &[(Role::Url, "https://example.com/x")],
    );
    uses("git pull ../other main", &[(Role::Url, "../other")]);
    uses("git fetch ext::sh", &[(Role::Url, "ext::sh")]);
    does("git fetch origin", &["connect known", "write repository kept"]);
    does(
        "git fetch origin +a:b",
        &["connect known", "write repository kept", "write repository lost"],
    );
}

#[test]
fn configuration_is_rated_by_its_key() {
    for line in [
        "git config --list",
        "git config list",
        "git config -l --show-origin",
        "git config --local --list --includes",
        "git config --local --global --list",
        "git config --worktree --list --local",
        "git config --get-regexp .",
        "git config credential.helper",
        "git config --get http.https://x.y.extraHeader",
        "git config get url.https://x.insteadOf",
        "git config github.token",
        "git config --global sendemail.smtpPass",
    ] {
        does(line, &["disclose"]);
    }
    does("git config user.email ada@example.com", &["write repository kept"]);
    does("git config color.ui auto", &["write repository kept"]);
    for line in [
        "git config core.pager ./x",
        "git config --global user.name Ada",
        "git config set core.fsmonitor ./x",
        "git config alias.x !x",
        "git config --unset user.name",
        "git config --add user.name x",
        "git config core.hooksPath /dev/null",
        "git config unset user.name",
        "git config user.name x y",
    ] {
        does(line, &["write startup lost"]);
    }
    for line in [
        "git config -f x a.b",
        "git config --file=x a.b",
        "git config --edit",
        "git config --blob=x a.b",
    ] {
        doubted(line);
    }
}

#[test]
fn settings_on_the_command_line_are_inert_by_a_positive_list() {
    for setting in [
        "core.pager=cat",
        "COLOR.UI=never",
        "log.date=iso",
        "advice.x=false",
        "user.name=Ada",
        "core.editor=true",
        "pager.log=false",
    ] {
        uses(&format!("git -c {setting} status"), &[(Role::PathInspect, ".")]);
    }
    for setting in [
        "core.pager=./x",
        "core.pager",
        "core.fsmonitor=./x",
        "diff.external=./x",
        "alias.status=!x",
        "core.sshCommand=./x",
        "gpg.program=./x",
        "filter.x.clean=./x",
        "core.editor=./x",
        "pager.log=./x",
        "credential.helper=./x",
        "protocol.ext.allow=always",
        "include.path=x",
        "core.hooksPath=.",
        "x$x",
        "color.ui$x",
        "",
    ] {
        doubted(&format!("git -c {setting} status"));
    }
    doubted("git -ccore.pager=./x status");
    doubted("git -c color.ui=never -c core.pager=./x log");
    doubted("git --config-env=core.pager=X log");
    doubted("git --exec-path=. status");
    doubted("git --git-dir=x status");
    doubted("git --work-tree x status");
}

#[test]
fn options_that_run_write_or_read_elsewhere_are_not_known() {
    for line in [
        "git diff --ext-diff",
        "git diff --output=x",
        "git diff --outp=x",
        "git log --output x",
        "git diff -Ox",
        "git show --textconv HEAD:x",
        "git log --show-signature",
        "git log --format=%G?",
        "git log --pretty=format:%h%GK",
        "git log --pretty=$x",
        "git shortlog --group=format:%G?",
        "git for-each-ref --format=%(signature)",
        "git branch --format=%(signature:grade)",
        "git tag --sort=signature",
        "git grep -O./x p",
        "git grep --open-files-in-pager p",
        "git grep --open-fi=./x p",
        "git blame --contents=/etc/shadow x",
        "git blame -S x y",
        "git ls-remote --upload-pack=./x .",
        "git ls-remote --upload-pa=./x .",
        "git fetch -u./x",
        "git clone -u ./x y",
        "git clone -c a.b=c y",
        "git clone --template=x y",
        "git archive --remote=x --exec=./x HEAD",
        "git rebase -x ./x main",
        "git rebase -i main",
        "git merge -s ./x y",
        "git cat-file --filters HEAD:x",
        "git cat-file --batch",
        "git commit -S",
        "git commit -p",
        "git add -i",
        "git difftool -x ./x",
        "git frobnicate",
        "git $x",
        "git diff $x",
        "git log $x -- y",
        "git rev-list --stdin",
        "git stash -q list",
        "git var -l",
    ] {
        doubted(line);
    }
}

#[test]
fn a_path_inside_a_revision_is_read() {
    uses("git show HEAD:.env", &[(Role::PathRead, ".env")]);
    uses("git show main:src/x.rs", &[(Role::PathRead, "src/x.rs")]);
    uses("git show :.env", &[(Role::PathRead, ".env")]);
    uses("git diff -- :(top).env", &[(Role::PathRead, ".env")]);
    uses("git show :0:.env", &[(Role::PathRead, ".env")]);
    uses("git cat-file -p HEAD:.env", &[(Role::PathRead, ".env")]);
    uses(
        "git cat-file blob HEAD:.env",
        &[(Role::PathRead, "blob"), (Role::PathRead, ".env")],
    );
    uses("git log -L1,5:.env", &[(Role::PathRead, "."), (Role::PathRead, ".env")]);
    uses("git show HEAD:$x", &[(Role::PathRead, "?")]);
    uses("git diff -- .env", &[(Role::PathRead, ".env")]);
    uses("git archive HEAD .env", &[(Role::PathRead, ".env")]);
}

#[test]
fn words_that_may_be_paths_count_as_paths() {
    uses("git diff HEAD~1", &[(Role::PathRead, ".")]);
    uses("git diff", &[(Role::PathRead, ".")]);
    uses(
        "git diff /etc/passwd ../x",
        &[(Role::PathRead, "/etc/passwd"), (Role::PathRead, "../x")],
    );
    uses(
        "git diff --no-index HEAD x",
        &[(Role::TreeRead, "HEAD"), (Role::TreeRead, "x")],
    );
    uses(
        "git log main -- src",
        &[(Role::PathInspect, "main"), (Role::PathInspect, "src")],
    );
    uses("git log -p src", &[(Role::PathRead, "src")]);
    uses("git grep -n x /etc", &[(Role::PathRead, "/etc")]);
    uses("git grep --no-index x", &[(Role::TreeRead, ".")]);
    uses(
        "git grep -f /etc/shadow",
        &[(Role::PathRead, "/etc/shadow"), (Role::PathRead, ".")],
    );
    uses(
        "git ls-files -X /etc/shadow",
        &[(Role::PathRead, "/etc/shadow"), (Role::PathInspect, ".")],
    );
    uses(
        "git commit -F /etc/shadow",
        &[(Role::PathRead, "/etc/shadow"), (Role::PathInspect, ".")],
    );
    uses("git add .env", &[(Role::PathRead, ".env")]);
    uses(
        "git archive -o /x HEAD",
        &[(Role::PathWrite, "/x"), (Role::PathRead, ".")],
    );
}
