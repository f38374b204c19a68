//! D40–D48: remote servers, and what is between them and us.

use tidegate_core::command::{Command, Method, SessionId};
use tidegate_core::error::{CallError, Exit, HttpFailure};
use tidegate_core::event::{OpResult, Outcome};
use tidegate_core::id::CallId;
use tidegate_core::input::Target;
use tidegate_core::trace::TraceLine;
use tidegate_sim::front::{Front, Mishap, Wrong};
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::Script;
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;

use crate::{comes_before, is_answered, offered, outcome, result, started, state, told};

/// The exchanges of a connection: the handshake has the first two, the stream the third, the list
/// the fourth, and the first call is this one.
const CALL: usize = 4;
/// The exchange that asks for the stream of what comes by itself.
const STREAM: usize = 2;

/// A server behind HTTP, 100 ms after a start.
fn web(script: Script, front: Front) -> Result<World, Violation> {
    started(&Scene::default().legacy("web", script.behind(front)), 100)
}

fn wrong(mishaps: impl IntoIterator<Item = (usize, Wrong)>) -> Front {
    let mishaps = mishaps.into_iter().map(|(exchange, what)| Mishap { exchange, what });
    Front { faults: mishaps.collect(), ..Front::default() }
}

const fn answers(status: u16, body: &'static str) -> Wrong {
    Wrong::Answers { status, header: Some(("content-type", "application/json")), body }
}

fn failure(world: &World, call: CallId) -> &HttpFailure {
    match outcome(world, call) {
        Some(Outcome::Failed(CallError::Http { failure })) => failure,
        other => panic!("{other:?}"),
    }
}

/// How and in which session each exchange was ordered.
fn orders(world: &World) -> Vec<(Method, SessionId)> {
    let order = |line: &TraceLine| match line {
        TraceLine::Command { command: Command::Exchange { request, .. }, .. } => {
            Some((request.method, request.session))
        }
        _ => None,
    };
    world.trace().iter().filter_map(order).collect()
}

/// D40: the head of an answer arrives and the rest of it does not; one of JSON, and a stream on
/// which nothing is said; G38, G1.
#[test]
fn a_body_that_never_comes_ends_its_call_alone() -> Result<(), Violation> {
    let front =
        Front { streams: true, ..wrong([(CALL, Wrong::Stalls), (CALL + 1, Wrong::Silent)]) };
    let mut world = web(Script::default(), front)?;
    let stalled = world.call("web", "echo")?;
    let silent = world.call("web", "echo")?;
    let sound = world.call("web", "echo")?;
    world.run_for(100)?;
    assert!(is_answered(&world, sound));
    world.run_until_quiet()?;
    assert_eq!(failure(&world, stalled), &HttpFailure::Stalled { limit_ms: 30_000 });
    let late = Outcome::Failed(CallError::TimedOut { limit_ms: 60_000 });
    assert_eq!(outcome(&world, silent), Some(&late));
    assert_eq!((state(&world, "web"), told(&world, "> Connect")), ("connected", 1));
    tell!(world)
}

/// D41: the answer to a call comes by a stream that goes on with a question and with news of the
/// tools; G45, G49.
#[test]
fn what_follows_an_answer_on_its_stream_is_heard() -> Result<(), Violation> {
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let front = wrong([(CALL, Wrong::GoesOn(ping)), (CALL + 2, Wrong::GoesOn(changed))]);
    let mut world = web(Script::default(), front)?;
    let first = world.call("web", "echo")?;
    world.run_for(100)?;
    assert!(is_answered(&world, first));
    assert_eq!(told(&world, "x5 POST in session result"), 1, "it is answered once");
    let second = world.call("web", "echo")?;
    world.run_until_quiet()?;
    assert!(is_answered(&world, second));
    assert_eq!(told(&world, "POST in session tools/list"), 2, "the list is read again");
    tell!(world)
}

/// D42: nothing is said to the question for the stream, not even a head; G46.
#[test]
fn a_stream_that_is_not_answered_holds_up_nothing() -> Result<(), Violation> {
    let mut world = web(Script::default(), wrong([(STREAM, Wrong::Silent)]))?;
    assert_eq!(
        (state(&world, "web"), offered(&world)),
        ("connected", vec!["mcp_web_echo live".into()])
    );
    let call = world.call("web", "echo")?;
    world.run_until_quiet()?;
    assert!(is_answered(&world, call));
    world.run_for(600_000)?;
    assert_eq!((state(&world, "web"), told(&world, " GET ")), ("connected", 1));
    tell!(world)
}

/// D43: everything is disconnected during a call, and one of two servers does not answer to the
/// end of its session; G4, G6.
#[test]
fn a_close_ends_what_is_under_way_and_waits_for_nobody() -> Result<(), Violation> {
    let slow = Script::default().calls_taking(5_000);
    let mute = slow.clone().behind(wrong([(CALL + 1, Wrong::Silent)]));
    let scene = Scene::default().legacy("mute", mute).legacy("web", slow.behind(Front::default()));
    let mut world = started(&scene, 100)?;
    let calls = [world.call("mute", "echo")?, world.call("web", "echo")?];
    world.run_for(50)?;
    let begun = world.now();
    let op = world.disconnect_all()?;
    for call in calls {
        assert!(matches!(outcome(&world, call), Some(Outcome::Failed(_))), "at once");
    }
    world.run_until(|world| result(world, op).is_some())?;
    assert_eq!(result(&world, op), Some(&OpResult::Done));
    assert!(world.now().since(begun) <= 1_000, "{}", world.now().since(begun));
    world.run_until_quiet()?;
    assert_eq!((told(&world, " DELETE "), offered(&world)), (2, vec![]));
    tell!(world)
}

