//! What the configuration is said to be: `sources`, `doctor`, `trust`, `schema`.

use std::fs;

use serde_json::{Value, json};

use crate::files::{done, said, sandbox};

const PROJECT: (&str, &str) = (
    ".tidegate/mcp.json",
    "{\"mcpServers\": {\n\"x\": {\"command\": \"theirs\", \"args\": [\"\\u001b[2J\"], \"env\": {\"K\": \"v\"}},\n\
     \"off\": {\"command\": \"o\", \"enabled\": false}}}",
);
const USER: (&str, &str) = (
    "config/mcp.json",
    "{\"mcpServers\": {\"x\": {\"command\": \"mine\"},\n\"bad\": {\"args\": []}}}",
);

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Each source that is there: its path, state, and its servers with what became of them.
fn told(sources: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for source in sources["sources"].as_array().unwrap() {
        if source["state"] == "missing" {
            continue;
        }
        let path = source["path"].as_str().unwrap();
        let file = path.rsplit('/').take(2).collect::<Vec<_>>();
        lines.push(format!("{}/{} {}", file[1], file[0], source["state"].as_str().unwrap()));
        for server in source["servers"].as_array().unwrap() {
            let words = [&server["name"], &server["fate"]].map(|word| word.as_str().unwrap());
            lines.push(format!("  {} {} {}", words[0], words[1], server["approved"]));
        }
    }
    lines
}

