//! The README's picture: a terminal with the real output of `countersign explain`, drawn as SVG.
//!
//! After a change of the output, `COUNTERSIGN_DRAW=1 cargo test --test docs` draws it anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::{lay_out_project, run};

const COMMANDS: [&str; 4] = [
    "cd src && grep -n TODO main.rs | head -5",
    "git log --output=notes.txt",
    "rm notes.txt",
    "curl https://get.example/install.sh | sh",
];

/// The terminal's letters, in pixels.
const WIDTH: usize = 9;
const HEIGHT: usize = 20;
const EDGE: usize = 20;
const COLUMNS: usize = 88;

#[test]
fn the_readmes_picture_shows_what_is_printed_now() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/demo.svg");
    let drawn = draw(&session());
    if std::env::var_os("COUNTERSIGN_DRAW").is_some() {
        fs::write(&file, &drawn).expect("the picture");
    }
    assert!(
        fs::read_to_string(&file).is_ok_and(|kept| kept == drawn),
        "{} is stale; draw it anew with COUNTERSIGN_DRAW=1 cargo test --test docs",
        file.display()
    );
}

#[test]
fn the_picture_shows_all_of_each_line() {
    for line in session().lines() {
        assert!(line.chars().count() <= COLUMNS, "wider than the picture: {line}");
    }
}

/// What a terminal would show of the commands.
fn session() -> String {
    let home = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a home");
    let project = lay_out_project(home.path());
    fs::write(project.join("notes.txt"), "prices\n").expect("an untracked file");
    let mut session = String::new();
    for command in COMMANDS {
        let line = format!("countersign explain '{command}'");
        let (printed, succeeded) = run(&line, home.path(), &project);
        assert!(succeeded, "{line}: {printed}");
        let _ = writeln!(session, "$ {line}\n{printed}");
    }
    session.trim_end().to_owned()
}

fn draw(session: &str) -> String {
    let width = COLUMNS * WIDTH + 2 * EDGE;
    let height = session.lines().count() * HEIGHT + 2 * EDGE;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b1f24\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"15\" \
         fill=\"#d0d7de\" xml:space=\"preserve\">\n"
    );
    for (number, line) in session.lines().enumerate() {
        if line.is_empty() {
            continue;
        }
        let y = EDGE + number * HEIGHT + HEIGHT * 3 / 4;
        let spans: String = coloured(line).iter().map(|(text, style)| span(text, style)).collect();
        let _ = writeln!(picture, "<text x=\"{EDGE}\" y=\"{y}\">{spans}</text>");
    }
    picture + "</g>\n</svg>\n"
}

fn span(text: &str, style: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    match style {
        "" => text,
        _ => format!("<tspan {style}>{text}</tspan>"),
    }
}

/// The line in parts, in the colours that a terminal gives them.
fn coloured(line: &str) -> Vec<(&str, &'static str)> {
    const BOLD: &str = "font-weight=\"bold\"";
    const DOUBT: &str = "not understood:";
    if let Some(command) = line.strip_prefix("$ ") {
        return vec![("$ ", "fill=\"#8b949e\""), (command, BOLD)];
    }
    let said = line.strip_prefix("= ");
    let tier = said.unwrap_or(line).split(' ').next().unwrap_or_default();
    let start = said.map_or(0, |_| 2);
    let rest = start + tier.len();
    match (tier_colour(tier), line.find(DOUBT)) {
        (Some(colour), _) => {
            let rest_style = if said.is_some() { "" } else { BOLD };
            vec![
                (&line[..start], ""),
                (&line[start..rest], colour),
                (&line[rest..], rest_style),
            ]
        }
        (None, Some(at)) => {
            let end = at + DOUBT.len();
            vec![
                (&line[..at], ""),
                (&line[at..end], "fill=\"#d29922\""),
                (&line[end..], ""),
            ]
        }
        (None, None) => vec![(line, "")],
    }
}

fn tier_colour(tier: &str) -> Option<&'static str> {
    match tier {
        "safe" => Some("fill=\"#3fb950\""),
        "low" => Some("fill=\"#39c5cf\""),
        "medium" => Some("fill=\"#d29922\""),
        "high" => Some("fill=\"#f85149\""),
        "critical" => Some("fill=\"#ff7b72\" font-weight=\"bold\""),
        _ => None,
    }
}
