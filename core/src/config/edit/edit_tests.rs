use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::config::source::{Level, Provider};
use crate::config::{Stdio, Transport};

fn source() -> Source {
    Source::file(Provider::Tidegate, Level::User, "f")
}

fn after(text: &str, change: &Edit) -> String {
    let bytes = edit(&source(), text.as_bytes(), change).expect("can be edited");
    String::from_utf8(bytes).expect("text")
}

fn refusal(text: &[u8], change: &Edit) -> String {
    edit(&source(), text, change).expect_err("cannot be edited").to_string()
}

fn add(name: &str, entry: &str) -> Edit {
    Edit::Add { name: name.into(), entry: Json::new(entry) }
}

fn remove(name: &str) -> Edit {
    Edit::Remove { name: name.into() }
}

fn enable(name: &str) -> Edit {
    Edit::Enable { name: name.into() }
}

fn disable(name: &str) -> Edit {
    Edit::Disable { name: name.into() }
}

fn deny(name: &str) -> Edit {
    Edit::Deny { name: name.into() }
}

fn allow(name: &str) -> Edit {
    Edit::Allow { name: name.into() }
}

/// G57.
#[test]
fn an_entry_is_added_in_the_style_of_the_file() {
    let entry = r#"{"command":"x","args":["-y",1],"env":{"A":"é\n"}}"#;
    let printed = r#"{
      "command": "x",
      "args": ["-y", 1],
      "env": {
        "A": "é\n"
      }
    }"#;
    let one_line = r#"{"command": "x", "args": ["-y", 1], "env": {"A": "é\n"}}"#;
    for (before, wanted) in [
        ("", format!("{{\n  \"mcpServers\": {{\n    \"n\": {printed}\n  }}\n}}\n")),
        ("{}", format!("{{\n  \"mcpServers\": {{\n    \"n\": {printed}\n  }}\n}}")),
        (
            "// mine\n{\n  // nothing yet\n}\n",
            format!(
                "// mine\n{{\n  // nothing yet\n  \"mcpServers\": {{\n    \"n\": {printed}\n  }}\n}}\n"
            ),
        ),
        (
            "{\n  \"mcpServers\": null\n}",
            format!("{{\n  \"mcpServers\": {{\n    \"n\": {printed}\n  }}\n}}"),
        ),
        (
            "{\n  \"mcpServers\": {\n    \"a\": {\"command\":\"a\"} // first\n    // last words\n  }, \"x\": 1\n}\n",
            format!(
                "{{\n  \"mcpServers\": {{\n    \"a\": {{\"command\":\"a\"}}, // first\n    // last words\n    \"n\": {printed}\n  }}, \"x\": 1\n}}\n"
            ),
        ),
        (
            "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
            format!("{{\"mcpServers\":{{\"a\":{{\"command\":\"a\"}}, \"n\": {one_line}}}}}"),
        ),
        (
            "{ \"mcpServers\": { \"a\": {}, /* z */ } }",
            format!("{{ \"mcpServers\": {{ \"a\": {{}}, /* z */ \"n\": {one_line}, }} }}"),
        ),
    ] {
        assert_eq!(after(before, &add("n", entry)), wanted, "{before}");
    }
}

