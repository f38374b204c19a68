use alloc::vec;

use super::*;
use crate::config::Source;
use crate::error::Exit;
use crate::id::{ConnId, OpId};
use crate::input::{Fact, Input, Request};
use crate::options::Options;
use crate::runtime::Runtime;
use crate::time::Timestamp;
use crate::tools::catalog::Tool;

const A: OwnerId = OwnerId::new(1);
const B: OwnerId = OwnerId::new(2);

fn tool(server: &str, name: &str, state: ToolState) -> Arc<Tool> {
    Arc::new(Tool {
        exposed: alloc::format!("mcp_{server}_{name}"),
        server: server.into(),
        tool: name.into(),
        description: "does something".into(),
        schema: Json::new("{}"),
        state,
    })
}

/// Live tools, written `server/tool`.
fn offering(revision: u64, tools: &[&str]) -> Offering {
    let tool = |name: &&str| {
        let (server, name) = name.split_once('/').expect("server/tool");
        tool(server, name, ToolState::Live)
    };
    let catalog = Catalog { revision, tools: tools.iter().map(tool).collect() };
    Offering { catalog: Arc::new(catalog), instructions: BTreeMap::new() }
}

fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(Entry::name).collect()
}

fn served(server: &str, tool: &str) -> ToolKey {
    ToolKey::Served { server: server.into(), tool: tool.into() }
}

fn registry(activation: Activation) -> Registry {
    Registry::new(
        activation,
        vec![OwnTool::new("read", "Reads."), OwnTool::new("write", "Writes.")],
    )
}

/// D76: what comes late is active without a restart.
#[test]
fn the_newest_revision_replaces_all_an_owner_had_and_touches_nothing_else() {
    // G72
    let mut session = registry(Activation::All);
    session.refresh(A, offering(1, &["git/log", "git/blame"]));
    session.refresh(B, offering(1, &["time/now"]));
    assert_eq!(session.refresh(A, offering(4, &["git/log", "web/get"])), Refresh::Applied);
    let wanted = ["read", "write", "mcp_git_log", "mcp_web_get", "mcp_time_now"];
    assert_eq!(names(&session.view().active), wanted);
    // D78: an owner without servers wipes nobody's tools.
    session.refresh(B, offering(2, &[]));
    assert_eq!(names(&session.view().active), wanted[..4]);
    assert_eq!(session.view().owners, [(A, 4), (B, 2)]);
}

#[test]
fn an_older_revision_and_the_same_again_change_nothing() {
    // G71
    let mut session = registry(Activation::All);
    session.refresh(A, offering(7, &["git/log"]));
    let before = Arc::clone(session.view());
    for revision in [0, 6, 7] {
        let late = offering(revision, &["old/one"]);
        assert_eq!(session.refresh(A, late), Refresh::Outdated);
        assert!(Arc::ptr_eq(session.view(), &before));
    }
}

#[test]
fn a_late_refresh_of_an_owner_that_was_released_brings_nothing_back() {
    let mut session = registry(Activation::All);
    session.refresh(A, offering(1, &["git/log"]));
    session.release(A);
    assert_eq!(names(&session.view().active), ["read", "write"]);
    assert_eq!(session.refresh(A, offering(2, &["git/log"])), Refresh::Released);
    assert_eq!(names(&session.view().active), ["read", "write"]);
}

#[test]
fn a_tool_that_comes_back_is_as_active_as_it_was() {
    // G29, D76
    let mut session = registry(Activation::All);
    session.refresh(A, offering(1, &["git/log", "git/push"]));
    session.switch(served("git", "push"), Switch::Off);
    session.refresh(A, offering(2, &[]));
    session.refresh(A, offering(3, &["git/log", "git/push", "git/new"]));
    let view = session.view();
    assert_eq!(names(&view.active), ["read", "write", "mcp_git_log", "mcp_git_new"]);
    assert_eq!(names(&view.inactive), ["mcp_git_push"]);
    // Unless the user changes it while it is away.
    session.refresh(A, offering(4, &[]));
    session.switch(served("git", "push"), Switch::On);
    session.refresh(A, offering(5, &["git/push"]));
    assert_eq!(names(&session.view().active), ["read", "write", "mcp_git_push"]);
}

#[test]
fn under_preserve_what_was_there_at_the_gate_stays_and_what_comes_later_waits_for_the_user() {
    // G29
    let mut session = registry(Activation::Preserve);
    session.refresh(A, offering(1, &["git/log"]));
    assert!(session.view().active.is_empty());
    session.switch_on_present();
    session.refresh(A, offering(2, &[]));
    session.refresh(A, offering(3, &["git/log", "git/new"]));
    assert_eq!(names(&session.view().active), ["read", "write", "mcp_git_log"]);
    assert_eq!(names(&session.view().inactive), ["mcp_git_new"]);
    session.switch(served("git", "new"), Switch::On);
    assert_eq!(names(&session.view().inactive), [] as [&str; 0]);
}

#[test]
fn what_was_switched_is_kept_for_the_next_session_even_of_tools_that_are_away() {
    let mut first = registry(Activation::All);
    first.switch(served("git", "push"), Switch::Off);
    first.switch(ToolKey::Own("write".into()), Switch::Off);
    let kept: Vec<_> = first.switches().map(|(tool, switch)| (tool.clone(), switch)).collect();
    let text = serde_json::to_string(&kept).unwrap();
    let kept: Vec<(ToolKey, Switch)> = serde_json::from_str(&text).unwrap();
    let mut next = registry(Activation::All).with_switches(kept);
    next.refresh(A, offering(1, &["git/push"]));
    assert_eq!(names(&next.view().active), ["read"]);
}

