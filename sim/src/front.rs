//! How a simulated server is reached over HTTP, as data, and what goes wrong on the way.

/// The part of a server that speaks HTTP. The default one is healthy, has sessions, answers with
/// JSON and has a stream for what it says by itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Front {
    /// It speaks only the transport of 2024-11-05.
    pub older: bool,
    /// It gives sessions an id.
    pub sessions: bool,
    /// How it answers `server/discover`, if it speaks no era without a handshake.
    pub probe: Probe,
    /// It answers requests with streams of events.
    pub streams: bool,
    /// It has a stream for what it says by itself.
    pub listens: bool,
    /// How long it wants to be left alone after a stream that can be gone on with, in
    /// milliseconds; its streams can be gone on with if it says so.
    pub retry_ms: Option<u64>,
    /// What goes wrong.
    pub faults: Vec<Mishap>,
}

impl Front {
    /// Whether everything arrives that the server says.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.faults.is_empty() && (self.listens || self.older)
    }
}

impl Default for Front {
    fn default() -> Self {
        Self {
            older: false,
            sessions: true,
            probe: Probe::default(),
            streams: false,
            listens: true,
            retry_ms: None,
            faults: Vec::new(),
        }
    }
}

/// How a server with a handshake answers what is asked without one, before there was one.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Probe {
    /// With 400 and an error that is about no request, as most of those with sessions do.
    #[default]
    NoSession,
    /// With an error of the protocol about what it does not know.
    Error,
    /// With a result of nothing, as it does to whatever it does not know.
    Nothing,
    /// With this status and nothing else.
    Status(u16),
}

/// One thing that goes wrong with one exchange. Exchanges of the first attempt are counted from
/// 0; later attempts meet no mishap.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Mishap {
    /// With which exchange.
    pub exchange: usize,
    /// What.
    pub what: Wrong,
}

/// What goes wrong with an exchange.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Wrong {
    /// Something in between answers this, and the server never hears of it.
    Answers {
        /// The status.
        status: u16,
        /// A header and its value.
        header: Option<(&'static str, &'static str)>,
        /// The body.
        body: &'static str,
    },
    /// No connection can be made.
    Refused,
    /// The connection ends once the server has the request.
    CutHead,
    /// The stream ends before the answer; what the server says later can be asked for if its
    /// streams can be gone on with.
    CutStream,
    /// Nothing ever comes.
    Silent,
    /// It begins to answer with JSON, and no more of that ever comes.
    Stalls,
    /// It answers with a stream, which goes on with this message after the answer.
    GoesOn(&'static str),
    /// The server knows no session any more.
    Forgets,
}
