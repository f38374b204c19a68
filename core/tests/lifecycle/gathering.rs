//! What all servers offer together: resources and prompts, and problems.

use tidegate_core::config::Source;
use tidegate_core::error::{Category, Exit, Severity};
use tidegate_core::event::Event;
use tidegate_core::id::OpId;
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;

use crate::play::{HELLO, Play, file_options, read_of, two};

const BOTH: &str = r#""resources":{},"prompts":{}"#;

/// From `Open` to ready with these resources and prompts, and no templates.
fn connect(play: &mut Play, conn: u64, resources: &str, prompts: &str) {
    play.opened(conn).answers(conn, 1, &HELLO.replace(r#""tools":{}"#, BOTH));
    play.answers(conn, 2, &format!(r#"{{"resources":[{resources}]}}"#));
    play.answers(conn, 3, &format!(r#"{{"prompts":[{prompts}]}}"#));
    play.answers(conn, 4, r#"{"resourceTemplates":[]}"#);
}

const RESOURCE: &str = r#"{"uri":"r:1","name":"1"}"#;
const PROMPT: &str = r#"{"name":"p"}"#;

fn resources(play: &Play) -> Vec<&str> {
    play.runtime.resources().servers.iter().map(|has| has.server.as_str()).collect()
}

fn prompts(play: &Play) -> Vec<&str> {
    play.runtime.prompts().servers.iter().map(|has| has.server.as_str()).collect()
}

fn revisions(play: &Play) -> (u64, u64) {
    (play.runtime.resources().revision, play.runtime.prompts().revision)
}

fn news(play: &mut Play) -> Vec<Event> {
    let news = std::mem::take(&mut play.events).into_iter();
    news.filter(|event| {
        matches!(event, Event::ResourcesChanged { .. } | Event::PromptsChanged { .. })
    })
    .collect()
}

/// G24, G25: in configuration order, whoever came first; each change is one revision and one
/// piece of news; what leaves takes its own along.
#[test]
fn what_servers_have_stands_in_the_order_of_the_configuration() {
    let mut play = two();
    play.start();
    assert_eq!(revisions(&play), (0, 0));
    connect(&mut play, 1, RESOURCE, "");
    assert_eq!((resources(&play), prompts(&play)), (vec!["b"], vec![]));
    assert_eq!(news(&mut play), [Event::ResourcesChanged { revision: 1 }]);
    connect(&mut play, 0, RESOURCE, PROMPT);
    assert_eq!((resources(&play), prompts(&play)), (vec!["a", "b"], vec!["a"]));
    let changed = [Event::ResourcesChanged { revision: 2 }, Event::PromptsChanged { revision: 1 }];
    assert_eq!(news(&mut play), changed);
    play.host(Request::Disconnect { op: OpId::new(1), server: "a".into() });
    assert_eq!((resources(&play), prompts(&play)), (vec!["b"], vec![]));
    assert_eq!(news(&mut play).len(), 2);
    play.closed(0, Exit::Code(0));
    assert_eq!((news(&mut play), revisions(&play)), (vec![], (3, 2)));
}

/// A server that has templates alone has something; one with neither is not there.
#[test]
fn a_server_with_templates_alone_is_there_and_one_with_nothing_is_not() {
    let mut play = two();
    play.start();
    connect(&mut play, 0, "", "");
    assert_eq!((resources(&play), prompts(&play), revisions(&play)), (vec![], vec![], (0, 0)));
    play.opened(1).answers(1, 1, &HELLO.replace(r#""tools":{}"#, BOTH));
    play.answers(1, 2, r#"{"resources":[]}"#).answers(1, 3, r#"{"prompts":[]}"#);
    play.answers(1, 4, r#"{"resourceTemplates":[{"uriTemplate":"t:{x}","name":"t"}]}"#);
    assert_eq!((resources(&play), revisions(&play)), (vec!["b"], (1, 0)));
}

/// G25: another order is another list, and the same order is none.
#[test]
fn another_order_of_the_configuration_is_another_list() {
    let config = |order: [&str; 2]| {
        let [one, two] = order.map(|name| format!(r#""{name}":{{"command":"{name}"}}"#));
        Found::Content(format!(r#"{{"mcpServers":{{{one},{two}}}}}"#).as_str().into())
    };
    let mut play = Play::with(file_options("/f.json"));
    play.start();
    let read = read_of(&mut play);
    play.io(Fact::ConfigRead { read, origin: None, found: config(["a", "b"]) });
    connect(&mut play, 0, RESOURCE, PROMPT);
    connect(&mut play, 1, RESOURCE, "");
    news(&mut play);
    for (op, order, said) in [(1, ["a", "b"], 0), (2, ["b", "a"], 1)] {
        play.host(Request::Reload { op: OpId::new(op) });
        let read = read_of(&mut play);
        play.io(Fact::ConfigRead { read, origin: None, found: config(order) });
        assert_eq!((resources(&play), prompts(&play)), (order.to_vec(), vec!["a"]));
        assert_eq!(news(&mut play).len(), said, "{order:?}");
    }
}

/// Following is switched for every server that is there, once.
#[test]
fn every_server_is_followed_when_the_host_begins_to_follow() {
    let mut play = two();
    play.start();
    let hello = HELLO.replace(r#""tools":{}"#, r#""resources":{"subscribe":true}"#);
    for conn in [0, 1] {
        play.opened(conn).answers(conn, 1, &hello);
        play.answers(conn, 2, &format!(r#"{{"resources":[{RESOURCE}]}}"#));
        play.answers(conn, 3, r#"{"resourceTemplates":[]}"#);
    }
    play.take_commands();
    play.host(Request::Watch { on: true });
    assert_eq!(play.asked(), ["4 resources/subscribe r:1"; 2]);
    play.refuses(0, 4, -1).refuses(1, 4, -1).host(Request::Watch { on: true });
    assert_eq!(play.asked(), [""; 0]);
}

/// L10: so many problems are kept, and that there are more is said once.
#[test]
fn problems_beyond_the_bound_are_not_listed() {
    for (most, kept, beyond) in [(2, 3, 1), (3, 4, 1), (4, 4, 0), (5, 4, 0)] {
        let source = Source::inline("test", r#"{"mcpServers":{"a":{"command":"a"}}}"#);
        let mut options = Options::new("/project", vec![source]);
        options.limits.problems = most;
        let mut play = Play::with(options);
        play.start().opened(0).answers(0, 1, HELLO);
        play.answers(0, 2, r#"{"tools":[1,2,3,4]}"#);
        let problems = play.runtime.status().problems;
        let more = problems.iter().filter(|it| it.category == Category::TooManyProblems).count();
        assert_eq!((problems.len(), more), (kept, beyond));
        assert_eq!(play.problems().len(), problems.len());
    }
}

/// The same of what the files say; what they go on saying is said once.
#[test]
fn problems_of_the_configuration_are_bounded_and_said_once() {
    for (most, kept) in [(2, 3), (3, 3)] {
        let mut options = file_options("/f.json");
        options.limits.problems = most;
        let mut play = Play::with(options);
        let config = r#"{"mcpServers":{"a":7,"b":7,"c":7}}"#;
        for op in [0, 1] {
            let reload = Request::Reload { op: OpId::new(op) };
            play.host(reload);
            let read = read_of(&mut play);
            let found = Found::Content(config.into());
            play.io(Fact::ConfigRead { read, origin: None, found });
            assert_eq!(play.runtime.status().problems.len(), kept);
            assert_eq!(play.problems().len(), kept);
        }
    }
}

/// Seed runtime section 1.11: one file that can be read is no discovery that failed.
#[test]
fn a_discovery_in_which_one_file_can_be_read_has_not_failed() {
    let places = tidegate_core::config::Places {
        cwd: "/project".into(),
        explicit: vec!["/good.json".into(), "/bad.json".into(), "/none.json".into()],
        ..Default::default()
    };
    for good in [true, false] {
        let mut play = Play::with(Options::new("/project", places.sources()));
        play.start();
        for command in play.take_commands() {
            let tidegate_core::command::Command::ReadConfig { read, path, .. } = command else {
                panic!("{command:?}")
            };
            let found = match path.as_str() {
                "/good.json" if good => Found::Content(r#"{"mcpServers":{}}"#.into()),
                "/bad.json" => Found::Unreadable("no".into()),
                _ => Found::Nothing,
            };
            play.io(Fact::ConfigRead { read, origin: None, found });
        }
        let failed = |told: &&(Category, &str)| told.0 == Category::DiscoveryFailed;
        assert_eq!(play.problems().iter().filter(failed).count(), usize::from(!good));
        let problems = play.runtime.status().problems;
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        assert!(errors.count() >= usize::from(!good));
    }
}
