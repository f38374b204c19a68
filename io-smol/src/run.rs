//! Driving the driver: on any executor, or together with the host on one thread.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tidegate_core::input::Request;

use crate::driver::Driver;
use crate::inbox::Message;
use crate::pollset::{Bell, PollSet, Source};

/// Runs the driver and a future of the host's on this thread, where a call never changes
/// threads and costs three system calls. Returns the future's output once the runtime was shut
/// down and every process is gone; the end of the future is what shuts it down.
///
/// The future may use smol's timers and sockets; they are served by smol's own thread.
///
/// # Errors
///
/// Those of [`Driver::run`].
pub fn block_on<T>(mut driver: Driver, host: impl Future<Output = T>) -> io::Result<T> {
    let mut host = pin!(host);
    let output = drive(&mut driver, host.as_mut())?;
    // Somebody else may have shut the runtime down; every answer the host waits for is given.
    drop(driver);
    Ok(output.unwrap_or_else(|| futures_lite::future::block_on(host)))
}

/// Runs the driver to its end; the host's output if it came to one before that.
fn drive<T>(
    driver: &mut Driver,
    mut host: Pin<&mut impl Future<Output = T>>,
) -> io::Result<Option<T>> {
    let parker = Arc::new(Parker { parked: AtomicBool::new(false), bell: driver.bell() });
    let [host_flag, driver_flag] = [(); 2].map(|()| Arc::new(Flag::raised(&parker)));
    let [host_waker, driver_waker] = [&host_flag, &driver_flag].map(|it| Waker::from(it.clone()));
    let inbox = driver.inbox();
    let mut output = None;
    let mut ready = Vec::new();
    let mut alert = Alert::default();
    loop {
        if output.is_none()
            && host_flag.lower()
            && let Poll::Ready(value) = host.as_mut().poll(&mut Context::from_waker(&host_waker))
        {
            output = Some(value);
            inbox.report(Message::Tell(Request::Shutdown));
        }
        driver.turn(&mut ready);
        if driver.is_ended() {
            return Ok(output);
        }
        driver_flag.lower();
        if inbox.poll_waiting(&Context::from_waker(&driver_waker)).is_ready() {
            continue;
        }
        let patience = driver.patience();
        let wanted = || output.is_none() && host_flag.is_raised() || driver_flag.is_raised();
        if driver.awaits_calls() && alert.watch(driver.poll_set(), patience, wanted, &mut ready)? {
            continue;
        }
        parker.parked.store(true, Ordering::SeqCst);
        if !wanted() {
            driver.poll_set().wait(patience, &mut ready)?;
        }
        parker.parked.store(false, Ordering::SeqCst);
        if let Some(pause) = driver.gathering() {
            thread::sleep(pause);
            ready.clear();
            driver.poll_set().wait(Some(Duration::ZERO), &mut ready)?;
        }
    }
}

/// How long the thread stays awake for what may come at once. Falling asleep and being woken
/// takes several times as long as a quick server takes to answer.
const ALERT_MAX: Duration = Duration::from_micros(25);

/// How many times in a row it may be in vain, and how many waits then go straight to sleep.
const ALERT_MISSES_MAX: u32 = 4;
const ALERT_REST: u32 = 64;

/// Staying awake for a moment, as long as that pays.
#[derive(Debug, Default)]
struct Alert {
    misses: u32,
    rest: u32,
}

impl Alert {
    /// Looks for a moment whether something comes, and lets others run meanwhile; `false` if
    /// nothing did.
    fn watch(
        &mut self,
        set: &PollSet,
        patience: Option<Duration>,
        wanted: impl Fn() -> bool,
        ready: &mut Vec<Source>,
    ) -> io::Result<bool> {
        if self.rest > 0 {
            self.rest -= 1;
            return Ok(false);
        }
        let until = Instant::now() + ALERT_MAX.min(patience.unwrap_or(ALERT_MAX));
        loop {
            set.wait(Some(Duration::ZERO), ready)?;
            if !ready.is_empty() || wanted() {
                self.misses = 0;
                return Ok(true);
            }
            if Instant::now() >= until {
                break;
            }
            thread::yield_now();
        }
        self.misses += 1;
        if self.misses >= ALERT_MISSES_MAX {
            (self.misses, self.rest) = (ALERT_MISSES_MAX - 1, ALERT_REST);
        }
        Ok(false)
    }
}

