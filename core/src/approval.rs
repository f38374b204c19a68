//! What a user agreed to, as a number that cannot be forged.
//!
//! Floor 0. [`Fingerprint`](crate::canon::Fingerprint) tells definitions apart for a cache; who
//! writes a project's files may look for two definitions with one fingerprint, and must not find
//! any here: an approval is a SHA-256.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What stands for one exact definition at one exact place; see
/// [`Definition::approval`](crate::config::Definition::approval). Serialises as 64 hexadecimal
/// digits.
#[derive(Clone, Copy, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Approval([u8; 32]);

impl Approval {
    /// The approval of what these bytes say.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<Approval> for String {
    fn from(approval: Approval) -> Self {
        format!("{approval}")
    }
}

/// A text is not an approval: not 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoApproval;

impl fmt::Display for NoApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an approval is 64 hexadecimal digits")
    }
}

impl core::error::Error for NoApproval {}

impl TryFrom<String> for Approval {
    type Error = NoApproval;

    fn try_from(text: String) -> Result<Self, NoApproval> {
        let mut digits = text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()));
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            let (high, low) = (digits.next().flatten(), digits.next().flatten());
            *byte = high.ok_or(NoApproval)? << 4 | low.ok_or(NoApproval)?;
        }
        if digits.next().is_some() { Err(NoApproval) } else { Ok(Self(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    /// The published test vector of FIPS 180-2.
    #[test]
    fn an_approval_is_a_sha_256() {
        let wanted = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Approval::of(b"abc").to_string(), wanted);
    }

    #[test]
    fn an_approval_survives_writing_and_anything_else_is_refused() {
        let approval = Approval::of(b"x");
        let text = serde_json::to_string(&approval).unwrap();
        assert_eq!(serde_json::from_str::<Approval>(&text).unwrap(), approval);
        let long = "0".repeat(65);
        for text in ["", "0", "zz", &long, &long[..63], &"é".repeat(32)] {
            assert_eq!(Approval::try_from(text.to_string()), Err(NoApproval), "{text}");
        }
    }
}
