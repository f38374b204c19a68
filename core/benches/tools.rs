//! Benchmarks of the tools: deriving the catalogue, reading a large result.

use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher, black_box};
use tidegate_core::bytes::Json;
use tidegate_core::hub::policy::Names;
use tidegate_core::id::ServerName;
use tidegate_core::tools::catalog::{Slice, SliceState, derive};
use tidegate_core::tools::content::flatten;
use tidegate_core::wire::mcp::ToolDef;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const SCHEMA: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"limit":{"type":"integer"}},"required":["query"]}"#;

fn tools(count: usize) -> Vec<ToolDef> {
    let def = |n| ToolDef {
        name: format!("search_part_{n}"),
        title: None,
        description: Some("Looks for something in one of many parts.".into()),
        input_schema: Json::new(SCHEMA),
        raw: Json::new("{}"),
        usable: Ok(()),
    };
    (0..count).map(def).collect()
}

/// 5,000 tools of 50 servers.
#[divan::bench(args = [Names::Distinct, Names::Documented])]
fn derive_5000_tools(bencher: Bencher<'_, '_>, names: Names) {
    let tools = tools(100);
    let servers: Vec<ServerName> = (0..50).map(|n| format!("server-{n}").into()).collect();
    let slice = |server| Slice { server, tools: &tools, state: SliceState::Live };
    let slices: Vec<Slice<'_>> = servers.iter().map(slice).collect();
    bencher.counter(ItemsCount::new(5_000_usize)).bench(|| derive(names, black_box(&slices)));
}

/// A result with 10 MB of text, a line break every 80 characters.
fn result() -> Json {
    let line = format!("{}\n", "x".repeat(79));
    let text = line.repeat(10_000_000 / line.len());
    Json::new(serde_json::json!({"content": [{"type": "text", "text": text}]}).to_string())
}

#[divan::bench]
fn flatten_10_mb(bencher: Bencher<'_, '_>) {
    let result = result();
    let bytes = BytesCount::new(result.as_str().len());
    bencher.counter(bytes).bench(|| flatten(black_box(&result)));
}

/// The measure for the one above: what a bare parse of the same result takes.
#[divan::bench]
fn serde_json_10_mb(bencher: Bencher<'_, '_>) {
    let result = result();
    let bytes = BytesCount::new(result.as_str().len());
    let parse = || serde_json::from_str::<serde_json::Value>(black_box(result.as_str()));
    bencher.counter(bytes).bench(parse);
}
