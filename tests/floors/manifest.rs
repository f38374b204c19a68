//! Manifests: which crate may see which, and why each dependency is there.

use std::fs;

use crate::source::{Source, root, sources};

/// Which of our own crates each crate may name, in its manifest and in its sources.
const MAY_SEE: [(&str, &[&str]); 5] = [
    ("core", &["tidegate-core"]),
    ("io-smol", &["tidegate-core", "tidegate-smol"]),
    ("sim", &["tidegate-core", "tidegate-sim"]),
    ("cli", &["tidegate-core", "tidegate-smol"]),
    ("tests", &["tidegate-core", "tidegate-smol", "tidegate-sim", "tidegate-tests"]),
];
const OURS: [&str; 4] = ["tidegate-core", "tidegate-smol", "tidegate-sim", "tidegate-tests"];

/// Every place where a crate sees another that it must not see.
pub(crate) fn crate_complaints(folder: &str) -> Vec<String> {
    let (_, allowed) = MAY_SEE.iter().find(|(name, _)| *name == folder).expect("a known crate");
    let forbidden: Vec<&str> = OURS.into_iter().filter(|name| !allowed.contains(name)).collect();
    let path = format!("{folder}/Cargo.toml");
    let manifest = fs::read_to_string(root().join(&path)).expect("a manifest");
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(manifest.lines()) {
        for name in &forbidden {
            if line.starts_with(*name) {
                complaints.push(format!("{path}:{number}: {folder} must not depend on {name}"));
            }
        }
    }
    for source in sources(folder) {
        for (number, line) in (1..).zip(&source.code) {
            for name in &forbidden {
                if line.contains(&name.replace('-', "_")) {
                    complaints
                        .push(format!("{}:{number}: {folder} must not name {name}", source.path));
                }
            }
        }
    }
    complaints
}

/// Every dependency on somebody else's crate without a comment line above it.
pub(crate) fn reason_complaints(manifest: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    let (mut inside, mut above) = (false, "");
    for (number, line) in (1..).zip(&manifest.text) {
        let dependency = if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            inside = section.ends_with("dependencies") && section != "workspace.dependencies";
            // `[dependencies.NAME]`
            section.split_once("dependencies.").map(|(_, name)| name)
        } else {
            line.split_once(['=', '.']).map(|(name, _)| name.trim()).filter(|_| inside)
        };
        let theirs = dependency.filter(|name| !name.starts_with("tidegate") && !name.is_empty());
        if let Some(name) = theirs.filter(|name| !name.starts_with('#') && !above.starts_with('#'))
        {
            complaints.push(format!(
                "{}:{number}: say in a comment above it what {name} is needed for",
                manifest.path
            ));
        }
        above = line;
    }
    complaints
}
