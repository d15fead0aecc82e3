//! What is done to files: where they are, what is lost, what runs later.

use crate::{Machine, all, does, judged};
use countersign::effect::Tier;

#[test]
fn what_git_holds_unchanged_can_be_had_again_and_the_rest_cannot() {
    let machine = Machine::new();
    all(
        &machine,
        "low",
        &[
            "rm README.md",
            "echo x > README.md",
            "sed -i s/a/b/ README.md",
            "rm nothing-there",
        ],
    );
    all(
        &machine,
        "high",
        &[
            "rm notes.txt",
            "echo x > notes.txt",
            "sed -i s/a/b/ notes.txt",
            "mv list.txt notes.txt",
        ],
    );
    machine.write("README.md", "changed since\n");
    all(&machine, "high", &["rm README.md", "echo x > README.md"]);
}

#[test]
fn what_is_added_at_the_end_loses_nothing() {
    all(
        &Machine::new(),
        "low",
        &["echo x >> notes.txt", "echo x >> README.md", "echo x >> new.txt"],
    );
}

#[test]
fn a_directory_that_a_tool_makes_again_costs_time_only() {
    let machine = Machine::new();
    all(
        &machine,
        "medium",
        &["rm -rf target", "rm -rf node_modules", "rm -rf target/debug"],
    );
    machine.write("sub/target/work.txt", "mine\n");
    all(&machine, "high", &["rm -rf sub/target"]);
}

#[test]
fn a_directory_that_is_copied_lands_file_by_file() {
    let machine = Machine::new();
    machine.write("kit/new.txt", "");
    machine.write("kit/notes.txt", "");
    machine.write("other/kit/new.txt", "mine\n");
    all(
        &machine,
        "low",
        &["cp -r kit fresh", "cp -r src fresh", "mkdir fresh && cp -r kit/. fresh"],
    );
    all(
        &machine,
        "high",
        &["cp -r kit other", "cp -r kit/. .", "cp -aT kit .", "cp -r -t other kit"],
    );
    machine.write("model/.claude/settings.json", "{}");
    all(&machine, "high", &["cp -r model fresh"]);
    all(
        &machine,
        "critical",
        &[
            "cp -r model/. .",
            "cp -RT model .",
            "cp -r model/. ~",
            "cd model && cp -r . ..",
        ],
    );
    all(
        &machine,
        "unproven",
        &[
            "echo {} > kit/.claude && cp -r kit/. fresh",
            "cp -r src copy; cp -r copy/. fresh",
        ],
    );
}

#[test]
fn removing_the_project_or_what_holds_it_is_critical() {
    all(
        &Machine::new(),
        "critical",
        &[
            "rm -rf .",
            "rm -rf ../project",
            "rm -rf \"$PWD\"",
            "cd src && rm -rf ..",
            "rm -rf ..",
            "rm -rf ~",
            "rm -rf ~/",
            "rm -rf ~/*",
            "rm -rf /",
            "rm -rf /*",
            "rm -rf src/../../project",
            "find . -delete",
            "find . -exec rm -r {} \\;",
            "find . -name \"$x\" -exec rm {} \\;",
            "rm -rf .git",
            "mv . ../elsewhere",
        ],
    );
}

#[test]
fn files_that_become_code_weigh_more_than_others() {
    let machine = Machine::new();
    all(
        &machine,
        "medium",
        &["echo x > package.json", "echo x >> Makefile", "mv README.md build.rs"],
    );
    all(
        &machine,
        "high",
        &[
            "echo x > AGENTS.md",
            "echo x >> CLAUDE.md",
            "echo x > .github/workflows/ci.yml",
        ],
    );
    all(
        &machine,
        "critical",
        &[
            "echo x > .git/hooks/pre-commit",
            "cp README.md .git/config",
            "cp README.md .git/hooks/",
            "echo x >> ~/.bashrc",
            "echo x > ~/.config/git/config",
            "echo x > .claude/settings.json",
            "tee ~/.profile < README.md",
            "mkdir -p ~/.config/systemd/user",
            "touch ~/.config/countersign/config.toml",
        ],
    );
}

