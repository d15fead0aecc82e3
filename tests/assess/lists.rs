//! Lists that a command prints and another one takes up: names of files, numbers and hashes. What is told of each word is
//! never less than what it can be.

use std::os::unix::fs::symlink;

use countersign::effect::Tier;

use crate::{Machine, all, does, judged, not_let_through};

/// A project with sources in several places and, as each Machine, a `.env`.
fn project() -> Machine {
    let machine = Machine::new();
    machine.write("src/deep/part.ts", "export {};\n");
    machine.write("src/view.tsx", "export {};\n");
    machine.write("app.py", "import flask\n");
    machine.write("crates/one/Cargo.toml", "[package]\n");
    machine.write("crates/two/Cargo.toml", "[package]\n");
    machine.git(&["add", "-A"]);
    machine.git(&["commit", "-q", "-m", "more"]);
    machine
}

mod found {
    use super::*;

    #[test]
    fn what_find_runs_is_given_the_names_that_it_finds() {
        let machine = project();
        let reads = [
            "find . -name '*.ts' -exec grep -l export {} +",
            "find . -name '*.ts' -exec wc -l {} \\;",
            "find . -name '*.ts' -exec sed -n 1,5p {} \\;",
            "find src -iname '*.TS' -exec head -3 ./{} \\;",
            "find src docs -name '*.ts' -exec cat {} +",
            "find . -name '*.ts' -exec sh -c 'head -3 \"$1\"' _ {} \\;",
        ];
        all(&machine, "safe", &reads);
        for command in reads {
            let deeds = crate::deeds(&machine, command);
            assert!(
                deeds.iter().any(|deed| deed.ends_with("src/app.ts")),
                "{command}: {deeds:?}"
            );
        }
        all(
            &machine,
            "low",
            &[
                "find docs -name '*.md' -exec sed -i s/a/b/ {} +",
                "find . -name '*.rs' -exec rm {} \\;",
            ],
        );
        not_let_through(
            &machine,
            &[
                "find . -type f -exec cat {} +",
                "find . -name '.e*' -exec cat {} +",
                "find . -maxdepth 1 -exec cat {} +",
                "find . -exec rm -r {} +",
                "find src -name '*.rs' -exec uniq {} +",
                "find -P ~/.ssh -name '*' -exec cat {} +",
                "find ~/.ssh -type f -exec cat {} +",
                "git ls-files | find -L ~/.ssh -exec cat {} +",
                "echo README.md | find ~/.ssh -type f -exec cat {} +",
                "find . -name '*.ts' -exec sh -c 'cat {}' \\;",
                "find . -name '*.ts' -exec ./run {} \\;",
            ],
        );
    }

    #[test]
    fn tests_narrow_what_is_found() {
        let machine = project();
        all(
            &machine,
            "safe",
            &[
                "find . -name '*.ts' -not -path '*/node_modules/*' | xargs grep -n export",
                "find . -name '*.ts' ! -path './target/*' -print0 | xargs -0 grep -n export",
                "find . -type f \\( -name '*.ts' -o -name '*.tsx' \\) | xargs grep -n export",
                "find . -path ./node_modules -prune -o -name '*.ts' -print | xargs grep -n export",
                "find . \\( -name node_modules -o -name .git \\) -prune -o -type f -name '*.py' -print0 | xargs -0 wc -l",
                "find . -type f -not -name '.*' -not -path './.git/*' | xargs wc -l",
                "find . -name '*.ts' -newer README.md -size -9k -mtime -3 | xargs wc -l",
                "find . -maxdepth 2 -name '*.toml' -o -name '*.py' | xargs wc -l",
                "find . -name '*.go' -exec cat {} +",
            ],
        );
    }

