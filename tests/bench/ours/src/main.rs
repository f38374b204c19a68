//! Tidegate behind the adapter protocol of `../README.md`, as a user would write it: driver and
//! host on one thread.

use std::error::Error;
use std::time::Instant;

use serde_json::{Map, Value, json};
use smol::{Async, LocalExecutor, future};
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::event::{Event, Outcome, ServerState};
use tidegate_core::input::Target;
use tidegate_core::options::Options;
use tidegate_core::tools::content;
use tidegate_smol::{Host, News, Settings, block_on, open};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn emit(event: Value) {
    println!("{event}");
}

fn number(spec: &Value, key: &str) -> usize {
    spec[key].as_u64().map_or(1, |number| number as usize)
}

/// The servers of the spec as a configuration.
fn config(spec: &Value) -> Value {
    let servers = spec["servers"].as_array().into_iter().flatten();
    let entry = |server: &Value| {
        let name = server["name"].as_str().unwrap_or_default().to_owned();
        let entry = match server["url"].as_str() {
            Some(url) => json!({"type": "http", "url": url}),
            None => json!({"command": server["command"], "args": server["args"]}),
        };
        (name, entry)
    };
    json!({"mcpServers": servers.map(entry).collect::<Map<_, _>>()})
}

fn target(tool: &str) -> Target {
    Target::Tool { server: "s000".into(), tool: tool.into() }
}

/// Starts all servers and waits for all their tools.
async fn connect(host: &Host, spec: &Value) -> Result<()> {
    let (servers, fast) = (spec["servers"].as_array().map_or(0, Vec::len), number(spec, "fast"));
    let mut events = host.events();
    let start = async {
        host.start().await;
        emit(json!({"event": "returned"}));
    };
    let all = async {
        let mut connected = 0;
        while connected < servers {
            match events.next().await.ok_or("the runtime ended")? {
                News::Event(Event::ServerChanged { state: ServerState::Connected, .. }) => {
                    connected += 1;
                    if connected == fast {
                        emit(json!({"event": "fast"}));
                    }
                }
                News::Event(Event::ServerChanged {
                    server,
                    state: ServerState::Failed { failure },
                }) => return Err(failure.describe(&server).into()),
                _ => {}
            }
        }
        Ok(())
    };
    let ((), all): (_, Result<()>) = future::zip(start, all).await;
    all?;
    let tools = host.catalog().await.tools.len();
    emit(json!({"event": "listed", "servers": servers, "tools": tools}));
    Ok(())
}

/// Calls a tool; its answer as received.
async fn call(host: &Host, tool: Target, arguments: &str) -> std::result::Result<Json, String> {
    match host.call(tool, Json::new(arguments), None).await {
        Outcome::Answered(result) => Ok(result),
        other => Err(format!("{other:?}")),
    }
}

async fn calls(host: &Host, spec: &Value) -> Result<()> {
    let arguments = json!({"text": "x".repeat(number(spec, "arg_bytes"))}).to_string();
    let echo = target("echo");
    for _ in 0..number(spec, "warmup") {
        call(host, echo.clone(), &arguments).await?;
    }
    let (calls, inflight) = (number(spec, "calls"), number(spec, "inflight"));
    emit(json!({"event": "begin"}));
    let worker = || async {
        let mut latencies = Vec::with_capacity(calls / inflight);
        for _ in 0..calls / inflight {
            let start = Instant::now();
            call(host, echo.clone(), &arguments).await?;
            latencies.push(start.elapsed().as_nanos() as f64 / 1e3);
        }
        Ok::<_, String>(latencies)
    };
    let executor = LocalExecutor::new();
    let workers: Vec<_> = (0..inflight).map(|_| executor.spawn(worker())).collect();
    let mut latencies = Vec::new();
    for worker in workers {
        latencies.extend(executor.run(worker).await?);
    }
    let done = latencies.len();
    if inflight > 1 {
        latencies.clear();
    }
    emit(json!({"event": "done", "calls": done, "lat_us": latencies}));
    Ok(())
}

async fn big(host: &Host, spec: &Value) -> Result<()> {
    let (bytes, repeat) = (number(spec, "bytes"), number(spec, "repeat"));
    let arguments = json!({"bytes": bytes}).to_string();
    for round in 0..=repeat {
        if round == 1 {
            emit(json!({"event": "begin"}));
        }
        let result = call(host, target("blob"), &arguments).await?;
        let text = content::flatten(&result).map_err(|error| error.to_string())?.text;
        if text.len() != bytes {
            return Err(format!("{} bytes of text, not {bytes}", text.len()).into());
        }
    }
    emit(json!({"event": "done", "bytes": bytes * repeat}));
    Ok(())
}

async fn run(host: &Host, spec: &Value) -> Result<()> {
    connect(host, spec).await?;
    match spec["op"].as_str() {
        Some("list") => {}
        Some("calls") => calls(host, spec).await?,
        Some("big") => big(host, spec).await?,
        op => return Err(format!("unknown op {op:?}").into()),
    }
    Async::new(std::io::stdin())?.readable().await?;
    Ok(())
}

fn main() -> Result<()> {
    let spec = std::env::args().nth(1).ok_or("usage: bench-ours SPEC")?;
    let spec: Value = serde_json::from_slice(&std::fs::read(spec)?)?;
    emit(json!({"event": "loaded"}));
    let cwd = std::env::current_dir()?.display().to_string();
    let options = Options::new(&cwd, vec![Source::inline("bench", &config(&spec).to_string())]);
    let (host, driver) = open(Settings::new(options))?;
    block_on(driver, run(&host, &spec))?
}
