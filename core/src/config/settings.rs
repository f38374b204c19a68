//! What a user sets in their own file for all files.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::collections::BTreeSet;
use alloc::format;

use super::filter::Filters;
use super::nearest::nearest;
use super::report::{About, Report};
use super::source::{Level, Provider, Source};
use super::syntax::{Member, Node, Value, last};
use crate::error::Category;

/// The tools whose files are left out.
const PROVIDERS: &str = "disabledProviders";
/// Whether what projects bring along counts.
const PROJECT: &str = "enableProjectConfig";

/// The keys of the settings in a file.
pub(super) const KEYS: [&str; 2] = [PROVIDERS, PROJECT];

/// The settings of one file. By default nothing is set.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileSettings {
    /// Whose files do not count (`disabledProviders`).
    pub disabled_providers: BTreeSet<Provider>,
    /// Whether what a project brings along counts (`enableProjectConfig`), if that is said.
    pub project_config: Option<bool>,
}

impl FileSettings {
    /// The settings of the host together with these: what either of them leaves out is left out.
    pub(super) fn apply(&self, filters: &mut Filters) {
        filters.disabled_providers.extend(&self.disabled_providers);
        filters.project_config &= self.project_config.unwrap_or(true);
    }
}

/// Reads the settings of a file. They count in the user's own file and in one the user named.
pub(super) fn read(
    members: &[Member<'_>],
    source: &Source,
    report: &mut Report<'_>,
) -> FileSettings {
    let mut settings = FileSettings::default();
    let named = matches!(source.provider, Provider::Explicit | Provider::Inline);
    if !named && source.provider != Provider::Tidegate {
        return settings;
    }
    let counts = named || source.level == Level::User;
    for member in KEYS.iter().filter_map(|key| last(members, key)) {
        if !counts {
            let message = format!("\"{}\" counts in the user's own file only", member.key);
            report.warning(about(member, &member.node), Category::InvalidField, message);
        } else if member.key == PROVIDERS {
            settings.disabled_providers = providers(member, report);
        } else if let Value::Bool(on) = member.node.value {
            settings.project_config = Some(on);
        } else {
            ignored(member, &member.node, "true or false", report);
        }
    }
    settings
}

fn providers(member: &Member<'_>, report: &mut Report<'_>) -> BTreeSet<Provider> {
    let mut providers = BTreeSet::new();
    let Value::List(items) = &member.node.value else {
        ignored(member, &member.node, "a list of tools", report);
        return providers;
    };
    for item in items {
        let Value::Text(id) = &item.value else {
            ignored(member, item, "the names of tools", report);
            continue;
        };
        let Some(provider) = Provider::named(id) else {
            let known = Provider::ALL.iter().map(|provider| provider.id());
            let meant = nearest(id, known).map(|id| format!("; did you mean {id:?}?"));
            let meant = meant.unwrap_or_default();
            let message = format!("\"{PROVIDERS}\" has no tool {:?}{meant}", &**id);
            report.warning(about(member, item), Category::InvalidField, message);
            continue;
        };
        providers.insert(provider);
    }
    providers
}

fn ignored(member: &Member<'_>, node: &Node<'_>, wanted: &str, report: &mut Report<'_>) {
    let noun = node.value.noun();
    let message = format!("\"{}\" should hold {wanted}; {noun} is ignored", member.key);
    report.warning(about(member, node), Category::InvalidField, message);
}

fn about<'a>(member: &'a Member<'_>, node: &Node<'_>) -> About<'a> {
    About { line: Some(node.line), key: Some(&member.key), server: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    const TEXT: &str = r#"{"disabledProviders":["cursor","cursr",5],"enableProjectConfig":false}"#;

    fn said(level: Level) -> (FileSettings, usize) {
        let source = Source::file(Provider::Tidegate, level, "f");
        let reading = parse::read(&source, TEXT.as_bytes());
        let wrong = |it: &&crate::error::Problem| it.category == Category::InvalidField;
        (reading.settings, reading.problems.iter().filter(wrong).count())
    }

    #[test]
    fn a_user_leaves_tools_and_projects_out_in_their_own_file_and_no_project_does() {
        let (settings, wrong) = said(Level::User);
        assert_eq!(settings.disabled_providers, [Provider::Cursor].into());
        assert_eq!((settings.project_config, wrong), (Some(false), 2));
        assert_eq!(said(Level::Project), (FileSettings::default(), 2));
    }
}
