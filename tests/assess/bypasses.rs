//! Ways around the judgement that once worked, each with what went wrong. None may ever be let through again, and what
//! stands beside each as harmless must stay so.

use std::os::unix::fs::symlink;

use crate::support::{Machine, assess};
use countersign::effect::Tier;

/// Fails with every command of the table that is safe and proven.
fn never_let_through(machine: &Machine, table: &[&str]) {
    let judged = table
        .iter()
        .map(|command| (command, assess(machine, &machine.project(), &machine.here(command))));
    let through: Vec<_> = judged
        .filter(|(_, found)| found.tier == Tier::Safe && found.proven())
        .map(|(command, _)| *command)
        .collect();
    assert!(through.is_empty(), "let through:\n{}", through.join("\n"));
}

/// Fails with every command of the table that is not safe and proven.
fn let_through(machine: &Machine, table: &[&str]) {
    for command in table {
        let found = assess(machine, &machine.project(), &machine.here(command));
        let reasons = countersign::report::reasons(&found);
        assert!(
            found.tier == Tier::Safe && found.proven(),
            "{command}: {} {reasons:?}",
            found.tier
        );
    }
}

#[test]
fn a_function_never_hides_what_a_command_of_its_name_does() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            // A wrapper runs a program, whatever functions there are.
            "mytool() { :; }; timeout 5 mytool",
            "mytool() { :; }; env mytool",
            "mytool() { :; }; command mytool",
            "mytool() { :; }; exec mytool",
            "mytool() { :; }; ls | xargs mytool",
            "mytool() { :; }; find . -exec mytool {} \\;",
            "mytool() { :; }; bash -c mytool",
            // Defined where it may or may not have been, or called before.
            "false || cd() { :; }; cd /home/dev/project/src && cat ../letter.txt",
            "if true; then cd() { :; }; fi; cd /home/dev/project/src; cat ../letter.txt",
            "f() { cd() { :; }; }; f; cd /home/dev/project/src; cat ../letter.txt",
            "f() { cd /home/dev/project/src; cat ../letter.txt; }; cd() { :; }; f",
            "x=README.md; true && pwd() { x=/home/dev/letter.txt; }; pwd; cat $x",
            "for i in 1 2; do x=README.md; pwd; cat $x; pwd() { x=/home/dev/letter.txt; }; done",
            // The shell itself calls these.
            "chpwd() { builtin cd /home/dev/project; }; cd src; cat ../letter.txt",
            "TRAPDEBUG() { x=/home/dev/letter.txt; }; x=README.md; cat $x",
        ],
    );
    let_through(&machine, &["show() { echo hi; }; show | head -5"]);
}

#[test]
fn a_builtin_behind_command_or_builtin_still_changes_the_shell() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "cd src; command cd ..; cat ../letter.txt",
            "cd src; builtin cd ..; cat ../letter.txt",
            "cd src; time cd ..; cat ../letter.txt",
            "x=README.md; command read x <<< /home/dev/letter.txt; cat \"$x\"",
            "x=README.md; builtin printf -v x /home/dev/letter.txt; cat \"$x\"",
            "x=README.md; command eval 'x=/home/dev/letter.txt'; cat \"$x\"",
            "x=README.md; command unset x; cat \"$x\"",
        ],
    );
    let_through(
        &machine,
        &["builtin cd src; cat main.rs", "time ls src", "command ls src"],
    );
}

#[test]
fn another_shell_does_not_know_the_variables_of_this_one() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "x=src/; bash -c 'cat \"${x}../letter.txt\"'",
            "false && export NO_COLOR; NO_COLOR=src/; bash -c 'cat \"${NO_COLOR}../letter.txt\"'",
        ],
    );
    let_through(
        &machine,
        &["x=README.md; cat \"$x\"", "bash -c 'x=README.md; cat \"$x\"'"],
    );
}

