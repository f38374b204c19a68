//! What an entry says about signing in.
//!
//! Floor 2. May import floors 0 and 1. A value may be a secret: none is ever quoted.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::definition::{Auth, OauthClient, Transport};
use super::entry::Found;
use super::field::Fields;
use super::format::dialect::Field;
use super::syntax::{Member, Value, last};
use crate::error::Category;

/// Reads every field about it; a token that is sent in a header becomes that header.
pub(super) fn read(
    found: &Found<'_, '_>,
    transport: &mut Result<Transport, String>,
    fields: &mut Fields<'_, '_>,
) -> Option<Auth> {
    let mut said = Said::default();
    for (name, field) in found.dialect.names() {
        let Some(member) = last(found.members, name) else { continue };
        match field {
            Field::Auth | Field::Oauth => block(member, field, &mut said, fields),
            Field::ClientId => said.client().client_id = fields.text(member),
            Field::ClientSecret => said.client().client_secret = fields.text(member),
            Field::CallbackPort => said.client().callback_port = fields.port(member),
            Field::Scopes => said.client().scopes = scopes(member, fields),
            Field::BearerEnv => {
                said.other = fields.text(member).map(|var| Auth::BearerEnv { var }).or(said.other);
            }
            Field::Bearer => bearer(member, transport, fields),
            Field::RefusedToken => {
                let message = format!(
                    "\"{name}\" is not read: a token does not belong into the file; name a \
                     variable in \"bearer_token_env_var\""
                );
                fields.warning(member.line, name, Category::InvalidField, message);
            }
            Field::HeadersCommand => {
                let message = format!(
                    "\"{name}\" is a program that prints headers; it is not run, and its headers \
                     are not sent"
                );
                fields.warning(member.line, name, Category::NeedsCommand, message);
            }
            Field::Kind
            | Field::Url
            | Field::Command
            | Field::Args
            | Field::Env
            | Field::EnvFile
            | Field::EnvInherit
            | Field::Cwd
            | Field::Headers
            | Field::HeadersEnv
            | Field::Enabled
            | Field::Disabled
            | Field::Timeout(_)
            | Field::StartupTimeout(_)
            | Field::Protocol
            | Field::Include
            | Field::IncludeSome
            | Field::IncludeOrStar
            | Field::Exclude
            | Field::Approved => {}
        }
    }
    said.client.map(Auth::Oauth).or(said.other)
}

/// What was said so far; OAuth counts before anything else.
#[derive(Default)]
struct Said {
    client: Option<OauthClient>,
    other: Option<Auth>,
}

impl Said {
    fn client(&mut self) -> &mut OauthClient {
        self.client.get_or_insert_default()
    }
}

/// Reads `oauth` or `auth`.
fn block(member: &Member<'_>, field: Field, said: &mut Said, fields: &mut Fields<'_, '_>) {
    match &member.node.value {
        Value::Map(members) => {
            let kind = last(members, "type").map(|kind| &kind.node.value);
            match kind {
                Some(Value::Text(kind)) if kind.eq_ignore_ascii_case("apikey") => {
                    said.other.get_or_insert(Auth::Apikey);
                }
                _ => oauth(members, said.client(), fields),
            }
        }
        Value::Bool(true) if field == Field::Oauth => {
            said.client();
        }
        Value::Bool(false) if field == Field::Oauth => said.other = Some(Auth::None),
        Value::Text(kind) if field == Field::Auth && kind.eq_ignore_ascii_case("oauth") => {
            said.client();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
            fields.ignored(&member.node, &member.key, "an object");
        }
    }
}

fn oauth(members: &[Member<'_>], client: &mut OauthClient, fields: &mut Fields<'_, '_>) {
    let first = |names: &[&str]| names.iter().find_map(|name| last(members, name));
    let text = |fields: &mut Fields<'_, '_>, names: &[&str]| {
        first(names).and_then(|member| fields.text(member))
    };
    let put = |place: &mut Option<String>, text: Option<String>| {
        if text.is_some() {
            *place = text;
        }
    };
    put(&mut client.client_id, text(fields, &["clientId", "client_id", "CLIENT_ID"]));
    put(
        &mut client.client_secret,
        text(fields, &["clientSecret", "client_secret", "CLIENT_SECRET"]),
    );
    put(&mut client.redirect_uri, text(fields, &["redirectUri", "redirect_uri"]));
    put(&mut client.callback_path, text(fields, &["callbackPath", "callback_path"]));
    put(&mut client.credential_id, text(fields, &["credentialId"]));
    put(&mut client.token_url, text(fields, &["tokenUrl", "token_url"]));
    if let Some(member) = first(&["callbackPort", "callback_port", "redirectPort"]) {
        client.callback_port = fields.port(member).or(client.callback_port);
    }
    if let Some(member) = first(&["scopes", "scope"]) {
        client.scopes = scopes(member, fields).or_else(|| client.scopes.take());
    }
}

/// A list, or one text with blanks between.
fn scopes(member: &Member<'_>, fields: &mut Fields<'_, '_>) -> Option<Vec<String>> {
    if let Value::Text(text) = &member.node.value {
        return Some(text.split_whitespace().map(String::from).collect());
    }
    fields.names(member)
}

fn bearer(
    member: &Member<'_>,
    transport: &mut Result<Transport, String>,
    fields: &mut Fields<'_, '_>,
) {
    let Some(token) = fields.text(member) else { return };
    if let Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) =
        transport
    {
        let is_there = remote.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if !is_there {
            remote.headers.insert("Authorization".to_string(), format!("Bearer {token}"));
        }
    }
}
