//! Files that change while the runtime runs, and files that cannot be read just then.

use tidegate_core::bytes::Bytes;
use tidegate_core::command::Command;
use tidegate_core::error::{Category, Exit};
use tidegate_core::event::{Event, ServerState};
use tidegate_core::hub::policy::Watch;
use tidegate_core::id::OpId;
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;

use crate::play::{Play, file_options, read_of};

const ONE: &str = r#"{"mcpServers":{"a":{"command":"a"}}}"#;

/// Options that follow changes of one file.
fn follow() -> Options {
    let mut options = file_options("/f.json");
    options.policy.watch = Watch::follow();
    options
}

/// What the file says is read and handed over.
fn read(play: &mut Play, found: impl Into<Found>) {
    let read = read_of(play);
    play.io(Fact::ConfigRead { read, origin: None, found: found.into() });
}

fn text(text: &str) -> Found {
    Found::Content(text.into())
}

/// A host whose server `a` is ready.
fn ready(options: Options) -> Play {
    let mut play = Play::with(options);
    play.start();
    read(&mut play, text(ONE));
    play.connect(0);
    play.take_commands();
    play
}

fn reads(commands: &[Command]) -> usize {
    commands.iter().filter(|command| matches!(command, Command::ReadConfig { .. })).count()
}

#[test]
fn files_are_watched_before_they_are_read_and_once() {
    let mut play = Play::with(follow());
    play.start();
    let paths = vec!["/f.json".to_owned()];
    assert_eq!(play.commands.first(), Some(&Command::Watch { paths }));
    read(&mut play, text(ONE));
    play.host(Request::Reload { op: OpId::new(1) });
    assert!(!play.take_commands().iter().any(|command| matches!(command, Command::Watch { .. })));
}

#[test]
fn nothing_is_watched_unless_the_host_wants_it() {
    let mut play = ready(file_options("/f.json"));
    let told = play.events.len();
    play.io(Fact::FilesChanged).sleep(10_000);
    assert_eq!((play.take_commands(), play.events.len()), (vec![], told));
}

