//! What a session offers at one moment: a pure function of what is there and what is wanted.
//!
//! Floor 5. May import floors 0 to 4.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::id::OwnerId;
use crate::input::Target;
use crate::tools::catalog::{Tool, ToolState};

use super::prompt;
use super::{Offering, OwnTool, ToolKey};

/// The tools of a session and the text about them, made of the same revisions.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct View {
    /// Counts by one with each change of anything below.
    pub revision: u64,
    /// The revision of each owner's catalogue that this view is made of.
    pub owners: Vec<(OwnerId, u64)>,
    /// The tools for the model: the host's own, then those of each owner in the order of its
    /// catalogue.
    pub active: Vec<Entry>,
    /// Tools that are there and not for the model: switched off, not switched on, or of no use
    /// as they are ([`ToolState::Quarantined`]).
    pub inactive: Vec<Entry>,
    /// Tools that cannot be offered because a stronger one has their name (G23): the host's own
    /// before an owner's, a lower owner's before a higher's.
    pub shadowed: Vec<Entry>,
    /// What to tell the model about the servers of the active tools: their names, and what they
    /// say of themselves. Untrusted text in parts, and marked as such. Empty if there are none.
    pub prompt: String,
}

/// A tool of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Entry {
    /// The host's own.
    Own(Arc<OwnTool>),
    /// A server's.
    Served {
        /// Whose server.
        owner: OwnerId,
        /// The tool.
        tool: Arc<Tool>,
    },
}

impl Entry {
    /// The name for the model.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Own(tool) => &tool.name,
            Self::Served { tool, .. } => &tool.exposed,
        }
    }

    /// The description for the model. A server's is untrusted text.
    #[must_use]
    pub fn description(&self) -> &Arc<str> {
        match self {
            Self::Own(tool) => &tool.description,
            Self::Served { tool, .. } => &tool.description,
        }
    }

    /// The schema of its arguments.
    #[must_use]
    pub fn schema(&self) -> &Json {
        match self {
            Self::Own(tool) => &tool.schema,
            Self::Served { tool, .. } => &tool.schema,
        }
    }

    /// What it is known by, for [`Registry::switch`](super::Registry::switch).
    #[must_use]
    pub fn key(&self) -> ToolKey {
        match self {
            Self::Own(tool) => ToolKey::Own(tool.name.clone()),
            Self::Served { tool, .. } => {
                ToolKey::Served { server: tool.server.clone(), tool: tool.tool.clone() }
            }
        }
    }

    /// How its owner's runtime calls it; `None` for the host's own. By the server's own name, so
    /// that it means the same tool when exposed names have changed meanwhile.
    #[must_use]
    pub fn target(&self) -> Option<Target> {
        match self {
            Self::Own(_) => None,
            Self::Served { tool, .. } => {
                Some(Target::Tool { server: tool.server.clone(), tool: tool.tool.clone() })
            }
        }
    }

    fn is_usable(&self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Served { tool, .. } => !matches!(tool.state, ToolState::Quarantined { .. }),
        }
    }
}

impl View {
    /// The view of what is there; its revision is left at 0.
    pub(super) fn derive<'a>(
        own: &[Arc<OwnTool>],
        holdings: impl Iterator<Item = (OwnerId, &'a Offering)> + Clone,
        wants: impl Fn(&ToolKey) -> bool,
    ) -> Self {
        let own = own.iter().cloned().map(Entry::Own);
        let served = holdings.clone().flat_map(|(owner, offering)| {
            let tools = offering.catalog.tools.iter().cloned();
            tools.map(move |tool| Entry::Served { owner, tool })
        });
        let mut view = Self {
            owners: holdings.clone().map(|(owner, held)| (owner, held.revision())).collect(),
            ..Self::default()
        };
        let mut taken = BTreeSet::new();
        for entry in own.chain(served) {
            let place = if !taken.insert(String::from(entry.name())) {
                &mut view.shadowed
            } else if entry.is_usable() && wants(&entry.key()) {
                &mut view.active
            } else {
                &mut view.inactive
            };
            place.push(entry);
        }
        view.prompt = prompt::about(&view.active, holdings);
        view
    }
}
