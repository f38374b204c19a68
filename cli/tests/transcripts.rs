//! What the command prints, as transcripts: run, compared line by line, readable as
//! documentation.
//!
//! Where a time, a process or a folder stands, a transcript has `[..]`. After a change that is
//! meant, `TRYCMD=overwrite` writes them anew.

use std::env;
use std::path::Path;

#[test]
fn the_command_prints_what_is_documented() {
    let program = Path::new(env!("CARGO_BIN_EXE_tidegate"));
    let folder = program.parent().unwrap().to_str().unwrap();
    let path = env::var("PATH").unwrap_or_default();
    let own = tempfile::tempdir().unwrap();
    let place = |name: &str| own.path().join(name).to_str().unwrap().to_owned();
    trycmd::TestCases::new()
        // The demo's servers are started by name, as anybody's are.
        .env("PATH", format!("{folder}:{path}"))
        // What the machine's owner has configured for other tools is not ours to test.
        .env("HOME", place("home"))
        .env("XDG_CONFIG_HOME", place("home/.config"))
        .env("TIDEGATE_CONFIG_DIR", place("config"))
        .env("TIDEGATE_CACHE_DIR", place("cache"))
        .env("TIDEGATE_STATE_DIR", place("state"))
        .insert_var("[OWN]", own.path().to_str().unwrap().to_owned())
        .unwrap()
        .case("tests/transcripts/*.trycmd");
}
