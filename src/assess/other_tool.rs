//! Tools of the host that need no module of their own, and tools that are not known at all. None is proven.

use super::arguments;
use super::bash::{Gathered, Work};
use crate::call::Text;
use crate::effect::{Action, EffectSpec, Gap, Reach, Undo};
use crate::shell::Span;
use crate::shell::state::State;

/// Tools of the host that hand words to a model or keep the session's own lists. What comes of that asks for itself.
const OF_SESSION: &[&str] = &[
    "Agent",
    "BashOutput",
    "CronList",
    "EnterPlanMode",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
];

/// Judges a call of such a tool.
pub fn call(tool: &str, texts: &[Text], state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    gathered.unlisted(Gap::Program, "what comes of this tool is not known", Span::default());
    let control = |undo| EffectSpec {
        undo,
        ..EffectSpec::of(Action::Control)
    };
    // What a subagent asks for is then asked of nobody.
    if texts.iter().any(|text| text.text == "bypassPermissions") {
        gathered.effect(EffectSpec::of(Action::Privilege), "");
    }
    match tool {
        _ if OF_SESSION.contains(&tool) => return gathered.effect(control(Undo::Nothing), tool),
        "CronDelete" | "EnterWorktree" | "KillBash" | "KillShell" | "TaskStop" => {
            return gathered.effect(control(Undo::Kept), tool);
        }
        // It can remove the work tree with what is in it.
        "ExitWorktree" => return gathered.effect(control(Undo::Lost), tool),
        // Nobody is asked to watch when it runs.
        "CronCreate" | "RemoteTrigger" => gathered.unvouched("what it asks for later"),
        "ListMcpResourcesTool" | "ReadMcpResourceTool" => {
            let spec = EffectSpec {
                reach: Reach::Known,
                ..EffectSpec::of(Action::Connect)
            };
            gathered.effect(spec, "an MCP server");
        }
        "Workflow" => {
            gathered.unvouched("the workflow");
            for literal in texts.iter().flat_map(|text| literals(&text.text)) {
                arguments::judge(&literal, Action::Write, state, work, gathered);
            }
            return;
        }
        _ => gathered.effect(control(Undo::Nothing), tool),
    }
    let action = if tool == "ReadMcpResourceTool" {
        Action::Read
    } else {
        Action::Write
    };
    for text in texts {
        arguments::judge(text, action, state, work, gathered);
    }
}

/// The texts that stand between quotes in a script, whatever its language.
fn literals(script: &str) -> Vec<Text> {
    let mut literals = Vec::new();
    let mut rest = script;
    while let Some((at, quote)) = rest.char_indices().find(|(_, c)| ['"', '\'', '`'].contains(c)) {
        let inside = &rest[at + 1..];
        let Some((text, after)) = inside.split_once(quote) else {
            rest = inside;
            continue;
        };
        literals.push(Text {
            key: String::new(),
            text: text.to_owned(),
        });
        rest = after;
    }
    literals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_between_quotes_of_any_kind_are_found() {
        let found = literals("run(\"a 'b'\", 'c', `d`); it's");
        let texts: Vec<&str> = found.iter().map(|literal| literal.text.as_str()).collect();
        assert_eq!(texts, ["a 'b'", "c", "d"]);
    }
}
