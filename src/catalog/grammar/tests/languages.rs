//! sed, awk and jq.

use super::*;
use crate::shell::{Arg, Value};
use proptest::prelude::*;

/// Scripts that only print.
const SED: &[&str] = &[
    "p",
    "1,20p",
    "10q",
    "10q5",
    "$!d",
    "$d",
    "/foo/,/bar/p",
    "/foo/I,+3p",
    "2~3p",
    "0,/x/d",
    "5,~4p",
    "\\,a/b,p",
    "\\|a|!p",
    "1!G;h;$!d",
    "s/a/b/",
    "s/a/b/gI",
    "s/a/b/3p",
    "s|/usr|/opt|g",
    "s,a,b,;s/x/y/",
    "s/[^/]*$/x/g; p",
    "s/\\//_/g",
    "y/abc/xyz/",
    "/a/{s/b/c/;p}",
    "/a/{\ns/b/c/\np\n}",
    ":a;N;$!ba;s/x/ /g",
    ":a\nN\n$!ba\ns/\\n/ /g",
    "/x/a hello",
    "/x/a\\\nhello\\\nworld",
    "1i\\  indented",
    "$c the end",
    "# nothing\np",
    "=",
    "l 40",
    "n;d",
    "/^$/d",
    "s/[[:space:]]*$//",
    "/a/b end\ns/x/y/\n: end",
    "x;p;x",
    "z;F",
    "s/é/e/",
    "",
    ";;p;",
];

#[test]
fn sed_scripts_that_print_are_harmless() {
    all_harmless(Role::Sed, SED);
}

#[test]
fn a_sed_delimiter_inside_brackets_must_be_read_one_way_only() {
    all_harmless(
        Role::Sed,
        &["s/[^\\/]*$/x/", "s|[/]|x|", "/[]x]/p", "s/[/]/x/", "/[/]/p"],
    );
    all_doubted(
        Role::Sed,
        &["s/[\\]/]/x/", "s/[[:alpha:]/]w f/x/", "s/[\\][]/]/x/", "s/[/x/"],
    );
}

#[test]
fn sed_commands_that_run_programs_are_refused() {
    all_doubted(
        Role::Sed,
        &[
            "e", "1e", "1e id", "e id", "s/a/b/e", "s/a/b/ge", "s/a/b/;e", "/x/{e\n}", "$!e", "1!e id",
        ],
    );
}

#[test]
fn sed_commands_that_name_files_say_so() {
    assert_eq!(uses(&program(Role::Sed, "r notes.txt")), ["path-read notes.txt"]);
    assert_eq!(
        uses(&program(Role::Sed, "1R /etc/shadow\np")),
        ["path-read /etc/shadow"]
    );
    assert_eq!(uses(&program(Role::Sed, "w out")), ["path-write out"]);
    assert_eq!(uses(&program(Role::Sed, "s/a/b/gpw out")), ["path-write out"]);
    assert_eq!(uses(&program(Role::Sed, "/x/W out")), ["path-write out"]);
}

#[test]
fn sed_scripts_that_leave_something_open_are_refused() {
    all_doubted(
        Role::Sed,
        &[
            "/a/{p",
            "p}",
            "a\\",
            "a text\\",
            "a",
            "s/a/b",
            "s/a/",
            "s",
            "y/a/b",
            "/a",
            "\\",
            "1,",
            "s/a/b\nc/",
        ],
    );
}

#[test]
fn unknown_sed_commands_and_leftovers_are_refused() {
    all_doubted(
        Role::Sed,
        &[
            "k", "pp", "p x", "s/a/b/q", "v", "é", "1,2,3p", "s{a{b{", "w", "r  ", "w a;p", "w a}",
        ],
    );
}

#[test]
fn a_label_that_bsd_would_read_to_the_end_of_its_line_shares_no_script_with_long_commands() {
    all_doubted(Role::Sed, &[":a;s/x/\\\nw out/", "ba;i\\\nw out"]);
    all_harmless(Role::Sed, &[":a\ns/x/\\\ny/"]);
}

