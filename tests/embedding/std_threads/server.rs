//! One running server: a thread for each thing that blocks, and the facts that come of it.

use std::io::{self, Read, Write};
use std::process::Child;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Weak};
use std::thread;

use tidegate_core::bytes::Bytes;
use tidegate_core::command::Launch;
use tidegate_core::error::Exit;
use tidegate_core::id::ConnId;
use tidegate_core::input::Fact;

use crate::system::{self, Group, LOOK_EVERY, READ_BYTES, REST_MAX};

/// A running server. Once it is dropped, its end is not waited for any more.
pub(super) struct Server {
    group: Group,
    /// What is to be written; dropped, it closes the server's input.
    input: Option<Sender<Bytes>>,
    _wanted: Arc<()>,
}

impl Server {
    /// Starts a server; what happens to it is told from its threads.
    pub(super) fn open(
        launch: &Launch,
        cwd: &str,
        conn: ConnId,
        tell: impl Fn(Fact) + Clone + Send + 'static,
    ) -> io::Result<(Self, u32)> {
        let mut child = system::program(launch, cwd).spawn()?;
        let pid = child.id();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("a stream is no pipe"));
        };
        let group = Group::of(pid).ok_or(io::ErrorKind::NotFound)?;
        let (input, to_write) = mpsc::channel::<Bytes>();
        let told = tell.clone();
        thread::spawn(move || {
            if to_write.iter().any(|bytes| stdin.write_all(&bytes).is_err()) {
                told(Fact::InputFailed { conn });
            }
        });
        // Disconnected once both readers have ended.
        let (reading, read) = mpsc::channel::<()>();
        let (told, reads) = (tell.clone(), reading.clone());
        thread::spawn(move || {
            pump(stdout, |bytes| told(Fact::Received { conn, bytes }));
            told(Fact::OutputEnded { conn });
            drop(reads);
        });
        let told = tell.clone();
        thread::spawn(move || {
            pump(stderr, |bytes| told(Fact::Complained { conn, bytes }));
            drop(reading);
        });
        let wanted = Arc::new(());
        let watched = Arc::downgrade(&wanted);
        thread::spawn(move || watch(conn, child, group, &read, &watched, tell));
        Ok((Self { group, input: Some(input), _wanted: wanted }, pid))
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

/// Passes on what a pipe says until it ends.
fn pump(mut pipe: impl Read, pass: impl Fn(Bytes)) {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => pass(buffer[..count].to_vec().into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Waits for the end of a server: of the process, of its group, and of what they said.
fn watch(
    conn: ConnId,
    mut child: Child,
    group: Group,
    read: &Receiver<()>,
    wanted: &Weak<()>,
    tell: impl Fn(Fact),
) {
    let exit = system::exit(child.wait());
    if exit != Exit::Code(0) {
        // A wrapper that leaves its server behind ends well; a server that fails is over.
        tell(Fact::OutputEnded { conn });
    }
    while group.exists() {
        if wanted.strong_count() == 0 {
            return;
        }
        thread::sleep(LOOK_EVERY);
    }
    let _ = read.recv_timeout(REST_MAX);
    tell(Fact::Closed { conn, exit });
}
