use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::bytes::Json;
use crate::error::{ConnectStep, ExchangeError, Sent};

const MODERN: Word = Word::Discover(Revision::V2026_07_28);
const LEGACY: Word = Word::Initialize(Revision::V2025_11_25);

fn error(code: i64, supported: &[&str]) -> RpcError {
    let data = (!supported.is_empty())
        .then(|| Json::new(alloc::format!("{{\"supported\":{}}}", serde_json::json!(supported))));
    RpcError { code, message: "no".into(), data }
}

fn beginning(protocol: Protocol, remembered: Option<Era>, over_http: bool) -> Decision {
    Decision::new(protocol, remembered, over_http, Revision::LATEST_LEGACY)
}

fn auto(over_http: bool) -> Decision {
    said(beginning(Protocol::Auto, None, over_http))
}

fn said(mut decision: Decision) -> Decision {
    decision.said(decision.word());
    decision
}

/// In the middle of a question without a handshake, as it comes first over HTTP.
fn asked() -> Decision {
    auto(true)
}

fn owned(revisions: &[&str]) -> Vec<String> {
    revisions.iter().map(|it| (*it).into()).collect()
}

fn status(status: u16) -> HttpFailure {
    HttpFailure::status(status, "")
}

/// C-VER-05, C-VER-06, C-VER-15.
#[test]
fn what_comes_first_depends_on_the_definition_the_memory_and_the_transport() {
    for (protocol, remembered, over_http, word) in [
        (Protocol::Auto, None, false, LEGACY),
        (Protocol::Auto, None, true, MODERN),
        (Protocol::Auto, Some(Era::Modern), false, MODERN),
        (Protocol::Auto, Some(Era::Legacy), true, LEGACY),
        (Protocol::Legacy, Some(Era::Modern), true, LEGACY),
        (Protocol::Modern, Some(Era::Legacy), false, MODERN),
    ] {
        assert_eq!(beginning(protocol, remembered, over_http).word(), word);
    }
}

/// C-VER-07, C-VER-18.
#[test]
fn a_result_names_what_is_spoken() {
    for (offered, next) in [
        (&["2026-07-28"][..], Next::Settled(Revision::V2026_07_28)),
        (&["2025-11-25", "2026-07-28", "2099-01-01"], Next::Settled(Revision::V2026_07_28)),
        (&["2024-11-05", "2025-03-26"], Next::Say(Word::Initialize(Revision::V2025_03_26))),
        (&["2099-01-01"], Next::Failed(Cause::Revision { offered: "2099-01-01".into() })),
    ] {
        assert_eq!(asked().discovered(Answer::Supported(&owned(offered))), next, "{offered:?}");
    }
}

/// C-VER-02, C-VER-08, C-VER-14, C-VER-30.
#[test]
fn an_error_of_the_modern_era_is_evidence_of_it() {
    let refusal = error(UNSUPPORTED_REVISION, &["2026-07-28"]);
    let mut decision = asked();
    assert_eq!(decision.discovered(Answer::Error(&refusal)), Next::Say(MODERN));
    decision.said(MODERN);
    let failed = Next::Failed(Cause::Refused { error: refusal.clone() });
    assert_eq!(decision.discovered(Answer::Error(&refusal)), failed, "once is enough");

    let older = error(UNSUPPORTED_REVISION, &["2025-06-18"]);
    let next = Next::Say(Word::Initialize(Revision::V2025_06_18));
    assert_eq!(asked().discovered(Answer::Error(&older)), next);

    let mut decision = asked();
    let mismatch = error(HEADER_MISMATCH, &[]);
    assert_eq!(decision.discovered(Answer::Error(&mismatch)), Next::Say(MODERN));
    decision.said(MODERN);
    let failed = Next::Failed(Cause::Refused { error: mismatch.clone() });
    assert_eq!(decision.discovered(Answer::Error(&mismatch)), failed);

    let missing = error(MISSING_CAPABILITY, &[]);
    let failed = Next::Failed(Cause::Refused { error: missing.clone() });
    assert_eq!(asked().discovered(Answer::Error(&missing)), failed);
}

/// C-VER-09, C-VER-10, C-VER-14, C-VER-29: and -32022 without revisions is one of them.
#[test]
fn any_other_answer_means_that_there_is_a_handshake() {
    for code in [-32601, -32602, -32600, -32000, -32603, 7, UNSUPPORTED_REVISION] {
        let error = error(code, &[]);
        assert_eq!(asked().discovered(Answer::Error(&error)), Next::Say(LEGACY), "{code}");
    }
    assert_eq!(asked().discovered(Answer::Other), Next::Say(LEGACY));
    assert_eq!(asked().discovered(Answer::Silence), Next::Say(LEGACY));
}

