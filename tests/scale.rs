//! What do servers cost when there are very many of them, and when nothing happens?
//!
//! What is counted is asked of the allocator, which this program has to itself: requested bytes
//! and requests, the same in every run. `sim/benches/scale.rs` measures time.

use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};
use tidegate_core::bytes::Json;
use tidegate_core::id::{CallId, OpId};
use tidegate_core::input::{Input, NewCall, Request, Target};
use tidegate_sim::crowd::Crowd;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What a connected server may take at most when nothing happens, without its tools.
const IDLE_BYTES_MAX: usize = 8 * 1024;

/// One test at a time: what is counted is the whole process's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is allocated while `act` runs.
fn counted<T>(act: impl FnOnce() -> T) -> (T, Stats) {
    let region = Region::new(ALLOCATOR);
    let done = act();
    (done, region.change())
}

/// A whole story; what it allocated a server.
fn story(servers: usize, crowd: impl FnOnce() -> Crowd) -> [f64; 2] {
    let ((), stats) = counted(|| {
        let mut crowd = crowd();
        crowd.start();
        crowd.reload();
        crowd.shut_down();
    });
    [stats.allocations, stats.bytes_allocated].map(|count| count as f64 / servers as f64)
}

#[test]
fn what_a_server_costs_does_not_grow_with_their_number() {
    let _alone = alone();
    for crowd in [Crowd::new, Crowd::with_prompts] {
        let [few, many] = [100, 3_000].map(|servers| story(servers, || crowd(servers, 20)));
        for (few, many) in few.iter().zip(many) {
            assert!(many < few * 1.25, "requests and bytes a server: {few:.1} and {many:.1}");
        }
    }
}

#[test]
fn an_idle_connected_server_takes_at_most_eight_kib_without_its_tools() {
    let _alone = alone();
    let servers = 1_000;
    let (crowd, stats) = counted(|| {
        let mut crowd = Crowd::new(servers, 0);
        crowd.start();
        crowd
    });
    let each = (stats.bytes_allocated - stats.bytes_deallocated) / servers;
    println!("{each} bytes an idle server");
    assert!(each <= IDLE_BYTES_MAX, "{each} bytes a server");
    drop(crowd);
}

#[test]
fn a_tick_with_nothing_due_allocates_nothing() {
    let _alone = alone();
    let mut crowd = Crowd::new(50, 10);
    crowd.start();
    let at = crowd.now();
    let runtime = crowd.runtime_mut();
    // Somebody waits for a start, a server and a call, so that there is something to look at.
    let call = NewCall {
        call: CallId::new(0),
        target: Target::Tool { server: "server1".into(), tool: "tool1".into() },
        arguments: Json::new("{}"),
        timeout_ms: None,
        max_ms: None,
    };
    let restart = Request::Restart { op: OpId::new(7), server: "server0".into() };
    let wait = Request::AwaitConnected {
        op: OpId::new(8),
        server: "server0".into(),
        timeout_ms: Some(5_000),
    };
    let requests = [Request::Call(call), restart, wait, Request::Start { op: OpId::new(9) }];
    for request in requests {
        runtime.handle(at, Input::Host(request));
    }
    while runtime.poll_command().is_some() {}
    while runtime.poll_event().is_some() {}
    assert!(runtime.poll_timeout().is_some_and(|deadline| deadline.at > at.plus(20)));
    // The least of a few: the harness may say how another test ended.
    let ticks = (0..20).map(|ms| {
        let ((), stats) = counted(|| runtime.handle_timeout(at.plus(ms)));
        assert!(runtime.poll_command().is_none() && runtime.poll_event().is_none());
        stats.allocations + stats.reallocations + stats.deallocations
    });
    assert_eq!(ticks.min(), Some(0));
}

/// The promise, kept where it is made: in release mode.
#[cfg(not(debug_assertions))]
#[test]
fn a_thousand_servers_start_reload_and_end_within_two_seconds_of_cpu() {
    use rustix::time::{ClockId, clock_gettime};

    let spent = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let _alone = alone();
    let before = spent();
    story(1_000, || Crowd::new(1_000, 100));
    let took = spent() - before;
    assert!(took < 2.0, "{took} s");
}
