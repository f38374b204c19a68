//! The head of an answer → what it means.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;

use crate::input::HttpHead;

/// What a server answers, going by the head.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It did what it was asked (2xx).
    Done(Content),
    /// It is elsewhere, and may be asked there the same way (307, 308).
    Moved {
        /// Where, as it stands in the answer.
        to: String,
    },
    /// It has too much to do and did nothing (429, 503).
    Busy {
        /// When to ask again, in milliseconds, if it says so in seconds; a date is of no use to
        /// who has no calendar.
        retry_after_ms: Option<u64>,
    },
    /// Anything else.
    Refused,
}

/// What kind of body follows.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Content {
    /// One JSON text.
    Json,
    /// A stream of events.
    Events,
    /// Something else, or it does not say.
    Other(Option<String>),
}

/// What a head means.
#[must_use]
pub fn read(head: &HttpHead) -> Answer {
    match head.status {
        200..=299 => Answer::Done(content(head)),
        307 | 308 => match head.header("location") {
            Some(to) => Answer::Moved { to: to.into() },
            None => Answer::Refused,
        },
        429 | 503 => Answer::Busy { retry_after_ms: retry_after_ms(head) },
        _ => Answer::Refused,
    }
}

/// C-HTTP-03: the media type counts, whatever its case and its parameters.
fn content(head: &HttpHead) -> Content {
    let Some(value) = head.header("content-type") else { return Content::Other(None) };
    let media = value.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/json") {
        Content::Json
    } else if media.eq_ignore_ascii_case(super::EVENTS) {
        Content::Events
    } else {
        Content::Other(Some(media.into()).filter(|media: &String| !media.is_empty()))
    }
}

fn retry_after_ms(head: &HttpHead) -> Option<u64> {
    let value = head.header("retry-after")?.trim();
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: u64 = digits.then(|| value.parse().ok()).flatten()?;
    Some(seconds.saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn head(status: u16, headers: &[(&str, &str)]) -> HttpHead {
        let own = |(name, value): &(&str, &str)| ((*name).into(), (*value).into());
        HttpHead { status, headers: headers.iter().map(own).collect(), session: false }
    }

    /// C-HTTP-03.
    #[test]
    fn a_media_type_counts_without_case_and_parameters() {
        for (value, content) in [
            ("application/json", Content::Json),
            ("Application/JSON; charset=utf-8", Content::Json),
            ("text/event-stream;charset=UTF-8", Content::Events),
            (" TEXT/EVENT-STREAM ", Content::Events),
            ("text/html", Content::Other(Some("text/html".into()))),
            ("application/jsonx", Content::Other(Some("application/jsonx".into()))),
            ("", Content::Other(None)),
        ] {
            assert_eq!(read(&head(200, &[("content-type", value)])), Answer::Done(content));
        }
        assert_eq!(read(&head(204, &[])), Answer::Done(Content::Other(None)));
    }

    /// C-HTTP-07, F-074.
    #[test]
    fn only_307_and_308_lead_elsewhere() {
        let moved = |status| read(&head(status, &[("location", "/b")]));
        assert_eq!(moved(307), Answer::Moved { to: "/b".into() });
        assert_eq!(moved(308), Answer::Moved { to: "/b".into() });
        let others: Vec<Answer> = [300, 301, 302, 303, 304].into_iter().map(moved).collect();
        assert!(others.iter().all(|answer| *answer == Answer::Refused));
        assert_eq!(read(&head(307, &[])), Answer::Refused);
    }

    #[test]
    fn who_is_busy_says_for_how_long_in_seconds() {
        for (value, wait) in [
            ("2", Some(2_000)),
            (" 0 ", Some(0)),
            ("99999999999999999999", None),
            ("18446744073709551615", Some(u64::MAX)),
            ("-1", None),
            ("", None),
            ("Wed, 21 Oct 2015 07:28:00 GMT", None),
        ] {
            for status in [429, 503] {
                let answer = read(&head(status, &[("retry-after", value)]));
                assert_eq!(answer, Answer::Busy { retry_after_ms: wait }, "{value:?}");
            }
        }
    }
}
