//! `tidegate`: the command.

#![forbid(unsafe_code)]

mod args;
mod ask;
mod call;
mod config;
mod consent;
mod demo;
mod ending;
mod exit;
mod flags;
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

use std::env;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use args::{Cli, Command};
use ending::Told;
use exit::{Exit, Trouble};
use output::Form;
use tidegate_core::config::schema::schema;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => return refuse(&refusal),
    };
    let form = cli.global.form();
    let exit = run(cli).unwrap_or_else(|trouble| {
        Told::trouble(&trouble, form).say();
        trouble.exit()
    });
    exit.into()
}

/// Says how the command is used, or why it cannot be used like this.
fn refuse(refusal: &clap::Error) -> ExitCode {
    if refusal.use_stderr() && env::args_os().any(|word| word == "--json") {
        let told = refusal.to_string();
        let told = told.trim_end().trim_start_matches("error: ").to_owned();
        Told::trouble(&Trouble::Usage(told), Form::Programs).say();
    } else {
        let help = (refusal.kind() == ErrorKind::DisplayHelp).then(|| flags::help(env::args_os()));
        // There is nobody to tell if that fails.
        let _ = help.flatten().as_ref().unwrap_or(refusal).print();
    }
    ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(2))
}

fn run(Cli { global, command }: Cli) -> Result<Exit, Trouble> {
    flags::check(&global, &command)?;
    match command {
        Command::List(args) => list::run(&global, &args),
        Command::Tools(args) => tools::run(&global, &args),
        Command::Call(args) => call::run(&global, &args),
        Command::Add(args) => config::add::run(&global, &args),
        Command::Remove(args) => config::remove::run(&global, &args),
        Command::Enable(args) => config::switch::enable(&global, &args),
        Command::Disable(args) => config::switch::disable(&global, &args),
        Command::Set(args) => config::set::run(&global, &args),
        Command::Sources => config::sources::run(&global),
        Command::Doctor => config::doctor::run(&global),
        Command::Trust(args) => config::trust::run(&global, &args),
        Command::Schema => {
            output::data(&schema())?;
            Ok(Exit::Done)
        }
        Command::Demo => demo::run(&global),
        Command::Replay(args) => replay::run(&global, &args),
        Command::Timeline(args) => timeline::run(&global, &args),
        Command::DemoServer(args) => Ok(demo::server::serve(args.kind)),
    }
}
