//! What others wrote, inside a message of ours: cut where it is long.
//!
//! Floor 0. A message is kept, shown and repeated; a server that puts megabytes into a name or a
//! refusal must not make every one of those as large (L10).

use core::fmt;

/// How many characters of a text a message quotes at most.
pub const QUOTED_CHARS_MAX: usize = 500;

/// A text to quote. `Display` writes it as it is, `Debug` in quotes and escaped; both end with
/// how long it is where they leave something out.
#[derive(Clone, Copy)]
pub struct Quoted<'a>(pub &'a str);

impl<'a> Quoted<'a> {
    /// What is quoted, and whether it is all.
    fn shown(self) -> (&'a str, bool) {
        let end = self.0.char_indices().nth(QUOTED_CHARS_MAX).map_or(self.0.len(), |(at, _)| at);
        (self.0.get(..end).unwrap_or_default(), end == self.0.len())
    }

    fn write_rest(self, whole: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if whole { Ok(()) } else { write!(f, "… ({} bytes)", self.0.len()) }
    }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, whole) = self.shown();
        f.write_str(shown)?;
        self.write_rest(whole, f)
    }
}

impl fmt::Debug for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, whole) = self.shown();
        write!(f, "{shown:?}")?;
        self.write_rest(whole, f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn a_text_is_quoted_whole_up_to_the_bound_and_cut_beyond_it() {
        assert_eq!(format!("{} {:?}", Quoted("a\"b"), Quoted("a\"b")), "a\"b \"a\\\"b\"");
        let most = "é".repeat(QUOTED_CHARS_MAX);
        assert_eq!(format!("{}", Quoted(&most)), most);
        let more = format!("{most}é");
        assert_eq!(format!("{}", Quoted(&more)), format!("{most}… (1002 bytes)"));
        assert_eq!(format!("{:?}", Quoted(&more)), format!("{most:?}… (1002 bytes)"));
    }
}