#[test]
fn reading_a_secret_is_high_and_writing_one_is_critical() {
    let machine = Machine::new();
    all(
        &machine,
        "high",
        &[
            "cat .env",
            "cat < .env",
            "cat ./src/../.env",
            "head -1 ~/.ssh/id_rsa",
            "cat /etc/shadow",
            "cat /proc/self/environ",
            "cat .e*",
            "cat .en?",
            "cat {README.md,.env}",
            "cp .env other.txt",
            "wc .env",
            "[ -f ~/.ssh/id_rsa ]",
            "ls ~/.ssh",
            "cp README.md .env.test",
            "echo A=b > .env.local",
            "for f in .env; do cat $f; done",
            "diff .env README.md",
            "cat .ENV",
        ],
    );
    all(
        &machine,
        "critical",
        &[
            "echo x > .env",
            "cp README.md .env",
            "cp README.md ~/.env.new",
            "cp README.md missing/.env.new",
            "cp ~/.ssh/id_rsa src",
            "cp README.md .envrc",
            "echo x > .ssh/authorized_keys",
            "echo x > ~/.ssh/authorized_keys",
            "echo x > .claude/.env",
            "rm .env",
            "rm -rf ~/.ssh",
            "chmod 644 ~/.ssh/id_rsa",
        ],
    );
}

#[test]
fn that_a_secret_of_the_project_is_there_is_no_secret() {
    let machine = Machine::new();
    all(
        &machine,
        "safe",
        &[
            "[ -f .env ] && echo there",
            "test -s .env",
            "[[ -e .env ]]",
            "ls -la .env*",
            "ls -d .*",
            "stat .env",
            "git check-ignore .env",
            "git ls-files .env",
        ],
    );
    machine.link("link.txt", machine.home().join(".ssh/id_rsa"));
    machine.link(".env.local", machine.home().join("letter.txt"));
    all(
        &machine,
        "high",
        &[
            "wc -c .env",
            "md5sum .env",
            "grep -c x .env",
            "git diff .env",
            "git log -p -- .env",
            "ls -la ~/.ssh",
            "[ -f ~/.aws/credentials ]",
            "stat ../.env",
            "ls -lL link.txt",
            "stat .env.local",
            "find . -name .env -exec cat {} +",
        ],
    );
}

#[test]
fn a_walk_over_a_directory_reads_the_secrets_that_lie_in_it() {
    let machine = Machine::new();
    all(
        &machine,
        "safe",
        &[
            "grep -rn x --include=*.rs .",
            "grep -rn x --include=*.{rs,toml} .",
            "grep -rn x --include=*.nothing .",
        ],
    );
    all(
        &machine,
        "high",
        &[
            "grep -rn x --include=.e* .",
            "grep -rn x --include=*.{rs,env} .",
            "grep -rn x --include=.env? .",
            "rg -uu x -g !*.rs",
        ],
    );
    all(&machine, "unproven", &["touch a.rs; grep -rn x --include=*.rs ."]);
    all(&machine, "high", &["grep -r x .", "grep -rn x", "rg -uu x", "cat .*"]);
    all(
        &machine,
        "safe",
        &["grep -r x src", "rg x", "grep -r --include='*.rs' x ."],
    );
    all(
        &machine,
        "high",
        &["grep -r --include='*.env' x .", "grep -r --include='.e*' x ."],
    );
    machine.write("src/deep/er/server.pem", "key\n");
    all(&machine, "high", &["grep -r x src", "rg x"]);
}

#[test]
fn a_walk_over_a_directory_follows_the_links_that_lead_out_of_it() {
    let machine = Machine::new();
    machine.link("src/out", machine.home().join("letter.txt"));
    all(&machine, "medium", &["cat src/out", "grep -R x src"]);
    machine.link("src/key", machine.home().join(".ssh/id_rsa"));
    all(&machine, "high", &["cat src/key", "grep -R x src", "cat src/*"]);
}

