//! What stands in a definition for something else: filled in by name, asked once, never seen.

use tidegate_core::command::{Command, Fill, Launch, Question, Text};
use tidegate_core::config::Source;
use tidegate_core::config::environment::{Environment, Setting};
use tidegate_core::error::{AskError, CallError, Category, Cause, Exit, Missing, Severity, Stage};
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::hub::policy::Policy;
use tidegate_core::id::{AnswerId, ConnId, OpId};
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;

use crate::play::{Play, file_options, read_of};

fn environment() -> Environment {
    let set = [("FOO", Setting::Filled), ("BANG", Setting::Filled), ("EMPTY", Setting::Empty)];
    set.into_iter().map(|(name, setting)| (name.into(), setting)).collect()
}

fn play(policy: Policy, config: &str) -> Play {
    let mut options = Options::new("/p", vec![Source::inline("test", config)]);
    (options.policy, options.environment) = (policy, environment());
    Play::with(options)
}

fn one(entry: &str) -> String {
    format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#)
}

/// Starts and takes apart what was ordered.
fn start(play: &mut Play) -> (Vec<(AnswerId, Question)>, Vec<Launch>) {
    play.start();
    orders(play)
}

fn orders(play: &mut Play) -> (Vec<(AnswerId, Question)>, Vec<Launch>) {
    let (mut asks, mut launches) = (Vec::new(), Vec::new());
    for command in play.take_commands() {
        match command {
            Command::Ask { ask, what } => asks.push((ask, what)),
            Command::Open { launch, .. } => launches.push(launch),
            _ => {}
        }
    }
    (asks, launches)
}

fn variable(name: &str) -> Text {
    [Fill::Variable(name.into())].into_iter().collect()
}

fn answer(play: &mut Play, ask: AnswerId, result: Result<(), AskError>) {
    play.io(Fact::Answered { ask, result });
}

fn shell(line: &str) -> Question {
    Question::Shell { line: line.into() }
}

/// G61, the documented rule: a command, the name of a variable, or a literal.
#[test]
fn values_are_filled_in_by_name_and_once() {
    let entry = r#"{"command":"${FOO}","args":["x${NOPE:-y}","$FOO"],"cwd":"~/${FOO}","env":{
        "NAMED":"FOO","LITERAL":"plain","SPACE":" !no","DEFAULT":"${NOPE:-${FOO}}","BANG":"${BANG}"}}"#;
    let mut play = play(Policy::default(), &one(entry));
    let (asks, launches) = start(&mut play);
    assert_eq!(asks, [], "what a variable holds is no command, whatever it starts with");
    let launch = &launches[0];
    assert_eq!(launch.command, variable("FOO"));
    assert_eq!(launch.args, [Text::from("xy"), Text::from("$FOO")]);
    assert_eq!(launch.cwd.as_ref().unwrap().to_string(), "~/${FOO}");
    let env: Vec<_> = launch.env.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let wanted = [
        ("BANG", variable("BANG")),
        ("DEFAULT", Text::from("${FOO}")),
        ("LITERAL", Text::from("plain")),
        ("NAMED", variable("FOO")),
        ("SPACE", Text::from(" !no")),
    ];
    assert_eq!(env, wanted);
    let filled = launch.filled(|_| Some("!touch ${X}".into()));
    assert_eq!(filled.command, "!touch ${X}");
    assert_eq!(filled.env.get("NAMED").map(String::as_str), Some("!touch ${X}"));
}

/// G66.
#[test]
fn two_servers_with_one_command_and_a_reload_run_it_once() {
    let config = r#"{"mcpServers":{
        "a":{"command":"a","env":{"T":"!token","U":"!token"}},
        "b":{"command":"b","env":{"T":"!token"}}}}"#;
    let mut play = play(Policy::default(), config);
    let (asks, launches) = start(&mut play);
    let [(ask, what)] = &asks[..] else { panic!("{asks:?}") };
    assert_eq!((what, launches.len()), (&shell("token"), 0));
    answer(&mut play, *ask, Ok(()));
    let (asks, launches) = orders(&mut play);
    assert_eq!((asks.len(), launches.len()), (0, 2));
    let token: Text = [Fill::Answer(*ask)].into_iter().collect();
    assert_eq!(launches[0].env.get("U"), Some(&token));
    play.connect(0).connect(1).take_commands();
    play.host(Request::Restart { op: OpId::new(1), server: "a".into() });
    play.closed(0, Exit::Code(0)).host(Request::Reload { op: OpId::new(2) });
    let (asks, launches) = orders(&mut play);
    assert_eq!((asks.len(), launches.len()), (0, 1));
}

