//! Do files survive editors that run beside each other, are killed, or may not write (G57)?

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tidegate_core::config::{Source, parse};
use tidegate_tests::processes::program;

/// How many edits each of two processes makes; `EDITS=1000` for the number that is promised.
const EDITS: usize = 60;
/// How many editors are killed.
const KILLS: usize = 12;

fn editor(file: &Path, prefix: &str, count: usize) -> Command {
    let mut command = Command::new(program("scripted-editor"));
    command.arg(file).arg(prefix).arg(count.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(command: &mut Command) -> Child {
    command.spawn().expect("the editor is built")
}

fn names(file: &Path) -> Vec<String> {
    let bytes = fs::read(file).expect("the file is there");
    let reading = parse::read(&Source::inline("test", ""), &bytes);
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    reading.definitions.iter().map(|definition| definition.name.as_str().to_owned()).collect()
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().display().to_string()).collect()
}

/// D60, G57.
#[test]
fn two_processes_that_edit_one_file_lose_nothing() {
    let count = std::env::var("EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(EDITS);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(".tidegate/mcp.json");
    let mut both: Vec<Child> =
        ["one", "two"].iter().map(|prefix| start(&mut editor(&file, prefix, count))).collect();
    let both: Vec<Output> =
        both.drain(..).map(|child| child.wait_with_output().expect("an end")).collect();
    for output in &both {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut found = names(&file);
    found.sort();
    let mut wanted: Vec<String> =
        ["one", "two"].iter().flat_map(|p| (0..count).map(move |at| format!("{p}{at}"))).collect();
    wanted.sort();
    assert_eq!(found, wanted);
    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(entries(&folder.path().join(".tidegate")), ["mcp.json"]);
}

/// G57.
#[test]
fn an_editor_that_is_killed_leaves_a_whole_file_and_keeps_nobody_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mcp.json");
    // Large enough that a write takes a while.
    let filler = "x".repeat(400_000);
    let text = format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"{filler}\"}}}}}}");
    fs::write(&file, text).expect("a file");
    let mut said = vec!["a".to_owned()];
    for kill in 0..KILLS {
        let mut child = start(&mut editor(&file, &format!("k{kill}-"), 1_000_000));
        let out = child.stdout.take().expect("a pipe");
        // The further ones are killed after more edits, each at some point of the next one.
        for line in BufReader::new(out).lines().take(1 + kill % 4) {
            said.push(line.expect("a name"));
        }
        child.kill().expect("a process");
        child.wait().expect("an end");
        let found = names(&file);
        for name in &said {
            assert!(found.contains(name), "{name} was said to be there");
        }
    }
    let last = start(&mut editor(&file, "last", 1)).wait_with_output().expect("an end");
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    assert!(names(&file).contains(&"last0".to_owned()));
    assert_eq!(entries(folder.path()), ["mcp.json"], "no draft of a killed one is left");
}

/// G57. Root may write anywhere, so somebody else tries.
#[test]
fn a_folder_that_may_not_be_written_is_said_so_and_stays_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).expect("a folder");
    let file = locked.join("mcp.json");
    fs::write(&file, "{}").expect("a file");
    let theirs: PathBuf = folder.path().join("editor");
    fs::copy(program("scripted-editor"), &theirs).expect("a program");
    for (path, mode) in [(folder.path(), 0o755), (&locked, 0o555), (&theirs, 0o755)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
    }
    let mut command = Command::new(&theirs);
    command.arg(&file).arg("n").arg("1").stderr(Stdio::piped());
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().expect("an end");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("mcp.json cannot be written: Permission denied"), "{said}");
    assert_eq!(fs::read(&file).expect("the file"), b"{}");
    assert_eq!(entries(&locked), ["mcp.json"]);
    fs::set_permissions(&locked, Permissions::from_mode(0o755)).expect("a mode");
}
