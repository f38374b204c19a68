//! Values that stand for something else, with real commands: run once, shown nowhere.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tidegate_core::command::Question;
use tidegate_core::error::Category;
use tidegate_core::event::ServerState;
use tidegate_smol::Prompt;

use crate::files::replay;
use crate::project::{Project, call, text};

/// G61, G66, G67: one run for two servers, three starts and a reload; what it printed is in the
/// server's environment, as it is, and nowhere else.
#[test]
fn a_command_runs_once_and_its_output_is_never_written_down() {
    let project = Project::new();
    let (runs, trace) = (project.path().join("runs"), project.path().join("trace.jsonl"));
    // What it prints looks like what stands for something else, and is not looked at again.
    let (token, printed) = ("!sword${HOME}fish", project.path().join("printed"));
    fs::write(&printed, format!("  {token}\n")).unwrap();
    let line = format!("!echo run >> {}; cat {}", runs.display(), printed.display());
    let mut entry = project.server(&[]);
    entry["env"]["TOKEN"] = line.as_str().into();
    let settings = project.settings(&[("s", entry.clone()), ("other", entry)]);
    project.run_with(settings.with_trace(&trace), async |host| {
        let report = host.start().await;
        assert_eq!(report.connected.len(), 2, "{report:?}");
        host.restart("other").await;
        host.reload().await;
        let answer = text(&call(host, "surroundings", json!({})).await);
        assert!(answer.contains(&format!("\"TOKEN\": \"{token}\"")), "{answer}");
    });
    assert_eq!(fs::read_to_string(runs).unwrap(), "run\n");
    let recorded = fs::read_to_string(&trace).unwrap();
    let ours = recorded.lines().filter(|line| !line.contains("\"fact\":\"received\""));
    let ours: Vec<&str> = ours.filter(|line| !line.contains("call-finished")).collect();
    assert!(!ours.join("\n").contains(token), "{ours:?}");
    replay(&recorded);
}

/// G66, G67: the value is named, its command's complaint is passed on without values.
#[test]
fn a_command_that_fails_costs_its_value_alone() {
    let project = Project::new();
    let mut entry = project.server(&[]);
    entry["env"]["TOKEN"] = "!echo \"no $PATH\" >&2; echo swordfish; exit 3".into();
    project.run_with(project.settings(&[("s", entry)]), async |host| {
        assert_eq!(host.start().await.connected.len(), 1);
        let status = host.status().await;
        let mut problems = status.problems.iter();
        let problem = problems.find(|problem| problem.category == Category::LeftOut).unwrap();
        assert!(problem.message.contains("env.TOKEN"), "{problem:?}");
        assert!(problem.message.contains("exited with status 3: no ${PATH}"), "{problem:?}");
        assert!(!problem.message.contains("swordfish"), "{problem:?}");
    });
}

/// F-013: nothing of a command is left, whenever the host ends.
#[test]
fn a_shutdown_ends_a_command_that_runs() {
    let project = Project::new();
    let file = project.path().join("late");
    let mut entry = project.server(&[]);
    entry["env"]["TOKEN"] = format!("!sleep 1; touch {}", file.display()).into();
    project.run_with(project.settings(&[("s", entry)]), async |host| {
        drop(host.start());
        host.status().await;
        host.shutdown().await;
    });
    std::thread::sleep(Duration::from_millis(1_200));
    assert!(!file.exists());
}

#[test]
fn a_person_is_asked_once_and_without_one_the_server_says_what_is_missing() {
    let project = Project::new();
    let entry = project.server(&["${input:key}"]);
    let settings = || project.settings(&[("s", entry.clone())]);
    project.run_with(settings(), async |host| {
        host.start().await;
        let status = host.status().await;
        let ServerState::Failed { failure } = &status.servers[0].state else {
            panic!("{status:?}")
        };
        let words = failure.describe(&"s".into());
        assert!(words.contains("args.1") && words.contains("\"key\""), "{words}");
    });
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let prompt = Prompt::new(move |what| {
        count.fetch_add(1, Ordering::Relaxed);
        assert!(matches!(what, Question::Input { id, .. } if id == "key"));
        Some("swordfish".into())
    });
    project.run_with(settings().with_prompt(prompt), async |host| {
        assert_eq!(host.start().await.connected.len(), 1);
        host.restart("s").await;
        let answer = text(&call(host, "surroundings", json!({})).await);
        assert!(answer.contains("swordfish"), "{answer}");
    });
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
