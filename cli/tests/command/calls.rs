//! What a call that fails says to whoever has to act.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, demo, script, stderr, stdout};

/// A server that is greeted and has one tool, and goes on with `then` once that is called.
fn greeted(then: &str) -> Value {
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let tools = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}}"#;
    script(&format!("read a; echo '{hello}'; read b; read c; echo '{tools}'; read d; {then}"))
}

/// A server that dies in mid-call is named, with its status and its last words.
#[test]
fn a_call_whose_server_dies_says_how_it_ended_and_the_last_it_said() {
    let dying = greeted("echo 'out of luck' >&2; exit 9");
    let sandbox = Sandbox::new(&json!({ "frail": dying }));
    let output = sandbox.run(&["call", "frail", "work"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains("Transport closed"), "{told}");
    assert!(told.contains("Server \"frail\" exited with status 9"), "{told}");
    assert!(told.contains("│ out of luck"), "{told}");
    sandbox.assert_nothing_is_left();
}

#[test]
fn a_call_that_takes_too_long_says_whose_it_was_and_how_to_allow_more() {
    let sandbox = Sandbox::new(&json!({ "lazy": greeted("cat > /dev/null") }));
    let output = sandbox.run(&["call", "lazy", "work", "--timeout", "900"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains("Request timeout after 900ms"), "{told}");
    assert!(told.contains("\"work\" of server \"lazy\""), "{told}");
    assert!(told.contains("--timeout"), "{told}");
}

#[test]
fn a_tool_that_is_missing_because_a_file_is_broken_says_so() {
    let sandbox = Sandbox::new(&json!({}));
    fs::write(sandbox.path(".mcp.json"), "{\n \"mcpServers\": {,}}").unwrap();
    for args in [&["call", "a", "b"][..], &["call", "mcp_a_b"]] {
        let output = sandbox.bare(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(".mcp.json:2"), "{}", stderr(&output));
    }
}

/// Whoever calls a tool by its name starts, and is asked about, no server that cannot have it.
#[test]
fn a_call_by_the_name_of_a_tool_starts_only_servers_that_may_have_it() {
    let other = script("touch started; cat > /dev/null");
    let servers = json!({ "fast": demo("fast"), "fa": demo("fast"), "other": other });
    let sandbox = Sandbox::new(&servers);
    let output = sandbox.run(&["call", "mcp_fast_add", "--arg", "a=1", "--arg", "b=2"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "3\n"), "{}", stderr(&output));
    assert!(!sandbox.path("started").exists());
}

#[test]
fn arguments_that_are_none_are_shown_as_they_should_be() {
    let sandbox = Sandbox::new(&json!({ "fast": demo("fast") }));
    for args in [&["call", "mcp_fast_add", "a=1"][..], &["call", "fast", "add", "a=1"]] {
        let output = sandbox.run(args);
        assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""));
        assert!(stderr(&output).contains("--arg a=1"), "{}", stderr(&output));
    }
}

/// Whoever reads the answer, it is the same one.
#[test]
fn what_is_not_there_is_said_alike_to_people_and_to_programs() {
    let sandbox = Sandbox::new(&json!({ "fast": demo("fast") }));
    for (args, missing) in [
        (&["call", "nope"][..], "no tool named \"nope\""),
        (&["call", "fast", "nope"], "no tool named \"nope\""),
        (&["call", "nope", "add"], "server named \"nope\""),
    ] {
        let text = sandbox.run(args);
        let json = sandbox.run(&[args, &["--json"]].concat());
        assert_eq!((text.status.code(), json.status.code()), (Some(1), Some(1)));
        let told: Value = serde_json::from_str(stdout(&json)).unwrap();
        let error = told["error"].as_str().unwrap();
        assert_eq!(stderr(&text).trim_end(), format!("error: {error}"));
        assert!(error.contains(missing), "{error}");
        assert!(told["text"].as_str().unwrap().contains(missing), "{told}");
    }
}

/// Issue 4: a tool that the definition leaves out is neither offered nor called, and that is said.
#[test]
fn a_tool_that_its_definition_leaves_out_is_not_called_and_why_is_said() {
    let mut fast = demo("fast");
    fast["excludeTools"] = json!(["add"]);
    let sandbox = Sandbox::new(&json!({ "fast": fast }));
    let tools = sandbox.run(&["tools"]);
    assert!(stdout(&tools).contains("mcp_fast_echo"), "{}", stdout(&tools));
    assert!(!stdout(&tools).contains("mcp_fast_add"), "{}", stdout(&tools));
    for args in [
        &["tools", "mcp_fast_add"][..],
        &["call", "fast", "add", "{\"a\":1,\"b\":2}"],
        &["call", "mcp_fast_add", "{\"a\":1,\"b\":2}"],
    ] {
        let output = sandbox.run(args);
        let told = stderr(&output);
        assert!(told.contains("left out by") && told.contains("add"), "{args:?}: {told}");
        assert_eq!(output.status.success(), args[0] == "tools", "{args:?}");
    }
}
