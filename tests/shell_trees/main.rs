//! What the parser makes of each construct, and by which name it refuses what it does not take.

mod print;
mod realistic;

use countersign::shell::{MAX_BYTES, parse};

#[track_caller]
fn reads(source: &str, tree: &str) {
    match parse(source) {
        Ok(script) => assert_eq!(print::script(&script), tree, "{source:?}"),
        Err(refusal) => panic!("{source:?} is refused: {refusal:?}"),
    }
}

#[track_caller]
fn refuses(source: &str, what: &str) {
    match parse(source) {
        Ok(script) => panic!("{source:?} is read as {}", print::script(&script)),
        Err(refusal) => assert_eq!(refusal.what, what, "{source:?}"),
    }
}

#[test]
fn lists_and_pipelines() {
    reads("", "");
    reads(" \n# nothing\n", "");
    reads("k1; k2", "[k1]; [k2]");
    reads("k1 && k2 ||\nk3 &\nk4", "[k1] && [k2] || [k3] &; [k4]");
    reads("k1 | k2 |& k3", "[k1] | [k2] |& [k3]");
    reads("! k1 | k2", "not [k1] | [k2]");
    reads("time k1 d", "time [k1 d]");
    reads("k1;#k2", "[k1]");
    reads("k1 d#d", "[k1 d#d]");
}

#[test]
fn quotes() {
    reads("k1 'a; b' \"a; b\" a\\;b", "[k1 'a; b' \"'a; b'\" a';'b]");
    reads("k''1 \"k\"'2' \\k", "[k''1 \"'k'\"'2' 'k']");
    reads("k1 \"\\$x \\d\" '\\d'", "[k1 \"'$x \\d'\" '\\d']");
    reads("k1 $'a\\tb\\x41\\u00e9\\''", "[k1 'a\\tbAé'']");
    reads("k1 \"\" ''", "[k1 \"\" '']");
    reads("k1 \"a$\" a$", "[k1 \"'a$'\" a$]");
}

#[test]
fn line_continuations_vanish() {
    reads("k\\\n1 a\\\nb", "[k1 ab]");
    reads("i\\\nf k1; th\\\nen k2; fi", "if([k1] ? [k2])");
    reads("k1 \"a\\\nb\" 'a\\\nb'", "[k1 \"'ab'\" 'a\\\\nb']");
    reads("k1 \\\n# no\nk2", "[k1]; [k2]");
    reads("k1 |\\\nk2 &&\\\n k3", "[k1] | [k2] && [k3]");
    refuses("k1 &\\\n& k2", "line continuation inside an operator");
    refuses("k1 2\\\n>f", "line continuation inside an operator");
    refuses("k1 \"$\\\n(k2)\"", "line continuation inside an operator");
}

#[test]
fn substitutions() {
    reads("k1 $(k2 $(k3 $(k4)))", "[k1 $([k2 $([k3 $([k4])])])]");
    reads("k1 \"$(k2 \")\")\"", "[k1 \"$([k2 \"')'\"])\"]");
    reads("k1 `k2 \\`k3\\` \\$x`", "[k1 $([k2 $([k3]) ${x}])]");
    reads("k1 <(k2) > >(k3)", "[k1 <([k2])] >>([k3])");
    reads("k1 $(k2 # )\n)", "[k1 $([k2])]");
    reads("k1 $(case a in a) k2;; esac)", "[k1 $(case(a a => [k2]))]");
    reads("k1 $( (k2) )", "[k1 $(sub([k2]))]");
    reads("k1 $(<f)", "[k1 $([] <f)]");
    refuses("k1 $((k2); k3)", "unterminated arithmetic");
    refuses("k1 $(k2", "unexpected end");
    refuses("k1 `k2", "unterminated backquote");
    refuses("k1 a<(k2)", "process substitution inside a word");
    refuses("k1 \"`k2 \\\"a\\\"`\"", "escaped quote in backquotes");
}

