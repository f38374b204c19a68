//! What a page of a followed list leads to.
//!
//! Floor 3.

use crate::bytes::Json;
use crate::error::{Cause, RpcError};
use crate::held::Held;
use crate::wire::mcp::{self, List, ResourceDef, TemplateDef};

use super::super::talk::Talk;
use super::super::{Signal, Tools};
use super::{Following, Live, Prompts, Resources};

impl Live {
    /// The list that calls wait for is there, or does not come.
    pub(super) fn resume_calls(&mut self, list: List, talk: &mut Talk<'_>) {
        if list == List::Tools && self.calls_wait && self.tools.refresh.request().is_none() {
            self.calls_wait = false;
            talk.signals.push(Signal::Resumed);
        }
    }

    pub(super) fn tools_answered(
        &mut self,
        reply: Result<Result<Json, RpcError>, Cause>,
        tools: &mut Held<Tools>,
        talk: &mut Talk<'_>,
    ) {
        let Following { refresh, listing } = &mut self.tools;
        match talk.page(refresh, listing, List::Tools, reply, mcp::read_tools_page) {
            None => {}
            Some(Err(cause)) => talk.failed(refresh, List::Tools, &cause),
            Some(Ok(list)) => {
                refresh.succeeded();
                let list = Held::new(Tools::new(
                    list,
                    talk.name,
                    talk.session.is_labelled(),
                    talk.signals,
                ));
                if *tools != list {
                    *tools = list;
                    talk.signals.push(Signal::ToolsListed);
                }
            }
        }
    }
}

impl Resources {
    /// One half may fail: the other one counts, and both are tried again.
    pub(super) fn answered(
        &mut self,
        list: List,
        reply: Result<Result<Json, RpcError>, Cause>,
        talk: &mut Talk<'_>,
    ) {
        let Following { refresh, listing } = &mut self.following;
        let before = self.offer.clone();
        let failed = if list == List::Resources {
            let page = talk.page(refresh, listing, list, reply, mcp::read_resources_page);
            let Some(result) = page else { return };
            match result {
                Ok(list) => {
                    self.offer.resources = talk.unique(list, List::Resources, uri);
                    if let Some(watch) = &mut self.watch {
                        watch.relisted(&self.offer.resources, talk);
                    }
                }
                Err(cause) => self.failed = Some(cause),
            }
            refresh.asked_on(talk.session.list(List::Templates, None, &mut talk.step));
            None
        } else {
            let page =
                talk.page(refresh, &mut self.templates, list, reply, mcp::read_templates_page);
            let Some(result) = page else { return };
            let second = match result {
                Ok(list) => {
                    self.offer.templates = talk.unique(list, List::Templates, uri_template);
                    None
                }
                Err(cause) => Some((List::Templates, cause)),
            };
            let failed = self.failed.take().map(|cause| (List::Resources, cause)).or(second);
            if failed.is_none() {
                refresh.succeeded();
            }
            failed
        };
        if let Some((list, cause)) = failed {
            talk.failed(refresh, list, &cause);
        }
        if before != self.offer {
            talk.signals.push(Signal::ResourcesListed);
        }
    }
}

impl Prompts {
    pub(super) fn answered(
        &mut self,
        reply: Result<Result<Json, RpcError>, Cause>,
        talk: &mut Talk<'_>,
    ) {
        let Following { refresh, listing } = &mut self.following;
        match talk.page(refresh, listing, List::Prompts, reply, mcp::read_prompts_page) {
            None => {}
            Some(Err(cause)) => talk.failed(refresh, List::Prompts, &cause),
            Some(Ok(list)) => {
                refresh.succeeded();
                let list = talk.unique(list, List::Prompts, |prompt| &prompt.name);
                if self.offer != list {
                    self.offer = list;
                    talk.signals.push(Signal::PromptsListed);
                }
            }
        }
    }
}

fn uri(resource: &ResourceDef) -> &str {
    &resource.uri
}

fn uri_template(template: &TemplateDef) -> &str {
    &template.uri_template
}
