//! The manifest of a plugin → the files in which its servers are.
//!
//! Floor 2. May import floors 0 and 1. A manifest has its servers in itself, or says in which
//! files of the plugin they are.

use alloc::format;
use alloc::vec::Vec;

use super::report::{About, Report};
use super::source::{Provider, Source};
use super::syntax::{Node, Value, last};
use crate::error::Category;

/// Where the manifest is in the folder of a plugin.
pub(super) const PATH: &str = ".claude-plugin/plugin.json";

/// The key of the servers, or of where they are.
pub(super) const KEY: &str = "mcpServers";

/// How many files a manifest may lead to.
const FILES_MAX: usize = 100;

/// Whether a file is a manifest.
pub(super) fn is_manifest(source: &Source) -> bool {
    source.provider == Provider::ClaudePluginManifest
}

/// The files that a manifest leads to; `None` if it has its servers in itself, or none.
pub(super) fn further(
    root: &Node<'_>,
    source: &Source,
    report: &mut Report<'_>,
) -> Option<Vec<Source>> {
    let Value::Map(members) = &root.value else { return None };
    let member = last(members, KEY).filter(|_| is_manifest(source))?;
    let paths = match &member.node.value {
        Value::Text(_) => core::slice::from_ref(&member.node),
        Value::List(items) => items.as_slice(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => return None,
    };
    let folder = source.path.strip_suffix(PATH)?.trim_end_matches('/');
    let mut files = Vec::new();
    for node in paths.iter().take(FILES_MAX) {
        let about = About { line: Some(node.line), key: Some(KEY), server: None };
        let path = if let Value::Text(path) = &node.value { &**path } else { "" };
        let path = path.strip_prefix("./").unwrap_or(path);
        let inside = path.split(['/', '\\']).all(|part| !part.is_empty() && part != "..");
        if !inside || path.contains(':') {
            let message = format!("\"{KEY}\" should name files of the plugin; this is none");
            report.warning(about, Category::InvalidField, message);
            continue;
        }
        let file = Source::file(Provider::ClaudePlugin, source.level, format!("{folder}/{path}"));
        let (constants, plugin) = (source.constants.clone(), source.plugin.clone());
        files.push(Source { constants, plugin, ..file });
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Level;
    use crate::config::parse::read;
    use crate::config::redact::Redactor;

    fn manifest() -> Source {
        let path = "/plugins/acme/.claude-plugin/plugin.json";
        let plugin = Some("acme".into());
        Source { plugin, ..Source::file(Provider::ClaudePluginManifest, Level::User, path) }
    }

    #[test]
    fn a_manifest_has_servers_or_says_where_they_are() {
        let text = r#"{"name":"acme","mcpServers":{"s":{"command":"c"}}}"#;
        let names: Vec<_> = read(&manifest(), text.as_bytes()).definitions;
        assert_eq!(names[0].name.as_str(), "acme:s");
        let text = r#"{"mcpServers":["./a.json","sub/b.json","../c.json","/etc/d.json",5]}"#;
        let reading = read(&manifest(), text.as_bytes());
        let paths: Vec<_> = reading.further.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["/plugins/acme/a.json", "/plugins/acme/sub/b.json"]);
        assert_eq!(reading.problems.len(), 3, "{:?}", reading.problems);
        assert!(reading.further.iter().all(|file| file.plugin.as_deref() == Some("acme")));
        assert_eq!(read(&manifest(), br#"{"name":"acme"}"#).problems, []);
    }

    /// G67.
    #[test]
    fn a_redacted_manifest_leads_to_the_same_files() {
        for text in
            [r#"{"mcpServers":"./a.json","token":"SECRET"}"#, r#"{"mcpServers":["a.json"]}"#]
        {
            let redacted = Redactor::new().file(&manifest(), text.as_bytes());
            let files = |bytes: &[u8]| read(&manifest(), bytes).further;
            assert_eq!(files(&redacted), files(text.as_bytes()));
            assert!(!alloc::string::String::from_utf8_lossy(&redacted).contains("SECRET"));
        }
    }
}