const AWK: &[&str] = &[
    "{print $1}",
    "{ print $1, $NF }",
    "NR==1",
    "NR>1",
    "/foo/",
    "/foo/ && !/bar/ {print}",
    "/[/]/ {print}",
    "/a/,/b/",
    "END{print NR}",
    "BEGIN{FS=\",\"} {s+=$3} END{print s/NR}",
    "{ printf \"%s %d\\n\", $1, $2/1024 }",
    "!seen[$0]++",
    "$3 > 100",
    "$3 > 100 {print $1}",
    "{ if ($1 > 5) print $2; else print $3 }",
    "{print ($1 > 5)}",
    "{print (a > b), c}",
    "{ for (i=1; i<=NF; i++) sum += $i } END { print sum }",
    "{a[$1]=a[$1] \" \" $2} END {for (k in a) print k, a[k]}",
    "function f(x,  y) { return x*2 } { print f($1) }",
    "function f(x)\n{\nreturn x\n}\n{print f(1)}",
    "BEGIN { while ((getline line) > 0) n++; print n }",
    "{ getline; print }",
    "{ print length }",
    "length > 80",
    "length($0) > 80 { print FILENAME \":\" FNR }",
    "{ gsub(/[ \\t]+/, \" \"); print }",
    "{ sub(\"a\", \"b\") } 1",
    "{ print substr($0, 1, 10) }",
    "{ split($0, p, \"/\"); print p[2] }",
    "{ x = $1 ~ /re/ ? \"y\" : \"n\"; print x }",
    "# comment with system(\"x\") | > \nNR==2 { print; exit }",
    "{ print \"a > b | c system(1)\" }",
    "{print $1 / $2 / 3}",
    "NR==FNR{a[$1];next} $1 in a",
    "{ print toupper($1) } # done",
    "(NR%2) {print}",
    "{ delete a[1]; delete a }",
    "{ do { i++ } while (i < 5) print i }",
    "BEGIN { printf(\"%s\\n\", \"x\") }",
    "{ print > \"/dev/stderr\" }",
    "{ print \"x\" > \"/dev/stdout\" }",
    "BEGIN{PROCINFO[\"sorted_in\"]=\"@ind_str_asc\"} {a[$1]} END{for(k in a) print k}",
    "FILENAME==ARGV[1]{n++}",
    "{ print $1,\n  $2 }",
    "{print a[1]/2}",
    "/a\\/b/",
    "{ $1=\"\"; print }",
    "/=/ {print}",
    "{print -1 \" \" -1}",
    "BEGIN { print 1e3, .5, 2. }",
    "{ print (1,2) in a }",
    "{ print 1; print 2 }",
    "",
    "1",
    "{ if (!($1 in a)) { a[$1]=1; print } }",
    "$1 == \"x\" || $2 != \"y\"",
    "{ n = split($0, a); print a[n] }",
    "{\n  # only a remark\n  print\n}\n",
    "{ print $1 \\\n $2 }",
    "END { print strftime(\"%Y\", systime()) }",
];

#[test]
fn awk_programs_that_compute_and_print_are_harmless() {
    all_harmless(Role::Awk, AWK);
}

#[test]
fn awk_programs_that_run_programs_are_refused() {
    all_doubted(
        Role::Awk,
        &[
            "BEGIN{system(\"id\")}",
            "{ system($1) }",
            "BEGIN { system (\"id\") }",
            "BEGIN{\"id\"|getline}",
            "BEGIN{ \"id\" | getline x; print x }",
            "{print|\"sh\"}",
            "{ print $0 | \"sh\" }",
            "BEGIN{print |& \"sh\"}",
            "BEGIN{f=\"system\";@f(\"id\")}",
            "@load \"x\"",
            "@include \"x\"",
            "BEGIN{awk::system(\"id\")}",
            "BEGIN{x=1}\nBEGIN{system(\"id\")}",
            "BEGIN{printf \"id\" | \"sh\"}",
            "{ print (1) | \"sh\" }",
        ],
    );
}

#[test]
fn an_awk_print_into_a_file_says_which() {
    assert_eq!(uses(&program(Role::Awk, "{print > \"out\"}")), ["path-write out"]);
    assert_eq!(
        uses(&program(Role::Awk, "{print $1, $2 >> \"out\" }")),
        ["path-write out"]
    );
    assert_eq!(
        uses(&program(Role::Awk, "{print (a > b) > \"out\"; x > y}")),
        ["path-write out"]
    );
    assert_eq!(
        uses(&program(Role::Awk, "{printf(\"%s\", $1) > \"out\"\n}")),
        ["path-write out"]
    );
    assert_eq!(
        uses(&program(Role::Awk, "{print $1,\n$2 > \"out\"}")),
        ["path-write out"]
    );
}

