//! The commands about files: what they change, and that they act on the definition in use.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, stderr, stdout};

/// The sandbox with these files, each a name and what is in it.
pub(crate) fn sandbox(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(&json!({}));
    for (name, text) in files {
        let path = sandbox.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    sandbox
}

/// What a command says, and how it ends.
pub(crate) fn said(sandbox: &Sandbox, args: &[&str]) -> (String, i32) {
    let output = sandbox.bare(args).output().unwrap();
    let told = format!("{}{}", stdout(&output), stderr(&output));
    (told.trim_end().to_owned(), output.status.code().unwrap())
}

pub(crate) fn done(sandbox: &Sandbox, args: &[&str]) -> String {
    let (told, code) = said(sandbox, args);
    assert_eq!(code, 0, "{told}");
    told
}

fn text(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

/// The servers that `list` shows, each with its state.
fn listed(sandbox: &Sandbox) -> Vec<String> {
    let told = done(sandbox, &["list", "--json", "--gate", "0"]);
    let list: Value = serde_json::from_str(&told).unwrap();
    let words = |server: &Value| {
        let word = |at: &Value| at.as_str().unwrap().to_owned();
        format!("{} {}", word(&server["name"]), word(&server["state"]))
    };
    list["servers"].as_array().unwrap().iter().map(words).collect()
}

/// G57, the documented messages.
#[test]
fn a_server_is_added_to_the_project_or_to_the_users_own_file_and_is_found_there() {
    let sandbox = sandbox(&[]);
    let told = done(&sandbox, &["add", "one", "--env", "K=a=b", "--", "sh", "-x", "--url"]);
    assert_eq!(told, "✓ Added server \"one\" to project config (.tidegate/mcp.json)");
    let file: Value = serde_json::from_str(&text(&sandbox, ".tidegate/mcp.json")).unwrap();
    let entry = json!({"type": "stdio", "command": "sh", "args": ["-x", "--url"],
        "env": {"K": "a=b"}});
    assert_eq!(file, json!({"mcpServers": {"one": entry}}));
    done(
        &sandbox,
        &[
            "add",
            "--scope",
            "user",
            "two",
            "--url",
            "h.example.com/mcp",
            "--token",
            "t",
            "--header",
            "X=1",
            "--header",
            "Y: 2=3",
        ],
    );
    let file: Value = serde_json::from_str(&text(&sandbox, "config/mcp.json")).unwrap();
    let entry = json!({"type": "http", "url": "https://h.example.com/mcp",
        "headers": {"X": "1", "Y": "2=3", "Authorization": "Bearer t"}});
    assert_eq!(file, json!({"mcpServers": {"two": entry}}));
    // Nobody is called that is not at home.
    done(&sandbox, &["disable", "two"]);
    let listed = listed(&sandbox);
    assert_eq!(listed[1], "two disabled");
    assert_ne!(listed[0], "one needs-approval", "who adds a server has agreed to it");
    let (told, code) = said(&sandbox, &["add", "one", "--", "prog"]);
    assert_eq!(code, 1);
    let path = sandbox.path(".tidegate/mcp.json").canonicalize().unwrap();
    let wanted = format!(
        "error: Failed to add server: Server \"one\" already exists in {}\n  Tip: Use tidegate \
         list to see existing servers.",
        path.display()
    );
    assert_eq!(told, wanted);
}

#[test]
fn flags_that_make_no_server_are_refused_in_the_documented_words() {
    let sandbox = sandbox(&[]);
    for (args, words) in [
        (
            &["add", "x", "--url", "u", "--", "c"][..],
            "Use either --url or -- <command...>, not both.",
        ),
        (&["add", "x"], "Use either --url or -- <command...>."),
        (&["add", "x", "--token", "t", "--", "c"], "--token requires --url (HTTP/SSE transport)."),
        (&["add", "x", "--scope", "all", "--", "c"], "Invalid --scope value. Use project or user."),
        (
            &["add", "x", "--url", "u", "--transport", "tcp"],
            "Invalid --transport value. Use http or sse.",
        ),
        (&["add", "x", "--env", "K", "--", "c"], "Invalid --env value. Use NAME=VALUE."),
        (&["add", "x", "--env", "K=V", "--url", "u"], "--env requires -- <command...>."),
        (&["add", "x", "--header", "K=V", "--", "c"], "--header requires --url."),
        (
            &["add", "x", "--url", "ftp://h/mcp"],
            "Invalid --url value. Use an address with http:// or https://.",
        ),
    ] {
        assert_eq!(said(&sandbox, args), (format!("error: {words}"), 2), "{args:?}");
    }
    let (told, code) = said(&sandbox, &["add", "a b", "--", "c"]);
    assert_eq!(code, 1);
    assert_eq!(
        told,
        "error: Failed to add server: Server name can only contain letters, numbers, dash, \
         underscore, and dot"
    );
    for url in ["ftp://h/", "file:///etc/passwd", "unix:/run/socket", "wss://h/"] {
        let (told, code) = said(&sandbox, &["add", "x", "--url", url]);
        assert_eq!(code, 2, "{url}");
        assert!(told.starts_with("error: Invalid --url value. "), "{told}");
    }
    for args in [
        &["--env", "A\u{1b}=v", "--", "c"][..],
        &["--env", "A=\u{1b}[2J", "--", "c"],
        &["--url", "h.example", "--header", "X Y=v"],
        &["--url", "h.example", "--header", "X=a\r\nY: b"],
        &["--url", "h.example", "--header", "Transfer-Encoding=chunked"],
        &["--url", "h.example", "--token", "t\n"],
    ] {
        let (told, code) = said(&sandbox, &[&["add", "x"], args].concat());
        assert_eq!(code, 1, "{args:?}");
        assert!(told.starts_with("error: Failed to add server: Invalid server config: "), "{told}");
        assert!(!told.contains('\u{1b}') && !told.contains("[2J"), "{told}");
    }
    assert!(!sandbox.path(".tidegate").exists(), "nothing was written");
    for (url, written) in [("h:80/x", "https://h:80/x"), ("${URL}/x", "${URL}/x")] {
        done(&sandbox, &["add", "x", "--url", url]);
        let file: Value = serde_json::from_str(&text(&sandbox, ".tidegate/mcp.json")).unwrap();
        assert_eq!(file["mcpServers"]["x"]["url"], written);
        done(&sandbox, &["remove", "x"]);
    }
}

/// D62, G58.
#[test]
fn commands_act_on_the_definition_in_use_and_say_what_is_hidden() {
    let sandbox = sandbox(&[
        (
            ".tidegate/mcp.json",
            "{\"mcpServers\": {\n  \"x\": {\"command\": \"theirs\"} // keep\n}}",
        ),
        ("config/mcp.json", "{\"mcpServers\": {\"x\": {\"command\": \"mine\"}}}"),
    ]);
    let told = done(&sandbox, &["disable", "x"]);
    assert_eq!(told, "✓ Disabled \"x\" in project config (.tidegate/mcp.json)");
    assert_eq!(listed(&sandbox), ["x disabled"]);
    assert_eq!(done(&sandbox, &["disable", "x"]), "Server \"x\" is already disabled.");
    done(&sandbox, &["enable", "x"]);
    assert_eq!(listed(&sandbox), ["x needs-approval"]);
    assert!(text(&sandbox, ".tidegate/mcp.json").contains("// keep"));
    assert_eq!(
        text(&sandbox, "config/mcp.json"),
        "{\"mcpServers\": {\"x\": {\"command\": \"mine\"}}}"
    );
    let told = done(&sandbox, &["add", "y", "--", "sh"]);
    assert_eq!(told, "✓ Added server \"y\" to project config (.tidegate/mcp.json)");
    let told = done(&sandbox, &["add", "--scope", "user", "y", "--", "p"]);
    assert!(
        told.ends_with("\"y\" is defined in .tidegate/mcp.json:3 too, and that definition is used"),
        "{told}"
    );
    let told = done(&sandbox, &["remove", "--scope", "user", "y"]);
    assert!(
        told.ends_with("it was hidden: the definition in .tidegate/mcp.json:3 is used as before"),
        "{told}"
    );
    let told = done(&sandbox, &["remove", "x"]);
    assert_eq!(
        told,
        "✓ Removed server \"x\" from project config (.tidegate/mcp.json)\n  the definition of \
         \"x\" in config/mcp.json:1 is used from here on"
    );
    let (told, code) = said(&sandbox, &["remove", "--scope", "project", "x"]);
    assert_eq!(
        (told.as_str(), code),
        ("error: Server \"x\" not found in project config (.tidegate/mcp.json).", 1)
    );
}

/// D61, G58, G59.
#[test]
fn what_a_list_of_names_switches_off_is_switched_on_again() {
    let denied = "{\n  // mine\n  \"disabledServers\": [\"x\"]\n}\n";
    let sandbox = sandbox(&[
        (".tidegate/mcp.json", "{\"mcpServers\": {\"x\": {\"command\": \"theirs\"}}}"),
        ("config/mcp.json", denied),
    ]);
    assert_eq!(listed(&sandbox), ["x disabled"]);
    assert_eq!(
        done(&sandbox, &["enable", "x"]),
        "✓ Enabled \"x\" in user config (config/mcp.json)"
    );
    assert_eq!(listed(&sandbox), ["x needs-approval"]);
    assert_eq!(text(&sandbox, "config/mcp.json"), "{\n  // mine\n}\n");
}

/// G58.
#[test]
fn another_programs_file_is_not_changed_unless_it_is_named() {
    let theirs = "{\"mcpServers\": {\"x\": {\"command\": \"c\"}}}";
    let sandbox = sandbox(&[(".mcp.json", theirs)]);
    let (told, code) = said(&sandbox, &["remove", "x"]);
    assert_eq!(code, 1);
    assert_eq!(
        told,
        "error: Server \"x\" is defined in .mcp.json:1, which other programs read too; to change \
         that file, name it: --config .mcp.json"
    );
    let told = done(&sandbox, &["disable", "x"]);
    assert_eq!(
        told,
        "✓ Disabled \"x\" in user config (config/mcp.json)\n  its definition in .mcp.json:1 is as \
         it was; other programs read it too"
    );
    assert_eq!(listed(&sandbox), ["x disabled"]);
    done(&sandbox, &["enable", "x"]);
    assert_eq!(listed(&sandbox), ["x needs-approval"]);
    assert_eq!(text(&sandbox, ".mcp.json"), theirs);
    let told = done(&sandbox, &["remove", "x", "--config", ".mcp.json", "--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["changed"], &told["server"]), (&json!(true), &json!("x")));
    assert_eq!(text(&sandbox, ".mcp.json"), "{\"mcpServers\": {}}");
}

/// G57.
#[test]
fn a_file_that_cannot_be_read_is_never_written() {
    let broken = "{\"mcpServers\": {\"x\": {\"command\" \"c\"}}}";
    let sandbox = sandbox(&[(".tidegate/mcp.json", broken)]);
    let (told, code) = said(&sandbox, &["add", "y", "--", "c"]);
    assert_eq!(code, 1);
    assert!(
        told.contains(".tidegate/mcp.json:1:") && told.contains("mend the file first"),
        "{told}"
    );
    assert_eq!(text(&sandbox, ".tidegate/mcp.json"), broken);
}

/// G58: nobody is sent to a file that cannot be edited, and what is off is not said to be on.
#[test]
fn what_another_tool_switches_off_is_said_to_be_off_with_a_way_that_works() {
    let codex = "[mcp_servers.off]\ncommand = \"c\"\nenabled = false\n";
    let sandbox = sandbox(&[(".codex/config.toml", codex)]);
    let project = sandbox.path(".").canonicalize().unwrap();
    let claude = json!({"mcpServers": {"gone": {"command": "c"}},
        "projects": {project.to_str().unwrap(): {"disabledMcpServers": ["gone"]}}});
    fs::create_dir_all(sandbox.path("home")).unwrap();
    fs::write(sandbox.path("home/.claude.json"), claude.to_string()).unwrap();
    let (told, code) = said(&sandbox, &["enable", "gone"]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("switch it on in Claude Code") && !told.contains("--config"), "{told}");
    let (told, code) = said(&sandbox, &["enable", "gone", "--config", "home/.claude.json"]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("switched off by a list of Claude Code"), "{told}");
    for command in ["enable", "remove"] {
        let (told, code) = said(&sandbox, &[command, "off"]);
        assert_eq!(code, 1, "{told}");
        assert!(
            told.contains("a TOML file of OpenAI Codex") && !told.contains("--config"),
            "{told}"
        );
        let by_hand = match command {
            "enable" => "Tip: write `enabled = true` into the entry of \"off\" on line 1 yourself",
            _ => "Tip: take out the entry of \"off\" on line 1 yourself",
        };
        assert!(told.contains(by_hand), "{told}");
        let (told, code) = said(&sandbox, &[command, "off", "--config", ".codex/config.toml"]);
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("is TOML, which is read and not edited"), "{told}");
    }
    // What the tip says works.
    done(&sandbox, &["add", "gone", "--scope", "user", "--", "c"]);
    let listed = listed(&sandbox);
    assert!(!listed.contains(&"gone disabled".to_owned()), "{listed:?}");
}

#[test]
fn adding_says_at_once_what_will_not_run_and_what_should_not_be_shared() {
    let sandbox = sandbox(&[]);
    let told = |args: &[&str]| done(&sandbox, &[&["add"], args].concat());
    let secret = "what looks like a secret is in a file of the project";
    assert!(told(&["a", "--", "no-such-program"]).contains("warning: command \"no-such-program\""));
    assert!(told(&["b", "--", "sh -c true"]).contains("into \"args\""));
    assert!(told(&["c", "--env", "API_TOKEN=abc", "--", "sh"]).contains(secret));
    assert!(told(&["d", "--", "sh", "--token", "abc"]).contains(secret));
    for args in [
        &["e", "--env", "API_TOKEN=${API_TOKEN}", "--", "sh"][..],
        &["f", "--env", "API_TOKEN=!pass show x", "--", "sh"],
        &["g", "--env", "API_TOKEN=API_TOKEN", "--", "sh"],
        &["h", "--env", "API_TOKEN=abc", "--scope", "user", "--", "sh"],
        &["i", "--url", "h.example", "--token", "${T}"],
    ] {
        let told = told(args);
        assert!(!told.contains("warning"), "{told}");
    }
}

#[test]
fn a_name_that_is_not_known_is_looked_for_where_nothing_could_be_read_and_above() {
    let sandbox = sandbox(&[
        (".tidegate/mcp.json", "{\"mcpServers\": {\"up\": {\"command\": \"c\"}}}"),
        ("below/.tidegate/mcp.json", "{\"mcpServers\": {\"x\" 1}}"),
    ]);
    for command in ["remove", "disable"] {
        let (told, code) = said(&sandbox, &[command, "x", "--cwd", "below"]);
        assert_eq!(code, 1);
        assert!(told.contains(".tidegate/mcp.json cannot be used"), "{told}");
        let (told, _) = said(&sandbox, &[command, "up", "--cwd", "below"]);
        let above = sandbox.path(".").canonicalize().unwrap();
        assert!(told.contains(&format!("--cwd {}", above.display())), "{told}");
    }
}

/// G57, G58: all of it or nothing, in the file of the definition in use.
#[test]
fn a_timeout_is_set_and_tools_are_approved_in_the_file_that_counts() {
    let sandbox = sandbox(&[
        ("config/mcp.json", "{\"mcpServers\": {\n  // mine\n  \"x\": {\"command\": \"sh\"}\n}}"),
        (
            "mcp.json",
            "{\"mcpServers\": {\"x\": {\"command\": \"theirs\"}, \"y\": {\"command\": \"c\"}}}",
        ),
    ]);
    let args = ["set", "x", "--timeout", "1500", "--auto-approve", "a", "--auto-approve", "b"];
    let told = done(&sandbox, &args);
    assert_eq!(told, "✓ Updated server \"x\" in user config (config/mcp.json)");
    let wanted = "{\"mcpServers\": {\n  // mine\n  \"x\": {\"command\": \"sh\", \"timeout\": 1500, \
                  \"autoApprove\": [\"a\", \"b\"]}\n}}";
    assert_eq!(text(&sandbox, "config/mcp.json"), wanted);
    assert_eq!(done(&sandbox, &args), "Server \"x\" is set so already.");
    let told: Value =
        serde_json::from_str(&done(&sandbox, &["set", "x", "--ask", "a", "--json"])).unwrap();
    assert_eq!((&told["changed"], &told["server"]), (&json!(true), &json!("x")));
    assert_eq!(text(&sandbox, "config/mcp.json"), wanted.replace("\"a\", ", ""));
    for (args, code, words) in [
        (&["set", "x"][..], 2, "Use --timeout, --auto-approve or --ask."),
        (&["set", "x", "--ask", "\u{1b}"], 2, "Invalid --ask value. Use the name of a tool."),
        (
            &["set", "x", "--ask", "t", "--auto-approve", "t"],
            2,
            "Use either --auto-approve or --ask for a tool, not both.",
        ),
        (&["set", "x", "--ask", "t", "--gate", "1"], 2, "`set` has no use for --gate"),
        (&["set", "x", "--timeout", "0"], 2, "0 is not in 1.."),
        (&["set", "z", "--ask", "t"], 1, "no server named \"z\""),
        (&["set", "y", "--ask", "t"], 1, "which other programs read too; to change that file"),
    ] {
        let (told, ended) = said(&sandbox, args);
        assert!(told.contains(words) && ended == code, "{args:?}: {told}");
    }
    assert_eq!(text(&sandbox, "config/mcp.json"), wanted.replace("\"a\", ", ""));
}

/// An approval is of the exact definition: who changes it has seen it, if it was approved.
#[test]
fn what_was_approved_stays_approved_when_it_is_set_and_nothing_else_is() {
    let sandbox = sandbox(&[(
        ".tidegate/mcp.json",
        "{\"mcpServers\": {\"x\": {\"command\": \"c\"}, \"y\": {\"command\": \"c\"}}}",
    )]);
    done(&sandbox, &["trust", "grant", "x"]);
    for name in ["x", "y"] {
        done(&sandbox, &["set", name, "--timeout", "7"]);
    }
    let told: Value = serde_json::from_str(&done(&sandbox, &["trust", "--json"])).unwrap();
    let told = told["trust"].as_array().unwrap().iter();
    let states: Vec<_> = told.map(|it| (&it["server"], &it["state"])).collect();
    let wanted = [(json!("x"), json!("approved")), (json!("y"), json!("waiting"))];
    assert_eq!(states[..2], wanted.each_ref().map(|(name, state)| (name, state)));
}

/// Where a folder is found from wherever the command happens to be, a project could bring it.
#[test]
fn a_directory_of_ours_that_is_not_absolute_is_refused() {
    let sandbox = sandbox(&[]);
    for variable in ["TIDEGATE_STATE_DIR", "TIDEGATE_CONFIG_DIR", "TIDEGATE_CACHE_DIR"] {
        for args in [&["trust"][..], &["list"], &["add", "x", "--", "c"]] {
            let output = sandbox.bare(args).env(variable, "here").output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{variable} {args:?}");
            let wanted = format!("error: {variable} has to be an absolute path and is \"here\"\n");
            assert_eq!(stderr(&output), wanted);
        }
    }
    assert!(!sandbox.path("here").exists() && !sandbox.path(".tidegate").exists());
}

/// G57: a limit on the size of files is an error like a full disk, and leaves nothing behind.
#[test]
fn a_file_that_may_not_become_so_large_is_as_it_was_and_nothing_is_left() {
    let before = format!("// {}\n{{}}\n", "long ".repeat(1_000));
    let sandbox = sandbox(&[(".tidegate/mcp.json", &before)]);
    let mut command = std::process::Command::new("sh");
    let line = "ulimit -f 1; exec \"$@\"";
    command.args(["-c", line, "sh", env!("CARGO_BIN_EXE_tidegate"), "add", "x", "--", "c"]);
    let plain = sandbox.bare(&[]);
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    let output = command.current_dir(sandbox.path(".")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("File too large"), "{}", stderr(&output));
    assert!(stderr(&output).contains("ulimit -f"), "{}", stderr(&output));
    assert_eq!(text(&sandbox, ".tidegate/mcp.json"), before);
    let files: Vec<_> = fs::read_dir(sandbox.path(".tidegate")).unwrap().collect();
    assert_eq!(files.len(), 1, "no draft is left: {files:?}");
}