#[test]
fn a_link_is_judged_by_what_it_names_and_by_its_own_name() {
    let machine = Machine::new();
    machine.link("hosts", "/etc/hosts");
    machine.link("rc", machine.home().join(".bashrc"));
    machine.link("nowhere", machine.home().join(".ssh/authorized_keys"));
    machine.link("second", machine.home().join(".bashrc"));
    machine.link("first", "second");
    machine.link("up", "..");
    all(&machine, "safe", &["cat hosts"]);
    all(
        &machine,
        "critical",
        &[
            "echo x > hosts",
            "echo x > rc",
            "echo x > nowhere",
            "echo x > first",
            "rm -rf up/",
        ],
    );
    all(&machine, "high", &["cat nowhere", "cat up/.ssh/id_rsa"]);
}

#[test]
fn a_link_between_ordinary_files_of_the_project_leads_nowhere_else() {
    let machine = Machine::new();
    machine.link("home", machine.home());
    machine.write("docs/deep/x", "");
    all(
        &machine,
        "low",
        &[
            "ln -s README.md R.md",
            "ln -s src sources",
            "ln README.md R.md",
            "ln -sf list.txt data.csv",
            "ln -s main.rs src/first.rs",
        ],
    );
    all(
        &machine,
        "high",
        &[
            "ln -s /etc/passwd p",
            "ln -s ../letter.txt p",
            "ln -s ../../letter.txt docs/p",
            "ln -s deep/../../../letter.txt docs/p",
            "ln -s home/letter.txt p",
            "ln -s src home",
            "ln -s .env e",
            "ln .env e",
            "ln -s ~/.ssh s",
            "ln -s .git g",
            "ln -s .git/hooks h",
            "ln -s AGENTS.md a",
            "ln -s README.md notes.txt",
            "ln -s README.md AGENTS.md",
            "cd docs && ln -s ../../letter.txt p",
        ],
    );
    all(
        &machine,
        "critical",
        &[
            "ln -s README.md .git/hooks/pre-commit",
            "ln -sf README.md ~/.bashrc",
            "ln -s src .claude",
        ],
    );
    all(
        &machine,
        "unproven",
        &[
            "ln -s $x R.md",
            "ln -s README.md \"$x\"",
            "ln -s src s; cat s/x",
            "ln -s -- \"$(cat list.txt)\" p",
        ],
    );
}

#[test]
fn removing_a_link_removes_nothing_behind_it() {
    let machine = Machine::new();
    machine.link("key", machine.home().join("letter.txt"));
    all(&machine, "high", &["rm key"]);
    does(&machine, "rm key", "delete key");
}

#[test]
fn a_link_that_the_script_makes_itself_is_not_followed_blindly() {
    let machine = Machine::new();
    for command in [
        "ln -s / l; cat l/etc/shadow",
        "ln -s ~ l && cat l/letter.txt",
        "(ln -s ~ l); cat l/letter.txt",
        "ln -s ~ l & wait; cat l/letter.txt",
        "bash -c 'ln -s ~ l'; cat l/letter.txt",
        "ln -s ~ l | cat l/letter.txt",
        "ln -s ~ src/l && cd src/l && cat letter.txt",
    ] {
        let found = judged(&machine, command);
        assert!(!found.proven() || found.tier >= Tier::Medium, "{command}");
    }
}

#[test]
fn copies_land_on_the_names_they_have_in_the_directory() {
    let machine = Machine::new();
    machine.write("x/.bashrc", "x\n");
    machine.write("x/pre-commit", "x\n");
    all(
        &machine,
        "critical",
        &[
            "cp x/.bashrc ~",
            "cp x/pre-commit .git/hooks",
            "mv x/pre-commit .git/hooks/",
        ],
    );
    all(&machine, "high", &["cp AGENTS.md docs", "cp list.txt ~"]);
}

