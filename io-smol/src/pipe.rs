//! One end of a pipe to a server, never blocking.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;

/// How much one read of ordinary messages takes: what a pipe holds unless told otherwise.
pub(crate) const READ_BYTES: usize = 64 * 1024;

/// How much one read takes while a message is large, and how large its pipe is made: what Linux
/// lets everybody have.
const LARGE_BYTES: usize = 1024 * 1024;

/// How much may wait to be written to one server before its input counts as broken. As much as
/// the longest message.
const OUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A buffer that was grown by a large message is not kept.
const OUT_BYTES_KEPT: usize = 16 * 1024;

/// The reading end.
#[derive(Debug)]
pub(crate) struct Reader {
    fd: OwnedFd,
    /// Whether the last read filled the whole buffer, so that a large message is under way.
    large: bool,
    widened: bool,
}

/// What a read came to.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Read {
    /// This.
    Bytes(Vec<u8>),
    /// Nothing is there at the moment.
    Nothing,
    /// Nothing will come: the end, or an error.
    End,
}

impl Reader {
    /// Takes over a pipe.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self { fd, large: false, widened: false })
    }

    /// Reads once. Small reads go through `buffer`, which all pipes share, so that an idle one
    /// costs nothing; while a message is large, reads are large too and are not copied.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>) -> Read {
        if self.large {
            return self.read_large();
        }
        buffer.clear();
        match rustix::io::read(&self.fd, spare_capacity(buffer)) {
            Ok(0) => Read::End,
            Ok(count) => {
                self.large = count >= READ_BYTES;
                Read::Bytes(buffer.as_slice().into())
            }
            Err(Errno::AGAIN | Errno::INTR) => Read::Nothing,
            Err(_) => Read::End,
        }
    }

    fn read_large(&mut self) -> Read {
        if !self.widened {
            self.widened = true;
            widen(&self.fd);
        }
        let mut bytes = Vec::with_capacity(LARGE_BYTES);
        let result = rustix::io::read(&self.fd, spare_capacity(&mut bytes));
        self.large = matches!(result, Ok(count) if count >= READ_BYTES);
        match result {
            Ok(0) => Read::End,
            Ok(count) if count < READ_BYTES => Read::Bytes(bytes.as_slice().into()),
            Ok(_) => Read::Bytes(bytes),
            Err(Errno::AGAIN | Errno::INTR) => Read::Nothing,
            Err(_) => Read::End,
        }
    }
}

impl AsFd for Reader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The writing end, with what waits to be written.
#[derive(Debug)]
pub(crate) struct Writer {
    fd: OwnedFd,
    out: Vec<u8>,
    /// How much of `out` is written.
    written: usize,
    widened: bool,
}

/// What a write came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Written {
    /// Everything is written.
    All,
    /// The rest waits until the pipe takes more.
    Blocked,
    /// The other end is closed.
    Broken,
}

impl Writer {
    /// Takes over a pipe.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        Ok(Self { fd, out: Vec::new(), written: 0, widened: false })
    }

    /// Whether nothing waits to be written.
    pub(crate) fn is_idle(&self) -> bool {
        self.out.is_empty()
    }

    /// Adds bytes to what is to be written; `false` if that is too much.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) -> bool {
        let waiting = self.out.len().saturating_sub(self.written);
        if waiting.saturating_add(bytes.len()) > OUT_BYTES_MAX {
            return false;
        }
        if self.out.is_empty() && bytes.len() > OUT_BYTES_KEPT {
            self.out = bytes;
        } else {
            self.out.extend_from_slice(&bytes);
        }
        true
    }

    /// Writes as much as the pipe takes.
    pub(crate) fn flush(&mut self) -> Written {
        loop {
            let rest = self.out.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                self.out.clear();
                self.out.shrink_to(OUT_BYTES_KEPT);
                self.written = 0;
                return Written::All;
            }
            if rest.len() > READ_BYTES && !self.widened {
                self.widened = true;
                widen(&self.fd);
            }
            match rustix::io::write(&self.fd, rest) {
                Ok(count) => self.written = self.written.saturating_add(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Written::Blocked,
                Err(_) => return Written::Broken,
            }
        }
    }
}

impl AsFd for Writer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Makes a pipe larger for a large message: fewer changes between the two processes. Best
/// effort, for a user may have used up what the system grants.
fn widen(fd: &OwnedFd) {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(fd, LARGE_BYTES);
    #[cfg(not(target_os = "linux"))]
    let _ = fd;
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    fn read_all(reader: &mut Reader) -> (Vec<u8>, usize) {
        let (mut all, mut reads) = (Vec::new(), 0);
        let mut buffer = Vec::with_capacity(READ_BYTES);
        loop {
            match reader.read(&mut buffer) {
                Read::Bytes(bytes) => {
                    all.extend(bytes);
                    reads += 1;
                }
                Read::Nothing => std::thread::yield_now(),
                Read::End => return (all, reads),
            }
        }
    }

    #[test]
    fn a_large_message_is_read_in_large_steps_and_arrives_whole() {
        let (theirs, mut ours) = io::pipe().unwrap();
        let sent: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        let wanted = sent.clone();
        let writer = std::thread::spawn(move || ours.write_all(&sent));
        let (read, _) = read_all(&mut Reader::new(theirs.into()).unwrap());
        assert!(read == wanted);
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn nothing_is_told_from_the_end() {
        let (theirs, ours) = io::pipe().unwrap();
        let mut reader = Reader::new(theirs.into()).unwrap();
        let mut buffer = Vec::with_capacity(READ_BYTES);
        assert_eq!(reader.read(&mut buffer), Read::Nothing);
        drop(ours);
        assert_eq!(reader.read(&mut buffer), Read::End);
    }

    #[test]
    fn what_a_pipe_does_not_take_waits_and_goes_out_in_order() {
        let (mut theirs, ours) = io::pipe().unwrap();
        let mut writer = Writer::new(ours.into()).unwrap();
        let sent: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
        assert!(writer.push(sent[..2_500_000].to_vec()));
        assert!(writer.push(sent[2_500_000..].to_vec()));
        assert_eq!(writer.flush(), Written::Blocked);
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all
        });
        while writer.flush() == Written::Blocked {
            std::thread::yield_now();
        }
        drop(writer);
        assert!(reader.join().unwrap() == sent);
    }

    #[test]
    fn a_closed_pipe_is_broken_and_a_full_queue_refuses() {
        let (theirs, ours) = io::pipe().unwrap();
        let mut writer = Writer::new(ours.into()).unwrap();
        assert!(writer.push(vec![0; OUT_BYTES_MAX]));
        assert!(!writer.push(vec![0]));
        drop(theirs);
        assert_eq!(writer.flush(), Written::Broken);
    }
}