    #[test]
    fn a_test_that_lets_a_secret_through_is_seen() {
        not_let_through(
            &project(),
            &[
                "find . -not -name '*.ts' | xargs cat",
                "find . -type f -not -path '*/src/*' | xargs cat",
                "find . -name '*.ts' -o -type f | xargs cat",
                "find . ! -name '*.ts' -o -name x | xargs cat",
                "find . ! \\( -name '*.ts' -o -name '*.md' \\) | xargs cat",
                "find . -name '*.ts' -print -o -print | xargs cat",
                "find . -name '*.ts' , -name '.env' | xargs cat",
                "find . -path ./src -prune -o -type f -print | xargs cat",
                "find . -path ./src -prune -o -type f | xargs cat",
                "find . -depth -name node_modules -prune -o -name '.en?' | xargs cat",
                "find . ! -name '[a-z]*' | xargs cat",
                "find . -name '[!a-z]env' | xargs cat",
                "find . -name '{x,.env}' -o -name '.en*' | xargs cat",
                "find . -empty -o -print | xargs cat",
                "find . -name '*.ts' -printf '../.ssh/id_rsa\\n' | xargs cat",
                "find . -maxdepth 9 -maxdepth 1 | xargs cat",
                "find . -regex '.*env' | xargs cat",
                "find . -iname '.ENV' | xargs cat",
            ],
        );
    }

    #[test]
    fn a_prune_that_find_may_ask_after_other_tests_leaves_nothing_out() {
        let machine = project();
        machine.write("conf/server.key", "x\n");
        machine.write("node_modules/a.ts", "export {};\n");
        symlink("server.key", machine.project().join("conf/link.ts")).expect("a link");
        not_let_through(
            &machine,
            &[
                "find . \\( \\( -prune -or ! -prune -or -name node_modules -o -iname conf \\) -type l \\) -exec cat {} +",
                "find . \\( \\( -prune -o ! -prune -o -name x \\) -type l \\) | xargs cat",
                "find . \\( -name conf -prune -o -iname conf \\) -o -name '*.key' | xargs cat",
                "find . -not \\( -name conf -prune \\) -type l | xargs cat",
                "find . \\( ! -name conf -o -prune \\) -type l | xargs cat",
                "find . -name conf -prune -o -newer x -o -type l | xargs cat",
            ],
        );
        all(
            &machine,
            "safe",
            &[
                "find . -path ./conf -prune -o -name '*.ts' -print | xargs grep x",
                "find . -path ./conf -prune -o -name '*.ts' | xargs grep x",
                "find . -path ./node_modules -prune -o -path ./conf -prune -o -name '*.ts' -print | xargs grep x",
                "find . \\( -name node_modules -o -name conf \\) -prune -o -type f -print -o -type l -print | grep -v '/\\.' | xargs true",
                "find . -type d -name conf -prune -o -type l -print | xargs cat",
                "find . -name conf -prune -o -newer README.md -name '*.ts' -print | xargs cat",
                "find . -type d \\( -name node_modules -o -name conf \\) -prune -o -name '*.ts' -print | xargs cat",
            ],
        );
    }

    #[test]
    fn links_that_are_found_are_what_they_lead_to() {
        let machine = project();
        symlink("../../.ssh/id_rsa", machine.project().join("src/key.ts")).expect("a link");
        not_let_through(
            &machine,
            &[
                "find . -name '*.ts' -exec cat {} +",
                "find src -name 'key*' | sort | xargs cat",
                "cat $(find src -name '*.ts')",
                "cat $(ls src/*.ts)",
                "for f in $(ls src); do cat src/$f; done",
            ],
        );
        all(&machine, "safe", &["find src -type f -name '*.ts' -exec cat {} +"]);
    }

    #[test]
    fn more_files_than_are_listed_are_known_by_the_pattern_of_their_names() {
        let machine = project();
        for number in 0..300 {
            machine.write(&format!("gen/f{number}.ts"), "export {};\n");
        }
        all(
            &machine,
            "safe",
            &[
                "find . -name '*.ts' -exec grep -l export {} +",
                "find . \\( -name '*.ts' -o -name '*.tsx' \\) -not -path '*/node_modules/*' | xargs wc -l",
            ],
        );
        not_let_through(
            &machine,
            &[
                "find . -name '*.ts' -o -newer x -exec cat {} +",
                "find . ! -name '*.ts' -o -name '*.ts' -exec cat {} + -o -exec cat {} +",
                "find . -type f | xargs cat",
                "find . -name '*.ts' -exec rm {} +",
            ],
        );
        machine.write("gen/.env.ts", "TOKEN=x\n");
        machine.write("gen/server.key", "x\n");
        not_let_through(
            &machine,
            &["find . \\( -name '*.ts' -o -name '*.key' \\) -exec cat {} +"],
        );
    }

