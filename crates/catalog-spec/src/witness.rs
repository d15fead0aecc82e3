//! The package whose program an entry was checked against.

use std::fmt;

/// Where a command's program can be had, so that a test can ask the program itself about its options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Witness {
    pub registry: Registry,
    /// The package's name there; letters, digits and `@ / . + - _`.
    pub package: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Registry {
    Debian,
    Npm,
    Pypi,
}

impl Registry {
    const ALL: [Registry; 3] = [Registry::Debian, Registry::Npm, Registry::Pypi];

    pub const fn as_str(self) -> &'static str {
        match self {
            Registry::Debian => "debian",
            Registry::Npm => "npm",
            Registry::Pypi => "pypi",
        }
    }
}

impl Witness {
    /// Reads the TOML form, `"REGISTRY PACKAGE"`.
    ///
    /// # Errors
    /// Says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is no witness; write `debian PACKAGE`, `npm PACKAGE` or `pypi PACKAGE`");
        let (registry, package) = text.split_once(' ').ok_or_else(fault)?;
        let registry = Registry::ALL
            .into_iter()
            .find(|r| r.as_str() == registry)
            .ok_or_else(fault)?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"@/.+-_".contains(&b);
        if package.is_empty() || package.starts_with('-') || !package.bytes().all(plain) {
            return Err(fault());
        }
        Ok(Witness {
            registry,
            package: package.to_owned(),
        })
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.registry.as_str(), self.package)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_names_a_registry_and_one_package() {
        let npm = Witness::parse("npm @biomejs/biome").unwrap();
        assert_eq!((npm.registry, npm.package.as_str()), (Registry::Npm, "@biomejs/biome"));
        assert_eq!(npm.to_string(), "npm @biomejs/biome");
        for wrong in [
            "",
            "debian",
            "debian ",
            "apt jq",
            "npm a b",
            "pypi --index-url=x",
            "debian jq;x",
        ] {
            assert!(Witness::parse(wrong).is_err(), "{wrong}");
        }
    }
}
