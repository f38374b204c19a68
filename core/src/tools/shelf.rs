//! The catalogue of a moment from the offers of that moment, with what did not change reused.
//!
//! Floor 5. May import floors 0 to 4. What comes out is [`derive`](super::catalog::derive) of
//! the offers, always; but two hundred servers that become ready one after the other change two
//! hundred small parts of it, so the tools of a server whose offer is the same are kept, and the
//! names of all are compared anew only where two tools would share one.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::Problem;
use crate::hub::policy::Names;
use crate::hub::{Offer, Worth};
use crate::id::ServerName;
use crate::wire::mcp::ToolDef;

use super::catalog::{self, Slice, SliceState, Tool};
use super::name;

/// The offers that were last put together.
#[derive(Clone, Debug)]
pub struct Shelf {
    names: Names,
    kept: BTreeMap<ServerName, Kept>,
    order: Vec<ServerName>,
    /// How many tools would have each name.
    holders: BTreeMap<String, usize>,
    /// How many names more than one tool would have.
    shared: usize,
}

/// The offer of one server and what was made of it.
#[derive(Clone, Debug)]
struct Kept {
    defs: Arc<[ToolDef]>,
    worth: Worth,
    tools: Vec<Arc<Tool>>,
    problems: Vec<Problem>,
}

impl Shelf {
    /// An empty shelf for a rule of naming.
    #[must_use]
    pub const fn new(names: Names) -> Self {
        Self {
            names,
            kept: BTreeMap::new(),
            order: Vec::new(),
            holders: BTreeMap::new(),
            shared: 0,
        }
    }

    /// Puts the offers together, which come in configuration order; `None` if they are the ones
    /// of the last time.
    pub fn put<'a>(
        &mut self,
        offers: impl Iterator<Item = Offer<'a>>,
    ) -> Option<(Vec<Arc<Tool>>, Vec<Problem>)> {
        let offers: Vec<Offer<'a>> = offers.collect();
        let names = || offers.iter().map(|offer| offer.server);
        let mut changed = !names().eq(&self.order);
        if changed {
            self.order = names().cloned().collect();
        }
        for offer in &offers {
            let same =
                |kept: &Kept| Arc::ptr_eq(&kept.defs, offer.tools) && kept.worth == offer.worth;
            if !self.kept.get(offer.server).is_some_and(same) {
                changed = true;
                self.forget(offer.server);
                self.keep(offer);
            }
        }
        if self.kept.len() > offers.len() {
            let present: BTreeSet<&ServerName> = names().collect();
            let gone: Vec<ServerName> =
                self.kept.keys().filter(|name| !present.contains(name)).cloned().collect();
            gone.iter().for_each(|name| self.forget(name));
        }
        changed.then(|| if self.shared > 0 { self.compare(&offers) } else { self.concatenate() })
    }

    fn keep(&mut self, offer: &Offer<'_>) {
        let (tools, problems) = catalog::derive(self.names, &[slice(offer)]);
        for def in offer.tools.iter() {
            let holders = self.holders.entry(self.bare(offer.server, def)).or_insert(0);
            *holders += 1;
            self.shared += usize::from(*holders == 2);
        }
        let kept = Kept {
            defs: Arc::clone(offer.tools),
            worth: offer.worth.clone(),
            tools: tools.into_iter().map(Arc::new).collect(),
            problems,
        };
        self.kept.insert(offer.server.clone(), kept);
    }

    fn forget(&mut self, server: &ServerName) {
        let Some(kept) = self.kept.remove(server) else { return };
        for def in kept.defs.iter() {
            let name = self.bare(server, def);
            if let Some(holders) = self.holders.get_mut(&name) {
                *holders -= 1;
                self.shared -= usize::from(*holders == 1);
                if *holders == 0 {
                    self.holders.remove(&name);
                }
            }
        }
    }

    fn bare(&self, server: &ServerName, def: &ToolDef) -> String {
        name::bare(self.names, server.as_str(), &def.name)
    }

    /// No two tools would share a name: each server's part stands for itself.
    fn concatenate(&self) -> (Vec<Arc<Tool>>, Vec<Problem>) {
        let parts = || self.order.iter().filter_map(|name| self.kept.get(name));
        let tools = parts().flat_map(|kept| kept.tools.iter().cloned()).collect();
        (tools, parts().flat_map(|kept| kept.problems.iter().cloned()).collect())
    }

    fn compare(&self, offers: &[Offer<'_>]) -> (Vec<Arc<Tool>>, Vec<Problem>) {
        let slices: Vec<Slice<'_>> = offers.iter().map(slice).collect();
        let (tools, problems) = catalog::derive(self.names, &slices);
        (tools.into_iter().map(Arc::new).collect(), problems)
    }
}

fn slice<'a>(offer: &'a Offer<'_>) -> Slice<'a> {
    let state = match &offer.worth {
        Worth::Live => SliceState::Live,
        Worth::Deferred => SliceState::Deferred,
        Worth::Failed(reason) => SliceState::Failed(reason),
    };
    Slice { server: offer.server, tools: offer.tools, state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::mcp;

    fn defs(names: &[&str]) -> Arc<[ToolDef]> {
        let entry = |name: &&str| {
            alloc::format!("{{\"name\":\"{name}\",\"inputSchema\":{{\"type\":\"object\"}}}}")
        };
        let entries: Vec<String> = names.iter().map(entry).collect();
        Arc::from(mcp::read_tools(&alloc::format!("[{}]", entries.join(","))).unwrap())
    }

    /// G24: whatever came before, the catalogue is a function of the present offers.
    #[test]
    fn the_shelf_is_the_derivation_whatever_came_before() {
        let servers: Vec<ServerName> =
            ["a", "a_b", "b"].iter().map(|n| ServerName::new(n)).collect();
        let lists = [defs(&[]), defs(&["x", "y"]), defs(&["b_x", "x"]), defs(&["x", "X", "x_y"])];
        for names in [Names::Distinct, Names::Documented] {
            let mut shelf = Shelf::new(names);
            // Every list for every server, in an order in which they all follow one another.
            for step in 0..lists.len().pow(3) * 2 {
                let digit = |at: u32| step * 7 / lists.len().pow(at) % (lists.len() + 1);
                let offers: Vec<Offer<'_>> = servers
                    .iter()
                    .zip(0..)
                    .filter_map(|(server, at)| {
                        let tools = lists.get(digit(at))?;
                        let worth = if step % 2 == 0 { Worth::Live } else { Worth::Deferred };
                        Some(Offer { server, tools, worth })
                    })
                    .collect();
                let slices: Vec<Slice<'_>> = offers.iter().map(slice).collect();
                let (wanted, problems) = catalog::derive(names, &slices);
                if let Some((tools, found)) = shelf.put(offers.iter().cloned()) {
                    let tools: Vec<Tool> = tools.iter().map(|tool| Tool::clone(tool)).collect();
                    assert_eq!((tools, found), (wanted, problems), "step {step}");
                }
                assert!(shelf.put(offers.iter().cloned()).is_none());
            }
        }
    }
}