    #[test]
    fn an_earlier_command_may_make_what_is_found() {
        not_let_through(
            &project(),
            &[
                "ln -s ../../.ssh/id_rsa src/x.ts; find src -name '*.ts' -exec cat {} +",
                "ln -s ../../.ssh/id_rsa src/x.ts && cat $(git ls-files src)",
                "cat $(ln -s ../../.ssh/id_rsa src/x.ts) $(ls src/*.ts)",
                "for f in $(ln -s ../../.ssh/id_rsa src/x.ts) $(ls src); do cat src/$f; done",
            ],
        );
    }
}

mod searched {
    use super::*;

    #[test]
    fn what_rg_and_grep_list_they_found_where_they_look() {
        let machine = project();
        all(
            &machine,
            "safe",
            &[
                "rg --files | xargs wc -l",
                "rg -l export | xargs wc -l",
                "rg --files -g '*.ts' src docs | xargs wc -l",
                "grep -rl export src docs | xargs head -3",
                "grep -rl export --include='*.ts' src | xargs wc -l",
                "grep -l export src/*.ts | xargs wc -l",
                "git grep -l export | xargs wc -l",
                "git grep -il export -- src | xargs wc -l",
            ],
        );
        all(&machine, "low", &["grep -rl export src | xargs sed -i 's/a/b/g'"]);
        not_let_through(
            &machine,
            &[
                "rg --files --hidden | xargs cat",
                "rg -l TOKEN -g '.env' | xargs cat",
                "rg -l TOKEN -g '*env' | xargs cat",
                "rg -uuu -l TOKEN | xargs cat",
                "grep -rl TOKEN . | xargs cat",
                "git grep -l x HEAD | xargs cat",
                "git grep -l --no-index TOKEN | xargs cat",
                "git grep -l --untracked TOKEN | xargs cat",
                "git grep -O -l x | xargs cat",
                "echo x | rg -l x | xargs cat",
                "echo x | grep -l x | xargs cat",
                "cd src && git grep -l --full-name x | xargs cat",
            ],
        );
    }

    #[test]
    fn rg_takes_every_operand_for_a_path_where_it_lists_files() {
        let machine = project();
        machine.write("logs/server.key", "x\n");
        all(
            &machine,
            "safe",
            &[
                "rg --files src | xargs wc -l",
                "rg src --files | xargs wc -l",
                "rg src docs --files -g '*.ts' | xargs wc -l",
                "rg -l foo src | xargs wc -l",
                "rg foo -l src | xargs wc -l",
            ],
        );
        does(&machine, "rg src --files | xargs cat", "read src/app.ts");
        not_let_through(
            &machine,
            &[
                "rg .env --files | xargs cat",
                "rg --files .env | xargs cat",
                "rg /etc --files | xargs cat",
                "cat $(rg / --files)",
                "for f in $(rg /etc --files); do cat $f; done",
                "rg -l x --files logs | xargs cat",
                "rg -l logs --files src | xargs cat",
                "rg logs src --files | xargs cat",
                "rg --files ~/.ssh | xargs cat",
            ],
        );
    }

    #[test]
    fn a_file_that_an_ignore_file_takes_back_is_listed_too() {
        let machine = project();
        machine.write(".ignore", "!.env\n");
        not_let_through(&machine, &["rg --files | xargs cat", "rg -l TOKEN | xargs cat"]);
    }

    #[test]
    fn ignored_directories_are_passed_by_only_where_rg_does() {
        let machine = project();
        for number in 0..200 {
            machine.write(&format!("target/f{number}"), "x\n");
        }
        machine.write("target/id_rsa.key", "x\n");
        all(&machine, "safe", &["rg --files | xargs wc -l"]);
        not_let_through(
            &machine,
            &["rg --files target | xargs cat", "rg --files -uu | xargs cat"],
        );
        machine.write("sub/target/server.key", "x\n");
        all(&machine, "safe", &["rg --files | xargs wc -l"]);
        std::fs::create_dir_all(machine.project().join("sub/.git")).expect("a directory");
        not_let_through(&machine, &["rg --files sub | xargs cat"]);
    }