#[test]
fn an_awk_print_into_a_computed_file_is_refused() {
    all_doubted(
        Role::Awk,
        &[
            "{print > $1}",
            "{print > f}",
            "{print $1 > $2\".txt\"}",
            "{print > \"a\" b}",
            "{print > \"/inet/tcp/0/h/80\"}",
            "{print > \"a\\x2f\"}",
            "{print > (\"a\")}",
            "{print a ? b : c > d}",
            "{print x[a > \"f\"]}",
            "{print a ?\nb : c > \"f\"}",
            "BEGIN{for(;;print \"x\" > f) y}",
            "{print > \"-\"}",
            "{print >> f}",
        ],
    );
}

#[test]
fn awk_reading_another_file_says_which() {
    let reading = program(
        Role::Awk,
        "BEGIN{while ((getline line < \"/etc/shadow\") > 0) print line}",
    );
    assert_eq!(uses(&reading), ["path-read /etc/shadow"]);
    all_doubted(
        Role::Awk,
        &[
            "{getline < $1}",
            "{getline x < f}",
            "{getline < \"a\" b}",
            "{getline x < \"/inet/udp/0/h/1\"}",
        ],
    );
    all_doubted(
        Role::Awk,
        &[
            "BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}",
            "BEGIN{split(\"a b\",ARGV)}",
            "{sub(/a/,\"b\",ARGV[1])}",
        ],
    );
    all_doubted(
        Role::Awk,
        &["BEGIN{if (x == ARGV[1] = \"f\") y}", "BEGIN{x == ARGV[1]++}"],
    );
}

#[test]
fn awk_showing_the_environment_says_so() {
    assert_eq!(uses(&program(Role::Awk, "{print ENVIRON[\"LANG\"]}")), ["env LANG"]);
    for code in [
        "{for (k in ENVIRON) print k}",
        "{print ENVIRON[$1]}",
        "{print ENVIRON[\"A\" x]}",
    ] {
        assert_eq!(program(Role::Awk, code).effects.len(), 1, "{code}");
    }
    all_doubted(
        Role::Awk,
        &[
            "{print PROCINFO[\"pid\"]}",
            "{print SYMTAB[\"x\"]}",
            "BEGIN{PROCINFO[\"sorted_in\"]=f}",
        ],
    );
}

#[test]
fn awk_texts_that_implementations_split_differently_are_refused() {
    all_doubted(
        Role::Awk,
        &[
            "/[[:alpha:]/]/ {print}",
            "{print length / 2; x = \"/\"}",
            "{ getline /x/ }",
            "{switch (x) {case /a/: print}}",
            "/a\nb/",
            "{print \"a\nb\"}",
            "{print \"a\\\nb\"}",
            "# a \\\n{print}",
            "{print 'x'}",
            "{print \"a\"",
            "{x++ /2/ 1}",
            "{$/x/}",
        ],
    );
}

#[test]
fn unknown_awk_functions_and_words_are_refused() {
    all_doubted(
        Role::Awk,
        &[
            "{foo()}",
            "{print f(1)}",
            "func f(x) {}",
            "{print bindtextdomain(\"x\")}",
            "{`id`}",
            "{print }}",
            "{print (1}",
        ],
    );
}

const JQ: &[&str] = &[
    ".",
    ".a",
    ".a.b[0]",
    ".[]",
    ".a[]?",
    ".[\"x-y\"]",
    ".\"x-y\"",
    "..",
    "keys",
    "length",
    ".a | length",
    "map(.x)",
    "map(select(.n > 3))",
    "to_entries[] | \"\\(.key)=\\(.value)\"",
    "{a, b: .c, \"d\": 1, (.e): .f}",
    "{env: .env, input_filename}",
    ".env",
    ".env.PATH",
    ".a // \"x\"",
    "if .a then 1 elif .b then 2 else 3 end",
    "reduce .[] as $x (0; . + $x)",
    "foreach .[] as [$a, $b] (0; . + $a; [., $b])",
    "def f(x; $y): x + $y; f(.a; 1)",
    "@csv",
    "@base64 \"x\\(.a)\"",
    "[.[] | {name, v: .version}]",
    "del(.a)",
    ".a = 1",
    ".a |= . + 1",
    "sort_by(.x) | reverse",
    "limit(5; .[])",
    "group_by(.a) | map({k: .[0].a, n: length})",
    "input",
    "[inputs]",
    "try error(\"x\") catch .",
    "label $out | 1, break $out",
    "# env\n.a",
    "\"a # b env $ENV\"",
    "$x",
    "$__loc__",
    ".[2:4]",
    ".[-1]",
    ".a as {b: $c} | $c",
    "walk(if type == \"number\" then . + 1 else . end)",
    "with_entries(.value |= tostring)",
    "test(\"a(b\"; \"i\")",
    ".a?.b",
    "1.5e3",
    "-(1)",
    ". as [$a] ?// $a | $a",
    "now | todate",
    "{a: {b: [1, 2]}}",
];

