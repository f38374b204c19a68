//! What a project brought along, and what the user said about it (F-038, F-039).

use std::collections::BTreeSet;

use tidegate_core::approval::Approval;
use tidegate_core::command::Command;
use tidegate_core::config::consent::Act;
use tidegate_core::config::{Level, Provider, Source};
use tidegate_core::error::Category;
use tidegate_core::event::{OpResult, ServerState, Skip};
use tidegate_core::id::{OpId, ServerName};
use tidegate_core::input::{Fact, Found, Request};
use tidegate_core::options::Options;

use crate::play::Play;

const FILE: &str = "/p/.mcp.json";

/// A project's file, the user's approvals, and the machine that heeds both.
struct Project {
    play: Play,
    path: String,
    origin: String,
    text: String,
    approved: BTreeSet<Approval>,
    /// The rules of the organisation.
    rules: Found,
    ops: u64,
}

const RULES: &str = "/etc/rules.json";

impl Project {
    fn new(text: &str) -> Self {
        Self::at(FILE, FILE, text)
    }

    fn at(path: &str, origin: &str, text: &str) -> Self {
        let source = Source::file(Provider::Shared, Level::Project, path);
        let mut options = Options::new("/p", vec![source]);
        options.organisation = Some(RULES.into());
        let play = Play::with(options);
        let (path, origin, text) = (path.into(), origin.into(), text.into());
        Self { play, path, origin, text, approved: BTreeSet::new(), rules: Found::Nothing, ops: 0 }
    }

    /// Reloads, or starts the first time; the commands of servers that were started.
    fn reload(&mut self) -> Vec<String> {
        let op = OpId::new(self.ops);
        self.ops += 1;
        let first = self.ops == 1;
        self.play.host(if first { Request::Start { op } } else { Request::Reload { op } });
        let mut started = Vec::new();
        let mut commands = self.play.take_commands();
        while !commands.is_empty() {
            for command in commands {
                match command {
                    Command::ReadConfig { read, path, .. } if path == RULES => {
                        let found = self.rules.clone();
                        self.play.io(Fact::ConfigRead { read, origin: None, found });
                    }
                    Command::ReadConfig { read, path, .. } => {
                        assert_eq!(path, self.path);
                        let origin = Some(self.origin.clone());
                        let found = Found::Content(self.text.as_str().into());
                        self.play.io(Fact::ConfigRead { read, origin, found });
                    }
                    Command::ReadApprovals { read } => {
                        let approved = self.approved.clone();
                        self.play.io(Fact::ApprovalsRead { read, approved });
                    }
                    Command::Open { launch, .. } => started.push(launch.command.to_string()),
                    _ => {}
                }
            }
            commands = self.play.take_commands();
        }
        started
    }

    /// The user says yes to a server that waits.
    fn approve(&mut self, name: &str) -> Approval {
        let status = self.play.runtime.status();
        let server = status.servers.into_iter().find(|server| server.name.as_str() == name);
        let approval = server.unwrap().consent.unwrap().approval;
        self.approved.insert(approval);
        approval
    }

    fn waits(&self, name: &str) -> bool {
        self.play.state(name) == ServerState::NeedsApproval
    }
}

const ONE: &str = r#"{"mcpServers":{"a":{"command":"run","args":["x"],"env":{"K":"v"}}}}"#;

#[test]
fn a_projects_server_runs_once_it_is_approved_and_no_more_once_that_is_revoked() {
    let mut project = Project::new(ONE);
    assert_eq!(project.reload(), [""; 0]);
    assert_eq!(project.play.report().skipped, [("a".into(), Skip::NeedsApproval)]);
    let approval = project.approve("a");
    assert_eq!(project.reload(), ["run"]);
    project.play.connect(0);
    // Nothing changed: nothing happens.
    assert_eq!(project.reload(), [""; 0]);
    assert_eq!(project.play.state("a"), ServerState::Connected);
    project.approved.remove(&approval);
    assert_eq!(project.reload(), [""; 0]);
    assert!(project.waits("a"));
    assert_eq!(project.play.tools(), []);
}

