//! Commands that are read wholly in Rust.

use super::*;
use crate::catalog::Reading;
use crate::shell::{Arg, Value};

fn with(start: &str, more: &[Arg]) -> Reading {
    let words: Vec<_> = start.split(' ').map(word).chain(more.iter().cloned()).collect();
    command(&words)
}

#[test]
fn find_looks_at_names_below_its_starting_points() {
    let reading = line("find src tests -type f -name *.rs -not -path ./target/* -newermt 2026-01-01 -print0");
    assert_eq!(
        uses(&reading),
        [
            "path-inspect src",
            "path-inspect tests",
            "tree-filter *.rs",
            "tree-filter ./target/*"
        ]
    );
    assert!(is_harmless(&reading));
    assert_eq!(uses(&line("find")), ["path-inspect ."]);
    assert_eq!(
        uses(&line("find -name x -newer other")),
        ["path-inspect .", "tree-filter x", "path-inspect other"]
    );
    all_lines_harmless(&[
        "find . ( -name a -o -name b ) -ls",
        "find . -maxdepth 2 ! -empty -printf %p\\n",
        "find -P -O3 . -perm -u+x",
    ]);
}

#[test]
fn find_runs_its_command_on_what_it_finds() {
    assert_eq!(inner(&line("find src -exec wc -l {} +")), ["wc -l +"]);
    assert_eq!(
        inner(&line("find . lib/ -name x -exec grep -l y {} ;")),
        ["grep -l y {} for {}"]
    );
    assert_eq!(
        inner(&line("find -exec cp {} out/{}.bak ; -print")),
        ["cp {} out/{}.bak for {}"]
    );
    assert_eq!(inner(&line("find / -exec echo a + b {} + -quit")), ["echo a + b +"]);
    assert_eq!(inner(&line("find src -ok rm {} ;")), ["rm {} for {}"]);
}

#[test]
fn find_commands_whose_end_or_program_is_not_known_are_refused() {
    all_lines_doubted(&[
        "find . -exec wc {}",
        "find . -exec ;",
        "find . -exec {} ;",
        "find . -exec",
        "find . -exec ./{} ;",
    ]);
    assert_eq!(
        with("find . -exec grep", &[unknown(""), word("-delete"), word(";")])
            .doubts
            .len(),
        1
    );
    assert_eq!(
        with("find . -exec grep", &[unknown("x"), word("{}"), word(";")])
            .doubts
            .len(),
        0
    );
    all_lines_doubted(&["find /etc -execdir cat {} ;", "find . -okdir ls ;"]);
}

#[test]
fn find_says_what_it_writes_and_removes() {
    assert_eq!(
        uses(&line("find a b -delete")),
        ["path-inspect a", "path-inspect b", "path-delete a", "path-delete b"]
    );
    assert_eq!(uses(&line("find . -fprint out")), ["path-inspect .", "path-write out"]);
    assert_eq!(
        uses(&line("find . -fprintf out %p -fls list")),
        ["path-inspect .", "path-write out", "path-write list"]
    );
}

#[test]
fn find_predicates_that_are_not_known_are_refused() {
    all_lines_doubted(&[
        "find -L .",
        "find -H .",
        "find . -follow",
        "find -files0-from list",
        "find . -nam x",
        "find . -name",
        "find . -newerxy f",
    ]);
    all_lines_doubted(&[
        "find . -newerta f",
        "find . -fprintf out",
        "find . x -name y z",
        "find -D exec .",
        "find -- .",
    ]);
    assert!(!with("find", &[several()]).doubts.is_empty());
    assert!(!with("find .", &[several()]).doubts.is_empty());
    assert!(!with("find . -name", &[several()]).doubts.is_empty());
    assert!(with("find . -name", &[unknown("")]).doubts.is_empty());
    assert!(with("find", &[unknown("./")]).doubts.is_empty());
    assert!(!with("find", &[unknown("(")]).doubts.is_empty());
}

#[test]
fn xargs_appends_unknown_words_to_its_command() {
    assert_eq!(inner(&line("xargs wc -l")), ["wc -l +"]);
    assert_eq!(inner(&line("xargs -0 -n1 -P 4 grep -l x")), ["grep -l x +"]);
    assert_eq!(inner(&line("xargs -0rn 5 -- rm -f")), ["rm -f +"]);
    assert!(is_harmless(&line("xargs -0")));
    assert_eq!(uses(&line("xargs -a list echo")), ["path-read list"]);
    assert_eq!(uses(&line("xargs --arg-file=list echo")), ["path-read list"]);
}

