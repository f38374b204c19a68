//! The command, run on the servers of a test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tidegate_tests::live::World;
use tidegate_tests::processes::program;

/// The command, built for the test that runs.
pub(crate) fn tidegate() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--locked", "--package", "tidegate"]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo").success());
    program("tidegate")
}

/// Runs it on the servers of the world's `servers.json`; it must succeed.
pub(crate) fn run(world: &World, tidegate: &Path, words: &[&str]) -> Output {
    let output = Command::new(tidegate)
        .args(["--config", "servers.json"])
        .args(words)
        .current_dir(world.dir())
        .env("TIDEGATE_CACHE_DIR", world.dir().join("cache"))
        .env("TIDEGATE_CONFIG_DIR", world.dir().join("config"))
        .env("TIDEGATE_STATE_DIR", world.dir().join("state"))
        .output()
        .expect("the command");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {}\n{errors}", output.status);
    output
}