#[test]
fn text_that_the_shell_chose_is_never_evaluated_as_a_number() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            ": ${x:='a[$(touch p)]'}; echo $((x))",
            ": \"${x:=a[\\$(touch p)]}\"; echo $((x))",
            "[[ 'a[$(touch p)]' =~ .* ]]; echo $((BASH_REMATCH))",
            "[[ 'a[$(touch p)]' =~ .* ]]; echo $((MATCH + 1))",
            "true 'a[$(touch p)]'; echo $((_))",
            "true 'a[$(touch p)]'; [[ $_ -eq 1 ]]",
            "echo $((BASH_COMMAND))",
        ],
    );
    let_through(
        &machine,
        &["i=1; echo $((i + 1))", "echo $((2 * 3))", ": ${n:=5}; echo $((n))"],
    );
}

/// `tests/shell_oracle/evaluated.rs` asks zsh for the names.
#[test]
fn text_that_zsh_reads_as_a_number_is_never_any_other_text() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "LINES='psvar[$(rm notes.txt)1]'; ls",
            "LINES='psvar[$(rm notes.txt)1]' ls",
            "LISTMAX=$(cat README.md); ls",
            "export SHLVL='psvar[$(rm notes.txt)1]'; ls",
            "for ERRNO in 'psvar[$(rm notes.txt)1]'; do ls; done",
            "read -r COLUMNS < README.md; ls",
            "while read -r LINES; do echo one; done < README.md",
            "REPORTTIME='psvar[$(rm notes.txt)1]'; ls",
            "[[ -t 'psvar[$(rm notes.txt)1]' ]]",
            "x=$(cat README.md); if [[ ! -t $x ]]; then ls; fi",
        ],
    );
    let_through(
        &machine,
        &[
            "COLUMNS=120; ls",
            "LINES=40 ls",
            "[[ -t 1 ]] && ls",
            "x=0; [[ -t $x ]] || ls",
        ],
    );
}

#[test]
fn arithmetic_that_assigns_is_not_forgotten() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &["x=1; ((x=2-3)); cat \"f$x\"", "x=1; echo $((x=2)); cat \"f$x\""],
    );
}

#[test]
fn a_read_only_variable_keeps_its_value_where_a_script_assigns_another() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "readonly x=/home/dev/letter.txt\nx=README.md\ncat \"$x\"",
            "declare -r x=/home/dev/letter.txt\nx=README.md\ncat \"$x\"",
            "for i in 1 2; do x=README.md\ncat $x; x=/home/dev/letter.txt; readonly x\ndone",
        ],
    );
}

#[test]
fn a_trap_may_run_between_any_two_commands() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &["x=README.md; trap 'x=/home/dev/letter.txt' TERM; sleep 100; cat \"$x\""],
    );
    let_through(&machine, &["x=README.md; trap 'echo bye' EXIT TERM; cat \"$x\""]);
}

#[test]
fn a_variable_of_the_session_stays_secret_until_it_is_surely_replaced() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "printf API_TOKEN; echo $API_TOKEN",
            "printf '%s\\n' SESSION_NAME; echo $SESSION_NAME",
            "for i in 1; do echo $API_TOKEN; printf API_TOKEN; done",
        ],
    );
}

#[test]
fn a_pattern_that_names_a_hidden_file_finds_it() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "rg -g '.env' TOKEN",
            "rg -g '*' TOKEN",
            "rg -g '.e*' TOKEN",
            "rg -g '*.{rs,env}' TOKEN",
            "rg --iglob '.ENV' TOKEN",
            "rg --type-add 'x:.env' -t x TOKEN",
            "rg --ignore-file list.txt TOKEN",
            "grep -r --include='*.env' TOKEN .",
            "grep -r --include='?env' TOKEN .",
            "grep -r --include='[.]env' TOKEN .",
            "git grep -e TOKEN --untracked -- .",
        ],
    );
    let_through(
        &machine,
        &[
            "rg TOKEN",
            "rg -g '*.rs' TOKEN",
            "rg -g '*.{rs,toml}' TOKEN",
            "rg -g '!target' TOKEN",
            "grep -rn --include='*.rs' TOKEN .",
        ],
    );
    machine.write(".ignore", "!.env\n");
    never_let_through(&machine, &["rg TOKEN"]);
}

