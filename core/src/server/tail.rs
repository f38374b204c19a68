//! The end of a stream of text, bounded.
//!
//! Floor 3.

use alloc::collections::VecDeque;
use alloc::string::String;

/// The last bytes somebody wrote.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    bytes_max: usize,
}

impl Tail {
    pub(super) const fn new(bytes_max: usize) -> Self {
        Self { bytes: VecDeque::new(), bytes_max }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(self.bytes_max);
        let overflow = (self.bytes.len() + kept).saturating_sub(self.bytes_max);
        self.bytes.drain(..overflow);
        self.bytes.extend(bytes.iter().skip(bytes.len() - kept));
    }

    /// The text, invalid UTF-8 replaced: a tail may begin inside a character.
    pub(super) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).trim_end().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut tail = Tail::new(4);
        for part in ["ab", "cde", "f", "0123456789"] {
            tail.push(part.as_bytes());
            assert!(tail.bytes.len() <= 4);
        }
        assert_eq!(tail.text(), "6789");
    }

    #[test]
    fn a_character_cut_in_half_is_replaced() {
        let mut tail = Tail::new(2);
        tail.push("é!".as_bytes());
        assert_eq!(tail.text(), "\u{fffd}!");
    }
}
