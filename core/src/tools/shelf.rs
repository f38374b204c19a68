//! The catalogue of a moment from the offers of that moment, with what did not change reused.
//!
//! Floor 5. May import floors 0 to 4. What comes out is [`derive`](super::catalog::derive) of
//! the offers, always; but two hundred servers that become ready one after the other change two
//! hundred small parts of it, so the tools of a server whose offer is the same are kept, and the
//! names of all are compared anew only where two tools would share one.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::canon::Fingerprint;
use crate::config::ToolFilter;
use crate::error::{Category, Problem, Severity};
use crate::hub::policy::Names;
use crate::hub::{Offer, Worth};
use crate::id::ServerName;
use crate::quote::Quoted;
use crate::wire::mcp::ToolDef;

use super::catalog::{self, Slice, SliceState, Tool};
use super::name;

/// How many tools that are left out are named.
const NAMED: usize = 5;

/// The offers that were last put together.
#[derive(Clone, Debug)]
pub struct Shelf {
    names: Names,
    kept: BTreeMap<ServerName, Kept>,
    order: Arc<[ServerName]>,
    /// Where each server stands in the order, and how many tools each place has.
    places: BTreeMap<ServerName, usize>,
    counts: Vec<usize>,
    /// How many tools would have each name, by its fingerprint: two names that shared one would
    /// only be compared for nothing.
    holders: BTreeMap<Fingerprint, usize>,
    /// How many names more than one tool would have.
    shared: usize,
}

/// The offer of one server and what was made of it.
#[derive(Clone, Debug)]
struct Kept {
    offered: Arc<[ToolDef]>,
    filter: ToolFilter,
    /// What is wanted of what is offered.
    defs: Arc<[ToolDef]>,
    worth: Worth,
    tools: Vec<Arc<Tool>>,
    problems: Vec<Problem>,
}

/// What new offers came to, for one who holds the list of all tools.
#[derive(Clone, Debug)]
pub enum Change {
    /// The tools of one server stand where others stood.
    Part(Range<usize>, Vec<Arc<Tool>>),
    /// This is the list. It may be equal to the last one.
    Whole(Vec<Arc<Tool>>),
}

impl Shelf {
    /// An empty shelf for a rule of naming.
    #[must_use]
    pub fn new(names: Names) -> Self {
        Self {
            names,
            kept: BTreeMap::new(),
            order: Arc::default(),
            places: BTreeMap::new(),
            counts: Vec::new(),
            holders: BTreeMap::new(),
            shared: 0,
        }
    }

