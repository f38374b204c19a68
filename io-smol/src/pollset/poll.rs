//! poll(2), with a copy of each descriptor so that the set is whole by itself.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::Interest;

pub(super) struct PollSet {
    watched: BTreeMap<u64, (OwnedFd, PollFlags)>,
    heard: OwnedFd,
    bell: Bell,
}

/// Ends a wait. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Bell(Arc<OwnedFd>);

impl Bell {
    pub(crate) fn ring(&self) {
        // Fails only if the pipe is full: it rings already.
        let _ = rustix::io::write(&*self.0, &[1]);
    }
}

impl PollSet {
    pub(super) fn new() -> io::Result<Self> {
        let (heard, bell) = io::pipe()?;
        let (heard, bell) = (OwnedFd::from(heard), OwnedFd::from(bell));
        rustix::io::ioctl_fionbio(&heard, true)?;
        rustix::io::ioctl_fionbio(&bell, true)?;
        Ok(Self { watched: BTreeMap::new(), heard, bell: Bell(Arc::new(bell)) })
    }

    pub(super) fn watch(
        &mut self,
        fd: BorrowedFd<'_>,
        interest: Interest,
        key: u64,
    ) -> io::Result<()> {
        self.watched.insert(key, (fd.try_clone_to_owned()?, flags(interest)));
        Ok(())
    }

    pub(super) fn change(
        &mut self,
        _fd: BorrowedFd<'_>,
        interest: Interest,
        key: u64,
    ) -> io::Result<()> {
        let watched = self.watched.get_mut(&key).ok_or(io::ErrorKind::NotFound)?;
        watched.1 = flags(interest);
        Ok(())
    }

    pub(super) fn forget(&mut self, _fd: BorrowedFd<'_>, key: u64) {
        self.watched.remove(&key);
    }

    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        mut ready: impl FnMut(u64),
    ) -> io::Result<()> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut fds = vec![PollFd::new(&self.heard, PollFlags::IN)];
        fds.extend(self.watched.values().map(|(fd, interest)| PollFd::new(fd, *interest)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let mut happened = fds.iter().map(|fd| !fd.revents().is_empty());
        if happened.next() == Some(true) {
            let _ = rustix::io::read(&self.heard, &mut [0; 64]);
        }
        for (key, _) in self.watched.keys().zip(happened).filter(|(_, happened)| *happened) {
            ready(*key);
        }
        Ok(())
    }

    pub(super) fn bell(&self) -> Bell {
        self.bell.clone()
    }
}

const fn flags(interest: Interest) -> PollFlags {
    match interest {
        Interest::Read => PollFlags::IN,
        Interest::Write => PollFlags::OUT,
        Interest::ReadWrite => PollFlags::IN.union(PollFlags::OUT),
    }
}
