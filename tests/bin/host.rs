//! A host as a process of its own, so that a test can end it: `scripted-host CONFIG`.
//!
//! Prints `starting`, then `ready` once the gate has opened, and ends when it is told to on its
//! input or by a signal, after the teardown.

use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use async_io::Async;
use futures_lite::future;
use tidegate_core::config::Source;
use tidegate_core::options::Options;
use tidegate_smol::signals::Signals;
use tidegate_smol::{Settings, block_on, open};

fn say(word: &str) {
    let mut out = stdout().lock();
    let _ = writeln!(out, "{word}").and_then(|()| out.flush());
}

fn main() -> ExitCode {
    let config = std::env::args().nth(1).expect("usage: scripted-host CONFIG");
    let text = std::fs::read_to_string(&config).expect("a configuration");
    let cwd = Path::new(&config).parent().expect("a folder").display().to_string();
    let mut signals = Signals::new().expect("signals");
    let settings = Settings::new(Options::new(&cwd, vec![Source::inline("test", &text)]));
    let (host, driver) = open(settings).expect("a driver");
    say("starting");
    let code = block_on(driver, async {
        let work = async {
            host.start().await;
            say("ready");
            told().await;
            0
        };
        let ended = future::or(work, async { signals.next().await.exit_code() }).await;
        host.shutdown().await;
        ended
    });
    ExitCode::from(code.expect("a run"))
}

/// Waits for a line on the input, which is a pipe, or for its end.
async fn told() {
    let input = Async::new(std::io::stdin()).expect("a pipe");
    let _ = input.readable().await;
}
