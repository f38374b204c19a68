//! The tool cache: when a stored list may stand in for a live one.
//!
//! Floor 4. Seed runtime section 5. The key is name, fingerprint of the unresolved definition,
//! working directory and version (G35). What is read back is validated like what a server says
//! (G34) and best effort in every failure; an answer that comes after the slot moved on is
//! dropped (F-006), because the slot no longer waits for that read.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::canon::{Fingerprint, canonical};
use crate::command::{CacheKey, Command};
use crate::config::Definition;
use crate::error::{Category, Excess, Problem, Severity};
use crate::id::{ReadId, ServerName};
use crate::input::Found;
use crate::outbox::Outbox;
use crate::quote::Quoted;
use crate::wire::mcp::{self, ToolDef};

use super::Hub;
use super::slot::Cached;

/// The version of the form of an entry; another one is a miss.
const VERSION: u32 = 1;

/// What an entry says.
#[derive(Deserialize)]
struct Entry<'a> {
    version: u32,
    server: ServerName,
    fingerprint: Fingerprint,
    #[serde(borrow)]
    tools: &'a RawValue,
}

/// Whose list an entry is, and where it is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) fingerprint: Fingerprint,
    pub(super) key: CacheKey,
}

impl Identity {
    pub(super) fn of(definition: &Definition, cwd: &str) -> Self {
        let fingerprint = definition.fingerprint();
        let identity = json!({
            "version": VERSION,
            "server": definition.name,
            "definition": fingerprint,
            "cwd": cwd,
        });
        Self { fingerprint, key: CacheKey::new(Fingerprint::of(canonical(&identity).as_bytes())) }
    }
}

/// The content of an entry.
pub(super) fn encode(server: &ServerName, fingerprint: Fingerprint, tools: &[ToolDef]) -> String {
    let name = serde_json::Value::from(server.as_str());
    let head = alloc::format!(
        "{{\"version\":{VERSION},\"server\":{name},\"fingerprint\":\"{fingerprint}\",\"tools\":"
    );
    // In one allocation: formatting a long text grows its buffer several times.
    [&head, mcp::encode_tools(tools).as_str(), "}\n"].concat()
}

/// The list in an entry, or what is wrong with it.
fn decode(
    content: &[u8],
    server: &ServerName,
    fingerprint: Fingerprint,
    tools_max: usize,
) -> Result<Arc<[ToolDef]>, String> {
    let entry: Entry<'_> =
        serde_json::from_slice(content).map_err(|error| alloc::format!("{error}"))?;
    if entry.version != VERSION {
        return Err(alloc::format!("version {} is not {VERSION}", entry.version));
    }
    if entry.server != *server || entry.fingerprint != fingerprint {
        return Err("it belongs to another definition".into());
    }
    let tools = mcp::read_tools(entry.tools.get()).map_err(|shape| shape.message)?;
    if tools.len() > tools_max {
        return Err(Excess::Tools.describe(tools_max as u64));
    }
    let mut names = BTreeSet::new();
    match tools.iter().find(|tool| !names.insert(&tool.name)) {
        Some(twice) => Err(alloc::format!("tool {:?} is listed twice", Quoted(&twice.name))),
        None => Ok(tools.into()),
    }
}

impl Hub {
    /// Whether lists are stored at all.
    pub(super) fn has_cache(&self) -> bool {
        self.options.setting.limits.cache_ms > 0
    }

    /// Asks for the stored list of a server that is on its way, once.
    pub(super) fn ask_cache(&mut self, name: &ServerName, out: &mut Outbox) {
        let has_cache = self.has_cache();
        let Some(slot) = self.slots.get_mut(name).filter(|_| has_cache) else { return };
        if slot.is_connecting() && slot.cached == Cached::Unknown {
            let read = ReadId::new(self.next_read.next());
            slot.cached = Cached::Asking(read);
            self.cache_reads.insert(read, name.clone());
            let key = slot.identity(&self.options.setting.cwd).key;
            out.command(Command::ReadCache { read, key });
        }
    }

    pub(super) fn handle_cache_read(
        &mut self,
        read: ReadId,
        found: Found,
        age_ms: u64,
        out: &mut Outbox,
    ) {
        let name = self.cache_reads.remove(&read);
        let slot = name.and_then(|name| self.slots.get_mut(&name));
        let Some(slot) = slot.filter(|slot| slot.cached == Cached::Asking(read)) else {
            self.stale_facts += 1;
            return;
        };
        slot.cached = Cached::Miss;
        self.progressed = true;
        let Found::Content(content) = found else { return };
        let limits = &self.options.setting.limits;
        let Identity { fingerprint, key } = slot.identity(&self.options.setting.cwd);
        if age_ms > limits.cache_ms {
            return out.command(Command::DropCache { key });
        }
        let server = slot.definition().name.clone();
        match decode(&content, &server, fingerprint, limits.tools_per_server) {
            Ok(tools) => {
                slot.cached = Cached::Hit(tools);
                self.touched.insert(server);
            }
            Err(reason) => {
                out.command(Command::DropCache { key });
                let message = alloc::format!(
                    "Server \"{server}\": its cached tool list was dropped: {reason}"
                );
                let problem = Problem::of_server(&server, Category::InvalidCache, message);
                self.found(Problem { severity: Severity::Info, ..problem }, out);
            }
        }
    }
}
