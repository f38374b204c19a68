//! A story that broke a law, kept as a trace that can be committed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_sim::violation::Violation;

/// Writes the run that broke a law to `traces/failed-<name>.jsonl` and says so in the story. Of
/// several with one name the last stays: the smallest, where a story is being shrunk.
#[must_use]
pub(crate) fn kept(violation: Violation, name: &str, story: &str) -> Violation {
    kept_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("traces"), violation, name, story)
}

fn kept_in(folder: &Path, violation: Violation, name: &str, story: &str) -> Violation {
    let told = match write(folder, name, &violation) {
        Ok(file) => format!("{story}\nkept in {}; see tests/README.md", file.display()),
        Err(error) => format!("{story}\nnot kept in {}: {error}", folder.display()),
    };
    violation.in_story(told)
}

fn write(folder: &Path, name: &str, violation: &Violation) -> io::Result<PathBuf> {
    let file = folder.join(format!("failed-{name}.jsonl"));
    fs::write(&file, violation.jsonl())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use tidegate_core::time::Timestamp;
    use tidegate_core::trace::TraceLine;
    use tidegate_sim::laws::{Breach, Law};

    use super::*;

    #[test]
    fn a_broken_law_is_kept_as_a_trace_and_says_where() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let broken = |ticks| {
            let trace = vec![TraceLine::Tick { at: Timestamp::ZERO }; ticks];
            Violation::new(Breach { law: Law::Prompt, how: "late".into() }, &trace)
        };
        let file = dir.path().join("failed-late.jsonl");
        for ticks in [2, 1] {
            let told = kept_in(dir.path(), broken(ticks), "late", "SEED=1").to_string();
            assert!(
                told.contains("SEED=1") && told.contains(&file.display().to_string()),
                "{told}"
            );
            assert_eq!(fs::read_to_string(&file).expect("a trace"), broken(ticks).jsonl());
        }
        let nowhere = kept_in(&dir.path().join("absent"), broken(1), "late", "SEED=1").to_string();
        assert!(nowhere.contains("not kept"), "{nowhere}");
    }
}
