//! The rule for names of servers that are added.
//!
//! Floor 2.

use super::NameFault;

/// How long a name may be, in UTF-16 units.
const NAME_UNITS_MAX: usize = 100;

/// Checks a name for a new server. What a file has already may be called otherwise.
///
/// # Errors
/// What is wrong with it.
pub fn check_name(name: &str) -> Result<(), NameFault> {
    let may = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if name.is_empty() {
        Err(NameFault::Empty)
    } else if name.encode_utf16().count() > NAME_UNITS_MAX {
        Err(NameFault::TooLong)
    } else if !name.chars().all(may) {
        Err(NameFault::Characters)
    } else {
        Ok(())
    }
}
