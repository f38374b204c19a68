//! A handle for a subagent: sees a part of its parent's tools and calls them.

use std::sync::Arc;

use tidegate_core::bytes::Json;
use tidegate_core::input::Target;
use tidegate_core::tools::catalog::Catalog;
use tidegate_core::tools::proxy::Scope;

use crate::host::{Call, catalog};
use crate::inbox::Inbox;

/// What a subagent has of its parent's runtime; see [`Host::subagent`](crate::Host::subagent).
/// Cheap to clone; may be used from any task and thread.
///
/// It can start, stop and reload nothing, and does not keep the runtime alive: once the last
/// [`Host`](crate::Host) is dropped or the runtime is shut down, its calls fail at once with
/// [`CallError::ShuttingDown`](tidegate_core::error::CallError::ShuttingDown).
#[derive(Clone, Debug)]
pub struct Subagent {
    inbox: Arc<Inbox>,
    scope: Arc<Scope>,
}

impl Subagent {
    pub(crate) fn new(inbox: Arc<Inbox>, scope: Scope) -> Self {
        Self { inbox, scope: Arc::new(scope) }
    }

    /// What the subagent may call: its part of the parent's catalogue as it is at the moment,
    /// with the parent's revision.
    pub async fn catalog(&self) -> Arc<Catalog> {
        self.scope.of(&catalog(&self.inbox).await)
    }

    /// Calls a tool through the parent's connection, as [`Host::call`](crate::Host::call) does.
    /// It ends after [`SUBAGENT_CALL_MS`](tidegate_core::tools::proxy::SUBAGENT_CALL_MS) at the
    /// latest, the wait for its server and all progress included.
    /// A call to a tool that is not in the subagent's part fails as if there were no such tool.
    pub fn call(&self, target: Target, arguments: Json, timeout_ms: Option<u64>) -> Call {
        Call::place(&self.inbox, target, arguments, timeout_ms, Some(Arc::clone(&self.scope)))
    }
}
