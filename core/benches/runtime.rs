//! How fast the whole machine takes inputs: every benchmark counts inputs.
//!
//! `cargo bench -p tidegate-core --bench runtime`

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_core::bytes::Json;
use tidegate_core::config::Source;
use tidegate_core::id::{CallId, ConnId, OpId};
use tidegate_core::input::{Fact, Input, NewCall, Request, Target};
use tidegate_core::options::Options;
use tidegate_core::runtime::Runtime;
use tidegate_core::time::Timestamp;

#[global_allocator]
static ALLOC: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

const ROUNDS: u64 = 1_000;

fn give(runtime: &mut Runtime, at: u64, input: Input) {
    runtime.handle(Timestamp::from_millis(at), input);
    while let Some(command) = runtime.poll_command() {
        divan::black_box(command);
    }
    while let Some(event) = runtime.poll_event() {
        divan::black_box(event);
    }
}

fn says(conn: u64, id: u64, result: &str) -> Input {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
    Input::Io(Fact::Received { conn: ConnId::new(conn), bytes: line.as_str().into() })
}

const HELLO: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#;
const TOOLS: &str = r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#;
const RESULT: &str = r#"{"content":[{"type":"text","text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}],"isError":false}"#;

fn ready(servers: usize) -> Runtime {
    let entries: Vec<String> =
        (0..servers).map(|n| format!("\"s{n:03}\":{{\"command\":\"x\"}}")).collect();
    let config = format!("{{\"mcpServers\":{{{}}}}}", entries.join(","));
    let mut runtime = Runtime::new(Options::new("/p", vec![Source::inline("bench", &config)]));
    give(&mut runtime, 0, Input::Host(Request::Start { op: OpId::new(0) }));
    for conn in 0..servers as u64 {
        let opened = Fact::Opened { conn: ConnId::new(conn), pid: None };
        give(&mut runtime, 1, Input::Io(opened));
        give(&mut runtime, 1, says(conn, 1, HELLO));
        give(&mut runtime, 1, says(conn, 2, TOOLS));
    }
    runtime
}

/// A call and its answer, one after the other: two inputs a round.
#[divan::bench(args = [1, 50, 200])]
fn call_and_answer(bencher: Bencher<'_, '_>, servers: usize) {
    let runtime = ready(servers);
    bencher
        .counter(ItemsCount::new(2 * ROUNDS))
        .with_inputs(|| {
            let inputs: Vec<Input> = (0..ROUNDS)
                .flat_map(|round| {
                    let call = Request::Call(NewCall {
                        call: CallId::new(round),
                        target: Target::Tool { server: "s000".into(), tool: "echo".into() },
                        arguments: Json::new("{\"text\":\"hello\"}"),
                        timeout_ms: None,
                        max_ms: None,
                    });
                    [Input::Host(call), says(0, round + 3, RESULT)]
                })
                .collect();
            (runtime.clone(), inputs)
        })
        .bench_values(|(mut runtime, inputs)| {
            for (at, input) in inputs.into_iter().enumerate() {
                give(&mut runtime, at as u64, input);
            }
            runtime
        });
}

/// Starting servers until their tools are known: three inputs a server.
#[divan::bench(args = [1, 50, 200])]
fn start(bencher: Bencher<'_, '_>, servers: usize) {
    bencher.counter(ItemsCount::new(3 * servers + 1)).bench(|| ready(servers));
}
