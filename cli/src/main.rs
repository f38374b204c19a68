//! `tidegate`: the command.

#![forbid(unsafe_code)]

mod args;
mod call;
mod demo;
mod ending;
mod exit;
mod list;
mod nearest;
mod output;
mod progress;
mod replay;
mod session;
mod timeline;
mod tools;
mod trace_file;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use exit::{Exit, Trouble};

fn main() -> ExitCode {
    let exit = run(Cli::parse()).unwrap_or_else(|trouble| {
        output::error(trouble.message());
        trouble.exit()
    });
    exit.into()
}

fn run(Cli { global, command }: Cli) -> Result<Exit, Trouble> {
    match command {
        Command::List(args) => list::run(&global, &args),
        Command::Tools(args) => tools::run(&global, &args),
        Command::Call(args) => call::run(&global, &args),
        Command::Demo => demo::run(&global),
        Command::Replay(args) => replay::run(&global, &args),
        Command::Timeline(args) => timeline::run(&global, &args),
        Command::DemoServer(args) => Ok(demo::server::serve(args.kind)),
    }
}
