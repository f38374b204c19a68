//! What every request and every result of the era without a handshake says of itself.
//!
//! Floor 1. May import floor 0.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::RpcError;
use crate::wire::dialect::Revision;
use crate::wire::json::{self, NESTING_MAX};
use crate::wire::rpc;

/// The keys of `_meta` that belong to the protocol begin with this.
const OWN: &str = "io.modelcontextprotocol/";

/// What stands in the `_meta` of every request of a conversation. The default is nothing, as it
/// is where there was a handshake.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Meta(Option<Arc<str>>);

impl Meta {
    /// The revision, what we can do and who we are (C-META-01, C-META-02, C-META-04).
    /// `capabilities` is an object; `log_level` is what the server may log for a request
    /// (C-LOG-03).
    #[must_use]
    pub fn modern(
        revision: Revision,
        capabilities: &str,
        (client_name, client_version): (&str, &str),
        log_level: Option<&str>,
    ) -> Self {
        let mut text = format!(
            "\"{OWN}protocolVersion\":\"{revision}\",\"{OWN}clientCapabilities\":{capabilities},\
             \"{OWN}clientInfo\":{{\"name\":"
        );
        json::push_quoted(&mut text, client_name);
        text.push_str(",\"version\":");
        json::push_quoted(&mut text, client_version);
        text.push('}');
        if let Some(level) = log_level {
            text.push_str(&format!(",\"{OWN}logLevel\":"));
            json::push_quoted(&mut text, level);
        }
        Self(Some(text.into()))
    }

    /// The members, without the braces around them; empty if there are none.
    #[must_use]
    pub fn members(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// `params`, which is an object without `_meta`, with it.
    #[must_use]
    pub fn add_to(&self, params: &str) -> String {
        let members = self.members();
        let Some(open) = params.trim_end().strip_suffix('}').filter(|_| !members.is_empty()) else {
            return params.into();
        };
        let comma = if open.trim_end().ends_with('{') { "" } else { "," };
        [open, comma, "\"_meta\":{", members, "}}"].concat()
    }
}

/// The line of a request. `params` is an object without `_meta`.
#[must_use]
pub fn request(id: u64, method: &str, params: &str, meta: &Meta) -> Vec<u8> {
    if meta.members().is_empty() {
        return rpc::request(id, method, params);
    }
    rpc::request(id, method, &meta.add_to(params))
}

/// What kind of result it is (C-RPC-14).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum ResultType {
    /// All there is, or not said.
    Complete,
    /// The server has to be told something first.
    InputRequired,
    /// Something nobody agreed on (C-RPC-15).
    Unknown(String),
}

impl ResultType {
    /// What a result says it is. Whoever writes it first or last is heard without a look at the
    /// rest, which may be long.
    #[must_use]
    pub fn of(result: &str) -> Self {
        const COMPLETE: &str = "\"resultType\":\"complete\"";
        let inside = result.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if inside.is_some_and(|inside| inside.starts_with(COMPLETE)) {
            return Self::Complete;
        }
        let member = json::members(result, NESTING_MAX)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .find(|member| member.key == "resultType");
        let Some(value) = member.and_then(|member| result.get(member.value)) else {
            return Self::Complete;
        };
        match json::string(value).as_deref() {
            Some("complete") => Self::Complete,
            Some("input_required") => Self::InputRequired,
            Some(other) => Self::Unknown(other.into()),
            None => Self::Unknown(value.into()),
        }
    }
}

/// The capabilities that a server says it needs of its client, each with what it needs in it
/// (`sampling.tools`); empty if it does not say.
#[must_use]
pub fn required_capabilities(error: &RpcError) -> Vec<String> {
    let data = error.data.as_ref().map_or("", |data| data.as_str());
    let mut required = Vec::new();
    for (key, value) in objects(data) {
        if key == "requiredCapabilities" {
            for (capability, within) in objects(value) {
                let parts: Vec<String> =
                    objects(within).map(|(part, _)| format!("{capability}.{part}")).collect();
                if parts.is_empty() {
                    required.push(capability);
                } else {
                    required.extend(parts);
                }
            }
        }
    }
    required
}

/// The members of an object, each with the text of its value.
fn objects(text: &str) -> impl Iterator<Item = (String, &str)> {
    let members = json::members(text, NESTING_MAX).into_iter().flatten().filter_map(Result::ok);
    members.filter_map(|member| Some((member.key.into_owned(), text.get(member.value)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Json;
    use crate::wire::json::Kind;

    fn meta() -> Meta {
        Meta::modern(Revision::V2026_07_28, "{\"roots\":{}}", ("tide\"gate", "1"), Some("info"))
    }

    /// C-META-01, C-META-02, C-LOG-03.
    #[test]
    fn a_request_says_its_revision_what_we_can_do_and_who_we_are() {
        let wanted = "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
             \"io.modelcontextprotocol/clientCapabilities\":{\"roots\":{}},\
             \"io.modelcontextprotocol/clientInfo\":{\"name\":\"tide\\\"gate\",\"version\":\"1\"},\
             \"io.modelcontextprotocol/logLevel\":\"info\"}";
        assert_eq!(meta().add_to("{}"), format!("{{{wanted}}}"));
        assert_eq!(meta().add_to("{\"cursor\":\"\"}"), format!("{{\"cursor\":\"\",{wanted}}}"));
        let line = request(7, "tools/list", "{}", &meta());
        let text = str::from_utf8(&line).unwrap();
        assert_eq!(json::check(text.trim_end(), NESTING_MAX), Ok(Kind::Object));
    }

    #[test]
    fn where_there_was_a_handshake_nothing_is_added() {
        assert_eq!(Meta::default().add_to("{\"a\":1}"), "{\"a\":1}");
        let plain = request(7, "tools/list", "{}", &Meta::default());
        assert_eq!(plain, rpc::request(7, "tools/list", "{}"));
    }

    /// C-RPC-14, C-RPC-15.
    #[test]
    fn a_result_says_what_it_is_wherever_that_stands() {
        for (result, wanted) in [
            ("{}", ResultType::Complete),
            ("[]", ResultType::Complete),
            (r#"{"resultType":"complete","content":[]}"#, ResultType::Complete),
            (r#"{"content":[],"resultType":"complete"}"#, ResultType::Complete),
            (r#"{ "content":[], "resultType" : "complete" , "a":1}"#, ResultType::Complete),
            (r#"{"resultType":"input_required"}"#, ResultType::InputRequired),
            (r#"{"content":[{"resultType":"task"}]}"#, ResultType::Complete),
            (r#"{"resultType":"task"}"#, ResultType::Unknown("task".into())),
            (r#"{"resultType":"Complete"}"#, ResultType::Unknown("Complete".into())),
            (r#"{"resultType":null}"#, ResultType::Unknown("null".into())),
        ] {
            assert_eq!(ResultType::of(result), wanted, "{result}");
        }
    }

    #[test]
    fn what_a_server_needs_of_its_client_is_named() {
        let of = |data: Option<&str>| {
            let data = data.map(Json::new);
            required_capabilities(&RpcError { code: -32021, message: String::new(), data })
        };
        let data = r#"{"requiredCapabilities":{"roots":{},"sampling":{"tools":{},"context":{}}}}"#;
        assert_eq!(of(Some(data)), ["roots", "sampling.tools", "sampling.context"]);
        for data in [None, Some("7"), Some("{}"), Some(r#"{"requiredCapabilities":["a"]}"#)] {
            assert_eq!(of(data), Vec::<String>::new(), "{data:?}");
        }
    }
}
