//! Makes scripts whose words the assessment computes: variables, loops, arithmetic, positional words, substitutions.

use crate::random::Random;

/// A script of programs of the catalog.
pub fn script(random: &mut Random) -> String {
    let count = 1 + random.below(4);
    let commands: Vec<String> = (0..count).map(|_| command(random, 2)).collect();
    commands.join(if random.chance(50) { "; " } else { "\n" })
}

fn command(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.chance(45) {
        return simple(random);
    }
    let inner = |random: &mut Random| command(random, depth - 1);
    match random.below(11) {
        0 => format!("for v in {} {}; do {}; done", word(random), word(random), inner(random)),
        1 => format!("i=0; while [ $i -lt 2 ]; do {}; i=$((i+1)); done", inner(random)),
        2 => format!("for ((i=0; i<2; i++)); do {}; done", inner(random)),
        3 => format!(
            "if {}; then {}; else {}; fi",
            inner(random),
            inner(random),
            inner(random)
        ),
        4 => format!("{{ {}; }}", inner(random)),
        5 => format!("( {} )", inner(random)),
        6 => format!("{} | {}", simple(random), simple(random)),
        7 => format!(
            "while read -r v; do {}; done <<'E'\none\n  two\n-x\n\nE\n",
            simple(random)
        ),
        8 => format!(
            "case {} in a*) {};; *) {};; esac",
            word(random),
            inner(random),
            inner(random)
        ),
        9 => format!("eval '{}'", quotable(random)),
        _ => format!("{} && {} || {}", inner(random), simple(random), simple(random)),
    }
}

fn simple(random: &mut Random) -> String {
    if random.chance(35) {
        return assignment(random);
    }
    let programs = ["cat", "wc", "ls", "head", "stat"];
    let count = 1 + random.below(3);
    let words: Vec<String> = (0..count).map(|_| word(random)).collect();
    format!("{} {}", random.pick(&programs), words.join(" "))
}

fn assignment(random: &mut Random) -> String {
    let name = random.pick(&["a", "b", "i", "v"]);
    match random.below(6) {
        0 => format!(
            "{name}=$(({}+{}))",
            random.pick(&["i", "a", "1", "$i"]),
            random.below(9)
        ),
        1 => format!("(({name}++))"),
        2 => format!("{name}+={}", word(random)),
        3 => format!("unset {name}"),
        4 => format!("read -r {name} <<< {}", word(random)),
        _ => format!("{name}={}", word(random)),
    }
}

/// Without single quotes, so that it can stand inside of them.
fn quotable(random: &mut Random) -> String {
    loop {
        let text = simple(random);
        if !text.contains('\'') {
            return text;
        }
    }
}

fn word(random: &mut Random) -> String {
    let pieces = [
        "x",
        "y1",
        "'q r'",
        "\"s t\"",
        "$a",
        "\"$a\"",
        "${b}",
        "\"${b}\"",
        "$i",
        "\"$i\"",
        "$v",
        "\"$v\"",
        "\"$1\"",
        "$2",
        "\"$@\"",
        "$#",
        "${#a}",
        "$((i+1))",
        "\"$((a + 2))\"",
        "${a:-d}",
        "\"${b:-e f}\"",
        "{1,2}",
        "{p,'q r'}",
        "\\$a",
        "$'n\\tt'",
        "*.none",
        "~",
        "a=b",
        "",
        "=x",
        "1..3",
        "{1..3}",
        "[z]",
        "\"\"",
        "''",
        "-n",
        "$(ls)",
        "\"$(ls)\"",
        "a\\ b",
        "#c",
        "%",
        "^d",
        "!",
        "+",
        "@",
        ":",
        ",",
    ];
    let count = 1 + usize::from(random.chance(35));
    let text: String = (0..count).map(|_| random.pick(&pieces).to_owned()).collect();
    if text.is_empty() { "w".to_owned() } else { text }
}
