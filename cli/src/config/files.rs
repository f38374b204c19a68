//! The files of this run, what they say together, and which of them may be changed.

use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::slice;

use tidegate_core::config::consent::Consent;
use tidegate_core::config::edit::{Edit, EditError};
use tidegate_core::config::parse::Reading;
use tidegate_core::config::resolve::{Fate, Resolved, Rules, Told, resolve_with};
use tidegate_core::config::{Definition, Filters, Level, Places, Provider, Source};
use tidegate_core::id::ServerName;
use tidegate_core::limits::Limits;
use tidegate_smol::config_file::{self, ConfigFileError};
use tidegate_smol::places;
use tidegate_smol::{Approvals, Granted};

use super::foreign::{self, Wish};
use crate::args::Global;
use crate::consent;
use crate::exit::Trouble;
use crate::output::places::Places as Short;
use crate::output::visible;
use crate::session::unknown;

/// How many folders above the project are looked into for a server that is not known.
const FOLDERS_MAX: usize = 8;

/// The files of this run, read.
#[derive(Debug)]
pub(crate) struct Files {
    pub(super) places: Places,
    /// Where approvals are kept.
    state: Option<PathBuf>,
    /// The files that are asked, the strongest first.
    pub(crate) sources: Vec<Source>,
    /// What each of them says, without its definitions: what became of those says `resolved`.
    pub(crate) readings: Vec<Reading>,
    /// What all of them say together.
    pub(crate) resolved: Resolved,
    /// What is left out.
    filters: Filters,
    /// How paths are shortened for people.
    pub(crate) short: Short,
}

impl Files {
    /// Reads all files that the flags and the environment name: the same as a run would.
    ///
    /// # Errors
    /// If the project's directory or a path cannot be used.
    pub(crate) fn read(global: &Global) -> Result<Self, Trouble> {
        let directories = Global::directories()?;
        let places = global.places(&directories)?;
        let short = Short::new(places.cwd.as_ref());
        let sources = places.sources();
        let mut files = Self {
            places,
            state: directories.state,
            sources,
            readings: Vec::new(),
            resolved: Resolved::default(),
            filters: global.filters(),
            short,
        };
        files.refresh();
        Ok(files)
    }

    /// Reads them again.
    pub(crate) fn refresh(&mut self) {
        let all = config_file::read_all(&self.places, &self.places.sources());
        let mut readings: Vec<Reading>;
        (self.sources, readings) = all.into_iter().unzip();
        // There may be thousands of definitions.
        let definitions = readings.iter_mut().map(|reading| mem::take(&mut reading.definitions));
        let definitions: Vec<Vec<Definition>> = definitions.collect();
        self.readings.clone_from(&readings);
        for (reading, definitions) in readings.iter_mut().zip(definitions) {
            reading.definitions = definitions;
        }
        let rules = Rules {
            filters: &self.filters,
            organisation: &config_file::organisation(),
            servers_max: Limits::default().servers,
        };
        self.resolved = resolve_with(readings, rules);
    }

    /// What the user approved; nothing if that cannot be read, and why.
    pub(crate) fn granted(&self) -> Result<Vec<Granted>, Trouble> {
        match &self.state {
            Some(state) => Ok(Approvals::below(state).list()?),
            None => Ok(Vec::new()),
        }
    }

    /// Where approvals are kept.
    ///
    /// # Errors
    /// If there is no place for them.
    pub(crate) fn approvals(&self) -> Result<Approvals, Trouble> {
        let missing =
            || Trouble::Failed("there is no home directory; set TIDEGATE_STATE_DIR".into());
        self.state.as_ref().map(Approvals::below).ok_or_else(missing)
    }

    /// Whether a file is one of this project's own, be it there or not: in its directory, or
    /// where a project's files are looked for.
    pub(crate) fn is_of_project(&self, file: &str) -> bool {
        let places = Places { explicit: Vec::new(), ..self.places.clone() };
        let mut sources = self.sources.iter().cloned().chain(places.sources());
        Path::new(file).starts_with(&self.places.cwd)
            || sources.any(|source| source.level == Level::Project && source.path == file)
    }

