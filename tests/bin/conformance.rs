//! A host for the official conformance suite: does with one server what a scenario asks for.
//!
//! `conformance-client URL`, with the name of the scenario in `MCP_CONFORMANCE_SCENARIO`. The
//! exit status is 0 if everything was done and answered. The run is recorded to the file that
//! `CONFORMANCE_TRACE` names.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::event::{Outcome, ServerState};
use tidegate_core::input::Target;
use tidegate_core::inquiry::{Inquiry, Mode, Reply, Service};
use tidegate_core::options::Options;
use tidegate_core::wire::mcp::form_defaults;
use tidegate_smol::{Host, Inquiries, Settings, block_on, open};

/// The name of the server under test.
const SERVER: &str = "suite";

/// The suite waits for so long, and kills only the shell around this program.
const LIMIT: Duration = Duration::from_secs(25);

/// How long the stream for what no request asks for takes to be there. One scenario asks by that
/// stream, and nothing comes of it if the stream is not there.
const STREAM: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let url = env::args().next_back().unwrap_or_default();
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    match run(&url, &scenario) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{scenario}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(url: &str, scenario: &str) -> Result<(), String> {
    let config = json!({"mcpServers": {SERVER: {"type": "http", "url": url}}}).to_string();
    let cwd = env::current_dir().map_err(|error| error.to_string())?;
    let options = Options::new(&cwd.to_string_lossy(), vec![Source::inline("suite", &config)]);
    let mut settings = Settings::new(options);
    if let Some(trace) = env::var_os("CONFORMANCE_TRACE") {
        settings = settings.with_trace(trace);
    }
    let (settings, inquiries) = settings.serving([Service::ElicitationForm]);
    let (host, driver) = open(settings).map_err(|error| error.to_string())?;
    let story = async {
        host.start().await;
        let told = play(&host, scenario).await;
        host.shutdown().await;
        told
    };
    let hanging = async {
        Timer::after(LIMIT).await;
        Err(format!("not done within {LIMIT:?}"))
    };
    let story = future::or(story, answer(inquiries));
    block_on(driver, future::or(story, hanging)).map_err(|error| error.to_string())?
}

/// Answers whatever servers ask with what their forms hold by default (C-ELIC-08).
async fn answer(mut inquiries: Inquiries) -> Result<(), String> {
    while let Some(asked) = inquiries.next().await {
        if let Inquiry::Elicitation { mode: Mode::Form, params } = &asked.what {
            let content = form_defaults(params);
            let reply = format!(r#"{{"action":"accept","content":{content}}}"#);
            asked.reply(Reply::Done(Json::new(reply)));
        }
    }
    future::pending().await
}

/// What a scenario asks for, once the server has settled.
async fn play(host: &Host, scenario: &str) -> Result<(), String> {
    let status = host.status().await;
    let server = status.servers.first().ok_or("the server is not configured")?;
    if server.state != ServerState::Connected {
        return Err(format!("{server:?}"));
    }
    match scenario {
        // What they look at is how the server is got to know.
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => Ok(()),
        "http-custom-headers" => {
            for call in context()?["toolCalls"].as_array().ok_or("no calls in the context")? {
                let name = call["name"].as_str().unwrap_or_default();
                self::call(host, name, call["arguments"].clone()).await?;
            }
            Ok(())
        }
        "http-invalid-tool-headers" => {
            for tool in &host.catalog().await.tools {
                call(host, &tool.tool, sample(tool.schema.as_str())).await?;
            }
            Ok(())
        }
        "tools_call" => call(host, "add_numbers", json!({"a": 5, "b": 3})).await,
        "elicitation-sep1034-client-defaults" => {
            Timer::after(STREAM).await;
            call(host, "test_client_elicitation_defaults", json!({})).await
        }
        "sep-2322-client-request-state" => {
            // The second one is made while the first one is between two rounds.
            let first = call(host, "test_mrtr_echo_state", json!({}));
            let second = call(host, "test_mrtr_unrelated", json!({}));
            let (first, second) = future::zip(first, second).await;
            first.and(second)?;
            call(host, "test_mrtr_no_state", json!({})).await?;
            call(host, "test_mrtr_no_result_type", json!({})).await
        }
        "http-standard-headers" => everything(host).await,
        "sse-retry" => call(host, "test_reconnection", json!({})).await,
        "json-schema-2020-12-preservation" => {
            let catalog = host.catalog().await;
            let tool = catalog.tools.iter().find(|it| it.tool == "json_schema_2020_12_tool");
            let schema = tool.ok_or("the tool is not offered")?.schema.as_str();
            let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
            call(host, "json_schema_echo", json!({ "schema": schema })).await
        }
        _ => Err("this scenario is not played yet".into()),
    }
}

/// Uses one of each thing that the server has.
async fn everything(host: &Host) -> Result<(), String> {
    while host.resources().await.servers.is_empty() || host.prompts().await.servers.is_empty() {
        Timer::after(Duration::from_millis(5)).await;
    }
    let (catalog, resources, prompts) =
        (host.catalog().await, host.resources().await, host.prompts().await);
    let tool = catalog.tools.first().ok_or("no tool")?;
    call(host, &tool.tool, json!({})).await?;
    let resources = resources.servers.first().and_then(|it| it.resources.first());
    let uri = &resources.ok_or("no resource")?.uri;
    answered(uri, host.read_resource(SERVER, &**uri).await)?;
    let prompts = prompts.servers.first().and_then(|it| it.prompts.first());
    let prompt = &prompts.ok_or("no prompt")?.name;
    answered(prompt, host.prompt(SERVER, &**prompt, Json::new("{}")).await)
}

/// What the suite says of a scenario beside its name.
fn context() -> Result<Value, String> {
    let text = env::var("MCP_CONFORMANCE_CONTEXT").map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Arguments of the types that a schema wants.
fn sample(schema: &str) -> Value {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        Some("null") => Value::Null,
        _ => json!("text"),
    };
    properties.map(|(name, schema)| (name.clone(), value(schema))).collect()
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Result<(), String> {
    let target = Target::Tool { server: SERVER.into(), tool: tool.into() };
    answered(tool, host.call(target, Json::new(arguments.to_string()), None).await)
}

fn answered(what: &str, outcome: Outcome) -> Result<(), String> {
    match outcome {
        Outcome::Answered(_) => Ok(()),
        other @ (Outcome::Failed(_) | Outcome::Aborted) => Err(format!("{what}: {other:?}")),
    }
}
