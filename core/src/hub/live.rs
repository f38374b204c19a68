//! Resources and prompts of all servers, and whether changes of resources are followed.
//!
//! Floor 4. Derived from the servers that are connected and compared with what was last said,
//! like the catalogue of tools, with a revision each (G25).

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::config::resolve::Told;
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
    /// The order they stand in, and the place of each server in it.
    order: Arc<[ServerName]>,
    places: Arc<BTreeMap<ServerName, usize>>,
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

    /// What became of every definition of every file.
    #[must_use]
    pub fn fates(&self) -> &[Told] {
        &self.fates
    }

    /// The keys of the Exa search in definitions that are left out.
    #[must_use]
    pub fn exa_keys(&self) -> &[alloc::string::String] {
        &self.exa_keys
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

    /// Derives resources and prompts anew and says what changed. As long as the order is the
    /// same, only the part of a server in `changed` can be another one.
    pub(super) fn derive_extras(&mut self, out: &mut Outbox) {
        let (resources, prompts) = if Arc::ptr_eq(&self.live.order, &self.order) {
            self.derive_changed_extras()
        } else {
            self.derive_all_extras()
        };
        if resources {
            let all = Arc::make_mut(&mut self.live.resources);
            all.revision += 1;
            out.event(Event::ResourcesChanged { revision: all.revision });
        }
        if prompts {
            let all = Arc::make_mut(&mut self.live.prompts);
            all.revision += 1;
            out.event(Event::PromptsChanged { revision: all.revision });
        }
    }

    /// Whether resources and prompts are others than before.
    fn derive_changed_extras(&mut self) -> (bool, bool) {
        let Self { live, slots, changed, .. } = self;
        let mut others = (false, false);
        for name in changed.iter() {
            let Some(place) = live.places.get(name) else { continue };
            let slot = slots.get(name);
            let has = slot.and_then(|slot| slot.resources(name));
            if let Some(range) = outdated(&live.resources.servers, &live.places, *place, &has) {
                Arc::make_mut(&mut live.resources).servers.splice(range, has);
                others.0 = true;
            }
            let has = slot.and_then(|slot| slot.prompts(name));
            if let Some(range) = outdated(&live.prompts.servers, &live.places, *place, &has) {
                Arc::make_mut(&mut live.prompts).servers.splice(range, has);
                others.1 = true;
            }
        }
        others
    }

    /// Whether resources and prompts are others than before.
    fn derive_all_extras(&mut self) -> (bool, bool) {
        let Self { live, slots, order, .. } = self;
        live.order = Arc::clone(order);
        live.places = Arc::new(order.iter().cloned().zip(0..).collect());
        let all = || order.iter().filter_map(|name| Some((name, slots.get(name)?)));
        let resources: Vec<_> = all().filter_map(|(name, slot)| slot.resources(name)).collect();
        let prompts: Vec<_> = all().filter_map(|(name, slot)| slot.prompts(name)).collect();
        let others = (resources != live.resources.servers, prompts != live.prompts.servers);
        if others.0 {
            Arc::make_mut(&mut live.resources).servers = resources;
        }
        if others.1 {
            Arc::make_mut(&mut live.prompts).servers = prompts;
        }
        others
    }
}

/// What one server has, as a part of what all have.
trait Part: PartialEq + Sized {
    fn server(&self) -> &ServerName;
}

impl Part for ServerResources {
    fn server(&self) -> &ServerName {
        &self.server
    }
}

impl Part for ServerPrompts {
    fn server(&self) -> &ServerName {
        &self.server
    }
}

/// Where to put what the server in this place of the order has, if it is not there already.
fn outdated<P: Part>(
    parts: &[P],
    places: &BTreeMap<ServerName, usize>,
    place: usize,
    has: &Option<P>,
) -> Option<Range<usize>> {
    let range = match parts.binary_search_by_key(&Some(&place), |part| places.get(part.server())) {
        Ok(at) => at..at + 1,
        Err(at) => at..at,
    };
    (parts.get(range.clone()) != Some(has.as_slice())).then_some(range)
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
