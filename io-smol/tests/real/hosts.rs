//! What a host gets: answers, whatever becomes of the driver, on whichever thread.

use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use serde_json::json;
use tidegate_core::error::CallError;
use tidegate_core::event::{Event, OpResult, Outcome};
use tidegate_smol::{News, Settings, block_on, open};

use crate::project::{Project, call, text};

#[test]
fn a_driver_runs_on_any_executor_and_answers_other_threads() {
    let project = Project::new();
    let (host, driver) = open(project.settings(&[("s", project.server(&[]))])).unwrap();
    let driver = std::thread::spawn(move || async_io::block_on(driver.run()));
    let threads = (0..4).map(|number| {
        let host = host.clone();
        std::thread::spawn(move || {
            async_io::block_on(async {
                host.start().await;
                let calls = (0..50).map(|at| {
                    let said = format!("{number}-{at}");
                    (call(&host, "echo", json!({ "text": said })), said)
                });
                for (call, said) in calls.collect::<Vec<_>>() {
                    assert_eq!(text(&call.await), said);
                }
            });
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
    async_io::block_on(host.shutdown());
    driver.join().unwrap().unwrap();
    project.check_nothing_left(Duration::ZERO);
}

#[test]
fn everything_asked_of_a_runtime_that_has_ended_is_answered() {
    let project = Project::new();
    let (host, driver) = open(project.settings(&[("s", project.server(&[]))])).unwrap();
    let mut events = host.events();
    block_on(driver, async {
        host.start().await;
        host.shutdown().await;
    })
    .unwrap();
    async_io::block_on(async {
        assert_eq!(host.reload().await, OpResult::ShuttingDown);
        assert_eq!(host.connect("s").await, OpResult::ShuttingDown);
        assert!(host.start().await.connected.is_empty());
        host.shutdown().await;
        let outcome = call(&host, "echo", json!({})).await;
        assert_eq!(outcome, Outcome::Failed(CallError::ShuttingDown));
        assert_eq!(host.status().await.servers.len(), 1);
        host.catalog().await;
        let mut last = None;
        while let Some(news) = events.next().await {
            last = Some(news);
        }
        assert_eq!(last, Some(News::Event(Event::Stopped)));
        assert_eq!(host.events().next().await, None);
    });
}

#[test]
fn everything_asked_of_a_driver_that_is_never_run_is_answered_once_it_is_dropped() {
    let project = Project::new();
    let (host, driver) = open(project.settings(&[])).unwrap();
    let asked = std::thread::spawn(move || {
        async_io::block_on(async {
            let start = host.start();
            let reload = host.reload();
            let outcome = call(&host, "echo", json!({}));
            future::zip(future::zip(start, reload), future::zip(outcome, host.status())).await
        })
    });
    std::thread::sleep(Duration::from_millis(20));
    drop(driver);
    let ((report, reload), (outcome, status)) = asked.join().unwrap();
    assert!(report.connected.is_empty());
    assert_eq!(reload, OpResult::ShuttingDown);
    assert_eq!(outcome, Outcome::Failed(CallError::ShuttingDown));
    assert!(status.servers.is_empty());
}

#[test]
fn a_runtime_ends_with_its_last_host() {
    let project = Project::new();
    let (host, driver) = open(project.settings(&[("s", project.server(&[]))])).unwrap();
    let events = host.events();
    let starts = host.clone();
    async_io::block_on(future::zip(
        async {
            starts.start().await;
            drop(starts);
            drop(host);
        },
        async {
            driver.run().await.unwrap();
        },
    ));
    drop(events);
    project.check_nothing_left(Duration::ZERO);
}

#[test]
fn a_call_that_is_dropped_is_cancelled() {
    let project = Project::new();
    project.run(project.server(&[]), async |host| {
        let nap = call(host, "nap", json!({ "seconds": 0.3 }));
        assert_eq!(host.status().await.open_calls, 1);
        drop(nap);
        assert_eq!(host.status().await.open_calls, 0);
        let second = call(host, "nap", json!({ "seconds": 0.3 }));
        second.cancel();
        assert_eq!(second.await, Outcome::Aborted);
    });
}

#[test]
fn a_late_observer_hears_the_present_revision_first() {
    let project = Project::new();
    project.run(project.server(&[]), async |host| {
        let revision = host.catalog().await.revision;
        assert!(revision > 0);
        let first = host.events().next().await;
        assert_eq!(first, Some(News::Event(Event::ToolsChanged { revision })));
    });
}

#[test]
fn the_catalogue_is_shared_until_it_changes() {
    let project = Project::new();
    project.run(project.server(&[]), async |host| {
        let before = host.catalog().await;
        assert!(std::sync::Arc::ptr_eq(&before, &host.catalog().await));
        host.disconnect("s").await;
        assert_ne!(before.revision, host.catalog().await.revision);
    });
}

#[test]
fn a_host_may_use_timers_beside_the_driver() {
    let project = Project::new();
    project.run(project.server(&[]), async |host| {
        let nap = call(host, "nap", json!({ "seconds": 600 }));
        let tired = async {
            Timer::after(Duration::from_millis(30)).await;
            Outcome::Aborted
        };
        assert_eq!(future::or(nap, tired).await, Outcome::Aborted);
    });
}

#[test]
fn a_run_whose_host_has_nothing_to_do_ends_at_once() {
    let project = Project::new();
    let settings = Settings::new(project.settings(&[]).options);
    assert_eq!(project.run_with(settings, async |_| 7), 7);
}
