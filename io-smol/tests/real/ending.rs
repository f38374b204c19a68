//! How servers end: by themselves, because the host asks, and because the host is killed.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tidegate_core::event::Outcome;
use tidegate_smol::Guard;

use crate::project::{Project, call, hasty, text};

fn run_hastily(project: &Project, entry: Value) {
    project.run_with(hasty(project.settings(&[("s", entry)])), async |host| {
        let report = host.start().await;
        assert_eq!(report.connected, ["s".into()], "{report:?}");
    });
}

#[test]
fn a_server_that_ignores_everything_is_killed() {
    let project = Project::new();
    run_hastily(&project, project.server(&["ignore-eof", "ignore-term"]));
}

#[test]
fn children_of_a_server_end_with_it() {
    // F-010
    let project = Project::new();
    run_hastily(&project, project.server(&["child"]));
    run_hastily(&project, project.server(&["child", "ignore-eof", "ignore-term"]));
}

#[test]
fn children_in_a_session_of_their_own_end_with_the_runtime() {
    let project = Project::new();
    run_hastily(&project, project.server(&["session"]));
    run_hastily(&project, project.server(&["orphan"]));
}

/// F-010: what is left of its past is a limit that nobody sets (Linux).
#[test]
#[cfg(target_os = "linux")]
fn a_daemon_without_an_environment_ends_with_the_runtime() {
    let project = Project::new();
    run_hastily(&project, project.server(&["bare"]));
}

#[test]
fn what_a_wrapper_started_ends_with_the_wrapper() {
    let project = Project::new();
    let server = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/tests/real/server.py");
    for script in [
        format!("{server} <&3 & wait"),
        format!("{server} ignore-eof ignore-term child <&3 & wait"),
        format!("sh -c '{server}; exit'; exit"),
    ] {
        run_hastily(&project, project.entry("sh", &["-c", &format!("exec 3<&0; {script}")]));
    }
}

#[test]
fn a_server_goes_on_after_the_wrapper_that_started_it_has_left() {
    let project = Project::new();
    let server = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/tests/real/server.py");
    let script = format!("exec 3<&0; {server} <&3 & exit 0");
    let answer = project.run(project.entry("sh", &["-c", &script]), async |host| {
        call(host, "echo", json!({ "text": "here" })).await
    });
    assert_eq!(text(&answer), "here");
}

#[test]
fn an_ended_process_that_nobody_reaps_holds_up_nothing() {
    let project = Project::new();
    let settings = project.settings(&[("s", project.server(&[]))]);
    project.run_with(settings, async |host| {
        host.start().await;
        assert_eq!(text(&call(host, "zombie", json!({})).await), "done");
        // Not the ladder's last rung, which would be the third signal and four seconds away.
        let ending = async {
            host.disconnect("s").await;
            true
        };
        let limit = async {
            async_io::Timer::after(Duration::from_millis(900)).await;
            false
        };
        assert!(futures_lite::future::or(ending, limit).await);
    });
}

#[test]
fn calls_end_with_their_server() {
    let project = Project::new();
    let outcomes = project.run(project.server(&[]), async |host| {
        let nap = call(host, "nap", json!({ "seconds": 0.2, "then": "exit" }));
        let late = call(host, "nap", json!({ "seconds": 600 }));
        [nap.await, late.await]
    });
    assert!(matches!(outcomes[0], Outcome::Answered(_)), "{outcomes:?}");
    assert!(matches!(outcomes[1], Outcome::Failed(_)), "{outcomes:?}");
}

#[test]
fn servers_that_are_still_to_be_started_are_not_once_the_end_has_begun() {
    // F-013
    let project = Project::new();
    let names: Vec<String> = (0..30).map(|number| format!("s{number}")).collect();
    let servers: Vec<_> =
        names.iter().map(|it| (it.as_str(), project.server(&["child"]))).collect();
    project.run_with(hasty(project.settings(&servers)), async |host| {
        let start = host.start();
        let stop = async {
            while project.processes().is_empty() {
                futures_lite::future::yield_now().await;
            }
            host.shutdown().await;
        };
        futures_lite::future::zip(start, stop).await;
    });
}