/// G66: a value whose command fails is left out, alone and by its name, and is tried again.
#[test]
fn a_command_that_fails_costs_its_value_alone_and_runs_again_with_the_next_attempt() {
    let entry = r#"{"command":"a","env":{"BAD":"!bad","GOOD":"!good"}}"#;
    let mut play = play(Policy::default(), &one(entry));
    let (asks, _) = start(&mut play);
    let ask = |line: &str| asks.iter().find(|(_, what)| *what == shell(line)).unwrap().0;
    let failed = AskError::Failed { exit: Exit::Code(1), stderr: "not signed in".into() };
    answer(&mut play, ask("bad"), Err(failed));
    assert_eq!(orders(&mut play).1, [], "the other command runs");
    answer(&mut play, ask("good"), Ok(()));
    let (_, launches) = orders(&mut play);
    assert_eq!(launches[0].env.keys().collect::<Vec<_>>(), ["GOOD"]);
    let problems = play.runtime.status().problems;
    let problem = problems.iter().find(|problem| problem.category == Category::LeftOut).unwrap();
    assert_eq!(problem.key.as_deref(), Some("env.BAD"));
    assert!(problem.message.contains("not signed in"), "{}", problem.message);
    play.closed(0, Exit::Code(1)).host(Request::Connect { op: OpId::new(1), server: "a".into() });
    let (asks, _) = orders(&mut play);
    assert_eq!(asks.into_iter().map(|(_, what)| what).collect::<Vec<_>>(), [shell("bad")]);
}

