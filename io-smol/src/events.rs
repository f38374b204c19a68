//! A bounded stream of news for one observer.
//!
//! An observer that is too slow loses the oldest news and is told how many; it never holds the
//! driver back and never grows without bound.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Poll, Waker};

use tidegate_core::event::Event;
use tidegate_core::inquiry::Inquiry;

/// How many pieces of news wait for one observer.
const NEWS_MAX: usize = 1_024;

/// How many bytes of untrusted text wait for one observer: servers choose how much they log.
const NEWS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A subscription to what happens; see [`Host::events`](crate::Host::events).
#[derive(Debug)]
pub struct Events {
    queue: Arc<Mutex<Queue>>,
}

/// What an observer hears.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum News {
    /// This happened.
    Event(Event),
    /// This many pieces of news are lost because the observer did not fetch them in time. What
    /// they were about is read from [`Host::status`](crate::Host::status) and
    /// [`Host::catalog`](crate::Host::catalog).
    Missed(u64),
}

/// The driver's end of a subscription. Once it is dropped the observer hears the rest and then
/// the end.
#[derive(Debug)]
pub(crate) struct Observer {
    queue: Weak<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    news: VecDeque<Event>,
    bytes: usize,
    missed: u64,
    ended: bool,
    waker: Option<Waker>,
}

/// Both ends of a subscription.
pub(crate) fn subscription() -> (Observer, Events) {
    let queue = Arc::new(Mutex::new(Queue::default()));
    (Observer { queue: Arc::downgrade(&queue) }, Events { queue })
}

impl Events {
    /// The next piece of news; `None` once the runtime has ended and everything was heard.
    pub async fn next(&mut self) -> Option<News> {
        poll_fn(|cx| {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(news) = queue.pop() {
                return Poll::Ready(Some(news));
            }
            if queue.ended {
                return Poll::Ready(None);
            }
            queue.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// The next piece of news if it is there already.
    pub fn try_next(&mut self) -> Option<News> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Observer {
    /// Tells the observer; `false` if it is gone.
    pub(crate) fn tell(&self, event: &Event) -> bool {
        let Some(queue) = self.queue.upgrade() else { return false };
        let waker = {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.push(event.clone());
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let Some(queue) = self.queue.upgrade() else { return };
        let waker = {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.ended = true;
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Queue {
    fn push(&mut self, event: Event) {
        self.bytes = self.bytes.saturating_add(text_bytes(&event));
        self.news.push_back(event);
        while self.news.len() > NEWS_MAX || self.bytes > NEWS_BYTES_MAX {
            let Some(oldest) = self.news.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(text_bytes(&oldest));
            self.missed = self.missed.saturating_add(1);
        }
    }

    fn pop(&mut self) -> Option<News> {
        if self.missed > 0 {
            return Some(News::Missed(std::mem::take(&mut self.missed)));
        }
        let event = self.news.pop_front()?;
        self.bytes = self.bytes.saturating_sub(text_bytes(&event));
        Some(News::Event(event))
    }
}

/// The part of an event whose size a server chooses.
fn text_bytes(event: &Event) -> usize {
    if let Event::Logged { message: json, .. } | Event::CallProgressed { progress: json, .. } =
        event
    {
        json.as_str().len()
    } else if let Event::Inquired {
        what: Inquiry::Sampling(params) | Inquiry::Elicitation { params, .. },
        ..
    } = event
    {
        params.as_str().len()
    } else if let Event::Notified { method, params, .. } = event {
        method.len() + params.as_ref().map_or(0, |params| params.as_str().len())
    } else if let Event::Complained { text, .. } | Event::ResourceUpdated { uri: text, .. } = event
    {
        text.len()
    } else if let Event::ProblemFound(problem) = event {
        problem.message.len()
    } else if let Event::ServerChanged { state, .. } = event {
        state.failure().map_or(0, |failure| failure.stderr_tail.len())
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::bytes::Json;

    use super::*;

    fn revision(revision: u64) -> Event {
        Event::ToolsChanged { revision }
    }

    #[test]
    fn a_slow_observer_is_told_how_much_it_missed_and_then_hears_the_latest() {
        let (observer, mut events) = subscription();
        for number in 0..NEWS_MAX as u64 + 3 {
            assert!(observer.tell(&revision(number)));
        }
        assert_eq!(events.try_next(), Some(News::Missed(3)));
        assert_eq!(events.try_next(), Some(News::Event(revision(3))));
    }

    #[test]
    fn long_texts_count_by_their_bytes() {
        let (observer, mut events) = subscription();
        let text = "x".repeat(NEWS_BYTES_MAX / 2);
        for _ in 0..3 {
            let message = Json::new(format!("\"{text}\""));
            observer.tell(&Event::Logged { server: "a".into(), message });
        }
        assert_eq!(events.try_next(), Some(News::Missed(2)));
        assert!(matches!(events.try_next(), Some(News::Event(Event::Logged { .. }))));
        assert_eq!(events.try_next(), None);
    }

    /// L10: whatever a server may choose the length of.
    #[test]
    fn notifications_of_any_kind_count_by_their_bytes() {
        let text = "x".repeat(NEWS_BYTES_MAX / 2);
        let method = text.clone();
        let params = Some(Json::new(format!("\"{text}\"")));
        let long = [
            Event::Notified { server: "a".into(), method, params: None },
            Event::Notified { server: "a".into(), method: "m".into(), params },
            Event::ResourceUpdated { server: "a".into(), uri: text },
        ];
        for event in long {
            let (observer, mut events) = subscription();
            for _ in 0..3 {
                observer.tell(&event);
            }
            assert!(matches!(events.try_next(), Some(News::Missed(1 | 2))), "{:.40?}", event);
        }
    }

    #[test]
    fn an_observer_hears_the_rest_and_then_the_end() {
        let (observer, mut events) = subscription();
        observer.tell(&Event::Stopped);
        drop(observer);
        assert_eq!(async_io::block_on(events.next()), Some(News::Event(Event::Stopped)));
        assert_eq!(async_io::block_on(events.next()), None);
    }

    #[test]
    fn nobody_is_told_once_the_observer_is_gone() {
        let (observer, events) = subscription();
        drop(events);
        assert!(!observer.tell(&Event::Stopped));
    }
}
