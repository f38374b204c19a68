//! One socket, encrypted or not, never blocking.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketType, connect, socket};
use rustls::ClientConnection;

use super::tls;
use crate::pollset::{Interest, PollSet, SocketId, Source};

/// How much one read takes.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// How much of what is encrypted is read at once.
const SEALED_BYTES: usize = 16 * 1024;

/// A socket that is being connected, or is.
#[derive(Debug)]
pub(super) struct Socket {
    id: SocketId,
    stream: TcpStream,
    tls: Option<Box<ClientConnection>>,
    interest: Interest,
    /// Whether anything was written since this was reset.
    touched: bool,
}

/// What a read came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Read {
    /// Something was read.
    Some,
    /// Nothing is there at the moment.
    Nothing,
    /// The other side said that nothing more comes.
    End,
    /// The connection broke.
    Broken,
}

/// What a write came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Written {
    /// Everything is written.
    All,
    /// The rest waits until the socket takes more.
    Blocked,
    /// The connection broke.
    Broken,
}

impl Socket {
    /// Begins to connect; watched until it is closed.
    pub(super) fn connect(
        id: SocketId,
        address: SocketAddr,
        poll: &mut PollSet,
    ) -> io::Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let fd: OwnedFd = socket(family, SocketType::STREAM, None)?;
        fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
        ioctl_fionbio(&fd, true)?;
        match connect(&fd, &address) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let stream = TcpStream::from(fd);
        // A request and its answer are small and wait for each other.
        stream.set_nodelay(true)?;
        poll.watch(stream.as_fd(), Source::Socket(id), Interest::Write)?;
        Ok(Self { id, stream, tls: None, interest: Interest::Write, touched: false })
    }

    pub(super) fn id(&self) -> SocketId {
        self.id
    }

    /// Whether it is connected, once that is known.
    pub(super) fn connected(&self) -> Option<io::Result<()>> {
        match self.stream.take_error() {
            Ok(Some(error)) | Err(error) => return Some(Err(error)),
            Ok(None) => {}
        }
        match self.stream.peer_addr() {
            Ok(_) => Some(Ok(())),
            Err(error) if error.kind() == ErrorKind::NotConnected => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Encrypts everything from here on.
    pub(super) fn secure(&mut self, tls: ClientConnection) {
        self.tls = Some(Box::new(tls));
    }

    /// Goes on agreeing on the encryption; whether that is done.
    pub(super) fn handshake(&mut self) -> Result<bool, String> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        loop {
            if seal(tls, &mut self.stream, &mut self.touched) == Written::Broken {
                return Err("the other side hung up".into());
            }
            if !tls.is_handshaking() {
                return Ok(true);
            }
            match tls.read_tls(&mut self.stream) {
                Ok(0) => return Err("the other side hung up".into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
            if let Err(error) = tls.process_new_packets() {
                // So that the other side hears why.
                seal(tls, &mut self.stream, &mut self.touched);
                return Err(tls::told(&error));
            }
        }
    }

    /// What it is to be reported for while it goes on by itself.
    pub(super) fn wanted(&self) -> Interest {
        let writes = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        if writes { Interest::ReadWrite } else { Interest::Read }
    }

    /// Forgets that anything was written.
    pub(super) fn reset(&mut self) {
        self.touched = false;
    }

    /// Whether the other side can have seen anything that was written since the reset.
    pub(super) fn was_touched(&self) -> bool {
        self.touched
    }

    /// Writes what is left of some bytes, of which so many are taken already.
    pub(super) fn write(&mut self, bytes: &[u8], taken: &mut usize) -> Written {
        loop {
            let rest = bytes.get(*taken..).unwrap_or_default();
            let Some(tls) = &mut self.tls else {
                if rest.is_empty() {
                    return Written::All;
                }
                match self.stream.write(rest) {
                    Ok(count) => {
                        *taken = taken.saturating_add(count);
                        self.touched = true;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Written::Blocked,
                    Err(_) => return Written::Broken,
                }
                continue;
            };
            // Takes as much as it keeps at most, and fails never.
            *taken = taken.saturating_add(tls.writer().write(rest).unwrap_or(0));
            match seal(tls, &mut self.stream, &mut self.touched) {
                Written::All if *taken >= bytes.len() => return Written::All,
                Written::All => {}
                unfinished @ (Written::Blocked | Written::Broken) => return unfinished,
            }
        }
    }

    /// Reads once and adds it.
    pub(super) fn read(&mut self, into: &mut Vec<u8>) -> Read {
        let Some(tls) = &mut self.tls else {
            into.reserve(READ_BYTES);
            return match rustix::io::read(&self.stream, rustix::buffer::spare_capacity(into)) {
                Ok(0) => Read::End,
                Ok(_) => Read::Some,
                Err(Errno::AGAIN | Errno::INTR) => Read::Nothing,
                Err(_) => Read::Broken,
            };
        };
        let mut sealed = [0; SEALED_BYTES];
        let count = match self.stream.read(&mut sealed) {
            Ok(count) => count,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return Read::Nothing;
            }
            Err(_) => return Read::Broken,
        };
        let read = unseal(tls, sealed.get(..count).unwrap_or_default(), into);
        if tls.wants_write() && seal(tls, &mut self.stream, &mut self.touched) == Written::Broken {
            return Read::Broken;
        }
        read
    }

    /// Whether nothing came and nothing ended: an idle socket that may be used again.
    pub(super) fn is_quiet(&self) -> bool {
        let peeked = self.stream.peek(&mut [0]);
        peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Is reported for this from here on.
    pub(super) fn await_(&mut self, interest: Interest, poll: &mut PollSet) -> io::Result<()> {
        if self.interest != interest {
            poll.change(self.stream.as_fd(), Source::Socket(self.id), interest)?;
            self.interest = interest;
        }
        Ok(())
    }

    /// Ends the connection.
    pub(super) fn close(mut self, poll: &mut PollSet) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            seal(tls, &mut self.stream, &mut self.touched);
        }
        poll.forget(self.stream.as_fd(), Source::Socket(self.id));
    }
}

/// Writes what is encrypted already.
fn seal(tls: &mut ClientConnection, stream: &mut TcpStream, touched: &mut bool) -> Written {
    while tls.wants_write() {
        match tls.write_tls(stream) {
            Ok(_) => *touched = true,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Written::Blocked,
            Err(_) => return Written::Broken,
        }
    }
    Written::All
}

/// Decrypts what was read; nothing is the end.
fn unseal(tls: &mut ClientConnection, mut sealed: &[u8], into: &mut Vec<u8>) -> Read {
    let before = into.len();
    loop {
        if tls.read_tls(&mut sealed).is_err() || tls.process_new_packets().is_err() {
            return Read::Broken;
        }
        match tls.reader().read_to_end(into) {
            // It said that it ends.
            Ok(_) => return if into.len() > before { Read::Some } else { Read::End },
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return Read::Broken,
        }
        if sealed.is_empty() {
            return if into.len() > before { Read::Some } else { Read::Nothing };
        }
    }
}
