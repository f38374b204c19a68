//! A project's own servers, with real files: what runs is what the user approved (F-038).

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use tidegate_core::event::ServerState;
use tidegate_core::hub::status::ServerStatus;
use tidegate_core::options::Options;
use tidegate_smol::places::Directories;
use tidegate_smol::{Approvals, Granted, Host, Settings};

use crate::files::replay;
use crate::project::Project;

fn settings(project: &Project) -> Settings {
    let places = Directories::default().places(project.path(), &[]).unwrap();
    let options = Options::new(&places.cwd, places.sources());
    Settings::new(options).with_state_dir(project.path().join("state"))
}

async fn server(host: &Host) -> ServerStatus {
    host.status().await.servers.into_iter().next().unwrap()
}

fn yes(server: &ServerStatus) -> Vec<Granted> {
    let approval = server.consent.as_ref().unwrap().approval;
    let (server, file) = (server.name.to_string(), server.source.path.clone());
    vec![Granted { approval, server, file, shown: Vec::new() }]
}

/// L2, G67: the trace of it holds no secret, and what was approved is approved in a replay.
#[test]
fn an_approved_server_runs_after_a_reload_and_the_run_replays() {
    let project = Project::new();
    let mut entry = project.server(&["--token=swordfish-1"]);
    entry["env"]["API_TOKEN"] = "swordfish-2".into();
    let file = json!({ "mcpServers": { "s": entry } }).to_string();
    fs::write(project.path().join(".mcp.json"), file).unwrap();
    let trace = project.path().join("trace.jsonl");
    let approvals = Approvals::below(project.path().join("state"));
    project.run_with(settings(&project).with_trace(&trace), async |host| {
        host.start().await;
        let waiting = server(host).await;
        assert_eq!(waiting.state, ServerState::NeedsApproval);
        assert_eq!(project.processes(), [""; 0]);
        approvals.grant(yes(&waiting)).unwrap();
        host.reload().await;
        assert_eq!(server(host).await.state, ServerState::Connected);
        host.reload().await;
        let approval = yes(&waiting).remove(0).approval;
        approvals.revoke(|granted| granted.approval == approval).unwrap();
        host.reload().await;
        assert_eq!(server(host).await.state, ServerState::NeedsApproval);
    });
    let recorded = fs::read_to_string(&trace).unwrap();
    assert!(recorded.contains("approvals-read") && !recorded.contains("swordfish"));
    replay(&recorded);
}

#[test]
fn a_link_that_leads_elsewhere_later_asks_again_although_both_files_say_the_same() {
    let project = Project::new();
    let file = json!({ "mcpServers": { "s": project.server(&[]) } }).to_string();
    for name in ["one.json", "two.json"] {
        fs::write(project.path().join(name), &file).unwrap();
    }
    let link = project.path().join(".mcp.json");
    symlink("one.json", &link).unwrap();
    let approvals = Approvals::below(project.path().join("state"));
    project.run_with(settings(&project), async |host| {
        host.start().await;
        approvals.grant(yes(&server(host).await)).unwrap();
        host.reload().await;
        assert_eq!(server(host).await.state, ServerState::Connected);
        fs::remove_file(&link).unwrap();
        symlink("two.json", &link).unwrap();
        host.reload().await;
        assert_eq!(server(host).await.state, ServerState::NeedsApproval);
    });
}

#[test]
fn a_file_of_approvals_that_cannot_be_read_approves_nothing_and_is_said() {
    let project = Project::new();
    let file = json!({ "mcpServers": { "s": project.server(&[]) } }).to_string();
    fs::write(project.path().join(".mcp.json"), file).unwrap();
    fs::create_dir(project.path().join("state")).unwrap();
    fs::write(project.path().join("state/approvals.json"), "garbage").unwrap();
    project.run_with(settings(&project), async |host| {
        host.start().await;
        let status = host.status().await;
        assert_eq!(status.servers[0].state, ServerState::NeedsApproval);
        let said = |message: &str| message.contains("approvals.json");
        assert!(status.problems.iter().any(|problem| said(&problem.message)), "{status:?}");
    });
}