#[test]
fn any_change_of_a_definition_asks_again() {
    for changed in [
        r#"{"mcpServers":{"a":{"command":"ran","args":["x"],"env":{"K":"v"}}}}"#,
        r#"{"mcpServers":{"a":{"command":"run","args":["y"],"env":{"K":"v"}}}}"#,
        r#"{"mcpServers":{"a":{"command":"run","args":["x"],"env":{"K":"!w"}}}}"#,
        r#"{"mcpServers":{"a":{"command":"run","args":["x"],"env":{"k":"v"}}}}"#,
        r#"{"mcpServers":{"a":{"command":"run","args":["x"],"env":{"K":"v"},"cwd":"/"}}}"#,
        r#"{"mcpServers":{"a":{"command":"run","args":["x"],"env":{"K":"v"},"timeout":9}}}"#,
        // A secret that no cache key tells apart.
        r#"{"mcpServers":{"a":{"command":"run","args":["x","--token=1"],"env":{"K":"v"}}}}"#,
    ] {
        let mut project = Project::new(ONE);
        project.reload();
        project.approve("a");
        project.text = changed.into();
        assert_eq!(project.reload(), [""; 0], "{changed}");
        assert!(project.waits("a"), "{changed}");
    }
}

#[test]
fn where_on_a_page_a_definition_stands_and_whether_it_is_on_asks_nothing() {
    let mut project = Project::new(ONE);
    project.reload();
    project.approve("a");
    project.text = format!("\n\n{}", ONE.replace("\"args\"", "\"enabled\": true, \"args\""));
    assert_eq!(project.reload(), ["run"]);
}

#[test]
fn one_approval_approves_no_other_entry_and_no_other_name() {
    let two = r#"{"mcpServers":{"a":{"command":"run"},"b":{"command":"run"}}}"#;
    let mut project = Project::new(two);
    project.reload();
    project.approve("a");
    assert_eq!(project.reload(), ["run"]);
    assert!(project.waits("b") && !project.waits("a"));
}

#[test]
fn another_file_a_moved_project_and_another_target_of_a_link_ask_again() {
    let mut project = Project::at(FILE, "/real/one.json", ONE);
    project.reload();
    let approval = project.approve("a");
    for (path, origin) in [
        ("/p/mcp.json", "/real/one.json"),
        ("/moved/.mcp.json", "/moved/.mcp.json"),
        (FILE, "/real/two.json"),
    ] {
        let mut other = Project::at(path, origin, ONE);
        other.approved.insert(approval);
        assert_eq!(other.reload(), [""; 0], "{path} {origin}");
        assert!(other.waits("a"), "{path} {origin}");
    }
    // The link leads elsewhere while it runs: it is stopped.
    project.reload();
    project.play.connect(0);
    project.origin = "/real/two.json".into();
    project.reload();
    assert!(project.waits("a"));
}

#[test]
fn nothing_the_host_says_starts_what_is_not_approved() {
    let mut project = Project::new(ONE);
    project.reload();
    let server = || ServerName::from("a");
    for (at, request) in [
        Request::Connect { op: OpId::new(10), server: server() },
        Request::Reconnect { op: OpId::new(11), server: server(), failed: None },
        Request::Restart { op: OpId::new(12), server: server() },
        Request::Enable { op: OpId::new(13), server: server() },
    ]
    .into_iter()
    .enumerate()
    {
        project.play.host(request).sleep(100_000 * (at as u64 + 1));
        assert_eq!(project.play.take_commands(), [], "{at}");
    }
    assert!(project.waits("a"));
}

