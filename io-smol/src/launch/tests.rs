use std::fs;
use std::os::unix::fs::PermissionsExt;

use tidegate_core::command::{Fill, Text};

use super::*;

struct Place {
    dir: tempfile::TempDir,
    around: Surroundings,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    for sub in ["project/sub", "bin", "home/tools"] {
        fs::create_dir_all(dir.path().join(sub)).unwrap();
    }
    let around = Surroundings {
        cwd: dir.path().join("project"),
        home: Some(dir.path().join("home")),
        path: Some(dir.path().join("bin").into_os_string()),
        mark: Mark::new(),
    };
    Place { dir, around }
}

impl Place {
    fn file(&self, path: &str, mode: u32) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn resolve(&self, command: &str, cwd: Option<&str>) -> Result<Command, OpenError> {
        let launch = launch(command, cwd);
        match self.around.fault(&launch) {
            Some(fault) => Err(fault),
            None => self.around.command(&launch),
        }
    }
}

fn launch(command: &str, cwd: Option<&str>) -> Program {
    let (command, cwd) = (command.into(), cwd.map(Into::into));
    filled(Launch { command, cwd, ..Launch::default() })
}

fn filled(written: Launch) -> Program {
    let filled = written.filled(|_| Some("swordfish".into()));
    Program { written, filled }
}

fn with_path(program: Program, path: String) -> Program {
    let mut written = program.written;
    written.env.insert("PATH".into(), path.into());
    filled(written)
}

#[test]
fn a_name_is_looked_up_in_the_hosts_path() {
    let place = place();
    let server = place.file("bin/server", 0o755);
    let command = place.resolve("server", None).unwrap();
    assert_eq!(command.get_program(), server);
    assert_eq!(command.get_current_dir(), Some(place.around.cwd.as_path()));
}

#[test]
fn the_entrys_own_path_takes_the_place_of_the_hosts() {
    // F-016
    let place = place();
    place.file("bin/server", 0o755);
    let own = place.file("home/tools/server", 0o755);
    let path = own.parent().unwrap().display().to_string();
    let launch = with_path(launch("server", None), path);
    assert_eq!(place.around.command(&launch).unwrap().get_program(), own);
    let launch = with_path(launch, "/nowhere".into());
    let error = place.around.command(&launch).unwrap_err();
    let (command, searched) = ("server".into(), "/nowhere".into());
    let whose = WhosePath::Entry;
    assert_eq!(error, OpenError::CommandNotFound { command, searched, whose });
}

#[test]
fn a_path_is_relative_to_the_servers_directory() {
    let place = place();
    let server = place.file("project/sub/server", 0o755);
    let command = place.resolve("./server", Some("sub")).unwrap();
    assert_eq!(fs::canonicalize(command.get_program()).unwrap(), server);
    let error = place.resolve("./server", None).unwrap_err();
    let (command, searched) = ("./server".into(), place.around.cwd.display().to_string());
    let whose = WhosePath::Directory;
    assert_eq!(error, OpenError::CommandNotFound { command, searched, whose });
}

#[test]
fn the_home_directory_is_expanded_in_command_and_directory() {
    let place = place();
    let server = place.file("home/tools/server", 0o755);
    let command = place.resolve("~/tools/server", Some("~")).unwrap();
    assert_eq!(command.get_program(), server);
    assert_eq!(command.get_current_dir(), place.around.home.as_deref());
    let command = place.resolve("./server", Some("~/tools")).unwrap();
    assert_eq!(fs::canonicalize(command.get_program()).unwrap(), server);
}

#[test]
fn a_missing_directory_is_named() {
    // F-018
    let place = place();
    place.file("bin/server", 0o755);
    let cwd = place.around.cwd.join("gone").display().to_string();
    let error = place.resolve("server", Some("gone")).unwrap_err();
    assert_eq!(error, OpenError::NoDirectory { cwd });
}

