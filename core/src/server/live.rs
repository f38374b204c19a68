//! What a ready server follows: its lists as they change, and its resources and prompts.
//!
//! Floor 3. Best effort: nothing here delays a tool or a call, and a list that cannot be read
//! anew stays as it was (G28). All of it lives in the phase of a ready server, so that nothing of it
//! survives the connection (D34).

mod followed;
mod told;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bytes::Json;
use crate::error::{Cause, RpcError};
use crate::held::Held;
use crate::outbox::Outbox;
use crate::time::{Deadline, Timestamp};
use crate::wire::dialect::Era;
use crate::wire::mcp::{self, Initialized, List, PromptDef, ResourceDef, TemplateDef, ToolDef};

use super::channel::Step;
use super::listen::Listen;
use super::listing::Listing;
use super::refresh::{Burst, Fired, ListChanged, Refresh};
use super::talk::Talk;
use super::watch::{self, Watch};
use super::{Phase, Server, Signal, Tools};

/// Whether resources and prompts are loaded.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extras {
    /// They are not (documented).
    Skip,
    /// They are, from every server that declares them, once its tools are there (default).
    Load,
}

/// The lists of a ready server after the first list of its tools.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Live {
    tools: Following<ToolDef>,
    /// Whether calls wait for the list of tools that is asked for.
    calls_wait: bool,
    /// Only of a server that declares them.
    resources: Option<Box<Resources>>,
    prompts: Option<Box<Prompts>>,
    /// What it tells of by itself, where there is no handshake.
    listen: Option<Box<Listen>>,
    /// Whether changes of what resources hold are to be told, there.
    watching: bool,
}

/// A list that is followed: when it is asked for, and its pages so far.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Following<D> {
    refresh: Refresh,
    listing: Listing<D>,
}

impl<D> Default for Following<D> {
    fn default() -> Self {
        Self { refresh: Refresh::Idle, listing: Listing::default() }
    }
}

/// Resources and their templates: one list to the host, two to the server.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Resources {
    following: Following<ResourceDef>,
    templates: Listing<TemplateDef>,
    /// Why the first half could not be read, while the second one is.
    failed: Option<Cause>,
    offer: ResourceOffer,
    /// Only of a server with subscriptions.
    watch: Option<Watch>,
}

/// What a server offers beside its tools.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct ResourceOffer {
    /// Its resources, in its own order.
    pub resources: Arc<[ResourceDef]>,
    /// Its templates, in its own order.
    pub templates: Arc<[TemplateDef]>,
}

#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Prompts {
    following: Following<PromptDef>,
    offer: Arc<[PromptDef]>,
}

impl Live {
    /// Of a server whose tools changed while they were read for the first time, or not.
    pub(super) fn new(again: Option<Burst>) -> Self {
        let refresh = Refresh::after(again);
        Self { tools: Following { refresh, ..Following::default() }, ..Self::default() }
    }

    pub(super) fn deadline(&self) -> Option<Deadline> {
        let resources = self.resources.as_ref().and_then(|resources| {
            let watch = resources.watch.as_ref().and_then(Watch::deadline);
            Deadline::earlier(resources.following.refresh.deadline(), watch)
        });
        let prompts = self.prompts.as_ref();
        let prompts = prompts.and_then(|prompts| prompts.following.refresh.deadline());
        let listen = self.listen.as_ref().and_then(|listen| listen.deadline());
        [self.tools.refresh.deadline(), resources, prompts, listen]
            .into_iter()
            .fold(None, Deadline::earlier)
    }

    fn refresh(&mut self, list: List) -> Option<&mut Refresh> {
        match list {
            List::Tools => Some(&mut self.tools.refresh),
            List::Resources | List::Templates => {
                self.resources.as_mut().map(|resources| &mut resources.following.refresh)
            }
            List::Prompts => self.prompts.as_mut().map(|prompts| &mut prompts.following.refresh),
        }
    }

    /// Asks for a list from its beginning.
    fn ask(&mut self, list: List, talk: &mut Talk<'_>) {
        match list {
            List::Tools => self.tools.listing = Listing::default(),
            List::Resources | List::Templates => {
                if let Some(resources) = &mut self.resources {
                    resources.following.listing = Listing::default();
                    resources.templates = Listing::default();
                    resources.failed = None;
                }
            }
            List::Prompts => {
                if let Some(prompts) = &mut self.prompts {
                    prompts.following.listing = Listing::default();
                }
            }
        }
        if let Some(refresh) = self.refresh(list) {
            refresh.asked(talk.session.list(list, None, &mut talk.step), talk.deadline);
        }
    }

