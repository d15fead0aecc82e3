//! Keys and signatures: Ed25519, and ECDSA over P-256 with SHA-256 for devices whose browser has no Ed25519.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};

use crate::canonical::{hex, sha256, unhex};

/// How a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Algorithm {
    /// 32-byte keys, 64-byte signatures (RFC 8032).
    #[serde(rename = "ed25519")]
    Ed25519,
    /// Uncompressed points of 65 bytes, signatures of 64: r and s, as WebCrypto writes them.
    #[serde(rename = "p256")]
    P256,
}

/// A key that signatures are checked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublicKey {
    pub alg: Algorithm,
    /// The key's bytes in hexadecimal.
    pub key: String,
}

/// A signature, and which key made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// [`PublicKey::id`] of the key.
    pub kid: String,
    /// The signature's 64 bytes in hexadecimal.
    pub value: String,
}

/// Why a signature does not hold. It says no more: nobody is helped to forge one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// It names another key.
    OtherKey,
    /// These bytes were not signed by this key.
    Forged,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Invalid::OtherKey => "it is signed by another key",
            Invalid::Forged => "the signature does not hold",
        })
    }
}

impl std::error::Error for Invalid {}

impl PublicKey {
    /// What a key is called: the first 32 hexadecimal digits of the SHA-256 of its algorithm's name, a zero byte and its
    /// bytes.
    pub fn id(&self) -> String {
        let name: &[u8] = match self.alg {
            Algorithm::Ed25519 => b"ed25519\0",
            Algorithm::P256 => b"p256\0",
        };
        let mut id = sha256(&[name, self.key.as_bytes()].concat());
        id.truncate(32);
        id
    }

    /// Checks that this key has signed these bytes.
    ///
    /// # Errors
    /// [`Invalid`]
    pub fn verify(&self, bytes: &[u8], signature: &Signature) -> Result<(), Invalid> {
        if signature.kid != self.id() {
            return Err(Invalid::OtherKey);
        }
        let (Some(key), Some(value)) = (unhex(&self.key), unhex(&signature.value)) else {
            return Err(Invalid::Forged);
        };
        let checked = match self.alg {
            Algorithm::Ed25519 => UnparsedPublicKey::new(&ED25519, key).verify(bytes, &value),
            Algorithm::P256 => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(bytes, &value),
        };
        checked.map_err(|_| Invalid::Forged)
    }
}

/// `N` bytes that nobody can guess, in hexadecimal.
///
/// # Errors
/// The system has no randomness to give.
pub fn random_hex<const N: usize>() -> Result<String, String> {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| "the system gives no random numbers")?;
    Ok(hex(&bytes))
}

/// A key that signs.
pub struct KeyPair {
    inner: Inner,
    pkcs8: Vec<u8>,
}

enum Inner {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyPair").field(&self.public()).finish()
    }
}

