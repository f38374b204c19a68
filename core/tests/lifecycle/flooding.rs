//! Remote servers that ask more than they listen, or are busy for ever.

use tidegate_core::event::ServerState;

use crate::play::Play;
use crate::web::{EVENTS, JSON, event};

/// One that answers a call by a stream, which is `x4`.
fn calling() -> Play {
    let mut play = Play::web();
    play.greet(0).call(1, "a", "echo").head(4, 200, EVENTS).take_commands();
    play
}

fn ping(play: &mut Play, exchange: u64, times: usize) -> Vec<String> {
    let ping = event(r#"{"id":7,"method":"ping"}"#);
    play.body(exchange, &ping.repeat(times)).ordered()
}

/// L10: what is asked beyond gets no answer, until those before were taken.
#[test]
fn a_server_that_asks_faster_than_it_takes_answers_gets_so_many_at_once() {
    let mut play = calling();
    let answers = ping(&mut play, 4, 1_000);
    assert_eq!(answers.len(), 64);
    assert_eq!(answers.last().unwrap(), "x68 POST answer");
    assert!(ping(&mut play, 4, 1).is_empty());
    play.head(5, 202, JSON).end(5);
    assert_eq!(ping(&mut play, 4, 2), ["x69 POST answer"]);
}

/// L10: the same before it is known where answers go to.
#[test]
fn what_is_asked_before_the_endpoint_is_known_is_bounded() {
    let mut play = Play::remote("sse");
    play.head(0, 200, EVENTS).take_commands();
    assert!(ping(&mut play, 0, 1_000).is_empty());
    let answers = play.body(0, "event: endpoint\ndata: /m\n\n").ordered();
    assert_eq!(answers.len(), 1 + 64, "{answers:?}");
}

/// G45: nobody waits for what comes by the stream that an answer is answered with.
#[test]
fn streams_that_answers_are_answered_with_are_closed_as_others_are() {
    let mut play = calling();
    ping(&mut play, 4, 10);
    for exchange in 5..15 {
        play.head(exchange, 200, EVENTS);
    }
    assert_eq!(play.ordered(), ["abort x5", "abort x6"]);
}

/// L10: a byte now and then is no reason to wait longer, where nothing is waited for.
#[test]
fn what_an_answer_is_answered_with_has_its_time() {
    let mut play = calling();
    ping(&mut play, 4, 1);
    play.head(5, 200, JSON);
    for at in [10_000, 20_000, 29_999] {
        play.sleep(at);
        play.body(5, " ");
        assert!(play.ordered().is_empty(), "{at}");
    }
    play.sleep(30_000);
    assert_eq!(play.ordered(), ["abort x5"]);
}

/// C-VER-16: it is told what the server said, not that the time was over.
#[test]
fn a_server_that_is_busy_for_longer_than_it_has_fails_for_that_reason() {
    for (status, wait, asked_at) in [
        (429, "", &[0, 1_000, 3_000, 7_000, 15_000][..]),
        (503, "Wed, 21 Oct 2015 07:28:00 GMT", &[0, 1_000, 3_000, 7_000, 15_000]),
        (503, "9", &[0, 9_000, 18_000, 27_000]),
        (429, "31", &[0]),
    ] {
        let mut play = Play::web();
        for (exchange, at) in (0..).zip(asked_at) {
            assert_eq!(play.state("a"), ServerState::Connecting, "{status} {wait} {at}");
            play.sleep(*at);
            play.head_on(0, exchange, status, &[("retry-after", wait)], false).end(exchange);
        }
        let state = format!("{:?}", play.state("a"));
        assert!(state.contains(&format!("Status {{ status: {status}")), "{wait}: {state}");
    }
}
