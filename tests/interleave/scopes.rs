//! What is searched: who there is, and how often what may happen.

use tidegate_core::hub::policy::{self, Backoff, ListChanged, Watch};
use tidegate_sim::explore::{Kind, Scope};
use tidegate_sim::scene::{Entry, Scene};
use tidegate_sim::script::Script;

use Kind::{
    Approve, Await, Call, Cancel, Change, Complain, Connect, Crash, Disable, Disconnect,
    DisconnectAll, Enable, Fail, Late, Pipe, Reconnect, Refuse, Restart, Revoke, Shutdown, Start,
    StopWaiting,
};

/// Often enough for every deadline of a story to pass while something is on its way.
const ALWAYS: u8 = u8::MAX;

/// What is searched on every push.
pub(crate) fn pushed() -> Vec<(&'static str, Scene, Scope)> {
    let mut searches = vec![
        ("two, everything, nobody slow", two(), everything().reload(changed())),
        ("one, everything, slow once", one(), everything().with(Late, 1).reload(changed_one())),
        ("one, odd, slow once", one(), odd()),
        ("two, all stop", two(), start().with(DisconnectAll, 1).with(Connect, 1).with(Late, 2)),
        ("two, one goes", two(), start().with(Call, 1).with(Late, 2).reload(fewer())),
        ("two, one comes back", two(), start().with(Late, 1).reload(fewer()).reload(changed())),
        ("two, two starts", two(), start().with(Start, 2).with(Late, 2)),
    ];
    let once = [Call, Crash, Pipe, Fail, Connect, Disconnect, DisconnectAll, Shutdown];
    searches.extend(alone(once));
    let any = everything().with(Late, 1).reload(changed());
    searches.push(("two, any four things, slow once", two(), any.at_most(5)));
    searches
}

/// What is searched on every push with every operation on a server, and servers that change.
pub(crate) fn operations() -> Vec<(&'static str, Scene, Scope)> {
    let mut searches = vec![
        ("two, any three things, slow once", two(), waiting(anything(changed())).at_most(4)),
        ("one, any four things", one(), anything(changed_one()).with(Late, 1).at_most(5)),
        ("one, lost twice", one(), losses()),
        ("one, changed twice", one(), changes()),
        ("one, odd, slow once", one(), odd()),
        ("two, one goes", two(), start().with(Call, 1).with(Late, 2).reload(fewer())),
    ];
    searches.extend(alone([Reconnect, Restart, Enable, Disable, Change]));
    searches
}

/// What is searched on every push with what the user approves, what has to be found out, and
/// files that are saved.
pub(crate) fn consents() -> Vec<(&'static str, Scene, Scope)> {
    vec![
        ("two, saved", watched(two()), saves().save(fewer()).save(changed()).at_most(3)),
        ("two of a project", two().from_project(), approvals().at_most(4)),
        ("two that ask", asking(), questions().at_most(3)),
    ]
}

/// One thing that the host or a server does, whoever is slow.
fn alone<const N: usize>(kinds: [Kind; N]) -> impl Iterator<Item = (&'static str, Scene, Scope)> {
    kinds.into_iter().map(|kind| {
        let scope = start().with(kind, 1).with(Late, ALWAYS);
        ("two, one thing, all slow", two(), scope)
    })
}

/// What can be searched without any reduction.
pub(crate) fn small() -> Vec<(&'static str, Scene, Scope)> {
    let one_of_each = [Call, Cancel, Crash, Disconnect, Connect, Shutdown];
    let one_of_each = one_of_each.into_iter().fold(start(), |scope, kind| scope.with(kind, 1));
    vec![
        ("one, small", one(), one_of_each.with(Late, 1)),
        ("one, reloads", one(), start().with(Call, 2).with(Late, 1).reload(changed_one())),
        ("two, small", two(), start().with(Crash, 1).with(Connect, 1).with(Fail, 1)),
    ]
}

/// What takes minutes.
pub(crate) fn deep() -> Vec<(&'static str, Scene, Scope)> {
    let most = [Call, Crash, Disconnect, Shutdown, Late];
    let most = most.into_iter().fold(start(), |scope, kind| scope.with(kind, 1));
    let of_three = everything().with(Late, 1).reload(changed_of_three());
    let whole = everything().with(Late, 1).reload(changed());
    vec![
        ("three, any two things, slow once", three(), of_three.at_most(3)),
        ("two, most of it, slow once", two(), most.reload(changed())),
        ("two, saved", watched(two()), saves().save(fewer()).save(changed()).at_most(4)),
        ("two that ask", asking(), questions().at_most(4)),
        ("two, any five things, slow once", two(), whole.at_most(6)),
    ]
}

