//! What a run leaves in files: its trace and the tool cache.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use tidegate_core::error::Category;
use tidegate_core::runtime::Runtime;
use tidegate_core::trace::TraceLine;
use tidegate_smol::Settings;
use tidegate_smol::places::Directories;

use crate::project::{Project, call, text};

fn traced(project: &Project, trace: &Path) -> Settings {
    let entry = project.server(&[]);
    project
        .settings(&[("s", entry), ("none", project.entry("no-such-server", &[]))])
        .with_trace(trace)
}

#[test]
fn a_trace_into_a_pipe_that_nobody_reads_is_refused_at_once() {
    let project = Project::new();
    let pipe = project.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(tidegate_smol::open(project.settings(&[]).with_trace(&pipe)).is_err());
}

#[test]
fn a_recorded_run_replays_to_the_same_outputs() {
    // L2
    let project = Project::new();
    let trace = project.path().join("trace.jsonl");
    project.run_with(traced(&project, &trace), async |host| {
        host.start().await;
        let calls = [1, 2, 3].map(|at| call(host, "blob", json!({ "bytes": at * 100_000 })));
        for call in calls {
            text(&call.await);
        }
        let nap = call(host, "nap", json!({ "seconds": 0.2 }));
        nap.cancel();
        nap.await;
        host.reload().await;
        host.disconnect("s").await;
    });
    let recorded = fs::read_to_string(&trace).unwrap();
    assert_eq!(fs::metadata(&trace).unwrap().permissions().mode() & 0o777, 0o600);

    replay(&recorded);
}

#[test]
fn a_trace_holds_no_secret_and_replays_all_the_same() {
    // G67
    let project = Project::new();
    let trace = project.path().join("trace.jsonl");
    let mut inline = project.server(&["--token=swordfish-1"]);
    inline["env"]["API_TOKEN"] = "swordfish-2".into();
    let file = project.path().join("mcp.json");
    let mut filed = project.server(&[]);
    filed["env"]["API_TOKEN"] = "swordfish-3".into();
    fs::write(&file, json!({ "mcpServers": { "filed": filed } }).to_string()).unwrap();
    let mut settings = project.settings(&[("s", inline)]).with_trace(&trace);
    let places = Directories::default().places(project.path(), &[file]).unwrap();
    settings.options.sources.extend(places.sources());
    let report = project.run_with(settings, async |host| {
        let report = host.start().await;
        let answer = text(&call(host, "surroundings", json!({})).await);
        assert!(answer.contains("swordfish-1") && answer.contains("swordfish-2"));
        report
    });
    assert_eq!(report.connected.len(), 2, "{report:?}");
    let recorded = fs::read_to_string(&trace).unwrap();
    // What a server says is its own: the answer above tells its environment.
    let ours = recorded.lines().filter(|line| !line.contains("\"fact\":\"received\""));
    let ours: Vec<&str> = ours.filter(|line| !line.contains("call-finished")).collect();
    assert!(!ours.join("\n").contains("swordfish"), "{ours:?}");
    replay(&recorded);
}

#[test]
fn a_trace_that_cannot_be_begun_is_an_error_and_one_that_breaks_is_said_once() {
    let project = Project::new();
    let nowhere = project.path().join("gone/trace.jsonl");
    assert!(tidegate_smol::open(traced(&project, &nowhere)).is_err());
    let full = Path::new("/dev/full");
    let problems = project.run_with(traced(&project, full), async |host| {
        host.start().await;
        text(&call(host, "echo", json!({ "text": "x" })).await);
        host.status().await.problems
    });
    let ours: Vec<_> = problems.iter().filter(|it| it.category == Category::Driver).collect();
    assert_eq!(ours.len(), 1, "{problems:?}");
    assert!(ours[0].message.starts_with("the trace does not work: "), "{ours:?}");
}

#[test]
fn a_tool_list_is_cached_and_offered_by_the_next_run() {
    let project = Project::new();
    let cache = project.path().join("cache");
    let settings = |gate_ms| {
        let mut settings = project.settings(&[("s", project.server(&[]))]).with_cache_dir(&cache);
        settings.options.policy.gate_ms = gate_ms;
        settings
    };
    let first = project.run_with(settings(250), async |host| host.start().await);
    assert_eq!(first.connected, ["s".into()]);
    let entries: Vec<_> =
        fs::read_dir(cache.join("tools")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    let second = project.run_with(settings(0), async |host| {
        let report = host.start().await;
        text(&call(host, "echo", json!({ "text": "x" })).await);
        report
    });
    assert_eq!(second.deferred, ["s".into()]);
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let project = Project::new();
    let blocked = project.path().join("file");
    fs::write(&blocked, "").unwrap();
    let settings = project.settings(&[("s", project.server(&[]))]).with_cache_dir(&blocked);
    let report = project.run_with(settings, async |host| host.start().await);
    assert_eq!(report.connected, ["s".into()]);
}

/// Gives a fresh machine the recorded inputs, and compares what comes out.
pub(crate) fn replay(recorded: &str) {
    let mut lines = recorded.lines().map(|line| serde_json::from_str(line).unwrap());
    let Some(TraceLine::Head { options, .. }) = lines.next() else { panic!("no head") };
    let mut runtime = Runtime::new(*options);
    let mut outputs = 0;
    for line in lines {
        match line {
            TraceLine::Input { at, input } => runtime.handle(at, input),
            TraceLine::Tick { at } => runtime.handle_timeout(at),
            TraceLine::Command { command, .. } => {
                assert_eq!(runtime.poll_command(), Some(command));
                outputs += 1;
            }
            TraceLine::Event { event, .. } => {
                assert_eq!(runtime.poll_event(), Some(event));
                outputs += 1;
            }
            TraceLine::Head { .. } => panic!("a second head"),
        }
    }
    assert!(runtime.is_stopped());
    assert_eq!((runtime.poll_command(), runtime.poll_event()), (None, None));
    assert!(outputs > 20, "{outputs}");
}
