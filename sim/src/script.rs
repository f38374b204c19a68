//! What a simulated server does, as data: how long each step takes and what goes wrong.

use tidegate_core::error::{Exit, OpenError, WhosePath};
use tidegate_core::hub::policy::Protocol;

use crate::front::Front;
pub use crate::lists::Offered;

/// Which eras of the protocol a server speaks.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Speaks {
    /// The one with a handshake.
    #[default]
    Legacy,
    /// The one without.
    Modern,
    /// Both: the first word decides.
    Dual,
}

/// A server's part. The default one is healthy and instant, and offers the tool `echo`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Script {
    /// How its process starts.
    pub spawn: Spawn,
    /// Which eras of the protocol it speaks.
    pub speaks: Speaks,
    /// The revision it answers `initialize` with; `None` for the one it was offered.
    pub revision: Option<String>,
    /// How long it thinks, in milliseconds.
    pub delays: Delays,
    /// What it offers.
    pub offers: Offered,
    /// Whether one can subscribe to its resources.
    pub subscribe: bool,
    /// How many entries of a list go on one page; 0 for all.
    pub page_tools: usize,
    /// Into how many bytes its output is cut; 0 for whole messages.
    pub chunk_bytes: usize,
    /// How it takes being stopped.
    pub stop: Stopping,
    /// How it is reached, if it is no process of this machine.
    pub front: Option<Front>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
}

/// How a process starts.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Spawn {
    /// It runs after so many milliseconds.
    Runs(u64),
    /// It turns out after so many milliseconds that it does not.
    Fails(u64, OpenError),
}

/// How long a server takes for each step, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Delays {
    /// From `initialize` to its answer.
    pub initialize: u64,
    /// From each request for a page of a list to the page.
    pub list: u64,
    /// From each `resources/subscribe` or `resources/unsubscribe` to its answer.
    pub watch: u64,
    /// From each `tools/call` to its answer.
    pub call: u64,
    /// From the end of its input, or SIGTERM, to its exit.
    pub exit: u64,
}

/// How a process takes being stopped.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Stopping {
    /// It exits when its input ends.
    #[default]
    Polite,
    /// It exits at SIGTERM only.
    IgnoresEof,
    /// It exits at SIGKILL only.
    IgnoresTerm,
    /// Nothing ends it, as with a process that hangs in the kernel.
    Unkillable,
}

/// One thing that goes wrong. Messages of a server's output are counted from 0, answers and
/// whatever else it says alike.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Fault {
    /// Before this message it writes these bytes.
    Writes {
        /// Which message.
        before: usize,
        /// What it writes.
        bytes: Vec<u8>,
    },
    /// It writes this message so many times.
    Repeats {
        /// Which message.
        message: usize,
        /// How often in all.
        times: usize,
    },
    /// It answers with the id as a string.
    AnswersWithTextId {
        /// Which message.
        message: usize,
    },
    /// After this many bytes of its output it is gone.
    Crashes {
        /// How many bytes come out before.
        after_bytes: usize,
        /// How it ends.
        exit: Exit,
    },
    /// From this message on it says nothing.
    FallsSilent {
        /// The first message that does not come.
        from: usize,
    },
    /// It closes its output before this message and goes on running.
    ClosesOutput {
        /// Which message.
        before: usize,
    },
    /// It closes its input before this message and goes on running.
    ClosesInput {
        /// Which message.
        before: usize,
    },
    /// When it starts, it floods its standard error with this many bytes.
    FloodsStderr {
        /// How many.
        bytes: usize,
    },
    /// It answers this method with this member: `"result":…` or `"error":…`, whatever stands
    /// there.
    Answers {
        /// The method.
        method: String,
        /// The member.
        member: String,
    },
    /// Its list of tools has always one more page.
    EndlessPages,
    /// Its list of tools comes back to a cursor it gave before.
    RepeatsCursor,
    /// It answers a call although it was cancelled.
    AnswersCancelled,
    /// Everything it has to say in one step, it says as one batch.
    Batches,
    /// While a call is under way it reports progress at this interval in milliseconds, so many
    /// times.
    Progress {
        /// Milliseconds between two reports.
        every: u64,
        /// How many reports.
        times: u64,
    },
}