#[test]
fn what_must_not_be_run_is_told_from_what_is_not_there() {
    let place = place();
    place.file("bin/data", 0o644);
    fs::create_dir(place.dir.path().join("bin/folder")).unwrap();
    for command in ["data", "folder", "../bin/data", "../bin/folder"] {
        let error = place.resolve(command, None).unwrap_err();
        assert_eq!(error, OpenError::NotExecutable { command: command.into() });
    }
    // A program further down the path is run all the same.
    let further = place.file("home/tools/data", 0o755);
    let path = env::join_paths([place.dir.path().join("bin"), further.parent().unwrap().into()]);
    let launch = with_path(launch("data", None), path.unwrap().into_string().unwrap());
    assert_eq!(place.around.command(&launch).unwrap().get_program(), further);
}

#[test]
fn a_command_line_in_place_of_a_command_is_not_given_to_a_shell() {
    // F-023
    let error = place().resolve("npx -y server", None).unwrap_err();
    assert!(matches!(error, OpenError::CommandNotFound { .. }));
    assert!(error.to_string().contains("\"args\""), "{error}");
}

#[test]
fn nothing_is_no_command() {
    let error = place().resolve("", None).unwrap_err();
    assert!(matches!(error, OpenError::CommandNotFound { .. }), "{error:?}");
}

/// F-023, G67: a whole command line in `command` is named up to its first argument.
#[test]
fn an_error_names_a_command_without_what_could_be_a_secret_in_it() {
    for (command, shown) in [
        ("npx -y pkg --token=hunter2", "npx …"),
        ("KEY=hunter2 npx pkg", "…"),
        ("python3 server.py", "python3 server.py"),
        ("/opt/My Tools/server", "/opt/My Tools/server"),
        ("", ""),
    ] {
        assert_eq!(without_arguments(command), shown);
    }
}

/// G67.
#[test]
fn an_error_names_what_was_written_and_never_what_was_filled_in() {
    let place = place();
    let gap = |before: &str| -> Text {
        [Fill::Plain(before.into()), Fill::Variable("V".into())].into_iter().collect()
    };
    for written in [
        Launch { command: gap(""), ..Launch::default() },
        Launch { command: gap("./"), ..Launch::default() },
        Launch { command: "x".into(), cwd: Some(gap("/")), ..Launch::default() },
        Launch {
            command: "x".into(),
            env: [("PATH".into(), gap("/"))].into(),
            ..Launch::default()
        },
    ] {
        let program = filled(written);
        let error = format!("{:?}", place.around.fault(&program).unwrap());
        assert!(error.contains("${V}") && !error.contains("swordfish"), "{error}");
    }
    place.file("project/swordfish", 0o644);
    let program = filled(Launch { command: gap("./"), ..Launch::default() });
    let error = format!("{:?}", place.around.fault(&program).unwrap());
    assert!(error.contains("NotExecutable") && !error.contains("swordfish"), "{error}");
}

#[test]
fn a_file_of_variables_is_laid_under_those_of_the_entry() {
    let place = place();
    place.file("bin/server", 0o755);
    let text = "# A=comment\nA=1\nexport B = \"two words\"\nC='${A}'\n=x\nD=\nE E=1\nF=9\n";
    fs::write(place.dir.path().join("project/.env"), text).unwrap();
    let written = Launch {
        command: "server".into(),
        env: [("F".into(), "own".into())].into(),
        env_file: Some(".env".into()),
        ..Launch::default()
    };
    let command = place.around.command(&filled(written.clone())).unwrap();
    let set: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)))
        .collect();
    let own = [("A", "1"), ("B", "two words"), ("C", "${A}"), ("D", ""), ("F", "own")];
    assert_eq!(set, [&own[..], &[place.around.mark.variable()]].concat());
    let gone = Launch { env_file: Some("gone".into()), ..written };
    let error = place.around.command(&filled(gone)).unwrap_err();
    assert_eq!(error.to_string(), "the file of variables gone: it is not there");
}