    /// Takes in the configuration order and the offers of those servers that may offer
    /// something else than the last time; what to change in the list of all tools, if anything,
    /// and what is to be said about those that changed.
    pub fn put<'a>(
        &mut self,
        order: &Arc<[ServerName]>,
        offers: impl Iterator<Item = (&'a ServerName, Option<Offer<'a>>)>,
    ) -> (Option<Change>, Vec<Problem>) {
        let shared = self.shared > 0;
        let mut whole = self.arrange(order);
        let mut changed = None;
        // What is to be said of a server whose tools are the same, none perhaps.
        let mut said = Vec::new();
        for (server, offer) in offers {
            // What is not configured offers nothing, and is forgotten already.
            let Some(place) = self.places.get(server).copied() else { continue };
            let Some(before) = self.replace(server, offer.as_ref(), &mut said) else { continue };
            let start = self.counts.iter().take(place).sum();
            if let Some(count) = self.counts.get_mut(place) {
                *count = self.kept.get(server).map_or(0, |kept| kept.tools.len());
            }
            whole |= changed.replace((server, start..start + before)).is_some();
        }
        if whole || changed.is_some() && (shared || self.shared > 0) {
            return self.assemble();
        }
        let Some((server, range)) = changed else { return (None, said) };
        let kept = self.kept.get(server);
        let tools = kept.map(|kept| kept.tools.clone()).unwrap_or_default();
        said.extend(kept.into_iter().flat_map(|kept| kept.problems.iter().cloned()));
        (Some(Change::Part(range, tools)), said)
    }

    /// Takes in the configuration order; whether it is another one.
    fn arrange(&mut self, order: &Arc<[ServerName]>) -> bool {
        if Arc::ptr_eq(&self.order, order) {
            return false;
        }
        self.order = Arc::clone(order);
        let present: BTreeSet<&ServerName> = order.iter().collect();
        let gone: Vec<ServerName> =
            self.kept.keys().filter(|name| !present.contains(name)).cloned().collect();
        gone.iter().for_each(|name| drop(self.forget(name)));
        self.places = order.iter().cloned().zip(0..).collect();
        let count = |name| self.kept.get(name).map_or(0, |kept| kept.tools.len());
        self.counts = order.iter().map(count).collect();
        true
    }

    /// Takes in the offer of one server; how many tools it had before, if it has others now.
    fn replace(
        &mut self,
        server: &ServerName,
        offer: Option<&Offer<'_>>,
        said: &mut Vec<Problem>,
    ) -> Option<usize> {
        let same = match (self.kept.get(server), offer) {
            (Some(kept), Some(offer)) => {
                Arc::ptr_eq(&kept.offered, offer.tools)
                    && kept.filter == *offer.filter
                    && kept.worth == offer.worth
            }
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if same {
            return None;
        }
        let before = self.forget(server);
        if let Some(offer) = offer {
            self.keep(offer);
        }
        let kept = self.kept.get(server);
        if before != kept.map_or(&[][..], |kept| &kept.tools) {
            return Some(before.len());
        }
        said.extend(kept.into_iter().flat_map(|kept| kept.problems.iter().cloned()));
        None
    }

    fn keep(&mut self, offer: &Offer<'_>) {
        let (defs, left_out) = wanted(offer);
        let slice = Slice { server: offer.server, tools: &defs, state: offer.worth.state() };
        let names: Vec<String> = defs.iter().map(|def| self.bare(offer.server, def)).collect();
        let mut alone = true;
        for name in &names {
            let holders = self.holders.entry(Fingerprint::of(name.as_bytes())).or_insert(0);
            *holders += 1;
            alone &= *holders == 1;
            self.shared += usize::from(*holders == 2);
        }
        // Names that nobody else has need no comparing.
        let (tools, mut problems) = if alone {
            catalog::named(&slice, names)
        } else {
            catalog::derive(self.names, &[slice])
        };
        problems.extend(left_out);
        let kept = Kept {
            offered: Arc::clone(offer.tools),
            filter: offer.filter.clone(),
            defs,
            worth: offer.worth.clone(),
            tools: shared(tools),
            problems,
        };
        self.kept.insert(offer.server.clone(), kept);
    }

    fn forget(&mut self, server: &ServerName) -> Vec<Arc<Tool>> {
        let Some(kept) = self.kept.remove(server) else { return Vec::new() };
        for def in kept.defs.iter() {
            let name = Fingerprint::of(self.bare(server, def).as_bytes());
            if let Some(holders) = self.holders.get_mut(&name) {
                *holders -= 1;
                self.shared -= usize::from(*holders == 1);
                if *holders == 0 {
                    self.holders.remove(&name);
                }
            }
        }
        kept.tools
    }

    fn bare(&self, server: &ServerName, def: &ToolDef) -> String {
        name::bare(self.names, server.as_str(), &def.name)
    }

    /// The tool that a definition leaves out and that would be exposed under a name.
    #[must_use]
    pub fn left_out(&self, exposed: &str) -> Option<(&ServerName, &str)> {
        self.kept.iter().filter(|(_, kept)| !kept.filter.is_open()).find_map(|(server, kept)| {
            let is_it =
                |def: &&ToolDef| !kept.filter.wants(&def.name) && self.bare(server, def) == exposed;
            kept.offered.iter().find(is_it).map(|def| (server, def.name.as_str()))
        })
    }

    /// All tools in configuration order, and all that is to be said about them.
    fn assemble(&self) -> (Option<Change>, Vec<Problem>) {
        let parts = || self.order.iter().filter_map(|name| self.kept.get_key_value(name));
        if self.shared > 0 {
            let slices: Vec<Slice<'_>> = parts().map(|(name, kept)| kept.slice(name)).collect();
            let (tools, problems) = catalog::derive(self.names, &slices);
            return (Some(Change::Whole(shared(tools))), problems);
        }
        // No two tools would share a name: each server's part stands for itself.
        let tools = parts().flat_map(|(_, kept)| kept.tools.iter().cloned()).collect();
        let problems = parts().flat_map(|(_, kept)| kept.problems.iter().cloned()).collect();
        (Some(Change::Whole(tools)), problems)
    }
}

impl Kept {
    fn slice<'a>(&'a self, server: &'a ServerName) -> Slice<'a> {
        Slice { server, tools: &self.defs, state: self.worth.state() }
    }
}

impl Worth {
    const fn state(&self) -> SliceState<'_> {
        match self {
            Self::Live => SliceState::Live,
            Self::Deferred => SliceState::Deferred,
            Self::Failed(reason) => SliceState::Failed(reason.as_str()),
        }
    }
}

/// The tools, each to be had by many. Collecting them would keep the room of what they were.
fn shared(tools: Vec<Tool>) -> Vec<Arc<Tool>> {
    let mut shared = Vec::with_capacity(tools.len());
    shared.extend(tools.into_iter().map(Arc::new));
    shared
}

/// The tools of an offer that its definition wants, and what is said of the others.
fn wanted(offer: &Offer<'_>) -> (Arc<[ToolDef]>, Option<Problem>) {
    if offer.filter.is_open() {
        return (Arc::clone(offer.tools), None);
    }
    let all = offer.tools.iter().cloned();
    let (wanted, others): (Vec<ToolDef>, Vec<ToolDef>) =
        all.partition(|def| offer.filter.wants(&def.name));
    let left_out = (!others.is_empty()).then(|| left_out(offer.server, &others));
    (Arc::from(wanted), left_out)
}

