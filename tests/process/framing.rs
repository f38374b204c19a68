//! Bytes that are not what a host would like to read.

use serde_json::json;
use tidegate_core::error::{Cause, Excess};
use tidegate_core::event::ServerState;
use tidegate_tests::live::{World, say};

#[test]
fn lines_that_are_no_messages_are_skipped_and_counted() {
    // F-041
    let world = World::default();
    world.run(&[("noisy", world.scripted(&["--garbage"]))], async |host| {
        assert_eq!(say(host, "noisy", "echo", json!({"text": "ü"})).await, "ü");
        let status = host.status().await;
        assert!(status.servers[0].skipped_lines >= 3, "{}", status.servers[0].skipped_lines);
    });
}

#[test]
fn a_big_answer_in_small_pieces_is_delivered_whole() {
    // F-042; every character is two bytes and the pieces are odd, so that each cuts one.
    let world = World::default();
    world.run(&[("slow", world.scripted(&[]))], async |host| {
        let text = say(host, "slow", "pieces", json!({"bytes": 1_048_576})).await;
        assert_eq!(text.len(), 1_048_576);
        assert!(text.chars().all(|c| c == 'ä'));
    });
}

#[test]
fn a_result_of_many_megabytes_is_delivered() {
    let world = World::default();
    world.run(&[("big", world.scripted(&[]))], async |host| {
        let text = say(host, "big", "blob", json!({"bytes": 20_000_000})).await;
        assert_eq!(text.len(), 20_000_000);
    });
}

#[test]
fn a_line_over_the_limit_fails_its_server_alone() {
    // L10
    let world = World::default();
    let servers =
        [("endless", world.scripted(&["--oversized", "3000000"])), ("good", world.scripted(&[]))];
    let mut settings = world.settings(&servers);
    settings.options.limits.message_bytes = 1_000_000;
    world.run_with(settings, async |host| {
        host.start().await;
        assert_eq!(say(host, "good", "echo", json!({"text": "fine"})).await, "fine");
        let status = host.status().await;
        let ServerState::Failed { failure } = &status.servers[0].state else {
            panic!("{:?}", status.servers[0]);
        };
        assert_eq!(failure.cause, Cause::Limit { what: Excess::Message, limit: 1_000_000 });
    });
}

#[test]
fn notifications_before_the_answer_to_initialize_are_tolerated() {
    // F-046
    let world = World::default();
    world.run(&[("early", world.scripted(&["--early-notes"]))], async |host| {
        assert_eq!(say(host, "early", "echo", json!({"text": "fine"})).await, "fine");
    });
}

#[test]
fn a_server_that_knows_only_what_it_declared_is_asked_for_nothing_else() {
    // F-048, F-050: it exits on a first message that is not `initialize`, and on any method it
    // does not know. F-051: its capabilities have members nobody knows.
    let world = World::default();
    world.run(&[("strict", world.scripted(&["--strict"]))], async |host| {
        assert_eq!(say(host, "strict", "echo", json!({"text": "fine"})).await, "fine");
    });
}

#[test]
fn every_published_revision_is_accepted() {
    // F-049
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let world = World::default();
        world.run(&[("old", world.scripted(&["--revision", revision]))], async |host| {
            assert_eq!(say(host, "old", "echo", json!({"text": "fine"})).await, "fine");
            let status = host.status().await;
            assert_eq!(status.servers[0].revision.as_deref(), Some(revision));
        });
    }
}

#[test]
fn an_unknown_revision_is_refused_by_name() {
    let world = World::default();
    world.run(&[("odd", world.scripted(&["--revision", "1999-01-01"]))], async |host| {
        let status = host.status().await;
        let ServerState::Failed { failure } = &status.servers[0].state else {
            panic!("{:?}", status.servers[0]);
        };
        assert_eq!(failure.cause, Cause::Revision { offered: "1999-01-01".into() });
    });
}

#[test]
fn every_page_of_the_tools_is_read() {
    // F-059
    let world = World::default();
    world.run(&[("paged", world.scripted(&["--page-size", "3"]))], async |host| {
        let catalog = host.catalog().await;
        assert_eq!(catalog.tools.len(), 17);
        assert_eq!(say(host, "paged", "echo", json!({"text": "fine"})).await, "fine");
    });
}
