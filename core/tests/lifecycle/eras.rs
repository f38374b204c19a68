//! Which era a server speaks: protocol.md 1.1 to 1.4, row by row.

use tidegate_core::error::{Cause, ExchangeError, ExchangeFault, Exit, Failure, Sent, Stage};
use tidegate_core::event::ServerState;

use crate::play::{ECHO, HELLO, Play, one};
use crate::web::{EVENTS, JSON, event, refused};

/// What a modern server says of itself.
pub(crate) const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#;

/// A remote server of which nothing is known, asked `x0 server/discover`, request 1.
fn asked() -> Play {
    let mut play = Play::web_with(r#""protocol":"auto""#);
    assert_eq!(play.ordered(), ["x0 POST server/discover"]);
    play
}

fn error(id: &str, code: i64, data: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no","data":{data}}}}}"#
    )
}

const SUPPORTED: &str = r#"{"supported":["2026-07-28"],"requested":"x"}"#;

fn failure(play: &Play) -> Failure {
    match play.state("a") {
        ServerState::Failed { failure } => failure,
        other => panic!("{other:?}"),
    }
}

/// C-VER-07, C-VER-12, C-VER-15, C-META-01, C-META-02, C-MHTTP-02 to C-MHTTP-06.
#[test]
fn a_modern_remote_server_needs_no_handshake() {
    let mut play = Play::web_with(r#""protocol":"auto""#);
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x0 POST server/discover");
    assert_eq!(orders[0].header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(orders[0].header("mcp-method"), Some("server/discover"));
    let meta = orders[0].meta();
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "tidegate");
    play.result_on(0, 0, 1, DISCOVERED, true);
    let orders = play.orders();
    assert_eq!(orders.iter().map(|it| it.short()).collect::<Vec<_>>(), ["x1 POST tools/list"]);
    assert_eq!(orders[0].header("mcp-method"), Some("tools/list"));
    assert_eq!(orders[0].header("mcp-name"), None);
    play.result(1, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
    assert_eq!(play.runtime.status().servers[0].revision.as_deref(), Some("2026-07-28"));
    play.call(1, "a", "echo");
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x2 POST tools/call", "and no stream of its own before it");
    assert_eq!(orders[0].header("mcp-name"), Some("echo"));
    assert_eq!(orders[0].meta()["progressToken"], 3);
}

/// 1.2, rows 1 to 4; C-VER-02, C-VER-08, C-VER-13, C-VER-30.
#[test]
fn a_modern_error_is_answered_by_one_more_try_whatever_its_status() {
    for status in [200, 400, 404] {
        let mut play = asked();
        play.whole(0, status, &error("1", -32022, SUPPORTED));
        assert_eq!(play.ordered(), ["x1 POST server/discover"], "{status}");
        play.result(1, 2, DISCOVERED);
        assert_eq!(play.ordered(), ["x2 POST tools/list"], "{status}");
    }
    let mut play = asked();
    play.whole(0, 400, &error("1", -32020, "null"));
    assert_eq!(play.ordered(), ["x1 POST server/discover"]);
    let mut play = asked();
    let needs = r#"{"requiredCapabilities":{"sampling":{}}}"#;
    play.whole(0, 400, &error("1", -32021, needs));
    assert_eq!(failure(&play).stage, Stage::Discover);
    let described = failure(&play).describe(&"a".into());
    assert!(described.contains("needs a host with sampling"), "{described}");
}

/// 1.2, rows 3, 5, 6 and 7, and 1.4; C-VER-10, C-VER-13, C-VER-14, C-VER-29.
#[test]
fn whatever_else_is_answered_leads_to_a_handshake() {
    let no_session = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}"#;
    for (status, content, body) in [
        (200, JSON, error("1", -32601, "null")),
        (200, JSON, error("1", -32602, "\"\"")),
        (200, JSON, error("1", -32022, "null")),
        (200, JSON, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into()),
        (200, EVENTS, event(&error("1", -32601, "null"))),
        (200, "text/html", "<html>".into()),
        (202, "", String::new()),
        (400, JSON, String::new()),
        (400, "text/plain", "what?".into()),
        (400, JSON, no_session.into()),
        (400, JSON, error("1", -32600, "null")),
        (404, "text/html", "<html>".into()),
        (404, JSON, error("1", -32601, "null")),
        (405, "", String::new()),
        (406, "", String::new()),
        (415, "", String::new()),
        (501, "", String::new()),
    ] {
        let mut play = asked();
        play.head(0, status, content).body(0, &body).end(0);
        let orders: Vec<_> = play.orders().into_iter().filter(|it| it.request.is_some()).collect();
        assert_eq!(orders[0].short(), "x1 POST initialize", "{status} {body}");
        assert_eq!(orders[0].header("mcp-protocol-version"), None);
        assert_eq!(orders[0].header("mcp-method"), None);
        play.result(1, 2, HELLO);
        assert_eq!(play.ordered()[0], "x2 POST notifications/initialized", "{status} {body}");
    }
}

/// 1.2, rows 8 and 9; C-VER-16.
#[test]
fn who_is_not_allowed_or_cannot_be_reached_says_nothing_of_its_era() {
    for status in [401, 403] {
        let mut play = asked();
        play.whole(0, status, &error("1", -32601, "null"));
        assert_eq!((play.ordered(), failure(&play).stage), (vec![], Stage::Discover), "{status}");
    }
    let mut play = asked();
    play.end_on(0, 0, refused());
    assert_eq!((play.ordered(), failure(&play).stage), (vec![], Stage::Discover));
    for status in [408, 429, 500, 502, 503, 504] {
        let mut play = asked();
        play.head(0, status, JSON);
        assert_eq!(play.ordered(), ["abort x0"], "{status}");
        play.sleep(1_000);
        assert_eq!(play.ordered(), ["x1 POST server/discover"], "{status}");
        play.result(1, 1, DISCOVERED);
        assert_eq!(play.ordered(), ["x2 POST tools/list"], "{status}");
    }
}

/// C-VER-17: three transports, one after the other.
#[test]
fn an_old_server_is_found_behind_both_others() {
    let mut play = asked();
    play.head(0, 404, "text/html").body(0, "<html>").end(0);
    assert_eq!(play.ordered(), ["x1 POST initialize"]);
    play.head(1, 404, "text/html").body(1, "<html>").end(1);
    assert_eq!(play.ordered(), ["x2 GET"]);
    play.head(2, 200, EVENTS).body(2, "event: endpoint\ndata: /m\n\n");
    assert_eq!(play.ordered(), ["x3 POST /m initialize"]);
}

/// C-VER-13: some servers hang up after their refusal and do not say so, which is found out by
/// what is asked next.
#[test]
fn a_server_that_hangs_up_after_its_refusal_is_asked_for_a_handshake_once_more() {
    let cut = || Err(ExchangeError { fault: ExchangeFault::CutHead, sent: Sent::Perhaps });
    let mut play = asked();
    play.head(0, 404, "text/html").end(0).end_on(0, 1, cut());
    assert_eq!(play.ordered(), ["x1 POST initialize", "x2 POST initialize"]);
    play.result(2, 2, HELLO);
    assert_eq!(play.ordered(), ["x3 POST notifications/initialized", "x4 GET"]);
    let mut play = asked();
    play.head(0, 404, "text/html").end(0).end_on(0, 1, cut()).take_commands();
    play.end_on(0, 2, cut());
    assert!(play.ordered().is_empty());
    assert_eq!(failure(&play).stage, Stage::Initialize);
}

/// C-VER-18.
#[test]
fn a_server_that_offers_older_revisions_is_greeted_in_the_newest_of_them() {
    let older = DISCOVERED.replace("2026-07-28", "2025-03-26");
    let mut play = asked();
    play.result(0, 1, &older);
    let orders = play.orders();
    assert_eq!(orders[0].short(), "x1 POST initialize");
    assert_eq!(orders[0].params()["protocolVersion"], "2025-03-26");
    let mut play = asked();
    play.result(0, 1, &DISCOVERED.replace("2026-07-28", "2099-01-01"));
    assert_eq!(failure(&play).cause, Cause::Revision { offered: "2099-01-01".into() });
}

/// C-VER-20: a status always comes, and if not, it was the wrong question.
#[test]
fn a_remote_server_that_is_silent_is_asked_for_a_handshake() {
    let mut play = asked();
    play.sleep(10_000);
    assert_eq!(play.ordered(), ["abort x0", "x1 POST initialize"]);
    let mut play = asked();
    play.head(0, 200, EVENTS).sleep(10_000);
    assert_eq!(play.ordered(), ["abort x0", "x1 POST initialize"]);
}

/// C-VER-20: a server with little time to start is asked the other question in time as well.
#[test]
fn half_of_the_time_to_start_is_left_for_the_other_question() {
    let mut play = Play::web_with(r#""protocol":"auto","timeout":4000"#);
    play.take_commands();
    play.sleep(1_999);
    assert_eq!(play.ordered(), Vec::<String>::new());
    play.sleep(2_000);
    assert_eq!(play.ordered(), ["abort x0", "x1 POST initialize"]);
}

/// 1.3, 1.4: a server of both eras is spoken to in the newer one, unless its definition says
/// otherwise.
#[test]
fn a_server_of_both_eras_is_spoken_to_in_the_one_that_is_wanted() {
    let both = r#"["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]"#;
    let mut play = asked();
    play.result(0, 1, &DISCOVERED.replace(r#"["2026-07-28"]"#, both));
    assert_eq!(play.ordered(), ["x1 POST tools/list"]);
    let mut play = Play::web_with(r#""protocol":"legacy""#);
    assert_eq!(play.ordered(), ["x0 POST initialize"]);
}

/// Design section 5, C-VER-24, C-VER-25, 1.3.
#[test]
fn a_process_is_greeted_first_and_asked_without_a_handshake_if_it_refuses() {
    for (code, data) in [(-32022, SUPPORTED), (-32601, "null"), (-32602, "null"), (-32600, "null")]
    {
        let mut play = one();
        play.start().opened(0);
        assert_eq!(play.asked(), ["1 initialize"]);
        play.says(0, &error("1", code, data));
        assert_eq!(play.asked(), ["2 server/discover"], "{code}");
        play.answers(0, 2, DISCOVERED);
        assert_eq!(play.asked(), ["3 tools/list"], "{code}");
        play.answers(0, 3, ECHO);
        assert_eq!(play.state("a"), ServerState::Connected, "{code}");
    }
}

/// C-VER-25: what it says to the handshake may be the only diagnostic.
#[test]
fn a_process_of_neither_era_fails_with_its_words_about_the_handshake() {
    let mut play = one();
    play.start().opened(0).refuses(0, 1, -32601).refuses(0, 2, -32601);
    assert!(matches!(failure(&play).cause, Cause::Refused { .. }));
    assert_eq!(failure(&play).stage, Stage::Discover);
    let mut play = one();
    play.start().opened(0).refuses(0, 1, -32601).refuses(0, 2, -32000);
    let described = failure(&play).describe(&"a".into());
    assert!(described.contains("refused initialize"), "{described}");
    assert!(described.ends_with("to server/discover it answers: MCP error -32000: no"));
}

fn with(protocol: &str) -> Play {
    Play::new(&format!(r#"{{"mcpServers":{{"a":{{"command":"a","protocol":"{protocol}"}}}}}}"#))
}

/// 1.3: modern and legacy, legacy and modern; C-VER-11.
#[test]
fn who_may_speak_one_era_only_fails_where_there_is_the_other() {
    let mut play = with("modern");
    play.start().opened(0);
    assert_eq!(play.asked(), ["1 server/discover"]);
    play.refuses(0, 1, -32601);
    assert_eq!((play.asked(), failure(&play).stage), (vec![], Stage::Discover));

    let mut play = with("legacy");
    play.start().opened(0);
    assert_eq!(play.asked(), ["1 initialize"]);
    play.says(0, &error("1", -32022, SUPPORTED));
    assert_eq!((play.asked(), failure(&play).stage), (vec![], Stage::Initialize));

    let mut play = with("modern");
    play.start().opened(0).closed(0, Exit::Code(1));
    assert_eq!(failure(&play).cause, Cause::Exited { exit: Exit::Code(1) });
}

/// C-VER-05: an era that was seen is tried first, until it is not the right one any more.
#[test]
fn what_a_server_was_last_is_tried_first() {
    let mut play = one();
    play.start().opened(0).refuses(0, 1, -32601).answers(0, 2, DISCOVERED).answers(0, 3, ECHO);
    play.closed(0, Exit::Code(1)).sleep(2_000).take_commands();
    play.opened(1);
    assert_eq!(play.asked(), ["1 server/discover"], "once more, without a handshake");
    play.refuses(1, 1, -32601);
    assert_eq!(play.asked(), ["2 initialize"], "it is another one now");
    play.answers(1, 2, HELLO).answers(1, 3, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
}

/// C-VER-19, C-VER-20.
#[test]
fn silence_leads_to_a_handshake_and_a_late_result_counts() {
    let remembered = |play: &mut Play| {
        play.start().opened(0).refuses(0, 1, -32601).answers(0, 2, DISCOVERED);
        play.answers(0, 3, ECHO).closed(0, Exit::Code(1)).sleep(2_000).take_commands();
        play.opened(1);
        assert_eq!(play.asked(), ["1 server/discover"]);
        play.sleep(12_000);
        assert_eq!(play.asked(), ["2 initialize"]);
    };
    let mut play = one();
    remembered(&mut play);
    play.answers(1, 1, DISCOVERED);
    assert_eq!(play.asked(), ["3 tools/list"]);
    play.says(1, &error("2", -32022, SUPPORTED)).answers(1, 3, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
    let mut play = one();
    remembered(&mut play);
    play.refuses(1, 1, -32601).answers(1, 2, HELLO);
    assert_eq!(play.asked(), ["notifications/initialized", "3 tools/list"]);
}

/// C-VER-19: without a loss being counted and without a pause.
#[test]
fn a_process_that_ends_at_the_question_is_started_once_more_at_once() {
    let mut play = one();
    play.start().opened(0).refuses(0, 1, -32601).answers(0, 2, DISCOVERED).answers(0, 3, ECHO);
    play.closed(0, Exit::Code(1)).sleep(2_000).opened(1).take_commands();
    play.closed(1, Exit::Code(2));
    assert_eq!(play.state("a"), ServerState::Connecting);
    play.opened(2);
    assert_eq!(play.asked(), ["1 initialize"]);
    play.answers(2, 1, HELLO).answers(2, 2, ECHO);
    assert_eq!(play.state("a"), ServerState::Connected);
}
