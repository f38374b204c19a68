//! epoll, level-triggered.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;

use super::Interest;

/// How many events one wait fetches; more are fetched by the next.
const EVENTS_MAX: usize = 64;

/// The key of the bell; no connection has it.
const BELL: u64 = u64::MAX;

pub(super) struct PollSet {
    epoll: OwnedFd,
    bell: Bell,
}

/// Ends a wait. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Bell(Arc<OwnedFd>);

impl Bell {
    pub(crate) fn ring(&self) {
        // Fails only if it rang 2^64 - 2 times and nobody heard.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

impl PollSet {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        // Edge-triggered: each ring is reported once, and need not be read away.
        epoll::add(&epoll, &bell, EventData::new_u64(BELL), EventFlags::IN | EventFlags::ET)?;
        Ok(Self { epoll, bell: Bell(Arc::new(bell)) })
    }

    pub(super) fn watch(&self, fd: BorrowedFd<'_>, interest: Interest, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, EventData::new_u64(key), flags(interest))?)
    }

    pub(super) fn change(
        &self,
        fd: BorrowedFd<'_>,
        interest: Interest,
        key: u64,
    ) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, fd, EventData::new_u64(key), flags(interest))?)
    }

    pub(super) fn forget(&self, fd: BorrowedFd<'_>, _key: u64) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        mut ready: impl FnMut(u64),
    ) -> io::Result<()> {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut space = [const { MaybeUninit::<Event>::uninit() }; EVENTS_MAX];
        let events = match epoll::wait(&self.epoll, &mut space, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            if event.data.u64() != BELL {
                ready(event.data.u64());
            }
        }
        Ok(())
    }

    pub(super) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

const fn flags(interest: Interest) -> EventFlags {
    match interest {
        Interest::Read => EventFlags::IN,
        Interest::Write => EventFlags::OUT,
        Interest::ReadWrite => EventFlags::IN.union(EventFlags::OUT),
    }
}
