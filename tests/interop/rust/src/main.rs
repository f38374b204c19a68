//! A server of the official Rust SDK: `interop-rust stdio`, or `http PORT`.

use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, Implementation, ListResourcesResult, PaginatedRequestParams,
    ProgressNotificationParam, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt, prompt, prompt_handler, prompt_router, tool,
    tool_handler, tool_router,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Addends {
    a: i64,
    b: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Counting {
    steps: u32,
    pause: f64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greeting {
    name: String,
}

#[derive(Clone)]
struct Server;

#[tool_router]
impl Server {
    #[tool(description = "Adds two numbers")]
    fn add(&self, Parameters(Addends { a, b }): Parameters<Addends>) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text((a + b).to_string())])
    }

    #[tool(description = "Counts and tells how far it is")]
    async fn count(
        &self,
        Parameters(Counting { steps, pause }): Parameters<Counting>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        for step in 1..=steps {
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, f64::from(step));
                let told =
                    context.peer.notify_progress(progress.with_total(f64::from(steps))).await;
                told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            }
            tokio::select! {
                () = context.ct.cancelled() => {
                    return Ok(CallToolResult::success(vec![ContentBlock::text("given up")]));
                }
                () = tokio::time::sleep(Duration::from_secs_f64(pause)) => {}
            }
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("counted to {steps}"))]))
    }
}

#[prompt_router]
impl Server {
    #[prompt(name = "greet", description = "Greets somebody")]
    async fn greet(
        &self,
        Parameters(Greeting { name }): Parameters<Greeting>,
    ) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(Role::User, format!("Greet {name}."))]
    }
}

#[tool_handler]
#[prompt_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder();
        let capabilities = capabilities.enable_tools().enable_prompts().enable_resources().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::from_build_env())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = vec![Resource::new("note://one", "one".to_owned())];
        Ok(ListResourcesResult { resources, ..Default::default() })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != "note://one" {
            return Err(ErrorData::resource_not_found("there is no such note", None));
        }
        Ok(ReadResourceResult::new(vec![ResourceContents::text("one", request.uri)]).into())
    }
}

async fn listen(port: u16) -> anyhow::Result<()> {
    let service = TowerToHyperService::new(StreamableHttpService::new(
        || Ok(Server),
        LocalSessionManager::default().into(),
        Default::default(),
    ));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        tokio::spawn(async move {
            let builder = Builder::new(TokioExecutor::default());
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref(), words.next()) {
        (Some("stdio"), None) => {
            Server.serve(rmcp::transport::stdio()).await?.waiting().await?;
            Ok(())
        }
        (Some("http"), Some(port)) => listen(port.parse()?).await,
        _ => anyhow::bail!("usage: interop-rust stdio | http PORT"),
    }
}
