//! Whatever comes and goes, does a session offer what is there and wanted, and nothing else?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tidegate_core::bytes::Json;
use tidegate_core::id::OwnerId;
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::tools::catalog::{Catalog, Tool, ToolState};
use tidegate_core::tools::registry::{
    Activation, Entry, Offering, OwnTool, Refresh, Registry, Switch, ToolKey, View,
};

/// The tools that come and go: some of two servers, of which every owner has both.
const TOOLS: [(&str, &str); 5] =
    [("git", "log"), ("git", "push"), ("git", "tag"), ("web", "get"), ("web", "put")];
const OWN: [&str; 2] = ["read", "mcp_web_put"];

#[derive(Clone, Debug)]
enum Step {
    /// An owner has these tools (a bit each) at this revision, however old it is.
    Refresh { owner: u64, revision: u64, tools: u8 },
    /// The user switches a tool, which need not be there.
    Switch { tool: usize, switch: Switch },
    /// All that is there counts as switched on.
    Keep,
    /// An owner ends.
    Release { owner: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let switch = prop_oneof![Just(Switch::On), Just(Switch::Off)];
    prop_oneof![
        6 => (0..3_u64, 0..12_u64, 0..32_u8)
            .prop_map(|(owner, revision, tools)| Step::Refresh { owner, revision, tools }),
        4 => (0..TOOLS.len() + OWN.len(), switch)
            .prop_map(|(tool, switch)| Step::Switch { tool, switch }),
        1 => Just(Step::Keep),
        1 => (0..3_u64).prop_map(|owner| Step::Release { owner }),
    ]
}

fn key(at: usize) -> ToolKey {
    match TOOLS.get(at) {
        Some((server, tool)) => ToolKey::Served { server: (*server).into(), tool: (*tool).into() },
        None => ToolKey::Own(OWN[at - TOOLS.len()].into()),
    }
}

fn offering(revision: u64, tools: u8) -> Offering {
    let present = TOOLS.iter().enumerate().filter(|(at, _)| tools >> at & 1 == 1);
    let tool = |(_, (server, tool)): (usize, &(&str, &str))| {
        Arc::new(Tool {
            exposed: format!("mcp_{server}_{tool}"),
            server: (*server).into(),
            tool: (*tool).into(),
            description: "does something".into(),
            schema: Json::new("{}"),
            state: ToolState::Live,
        })
    };
    let catalog = Arc::new(Catalog { revision, tools: present.map(tool).collect() });
    Offering::new(&catalog, &Runtime::new(Options::default()).status())
}

fn session(activation: Activation) -> Registry {
    Registry::new(activation, OWN.map(|name| OwnTool::new(name, "the host's own")).to_vec())
}

/// What a session is to come to, written down from the documents.
#[derive(Default)]
struct Model {
    /// The newest revision of each owner; `None` once it has ended.
    held: BTreeMap<u64, Option<(u64, u8)>>,
    switches: BTreeMap<ToolKey, Switch>,
}

impl Model {
    fn tell(&mut self, step: &Step, before: &View) {
        match *step {
            Step::Refresh { owner, revision, tools } => {
                let held = self.held.entry(owner).or_insert(Some((revision, tools)));
                if let Some(held) = held
                    && held.0 < revision
                {
                    *held = (revision, tools);
                }
            }
            Step::Switch { tool, switch } => drop(self.switches.insert(key(tool), switch)),
            Step::Keep => {
                for entry in before.active.iter().chain(&before.inactive) {
                    self.switches.entry(entry.key()).or_insert(Switch::On);
                }
            }
            Step::Release { owner } => drop(self.held.insert(owner, None)),
        }
    }

    /// The names that are to be active.
    fn active(&self, activation: Activation) -> BTreeSet<String> {
        let wanted = |key: &ToolKey| match self.switches.get(key) {
            Some(switch) => *switch == Switch::On,
            None => activation == Activation::All,
        };
        let present =
            |at: usize| self.held.values().flatten().any(|(_, tools)| tools >> at & 1 == 1);
        // The host's own holds its name, active or not.
        let served = TOOLS.iter().enumerate().filter(|(at, _)| present(*at) && wanted(&key(*at)));
        let served = served.map(|(_, (server, tool))| format!("mcp_{server}_{tool}"));
        let served = served.filter(|name| !OWN.contains(&name.as_str()));
        let own = OWN.iter().map(|name| (*name).to_owned());
        served.chain(own.filter(|name| wanted(&ToolKey::Own(name.clone())))).collect()
    }
}

fn apply(session: &mut Registry, step: &Step) {
    match *step {
        Step::Refresh { owner, revision, tools } => {
            session.refresh(OwnerId::new(owner), offering(revision, tools));
        }
        Step::Switch { tool, switch } => session.switch(key(tool), switch),
        Step::Keep => session.switch_on_present(),
        Step::Release { owner } => session.release(OwnerId::new(owner)),
    }
}

fn names(entries: &[Entry]) -> BTreeSet<String> {
    entries.iter().map(|entry| entry.name().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// G29, G71, G72, G23.
    #[test]
    fn the_active_tools_are_a_function_of_policy_switches_and_what_is_there(
        steps in proptest::collection::vec(step(), 0..40),
        all in any::<bool>(),
    ) {
        let activation = if all { Activation::All } else { Activation::Preserve };
        let (mut told, mut model) = (session(activation), Model::default());
        for step in &steps {
            let before = Arc::clone(told.view());
            model.tell(step, &before);
            apply(&mut told, step);
            let view = told.view();
            // As the documents have it, and nothing twice.
            prop_assert_eq!(names(&view.active), model.active(activation));
            prop_assert_eq!(names(&view.active).len(), view.active.len());
            // The same for one who sees only what is there at last, and what the user wants.
            let mut short = session(activation).with_switches(model.switches.clone());
            for (owner, held) in &model.held {
                if let Some((revision, tools)) = held {
                    let refreshed = short.refresh(OwnerId::new(*owner), offering(*revision, *tools));
                    prop_assert_eq!(refreshed, Refresh::Applied);
                }
            }
            let mut same = View::clone(short.view());
            same.revision = view.revision;
            prop_assert_eq!(&**view, &same);
            // Each change counts by one, and what is no change is none.
            let changed = before.active != view.active
                || before.inactive != view.inactive
                || before.shadowed != view.shadowed
                || before.owners != view.owners;
            prop_assert_eq!(view.revision, before.revision + u64::from(changed));
            prop_assert_eq!(Arc::ptr_eq(&before, view), !changed);
        }
    }
}
