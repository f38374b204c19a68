//! Real servers: how they are started, and that no pipe waits for another.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::event::{Outcome, ServerState, StartReport};

use crate::project::{Project, call, hasty, text};

fn surroundings(project: &Project, entry: Value) -> Value {
    let answer = project.run(entry, async |host| call(host, "surroundings", json!({})).await);
    serde_json::from_str(&text(&answer)).unwrap()
}

#[test]
fn a_server_leads_its_own_group_and_inherits_the_environment_below_its_own() {
    let project = Project::new();
    let mut entry = project.server(&["--", "a b", ""]);
    entry["env"]["HOME"] = "/nowhere".into();
    let seen = surroundings(&project, entry);
    assert_eq!(seen["pid"], seen["group"]);
    assert_eq!(seen["env"]["HOME"], "/nowhere");
    // A shell on the way to the server may set these.
    let shells = ["_", "HOME", "OLDPWD", "PATH", "PWD", "SHLVL"];
    for (name, value) in std::env::vars().filter(|(name, _)| !shells.contains(&name.as_str())) {
        assert_eq!(seen["env"][&name], value, "{name}");
    }
    assert_eq!(seen["args"], json!(["--", "a b", ""]));
    // F-019
    assert_eq!(seen["cwd"], fs::canonicalize(project.path()).unwrap().to_str().unwrap());
}

#[test]
fn a_server_starts_with_every_signal_as_the_system_has_it() {
    let project = Project::new();
    let seen = surroundings(&project, project.server(&[]));
    assert_eq!(seen["masks"]["SigBlk"], "0000000000000000");
    // Whatever this test was started with, what Python does (SIGPIPE, SIGXFSZ), and what glibc
    // keeps for its threads (32, 33).
    const EXPECTED: u64 = 1 << 12 | 1 << 24 | 3 << 31;
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let own = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    let [ignored, own] = [seen["masks"]["SigIgn"].as_str().unwrap(), own]
        .map(|mask| u64::from_str_radix(mask, 16).unwrap());
    assert_eq!(ignored & !own & !EXPECTED, 0);
}

#[test]
fn a_server_inherits_nothing_but_its_three_pipes() {
    // One server holding another's pipe, or the guard's, would keep it open for ever.
    let project = Project::new();
    let names: Vec<String> = (0..8).map(|number| format!("s{number}")).collect();
    let mut servers: Vec<_> = names.iter().map(|it| (it.as_str(), project.server(&[]))).collect();
    servers.push(("s", project.server(&[])));
    let answer = project.run_with(project.settings(&servers), async |host| {
        host.start().await;
        call(host, "surroundings", json!({})).await
    });
    let seen: Value = serde_json::from_str(&text(&answer)).unwrap();
    let ours = inherited_by_all();
    let mut pipes: Vec<(u32, &str)> = seen["fds"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(number, what)| (number.parse().unwrap(), what.as_str().unwrap()))
        .filter(|(_, what)| !what.starts_with('/') && !ours.iter().any(|it| it == what))
        .collect();
    pipes.sort_unstable();
    assert_eq!(pipes.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 2], "{pipes:?}");
}

/// What this test's own parent left open for everybody.
fn inherited_by_all() -> Vec<String> {
    const CLOSE_ON_EXEC: u32 = 0o2_000_000;
    let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
    open.filter_map(|entry| {
        let info =
            fs::read_to_string(entry.path().display().to_string().replace("/fd/", "/fdinfo/"));
        let info = info.ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:\t"))?;
        let kept = u32::from_str_radix(flags, 8).ok()? & CLOSE_ON_EXEC == 0;
        kept.then(|| fs::read_link(entry.path()).ok()?.into_os_string().into_string().ok())?
    })
    .collect()
}