    /// The definition of a name that counts.
    pub(crate) fn effective(&self, name: &str) -> Option<&Definition> {
        self.resolved.definitions.iter().find(|definition| definition.name.as_str() == name)
    }

    /// The definition of a name that counts, or that there is none and what there is.
    ///
    /// # Errors
    /// If no file defines the name.
    pub(crate) fn known(&self, name: &str) -> Result<&Definition, Trouble> {
        self.effective(name).ok_or_else(|| {
            let names = self.resolved.definitions.iter().map(|it| it.name.as_str());
            Trouble::Failed(unknown("server", name, names) + &self.elsewhere(name))
        })
    }

    /// Where a name that no file defines may be: in a file that cannot be used, or in the
    /// configuration of a folder above the project.
    fn elsewhere(&self, name: &str) -> String {
        let mut told = String::new();
        let readings = self.sources.iter().zip(&self.readings);
        for (source, _) in readings.filter(|(_, reading)| !reading.is_whole()) {
            let path = self.short.short(&source.path);
            told.push_str(&format!("\n  {path} cannot be used; see `tidegate doctor`"));
        }
        let project = Path::new(&self.places.cwd);
        let home = self.places.home.as_deref().map(Path::new);
        let above = project.ancestors().skip(1).take_while(|folder| Some(*folder) != home);
        let defines = |folder: &&Path| {
            let places = Places { cwd: folder.to_string_lossy().into(), ..self.places.clone() };
            let mut sources = places.sources();
            sources.retain(|source| source.level == Level::Project);
            let readings = config_file::read_all(&places, &sources);
            let here = |it: &Definition| it.name.as_str() == name;
            readings.iter().any(|(_, reading)| reading.definitions.iter().any(here))
        };
        if self.places.explicit.is_empty()
            && let Some(folder) = above.take(FOLDERS_MAX).find(defines)
        {
            let folder = visible::one_line(&folder.to_string_lossy()).into_owned();
            told.push_str(&format!("\n  it is defined in a folder above: --cwd {folder}"));
        }
        told
    }

    /// The file a definition stands in, if it may be changed: our own, or one the user named.
    ///
    /// # Errors
    /// If it is another program's (G58).
    pub(super) fn writable(&self, definition: &Definition, wish: Wish) -> Result<&Source, Trouble> {
        let path = &definition.source.path;
        let source = self.sources.iter().find(|source| source.path == *path);
        let source = source.ok_or_else(|| Trouble::Failed(format!("{path} is not read here")))?;
        if is_own(source) {
            return Ok(source);
        }
        Err(foreign::refusal(self, source, definition.name.as_str(), wish))
    }

    /// The files that switch a name off wherever it is defined.
    pub(crate) fn denying(&self, name: &str) -> Vec<&Source> {
        let name = ServerName::new(name);
        let all = self.sources.iter().zip(&self.readings);
        all.filter(|(_, reading)| reading.disabled.contains(&name)).map(|it| it.0).collect()
    }

    /// The file that switches a definition off from outside of its entry, for people, and whose
    /// it is.
    pub(super) fn off_by(&self, definition: &Definition) -> (Provider, String) {
        let off = |told: &Told| {
            let by = if let Fate::Disabled { by } = &told.fate { Some(by) } else { None };
            by.filter(|_| told.source == definition.source).cloned()
        };
        let path = self.resolved.fates.iter().find_map(off);
        let path = path.unwrap_or_else(|| definition.source.path.clone());
        let all = self.sources.iter().zip(&self.readings);
        let tool = all.filter(|(source, _)| source.path == path);
        let tool = tool.map(|(source, reading)| reading.read_as.unwrap_or(source.provider)).next();
        (tool.unwrap_or(definition.source.provider), self.short.short(&path))
    }

    /// Whether a definition is on as far as its own file says.
    pub(crate) fn is_on_by_itself(&self, definition: &Definition) -> bool {
        let own = self.sources.iter().find(|it| it.path == definition.source.path);
        let own = own.map(|own| config_file::read_all(&self.places, slice::from_ref(own)));
        let mut entries = own.iter().flatten().flat_map(|(_, reading)| &reading.definitions);
        entries.find(|it| it.name == definition.name).is_some_and(|it| it.enabled)
    }

