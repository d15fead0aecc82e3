//! How long the parser and the scan take over 64 KiB of hostile text: `cargo bench --bench shell`.

use std::time::{Duration, Instant};

use countersign::shell::{MAX_BYTES, parse, scan};

/// What each answer may take.
const LIMIT: Duration = Duration::from_millis(50);

fn main() {
    println!("{:<28} {:>12} {:>12}  answer", "64 KiB of", "parse", "scan");
    let mut slowest = Duration::ZERO;
    for (name, source) in shapes() {
        let (parsed, answer) = timed(|| match parse(&source) {
            Ok(_) => "accepted".to_owned(),
            Err(refusal) => refusal.what,
        });
        let (scanned, _) = timed(|| scan(&source).len());
        slowest = slowest.max(parsed).max(scanned);
        println!("{name:<28} {parsed:>12.3?} {scanned:>12.3?}  {answer}");
    }
    println!("slowest: {slowest:.3?} (limit {LIMIT:?})");
}

/// The best of five.
fn timed<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut best = Duration::MAX;
    loop {
        let mut result = None;
        for _ in 0..5 {
            let start = Instant::now();
            result = Some(work());
            best = best.min(start.elapsed());
        }
        if let Some(result) = result {
            return (best, result);
        }
    }
}

fn shapes() -> Vec<(String, String)> {
    let pieces = [
        "(",
        "((",
        "$(",
        "$((",
        "`",
        "\"",
        "'",
        "${v:-",
        "{a,",
        "{",
        "[[ ",
        "[",
        "<<A",
        "<<A<<B",
        "a",
        "a ",
        "a;",
        "a\n",
        "\\\n",
        "\\",
        "#",
        "a=",
        "a=(",
        "if ",
        "case a in a) ",
        "\"$(",
        "`\\`",
        "$",
        "~",
        "*",
        "=",
        "\n",
        ";",
        "&",
        "<(",
        "! ",
        "é",
        "'a' ",
        "\"a\" ",
        "$v ",
        "a|",
        "a&&",
        "{a,b}",
        "k <<A\nA\n",
        "2>a ",
        "$'\\n'",
        "a\\\n",
    ];
    let mut shapes: Vec<(String, String)> = pieces
        .iter()
        .map(|piece| (format!("{piece:?}"), fill("", piece, "")))
        .collect();
    shapes.push(("one long word".into(), fill("k ", "a", "")));
    shapes.push(("one long quote".into(), fill("k '", "a;", "'")));
    shapes.push(("one long double quote".into(), fill("k \"", "$v", "\"")));
    shapes.push(("many words".into(), fill("k", " a", "")));
    shapes.push(("many ranges".into(), fill("k", " {1..256}", "")));
    shapes.push(("one long here-document".into(), fill("k <<E\n", "$v `k`\n", "E\n")));
    shapes.push(("one long quoted body".into(), fill("k <<'E'\n", "E \n", "E\n")));
    shapes.push(("one long backquote".into(), fill("k `k", " a", "`")));
    shapes.push(("many delimiters on a line".into(), fill("k ", "<<A ", "\nA\n")));
    shapes.push((
        "nested backquoted bodies".into(),
        fill("k <<E\n`k <<F\n", "$(k <<G\n\nG\n)", "\nF\n`\nE\n"),
    ));
    shapes.push(("a long arithmetic".into(), fill("k $((1", " + v", "))")));
    shapes.push(("a long array".into(), fill("a=(", "x ", ")")));
    shapes.push(("a long comment".into(), fill("#", " a", "")));
    shapes
}

fn fill(start: &str, piece: &str, end: &str) -> String {
    let count = (MAX_BYTES - start.len() - end.len()) / piece.len();
    format!("{start}{}{end}", piece.repeat(count))
}
