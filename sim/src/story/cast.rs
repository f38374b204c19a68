//! The servers of stories: what each offers, how it is reached, and what goes wrong with it.

use tidegate_core::error::{Exit, OpenError};

use crate::choices::Choices;
use crate::front::{Front, Mishap, Probe, Wrong};
use crate::script::{Delays, Fault, Offered, Script, Spawn, Speaks, Stopping};

use super::{RESOURCES, TOOLS};

/// A server's part; the simplest is healthy and instant.
pub fn script(choices: &mut impl Choices) -> Script {
    let tools = TOOLS.iter().take(1 + choices.choose(TOOLS.len() as u32) as usize);
    let mut script = Script::tools(tools.copied());
    if choices.once_in(2) {
        let mut ms = |most: u32| u64::from(choices.choose(most));
        script.delays = Delays {
            initialize: ms(800),
            list: ms(200),
            call: ms(1_500),
            exit: ms(1_200),
            watch: 0,
        };
        script.spawn = Spawn::Runs(ms(300));
    }
    if choices.once_in(4) {
        script.page_tools = 1 + choices.choose(2) as usize;
    }
    if choices.once_in(4) {
        script.chunk_bytes = 1 + choices.choose(90) as usize;
    }
    script.stop = *choices.pick(&[
        Stopping::Polite,
        Stopping::Polite,
        Stopping::IgnoresEof,
        Stopping::IgnoresTerm,
        Stopping::Unkillable,
    ]);
    if choices.once_in(16) {
        script.spawn = Spawn::Runs(u64::from(choices.choose(6_000)));
    }
    if choices.once_in(16) {
        let error = OpenError::NotExecutable { command: "x".into() };
        script.spawn = Spawn::Fails(u64::from(choices.choose(400)), error);
    }
    if choices.once_in(8) {
        let revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "1999-01-01"];
        script.revision = Some((*choices.pick(&revisions)).into());
    }
    if choices.once_in(3) {
        let resources = RESOURCES.iter().take(choices.choose(RESOURCES.len() as u32 + 1) as usize);
        script = script.resources(resources.copied()).templates(["file:///{name}"]);
        script.subscribe = !choices.once_in(4);
    }
    if choices.once_in(3) {
        script = script.prompts(["greet", "plan"]);
    }
    let faults = choices.choose(4).saturating_sub(1);
    script.faults = (0..faults).map(|_| fault(choices)).collect();
    script.front = choices.once_in(4).then(|| front(choices));
    let speaks = *choices.pick(&[Speaks::Legacy, Speaks::Legacy, Speaks::Modern, Speaks::Dual]);
    // The older transport knows nothing but handshakes.
    let older = script.front.as_ref().is_some_and(|front| front.older);
    script.speaks = if older { Speaks::Legacy } else { speaks };
    // Which era it comes to depends on what went before, and only one has subscriptions.
    script.subscribe &= script.speaks != Speaks::Dual;
    script
}

/// How servers answer what they do not know.
const PROBES: [Probe; 5] =
    [Probe::NoSession, Probe::Error, Probe::Nothing, Probe::Status(404), Probe::Status(500)];

/// How a remote server is reached; the simplest way is healthy.
fn front(choices: &mut impl Choices) -> Front {
    let faults = choices.choose(4).saturating_sub(1);
    Front {
        older: choices.once_in(4),
        sessions: !choices.once_in(3),
        probe: *choices.pick(&PROBES),
        streams: choices.once_in(2),
        listens: !choices.once_in(3),
        retry_ms: choices.once_in(2).then(|| u64::from(choices.choose(900))),
        faults: (0..faults).map(|_| mishap(choices)).collect(),
    }
}

fn mishap(choices: &mut impl Choices) -> Mishap {
    let exchange = choices.choose(9) as usize;
    let answers = |status, header, body| Wrong::Answers { status, header, body };
    let what = match choices.choose(16) {
        0 => answers(500, None, "no"),
        1 => answers(503, Some(("retry-after", "1")), ""),
        2 => answers(307, Some(("location", "/elsewhere")), ""),
        3 => answers(302, Some(("location", "https://other/")), ""),
        4 => answers(200, Some(("content-type", "text/html")), "<html>"),
        5 => answers(200, Some(("content-type", "application/json")), "{\"id\":99,\"result\":{}}"),
        6 => answers(400, None, "no such session"),
        7 => answers(404, None, ""),
        8 => answers(202, None, ""),
        9 => Wrong::Refused,
        10 => Wrong::CutHead,
        11 => Wrong::CutStream,
        12 => Wrong::Silent,
        13 => Wrong::Stalls,
        14 => Wrong::GoesOn("{\"method\":\"notifications/tools/list_changed\"}"),
        _ => Wrong::Forgets,
    };
    Mishap { exchange, what }
}

fn fault(choices: &mut impl Choices) -> Fault {
    let before = choices.choose(5) as usize;
    match choices.choose(31) {
        0 => Fault::line(before, "Server listening on stdio"),
        1 => Fault::line(before, "{\"jsonrpc\":\"2.0\",\"id\":7"),
        2 => Fault::long_line(before, 5_000),
        3 => Fault::answers_unasked(before),
        4 => Fault::notifies(before, "notifications/tools/list_changed", 40),
        5 => Fault::asks(before, "1", "ping"),
        6 => Fault::asks(before, "\"one\"", "roots/list"),
        7 => Fault::asks(before, "99", "sampling/createMessage"),
        8 => Fault::Repeats { message: before, times: 3 },
        9 => Fault::AnswersWithTextId { message: before },
        10 => {
            let after_bytes = choices.choose(700) as usize;
            Fault::Crashes { after_bytes, exit: Exit::Code(1) }
        }
        11 => Fault::FallsSilent { from: before },
        12 => Fault::ClosesOutput { before },
        13 => Fault::ClosesInput { before },
        14 => Fault::FloodsStderr { bytes: 10_000 },
        15 => Fault::refuses("initialize", -32602, "Unsupported protocol version"),
        16 => Fault::results("tools/list", "{\"tools\":{}}"),
        17 => Fault::results("tools/call", "[]"),
        18 => Fault::EndlessPages,
        19 => Fault::RepeatsCursor,
        20 => Fault::AnswersCancelled,
        21 => Fault::Batches,
        22 => Fault::refuses("resources/list", -32603, "no"),
        23 => Fault::refuses("resources/templates/list", -32601, "Method not found"),
        24 => Fault::refuses("resources/subscribe", -32603, "no"),
        25 => Fault::results("prompts/list", "{\"prompts\":[7,{\"name\":\"a\"}]}"),
        26 => Fault::notifies(before, "notifications/resources/list_changed", 3),
        27 => Fault::inquires(before, "\"who\"", false),
        28 => Fault::inquires(before, "8", true),
        29 => Fault::asks(before, "5", "elicitation/create"),
        _ => Fault::Progress { every: 100, times: 5 },
    }
}

/// A server that declared a list goes on having it, as it cannot declare it later.
pub(super) fn change(offers: &mut Offered, how: u8) {
    let turn = |list: &mut Vec<String>| {
        if let Some(last) = list.pop() {
            list.insert(0, format!("{}x", last.trim_end_matches('x')));
            let by = usize::from(how / 8) % list.len();
            list.rotate_left(by);
        }
    };
    match how % 4 {
        0 => turn(&mut offers.tools),
        1 => turn(&mut offers.resources),
        2 => turn(&mut offers.prompts),
        _ => {
            let left = 1 + usize::from(how / 4) % TOOLS.len();
            offers.tools = TOOLS.iter().take(left).map(|tool| (*tool).into()).collect();
        }
    }
}