fn start() -> Scope {
    Scope::new().with(Start, 1)
}

/// Each thing once.
fn everything() -> Scope {
    [Call, Cancel, Crash, Fail, Connect, Disconnect, Shutdown]
        .into_iter()
        .fold(start(), |scope, kind| scope.with(kind, 1))
}

/// Each of these and of the operations on a server once, and a server that changes.
fn anything(config: Vec<Entry>) -> Scope {
    [Reconnect, Restart, Enable, Disable, Change]
        .into_iter()
        .fold(everything(), |scope, kind| scope.with(kind, 1))
        .reload(config)
}

/// With someone who waits for a server or no more, an end of all servers, and one who is slow.
fn waiting(scope: Scope) -> Scope {
    [DisconnectAll, Await, StopWaiting, Late]
        .into_iter()
        .fold(scope, |scope, kind| scope.with(kind, 1))
}

/// What meets a file that is saved while it is watched.
fn saves() -> Scope {
    [Call, Crash, Connect, Disconnect, DisconnectAll, Disable, Shutdown, Late]
        .into_iter()
        .fold(start(), |scope, kind| scope.with(kind, 1))
        .reload(changed())
}

/// What meets servers that a project brought along.
fn approvals() -> Scope {
    [Call, Crash, Connect, Disconnect, DisconnectAll, Enable, Shutdown, Late, Revoke]
        .into_iter()
        .fold(start(), |scope, kind| scope.with(kind, 1))
        .with(Approve, 2)
        .reload(changed())
}

/// What meets servers with a value that has to be found out.
fn questions() -> Scope {
    [Call, Fail, Crash, Connect, Disconnect, DisconnectAll, Restart, Disable, Shutdown, Refuse]
        .into_iter()
        .fold(start(), |scope, kind| scope.with(kind, 1))
        .reload(changed().into_iter().map(asks).collect())
}

/// A server is lost twice.
fn losses() -> Scope {
    [Call, Disconnect, Enable, Disable, Reconnect, Late]
        .into_iter()
        .fold(start(), |scope, kind| scope.with(kind, 1))
        .with(Crash, 2)
        .at_most(6)
}

/// A server offers other tools twice.
fn changes() -> Scope {
    [Call, Crash, Restart, Disconnect, Late]
        .into_iter()
        .fold(start(), |scope, kind| scope.with(kind, 1))
        .with(Change, 2)
        .at_most(7)
}

/// What seldom happens.
fn odd() -> Scope {
    [Call, Cancel, Pipe, Complain, Disconnect, Connect]
        .into_iter()
        .fold(start(), |scope, kind| scope.with(kind, 1))
        .with(Late, 1)
}

fn two() -> Scene {
    one().server("two", Script::default())
}

fn three() -> Scene {
    two().server("three", Script::default())
}

/// Both need one value that has to be found out.
fn asking() -> Scene {
    let mut scene = two();
    scene.entries = scene.entries.into_iter().map(asks).collect();
    scene
}

fn asks(entry: Entry) -> Entry {
    Entry { asks: true, ..entry }
}

fn watched(mut scene: Scene) -> Scene {
    scene.options.policy.watch = Watch::Follow { quiet_ms: 1, most_ms: 2 };
    scene
}

/// Deadlines that are multiples of one number meet in fewer ways, and in every order. That number
/// is so small that chance adds nothing to it when a lost server waits to be started again.
fn one() -> Scene {
    let mut scene = Scene::default().server("one", Script::default()).cached();
    let policy = &mut scene.options.policy;
    (policy.gate_ms, policy.startup_deadline_ms) = (1, Some(4));
    (policy.connect_ms, policy.list_ms, policy.call_ms) = (3, 3, 2);
    policy.reconnect =
        policy::Reconnect::OnLoss(Backoff { delays_ms: vec![2], starts_max: 1, stable_ms: 2 });
    policy.list_changed = ListChanged::Refresh { quiet_ms: 1, most_ms: 2, retry_ms: vec![1] };
    let stop = &mut policy.stop;
    (stop.polite_ms, stop.terminate_ms, stop.kill_ms) = (1, 1, 1);
    scene
}

fn changed_one() -> Vec<Entry> {
    vec![Entry { version: 2, ..Entry::new("one") }]
}

fn changed() -> Vec<Entry> {
    vec![Entry { version: 2, ..Entry::new("one") }, Entry::new("two")]
}

fn changed_of_three() -> Vec<Entry> {
    [changed(), vec![Entry::new("three")]].concat()
}

fn fewer() -> Vec<Entry> {
    vec![Entry::new("two")]
}