#[test]
fn a_driver_that_is_dropped_takes_its_servers_with_it() {
    let project = Project::new();
    let entry = project.server(&["child", "ignore-eof", "ignore-term"]);
    let (host, driver) = tidegate_smol::open(project.settings(&[("s", entry)])).unwrap();
    async_io::block_on(futures_lite::future::or(
        async {
            drop(driver.run().await);
        },
        async {
            host.start().await;
        },
    ));
    project.check_nothing_left(Duration::from_secs(2));
    assert!(async_io::block_on(host.start()).connected.is_empty());
}

/// The host that the next tests kill: this test in a process of its own, told by its
/// environment to be one.
#[test]
fn a_host_to_be_killed() {
    let Ok(manners) = env::var("TIDEGATE_SMOL_HOST") else { return };
    let project = Project::new();
    let manners: Vec<&str> = manners.split(',').collect();
    let names: Vec<String> = (0..5).map(|number| format!("s{number}")).collect();
    let servers: Vec<_> = names.iter().map(|it| (it.as_str(), project.server(&manners))).collect();
    let mut settings = project.settings(&servers);
    if env::var_os("TIDEGATE_SMOL_UNGUARDED").is_some() {
        settings = settings.with_guard(Guard::Off);
    }
    project.run_with(settings, async |host| {
        let report = host.start().await;
        println!("\nready {}", report.connected.len());
        std::future::pending::<()>().await;
    });
}

/// Starts the host, kills it once its servers run, and gives back their mark.
fn killed(manners: &str, unguarded: bool) -> String {
    let (host, mark) = ready(manners, unguarded);
    kill(host);
    mark
}

fn kill(mut host: Child) {
    host.kill().unwrap();
    host.wait().unwrap();
}

/// A host whose servers run, and their mark.
fn ready(manners: &str, unguarded: bool) -> (Child, String) {
    let project = Project::new();
    let mut host = Command::new(env::current_exe().unwrap());
    host.args(["--exact", "ending::a_host_to_be_killed", "--nocapture"])
        .env("TIDEGATE_SMOL_HOST", manners)
        .env("TIDEGATE_SMOL_OUTER", project.mark())
        .stdout(Stdio::piped());
    if unguarded {
        host.env("TIDEGATE_SMOL_UNGUARDED", "1");
    }
    let mut host = host.spawn().unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let ready = lines.map_while(Result::ok).find(|line| line.starts_with("ready"));
    assert_eq!(ready.as_deref(), Some("ready 5"));
    (host, project.mark().to_owned())
}

/// The guard of a host, once it is another one than the last.
#[cfg(target_os = "linux")]
fn guard_of(host: &Child, last: Option<rustix::process::Pid>) -> rustix::process::Pid {
    let is_guard = |process: &i32| {
        let read = |file: &str| fs::read_to_string(format!("/proc/{process}/{file}"));
        let parent = format!("PPid:\t{}\n", host.id());
        read("status").is_ok_and(|status| status.contains(&parent))
            && read("cmdline").is_ok_and(|line| line.contains("tidegate-guard"))
    };
    loop {
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let numbers = processes.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
        let guard = numbers.filter(is_guard).find_map(rustix::process::Pid::from_raw);
        if let Some(guard) = guard.filter(|guard| Some(*guard) != last) {
            return guard;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn check_gone(mark: &str) {
    let variable = "TIDEGATE_SMOL_OUTER";
    // That it takes 3 s at most is measured by the benchmarks; a busy machine may take longer.
    crate::project::check_gone(variable, mark, Duration::from_secs(15));
}

#[test]
fn no_server_outlives_a_host_that_is_killed() {
    // F-010: they ignore the end of their input and SIGTERM, and have children that do, too.
    check_gone(&killed("ignore-eof,ignore-term,child", false));
}

#[test]
fn nothing_that_left_its_group_outlives_a_host_that_is_killed() {
    check_gone(&killed("session", false));
    check_gone(&killed("orphan", false));
    #[cfg(target_os = "linux")]
    check_gone(&killed("bare", false));
}

/// F-010: a guard that somebody killed has a successor soon, which knows every server.
#[test]
#[cfg(target_os = "linux")]
fn no_server_outlives_a_host_whose_guard_was_killed_before_it() {
    let (host, mark) = ready("ignore-eof,ignore-term,child", false);
    let first = guard_of(&host, None);
    rustix::process::kill_process(first, rustix::process::Signal::KILL).unwrap();
    guard_of(&host, Some(first));
    kill(host);
    check_gone(&mark);
}

#[test]
fn servers_that_obey_need_no_guard() {
    check_gone(&killed("polite", true));
}