    #[test]
    fn a_name_in_colour_is_another_name() {
        let machine = project();
        std::fs::create_dir_all(machine.project().join("\u{1b}[35msrc")).expect("a directory");
        not_let_through(&machine, &["git grep -l export | xargs cat"]);
    }
}

mod tracked {
    use super::*;

    #[test]
    fn paths_that_git_is_asked_for_are_compared_as_git_does() {
        let machine = project();
        machine.write("conf/server.key", "x\n");
        machine.write("\u{e9}.pem", "x\n");
        machine.git(&["add", "-f", ".env", "conf/server.key", "\u{e9}.pem"]);
        machine.git(&["commit", "-q", "-m", "secrets"]);
        all(
            &machine,
            "safe",
            &[
                "git ls-files -z ./src | xargs -0 cat",
                "git ls-files -z src/ README.md | xargs -0 cat",
                "git ls-files -z ./src/./ src//app.ts | xargs -0 cat",
                "git ls-files -z 'src/*.ts' | xargs -0 wc -l",
                "cd src && git ls-files -z . | xargs -0 wc -l",
            ],
        );
        does(
            &machine,
            "git ls-files -z ./src//app.ts | xargs -0 cat",
            "read src/app.ts",
        );
        not_let_through(
            &machine,
            &[
                "git ls-files -z README.md ./.env | xargs -0 cat",
                "git ls-files -z README.md .//.env | xargs -0 cat",
                "git ls-files -z README.md ./conf | xargs -0 cat",
                "git ls-files -z README.md conf/. | xargs -0 cat",
                "git ls-files -z README.md conf/./server.key | xargs -0 cat",
                "git ls-files -z README.md conf//server.key | xargs -0 cat",
                "git ls-files -z README.md './con?' | xargs -0 cat",
                "git ls-files -z README.md './c*y' | xargs -0 cat",
                "git ls-files -z README.md ./ | xargs -0 cat",
                "git ls-files -z README.md '' | xargs -0 cat",
                "git ls-files -z README.md src/../conf | xargs -0 cat",
                "git ls-files -z src '??.pem' | xargs -0 cat",
                "git ls-files -z src '[!a][!a].pem' | xargs -0 cat",
                "git ls-files -z src \u{e9}.pem | xargs -0 cat",
                "git ls-files -z src ':(icase)SERVER.KEY' | xargs -0 cat",
                "git ls-files -z src ':!src' | xargs -0 cat",
            ],
        );
    }

    #[test]
    fn paths_that_git_searches_are_compared_as_git_does() {
        let machine = project();
        machine.write("conf/server.key", "x\n");
        machine.git(&["add", "-f", "conf/server.key"]);
        machine.git(&["commit", "-q", "-m", "secrets"]);
        all(
            &machine,
            "safe",
            &[
                "git ls-files '*.rs' | xargs wc -l",
                "git ls-files src | xargs cat",
                "git ls-files ./src | xargs cat",
                "git grep -l export -- ./src | xargs wc -l",
            ],
        );
        not_let_through(
            &machine,
            &[
                "git ls-files README.md ./conf | xargs cat",
                "git grep -l x -- README.md ./conf | xargs cat",
                "git grep -l x -- README.md conf//server.key | xargs cat",
                "export GIT_ICASE_PATHSPECS=1; git ls-files README.md conf/SERVER.KEY | xargs cat",
            ],
        );
    }
}

mod filtered {
    use super::*;

    #[test]
    fn filters_of_lines_keep_some_of_the_names() {
        let machine = project();
        let reads = [
            "find src -name '*.ts' | sort | xargs wc -l",
            "find src -name '*.ts' | sort -ru | uniq | head -30 | tail -n +1 | xargs cat",
            "find . -name '*.ts' | grep -v node_modules | xargs grep -n export",
            "git ls-files | grep '\\.ts$' | xargs wc -l",
            "git ls-files -z | xargs -0 grep -l export | xargs wc -l",
            "find . -name '*.ts' | xargs grep -l export | xargs wc -l",
            "find . -name '*.ts' -print0 | xargs -0 grep -il export | sort | xargs head -3",
            "ls src/*.ts | xargs head -5",
            "git ls-files src | head -2 | while read -r f; do wc -l \"$f\"; done",
        ];
        all(&machine, "safe", &reads);
        for command in reads {
            does(&machine, command, "read src/app.ts");
        }
        all(
            &machine,
            "safe",
            &["ls | xargs wc -l", "cd src && ls *.rs | xargs wc -l"],
        );
    }