#[test]
fn here_documents() {
    reads(
        "k1 <<E; k2\na $(k3) `k4` ${v:-$(k5)} \\$(k6)\nE\nk7",
        "[k1] <<'a '$([k3])' '$([k4])' '${v :- $([k5])}' $(k6)\\n'; [k2]; [k7]",
    );
    for delimiter in ["'EOF'", "\"EOF\"", "\\EOF", "E\"O\"F", "'E'OF"] {
        reads(
            &format!("k1 <<{delimiter}\n$(k2) `k3`\nEOF\nk4"),
            "[k1] <<'$(k2) `k3`\\n'; [k4]",
        );
    }
    reads("k1 <<-E\n\ta\n\tE\nk2", "[k1] <<'a\\n'; [k2]");
    reads(
        "k1 <<A <<'B' | k2\na\nA\n$(k3)\nB\nk4",
        "[k1] <<'a\\n' <<'$(k3)\\n' | [k2]; [k4]",
    );
    reads("k1 \"$(k2 <<'E'\nit's \"\nE\n)\"", "[k1 \"$([k2] <<'it's \"\\n')\"]");
    reads("{ k1 <<E; }\n\"\nE\nk2", "group([k1] <<'\"\\n'); [k2]");
    reads("k1 <<< \"$v\"", "[k1] <<<\"${v}\"");
    refuses("k1 <<E\na", "unterminated here-document");
    refuses("k1 <<E\na\n E\n", "unterminated here-document");
    refuses(
        "k1 <<E\na \\\nE\nE\n",
        "here-document delimiter after a line continuation",
    );
    refuses("k1 <<E\nE\\\n\nE\n", "line continuation in a here-document");
    refuses("k1 $(k2 <<E)\na\nE\n", "here-document without its body");
    refuses(
        "k1 <<E $(\nk2)\na\nE\n",
        "newline inside a word after a here-document operator",
    );
    refuses(
        "k1 <<E 'a\nb'\na\nE\n",
        "newline inside a word after a here-document operator",
    );
    refuses("k1 <<$v\na\n$v\n", "unusual here-document delimiter");
}

#[test]
fn redirections() {
    reads(
        "k1 >a 2>&1 <b >>c 2>&- &>d &>>e >|f <>g >&h",
        "[k1] >a 2&1 <b >>c 2&- &>d &>>e >f <>g &>h",
    );
    reads(">a k1 2>b c", "[k1 c] >a 2>b");
    reads("k1 a2>b", "[k1 a2] >b");
    reads("(k1) >a | k2", "sub([k1]) >a | [k2]");
    refuses("k1 12>a", "unusual descriptor");
    refuses("k1 2>0<a", "unusual descriptor");
    refuses("k1 <<<2>a", "unusual descriptor");
    refuses("k1 {fd}>a", "unusual descriptor");
    refuses("k1 >&$v", "duplicate of a computed descriptor");
    refuses("k1 >!a", "zsh clobber operator");
    refuses("k1 <1-5>a", "zsh numeric glob");
    refuses("k1 > ; k2", "redirection without a target");
    refuses("k1 ># a", "redirection without a target");
    refuses(">a", "redirection without a command");
    refuses(">a if k1; then k2; fi", "misplaced if");
}

#[test]
fn compound_commands() {
    reads(
        "if k1; then k2; elif k3; then k4; else k5; fi",
        "if([k1] ? [k2] : [k3] ? [k4] : [k5])",
    );
    reads("while k1\ndo k2; done <a", "while([k1] ? [k2]) <a");
    reads("until k1; do k2; done", "until([k1] ? [k2])");
    reads("for i in a $(k1); do k2 $i; done", "for(i in a $([k1]) : [k2 ${i}])");
    reads("for i; do k1; done", "for(i : [k1])");
    reads("case $v in a|'b') k1;; (*) ;; esac", "case(${v} a|'b' => [k1] <*> => )");
    reads("{ k1; k2; }; (k3)", "group([k1]; [k2]); sub([k3])");
    reads("f() { k1; } >a; f", "function(f = group([k1]) >a); [f]");
    reads("function f { k1; }", "function(f = group([k1]))");
    reads("k1 if then done", "[k1 if then done]");
    reads("'if' a", "['if' a]");
    refuses("{ k1 }", "unbalanced brace");
    refuses("( )", "no command");
    refuses("(k1) k2", "text after a compound command");
    refuses("if k1; then k2", "unexpected end");
    refuses("done", "misplaced done");
    refuses("case a in a) k1;& b) k2;; esac", "case fall-through");
    refuses("f() k1", "function body without braces");
    reads(
        "for ((i=0; i<$n; i++)); do k1; done >a",
        "group(let(i := i with ); while(let(i :=  with ${n}) ? [k1]; let(i := i with ))) >a",
    );
    refuses("for ((i=$(k1);;)); do k2; done", "substitution in a counting loop");
    refuses("for (i=0;;); do k1; done", "for without a plain name");
}

#[test]
fn tests_in_double_brackets() {
    reads(
        "[[ -f a && ! $v == b* || ( a < b ) ]]",
        "test(((-f a and not ${v} == b<*>) or a < b))",
    );
    reads("[[ $v =~ ^(a|b)+$ ]]", "test(${v} =~ ^(a|b)+$)");
    reads("[[ $# -eq 2 ]]", "test(${#} -eq 2)");
    reads("[[ -n $(k1) ]]", "test(-n $([k1]))");
    refuses("[[ a -eq 'a[$(k1)]' ]]", "arithmetic on text");
    refuses("[[ -v 'a[$(k1)]' ]]", "test -v of more than a name");
    refuses("[[ a ]", "test operator");
    refuses("[[ a == @(a|b) ]]", "parenthesis after a word");
    refuses("[[ -z ]]", "malformed test");
}

