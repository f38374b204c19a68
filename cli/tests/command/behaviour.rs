//! What the command does, where a transcript cannot show it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, demo, script, silent, stderr, stdout, stubborn};

fn json_of(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.run(args);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}{}", stderr(&output));
    serde_json::from_str(text).unwrap()
}

#[test]
fn list_as_json_has_every_server_with_its_state_reason_and_time() {
    let sandbox = Sandbox::new(&json!({
        "fast": demo("fast"), "dies": demo("dies"), "odd": demo("odd"),
        "off": {"command": "x", "disabled": true},
    }));
    let list = json_of(&sandbox, &["list", "--json", "--schema"]);
    assert_eq!((&list["version"], &list["gate_ms"]), (&json!(1), &json!(250)));
    assert!(list["elapsed_ms"].is_u64());
    let servers = list["servers"].as_array().unwrap();
    let states: Vec<_> = servers.iter().map(|server| (&server["name"], &server["state"])).collect();
    let wanted =
        [("dies", "failed"), ("fast", "connected"), ("odd", "connected"), ("off", "disabled")];
    for ((name, state), wanted) in states.into_iter().zip(wanted) {
        assert_eq!((name.as_str().unwrap(), state.as_str().unwrap()), wanted);
    }
    let [dies, fast, odd, off] = servers.as_slice() else { panic!("{list}") };
    assert!(fast["connect_ms"].is_u64() && fast["pid"].is_u64());
    assert_eq!((&fast["transport"], &fast["era"]), (&json!("stdio"), &json!("legacy")));
    assert_eq!(fast["source"]["level"], "explicit");
    assert_eq!(fast["tools"][0]["name"], "mcp_fast_add");
    assert_eq!(fast["tools"][0]["tool"], "add");
    assert_eq!(fast["tools"][0]["schema"]["required"], json!(["a", "b"]));
    assert_eq!(dies["reason"], "Server \"dies\" exited with status 3 (initialize)");
    assert!(dies["stderr"].as_str().unwrap().contains("fatal: no database"));
    assert!(dies["failed_ms"].is_u64() && dies.get("connect_ms").is_none());
    assert_eq!(odd["tools"][1]["state"], "quarantined");
    assert!(odd["tools"][1]["reason"].as_str().unwrap().contains("inputSchema"));
    assert_eq!(off["reason"], "switched off");
    assert_eq!(list["problems"][0]["category"], "invalid-tool");
}

#[test]
fn standard_output_is_one_json_value_whatever_goes_wrong() {
    let sandbox = Sandbox::new(&json!({"silent": silent()}));
    fs::write(sandbox.path("broken.json"), "{").unwrap();
    for (args, code) in [
        (&["list", "--json", "--config", "broken.json"][..], 2),
        (&["tools", "--json", "--config", "absent.json"], 2),
        (&["list", "--json", "--cwd", "absent"], 2),
        (&["list", "--json", "--server", "absent"], 1),
        (&["list", "--json", "--gate", "soon"], 2),
        (&["call", "--json", "silent", "tool", "{"], 2),
        (&["call", "--json"], 2),
    ] {
        let output = sandbox.run(args);
        let told: Value = serde_json::from_str(stdout(&output)).unwrap();
        assert_eq!(told["version"], 1, "{args:?}");
        let error = told["error"].as_str().unwrap();
        assert!(stderr(&output).contains(error), "{args:?}");
        assert_eq!(output.status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn a_list_as_json_that_is_ended_by_a_signal_says_so() {
    let sandbox = Sandbox::new(&json!({"silent": silent()}));
    let mut list = sandbox.command(&["list", "--json", "--wait"]);
    let mut list = list.stdout(Stdio::piped()).spawn().unwrap();
    while fs::read_to_string(sandbox.path("trace")).unwrap_or_default().lines().count() < 5 {}
    kill_process(Pid::from_child(&list), Signal::TERM).unwrap();
    let mut told = String::new();
    list.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told, json!({"version": 1, "error": "ended by a signal"}));
    assert_eq!(list.wait().unwrap().code(), Some(143));
}

#[test]
fn the_limit_of_a_start_holds_for_the_list_too() {
    let greets = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let greets = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{greets}}}"#);
    let mute = script(&format!("read x; echo '{greets}'; cat > /dev/null"));
    let sandbox = Sandbox::new(&json!({"mute": mute}));
    let list = json_of(&sandbox, &["list", "--json", "--wait", "--timeout", "300"]);
    let reason = list["servers"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("300ms") && reason.contains("tools/list"), "{reason}");
}