impl KeyPair {
    /// A new key from the system's randomness.
    ///
    /// # Errors
    /// The system has none to give.
    pub fn generate(alg: Algorithm) -> Result<Self, String> {
        let random = SystemRandom::new();
        let pkcs8 = match alg {
            Algorithm::Ed25519 => Ed25519KeyPair::generate_pkcs8(&random),
            Algorithm::P256 => EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random),
        };
        let pkcs8 = pkcs8.map_err(|_| "the system gives no random numbers")?;
        Self::from_pkcs8(alg, pkcs8.as_ref())
    }

    /// The key that [`KeyPair::pkcs8`] wrote.
    ///
    /// # Errors
    /// It is no such key.
    pub fn from_pkcs8(alg: Algorithm, bytes: &[u8]) -> Result<Self, String> {
        let inner = match alg {
            Algorithm::Ed25519 => Ed25519KeyPair::from_pkcs8(bytes).map(Inner::Ed25519),
            Algorithm::P256 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes, &SystemRandom::new()).map(Inner::P256)
            }
        };
        Ok(KeyPair {
            inner: inner.map_err(|error| format!("it is no key: {error}"))?,
            pkcs8: bytes.to_vec(),
        })
    }

    /// The key as it is kept in a file, which is a secret.
    pub fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    pub fn public(&self) -> PublicKey {
        match &self.inner {
            Inner::Ed25519(pair) => PublicKey {
                alg: Algorithm::Ed25519,
                key: hex(pair.public_key().as_ref()),
            },
            Inner::P256(pair) => PublicKey {
                alg: Algorithm::P256,
                key: hex(pair.public_key().as_ref()),
            },
        }
    }

    /// Signs these bytes.
    ///
    /// # Errors
    /// The system gives no random numbers, which P-256 needs.
    pub fn sign(&self, bytes: &[u8]) -> Result<Signature, String> {
        let value = match &self.inner {
            Inner::Ed25519(pair) => hex(pair.sign(bytes).as_ref()),
            Inner::P256(pair) => {
                let signature = pair.sign(&SystemRandom::new(), bytes);
                hex(signature.map_err(|_| "the system gives no random numbers")?.as_ref())
            }
        };
        Ok(Signature {
            kid: self.public().id(),
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Algorithm; 2] = [Algorithm::Ed25519, Algorithm::P256];

    #[test]
    fn what_a_key_signs_it_verifies_and_nothing_else() {
        for alg in BOTH {
            let pair = KeyPair::generate(alg).expect("a key");
            let signature = pair.sign(b"shown").expect("a signature");
            assert_eq!(signature.value.len(), 128);
            let key = pair.public();
            assert_eq!(key.verify(b"shown", &signature), Ok(()));
            assert_eq!(key.verify(b"shown ", &signature), Err(Invalid::Forged));
            let mut turned = signature.clone();
            turned
                .value
                .replace_range(0..1, if turned.value.starts_with('0') { "1" } else { "0" });
            assert_eq!(key.verify(b"shown", &turned), Err(Invalid::Forged));
            for value in ["", "00", "ZZ"] {
                let short = Signature {
                    value: value.into(),
                    ..signature.clone()
                };
                assert_eq!(key.verify(b"shown", &short), Err(Invalid::Forged));
            }
        }
    }

    #[test]
    fn the_key_that_a_signature_names_must_be_the_one_that_checks_it() {
        let (one, other) = (
            KeyPair::generate(BOTH[0]).expect("a key"),
            KeyPair::generate(BOTH[0]).expect("a key"),
        );
        let mut signature = one.sign(b"x").expect("a signature");
        assert_eq!(other.public().verify(b"x", &signature), Err(Invalid::OtherKey));
        signature.kid = other.public().id();
        assert_eq!(other.public().verify(b"x", &signature), Err(Invalid::Forged));
    }

    #[test]
    fn a_key_comes_back_from_its_file_and_not_as_another_kind() {
        for (alg, strange) in [(BOTH[0], BOTH[1]), (BOTH[1], BOTH[0])] {
            let pair = KeyPair::generate(alg).expect("a key");
            let again = KeyPair::from_pkcs8(alg, pair.pkcs8()).expect("the same key");
            assert_eq!(again.public(), pair.public());
            assert!(KeyPair::from_pkcs8(strange, pair.pkcs8()).is_err());
        }
    }

    #[test]
    fn a_secret_key_is_not_shown() {
        let pair = KeyPair::generate(BOTH[0]).expect("a key");
        let shown = format!("{pair:?}");
        assert!(!shown.contains(&hex(&pair.pkcs8()[16..48])), "{shown}");
    }

    #[test]
    fn a_signature_of_rfc_8032_verifies() {
        // RFC 8032, section 7.1, test 2.
        let key = PublicKey {
            alg: Algorithm::Ed25519,
            key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c".into(),
        };
        let signature = Signature {
            kid: key.id(),
            value: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00".into(),
        };
        assert_eq!(key.verify(&[0x72], &signature), Ok(()));
    }
}