    /// Feeds the state to a hasher, times relative to `now`.
    #[cfg(feature = "_explore")]
    pub(super) fn digest(&self, now: Timestamp, state: &mut impl core::hash::Hasher) {
        use core::hash::Hash as _;
        self.tools.refresh.digest(now, state);
        (&self.tools.listing, self.calls_wait, self.watching).hash(state);
        self.listen.iter().for_each(|listen| listen.digest(now, state));
        if let Some(resources) = &self.resources {
            resources.following.refresh.digest(now, state);
            (&resources.following.listing, &resources.templates, &resources.failed).hash(state);
            resources.offer.hash(state);
            resources.watch.iter().for_each(|watch| watch.digest(now, state));
        }
        if let Some(prompts) = &self.prompts {
            prompts.following.refresh.digest(now, state);
            (&prompts.following.listing, &prompts.offer).hash(state);
        }
    }
}

impl Server {
    /// Begins to load what comes after the tools. The hub calls it once when the server is
    /// ready and the calls that waited for it were sent: those come first. `watching`: changes
    /// of resources are followed.
    pub fn load_extras(&mut self, now: Timestamp, watching: bool, out: &mut Outbox) {
        let loads = self.setting.extras == Extras::Load;
        let Some(hello) = self.hello() else { return };
        let (has_resources, has_prompts) = (loads && hello.resources, loads && hello.prompts);
        // Without a handshake they are followed in another way.
        let subscribes = hello.resources_subscribe && self.era() == Some(Era::Legacy);
        let watch = subscribes.then(|| Watch::new(watching));
        let wanted = self.listens_for();
        self.talk(now, &mut Vec::new(), out, |live, _, talk| {
            if has_resources {
                live.resources = Some(Box::new(Resources { watch, ..Resources::default() }));
                live.ask(List::Resources, talk);
            }
            if has_prompts {
                live.prompts = Some(Box::default());
                live.ask(List::Prompts, talk);
            }
            live.watching = watching;
            live.listen(wanted, talk);
        });
    }

    /// Its resources, while it is ready.
    #[must_use]
    pub fn resources(&self) -> Option<&ResourceOffer> {
        Some(&self.live()?.resources.as_ref()?.offer)
    }

    /// Its prompts, while it is ready.
    #[must_use]
    pub fn prompts(&self) -> Option<&Arc<[PromptDef]>> {
        Some(&self.live()?.prompts.as_ref()?.offer)
    }

    /// Follows changes of its resources from here on, or no more.
    pub fn watch(&mut self, now: Timestamp, on: bool, out: &mut Outbox) -> Vec<Signal> {
        let mut signals = Vec::new();
        let subscribes = self.hello().is_some_and(|hello| hello.resources_subscribe);
        self.talk(now, &mut signals, out, |live, _, talk| {
            if let Some(Resources { watch: Some(watch), offer, .. }) = live.resources.as_deref_mut()
            {
                watch.switch(on, &offer.resources, talk);
            }
            live.watching = on;
            live.listen_for_contents(subscribes, talk);
        });
        signals
    }

    /// The addresses of the resources whose changes are followed, in order (G51).
    #[must_use]
    pub fn subscriptions(&self) -> Vec<String> {
        if let Some(listen) = self.live().and_then(|live| live.listen.as_ref()) {
            return listen.contents();
        }
        let resources = self.live().and_then(|live| live.resources.as_ref());
        watch::recorded(resources.and_then(|resources| resources.watch.as_ref()))
    }

    /// A request to subscribe or unsubscribe was answered; with why it was refused, if it was.
    pub(super) fn watch_answered(
        &mut self,
        now: Timestamp,
        request: u64,
        refused: Option<&str>,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        self.talk(now, signals, out, |live, _, talk| {
            if let Some(watch) = live.resources.as_mut().and_then(|all| all.watch.as_mut()) {
                watch.answered(request, refused, talk);
            }
        });
    }

    /// The server notified of something that is no progress and no log message.
    pub(super) fn notified(
        &mut self,
        now: Timestamp,
        method: String,
        params: Option<Json>,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        if method == mcp::ACKNOWLEDGED && self.era() == Some(Era::Modern) {
            return params.iter().for_each(|params| self.acknowledged(now, params, signals, out));
        }
        if method == mcp::RESOURCE_UPDATED {
            // What nobody follows, or no more, concerns nobody.
            let watch = self.live().and_then(|live| live.resources.as_ref()?.watch.as_ref());
            let uri = params.and_then(|params| mcp::read_updated(params.as_str()));
            let listen = self.live().and_then(|live| live.listen.as_ref());
            let followed = uri.filter(|uri| {
                watch.is_some_and(|watch| watch.is_recorded(uri))
                    || listen.is_some_and(|listen| listen.is_told(uri))
            });
            return signals.extend(followed.map(Signal::Updated));
        }
        let list = match method.as_str() {
            mcp::TOOLS_LIST_CHANGED => Some(List::Tools),
            mcp::RESOURCES_LIST_CHANGED => Some(List::Resources),
            mcp::PROMPTS_LIST_CHANGED => Some(List::Prompts),
            _ => None,
        };
        match list.filter(|list| self.follows(*list)) {
            Some(list) => self.list_changed(list, now),
            None => signals.push(Signal::Notified { method, params }),
        }
    }