#[test]
fn xargs_with_a_placeholder_says_where_its_data_goes() {
    assert_eq!(inner(&line("xargs -I {} cat dir/{} x")), ["cat dir/{} x for {}"]);
    assert_eq!(inner(&line("xargs -I% cp % out")), ["cp % out for %"]);
    assert_eq!(
        inner(&with("xargs -I{} sh -c", &[word("echo {}")])),
        ["sh -c echo {} for {}"]
    );
}

#[test]
fn xargs_options_that_are_not_known_are_refused() {
    all_lines_doubted(&[
        "xargs -p rm",
        "xargs --interactive rm",
        "xargs -i rm {}",
        "xargs --max-arg=1 x",
        "xargs -o vi",
        "xargs -n",
    ]);
    all_lines_doubted(&[
        "xargs -I {} {} x",
        "xargs -I {} ./{} x",
        "xargs -I{} -n 1 echo {}",
        "xargs -I",
        "xargs --process-slot-var=PATH ls",
    ]);
    assert!(!with("xargs -I", &[unknown(""), word("ls")]).doubts.is_empty());
    assert!(!with("xargs", &[several()]).doubts.is_empty());
    assert!(!with("xargs -n", &[several(), word("ls")]).doubts.is_empty());
}

#[test]
fn a_test_looks_at_files_and_compares_words() {
    all_lines_harmless(&[
        "test -f Cargo.toml",
        "[ -d src ]",
        "[ ! -e a -a -x b ]",
        "[ a = b ]",
        "[ ( 1 -gt 2 ) -o -n x ]",
        "test",
        "[ ]",
        "[ x ]",
        "[ ! x ]",
        "[ -t 1 ]",
        "[ -v HOME ]",
        "[ a -nt b ]",
        "[ -f ]",
        "[ -f = x ]",
    ]);
    assert_eq!(
        uses(&line("[ -f a -a b -ot c ]")),
        ["path-inspect a", "path-inspect b", "path-inspect c"]
    );
    assert!(is_harmless(&with("test", &[unknown(""), word("-gt"), word("3")])));
    assert!(is_harmless(&with("test -z", &[unknown("")])));
    assert_eq!(uses(&with("test -f", &[unknown("src/")])), ["path-inspect src/*"]);
}

#[test]
fn a_test_that_a_shell_may_evaluate_is_refused() {
    all_lines_doubted(&[
        "[ -v a[$(id)] ]",
        "test -R a[1]",
        "[ -t a[1] ]",
        "[ -f x",
        "[ a b c ]",
        "[ -o errexit ]",
        "[ a =~ b ]",
        "[ a -a ]",
    ]);
    assert!(!with("test -v", &[unknown("")]).doubts.is_empty());
    assert!(!with("test -t", &[unknown("")]).doubts.is_empty());
    assert!(!with("test", &[unknown(""), unknown("")]).doubts.is_empty());
    assert!(!with("test -n", &[several()]).doubts.is_empty());
}

#[test]
fn env_runs_its_command_with_what_it_sets() {
    let reading = line("env -i -u OTHER A=1 LANG=C ls -l");
    assert_eq!(uses(&reading), ["env-assign A=1", "env-assign LANG=C"]);
    assert_eq!(inner(&reading), ["ls -l"]);
    let reading = line("env --chdir=src -uX ls A=1");
    assert_eq!(reading.directory.map(|it| it.value), Some(Value::Literal("src".into())));
    assert_eq!(inner(&line("env ls A=1")), ["ls A=1"]);
    assert_eq!(uses(&with("env", &[unknown("A="), word("ls")])), ["env-assign A=*"]);
}

#[test]
fn env_without_a_command_shows_the_environment() {
    for text in ["env", "env A=1", "env -0", "env -u A"] {
        assert_eq!(line(text).effects.len(), 1, "{text}");
    }
    all_lines_harmless(&["env --version", "env -i"]);
}

#[test]
fn env_words_that_are_not_known_are_refused() {
    all_lines_doubted(&[
        "env -S ls",
        "env -Sls",
        "env -P /x ls",
        "env --split-string=ls",
        "env -v ls",
        "env - ls",
        "env --uns=A ls",
        "env ./x=1 rm",
    ]);
    all_lines_doubted(&["env -u PATH ls", "env -u A=B ls", "env --ignore-env ls"]);
    assert!(!with("env", &[unknown("x"), word("ls")]).doubts.is_empty());
    assert!(!with("env", &[several(), word("ls")]).doubts.is_empty());
}

