//! Values that look like a placeholder or a command and are passed on as they stand.

use tidegate_core::config::{Definition, Part, Role, Transport};

/// What of a server's variables was probably meant otherwise; no value is told.
pub(super) fn literals(definition: &Definition) -> Vec<String> {
    let (field, role, values) = match &definition.transport {
        Ok(Transport::Stdio(stdio)) => ("env", Role::Env, &stdio.env),
        Ok(Transport::Http(remote) | Transport::Sse(remote) | Transport::Auto(remote)) => {
            ("headers", Role::Header, &remote.headers)
        }
        Err(_) => return Vec::new(),
    };
    let told = |(name, value): (&String, &String)| {
        let parts = definition.template(value, role).parts;
        let is_plain = parts.iter().all(|part| matches!(part, Part::Text(_)));
        let what = if is_plain && value.starts_with('!') && value.len() > 1 {
            "begins with \"!\", which runs no command in a file of this tool"
        } else if is_plain && is_open(value) {
            "has \"${\" in it without a \"}\" after it"
        } else {
            return None;
        };
        Some(format!("\"{field}.{name}\" {what}; it is passed on as it stands"))
    };
    values.iter().filter_map(told).collect()
}

fn is_open(value: &str) -> bool {
    value.rsplit_once("${").is_some_and(|(_, rest)| !rest.contains('}'))
}