/// Wakes the thread if it waits for descriptors.
#[derive(Debug)]
struct Parker {
    parked: AtomicBool,
    bell: Bell,
}

/// Says that one of the two futures is to be polled.
#[derive(Debug)]
struct Flag {
    raised: AtomicBool,
    parker: Arc<Parker>,
}

impl Flag {
    fn raised(parker: &Arc<Parker>) -> Self {
        Self { raised: AtomicBool::new(true), parker: Arc::clone(parker) }
    }

    fn lower(&self) -> bool {
        self.raised.swap(false, Ordering::SeqCst)
    }

    fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // First the flag, then a look at whether the thread sleeps; the thread does the reverse,
        // so that one of the two sees the other.
        self.raised.store(true, Ordering::SeqCst);
        if self.parker.parked.swap(false, Ordering::SeqCst) {
            self.parker.bell.ring();
        }
    }
}

impl Driver {
    /// Runs the runtime until it was shut down and every process is gone.
    ///
    /// May be polled on any executor and any thread; what it waits for is registered with
    /// smol's reactor. Cheapest with [`block_on`].
    ///
    /// # Errors
    ///
    /// If the operating system refuses to wait. What goes wrong with one server is that
    /// server's state, and what goes wrong with the driver's own files is a problem that
    /// observers hear of.
    pub async fn run(self) -> io::Result<()> {
        sys::run(self).await
    }
}

#[cfg(target_os = "linux")]
mod sys {
    use std::future::poll_fn;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::{Duration, Instant};

    use async_io::{Async, Timer};
    use futures_lite::future::yield_now;

    use crate::driver::Driver;

    /// The driver's own poll set, as one descriptor of smol's reactor.
    pub(super) async fn run(mut driver: Driver) -> io::Result<()> {
        let set = driver.poll_set().as_fd().try_clone_to_owned()?;
        let mut waiter =
            Waiter { set: Async::new_nonblocking(set)?, timer: Timer::never(), armed: None };
        let mut ready = Vec::new();
        loop {
            driver.turn(&mut ready);
            if driver.is_ended() {
                return Ok(());
            }
            if driver.has_published() {
                // Whoever got an answer may ask again at once: those requests go together.
                yield_now().await;
            }
            poll_fn(|cx| waiter.poll(&driver, cx)).await?;
            if let Some(pause) = driver.gathering() {
                Timer::after(pause).await;
            }
            driver.poll_set().wait(Some(Duration::ZERO), &mut ready)?;
        }
    }

    struct Waiter {
        set: Async<OwnedFd>,
        timer: Timer,
        /// When the timer fires; `None` if it does not.
        armed: Option<Instant>,
    }

    impl Waiter {
        /// Ready when something waits, something is ready or the time has come. A time that
        /// moves away leaves the timer as it is: it fires once for nothing, which costs less
        /// than moving it with every call.
        fn poll(&mut self, driver: &Driver, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            if driver.inbox().poll_waiting(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            if let Poll::Ready(ready) = self.set.poll_readable(cx) {
                return Poll::Ready(ready);
            }
            let due = driver.patience().and_then(|patience| Instant::now().checked_add(patience));
            if let Some(due) = due
                && self.armed.is_none_or(|armed| due < armed)
            {
                self.timer.set_at(due);
                self.armed = Some(due);
            }
            if Pin::new(&mut self.timer).poll(cx).is_ready() {
                self.armed = None;
                return Poll::Ready(Ok(()));
            }
            Poll::Pending
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::io;
    use std::thread;

    use crate::driver::Driver;
    use crate::reply::reply;

    /// On a thread of its own: the poll set is no descriptor that a reactor could wait for. If
    /// the future is dropped, the thread shuts the runtime down.
    pub(super) async fn run(driver: Driver) -> io::Result<()> {
        let (done, ended) = reply();
        let (_polled, dropped) = reply::<()>();
        let run = move || {
            let mut driver = driver;
            done.give(super::drive(&mut driver, std::pin::pin!(dropped)).map(drop));
        };
        thread::Builder::new().name("tidegate".into()).spawn(run)?;
        ended.await.unwrap_or_else(|| Err(io::Error::other("the driver's thread is gone")))
    }
}
