//! Recorded runs: what `--trace` wrote, `replay` repeats and `timeline` shows.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, demo, stderr, stdout};

/// A folder with a record of the demo in it.
fn recorded() -> Sandbox {
    let sandbox = Sandbox::new(&json!({}));
    let output = sandbox.run(&["demo"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    sandbox
}

#[test]
fn the_demo_repeats_byte_for_byte() {
    let sandbox = recorded();
    sandbox.assert_nothing_is_left();
    let output = sandbox.run(&["replay", "trace"]);
    let told = stdout(&output);
    assert!(output.status.success() && told.ends_with("outputs: identical\n"), "{told}");
    let output = sandbox.run(&["replay", "--json", "trace"]);
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((&report["version"], &report["identical"]), (&json!(1), &json!(true)));
}

#[test]
fn a_real_list_repeats_byte_for_byte() {
    let sandbox = Sandbox::new(&json!({
        "fast": demo("fast"), "odd": demo("odd"), "dies": demo("dies"),
        "missing": {"command": "no-such-program"}, "bad": {"comand": 1},
    }));
    assert!(sandbox.run(&["list", "--wait"]).status.success());
    let output = sandbox.run(&["replay", "trace"]);
    assert!(output.status.success(), "{}", stdout(&output));
}

#[test]
fn the_first_divergence_is_shown_with_what_was_before_it() {
    let sandbox = recorded();
    let text = fs::read_to_string(sandbox.path("trace")).unwrap();
    let changed = text.replacen("\"elapsed_ms\":", "\"elapsed_ms\":9", 1);
    assert_ne!(changed, text);
    fs::write(sandbox.path("changed"), changed).unwrap();
    let output = sandbox.run(&["replay", "changed"]);
    let told = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.starts_with("the run did not repeat as it was recorded\n"), "{told}");
    assert!(
        told.contains("\n- ") && told.contains("\n+ ") && told.contains("GateOpened"),
        "{told}"
    );
}

#[test]
fn a_record_that_was_cut_off_is_repeated_as_far_as_it_goes() {
    let sandbox = recorded();
    let bytes = fs::read(sandbox.path("trace")).unwrap();
    fs::write(sandbox.path("cut"), &bytes[..bytes.len() / 2]).unwrap();
    let output = sandbox.run(&["replay", "cut"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("identical"));
}

#[test]
fn a_timeline_tells_the_run_and_draws_it() {
    let sandbox = recorded();
    let output = sandbox.run(&["timeline", "trace"]);
    for mark in [" < Start", " > Open", " ! GateOpened", " < Call", " ! Stopped"] {
        assert!(stdout(&output).contains(mark), "{mark}");
    }
    assert!(sandbox.run(&["timeline", "trace", "--svg", "picture.svg"]).status.success());
    let svg = fs::read_to_string(sandbox.path("picture.svg")).unwrap();
    for mark in ["gate opens", "handshake", ">slow<", "class=\"deferred\"", "class=\"cross\""] {
        assert!(svg.contains(mark), "{mark}");
    }
}

#[test]
fn the_demo_as_json_says_that_all_went_as_told() {
    let sandbox = Sandbox::new(&json!({}));
    let output = sandbox.run(&["demo", "--json"]);
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!((&report["as_told"], &report["processes_left"]), (&json!(true), &json!(0)));
}

#[test]
fn a_quiet_demo_gives_no_hints() {
    let sandbox = Sandbox::new(&json!({}));
    let output = sandbox.run(&["demo", "--quiet"]);
    let last = stdout(&output).lines().last().unwrap();
    assert!(last.ends_with(" left"), "{last}");
}

#[test]
fn the_demo_says_what_to_do_with_the_record_it_was_asked_for() {
    let sandbox = Sandbox::new(&json!({}));
    let output = sandbox.bare(&["demo", "--trace", "run.jsonl"]).output().unwrap();
    let told = stdout(&output);
    assert!(!told.contains("demo --trace"), "{told}");
    for next in ["tidegate timeline run.jsonl", "tidegate replay run.jsonl"] {
        assert!(told.contains(next), "{told}");
    }
}

#[test]
fn a_flag_that_would_do_nothing_is_refused() {
    let sandbox = Sandbox::new(&json!({}));
    for (args, flags) in [
        (&["demo", "--server", "fast", "--gate", "250"][..], "--server, --gate"),
        (&["demo", "--config", "x", "--trust-project"], "--config, --trust-project"),
        (&["--cwd", "/", "replay", "absent"], "--cwd"),
        (&["timeline", "absent", "--trace", "x", "--timeout", "9"], "--timeout, --trace"),
    ] {
        let output = sandbox.bare(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let told = stderr(&output);
        assert!(told.contains(&format!("has no use for {flags};")), "{args:?}: {told}");
    }
}

/// A record that is not complete is no record: it is said, and the command fails.
#[test]
fn a_trace_that_cannot_be_written_is_said_and_fails_the_command() {
    let sandbox = Sandbox::new(&json!({"fast": demo("fast")}));
    for args in [&["list"][..], &["list", "--json"], &["call", "fast", "echo", "{\"text\": \"x\"}"]]
    {
        let full = ["--config", "servers.json", "--trace", "/dev/full"];
        let output = sandbox.bare(&[&full[..], args].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(!stdout(&output).is_empty(), "what came of it is told");
        assert!(stderr(&output).contains("the trace is not complete: No space left"), "{args:?}");
    }
}

/// What is refused is not offered.
#[test]
fn the_help_of_a_command_has_no_flag_that_it_refuses() {
    let sandbox = Sandbox::new(&json!({}));
    let offered = |args: &[&str], flag: &str| {
        let output = sandbox.bare(args).output().unwrap();
        assert!(output.status.success());
        stdout(&output).lines().any(|line| line.trim_start().starts_with(flag))
    };
    for (command, flag, is_offered) in [
        ("replay", "--trace", false),
        ("replay", "--config", false),
        ("replay", "--json", true),
        ("demo", "--trace", true),
        ("demo", "--cwd", false),
        ("set", "--timeout", true),
        ("set", "--gate", false),
        ("sources", "--cwd", true),
        ("list", "--gate", true),
    ] {
        for args in [&[command, "--help"][..], &["help", command]] {
            assert_eq!(offered(args, flag), is_offered, "{args:?} {flag}");
        }
    }
}