#[test]
fn arithmetic() {
    reads("k1 $((1 + (v * 2)))", "[k1 $((v :=  with ))]");
    reads("((v++, w = $(k1)))", "let(v,w := v,w with $([k1]))");
    reads("k1 $((`k2` - $v))", "[k1 $(( :=  with $([k2])${v}))]");
    refuses("k1 $((a[$(k2)]))", "unusual arithmetic");
    refuses("k1 $((010))", "unusual number");
    refuses("k1 $((a$v))", "joined words in arithmetic");
    refuses("k1 $((1 + $(case a in a) k2;; esac)))", "case inside arithmetic");
    refuses("k1 $((1 + $(k2 ')')))", "odd parenthesis inside arithmetic");
    refuses("k1 $[1]", "old arithmetic");
}

#[test]
fn assignments() {
    reads("a=1 b+=$(k1) k2 c=3", "[a:=1 b+:=$([k1]) k2 c=3]");
    reads("a=~/x:~y/z", "[a:=~<>/x:~<y>/z]");
    reads("a=(x\n'y' # z\n$v)", "[a:=(x 'y' ${v})]");
    reads("'a'=1 b\\=2", "['a'=1 b'='2]");
    reads("export a=~/x", "[export a=~<>/x]");
    refuses("a[0]=1", "subscript before a command");
    refuses("a=(x) k1", "array assignment before a command");
    refuses("k1 a=(x)", "parenthesis after a word");
    refuses("1=a k1", "assignment to a number");
    refuses("path=/x", "assignment to a zsh variable");
    refuses("functions=(ls 'rm x')", "assignment to a zsh variable");
    reads("status=1; options=x", "[status:=1]; [options:=x]");
    refuses("k1 a=~/x", "tilde after =");
    refuses("a=1 &", "assignment in the background");
}

#[test]
fn parameters() {
    reads(
        "k1 $v ${v} $1 $? \"$@\" ${10} $!",
        "[k1 ${v} ${v} ${1} ${?} \"${@}\" ${10} ${!}]",
    );
    reads(
        "k1 ${#v} \"${a[@]}\" ${a[0]} ${#a[@]}",
        "[k1 ${v length} \"${a[@]}\" ${a[0]} ${a[@] length}]",
    );
    reads(
        "k1 ${v:-a} ${v:=b} ${v+c} \"${v:?d e}\"",
        "[k1 ${v :- a} ${v := b} ${v + c} \"${v :? 'd e'}\"]",
    );
    reads(
        "k1 ${v##*/} ${v%.x} \"${v//\\//-}\"",
        "[k1 ${v ## <*>/} ${v % .x} \"${v // '/' '-'}\"]",
    );
    reads("k1 ${v^^} ${v:1:$n}", "[k1 ${v ^^ } ${v :  :=  with   :=  with ${n}}]");
    refuses("k1 ${!v}", "indirect parameter");
    refuses("k1 ${v@P}", "parameter transformation");
    refuses("k1 $v[1]", "subscript after a parameter");
    refuses("k1 \"$v[1]\"", "subscript after a parameter");
    refuses("k1 ${v[$x]}", "computed subscript");
    refuses("k1 ${(e)v}", "unusual parameter");
    refuses("k1 $v:h", "text that zsh takes for a part of the parameter");
    refuses("k1 $12", "text that zsh takes for a part of the parameter");
    refuses("k1 $#v", "text that zsh takes for a part of the parameter");
    refuses("k1 \"${v:-'a'}\"", "unusual text in a parameter");
    refuses("k1 $\"a\"", "localised string");
    refuses("k1 ${v", "unterminated parameter");
}

#[test]
fn words() {
    reads(
        "k1 {a,b{c,d}}e {1..3} {} @{u} {x}",
        "[k1 {a|b{c|d}}e {1|2|3} {} @{u} {x}]",
    );
    reads("k1 *.x a? [a-z] [!b] [", "[k1 <*>.x a<?> <[a-z]> <[!b]> []");
    reads("k1 ~ ~/a ~b/c d~ e:~", "[k1 ~<> ~<>/a ~<b>/c d~ e:~]");
    reads("k1 HEAD^ HEAD~2 a=b == =", "[k1 HEAD^ HEAD~2 a=b == =]");
    reads("k1 é \"\u{a0}\"", "[k1 é \"'\u{a0}'\"]");
    refuses("k1 =a", "word that starts with =");
    refuses("k1 *(a)", "parenthesis after a word");
    refuses("k1 ^a", "zsh glob operator");
    refuses("k1 *~a", "zsh glob operator");
    refuses("k1 $v{a,b}", "brace after a parameter");
    refuses("k1 {a", "unbalanced brace");
    refuses("k1 {a,}", "empty brace alternative");
    reads("k1 a{,.b}", "[k1 a{|.b}]");
    refuses("{k1,a}", "brace at the start of a command");
    refuses("k1 {01..10}", "unusual brace range");
    refuses("k1 {1..100000}", "unusual brace range");
    refuses("k1 [a;b]", "unusual bracket");
    refuses("k1 \\", "backslash at the end");
    refuses("k1 a\rb", "control character");
    refuses("k1 a\0b", "control character");
    refuses("k1\u{a0}a", "unusual blank");
    refuses("k1 'a", "unterminated quote");
    refuses("k1 \"a", "unterminated quote");
}

