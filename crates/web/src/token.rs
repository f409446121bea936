//! Tokens: 128 random bits from the operating system. Only their hashes are kept, and hashes are compared in constant
//! time.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The hash of a token.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// A new token, or none if the operating system has no random numbers.
pub fn token() -> Option<String> {
    random_hex::<16>()
}

/// A new name for a table or a job: 64 bits.
pub fn id() -> Option<String> {
    random_hex::<8>()
}

/// A seed that nobody knows.
pub fn seed() -> Option<u64> {
    getrandom::u64().ok()
}

fn random_hex<const N: usize>() -> Option<String> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex(&bytes))
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

impl TokenHash {
    /// The hash of a token.
    pub fn of(token: &str) -> TokenHash {
        TokenHash(Sha256::digest(token.as_bytes()).into())
    }

    /// Whether this is the hash of the token. The time does not depend on where the two differ.
    pub fn fits(&self, token: &str) -> bool {
        let other = TokenHash::of(token);
        let difference = self.0.iter().zip(other.0).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(difference) == 0
    }

    /// As text, for the disk.
    pub fn text(&self) -> String {
        hex(&self.0)
    }

    /// From text.
    pub fn parse(text: &str) -> Option<TokenHash> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0_u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(TokenHash(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_fit_their_hashes_only() {
        let (a, b) = (token().unwrap(), token().unwrap());
        assert_eq!(a.len(), 32);
        let hash = TokenHash::of(&a);
        assert!(hash.fits(&a) && !hash.fits(&b) && !hash.fits(""));
        assert_eq!(TokenHash::parse(&hash.text()), Some(hash));
        assert_eq!(TokenHash::parse("00"), None);
        assert_eq!(TokenHash::parse(&"ü".repeat(32)), None);
    }
}
