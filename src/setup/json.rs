//! Edits a JSON text in place, so that whatever was not edited keeps its bytes.
//!
//! `wiring` calls this on a person's settings file. It knows JSON and its layout, and nothing of settings.

use std::fmt;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// One step down from an object or an array. A key that is there twice means its last value, as for the host.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A JSON text whose root is an object, with the layout it was found in.
///
/// A leading byte order mark and everything around the root are kept.
#[derive(Debug)]
pub struct Document {
    text: String,
    indent: String,
    newline: &'static str,
}

impl Document {
    /// Reads a text. A blank one counts as an empty object.
    ///
    /// # Errors
    /// When it is not JSON (with line and column) or its root is no object.
    pub fn parse(text: &str) -> Result<Self> {
        let text = if text.trim().is_empty() {
            "{}\n".to_owned()
        } else {
            text.to_owned()
        };
        let value: Value = serde_json::from_str(body(&text))?;
        if !value.is_object() {
            bail!("the outermost value is not an object");
        }
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Ok(Self {
            indent: indent_unit(&text),
            newline,
            text,
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole as a value; key order is kept.
    pub fn value(&self) -> Result<Value> {
        Ok(serde_json::from_str(body(&self.text))?)
    }

    /// Adds a member at the end of the object at `path`.
    pub fn append_member(&mut self, path: &[Step], key: &str, value: &Value) -> Result<()> {
        self.append(path, &format!("{}: ", Value::from(key)), value)
    }

    /// Adds an element at the end of the array at `path`.
    pub fn append_element(&mut self, path: &[Step], value: &Value) -> Result<()> {
        self.append(path, "", value)
    }

    /// Puts another value in the place of the one at `path`.
    pub fn replace(&mut self, path: &[Step], value: &Value) -> Result<()> {
        let span = self.span(path)?;
        let inline = self.parent_is_inline(path)?;
        let margin = line_margin(&self.text, span.start).to_owned();
        let rendered = self.render(value, &margin, inline)?;
        self.text.replace_range(span, &rendered);
        Ok(())
    }

    /// Takes the member or element at `path` out, with its comma and the blanks before it.
    pub fn remove(&mut self, path: &[Step]) -> Result<()> {
        let Some((last, parent)) = path.split_last() else {
            bail!("the root cannot be removed")
        };
        let container = self.span(parent)?;
        let items = self.items(parent)?;
        let at = position(&items, *last).context("nothing is there to remove")?;
        let range = if items.len() == 1 {
            container.start + 1..container.end - 1
        } else if at > 0 {
            items[at - 1].1.end..items[at].1.end
        } else {
            let after = items[0].1.end;
            let comma = self.text[after..]
                .find(',')
                .context("a comma follows every item but the last")?;
            container.start + 1..after + comma + 1
        };
        self.text.replace_range(range, "");
        Ok(())
    }

    /// Whether the object or array at `path` holds nothing.
    pub fn is_empty(&self, path: &[Step]) -> Result<bool> {
        Ok(self.items(path)?.is_empty())
    }

    fn append(&mut self, path: &[Step], label: &str, value: &Value) -> Result<()> {
        let container = self.span(path)?;
        let items = self.items(path)?;
        let inline = self.is_inline(path)?;
        let Some((_, last)) = items.last() else {
            return self.fill(container, label, value, inline);
        };
        let end = last.end;
        let (separator, margin) = if inline {
            (", ".to_owned(), String::new())
        } else {
            let margin = line_margin(&self.text, last.start).to_owned();
            (format!(",{}{margin}", self.newline), margin)
        };
        let rendered = self.render(value, &margin, inline)?;
        self.text.insert_str(end, &format!("{separator}{label}{rendered}"));
        Ok(())
    }

    fn fill(&mut self, container: Range<usize>, label: &str, value: &Value, inline: bool) -> Result<()> {
        let outer = line_margin(&self.text, container.start).to_owned();
        let inner = format!("{outer}{}", self.indent);
        let rendered = self.render(value, &inner, inline)?;
        let filling = if inline {
            format!("{label}{rendered}")
        } else {
            format!("{nl}{inner}{label}{rendered}{nl}{outer}", nl = self.newline)
        };
        self.text
            .replace_range(container.start + 1..container.end - 1, &filling);
        Ok(())
    }

    fn render(&self, value: &Value, margin: &str, inline: bool) -> Result<String> {
        if inline {
            return Ok(value.to_string());
        }
        let mut bytes = Vec::new();
        let layout = serde_json::ser::PrettyFormatter::with_indent(self.indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, layout);
        serde::Serialize::serialize(value, &mut serializer)?;
        // A raw line feed is never inside a JSON string, so every one here is layout.
        Ok(String::from_utf8(bytes)?.replace('\n', &format!("{}{margin}", self.newline)))
    }

    /// Whether the container at `path` is written on one line; an empty one does as the container around it.
    fn is_inline(&self, path: &[Step]) -> Result<bool> {
        let container = self.span(path)?;
        match self.items(path)?.first() {
            Some((_, first)) => Ok(!self.text[container.start..first.start].contains('\n')),
            None => self.parent_is_inline(path),
        }
    }

    fn parent_is_inline(&self, path: &[Step]) -> Result<bool> {
        match path.split_last() {
            Some((_, parent)) => self.is_inline(parent),
            None => Ok(false),
        }
    }

    fn raw(&self, path: &[Step]) -> Result<&RawValue> {
        let mut raw: &RawValue = serde_json::from_str(body(&self.text))?;
        for step in path {
            raw = match step {
                Step::Key(key) => {
                    let members: Members = serde_json::from_str(raw.get())?;
                    let found = members.0.into_iter().rev().find(|(name, _)| name == key);
                    found.with_context(|| format!("there is no `{key}`"))?.1
                }
                Step::Index(index) => {
                    let elements: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                    elements
                        .get(*index)
                        .copied()
                        .with_context(|| format!("there is no element {index}"))?
                }
            };
        }
        Ok(raw)
    }

    fn span(&self, path: &[Step]) -> Result<Range<usize>> {
        Ok(self.offset(self.raw(path)?))
    }

    /// Where a part borrowed from the text stands in it.
    fn offset(&self, part: &RawValue) -> Range<usize> {
        let start = part.get().as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + part.get().len()
    }

    /// The items of the container at `path`, with their keys (elements have none) and where their values stand.
    fn items(&self, path: &[Step]) -> Result<Vec<(Option<String>, Range<usize>)>> {
        let raw = self.raw(path)?;
        if raw.get().starts_with('{') {
            let members: Members = serde_json::from_str(raw.get())?;
            Ok(members
                .0
                .into_iter()
                .map(|(key, value)| (Some(key), self.offset(value)))
                .collect())
        } else {
            let elements: Vec<&RawValue> = serde_json::from_str(raw.get())?;
            Ok(elements.into_iter().map(|value| (None, self.offset(value))).collect())
        }
    }
}

fn position(items: &[(Option<String>, Range<usize>)], step: Step) -> Option<usize> {
    match step {
        Step::Key(key) => items.iter().rposition(|(name, _)| name.as_deref() == Some(key)),
        Step::Index(index) => (index < items.len()).then_some(index),
    }
}

/// The text without the byte order mark that the host, too, passes over.
fn body(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The blanks that open the line on which `at` stands.
fn line_margin(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |feed| feed + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One level of indentation: the margin of the first indented line, or two blanks.
fn indent_unit(text: &str) -> String {
    let margins = text
        .lines()
        .map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    margins
        .filter(|margin| !margin.is_empty())
        .map(str::to_owned)
        .next()
        .unwrap_or_else(|| "  ".to_owned())
}

/// The members of an object in order, doubles included, their values as they stand in the text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edited(text: &str, edit: impl Fn(&mut Document) -> Result<()>) -> String {
        let mut document = Document::parse(text).unwrap();
        edit(&mut document).unwrap();
        document.text().to_owned()
    }

    #[test]
    fn a_member_is_added_in_the_indentation_that_is_there() {
        let add = |document: &mut Document| document.append_member(&[], "b", &json!({"c": [1]}));
        assert_eq!(
            edited("{\n\t\"a\": 1\n}\n", add),
            "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": [\n\t\t\t1\n\t\t]\n\t}\n}\n"
        );
        assert_eq!(
            edited("{\n    \"a\": 1\n}", add),
            "{\n    \"a\": 1,\n    \"b\": {\n        \"c\": [\n            1\n        ]\n    }\n}"
        );
    }

    #[test]
    fn a_file_on_one_line_stays_on_one_line() {
        assert_eq!(
            edited("{\"a\":1}", |document| document.append_member(
                &[],
                "b",
                &json!({"c": 2})
            )),
            "{\"a\":1, \"b\": {\"c\":2}}"
        );
    }

    #[test]
    fn line_endings_are_kept() {
        let add = |document: &mut Document| document.append_member(&[], "b", &json!([1]));
        assert_eq!(
            edited("{\r\n  \"a\": 1\r\n}\r\n", add),
            "{\r\n  \"a\": 1,\r\n  \"b\": [\r\n    1\r\n  ]\r\n}\r\n"
        );
    }

    #[test]
    fn removing_what_was_added_gives_the_bytes_back() {
        for text in [
            "{\n  \"a\" : [1,2] ,\n\n \"b\":{}\n}",
            "{\"a\":1}",
            "\u{feff}{ \"a\":\"\\u00e9\" }\r\n",
        ] {
            let back = edited(text, |document| {
                document.append_member(&[], "new", &json!({"x": [1, {"y": 2}]}))?;
                document.remove(&[Step::Key("new")])
            });
            assert_eq!(back, text);
        }
    }

    #[test]
    fn the_first_of_several_is_removed_with_its_comma() {
        let first = |document: &mut Document| document.remove(&[Step::Key("a"), Step::Index(0)]);
        assert_eq!(edited("{\"a\": [1, 2, 3]}", first), "{\"a\": [ 2, 3]}");
        assert_eq!(edited("{\"a\": [\n  1,\n  2\n]}", first), "{\"a\": [\n  2\n]}");
    }

    #[test]
    fn of_a_key_that_is_there_twice_the_last_counts() {
        let replace = |document: &mut Document| document.replace(&[Step::Key("a")], &json!(3));
        assert_eq!(edited("{\"a\": 1, \"a\": 2}", replace), "{\"a\": 1, \"a\": 3}");
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let error = Document::parse("{\n  // mine\n}").unwrap_err().to_string();
        assert!(error.contains("line 2 column 3"), "{error}");
        assert!(Document::parse("[]").is_err());
    }
}
