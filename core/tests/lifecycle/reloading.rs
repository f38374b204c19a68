//! Reloads, approval and what is switched off.

use std::collections::BTreeSet;

use tidegate_core::command::Command;
use tidegate_core::error::{CallError, Exit};
use tidegate_core::event::{Event, OpResult, Outcome, ServerState, Skip};
use tidegate_core::hub::policy::Watch;
use tidegate_core::id::{OpId, ServerName};
use tidegate_core::input::{Fact, Found, Listed, Request};
use tidegate_core::options::Options;

use crate::play::{Play, file_options, read_of};

/// F-033: a reload restarts only what changed, and says what it did.
#[test]
fn a_reload_restarts_only_what_changed() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let before = r#"{"mcpServers":{"kept":{"command":"k"},"new-args":{"command":"n"},"gone":{"command":"g"}}}"#;
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead { read, origin: None, found: Found::Content(before.into()) });
    play.connect(0).connect(1).connect(2);
    play.host(Request::Reload { op: OpId::new(1) });
    let after = r#"{"mcpServers":{"kept":{"command":"k"},"new-args":{"command":"n","args":["x"]},"added":{"command":"a"}}}"#;
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead { read, origin: None, found: Found::Content(after.into()) });
    let closing = |c: &Command| matches!(c, Command::CloseInput { .. });
    let commands = play.take_commands();
    assert_eq!(commands.iter().filter(|c| closing(c)).count(), 2);
    assert_eq!(commands.iter().filter(|c| matches!(c, Command::Open { .. })).count(), 1);
    play.connect(3).closed(1, Exit::Code(0)).closed(2, Exit::Code(0));
    assert!(matches!(play.take_commands()[..], [.., Command::Open { .. }]));
    play.connect(4);
    let names = |list: &[&str]| list.iter().map(|n| ServerName::from(*n)).collect::<Vec<_>>();
    let result = OpResult::Reloaded {
        started: names(&["added"]),
        restarted: names(&["new-args"]),
        stopped: names(&["gone"]),
        kept: names(&["kept"]),
    };
    assert!(play.events.contains(&Event::Done { op: OpId::new(1), result }));
}

/// G16, G53: of two overlapping reloads only the second is read to its end.
#[test]
fn two_overlapping_reloads_end_as_the_second_alone() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    let config = |command: &str| {
        let text = format!(r#"{{"mcpServers":{{"a":{{"command":"{command}"}}}}}}"#);
        Found::Content(text.as_str().into())
    };
    play.io(Fact::ConfigRead { read, origin: None, found: config("one") }).connect(0);
    play.host(Request::Reload { op: OpId::new(1) });
    let first = read_of(&mut play);
    play.host(Request::Reload { op: OpId::new(2) });
    let second = read_of(&mut play);
    play.io(Fact::ConfigRead { read: first, origin: None, found: config("two") });
    assert_eq!(play.take_commands(), []);
    play.io(Fact::ConfigRead { read: second, origin: None, found: config("one") });
    assert_eq!(play.take_commands(), []);
    let ends = play.events.iter().filter(|event| matches!(event, Event::Done { .. })).count();
    assert_eq!(ends, 2);
}