/// G23.
#[test]
fn of_tools_with_one_name_the_hosts_own_is_offered_then_the_lower_owners() {
    let mut session = Registry::new(Activation::All, vec![OwnTool::new("mcp_a_own", "Mine.")]);
    // Whoever comes first.
    session.refresh(B, offering(1, &["a/x", "a/own"]));
    assert_eq!(names(&session.view().active), ["mcp_a_own", "mcp_a_x"]);
    session.refresh(A, offering(1, &["a/x"]));
    let view = session.view();
    let owner = |entry: &Entry| match entry {
        Entry::Own(_) => None,
        Entry::Served { owner, .. } => Some(*owner),
    };
    assert_eq!(view.active.iter().map(owner).collect::<Vec<_>>(), [None, Some(A)]);
    assert_eq!(view.shadowed.iter().map(owner).collect::<Vec<_>>(), [Some(B), Some(B)]);
    // The weaker one steps in.
    session.release(A);
    assert_eq!(session.view().active.iter().map(owner).collect::<Vec<_>>(), [None, Some(B)]);
}

#[test]
fn a_tool_of_no_use_is_shown_to_the_user_and_never_to_the_model() {
    let mut session = Registry::new(Activation::All, vec![]);
    let broken = ToolState::Quarantined { reason: "no schema".into() };
    let states = [ToolState::Live, broken, ToolState::Failed { reason: "gone".into() }];
    let tools = states.into_iter().zip(["a", "b", "c"]).map(|(state, name)| tool("s", name, state));
    let catalog = Arc::new(Catalog { revision: 1, tools: tools.collect() });
    session.refresh(A, Offering { catalog, instructions: BTreeMap::new() });
    session.switch(served("s", "b"), Switch::On);
    assert_eq!(names(&session.view().active), ["mcp_s_a", "mcp_s_c"]);
    assert_eq!(names(&session.view().inactive), ["mcp_s_b"]);
}

#[test]
fn a_view_counts_by_one_with_each_change_and_is_shared_until_then() {
    let mut session = registry(Activation::All);
    let first = session.view().revision;
    session.refresh(A, offering(3, &["git/log"]));
    assert_eq!(session.view().revision, first + 1);
    let before = Arc::clone(session.view());
    // Says what is so already, and what concerns nothing that is there.
    session.switch(served("git", "log"), Switch::On);
    session.switch(served("git", "gone"), Switch::Off);
    assert!(Arc::ptr_eq(session.view(), &before));
    session.switch(served("git", "log"), Switch::Off);
    assert_eq!(session.view().revision, first + 2);
}

/// D77: tools and prompt cannot be of two revisions.
#[test]
fn the_prompt_tells_of_the_servers_of_the_active_tools_and_of_no_other() {
    // G71
    let mut session = registry(Activation::All);
    assert_eq!(session.view().prompt, "");
    let mut both = offering(1, &["github/search", "github/issues", "slack\n# me/post"]);
    both.instructions.insert("github".into(), "Search first.".into());
    both.instructions.insert("slack\n# me".into(), "Be kind. ".repeat(1_000));
    session.refresh(A, both);
    let prompt = &session.view().prompt;
    assert!(prompt.contains("github (2 tools), slack # me (1 tool)\n"), "{prompt}");
    assert!(prompt.contains("\n### github\n\nSearch first.\n"), "{prompt}");
    assert!(prompt.contains("Nobody has checked it."), "{prompt}");
    assert!(prompt.ends_with("\n[truncated]\n") && !prompt.contains("\n# me"), "{prompt}");
    assert!(prompt.chars().count() < INSTRUCTIONS_CHARS_MAX + 400);
    session.switch(served("slack\n# me", "post"), Switch::Off);
    session.switch(served("github", "search"), Switch::Off);
    let prompt = &session.view().prompt;
    assert!(prompt.contains("github (1 tool)\n") && !prompt.contains("slack"), "{prompt}");
    session.refresh(A, offering(2, &[]));
    assert_eq!(session.view().prompt, "");
}

/// A server that is connected and listing says what it says once its tools are live, which is a
/// revision: an offering is a function of it.
#[test]
fn instructions_come_and_go_with_the_tools_of_their_server() {
    let config = r#"{"mcpServers":{"s":{"command":"s"}}}"#;
    let mut runtime = Runtime::new(Options::new("/p", vec![Source::inline("test", config)]));
    let mut put = |input: Input| {
        runtime.handle(Timestamp::ZERO, input);
        Offering::new(runtime.catalog(), &runtime.status())
    };
    let conn = ConnId::new(0);
    let says = |line: &str| {
        Input::Io(Fact::Received { conn, bytes: alloc::format!("{line}\n").as_str().into() })
    };
    put(Input::Host(Request::Start { op: OpId::new(0) }));
    put(Input::Io(Fact::Opened { conn, pid: None }));
    let greeted = put(says(
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
            "capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},
            "instructions":"Be brief."}}"#
            .replace('\n', "")
            .as_str(),
    ));
    assert_eq!((greeted.revision(), greeted.instructions.len()), (0, 0));
    let listed =
        put(says(r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"x","inputSchema":{}}]}}"#));
    assert_eq!(listed.revision(), 1);
    assert_eq!(listed.instructions.get("s").map(String::as_str), Some("Be brief."));
    let gone = put(Input::Io(Fact::Closed { conn, exit: Exit::Code(1) }));
    assert_eq!((gone.revision(), gone.instructions.len()), (2, 0));
}
