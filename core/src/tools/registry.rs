//! The tools of one session of a host: its own, and those of the runtimes it uses.
//!
//! Floor 5. May import floors 0 to 4. A registry keeps the newest catalogue of each owner and
//! what the user switched; all else is a [`View`] made of these, so what a model is offered
//! depends on what is there and on what the user chose, and never on what was there in between
//! (G29).
//!
//! ```
//! use tidegate_core::id::OwnerId;
//! use tidegate_core::tools::registry::{Activation, Offering, OwnTool, Registry, Switch};
//! # use tidegate_core::{options::Options, runtime::Runtime};
//! # let runtime = Runtime::new(Options::default());
//!
//! let mut session = Registry::new(Activation::All, vec![OwnTool::new("read_file", "Reads.")]);
//! // Whenever the runtime says that its tools changed:
//! session.refresh(OwnerId::new(0), Offering::new(runtime.catalog(), &runtime.status()));
//! // Tools and prompt of one and the same moment:
//! let view = session.view();
//! assert_eq!(view.active.iter().map(|tool| tool.name()).collect::<Vec<_>>(), ["read_file"]);
//! // What the user switches stays switched, whatever comes and goes.
//! let read_file = view.active[0].key();
//! session.switch(read_file, Switch::Off);
//! assert!(session.view().active.is_empty());
//! ```

mod prompt;
mod view;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bytes::Json;
use crate::hub::status::Status;
use crate::id::{OwnerId, ServerName};

use super::catalog::{Catalog, ToolState};

pub use prompt::INSTRUCTIONS_CHARS_MAX;
pub use view::{Entry, View};

/// Which tools are active of which the user has said nothing.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// All, whenever they come (documented, and the default).
    #[default]
    All,
    /// None: what is active was switched on. A host says once, as a rule when its gate opens,
    /// that what is there counts as switched on; see [`Registry::switch_on_present`]. What
    /// comes later is offered to the user and not to the model.
    Preserve,
}

/// What the user said of a tool.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// It is to be active.
    On,
    /// It is not to be active.
    Off,
}

/// What a tool is known by from one revision, run or session to the next. The name that a model
/// sees may change when a tool with a like name comes.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolKey {
    /// A tool of the host's own, by its name.
    Own(String),
    /// A tool of a server, whoever runs it.
    Served {
        /// The server.
        server: ServerName,
        /// The tool as the server calls it.
        tool: String,
    },
}

/// A tool of the host's own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OwnTool {
    /// The name for the model.
    pub name: String,
    /// The description for the model.
    pub description: Arc<str>,
    /// The schema of its arguments. Default `{"type":"object"}`.
    pub schema: Json,
}

impl OwnTool {
    /// A tool that takes any object.
    #[must_use]
    pub fn new(name: &str, description: &str) -> Self {
        let schema = Json::new(r#"{"type":"object"}"#);
        Self { name: name.into(), description: description.into(), schema }
    }

    /// The same, with a schema for its arguments.
    #[must_use]
    pub fn with_schema(mut self, schema: Json) -> Self {
        self.schema = schema;
        self
    }
}

/// What one owner has at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Offering {
    catalog: Arc<Catalog>,
    instructions: BTreeMap<ServerName, String>,
}

impl Offering {
    /// The tools and the instructions of a runtime, both read at the same moment.
    #[must_use]
    pub fn new(catalog: &Arc<Catalog>, status: &Status) -> Self {
        let servers = status.servers.iter();
        let said = servers.filter_map(|it| Some((it.name.clone(), it.instructions.clone()?)));
        let mut instructions: BTreeMap<ServerName, String> = said.collect();
        // A server's instructions do not change while its tools are live, so an offering is a
        // function of the revision of its catalogue.
        let live = catalog.tools.iter().filter(|tool| tool.state == ToolState::Live);
        let live: BTreeSet<&ServerName> = live.map(|tool| &tool.server).collect();
        instructions.retain(|server, _| live.contains(server));
        Self { catalog: Arc::clone(catalog), instructions }
    }

    /// The revision of the catalogue.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.catalog.revision
    }
}

