//! How to property-test a host of your own: `cargo test -p tidegate-sim --example own_host`.
//!
//! The host is an agent's session. It follows what its servers offer, never offers what its user
//! switched off, starts a server again that failed, and gives up on one that fails too often.
//! Below are, in this order: the host, what can happen to it, its laws, and the tests. To look at
//! one story: `cargo run -p tidegate-sim --example own_host -- SEED`.

#![expect(clippy::print_stdout, reason = "the timeline is what the program is for")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use tidegate_core::error::Exit;
use tidegate_core::event::{Event, ServerState};
use tidegate_core::id::{OpId, OwnerId, ServerName};
use tidegate_core::input::Request;
use tidegate_core::runtime::Runtime;
use tidegate_core::tools::registry::{Activation, Offering, Registry, Switch};
use tidegate_sim::choices::{Choices, Seeded};
use tidegate_sim::host::{Host, Play};
use tidegate_sim::laws::{Breach, Law};
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::Script;
use tidegate_sim::violation::{Violation, timeline};

const OWNER: OwnerId = OwnerId::new(0);
const SERVERS: [&str; 2] = ["git", "web"];
/// How often a server is started again before the agent gives up on it.
const RESTARTS_MAX: u32 = 2;

/// The agent: only what it decides. The program around it draws, asks a model, and sleeps.
struct Agent {
    session: Registry,
    restarts: BTreeMap<ServerName, u32>,
    ops: u64,
    /// A mistake that is easily made; see the last test.
    deaf: bool,
}

impl Agent {
    fn new() -> Self {
        let session = Registry::new(Activation::All, vec![]);
        Self { session, restarts: BTreeMap::new(), ops: 0, deaf: false }
    }

    fn op(&mut self) -> OpId {
        self.ops += 1;
        OpId::new(self.ops)
    }

    /// The user switches one of the tools that are shown.
    fn switch(&mut self, at: usize, switch: Switch) {
        let view = self.session.view();
        let mut shown = view.active.iter().chain(&view.inactive);
        if let Some(entry) = shown.nth(at % (view.active.len() + view.inactive.len()).max(1)) {
            let tool = entry.key();
            self.session.switch(tool, switch);
        }
    }
}

impl Host for Agent {
    fn hear(&mut self, event: &Event, machine: &Runtime) -> Vec<Request> {
        if let Event::ToolsChanged { revision } = event
            && !(self.deaf && *revision > 2)
        {
            self.session.refresh(OWNER, Offering::new(machine.catalog(), &machine.status()));
        }
        if let Event::ServerChanged { server, state: ServerState::Failed { .. } } = event {
            let restarts = self.restarts.entry(server.clone()).or_insert(0);
            *restarts += 1;
            if *restarts <= RESTARTS_MAX {
                return vec![Request::Connect { op: self.op(), server: server.clone() }];
            }
        }
        vec![]
    }

    fn check(&self, _machine: &Runtime) -> Result<(), Breach> {
        let mut off = self.session.switches().filter(|(_, switch)| *switch == Switch::Off);
        let offered = off
            .find(|(tool, _)| self.session.view().active.iter().any(|entry| entry.key() == **tool));
        Law::Own("what is off is off").demands(offered.is_none(), || format!("{offered:?}"))
    }

    fn check_quiet(&self, machine: &Runtime) -> Result<(), Breach> {
        self.check(machine)?;
        let view = self.session.view();
        let known = view.owners.first().map_or(0, |(_, revision)| *revision);
        let there = machine.catalog().revision;
        Law::Own("the session is up to date").demands(known == there, || {
            format!("it knows revision {known}, and {there} is there")
        })?;
        let failed = machine.status().servers.into_iter().find(|server| {
            let restarts = self.restarts.get(&server.name).copied().unwrap_or_default();
            matches!(server.state, ServerState::Failed { .. }) && restarts <= RESTARTS_MAX
        });
        Law::Own("a failed server is started again").demands(failed.is_none(), || {
            format!("{:?} was left alone", failed.map(|server| server.name))
        })
    }
}