#[test]
fn a_link_inside_the_project_hides_no_secret_of_the_project() {
    let machine = Machine::new();
    symlink("../.env", machine.project().join("src/conf")).expect("a link");
    symlink("..", machine.project().join("docs/all")).expect("a link");
    never_let_through(
        &machine,
        &[
            "cat src/conf",
            "grep -R TOKEN src",
            "grep -R TOKEN docs",
            "find src -name conf -exec cat {} +",
            "rg -L TOKEN src",
        ],
    );
    let_through(&machine, &["cat src/main.rs", "grep -rn fn scripts"]);
}

#[test]
fn directories_that_are_compared_are_read_file_by_file() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &["diff . /tmp/x", "git diff --no-index . /tmp/x", "git diff . /tmp/x"],
    );
    let_through(&machine, &["diff src docs", "git diff .", "diff README.md Cargo.toml"]);
}

#[test]
fn ps_shows_environments_as_a_column_too() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "ps -o pid,environ",
            "ps -opid,environ",
            "ps --format=environ",
            "ps o environ",
        ],
    );
    let_through(&machine, &["ps -o pid,args", "ps aux"]);
}

#[test]
fn a_merge_that_is_only_shown_may_run_a_merge_driver() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "git log --diff-merges=remerge",
            "git show --diff-merges=r",
            "git log --remerge-diff",
        ],
    );
    let_through(&machine, &["git show --diff-merges=first-parent"]);
}

#[test]
fn the_password_in_the_address_of_a_remote_is_a_secret() {
    let machine = Machine::new();
    let shown = [
        "git remote -v",
        "git remote get-url origin",
        "git config --get remote.origin.url",
        "cat .git/config",
    ];
    machine.git(&["remote", "add", "origin", "https://example.invalid/a/b"]);
    let_through(&machine, &shown);
    machine.git(&["remote", "set-url", "origin", "https://me:hunter2@example.invalid/a/b"]);
    never_let_through(&machine, &shown);
    let_through(&machine, &["git status", "git log -3"]);
}

#[test]
fn the_processes_of_a_container_are_listed_without_their_environments() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "docker top web eww",
            "docker top web -eo pid,environ",
            "docker container top web auxe",
            "podman top web environ",
        ],
    );
    let_through(&machine, &["docker top web", "docker port web 80/tcp"]);
}

#[test]
fn what_a_known_substitution_stands_for_is_judged_like_its_text() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "cat \"$(git rev-parse --show-toplevel)/../letter.txt\"",
            "cd $(git rev-parse --show-toplevel)/.. && cat letter.txt",
            "cat \"$(pwd)/.env\"",
            "cat $(cd .. && pwd)/letter.txt",
            "pwd() { echo /home/dev; }; cat \"$(pwd)/letter.txt\"",
            "f() { cd ..; }; f; cat \"$(pwd)/letter.txt\"",
        ],
    );
    let_through(
        &machine,
        &[
            "cd \"$(git rev-parse --show-toplevel)\" && ls",
            "cd src && cat \"$(pwd)/main.rs\"",
            "basename \"$(pwd)\"",
        ],
    );
}

#[test]
fn content_that_is_looked_for_under_a_secret_name_counts_as_the_secret_even_where_none_is_there_yet() {
    let machine = Machine::new();
    for command in [
        "find src -name '*.pem' -exec cat {} +",
        "find docs -iname 'id_rsa*' -exec head -c 99 {} \\;",
        "rg -g '*.key' BEGIN src",
        "grep -rn x --include='.env*' docs",
    ] {
        let found = assess(&machine, &machine.project(), command);
        assert!(found.tier >= Tier::High, "{command}: {}", found.tier);
    }
    for command in [
        "find . -name '*.pem'",
        "rg -g '!*.pem' fn src",
        "find src -name '*.rs' -exec wc -l {} +",
    ] {
        let found = assess(&machine, &machine.project(), command);
        assert!(found.tier == Tier::Safe && found.proven(), "{command}: {}", found.tier);
    }
}