/// The diff decides: what did not change goes on.
#[test]
fn a_change_is_followed_when_the_files_were_left_alone_for_a_while() {
    let mut play = ready(follow());
    play.io(Fact::FilesChanged).sleep(149);
    assert_eq!(play.take_commands(), []);
    play.sleep(150);
    read(&mut play, text(r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#));
    let commands = play.take_commands();
    let [Command::Open { server, .. }] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(server.as_str(), "b");
}

/// G10, G14: news of a file starts nothing after every server was disconnected, until a start.
#[test]
fn a_file_that_changes_starts_nothing_while_every_server_is_disconnected() {
    let mut play = ready(follow());
    play.host(Request::DisconnectAll { op: OpId::new(1) }).closed(0, Exit::Code(0));
    play.take_commands();
    let both = text(r#"{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}"#);
    play.io(Fact::FilesChanged).sleep(150);
    read(&mut play, both.clone());
    assert_eq!(play.take_commands(), []);
    assert_eq!(play.state("b"), ServerState::Disconnected);
    play.host(Request::Start { op: OpId::new(2) });
    read(&mut play, both);
    let commands = play.take_commands();
    assert!(matches!(commands[..], [Command::Open { .. }, Command::Open { .. }]), "{commands:?}");
}

#[test]
fn fifty_touches_in_a_second_are_read_once_or_twice_and_come_to_nothing() {
    let mut play = ready(follow());
    let told = play.events.len();
    let mut read_times = 0;
    for touch in 1..=50 {
        play.io(Fact::FilesChanged).sleep(touch * 20);
        if reads(&play.commands) > 0 {
            read_times += 1;
            read(&mut play, text(ONE));
        }
        assert_eq!(play.take_commands(), []);
    }
    play.sleep(5_000);
    if reads(&play.commands) > 0 {
        read_times += 1;
        read(&mut play, text(ONE));
    }
    assert_eq!(play.take_commands(), []);
    assert!((1..=2).contains(&read_times), "{read_times}");
    assert_eq!(play.events.len(), told, "nobody hears of it");
}

#[test]
fn a_storm_is_read_in_the_middle_a_second_after_it_began() {
    let mut play = ready(follow());
    for at in 1..=10 {
        play.io(Fact::FilesChanged).sleep(at * 100 - 1);
        assert_eq!(reads(&play.commands), 0, "at {at}");
        play.sleep(at * 100);
    }
    assert_eq!(reads(&play.take_commands()), 1);
}

/// What changed before a reload is read by that reload, once.
#[test]
fn a_reload_takes_in_what_changed_before_it() {
    let mut play = ready(follow());
    play.io(Fact::FilesChanged).host(Request::Reload { op: OpId::new(1) });
    read(&mut play, text(ONE));
    play.sleep(10_000);
    assert_eq!(play.take_commands(), []);
}

/// A server that failed is not started again because somebody saved a file.
#[test]
fn what_failed_rests_when_a_file_is_saved_and_is_tried_again_by_a_reload() {
    let mut options = follow();
    options.policy.reconnect = tidegate_core::hub::policy::Reconnect::Off;
    let mut play = ready(options);
    play.closed(0, Exit::Code(1)).io(Fact::FilesChanged).sleep(1_000);
    read(&mut play, text(ONE));
    assert_eq!(play.take_commands(), []);
    assert!(matches!(play.state("a"), ServerState::Failed { .. }));
    play.host(Request::Reload { op: OpId::new(1) });
    read(&mut play, text(ONE));
    assert!(matches!(play.take_commands()[..], [Command::Open { .. }]));
}

/// A change that is said while a start is reading is read as soon as that has ended.
#[test]
fn a_change_during_a_start_is_not_missed() {
    let mut play = Play::with(follow());
    play.start();
    let first = read_of(&mut play);
    play.io(Fact::FilesChanged).sleep(1_000);
    assert_eq!(play.take_commands(), []);
    play.io(Fact::ConfigRead { read: first, origin: None, found: text(ONE) });
    read(&mut play, text(r#"{"mcpServers":{"a":{"command":"b"}}}"#));
    play.opened(0).closed(0, Exit::Code(0)).connect(1);
    assert_eq!(play.report().connected, ["a".into()]);
    assert!(play.commands.iter().any(|command| {
        matches!(command, Command::Open { launch, .. } if launch.command == "b".into())
    }));
}

/// However often a file changes and however slowly it is read, each reading ends, and the last
/// change wins.
#[test]
fn files_that_change_faster_than_they_are_read_are_followed() {
    let mut play = ready(follow());
    let version =
        |version: u64| text(&format!(r#"{{"mcpServers":{{"v{version}":{{"command":"c"}}}}}}"#));
    let mut ended = 0;
    let mut waiting: Option<(u64, tidegate_core::id::ReadId, u64)> = None;
    for tick in 0..100 {
        // It changes ten times a second, and a read takes 1.5 s: what it finds is what the file
        // said when it began.
        if tick < 80 {
            play.io(Fact::FilesChanged);
        }
        play.sleep(play.now + 100);
        if let Some((_, read, said)) = waiting.take_if(|(until, ..)| *until <= play.now) {
            play.io(Fact::ConfigRead { read, origin: None, found: version(said) });
            ended += 1;
        }
        if reads(&play.commands) > 0 {
            assert_eq!((reads(&play.commands), waiting), (1, None), "one reading at a time");
            waiting = Some((play.now + 1_500, read_of(&mut play), tick.min(79)));
        }
        play.take_commands();
    }
    assert!(ended >= 4, "{ended}");
    let servers = play.runtime.status().servers;
    assert_eq!(servers[0].name.as_str(), "v79", "{ended} readings");
    assert_eq!(play.runtime.poll_timeout().filter(|it| it.why == "files changed"), None);
}

#[test]
fn nothing_is_read_after_a_shutdown() {
    let mut play = ready(follow());
    play.io(Fact::FilesChanged).host(Request::Shutdown).closed(0, Exit::Code(0));
    play.io(Fact::FilesChanged).sleep(10_000);
    assert_eq!(reads(&play.take_commands()), 0);
}

/// A file that is being written, or cannot be read for a moment, stops nothing and is reported.
#[test]
fn what_a_file_said_counts_until_it_can_be_read_again() {
    for broken in [
        text(r#"{"mcpServers":{"a":{"comm"#),
        text(""),
        text("[]"),
        Found::Content(Bytes(vec![0xff, 0xfe])),
        Found::Unreadable("permission denied".into()),
    ] {
        let mut play = ready(follow());
        play.io(Fact::FilesChanged).sleep(150);
        read(&mut play, broken.clone());
        assert_eq!(play.take_commands(), [], "{broken:?}");
        assert_eq!(play.state("a"), ServerState::Connected);
        let said = "what /f.json said when it could be read last still counts";
        let problems = play.runtime.status().problems;
        assert!(problems.iter().any(|problem| problem.message == said), "{problems:?}");
        assert!(problems.len() > 1, "why is said too: {problems:?}");
        play.io(Fact::FilesChanged).sleep(1_000);
        read(&mut play, text("{\"mcpServers\":{}}"));
        assert!(matches!(play.take_commands()[..], [Command::CloseInput { .. }]));
        assert_eq!(play.runtime.status().problems, []);
    }
}

/// A file that is gone says nothing.
#[test]
fn the_servers_of_a_file_that_was_removed_are_stopped() {
    let mut play = ready(follow());
    play.io(Fact::FilesChanged).sleep(150);
    read(&mut play, Found::Nothing);
    assert!(matches!(play.take_commands()[..], [Command::CloseInput { .. }]));
    let gone = |event: &Event| matches!(event, Event::ProblemFound(p) if p.category == Category::UnreadableFile);
    assert!(play.events.iter().any(gone), "it was named by the user");
}

/// What says nothing when it cannot be read, and said nothing before, still says nothing.
#[test]
fn a_file_without_servers_that_cannot_be_read_any_more_still_counts_for_nothing() {
    let mut play = Play::with(follow());
    play.start();
    read(&mut play, text(r#"{"mcpServers":{}}"#));
    play.io(Fact::FilesChanged).sleep(150);
    read(&mut play, Found::Unreadable("permission denied".into()));
    let problems = play.runtime.status().problems;
    assert!(
        !problems.iter().any(|problem| problem.message.contains("still counts")),
        "{problems:?}"
    );
    assert!(!problems.is_empty());
}
