//! A recorded run comes out the same again: simulated, live, stored, and in another process; and
//! what is not the record of a run is found out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tidegate_core::config::{Environment, Places, Provider};
use tidegate_core::hub::policy::Policy;
use tidegate_core::id::ServerName;
use tidegate_core::options::Options;
use tidegate_core::replay::{Divergence, replay};
use tidegate_core::runtime::Runtime;
use tidegate_core::trace::TraceLine;
use tidegate_sim::choices::Seeded;
use tidegate_sim::story::{self, Step};
use tidegate_sim::violation::jsonl;
use tidegate_smol::Settings;
use tidegate_tests::live::{self, World};

/// How many stories are told under each policy.
const STORIES: u64 = 24;
/// How many steps a story has before it settles.
const STEPS: usize = 40;
/// Tells this test binary to write its stories into a file rather than to compare them.
const INTO: &str = "TIDEGATE_STORIES_INTO";

/// The record of one story, as lines of JSON.
fn tell(seed: u64, policy: Policy) -> String {
    let mut choices = Seeded::new(seed);
    let mut world = story::scene(&mut choices, policy).world();
    let told = (0..STEPS)
        .try_for_each(|_| world.apply(Step::choose(&mut choices)))
        .and_then(|()| world.settle());
    told.unwrap_or_else(|violation| panic!("{}", violation.in_story(format!("SEED={seed}"))));
    jsonl(world.trace())
}

fn stories() -> Vec<String> {
    let policies = [Policy::default(), Policy::documented()];
    let of = |policy: Policy| (0..STORIES).map(move |seed| tell(seed, policy.clone()));
    policies.into_iter().flat_map(of).collect()
}

fn lines(text: &str) -> Vec<TraceLine> {
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(read).collect()
}

/// Checks that the lines survive reading and writing byte for byte, and that a fresh runtime
/// says what they hold, to the last of it.
fn check(name: &str, text: &str) {
    assert!(jsonl(&lines(text)) == text, "{name}: reading and writing it changes it");
    check_told(name, text);
}

/// Checks that a fresh runtime says what the lines hold, to the last of it.
fn check_told(name: &str, text: &str) {
    let lines = lines(text);
    let replayed = replay(&lines).unwrap_or_else(|divergence| panic!("{name}: {divergence}"));
    assert_eq!(replayed.unrecorded, [], "{name}");
    assert!(replayed.fed > 0 && replayed.compared > 0, "{name}: nothing happens in it");
}

#[test]
fn simulated_runs_replay_under_both_policies() {
    for (number, story) in stories().iter().enumerate() {
        check(&format!("story {number}"), story);
    }
}

#[test]
fn a_run_with_real_processes_replays() {
    let world = World::default();
    let trace = world.dir().join("real.jsonl");
    let settings = world.settings(&[
        ("plain", world.scripted(&[])),
        ("slow", world.scripted(&["--start-delay-ms", "300"])),
        ("missing", world.entry("no-such-program", &[])),
    ]);
    let (host, driver) = tidegate_smol::open(settings.with_trace(&trace)).expect("a driver");
    let story = async {
        host.start().await;
        let said = live::say(&host, "plain", "echo", json!({"text": "again"})).await;
        host.shutdown().await;
        said
    };
    let said = tidegate_smol::block_on(driver, story).expect("a run");
    assert!(said.contains("again"), "{said}");
    check("a real run", &fs::read_to_string(&trace).expect("a trace"));
}