#[test]
fn a_directory_outside_that_is_not_there_may_be_there_by_then() {
    let machine = Machine::new();
    for command in ["cd /tmp/not-there-yet && git log", "cd /tmp/not-there-yet; cat notes"] {
        assert!(!assess(&machine, &machine.project(), command).proven(), "{command}");
    }
}

#[test]
fn everyday_wrappings_do_not_stop_harmless_commands() {
    let machine = Machine::new();
    let_through(
        &machine,
        &[
            "diff <(cat README.md) <(cat list.txt)",
            "comm -12 <(sort README.md) <(sort list.txt)",
            "echo hi | tee /dev/stderr",
            "while IFS= read -r line; do echo \"$line\"; done < list.txt",
            "for f in src/*; do (cd src; ls); head -1 \"$f\"; done",
        ],
    );
    never_let_through(
        &machine,
        &[
            "IFS=/; cat list.txt",
            "IFS= read -r PATH < list.txt",
            "cat /dev/stdin < ../letter.txt",
            "for d in a b; do (cd ..; cat letter.txt); done",
            "tee /dev/fd/3",
        ],
    );
}

#[test]
fn huge_scripts_are_judged_in_a_moment() {
    let machine = Machine::new();
    let scripts = [
        format!("echo {}", "'a'\"b\"".repeat(8000)),
        format!("cat {}", "/a".repeat(30000)),
        format!("cat src/{}x", "a/../".repeat(10000)),
        format!("echo {}", "{a,b}".repeat(5000)),
        format!("ls {}", "* ".repeat(5000)),
        "rg x docs; ".repeat(2000),
        format!("unknown {}rm x", "env ".repeat(5000)),
        format!("unknown {}'{}'", "eval ".repeat(30), "cat a; ".repeat(8000)),
        "eval 'coproc (".repeat(4000),
    ];
    for script in &scripts {
        let started = std::time::Instant::now();
        assess(&machine, &machine.project(), script);
        let took = started.elapsed();
        // Many times what it takes, so that a busy machine does not fail it; it once took minutes.
        assert!(took.as_secs() < 10, "{took:?}: {}", &script[..20]);
    }
}

#[test]
fn what_a_wrapper_runs_is_among_the_commands_that_the_ask_rules_of_the_host_see() {
    let machine = Machine::new();
    for command in [
        "timeout 5 git log",
        "nice git log",
        "env NO_COLOR=1 git log",
        "command git log",
        "ls | xargs git log",
        "bash -c 'git log'",
        "time git log",
        "$(timeout 5 git log)",
    ] {
        let found = assess(&machine, &machine.project(), command);
        let git = |words: &Vec<Option<String>>| words.first() == Some(&Some("git".to_owned()));
        assert!(found.commands.iter().any(git), "{command}: {:?}", found.commands);
    }
}

#[test]
fn the_word_after_a_redirection_of_both_is_expanded_twice_by_bash() {
    let machine = Machine::new();
    let found = assess(&machine, &machine.project(), "echo hi >&'out$(touch p)'");
    assert!(!found.proven(), "{:?}", found.steps);
}

#[test]
fn a_file_of_the_name_dash_is_a_file_to_those_who_open_it() {
    let machine = Machine::new();
    let_through(&machine, &["cat -", "ls | rev -"]);
    symlink("../.ssh/id_rsa", machine.project().join("-")).expect("a link");
    never_let_through(&machine, &["rev -", "column -"]);
}

#[test]
fn a_word_quoted_in_pieces_is_not_let_through() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "c''at README.md",
            "c\\at README.md",
            "\"c\"at README.md",
            "cat READ''ME.md",
            "'R''E''A'DME.md",
            "PAGER=c'at' git log",
            "git -c core.pager=c\\at log",
        ],
    );
    let_through(
        &machine,
        &[
            "\\cat README.md",
            "'cat' \"README.md\"",
            "cat \"src\"/main.rs",
            "grep -e\"fn\" README.md",
            "grep --include=\"*.rs\" -rn 'it'\"'\"'s' src",
            "PAGER='cat' git log",
            "echo $'a'",
        ],
    );
}

