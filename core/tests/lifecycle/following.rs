//! Resources whose changes are followed: what is subscribed, and what is taken back.

use tidegate_core::error::{Category, Exit};
use tidegate_core::event::Event;
use tidegate_core::hub::policy::Reconnect;
use tidegate_core::input::Request;
use tidegate_core::options::Options;

use crate::play::{HELLO, Play};

const CONFIG: &str = r#"{"mcpServers":{"a":{"command":"a"}}}"#;
const NO_TEMPLATES: &str = r#"{"resourceTemplates":[]}"#;

fn options() -> Options {
    Options::new("/project", vec![tidegate_core::config::Source::inline("test", CONFIG)])
}

fn resources(uris: &[&str]) -> String {
    let one = |uri: &&str| format!(r#"{{"uri":"{uri}","name":"n"}}"#);
    format!(r#"{{"resources":[{}]}}"#, uris.iter().map(one).collect::<Vec<_>>().join(","))
}

/// A server that has these resources and subscriptions; three requests were made of it. Following
/// is on or off.
fn ready(options: Options, uris: &[&str], on: bool) -> Play {
    let mut play = Play::with(options);
    let hello = HELLO.replace(r#""tools":{}"#, r#""resources":{"subscribe":true}"#);
    play.start().opened(0).answers(0, 1, &hello).answers(0, 2, &resources(uris));
    play.answers(0, 3, NO_TEMPLATES).take_commands();
    play.host(Request::Watch { on });
    play
}

fn following(uris: &[&str]) -> Play {
    ready(options(), uris, true)
}

fn subscriptions(play: &Play) -> Vec<String> {
    play.runtime.status().servers.remove(0).subscriptions
}

fn switch(play: &mut Play, on: bool) -> Vec<String> {
    play.host(Request::Watch { on }).asked()
}

/// Says that a resource changed; whether the host hears of it.
fn updated(play: &mut Play, uri: &str) -> bool {
    let before = play.events.len();
    let params = format!(r#"{{"uri":"{uri}"}}"#);
    let method = "notifications/resources/updated";
    play.says(0, &format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
    match &play.events[before..] {
        [] => false,
        [Event::ResourceUpdated { server, uri: told }] => {
            assert_eq!((server.as_str(), told.as_str()), ("a", uri));
            true
        }
        other => panic!("{other:?}"),
    }
}

/// Lets the list change to these resources; the request that asked for it.
fn relist(play: &mut Play, uris: &[&str]) {
    let changed = "resources/list_changed";
    play.take_commands();
    play.notifies(0, changed);
    play.sleep(play.now + 300);
    let asked = play.asked();
    let number: u64 = asked[0].split(' ').next().unwrap().parse().unwrap();
    play.answers(0, number, &resources(uris));
}

/// G51: what the server agreed to is what is subscribed, and only of that changes are told.
#[test]
fn a_resource_is_followed_once_the_server_agreed() {
    let mut play = ready(options(), &["r:1", "r:2"], false);
    assert!(!updated(&mut play, "r:1"));
    assert_eq!(switch(&mut play, true), ["4 resources/subscribe r:1", "5 resources/subscribe r:2"]);
    assert!(!updated(&mut play, "r:1"));
    play.answers(0, 4, "{}").refuses(0, 5, -32_601);
    assert_eq!(subscriptions(&play), ["r:1"]);
    let followed = ["r:1", "r:2", "r:3"].map(|uri| updated(&mut play, uri));
    assert_eq!(followed, [true, false, false]);
    let [(Category::NotSubscribed, message)] = play.problems()[..] else {
        panic!("{:?}", play.problems())
    };
    assert!(message.contains("cannot be followed"), "{message}");
    assert_eq!((switch(&mut play, true), play.runtime.poll_timeout()), (vec![], None));
}

/// What is switched off is taken back; what was refused is nothing to take back.
#[test]
fn switching_off_takes_back_what_stands() {
    let mut play = following(&["r:1", "r:2", "r:3"]);
    play.answers(0, 4, "{}").refuses(0, 5, -1).answers(0, 6, "{}").take_commands();
    assert_eq!(
        switch(&mut play, false),
        ["7 resources/unsubscribe r:1", "8 resources/unsubscribe r:3"]
    );
    assert_eq!(subscriptions(&play), [""; 0]);
    assert!(!updated(&mut play, "r:1"));
    // Refused or not: it is not followed any more.
    play.answers(0, 7, "{}").refuses(0, 8, -1);
    assert_eq!((play.asked(), play.runtime.poll_timeout()), (vec![], None));
    let all = [9, 10, 11].map(|request| format!("{request} resources/subscribe r:{}", request - 8));
    assert_eq!(switch(&mut play, true), all);
}

/// G51: what an answer comes to is compared with what is wanted by then.
#[test]
fn a_subscription_that_stands_too_late_is_taken_back() {
    let mut play = following(&["r:1"]);
    play.take_commands();
    assert_eq!(switch(&mut play, false), [""; 0]);
    play.answers(0, 4, "{}");
    assert_eq!(
        (play.asked(), subscriptions(&play)),
        (vec!["5 resources/unsubscribe r:1".into()], vec![])
    );
    // Wanted again before that is answered: it is asked for anew after it.
    assert_eq!(switch(&mut play, true), [""; 0]);
    play.answers(0, 5, "{}");
    assert_eq!(play.asked(), ["6 resources/subscribe r:1"]);
    play.answers(0, 6, "{}");
    assert_eq!(subscriptions(&play), ["r:1"]);
}

/// A refusal that comes when it is no more wanted leaves nothing behind: the next time it is asked for
/// again.
#[test]
fn what_was_refused_too_late_is_asked_for_when_it_is_wanted_again() {
    let mut play = following(&["r:1"]);
    play.take_commands();
    switch(&mut play, false);
    play.refuses(0, 4, -1);
    assert_eq!(play.asked(), [""; 0]);
    assert_eq!(switch(&mut play, true), ["5 resources/subscribe r:1"]);
}

/// L10: so many requests at once, and the next one with each answer.
#[test]
fn so_many_subscriptions_are_under_way_at_once() {
    let mut options = options();
    options.limits.subscribing_at_once = 2;
    let mut play = ready(options, &["r:1", "r:2", "r:3", "r:4"], true);
    assert_eq!(play.asked(), ["4 resources/subscribe r:1", "5 resources/subscribe r:2"]);
    play.answers(0, 5, "{}");
    assert_eq!(play.asked(), ["6 resources/subscribe r:3"]);
    // What is not asked for yet when nobody wants it any more is never asked for.
    assert_eq!(switch(&mut play, false), [""; 0]);
    play.answers(0, 4, "{}");
    assert_eq!(play.asked(), ["7 resources/unsubscribe r:1"]);
    play.answers(0, 6, "{}").answers(0, 7, "{}");
    assert_eq!(play.asked(), ["8 resources/unsubscribe r:2", "9 resources/unsubscribe r:3"]);
    // What still waits to be taken back when it is wanted again simply stands.
    play.answers(0, 8, "{}").answers(0, 9, "{}");
    assert_eq!((play.asked(), subscriptions(&play)), (vec![], vec![]));
}

#[test]
fn what_waits_to_be_taken_back_stands_when_it_is_wanted_again() {
    let mut options = options();
    options.limits.subscribing_at_once = 1;
    let mut play = ready(options, &["r:1", "r:2"], true);
    play.answers(0, 4, "{}").answers(0, 5, "{}").take_commands();
    assert_eq!(switch(&mut play, false), ["6 resources/unsubscribe r:1"]);
    assert_eq!(switch(&mut play, true), [""; 0]);
    assert_eq!(subscriptions(&play), ["r:2"]);
    play.answers(0, 6, "{}");
    assert_eq!(play.asked(), ["7 resources/subscribe r:1"]);
    play.answers(0, 7, "{}");
    assert_eq!((subscriptions(&play), play.asked()), (vec!["r:1".into(), "r:2".into()], vec![]));
}

/// A bound of none is a bound of one: nothing would ever be followed.
#[test]
fn a_bound_of_no_subscription_at_once_means_one() {
    let mut options = options();
    options.limits.subscribing_at_once = 0;
    let mut play = ready(options, &["r:1", "r:2"], true);
    assert_eq!(play.asked(), ["4 resources/subscribe r:1"]);
}

/// G36: exactly as many as may be followed are, without a word; of one more that is said.
#[test]
fn as_many_resources_are_followed_as_may_be() {
    for (most, told) in [(2, 0), (1, 1)] {
        let mut options = options();
        options.limits.subscriptions_per_server = most;
        let mut play = ready(options, &["r:1", "r:2"], true);
        assert_eq!(play.asked().len(), most);
        assert_eq!(play.problems().len(), told);
        // Nobody follows: nothing to say.
        switch(&mut play, false);
        assert_eq!(play.problems().len(), told);
    }
}

/// C-CANC-01: what is not answered in time is called off, is a refusal, and delays no other.
#[test]
fn a_subscription_that_is_not_answered_in_time_is_called_off() {
    let mut play = following(&["r:1"]);
    play.take_commands();
    play.sleep(1_000);
    relist(&mut play, &["r:1", "r:2"]);
    play.answers(0, 7, NO_TEMPLATES).take_commands();
    play.sleep(29_999);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(30_000);
    assert_eq!(play.asked(), ["notifications/cancelled 4"]);
    let told =
        |play: &Play| play.problems().iter().filter(|told| told.1.contains("in time")).count();
    assert_eq!(told(&play), 1);
    play.sleep(31_299);
    assert_eq!(play.asked(), [""; 0]);
    play.sleep(31_300);
    assert_eq!(play.asked(), ["notifications/cancelled 6"]);
    assert_eq!((subscriptions(&play), play.runtime.poll_timeout()), (vec![], None));
    play.answers(0, 4, "{}");
    assert_eq!(subscriptions(&play), [""; 0]);
}

/// What leaves the list is taken back, what is new is followed, what stays is left alone, and what was
/// refused is tried again with each list.
#[test]
fn what_is_followed_follows_the_list() {
    let mut play = following(&["r:1", "r:2", "r:3"]);
    play.answers(0, 4, "{}").answers(0, 5, "{}").refuses(0, 6, -1);
    relist(&mut play, &["r:2", "r:3", "r:4"]);
    assert_eq!(
        play.asked(),
        [
            "8 resources/unsubscribe r:1",
            "9 resources/subscribe r:3",
            "10 resources/subscribe r:4",
            "11 resources/templates/list"
        ]
    );
    assert_eq!(subscriptions(&play), ["r:2"]);
}

/// L8: an answer that is too long or cannot be read is the only one there will be.
#[test]
fn a_subscription_whose_answer_cannot_be_taken_is_refused() {
    let long = format!(r#"{{"jsonrpc":"2.0","id":4,"result":"{}"}}"#, "x".repeat(600));
    for (answer, why) in [
        (long.as_str(), "its answer is too long"),
        (r#"{"jsonrpc":"2.0","id":4,"error":7}"#, "error is not an object"),
        (r#"{"jsonrpc":"2.0","id":4,"error":{"code":-5,"message":"go away"}}"#, "go away"),
    ] {
        let mut options = options();
        options.limits.message_bytes = 512;
        let mut play = ready(options, &["r:1"], true);
        play.says(0, answer);
        let refused = |told: &&(Category, &str)| told.0 == Category::NotSubscribed;
        let problems = play.problems();
        let told: Vec<_> = problems.iter().filter(refused).collect();
        assert!(matches!(told[..], [(_, told)] if told.contains(why)), "{problems:?}");
        assert_eq!((subscriptions(&play), play.runtime.poll_timeout()), (vec![], None));
    }
}

/// D34, D35: nothing of it survives the connection, and the next one begins anew.
#[test]
fn subscriptions_end_with_their_connection() {
    let mut options = options();
    options.policy.reconnect = Reconnect::Off;
    let mut play = ready(options, &["r:1"], true);
    play.answers(0, 4, "{}");
    assert_eq!(subscriptions(&play), ["r:1"]);
    play.closed(0, Exit::Code(1));
    assert_eq!((subscriptions(&play), play.runtime.poll_timeout()), (vec![], None));
    assert_eq!(play.runtime.resources().servers.len(), 0);
}

/// What is followed from the start on is asked for with the list.
#[test]
fn resources_are_followed_as_soon_as_they_are_listed() {
    let mut play = Play::with(options());
    let hello = HELLO.replace(r#""tools":{}"#, r#""resources":{"subscribe":true}"#);
    play.host(Request::Watch { on: true }).start().opened(0).answers(0, 1, &hello).take_commands();
    play.answers(0, 2, &resources(&["r:1"]));
    assert_eq!(play.asked(), ["3 resources/subscribe r:1", "4 resources/templates/list"]);
}

/// A server without subscriptions is asked for none.
#[test]
fn a_server_that_cannot_be_followed_is_not() {
    let mut play = Play::with(options());
    let hello = HELLO.replace(r#""tools":{}"#, r#""resources":{}"#);
    play.host(Request::Watch { on: true }).start().opened(0).answers(0, 1, &hello);
    play.answers(0, 2, &resources(&["r:1"])).answers(0, 3, NO_TEMPLATES);
    assert_eq!(play.asked().len(), 4);
    assert_eq!((switch(&mut play, false), switch(&mut play, true)), (vec![], vec![]));
    assert!(!updated(&mut play, "r:1"));
}
