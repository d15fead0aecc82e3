use crate::catalog::{Inner, Reading, Role, read};
use crate::shell::{Arg, Span, Value};

fn literal(text: &str) -> Value {
    Value::Literal(text.to_owned())
}

fn unknown(prefix: &str, single: bool) -> Value {
    Value::Unknown {
        prefix: prefix.to_owned(),
        single,
    }
}

/// Reads values as words, each with its index as its span.
fn reading(values: Vec<Value>) -> Reading {
    let args: Vec<Arg> = values
        .into_iter()
        .zip(0..)
        .map(|(value, at)| Arg {
            value,
            span: Span { start: at, end: at + 1 },
        })
        .collect();
    read(&args).expect("the command has an entry")
}

/// Reads literal words; `$x` stands for one unknown word, `$@` for any number of them.
fn words(line: &str) -> Reading {
    let value = |word: &str| match word.split_once('$') {
        Some((prefix, "x")) => unknown(prefix, true),
        Some((prefix, "@")) => unknown(prefix, false),
        Some(_) | None => literal(word),
    };
    reading(line.split_whitespace().map(value).collect())
}

fn uses(reading: &Reading) -> Vec<(Role, &str)> {
    reading
        .uses
        .iter()
        .map(|u| (u.role, u.arg.value.literal().unwrap_or("?")))
        .collect()
}

#[track_caller]
fn understood(line: &str, expected: &[(Role, &str)]) {
    let reading = words(line);
    assert!(reading.doubts.is_empty(), "{line}: {:?}", reading.doubts);
    assert_eq!(uses(&reading), expected, "{line}");
}

#[track_caller]
fn doubted(line: &str, why: &str) {
    let reading = words(line);
    let whys: Vec<&str> = reading.doubts.iter().map(|d| d.why.as_str()).collect();
    assert!(whys.contains(&why), "{line}: {whys:?}");
}

#[test]
fn a_name_without_an_entry_is_not_read() {
    let arg = |value| Arg {
        value,
        span: Span::default(),
    };
    assert!(read(&[arg(literal("no-such-command"))]).is_none());
    assert!(read(&[arg(Value::UNKNOWN)]).is_none());
    assert!(read(&[]).is_none());
}

#[test]
fn exact_spellings_are_options_and_what_is_left_are_operands() {
    understood("wc -l --words a.txt", &[(Role::PathRead, "a.txt")]);
}

#[test]
fn an_abbreviation_is_not_an_option() {
    doubted("wc --line a.txt", "`--line` is not an option that is known of wc");
}

#[test]
fn an_unlisted_letter_in_a_cluster_is_named() {
    doubted("wc -lZ a.txt", "`-Z` is not an option that is known of wc");
}

#[test]
fn a_cluster_is_read_letter_by_letter() {
    understood("wc -lwc a.txt", &[(Role::PathRead, "a.txt")]);
    understood(
        "sort -uo out.txt in.txt",
        &[(Role::PathWrite, "out.txt"), (Role::PathRead, "in.txt")],
    );
}

#[test]
fn after_a_letter_that_takes_a_value_the_rest_of_the_word_is_the_value() {
    understood("sort -uoout.txt", &[(Role::PathWrite, "out.txt")]);
    understood("sort -ouc", &[(Role::PathWrite, "uc")]);
}

#[test]
fn a_value_may_stand_after_an_equals_sign_or_as_a_word_of_its_own() {
    understood("sort --output=a", &[(Role::PathWrite, "a")]);
    understood("sort --output a", &[(Role::PathWrite, "a")]);
    understood("sort --output=", &[(Role::PathWrite, "")]);
}

#[test]
fn a_flag_takes_no_value() {
    doubted("wc --lines=5", "`--lines` takes no value after `=`");
}

#[test]
fn an_optional_value_is_only_taken_where_it_is_glued() {
    understood("ls --color always", &[(Role::PathInspect, "always")]);
    understood("ls --color=always x", &[(Role::PathInspect, "x")]);
    let edited = words("sed -i.bak p a.txt");
    assert_eq!(uses(&edited), [(Role::PathWrite, "a.txt")]);
}