#[test]
fn env_gives_no_program_another_program_to_run() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &["env GIT_PAGER=cat git log", "env NO_COLOR=1 PAGER=cat git log"],
    );
    let_through(&machine, &["GIT_PAGER=cat git log", "env NO_COLOR=1 git log"]);
}

#[test]
fn a_setting_of_git_without_a_value_names_no_program_and_a_key_has_no_equals_sign() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "git -c core.editor status",
            "git -c Sequence.Editor log",
            "git config user.name=x",
        ],
    );
    let_through(&machine, &["git -c core.quotepath log", "git config user.name"]);
}

#[test]
fn a_shell_goes_back_only_to_where_it_surely_was() {
    let machine = Machine::new();
    let_through(
        &machine,
        &[
            "cd src && cd - && cat README.md",
            "cd src; cd \"$OLDPWD\"; cat README.md",
            "pushd src; popd; cat README.md",
            "pushd src; pushd ../docs; popd; cat main.rs; popd; cat README.md",
        ],
    );
    never_let_through(
        &machine,
        &[
            "cd -; cat README.md",
            "popd; cat README.md",
            "cd src; cd -; cat ../letter.txt",
            "cd src; OLDPWD=/home/dev; cd -; cat letter.txt",
            "cd src; cd ..; cd -; cat ../../letter.txt",
            "cd src; cd nowhere; cd -; cat ../letter.txt",
            "cd src; true || cd ../docs; cd -; cat ../letter.txt",
            "(cd src); cd -; cat letter.txt",
            "cd src; bash -c 'cd -; cat letter.txt'",
            // zsh can be told that `cd` pushes, and to keep no directory twice.
            "pushd src; cd ../docs; popd; cat ../letter.txt",
            "pushd src; pushd ..; popd; cat ../letter.txt",
            "cd src; rm -r ../src; ln -s /home/dev ../src; cd ..; cd -; cat letter.txt",
            "for i in 1 2; do cd -; cat ../letter.txt; done",
        ],
    );
}

#[test]
fn what_xargs_takes_in_parts_is_not_known() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "xargs -n1 sh -c <<< 'true rm${IFS}-rf${IFS}/'",
            "xargs -n1 git <<< 'log push'",
            "xargs -n2 nice <<< 'ls README.md touch made'",
            "xargs -s 24 sh -c <<< 'true touch'",
            "cat <<'E' | xargs -L1 git\nlog\nstash\nE",
            "xargs --max-args=2 sed -n <<< 'p README.md wmade README.md'",
        ],
    );
    let_through(
        &machine,
        &["xargs wc -l <<< README.md", "find src -name '*.rs' | xargs -n1 wc -l"],
    );
}

#[test]
fn of_several_inputs_zsh_reads_all() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "bash < evil.sh <<< 'echo hi'",
            "echo 'touch made' | sh <<< 'echo hi'",
            "sh <<< 'touch made' <<< 'echo a'",
            "cat README.md | python3 - <<'E'\nprint(1)\nE",
            "cat <<< 'touch made' <<< 'echo hi' | sh",
        ],
    );
    let_through(
        &machine,
        &[
            "bash <<< 'echo hi'",
            "echo 'ls src' | sh",
            "python3 - 2>/dev/null <<'E'\nprint(1)\nE",
        ],
    );
}

