//! Why a file was not edited, in the documented words where there are some.
//!
//! Floor 2.

use alloc::string::String;
use core::fmt;

/// Why a file was not edited. It is as it was.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EditError {
    /// A server cannot be called so.
    Name(NameFault),
    /// The file defines the name already.
    Exists {
        /// The name.
        name: String,
        /// The file.
        file: String,
    },
    /// The file does not define the name.
    Missing {
        /// The name.
        name: String,
        /// The file.
        file: String,
    },
    /// The entry would not be valid, or is none.
    Invalid {
        /// All that is wrong, joined with `; `.
        message: String,
    },
    /// The file is in a language that is read and not edited.
    Language {
        /// The file.
        file: String,
        /// What the language is called.
        language: &'static str,
        /// What to write where, for a person who makes the change.
        by_hand: String,
    },
    /// The file is no JSON, with or without comments.
    Unreadable {
        /// The file.
        file: String,
        /// From 1.
        line: u32,
        /// In characters, from 1.
        column: u32,
        /// The parser's words.
        message: String,
    },
    /// The file is not UTF-8.
    NotText {
        /// The file.
        file: String,
        /// The first line that is none, from 1, unless all of it is something else.
        line: Option<u32>,
    },
    /// Something else stands where servers are to be defined.
    Shape {
        /// The file.
        file: String,
        /// What stands where.
        message: String,
    },
}

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NameFault {
    /// It is empty.
    Empty,
    /// It is longer than 100 UTF-16 units.
    TooLong,
    /// It has a character that is no letter, digit, dash, underscore or dot.
    Characters,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "Server name cannot be empty",
            Self::TooLong => "Server name is too long (max 100 characters)",
            Self::Characters => {
                "Server name can only contain letters, numbers, dash, underscore, and dot"
            }
        })
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(fault) => fault.fmt(f),
            Self::Exists { name, file } => {
                write!(f, "Server \"{name}\" already exists in {file}")
            }
            Self::Missing { name, file } => write!(f, "Server \"{name}\" not found in {file}"),
            Self::Invalid { message } => write!(f, "Invalid server config: {message}"),
            Self::Unreadable { file, line, column, message } => {
                write!(f, "{file}:{line}:{column}: {message}; mend the file first, it is unchanged")
            }
            Self::Language { file, language, by_hand } => {
                write!(f, "{file} is {language}, which is read and not edited; {by_hand}")
            }
            Self::NotText { file, line: Some(line) } => {
                write!(f, "{file}:{line}: the file is not UTF-8; it is unchanged")
            }
            Self::NotText { file, line: None } => {
                write!(f, "{file}: the file is not UTF-8 but UTF-16; it is unchanged")
            }
            Self::Shape { file, message } => {
                write!(f, "{file}: {message}; mend the file first, it is unchanged")
            }
        }
    }
}

impl core::error::Error for NameFault {}
impl core::error::Error for EditError {}
