//! What the turns of a loop go through: counters, directories, lines and names. A danger in any turn is seen.

use countersign::effect::Tier;

use crate::{Machine, all, does, judged, not_let_through};

mod counters {
    use super::*;

    #[test]
    fn what_only_counts_is_a_number() {
        all(
            &Machine::new(),
            "safe",
            &[
                "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
                "i=0; while [ \"$i\" -lt 3 ]; do cat \"log$i.txt\"; i=$(($i + 1)); done",
                "i=1; until [ $i -gt 9 ]; do head -n $i README.md; i=$((i+2)); done; echo $i",
                "for ((i=0; i<5; i++)); do cat src/part$i.rs; done",
                "n=0; for f in src/*; do n=$((n+1)); done; echo $n",
                "n=0; for f in a b; do ((n++)); done; [[ $n -gt 1 ]] && echo many",
                "n=0; m=0; for f in a b; do n=$((m+1)); m=$n; done; echo $m",
                "i=0; for a in 1 2; do j=0; while [ $j -lt 2 ]; do echo $i$a; j=$((j+1)); done; i=$((i+1)); done",
                "x=README.md; echo ${#x}; head -n ${#x} README.md",
            ],
        );
    }

    #[test]
    fn a_file_with_a_number_in_its_name_is_every_one_that_there_is() {
        let machine = Machine::new();
        machine.link("log7.txt", "../.ssh/id_rsa");
        let reads = "i=0; while [ $i -lt 9 ]; do cat log$i.txt; i=$((i+1)); done";
        assert_eq!(judged(&machine, reads).tier, Tier::High);
        all(
            &machine,
            "safe",
            &["i=0; for f in a b; do cat logs$i.txt; i=$((i+1)); done"],
        );
        // The directory in which the name is looked for is that of the command.
        machine.link("src/log3.txt", "../../.ssh/id_rsa");
        not_let_through(
            &machine,
            &[
                "i=1; for f in a b; do env -C src cat log$i.txt; i=$((i+1)); done",
                "i=1; for f in a b; do i=$((i+1)); x=log$i.txt; (cd src && cat $x); done",
                "i=1; for f in a b; do i=$((i+1)); (cd src && cat < log$i.txt); done",
                "i=1; for f in a b; do i=$((i+1)); for x in log$i.txt; do (cd src && cat $x); done; done",
            ],
        );
    }

    #[test]
    fn a_number_that_may_get_a_sign_or_other_letters_is_none() {
        not_let_through(
            &Machine::new(),
            &[
                "i=9; while true; do cat x$i -n$i \"$i\"; i=$((i-1)); done",
                "i=9; while true; do rg TODO $i; i=$((i*10)); done",
                "i=1; while true; do rg TODO $i; i=$((i+i)); done",
                "i=a; while true; do rg TODO $i; i=$((i+1)); done",
                "i=0; while read i; do rg TODO $i; i=$((i+1)); done < list.txt",
                "i=0; for f in a b; do rg TODO $i; j=$((i+1)); i=$x; done",
                "i=0; for f in a b; do rg TODO $i; eval \"$x\"; done",
                "i=0; for f in a b; do rg TODO \"$i\"; i=--pre=./x; done",
                "for f in a b; do rg TODO $i; i=$((i+1)); done",
            ],
        );
    }

    #[test]
    fn a_number_is_no_port_mode_or_process_that_is_known() {
        not_let_through(
            &Machine::new(),
            &[
                "i=0; while true; do curl localhost:$i; i=$((i+1)); done",
                "i=0; while true; do chmod $i README.md; i=$((i+1)); done",
                "i=0; while true; do kill $i; i=$((i+1)); done",
                "i=0; while true; do rm src/main$i.rs; i=$((i+1)); done",
            ],
        );
    }

    #[test]
    fn what_a_counted_name_overwrites_or_deletes_is_seen() {
        let machine = Machine::new();
        machine.write("out4.txt", "mine\n");
        all(
            &machine,
            "high",
            &[
                "i=0; while [ $i -lt 9 ]; do echo x > out$i.txt; i=$((i+1)); done",
                "i=0; while [ $i -lt 9 ]; do rm out$i.txt; i=$((i+1)); done",
                "i=0; while [ $i -lt 9 ]; do cp README.md out$i.txt; i=$((i+1)); done",
            ],
        );
    }
}

