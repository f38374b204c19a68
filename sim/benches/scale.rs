//! What very many servers cost: start, reload of every tenth, teardown, and the time a server
//! takes of it, which stays the same however many there are.
//!
//! `cargo bench -p tidegate-sim --bench scale`; other sizes as `-- SERVERS…`.

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]

use rustix::time::{ClockId, clock_gettime};
use tidegate_sim::crowd::Crowd;

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const TOOLS: usize = 100;

fn main() {
    let given = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let mut sizes: Vec<usize> = given.collect();
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    println!("servers x {TOOLS} tools: milliseconds of CPU");
    println!("| servers | start | reload | teardown | all | ms a server | against the first |");
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    let mut first = None;
    for servers in sizes {
        // The best of a few: what disturbs only ever adds.
        let rounds = (2_000 / servers).clamp(1, 10);
        let best = (0..rounds).map(|_| story(servers)).min_by(|a, b| sum(a).total_cmp(&sum(b)));
        let parts = best.expect("a round");
        let each = sum(&parts) / servers as f64;
        let ratio = each / *first.get_or_insert(each);
        let [start, reload, end] = parts;
        println!(
            "| {servers} | {start:.1} | {reload:.1} | {end:.1} | {:.1} | {each:.3} | {ratio:.2} |",
            sum(&parts)
        );
    }
}

fn sum(parts: &[f64; 3]) -> f64 {
    parts.iter().sum()
}

fn story(servers: usize) -> [f64; 3] {
    let mut crowd = Crowd::new(servers, TOOLS);
    let start = timed(|| crowd.start());
    let reload = timed(|| crowd.reload());
    [start, reload, timed(|| crowd.shut_down())]
}

/// The milliseconds this thread spends on a processor, whatever else the machine does.
fn timed(act: impl FnOnce()) -> f64 {
    let before = spent();
    act();
    (spent() - before) * 1e3
}

/// Seconds since the thread began, as far as it ran.
fn spent() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
