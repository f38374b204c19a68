//! Which era a server speaks: what is said to it first, and what its answer means.
//!
//! Floor 3. A pure machine without time and without words of its own: it is told what came of the
//! last word and says what is said next. Over pipes a handshake comes first, because a server that
//! knows none other may end at anything else; over HTTP the question without one comes first,
//! because a server without a session may take anything else for a request. What is remembered of a
//! server comes first on either.
//!
//! What an answer to `server/discover` means, over both:
//!
//! | answer | means | next |
//! |---|---|---|
//! | a result of it that names a modern revision of ours | modern | settled (C-VER-07) |
//! | the same, and only older ones of ours | dual | `initialize` with the newest of those (C-VER-18) |
//! | the same, and none of ours | | failed |
//! | error -32022 that names revisions | modern | the same, asked once more where settled (C-VER-02, C-VER-08, C-VER-30) |
//! | error -32020 | modern | asked once more |
//! | error -32021 | modern | failed, with what it needs |
//! | any other error, any other result | legacy | `initialize` (C-VER-09, C-VER-10, C-VER-14, C-VER-29) |
//! | silence | legacy | `initialize`; what comes late still counts if it is a result (C-VER-19, C-VER-20) |
//! | the end of its process | legacy | its process once more, with `initialize` (C-VER-19) |
//! | 401, 403, 408, 429, 503, a redirect, no connection | nothing | failed, after what the channel does about it (C-VER-16) |
//! | any other status, anything that is no message | legacy | `initialize` (C-VER-13, C-VER-17) |
//!
//! What an answer to `initialize` means beyond the handshake:
//!
//! | answer | next |
//! |---|---|
//! | error -32022 that names a modern revision of ours | `server/discover` (C-VER-19) |
//! | an error that names an older revision of ours | `initialize` with that, once (C-VER-24) |
//! | another error that only means that it was not understood | `server/discover`, if that was not asked |
//! | any other error | failed (C-VER-25) |

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};

use crate::config::Protocol;
use crate::error::{Cause, ExchangeFault, HttpFailure, RpcError};
use crate::quote::Quoted;
use crate::wire::dialect::{Era, Revision};
use crate::wire::mcp::{
    self, HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, MISSING_CAPABILITY,
    UNSUPPORTED_REVISION,
};

/// How often each of the two questions is asked of one attempt at most: once, and once more in
/// another revision or because the first time was not understood.
const ASKED_MAX: u8 = 2;

/// A first word.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Word {
    /// `server/discover`, in this revision.
    Discover(Revision),
    /// `initialize`, with this revision.
    Initialize(Revision),
}

/// What came of `server/discover`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer<'a> {
    /// A result of it, with these revisions.
    Supported(&'a [String]),
    /// Something that is no result of it.
    Other,
    /// An error.
    Error(&'a RpcError),
    /// Nothing that is a message.
    Lost(&'a HttpFailure),
    /// Nothing for a while.
    Silence,
    /// The end of the process.
    End,
}

/// What follows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Next {
    /// This is said next.
    Say(Word),
    /// This revision is spoken.
    Settled(Revision),
    /// The process is started once more, and spoken to in this era.
    Again(Era),
    /// It fails for this reason.
    Failed(Cause),
    /// Nothing: whatever becomes of it becomes of it by itself.
    Nothing,
}

/// What is known of a server's era, in the middle of an attempt.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Decision {
    protocol: Protocol,
    offered: Revision,
    word: Word,
    discovers: u8,
    handshakes: u8,
    /// Why it refused the handshake.
    refused: Option<RpcError>,
    /// The words with which it said that it knows no modern era, if they say more than that.
    unknown: Option<RpcError>,
}

impl Decision {
    /// Of a server of which nothing is known, or this era is remembered.
    /// `offered` is what a handshake offers first.
    pub(super) const fn new(
        protocol: Protocol,
        remembered: Option<Era>,
        over_http: bool,
        offered: Revision,
    ) -> Self {
        let first = match (protocol, remembered) {
            (Protocol::Legacy, _) => Era::Legacy,
            (Protocol::Modern, _) => Era::Modern,
            (Protocol::Auto, Some(era)) => era,
            (Protocol::Auto, None) if over_http => Era::Modern,
            (Protocol::Auto, None) => Era::Legacy,
        };
        let word = match first {
            Era::Legacy => Word::Initialize(offered),
            Era::Modern => Word::Discover(Revision::LATEST),
        };
        Self { protocol, offered, word, discovers: 0, handshakes: 0, refused: None, unknown: None }
    }

    /// What was said last, or comes first.
    pub(super) const fn word(&self) -> Word {
        self.word
    }

    /// Notes that the word is being said.
    pub(super) const fn said(&mut self, word: Word) {
        match word {
            Word::Discover(_) => self.discovers += 1,
            Word::Initialize(_) => self.handshakes += 1,
        }
        self.word = word;
    }

    /// It is spoken to over a transport that knows nothing but handshakes.
    pub(super) const fn has_no_other(&mut self) {
        self.protocol = Protocol::Legacy;
    }

    /// Whether silence leads to another word.
    pub(super) fn has_another(&self) -> bool {
        matches!(self.word, Word::Discover(_)) && self.may_shake_hands()
    }

    fn may_shake_hands(&self) -> bool {
        self.protocol != Protocol::Modern && self.handshakes == 0
    }

    fn may_discover(&self) -> bool {
        self.protocol != Protocol::Legacy && self.discovers < ASKED_MAX
    }