#[test]
fn dd_says_what_it_reads_and_overwrites() {
    assert_eq!(
        uses(&line("dd if=a of=b bs=1M count=1 status=none")),
        ["path-read a", "path-write b"]
    );
    assert_eq!(uses(&with("dd", &[unknown("of=/dev/")])), ["path-write /dev/*"]);
    all_lines_doubted(&["dd foo=1", "dd a"]);
    assert!(!with("dd", &[unknown("o")]).doubts.is_empty());
    assert!(!with("dd", &[several()]).doubts.is_empty());
}

#[test]
fn ps_lists_processes_and_with_a_bare_e_shows_environments() {
    all_lines_harmless(&[
        "ps",
        "ps aux",
        "ps -ef",
        "ps -eo pid,comm --sort=-rss",
        "ps auxww",
        "ps -p 1",
        "ps -o pid= -p 1",
        "ps 1",
        "ps --forest -A",
    ]);
    for text in [
        "ps e",
        "ps auxe",
        "ps eww",
        "ps -auxe",
        "ps -e -u nobody",
        "ps axeo pid",
    ] {
        assert!(!is_harmless(&line(text)), "{text}");
    }
    all_lines_doubted(&["ps --foo", "ps -q", "ps -p", "ps -"]);
    assert!(!with("ps", &[unknown("")]).doubts.is_empty());
}

#[test]
fn tar_lists_a_local_archive() {
    assert_eq!(uses(&line("tar tf a.tar")), ["path-read a.tar"]);
    assert_eq!(uses(&line("tar -tzvf a.tgz src/x")), ["path-read a.tgz"]);
    assert_eq!(uses(&line("tar -t -v -f a.tgz")), ["path-read a.tgz"]);
    assert_eq!(uses(&line("tar --list --file a.tgz")), ["path-read a.tgz"]);
    assert!(is_harmless(&line("tar tf -")));
    assert!(is_harmless(&line("tar --version")));
}

#[test]
fn tar_says_what_it_packs_and_that_unpacking_may_lose_work() {
    assert_eq!(
        uses(&line("tar -czf a.tgz --exclude=target src README.md")),
        ["path-write a.tgz", "tree-read src", "tree-read README.md"]
    );
    assert_eq!(uses(&line("tar cf - -C /home/x .ssh")), ["tree-read /home/x/.ssh"]);
    let unpacked = line("tar -xzf a.tgz -C out --strip-components=1");
    assert_eq!(uses(&unpacked), ["path-read a.tgz", "path-write out"]);
    assert!(unpacked.doubts.is_empty());
    assert_eq!(unpacked.effects.len(), 1);
    assert_eq!(unpacked.effects[0].undo, crate::effect::Undo::Lost);
}

#[test]
fn tar_with_another_machine_program_list_or_action_is_refused() {
    all_lines_doubted(&[
        "tar tf host:a",
        "tar xf host:a",
        "tar cf host:a b",
        "tar cf a -C /home/x Documents -C . src",
        "tar cf a Documents -C src",
        "tar tf a --checkpoint-action=exec=id",
        "tar tft a",
        "tar tIf id a",
        "tar -I id -tf a",
        "tar --use-compress-program=id -xf a",
        "tar --rsh-command=id -xf a",
        "tar t",
        "tar",
        "tar ft a",
        "tar tcf a b",
        "tar rf a b",
        "tar cf a -T list",
        "tar cf a @b",
        "tar xPf a",
        "tar xf a --to-command=id",
        "tar --to-command=id -tf a",
        "tar tf a -F id",
        "tar -tf",
    ]);
    assert!(!with("tar tf a", &[unknown("")]).doubts.is_empty());
    assert!(!with("tar cf a -C", &[unknown(""), word("b")]).doubts.is_empty());
    assert!(!with("tar", &[unknown("")]).doubts.is_empty());
}

#[test]
fn openssl_prints_certificates() {
    all_lines_harmless(&[
        "openssl version -a",
        "openssl x509 -in cert.pem -noout -text -dates",
        "openssl req -in a.csr -noout -subject",
        "openssl rand -hex 32",
        "openssl dgst -sha256 -r a b",
        "openssl sha256 a",
    ]);
    assert_eq!(uses(&line("openssl dgst -sha256 a")), ["path-read a"]);
    assert_eq!(
        uses(&line(
            "openssl s_client -connect evil.example:443 -servername x -showcerts"
        )),
        ["host evil.example"]
    );
    assert_eq!(uses(&line("openssl x509 -noout -in cert.pem")), ["path-read cert.pem"]);
    all_lines_doubted(&[
        "openssl",
        "openssl x509 -engine ./x",
        "openssl x509 -out f",
        "openssl x509 -noout -in http://evil.example/x",
        "openssl x509 -noout -in file:x",
        "openssl s_client",
        "openssl s_client -connect",
        "openssl s_client -proxy x -connect y:1",
        "openssl rand -out f 3",
        "openssl rand -engine ./x 3",
        "openssl dgst -sign key a",
        "openssl dgst a -sha256",
        "openssl dgst -engine ./x a",
        "openssl enc -aes256 -in a",
        "openssl version -x",
        "openssl x509 -in",
    ]);
}