#[test]
fn a_missing_value_is_a_doubt() {
    doubted("sort -o", "the option's value is missing");
}

#[test]
fn an_option_with_two_values_takes_two_words() {
    let filtered = words("jq --rawfile name a.txt .x b.json");
    assert_eq!(uses(&filtered), [(Role::PathRead, "a.txt"), (Role::PathRead, "b.json")]);
    doubted("jq --rawfile=name a.txt .x", "`--rawfile` takes no value after `=`");
}

#[test]
fn options_may_stand_after_operands() {
    understood(
        "sort in.txt -o out.txt",
        &[(Role::PathWrite, "out.txt"), (Role::PathRead, "in.txt")],
    );
}

#[test]
fn two_dashes_end_the_options() {
    understood("wc -- -l --x", &[(Role::PathRead, "-l"), (Role::PathRead, "--x")]);
    understood("wc -- --", &[(Role::PathRead, "--")]);
}

#[test]
fn a_lone_dash_is_an_operand() {
    understood("cat -", &[(Role::PathRead, "-")]);
}

#[test]
fn an_output_option_with_a_lone_dash_names_no_file() {
    understood("curl -o -", &[]);
}

#[test]
fn the_first_operand_ends_the_options_of_a_posix_command() {
    let inner = words("timeout -k 5 10 ls -l --unknown");
    assert!(inner.doubts.is_empty(), "{:?}", inner.doubts);
    assert_eq!(commands(&inner), ["ls -l --unknown"]);
}

#[test]
fn a_dash_command_has_whole_words_as_options() {
    understood("xxd -l 5 a.bin", &[(Role::PathRead, "a.bin")]);
    understood("xxd -l=5 a.bin", &[(Role::PathRead, "a.bin")]);
    doubted("xxd -l5 a.bin", "`-l5` is not an option that is known of xxd");
    doubted("xxd -- a.bin", "`--` is not an option that is known of xxd");
}

#[test]
fn a_shell_reads_plus_words_as_options_and_values_as_words_of_their_own() {
    let run = words("bash -euo pipefail -c code name");
    assert!(run.doubts.is_empty(), "{:?}", run.doubts);
    assert_eq!(run.inner.len(), 1);
    doubted("bash +O extglob", "`+O` is not an option that is known of bash");
    doubted(
        "bash -opipefail",
        "what stands after `-o` in one word is not understood",
    );
    doubted("bash -", "a lone `-` ends the options of a shell");
}

#[test]
fn a_command_without_options_reads_every_word_as_an_operand() {
    understood("echo -n -- --x $x $@", &[]);
}

#[test]
fn a_number_is_an_option_only_where_the_entry_says_so() {
    understood("head -20 a.txt", &[(Role::PathRead, "a.txt")]);
    doubted("cat -20 a.txt", "`-2` is not an option that is known of cat");
    doubted("head -5x a.txt", "`-5` is not an option that is known of head");
}

#[test]
fn only_listed_values_are_understood_where_an_entry_lists_them() {
    assert!(words("bash -o errexit -c x").doubts.is_empty());
    doubted(
        "bash -o allexport -c x",
        "`allexport` is not on the list of what bash may be given here",
    );
    doubted("bash -o $x -c x", "what bash is given here is not known");
    understood("date +%s", &[]);
    understood("date +$x", &[]);
    doubted(
        "date 01020304",
        "`01020304` is not on the list of what date may be given here",
    );
    understood("exit 1", &[]);
    doubted("exit a[0]", "`a[0]` is not on the list of what exit may be given here");
}

#[test]
fn required_operands_come_first_then_optional_then_the_rest() {
    understood(
        "cp a b c d",
        &[
            (Role::PathRead, "a"),
            (Role::PathRead, "b"),
            (Role::PathRead, "c"),
            (Role::PathWrite, "d"),
        ],
    );
    understood("uniq a", &[(Role::PathRead, "a")]);
    understood("uniq a b", &[(Role::PathRead, "a"), (Role::PathWrite, "b")]);
    doubted("uniq a b c", "uniq takes no further operand");
    doubted("cp a", "cp needs more operands");
}

