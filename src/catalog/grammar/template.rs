//! Reads templates of Go for what describes a container: whether they only name fields that hold no environment.

use super::{Reading, discloses_environment};
use crate::shell::Span;

/// What `docker inspect` tells of an object, but for what it was started with and how it is configured.
const FIELDS: &[&str] = &[
    "Architecture",
    "Created",
    "Driver",
    "Id",
    "Image",
    "Mounts",
    "Name",
    "NetworkSettings",
    "Os",
    "Platform",
    "RepoDigests",
    "RepoTags",
    "RestartCount",
    "Size",
    "State",
];

pub(super) fn read(text: &str, _: Span, reading: &mut Reading) -> Result<(), String> {
    if !names_such_fields(text) {
        discloses_environment(reading);
    }
    Ok(())
}

/// A text without `{{` may be the name of a format that shows all.
fn names_such_fields(text: &str) -> bool {
    // Of each open block, whether the dot is a part of such a field in it.
    let mut blocks: Vec<bool> = Vec::new();
    let mut actions = text.split("{{").skip(1).peekable();
    actions.peek().is_some()
        && actions.all(|part| {
            let Some((action, _)) = part.split_once("}}") else {
                return false;
            };
            let action = action.strip_prefix("- ").unwrap_or(action);
            let action = action.strip_suffix(" -").unwrap_or(action);
            let inside = blocks.contains(&true);
            match action.split_whitespace().collect::<Vec<_>>()[..] {
                ["end"] => blocks.pop().is_some(),
                ["range" | "with", path] | ["range", _, ":=", path] | ["range", _, _, ":=", path] => {
                    blocks.push(true);
                    is_such(path, inside)
                }
                ["if", path] => {
                    blocks.push(false);
                    is_such(path, inside)
                }
                [path] | ["json", path] => is_such(path, inside),
                _ => false,
            }
        })
}

/// `.State.Status`, or `$NAME.Status`: a variable is set by `range` alone. `$` itself is all that there is.
fn is_such(path: &str, inside: bool) -> bool {
    let mut names = path.split('.');
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match names.next() {
        Some("") if path == "." => inside,
        Some("") => {
            let first = names.clone().next().unwrap_or_default();
            (inside || FIELDS.contains(&first)) && names.all(is_name)
        }
        Some(variable) => variable.strip_prefix('$').is_some_and(is_name) && names.all(is_name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_of_harmless_fields_names_no_other() {
        for text in [
            "{{.State.Status}}",
            "{{.Name}}: {{json .State.Health}}",
            "{{- .Id -}}",
            "{{range .Mounts}}{{.Source}} {{.}}{{end}}",
            "{{range $k, $v := .NetworkSettings.Networks}}{{$k}}={{$v.IPAddress}}{{end}}",
            "{{if .State.Running}}{{.State.Pid}}{{end}}",
            "{{with .State}}{{.Status}}{{end}}",
        ] {
            assert!(names_such_fields(text), "{text}");
        }
    }

    #[test]
    fn all_else_may_show_the_environment() {
        for text in [
            "",
            "json",
            "{{.}}",
            "{{json .}}",
            "{{$}}",
            "{{.Config.Env}}",
            "{{.State.Status}}{{.Config}}",
            "{{range .Mounts}}{{$.Config.Env}}{{end}}",
            "{{range .Mounts}}{{end}}{{.Config}}",
            "{{range .Mounts}}{{else}}{{.Config}}{{end}}",
            "{{if .State}}{{.Config}}{{end}}",
            "{{if .State}}{{.}}{{end}}",
            "{{range $x := .}}{{$x.Env}}{{end}}",
            "{{range .Mounts}}{{end}}{{end}}{{.Config}}",
            "{{with $x := .Config}}{{$x}}{{end}}",
            "{{index .State .Config}}",
            "{{.State | printf .Config}}",
            "{{ .State",
            "{{.State}} {{`}}`}} {{.Config}}",
            "{{.State.(.Config)}}",
            "{{/* }}{{ */}}{{.Config}}",
        ] {
            assert!(!names_such_fields(text), "{text}");
        }
    }
}
