//! The official Rust SDK behind the adapter protocol of `../README.md`.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

use anyhow::{Result, anyhow, bail};
use futures::future::try_join_all;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value, json};
use tokio::io::AsyncBufReadExt;
use tokio::process::Command;

type Client = RunningService<RoleClient, ()>;

fn emit(event: Value) {
    println!("{event}");
}

async fn connect(server: &Value) -> Result<Client> {
    if let Some(url) = server["url"].as_str() {
        // Its own client keeps no idle connections; a plain one does.
        let transport = if std::env::var_os("RMCP_POOL").is_some() {
            let config = StreamableHttpClientTransportConfig::with_uri(url);
            StreamableHttpClientTransport::with_client(reqwest::Client::new(), config)
        } else {
            StreamableHttpClientTransport::from_uri(url)
        };
        return Ok(().serve(transport).await?);
    }
    let mut command = Command::new(server["command"].as_str().ok_or_else(|| anyhow!("command"))?);
    command.args(server["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
    Ok(().serve(TokioChildProcess::new(command)?).await?)
}

fn params(tool: &'static str, args: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(args.as_object().cloned().unwrap_or_default())
}

async fn calls(client: &Client, spec: &Value) -> Result<()> {
    let echo = params("echo", json!({"text": "x".repeat(number(spec, "arg_bytes"))}));
    for _ in 0..number(spec, "warmup") {
        client.call_tool(echo.clone()).await?;
    }
    let (calls, inflight) = (number(spec, "calls"), number(spec, "inflight"));
    emit(json!({"event": "begin"}));
    let workers = (0..inflight).map(|_| {
        let (peer, echo) = (client.peer().clone(), echo.clone());
        tokio::spawn(async move {
            let mut latencies = Vec::with_capacity(calls / inflight);
            for _ in 0..calls / inflight {
                let start = Instant::now();
                peer.call_tool(echo.clone()).await?;
                latencies.push(start.elapsed().as_nanos() as f64 / 1e3);
            }
            anyhow::Ok(latencies)
        })
    });
    let mut latencies = Vec::new();
    for worker in try_join_all(workers).await? {
        latencies.extend(worker?);
    }
    let done = latencies.len();
    if inflight > 1 {
        latencies.clear();
    }
    emit(json!({"event": "done", "calls": done, "lat_us": latencies}));
    Ok(())
}

async fn big(client: &Client, spec: &Value) -> Result<()> {
    let (bytes, repeat) = (number(spec, "bytes"), number(spec, "repeat"));
    let blob = params("blob", json!({"bytes": bytes}));
    for round in 0..=repeat {
        if round == 1 {
            emit(json!({"event": "begin"}));
        }
        let result = client.call_tool(blob.clone()).await?;
        let text = result.content[0].as_text().ok_or_else(|| anyhow!("no text"))?;
        if text.text.len() != bytes {
            bail!("{} bytes of text, not {bytes}", text.text.len());
        }
    }
    emit(json!({"event": "done", "bytes": bytes * repeat}));
    Ok(())
}

fn number(spec: &Value, key: &str) -> usize {
    spec[key].as_u64().map_or(1, |n| n as usize)
}

#[tokio::main]
async fn main() -> Result<()> {
    let spec = std::env::args().nth(1).ok_or_else(|| anyhow!("usage: bench-rmcp SPEC"))?;
    let spec: Value = serde_json::from_slice(&std::fs::read(spec)?)?;
    emit(json!({"event": "loaded"}));
    let servers = spec["servers"].as_array().ok_or_else(|| anyhow!("servers"))?;
    let (listed, fast) = (AtomicUsize::new(0), number(&spec, "fast"));
    let connected = try_join_all(servers.iter().map(async |server| {
        let client = connect(server).await?;
        let tools = client.list_all_tools().await?.len();
        if listed.fetch_add(1, SeqCst) + 1 == fast {
            emit(json!({"event": "fast"}));
        }
        anyhow::Ok((client, tools))
    }))
    .await?;
    let tools: usize = connected.iter().map(|client| client.1).sum();
    emit(json!({"event": "listed", "servers": connected.len(), "tools": tools}));
    match spec["op"].as_str() {
        Some("list") => {}
        Some("calls") => calls(&connected[0].0, &spec).await?,
        Some("big") => big(&connected[0].0, &spec).await?,
        op => bail!("unknown op {op:?}"),
    }
    tokio::io::BufReader::new(tokio::io::stdin()).read_line(&mut String::new()).await?;
    try_join_all(connected.into_iter().map(|client| client.0.cancel())).await?;
    std::process::exit(0); // tokio's stdin thread would hold the runtime
}
