//! What servers ask of us, and what they are answered.
//!
//! Floor 1. May import floor 0.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{ELICITATION, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, REJECTED, SAMPLING};
use crate::bytes::Json;
use crate::error::RpcError;
use crate::inquiry::{Inquiry, Mode, Refusal, Reply, Service};
use crate::quote::Quoted;
use crate::wire::json::{self, Kind, NESTING_MAX};
use crate::wire::rpc::{self, Id};

/// Reads what a server asks.
///
/// # Errors
/// What the server is answered if it asks for what was not `declared` to it, or not as it should:
/// `-32601` for a method, `-32602` for a mode, or for tools to choose from (C-ELIC-03, C-SAMP-01).
pub fn read_inquiry(
    method: &str,
    params: Option<Json>,
    declared: impl Fn(Service) -> bool,
) -> Result<Inquiry, RpcError> {
    let known = match method {
        SAMPLING => declared(Service::Sampling),
        ELICITATION => declared(Service::ElicitationForm) || declared(Service::ElicitationUrl),
        _ => false,
    };
    if !known {
        let message = format!("Unsupported server request: {}", Quoted(method));
        return Err(RpcError { code: METHOD_NOT_FOUND, message, data: None });
    }
    let params = params.filter(|it| json::check(it.as_str(), NESTING_MAX) == Ok(Kind::Object));
    let Some(params) = params else { return Err(invalid("params is not an object")) };
    if method == SAMPLING {
        let with_tools = member(&params, "tools").or_else(|| member(&params, "toolChoice"));
        if with_tools.is_some() && !declared(Service::SamplingTools) {
            return Err(invalid("sampling with tools was not declared"));
        }
        return Ok(Inquiry::Sampling(params));
    }
    let mode = match member(&params, "mode").map(json::string) {
        None => Mode::Form,
        Some(Some(mode)) if mode == "form" => Mode::Form,
        Some(Some(mode)) if mode == "url" => Mode::Url,
        Some(_) => return Err(invalid("the mode is neither form nor url")),
    };
    let inquiry = Inquiry::Elicitation { mode, params };
    if declared(inquiry.service()) {
        Ok(inquiry)
    } else {
        Err(invalid("the mode was not declared"))
    }
}

/// The request that a server takes back: the `requestId` of `notifications/cancelled`.
#[must_use]
pub fn read_cancelled(params: &Json) -> Option<Id> {
    Id::read(member(params, "requestId")?)
}

/// The line that answers what a server asked.
#[must_use]
pub fn reply(id: &Id, service: Service, reply: &Reply) -> Vec<u8> {
    match reply {
        Reply::Done(result) if json::check(result.as_str(), NESTING_MAX) == Ok(Kind::Object) => {
            rpc::result(id, result.as_str())
        }
        Reply::Done(_) => rpc::error(id, INTERNAL_ERROR, "The answer is not a JSON object"),
        Reply::Refused(Refusal::Failed { message }) => rpc::error(id, INTERNAL_ERROR, message),
        Reply::Refused(Refusal::Declined) => match service {
            Service::ElicitationForm | Service::ElicitationUrl => {
                rpc::result(id, "{\"action\":\"decline\"}")
            }
            // C-SAMP-07.
            Service::Sampling | Service::SamplingTools | Service::SamplingContext => {
                rpc::error(id, REJECTED, "User rejected sampling request")
            }
        },
    }
}

fn invalid(message: &str) -> RpcError {
    RpcError { code: INVALID_PARAMS, message: String::from(message), data: None }
}

