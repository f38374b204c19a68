//! How a story begins: which servers are configured, what they do, what is cached.

use std::fmt;

use serde_json::json;
use tidegate_core::bytes::Bytes;
use tidegate_core::config::{Level, Provider, Source};
use tidegate_core::hub::policy::{Policy, Trust};
use tidegate_core::input::Found;
use tidegate_core::limits::Limits;
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;

use crate::driver::Driver;
use crate::front::Front;
use crate::machine::Machine;
use crate::model::Model;
use crate::script::Script;
use crate::world::{Effort, World};

/// The one configuration file of a simulated host.
pub const CONFIG: &str = "/host/mcp.json";

/// How a story begins.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What the runtime is made with.
    pub options: Options,
    /// The configuration file's entries, in order.
    pub entries: Vec<Entry>,
    scripts: Vec<(String, Script)>,
    cached: Vec<String>,
    read_ms: u64,
}

/// One entry of the configuration file.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Entry {
    /// The server's name, which is also the command it runs.
    pub name: String,
    /// An argument, so that two versions of a definition differ.
    pub version: u32,
    /// Whether it is switched on.
    pub enabled: bool,
    /// Its own limit in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Whether a value of its environment is what a command says, which has to be asked for.
    pub asks: bool,
    /// The transport it is reached by, if it is no process: `http` or `sse`.
    pub remote: Option<&'static str>,
    /// Which eras of the protocol are spoken with it: `auto`, `legacy` or `modern`, if it says so.
    pub protocol: Option<&'static str>,
}

impl Entry {
    /// An entry that is switched on.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            version: 1,
            enabled: true,
            timeout_ms: None,
            asks: false,
            remote: None,
            protocol: None,
        }
    }
}

/// The text of the configuration file with these entries, in their order.
#[must_use]
pub fn config(entries: &[Entry]) -> String {
    let servers: Vec<String> = entries
        .iter()
        .map(|entry| {
            let Entry { name, version, enabled, timeout_ms, asks, remote, protocol } = entry;
            let mut value = match remote {
                None => json!({ "command": name, "args": [format!("v{version}")] }),
                Some(kind) => json!({ "type": kind, "url": format!("https://{name}/v{version}") }),
            };
            if !enabled {
                value["enabled"] = json!(false);
            }
            if let Some(timeout) = timeout_ms {
                value["timeout"] = json!(timeout);
            }
            if let Some(protocol) = protocol {
                value["protocol"] = json!(protocol);
            }
            if *asks {
                value["env"] = json!({ "VALUE": "!value" });
            }
            format!("{}: {value}", json!(name))
        })
        .collect();
    format!("{{ \"mcpServers\": {{\n  {}\n}} }}\n", servers.join(",\n  "))
}

impl Scene {
    /// A host without servers, by a policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let source = Source::file(Provider::Explicit, Level::Explicit, CONFIG);
        let mut options = Options::new("/project", vec![source]);
        options.policy = policy;
        Self { options, entries: Vec::new(), scripts: Vec::new(), cached: Vec::new(), read_ms: 0 }
    }

    /// One more configured server.
    #[must_use]
    pub fn server(self, name: &str, script: Script) -> Self {
        self.entry(Entry::new(name), script)
    }

    /// One more configured server, with this entry.
    #[must_use]
    pub fn entry(mut self, mut entry: Entry, script: Script) -> Self {
        if script.front.is_some() {
            entry.remote.get_or_insert("http");
        }
        self.scripts.push((entry.name.clone(), script));
        self.entries.push(entry);
        self
    }

    /// One more configured server, with which only those eras of the protocol are spoken that have a
    /// handshake.
    #[must_use]
    pub fn legacy(self, name: &str, script: Script) -> Self {
        self.entry(Entry { protocol: Some("legacy"), ..Entry::new(name) }, script)
    }

    /// The tools of the last server are in the cache, from a run in which it was healthy.
    ///
    /// # Panics
    /// If there is no server yet.
    #[must_use]
    pub fn cached(mut self) -> Self {
        let (name, _) = self.scripts.last().expect("a server before its cache");
        self.cached.push(name.clone());
        self
    }

    /// The configuration file is one that the project brought along.
    #[must_use]
    pub fn from_project(mut self) -> Self {
        for source in &mut self.options.sources {
            (source.provider, source.level) = (Provider::Tidegate, Level::Project);
        }
        self
    }

    /// Reads of files and cache take so long.
    #[must_use]
    pub fn reads_taking(mut self, ms: u64) -> Self {
        self.read_ms = ms;
        self
    }

    /// The bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// The world in which the story begins.
    #[must_use]
    pub fn world(&self) -> World {
        self.world_of(Runtime::new(self.options.clone()))
    }

    /// The same around another machine, which was made with the scene's options.
    ///
    /// # Panics
    /// If the run that fills the cache breaks a law.
    #[must_use]
    pub fn world_of<M: Machine>(&self, machine: M) -> World<M> {
        let mut driver = self.driver();
        if !self.cached.is_empty() {
            driver.set_cache(&self.warm());
        }
        World::new(
            machine,
            &self.options,
            driver,
            Model::new(self.entries.clone(), &self.options.policy),
        )
    }

    fn driver(&self) -> Driver {
        let mut driver = Driver::default();
        driver.read_ms = self.read_ms;
        driver.set_config(&self.entries);
        for (name, script) in &self.scripts {
            driver.set_script(name, script.clone());
        }
        driver
    }

    /// A run in which the servers to be cached are healthy, for what it leaves behind.
    fn warm(&self) -> Driver {
        let mut scene = Self { cached: Vec::new(), ..self.clone() };
        scene.options.policy = Policy::default();
        scene.options.policy.trust = Trust::All;
        scene.entries.retain(|entry| self.cached.contains(&entry.name));
        for (_, script) in &mut scene.scripts {
            let healthy = |front: &Front| Front { older: front.older, ..Front::default() };
            let front = script.front.as_ref().map(healthy);
            let (offers, speaks) = (script.offers.clone(), script.speaks);
            *script = Script { offers, speaks, front, ..Script::default() };
        }
        let mut world = scene.world().with_effort(Effort::Light);
        let run = world.start().and_then(|_| world.run_until_quiet());
        run.expect("a run with healthy servers breaks no law");
        world.driver
    }
}

impl fmt::Display for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (entry, (_, script)) in self.entries.iter().zip(&self.scripts) {
            let cached = if self.cached.contains(&entry.name) { "cached " } else { "" };
            writeln!(f, "{cached}{entry:?}: {script:?}")?;
        }
        write!(f, "reads take {}ms", self.read_ms)
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new(Policy::default())
    }
}

impl Driver {
    /// Writes the configuration file.
    pub fn set_config(&mut self, entries: &[Entry]) {
        let text = Bytes::from(config(entries).as_str());
        self.set_file(CONFIG, Found::Content(text));
    }
}
