//! One running server: a task for each thing that waits, and the facts that come of it.

use std::io;

use tidegate_core::bytes::Bytes;
use tidegate_core::command::Launch;
use tidegate_core::error::Exit;
use tidegate_core::id::ConnId;
use tidegate_core::input::Fact;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::mpsc::{Sender, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn};
use tokio::time::{sleep, timeout};

use super::Message;
use crate::system::{self, Group, LOOK_EVERY, READ_BYTES, REST_MAX};

/// A running server. Once it is dropped, its end is not waited for any more.
pub(super) struct Server {
    group: Group,
    /// What is to be written; dropped, it closes the server's input.
    input: Option<UnboundedSender<Bytes>>,
    watch: JoinHandle<()>,
}

impl Server {
    /// Starts a server; what happens to it is told by its tasks.
    pub(super) fn open(
        launch: &Launch,
        cwd: &str,
        conn: ConnId,
        inbox: Sender<Message>,
    ) -> io::Result<(Self, Option<u32>)> {
        let mut child = Command::from(system::program(launch, cwd)).spawn()?;
        let pid = child.id();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("a stream is no pipe"));
        };
        let group = pid.and_then(Group::of).ok_or(io::ErrorKind::NotFound)?;
        let (input, mut to_write) = unbounded_channel::<Bytes>();
        let told = inbox.clone();
        spawn(async move {
            while let Some(bytes) = to_write.recv().await {
                if stdin.write_all(&bytes).await.is_err() {
                    return tell(&told, Fact::InputFailed { conn }).await;
                }
            }
        });
        let told = inbox.clone();
        let output = spawn(async move {
            pump(stdout, &told, |bytes| Fact::Received { conn, bytes }).await;
            tell(&told, Fact::OutputEnded { conn }).await;
        });
        let told = inbox.clone();
        let errors = spawn(async move {
            pump(stderr, &told, |bytes| Fact::Complained { conn, bytes }).await;
        });
        // Waits for the end of the process, of its group, and of what they said.
        let watch = spawn(async move {
            let exit = system::exit(child.wait().await);
            if exit != Exit::Code(0) {
                // A wrapper that leaves its server behind ends well; a server that fails is over.
                tell(&inbox, Fact::OutputEnded { conn }).await;
            }
            while group.exists() {
                sleep(LOOK_EVERY).await;
            }
            let _ = timeout(REST_MAX, async { (output.await, errors.await) }).await;
            tell(&inbox, Fact::Closed { conn, exit }).await;
        });
        Ok((Self { group, input: Some(input), watch }, pid))
    }

    pub(super) fn send(&self, bytes: Bytes) {
        let _ = self.input.as_ref().map(|input| input.send(bytes));
    }

    /// Closes the server's input once what was sent is written.
    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    pub(super) const fn group(&self) -> Group {
        self.group
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// Tells the owner what happened; after its end, nobody.
async fn tell(inbox: &Sender<Message>, fact: Fact) {
    let _ = inbox.send(Message::Happened(fact)).await;
}

/// Passes on what a pipe says until it ends.
async fn pump(
    mut pipe: impl AsyncRead + Unpin,
    inbox: &Sender<Message>,
    fact: impl Fn(Bytes) -> Fact,
) {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        tell(inbox, fact(buffer[..count].to_vec().into())).await;
    }
}
