//! Colours, and when there are any: on a terminal, unless `NO_COLOR` or `TERM=dumb` says no.

use std::env;
use std::fmt;
use std::io::IsTerminal;

/// What a piece of text is, which decides how it looks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// A heading or a name.
    Strong,
    /// Less important.
    Faint,
    /// As it should be.
    Good,
    /// On its way, or worth a look.
    Waiting,
    /// Wrong.
    Bad,
    /// Set apart without judging.
    Accent,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Waiting => "33",
            Self::Bad => "31",
            Self::Accent => "36",
        }
    }
}

/// Whether to paint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Paint {
    /// With colours.
    Colours,
    /// Without.
    Plain,
}

impl Paint {
    /// The choice for one stream.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        if stream.is_terminal() && !refused { Self::Colours } else { Self::Plain }
    }

    /// The text in its tone.
    pub(crate) const fn text(self, tone: Tone, text: &str) -> Painted<'_> {
        Painted { paint: self, tone, text }
    }
}

/// A text in its tone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painted<'a> {
    paint: Paint,
    tone: Tone,
    text: &'a str,
}

impl fmt::Display for Painted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.tone.code();
        match self.paint {
            Paint::Colours if !code.is_empty() && !self.text.is_empty() => {
                write!(f, "\x1b[{code}m{}\x1b[0m", self.text)
            }
            Paint::Colours | Paint::Plain => f.write_str(self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_paint_and_plain_text_stays_bare() {
        assert_eq!(Paint::Colours.text(Tone::Bad, "no").to_string(), "\x1b[31mno\x1b[0m");
        assert_eq!(Paint::Colours.text(Tone::Plain, "no").to_string(), "no");
        assert_eq!(Paint::Plain.text(Tone::Bad, "no").to_string(), "no");
    }
}