#[test]
fn help_needs_no_operands() {
    understood("cp --help", &[]);
    doubted("cp --help a", "cp needs more operands");
}

#[test]
fn an_option_may_change_what_the_operands_are() {
    understood("grep -e x a", &[(Role::PathRead, "a")]);
    understood("grep x a", &[(Role::PathRead, "a")]);
    understood("grep -re x a", &[(Role::TreeRead, "a")]);
    understood("cp -rt dir a", &[(Role::PathWrite, "dir"), (Role::TreeRead, "a")]);
}

#[test]
fn options_that_change_the_operands_differently_are_a_doubt() {
    doubted("node -c -e x", "two options change what the operands mean");
}

#[test]
fn the_current_directory_is_meant_where_no_path_is_named() {
    understood("ls", &[(Role::PathInspect, ".")]);
    understood("grep -r x", &[(Role::TreeRead, ".")]);
    understood("grep x", &[]);
    let maybe = words("ls -- $@");
    assert_eq!(uses(&maybe), [(Role::PathInspect, "?"), (Role::PathInspect, ".")]);
}

#[test]
fn a_word_that_could_be_an_option_is_a_doubt() {
    for line in ["wc $x", "wc $@", "wc -$x", "wc --l$x", "wc src$@", "sort -o$x"] {
        doubted(line, "this word is not known and could be read as an option");
    }
    for line in ["wc src/$x", "wc -- $x", "wc -- $@"] {
        assert!(words(line).doubts.is_empty(), "{line}");
    }
}

#[test]
fn a_word_that_could_be_an_option_is_harmless_to_a_command_that_has_no_harmful_one() {
    understood("ls $x", &[(Role::PathInspect, "?")]);
    understood("basename $x", &[]);
}

#[test]
fn the_unknown_value_of_a_known_option_keeps_its_role() {
    understood("sort --output=$x", &[(Role::PathWrite, "?")]);
    understood("sort -k5$x -oa$x", &[(Role::PathWrite, "?")]);
}

#[test]
fn an_unknown_value_that_may_be_several_words_makes_what_follows_unclear() {
    doubted(
        "sort -o $@ in.txt",
        "this may be none or several words, so the words after it are unclear",
    );
    doubted(
        "cp -- $@ b",
        "this may be none or several words, so what the operands mean is unclear",
    );
    doubted(
        "timeout -- $@ ls",
        "this may be none or several words, so what the operands mean is unclear",
    );
    let found = words("grep -- x $@ y");
    assert!(found.doubts.is_empty(), "{:?}", found.doubts);
    assert_eq!(uses(&found), [(Role::PathRead, "?"), (Role::PathRead, "y")]);
}

fn one_of(name: &str, alternatives: &[&str], rest: &[&str]) -> Reading {
    let alternatives = alternatives.iter().map(|&a| a.to_owned()).collect();
    let mut values = vec![literal(name), Value::OneOf(alternatives)];
    values.extend(rest.iter().map(|w| literal(w)));
    reading(values)
}

#[test]
fn alternatives_must_be_read_in_the_same_way() {
    assert!(one_of("wc", &["a.txt", "b.txt"], &[]).doubts.is_empty());
    assert!(one_of("sort", &["--output=a", "--output=b"], &[]).doubts.is_empty());
    assert!(one_of("sort", &["-oa", "-ob"], &[]).doubts.is_empty());
    for (alternatives, rest) in [
        (&["-l", "a.txt"][..], &[][..]),
        (&["--", "-u"], &["a"]),
        (&["-u", "-o"], &["a"]),
        (&["-o", "-oa"], &["b"]),
    ] {
        let read = one_of("sort", alternatives, rest);
        let whys: Vec<&str> = read.doubts.iter().map(|d| d.why.as_str()).collect();
        assert_eq!(
            whys,
            ["what this word is differs from turn to turn"],
            "{alternatives:?}"
        );
    }
}

