//! Resources and prompts of all servers, and whether changes of resources are followed.
//!
//! Floor 4. Derived from the servers that are connected and compared with what was last said,
//! like the catalogue of tools, with a revision each (G25).

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::event::Event;
use crate::id::ServerName;
use crate::outbox::Outbox;
use crate::server::Server;
use crate::time::Timestamp;
use crate::wire::mcp::{PromptDef, ResourceDef, TemplateDef};

use super::Hub;
use super::slot::Slot;

/// The resources of all connected servers at one moment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Resources {
    /// Counts the changes.
    pub revision: u64,
    /// The servers that have any, in configuration order.
    pub servers: Vec<ServerResources>,
}

/// The resources of one server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerResources {
    /// The server.
    pub server: ServerName,
    /// Its resources, in its own order. Untrusted text.
    pub resources: Arc<[ResourceDef]>,
    /// Its templates of resources, in its own order. Untrusted text.
    pub templates: Arc<[TemplateDef]>,
}

/// The prompts of all connected servers at one moment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Prompts {
    /// Counts the changes.
    pub revision: u64,
    /// The servers that have any, in configuration order.
    pub servers: Vec<ServerPrompts>,
}

/// The prompts of one server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ServerPrompts {
    /// The server.
    pub server: ServerName,
    /// Its prompts, in its own order. Untrusted text.
    pub prompts: Arc<[PromptDef]>,
}

/// What was last said of resources and prompts, and what the host follows.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    pub(super) resources: Arc<Resources>,
    pub(super) prompts: Arc<Prompts>,
    /// The order they stand in.
    order: Arc<[ServerName]>,
    pub(super) watching: bool,
}

impl Hub {
    /// Follows changes of resources from here on, or no more.
    pub fn watch(&mut self, now: Timestamp, on: bool, out: &mut Outbox) {
        if core::mem::replace(&mut self.live.watching, on) != on {
            for conn in self.by_conn.keys().copied().collect::<Vec<_>>() {
                self.with_server(conn, now, out, |server, out| server.watch(now, on, out));
            }
        }
    }

    /// The resources of all connected servers.
    #[must_use]
    pub const fn resources(&self) -> &Arc<Resources> {
        &self.live.resources
    }

    /// The prompts of all connected servers.
    #[must_use]
    pub const fn prompts(&self) -> &Arc<Prompts> {
        &self.live.prompts
    }

    /// A server is ready and its calls were sent: whatever else it has is asked for.
    pub(super) fn load_extras(&mut self, name: &ServerName, now: Timestamp, out: &mut Outbox) {
        let watching = self.live.watching;
        let Some(server) = self.slots.get_mut(name).and_then(|slot| slot.server.as_mut()) else {
            return;
        };
        let (conn, before) = (server.conn(), server.deadline());
        server.load_extras(now, watching, out);
        let after = server.deadline();
        self.set_alarm(conn, before, after);
    }

    /// Derives resources and prompts anew, if those of one of `changed` or the order are others,
    /// and says what changed.
    pub(super) fn derive_extras(&mut self, out: &mut Outbox) {
        let ordered = Arc::ptr_eq(&self.live.order, &self.order);
        if ordered && self.changed.iter().all(|name| self.is_as_said(name)) {
            return;
        }
        self.live.order = Arc::clone(&self.order);
        let offers = |name| self.slots.get(name).and_then(|slot| slot.resources(name));
        let resources: Vec<_> = self.order.iter().filter_map(offers).collect();
        let offers = |name| self.slots.get(name).and_then(|slot| slot.prompts(name));
        let prompts: Vec<_> = self.order.iter().filter_map(offers).collect();
        if resources != self.live.resources.servers {
            let revision = self.live.resources.revision + 1;
            self.live.resources = Arc::new(Resources { revision, servers: resources });
            out.event(Event::ResourcesChanged { revision });
        }
        if prompts != self.live.prompts.servers {
            let revision = self.live.prompts.revision + 1;
            self.live.prompts = Arc::new(Prompts { revision, servers: prompts });
            out.event(Event::PromptsChanged { revision });
        }
    }

    fn is_as_said(&self, name: &ServerName) -> bool {
        let slot = self.slots.get(name);
        let said = self.live.resources.servers.iter().find(|said| said.server == *name);
        let same = slot.and_then(|slot| slot.resources(name)).as_ref() == said;
        let said = self.live.prompts.servers.iter().find(|said| said.server == *name);
        same && slot.and_then(|slot| slot.prompts(name)).as_ref() == said
    }
}

impl Slot {
    fn resources(&self, name: &ServerName) -> Option<ServerResources> {
        let offer = self.connected()?.resources()?;
        let (resources, templates) = (Arc::clone(&offer.resources), Arc::clone(&offer.templates));
        (resources.len() + templates.len() > 0).then(|| ServerResources {
            server: name.clone(),
            resources,
            templates,
        })
    }

    fn prompts(&self, name: &ServerName) -> Option<ServerPrompts> {
        let prompts = self.connected()?.prompts()?;
        (!prompts.is_empty())
            .then(|| ServerPrompts { server: name.clone(), prompts: Arc::clone(prompts) })
    }

    fn connected(&self) -> Option<&Server> {
        self.server.as_ref().filter(|_| self.is_connected())
    }
}