#[test]
fn a_script_runs_whether_its_first_line_names_a_shell_or_not() {
    let project = Project::new();
    for first in ["#!/bin/sh\n", ""] {
        let script = project.path().join("server");
        let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real/server.py");
        fs::write(&script, format!("{first}exec python3 {server} \"$@\"\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let seen = surroundings(&project, project.entry("./server", &["a b"]));
        assert_eq!(seen["args"], json!(["a b"]));
    }
}

#[test]
fn what_cannot_be_started_says_why_and_hurts_nobody_else() {
    let project = Project::new();
    let script = project.path().join("script");
    fs::write(&script, "#!/nowhere/shell\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut lost = project.server(&[]);
    lost["cwd"] = "gone".into();
    let servers = [
        ("a", project.entry("no-such-server", &[])),
        ("b", project.entry("./script", &[])),
        ("c", lost),
        ("s", project.server(&[])),
    ];
    let report: StartReport =
        project.run_with(project.settings(&servers), async |host| host.start().await);
    assert_eq!(report.connected, ["s".into()]);
    let lines: Vec<_> = report.failed.iter().map(|(name, why)| why.describe(name)).collect();
    assert!(lines[0].contains("\"no-such-server\" not found in the "), "{lines:?}");
    assert!(lines[1].contains("script: its interpreter is missing"), "{lines:?}");
    assert!(lines[2].contains("/gone\" does not exist"), "{lines:?}");
}

#[test]
fn the_last_answer_of_a_server_that_exits_at_once_counts() {
    let project = Project::new();
    let bytes = 900_000;
    let answer = project.run(project.server(&[]), async |host| {
        call(host, "blob", json!({ "bytes": bytes, "then": "exit" })).await
    });
    assert_eq!(text(&answer).len(), bytes);
}

#[test]
fn a_flood_of_complaints_holds_nothing_up() {
    // F-020
    let project = Project::new();
    let (answer, status) = project.run(project.server(&[]), async |host| {
        let answer = call(host, "complain", json!({ "bytes": 5_000_000 })).await;
        (answer, host.status().await)
    });
    assert_eq!(text(&answer), "done");
    assert_eq!(status.servers[0].state, ServerState::Connected);
    assert!(status.servers[0].stderr_tail.ends_with('x'));
}

#[test]
fn large_messages_pass_in_both_directions() {
    let project = Project::new();
    let long = "z".repeat(8_000_000);
    let answers = project.run(project.server(&[]), async |host| {
        let there = call(host, "echo", json!({ "text": long })).await;
        let back = call(host, "blob", json!({ "bytes": 30_000_000 })).await;
        [there, back]
    });
    assert!(text(&answers[0]) == long);
    assert_eq!(text(&answers[1]).len(), 30_000_000);
}

#[test]
fn a_server_that_stops_reading_blocks_neither_the_others_nor_its_own_end() {
    let project = Project::new();
    let servers = [("deaf", project.server(&[])), ("s", project.server(&[]))];
    project.run_with(project.settings(&servers), async |host| {
        host.start().await;
        let tool = |tool: &str| tidegate_core::input::Target::Tool {
            server: "deaf".into(),
            tool: tool.into(),
        };
        let then = tidegate_core::bytes::Json::new(r#"{ "then": "deaf" }"#);
        let answer = host.call(tool("echo"), then, None).await;
        assert!(matches!(answer, Outcome::Answered(_)));
        let long = json!({ "text": "z".repeat(8_000_000) }).to_string();
        let stuck = host.call(tool("echo"), tidegate_core::bytes::Json::new(long), None);
        assert_eq!(text(&call(host, "echo", json!({ "text": "here" })).await), "here");
        stuck.cancel();
        assert_eq!(stuck.await, Outcome::Aborted);
    });
}

#[test]
fn a_server_that_never_stops_talking_holds_up_no_other() {
    let project = Project::new();
    let servers = [
        ("noise", project.server(&["noise"])),
        ("complaints", project.server(&["complaints"])),
        ("s", project.server(&[])),
    ];
    project.run_with(hasty(project.settings(&servers)), async |host| {
        host.start().await;
        for at in 0..200 {
            let said = at.to_string();
            assert_eq!(text(&call(host, "echo", json!({ "text": said })).await), said);
        }
    });
}

#[test]
fn a_host_that_panics_takes_its_servers_with_it() {
    let project = Project::new();
    let entry = project.server(&["child", "ignore-eof", "ignore-term"]);
    let (host, driver) = tidegate_smol::open(project.settings(&[("s", entry)])).unwrap();
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        tidegate_smol::block_on(driver, async {
            host.start().await;
            panic!("on purpose");
        })
    }));
    assert!(panicked.is_err());
    project.check_nothing_left(Duration::from_secs(2));
}

#[test]
fn nothing_is_left_open_by_servers_that_came_and_went() {
    /// So many that one file a time would be more than what the other tests of this program,
    /// which run beside this one, have open.
    const TIMES: usize = 60;
    let project = Project::new();
    let open_files = || fs::read_dir("/proc/self/fd").unwrap().count();
    let counts = project.run(project.server(&[]), async |host| {
        let mut counts = Vec::new();
        for _ in 0..TIMES {
            host.disconnect("s").await;
            host.connect("s").await;
            counts.push(open_files());
        }
        counts
    });
    assert!(counts[TIMES - 1] < counts[0] + TIMES, "{counts:?}");
}
