//! What servers ask the host: a stream of questions, each with a way to answer it.
//!
//! A host may take as long as it likes; so many questions may be open as the machine's limits say.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};

use tidegate_core::id::{CallId, InquiryId, ServerName};
use tidegate_core::inquiry::{Inquiry, Refusal, Reply};

use crate::inbox::{Inbox, Message};
use crate::reply::Answer;

/// What servers ask, one question after the other; see
/// [`Settings::serving`](crate::Settings::serving). Once it is dropped, everything is refused.
#[derive(Debug)]
pub struct Inquiries {
    queue: Arc<Mutex<Queue>>,
}

/// A question of a server's. Dropping it unanswered refuses it.
#[must_use = "dropping a question refuses it"]
pub struct Asked {
    /// The server that asks.
    pub server: ServerName,
    /// The call in the course of which it asks, where that is known.
    pub call: Option<CallId>,
    /// What it asks for. Untrusted.
    pub what: Inquiry,
    inquiry: InquiryId,
    inbox: Arc<Inbox>,
    /// Resolves when nobody needs an answer any more.
    over: Answer<()>,
    answered: bool,
}

/// The driver's end of the stream.
#[derive(Clone, Debug)]
pub(crate) struct Inquirer {
    queue: Weak<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    asked: VecDeque<Asked>,
    ended: bool,
    waker: Option<Waker>,
}

/// Both ends of a stream of questions.
pub(crate) fn inquiries() -> (Inquirer, Inquiries) {
    let queue = Arc::new(Mutex::new(Queue::default()));
    (Inquirer { queue: Arc::downgrade(&queue) }, Inquiries { queue })
}

impl Inquiries {
    /// The next question; `None` once the runtime has ended.
    pub async fn next(&mut self) -> Option<Asked> {
        poll_fn(|cx| {
            let mut queue = lock(&self.queue);
            if let Some(asked) = queue.asked.pop_front() {
                return Poll::Ready(Some(asked));
            }
            if queue.ended {
                return Poll::Ready(None);
            }
            queue.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl Asked {
    pub(crate) fn new(
        (inquiry, server, call, what): (InquiryId, ServerName, Option<CallId>, Inquiry),
        inbox: &Arc<Inbox>,
        over: Answer<()>,
    ) -> Self {
        let inbox = Arc::clone(inbox);
        Self { server, call, what, inquiry, inbox, over, answered: false }
    }

    /// The number of the question, as in the news of a run.
    #[must_use]
    pub const fn id(&self) -> InquiryId {
        self.inquiry
    }

    /// Answers it. Nothing happens if nobody needs that any more.
    pub fn reply(mut self, reply: Reply) {
        self.answered = true;
        self.inbox.report(Message::Reply(self.inquiry, reply));
    }

    /// Resolves when nobody needs an answer any more: the server took the question back or is
    /// gone, or the call is over.
    pub async fn over(&mut self) {
        let _ = (&mut self.over).await;
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} asks for {}", self.server, self.what)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.answered {
            let refusal = Refusal::Failed { message: "Nobody answers".into() };
            self.inbox.report(Message::Reply(self.inquiry, Reply::Refused(refusal)));
        }
    }
}

impl Inquirer {
    /// Tells the host of a question, which is refused if the host does not listen any more.
    pub(crate) fn tell(&self, asked: Asked) {
        let Some(queue) = self.queue.upgrade() else { return };
        let waker = {
            let mut queue = lock(&queue);
            queue.asked.push_back(asked);
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Nothing more is asked.
    pub(crate) fn end(&self) {
        let Some(queue) = self.queue.upgrade() else { return };
        let waker = {
            let mut queue = lock(&queue);
            queue.ended = true;
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tidegate_core::bytes::Json;

    use super::*;
    use crate::inbox::Stamped;
    use crate::reply::reply;

    fn asked(inbox: &Arc<Inbox>, over: Answer<()>) -> Asked {
        let what = Inquiry::Sampling(Json::new("{}"));
        Asked::new((InquiryId::new(7), "s".into(), None, what), inbox, over)
    }

    fn replies(inbox: &Inbox) -> Vec<Reply> {
        let mut waiting = VecDeque::new();
        inbox.take(&mut waiting);
        let reply = |Stamped { message, .. }| {
            let Message::Reply(inquiry, reply) = message else { panic!("{message:?}") };
            assert_eq!(inquiry, InquiryId::new(7));
            reply
        };
        waiting.into_iter().map(reply).collect()
    }

    /// L7: whatever becomes of a question, it is answered once.
    #[test]
    fn a_question_is_answered_once_whatever_the_host_does_with_it() {
        let inbox = Arc::new(Inbox::new());
        let nobody = || reply().1;
        let done = Reply::Done(Json::new("{}"));
        asked(&inbox, nobody()).reply(done.clone());
        assert_eq!(replies(&inbox), [done]);
        drop(asked(&inbox, nobody()));
        assert!(matches!(replies(&inbox)[..], [Reply::Refused(_)]));
        // Nobody listens any more.
        let (inquirer, questions) = inquiries();
        inquirer.tell(asked(&inbox, nobody()));
        drop(questions);
        assert!(matches!(replies(&inbox)[..], [Reply::Refused(_)]));
        inquirer.tell(asked(&inbox, nobody()));
        assert!(matches!(replies(&inbox)[..], [Reply::Refused(_)]));
    }

    #[test]
    fn a_host_hears_each_question_and_when_nobody_needs_the_answer() {
        let inbox = Arc::new(Inbox::new());
        let (inquirer, mut questions) = inquiries();
        let (needed, over) = reply();
        inquirer.tell(asked(&inbox, over));
        let mut first = async_io::block_on(questions.next()).unwrap();
        assert_eq!((first.id(), first.server.as_str()), (InquiryId::new(7), "s"));
        drop(needed);
        async_io::block_on(first.over());
        inquirer.end();
        assert!(async_io::block_on(questions.next()).is_none());
    }
}