#[test]
fn devices_that_hold_nothing_are_nothing() {
    let machine = Machine::new();
    all(
        &machine,
        "safe",
        &[
            "ls > /dev/null",
            "ls 2>/dev/null",
            "ls &> /dev/null",
            "ls 2>&1 >/dev/stderr",
            "cat /dev/null",
            "cat < /dev/stdin",
            "diff <(ls) <(ls src)",
        ],
    );
    all(
        &machine,
        "critical",
        &["echo x > /dev/sda", "dd if=/dev/zero of=/dev/sda", "echo x > /dev/fd/3"],
    );
    all(
        &machine,
        "high",
        &["echo x > /dev/tcp/example.com/80", "cat < /dev/tcp/127.0.0.1/22"],
    );
}

#[test]
fn a_redirection_is_a_write_or_a_read_of_its_file() {
    let machine = Machine::new();
    all(
        &machine,
        "low",
        &[
            "ls > new.txt",
            "ls >| new.txt",
            "ls &> new.txt",
            "ls >& new.txt",
            "ls 2> new.txt",
            "{ ls; } > new.txt",
            "(ls) > new.txt",
            "for f in a; do ls; done > new.txt",
        ],
    );
    all(
        &machine,
        "high",
        &[
            "ls > notes.txt",
            "ls &> notes.txt",
            "{ ls; } > notes.txt",
            "while false; do :; done > notes.txt",
            "ls 3<> notes.txt",
        ],
    );
    all(
        &machine,
        "critical",
        &["ls > ~/.bashrc", "ls 2> /etc/passwd", "[[ a == b ]] > ~/.zshrc"],
    );
    all(
        &machine,
        "unproven",
        &["ls > $x", "ls > \"$(echo x)\"", "ls > {a,b}", "ls < *"],
    );
}

#[test]
fn a_here_document_is_text_unless_it_holds_commands() {
    let machine = Machine::new();
    all(
        &machine,
        "safe",
        &[
            "cat <<E\nhello\nE",
            "cat <<'E'\n$(rm -rf ~)\nE",
            "cat <<-E\n\thello\n\tE",
            "cat <<< hello",
        ],
    );
    all(
        &machine,
        "critical",
        &[
            "cat <<E\n$(rm -rf ~)\nE",
            "cat <<E\n`rm -rf ~`\nE",
            "cat <<< \"$(rm -rf ~)\"",
        ],
    );
    all(&machine, "safe", &["sh <<E\nls\nE", "python3 <<E\nprint(1)\nE"]);
    all(
        &machine,
        "high",
        &["sh <<E\nls\nls\nE", "python3 <<E\nimport os\nE", "perl <<E\n1\nE"],
    );
}

#[test]
fn patterns_become_the_names_they_match() {
    let machine = Machine::new();
    does(&machine, "cat src/*.rs", "read src/main.rs");
    does(&machine, "cat s?c/ma[a-i]n.rs", "read src/main.rs");
    does(&machine, "cat {src,docs}/*", "read docs/guide.md");
    all(&machine, "low", &["rm src/*.rs"]);
    all(&machine, "high", &["rm *", "rm n*.txt"]);
    machine.write("-rf", "x\n");
    assert!(!judged(&machine, "rm *").proven() || judged(&machine, "rm *").tier >= Tier::High);
    all(&machine, "unproven", &["touch a.txt; cat *.txt", "cat ***/*.rs"]);
}

#[test]
fn a_pattern_goes_past_the_files_that_lie_beside_its_directories() {
    let machine = Machine::new();
    machine.write("src/deep/a.ts", "");
    machine.write("src/deep/er/b.ts", "");
    machine.write("src/deep/er/.env", "TOKEN=x");
    does(&machine, "cat */*/*.ts", "read src/deep/a.ts");
    all(
        &machine,
        "safe",
        &[
            "ls src/*/*.ts",
            "cat src/*/*/*.ts",
            "ls */*/*",
            "grep -n export src/**/*.ts",
            "for f in src/**/*.ts; do head -1 $f; done",
        ],
    );
    all(
        &machine,
        "high",
        &["cat src/*/*/.e*", "cat src/**/.e*", "cat */**/.env"],
    );
    machine.link("src/deep/out", machine.home().join(".ssh"));
    all(&machine, "high", &["cat src/*/*/*", "cat src/deep/**/*"]);
    machine.link("src/gone", "nowhere");
    all(&machine, "unproven", &["ls src/*/*.ts"]);
}

