//! Hosts that are ended from outside, in every way.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidegate_tests::live::{World, config};
use tidegate_tests::processes::{self, program};

/// Ignores every signal that can be ignored, and so does what it becomes.
const STUBBORN: &str = r#"trap "" TERM HUP INT; exec "$@""#;
/// The promise for servers of a host that was killed.
const ORPHANS_MAX: Duration = Duration::from_secs(3);

/// A host with a process of its own, in a group of its own.
struct Host {
    process: Child,
    /// Apart from the process, because waiting for it would close it.
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Host {
    fn spawn(world: &World, servers: &[(&str, Value)]) -> Self {
        let file = world.dir().join("config.json");
        fs::write(&file, config(servers)).expect("a file");
        let mut process = Command::new(program("scripted-host"))
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("a host");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, input, output }
    }

    /// Reads the host's output up to this word.
    fn await_word(&mut self, word: &str) {
        let found = (&mut self.output).lines().map_while(Result::ok).any(|line| line == word);
        assert!(found, "the host ended before it said {word}");
    }

    /// Sends a signal to the host, or to its whole group.
    fn signal(&self, signal: &str, whole_group: bool) {
        let pid = self.process.id();
        let target = if whole_group { format!("-{pid}") } else { pid.to_string() };
        let sent = Command::new("kill").args([signal, "--", &target]).status().expect("kill");
        assert!(sent.success());
    }
}

/// Servers of every stubbornness.
fn stubborn(world: &World) -> Vec<(&'static str, Value)> {
    let runner = r#"trap "" TERM HUP INT; exec 3<&0; "$@" <&3 3<&- & wait"#;
    vec![
        ("polite", world.scripted(&[])),
        ("deaf", world.scripted(&["--ignore-eof"])),
        ("stubborn", world.wrapped(STUBBORN, &["--ignore-eof"])),
        ("runner", world.wrapped(runner, &["--ignore-eof", "--grandchild"])),
    ]
}

#[test]
fn a_host_that_is_asked_to_end_tears_down_before_it_does() {
    // F-011
    for (signal, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let world = World::default();
        let mut host = Host::spawn(&world, &stubborn(&world));
        host.await_word("ready");
        let start = Instant::now();
        host.signal(signal, false);
        let status = host.process.wait().unwrap();
        assert_eq!(status.code(), Some(code), "{signal}");
        assert!(start.elapsed() < Duration::from_secs(5), "{signal}: {:?}", start.elapsed());
        world.check_nothing_left(Duration::ZERO);
    }
}

#[test]
fn a_host_that_is_asked_to_end_while_it_starts_tears_down_too() {
    // F-011
    let world = World::default();
    let servers = [
        ("silent", world.scripted(&["--silent", "--ignore-eof"])),
        ("slow", world.wrapped(STUBBORN, &["--start-delay-ms", "50000"])),
    ];
    let mut host = Host::spawn(&world, &servers);
    host.await_word("starting");
    processes::await_marked(world.mark(), 2);
    host.signal("-INT", false);
    assert_eq!(host.process.wait().unwrap().code(), Some(130));
    world.check_nothing_left(Duration::ZERO);
}

#[test]
fn servers_of_a_host_that_is_killed_die_with_their_children() {
    // F-010: whatever they ignore, within three seconds.
    for whole_group in [false, true] {
        let world = World::default();
        let mut host = Host::spawn(&world, &stubborn(&world));
        host.await_word("ready");
        assert!(processes::marked(world.mark()).len() >= 4);
        host.signal("-KILL", whole_group);
        host.process.wait().unwrap();
        world.check_nothing_left(ORPHANS_MAX);
    }
}

#[test]
fn servers_of_a_host_that_is_killed_while_it_starts_them_die_too() {
    // As early as possible, when the guard may not have heard of a group yet.
    for pause_ms in [0, 2, 5, 10, 20, 40] {
        let world = World::default();
        let mut host = Host::spawn(&world, &stubborn(&world));
        host.await_word("starting");
        std::thread::sleep(Duration::from_millis(pause_ms));
        host.signal("-KILL", false);
        host.process.wait().unwrap();
        world.check_nothing_left(ORPHANS_MAX);
    }
}

#[test]
fn a_command_for_a_value_dies_with_a_host_that_is_killed() {
    // F-010: it runs before the first server does, and may be all that runs.
    let world = World::default();
    let mut server = world.entry("true", &[]);
    let line = format!("!env {}={} sleep 60", processes::MARK, world.mark());
    server["env"]["KEY"] = Value::from(line);
    let mut host = Host::spawn(&world, &[("asks", server)]);
    processes::await_marked(world.mark(), 1);
    host.signal("-KILL", false);
    host.process.wait().unwrap();
    world.check_nothing_left(ORPHANS_MAX);
}

#[test]
fn what_left_its_group_dies_with_a_host_that_is_killed_while_it_ends() {
    // F-010: the guard stands until the last look for strays is over.
    let deserter = r#"setsid sh -c 'trap "" TERM; while :; do sleep 1; done' <&- >&- 2>&- & exit"#;
    for pause_ms in [0, 50, 150, 300] {
        let world = World::default();
        let mut host = Host::spawn(&world, &[("deserter", world.wrapped(deserter, &[]))]);
        host.await_word("ready");
        processes::await_marked(world.mark(), 1);
        host.signal("-TERM", false);
        std::thread::sleep(Duration::from_millis(pause_ms));
        host.signal("-KILL", false);
        host.process.wait().unwrap();
        world.check_nothing_left(ORPHANS_MAX);
    }
}

#[test]
fn a_host_that_ends_by_itself_leaves_nothing() {
    let world = World::default();
    let Host { mut process, input, output } = Host::spawn(&world, &stubborn(&world));
    assert!(output.lines().map_while(Result::ok).any(|line| line == "ready"));
    drop(input);
    assert!(process.wait().unwrap().success());
    world.check_nothing_left(Duration::ZERO);
}
