//! The global flags that a command has no use for: they are refused, because nobody should believe
//! that they did something, and they are not in its help.

use std::ffi::OsString;

use clap::CommandFactory as _;

use crate::args::{Cli, Command, Global};
use crate::exit::Trouble;

/// The commands and the flags that are of no use to them; the others take all of them.
const USELESS: [(&str, &[&str]); 12] = [
    ("add", &RUNS),
    ("remove", &RUNS),
    ("enable", &RUNS),
    ("disable", &RUNS),
    // What `--timeout` is for one run elsewhere is written down here.
    ("set", &["server", "exclude", "without", "gate", "trust-project", "ca-file", "trace"]),
    // What is left out is left out of what these show, too.
    ("sources", &VIEWS),
    ("doctor", &VIEWS),
    ("trust", &VIEWS),
    ("schema", &ALL),
    (
        "demo",
        &[
            "config",
            "cwd",
            "server",
            "exclude",
            "without",
            "gate",
            "timeout",
            "trust-project",
            "ca-file",
        ],
    ),
    ("replay", &ALL),
    ("timeline", &ALL),
];

/// The flags that are for runs, of no use to a command that reads and changes files.
const RUNS: [&str; 8] =
    ["server", "exclude", "without", "gate", "timeout", "trust-project", "ca-file", "trace"];
/// The same for one that shows what a run would make of the files.
const VIEWS: [&str; 6] = ["server", "gate", "timeout", "trust-project", "ca-file", "trace"];
/// Those and the flags that say where files are.
const ALL: [&str; 10] = [
    "config",
    "cwd",
    "server",
    "exclude",
    "without",
    "gate",
    "timeout",
    "trust-project",
    "ca-file",
    "trace",
];

fn useless(command: &str) -> &'static [&'static str] {
    USELESS.iter().find(|(name, _)| *name == command).map_or(&[], |(_, flags)| flags)
}

/// Refuses the flags that a command has no use for.
///
/// # Errors
/// Which flags, if there are any.
pub(crate) fn check(global: &Global, command: &Command) -> Result<(), Trouble> {
    let name = command.name();
    let given = |flag: &&&str| match **flag {
        "config" => !global.config.is_empty(),
        "cwd" => global.cwd.is_some(),
        "server" => !global.server.is_empty(),
        "exclude" => !global.exclude.is_empty(),
        "without" => !global.without.is_empty(),
        "gate" => global.gate.is_some(),
        "timeout" => global.timeout.is_some(),
        "trust-project" => global.trust_project,
        "ca-file" => global.ca_file.is_some(),
        "trace" => global.trace.is_some(),
        _ => false,
    };
    let told: Vec<String> =
        useless(name).iter().filter(given).map(|flag| format!("--{flag}")).collect();
    if told.is_empty() {
        return Ok(());
    }
    let told = told.join(", ");
    Err(Trouble::Usage(format!("`{name}` has no use for {told}; see `tidegate {name} --help`")))
}

/// The help that was asked for, without the flags that the command has no use for; `None` if it
/// was not help.
pub(crate) fn help(words: impl Iterator<Item = OsString>) -> Option<clap::Error> {
    let mut cli = Cli::command();
    // Global flags are the commands' own from here on.
    cli.build();
    for (command, flags) in USELESS {
        cli = cli.mut_subcommand(command, |command| {
            command.mut_args(|flag| {
                let is_useless = flag.get_long().is_some_and(|long| flags.contains(&long));
                // An own flag of that name is of use.
                if is_useless && flag.is_global_set() { flag.hide(true) } else { flag }
            })
        });
    }
    cli.try_get_matches_from(words).err()
}
