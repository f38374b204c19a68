//! The JSON Schema of Tidegate's own file, from the same table of fields that it is read by.
//!
//! Floor 2. May import floors 0 and 1. Strict where a slip would be ignored, so that an editor
//! shows it; the reader itself understands more than this, with a warning.

use alloc::string::String;

use serde_json::{Map, Value, json};

use super::definition::Protocol;
use super::format::Provider;
use super::format::dialect::{Dialect, Field, Unit};

/// The schema as text, for people and editors, with a line end after it.
#[must_use]
pub fn schema() -> String {
    let text = serde_json::to_string_pretty(&document());
    text.map(|text| text + "\n").unwrap_or_default()
}

fn document() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tidegate's configuration",
        "description": "MCP servers: .tidegate/mcp.json in a project, mcp.json in the user's own \
                        configuration directory. Comments and trailing commas are allowed.",
        "type": "object",
        "properties": {
            "$schema": { "type": "string" },
            "mcpServers": {
                "description": "The servers by name.",
                "type": "object",
                "propertyNames": { "minLength": 1 },
                "additionalProperties": { "$ref": "#/$defs/server" },
            },
            "disabledServers": {
                "description": "Names that are switched off wherever they are defined; in a \
                                project's file only the project's own.",
                "type": "array",
                "items": { "type": "string" },
            },
            "disabledProviders": {
                "description": "Tools whose files do not count, by their ids in SOURCES.md; in the \
                                user's own file only.",
                "type": "array",
                "items": { "enum": providers() },
            },
            "enableProjectConfig": {
                "description": "Whether what projects bring along counts, default true; in the \
                                user's own file only.",
                "type": "boolean",
            },
            "inputs": {
                "description": "What ${input:ID} asks for.",
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "type": { "enum": ["promptString", "pickString"] },
                        "id": { "type": "string" },
                        "description": { "type": "string" },
                        "password": { "type": "boolean" },
                        "default": { "type": "string" },
                        "options": { "type": "array", "items": { "type": "string" } },
                    },
                    "required": ["id"],
                },
            },
        },
        "additionalProperties": false,
        "$defs": { "server": server(&Provider::Tidegate.tool().dialect) },
    })
}

fn providers() -> alloc::vec::Vec<&'static str> {
    let files = Provider::ALL.iter().filter(|provider| !provider.tool().files.is_empty());
    files.map(|provider| provider.id()).collect()
}

fn server(dialect: &Dialect) -> Value {
    let properties: Map<String, Value> =
        dialect.names().map(|(name, field)| (name.into(), of(field))).collect();
    let addresses = dialect.names().filter(|(_, field)| *field == Field::Url);
    let address = addresses.map(|(name, _)| json!({ "required": [name] }));
    let ways: alloc::vec::Vec<Value> =
        core::iter::once(json!({ "required": ["command"] })).chain(address).collect();
    json!({
        "description": "A server: a command to run, or an address.",
        "type": "object",
        "properties": properties,
        "anyOf": ways,
        "additionalProperties": false,
    })
}

/// What a field may hold.
fn of(field: Field) -> Value {
    let text = |about: &str| json!({ "description": about, "type": "string" });
    let flag = |about: &str| json!({ "description": about, "type": "boolean" });
    let texts = |about: &str| json!({ "description": about, "type": "array", "items": { "type": "string" } });
    let map = |about: &str| {
        let strings = json!({ "type": "string" });
        json!({ "description": about, "type": "object", "additionalProperties": strings })
    };
    match field {
        Field::Kind => json!({
            "description": "How the server is reached; told by command or url if absent.",
            "enum": ["stdio", "http", "streamable-http", "sse"],
        }),
        Field::Url => text("The address of a remote server."),
        Field::Command => text("The program that is the server."),
        Field::Args => texts("Its arguments."),
        Field::Env => map("Environment variables for it; ${NAME} stands for one of yours."),
        Field::EnvFile => text("A file of environment variables for it."),
        Field::EnvInherit => texts("Environment variables that it inherits."),
        Field::Cwd => text("Its working directory."),
        Field::Headers => map("Headers for a remote server; ${NAME} stands for a variable."),
        Field::HeadersEnv => map("Headers whose values are in these environment variables."),
        Field::Enabled => flag("Whether it is switched on. Default true."),
        Field::Disabled => flag("Whether it is switched off. Default false."),
        Field::Timeout(unit) => time("The limit of connecting and of each call", unit),
        Field::StartupTimeout(unit) => time("The limit of connecting", unit),
        Field::Protocol => json!({
            "description": "Which eras of the protocol are spoken with it: those with a handshake \
                            (legacy), those without one, from 2026-07-28 on (modern), or \
                            whichever it speaks. Default auto.",
            "enum": Protocol::NAMES.map(|(name, _)| name),
        }),
        Field::Include | Field::IncludeSome | Field::IncludeOrStar => {
            texts("The tools that are offered. Default all.")
        }
        Field::Exclude => texts("Tools that are not offered."),
        Field::Approved => texts("Tools that may be called without asking."),
        Field::Auth | Field::Oauth => json!({
            "description": "How to sign in to a remote server.",
            "type": ["object", "string", "boolean"],
        }),
        Field::ClientId => text("The id of an OAuth client."),
        Field::ClientSecret => text("The secret of an OAuth client."),
        Field::CallbackPort => json!({
            "description": "The port to which the browser comes back.",
            "type": "integer", "minimum": 1, "maximum": 65_535,
        }),
        Field::Scopes => texts("What is asked for when signing in."),
        Field::BearerEnv => text("The environment variable that has a bearer token."),
        Field::Bearer | Field::RefusedToken => text("A bearer token."),
        Field::HeadersCommand => text("A program that prints headers."),
    }
}

fn time(about: &str, unit: Unit) -> Value {
    let unit = match unit {
        Unit::Millis => "milliseconds",
        Unit::Seconds => "seconds",
    };
    let about = alloc::format!("{about}, in {unit}.");
    json!({ "description": about, "type": "number", "exclusiveMinimum": 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tidegate schema > schema/mcp.schema.json` makes it current.
    #[test]
    fn the_schema_in_the_tree_is_current() {
        assert_eq!(schema(), include_str!("../../../schema/mcp.schema.json"));
    }

    #[test]
    fn every_field_that_is_read_is_in_the_schema() {
        let schema = document();
        let properties = schema["$defs"]["server"]["properties"].as_object().expect("fields");
        let fields = Provider::Tidegate.tool().dialect.names();
        for (name, _) in fields {
            assert!(properties[name]["description"].is_string(), "{name}");
        }
    }
}