#[test]
fn a_subcommand_is_found_after_the_options_of_its_command() {
    let read = words("apt-get -y install x");
    assert!(read.doubts.is_empty(), "{:?}", read.doubts);
    assert_eq!(read.subcommand, "install");
    assert!(!read.effects.is_empty());
}

#[test]
fn the_longest_subcommand_is_found() {
    assert_eq!(words("npm audit").subcommand, "audit");
    assert_eq!(words("npm audit fix").subcommand, "audit fix");
    assert_eq!(words("gh pr view 12").subcommand, "pr view");
}

#[test]
fn what_is_no_subcommand_or_could_be_another_is_a_doubt() {
    doubted(
        "npm frobnicate",
        "`frobnicate` is not a subcommand that is known of npm",
    );
    doubted("gh codespace", "`codespace` is not a subcommand that is known of gh");
    doubted("npm $x", "this word is not known and could be read as an option");
    doubted("npm audit $x", "which subcommand this is is not known");
    doubted(
        "npm audit --json fix",
        "whether `fix` is a subcommand or an operand is not clear",
    );
    doubted("npm - test", "which subcommand this is is not known");
}

#[test]
fn options_of_the_command_hold_after_the_subcommand_only_where_the_entry_says_so() {
    assert!(words("systemctl status x --no-pager").doubts.is_empty());
    doubted(
        "cargo fmt --locked",
        "`--locked` is not an option that is known of cargo fmt",
    );
}

fn commands(reading: &Reading) -> Vec<String> {
    let text = |args: &[Arg]| {
        let words: Vec<&str> = args.iter().map(|a| a.value.literal().unwrap_or("?")).collect();
        words.join(" ")
    };
    reading
        .inner
        .iter()
        .filter_map(|inner| match inner {
            Inner::Command { args, .. } => Some(text(args)),
            Inner::Code { .. } | Inner::Fed { .. } | Inner::Elsewhere { .. } => None,
        })
        .collect()
}

#[test]
fn a_command_that_is_run_keeps_all_its_words() {
    assert_eq!(commands(&words("nice -n 5 rm -rf x")), ["rm -rf x"]);
    assert_eq!(commands(&words("timeout 5 $x a")), ["? a"]);
    assert_eq!(commands(&words("python3 -m pytest -q x")), ["pytest -q x"]);
    doubted("nohup", "nohup needs more operands");
    doubted("python3 -m", "the command to run is missing");
}

#[test]
fn code_is_handed_on_with_its_role() {
    let code = |line: &str| match &words(line).inner[..] {
        [Inner::Code { role, code, .. }] => (*role, code.value.literal().map(str::to_owned)),
        _ => panic!("{line} runs one piece of code"),
    };
    assert_eq!(code("bash -c ls"), (Role::Shell, Some("ls".to_owned())));
    assert_eq!(code("bash -xc ls name"), (Role::Shell, Some("ls".to_owned())));
    assert_eq!(code("node -e x"), (Role::JavaScript, Some("x".to_owned())));
    assert_eq!(code("trap $x EXIT"), (Role::Shell, None));
}

#[test]
fn a_command_given_no_operand_does_what_its_entry_says() {
    assert_eq!(words("bash").input, Some(Role::Shell));
    assert_eq!(words("python3 - a").input, Some(Role::Python));
    assert_eq!(words("bash x").input, None);
    assert_eq!(words("bash --version").input, None);
    assert!(!words("printenv -- $@").effects.is_empty());
    assert!(words("printenv HOME").effects.is_empty());
}

#[test]
fn a_variable_is_set_only_by_a_plain_name() {
    understood("unset a", &[(Role::EnvAssign, "a")]);
    for name in ["a[0]", "1a", "a-b", "$x"] {
        doubted(&format!("unset -- {name}"), "this is not the plain name of a variable");
    }
}

#[test]
fn a_directory_that_an_option_names_is_where_the_command_acts() {
    let read = words("make -C sub test");
    assert_eq!(
        read.directory.and_then(|d| d.value.literal().map(str::to_owned)),
        Some("sub".to_owned())
    );
    doubted("make -C a -C b test", "the directory is changed twice");
}