#[test]
fn of_any_number_of_words_it_is_not_known_which_is_the_fifth() {
    let machine = Machine::new();
    machine.write("deep/er/server.key", "secret\n");
    never_let_through(
        &machine,
        &[
            "f() { eval \"$5 $6 $7\"; }; f $(echo a b c d rm -rf ~)",
            "bash -c 'eval \"$6 $7 $8\"' _ $(echo a b c d e rm -rf ~)",
            "f() { git log \"$5\"; }; f $(echo a b c d --output=notes.txt)",
            "f() { git log $5; }; f $(echo a b c d --output=notes.txt)",
            "f() { python3 -c \"$5\"; }; f $(echo a b c d print)",
            "find . -type f -exec sh -c 'cat \"$3\"' _ {} +",
            "find . -type f -exec sh -c ': > \"./$3\"' _ {} +",
            "find . -type f | xargs sh -c 'cat \"$3\"' _",
            "ls -a | xargs sh -c 'cat \"$3\"' _",
            "ls -a | xargs env sh -c 'cat \"$3\"' _",
            "ls -a | xargs sh -c 'cat \"$0\"'",
            "find src -name '*.rs' | xargs -n2 sh -c 'cat \"$0\"'",
            "find src -name '*.rs' | xargs -n1 -L2 sh -c 'cat \"$0\"'",
            "find . -type f | xargs -n1 sh -c 'cat \"$0\"'",
            "find . -type f | xargs -n1 sh -c 'cat \"$1\"' _",
            "f() { cat \"$9\"; }; f ./**/*",
            "f() { cat \"$9\"; }; f ./**/{*,x}",
            "sh -c 'cat \"$9\"' _ ./**/*",
            // The words are handed on.
            "f() { g \"$@\"; }; g() { cat \"$5\"; }; f $(echo a b c d .env)",
            "f() { sh -c 'cat \"$5\"' _ \"$@\"; }; f $(echo a b c d .env)",
            "f() { eval 'cat \"$5\"'; }; f $(echo a b c d .env)",
            "f() { shift 4; cat \"$1\"; }; f $(echo a b c d .env)",
            "f() { cat \"${5}\"; }; f README.md $(echo a b c .env)",
            "f() { for w; do cat \"$w\"; done; }; f $(echo README.md .env)",
            "sh -c 'cat \"$2\"' _ $unknown .env",
        ],
    );
    let_through(
        &machine,
        &[
            "f() { wc -l \"$1\"; }; f README.md",
            "f() { echo \"$5\"; }; f $(echo a b c d e)",
            "f() { cat \"$1\" \"$3\"; }; f README.md x list.txt",
            "f() { cat \"$1\"; }; f README.m*",
            "f() { cat \"$@\"; }; f $(echo README.md list.txt)",
            "f() { for w; do cat \"$w\"; done; }; f $(echo README.md list.txt)",
            "f() { g \"$@\"; }; g() { cat \"$@\"; }; f $(echo README.md list.txt)",
            "for f in README.md list.txt; do sh -c 'cat \"$1\"' _ \"$f\"; done",
            "find src -name '*.rs' -exec sh -c 'wc -l \"$1\"' _ {} \\;",
            "find src -name '*.rs' -exec sh -c 'for f; do wc -l \"$f\"; done' _ {} +",
            "find src -name '*.rs' -exec sh -c 'wc -l \"$@\"' _ {} +",
            "find src -name '*.rs' -print0 | xargs -0 -n 1 sh -c 'wc -l \"$1\"' _",
        ],
    );
}

