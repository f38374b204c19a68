//! What a server without a handshake tells of by itself, and what follows from that.
//!
//! Floor 3. What is listened for is what it declares and what is followed anyway.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bytes::Json;
use crate::outbox::Outbox;
use crate::time::Timestamp;
use crate::wire::dialect::Era;
use crate::wire::mcp::{self, Changes, List};
use crate::wire::rpc::Id;

use super::super::listen::Refused;
use super::super::refresh::ListChanged;
use super::super::talk::Talk;
use super::super::{Server, Signal};
use super::{Extras, Live};

impl Server {
    /// What is listened for, without what resources hold; nothing where there was a handshake.
    pub(super) fn listens_for(&self) -> Option<Changes> {
        let hello = self.hello().filter(|_| self.era() == Some(Era::Modern))?;
        let extras = self.setting.extras == Extras::Load;
        let lists = self.setting.list_changed != ListChanged::Ignore;
        let changes = Changes {
            tools: lists && hello.tools && hello.tools_list_changed,
            prompts: lists && extras && hello.prompts && hello.prompts_list_changed,
            resources: lists && extras && hello.resources && hello.resources_list_changed,
            ..Changes::default()
        };
        let subscribes = extras && hello.resources && hello.resources_subscribe;
        (subscribes || !changes.is_empty()).then_some(changes)
    }

    /// A subscription stands.
    pub(super) fn acknowledged(
        &mut self,
        now: Timestamp,
        params: &Json,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        let read = mcp::read_acknowledged(params.as_str());
        let Some((Id::Number(id), accepted)) = read else { return };
        let Ok(request) = u64::try_from(id) else { return };
        self.talk(now, signals, out, |live, _, talk| {
            let Some(listen) = &mut live.listen else { return };
            if listen.acknowledged(request, accepted, talk) {
                live.reread(talk);
            }
        });
    }

    /// A subscription is over.
    pub(in crate::server) fn listened(
        &mut self,
        now: Timestamp,
        request: u64,
        refused: Option<Refused>,
        signals: &mut Vec<Signal>,
        out: &mut Outbox,
    ) {
        self.talk(now, signals, out, |live, _, talk| {
            if let Some(listen) = &mut live.listen {
                listen.over(request, refused, talk);
            }
        });
    }
}

impl Live {
    /// Listens from here on, if there is anything to listen for.
    pub(super) fn listen(&mut self, wanted: Option<Changes>, talk: &mut Talk<'_>) {
        if let Some(wanted) = wanted {
            let listen = self.listen.insert(Box::default());
            listen.want(wanted, talk);
        }
    }

    /// Listens for what the resources hold that there are, as long as that is wanted.
    pub(super) fn listen_for_contents(&mut self, subscribes: bool, talk: &mut Talk<'_>) {
        let Self { listen: Some(listen), resources: Some(resources), watching, .. } = self else {
            return;
        };
        let most = if *watching && subscribes {
            talk.step.setting.limits.subscriptions_per_server
        } else {
            0
        };
        let all = resources.offer.resources.iter().take(most);
        listen.want_contents(all.map(|resource| Arc::clone(&resource.uri)).collect(), talk);
    }

    /// What may have changed while nobody listened is read again.
    fn reread(&mut self, talk: &Talk<'_>) {
        for list in [List::Tools, List::Resources, List::Prompts] {
            if let Some(refresh) = self.refresh(list) {
                refresh.changed(talk.step.now, &talk.step.setting.list_changed);
            }
        }
    }
}