#[test]
fn a_command_has_its_limit_and_is_stopped_at_it() {
    let mut play = play(Policy::default(), &one(r#"{"command":"a","env":{"T":"!hangs"}}"#));
    let (asks, _) = start(&mut play);
    play.sleep(9_999);
    assert_eq!(orders(&mut play), (vec![], vec![]));
    play.sleep(10_000);
    let commands = play.take_commands();
    assert!(
        matches!(&commands[..], [Command::StopAsking { ask }, Command::Open { .. }]
        if *ask == asks[0].0),
        "{commands:?}"
    );
    // L6: what comes late counts for nothing.
    answer(&mut play, asks[0].0, Ok(()));
    assert_eq!(play.runtime.status().stale_facts, 1);
}

/// Resolution counts into the connect limit.
#[test]
fn a_server_gives_up_what_it_waits_for_with_its_connect_limit() {
    let entry = r#"{"command":"a","args":["${input:key}"],"timeout":3000}"#;
    let mut play = play(Policy::default(), &one(entry));
    let (asks, launches) = start(&mut play);
    assert_eq!((asks.len(), launches.len()), (1, 0));
    play.sleep(3_000);
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert_eq!(
        (failure.stage, &failure.cause),
        (Stage::Resolve, &Cause::TimedOut { limit_ms: 3_000 })
    );
    assert_eq!(orders(&mut play), (vec![], vec![]));
    // Whoever was asked may still answer: the next attempt has it.
    answer(&mut play, asks[0].0, Ok(()));
    play.host(Request::Connect { op: OpId::new(1), server: "a".into() });
    let (asks, launches) = orders(&mut play);
    assert_eq!((asks.len(), launches.len()), (0, 1));
}

#[test]
fn a_server_is_not_started_without_what_its_command_line_needs() {
    for (entry, field, missing) in [
        (r#"{"command":"${NOPE}"}"#, "command", Missing::Variable { name: "NOPE".into() }),
        (
            r#"{"command":"a","args":["x","--key=${NOPE}"]}"#,
            "args.1",
            Missing::Variable { name: "NOPE".into() },
        ),
        (r#"{"command":"a","cwd":"${NOPE}"}"#, "cwd", Missing::Variable { name: "NOPE".into() }),
        (
            r#"{"command":"a","args":["${input:key}"]}"#,
            "args.0",
            Missing::Input { id: "key".into(), error: AskError::NobodyToAsk },
        ),
    ] {
        let mut play = play(Policy::default(), &one(entry));
        let (asks, _) = start(&mut play);
        for (ask, _) in asks {
            answer(&mut play, ask, Err(AskError::NobodyToAsk));
        }
        assert_eq!(orders(&mut play).1, [], "{entry}");
        let ServerState::Failed { failure } = play.state("a") else { panic!("{entry}") };
        assert_eq!(failure.cause, Cause::Unresolved { field: field.into(), missing }, "{entry}");
        assert!(failure.describe(&"a".into()).contains(field));
        assert!(play.gate_is_open());
    }
}

/// The wild form of a bridge to a remote server, which fills in its own arguments.
#[test]
fn what_the_entry_sets_for_its_server_is_for_the_server_to_fill_in() {
    let entry = r#"{"command":"npx","args":["mcp-remote","--header","A:${AUTH}","${FOO}"],
        "env":{"AUTH":"Bearer x","FOO":"y"}}"#;
    let mut play = play(Policy::default(), &one(entry));
    let (_, launches) = start(&mut play);
    let args = ["mcp-remote".into(), "--header".into(), "A:${AUTH}".into(), variable("FOO")];
    assert_eq!(launches[0].args, args);
    assert!(
        play.runtime.status().problems.iter().all(|problem| problem.severity == Severity::Info)
    );
}

/// Policy: what is documented keeps the text and leaves out what is empty.
#[test]
fn what_is_missing_or_empty_is_left_out_or_kept_by_policy() {
    let entry = r#"{"command":"a","args":["${NOPE}"],"env":{
        "MISSING":"x${NOPE}","EMPTY":"${EMPTY}","NONE":"","NAMED":"EMPTY"}}"#;
    let mut documented = play(Policy::documented(), &one(entry));
    let (_, launches) = start(&mut documented);
    assert_eq!(launches[0].args, [Text::from("${NOPE}")]);
    let env: Vec<_> = launches[0].env.iter().map(|(n, t)| (n.as_str(), t.to_string())).collect();
    assert_eq!(env, [("MISSING", "x${NOPE}".into()), ("NAMED", "EMPTY".into())]);
    let entry = entry.replace(r#","args":["${NOPE}"]"#, "");
    let mut best = play(Policy::default(), &one(&entry));
    let (_, launches) = start(&mut best);
    assert_eq!(launches[0].env.keys().collect::<Vec<_>>(), ["EMPTY", "NAMED", "NONE"]);
}

/// F-013, G14: a server that is stopped while it waits for an answer is never started by it.
#[test]
fn nobody_starts_a_server_that_was_stopped_while_it_waited() {
    let config = one(r#"{"command":"a","env":{"T":"!token"}}"#);
    for request in [
        Request::Disconnect { op: OpId::new(1), server: "a".into() },
        Request::Disable { op: OpId::new(1), server: "a".into() },
        Request::DisconnectAll { op: OpId::new(1) },
        Request::Shutdown,
    ] {
        let mut play = play(Policy::default(), &config);
        let (asks, _) = start(&mut play);
        play.host(request.clone());
        answer(&mut play, asks[0].0, Ok(()));
        play.sleep(100_000);
        assert_eq!(orders(&mut play).1, [], "{request:?}");
        assert_eq!(play.runtime.is_stopped(), request == Request::Shutdown);
    }
}

#[test]
fn a_server_that_is_restarted_while_it_waits_is_started_once() {
    let mut play = play(Policy::default(), &one(r#"{"command":"a","env":{"T":"!token"}}"#));
    let (asks, _) = start(&mut play);
    play.host(Request::Restart { op: OpId::new(1), server: "a".into() });
    assert_eq!(play.take_commands(), []);
    answer(&mut play, asks[0].0, Ok(()));
    let (asks, launches) = orders(&mut play);
    assert_eq!((asks.len(), launches.len()), (0, 1));
    play.connect(1);
    assert_eq!(play.state("a"), ServerState::Connected);
    assert_eq!(play.runtime.status().servers[0].conn, Some(ConnId::new(1)));
}

/// What a server needed before it was defined anew holds it up no more.
#[test]
fn a_server_that_is_defined_anew_does_not_wait_for_what_it_needed_before() {
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let mut say = |text: &str| {
        let read = read_of(&mut play);
        let found = Found::Content(text.into());
        play.io(Fact::ConfigRead { read, origin: None, found });
        let ordered = orders(&mut play);
        play.host(Request::Reload { op: OpId::new(1) });
        (ordered.0.len(), ordered.1.len())
    };
    assert_eq!(say(&one(r#"{"command":"a","env":{"T":"!slow"}}"#)), (1, 0));
    assert_eq!(say(&one(r#"{"command":"a"}"#)), (0, 1));
}

/// L8: whoever waits for a server that cannot be started waits no more.
#[test]
fn calls_end_with_the_answer_without_which_their_server_cannot_be_started() {
    let mut play = play(Policy::default(), &one(r#"{"command":"a","args":["${input:key}"]}"#));
    let (asks, _) = start(&mut play);
    play.call(1, "a", "echo");
    play.sleep(500);
    assert_eq!(play.outcome(1), None);
    answer(&mut play, asks[0].0, Err(AskError::NobodyToAsk));
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert_eq!(failure.after_ms, 500);
    let outcome = play.outcome(1);
    assert!(
        matches!(outcome, Some(Outcome::Failed(CallError::NotConnected { .. }))),
        "{outcome:?}"
    );
}

/// Nobody is asked any more once everything ends.
#[test]
fn what_is_asked_is_called_off_by_a_shutdown() {
    let config = r#"{"mcpServers":{"a":{"command":"a","env":{"T":"!token"}},
        "b":{"command":"b","args":["${input:key}"]}}}"#;
    let mut play = play(Policy::default(), config);
    let (asks, _) = start(&mut play);
    play.host(Request::Shutdown);
    let stops = asks.iter().map(|(ask, _)| Command::StopAsking { ask: *ask });
    assert_eq!(play.take_commands(), stops.collect::<Vec<_>>());
    assert!(play.runtime.is_stopped());
}

/// G67: what nothing asks for any more is kept by nobody, whether it is known or not.
#[test]
fn what_no_definition_asks_for_any_more_is_forgotten() {
    let mut play = Play::with(file_options("/f.json"));
    let read = |play: &mut Play, text: &str| {
        let read = read_of(play);
        play.io(Fact::ConfigRead { read, origin: None, found: Found::Content(text.into()) });
        orders(play).0
    };
    let known = r#""a":{"command":"a","env":{"T":"!known"}}"#;
    let off = r#""a":{"command":"a","disabled":true,"env":{"T":"!known"}}"#;
    let open = r#""b":{"command":"b","env":{"T":"!open"}}"#;
    let file = |entries: &[&str]| format!(r#"{{"mcpServers":{{{}}}}}"#, entries.join(","));
    play.start();
    let asks = read(&mut play, &file(&[known, open]));
    let [first, second] = [asks[0].0, asks[1].0];
    answer(&mut play, first, Ok(()));
    let reload = |play: &mut Play| {
        play.host(Request::Reload { op: OpId::new(1) });
    };
    // One that is off may be switched on again.
    reload(&mut play);
    assert_eq!(read(&mut play, &file(&[off, open])), []);
    reload(&mut play);
    let id = read_of(&mut play);
    let found = Found::Content(file(&[]).as_str().into());
    play.io(Fact::ConfigRead { read: id, origin: None, found });
    let forgotten: Vec<AnswerId> = { play.take_commands().into_iter() }
        .filter_map(|command| match command {
            Command::StopAsking { ask } => Some(ask),
            _ => None,
        })
        .collect();
    assert_eq!(forgotten, [first, second]);
    play.closed(0, Exit::Code(0));
    reload(&mut play);
    let again = read(&mut play, &file(&[known]));
    assert_eq!(again.len(), 1, "it is asked anew");
    assert!(again[0].0 > second, "and kept under another number (L6)");
}
