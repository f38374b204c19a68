//! What changes at servers that go on running: lists are ones a server gave, in the order in
//! which it gave them; resources and prompts count their changes; updates are subscribed to.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use tidegate_core::event::{Event, ServerState};
use tidegate_core::held::Held;
use tidegate_core::hub::live::{Prompts, Resources};
use tidegate_core::id::{ConnId, ServerName};
use tidegate_core::input::{Fact, Input, Request};
use tidegate_core::tools::catalog::ToolState;

use super::{Breach, Law, Seen};
use crate::driver::Driver;
use crate::lists::Kind;

#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    resources: Resources,
    prompts: Prompts,
    watching: bool,
    /// The addresses that were recorded after the last step.
    recorded: BTreeMap<ServerName, BTreeSet<String>>,
    /// Which of the lists that a server told was seen last.
    told: Held<BTreeMap<(ConnId, Kind), usize>>,
}

impl Live {
    pub(super) fn check(&mut self, seen: &Seen<'_>, driver: &Driver) -> Result<(), Breach> {
        self.check_revisions(seen)?;
        self.check_places(seen)?;
        self.check_lists(seen, driver)?;
        self.check_subscriptions(seen, driver)
    }

    /// G25: one change, one event, one revision more.
    fn check_revisions(&mut self, seen: &Seen<'_>) -> Result<(), Breach> {
        let (mut resources, mut prompts) = (self.resources.revision, self.prompts.revision);
        for event in seen.events {
            let (said, counted) = match event {
                Event::ResourcesChanged { revision } => (revision, &mut resources),
                Event::PromptsChanged { revision } => (revision, &mut prompts),
                _ => continue,
            };
            *counted += 1;
            Law::Live.demands(said == counted, || {
                format!("revision {said} was said where {counted} comes next (G25)")
            })?;
        }
        let (r, p) = (seen.resources, seen.prompts);
        Law::Live.demands((r.revision, p.revision) == (resources, prompts), || {
            format!("at {} and {}, and {resources} and {prompts} were said", r.revision, p.revision)
        })?;
        let told = |more: u64, same: bool| if same { more != 1 } else { more > 0 };
        let more = resources - self.resources.revision;
        Law::Live.demands(told(more, r.servers == self.resources.servers), || {
            format!("the resources changed or not, and {more} changes were said (G25)")
        })?;
        let more = prompts - self.prompts.revision;
        Law::Live.demands(told(more, p.servers == self.prompts.servers), || {
            format!("the prompts changed or not, and {more} changes were said (G25)")
        })?;
        if r.revision != self.resources.revision {
            self.resources = r.clone();
        }
        if p.revision != self.prompts.revision {
            self.prompts = p.clone();
        }
        Ok(())
    }

    /// Only connected servers, in configuration order (G19).
    fn check_places(&self, seen: &Seen<'_>) -> Result<(), Breach> {
        let place = |name: &ServerName| {
            seen.status
                .servers
                .iter()
                .position(|server| server.name == *name && server.state == ServerState::Connected)
        };
        let resources = seen.resources.servers.iter().map(|of| place(&of.server));
        let prompts = seen.prompts.servers.iter().map(|of| place(&of.server));
        let connected = resources.clone().chain(prompts.clone()).all(|place| place.is_some());
        Law::Live.demands(connected, || "something is offered by who is not connected".into())?;
        let sorted = resources.is_sorted() && prompts.is_sorted();
        Law::Live.demands(sorted, || "not in configuration order (G19)".into())
    }

