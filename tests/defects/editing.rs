//! D59–D62: files that are edited.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread;

use tidegate_core::bytes::Json;
use tidegate_core::config::edit::{Edit, edit};
use tidegate_core::config::{Level, Places, Provider, Source};
use tidegate_core::hub::policy::Trust;
use tidegate_sim::driver::content;
use tidegate_sim::scene::Scene;
use tidegate_sim::script::Script;
use tidegate_sim::violation::Violation;
use tidegate_sim::world::World;
use tidegate_smol::config_file;

use crate::{state, status};

/// A run over these files, the strongest first.
fn over(sources: Vec<Source>, texts: &[(&str, &str)]) -> Result<World, Violation> {
    let mut scene = Scene::default();
    scene.options.sources = sources;
    scene.options.policy.trust = Trust::All;
    let mut world = scene.world();
    for (path, text) in texts {
        world.driver.set_file(path, content(text));
    }
    for command in ["project", "user"] {
        world.driver.set_script(command, Script::default());
    }
    world.start()?;
    world.run_until_quiet()?;
    Ok(world)
}

/// Edits a file that says `text`, and reloads.
fn change(
    world: &mut World,
    source: &Source,
    text: &str,
    change: &Edit,
) -> Result<String, Violation> {
    let edited = edit(source, text.as_bytes(), change).expect("it can be edited");
    let edited = String::from_utf8(edited).expect("text");
    world.driver.set_file(&source.path, content(&edited));
    world.reload()?;
    world.run_until_quiet()?;
    Ok(edited)
}

const PROJECT: &str = r#"{"mcpServers":{"x":{"command":"project"}}}"#;
const USER: &str = r#"{"mcpServers":{"x":{"command":"user"}}}"#;

/// D59: the user's directory is another one, and a server is added and one of the project's switched off in the user's file; G59.
#[test]
fn what_is_written_is_what_is_read() -> Result<(), Violation> {
    for config_dir in ["/h/.config/tidegate", "/elsewhere"] {
        let places = Places {
            cwd: "/p".into(),
            home: Some("/h".into()),
            config_dir: Some(config_dir.into()),
            ..Places::default()
        };
        let own = places.own(Level::User).expect("a place");
        let mut world = over(places.sources(), &[("/p/.tidegate/mcp.json", PROJECT)])?;
        assert_eq!(state(&world, "x"), "connected");
        let entry = Json::new(r#"{"command":"user"}"#);
        let added = Edit::Add { name: "mine".into(), entry };
        let text = change(&mut world, &own, "", &added)?;
        assert_eq!(state(&world, "mine"), "connected");
        change(&mut world, &own, &text, &Edit::Deny { name: "x".into() })?;
        assert_eq!((state(&world, "x"), state(&world, "mine")), ("disabled", "connected"));
        world.finish()?;
    }
    Ok(())
}

/// D60: two writers change one file behind a link at the same time, beside what one that was killed left; G57.
#[test]
fn what_two_writers_wrote_is_there_whole_and_for_its_owner_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (link, file) = (folder.path().join("mcp.json"), folder.path().join("real.json"));
    let left = folder.path().join("mcp.json.tmp");
    symlink("real.json", &link).expect("a link");
    fs::write(&file, "{}").expect("a file");
    fs::write(&left, "half").expect("a file");
    fs::set_permissions(&left, fs::Permissions::from_mode(0o644)).expect("a mode");
    let source = Source::file(Provider::Tidegate, Level::User, link.display().to_string());
    thread::scope(|scope| {
        for writer in ["a", "b"] {
            let source = &source;
            scope.spawn(move || {
                for at in 0..20 {
                    let entry = Json::new(r#"{"command":"x"}"#);
                    let name = format!("{writer}{at}");
                    let done = config_file::edit(source, &Edit::Add { name, entry });
                    assert!(done.expect("it can be written"));
                }
            });
        }
    });
    let text = fs::read(&file).expect("the file");
    let reading = tidegate_core::config::parse::read(&source, &text);
    assert_eq!((reading.definitions.len(), reading.problems.len()), (40, 0));
    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
}

/// D61: a server is on in its entry and off in `disabledServers` of the same file, and is switched on; G58.
#[test]
fn a_server_that_a_list_switches_off_can_be_switched_on() -> Result<(), Violation> {
    let source = Source::file(Provider::Tidegate, Level::User, "/user");
    let text =
        r#"{"mcpServers":{"x":{"command":"user","enabled":true}},"disabledServers":["x","y"]}"#;
    let mut world = over(vec![source.clone()], &[("/user", text)])?;
    assert_eq!(state(&world, "x"), "disabled");
    let text = change(&mut world, &source, text, &Edit::Enable { name: "x".into() })?;
    assert_eq!(state(&world, "x"), "connected");
    change(&mut world, &source, &text, &Edit::Disable { name: "x".into() })?;
    assert_eq!(state(&world, "x"), "disabled");
    world.finish()
}

/// D62: the user and the project define a name, and it is switched off where its definition in use stands; G58. That the command looks there is `commands_act_on_the_definition_in_use_and_say_what_is_hidden`.
#[test]
fn the_definition_in_use_is_the_one_that_is_switched() -> Result<(), Violation> {
    let project = Source::file(Provider::Tidegate, Level::Project, "/project");
    let user = Source::file(Provider::Tidegate, Level::User, "/user");
    let texts = [("/project", PROJECT), ("/user", USER)];
    let mut world = over(vec![project.clone(), user.clone()], &texts)?;
    let disable = Edit::Disable { name: "x".into() };
    assert_eq!(status(&world, "x").source.path, project.path);
    change(&mut world, &user, USER, &disable)?;
    assert_eq!(state(&world, "x"), "connected", "the hidden one is not in use");
    change(&mut world, &project, PROJECT, &disable)?;
    assert_eq!(state(&world, "x"), "disabled");
    world.finish()
}