/// Servers of a folder of files and of a plugin that a registry leads to, a file more in the folder,
/// and a plugin less: the record of that run, as lines of JSON.
fn run_with_folders() -> String {
    let world = World::default();
    let home = world.dir().to_owned();
    let trace = home.join("real.jsonl");
    let write = |path: &str, text: String| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let file = |name: &str| json!({"mcpServers": {name: world.scripted(&[])}}).to_string();
    let registry = |plugins: serde_json::Value| json!({"version": 1, "plugins": plugins});
    let plugin = json!([{"installPath": home.join("plugin"), "scope": "user"}]);
    write("plugin/.mcp.json", file("of-plugin"));
    write("plugin/.claude-plugin/plugin.json", r#"{"mcpServers":"./more.json"}"#.into());
    write("plugin/more.json", file("more"));
    let installed = ".claude/plugins/installed_plugins.json";
    write(installed, registry(json!({"plugin@market": plugin})).to_string());
    write(".continue/mcpServers/one.json", file("one"));
    let places = Places {
        cwd: home.join("project").display().to_string(),
        home: Some(home.display().to_string()),
        ..Places::default()
    };
    let mut sources = places.sources();
    let of_folders =
        [Provider::ClaudePlugin, Provider::ClaudePluginManifest, Provider::ContinueJson];
    sources.retain(|source| of_folders.contains(&source.provider));
    fs::create_dir_all(&places.cwd).expect("a folder");
    let mut settings = Settings::new(Options::new(&places.cwd, sources));
    settings.options.environment = Environment::default();
    let (host, driver) = tidegate_smol::open(settings.with_trace(&trace)).expect("a driver");
    let story = async {
        let first = host.start().await.connected;
        write(".continue/mcpServers/two.json", file("two"));
        write(installed, registry(json!({})).to_string());
        host.reload().await;
        let servers = host.status().await.servers.into_iter().map(|server| server.name);
        let second: Vec<ServerName> = servers.collect();
        host.shutdown().await;
        [first, second].map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let [mut first, second] = tidegate_smol::block_on(driver, story).expect("a run");
    first.sort();
    assert_eq!(first, ["one", "plugin:more", "plugin:of-plugin"]);
    assert_eq!(second, ["one", "two"]);
    fs::read_to_string(&trace).expect("a trace")
}

#[test]
fn a_run_with_folders_and_plugins_replays() {
    check("a run with folders", &run_with_folders());
}

/// Writes such a run, to be kept: what is of this machine in it is to be renamed, and the outputs
/// are then to be written by `record_again`.
#[test]
#[ignore = "writes a file"]
fn keep_a_run_with_folders() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    fs::write(folder.join("folders-and-plugins.jsonl"), run_with_folders()).expect("a file");
}

fn stored() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let entries = fs::read_dir(folder).expect("stored traces");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// Stories that were worth keeping. A seed means another story when the generator changes; a
/// trace does not.
#[test]
fn stored_runs_replay() {
    let files = stored();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let (name, text) = (file.display(), fs::read_to_string(&file).expect("a trace"));
        check_told(&name.to_string(), &text);
        // Options that are not in the head have their defaults, and would be written.
        let body = |text: &str| text.split_once('\n').map(|(_, body)| body.to_owned());
        let again = jsonl(&lines(&text));
        assert!(body(&again) == body(&text), "{name}: reading and writing it changes it");
    }
}

/// A story in which much is said.
fn eventful() -> String {
    let mut stories = (0..).map(|seed| tell(seed, Policy::default()));
    stories.find(|story| story.matches("\"event\"").count() > 10).expect("a story")
}

#[test]
fn one_changed_byte_of_an_output_is_found_where_it_is() {
    let text = eventful();
    let whole = lines(&text);
    let outputs = whole.iter().enumerate().filter_map(|(at, line)| {
        matches!(line, TraceLine::Command { .. } | TraceLine::Event { .. }).then_some(at)
    });
    let mut changed = 0;
    for at in outputs {
        let line = text.lines().nth(at).expect("a line");
        // The moment comes first and is the driver's; the last digit is a number of something.
        let moment = line.find(',').expect("more than a moment");
        let Some(digit) = line.rfind(|c: char| c.is_ascii_digit()) else { continue };
        if digit < moment {
            continue;
        }
        let other = if line.as_bytes()[digit] == b'7' { "8" } else { "7" };
        let spoilt = format!("{}{other}{}", &line[..digit], &line[digit + 1..]);
        let mut spoilt_lines = whole.clone();
        spoilt_lines[at] = serde_json::from_str(&spoilt).expect("a line");
        changed += 1;
        match replay(&spoilt_lines) {
            Err(Divergence::Output { line, .. }) => assert_eq!(line, at + 1, "{spoilt}"),
            Err(other) => panic!("{spoilt}: {other}"),
            Ok(_) => panic!("{spoilt}: not found"),
        }
    }
    assert!(changed > 10, "{changed} outputs could be changed");
}

