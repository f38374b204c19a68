//! The command on a terminal: the line of progress, and what Ctrl+C does.

use std::process::Command;

use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};
use serde_json::json;

use crate::sandbox::{Sandbox, demo, silent, stubborn};

/// Far longer than anything here takes, so that a hang is a failure.
const PATIENCE_MS: u64 = 30_000;

fn spawn(sandbox: &Sandbox, args: &[&str]) -> PtySession {
    spawn_command(sandbox.command(args), Some(PATIENCE_MS)).unwrap()
}

fn exit_code(session: &PtySession) -> i32 {
    let status = session.process().wait().unwrap();
    let WaitStatus::Exited(_, code) = status else { panic!("ended by a signal: {status:?}") };
    code
}

#[test]
fn a_line_says_what_is_waited_for_and_is_gone_before_the_result() {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast"), "slow": demo("slow")}));
    let mut session = spawn(&sandbox, &["list", "--wait"]);
    session.exp_string("1 of 2 servers are done, waiting for slow (0.").unwrap();
    let between = session.exp_string("SERVER").unwrap();
    assert!(between.ends_with("\r\u{1b}[2K   "), "{between:?}");
    let rest = session.exp_eof().unwrap();
    assert!(!rest.contains('\u{1b}'), "{rest:?}");
    assert_eq!(exit_code(&session), 0);
    sandbox.assert_nothing_is_left();
}

#[test]
fn there_is_no_line_if_it_is_to_be_quiet() {
    let sandbox = Sandbox::new(&json!({"slow": demo("slow")}));
    let mut session = spawn(&sandbox, &["list", "-q"]);
    let all = session.exp_eof().unwrap();
    assert!(all.contains("SERVER") && !all.contains("waiting"), "{all:?}");
}

#[test]
fn ctrl_c_during_startup_ends_every_server_and_exits_with_130() {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast"), "silent": silent()}));
    let mut session = spawn(&sandbox, &["list"]);
    session.exp_string("waiting for silent").unwrap();
    session.send_control('c').unwrap();
    session.exp_eof().unwrap();
    assert_eq!(exit_code(&session), 130);
    sandbox.assert_nothing_is_left();
}

#[test]
fn a_second_ctrl_c_does_not_wait_for_a_server_that_ignores_the_first() {
    let sandbox = Sandbox::new(&json!({"stubborn": stubborn()}));
    let mut session = spawn(&sandbox, &["list"]);
    session.exp_string("waiting for stubborn").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("stopping the servers, Ctrl+C kills them").unwrap();
    session.send_control('c').unwrap();
    session.exp_eof().unwrap();
    assert_eq!(exit_code(&session), 130);
    sandbox.assert_nothing_is_left();
}

#[test]
fn what_servers_say_is_streamed_above_the_line_if_it_is_to_be_verbose() {
    let sandbox = Sandbox::new(&json!({"stubborn": stubborn()}));
    let mut session = spawn(&sandbox, &["list", "-v"]);
    session.exp_string("[stubborn] hello\r\n").unwrap();
    session.exp_string("waiting for stubborn").unwrap();
    session.send_control('c').unwrap();
    session.send_control('c').unwrap();
    session.exp_eof().unwrap();
    assert_eq!(exit_code(&session), 130);
}

/// The same on a terminal that shows what is typed, as people's do.
fn with_echo(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "stty echo; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        shell.current_dir(dir);
    }
    shell
}

/// Issue 4, item 4: what a file calls a password is asked for and not shown while it is typed,
/// what it does not is, and one that is a list is chosen from.
#[test]
fn what_a_file_leaves_to_be_asked_is_asked_and_a_password_is_not_shown() {
    let sandbox = Sandbox::new(&json!({}));
    let said = sandbox.path("said");
    let line = format!("echo \"$T-$R-$N\" > '{}'", said.display());
    let file = json!({
        "inputs": [
            {"type": "promptString", "id": "token", "description": "A token", "password": true},
            {"type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu"},
            {"type": "promptString", "id": "note", "description": "A note", "default": "none"},
        ],
        "servers": {"s": {"command": "sh", "args": ["-c", line], "env": {
            "T": "${input:token}", "R": "${input:region}", "N": "${input:note}",
        }}},
    });
    std::fs::write(sandbox.path("ask.json"), file.to_string()).unwrap();
    let command = sandbox.bare(&["list", "--wait", "--config", "ask.json"]);
    let mut session = spawn_command(with_echo(&command), Some(PATIENCE_MS)).unwrap();
    // They are asked for in any order.
    for _ in 0..3 {
        let (_, asked) = session.exp_regex("input \"[a-z]+\" of [^)]*\\): ").unwrap();
        if asked.contains("token") {
            // The terminal would show it on its own as soon as it comes.
            session.send_line("s3cret").unwrap();
        } else if asked.contains("region") {
            assert!(asked.contains("1: eu; 2: us; Enter for \"eu\""), "{asked}");
            session.send_line("2").unwrap();
            session.exp_string("2").unwrap();
        } else {
            session.send_line("").unwrap();
        }
    }
    let rest = session.exp_eof().unwrap();
    assert!(!rest.contains("s3cret"), "{rest:?}");
    assert_eq!(std::fs::read_to_string(said).unwrap(), "s3cret-us-none\n");
}
