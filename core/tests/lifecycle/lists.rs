//! Lists that change while a server is ready: when they are asked for, and what follows.

use tidegate_core::command::Command;
use tidegate_core::config::Source;
use tidegate_core::error::{Category, Cause, Excess};
use tidegate_core::event::{Event, ServerState};
use tidegate_core::hub::policy::{Extras, ListChanged};
use tidegate_core::options::Options;

use crate::play::{ECHO, HELLO, Play, one};

const CONFIG: &str = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
const TOOLS: &str = "tools/list_changed";
const RESOURCES: &str = "resources/list_changed";
const PROMPTS: &str = "prompts/list_changed";
const GROWN: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"grow","inputSchema":{"type":"object"}}]}"#;

fn options() -> Options {
    Options::new("/project", vec![Source::inline("test", CONFIG)])
}

fn rich() -> String {
    HELLO.replace(r#""tools":{}"#, r#""tools":{},"resources":{},"prompts":{}"#)
}

/// A server whose tools are there and that has nothing else; two requests were made.
fn ready() -> Play {
    let mut play = one();
    play.start().connect(0);
    play.take_commands();
    play.events.clear();
    play
}

/// A server with all three lists: its resources were asked for by 3, templates by 5, prompts by 4.
fn loaded() -> Play {
    let mut play = one();
    play.start().opened(0).answers(0, 1, &rich()).answers(0, 2, ECHO);
    assert_eq!(play.asked()[3..], ["3 resources/list", "4 prompts/list"]);
    play.answers(0, 4, r#"{"prompts":[{"name":"p"}]}"#);
    play.answers(0, 3, r#"{"resources":[{"uri":"r:1","name":"1"}]}"#);
    assert_eq!(play.asked(), ["5 resources/templates/list"]);
    play.answers(0, 5, r#"{"resourceTemplates":[{"uriTemplate":"t:{x}","name":"t"}]}"#);
    play.events.clear();
    play
}

fn notified(play: &Play) -> Vec<&str> {
    let method = play.events.iter().map(|event| match event {
        Event::Notified { method, .. } => Some(method.as_str()),
        _ => None,
    });
    method.flatten().collect()
}

/// G25, G27: one change, one list, one revision more; the cache follows (F-060).
#[test]
fn tools_that_changed_are_asked_for_once_it_is_quiet() {
    let mut play = ready();
    play.notifies(0, TOOLS).sleep(299);
    assert_eq!((play.asked(), notified(&play)), (vec![], vec![]));
    play.sleep(300);
    assert_eq!(play.asked(), ["3 tools/list"]);
    let revision = play.runtime.catalog().revision;
    play.answers(0, 3, GROWN);
    assert_eq!(play.events, [Event::ToolsChanged { revision: revision + 1 }]);
    assert!(matches!(play.take_commands()[..], [Command::WriteCache { .. }]));
    assert_eq!(play.runtime.poll_timeout(), None);
}

/// D14: an equal list is no change, and is not stored again.
#[test]
fn tools_that_are_the_same_come_to_nothing() {
    let mut play = ready();
    play.notifies(0, TOOLS).sleep(300).answers(0, 3, ECHO);
    assert_eq!(play.asked(), ["3 tools/list"]);
    assert_eq!(play.events, []);
}

/// G27: each change puts the list off, for two seconds at most.
#[test]
fn a_storm_of_changes_is_answered_when_it_is_over_or_after_two_seconds() {
    let mut play = ready();
    for at in (0..2_000).step_by(200) {
        play.sleep(at).notifies(0, TOOLS);
    }
    play.sleep(1_999);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(2_000);
    assert_eq!(play.asked(), ["3 tools/list"]);
}

/// G26, G27: one request at a time; what changed during it is asked for after it, once.
#[test]
fn a_change_while_the_list_is_on_its_way_leads_to_one_more() {
    let mut play = ready();
    play.notifies(0, TOOLS).sleep(300);
    play.sleep(400).notifies(0, TOOLS).sleep(450).notifies(0, TOOLS).sleep(5_000);
    assert_eq!(play.asked(), ["3 tools/list"]);
    play.answers(0, 3, ECHO).sleep(5_001);
    assert_eq!(play.asked(), ["4 tools/list"]);
    play.answers(0, 4, ECHO);
    assert_eq!(play.runtime.poll_timeout(), None);
}

/// G28: the list stays as it was; it is tried again after 1, 2 and 4 seconds, which is said once,
/// and then rests until the next change.
#[test]
fn a_list_that_fails_is_tried_again_less_and_less_and_said_once() {
    let mut play = ready();
    play.notifies(0, TOOLS);
    for (request, at) in [(3, 300), (4, 1_300), (5, 3_300), (6, 7_300)] {
        play.sleep(at - 1);
        assert_eq!(play.asked(), [""; 0], "before {at}");
        play.sleep(at);
        assert_eq!(play.asked(), [format!("{request} tools/list")]);
        play.refuses(0, request, -32_603);
    }
    assert_eq!(play.runtime.poll_timeout(), None);
    assert_eq!(play.tools().len(), 1);
    let [(Category::StaleList, message)] = play.problems()[..] else {
        panic!("{:?}", play.problems())
    };
    assert!(message.contains("stays as it was"), "{message}");
    play.notifies(0, TOOLS).sleep(8_000);
    assert_eq!(play.asked(), ["7 tools/list"]);
}

/// G28, C-CANC-01: a list that does not come in time is called off and tried again; its late
/// answer is nobody's.
#[test]
fn a_list_that_does_not_come_in_time_is_called_off() {
    let mut play = ready();
    play.notifies(0, TOOLS).sleep(300).take_commands();
    play.sleep(30_299);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(30_300);
    assert_eq!(play.asked(), ["notifications/cancelled 3"]);
    let [(Category::StaleList, message)] = play.problems()[..] else {
        panic!("{:?}", play.problems())
    };
    assert!(message.contains("no answer within 30000ms"), "{message}");
    play.answers(0, 3, GROWN);
    assert_eq!(play.tools().len(), 1);
    play.sleep(31_300);
    assert_eq!(play.asked(), ["4 tools/list"]);
    play.answers(0, 4, GROWN);
    assert_eq!(play.tools().len(), 2);
}

/// A definition's own limit counts for each of its lists.
#[test]
fn a_definition_with_a_limit_of_its_own_has_it_for_its_lists_too() {
    let mut play = Play::new(r#"{"mcpServers":{"a":{"command":"a","timeout":5000}}}"#);
    play.start().connect(0).notifies(0, TOOLS).sleep(300).take_commands();
    play.sleep(5_299);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(5_300);
    assert_eq!(play.asked(), ["notifications/cancelled 3"]);
    assert!(play.problems()[0].1.contains("within 5000ms"), "{:?}", play.problems());
}

/// C-PAGE: the pages of a followed list are one list, within one limit.
#[test]
fn a_list_that_is_followed_is_read_page_by_page() {
    let mut play = ready();
    play.notifies(0, TOOLS).sleep(300).take_commands();
    play.sleep(20_000).answers(0, 3, &ECHO.replace("}]}", r#"}],"nextCursor":"two"}"#));
    assert_eq!((play.asked(), play.tools().len()), (vec!["4 tools/list two".to_owned()], 1));
    play.answers(0, 4, &ECHO.replace("echo", "grow"));
    assert_eq!(play.tools().len(), 2);
    // And of the second page too it is known that nobody waits for it any more.
    play.notifies(0, TOOLS).sleep(20_300).take_commands();
    play.answers(0, 5, &ECHO.replace("}]}", r#"}],"nextCursor":"two"}"#)).sleep(50_300);
    assert_eq!(play.asked(), ["6 tools/list two", "notifications/cancelled 6"]);
}

/// D13: what is read for the first time may be from before the change.
#[test]
fn tools_that_change_while_they_are_read_for_the_first_time_are_read_again() {
    let mut play = one();
    play.start().opened(0).answers(0, 1, &rich());
    play.sleep(100).notifies(0, TOOLS).answers(0, 2, ECHO).take_commands();
    play.sleep(399);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(400);
    assert_eq!(play.asked(), ["5 tools/list"]);
}

/// F-046: what is not read yet is read later anyway.
#[test]
fn other_lists_that_change_before_they_are_read_are_not_read_twice() {
    let mut play = one();
    play.start().opened(0).notifies(0, TOOLS).answers(0, 1, &rich());
    play.notifies(0, RESOURCES).notifies(0, PROMPTS).answers(0, 2, ECHO).take_commands();
    play.answers(0, 3, r#"{"resources":[]}"#).answers(0, 4, r#"{"prompts":[]}"#);
    play.answers(0, 5, r#"{"resourceTemplates":[]}"#);
    assert_eq!(play.asked(), ["5 resources/templates/list"]);
    assert_eq!((play.runtime.poll_timeout(), notified(&play)), (None, vec![]));
}

/// G25: each of the three lists has its own notification, its own request and its own news.
#[test]
fn each_list_is_asked_for_when_it_changed() {
    let mut play = loaded();
    play.notifies(0, RESOURCES).sleep(299);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(300);
    assert_eq!(play.asked(), ["6 resources/list"]);
    play.answers(0, 6, r#"{"resources":[{"uri":"r:2","name":"2"}]}"#);
    assert_eq!(play.asked(), ["7 resources/templates/list"]);
    let revision = play.runtime.resources().revision;
    assert_eq!(play.events, [Event::ResourcesChanged { revision }]);
    play.events.clear();
    let templates = r#"{"resourceTemplates":[{"uriTemplate":"t:{x}","name":"t"},{"uriTemplate":"u:{x}","name":"u"}]}"#;
    play.answers(0, 7, templates);
    assert_eq!(play.events, [Event::ResourcesChanged { revision: revision + 1 }]);
    let offer = &play.runtime.resources().servers[0];
    assert_eq!((&*offer.resources[0].uri, offer.templates.len()), ("r:2", 2));
    play.events.clear();

    play.notifies(0, PROMPTS).sleep(599);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(600);
    assert_eq!(play.asked(), ["8 prompts/list"]);
    play.answers(0, 8, r#"{"prompts":[{"name":"p"},{"name":"q"}]}"#);
    let prompts = play.runtime.prompts();
    assert_eq!(play.events, [Event::PromptsChanged { revision: prompts.revision }]);
    assert_eq!(prompts.servers[0].prompts.len(), 2);
    play.events.clear();

    play.notifies(0, TOOLS).sleep(900);
    assert_eq!(play.asked(), ["9 tools/list"]);
    play.answers(0, 9, ECHO);
    assert_eq!((play.runtime.poll_timeout(), &play.events[..]), (None, &[][..]));
}

/// Each list is put off, and called off, in its own time.
#[test]
fn lists_that_changed_one_after_the_other_are_asked_for_so() {
    let mut play = loaded();
    play.notifies(0, TOOLS).sleep(100).notifies(0, PROMPTS).sleep(200).notifies(0, RESOURCES);
    for (at, asked) in [(300, "6 tools/list"), (400, "7 prompts/list"), (500, "8 resources/list")] {
        play.sleep(at - 1);
        assert_eq!(play.asked(), [""; 0]);
        play.sleep(at);
        assert_eq!(play.asked(), [asked]);
    }
    for (at, called_off) in [(30_300, 6), (30_400, 7), (30_500, 8)] {
        play.sleep(at);
        assert_eq!(play.asked(), [format!("notifications/cancelled {called_off}")]);
    }
}

/// D14.
#[test]
fn resources_and_prompts_that_are_the_same_come_to_nothing() {
    let mut play = loaded();
    play.notifies(0, RESOURCES).notifies(0, PROMPTS).sleep(300);
    assert_eq!(play.asked(), ["6 resources/list", "7 prompts/list"]);
    play.answers(0, 6, r#"{"resources":[{"uri":"r:1","name":"1"}]}"#);
    play.answers(0, 8, r#"{"resourceTemplates":[{"uriTemplate":"t:{x}","name":"t"}]}"#);
    play.answers(0, 7, r#"{"prompts":[{"name":"p"}]}"#);
    assert_eq!((play.runtime.poll_timeout(), &play.events[..]), (None, &[][..]));
}

/// G28: one half of what a server has to read may fail; the other one counts, both are tried again.
#[test]
fn resources_and_templates_fail_one_by_one_and_are_tried_again_together() {
    for (first_fails, second_fails) in [(true, false), (false, true), (true, true)] {
        let mut play = loaded();
        play.notifies(0, RESOURCES).sleep(300).take_commands();
        let mut half = |request, fails: bool, result: &str| {
            if fails {
                play.refuses(0, request, -1)
            } else {
                play.answers(0, request, result)
            };
        };
        half(6, first_fails, r#"{"resources":[]}"#);
        half(7, second_fails, r#"{"resourceTemplates":[]}"#);
        let has = &play.runtime.resources().servers;
        let (resources, templates) =
            has.first().map_or((0, 0), |has| (has.resources.len(), has.templates.len()));
        assert_eq!((resources == 1, templates == 1), (first_fails, second_fails));
        let [(Category::StaleList, message)] = play.problems()[..] else {
            panic!("{:?}", play.problems())
        };
        let named = if first_fails { "resources/list" } else { "resources/templates/list" };
        assert!(message.contains(named), "{message}");
        play.take_commands();
        play.sleep(1_299);
        assert_eq!(play.asked(), [""; 0]);
        play.sleep(1_300);
        assert_eq!(play.asked(), ["8 resources/list"]);
        play.answers(0, 8, r#"{"resources":[]}"#).answers(0, 9, r#"{"resourceTemplates":[]}"#);
        assert_eq!(play.runtime.poll_timeout(), None);
    }
}

/// G28: prompts are tried again like all else.
#[test]
fn prompts_that_fail_stay_and_are_tried_again() {
    let mut play = loaded();
    play.notifies(0, PROMPTS).sleep(300).refuses(0, 6, -1).take_commands();
    assert_eq!(play.runtime.prompts().servers.len(), 1);
    assert!(matches!(play.problems()[..], [(Category::StaleList, _)]));
    play.sleep(1_300);
    assert_eq!(play.asked(), ["7 prompts/list"]);
}

/// F-048: what was declared and is not implemented is an empty list; any other refusal is one.
#[test]
fn a_server_without_the_method_it_declared_has_an_empty_list() {
    let mut play = one();
    play.start().opened(0).answers(0, 1, HELLO).refuses(0, 2, -32_601);
    assert_eq!((play.state("a"), play.tools()), (ServerState::Connected, vec![]));
    let mut play = one();
    play.start().opened(0).answers(0, 1, HELLO).refuses(0, 2, -32_602);
    let ServerState::Failed { failure } = play.state("a") else { panic!() };
    assert!(matches!(failure.cause, Cause::Refused { .. }), "{failure:?}");
}

/// L10: a list of exactly as many entries as may be is taken, one more is not.
#[test]
fn a_list_may_be_as_long_as_its_bound_and_no_longer() {
    let started = |most: usize| {
        let mut options = options();
        options.limits.tools_per_server = most;
        let mut play = Play::with(options);
        play.start().opened(0).answers(0, 1, HELLO).answers(0, 2, GROWN);
        play
    };
    assert_eq!(started(2).state("a"), ServerState::Connected);
    let ServerState::Failed { failure } = started(1).state("a") else { panic!() };
    assert_eq!(failure.cause, Cause::Limit { what: Excess::Tools, limit: 1 });
    let ServerState::Failed { failure } = started(0).state("a") else { panic!() };
    assert_eq!(failure.cause, Cause::Limit { what: Excess::Tools, limit: 0 });
}

/// A change of what a server did not declare concerns the host, not us.
#[test]
fn changes_of_lists_that_are_not_followed_are_handed_on() {
    let mut play = ready();
    play.notifies(0, RESOURCES).notifies(0, PROMPTS).notifies(0, "other");
    let all = ["resources/list_changed", "prompts/list_changed", "other"];
    assert_eq!(notified(&play), all.map(|method| format!("notifications/{method}")));
    assert_eq!(play.runtime.poll_timeout(), None);

    let mut play = one();
    play.start().opened(0).answers(0, 1, &rich().replace(r#""tools":{},"#, ""));
    play.notifies(0, TOOLS);
    assert_eq!(notified(&play), ["notifications/tools/list_changed"]);
}

/// Documented: a list is never asked for again; and extras that are not loaded are not followed.
#[test]
fn by_policy_changes_are_only_handed_on() {
    let all = [TOOLS, RESOURCES, PROMPTS];
    let told = |options| {
        let mut play = Play::with(options);
        play.start().opened(0).answers(0, 1, &rich()).answers(0, 2, ECHO);
        for method in all {
            play.notifies(0, method);
        }
        notified(&play).len()
    };
    let mut ignoring = options();
    ignoring.policy.list_changed = ListChanged::Ignore;
    assert_eq!(told(ignoring), 3);
    let mut skipping = options();
    skipping.policy.extras = Extras::Skip;
    assert_eq!(told(skipping), 2);
    assert_eq!(told(options()), 0);
}

/// G36: the first of two with one handle stays, and that is said of each list.
#[test]
fn what_is_listed_twice_is_there_once_and_said() {
    let mut play = one();
    let twice = ECHO.replace("]}", r#",{"name":"echo","inputSchema":{"type":"object"}}]}"#);
    play.start().opened(0).answers(0, 1, &rich()).answers(0, 2, &twice);
    play.answers(0, 3, r#"{"resources":[{"uri":"r:1","name":"1"},{"uri":"r:1","name":"2"}]}"#);
    play.answers(0, 4, r#"{"prompts":[{"name":"p"},{"name":"p"},{"name":"q"}]}"#);
    let template = r#"{"uriTemplate":"t:{x}","name":"t"}"#;
    play.answers(0, 5, &format!(r#"{{"resourceTemplates":[{template},{template}]}}"#));
    let offer = &play.runtime.resources().servers[0];
    assert_eq!((offer.resources.len(), offer.resources[0].name.as_deref()), (1, Some("1")));
    assert_eq!((offer.templates.len(), play.tools().len()), (1, 1));
    assert_eq!(play.runtime.prompts().servers[0].prompts.len(), 2);
    let problems = play.problems();
    let categories: Vec<Category> = problems.iter().map(|(category, _)| *category).collect();
    let [tool, resource, prompt] =
        [Category::InvalidTool, Category::InvalidResource, Category::InvalidPrompt];
    assert_eq!(categories, [tool, resource, prompt, resource]);
    assert!(problems.iter().all(|(_, message)| message.contains("listed twice")), "{problems:?}");
}

/// G33: an entry that is wrong is left out alone, and named, in each list.
#[test]
fn entries_that_are_wrong_are_left_out_and_said_in_each_list() {
    let mut play = loaded();
    all_changed(&mut play);
    play.answers(0, 6, r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}},7]}"#);
    play.answers(0, 7, r#"{"resources":[{"uri":"r:1","name":"1"},7]}"#);
    play.answers(0, 8, r#"{"prompts":[{"name":"p"},7]}"#);
    play.answers(0, 9, r#"{"resourceTemplates":[{"uriTemplate":"t:{x}","name":"t"},7]}"#);
    let categories: Vec<Category> = play.problems().iter().map(|(it, _)| *it).collect();
    let [tool, resource, prompt] =
        [Category::InvalidTool, Category::InvalidResource, Category::InvalidPrompt];
    assert_eq!(categories, [tool, resource, prompt, resource]);
    assert!(!play.events.iter().any(|event| matches!(event, Event::ToolsChanged { .. })));
}

/// All three lists are asked for, by 6, 7 and 8.
fn all_changed(play: &mut Play) {
    play.notifies(0, TOOLS).notifies(0, RESOURCES).notifies(0, PROMPTS).sleep(300);
    assert_eq!(play.asked(), ["6 tools/list", "7 resources/list", "8 prompts/list"]);
}

/// L8, L10: an answer that is too long or cannot be read is the only one there will be.
#[test]
fn a_list_whose_answer_cannot_be_taken_is_tried_again() {
    let long = format!(r#"{{"jsonrpc":"2.0","id":3,"result":"{}"}}"#, "x".repeat(600));
    for (answer, why) in [
        (long.as_str(), "the bound is 512"),
        (r#"{"jsonrpc":"2.0","id":3,"error":7}"#, "error"),
        (r#"{"jsonrpc":"2.0","id":3,"result":{"tools":7}}"#, "tools is a number"),
    ] {
        let mut options = options();
        options.limits.message_bytes = 512;
        let mut play = Play::with(options);
        play.start().connect(0).notifies(0, TOOLS).sleep(300).take_commands();
        play.says(0, answer);
        let stale = |problem: &(Category, &str)| problem.0 == Category::StaleList;
        let mut told = play.problems();
        told.retain(stale);
        assert!(matches!(told[..], [(_, told)] if told.contains(why)), "{told:?}");
        play.sleep(1_300);
        assert_eq!(play.asked(), ["4 tools/list"]);
    }
}