    /// G26, G28: what is offered is a list that the server told to its end, never one it told
    /// before the one that was offered last.
    fn check_lists(&mut self, seen: &Seen<'_>, driver: &Driver) -> Result<(), Breach> {
        for server in &seen.status.servers {
            let Some(conn) = server.conn.filter(|_| server.state == ServerState::Connected) else {
                continue;
            };
            let Some(lists) = driver.lists(conn).filter(|lists| !lists.spoiled) else { continue };
            for kind in [Kind::Tools, Kind::Resources, Kind::Templates, Kind::Prompts] {
                let offered = offered(seen, &server.name, kind);
                let told = lists.whole.get(&kind).map(Vec::as_slice).unwrap_or_default();
                let last = self.told.get(&(conn, kind)).copied().unwrap_or(0);
                if offered.is_empty() && last == 0 {
                    continue;
                }
                let at = told.iter().skip(last).position(|list| *list == offered);
                match at {
                    Some(0) => {}
                    Some(at) => drop(self.told.insert((conn, kind), last + at)),
                    None => {
                        return Law::Live.broken(format!(
                            "{} offers {offered:?} by {}, which it did not tell or told before \
                             another list that was offered: {told:?} (G26, G28)",
                            server.name,
                            kind.method()
                        ));
                    }
                }
            }
        }
        let over = |(conn, _): &(ConnId, Kind)| driver.lists(*conn).is_none();
        if self.told.keys().any(over) {
            self.told.retain(|told, _| !over(told));
        }
        Ok(())
    }

    /// G51: recorded is what the server was asked for on this connection; updates of nothing
    /// else are passed on.
    fn check_subscriptions(&mut self, seen: &Seen<'_>, driver: &Driver) -> Result<(), Breach> {
        if let Some(Input::Host(Request::Watch { on })) = seen.input {
            self.watching = *on;
        }
        let mut recorded = BTreeMap::new();
        for server in seen.status.servers.iter().filter(|one| !one.subscriptions.is_empty()) {
            let name = &server.name;
            let connected = self.watching && server.state == ServerState::Connected;
            Law::Live
                .demands(connected, || format!("{name} has subscriptions and must not (G51)"))?;
            let uris: BTreeSet<String> = server.subscriptions.iter().cloned().collect();
            let asked = server.conn.and_then(|conn| driver.watched(conn));
            let known = asked.is_none_or(|asked| uris.is_subset(asked));
            Law::Live.demands(known, || {
                format!("{name} has the subscriptions {uris:?}, of which it knows {asked:?} (G51)")
            })?;
            recorded.insert(name.clone(), uris);
        }
        let many = matches!(seen.input, Some(Input::Io(Fact::Received { bytes, .. }))
            if bytes.iter().filter(|byte| **byte == b'\n').count() > 1 || bytes.starts_with(b"["));
        for event in seen.events {
            let Event::ResourceUpdated { server, uri } = event else { continue };
            let of = |all: &BTreeMap<ServerName, BTreeSet<String>>| {
                all.get(server).is_some_and(|uris| uris.contains(uri))
            };
            Law::Live.demands(many || of(&recorded) || of(&self.recorded), || {
                format!("{server} updated {uri}, which is not subscribed to (G51)")
            })?;
        }
        self.recorded = recorded;
        Ok(())
    }

    pub(super) fn digest(&self, state: &mut impl Hasher) {
        self.watching.hash(state);
        // Who has told one list only has told the first one.
        let later = self.told.iter().filter(|(_, at)| **at > 0);
        later.for_each(|((_, kind), at)| (kind, at).hash(state));
    }
}

fn offered<'a>(seen: &Seen<'a>, name: &ServerName, kind: Kind) -> Vec<&'a str> {
    let resources = seen.resources.servers.iter().filter(|of| of.server == *name);
    let prompts = seen.prompts.servers.iter().filter(|of| of.server == *name);
    match kind {
        Kind::Tools => seen
            .catalog
            .tools
            .iter()
            .filter(|tool| tool.server == *name)
            .filter(|tool| matches!(tool.state, ToolState::Live | ToolState::Quarantined { .. }))
            .map(|tool| tool.tool.as_str())
            .collect(),
        Kind::Resources => {
            resources.flat_map(|of| of.resources.iter().map(|resource| &*resource.uri)).collect()
        }
        Kind::Templates => resources
            .flat_map(|of| of.templates.iter().map(|template| template.uri_template.as_str()))
            .collect(),
        Kind::Prompts => {
            prompts.flat_map(|of| of.prompts.iter().map(|prompt| prompt.name.as_str())).collect()
        }
    }
}
