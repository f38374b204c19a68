//! Benchmarks of the configuration: a file with 10,000 servers.

use std::fmt::Write as _;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tidegate_core::config::Source;
use tidegate_core::config::diff::diff;
use tidegate_core::config::parse::read;
use tidegate_core::config::redact::Redactor;
use tidegate_core::config::resolve::resolve;

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

#[divan::bench]
fn read_10000_servers(bencher: Bencher<'_, '_>) {
    let (source, text) = (Source::inline("bench", ""), file());
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
