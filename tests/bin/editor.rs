//! An editor as a process of its own: `scripted-editor FILE PREFIX COUNT`.
//!
//! Adds COUNT servers to a configuration file, one edit each, named PREFIX and a number, and
//! prints each name once it is said to be in the file. What fails is said on its error output.

use std::io::{Write, stdout};
use std::process::ExitCode;

use tidegate_core::bytes::Json;
use tidegate_core::config::edit::Edit;
use tidegate_core::config::{Level, Provider, Source};
use tidegate_smol::config_file::edit;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().expect("usage: scripted-editor FILE PREFIX COUNT");
    let (path, prefix) = (word(), word());
    let count: usize = word().parse().expect("a number");
    let source = Source::file(Provider::Tidegate, Level::User, path);
    for at in 0..count {
        let name = format!("{prefix}{at}");
        let entry = Json::new(r#"{"command":"x"}"#);
        if let Err(error) = edit(&source, &Edit::Add { name: name.clone(), entry }) {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        let mut out = stdout().lock();
        if writeln!(out, "{name}").and_then(|()| out.flush()).is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
