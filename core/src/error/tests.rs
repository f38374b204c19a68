use alloc::string::ToString as _;

use super::*;

fn failure(stage: Stage, cause: Cause) -> String {
    let failure = Failure { stage, cause, after_ms: 7, stderr_tail: String::new() };
    failure.describe(&"files".into())
}

/// L10: who exceeds a bound hears what was too much, how large the bound is and its name.
#[test]
fn every_bound_that_is_exceeded_is_told_so_that_somebody_can_act() {
    let over = |what, limit| failure(Stage::Initialize, Cause::Limit { what, limit });
    for (told, wanted) in [
        (
            over(Excess::Message, 400),
            "Server \"files\" sent a message of too many bytes: the bound is 400; raise \
             Limits::message_bytes to allow more (initialize)",
        ),
        (
            over(Excess::Pages, 3),
            "Server \"files\" has a list of too many pages: the bound is 3; raise \
             Limits::pages to allow more (initialize)",
        ),
        (
            over(Excess::Tools, 7),
            "Server \"files\" has too many tools: the bound is 7; raise \
             Limits::tools_per_server to allow more (initialize)",
        ),
        (
            over(Excess::Resources, 7),
            "Server \"files\" has too many resources: the bound is 7; raise \
             Limits::resources_per_server to allow more (initialize)",
        ),
        (
            over(Excess::Templates, 7),
            "Server \"files\" has too many resource templates: the bound is 7; raise \
             Limits::resources_per_server to allow more (initialize)",
        ),
        (
            over(Excess::Prompts, 7),
            "Server \"files\" has too many prompts: the bound is 7; raise \
             Limits::prompts_per_server to allow more (initialize)",
        ),
        (
            failure(Stage::ListTools, Cause::TimedOut { limit_ms: 30_000 }),
            "Connection to MCP server \"files\" timed out after 30000ms (tools/list)",
        ),
        (
            failure(Stage::Spawn, Cause::StartupDeadline { limit_ms: 30_000 }),
            "Server \"files\" was still starting after 30000ms (spawn); it goes on in the \
             background",
        ),
        (
            failure(Stage::ListTools, Cause::RepeatedCursor),
            "Server \"files\" repeated a page cursor in tools/list: its list never ends",
        ),
        (
            CallError::TooLarge { limit: 400 }.to_string(),
            "the answer is larger than 400 bytes: ask for less, or raise Limits::message_bytes",
        ),
        (
            CallError::TooManyCalls { limit: 2 }.to_string(),
            "more than 2 calls at once: wait for some to end; Limits::open_calls is how many a \
             host may have open",
        ),
        (CallError::TimedOut { limit_ms: 60_000 }.to_string(), "Request timeout after 60000ms"),
    ] {
        assert_eq!(told, wanted);
    }
}

/// F-016.
#[test]
fn a_command_that_is_not_found_says_where_it_was_looked_for() {
    let told = |searched: &str, whose| {
        let error =
            OpenError::CommandNotFound { command: "tool".into(), searched: searched.into(), whose };
        failure(Stage::Spawn, Cause::Open { error })
    };
    for (searched, whose, wanted) in [
        ("/usr/bin:/bin", WhosePath::Host, " in the 2 directories of PATH"),
        ("/opt", WhosePath::Entry, " in the 1 directory of env.PATH in its definition"),
        ("", WhosePath::Host, ""),
        (
            "/srv",
            WhosePath::Directory,
            " from /srv: a relative path starts at \"cwd\", or else at the project",
        ),
    ] {
        let start = "Server \"files\": command \"tool\" not found";
        assert_eq!(told(searched, whose), alloc::format!("{start}{wanted}"));
    }
}