/// What became of an offering.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refresh {
    /// It took the place of all that its owner had.
    Applied,
    /// A newer one, or this very one, was there before; nothing changed (G71).
    Outdated,
    /// Its owner was released; nothing changed.
    Released,
}

/// The tools of one session.
#[derive(Clone, Debug)]
pub struct Registry {
    activation: Activation,
    own: Vec<Arc<OwnTool>>,
    holdings: BTreeMap<OwnerId, Holding>,
    switches: BTreeMap<ToolKey, Switch>,
    view: Arc<View>,
}

#[derive(Clone, Debug)]
enum Holding {
    Present(Offering),
    /// A refresh that is late must not bring back what ended.
    Released,
}

impl Registry {
    /// A registry with the host's own tools, which no refresh ever touches.
    #[must_use]
    pub fn new(activation: Activation, own: Vec<OwnTool>) -> Self {
        let mut registry = Self {
            activation,
            own: own.into_iter().map(Arc::new).collect(),
            holdings: BTreeMap::new(),
            switches: BTreeMap::new(),
            view: Arc::default(),
        };
        registry.look();
        registry
    }

    /// The same, with what the user switched in an earlier session; of tools that are not there
    /// too.
    #[must_use]
    pub fn with_switches(mut self, switches: impl IntoIterator<Item = (ToolKey, Switch)>) -> Self {
        self.switches.extend(switches);
        self.look();
        self
    }

    /// Puts what an owner has in the place of all it had (G72: and of nothing else), unless
    /// something newer was there before. Revisions may be skipped.
    pub fn refresh(&mut self, owner: OwnerId, offering: Offering) -> Refresh {
        match self.holdings.get(&owner) {
            Some(Holding::Released) => return Refresh::Released,
            Some(Holding::Present(held)) if held.revision() >= offering.revision() => {
                return Refresh::Outdated;
            }
            Some(Holding::Present(_)) | None => {}
        }
        self.holdings.insert(owner, Holding::Present(offering));
        self.look();
        Refresh::Applied
    }

    /// Takes away all that an owner has, for good: its runtime has ended.
    pub fn release(&mut self, owner: OwnerId) {
        self.holdings.insert(owner, Holding::Released);
        self.look();
    }

    /// Notes what the user wants of a tool, whether it is there or not. It stays until the user
    /// changes it, whatever comes and goes.
    pub fn switch(&mut self, tool: ToolKey, switch: Switch) {
        self.switches.insert(tool, switch);
        self.look();
    }

    /// Every tool that is there counts as switched on, unless it was switched off.
    pub fn switch_on_present(&mut self) {
        let view = Arc::clone(&self.view);
        for entry in view.active.iter().chain(&view.inactive) {
            self.switches.entry(entry.key()).or_insert(Switch::On);
        }
        self.look();
    }

    /// What the user switched, to be kept for the next session.
    pub fn switches(&self) -> impl Iterator<Item = (&ToolKey, Switch)> {
        self.switches.iter().map(|(tool, switch)| (tool, *switch))
    }

    /// The tools and the prompt, both of the same moment (G71). The same allocation as long as
    /// nothing changes.
    #[must_use]
    pub const fn view(&self) -> &Arc<View> {
        &self.view
    }

    /// Whether a tool is to be active if it can be called.
    fn wants(&self, tool: &ToolKey) -> bool {
        match (self.switches.get(tool), self.activation) {
            (Some(switch), _) => *switch == Switch::On,
            (None, Activation::All) => true,
            (None, Activation::Preserve) => false,
        }
    }

    /// Makes the view anew; its revision counts by one if it is another one.
    fn look(&mut self) {
        let holdings = self.holdings.iter().filter_map(|(owner, holding)| match holding {
            Holding::Present(offering) => Some((*owner, offering)),
            Holding::Released => None,
        });
        let mut view = View::derive(&self.own, holdings, |tool| self.wants(tool));
        view.revision = self.view.revision;
        if view != *self.view {
            view.revision += 1;
            self.view = Arc::new(view);
        }
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