#[test]
fn sources_say_what_became_of_every_definition() {
    let sandbox = sandbox(&[PROJECT, USER, ("mcp.json", "{")]);
    let told_as_json = value(&done(&sandbox, &["sources", "--json"]));
    assert_eq!(told_as_json["version"], 1);
    let (broken, lines): (Vec<_>, Vec<_>) =
        told(&told_as_json).into_iter().partition(|line| line.ends_with("unreadable"));
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert_eq!(
        lines,
        [
            ".tidegate/mcp.json read",
            "  x active false",
            "  off disabled null",
            "config/mcp.json read",
            "  x shadowed null",
            "  bad invalid null",
        ]
    );
    let text = done(&sandbox, &["sources"]);
    for part in [
        "waits for your approval: `tidegate trust grant x` approves it, --trust-project for one run",
        "not used: the definition in .tidegate/mcp.json:2 is; the project's files come before the \
         user's",
        "switched off in .tidegate/mcp.json",
        "Server \"bad\": stdio server requires \"command\" field",
        "cannot be used: ",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[test]
fn sources_say_why_the_other_one_won() {
    let mine = r#"{"mcpServers": {"far": {"url": "https://h.example/mcp"}}}"#;
    let cursor = r#"{"mcpServers": {"far": {"command": "c"}}}"#;
    let sandbox = sandbox(&[("config/mcp.json", mine), (".cursor/mcp.json", cursor)]);
    let text = done(&sandbox, &["sources"]);
    assert!(text.contains("is; Tidegate comes before Cursor"), "{text}");
}

#[test]
fn the_doctor_says_where_what_is_wrong_and_how_to_mend_it() {
    let sandbox = sandbox(&[USER, ("mcp.json", "{\"mcpServers\": {\"a\" 1}}")]);
    let (text, code) = said(&sandbox, &["doctor"]);
    assert_eq!(code, 1, "{text}");
    for part in
        ["error config/mcp.json:2: ", "give it a \"command\"", "error mcp.json:1:", "mend the file"]
    {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    let (text, code) = said(&sandbox, &["doctor", "--json"]);
    assert_eq!(code, 1);
    let first = &value(&text)["doctor"][0];
    assert!(first["message"].is_string() && first["severity"].is_string(), "{first}");
    fs::remove_file(sandbox.path("mcp.json")).unwrap();
    fs::write(sandbox.path("config/mcp.json"), "{\"mcpServers\": {\"x\": {\"command\": \"sh\"}}}")
        .unwrap();
    assert_eq!(done(&sandbox, &["doctor"]), "nothing is wrong with the configuration of 1 server");
}

/// F-016, F-018, F-023: what would keep a server away is found without running anything.
#[test]
fn the_doctor_sees_what_would_keep_a_server_from_running() {
    let mine = r#"{"mcpServers": {
        "none": {"command": "no-such-program"}, "line": {"command": "sh -c true"},
        "dir": {"command": "sh", "cwd": "nowhere"},
        "unset": {"command": "sh", "env": {"A": "${NOT_SET_ANYWHERE}"}},
        "asks": {"command": "sh", "env": {"A": "${input:key}", "B": "!touch ran"}}}}"#;
    let theirs = r#"{"mcpServers": {"new": {"command": "sh"}}}"#;
    let sandbox = sandbox(&[("config/mcp.json", mine), (".tidegate/mcp.json", theirs)]);
    let (text, code) = said(&sandbox, &["doctor"]);
    assert_eq!(code, 1, "{text}");
    for part in [
        "Server \"none\": command \"no-such-program\" not found",
        "install the program",
        "Server \"line\": command \"sh …\" not found",
        "\"command\": \"PROGRAM\", \"args\"",
        "make the directory",
        "NOT_SET_ANYWHERE",
        "set the variable",
        "Server \"asks\": \"env.A\" has the input \"key\"",
        "Server \"new\": it waits for your approval",
        "tidegate trust grant new",
    ] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    assert!(!sandbox.path("ran").exists(), "nothing is run");
    assert_eq!(said(&sandbox, &["doctor", "--config", "nofile"]).1, 2);
}

/// Looking at a path with the value of a variable in it can tell that value.
#[test]
fn the_doctor_looks_for_no_program_that_is_not_approved() {
    let theirs = r#"{"mcpServers": {"new": {"command": "/no-such-place/${HOME}/program"}}}"#;
    let sandbox = sandbox(&[(".tidegate/mcp.json", theirs)]);
    let (text, code) = said(&sandbox, &["doctor"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("waits for your approval") && !text.contains("not found"), "{text}");
    done(&sandbox, &["trust", "grant", "new"]);
    let (text, code) = said(&sandbox, &["doctor"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("not found"), "{text}");
}

/// F-038, F-039.
#[test]
fn trust_shows_what_would_run_and_grants_and_takes_back_exactly_that() {
    let sandbox = sandbox(&[PROJECT]);
    let state = |text: &str| {
        let entries = value(text)["trust"].as_array().unwrap().clone();
        let word = |entry: &Value| {
            format!("{} {}", entry["server"].as_str().unwrap(), entry["state"].as_str().unwrap())
        };
        entries.iter().map(word).collect::<Vec<_>>()
    };
    let text = done(&sandbox, &["trust"]);
    assert!(
        text.contains("waiting") && text.contains("runs            theirs") && text.contains("K=v"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}') && text.contains("u{1b}[2J"), "made visible: {text:?}");
    let (text, code) = said(&sandbox, &["trust", "grant", "y"]);
    assert_eq!((text.contains("no server named \"y\""), code), (true, 1));
    let told = done(&sandbox, &["trust", "grant", "x", "--json"]);
    assert_eq!(state(&told), ["x approved", "off waiting"]);
    assert!(done(&sandbox, &["sources"]).contains("used"));
    // Another definition is another question.
    fs::write(sandbox.path(PROJECT.0), PROJECT.1.replace("theirs", "others")).unwrap();
    let told = done(&sandbox, &["trust", "--json"]);
    assert_eq!(state(&told), ["x waiting", "off waiting", "x earlier"]);
    fs::write(sandbox.path(PROJECT.0), PROJECT.1).unwrap();
    assert_eq!(state(&done(&sandbox, &["trust", "--json"])), ["x approved", "off waiting"]);
    let told = done(&sandbox, &["trust", "revoke", "--all", "--json"]);
    assert_eq!(state(&told), ["x waiting", "off waiting"]);
}

/// F-039: what is agreed to is seen, and what differs from what was agreed to before.
#[test]
fn trust_shows_what_is_set_and_what_changed_since_it_was_approved() {
    let sandbox = sandbox(&[]);
    let write = |command: &str, env: Value| {
        let server = json!({"command": command, "env": env, "type": "stdio"});
        let file = json!({ "mcpServers": { "docs": server } });
        fs::write(sandbox.path(".mcp.json"), file.to_string()).unwrap();
    };
    write("one", json!({"MODE": "fast"}));
    assert!(!done(&sandbox, &["trust"]).contains("changed"));
    done(&sandbox, &["trust", "grant", "docs"]);
    write("one", json!({"MODE": "fast", "NODE_OPTIONS": "--require ./evil.js\u{1b}[8m"}));
    let told = done(&sandbox, &["trust"]);
    for part in [
        "changed         since you approved it",
        "and now         sets            NODE_OPTIONS=\"--require ./evil.js\\u{1b}[8m\"",
        "gets your       environment",
    ] {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
    assert!(!told.contains("before"), "nothing is gone: {told}");
    write("two", json!({"API_KEY": "hunter2"}));
    let told = done(&sandbox, &["trust"]);
    assert!(told.contains("before          runs            one"), "{told}");
    assert!(told.contains("API_KEY=<hidden>") && !told.contains("hunter2"), "{told}");
    // What may hold a secret is not kept to be told later.
    done(&sandbox, &["trust", "grant", "docs"]);
    write("three", json!({}));
    let told = done(&sandbox, &["trust"]);
    assert!(told.contains("since you approved it") && !told.contains("before"), "{told}");
}

/// F-038: nothing that was taken back comes back with the file it was approved in.
#[test]
fn what_is_taken_back_is_gone_in_every_form_and_only_in_this_project() {
    let own = r#"{"mcpServers": {"mine": {"command": "m"}}}"#;
    let sandbox = sandbox(&[PROJECT, ("config/mcp.json", own)]);
    for form in ["theirs", "others"] {
        fs::write(sandbox.path(PROJECT.0), PROJECT.1.replace("theirs", form)).unwrap();
        done(&sandbox, &["trust", "grant", "--all"]);
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let text = "{\"mcpServers\": {\"x\": {\"command\": \"c\"}}}";
    fs::write(elsewhere.path().join(".mcp.json"), text).unwrap();
    let there = ["--cwd", elsewhere.path().to_str().unwrap(), "trust"];
    done(&sandbox, &[&there[..], &["grant", "x"]].concat());
    fs::remove_file(sandbox.path(PROJECT.0)).unwrap();
    let told = done(&sandbox, &["trust", "revoke", "x"]);
    assert!(told.contains("\"x\" (.tidegate/mcp.json, 2 forms of it)"), "{told}");
    let told = done(&sandbox, &["trust", "revoke", "--all"]);
    assert!(told.contains("\"off\" (.tidegate/mcp.json)"), "{told}");
    for form in ["theirs", "others"] {
        fs::write(sandbox.path(PROJECT.0), PROJECT.1.replace("theirs", form)).unwrap();
        let told = done(&sandbox, &["trust"]);
        assert!(told.contains("waiting") && !told.contains("  approved"), "{told}");
    }
    let (told, code) = said(&sandbox, &["trust", "revoke", "x"]);
    assert_eq!((told.contains("\"x\" is not approved"), code), (true, 1), "{told}");
    let (told, code) = said(&sandbox, &["trust", "grant", "mine"]);
    assert_eq!((told.contains("\"mine\" needs no approval"), code), (true, 1), "{told}");
    assert!(done(&sandbox, &there).contains("approved"));
    let told = done(&sandbox, &["trust", "revoke", "--everywhere"]);
    assert!(told.contains("approval of \"x\""), "{told}");
    assert!(done(&sandbox, &there).contains("waiting"));
}

#[test]
fn the_schema_is_one_of_our_own_file() {
    let sandbox = sandbox(&[]);
    let schema = value(&done(&sandbox, &["schema"]));
    let command = &schema["$defs"]["server"]["properties"]["command"]["type"];
    assert_eq!((command, &schema["type"]), (&json!("string"), &json!("object")));
}

#[test]
fn the_doctor_warns_of_values_that_look_like_more_than_they_are() {
    let theirs = r#"{"mcpServers": {"x": {"command": "sh",
        "env": {"A": "!echo 1", "B": "${SET", "C": "plain!", "D": "${PATH}"}}}}"#;
    let sandbox = sandbox(&[("mcp.json", theirs)]);
    let (text, code) = said(&sandbox, &["doctor"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("\"env.A\" begins with \"!\""), "{text}");
    assert!(text.contains("\"env.B\" has \"${\" in it without"), "{text}");
    assert!(!text.contains("env.C") && !text.contains("env.D"), "{text}");
}

/// Issue 4, item 1: a folder is shown with the files in it.
#[test]
fn sources_show_a_folder_and_the_files_in_it() {
    let block = "mcpServers:\n  - name: notes\n    command: notes-mcp\n";
    let sandbox = sandbox(&[(".continue/mcpServers/notes.yaml", block)]);
    let text = done(&sandbox, &["sources"]);
    assert!(text.contains("leads to 1 file"), "{text}");
    assert!(text.contains(".continue/mcpServers/notes.yaml:2"), "{text}");
    assert!(text.contains("waits for your approval"), "{text}");
}

/// Issue 4, item 3: what leaves servers out does so in every command that shows them.
#[test]
fn what_is_left_out_by_a_flag_or_by_the_users_own_file_hides_nothing_anywhere() {
    let cursor = r#"{"mcpServers": {"x": {"command": "theirs"}}}"#;
    let shared = r#"{"mcpServers": {"x": {"command": "mine"}}}"#;
    let sandbox = sandbox(&[(".cursor/mcp.json", cursor), ("mcp.json", shared)]);
    let fates = |args: &[&str]| -> Vec<String> {
        let told = told(&value(&done(&sandbox, args)));
        told.into_iter().filter(|line| line.starts_with("  x")).collect()
    };
    let without = ["  x filtered null", "  x active false"];
    assert_eq!(fates(&["sources", "--json"]), ["  x active false", "  x shadowed null"]);
    assert_eq!(fates(&["sources", "--json", "--without", "cursor"]), without);
    let excluded = fates(&["sources", "--json", "--exclude", "x"]);
    assert_eq!(excluded, ["  x filtered null", "  x filtered null"]);
    let (told, code) = said(&sandbox, &["sources", "--without", "nobody"]);
    assert_eq!(code, 2);
    assert!(told.contains("the tools are") && told.contains("mcp-json"), "{told}");
    let own = sandbox.path("config/mcp.json");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(own, r#"{"disabledProviders": ["cursor"]}"#).unwrap();
    assert_eq!(fates(&["sources", "--json"]), without);
}

/// Issue 4: another tool's file that is named reads right, and it is said as whose.
#[test]
fn a_named_file_of_another_tool_is_read_as_that_tool_does() {
    let codex = "[mcp_servers.x]\ncommand = \"x\"\n";
    let code = "{\"servers\": {\"y\": {\"command\": \"y\"}}}";
    let sandbox = sandbox(&[(".codex/config.toml", codex), ("some.json", code)]);
    let args = ["sources", "--config", ".codex/config.toml", "--config", "some.json"];
    let text = done(&sandbox, &args);
    for part in ["command line, read as OpenAI Codex", "command line, read as VS Code"] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    let told = value(&done(&sandbox, &[&args[..], &["--json"]].concat()));
    assert_eq!(told["sources"][0]["read_as"], "codex");
    assert_eq!(told["sources"][1]["servers"][0]["fate"], "active");
}

/// A server that somebody wants and that waits for an approval is not what `--strict` wants.
#[test]
fn a_strict_list_minds_servers_that_wait_for_an_approval_and_not_those_that_are_off() {
    let off = r#"{"mcpServers": {"x": {"command": "x", "enabled": false}}}"#;
    let waits = r#"{"mcpServers": {"x": {"command": "x"}}}"#;
    for (text, wanted) in [(off, 0), (waits, 1)] {
        let sandbox = sandbox(&[(".tidegate/mcp.json", text)]);
        assert_eq!(said(&sandbox, &["list", "--strict"]).1, wanted, "{text}");
        assert_eq!(said(&sandbox, &["list"]).1, 0, "{text}");
    }
}