mod directories {
    use super::*;

    #[test]
    fn a_loop_over_directories_enters_each() {
        let machine = Machine::new();
        let looks = [
            "for d in src docs; do (cd \"$d\" && ls); done",
            "for d in src docs; do (cd $d && git status); done",
            "for d in src docs; do cd $d && ls; cd ..; done",
            "for d in src docs; do pushd $d; ls; popd; done",
        ];
        all(&machine, "safe", &looks);
        for command in looks {
            does(&machine, command, "inspect docs");
        }
        does(
            &machine,
            "for d in docs src; do (cd $d && cat main.rs); done",
            "read src/main.rs",
        );
    }

    #[test]
    fn each_turn_begins_where_the_last_one_ended() {
        let machine = Machine::new();
        does(
            &machine,
            "for d in src ../.. .ssh; do cd $d; done; cat id_rsa",
            "read ~/.ssh/id_rsa",
        );
        assert_eq!(
            judged(&machine, "for d in src ../.. .ssh; do cd $d; cat id_rsa; done").tier,
            Tier::High
        );
        not_let_through(
            &machine,
            &[
                "for d in src docs; do [ -f x ] && continue; cd $d; cat main.rs; cd ..; done",
                "for d in .. docs; do [ -f x ] && break; cd $d; done; cat letter.txt",
                "for d in src \"$x\"; do (cd \"$d\" && cat main.rs); done",
                "for d in ..; do (cd $d && cat letter.txt); done",
            ],
        );
    }
}

mod names {
    use super::*;

    #[test]
    fn what_a_program_prints_as_paths_are_these_files() {
        let machine = Machine::new();
        let reads = [
            "for f in $(git ls-files); do wc -l \"$f\"; done",
            "for f in $(find src -name '*.rs'); do head -5 $f; done",
            "for f in $(find src -name '*.rs'); do if grep -q main \"$f\"; then echo $f; fi; done",
        ];
        all(&machine, "safe", &reads);
        for command in reads {
            does(&machine, command, "read src/main.rs");
        }
        assert_eq!(
            judged(&machine, "for f in $(git ls-files); do rm $f; done").tier,
            Tier::High
        );
        not_let_through(&machine, &["for f in $(find . -name .env); do cat $f; done"]);
    }

    #[test]
    fn names_that_the_shell_would_split_or_match_are_not_known() {
        for name in ["a b.rs", "-rf", "src/*", "x[1].rs", "q'.rs"] {
            let machine = Machine::new();
            machine.write(name, "x\n");
            machine.git(&["add", "-A"]);
            not_let_through(&machine, &["for f in $(git ls-files); do wc -l $f; done"]);
        }
        not_let_through(
            &Machine::new(),
            &[
                "IFS=m; for f in $(git ls-files); do wc -l $f; done",
                "git() { echo /etc/shadow; }; for f in $(git ls-files); do cat $f; done",
                "echo x > new; for f in $(git ls-files); do cat $f; done",
                "for f in \"$(git ls-files)\"; do cat $f; done",
            ],
        );
    }
}

mod lines {
    use super::*;

    #[test]
    fn the_lines_that_a_loop_reads_are_those_of_its_input() {
        let machine = Machine::new();
        machine.write("list.txt", "README.md\nsrc/main.rs\n");
        let reads = [
            "while read -r f; do wc -l \"$f\"; done < list.txt",
            "while IFS= read -r f; do head -5 \"$f\"; done < list.txt",
            "while IFS= read -r f || [ -n \"$f\" ]; do cat $f; done < list.txt",
            "git ls-files | while read -r f; do wc -l \"$f\"; done",
            "find src -name '*.rs' | while read f; do grep -c fn \"$f\"; done",
            "find src -name '*.rs' | while read -r f; do n=$(wc -l < \"$f\"); echo \"$f $n\"; done",
            "while read -r f; do if [ -f \"$f\" ]; then cat \"$f\"; fi; done <<'E'\nsrc/main.rs\nE",
        ];
        all(&machine, "safe", &reads);
        for command in reads {
            does(&machine, command, "read src/main.rs");
        }
    }