/// What can happen: what the user does, what servers do, and that time passes.
#[derive(Clone, Copy, Debug)]
enum Act {
    Wait(u64),
    Switch(usize, Switch),
    Crash(&'static str),
    Edit(&'static str),
}

impl Act {
    fn choose(choices: &mut impl Choices) -> Self {
        match choices.choose(4) {
            0 => Self::Wait(u64::from(choices.choose(800))),
            1 => {
                Self::Switch(choices.choose(4) as usize, *choices.pick(&[Switch::Off, Switch::On]))
            }
            2 => Self::Crash(SERVERS[choices.choose(2) as usize]),
            _ => Self::Edit(SERVERS[choices.choose(2) as usize]),
        }
    }
}

/// Tells a story to its end; what is left to be told with it is its trace.
fn tell(agent: Agent, acts: &[Act]) -> Result<Play<Agent>, Violation> {
    let scene = Scene::default()
        .server("git", Script::tools(["log", "push"]))
        .server("web", Script::tools(["get"]).taking(400));
    let mut file = SERVERS.map(Entry::new).to_vec();
    let mut play = Play::new(scene, agent);
    play.act(|agent, _| vec![Request::Start { op: agent.op() }])?;
    for act in acts {
        match *act {
            Act::Wait(ms) => play.run_for(ms)?,
            Act::Switch(at, switch) => play.act(|agent, _| {
                agent.switch(at, switch);
                vec![]
            })?,
            Act::Crash(server) => drop(play.world_mut().crash(server, Exit::Code(1))),
            Act::Edit(server) => {
                file.iter_mut().filter(|it| it.name == server).for_each(|it| it.version += 1);
                play.world_mut().set_config(file.clone());
                play.act(|agent, _| vec![Request::Reload { op: agent.op() }])?;
            }
        }
    }
    play.finish()
}

/// The story of a seed: the same one as long as `Act::choose` stays as it is, so keep the trace
/// of a failure and not its seed.
fn main() -> ExitCode {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut choices = Seeded::new(seed);
    let acts: Vec<Act> = (0..20).map(|_| Act::choose(&mut choices)).collect();
    match tell(Agent::new(), &acts) {
        Ok(play) => {
            print!("{}", timeline(play.world().trace()));
            ExitCode::SUCCESS
        }
        Err(violation) => {
            print!("{}", violation.in_story(format!("{seed}: {acts:?}")));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{
        Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
    };
    use tidegate_core::replay::replay;
    use tidegate_core::trace::TraceLine;
    use tidegate_sim::choices::Bytes;

    use super::*;

    /// The choices behind each act. proptest shrinks the bytes, and with them the story.
    fn acts() -> impl Strategy<Value = Vec<Act>> {
        let act = any::<[u8; 4]>().prop_map(|bytes| Act::choose(&mut Bytes::new(&bytes)));
        proptest::collection::vec(act, 0..20)
    }

    /// Stories that broke a law are kept as traces, because a seed means another story as soon
    /// as the choices change.
    fn config() -> Config {
        Config { failure_persistence: None, ..Config::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn the_agent_keeps_its_laws_and_the_machine_its_own(acts in acts()) {
            tell(Agent::new(), &acts).map_err(|broken| TestCaseError::fail(broken.to_string()))?;
        }
    }

    #[test]
    fn a_mistake_shrinks_to_a_short_story_with_a_timeline_and_a_trace_to_keep() {
        let deaf = || Agent { deaf: true, ..Agent::new() };
        // The same stories in every run.
        let seeded = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let told = TestRunner::new_with_rng(config(), seeded).run(&acts(), |acts| {
            tell(deaf(), &acts).map(drop).map_err(|it| TestCaseError::fail(it.to_string()))
        });
        let Err(TestError::Fail(_, acts)) = told else { panic!("the mistake was not found") };
        assert!(acts.len() <= 2, "{acts:?}");

        let Err(violation) = tell(deaf(), &acts) else { panic!("the shortest story fails too") };
        assert_eq!(violation.law(), Law::Own("the session is up to date"));
        // What a person reads.
        let text = violation.to_string();
        assert!(text.starts_with("the session is up to date: it knows revision 2"), "{text}");
        assert!(text.contains("ToolsChanged"), "{text}");
        // What is kept: `tidegate replay` and `tidegate timeline` read it as well.
        let kept = violation.jsonl();
        let lines = kept.lines().map(serde_json::from_str);
        let lines: Vec<TraceLine> = lines.collect::<Result<_, _>>().expect("a trace");
        assert!(replay(&lines).is_ok());
    }
}