    #[test]
    fn what_changes_a_line_makes_it_unknown() {
        not_let_through(
            &project(),
            &[
                "git ls-files | sed 's/^/..\\//' | xargs cat",
                "git ls-files | cut -c2- | xargs cat",
                "git ls-files | sort -o x | xargs cat",
                "git ls-files | sort ~/.ssh/id_rsa | xargs cat",
                "git ls-files | sort --files0-from=x | xargs cat",
                "git ls-files | uniq -c | xargs cat",
                "git ls-files | head -c 9 | xargs cat",
                "git ls-files | tail -c 9 | xargs cat",
                "git ls-files | grep -o env | xargs cat",
                "git ls-files | grep -n x | xargs cat",
                "git ls-files | grep -c x | xargs cat",
                "git ls-files | grep -A1 x | xargs cat",
                "git ls-files | grep x list.txt | xargs cat",
                "git ls-files | grep -r x | xargs cat",
                "git ls-files | grep -l x | xargs cat",
                "git ls-files | grep --color=always x | xargs cat",
                "git ls-files | tr s .  | xargs cat",
                "git ls-files | xargs grep -h x | xargs cat",
                "git ls-files | xargs grep -L x | xargs cat",
                "git ls-files | xargs grep -rl x | xargs cat",
                "git ls-files | xargs -P4 grep -l x | xargs cat",
                "git ls-files | head README.md | xargs cat",
                "git ls-files | sort < list.txt | xargs cat",
                "sort() { echo ~/.ssh/id_rsa; }; git ls-files | sort | xargs cat",
                "git ls-files |& sort | xargs cat",
                "git ls-files -z | sort | xargs -0 cat",
                "ls -l src | xargs cat",
                "ls -a | xargs cat",
                "ls -R | xargs cat",
                "ls src docs | xargs cat",
                "ls -F src/*.ts | xargs cat",
                "ls -i src/*.ts | xargs cat",
            ],
        );
    }

    #[test]
    fn what_grep_says_of_names_that_are_no_text_is_no_name() {
        let machine = project();
        machine.write("src/\u{e9}t\u{e9}.ts", "export {};\n");
        not_let_through(&machine, &["find src -name '*.ts' | grep -v x | xargs cat"]);
    }

    #[test]
    fn a_name_that_a_directory_lists_is_looked_for_where_the_reader_runs() {
        let machine = project();
        symlink("../.ssh/id_rsa", machine.project().join("lib.rs")).expect("a link");
        not_let_through(&machine, &["ls src | xargs cat", "cat $(ls src)"]);
        all(&machine, "safe", &["cd src && cat $(ls)"]);
    }
}

mod substituted {
    use super::*;

    #[test]
    fn the_words_of_a_command_may_be_a_list_that_another_prints() {
        let machine = project();
        let reads = [
            "wc -l $(git ls-files '*.ts')",
            "grep -n export $(find src -name '*.ts')",
            "cat $(ls src/*.ts) README.md",
            "head -3 $(git ls-files | grep 'ts$' | head -9)",
            "for f in $(git ls-files '*.ts'); do wc -l \"$f\"; done",
            "for f in $(git ls-files | grep 'ts$'); do wc -l $f; done",
            "cd src && wc -l $(git ls-files '*.ts')",
        ];
        all(&machine, "safe", &reads);
        for command in reads {
            does(&machine, command, "read src/app.ts");
        }
        all(
            &machine,
            "safe",
            &["for d in $(ls crates); do cat crates/$d/Cargo.toml; done"],
        );
    }

