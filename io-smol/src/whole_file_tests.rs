use std::os::unix::fs::symlink;

use super::*;

fn put(path: &Path, text: &str) -> Result<bool, FileError> {
    update(path, 100, |_| Ok(text.into()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// G57.
#[test]
fn a_new_file_and_its_folders_are_their_owners_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new/folder/f.json");
    assert!(put(&file, "one").unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert!(!put(&file, "one").unwrap(), "the same is not written");
    assert_eq!(names(file.parent().unwrap()), ["f.json"]);
}

/// D60.
#[test]
fn a_link_is_followed_and_stays_one() {
    let dir = tempfile::tempdir().unwrap();
    let (link, second) = (dir.path().join("link"), dir.path().join("second"));
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink("second", &link).unwrap();
    symlink("real/f.json", &second).unwrap();
    let real = dir.path().join("real/f.json");
    put(&link, "made through links").unwrap();
    put(&link, "two").unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "two");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    symlink("circle", dir.path().join("circle")).unwrap();
    let error = put(&dir.path().join("circle"), "x").unwrap_err();
    assert!(matches!(error, FileError::System { doing: Doing::Reading, .. }), "{error}");
}

/// G57, D60.
#[test]
fn a_file_keeps_what_its_owner_may_do_and_others_may_do_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.json");
    fs::write(&file, "old").unwrap();
    for (before, after) in [(0o644, 0o600), (0o600, 0o600), (0o222, 0o200)] {
        fs::set_permissions(&file, Permissions::from_mode(before)).unwrap();
        // What its owner may not read is not read by anybody but root.
        if before & 0o400 != 0 || rustix::process::geteuid().is_root() {
            put(&file, &format!("{before}")).unwrap();
            assert_eq!(mode(&file), after);
        }
    }
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    let error = put(&file, "new").unwrap_err();
    assert!(matches!(error, FileError::Protected { .. }), "{error}");
    assert_eq!(names(dir.path()), ["f.json"]);
}

/// G57.
#[test]
fn what_fails_leaves_the_file_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.json");
    fs::write(&file, "old").unwrap();
    let refuse = |_: &[u8]| Err(FileError::NoFile { path: "x".into() });
    assert!(update(&file, 100, refuse).is_err());
    let error = update(&file, 2, |_| Ok::<_, FileError>(Vec::new())).unwrap_err();
    assert!(matches!(error, FileError::TooLarge { bytes_max: 2, .. }), "{error}");
    assert!(matches!(put(dir.path(), "x").unwrap_err(), FileError::NoFile { .. }));
    assert!(matches!(put(&file.join("below"), "x").unwrap_err(), FileError::System { .. }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(names(dir.path()), ["f.json"]);
}

/// What writers without the lock write is not lost either.
#[test]
fn a_change_is_made_anew_if_somebody_wrote_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.json");
    let theirs = std::cell::Cell::new(true);
    update(&file, 100, |old| {
        if theirs.take() {
            fs::write(&file, "theirs").unwrap();
        }
        Ok::<_, FileError>([old, b" and ours"].concat())
    })
    .unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs and ours");
    let error = update(&file, 100_000, |old| {
        fs::write(&file, [old, b"+"].concat()).unwrap();
        Ok::<_, FileError>(Vec::new())
    })
    .unwrap_err();
    assert!(matches!(error, FileError::Busy { .. }), "{error}");
    assert_eq!(names(dir.path()), ["f.json"]);
}

#[test]
fn a_draft_that_a_killed_writer_left_is_swept_away_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f.json");
    let other = format!(".g.json.1{DRAFT}");
    fs::write(dir.path().join(format!(".f.json.1{DRAFT}")), "half").unwrap();
    fs::write(dir.path().join(&other), "somebody's").unwrap();
    put(&file, "x").unwrap();
    let mut left = names(dir.path());
    left.sort();
    assert_eq!(left, [other, "f.json".into()]);
}