/// C-VER-13, C-VER-16, C-VER-17.
#[test]
fn what_is_no_message_means_that_there_is_a_handshake_unless_it_says_nothing() {
    for code in [400, 404, 405, 406, 415, 422, 500, 501, 502, 504] {
        assert_eq!(asked().discovered(Answer::Lost(&status(code))), Next::Say(LEGACY), "{code}");
    }
    for failure in [HttpFailure::NoAnswer, HttpFailure::ContentType { found: "text/html".into() }] {
        assert_eq!(asked().discovered(Answer::Lost(&failure)), Next::Say(LEGACY));
    }
    let fault = ExchangeFault::Connect { step: ConnectStep::Refused, message: String::new() };
    let mut nothing: Vec<HttpFailure> = [401, 403, 408, 429, 503].into_iter().map(status).collect();
    nothing.push(HttpFailure::Exchange(ExchangeError { fault, sent: Sent::Nothing }));
    nothing.push(HttpFailure::Elsewhere { status: 302, location: "/x".into() });
    for failure in nothing {
        let failed = Next::Failed(Cause::Http { failure: failure.clone() });
        assert_eq!(asked().discovered(Answer::Lost(&failure)), failed);
    }
}

/// C-VER-19: a result that comes late counts, and nothing else does.
#[test]
fn what_comes_late_counts_if_it_is_a_result() {
    let mut decision = said(beginning(Protocol::Auto, Some(Era::Modern), false));
    assert_eq!(decision.discovered(Answer::Silence), Next::Say(LEGACY));
    decision.said(LEGACY);
    assert_eq!(decision.discovered(Answer::Error(&error(-32601, &[]))), Next::Nothing);
    let supported = owned(&["2026-07-28"]);
    let next = decision.discovered(Answer::Supported(&supported));
    assert_eq!(next, Next::Settled(Revision::V2026_07_28));
}

/// C-VER-19: started once more, and then there is nothing else to try.
#[test]
fn a_process_that_ends_at_the_question_is_started_once_more_with_a_handshake() {
    let mut decision = said(beginning(Protocol::Auto, Some(Era::Modern), false));
    assert_eq!(decision.discovered(Answer::End), Next::Again(Era::Legacy));
    let mut decision = said(beginning(Protocol::Modern, None, false));
    assert_eq!(decision.discovered(Answer::End), Next::Nothing);
    assert!(!decision.has_another());
}

/// C-VER-19, C-VER-24, C-VER-25, design section 5.
#[test]
fn a_refused_handshake_leads_to_the_question_without_one() {
    for (refusal, word) in [
        (error(UNSUPPORTED_REVISION, &["2026-07-28"]), MODERN),
        (error(UNSUPPORTED_REVISION, &[]), MODERN),
        (error(METHOD_NOT_FOUND, &[]), MODERN),
        (error(INVALID_PARAMS, &[]), MODERN),
        (error(INVALID_PARAMS, &["2026-07-28"]), MODERN),
        (error(INVALID_REQUEST, &[]), MODERN),
        (error(INVALID_PARAMS, &["2025-06-18"]), Word::Initialize(Revision::V2025_06_18)),
        (
            error(INVALID_PARAMS, &["2026-07-28", "2025-06-18"]),
            Word::Initialize(Revision::V2025_06_18),
        ),
    ] {
        assert_eq!(auto(false).refused(refusal.clone()), Next::Say(word), "{refusal:?}");
    }
    for code in [-32603, -32000, -1] {
        let failed = Next::Failed(Cause::Refused { error: error(code, &[]) });
        assert_eq!(auto(false).refused(error(code, &[])), failed, "{code}");
    }
    let mut legacy = said(beginning(Protocol::Legacy, None, false));
    let failed = Next::Failed(Cause::Refused { error: error(METHOD_NOT_FOUND, &[]) });
    assert_eq!(legacy.refused(error(METHOD_NOT_FOUND, &[])), failed);
}

#[test]
fn a_server_of_neither_era_fails_with_the_words_of_both() {
    let mut decision = auto(false);
    assert_eq!(decision.refused(error(METHOD_NOT_FOUND, &[])), Next::Say(MODERN));
    decision.said(MODERN);
    let discover = error(-32000, &[]);
    let initialize = Box::new(Cause::Refused { error: error(METHOD_NOT_FOUND, &[]) });
    let said = Box::new(discover.clone());
    let both = Cause::NeitherEra { initialize: initialize.clone(), discover: said.clone() };
    assert_eq!(decision.discovered(Answer::Error(&discover)), Next::Failed(both));

    let mut decision = asked();
    assert_eq!(decision.discovered(Answer::Error(&discover)), Next::Say(LEGACY));
    decision.said(LEGACY);
    let both = Cause::NeitherEra { initialize, discover: said };
    assert_eq!(decision.refused(error(METHOD_NOT_FOUND, &[])), Next::Failed(both));
}

/// Whatever is answered, the last word is near.
#[test]
fn no_answers_keep_a_decision_going() {
    let modern = error(UNSUPPORTED_REVISION, &["2026-07-28", "2025-06-18"]);
    let older = error(INVALID_PARAMS, &["2025-06-18"]);
    let answers = [modern, older, error(HEADER_MISMATCH, &[]), error(METHOD_NOT_FOUND, &[])];
    for seed in 0..4_usize.pow(6) {
        for over_http in [false, true] {
            let mut decision = auto(over_http);
            let mut words = vec![decision.word()];
            let mut rest = seed;
            loop {
                let answer = &answers[rest % 4];
                rest /= 4;
                let next = match decision.word() {
                    Word::Discover(_) => decision.discovered(Answer::Error(answer)),
                    Word::Initialize(_) => decision.refused(answer.clone()),
                };
                let Next::Say(word) = next else { break };
                decision.said(word);
                words.push(word);
                assert!(words.len() <= 4, "{words:?}");
            }
        }
    }
}
