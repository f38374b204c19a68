//! Files that change while servers run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_lite::future;
use serde_json::{Value, json};
use tidegate_core::bytes::Json;
use tidegate_core::config::edit::Edit;
use tidegate_core::config::{Entries, Level, Provider, Source};
use tidegate_core::event::ServerState;
use tidegate_core::hub::policy::Watch;
use tidegate_core::options::Options;
use tidegate_smol::{Host, Settings, block_on, config_file, open};

use crate::project::Project;

/// How long a change may take to be followed.
const LIMIT: Duration = Duration::from_secs(20);

fn source(file: &Path) -> Source {
    Source::file(Provider::Tidegate, Level::User, file.to_str().unwrap())
}

fn settings(project: &Project, files: &[&Path]) -> Settings {
    let sources = files.iter().map(|file| source(file)).collect();
    let mut options = Options::new(project.path().to_str().unwrap(), sources);
    options.policy.watch = Watch::follow();
    Settings::new(options).with_trace(project.path().join("trace"))
}

fn add(file: &Path, name: &str, entry: &Value) {
    let entry = Json::new(entry.to_string());
    config_file::edit(&source(file), &Edit::Add { name: name.into(), entry }).unwrap();
}

/// Waits until a server is connected; its process.
async fn connected(host: &Host, name: &str) -> u32 {
    let mut events = host.events();
    let wait = async {
        loop {
            let status = host.status().await;
            let server = status.servers.iter().find(|server| server.name.as_str() == name);
            if let Some(server) = server.filter(|it| it.state == ServerState::Connected) {
                return server.pid.unwrap();
            }
            events.next().await.unwrap();
        }
    };
    let late = async {
        async_io::Timer::after(LIMIT).await;
        panic!("{name} is not connected: {:?}", host.status().await.servers)
    };
    future::or(wait, late).await
}

/// How often a file was read, by the trace.
fn reads(project: &Project) -> usize {
    let trace = fs::read_to_string(project.path().join("trace")).unwrap();
    trace.lines().filter(|line| line.contains("\"config-read\"")).count()
}

/// G53, G57.
#[test]
fn a_file_that_appears_or_is_edited_is_followed_and_what_did_not_change_goes_on() {
    let project = Project::new();
    let file: PathBuf = project.path().join("not/there/yet/mcp.json");
    let (host, driver) = open(settings(&project, &[&file])).unwrap();
    block_on(driver, async {
        host.start().await;
        add(&file, "a", &project.server(&[]));
        let first = connected(&host, "a").await;
        add(&file, "b", &project.server(&[]));
        connected(&host, "b").await;
        assert_eq!(connected(&host, "a").await, first, "it was left alone");
        // Another folder takes the place of the one that is watched.
        let folder = file.parent().unwrap();
        fs::rename(folder, folder.with_file_name("was")).unwrap();
        add(&file, "c", &project.server(&[]));
        connected(&host, "c").await;
        let names = host.status().await.servers;
        let names: Vec<_> = names.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["c"]);
        host.shutdown().await;
    })
    .unwrap();
    project.check_nothing_left(LIMIT);
}

#[test]
fn fifty_touches_are_read_a_few_times_and_restart_nothing() {
    let project = Project::new();
    let file = project.path().join("mcp.json");
    let link = project.path().join("link.json");
    add(&file, "a", &project.server(&[]));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let (host, driver) = open(settings(&project, &[&link])).unwrap();
    block_on(driver, async {
        host.start().await;
        let first = connected(&host, "a").await;
        let text = fs::read(&file).unwrap();
        for _ in 0..50 {
            fs::write(&file, &text).unwrap();
            async_io::Timer::after(Duration::from_millis(2)).await;
        }
        add(&file, "b", &project.server(&[]));
        connected(&host, "b").await;
        assert_eq!(connected(&host, "a").await, first, "it was left alone");
        host.shutdown().await;
    })
    .unwrap();
    let reads = reads(&project);
    assert!((2..=8).contains(&reads), "{reads} reads");
    project.check_nothing_left(LIMIT);
}

/// Issue 4, item 8: a folder of files, and files that another one leads to, those too that do
/// not exist yet.
#[test]
fn files_in_a_folder_and_files_that_are_led_to_are_followed() {
    let project = Project::new();
    let path = |name: &str| project.path().join(name).to_str().unwrap().to_owned();
    let folder = Source {
        entries: Some(Entries::Ending(vec![".json".into()])),
        ..Source::file(Provider::ContinueJson, Level::User, path("blocks"))
    };
    let registry = path("installed_plugins.json");
    let plugins = Source::file(Provider::ClaudePlugin, Level::User, registry.as_str());
    let mut options = Options::new(project.path().to_str().unwrap(), vec![folder, plugins]);
    options.policy.watch = Watch::follow();
    let settings = Settings::new(options).with_trace(project.path().join("trace"));
    let (host, driver) = open(settings).unwrap();
    block_on(driver, async {
        host.start().await;
        fs::create_dir(path("blocks")).unwrap();
        fs::write(path("blocks/one.json"), project.server(&[]).to_string()).unwrap();
        connected(&host, "one").await;
        let installed = json!({"plugins": {"p@m": [{"installPath": path("plugin")}]}});
        fs::write(&registry, installed.to_string()).unwrap();
        add(Path::new(&path("plugin/.mcp.json")), "x", &project.server(&[]));
        connected(&host, "p:x").await;
        add(Path::new(&path("plugin/.mcp.json")), "y", &project.server(&[]));
        connected(&host, "p:y").await;
        host.shutdown().await;
    })
    .unwrap();
    project.check_nothing_left(LIMIT);
}
