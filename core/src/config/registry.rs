//! A registry of plugins → the files of the plugins in it.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::manifest;
use super::report::{About, Report};
use super::source::{Provider, Source, is_absolute};
use super::syntax::{Member, Node, Value, last};
use crate::error::Category;

/// How many files a registry may lead to.
const FILES_MAX: usize = 1_000;

/// What a registry is called.
const NAME: &str = "/installed_plugins.json";

/// Fields of an install that are no secrets.
pub(super) const KEPT: [&str; 4] = ["installPath", "projectPath", "scope", "version"];

/// Whether a file leads to others and has no servers itself.
pub(super) fn is_registry(source: &Source) -> bool {
    source.provider == Provider::ClaudePlugin && source.path.ends_with(NAME)
}

/// The files of the plugins that are switched on, for all projects or for this one.
pub(super) fn read(
    root: &Node<'_>,
    source: &Source,
    project: &str,
    report: &mut Report<'_>,
) -> Vec<Source> {
    let plugins = match &root.value {
        Value::Map(members) => last(members, "plugins").map(|member| &member.node.value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => None,
    };
    let Some(Value::Map(plugins)) = plugins else {
        let message = "there is no object \"plugins\" in the registry; it is not used";
        report.warning(About::default(), Category::MissingSection, message.into());
        return Vec::new();
    };
    let mut files = Vec::new();
    for plugin in plugins {
        let Value::List(installs) = &plugin.node.value else {
            let message = format!("{:?} should be a list of installs", &*plugin.key);
            let about = About { line: Some(plugin.line), ..About::default() };
            report.warning(about, Category::InvalidField, message);
            continue;
        };
        for line in installs.iter().filter_map(misplaced) {
            let message = format!("{:?}: \"installPath\" should be an absolute path", &*plugin.key);
            let about = About { line: Some(line), ..About::default() };
            report.warning(about, Category::InvalidField, message);
        }
        let name = plugin.key.split('@').next().unwrap_or_default();
        let installed =
            installs.iter().filter_map(|install| files_of(name, install, source, project));
        files.extend(installed.flatten());
    }
    if files.len() > FILES_MAX {
        let surplus = files.len() - FILES_MAX;
        let message = format!("there are too many plugins; {surplus} files are not looked at");
        report.warning(About::default(), Category::TooManyFiles, message);
        files.truncate(FILES_MAX);
    }
    files
}

/// The line of an install that leads nowhere.
fn misplaced(install: &Node<'_>) -> Option<u32> {
    let Value::Map(members) = &install.value else { return Some(install.line) };
    let path = last(members, "installPath")?;
    let leads = matches!(&path.node.value, Value::Text(path) if is_absolute(&&**path));
    (!leads).then_some(path.line)
}

/// The file of the servers of a plugin, and its manifest.
fn files_of(name: &str, install: &Node<'_>, source: &Source, project: &str) -> Option<[Source; 2]> {
    let Value::Map(members) = &install.value else { return None };
    if last(members, "enabled").is_some_and(|member| member.node.value == Value::Bool(false)) {
        return None;
    }
    if text(members, "projectPath").is_some_and(|path| path != project) {
        return None;
    }
    let root = text(members, "installPath")?.trim_end_matches('/');
    // A relative one would be looked up wherever we happen to run.
    if !is_absolute(&root) {
        return None;
    }
    let roots = ["CLAUDE_PLUGIN_ROOT", "XCSH_PLUGIN_ROOT"];
    let constants: BTreeMap<String, String> =
        roots.map(|name| (name.to_string(), root.to_string())).into();
    let plugin = Some(name.to_string()).filter(|name| !name.is_empty());
    let files = [(source.provider, ".mcp.json"), (Provider::ClaudePluginManifest, manifest::PATH)];
    Some(files.map(|(provider, path)| Source {
        constants: constants.clone(),
        plugin: plugin.clone(),
        ..Source::file(provider, source.level, format!("{root}/{path}"))
    }))
}

fn text<'a>(members: &'a [Member<'_>], key: &str) -> Option<&'a str> {
    match &last(members, key)?.node.value {
        Value::Text(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Level;
    use crate::config::parse::read;
    use crate::config::redact::Redactor;

    fn registry() -> Source {
        let path = "/h/.claude/plugins/installed_plugins.json";
        Source::file(Provider::ClaudePlugin, Level::User, path)
    }

    const TEXT: &str = r#"{"version":2,"plugins":{
        "acme@market":[{"scope":"user","installPath":"/plugins/acme","version":"1","token":"SECRET"}],
        "off@market":[{"installPath":"/plugins/off","enabled":false}],
        "local@market":[{"installPath":"/plugins/local","projectPath":"/elsewhere"}],
        "nowhere@market":[{"scope":"user"}],"odd@market":5}}"#;

    #[test]
    fn a_registry_leads_to_the_files_of_its_plugins() {
        let reading = read(&registry(), TEXT.as_bytes());
        let paths: Vec<_> = reading.further.iter().map(|source| source.path.as_str()).collect();
        let manifest = "/plugins/acme/.claude-plugin/plugin.json";
        assert_eq!(paths, ["/plugins/acme/.mcp.json", manifest]);
        assert_eq!(reading.problems.len(), 1, "{:?}", reading.problems);
        let text = r#"{"mcpServers":{"tool":{"command":"${CLAUDE_PLUGIN_ROOT}/run"},"bad":5}}"#;
        let plugin = read(&reading.further[0], text.as_bytes());
        let names: Vec<_> = plugin.definitions.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["acme:tool", "acme:bad"]);
        assert_eq!(plugin.definitions[0].constants["CLAUDE_PLUGIN_ROOT"], "/plugins/acme");
        let about: Vec<_> = plugin.problems.iter().filter_map(|p| p.server.as_ref()).collect();
        assert!(about.iter().all(|server| server.as_str() == "acme:bad"), "{about:?}");
    }

    /// G67.
    #[test]
    fn a_redacted_registry_leads_to_the_same_files() {
        let redacted = Redactor::new().file(&registry(), TEXT.as_bytes());
        assert_eq!(
            read(&registry(), &redacted).further,
            read(&registry(), TEXT.as_bytes()).further
        );
        assert!(!String::from_utf8_lossy(&redacted).contains("SECRET"));
    }

    #[test]
    fn an_install_that_leads_nowhere_is_told_of_and_the_others_count() {
        let text = r#"{"plugins":{"p@m":[{"installPath":"plug"},
            {"installPath":7},null,{"installPath":"/p"}]}}"#;
        let reading = read(&registry(), text.as_bytes());
        assert_eq!(reading.further.len(), 2);
        let lines: Vec<_> = reading.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(1), Some(2), Some(2)]);
        let said = "\"p@m\": \"installPath\" should be an absolute path";
        assert!(reading.problems.iter().all(|problem| problem.message == said));
    }
}
