//! What a server has to be told before it answers, where there is no handshake.
//!
//! Floor 1. May import floor 0.

use alloc::string::String;
use alloc::vec::Vec;

use super::Shape;
use crate::bytes::Json;
use crate::wire::json::{self, JsonError, Kind, NESTING_MAX, Scanner};

/// What a server wants.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wanted {
    /// What it asks, in its own order; nothing if it only wants to be asked again later.
    pub wishes: Vec<Wish>,
    /// What it wants to be reminded of: a JSON string, byte for byte as it wrote it.
    pub state: Option<Json>,
}

/// One thing that it asks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wish {
    /// What it calls it.
    pub key: String,
    /// The method.
    pub method: String,
    /// The parameters.
    pub params: Option<Json>,
}

/// Reads a result whose type is `input_required` (C-MRTR-01).
///
/// # Errors
/// If it says neither what is wanted nor what to be reminded of, or not as it should.
pub fn read_input_required(result: &str) -> Result<Wanted, Shape> {
    let mut scanner = Scanner::new(result, NESTING_MAX);
    let kind = scanner.kind()?;
    let Some(mut object) = scanner.object()? else {
        return Err(Shape::wrong("the result", kind, Kind::Object));
    };
    let (mut requests, mut state) = (None, None);
    while let Some(key) = scanner.key(&mut object)? {
        match &*key {
            "inputRequests" => requests = Some(value(&mut scanner)?),
            "requestState" => state = Some(value(&mut scanner)?),
            _ => {
                scanner.skip()?;
            }
        }
    }
    let [requests, state] =
        [requests, state].map(|found| found.filter(|(kind, _)| *kind != Kind::Null));
    let state = match state {
        Some((Kind::String, text)) => Some(Json::new(text)),
        Some((kind, _)) => return Err(Shape::wrong("requestState", kind, Kind::String)),
        None => None,
    };
    let wishes = match requests {
        Some((Kind::Object, text)) => read_wishes(text)?,
        Some((kind, _)) => return Err(Shape::wrong("inputRequests", kind, Kind::Object)),
        None => Vec::new(),
    };
    if wishes.is_empty() && state.is_none() {
        return Err(Shape::missing("inputRequests"));
    }
    Ok(Wanted { wishes, state })
}

/// The value that comes next, and what it is.
fn value<'a>(scanner: &mut Scanner<'a>) -> Result<(Kind, &'a str), JsonError> {
    let kind = scanner.kind()?;
    let range = scanner.skip()?;
    Ok((kind, scanner.slice(range)))
}

fn read_wishes(requests: &str) -> Result<Vec<Wish>, Shape> {
    let mut wishes: Vec<Wish> = Vec::new();
    for member in json::members(requests, NESTING_MAX)? {
        let member = member?;
        let key = member.key.into_owned();
        let request = requests.get(member.value).unwrap_or_default();
        let (mut method, mut params) = (None, None);
        for member in json::members(request, NESTING_MAX).into_iter().flatten() {
            let member = member?;
            let text = request.get(member.value).unwrap_or_default();
            match &*member.key {
                "method" => method = json::string(text).map(String::from),
                "params" => params = Some(Json::new(text)),
                _ => {}
            }
        }
        let name = || alloc::format!("inputRequests.{key}");
        let method = method.ok_or_else(|| Shape::missing(&alloc::format!("{}.method", name())))?;
        if wishes.iter().any(|other| other.key == key) {
            return Err(Shape { message: alloc::format!("{} stands there twice", name()) });
        }
        wishes.push(Wish { key, method, params });
    }
    Ok(wishes)
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    /// C-MRTR-01, C-MRTR-04, C-MRTR-14.
    #[test]
    fn what_is_wanted_is_read_in_order_and_the_state_as_it_stands() {
        let result = r#"{"resultType":"input_required","inputRequests":{
            "z":{"method":"roots/list"},"a":{"params":{"x":1},"method":"elicitation/create"}},
            "requestState":"\u0041\/"}"#;
        let Wanted { wishes, state } = read_input_required(result).unwrap();
        let read: Vec<_> = wishes.iter().map(|wish| (&*wish.key, &*wish.method)).collect();
        assert_eq!(read, [("z", "roots/list"), ("a", "elicitation/create")]);
        assert_eq!((&wishes[0].params, &wishes[1].params), (&None, &Some(Json::new(r#"{"x":1}"#))));
        assert_eq!(state, Some(Json::new(r#""\u0041\/""#)));
        let only_state = read_input_required(r#"{"requestState":"","inputRequests":null}"#);
        assert_eq!(only_state.unwrap().state, Some(Json::new("\"\"")));
    }

    /// C-MRTR-01.
    #[test]
    fn what_says_nothing_of_it_is_refused_by_name() {
        for (result, wanted) in [
            ("[]", "the result is an array, not an object"),
            ("{}", "inputRequests is missing"),
            (r#"{"inputRequests":{}}"#, "inputRequests is missing"),
            (r#"{"inputRequests":[]}"#, "inputRequests is an array, not an object"),
            (r#"{"requestState":7}"#, "requestState is a number, not a string"),
            (r#"{"inputRequests":{"a":7}}"#, "inputRequests.a.method is missing"),
            (r#"{"inputRequests":{"a":{"method":7}}}"#, "inputRequests.a.method is missing"),
            (
                r#"{"inputRequests":{"a":{"method":"m"},"a":{"method":"m"}}}"#,
                "inputRequests.a stands there twice",
            ),
        ] {
            assert_eq!(read_input_required(result).unwrap_err().to_string(), wanted, "{result}");
        }
    }
}