#[test]
fn two_stars_are_judged_by_what_either_shell_makes_of_them() {
    let machine = Machine::new();
    machine.write("kit/a.txt", "");
    machine.write("kit/deep/b.txt", "mine\n");
    machine.git(&["add", "kit/a.txt"]);
    machine.git(&["commit", "-q", "-m", "kit"]);
    // bash copies onto the only file that it finds deeper, zsh onto the last of two.
    does(&machine, "cp README.md kit/**/*.txt", "write kit/a.txt");
    does(&machine, "cp README.md kit/**/*.txt", "write kit/deep/b.txt");
    all(&machine, "high", &["cp README.md kit/**/*.txt", "rm kit/**/*.txt"]);
    machine.write("kit/deep/-rf", "");
    all(&machine, "unproven", &["rm -- README.md; rm **/-rf"]);
    machine.write("-n", "");
    machine.write("d/e/-n", "");
    all(&machine, "unproven", &["sed **/-n"]);
}

#[test]
fn a_directory_that_a_pattern_names_is_written_into() {
    let machine = Machine::new();
    machine.write("kit/list.txt", "mine\n");
    does(&machine, "cp list.txt ki*", "write kit/list.txt");
    all(&machine, "high", &["cp list.txt ki*", "mv list.txt k[i]t"]);
}

#[test]
fn a_name_from_a_pattern_may_be_an_option() {
    let machine = Machine::new();
    machine.write("--output=notes.txt", "x\n");
    does(&machine, "sort *", "write notes.txt");
    does(&machine, "sort -- *", "read --output=notes.txt");
}

#[test]
fn what_lies_outside_is_not_looked_at_for_nothing() {
    let machine = Machine::new();
    all(
        &machine,
        "safe",
        &[
            "cat /etc/hosts",
            "ls /usr/bin",
            "cat /usr/share/common-licenses/MIT",
            "ls /tmp",
        ],
    );
    all(
        &machine,
        "medium",
        &[
            "cat ~/letter.txt",
            "ls ~",
            "ls ..",
            "cat /dev/sda",
            "cat /home/somebody/x",
            "cat /srv/x",
        ],
    );
    all(
        &machine,
        "critical",
        &[
            "echo x > /etc/hosts",
            "rm ~/letter.txt",
            "rm /srv/x -r",
            "touch /usr/bin/x",
        ],
    );
}

#[test]
fn a_sibling_whose_name_begins_alike_is_not_the_project() {
    let machine = Machine::new();
    machine.write_home("project-two/file", "x\n");
    all(&machine, "medium", &["cat ../project-two/file"]);
    all(&machine, "critical", &["rm ../project-two/file"]);
}

#[test]
fn a_directory_is_as_good_as_what_git_holds_below_it() {
    let machine = Machine::new();
    all(&machine, "low", &["rm -r docs", "rm -rf src docs/", "rm -r scripts"]);
    machine.write("empty/x", "");
    std::fs::remove_file(machine.project().join("empty/x")).expect("it is removed");
    all(&machine, "low", &["rmdir empty", "rm -r empty"]);
    machine.write("docs/draft.md", "mine\n");
    all(&machine, "high", &["rm -r docs", "rm -rf src docs"]);
    machine.git(&["add", "docs"]);
    all(&machine, "high", &["rm -r docs"]);
    machine.git(&["commit", "-qm", "Add a draft"]);
    all(&machine, "low", &["rm -r docs"]);
    machine.write("docs/deep/node_modules/x", "");
    all(&machine, "high", &["rm -r docs"]);
    machine.write("docs/deep/package.json", "{}\n");
    machine.git(&["add", "docs/deep/package.json"]);
    machine.git(&["commit", "-qm", "Add a package"]);
    all(&machine, "medium", &["rm -r docs", "rm -r docs/deep"]);
}

