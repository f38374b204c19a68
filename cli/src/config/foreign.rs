//! What helps where the file of another program would have to be changed: naming it, if that
//! changes what the program reads, and if not, what does.

use tidegate_core::config::edit::{Edit, foreign_language};
use tidegate_core::config::parse::Reading;
use tidegate_core::config::resolve::resolve;
use tidegate_core::config::{Definition, Level, Places, Provider, Source};
use tidegate_core::limits::Limits;
use tidegate_smol::config_file;

use super::files::Files;
use crate::exit::Trouble;
use crate::output::visible;

/// What the user wants of a server in another program's file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Wish {
    /// That its entry is on.
    On,
    /// That the file does not switch its name off.
    Allowed,
    /// That it is no longer defined.
    Gone,
    /// That it stays, with other settings.
    Kept,
}

impl Wish {
    fn edit(self, name: &str) -> Edit {
        let name = name.into();
        match self {
            Self::On => Edit::Enable { name },
            Self::Allowed => Edit::Allow { name },
            Self::Gone => Edit::Remove { name },
            // One that every entry takes.
            Self::Kept => Edit::ApproveTools { name, tools: Vec::new() },
        }
    }

    /// Whether a file says so.
    fn is_met(self, reading: &Reading, name: &str) -> bool {
        let found = reading.definitions.iter().find(|it| it.name.as_str() == name);
        match self {
            Self::On => found.is_some_and(|it| it.enabled),
            Self::Allowed => !reading.disabled.iter().any(|it| it.as_str() == name),
            Self::Gone => found.is_none(),
            Self::Kept => found.is_some(),
        }
    }
}

/// Why a wish is not fulfilled in another program's file, and what to do instead.
pub(super) fn refusal(files: &Files, source: &Source, name: &str, wish: Wish) -> Trouble {
    let shown = visible::one_line(name);
    let here = |it: &&Definition| it.source.path == source.path && wish != Wish::Allowed;
    let path = files.short.short(&source.path);
    let at = files.effective(name).filter(here).map_or_else(|| path.clone(), |it| files.at(it));
    let (is, verb, other) = match wish {
        Wish::On | Wish::Allowed => {
            ("switched off", "switch it on", format!("define it in your own file: {}", own(name)))
        }
        Wish::Gone => {
            ("defined", "remove it", format!("leave it out here: tidegate disable {shown}"))
        }
        Wish::Kept => ("defined", "set it", format!("define it in your own file: {}", own(name))),
    };
    let told = format!("Server \"{shown}\" is {is} in {at}");
    let after = config_file::preview(&files.places, source, &wish.edit(name));
    if after.is_some_and(|reading| wish.is_met(&reading, name)) {
        return Trouble::Failed(format!(
            "{told}, which other programs read too; to change that file, name it: --config {path}"
        ));
    }
    let tool = source.provider.display();
    let (why, tip) = match foreign_language(source) {
        Some(language) => {
            let by_hand = config_file::by_hand(source, &wish.edit(name));
            let by_hand = visible::one_line(&by_hand).into_owned();
            (format!("a {language} file of {tool}, which is read and not edited"), by_hand)
        }
        None => (
            format!("a file of {tool}, where this cannot be changed from here"),
            format!("{verb} in {tool}"),
        ),
    };
    Trouble::Failed(format!("{told}, {why}\n  Tip: {tip}, or {other}"))
}

/// How to define a server where it comes before everything other programs say.
fn own(name: &str) -> String {
    format!("tidegate add {} --scope user -- COMMAND...", visible::one_line(name))
}

/// That a file as such has a server on, and the program it belongs to has it off.
pub(super) fn elsewhere(name: &str, provider: Provider, at: &str) -> Trouble {
    let (tool, shown) = (provider.display(), visible::one_line(name));
    Trouble::Failed(format!(
        "Server \"{shown}\" is switched off by a list of {tool} in {at}, which cannot be changed from \
         here\n  Tip: switch it on in {tool}, or define it in your own file: {}",
        own(name)
    ))
}

/// The program that switches a server off in a file of its own that the user named, where the
/// file as such says that it is on.
pub(super) fn switched_off_by(places: &Places, definition: &Definition) -> Option<Provider> {
    if definition.source.level != Level::Explicit {
        return None;
    }
    let real = |path: &str| std::fs::canonicalize(path).ok();
    let named = real(&definition.source.path)?;
    let places = Places { explicit: Vec::new(), ..places.clone() };
    let is_it = |source: &Source| real(&source.path).is_some_and(|path| path == named);
    let source = places.sources().into_iter().find(is_it)?;
    let readings = config_file::read_all(&places, std::slice::from_ref(&source));
    let readings = readings.into_iter().map(|(_, reading)| reading).collect();
    let theirs = resolve(readings, Limits::default().servers).definitions;
    let theirs = theirs.into_iter().find(|it| it.name == definition.name)?;
    (!theirs.enabled).then_some(source.provider)
}