mod any_words {
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{0,8}",
            "--?[a-zA-Z]{0,6}(=\\PC{0,3})?",
            "[-+]{1,2}",
            Just("-c".to_owned()),
            Just("-o".to_owned()),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => word().prop_map(Value::Literal),
            1 => proptest::collection::vec(word(), 1..3).prop_map(Value::OneOf),
            1 => word().prop_map(|directory| Value::Under { directory, names: Vec::new() }),
            2 => (word(), any::<bool>()).prop_map(|(prefix, single)| Value::Unknown { prefix, single }),
        ]
    }

    fn name() -> impl Strategy<Value = String> {
        let names = [
            "ls",
            "sort",
            "grep",
            "sed",
            "cp",
            "bash",
            "env",
            "timeout",
            "npm",
            "gh",
            "docker",
            "go",
            "xxd",
            "echo",
            "make",
            "python",
            "jq",
            "curl",
            "date",
            "unset",
            "find",
            "test",
            "no-such-command",
        ];
        proptest::sample::select(names.to_vec()).prop_map(str::to_owned)
    }

    proptest! {
        #[test]
        fn never_panic(name in name(), values in proptest::collection::vec(value(), 0..8)) {
            let args: Vec<Arg> = std::iter::once(Value::Literal(name))
                .chain(values)
                .map(|value| Arg { value, span: Span::default() })
                .collect();
            let _ = read(&args);
        }
    }
}

#[test]
fn a_name_is_no_url_no_host_and_no_assignment() {
    understood("docker logs web_1.a-b/c@d", &[]);
    for word in ["https://evil.example", "host:x", "X=y", "a,b", "$x", "a$x"] {
        let reading = words(&format!("docker logs {word}"));
        assert!(!reading.doubts.is_empty(), "{word}");
    }
}

#[test]
fn a_repository_is_an_owner_and_a_name_and_never_a_host() {
    understood("gh repo view owner/some.repo", &[]);
    for word in [
        "evil.example/a/b",
        "a/b/c",
        "owner",
        "evil.example/a",
        "/a",
        "a/",
        "https://a/b",
        "$x",
        "a/$x",
    ] {
        let reading = words(&format!("gh repo view {word}"));
        assert!(!reading.doubts.is_empty(), "{word}");
    }
}

#[test]
fn an_exact_text_is_known_and_reads_no_file() {
    understood("gh search issues panic:here", &[]);
    for word in ["@file", "$x", "a$x"] {
        let reading = words(&format!("gh search issues {word}"));
        assert!(!reading.doubts.is_empty(), "{word}");
    }
}

/// Lines that are understood, and lines that are not.
#[track_caller]
fn tells(good: &[&str], bad: &[&str]) {
    for line in good {
        let doubts = words(line).doubts;
        assert!(doubts.is_empty(), "{line}: {doubts:?}");
    }
    for line in bad {
        assert!(!words(line).doubts.is_empty(), "{line}");
    }
}

#[test]
fn a_word_is_a_name_that_is_no_path() {
    tells(
        &["service php8.2-fpm status", "service db@1 status"],
        &[
            "service ../x status",
            "service a/b status",
            "service .x status",
            "service $x status",
        ],
    );
}

#[test]
fn a_path_below_the_current_directory_leads_nowhere_else() {
    tells(
        &["cmake tests", "cmake .", "cmake ./a..b/.c"],
        &[
            "cmake /tmp/x",
            "cmake ../x",
            "cmake a/../../x",
            "cmake a/..",
            "cmake @x",
            "cmake https://x",
            "cmake a$x",
        ],
    );
    let below = |directory: &str| {
        reading(vec![
            literal("cmake"),
            Value::Under {
                directory: directory.to_owned(),
                names: Vec::new(),
            },
        ])
    };
    assert!(below("tests").doubts.is_empty());
    assert!(!below("/tmp").doubts.is_empty());
    assert!(!below("..").doubts.is_empty());
}

#[test]
fn an_image_stands_behind_no_unknown_host() {
    tells(
        &[
            "docker pull alpine:3",
            "docker pull owner/x@sha256:ab",
            "docker pull ghcr.io/owner/x:1",
        ],
        &[
            "docker pull evil.example/x",
            "docker pull evil:5000/x",
            "docker pull localhost/x",
            "docker pull @x",
            "docker pull $x",
        ],
    );
}