impl Script {
    /// A healthy server with these tools, in this order. A tool named `fail…` reports an error of
    /// its own, `refuse…` is answered with a JSON-RPC error, `hang…` never answers, `ask…` has a
    /// person asked before it answers, and any other answers with its arguments.
    #[must_use]
    pub fn tools<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            spawn: Spawn::Runs(0),
            speaks: Speaks::default(),
            revision: None,
            delays: Delays::default(),
            offers: Offered { tools: owned(names), ..Offered::default() },
            subscribe: false,
            page_tools: 0,
            chunk_bytes: 0,
            stop: Stopping::default(),
            front: None,
            faults: Vec::new(),
        }
    }

    /// The same, reached over HTTP like that.
    #[must_use]
    pub fn behind(mut self, front: Front) -> Self {
        self.front = Some(front);
        self
    }

    /// The same, speaking these eras.
    #[must_use]
    pub fn speaking(mut self, speaks: Speaks) -> Self {
        self.speaks = speaks;
        self
    }

    /// The same with these resources, to which one can subscribe.
    #[must_use]
    pub fn resources<'a>(mut self, uris: impl IntoIterator<Item = &'a str>) -> Self {
        self.offers.resources = owned(uris);
        self.subscribe = true;
        self
    }

    /// The same with these templates of resources.
    #[must_use]
    pub fn templates<'a>(mut self, templates: impl IntoIterator<Item = &'a str>) -> Self {
        self.offers.templates = owned(templates);
        self
    }

    /// The same with these prompts.
    #[must_use]
    pub fn prompts<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.offers.prompts = owned(names);
        self
    }

    /// The same, taking so many milliseconds for each page of a list.
    #[must_use]
    pub fn lists_taking(mut self, ms: u64) -> Self {
        self.delays.list = ms;
        self
    }

    /// The same, taking so many milliseconds from its start to its tools.
    #[must_use]
    pub fn taking(mut self, ms: u64) -> Self {
        self.delays.initialize = ms;
        self
    }

    /// The same, taking so many milliseconds for each call.
    #[must_use]
    pub fn calls_taking(mut self, ms: u64) -> Self {
        self.delays.call = ms;
        self
    }

    /// The same with one more thing going wrong.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// The same, stopped as told.
    #[must_use]
    pub fn stopping(mut self, stop: Stopping) -> Self {
        self.stop = stop;
        self
    }

    /// A server whose process does not start.
    #[must_use]
    pub fn missing(after_ms: u64) -> Self {
        let error = OpenError::CommandNotFound {
            command: "missing".into(),
            searched: "/bin".into(),
            whose: WhosePath::Host,
        };
        Self { spawn: Spawn::Fails(after_ms, error), ..Self::default() }
    }

    /// A server that starts and never says anything.
    #[must_use]
    pub fn silent() -> Self {
        Self::default().with(Fault::FallsSilent { from: 0 })
    }
}

fn owned<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(Into::into).collect()
}

impl Default for Script {
    fn default() -> Self {
        Self::tools(["echo"])
    }
}

impl Fault {
    /// Before this message, a line that is not a message.
    #[must_use]
    pub fn line(before: usize, line: &str) -> Self {
        Self::Writes { before, bytes: format!("{line}\n").into_bytes() }
    }

    /// Before this message, a line of so many bytes.
    #[must_use]
    pub fn long_line(before: usize, bytes: usize) -> Self {
        let mut line = vec![b'x'; bytes];
        line.push(b'\n');
        Self::Writes { before, bytes: line }
    }

    /// Before this message, an answer to something nobody asked.
    #[must_use]
    pub fn answers_unasked(before: usize) -> Self {
        Self::line(before, r#"{"jsonrpc":"2.0","id":4711,"result":{}}"#)
    }

    /// Before this message, so many notifications of this method without parameters.
    #[must_use]
    pub fn notifies(before: usize, method: &str, times: usize) -> Self {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}\n");
        Self::Writes { before, bytes: line.repeat(times).into_bytes() }
    }