    #[test]
    fn a_danger_in_a_line_is_seen() {
        let machine = Machine::new();
        machine.write("list.txt", "README.md\n../../.ssh/id_rsa\n");
        machine.write_home(".ssh/known", "");
        machine.write("rules.txt", "README.md\n../.ssh/id_rsa\n");
        assert_eq!(
            judged(&machine, "while read -r f; do cat \"$f\"; done < rules.txt").tier,
            Tier::High
        );
        machine.write("gone.txt", "notes.txt\n");
        all(&machine, "high", &["while read -r f; do rm \"$f\"; done < gone.txt"]);
        machine.write("options.txt", "README.md\n--pre=./x\n");
        not_let_through(&machine, &["while read -r f; do rg TODO \"$f\"; done < options.txt"]);
    }

    #[test]
    fn where_something_else_may_read_a_part_of_a_line_no_line_is_known() {
        let machine = Machine::new();
        machine.write("list.txt", "x/etc/passwd\n");
        not_let_through(
            &machine,
            &[
                "while read -r f; do cat \"$f\"; head -c 1; done < list.txt",
                "while read -r f; do cat \"$f\"; dd bs=1 count=1; done < list.txt",
                "while read -r f; do cat \"$f\"; x=$(head -c 1); done < list.txt",
                "while read -r f; do cat \"$f\"; read -r -n 1 g; done < list.txt",
                "while read -r f; do cat \"$f\"; ssh host ls; done < list.txt",
                "while read -r f; do cat \"$f\"; sed 1q; done < list.txt",
                "while read -r f; do cat \"$f\"; f=-; head -c 1 \"$f\"; done < list.txt",
                "while read -r -n 3 f; do cat \"$f\"; done < list.txt",
                "while read -r -d x f; do cat \"$f\"; done < list.txt",
                "while read -r f g; do cat \"$f\"; done < list.txt",
                "while IFS=x read -r f; do cat \"$f\"; done < list.txt",
                "IFS=x; while read -r f; do cat \"$f\"; done < list.txt",
                "echo y > list.txt; while read -r f; do cat \"$f\"; done < list.txt",
                "read() { f=/etc/shadow; }; while read -r f; do cat \"$f\"; done < list.txt",
                "cat /etc/hosts | while read -r f; do cat \"$f\"; done < list.txt",
                "while read -r f; do cat \"$f\"; done < ../letter.txt",
                "while read f; do cat \"$f\"; done <<'E'\nx\\\n/etc/shadow\nE",
            ],
        );
        machine.write("list.txt", "-\nx/etc/passwd\n");
        not_let_through(&machine, &["while read -r f; do head -c 1 \"$f\"; done < list.txt"]);
    }
}

mod positional {
    use super::*;

    #[test]
    fn the_words_behind_a_shells_code_are_its_parameters() {
        let machine = Machine::new();
        let reads = [
            "bash -c 'cat \"$1\"' _ src/main.rs",
            "bash -c 'cat \"$@\"' _ README.md src/main.rs",
            "sh -c 'cat \"$0\"' src/main.rs",
            "sh -c 'cat $2' _ README.md src/main.rs",
            "bash -c 'for f; do cat \"$f\"; done' _ README.md src/main.rs",
            "bash -c 'for f in \"$@\"; do cat \"$f\"; done' _ src/main.rs",
            "bash -c 'cd src && cat \"$1\"' _ main.rs",
        ];
        all(&machine, "safe", &reads);
        for command in reads {
            does(&machine, command, "read src/main.rs");
        }
        all(
            &machine,
            "safe",
            &[
                "find src -name '*.rs' -exec sh -c 'wc -l \"$1\"' _ {} \\;",
                "find src -name '*.rs' -print0 | xargs -0 -n1 sh -c 'wc -l \"$0\"'",
                "find src -name '*.rs' | xargs -I{} bash -c 'head -3 \"$1\"' _ {}",
                "bash -c 'echo $#' _ a b",
            ],
        );
    }

