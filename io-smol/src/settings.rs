//! What a driver is made with.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use tidegate_core::entropy::Entropy;
use tidegate_core::inquiry::Service;
use tidegate_core::options::Options;

use crate::answers::Prompt;
use crate::http::network::Network;
use crate::inquiries::{Inquirer, Inquiries, inquiries};

/// What a driver is made with: the machine's options and what only the driver needs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The machine's options.
    pub options: Options,
    /// Where tool lists are cached, in `tools/` below it; nothing is cached without one.
    pub cache_dir: Option<PathBuf>,
    /// Where the user's [`Approvals`](crate::Approvals) are; nothing of a project's own is
    /// approved without one.
    pub state_dir: Option<PathBuf>,
    /// The file the run is recorded to, as [`tidegate_core::trace`] says; not recorded without
    /// one. Replaced if it exists.
    pub trace: Option<PathBuf>,
    /// Whether servers are ended even if this process is killed.
    pub guard: Guard,
    /// How a person is asked for what a configuration leaves to be asked; without one it is
    /// refused.
    pub prompt: Option<Prompt>,
    /// How remote servers are reached.
    pub network: Network,
    /// Who is told what servers ask.
    pub(crate) inquirer: Option<Inquirer>,
}

/// Whether a second process watches this one and ends its servers should it be killed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Guard {
    /// It does (F-010): a small shell that holds a pipe to this process.
    #[default]
    On,
    /// It does not: servers that ignore the end of their input outlive a killed host.
    Off,
}

impl Settings {
    /// Settings with these options: no cache, no approvals, no trace, a guard, and the network as
    /// the environment says. Options without
    /// entropy get some, and options without an environment get the names of this process's.
    /// The rules of the organisation are in [`ORGANISATION`](crate::places::ORGANISATION) unless
    /// the options say otherwise.
    #[must_use]
    pub fn new(mut options: Options) -> Self {
        if options.entropy == Entropy::default() {
            options.entropy = Entropy::from_bytes(random_bytes());
        }
        if options.environment.is_empty() {
            options.environment = crate::places::environment();
        }
        options.organisation.get_or_insert_with(|| crate::places::ORGANISATION.into());
        Self {
            options,
            cache_dir: None,
            state_dir: None,
            trace: None,
            guard: Guard::On,
            prompt: None,
            network: Network::of_process(),
            inquirer: None,
        }
    }

    /// With tool lists cached below this directory.
    #[must_use]
    pub fn with_cache_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(dir.into());
        self
    }

    /// With the user's approvals in this directory.
    #[must_use]
    pub fn with_state_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.state_dir = Some(dir.into());
        self
    }

    /// With the run recorded to this file.
    #[must_use]
    pub fn with_trace(mut self, file: impl Into<PathBuf>) -> Self {
        self.trace = Some(file.into());
        self
    }

    /// With a person who can be asked.
    #[must_use]
    pub fn with_prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = Some(prompt);
        self
    }

    /// With a host that does this for servers, and what they ask. Only what is named here is
    /// declared to servers, whatever the options say; without this, nothing is.
    #[must_use]
    pub fn serving(mut self, services: impl IntoIterator<Item = Service>) -> (Self, Inquiries) {
        let (inquirer, inquiries) = inquiries();
        self.options.services = services.into_iter().collect();
        self.inquirer = Some(inquirer);
        (self, inquiries)
    }

    /// With remote servers reached in this way.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// With or without a guard.
    #[must_use]
    pub fn with_guard(mut self, guard: Guard) -> Self {
        self.guard = guard;
        self
    }
}

/// 32 bytes that differ from run to run. The standard library seeds its hashers from the
/// system's generator; enough for spreading retries and for names that must not repeat, and
/// never used for a secret.
pub(crate) fn random_bytes() -> [u8; 32] {
    let mut bytes = [0; 32];
    for (at, chunk) in bytes.chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&RandomState::new().hash_one(at).to_le_bytes());
    }
    bytes
}

/// A name that no other run has.
pub(crate) fn unique() -> String {
    let state = RandomState::new();
    format!("{:016x}{:016x}", state.hash_one(0), state.hash_one(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_bring_entropy_unless_the_options_have_some() {
        let fresh = || Settings::new(Options::new("/p", vec![])).options.entropy;
        assert_ne!(fresh(), fresh());
        let mut options = Options::new("/p", vec![]);
        options.entropy = Entropy::from_bytes([1; 32]);
        options.environment = crate::places::environment();
        options.organisation = Some("/rules.json".into());
        assert_eq!(Settings::new(options.clone()).options, options);
    }
}