#[test]
fn a_name_that_a_server_chose_fills_no_screen() {
    let name = "n".repeat(10_000);
    let sandbox = Sandbox::new(&json!({name: demo("fast")}));
    let output = sandbox.run(&["list", "--server", "absent"]);
    assert!(stderr(&output).len() < 200, "{}", stderr(&output));
}

#[test]
fn a_call_as_json_has_the_text_and_what_was_received() {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast"), "dies": demo("dies")}));
    let ok = json_of(&sandbox, &["call", "--json", "mcp_fast_echo", "{\"text\":\"moin\"}"]);
    assert_eq!((&ok["version"], &ok["outcome"]), (&json!(1), &json!("ok")));
    assert_eq!((&ok["server"], &ok["tool"]), (&json!("fast"), &json!("echo")));
    assert_eq!((&ok["text"], &ok["content"][0]["text"]), (&json!("moin"), &json!("moin")));
    let failed = json_of(&sandbox, &["call", "--json", "fast", "fail"]);
    assert_eq!(failed["outcome"], "tool_error");
    assert_eq!(failed["text"], "Error: the tide is out");
    let error = json_of(&sandbox, &["call", "--json", "dies", "x"]);
    assert_eq!(error["outcome"], "error");
    assert!(error["text"].as_str().unwrap().starts_with("MCP error: "));
    assert!(error["error"].as_str().unwrap().contains("fatal: no database"));
    for args in [&["call", "--json", "fast", "ad"][..], &["call", "--json", "nobody", "x"]] {
        let unknown = json_of(&sandbox, args);
        assert_eq!(unknown["outcome"], "error");
        assert!(unknown["error"].as_str().unwrap().contains("no "), "{unknown}");
    }
}

#[test]
fn only_the_server_that_is_called_is_started() {
    let sandbox = Sandbox::new(&json!({
        "fast": demo("fast"), "other": script("touch started; cat"),
    }));
    assert!(sandbox.run(&["call", "fast", "echo"]).status.success());
    assert!(!sandbox.path("started").exists());
}

#[test]
fn a_server_that_is_left_out_is_neither_started_nor_called_from() {
    let sandbox = Sandbox::new(&json!({
        "fast": demo("fast"), "other": script("touch started; cat"),
    }));
    let list = json_of(&sandbox, &["list", "--json", "--exclude", "other"]);
    let named = |server: &Value| server["name"] == "other" && server["state"] != "skipped";
    assert!(!list["servers"].as_array().unwrap().iter().any(named), "{list}");
    assert!(!sandbox.path("started").exists());
}

/// A tool can be called by its exposed name while another server is silent.
#[test]
fn a_call_by_exposed_name_does_not_wait_for_other_servers() {
    let sandbox = Sandbox::new(&json!({"silent": silent(), "fast": demo("fast")}));
    let output = sandbox.run(&["call", "mcp_fast_echo", "--arg", "text=moin"]);
    assert_eq!(stdout(&output), "moin\n");
    sandbox.assert_nothing_is_left();
}

/// F-090: a pipe nobody writes to and nobody closes stands for the shell of a program.
#[test]
fn standard_input_is_read_only_when_asked_for() {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast")}));
    let args = ["call", "fast", "echo", "{\"text\":\"moin\"}"];
    let mut child =
        sandbox.command(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let open_and_silent = child.stdin.take();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "moin\n");
    assert!(child.wait().unwrap().success());
    drop(open_and_silent);
}

#[test]
fn arguments_are_read_from_standard_input_for_a_dash() {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast")}));
    fs::write(sandbox.path("arguments"), "{\"a\": 20, \"b\": 22}\n").unwrap();
    let input = fs::File::open(sandbox.path("arguments")).unwrap();
    let output = sandbox.command(&["call", "fast", "add", "-"]).stdin(input).output().unwrap();
    assert_eq!(stdout(&output), "42\n");
}