fn left_out(server: &ServerName, others: &[ToolDef]) -> Problem {
    let named: Vec<String> =
        others.iter().take(NAMED).map(|def| format!("{:?}", Quoted(&def.name))).collect();
    let more = others.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = named.join(", ");
    let message = format!(
        "tools of server \"{server}\" are left out by its definition and not offered: {named}{more}"
    );
    let problem = Problem::of_server(server, Category::ExcludedTools, message);
    Problem { severity: Severity::Info, ..problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::mcp;

    fn slice<'a>(offer: &Offer<'a>) -> Slice<'a> {
        let state = match offer.worth {
            Worth::Live => SliceState::Live,
            Worth::Deferred | Worth::Failed(_) => SliceState::Deferred,
        };
        Slice { server: offer.server, tools: offer.tools, state }
    }

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
        let filter = &ToolFilter::default();
        for names in [Names::Distinct, Names::Documented] {
            let (mut shelf, mut all) = (Shelf::new(names), Vec::new());
            let (mut parts, mut wholes) = (0, 0);
            // Every list for every server, in an order in which they all follow one another.
            for step in 0..lists.len().pow(3) * 4 {
                let digit = |at: u32| step * 7 / lists.len().pow(at) % (lists.len() + 1);
                let offers: Vec<(&ServerName, Option<Offer<'_>>)> = servers
                    .iter()
                    .zip(0..)
                    .map(|(server, at)| {
                        let worth = if step % 2 == 0 { Worth::Live } else { Worth::Deferred };
                        let tools = lists.get(digit(at));
                        (server, tools.map(|tools| Offer { server, tools, filter, worth }))
                    })
                    .collect();
                // The configuration order changes now and then, and may lack a server.
                let order: Arc<[ServerName]> = Arc::from(&servers[usize::from(step % 32 > 24)..]);
                let present = offers.iter().filter(|(server, _)| order.contains(server));
                let slices: Vec<Slice<'_>> =
                    present.filter_map(|(_, offer)| offer.as_ref().map(slice)).collect();
                let (wanted, _) = catalog::derive(names, &slices);
                // Now and then one by one, as servers become ready.
                let rounds = if step % 4 < 2 { offers.chunks(3) } else { offers.chunks(1) };
                for round in rounds {
                    let (change, _) = shelf.put(&order, round.iter().cloned());
                    match change {
                        Some(Change::Whole(tools)) => (all, wholes) = (tools, wholes + 1),
                        Some(Change::Part(place, tools)) => {
                            all.splice(place, tools);
                            parts += 1;
                        }
                        None => {}
                    }
                }
                let tools: Vec<Tool> = all.iter().map(|tool| Tool::clone(tool)).collect();
                assert_eq!(tools, wanted, "step {step}");
                assert!(shelf.put(&order, offers.into_iter()).0.is_none());
            }
            assert!(parts > 10 && wholes > 10, "{parts} parts, {wholes} wholes");
        }
    }

    /// Tools that a definition leaves out are not offered, and one can find out why.
    #[test]
    fn what_a_definition_leaves_out_is_not_on_the_shelf_and_that_is_said() {
        let (server, tools) = (&ServerName::new("s"), &defs(&["a", "b", "c"]));
        let order: Arc<[ServerName]> = Arc::from([server.clone()]);
        let mut shelf = Shelf::new(Names::Distinct);
        let mut put = |filter: &ToolFilter| {
            let offer = Offer { server, tools, filter, worth: Worth::Live };
            let (change, problems) = shelf.put(&order, core::iter::once((server, Some(offer))));
            let names = match change {
                Some(Change::Whole(tools) | Change::Part(_, tools)) => {
                    tools.iter().map(|tool| tool.tool.clone()).collect::<Vec<_>>()
                }
                None => Vec::new(),
            };
            (names, problems)
        };
        let (names, problems) =
            put(&ToolFilter { include: None, exclude: Vec::from(["b".into()]) });
        assert_eq!(names, ["a", "c"]);
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!((problem.severity, problem.category), (Severity::Info, Category::ExcludedTools));
        assert!(problem.message.ends_with(r#"not offered: "b""#), "{}", problem.message);
        // Another list of what is wanted is another offer of the same tools.
        let include = Some(Vec::from(["b(x)".into(), "c".into()]));
        let (names, _) = put(&ToolFilter { include, exclude: Vec::from(["c".into()]) });
        assert_eq!(names, ["b"]);
        assert_eq!(shelf.left_out("mcp_s_c"), Some((server, "c")));
        assert_eq!(shelf.left_out("mcp_s_b"), None);
    }
}
