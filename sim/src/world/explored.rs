//! What the explorer asks of a world.

use std::hash::Hash as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tidegate_core::id::{CallId, InquiryId, OpId, ServerName};

use crate::digest::{Present, Wide};
use crate::laws::{Breach, Law, clock};
use crate::machine::Machine;

use super::{Last, World, text_of};

impl<M: Machine> World<M> {
    /// The calls that have not ended.
    pub fn open_calls(&self) -> impl Iterator<Item = CallId> {
        self.laws.open_calls()
    }

    /// What servers asked the host and it has not answered.
    pub fn open_inquiries(&self) -> impl Iterator<Item = InquiryId> {
        self.laws.open_inquiries()
    }

    /// The operations other than starts that have not ended.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = OpId> {
        self.laws.awaited()
    }

    /// Whether a start waits at its gate.
    #[must_use]
    pub fn gate_is_shut(&self) -> bool {
        self.laws.gate_is_shut()
    }

    /// Whether a configuration is being read.
    #[must_use]
    pub fn is_reading(&self) -> bool {
        self.laws.is_reading()
    }

    /// The server that an open call is for, if its name is one.
    #[must_use]
    pub fn server_of_call(&self, call: CallId) -> Option<ServerName> {
        self.laws.server_of_call(call).cloned()
    }

    /// Whether a server was lost and started again by itself since it was stable or somebody
    /// acted.
    #[must_use]
    pub fn is_back_by_itself(&self, server: &ServerName) -> bool {
        self.laws.is_back_by_itself(server)
    }

    /// A number that is equal for worlds that will go on alike.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint_with(self.machine.fingerprint(self.now))
    }

    /// The same, where that of the machine is known.
    pub(crate) fn fingerprint_with(&self, machine: u128) -> u128 {
        let mut wide = Wide::default();
        let present = Present { now: self.now, calls: self.next_call };
        machine.hash(&mut wide);
        self.driver.digest(present, &mut wide);
        self.laws.digest(present, &mut wide);
        self.model.digest(&mut wide);
        wide.value()
    }

    /// How many calls, operations, reads and ended attempts there were: what a fingerprint
    /// leaves out.
    pub(crate) fn counts(&self) -> [u64; 4] {
        let gone = self.driver.gone().len() as u64;
        [self.next_call, self.next_op, self.driver.reads_made(), gone]
    }

    /// Lets go of what the last step was, which nothing that follows depends on.
    pub(crate) fn forget_last(&mut self) {
        self.last = Last::default();
    }

    /// A number that is equal for worlds that are probed alike, from that of the machine.
    pub(crate) fn to_probe(&self, machine: u128) -> u128 {
        machine ^ u128::from(self.driver.gone().is_empty())
    }

    /// Checks the laws that need a copy of the machine: ticks that come early and facts about
    /// what is gone. `before` is the fingerprint of the machine.
    pub(crate) fn probe(&self, before: u128) -> Result<(), Breach> {
        let probed = catch_unwind(AssertUnwindSafe(|| {
            clock::check_calm(&self.machine, before, self.now)?;
            clock::check_stale(&self.machine, before, &self.driver, self.now)
        }));
        probed
            .unwrap_or_else(|panic| Law::Total.broken(format!("it panicked: {}", text_of(&*panic))))
    }
}