    /// `server/discover` came to this. What comes late is heard as well.
    pub(super) fn discovered(&mut self, answer: Answer<'_>) -> Next {
        let late = matches!(self.word, Word::Initialize(_));
        match answer {
            Answer::Supported(offered) => self.chosen(offered, late, Next::Settled),
            _ if late => Next::Nothing,
            Answer::Error(error) => self.discover_refused(error),
            Answer::Lost(failure) if says_nothing(failure) => {
                Next::Failed(Cause::Http { failure: failure.clone() })
            }
            Answer::Lost(failure) => self.legacy(Cause::Http { failure: failure.clone() }),
            Answer::Other => {
                let message = "its answer to server/discover is none".into();
                self.legacy(Cause::Shape { message })
            }
            Answer::Silence if self.has_another() => Next::Say(Word::Initialize(self.offered)),
            Answer::End if self.may_shake_hands() => Next::Again(Era::Legacy),
            Answer::Silence | Answer::End => Next::Nothing,
        }
    }

    fn discover_refused(&mut self, error: &RpcError) -> Next {
        let offered = mcp::supported_revisions(error);
        match error.code {
            UNSUPPORTED_REVISION if !offered.is_empty() => {
                let failed = Cause::Refused { error: error.clone().quoted() };
                let again = self.may_discover();
                self.chosen(&offered, false, |revision| {
                    if again { Next::Say(Word::Discover(revision)) } else { Next::Failed(failed) }
                })
            }
            HEADER_MISMATCH if self.may_discover() => Next::Say(self.word),
            HEADER_MISMATCH | MISSING_CAPABILITY => {
                Next::Failed(Cause::Refused { error: error.clone().quoted() })
            }
            code => {
                let error = error.clone().quoted();
                self.unknown = (code != METHOD_NOT_FOUND).then(|| error.clone());
                self.legacy(Cause::Refused { error })
            }
        }
    }

    /// It speaks these revisions; `late`: the handshake is under way already.
    fn chosen(
        &self,
        offered: &[String],
        late: bool,
        modern: impl FnOnce(Revision) -> Next,
    ) -> Next {
        if let Some(revision) = Revision::mutual(offered, Era::Modern) {
            return modern(revision);
        }
        let may = self.protocol != Protocol::Modern && self.handshakes < ASKED_MAX;
        match Revision::mutual(offered, Era::Legacy).filter(|_| may) {
            _ if late => Next::Nothing,
            Some(revision) => Next::Say(Word::Initialize(revision)),
            None => {
                let offered = offered.join(", ");
                Next::Failed(Cause::Revision { offered: Quoted(&offered).to_string() })
            }
        }
    }

    /// It does not speak the modern era: `cause`, if nothing else is left to be tried.
    fn legacy(&self, cause: Cause) -> Next {
        if self.may_shake_hands() {
            return Next::Say(Word::Initialize(self.offered));
        }
        Next::Failed(match &self.refused {
            Some(error) => self.with_both(Cause::Refused { error: error.clone() }),
            None => cause,
        })
    }

    /// `initialize` was answered with an error.
    pub(super) fn refused(&mut self, error: RpcError) -> Next {
        let offered = mcp::supported_revisions(&error);
        let modern = Revision::mutual(&offered, Era::Modern);
        if let (UNSUPPORTED_REVISION, Some(revision), true) =
            (error.code, modern, self.may_discover())
        {
            return Next::Say(Word::Discover(revision));
        }
        let older = Revision::mutual(&offered, Era::Legacy);
        if let (Some(revision), true) = (older, self.handshakes < ASKED_MAX) {
            return Next::Say(Word::Initialize(revision));
        }
        let foreign = match error.code {
            METHOD_NOT_FOUND | INVALID_PARAMS | INVALID_REQUEST => older.is_none(),
            HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_REVISION => true,
            _ => false,
        };
        let error = error.quoted();
        if foreign && self.discovers == 0 && self.may_discover() {
            self.refused = Some(error);
            return Next::Say(Word::Discover(modern.unwrap_or(Revision::LATEST)));
        }
        Next::Failed(self.with_both(Cause::Refused { error }))
    }

    /// Why the handshake failed, after what was said to the question without one.
    pub(super) fn with_both(&self, cause: Cause) -> Cause {
        match &self.unknown {
            Some(error) => {
                Cause::NeitherEra { initialize: Box::new(cause), discover: Box::new(error.clone()) }
            }
            None => cause,
        }
    }
}

/// Whether an exchange that came to nothing says nothing of its server's era (C-VER-16).
const fn says_nothing(failure: &HttpFailure) -> bool {
    match failure {
        HttpFailure::Status { status, .. } => matches!(*status, 401 | 403 | 408 | 429 | 503),
        HttpFailure::Exchange(error) => matches!(
            error.fault,
            ExchangeFault::Connect { .. }
                | ExchangeFault::TimedOut { .. }
                | ExchangeFault::ForeignOrigin { .. }
        ),
        HttpFailure::Elsewhere { .. }
        | HttpFailure::TooManyRedirects { .. }
        | HttpFailure::SessionLost => true,
        HttpFailure::ContentType { .. }
        | HttpFailure::NoAnswer
        | HttpFailure::Stalled { .. }
        | HttpFailure::NoHead { .. }
        | HttpFailure::StreamEnded
        | HttpFailure::NoEndpoint { .. }
        | HttpFailure::Neither { .. } => false,
    }
}

#[cfg(test)]
#[path = "era_tests.rs"]
mod tests;
