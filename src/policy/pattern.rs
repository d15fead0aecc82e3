//! Patterns of rules: `*` inside a text, `**` among words or path components.

/// Whether `text` fits `pattern`, in which every `*` stands for any number of characters.
pub fn text(pattern: &str, text: &str) -> bool {
    list(pattern.as_bytes(), text.as_bytes(), |p| *p == b'*', |p, t| p == t)
}

/// Whether `words` fit `pattern`, in which `**` stands for any number of words, and `*` inside a word for any characters.
pub fn words<W: AsRef<str>>(pattern: &[String], words: &[W]) -> bool {
    list(pattern, words, |p| p == "**", |p, word| text(p, word.as_ref()))
}

/// Whether the words that `pattern` names stand among `words` in this order, others between them. A word that is not
/// known may be any.
pub fn among(pattern: &[String], words: &[Option<String>]) -> bool {
    let mut words = words.iter();
    pattern
        .iter()
        .filter(|named| *named != "**")
        .all(|named| words.any(|word| word.as_ref().is_none_or(|word| text(named, word))))
}

/// Goes back to the last `any` that was passed, so the time is at most the product of the lengths.
fn list<P, I>(pattern: &[P], items: &[I], any: impl Fn(&P) -> bool, fits: impl Fn(&P, &I) -> bool) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while i < items.len() {
        match pattern.get(p) {
            Some(one) if any(one) => {
                back = Some((p, i));
                p += 1;
            }
            Some(one) if fits(one, &items[i]) => {
                p += 1;
                i += 1;
            }
            Some(_) | None => match back {
                Some((star, from)) => {
                    back = Some((star, from + 1));
                    (p, i) = (star + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, good, bad) in [
            ("docs", &["docs"][..], &["doc", "docs2", ""][..]),
            ("*", &["", "x"], &[]),
            (
                "*.example.com",
                &["a.example.com", "a.b.example.com"],
                &["example.com", "xexample.com"],
            ),
            ("get_*", &["get_", "get_issue"], &["forget_it"]),
            ("a*b*c", &["abc", "a-b-b-c"], &["ab", "acb"]),
        ] {
            assert!(good.iter().all(|t| text(pattern, t)), "{pattern}");
            assert!(!bad.iter().any(|t| text(pattern, t)), "{pattern}");
        }
    }

    #[test]
    fn two_stars_stand_for_any_number_of_words() {
        for (pattern, good, bad) in [
            ("push", &["push"][..], &["", "push x", "x push"][..]),
            ("push **", &["push", "push -f origin"], &["x push", "pus"]),
            ("* status", &["x status"], &["status", "x y status"]),
            (
                "** --force **",
                &["push --force", "--force", "a --force b"],
                &["push --forced"],
            ),
            ("--port=*", &["--port=80"], &["--port 80"]),
        ] {
            assert!(
                good.iter().all(|line| words(&split(pattern), &split(line))),
                "{pattern}"
            );
            assert!(
                !bad.iter().any(|line| words(&split(pattern), &split(line))),
                "{pattern}"
            );
        }
    }

    #[test]
    fn named_words_are_found_among_others_and_an_unknown_word_may_be_any() {
        let known = |line: &str| split(line).into_iter().map(Some).collect::<Vec<_>>();
        assert!(among(&split("push --force **"), &known("-C . push origin --force")));
        assert!(!among(&split("push --force **"), &known("--force push")));
        assert!(among(&split("push"), &[None]));
        assert!(!among(&split("push main"), &[None]));
    }

    #[test]
    fn many_stars_do_not_take_forever() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!text(&pattern, &"a".repeat(5000)));
    }
}