    #[test]
    fn a_danger_that_only_some_number_of_words_makes_is_seen() {
        let machine = project();
        not_let_through(
            &machine,
            &[
                "uniq $(ls src/*.rs)",
                "cp $(git ls-files '*.ts') notes.txt",
                "mv $(ls src/*.ts)",
                "rm -r $(git ls-files none) src",
                "find $(ls -d none) -name '*.rs' -delete",
                "cd $(ls -d src); cat letter.txt",
                "$(ls scripts/*.sh) README.md",
                "bash $(ls scripts/*.sh)",
                "bash $(git ls-files none)",
                "echo ./x | xargs -I $(pgrep none) {} {}",
                "git checkout $(git ls-files none) .",
                "sudo $(git ls-files '*.ts')",
                "cat > $(git ls-files README.md)",
                "x=$(git ls-files); cat $x",
                "cat $(git ls-files) $(cat list.txt)",
            ],
        );
        machine.write("mine.txt", "mine\n");
        assert_eq!(judged(&machine, "rm $(ls mine.txt)").tier, Tier::High);
        assert!(judged(&machine, "cat $(find . -name .env)").tier >= Tier::High);
    }

    #[test]
    fn names_that_a_shell_splits_or_matches_or_reads_as_options_are_not_let_through() {
        for name in [
            "a b.ts", "-n.ts", "x*.ts", "x?.ts", "y[1].ts", "q'.ts", "b\\.ts", "n\nl.ts",
        ] {
            let machine = project();
            machine.write(name, "x\n");
            machine.git(&["add", "-A"]);
            not_let_through(
                &machine,
                &[
                    "sort $(git ls-files '*.ts')",
                    "for f in $(git ls-files '*.ts'); do sort $f; done",
                    "cat $(ls *.ts | sort)",
                    "sort $(ls)",
                ],
            );
        }
        not_let_through(
            &project(),
            &[
                "IFS=/; cat $(git ls-files)",
                "cat \"$(git ls-files)\"",
                "ls() { echo ../.ssh/id_rsa; }; cat $(ls src/*.ts)",
                "alias ls='echo ../.ssh/id_rsa'; cat $(ls src/*.ts)",
            ],
        );
    }
}

mod numbers {
    use super::*;

    #[test]
    fn hashes_that_git_prints_are_no_options_and_no_paths() {
        all(
            &project(),
            "safe",
            &[
                "git diff \"$(git merge-base main HEAD)\" --stat",
                "git diff $(git merge-base main HEAD)",
                "BASE=$(git merge-base main HEAD); git diff $BASE",
                "BASE=$(git merge-base main HEAD) && git diff --stat $BASE HEAD",
                "BASE=$(git merge-base main HEAD); git log --oneline \"$BASE..HEAD\"",
                "git log --oneline $(git merge-base origin/main HEAD)..HEAD",
                "git show --stat $(git rev-parse HEAD~1)",
                "for c in $(git rev-list -3 HEAD); do git show --stat \"$c\"; done",
                "git rev-list --max-count=3 HEAD | xargs -n1 git show --stat",
                "ps -p $(pgrep -f node)",
                "docker logs $(docker ps -lq)",
                "for i in $(seq 1 3); do sed -n \"${i}p\" README.md; done",
            ],
        );
    }

    #[test]
    fn what_is_no_bare_hash_or_may_be_nothing_where_that_matters_is_stopped() {
        let machine = project();
        not_let_through(
            &machine,
            &[
                "rm -rf \"$(git rev-parse HEAD)\"/src",
                "rm -rf $(git merge-base main HEAD)/src",
                "rm -rf \"src/$(git rev-parse HEAD)\"",
                "cat \"$(git merge-base main HEAD)\"/etc/passwd",
                "cat $(git rev-parse HEAD).env",
                "rg TODO $(git rev-parse HEAD)-x",
                "git rev-list --boundary HEAD | xargs git show",
                "git diff $(git rev-list --format=%s HEAD)",
                "git diff $(git rev-parse --abbrev-ref HEAD)",
                "git diff $(git rev-parse --git-dir)",
                "git diff $(git rev-parse -- --output=x)",
                "git diff $(git branch --show-current)",
                "git diff $(git describe)",
                "git diff $(git log --format=%s -1)",
                "git checkout $(git rev-parse HEAD~1)",
                "git reset --hard $(git merge-base main HEAD)",
                "kill $(pgrep node)",
                "kill $(lsof -ti:3000)",
                "docker rm -f $(docker ps -aq)",
                "docker ps -q --format='{{.Names}}' | xargs docker logs",
                "ps -p $(pgrep -l node)",
                "ps $(git rev-parse HEAD)",
                "git() { echo --output=x; }; git diff $(git rev-parse HEAD)",
                "PATH=.:$PATH; ps -p $(pgrep node)",
                "IFS=0; BASE=$(git rev-parse HEAD); git diff $BASE",
                "BASE=$(git merge-base main HEAD); BASE+=x; git diff $BASE",
                "BASE=$(git merge-base main HEAD) x; read BASE; git diff $BASE",
                "curl localhost:$(pgrep node)",
            ],
        );
        symlink("../.ssh/id_rsa", machine.project().join("cafe")).expect("a link");
        symlink("../.ssh/id_rsa", machine.project().join("HEAD")).expect("a link");
        not_let_through(
            &machine,
            &[
                "cat $(git merge-base main HEAD)",
                "cat $(git rev-parse HEAD)",
                "for c in $(git rev-list -3 HEAD); do cat $c; done",
                "git rev-list -3 HEAD | xargs cat",
            ],
        );
    }

