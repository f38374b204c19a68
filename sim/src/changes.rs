//! What changes at a server that goes on running: what it offers, and what its resources hold.

use tidegate_core::hub::policy::ListChanged;
use tidegate_core::input::Request;

use crate::lists::Offered;
use crate::machine::Machine;
use crate::script::Speaks;
use crate::violation::Violation;
use crate::world::World;

/// That a list changed, by the name of what is listed.
fn list_changed(what: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{what}/list_changed\"}}\n")
}

impl<M: Machine> World<M> {
    /// A server offers something else from here on and says so, once for each list.
    pub fn change(&mut self, server: &str, change: impl FnOnce(&mut Offered)) {
        let Some(mut script) = self.driver.script(server).cloned() else { return };
        // Without a handshake its client has to listen first, and does not; what a remote server
        // says by itself is heard only while somebody listens.
        let mut file = self.model.file().iter();
        let remote = file.any(|entry| entry.name == server && entry.remote.is_some());
        let unheard = remote || script.front.is_some() || script.speaks != Speaks::Legacy;
        let before = script.offers.clone();
        change(&mut script.offers);
        let after = script.offers.clone();
        self.driver.set_script(server, script);
        if before.tools != after.tools {
            self.say(server, &list_changed("tools"));
        }
        if before.resources != after.resources || before.templates != after.templates {
            self.say(server, &list_changed("resources"));
        }
        if before.prompts != after.prompts {
            self.say(server, &list_changed("prompts"));
        }
        if self.options.policy.list_changed == ListChanged::Ignore || unheard {
            // Whether it was listed before or after the change is a matter of luck.
            self.model.doubt(Some(server));
        } else {
            self.model.changed(server, after);
        }
    }

    /// Follows changes of resources from here on, or no more.
    ///
    /// # Errors
    /// The law that was broken.
    pub fn watch(&mut self, on: bool) -> Result<(), Violation> {
        self.request(Request::Watch { on })
    }

    /// A server says so many times that a list changed: `tools`, `resources` or `prompts`.
    pub fn storm(&mut self, server: &str, what: &str, times: usize) {
        self.say(server, &list_changed(what).repeat(times));
    }

    /// A server says that a resource holds something else.
    pub fn update(&mut self, server: &str, uri: &str) {
        let params = serde_json::json!({ "uri": uri });
        self.say(
            server,
            &format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{params}}}\n"
            ),
        );
    }

    /// A server writes something, if it runs.
    pub fn say(&mut self, server: &str, text: &str) {
        let now = self.now();
        self.driver.say(&server.into(), text.as_bytes(), now);
    }
}