    /// Whether a file defines a name, whatever became of that.
    pub(super) fn defines(&self, name: &str, path: &str) -> bool {
        let here = |told: &Told| told.server.as_str() == name && told.source.path == path;
        self.resolved.fates.iter().any(here)
    }

    /// The file of a scope: the one the user named if there is one, whatever the scope.
    ///
    /// # Errors
    /// If several were named, or there is no place for it.
    pub(crate) fn of_scope(&self, level: Level) -> Result<Source, Trouble> {
        match &self.places.explicit[..] {
            [] => self.places.own(level).ok_or_else(|| {
                Trouble::Failed("there is no home directory; set TIDEGATE_CONFIG_DIR".into())
            }),
            [_] => Ok(self.sources[0].clone()),
            _ => Err(Trouble::Usage("name one file with --config, not several".into())),
        }
    }

    /// Approves a definition that its user just wrote, if a project's may not run without.
    ///
    /// # Errors
    /// Why that is not possible, for people.
    pub(crate) fn approve(&self, name: &str) -> Result<(), String> {
        let Some(definition) = self.effective(name) else { return Ok(()) };
        if definition.source.level != Level::Project {
            return Ok(());
        }
        let state = self.state.as_ref().ok_or("there is no place to note your approval in")?;
        let Some(consent) = Consent::of(definition, &places::environment()) else { return Ok(()) };
        let granted = vec![consent::granted(&consent, name, &definition.source.path)];
        let noted = Approvals::below(state).grant(granted);
        noted.map_err(|error| format!("your approval could not be noted: {error}"))
    }

    /// Whether a definition may run because its user approved it.
    ///
    /// # Errors
    /// If the approvals cannot be read.
    pub(super) fn is_approved(&self, definition: &Definition) -> Result<bool, Trouble> {
        let approval = definition.approval();
        Ok(self.granted()?.iter().any(|granted| granted.approval == approval))
    }

    /// Where a definition stands, for people.
    pub(crate) fn at(&self, definition: &Definition) -> String {
        self.short.line(&definition.source.path, Some(definition.source.line))
    }

    /// Changes a file and reads everything again; whether anything changed.
    ///
    /// # Errors
    /// If the file cannot be changed so; it is as it was.
    pub(crate) fn edit(&mut self, source: &Source, change: &Edit) -> Result<bool, EditTrouble> {
        self.edit_all(source, slice::from_ref(change))
    }

    /// The same with several changes, all of them or none.
    ///
    /// # Errors
    /// If the file cannot be changed so; it is as it was.
    pub(crate) fn edit_all(
        &mut self,
        source: &Source,
        changes: &[Edit],
    ) -> Result<bool, EditTrouble> {
        let changed = config_file::edit_all(source, changes).map_err(EditTrouble)?;
        self.refresh();
        Ok(changed)
    }
}

/// Whether we may write a file without being told so.
pub(super) fn is_own(source: &Source) -> bool {
    matches!(source.provider, Provider::Tidegate | Provider::Explicit)
}

/// Why a file was not changed.
#[derive(Debug)]
pub(crate) struct EditTrouble(ConfigFileError);

impl EditTrouble {
    /// In the documented words, with what helps.
    pub(crate) fn failed(&self, to: &str) -> Trouble {
        let exists = matches!(&self.0, ConfigFileError::Edit(EditError::Exists { .. }));
        let kind = if let ConfigFileError::File(error) = &self.0 { error.kind() } else { None };
        let tip = match kind {
            _ if exists => "Use tidegate list to see existing servers.",
            Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                "Check file permissions for the config directory."
            }
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => "Insufficient disk space.",
            Some(ErrorKind::FileTooLarge) => "Raise the limit on the size of files (ulimit -f).",
            None | Some(_) => "",
        };
        let told = visible::one_line(&self.0.to_string()).into_owned();
        let tip = if tip.is_empty() { String::new() } else { format!("\n  Tip: {tip}") };
        Trouble::Failed(format!("Failed to {to} server: {told}{tip}"))
    }
}