    /// Before this message, a request of its own with this id, as JSON.
    #[must_use]
    pub fn asks(before: usize, id: &str, method: &str) -> Self {
        Self::line(before, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#))
    }

    /// Before this message, a request with this id that a person is to be asked; with `back`, it
    /// is taken back at once.
    #[must_use]
    pub fn inquires(before: usize, id: &str, back: bool) -> Self {
        let asks = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{"message":"?"}}}}"#
        );
        let takes_back = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        Self::line(before, &if back { format!("{asks}\n{takes_back}") } else { asks })
    }

    /// An answer to this method that is a JSON-RPC error.
    #[must_use]
    pub fn refuses(method: &str, code: i64, message: &str) -> Self {
        let member = format!(r#""error":{{"code":{code},"message":"{message}"}}"#);
        Self::Answers { method: method.into(), member }
    }

    /// An answer to this method whose result is this JSON text.
    #[must_use]
    pub fn results(method: &str, result: &str) -> Self {
        Self::Answers { method: method.into(), member: format!(r#""result":{result}"#) }
    }
}

/// What becomes of a server that is left alone.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Nature {
    /// It gets ready and stays so.
    Sound,
    /// It never gets ready.
    Broken,
    /// That depends on what happens to it.
    Fickle,
}

impl Script {
    /// What becomes of it if it is left alone and is reached over HTTP.
    pub(crate) fn remote_nature(&self) -> Nature {
        let whole = self.front.as_ref().is_none_or(Front::is_whole);
        let started = Self { spawn: Spawn::Runs(0), ..self.clone() };
        match started.nature() {
            Nature::Sound if whole && self.faults.is_empty() => Nature::Sound,
            Nature::Sound | Nature::Broken | Nature::Fickle => Nature::Fickle,
        }
    }

    /// What becomes of it if only these eras are spoken with it, and this would if all were.
    pub(crate) fn nature_in(&self, protocol: Protocol, nature: Nature) -> Nature {
        let foreign = match protocol {
            Protocol::Auto => false,
            Protocol::Legacy => self.speaks == Speaks::Modern,
            Protocol::Modern => self.speaks == Speaks::Legacy,
        };
        match nature {
            nature if !foreign => nature,
            Nature::Sound | Nature::Broken => Nature::Broken,
            Nature::Fickle => Nature::Fickle,
        }
    }

    /// Whether one can subscribe to its resources one by one.
    pub(crate) fn subscribes(&self) -> bool {
        self.subscribe && self.speaks != Speaks::Modern
    }

    /// What becomes of it if it is left alone.
    #[must_use]
    pub fn nature(&self) -> Nature {
        if matches!(self.spawn, Spawn::Fails(..)) {
            return Nature::Broken;
        }
        let known = self.revision.as_deref().is_none_or(|revision| revision.starts_with("202"));
        let pages = self.offers.tools.len().checked_div(self.page_tools).unwrap_or(0) as u64 + 1;
        let Spawn::Runs(spawn) = self.spawn else { return Nature::Broken };
        let slow = spawn + self.delays.initialize + self.delays.list * pages >= SOUND_MS;
        let harmless = self.faults.iter().all(|fault| match fault {
            Fault::Repeats { .. }
            | Fault::FloodsStderr { .. }
            | Fault::AnswersWithTextId { .. }
            | Fault::AnswersCancelled
            | Fault::Progress { .. } => true,
            Fault::Writes { before: _, bytes } => {
                bytes.ends_with(b"\n") && bytes.len() < SOUND_BYTES
            }
            Fault::Answers { method, .. } => method == "tools/call",
            Fault::Crashes { .. }
            | Fault::FallsSilent { .. }
            | Fault::ClosesOutput { .. }
            | Fault::ClosesInput { .. }
            | Fault::EndlessPages
            | Fault::RepeatsCursor
            | Fault::Batches => false,
        });
        if known && harmless && !slow { Nature::Sound } else { Nature::Fickle }
    }
}

/// A server that takes longer than this to its tools may be given up.
const SOUND_MS: u64 = 1_900;
/// A server that writes more than this at once may be given up.
const SOUND_BYTES: usize = 2_048;
