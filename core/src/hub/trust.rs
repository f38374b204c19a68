//! What a project brought along runs only if the user approved exactly that (F-038).
//!
//! Floor 4. The approvals are the user's and lie with the driver: they are read with each
//! reading of the configuration in which something needs one, so that what was granted or
//! revoked since counts.

use alloc::collections::BTreeSet;

use crate::approval::Approval;
use crate::config::{Definition, Level};
use crate::id::ReadId;
use crate::outbox::Outbox;
use crate::time::Timestamp;

use super::Hub;
use super::policy::Trust;

impl Hub {
    /// What the user approved is known: the reading that waited for it is applied.
    pub(super) fn handle_approvals_read(
        &mut self,
        now: Timestamp,
        read: ReadId,
        approved: BTreeSet<Approval>,
        out: &mut Outbox,
    ) {
        let reading = self.reading.as_mut();
        let waiting = reading.and_then(|reading| reading.resolved.take_if(|(id, _)| *id == read));
        let Some((_, resolved)) = waiting else {
            self.stale_facts += 1;
            return;
        };
        let unapproved = resolved.definitions.iter().filter(|definition| {
            needs_approval(definition, self.options.policy.trust)
                && !approved.contains(&definition.approval())
        });
        self.unapproved = unapproved.map(|definition| definition.name.clone()).collect();
        self.follow(resolved, now, out);
    }
}

/// Whether a definition may run only if the user approved it (F-038). One that is not valid
/// cannot run anyway.
pub(super) fn needs_approval(definition: &Definition, trust: Trust) -> bool {
    let foreign = definition.source.level == Level::Project;
    trust == Trust::Ask && foreign && definition.transport.is_ok()
}