    #[test]
    fn a_danger_among_them_is_seen() {
        let machine = Machine::new();
        all(
            &machine,
            "critical",
            &[
                "bash -c 'rm -rf \"$1\"' _ /",
                "bash -c 'rm -rf \"$@\"' _ x ~",
                "sh -c 'rm -rf \"$0\"' ~",
                "bash -c '\"$@\"' _ rm -rf /",
                "bash -c 'bash -c \"$1\"' _ 'rm -rf /'",
            ],
        );
        assert_eq!(
            judged(&machine, "bash -c 'cat \"$1\"' _ ~/.ssh/id_rsa").tier,
            Tier::High
        );
        not_let_through(
            &machine,
            &[
                "bash -c 'rg TODO $1' _ --pre=./x",
                "bash -c 'rg TODO \"$1\"' _ --pre=./x",
            ],
        );
    }

    #[test]
    fn once_they_may_have_changed_they_are_not_known() {
        not_let_through(
            &Machine::new(),
            &[
                "bash -c 'shift; cat \"$1\"' _ README.md /etc/shadow",
                "bash -c 'set -- /etc/shadow; cat \"$1\"' _ README.md",
                "bash -c 'for x in a b; do cat \"$1\"; shift; done' _ README.md /etc/shadow",
                "bash -c 'f() { cat \"$1\"; }; f /etc/shadow' _ README.md",
                "bash -c 'eval \"$x\"; cat \"$1\"' _ README.md",
                "bash -c 'cat \"$1\"' _ $WHERE",
                "bash -c 'cat \"$1\"' $WHERE README.md",
                "bash -s README.md <<< 'cat \"$1\"'",
                "cat \"$1\"",
            ],
        );
    }
}

mod turns {
    use super::*;

    #[test]
    fn a_loop_over_names_of_the_machine_enters_each() {
        let machine = Machine::new();
        machine.write("crates/one/Cargo.toml", "[package]\n");
        machine.write("crates/two/Cargo.toml", "[package]\n");
        let looks = [
            "for d in crates/*; do (cd $d && cat Cargo.toml); done",
            "for d in crates/*/; do (cd \"$d\" && cat Cargo.toml && git log -1 --oneline .); done",
            "for d in $(ls crates); do (cd crates/$d && cat Cargo.toml); done",
            "for d in crates/*; do cd \"$d\"; cat Cargo.toml; cd -; done",
            "for d in crates/*; do cd $d; cat Cargo.toml; cd ../..; done; cat README.md",
        ];
        all(&machine, "safe", &looks);
        for command in looks {
            does(&machine, command, "read crates/two/Cargo.toml");
        }
        machine.link("crates/three", "../../.ssh");
        not_let_through(
            &machine,
            &[
                "for d in crates/*; do (cd $d && cat id_rsa); done",
                "for d in crates/*/; do cd $d; cat id_rsa; cd -; done",
            ],
        );
    }

    #[test]
    fn where_the_order_of_the_turns_matters_nothing_is_known() {
        let machine = Machine::new();
        machine.write("a/b/letter.txt", "x\n");
        machine.write("b/letter.txt", "x\n");
        not_let_through(
            &machine,
            &[
                "for d in */; do cd $d; done; cat ../letter.txt",
                "for d in *; do cd ..; cat letter.txt; done",
                "for d in */; do cd $d && cat x && cd ..; done",
                "for d in *; do cat x/main.rs; (cd $d; ln -s ../../.ssh x); done",
                "for d in */; do [ -f x ] && break; cd $d; cat id_rsa; cd ..; done",
                "for d in *; do (cd $d && eval \"$x\"); done",
            ],
        );
    }

    #[test]
    fn a_variable_of_the_loop_may_name_what_runs() {
        let machine = Machine::new();
        all(
            &machine,
            "safe",
            &[
                "for c in node docker git; do $c --version; done",
                "for c in ls wc; do \"$c\" README.md; done",
            ],
        );
        not_let_through(
            &machine,
            &[
                "for c in git rm; do $c --version; $c notes.txt; done",
                "for c in ls sh; do $c ./x; done",
                "for c in 'rm notes.txt' ls; do $c; done",
                "for c in eval . source exec; do $c README.md; done",
                "for c in ls; do c=./x; $c; done",
                "for c in ls; do $d README.md; done",
                "for c in ls; do read c; $c; done",
                "for c in ls \"$x\"; do $c; done",
                "ls() { cat ~/.ssh/id_rsa; }; for c in ls; do $c; done",
                "for c in src/*; do $c; done",
                "for c in $(cat list.txt); do $c; done",
            ],
        );
    }
}