    /// Whether changes of a list are followed, as far as can be known yet.
    fn follows(&self, list: List) -> bool {
        let declares = |what: fn(&Initialized) -> bool| self.hello().is_none_or(what);
        let extras = self.setting.extras == Extras::Load;
        let listed = match list {
            List::Tools => declares(|hello| hello.tools),
            List::Resources | List::Templates => extras && declares(|hello| hello.resources),
            List::Prompts => extras && declares(|hello| hello.prompts),
        };
        listed && self.setting.list_changed != ListChanged::Ignore
    }

    fn list_changed(&mut self, list: List, now: Timestamp) {
        let pace = &self.setting.list_changed;
        match &mut self.phase {
            // D13: what is read for the first time may be from before the change. All else is
            // read later (F-046).
            Phase::Listing { again, .. } if list == List::Tools => {
                *again = Burst::grown(*again, now, pace);
            }
            Phase::Ready { live, .. } => {
                if let Some(refresh) = live.refresh(list) {
                    refresh.changed(now, pace);
                }
            }
            Phase::Resolving { .. }
            | Phase::Opening { .. }
            | Phase::Greeting { .. }
            | Phase::Listing { .. }
            | Phase::Stopping { .. }
            | Phase::Gone => {}
        }
    }

    /// An answer to a request for a page of a followed list, or what is wrong with it.
    pub(super) fn relisted(
        &mut self,
        now: Timestamp,
        list: List,
        reply: Result<Result<Json, RpcError>, Cause>,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let subscribes = self.hello().is_some_and(|hello| hello.resources_subscribe);
        self.talk(now, signals, out, |live, tools, talk| match list {
            List::Tools => {
                live.tools_answered(reply, tools, talk);
                live.resume_calls(list, talk);
            }
            List::Resources | List::Templates => {
                if let Some(resources) = &mut live.resources {
                    resources.answered(list, reply, talk);
                }
                live.listen_for_contents(subscribes, talk);
            }
            List::Prompts => {
                if let Some(prompts) = &mut live.prompts {
                    prompts.answered(reply, talk);
                }
            }
        });
    }

    /// Reads its tools again for calls that wait for that; whether it does.
    pub(super) fn read_tools_again(
        &mut self,
        now: Timestamp,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) -> bool {
        let mut reads = false;
        self.talk(now, signals, out, |live, _, talk| {
            (reads, live.calls_wait) = (true, true);
            if live.tools.refresh.request().is_none() {
                live.ask(List::Tools, talk);
            }
        });
        reads
    }

    /// Lets time pass for the lists of a ready server.
    pub(super) fn fire_lists(
        &mut self,
        now: Timestamp,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let limit_ms = self.timeout_ms.unwrap_or(self.setting.list_ms);
        self.talk(now, signals, out, |live, _, talk| {
            for list in [List::Tools, List::Resources, List::Prompts] {
                let Some(refresh) = live.refresh(list) else { continue };
                match refresh.fire(now) {
                    Fired::Nothing => {}
                    Fired::Ask => live.ask(list, talk),
                    Fired::TimedOut => {
                        talk.call_off(refresh.request());
                        talk.failed(refresh, list, &Cause::TimedOut { limit_ms });
                        live.resume_calls(list, talk);
                    }
                }
            }
            if let Some(watch) = live.resources.as_mut().and_then(|all| all.watch.as_mut()) {
                watch.fire(now, talk);
            }
            if let Some(listen) = &mut live.listen {
                listen.fire(now, talk);
            }
        });
    }

    fn live(&self) -> Option<&Live> {
        match &self.phase {
            Phase::Ready { live, .. } => Some(live),
            Phase::Resolving { .. }
            | Phase::Opening { .. }
            | Phase::Greeting { .. }
            | Phase::Listing { .. }
            | Phase::Stopping { .. }
            | Phase::Gone => None,
        }
    }

    fn talk(
        &mut self,
        now: Timestamp,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
        act: impl FnOnce(&mut Live, &mut Held<Tools>, &mut Talk<'_>),
    ) {
        let Phase::Ready { tools, live, .. } = &mut self.phase else { return };
        let deadline = now.plus(self.timeout_ms.unwrap_or(self.setting.list_ms));
        let mut talk = Talk {
            name: &self.name,
            session: &mut self.session,
            deadline,
            signals,
            step: Step { now, setting: &self.setting, out },
        };
        act(live, tools, &mut talk);
    }
}