/// F-012: the result is there before the server that ignores the end of its input is gone.
#[test]
fn the_result_is_printed_before_the_servers_are_stopped() {
    let program = env!("CARGO_BIN_EXE_tidegate");
    let text = format!("{program} __demo-server fast; trap '' TERM; while :; do sleep 1; done");
    let sandbox = Sandbox::new(&json!({"stubborn": script(&text)}));
    let args = ["call", "stubborn", "echo", "{\"text\":\"moin\"}"];
    let mut child = sandbox.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "moin\n");
    assert_eq!(child.try_wait().unwrap(), None, "its server is still being stopped");
    assert!(child.wait().unwrap().success());
    sandbox.assert_nothing_is_left();
}

/// F-011, without a terminal: the server's own words say when startup is under way.
fn exit_code_after(signal: Signal) -> Option<i32> {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast"), "stubborn": stubborn()}));
    let mut child = sandbox.command(&["list", "-v"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "[stubborn] hello\n");
    kill_process(Pid::from_child(&child), signal).unwrap();
    let status = child.wait().unwrap();
    sandbox.assert_nothing_is_left();
    status.code()
}

#[test]
fn sigint_during_startup_ends_every_server_and_exits_with_130() {
    assert_eq!(exit_code_after(Signal::INT), Some(130));
}

#[test]
fn sigterm_during_startup_ends_every_server_and_exits_with_143() {
    assert_eq!(exit_code_after(Signal::TERM), Some(143));
}

#[test]
fn sighup_during_startup_ends_every_server_and_exits_with_129() {
    assert_eq!(exit_code_after(Signal::HUP), Some(129));
}

/// The reader takes one byte, and holds the pipe open.
fn assert_a_signal_ends(child: &mut Child, mut reader: impl Read) {
    reader.read_exact(&mut [0]).unwrap();
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// The result is larger than a pipe, and its reader takes one byte of it.
#[test]
fn a_reader_who_does_not_read_does_not_hold_up_a_signal() {
    let script = script(
        r#"read -r l
        printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"big","version":"1"}}}'
        read -r l; read -r l
        printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"big","inputSchema":{"type":"object"},"description":"'
        head -c 1000000 /dev/zero | tr '\0' x
        printf '"}]}}\n'
        cat >/dev/null"#,
    );
    let sandbox = Sandbox::new(&json!({"big": script}));
    let mut child = sandbox.command(&["list"]).stdout(Stdio::piped()).spawn().unwrap();
    let reader = child.stdout.take().unwrap();
    assert_a_signal_ends(&mut child, reader);
    sandbox.assert_nothing_is_left();
}

#[test]
fn a_reader_of_messages_who_does_not_read_does_not_hold_up_a_signal() {
    let talks = script("while :; do echo 'a line of a hundred bytes or so' >&2; done");
    let sandbox = Sandbox::new(&json!({"talks": talks}));
    let mut command = sandbox.command(&["list", "-v", "--wait"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let reader = child.stderr.take().unwrap();
    assert_a_signal_ends(&mut child, reader);
    sandbox.assert_nothing_is_left();
}

#[test]
fn a_call_that_a_signal_ends_is_aborted() {
    let program = env!("CARGO_BIN_EXE_tidegate");
    let text = format!("echo up >&2; sleep 3600 | {program} __demo-server fast");
    let sandbox = Sandbox::new(&json!({"deaf": script(&text)}));
    let args = ["call", "-v", "--json", "deaf", "echo"];
    let mut child =
        sandbox.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let call: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&call["outcome"], call.get("text")), (&json!("aborted"), None));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    sandbox.assert_nothing_is_left();
}

#[test]
fn nothing_a_server_says_can_steer_the_terminal() {
    let script = script(
        r#"printf '\033[31mred\033[0m\n' >&2; read -r l
        printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sly","version":"1"}}}'
        read -r l; read -r l
        printf '%s\n' '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"wipe","description":"\u001b[2J\u009b2J\u202eevil","inputSchema":{"type":"object"}}]}}'
        cat >/dev/null"#,
    );
    let sandbox = Sandbox::new(&json!({"sly": script}));
    for args in [&["list", "-v"][..], &["list", "--json"], &["tools", "--schema"]] {
        let output = sandbox.run(args);
        for text in [stdout(&output), stderr(&output)] {
            let steers = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert!(!text.contains(steers), "{args:?}: {text:?}");
        }
        assert!(stdout(&output).contains("wipe"), "{}", stdout(&output));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast")}));
    let mut child =
        sandbox.command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}