    #[test]
    fn options_that_print_more_than_numbers_are_none_of_these() {
        let machine = project();
        all(
            &machine,
            "safe",
            &[
                "ps -p $(pgrep node)",
                "lsof -ti:3000 | xargs ps -p",
                "lsof -ti :3000 | xargs ps -p",
                "lsof -t -i tcp:3000 -sTCP:LISTEN | xargs ps -p",
                "lsof -t README.md | xargs ps -p",
            ],
        );
        not_let_through(
            &machine,
            &[
                "lsof -t '+r1m/home/dev' README.md | xargs cat",
                "lsof -t '+r1m/home/dev' README.md | xargs rm -rf",
                "cat $(lsof -t '+r1mserver.key' README.md)",
                "lsof -ti+r1mserver.key | xargs cat",
                "lsof -t -i+r1mserver.key | xargs cat",
                "lsof -t -i-Fn | xargs cat",
                "lsof -ti -Fn | xargs cat",
                "lsof README.md -t | xargs cat",
                "pgrep -d/ node | xargs cat",
                "pgrep node -l | xargs cat",
                "seq -f README.md 2 | xargs cat",
                "seq 2 -s/ | xargs cat",
                "docker ps -q --no-trunc --format x | xargs cat",
            ],
        );
    }

    #[test]
    fn one_number_is_only_what_no_later_option_makes_several() {
        let machine = project();
        all(
            &machine,
            "safe",
            &[
                "X=$(git rev-list -3 -1 HEAD); git show --stat $X",
                "X=$(pgrep -n node); ps -p $X",
            ],
        );
        not_let_through(
            &machine,
            &[
                "X=$(git rev-list -1 -3 HEAD); git show --stat $X",
                "X=$(pgrep -nv node); ps -p $X",
            ],
        );
    }

    #[test]
    fn a_revision_that_is_not_found_is_printed_as_it_is() {
        let machine = project();
        all(
            &machine,
            "safe",
            &[
                "git show $(git rev-parse HEAD)",
                "git show --stat $(git rev-parse @)",
                "git show --stat $(git rev-parse HEAD~2^)",
                "git log --oneline $(git rev-parse @{u})..HEAD",
                "git show --stat $(git rev-parse --short main)",
                "git show --stat $(git rev-parse --verify main)",
            ],
        );
        machine.write("notes.txt", "mine\n");
        machine.write("HEAD.txt", "mine\n");
        symlink("../.ssh/id_rsa", machine.project().join("head~9")).expect("a link");
        not_let_through(
            &machine,
            &[
                "X=$(git rev-parse notes); rm $X.txt",
                "X=$(git rev-parse HEAD); rm $X.txt",
                "cd docs; X=$(git rev-parse server.key); cd ..; cat $X",
                "cd docs; X=$(git rev-parse HEAD~9); cd ..; cat $X",
                "git show $(git rev-parse main)",
                "git show $(git rev-parse HEAD^@)",
                "git show $(git rev-parse --verify HEAD^@)",
                "git show $(git rev-parse HEAD^-)",
                "git show $(git rev-parse --short HEAD^-1)",
                "git show $(git rev-parse --short main..HEAD)",
                "git show $(git rev-parse @notes)",
            ],
        );
    }
}
