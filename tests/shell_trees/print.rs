//! Prints a tree in one line, every kind of node with marks of its own.

use countersign::shell::ast::*;

pub fn script(script: &Script) -> String {
    let items = script.items.iter().map(|item| {
        let rest: String = item
            .rest
            .iter()
            .map(|(connector, next)| match connector {
                Connector::And => format!(" && {}", pipeline(next)),
                Connector::Or => format!(" || {}", pipeline(next)),
            })
            .collect();
        let end = if item.background { " &" } else { "" };
        format!("{}{rest}{end}", pipeline(&item.first))
    });
    items.collect::<Vec<_>>().join("; ")
}

fn pipeline(pipeline: &Pipeline) -> String {
    let mut text = String::new();
    text.push_str(if pipeline.timed { "time " } else { "" });
    text.push_str(if pipeline.negated { "not " } else { "" });
    for (index, part) in pipeline.stages.iter().enumerate() {
        if index > 0 {
            text.push_str(if pipeline.stages[index - 1].pipes_stderr {
                " |& "
            } else {
                " | "
            });
        }
        text.push_str(&stage(part));
    }
    text
}

fn stage(stage: &Stage) -> String {
    let redirects: String = stage.redirects.iter().map(|it| format!(" {}", redirect(it))).collect();
    format!("{}{redirects}", command(&stage.command))
}

fn command(command: &Command) -> String {
    match command {
        Command::Simple {
            assignments,
            words: list,
        } => {
            let assigned = assignments.iter().map(assignment);
            format!(
                "[{}]",
                assigned.chain(list.iter().map(word)).collect::<Vec<_>>().join(" ")
            )
        }
        Command::Group(inner) => format!("group({})", script(inner)),
        Command::Subshell(inner) => format!("sub({})", script(inner)),
        Command::If { branches, otherwise } => {
            let branches: Vec<String> = branches
                .iter()
                .map(|(test, body)| format!("{} ? {}", script(test), script(body)))
                .collect();
            let otherwise = otherwise
                .as_ref()
                .map(|body| format!(" : {}", script(body)))
                .unwrap_or_default();
            format!("if({}{otherwise})", branches.join(" : "))
        }
        Command::While { until, condition, body } => {
            format!(
                "{}({} ? {})",
                if *until { "until" } else { "while" },
                script(condition),
                script(body)
            )
        }
        Command::For {
            name,
            words: None,
            body,
        } => format!("for({name} : {})", script(body)),
        Command::For {
            name,
            words: Some(list),
            body,
        } => format!("for({name} in {} : {})", words(list), script(body)),
        Command::Case { subject, arms } => {
            let arms: String = arms
                .iter()
                .map(|arm| {
                    format!(
                        " {} => {}",
                        arm.patterns.iter().map(word).collect::<Vec<_>>().join("|"),
                        script(&arm.body)
                    )
                })
                .collect();
            format!("case({}{arms})", word(subject))
        }
        Command::Test(inner) => format!("test({})", condition(inner)),
        Command::Arithmetic(inner) => format!("let({})", arithmetic(inner)),
        Command::Function { name, body } => format!("function({name} = {})", stage(body)),
    }
}

fn words(list: &[Word]) -> String {
    list.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn assignment(assignment: &Assignment) -> String {
    let sign = if assignment.append { "+:=" } else { ":=" };
    match &assignment.value {
        AssignedValue::Scalar(value) => format!("{}{sign}{}", assignment.name, word(value)),
        AssignedValue::Array(list) => format!("{}{sign}({})", assignment.name, words(list)),
    }
}

fn condition(inner: &Condition) -> String {
    match inner {
        Condition::Not(inner) => format!("not {}", condition(inner)),
        Condition::And(left, right) => format!("({} and {})", condition(left), condition(right)),
        Condition::Or(left, right) => format!("({} or {})", condition(left), condition(right)),
        Condition::Word(text) => word(text),
        Condition::Unary(operator, text) => format!("{operator} {}", word(text)),
        Condition::Binary(left, operator, right) => format!("{} {operator} {}", word(left), word(right)),
    }
}

fn redirect(redirect: &Redirect) -> String {
    let descriptor = redirect.descriptor.map(|number| number.to_string()).unwrap_or_default();
    let (sign, target) = match &redirect.kind {
        RedirectKind::Read(target) => ("<", word(target)),
        RedirectKind::Write(target) => (">", word(target)),
        RedirectKind::Append(target) => (">>", word(target)),
        RedirectKind::WriteBoth(target) => ("&>", word(target)),
        RedirectKind::AppendBoth(target) => ("&>>", word(target)),
        RedirectKind::ReadWrite(target) => ("<>", word(target)),
        RedirectKind::Duplicate(number) => ("&", number.to_string()),
        RedirectKind::Close => ("&", "-".into()),
        RedirectKind::HereDoc(body) => ("<<", word(body)),
        RedirectKind::HereString(body) => ("<<<", word(body)),
    };
    format!("{descriptor}{sign}{target}")
}

fn word(word: &Word) -> String {
    parts(&word.parts)
}

fn parts(list: &[Part]) -> String {
    list.iter().map(part).collect()
}

fn part(part: &Part) -> String {
    match part {
        Part::Literal(text) => text.clone(),
        Part::Quoted(text) => format!("'{}'", text.replace('\n', "\\n").replace('\t', "\\t")),
        Part::DoubleQuoted(inner) => format!("\"{}\"", parts(inner)),
        Part::Parameter(inner) => parameter(inner),
        Part::CommandSubstitution(inner) => format!("$({})", script(inner)),
        Part::ProcessSubstitution { output, script: inner } => {
            format!("{}({})", if *output { '>' } else { '<' }, script(inner))
        }
        Part::Arithmetic(inner) => format!("$(({}))", arithmetic(inner)),
        Part::Glob(text) => format!("<{text}>"),
        Part::Brace(alternatives) => format!(
            "{{{}}}",
            alternatives.iter().map(|it| parts(it)).collect::<Vec<_>>().join("|")
        ),
        Part::Tilde(name) => format!("~<{}>", name.as_deref().unwrap_or_default()),
    }
}

fn parameter(parameter: &Parameter) -> String {
    let index = parameter
        .index
        .as_ref()
        .map(|index| format!("[{index}]"))
        .unwrap_or_default();
    let operation = match &parameter.operation {
        None => String::new(),
        Some(ParameterOperation::Length) => " length".into(),
        Some(ParameterOperation::Default(operator, text) | ParameterOperation::Strip(operator, text)) => {
            format!(" {operator} {}", word(text))
        }
        Some(ParameterOperation::Replace(operator, pattern, with)) => {
            format!(
                " {operator} {} {}",
                word(pattern),
                with.as_ref().map(word).unwrap_or_default()
            )
        }
        Some(ParameterOperation::Case(operator, pattern)) => {
            format!(" {operator} {}", pattern.as_ref().map(word).unwrap_or_default())
        }
        Some(ParameterOperation::Substring(offset, length)) => {
            format!(
                " : {} {}",
                arithmetic(offset),
                length.as_ref().map(arithmetic).unwrap_or_default()
            )
        }
    };
    format!("${{{}{index}{operation}}}", parameter.name)
}

fn arithmetic(inner: &Arithmetic) -> String {
    format!(
        "{} := {} with {}",
        inner.names.join(","),
        inner.assigned.join(","),
        parts(&inner.parts)
    )
}
