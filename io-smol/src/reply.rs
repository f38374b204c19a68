//! One answer from the driver to one who waits for it.
//!
//! Whatever becomes of the driver, the one who waits is woken: a [`Reply`] that is dropped
//! unused resolves its [`Answer`] as well.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The driver's half: gives the answer.
#[derive(Debug)]
pub(crate) struct Reply<T>(Arc<Mutex<State<T>>>);

/// The other half: `Some` once the answer is given, `None` if nobody can give it any more.
#[derive(Debug)]
pub(crate) struct Answer<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
enum State<T> {
    Open(Option<Waker>),
    Given(T),
    Gone,
}

/// Both halves of one answer.
pub(crate) fn reply<T>() -> (Reply<T>, Answer<T>) {
    let state = Arc::new(Mutex::new(State::Open(None)));
    (Reply(Arc::clone(&state)), Answer(state))
}

impl<T> Reply<T> {
    /// Gives the answer.
    pub(crate) fn give(self, value: T) {
        settle(&self.0, State::Given(value));
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        settle(&self.0, State::Gone);
    }
}

fn settle<T>(state: &Mutex<State<T>>, settled: State<T>) {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let State::Open(waker) = &mut *state else { return };
    let waker = waker.take();
    *state = settled;
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(waker) = &mut *state {
            match waker {
                Some(waker) => waker.clone_from(cx.waker()),
                None => *waker = Some(cx.waker().clone()),
            }
            return Poll::Pending;
        }
        match std::mem::replace(&mut *state, State::Gone) {
            State::Given(value) => Poll::Ready(Some(value)),
            State::Open(_) | State::Gone => Poll::Ready(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_arrives_from_another_thread() {
        let (reply, answer) = reply();
        let giver = std::thread::spawn(move || reply.give(7));
        assert_eq!(async_io::block_on(answer), Some(7));
        giver.join().unwrap();
    }

    #[test]
    fn nobody_waits_for_a_reply_that_was_dropped() {
        let (reply, answer) = reply::<u8>();
        drop(reply);
        assert_eq!(async_io::block_on(answer), None);
    }
}