#[test]
fn jq_filters_that_compute_are_harmless() {
    all_harmless(Role::Jq, JQ);
}

#[test]
fn jq_showing_the_environment_says_so() {
    assert_eq!(uses(&program(Role::Jq, "env.LANG")), ["env LANG"]);
    assert_eq!(uses(&program(Role::Jq, "$ENV.LANG")), ["env LANG"]);
    for code in [
        "env",
        "$ENV",
        "env | keys",
        "{a: env}",
        "{a: [1, env]}",
        "\"\\(env)\"",
        "\"\\(\"\\(env)\")\"",
        "$ENV[\"A\"]",
        "{(env|tostring): 1}",
        "{$ENV}",
        "1.env",
        "..env",
        ". env",
        "[.[]|env]",
        "@text \"\\(env)\"",
        "env#\n.A",
    ] {
        assert_eq!(program(Role::Jq, code).effects.len(), 1, "{code}");
    }
}

#[test]
fn jq_filters_that_load_other_files_are_refused() {
    all_doubted(
        Role::Jq,
        &[
            "import \"a\" as b; .",
            "include \"a\"; .",
            "m::f",
            "input_filename",
            "modulemeta",
            "get_search_list",
            "def env: 1; env",
        ],
    );
}

#[test]
fn jq_texts_that_are_not_understood_are_refused() {
    all_doubted(
        Role::Jq,
        &[
            "foo",
            "foo(1)",
            "(",
            ")",
            "\"a",
            "\"\\(1\"",
            "{a",
            "@foo",
            "$",
            "$ ENV",
            "`",
            "# a \\\nenv",
            "def f 1; f",
            ".\\",
            "{a: if 1 then (1), env, 2 else 3 end}",
        ],
    );
}

#[test]
fn a_program_text_that_is_not_known_is_a_doubt() {
    for role in [Role::Sed, Role::Awk, Role::Jq, Role::Code] {
        let mut reading = Default::default();
        super::super::embedded(role, &unknown("p"), &mut reading);
        assert_eq!(reading.doubts.len(), 1);
    }
}

#[test]
fn every_alternative_of_a_program_text_must_be_fine() {
    let value = Value::OneOf(vec!["p".into(), "e".into()]);
    let mut reading = Default::default();
    super::super::embedded(
        Role::Sed,
        &Arg {
            value,
            span: Default::default(),
        },
        &mut reading,
    );
    assert_eq!(reading.doubts.len(), 1);
}

#[test]
fn nesting_is_bounded() {
    for (role, open, close) in [(Role::Sed, "{", "}"), (Role::Awk, "(", ")"), (Role::Jq, "(", ")")] {
        let deep = open.repeat(100_000) + &close.repeat(100_000);
        assert_eq!(doubts(&program(role, &deep)).len(), 1, "{role}");
    }
}

/// Texts of pieces that mean something to these languages.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "s",
        "/",
        "\\",
        "\n",
        "e",
        "w",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "\"",
        "$",
        "a",
        "env",
        "print",
        ">",
        "|",
        "getline",
        "<",
        "ENVIRON",
        "ARGV",
        "PROCINFO",
        "sorted_in",
        "=",
        ",",
        ";",
        ":",
        ".",
        "@",
        "#",
        "é",
        "\u{10ffff}",
        "1",
        " ",
        "\\(",
        "~",
        "!",
        "def",
        "function",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
    ]
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(code in text()) {
        for role in [Role::Sed, Role::Awk, Role::Jq] {
            program(role, &code);
        }
        command(&[word("yq"), word(&format!(".{code}"))]);
    }
}