#[test]
fn what_lies_below_a_directory_counts_as_if_it_were_named() {
    let machine = Machine::new();
    machine.write("docs/AGENTS.md", "be kind\n");
    machine.git(&["add", "docs"]);
    machine.git(&["commit", "-qm", "Add instructions"]);
    all(&machine, "high", &["rm -r docs"]);
    machine.write("conf/.env", "TOKEN=x\n");
    all(&machine, "critical", &["rm -r conf"]);
}

#[test]
fn what_goes_with_a_directory_is_counted() {
    let machine = Machine::new();
    let deleted = |command: &str| {
        let found = judged(&machine, command);
        found.steps[0].effects[0].target.clone()
    };
    machine.write("notes/a", "");
    assert_eq!(deleted("rm -r notes"), "1 untracked file in notes/");
    machine.write("notes/b/c", "");
    machine.link("notes/d", "a");
    assert_eq!(deleted("rm -r notes/"), "3 untracked files in notes/");
    machine.write("src/lib.rs", "changed\n");
    assert_eq!(deleted("rm -r src"), "1 changed file in src/");
    machine.write("src/new.rs", "");
    assert_eq!(deleted("rm -r src"), "2 untracked or changed files in src/");
    assert_eq!(deleted("rm -r docs"), "docs");
    for n in 0..300 {
        machine.write(&format!("many/{n}"), "");
    }
    assert_eq!(deleted("rm -r many"), "more than 256 files in many/");
}

#[test]
fn a_link_is_removed_and_not_what_it_leads_to() {
    let machine = Machine::new();
    machine.link("way", "docs");
    machine.write("notes/a", "");
    machine.link("other", "notes");
    machine.git(&["add", "way", "other"]);
    machine.git(&["commit", "-qm", "Add links"]);
    all(&machine, "low", &["rm way", "rm other"]);
    all(
        &machine,
        "high",
        &[
            "rm -r other/",
            "find other/. -delete",
            "find other/ -delete",
            "rm -r oth*/",
            "rm -r ./oth*/.",
        ],
    );
    all(&machine, "low", &["rm oth*"]);
    machine.link("new", "docs");
    all(&machine, "high", &["rm new"]);
}

#[test]
fn a_process_s_own_links_are_not_where_this_one_stands() {
    let machine = Machine::new();
    machine.link("here", "/proc/self/cwd");
    machine.link("top", "/proc/self/root");
    all(
        &machine,
        "high",
        &[
            "cat /proc/self/cwd/README.md",
            "cat here/README.md",
            "cat top/etc/hosts",
            "cat /proc/self/root/etc/hosts",
            "cat /dev/fd/../cwd/README.md",
        ],
    );
    all(
        &machine,
        "critical",
        &[
            "cd .git/hooks && echo x > ../../here/pre-commit",
            "echo x > /proc/self/cwd/x",
        ],
    );
}

#[test]
fn what_leads_out_of_the_project_is_outside() {
    let machine = Machine::new();
    machine.write_home("project2/x", "x\n");
    machine.write_home("outside/x", "x\n");
    machine.link("way", "../outside");
    machine.link("src/up", "../..");
    all(
        &machine,
        "medium",
        &[
            "cat ../project2/x",
            "cat way/x",
            "cat src/up/letter.txt",
            "cat src/../../letter.txt",
            "cat nothing/../../letter.txt",
            "cat ~/letter.txt",
            "cat ../PROJECT/README.md",
        ],
    );
    all(
        &machine,
        "safe",
        &[
            "cat src/../README.md",
            "cat ../project/README.md",
            "cat src/up/project/README.md",
        ],
    );
}

#[test]
fn a_file_of_the_project_that_is_called_like_a_home_is_not_shown_as_one() {
    let machine = Machine::new();
    let summary = |command: &str| countersign::report::summary(&judged(&machine, command));
    assert_eq!(summary("rm -rf \\~"), "deletes ./~");
    assert_eq!(
        summary("rm -rf ~"),
        "deletes the whole home directory, which cannot be undone"
    );
}
