//! A host that follows the files it is configured in: `cargo run --example follow`.
//!
//! Prints `following` once every file is watched, then a line for each change of a server, until
//! its input ends.

#![expect(clippy::print_stdout, reason = "it is what an example has to say")]

use std::error::Error;
use std::io::stdin;
use std::path::Path;

use futures_lite::future;
use tidegate_core::event::Event;
use tidegate_core::hub::policy::Watch;
use tidegate_core::options::Options;
use tidegate_smol::places::Directories;
use tidegate_smol::{Host, News, Settings, block_on, open};

fn main() -> Result<(), Box<dyn Error>> {
    let places = Directories::find()?.places(Path::new("."), &[])?;
    let mut options = Options::new(&places.cwd, places.sources());
    options.home = places.home;
    options.policy.watch = Watch::follow();
    let (host, driver) = open(Settings::new(options))?;
    block_on(driver, async {
        let input = blocking::unblock(|| stdin().lines().for_each(drop));
        future::or(input, follow(&host)).await;
    })?;
    Ok(())
}

async fn follow(host: &Host) {
    let mut events = host.events();
    host.start().await;
    println!("following");
    while let Some(news) = events.next().await {
        if let News::Event(Event::ServerChanged { server, state }) = news {
            println!("{server} is {}", state.name());
        }
    }
}
