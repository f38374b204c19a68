//! The one place where the driver waits: for its servers' pipes and ends, and for other threads.
//!
//! Each descriptor is registered once and reported as long as it is ready, so that a call costs
//! three system calls: a write, a wait, a read. On Linux this is epoll; other Unix systems make
//! do with poll(2).

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use tidegate_core::id::ConnId;

#[cfg(target_os = "linux")]
#[path = "pollset/epoll.rs"]
mod sys;
#[cfg(not(target_os = "linux"))]
#[path = "pollset/poll.rs"]
mod sys;

pub(crate) use sys::Bell;

/// Something that can be ready.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Source {
    /// One of the descriptors of one server's process.
    Process { conn: ConnId, end: End },
    /// A socket.
    Socket(SocketId),
    /// The end of the guard.
    Guard,
}

/// One socket. Never used again.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct SocketId(pub(crate) u64);

/// What a descriptor is waited for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Interest {
    /// That something can be read from it, or that it ended.
    Read,
    /// That it takes what is written to it.
    Write,
    /// Both.
    ReadWrite,
}

/// Which descriptor of a server.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum End {
    /// Its standard output has something to read, or ended.
    Output,
    /// Its standard error has something to read, or ended.
    Errors,
    /// Its standard input takes more.
    Input,
    /// Its process ended.
    Exit,
}

/// All descriptors the driver waits for.
pub(crate) struct PollSet {
    sys: sys::PollSet,
}

impl PollSet {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { sys: sys::PollSet::new()? })
    }

    /// Reports the descriptor from here on whenever it is ready.
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::needless_pass_by_ref_mut, reason = "poll(2) has a list to change")
    )]
    pub(crate) fn watch(
        &mut self,
        fd: BorrowedFd<'_>,
        source: Source,
        interest: Interest,
    ) -> io::Result<()> {
        self.sys.watch(fd, interest, source.key())
    }

    /// Reports a descriptor that is watched for something else from here on.
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::needless_pass_by_ref_mut, reason = "poll(2) has a list to change")
    )]
    pub(crate) fn change(
        &mut self,
        fd: BorrowedFd<'_>,
        source: Source,
        interest: Interest,
    ) -> io::Result<()> {
        self.sys.change(fd, interest, source.key())
    }

    /// Reports the descriptor no longer. Must be called before it is closed.
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::needless_pass_by_ref_mut, reason = "poll(2) has a list to change")
    )]
    pub(crate) fn forget(&mut self, fd: BorrowedFd<'_>, source: Source) {
        self.sys.forget(fd, source.key());
    }

    /// Waits until something is ready, the bell rings or the time is over, and adds what is
    /// ready to `ready`. `None` waits for ever.
    pub(crate) fn wait(
        &self,
        timeout: Option<Duration>,
        ready: &mut Vec<Source>,
    ) -> io::Result<()> {
        self.sys.wait(timeout, |key| ready.push(Source::from_key(key)))
    }

    /// What other threads end a wait with.
    pub(crate) fn bell(&self) -> Bell {
        self.sys.bell()
    }

    /// A descriptor that is readable whenever something is ready, where the system has one.
    #[cfg(target_os = "linux")]
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.sys.as_fd()
    }
}

impl Source {
    const ENDS: [End; 4] = [End::Output, End::Errors, End::Input, End::Exit];

    /// How many bits of a key tell what it is of.
    const KIND_BITS: u32 = 3;

    /// The kind of a socket's key; those of processes are their ends.
    const SOCKET: u64 = Self::ENDS.len() as u64;

    /// The key of the guard, of which there is one.
    const GUARD: u64 = Self::SOCKET + 1;

    fn key(self) -> u64 {
        // Connections and sockets are counted from zero; 2^61 of them are not reached.
        match self {
            Self::Process { conn, end } => (conn.number() << Self::KIND_BITS) | end as u64,
            Self::Socket(SocketId(number)) => (number << Self::KIND_BITS) | Self::SOCKET,
            Self::Guard => Self::GUARD,
        }
    }

    fn from_key(key: u64) -> Self {
        let (number, kind) = (key >> Self::KIND_BITS, key & ((1 << Self::KIND_BITS) - 1));
        match Self::ENDS.into_iter().find(|end| *end as u64 == kind) {
            Some(end) => Self::Process { conn: ConnId::new(number), end },
            None if kind == Self::GUARD => Self::Guard,
            None => Self::Socket(SocketId(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    fn source(end: End) -> Source {
        Source::Process { conn: ConnId::new(9), end }
    }

    #[test]
    fn a_key_stands_for_one_end_of_one_connection_for_a_socket_or_the_guard() {
        let others = [Source::Socket(SocketId(9)), Source::Guard];
        for source in Source::ENDS.map(source).into_iter().chain(others) {
            assert_eq!(Source::from_key(source.key()), source);
        }
    }

    #[test]
    fn what_is_ready_is_reported_until_it_is_read_or_forgotten() {
        let mut set = PollSet::new().unwrap();
        let (reader, mut writer) = io::pipe().unwrap();
        set.watch(reader.as_fd(), source(End::Output), Interest::Read).unwrap();
        let mut ready = Vec::new();
        set.wait(Some(Duration::ZERO), &mut ready).unwrap();
        assert_eq!(ready, []);
        writer.write_all(b"x").unwrap();
        for _ in 0..2 {
            set.wait(None, &mut ready).unwrap();
            assert_eq!(std::mem::take(&mut ready), [source(End::Output)]);
        }
        set.forget(reader.as_fd(), source(End::Output));
        set.wait(Some(Duration::ZERO), &mut ready).unwrap();
        assert_eq!(ready, []);
    }

    #[test]
    fn a_descriptor_is_reported_for_what_it_is_watched_for() {
        let mut set = PollSet::new().unwrap();
        let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
        let source = Source::Socket(SocketId(1));
        let ready = |set: &PollSet| {
            let mut ready = Vec::new();
            set.wait(Some(Duration::ZERO), &mut ready).unwrap();
            !ready.is_empty()
        };
        set.watch(near.as_fd(), source, Interest::Read).unwrap();
        assert!(!ready(&set));
        set.change(near.as_fd(), source, Interest::ReadWrite).unwrap();
        assert!(ready(&set));
        set.change(near.as_fd(), source, Interest::Read).unwrap();
        far.write_all(b"x").unwrap();
        assert!(ready(&set));
        set.change(near.as_fd(), source, Interest::Write).unwrap();
        assert!(ready(&set));
    }

    #[test]
    fn the_bell_ends_a_wait_from_another_thread() {
        let set = PollSet::new().unwrap();
        let bell = set.bell();
        let ringer = std::thread::spawn(move || bell.ring());
        let mut ready = Vec::new();
        set.wait(None, &mut ready).unwrap();
        assert_eq!(ready, []);
        ringer.join().unwrap();
    }
}