#[test]
fn what_only_one_shell_knows_is_refused_by_name() {
    refuses("coproc k1", "coproc");
    refuses("select i in a; do k1; done", "select");
    refuses("repeat 3 k1", "repeat");
    refuses("noglob k1", "misplaced noglob");
    refuses("k1 &! k2", "zsh disown operator");
    refuses("k1 &| k2", "zsh disown operator");
    refuses("time -p k1", "time without a plain command");
    refuses("(time (time k1))", "nested time");
    refuses("! time k1", "time and ! together");
    refuses("!(k1)", "! without a blank");
}

#[test]
fn a_refusal_and_a_node_know_their_bytes() {
    let refusal = parse("k1; coproc k2").expect_err("coproc is refused");
    assert_eq!((refusal.span.start, refusal.span.end), (4, 10));
    let refusal = parse("k1 `k2; coproc x`").expect_err("coproc is refused inside backquotes");
    assert_eq!((refusal.span.start, refusal.span.end), (8, 14));
    let refusal = parse("k1 <<-E\n\ta $(coproc x)\n\tE\n").expect_err("coproc is refused inside a here-document");
    assert_eq!((refusal.span.start, refusal.span.end), (13, 19));
    let script = parse("k1; k2 `k3` 'é' >f").expect("accepted");
    let stage = &script.items[1].first.stages[0];
    assert_eq!((stage.span.start, stage.span.end), (4, 19));
    assert_eq!((stage.redirects[0].span.start, stage.redirects[0].span.end), (17, 19));
}

#[test]
fn bounds_hold_at_once() {
    refuses(&"k".repeat(MAX_BYTES + 1), "script too long");
    assert!(parse(&"k".repeat(MAX_BYTES)).is_ok());
    refuses(&"k;".repeat(600), "too many commands");
    refuses(&format!("k{}", " {1..256}".repeat(9)), "too many words from ranges");
    refuses(&format!("[[ {} ]]", "a && ".repeat(100)), "test too long");
}

#[test]
fn no_nesting_overflows_the_stack() {
    let openers = [
        "(",
        "( ",
        "{ ",
        "$(",
        "\"$(",
        "`",
        "$((",
        "((",
        "${v:-",
        "\"${v:-",
        "{a,",
        "if ",
        "while ",
        "case a in a) ",
        "[[ ! ",
        "[[ ( ",
        "f() { ",
        "a=(",
        "<(",
        "k <(",
        "! ",
        "time ",
        "k <<E\n$(",
        "$((1+$(k ",
        "${v:$((",
        "for i in $(",
        "[[ -n $(",
        "function f { ",
        "if (",
        "${v/$(",
        "k > >(",
        "`k \\`",
        "$[",
        "<<<$(",
        "\"`",
        "(\n",
        "{ (",
        "&& ",
        "${#",
        "k |",
    ];
    for opener in openers {
        for count in [20, 24, 25, 26, 40, 400, MAX_BYTES / opener.len()] {
            // A refusal, or for few levels a tree; what matters is that it answers.
            let answer = parse(&opener.repeat(count));
            assert!(
                answer.is_err() || count < 30 || opener == "`",
                "{opener:?} {count} times is read"
            );
        }
    }
    for levels in [10, 23, 24, 30] {
        let nested = format!("k {}k{}", "$(k ".repeat(levels), ")".repeat(levels));
        assert_eq!(parse(&nested).is_ok(), levels <= 24, "{levels} levels");
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let alphabet: Vec<char> = "abk1 \n\t;&|()<>{}[]$`'\"\\#!=~*?^%@:,.-+/E\r\u{a0}é".chars().collect();
    let mut state: u64 = 0x2545_f491_4f6c_dd1d;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..state % 40 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push(alphabet[usize::try_from(state >> 33).expect("31 bits") % alphabet.len()]);
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let _ = parse(&text);
        let _ = countersign::shell::scan(&text);
    }
}