/// D44: a call is answered with another one's answer, with a list, with null, and with nothing but
/// that it was taken; G39.
#[test]
fn what_answers_something_else_is_no_answer() -> Result<(), Violation> {
    let other = r#"{"jsonrpc":"2.0","id":99,"result":{"content":[]}}"#;
    let bodies = [(200, other), (200, "[]"), (200, "null"), (202, "")];
    let mishaps = (CALL..).zip(bodies.map(|(status, body)| answers(status, body)));
    let mut world = web(Script::default(), wrong(mishaps))?;
    for (status, body) in bodies {
        let call = world.call("web", "echo")?;
        world.run_for(100)?;
        assert_eq!(failure(&world, call), &HttpFailure::NoAnswer, "{status} {body}");
    }
    let call = world.call("web", "echo")?;
    world.run_until_quiet()?;
    assert!(is_answered(&world, call));
    assert_eq!((state(&world, "web"), told(&world, "> Connect")), ("connected", 1));
    tell!(world)
}

/// D45: every answer names a session; G48. That another one than that of the handshake is not kept
/// is `whatever_else_names_a_session_does_not_move_it`.
#[test]
fn the_session_is_that_of_the_handshake_and_is_ended_once() -> Result<(), Violation> {
    let mut world = web(Script::default(), Front { streams: true, ..Front::default() })?;
    let calls = [world.call("web", "echo")?, world.call("web", "echo")?];
    world.run_for(100)?;
    assert!(calls.iter().all(|call| is_answered(&world, *call)));
    world.disconnect("web")?;
    world.run_until_quiet()?;
    let orders = orders(&world);
    let (first, others) = orders.split_first().expect("the handshake");
    assert_eq!(first, &(Method::Post, SessionId::Keep));
    assert!(others.iter().all(|(_, session)| *session == SessionId::Send), "{others:?}");
    let ends = others.iter().filter(|(method, _)| *method == Method::Delete);
    assert_eq!((ends.count(), others.len()), (1, 6));
    tell!(world)
}

/// D46: a server of the transport of 2024-11-05, by its type and without one; G36.
#[test]
fn an_older_server_is_served_by_its_type_and_without_one() -> Result<(), Violation> {
    let older = Script::default().behind(Front { older: true, ..Front::default() });
    let mut typed = Entry::new("typed");
    typed.remote = Some("sse");
    let scene = Scene::default().entry(typed, older.clone()).legacy("plain", older);
    let mut world = started(&scene, 200)?;
    for server in ["typed", "plain"] {
        let call = world.call(server, "echo")?;
        world.run_for(50)?;
        assert!(is_answered(&world, call), "{server}");
    }
    assert_eq!(told(&world, "Head c1 x0 404"), 1, "the one without a type is asked both ways");
    tell!(world)
}

/// D47: a server is down when a call is made, in whatever words the system says so, and comes back;
/// G41, G40.
#[test]
fn a_call_to_a_server_that_is_down_waits_until_it_is_back() -> Result<(), Violation> {
    let mut world = web(Script::default(), Front::default())?;
    world.crash("web", Exit::Code(1));
    world.run_for(10)?;
    assert_eq!(state(&world, "web"), "connected", "nobody has asked it for anything");
    let call = world.call("web", "echo")?;
    world.run_for(0)?;
    assert_eq!(outcome(&world, call), None);
    assert_eq!(state(&world, "web"), "connecting");
    world.run_until_quiet()?;
    assert!(is_answered(&world, call));
    assert_eq!((state(&world, "web"), told(&world, "> Connect")), ("connected", 2));
    tell!(world)
}

/// D48: one call is given up and one takes too long, while the limit of the server's start is a
/// short one; G42.
#[test]
fn who_gives_a_call_up_tells_its_server_and_a_start_has_its_own_limit() -> Result<(), Violation> {
    let mut entry = Entry { protocol: Some("legacy"), ..Entry::new("web") };
    entry.timeout_ms = Some(1_000);
    let script = Script::default().calls_taking(3_000).behind(Front::default());
    let mut world = started(&Scene::default().entry(entry, script), 100)?;
    let target = || Target::Tool { server: "web".into(), tool: "echo".into() };
    let given_up = world.call("web", "echo")?;
    let late = world.call_target(target(), Some(500))?;
    let patient = world.call_target(target(), Some(10_000))?;
    world.run_for(200)?;
    world.cancel(given_up)?;
    assert_eq!(outcome(&world, given_up), Some(&Outcome::Aborted));
    world.run_until_quiet()?;
    let limit = Outcome::Failed(CallError::TimedOut { limit_ms: 500 });
    assert_eq!(outcome(&world, late), Some(&limit));
    assert!(is_answered(&world, patient), "the limit of the start is none of its calls");
    assert_eq!(told(&world, "POST in session notifications/cancelled"), 2);
    assert!(comes_before(&world, "Abort c0 x4", "notifications/cancelled"));
    assert_eq!(state(&world, "web"), "connected");
    tell!(world)
}