#[test]
fn a_package_is_one_of_a_registry() {
    tells(
        &[
            "npm view react@^18.0.0",
            "npm view @types/node@20 versions",
            "npm view left-pad dist.tarball",
        ],
        &[
            "npm view owner/x",
            "npm view ./x",
            "npm view https://x",
            "npm view x@https://y",
            "npm view @a/b/c",
            "npm view @a/b@c/d",
            "npm view @a",
            "npm view ~",
        ],
    );
}

#[test]
fn a_known_ending_is_that_of_a_path() {
    tells(
        &["pandoc a.md -o x.html"],
        &["pandoc a.md -o x.pdf", "pandoc a.md -o @x.html", "pandoc a.md -o x$x"],
    );
}

#[test]
fn a_change_may_yield_to_other_options_and_may_need_none() {
    let effects = |line: &str| words(line).effects.len();
    assert_eq!(effects("gzip x"), 0);
    assert_eq!(effects("gzip -d x"), 1);
    assert_eq!(effects("gzip -dc x"), 0);
    assert_eq!(effects("gunzip x"), 1);
    assert_eq!(effects("gunzip -c x"), 0);
    understood("gzip -dkc x", &[(Role::PathRead, "x")]);
}

#[test]
fn a_number_may_stand_beside_words_that_are_known() {
    understood("ninja -j4 test", &[]);
    doubted(
        "ninja -jx test",
        "`x` is not on the list of what ninja may be given here",
    );
}

#[test]
fn what_only_describes_a_command_has_none_of_its_effects_unless_something_stands_beside_it() {
    let effects = |line: &str| words(line).effects.len();
    assert_eq!(effects("make --version"), 0);
    assert_eq!(effects("make -v --help"), 0);
    assert_eq!(effects("make"), 1);
    assert_eq!(effects("make --version test"), 1);
    assert_eq!(effects("make --version -s"), 1);
    assert!(!words("make --version -f").doubts.is_empty());
}

#[test]
fn a_pattern_for_paths_begins_nowhere_else_than_its_text() {
    for text in [
        "src",
        "../x",
        "/tmp/x",
        "src/**/*.{ts,tsx}",
        "{src,test}/x",
        "tests/x.py::T::test[a-b]",
        ".",
    ] {
        assert!(super::is_path_or_pattern(text), "{text}");
    }
    for text in [
        "",
        "-x",
        "@args",
        ":/tmp/x",
        "!!/tmp/x",
        "{/tmp,src}/x",
        "{src,../y}/x",
        "{,src}/tmp/x",
        "{src,}/tmp/x",
        "{src,{/tmp,x}}/y",
        "{a,b/c}/../../x",
        "npm:x",
        "file:/etc/passwd",
        "https://evil.example/x.ts",
    ] {
        assert!(!super::is_path_or_pattern(text), "{text}");
    }
}

#[test]
fn a_field_is_known_only_where_none_is_read_from_a_file() {
    let line = |value| format!("aws ec2 describe-instances --filters {value}");
    understood(&line("Name=tag:x,Values=a,b"), &[]);
    for value in [
        "Name=x,Values@=file:///etc/shadow",
        "Name@=file://x",
        "file:///etc/shadow",
        "Na/me=x",
        "Name=$x",
    ] {
        assert!(!words(&line(value)).doubts.is_empty(), "{value}");
    }
}

#[test]
fn an_option_before_no_subcommand_is_understood_only_where_it_makes_the_command_describe_itself() {
    understood("hatch --version", &[]);
    doubted("hatch -v", "what hatch does without a subcommand is not known");
    doubted(
        "hatch -v --version",
        "what hatch does without a subcommand is not known",
    );
}

#[test]
fn what_makes_a_command_describe_itself_takes_nothing_from_a_subcommand() {
    assert!(words("docker --version").effects.is_empty());
    assert!(!words("docker --version system prune").effects.is_empty());
}