/// G16: an answer to a question that was overtaken changes nothing.
#[test]
fn approvals_that_come_late_count_for_no_other_reading() {
    let mut project = Project::new(ONE);
    project.reload();
    let approval = project.approve("a");
    let play = &mut project.play;
    let ask = |play: &mut Play, op: u64, text: &str| {
        play.host(Request::Reload { op: OpId::new(op) });
        let commands = play.take_commands();
        let [Command::ReadConfig { read, .. }, Command::ReadConfig { read: rules, .. }] =
            commands[..]
        else {
            panic!("{commands:?}")
        };
        play.io(Fact::ConfigRead { read: rules, origin: None, found: Found::Nothing });
        let (origin, found) = (Some(FILE.into()), Found::Content(text.into()));
        play.io(Fact::ConfigRead { read, origin, found });
        let Some(Command::ReadApprovals { read }) = play.take_commands().pop() else { panic!() };
        read
    };
    let first = ask(play, 20, ONE);
    let second = ask(play, 21, r#"{"mcpServers":{"a":{"command":"other"}}}"#);
    play.io(Fact::ApprovalsRead { read: first, approved: [approval].into() });
    assert_eq!(play.take_commands(), []);
    play.io(Fact::ApprovalsRead { read: second, approved: [approval].into() });
    assert_eq!(play.take_commands(), []);
    assert!(project.waits("a"));
}

#[test]
fn who_is_asked_sees_what_would_be_run() {
    let mut project = Project::new(
        r#"{"mcpServers":{"a":{"command":"run","args":["x"],"cwd":"/c","env":{"K":"v","L":"!touch pwned"}}}}"#,
    );
    project.reload();
    let status = project.play.runtime.status();
    let consent = status.servers[0].consent.clone().unwrap();
    let (command, args, cwd) = ("run".into(), vec!["x".into()], Some("/c".into()));
    assert_eq!(consent.act, Act::Run { command, args, cwd });
    let sets: Vec<&str> = consent.sets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(sets, ["K", "L"]);
    let connect = Request::Connect { op: OpId::new(9), server: "a".into() };
    project.play.host(connect);
    let skipped = OpResult::Skipped { reason: Skip::NeedsApproval };
    let done = tidegate_core::event::Event::Done { op: OpId::new(9), result: skipped };
    assert!(project.play.events.contains(&done));
}

/// The rules of the organisation come first: nobody is asked for what they forbid, and what
/// runs ends when they begin to.
#[test]
fn what_the_organisation_forbids_is_never_run_whatever_is_approved() {
    let mut project = Project::new(ONE);
    project.rules = Found::Content(r#"{"deny":[{"program":"run"}]}"#.into());
    assert_eq!(project.reload(), [""; 0]);
    let forbidden = ServerState::Skipped { reason: Skip::Forbidden };
    assert_eq!(project.play.state("a"), forbidden);
    let problems = project.play.runtime.status().problems;
    let problem = problems.iter().find(|it| it.category == Category::Forbidden).unwrap();
    assert_eq!((problem.file.as_deref(), problem.line), (Some(RULES), Some(1)));
    project.play.host(Request::Enable { op: OpId::new(50), server: "a".into() });
    assert_eq!(project.play.take_commands(), []);
    project.rules = Found::Nothing;
    project.reload();
    project.approve("a");
    assert_eq!(project.reload(), ["run"]);
    project.play.connect(0);
    project.rules = Found::Content(r#"{"allow":[{"name":"b"}]}"#.into());
    assert_eq!(project.reload(), [""; 0]);
    assert_eq!(project.play.state("a"), forbidden);
    assert_eq!(project.play.tools(), []);
}

#[test]
fn rules_that_are_not_understood_forbid_everything_and_say_where_they_are_wrong() {
    let mut project = Project::new(ONE);
    for rules in
        [Found::Content("{\n\"denny\": []}".into()), Found::Unreadable("Permission denied".into())]
    {
        project.rules = rules;
        assert_eq!(project.reload(), [""; 0]);
        assert_eq!(project.play.state("a"), ServerState::Skipped { reason: Skip::Forbidden });
        let problems = project.play.runtime.status().problems;
        let said = |message: &str| message.contains("every server is forbidden");
        assert!(problems.iter().any(|problem| said(&problem.message)), "{problems:?}");
    }
}