#[test]
fn tabs_line_ends_and_a_byte_order_mark_stay() {
    let before = "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t}\r\n}\r\n";
    assert_eq!(
        after(before, &add("b", r#"{"url":"https://h/"}"#)),
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t\"b\": {\r\n\t\t\t\"url\": \
         \"https://h/\"\r\n\t\t},\r\n\t}\r\n}\r\n"
    );
}

/// G57.
#[test]
fn an_entry_is_removed_with_the_comments_about_it_and_no_other() {
    for (before, wanted) in [
        (
            "{\"mcpServers\":{\n  \"a\": {},\n  // about x\n  \"x\": {}\n}}",
            "{\"mcpServers\":{\n  \"a\": {}\n}}",
        ),
        (
            "{\"mcpServers\":{\n  \"x\": {}, // one\n  \"b\": {},\n}}",
            "{\"mcpServers\":{\n  \"b\": {},\n}}",
        ),
        (
            "{\"mcpServers\":{ // all\n  /* of\n     x */\r\n  // more\n  \"x\": {\n}, /* 1 */ // 2\n  // b's\n  \"b\": {}\n}}",
            "{\"mcpServers\":{ // all\n  // b's\n  \"b\": {}\n}}",
        ),
        (
            "{\"mcpServers\":{\n  // part\n\n  // x\n  \"x\": {} // end\n  // last\n}}",
            "{\"mcpServers\":{\n  // part\n\n  // last\n}}",
        ),
        (
            "{\"mcpServers\":{\n  \"a\": {}, // a's\n  \"x\": {} /* x */, \"b\": {} // b's\n}}",
            "{\"mcpServers\":{\n  \"a\": {}, // a's\n  /* x */ \"b\": {} // b's\n}}",
        ),
        ("{\"mcpServers\":{ \"x\": 1, \"b\": {} }}", "{\"mcpServers\":{ \"b\": {} }}"),
        ("{\"mcpServers\":{ \"a\": {}, \"x\": 1 }}", "{\"mcpServers\":{ \"a\": {} }}"),
        ("{\"mcpServers\":{\"a\":{},\"x\":1,}}", "{\"mcpServers\":{\"a\":{},}}"),
        ("{\"mcpServers\":{\"x\":1}}", "{\"mcpServers\":{}}"),
        // An earlier entry of the name would count if it stayed.
        (
            "{\"mcpServers\":{\"x\":1,\"a\":{},\"\\u0078\":2 /* two */,\"x\":3}}",
            "{\"mcpServers\":{\"a\":{} /* two */}}",
        ),
        ("{\"mcpServers\":{\"x\":1},\"disabledServers\":[\"x\"]}", "{\"mcpServers\":{}}"),
        (
            "{\"mcpServers\":{\"x\":1},\"disabledServers\":[\"x\", \"y\"]}",
            "{\"mcpServers\":{},\"disabledServers\":[\"y\"]}",
        ),
        ("{\"x\": {\"command\":\"x\"}}", "{}"),
    ] {
        assert_eq!(after(before, &remove("x")), wanted, "{before}");
    }
}

#[test]
fn a_server_is_switched_by_the_key_it_has_for_that() {
    for (on, off) in [
        ("{\"x\":{\"command\":\"c\"}}", "{\"x\":{\"command\":\"c\", \"enabled\": false}}"),
        (
            "{\"x\":{\"command\":\"c\",\"enabled\":true}}",
            "{\"x\":{\"command\":\"c\",\"enabled\":false}}",
        ),
        (
            "{\"x\":{\"command\":\"c\",\"disabled\":0}}",
            "{\"x\":{\"command\":\"c\",\"disabled\":true}}",
        ),
        (
            "{\"x\":{\"command\":\"c\",\"enabled\":null}}",
            "{\"x\":{\"command\":\"c\",\"enabled\":false}}",
        ),
    ] {
        let file = |entries: &str| format!("{{\"mcpServers\":{entries}}}");
        let (on, off) = (file(on), file(off));
        assert_eq!(after(&on, &disable("x")), off);
        assert_eq!(after(&on, &enable("x")), on, "it is on");
        assert_eq!(after(&off, &disable("x")), off, "it is off");
        let again = after(&off, &enable("x"));
        let reading = parse::read(&source(), again.as_bytes());
        assert!(reading.definitions.iter().all(|definition| definition.enabled), "{again}");
    }
}

/// D61.
#[test]
fn enabling_takes_back_whatever_of_the_file_switches_a_server_off() {
    let before = "{\"mcpServers\":{\"x\":{\"command\":\"c\",\"enabled\":false,\"disabled\":true}},\n\
                  \"disabledServers\":[\"x\",\"y\"]}";
    let wanted = "{\"mcpServers\":{\"x\":{\"command\":\"c\",\"enabled\":true,\"disabled\":false}},\n\
                  \"disabledServers\":[\"y\"]}";
    assert_eq!(after(before, &enable("x")), wanted);
}

#[test]
fn a_name_is_denied_once_and_allowed_again() {
    for (allowed, denied) in [
        ("", "{\n  \"disabledServers\": [\"x\"]\n}\n"),
        ("{\"a\":1}", "{\"a\":1, \"disabledServers\": [\"x\"]}"),
        ("{\"disabledServers\":[\"y\"]}", "{\"disabledServers\":[\"y\", \"x\"]}"),
        ("{\"disabledServers\":[]}", "{\"disabledServers\":[\"x\"]}"),
        ("{\"disabledServers\":null}", "{\"disabledServers\":[\"x\"]}"),
        ("{\"disabledServers\":[\n  \"y\"\n]}", "{\"disabledServers\":[\n  \"y\",\n  \"x\"\n]}"),
    ] {
        assert_eq!(after(allowed, &deny("x")), denied);
        assert_eq!(after(denied, &deny("x")), denied);
        let again = after(denied, &allow("x"));
        let reading = parse::read(&source(), again.as_bytes());
        assert!(!reading.disabled.contains(&ServerName::new("x")), "{again}");
    }
    assert_eq!(after("{\"a\":1, \"disabledServers\": [\"x\"]}", &allow("x")), "{\"a\":1}");
    assert_eq!(after("", &allow("x")), "");
}

#[test]
fn a_file_that_is_all_entries_stays_one() {
    let bare = b"{\"a\": {\"command\":\"a\"}}";
    assert_eq!(
        refusal(bare, &deny("a")),
        "f: its servers have to stand in \"mcpServers\" for that; mend the file first, it is \
         unchanged"
    );
    let more = after("{\"a\": {\"command\":\"a\"}}", &add("b", r#"{"command":"b"}"#));
    assert_eq!(more, "{\"a\": {\"command\":\"a\"}, \"b\": {\"command\": \"b\"}}");
}

#[test]
fn a_timeout_is_set_and_tools_are_approved_once() {
    let timeout = Edit::SetTimeout { name: "x".into(), ms: 5 };
    let file = "{\"mcpServers\":{\"x\":{\"timeout\":1,\"timeout\":2}}}";
    assert_eq!(after(file, &timeout), "{\"mcpServers\":{\"x\":{\"timeout\":1,\"timeout\":5}}}");
    assert_eq!(
        after("{\"mcpServers\":{\"x\":{}}}", &timeout),
        "{\"mcpServers\":{\"x\":{\n  \"timeout\": 5\n}}}"
    );
    let approve = Edit::ApproveTools { name: "x".into(), tools: vec!["a".into(), "b".into()] };
    let once = "{\"mcpServers\":{\"x\":{\"autoApprove\":[\"b\", \"a\"]}}}";
    assert_eq!(after("{\"mcpServers\":{\"x\":{\"autoApprove\":[\"b\"]}}}", &approve), once);
    assert_eq!(after(once, &approve), once);
    let ask = |tools: &[&str]| Edit::AskForTools {
        name: "x".into(),
        tools: tools.iter().map(|tool| (*tool).into()).collect(),
    };
    let one = "{\"mcpServers\":{\"x\":{\"autoApprove\":[\"b\"]}}}";
    assert_eq!(after(once, &ask(&["a", "c"])), one);
    assert_eq!(after(one, &ask(&["a"])), one, "it is asked for already");
    assert_eq!(after(one, &ask(&["b"])), one.replace("\"b\"", ""));
    let none = "{\"mcpServers\":{\"x\":{}}}";
    assert_eq!(after(none, &ask(&["b"])), none);
}

/// What is set is what the file's own tool reads: its key, its unit.
#[test]
fn what_is_set_counts_in_the_file_of_another_tool() {
    let set = Edit::SetTimeout { name: "x".into(), ms: 1_500 };
    let approve = Edit::ApproveTools { name: "x".into(), tools: vec!["t".into()] };
    for (provider, before, wanted) in [
        (Provider::Cline, "\"timeout\": 60", "\"timeout\": 1.5, \"autoApprove\": [\"t\"]"),
        (Provider::Roo, "\"alwaysAllow\": []", "\"alwaysAllow\": [\"t\"], \"timeout\": 1.5"),
        (Provider::Cursor, "\"timeout\": null", "\"timeout\": 1500, \"autoApprove\": [\"t\"]"),
    ] {
        let file =
            |entry: &str| format!("{{\"mcpServers\": {{\"x\": {{\"command\": \"c\", {entry}}}}}}}");
        let source = Source::file(provider, Level::User, "f");
        let once = edit(&source, file(before).as_bytes(), &set).expect("can be edited");
        let twice = edit(&source, &once, &approve).expect("can be edited");
        assert_eq!(core::str::from_utf8(&twice), Ok(&*file(wanted)), "{provider:?}");
        let reading = parse::read(&source, &twice);
        let [definition] = &reading.definitions[..] else { panic!("{reading:?}") };
        assert_eq!(definition.timeout_ms, Some(1_500), "{provider:?}");
        assert_eq!(definition.auto_approve, ["t"], "{provider:?}");
    }
}

/// The documented messages.
#[test]
fn what_cannot_be_done_is_refused_in_the_documented_words() {
    let file = b"{\"mcpServers\":{\"x\":{\"command\":\"c\"},\"odd\":7}}";
    let good = r#"{"command":"c"}"#;
    let long = "n".repeat(101);
    for (change, words) in [
        (add("x", good), "Server \"x\" already exists in f"),
        (add("", good), "Server name cannot be empty"),
        (add(&long, good), "Server name is too long (max 100 characters)"),
        (
            add("a b", good),
            "Server name can only contain letters, numbers, dash, underscore, and dot",
        ),
        (
            add("n", "{}"),
            "Invalid server config: Server \"n\": stdio server requires \"command\" field",
        ),
        (
            add("n", "7"),
            "Invalid server config: Server \"n\": the entry should be an object and is a number",
        ),
        (add("n", "{"), "Invalid server config: Server \"n\": the entry cannot be read"),
        (add("n", "{}},{"), "Invalid server config: Server \"n\": the entry cannot be read"),
        (
            add("n", r#"{"command":"c"},"m":{"command":"d"}"#),
            "Invalid server config: Server \"n\": the entry cannot be read",
        ),
        (
            add("n", r#"{"command":"c","env":{"A\u001b":"v"}}"#),
            "Invalid server config: Server \"n\": \"env.A\u{1b}\" cannot be the name of a variable",
        ),
        (
            add("n", r#"{"url":"https://h/","headers":{"X":"a\r\nY: b"}}"#),
            "Invalid server config: Server \"n\": \"headers.X\" has a control character in its value",
        ),
        (remove("y"), "Server \"y\" not found in f"),
        (enable("y"), "Server \"y\" not found in f"),
        (
            disable("odd"),
            "Invalid server config: Server \"odd\": the entry should be an object and is a number",
        ),
    ] {
        assert_eq!(refusal(file, &change), words);
    }
    let refused = |text: &[u8]| refusal(text, &remove("x"));
    assert_eq!(
        refused(b"{\n\"mcpServers\": {\"x\" 1}}"),
        "f:2:20: Expected colon after the string or word in object property; mend the file first, \
         it is unchanged"
    );
    assert_eq!(refused(b"\xff\xfe"), "f: the file is not UTF-8 but UTF-16; it is unchanged");
    assert_eq!(refused(b"{}\n\xff"), "f:2: the file is not UTF-8; it is unchanged");
    assert_eq!(
        refused(b"[]"),
        "f: it should hold an object and holds a list; mend the file first, it is unchanged"
    );
    assert_eq!(
        refused(b"{\"mcpServers\":[]}"),
        "f: \"mcpServers\" should be an object and is a list; mend the file first, it is unchanged"
    );
    assert_eq!(refused(b""), "Server \"x\" not found in f");
}

#[test]
fn what_was_added_is_read_as_it_was_given() {
    let text =
        after("", &add("n.1", r#"{"command":"c","args":["a b"],"env":{"K":"v"},"cwd":"/"}"#));
    let reading = parse::read(&source(), text.as_bytes());
    let [definition] = &reading.definitions[..] else { panic!("{text}") };
    let wanted = Stdio {
        command: "c".into(),
        args: vec!["a b".into()],
        env: [("K".into(), "v".into())].into(),
        cwd: Some("/".into()),
        ..Stdio::default()
    };
    assert_eq!(definition.transport, Ok(Transport::Stdio(wanted)));
}

#[test]
fn a_file_in_another_language_is_refused_by_its_name() {
    let toml = "[mcp_servers.y]\ncommand = \"y\"\n\n[mcp_servers.x]\ncommand = \"x\"\n";
    let yaml = "extensions:\n  y: {type: stdio, cmd: y}\n  x: {type: stdio, cmd: x}\n";
    let timeout = Edit::SetTimeout { name: "x".into(), ms: 1_500 };
    let approve = Edit::ApproveTools { name: "x".into(), tools: vec!["t".into()] };
    for (file, text, change, told) in [
        ("c.toml", toml, remove("x"), "take out the entry of \"x\" on line 4 yourself"),
        (
            "c.toml",
            toml,
            enable("x"),
            "write `enabled = true` into the entry of \"x\" on line 4 yourself",
        ),
        (
            "c.toml",
            toml,
            timeout,
            "write `tool_timeout_sec = 1.5` into the entry of \"x\" on line 4 yourself",
        ),
        ("c.toml", toml, add("n", "{}"), "define \"n\" in it yourself"),
        (
            "c.yml",
            yaml,
            disable("x"),
            "write `enabled: false` into the entry of \"x\" on line 3 yourself",
        ),
        (
            "c.yml",
            yaml,
            approve,
            "write `autoApprove: [\"t\"]` into the entry of \"x\" on line 3 yourself",
        ),
    ] {
        let source = Source::file(Provider::Explicit, Level::Explicit, file);
        let refused = edit(&source, text.as_bytes(), &change).expect_err("it is not edited");
        let language = if text == toml { "TOML" } else { "YAML" };
        let wanted = format!("{file} is {language}, which is read and not edited; {told}");
        assert_eq!(refused.to_string(), wanted);
    }
}