#[test]
fn a_builtin_that_is_given_a_name_as_one_of_several_may_assign_each() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "X=README.md; read $(echo X) <<< ~/.ssh/id_rsa; cat $X",
            "X=README.md; read -r Y $(echo X) <<< \"a $HOME/.ssh/id_rsa\"; cat $X",
            "X=README.md; command read $(echo X) <<< ~/.ssh/id_rsa; cat $X",
            "X=README.md; builtin read $(echo X) <<< ~/.ssh/id_rsa; cat $X",
            "X=README.md; IFS= read $(echo X) <<< ~/.ssh/id_rsa; cat $X",
            "X=README.md; echo ~/.ssh/id_rsa | read $(echo X); cat $X",
            "X=README.md; for v in X Y; do read $v <<< ~/.ssh/id_rsa; done; cat $X",
            "X=README.md; for v in X Y; do read \"$v\" <<< ~/.ssh/id_rsa; cat $X; done",
            "X=README.md; for v in X Y; do printf -v \"$v\" %s ~/.ssh/id_rsa; cat $X; done",
            "X=README.md; printf -v $(echo X) %s ~/.ssh/id_rsa; cat $X",
            "X=README.md; read $unknown <<< ~/.ssh/id_rsa; cat $X",
            "X=README.md; read \"$unknown\" <<< ~/.ssh/id_rsa; cat $X",
            "X=README.md; mapfile $(echo X) <<< ~/.ssh/id_rsa; cat $X",
            "X=README.md; getopts a: $(echo X) -a; cat $X",
            "X=~/.ssh/id_rsa; unset $(echo X); cat $X",
            "X=README.md; let $(echo X=5); cat $X",
            "X=README.md; export $(echo X=/etc/shadow); cat $X",
            "X=README.md; declare $(echo X=/etc/shadow); cat $X",
            "X=README.md; typeset $(echo X=/etc/shadow); cat $X",
            "X=README.md; readonly $(echo X=/etc/shadow); cat $X",
            "X=README.md; integer $(echo X=5); cat $X",
            "f() { local $(echo X=/etc/shadow); cat $X; }; X=README.md; f",
            // What a later turn of a loop finds.
            "X=README.md; for v in X Y; do cat $X; read $v <<< ~/.ssh/id_rsa; done",
            "X=README.md; for v in X Y; do cat $X; read \"$v\" <<< ~/.ssh/id_rsa; done",
            "X1=README.md; for v in 1 2; do cat $X1; read X$v <<< ~/.ssh/id_rsa; done",
            "X=README.md; for v in 1 2; do cat $X; read {X,Y} <<< ~/.ssh/id_rsa; done",
            "X=README.md; for v in 1 2; do cat $X; export \"X=$HOME/.ssh/id_rsa\"; done",
            "X=README.md; for v in 1 2; do cat $X; printf \"-v\" X ~/.ssh/id_rsa; done",
            "X=README.md; o=-v; for v in 1 2; do cat $X; printf $o X ~/.ssh/id_rsa; done",
            "X=README.md; for v in X Y; do cat $X; printf -v $v %s ~/.ssh/id_rsa; done",
            "X=README.md; for v in 1 2; do cat $X; command read X <<< ~/.ssh/id_rsa; done",
            "X=README.md; for v in 1 2; do cat $X; time read X <<< ~/.ssh/id_rsa; done",
            "X=README.md; for v in 1 2; do cat $X; time -p read X <<< ~/.ssh/id_rsa; done",
            "REPLY=README.md; for v in 1 2; do cat $REPLY; read <<< ~/.ssh/id_rsa; done",
            "f() { for i in 1 2; do cat $X; printf \"$@\"; done; }; X=README.md; f -v X ~/.ssh/id_rsa",
            // zsh assigns what an expression matched.
            "MATCH=README.md; [[ /etc/shadow =~ /etc/shadow ]]; cat $MATCH",
            "MATCH=README.md; if ! [[ a == b || /etc/shadow =~ .* ]]; then ls; fi; cat $MATCH",
            "MATCH=README.md; for i in 1 2; do cat $MATCH; [[ /etc/shadow =~ .* ]]; done",
        ],
    );
    for command in [
        "X=none; read -r $(echo X) <<< ~; rm -rf $X",
        "X=none; for v in X Y; do read $v <<< ~; done; rm -rf $X",
        "for v in X Y; do X=none; printf -v \"$v\" %s ~; rm -rf \"$X\"; done",
        "X=none; for v in X Y; do rm -rf $X; read $v <<< ~; done",
    ] {
        let found = assess(&machine, &machine.project(), command);
        assert!(!found.proven(), "{command}: {}", found.tier);
    }
    let_through(
        &machine,
        &[
            "X=README.md; read -r Y <<< a; cat $X",
            "X=README.md; read -r $(echo Y) <<< a; cat $X",
            "X=README.md; for v in Y Z; do read -r $v <<< a; done; echo $v; cat src/main.rs",
            "X=README.md; for v in 1 2; do printf '%s\\n' \"$v\"; cat $X; done",
            "X=README.md; for v in 1 2; do printf \"$v\\n\"; cat $X; done",
            "X=README.md; for v in 1 2; do printf \"a $v %s\\n\" \"$v\"; cat $X; done",
            "while read -r f; do echo \"$f\"; done < README.md",
            "while IFS= read -r line; do printf '%s\\n' \"$line\"; done < list.txt; cat README.md",
            "f() { local x=\"$1\"; for i in 1 2; do local y=a; cat README.md; done; }; f a",
        ],
    );
}