/// The text of a member of an object, unless it is absent or null.
fn member<'a>(object: &'a Json, name: &str) -> Option<&'a str> {
    let text = object.as_str();
    let members = json::members(text, NESTING_MAX).into_iter().flatten().filter_map(Result::ok);
    let value = { members }.find(|member| member.key == name)?.value;
    text.get(value).filter(|value| *value != "null")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inquiry::Services;

    const ALL: [Service; 4] = [
        Service::SamplingTools,
        Service::SamplingContext,
        Service::ElicitationForm,
        Service::ElicitationUrl,
    ];

    fn asked(method: &str, params: &str, services: &[Service]) -> Result<Inquiry, i64> {
        let services: Services = services.iter().copied().collect();
        read_inquiry(method, Some(Json::new(params)), |it| services.has(it)).map_err(|it| it.code)
    }

    /// C-RPC-18, C-ELIC-02, C-ELIC-03, C-SAMP-01, G49.
    #[test]
    fn only_what_was_declared_can_be_asked() {
        let form =
            |params| Ok(Inquiry::Elicitation { mode: Mode::Form, params: Json::new(params) });
        assert_eq!(asked(ELICITATION, r#"{"message":"m"}"#, &ALL), form(r#"{"message":"m"}"#));
        assert_eq!(asked(ELICITATION, r#"{"mode":"form"}"#, &ALL), form(r#"{"mode":"form"}"#));
        let url = Inquiry::Elicitation { mode: Mode::Url, params: Json::new(r#"{"mode":"url"}"#) };
        assert_eq!(asked(ELICITATION, r#"{"mode":"url"}"#, &ALL), Ok(url));
        let sampling = Ok(Inquiry::Sampling(Json::new(r#"{"tools":null}"#)));
        assert_eq!(asked(SAMPLING, r#"{"tools":null}"#, &[Service::Sampling]), sampling);
        for (method, params, services, code) in [
            (ELICITATION, "{}", &[Service::Sampling][..], METHOD_NOT_FOUND),
            (SAMPLING, "{}", &[Service::ElicitationForm], METHOD_NOT_FOUND),
            ("tasks/get", "{}", &ALL, METHOD_NOT_FOUND),
            (ELICITATION, r#"{"mode":"url"}"#, &[Service::ElicitationForm], INVALID_PARAMS),
            (ELICITATION, "{}", &[Service::ElicitationUrl], INVALID_PARAMS),
            (ELICITATION, r#"{"mode":"voice"}"#, &ALL, INVALID_PARAMS),
            (ELICITATION, r#"{"mode":7}"#, &ALL, INVALID_PARAMS),
            (ELICITATION, "[]", &ALL, INVALID_PARAMS),
            (SAMPLING, r#"{"tools":[]}"#, &[Service::Sampling], INVALID_PARAMS),
            (SAMPLING, r#"{"toolChoice":{}}"#, &[Service::Sampling], INVALID_PARAMS),
        ] {
            assert_eq!(asked(method, params, services), Err(code), "{method} {params}");
        }
        let nothing = read_inquiry(SAMPLING, None, |_| true);
        assert_eq!(nothing.map_err(|error| error.code), Err(INVALID_PARAMS));
    }

    /// C-SAMP-07, C-ELIC-05.
    #[test]
    fn each_answer_is_one_line_of_the_form_that_its_question_has() {
        let line = |service, answer: Reply| {
            String::from_utf8(reply(&Id::Number(7), service, &answer)).unwrap()
        };
        let done = Reply::Done(Json::new("{\"action\":\n\"accept\"}"));
        let wanted = "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"action\": \"accept\"}}\n";
        assert_eq!(line(Service::ElicitationForm, done), wanted);
        let declined = || Reply::Refused(Refusal::Declined);
        assert!(line(Service::ElicitationUrl, declined()).contains(r#"{"action":"decline"}"#));
        assert!(line(Service::Sampling, declined()).contains(r#""code":-1,"#));
        let failed = Reply::Refused(Refusal::Failed { message: "no \"model\"".into() });
        assert!(
            line(Service::Sampling, failed).contains(r#""code":-32603,"message":"no \"model\"""#)
        );
        for wrong in ["[]", "", "{", "{}{}"] {
            let line = line(Service::Sampling, Reply::Done(Json::new(wrong)));
            assert!(line.contains("-32603") && line.lines().count() == 1, "{line}");
        }
    }

    #[test]
    fn what_is_taken_back_is_named_by_its_id() {
        let of = |params| read_cancelled(&Json::new(params));
        assert_eq!(of(r#"{"requestId":7,"reason":"x"}"#), Some(Id::Number(7)));
        assert_eq!(of(r#"{"requestId":"a"}"#), Some(Id::Text("a".into())));
        assert_eq!(of(r#"{"requestId":null}"#), None);
        assert_eq!(of("[]"), None);
    }
}