mod functions {
    use super::*;

    #[test]
    fn the_words_of_a_call_are_the_parameters_of_a_function() {
        let machine = Machine::new();
        let reads = [
            "f() { wc -l \"$1\"; }; f src/main.rs",
            "f() { cat \"$@\"; }; f README.md src/main.rs",
            "show() { echo \"== $1\"; head -3 \"$1\"; }; show README.md; show src/main.rs",
            "show() { head -3 \"$1\"; }; for f in README.md src/main.rs; do show \"$f\"; done",
            "show() { head -3 \"$1\"; }; for f in src/*.rs; do show \"$f\"; done",
            "show() { local name=$1; head -3 \"$name\"; }; show src/main.rs",
            "f() { g \"$1\"; }; g() { cat \"$1\"; }; f src/main.rs",
            "f() { cd \"$1\" && cat main.rs; }; f src",
            "f() { if [ -f \"$1\" ]; then cat \"$1\"; fi; }; f src/main.rs && f README.md",
        ];
        all(&machine, "safe", &reads);
        for command in reads {
            does(&machine, command, "read src/main.rs");
        }
    }

    #[test]
    fn a_danger_in_any_call_is_seen() {
        let machine = Machine::new();
        all(
            &machine,
            "critical",
            &[
                "f() { rm -rf \"$1\"; }; f x; f ~",
                "f() { g \"$1\"; }; g() { rm -rf \"$1\"; }; f ~",
            ],
        );
        for command in [
            "f() { cat \"$1\"; }; f README.md; f ~/.ssh/id_rsa",
            "f() { cat \"$1\"; }; f README.md; f ~/.ssh/id_rsa | head",
            "f() { cat \"$1\"; }; f README.md; x=$(f ~/.ssh/id_rsa)",
            "f() { cat \"$1\"; }; f README.md; trap 'f ~/.ssh/id_rsa' EXIT",
            "f() { cat \"$1\"; }; f README.md; eval 'f ~/.ssh/id_rsa'",
            "f() { cat \"$2\"; }; f README.md ~/.ssh/id_rsa",
            "f() { cat \"$1\"; cat ~/.ssh/id_rsa; }; f README.md",
            "f() { cat \"$1\"; }; f README.md; f() { rm \"$1\"; }; f notes.txt",
            "f() { rm -rf \"$1\"; }; f none; [ -d x ] && f() { :; }; f src",
        ] {
            assert!(judged(&machine, command).tier >= Tier::High, "{command}");
        }
    }

    #[test]
    fn where_a_call_or_its_words_are_not_known_nothing_is() {
        let machine = Machine::new();
        not_let_through(
            &machine,
            &[
                "f() { cat \"$1\"; }; f $WHERE",
                "f() { cat \"$1\"; }",
                "f() { shift; cat \"$1\"; }; f README.md letter.txt",
                "f() { set -- ~/letter.txt; cat \"$1\"; }; f README.md",
                "f() { cat \"$1\"; }; f README.md; echo .env | xargs f",
                "f() { cat \"$1\"; }; [ -d x ] && f() { :; }; f README.md",
                "[ -d x ] && f() { cat \"$1\"; }; f README.md",
                "f() { cat \"$1\"; }; export -f f; bash -c 'f ../letter.txt'",
                "f() { X=$1; }; f README.md; [ -d x ] && f ../letter.txt; cat $X",
                "f() { [ -d x ] && return; cd ..; }; f; cat letter.txt",
                "f() { cd ..; }; f; cat letter.txt",
                "f() { f; f; }; f",
                "f() { cat $1; }; f 'README.md ../letter.txt'",
                "f() { rg TODO $1; }; f --pre=./x",
                "f() { cat \"$1\"; }; unset -f f; f README.md",
            ],
        );
    }
}