/// F-028.
#[test]
fn a_disabled_server_is_listed_and_never_started() {
    let mut play = Play::new(r#"{"mcpServers":{"a":{"command":"a","enabled":false}}}"#);
    play.start();
    assert_eq!(play.take_commands(), []);
    assert_eq!(play.state("a"), ServerState::Disabled);
    play.host(Request::Connect { op: OpId::new(1), server: "a".into() });
    let skipped = OpResult::Skipped { reason: Skip::Disabled };
    assert!(play.events.contains(&Event::Done { op: OpId::new(1), result: skipped }));
}

fn config(text: &str) -> Found {
    Found::Content(text.into())
}

/// L8: a definition that cannot be used starts nothing, so nothing waits for it.
#[test]
fn calls_end_when_a_running_server_is_to_follow_a_definition_that_is_not_valid() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    let found = config(r#"{"mcpServers":{"a":{"command":"a"}}}"#);
    play.io(Fact::ConfigRead { read, origin: None, found }).connect(0);
    play.host(Request::Reload { op: OpId::new(1) });
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead {
        read,
        origin: None,
        found: config(r#"{"mcpServers":{"a":{"args":[]}}}"#),
    });
    play.call(1, "a", "echo").closed(0, Exit::Code(0));
    assert!(matches!(play.state("a"), ServerState::Failed { .. }));
    assert!(matches!(play.outcome(1), Some(Outcome::Failed(CallError::NotConnected { .. }))));
}

/// G12, L8: a lost server whose definition changes starts with the new one, once and at once,
/// and what waited for it waits on.
#[test]
fn calls_wait_on_when_a_lost_server_follows_another_definition() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    let found = config(r#"{"mcpServers":{"a":{"command":"old"}}}"#);
    play.io(Fact::ConfigRead { read, origin: None, found }).connect(0).closed(0, Exit::Code(1));
    play.call(1, "a", "echo").host(Request::Reload { op: OpId::new(1) });
    let read = read_of(&mut play);
    let found = config(r#"{"mcpServers":{"a":{"command":"new"}}}"#);
    play.io(Fact::ConfigRead { read, origin: None, found });
    assert_eq!(play.outcome(1), None);
    let commands = |play: &mut Play| -> Vec<String> {
        let command = |command| match command {
            Command::Open { launch, .. } => Some(launch.command.to_string()),
            _ => None,
        };
        play.take_commands().into_iter().filter_map(command).collect()
    };
    assert_eq!(commands(&mut play), ["new"]);
    play.sleep(20_000);
    assert_eq!(commands(&mut play), [""; 0]);
    play.connect(1).answers(1, 3, r#"{"content":[]}"#);
    assert!(matches!(play.outcome(1), Some(Outcome::Answered(_))));
}

/// G15, F-038: where a definition stands decides whether it may run, also if nothing else of it
/// changes.
#[test]
fn a_definition_that_moves_between_user_and_project_is_approved_or_not_where_it_stands() {
    let places = tidegate_core::config::Places {
        cwd: "/p".into(),
        config_dir: Some("/home/u/.config".into()),
        ..Default::default()
    };
    let mut play = Play::with(Options::new("/p", places.sources()));
    let follow = |play: &mut Play, place: &str| {
        for command in play.take_commands() {
            if let Command::ReadConfig { read, path, .. } = command {
                let found = config(r#"{"mcpServers":{"a":{"command":"a"}}}"#);
                let found = if path.starts_with(place) { found } else { Found::Nothing };
                play.io(Fact::ConfigRead { read, origin: None, found });
            } else if let Command::ListFolder { read, .. } = command {
                play.io(Fact::FolderListed { read, listed: Listed::Nothing });
            }
        }
        if let Some(Command::ReadApprovals { read }) = play.take_commands().pop() {
            play.io(Fact::ApprovalsRead { read, approved: BTreeSet::new() });
        }
    };
    play.start();
    follow(&mut play, "/p/mcp.json");
    assert_eq!(play.state("a"), ServerState::NeedsApproval);
    play.host(Request::Reload { op: OpId::new(1) });
    follow(&mut play, "/home/u");
    play.connect(0);
    assert_eq!(play.state("a"), ServerState::Connected);
    play.host(Request::Reload { op: OpId::new(2) });
    follow(&mut play, "/p/mcp.json");
    assert_eq!(play.state("a"), ServerState::NeedsApproval);
    assert_eq!(play.tools(), []);
    play.host(Request::Connect { op: OpId::new(3), server: "a".into() });
    let skipped = OpResult::Skipped { reason: Skip::NeedsApproval };
    assert!(play.events.contains(&Event::Done { op: OpId::new(3), result: skipped }));
}

/// Issue 4: whatever there is, a reload of an unchanged set orders its files and folders to be read, and what
/// the user approved where a project's servers need that, and nothing else.
#[test]
fn a_reload_of_an_unchanged_set_orders_nothing_but_reading() {
    let places = tidegate_core::config::Places {
        cwd: "/p".into(),
        config_dir: Some("/home/u/.config".into()),
        ..Default::default()
    };
    let sources = places.sources();
    let mut options = Options::new("/p", sources.clone());
    options.policy.watch = Watch::follow();
    let mut play = Play::with(options);
    let mine = r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b","env":{"K":"!token"}},
        "off":{"command":"o","enabled":false},"bad":{"args":[]},"theirs-too":{"command":"t"}},
        "disabledServers":["theirs-too"]}"#;
    let theirs = r#"{"mcpServers":{"waits":{"command":"w"},"a":{"args":1}}}"#;
    // Hands over every file, and says that nothing was approved; all that was ordered meanwhile.
    let read_all = |play: &mut Play| {
        let mut ordered = Vec::new();
        loop {
            let commands = play.take_commands();
            if commands.is_empty() {
                return ordered;
            }
            for command in &commands {
                match command {
                    Command::ReadConfig { read, path, .. } => {
                        let found = match path.as_str() {
                            "/home/u/.config/mcp.json" => config(mine),
                            "/p/.mcp.json" => config(theirs),
                            _ => Found::Nothing,
                        };
                        play.io(Fact::ConfigRead { read: *read, origin: None, found });
                    }
                    Command::ListFolder { read, .. } => {
                        play.io(Fact::FolderListed { read: *read, listed: Listed::Nothing });
                    }
                    Command::ReadApprovals { read } => {
                        play.io(Fact::ApprovalsRead { read: *read, approved: BTreeSet::new() });
                    }
                    Command::Ask { ask, .. } => {
                        play.io(Fact::Answered { ask: *ask, result: Ok(()) });
                    }
                    _ => {}
                }
            }
            ordered.extend(commands);
        }
    };
    play.start();
    let first = read_all(&mut play);
    assert!(first.iter().any(|command| matches!(command, Command::Ask { .. })));
    play.connect(0).connect(1).take_commands();
    for (name, state) in [("a", "connected"), ("b", "connected"), ("waits", "needs-approval")] {
        assert_eq!(play.state(name).name(), state, "{name}");
    }
    for again in 1..4 {
        play.host(Request::Reload { op: OpId::new(again) });
        let ordered = read_all(&mut play);
        let reads = |command: &Command| {
            matches!(command, Command::ReadConfig { .. } | Command::ListFolder { .. })
        };
        let (reads, others): (Vec<_>, Vec<_>) = ordered.into_iter().partition(reads);
        assert_eq!(reads.len(), sources.len());
        assert!(matches!(others[..], [Command::ReadApprovals { .. }]), "{others:?}");
        play.sleep(play.now + 60_000);
        assert_eq!(play.take_commands(), [], "and nothing later");
    }
}
