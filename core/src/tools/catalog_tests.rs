use super::*;

fn def(name: &str) -> ToolDef {
    ToolDef {
        name: name.into(),
        title: None,
        description: Some(alloc::format!("does {name}").into()),
        input_schema: Json::new(r#"{ "type":"object" }"#),
        raw: Json::new("{}"),
        usable: Ok(()),
    }
}

fn slice<'a>(server: &'a ServerName, tools: &'a [ToolDef], state: SliceState<'a>) -> Slice<'a> {
    Slice { server, tools, state }
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.exposed.as_str()).collect()
}

/// G19.
#[test]
fn tools_come_in_configuration_order_and_in_each_servers_own() {
    let (b, a) = (ServerName::new("b"), ServerName::new("a"));
    let (of_b, of_a) = ([def("z"), def("y")], [def("x")]);
    let slices = [slice(&b, &of_b, SliceState::Live), slice(&a, &of_a, SliceState::Deferred)];
    let (tools, problems) = derive(Names::Distinct, &slices);
    assert_eq!(names(&tools), ["mcp_b_z", "mcp_b_y", "mcp_a_x"]);
    assert_eq!(problems, []);
    let states: Vec<&ToolState> = tools.iter().map(|tool| &tool.state).collect();
    assert_eq!(states, [&ToolState::Live, &ToolState::Live, &ToolState::Deferred]);
}

#[test]
fn a_tool_is_what_its_server_says_and_its_schema_is_kept_byte_for_byte() {
    let server = ServerName::new("Git Hub");
    let mut plain = def("Search");
    plain.description = None;
    let page = String::from(r#"[{"a":1}, {"b" : 2}]"#);
    plain.input_schema = Json::within(page, 10..19);
    let mut empty = def("empty");
    empty.description = Some("".into());
    let tools = [plain, empty];
    let (tools, _) = derive(Names::Distinct, &[slice(&server, &tools, SliceState::Live)]);
    let tool = tools.first().expect("a tool");
    assert_eq!((tool.exposed.as_str(), tool.tool.as_str()), ("mcp_git_hub_search", "Search"));
    assert_eq!(&*tool.description, "MCP tool from Git Hub");
    assert_eq!(tool.schema.as_str(), r#"{"b" : 2}"#);
    assert_eq!(tools.last().map(|t| &*t.description), Some("MCP tool from Git Hub"));
}

/// F-055: a schema problem concerns one tool.
#[test]
fn a_tool_that_cannot_be_used_is_quarantined_and_its_siblings_are_not() {
    let server = ServerName::new("s");
    let mut bad = def("bad");
    bad.usable = Err("inputSchema is a list".into());
    let tools = [def("a"), bad, def("b")];
    for state in [SliceState::Live, SliceState::Failed("gone")] {
        let (tools, problems) = derive(Names::Distinct, &[slice(&server, &tools, state)]);
        assert_eq!(names(&tools), ["mcp_s_a", "mcp_s_bad", "mcp_s_b"]);
        let quarantined = ToolState::Quarantined { reason: "inputSchema is a list".into() };
        assert_eq!(tools.get(1).map(|tool| &tool.state), Some(&quarantined));
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!(problem.category, Category::InvalidTool);
        assert_eq!(problem.server.as_ref(), Some(&server));
        assert!(problem.message.contains("\"bad\"") && problem.message.contains("is a list"));
    }
}

#[test]
fn the_tools_of_a_server_that_failed_say_why() {
    let server = ServerName::new("s");
    let tools = [def("a")];
    let slices = [slice(&server, &tools, SliceState::Failed("it exited"))];
    let (tools, _) = derive(Names::Distinct, &slices);
    let failed = ToolState::Failed { reason: "it exited".into() };
    assert_eq!(tools.first().map(|tool| &tool.state), Some(&failed));
}

/// G23, G24: a change of one server's order or the servers' order changes no name.
#[test]
fn colliding_names_are_reported_and_the_same_in_every_order() {
    let (a, ab) = (ServerName::new("a"), ServerName::new("a_b"));
    let (of_a, of_ab) = ([def("b_c"), def("d")], [def("c")]);
    let forth = [slice(&a, &of_a, SliceState::Live), slice(&ab, &of_ab, SliceState::Live)];
    let back = [slice(&ab, &of_ab, SliceState::Deferred), slice(&a, &of_a, SliceState::Deferred)];
    let (tools, problems) = derive(Names::Distinct, &forth);
    let (turned, _) = derive(Names::Distinct, &back);
    let mut both = [names(&tools), names(&turned)];
    both.iter_mut().for_each(|names| names.sort_unstable());
    assert_eq!(both[0], both[1]);
    assert_eq!(both[0].len(), 3);
    let collisions: Vec<_> = problems.iter().map(|p| (p.category, p.server.clone())).collect();
    let wanted = [a, ab].map(|server| (Category::ToolNameCollision, Some(server)));
    assert_eq!(collisions, wanted);
}

#[test]
fn by_the_documented_rule_the_last_of_equal_names_stays_and_the_others_are_reported() {
    let (one, two) = (ServerName::new("server1"), ServerName::new("server2"));
    let (of_one, of_two) = ([def("tool2"), def("other")], [def("tool2")]);
    let slices = [slice(&one, &of_one, SliceState::Live), slice(&two, &of_two, SliceState::Live)];
    let (tools, problems) = derive(Names::Documented, &slices);
    assert_eq!(names(&tools), ["mcp_server_other", "mcp_server_tool"]);
    assert_eq!(tools.last().map(|tool| tool.server.as_str()), Some("server2"));
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!((problem.category, &problem.server), (Category::ToolNameCollision, &Some(one)));
}

#[test]
fn a_tool_that_is_listed_twice_is_offered_once() {
    let server = ServerName::new("s");
    let tools = [def("a"), def("a")];
    let (tools, problems) = derive(Names::Distinct, &[slice(&server, &tools, SliceState::Live)]);
    assert_eq!(names(&tools), ["mcp_s_a"]);
    assert_eq!(problems.iter().map(|p| p.category).collect::<Vec<_>>(), [Category::InvalidTool]);
}
