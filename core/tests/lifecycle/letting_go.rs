//! What the host disconnected, and what brings it back (G14).

use tidegate_core::command::Command;
use tidegate_core::error::Exit;
use tidegate_core::event::ServerState;
use tidegate_core::id::OpId;
use tidegate_core::input::{Fact, Found, Request};

use crate::play::{Play, file_options, read_of};

const ON: &str = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
const OFF: &str = r#"{"mcpServers":{"a":{"command":"a","disabled":true}}}"#;
const NONE: &str = r#"{"mcpServers":{}}"#;

/// A host that has read this.
fn started(text: &str) -> Play {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    reads(&mut play, text);
    play
}

/// The reading under way says this.
fn reads(play: &mut Play, text: &str) {
    let read = read_of(play);
    play.io(Fact::ConfigRead { read, origin: None, found: Found::Content(text.into()) });
}

/// The host asks for a reload, and the file says this.
fn reload(play: &mut Play, text: &str) {
    play.host(Request::Reload { op: OpId::new(9) });
    reads(play, text);
}

fn opens(play: &mut Play) -> usize {
    let commands = play.take_commands();
    commands.iter().filter(|command| matches!(command, Command::Open { .. })).count()
}

fn by_name(op: u64) -> Request {
    Request::Disconnect { op: OpId::new(op), server: "a".into() }
}

fn all(op: u64) -> Request {
    Request::DisconnectAll { op: OpId::new(op) }
}

/// G14: whichever came first, the host's word or that of the file.
#[test]
fn what_was_let_go_stays_so_when_its_definition_is_off_meanwhile() {
    for let_go in [by_name(1), all(1)] {
        for was_off in [true, false] {
            let mut play = started(if was_off { OFF } else { ON });
            play.take_commands();
            play.host(let_go.clone()).closed(0, Exit::Code(0));
            reload(&mut play, OFF);
            assert_eq!(play.state("a"), ServerState::Disabled);
            reload(&mut play, ON);
            assert_eq!((play.state("a"), opens(&mut play)), (ServerState::Disconnected, 0));
            play.host(Request::Connect { op: OpId::new(2), server: "a".into() });
            assert_eq!(opens(&mut play), 1);
        }
    }
}

/// G14: all servers come back with the next start, one that was named does not.
#[test]
fn a_start_brings_back_what_was_let_go_with_all_while_it_was_off() {
    for (let_go, opened) in
        [(vec![all(1)], 1), (vec![by_name(1)], 0), (vec![by_name(1), all(2)], 0)]
    {
        let mut play = started(OFF);
        for request in let_go {
            play.host(request);
        }
        play.take_commands();
        play.host(Request::Start { op: OpId::new(3) });
        reads(&mut play, ON);
        assert_eq!(opens(&mut play), opened);
    }
}

/// G14: a server of the same name that is configured later is another one.
#[test]
fn what_was_let_go_and_removed_begins_anew_when_it_is_configured_again() {
    for let_go in [by_name(1), all(1)] {
        let mut play = started(ON);
        play.host(let_go);
        // Whether its process is gone by then or not.
        reload(&mut play, NONE);
        reload(&mut play, ON);
        play.closed(0, Exit::Code(0));
        assert_eq!(opens(&mut play), 1);
    }
}

/// G14: a server that is off is not connected by asking for that, and then stays let go; switching
/// it on is asking for it.
#[test]
fn a_server_that_is_off_is_asked_for_by_switching_it_on_alone() {
    let mut play = started(OFF);
    play.host(by_name(1)).host(Request::Connect { op: OpId::new(2), server: "a".into() });
    reload(&mut play, ON);
    assert_eq!((play.state("a"), opens(&mut play)), (ServerState::Disconnected, 0));
    reload(&mut play, OFF);
    play.host(Request::Enable { op: OpId::new(3), server: "a".into() });
    assert_eq!(opens(&mut play), 1);
}