#[test]
fn what_a_variable_names_may_end_the_turn_of_a_loop() {
    let machine = Machine::new();
    machine.write("src/deep/a.rs", "");
    let deep = machine.project().join("src/deep");
    let deep = deep.to_str().expect("a path");
    for command in [
        "cd src; for c in break ls; do $c; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in continue ls; do $c; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in exit ls; do ($c); cd DEEP; done; $c; rm -rf ../../other",
        "cd src; for c in break ls; do \"$c\"; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in break ls; do command $c; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in 1 2; do command break; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in 1 2; do builtin break; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in 1 2; do eval break; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in 1 2; do time break; cd DEEP; done; rm -rf ../../other",
        "cd src; for c in time ls; do $c break; cd DEEP; done; rm -rf ../../other",
        "cd src; b=break; for c in 1 2; do $b; cd DEEP; done; rm -rf ../../other",
        "f() { for c in return ls; do $c; cd DEEP; done; }; cd src; f; rm -rf ../../other",
        // A function that ends before its end.
        "f() { cd deep; $1; cd ..; }; cd src; f return; rm -rf ../../other",
        "f() { cd deep; \"$@\"; cd ..; }; cd src; f return; rm -rf ../../other",
        "f() { cd deep; \"$@\"; cd ..; }; cd src; f $(echo return); rm -rf ../../other",
        "f() { cd deep; shift; \"$1\"; cd ..; }; cd src; f ls return; rm -rf ../../other",
        "f() { cd deep; $c; cd ..; }; cd src; c=return; f; rm -rf ../../other",
        "f() { cd deep; eval return; cd ..; }; cd src; f; rm -rf ../../other",
        "f() { cd deep; command return; cd ..; }; cd src; f; rm -rf ../../other",
        // zsh breaks the loop that a function is called in.
        "f() { break; }; cd src; for c in 1 2; do f; cd DEEP; done; rm -rf ../../other",
        "g() { break; }; f() { cd deep; g; cd ..; }; cd src; for c in 1 2; do f; done; rm -rf ../../other",
    ] {
        let command = command.replace("DEEP", deep);
        let found = assess(&machine, &machine.project(), &command);
        assert!(!found.proven(), "{command}: {}", found.tier);
    }
    let_through(
        &machine,
        &[
            "for c in node npm; do $c --version; done",
            "for c in node npm; do command -v $c; done; cat README.md",
            "for c in 1 2; do cd src; cat main.rs; cd ..; done; cat README.md",
            "has() { command -v \"$1\" >/dev/null; }; has node && cat README.md",
            "for f in README.md list.txt; do command cat \"$f\"; done; cat README.md",
            "f() { cd src; cat main.rs; cd ..; }; f; cat README.md",
            "run() { echo \"+ $*\"; \"$@\"; }; run ls src; cat README.md",
        ],
    );
}

#[test]
fn a_text_that_bash_may_run_as_a_list_is_not_let_through() {
    let machine = Machine::new();
    never_let_through(
        &machine,
        &[
            "x=(a); declare x='($(rm notes.txt))'",
            "x=(a); typeset x='($(rm notes.txt))'",
            "mapfile x < README.md; declare x='($(rm notes.txt))'",
            "x=(a); y='($(rm notes.txt))'; declare x=\"$y\"",
            "x=(a); declare \"x=($(printf a))\"",
            "x=(a); builtin declare x='([$(rm notes.txt)]=1)'",
        ],
    );
    let_through(
        &machine,
        &["declare x=a; echo $x", "f() { local x=\"$1\"; echo \"$x\"; }; f a"],
    );
}
