//! Words that name a danger wherever they stand: in the name of a tool, among the words of a command that nobody knows.
//! They may only raise a tier.

/// Verbs that destroy what others may depend on.
pub const DESTROYS: &[&str] = &[
    "delete",
    "destroy",
    "drop",
    "erase",
    "prune",
    "purge",
    "remove",
    "revoke",
    "rm",
    "terminate",
    "truncate",
    "unpublish",
    "wipe",
];

/// Names of what opens something.
pub const CREDENTIALS: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "keychain",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "secret",
    "secrets",
    "token",
    "tokens",
];

/// The words of a name, in lower case: `deleteRepo`, `delete_repo` and `delete-repo` are two each.
pub fn of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether one of a name's words is on a list.
pub fn any(name: &str, list: &[&str]) -> bool {
    of(name).iter().any(|word| list.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_split_where_its_words_begin() {
        assert_eq!(of("deleteRepo"), ["delete", "repo"]);
        assert_eq!(of("get_HTTP-status__x"), ["get", "http", "status", "x"]);
        assert_eq!(of(""), [""; 0]);
        assert!(any("dropAll", DESTROYS) && !any("dropbox", DESTROYS));
    }
}
