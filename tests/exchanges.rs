//! Stories of remote servers as timelines, reviewed as prose.
//!
//! Every law is checked after every step of each, and each ends with a shutdown that leaves
//! nothing behind.

use proptest::prelude::*;
use tidegate_core::bytes::Json;
use tidegate_core::error::Exit;
use tidegate_core::event::{Event, Outcome};
use tidegate_core::inquiry::{Reply, Service};
use tidegate_sim::front::{Front, Mishap, Wrong};
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::{Fault, Script, Speaks};
use tidegate_sim::violation::{Violation, timeline};
use tidegate_sim::world::World;

/// Compares the story so far with its snapshot, then ends it.
macro_rules! tell {
    ($world:expr) => {{
        let mut world = $world;
        insta::assert_snapshot!(timeline(world.trace()));
        world.finish()
    }};
}

fn started(script: Script, front: Front) -> Result<World, Violation> {
    let mut world = Scene::default().legacy("web", script.behind(front)).world();
    world.start()?;
    world.run_for(200)?;
    Ok(world)
}

fn mishap(exchange: usize, what: Wrong) -> Front {
    Front { faults: vec![Mishap { exchange, what }], ..Front::default() }
}

/// G46: the stream delays nothing.
#[test]
fn a_remote_server_connects_and_answers() -> Result<(), Violation> {
    let mut world = started(Script::default(), Front::default())?;
    world.call("web", "echo")?;
    world.run_for(50)?;
    tell!(world)
}

#[test]
fn a_call_is_answered_by_a_stream_with_progress() -> Result<(), Violation> {
    let script = Script::default().calls_taking(300).with(Fault::Progress { every: 100, times: 2 });
    let mut world = started(script, Front { streams: true, ..Front::default() })?;
    world.call("web", "echo")?;
    world.run_for(400)?;
    tell!(world)
}

/// A server with a tool that asks, behind streams.
fn curious(script: Script) -> Scene {
    let script = script.behind(Front { streams: true, ..Front::default() });
    let protocol = (script.speaks == Speaks::Legacy).then_some("legacy");
    let mut scene = Scene::default().entry(Entry { protocol, ..Entry::new("web") }, script);
    scene.options.services = [Service::ElicitationForm].into_iter().collect();
    scene
}

fn accepts(world: &mut World) -> Result<(), Violation> {
    let inquiry = world.open_inquiries().next().expect("a question");
    world.reply(inquiry, Reply::Done(Json::new(r#"{"action":"accept","content":{}}"#)))
}

/// G49, C-LHTTP-07: the call waits for a person and does not run out meanwhile.
#[test]
fn a_person_is_asked_in_the_course_of_a_call() -> Result<(), Violation> {
    let mut world = curious(Script::tools(["ask"])).world();
    world.start()?;
    world.run_for(200)?;
    world.call("web", "ask")?;
    world.run_for(90_000)?;
    accepts(&mut world)?;
    world.run_for(10)?;
    tell!(world)
}

/// C-MRTR-01 to C-MRTR-07: first a person is to be asked, then nothing but to be called again.
#[test]
fn a_call_is_made_again_until_its_server_was_told_everything() -> Result<(), Violation> {
    let mut world = curious(Script::tools(["ask"]).speaking(Speaks::Modern)).world();
    world.start()?;
    world.run_for(200)?;
    world.call("web", "ask")?;
    world.run_for(90_000)?;
    accepts(&mut world)?;
    world.run_for(2_000)?;
    tell!(world)
}

/// F-070, C-LHTTP-03: x4 is the call that finds no session.
#[test]
fn a_session_that_is_forgotten_is_begun_anew() -> Result<(), Violation> {
    let mut world = started(Script::default(), mishap(4, Wrong::Forgets))?;
    world.call("web", "echo")?;
    world.run_for(200)?;
    tell!(world)
}

/// C-LHTTP-08 to C-LHTTP-10.
#[test]
fn a_stream_that_is_cut_is_gone_on_with() -> Result<(), Violation> {
    let front = Front { retry_ms: Some(500), ..mishap(4, Wrong::CutStream) };
    let mut world = started(Script::default().calls_taking(100), front)?;
    world.call("web", "echo")?;
    world.run_for(700)?;
    tell!(world)
}

/// C-VER-17.
#[test]
fn an_older_server_is_spoken_to_the_older_way() -> Result<(), Violation> {
    let mut world = started(Script::default(), Front { older: true, ..Front::default() })?;
    world.call("web", "echo")?;
    world.run_for(50)?;
    tell!(world)
}

/// F-079, D47: a server that is started anew is found again, and what did not reach it waits.
#[test]
fn a_server_that_goes_and_comes_back_is_found_again() -> Result<(), Violation> {
    let mut world = started(Script::default(), Front::default())?;
    world.driver.crash(&"web".into(), Exit::Code(1), true, world.now());
    world.run_for(10)?;
    world.call("web", "echo")?;
    world.run_for(3_000)?;
    tell!(world)
}

/// C-LHTTP-05: whoever does not answer to a goodbye is not waited for.
#[test]
fn a_goodbye_that_is_not_answered_is_not_waited_for() -> Result<(), Violation> {
    let mut world = started(Script::default(), mishap(4, Wrong::Silent))?;
    world.shutdown()?;
    world.run_for(1_200)?;
    tell!(world)
}

/// D46: `type: sse` goes there directly.
#[test]
fn a_server_of_type_sse_is_not_asked_anything_else() -> Result<(), Violation> {
    let mut entry = Entry::new("web");
    entry.remote = Some("sse");
    let script = Script::default().behind(Front { older: true, ..Front::default() });
    let mut world = Scene::default().entry(entry, script).world();
    world.start()?;
    world.run_for(200)?;
    tell!(world)
}

/// F-045: whoever answers lives, and nobody is asked whether it does.
#[test]
fn a_server_that_has_nothing_to_do_is_left_alone() -> Result<(), Violation> {
    let web = Script::default().behind(Front::default());
    let mut world = Scene::default().server("web", web).server("a", Script::default()).world();
    world.start()?;
    world.run_for(1_000)?;
    let told = world.trace().len();
    world.run_for(24 * 3_600_000)?;
    assert_eq!(world.trace().len(), told, "{}", timeline(&world.trace()[told..]));
    for server in ["web", "a"] {
        world.call(server, "echo")?;
    }
    world.run_for(50)?;
    let answered =
        |event: &&Event| matches!(event, Event::CallFinished { outcome: Outcome::Answered(_), .. });
    assert_eq!(world.events().iter().filter(answered).count(), 2);
    world.finish()
}

/// What is likely in a stream of events.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("data: "),
        Just("data:"),
        Just("event: endpoint"),
        Just("id: 1"),
        Just("retry: 5"),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\n\n"),
        Just(":"),
        Just("\u{feff}"),
        Just("/m"),
        Just("é"),
        Just("{\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"}}"),
        Just("{\"id\":1,\"method\":\"ping\"}"),
        Just("{\"method\":\"notifications/message\",\"params\":{}}"),
    ];
    let text = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat());
    let head = prop::collection::vec(any::<u8>(), 24);
    (head, text).prop_map(|(head, text)| [head, text.into_bytes()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// G44: cuts make no difference to events, and none to what follows from them.
    #[test]
    fn where_a_stream_of_events_is_cut_makes_no_difference(data in stream()) {
        tidegate_sim::fuzz::sse(&data);
        tidegate_sim::fuzz::session(&data);
    }

    #[test]
    fn a_head_means_what_it_says(data in prop::collection::vec(any::<u8>(), 0..40)) {
        tidegate_sim::fuzz::http_head(&data);
    }
}
