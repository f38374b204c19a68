//! Benchmarks of the configuration: a file with 10,000 servers, in every language.

use std::fmt::Write as _;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tidegate_core::config::diff::diff;
use tidegate_core::config::parse::read;
use tidegate_core::config::redact::Redactor;
use tidegate_core::config::resolve::resolve;
use tidegate_core::config::{Level, Provider, Source};

const SERVERS: usize = 10_000;

fn main() {
    divan::main();
}

fn file() -> String {
    let mut text = String::from("{\"mcpServers\":{");
    for n in 0..SERVERS {
        let comma = if n > 0 { ",\n" } else { "" };
        let _ = write!(
            text,
            "{comma}\"s{n:05}\":{{\"command\":\"node\",\"args\":[\"s{n}.js\"],\"env\":{{\"K\":\"{n}\"}}}}"
        );
    }
    text.push_str("}}");
    text
}

/// The file of a tool in its language.
fn file_of(tool: &str) -> (Source, String) {
    let mut text = String::new();
    let (provider, path) = match tool {
        "own" => return (Source::file(Provider::Tidegate, Level::User, "/u/mcp.json"), file()),
        "shared" => return (Source::file(Provider::Shared, Level::Project, "/.mcp.json"), file()),
        "toml" => (Provider::Codex, "/u/config.toml"),
        _ => (Provider::Goose, "/u/config.yaml"),
    };
    if provider == Provider::Goose {
        text.push_str("extensions:\n");
    }
    for n in 0..SERVERS {
        let _ = if provider == Provider::Goose {
            write!(
                text,
                "  s{n:05}:\n    type: stdio\n    cmd: node\n    args:\n      - s{n}.js\n    envs:\n      \
                 K: \"{n}\"\n"
            )
        } else {
            write!(
                text,
                "[mcp_servers.s{n:05}]\ncommand = \"node\"\nargs = [\"s{n}.js\"]\nenv = {{ K = \"{n}\" \
                 }}\n\n"
            )
        };
    }
    (Source::file(provider, Level::User, path), text)
}

#[divan::bench(args = ["own", "shared", "toml", "yaml"])]
fn read_10000_servers(bencher: Bencher<'_, '_>, tool: &str) {
    let (source, text) = file_of(tool);
    assert_eq!(read(&source, text.as_bytes()).definitions.len(), SERVERS);
    let read = || read(&source, black_box(text.as_bytes()));
    bencher.counter(ItemsCount::new(SERVERS)).bench(read);
}

#[divan::bench]
fn resolve_and_diff_10000_servers(bencher: Bencher<'_, '_>) {
    let reading = read(&Source::inline("bench", ""), file().as_bytes());
    let old = reading.definitions.clone();
    bencher
        .counter(ItemsCount::new(SERVERS))
        .with_inputs(|| vec![reading.clone(), reading.clone()])
        .bench_values(|readings| diff(&old, &resolve(readings, 20_000).definitions));
}

#[divan::bench]
fn redact_10000_servers(bencher: Bencher<'_, '_>) {
    let text = file();
    let redact = || Redactor::new().config(black_box(text.as_bytes()));
    bencher.counter(ItemsCount::new(SERVERS)).bench(redact);
}