#[test]
fn yq_reads_files_with_a_filter_that_both_programs_know() {
    assert_eq!(
        uses(&line("yq .services docker-compose.yml")),
        ["path-read .services", "path-read docker-compose.yml"]
    );
    assert_eq!(uses(&line("yq e -r .a")).len(), 0);
    assert_eq!(
        uses(&with("yq", &[word(".a[] | select(.b == \"x\")"), word("f")])),
        ["path-read f"]
    );
    for filter in [
        ".a | load(\"x\")",
        "load_str(\"x\")",
        ".a | env(X)",
        ".a | strenv(X)",
        ".a\"| load(\".\") | \"",
        "envsubst",
        ".a | eval(.b)",
    ] {
        assert!(!is_harmless(&with("yq", &[word(filter)])), "{filter}");
    }
    all_lines_doubted(&["yq -i .a f", "yq .a -i", "yq -s .a f", "yq f.yml", "yq --from-file x"]);
}

#[test]
fn printf_prints() {
    all_lines_harmless(&[
        "printf %s\\n a",
        "printf %d 5",
        "printf 100%%\\n",
        "printf %-10s|%5.2f x 1.5",
        "printf -- %s -x",
        "printf -v line %s x",
    ]);
    assert!(is_harmless(&with("printf %s", &[several()])));
    all_lines_doubted(&[
        "printf %*s 5 x",
        "printf -v PATH x",
        "printf -v a[1] x",
        "printf %n x",
        "printf %d a[1]",
        "printf %d x",
        "printf -x",
    ]);
    assert!(!with("printf %d", &[unknown("")]).doubts.is_empty());
    assert!(!with("printf", &[unknown("")]).doubts.is_empty());
    assert!(!with("printf %s%d", &[several()]).doubts.is_empty());
}

#[test]
fn read_sets_variables_of_the_script_only() {
    all_lines_harmless(&[
        "read",
        "read -r line",
        "read -rp go? name rest",
        "read -t 5 x",
        "read -d : x",
    ]);
    all_lines_doubted(&[
        "read PATH",
        "read path",
        "read -a x",
        "read a[0]",
        "read http_proxy",
        "read -t a[1] x",
        "read -u x y",
        "read IFS",
    ]);
    assert!(!with("read", &[unknown("x")]).doubts.is_empty());
}

#[test]
fn set_chooses_how_errors_end_the_script() {
    all_lines_harmless(&["set -e", "set -euo pipefail", "set -x", "set +e", "set -eu -o pipefail"]);
    assert_eq!(line("set").effects.len(), 1);
    all_lines_doubted(&[
        "set -a",
        "set -o allexport",
        "set -- a",
        "set -o",
        "set -oe pipefail",
        "set -f",
        "set x",
        "set -",
    ]);
}

#[test]
fn export_and_declare_say_what_they_set() {
    assert_eq!(uses(&line("export A=1 B")), ["env-assign A=1", "env-assign B=*"]);
    assert_eq!(uses(&line("declare -rx A=1")), ["env-assign A=1"]);
    assert_eq!(uses(&line("declare -r PATH=/x")), ["env-assign PATH=/x"]);
    assert!(is_harmless(&line("declare count=1")));
    for text in ["export", "export -p", "declare", "declare -p"] {
        assert_eq!(line(text).effects.len(), 1, "{text}");
    }
    all_lines_doubted(&[
        "declare -i x=1",
        "declare -n x=y",
        "export -f f",
        "export a[1]=2",
        "declare a[1]=x",
    ]);
}

#[test]
fn kill_acts_on_processes_unless_it_only_asks() {
    all_lines_harmless(&["kill -0 5", "kill -l"]);
    for text in ["kill 5", "kill -9 5", "kill -s TERM 5"] {
        assert_eq!(line(text).effects.len(), 1, "{text}");
    }
}

#[test]
fn a_name_without_a_reader_has_none() {
    assert!(super::super::whole("rm").is_none());
}