#[test]
fn an_output_too_few_or_too_many_is_found() {
    let whole = lines(&eventful());
    let at = whole.iter().position(|line| matches!(line, TraceLine::Command { .. })).expect("one");
    let (mut fewer, mut more) = (whole.clone(), whole.clone());
    fewer.remove(at);
    more.insert(at, whole[at].clone());
    assert!(replay(&fewer).is_err());
    assert!(replay(&more).is_err());
}

/// L2 in two processes: neither addresses nor hashers' seeds may show in what is said.
#[test]
fn two_processes_tell_the_same_stories() {
    let told = stories().concat();
    if let Some(file) = std::env::var_os(INTO) {
        return fs::write(file, told).expect("a file");
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("stories.jsonl");
    let status = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "two_processes_tell_the_same_stories"])
        .env(INTO, &file)
        .output()
        .expect("another process")
        .status;
    assert!(status.success(), "{status}");
    let other = fs::read_to_string(&file).expect("its stories");
    let differs = told.lines().zip(other.lines()).find(|(own, other)| own != other);
    assert_eq!(differs, None);
    assert!(told == other, "one told more than the other");
}

/// Writes a story that is worth keeping: `SEED=17 cargo test -p tidegate-tests --test replay
/// keep_a_story -- --ignored`.
#[test]
#[ignore = "writes a file"]
fn keep_a_story() {
    let seed: u64 = std::env::var("SEED").expect("SEED").parse().expect("SEED is a number");
    let (name, policy) = match seed % 2 {
        0 => ("best", Policy::default()),
        _ => ("documented", Policy::documented()),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    let file = folder.join(format!("story-{seed}-{name}.jsonl"));
    fs::write(file, tell(seed, policy)).expect("a file");
}

/// Writes what a runtime says today to the inputs of `FILE`: how a run that broke a law becomes
/// one that keeps it, once the bug is mended. `FILE=failed-best.jsonl cargo test -p
/// tidegate-tests --test replay record_again -- --ignored`.
#[test]
#[ignore = "writes a file"]
fn record_again() {
    let name = std::env::var_os("FILE").expect("FILE");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces").join(name);
    let text = fs::read_to_string(&file).expect("a trace");
    fs::write(&file, jsonl(&told_again(&lines(&text)))).expect("a file");
}

fn told_again(recorded: &[TraceLine]) -> Vec<TraceLine> {
    let Some(head @ TraceLine::Head { options, .. }) = recorded.first() else { panic!("no head") };
    let mut runtime = Runtime::new((**options).clone());
    let mut told = vec![head.clone()];
    for line in recorded {
        let at = match line {
            TraceLine::Input { at, input } => {
                runtime.handle(*at, input.clone());
                *at
            }
            TraceLine::Tick { at } => {
                runtime.handle_timeout(*at);
                *at
            }
            TraceLine::Head { .. } | TraceLine::Command { .. } | TraceLine::Event { .. } => {
                continue;
            }
        };
        told.push(line.clone());
        let commands = std::iter::from_fn(|| runtime.poll_command());
        told.extend(commands.map(|command| TraceLine::Command { at, command }));
        let events = std::iter::from_fn(|| runtime.poll_event());
        told.extend(events.map(|event| TraceLine::Event { at, event }));
    }
    told
}

#[test]
fn a_run_with_wrong_outputs_is_recorded_again() {
    let text = tell(3, Policy::default());
    let mut inputs = lines(&text);
    inputs.retain(|line| !matches!(line, TraceLine::Event { .. }));
    assert!(jsonl(&told_again(&inputs)) == text);
}
