//! The floors inside core, and who imports whom.

use crate::source::{Source, paths};

/// The modules of core from the bottom up; see the picture in `core/src/lib.rs`.
const FLOORS: [&[&str]; 7] = [
    &[
        "approval", "bytes", "canon", "command", "entropy", "error", "event", "held", "id",
        "input", "inquiry", "limits", "outbox", "quote", "time", "wide",
    ],
    &["wire"],
    &["config", "auth"],
    &["server"],
    &["hub"],
    &["tools"],
    &["lib", "options", "replay", "runtime", "timeline", "trace"],
];

/// Every import of a file that goes up.
pub(crate) fn complaints(source: &Source) -> Vec<String> {
    let module = module_path(&source.path);
    let Some(own) = floor(&module[0]) else {
        return vec![format!(
            "{}:1: module {} has no floor: say which in tests/floors/imports.rs",
            source.path, module[0]
        )];
    };
    let code: String =
        source.production().fold(String::new(), |text, (_, line)| text + line + "\n");
    let mut complaints = Vec::new();
    for (at, target) in targets(&code, &module) {
        let number = code[..at].lines().count().max(1);
        if let Some(upper) = floor(&target).filter(|floor| *floor > own) {
            complaints.push(format!(
                "{}:{number}: floor {own} imports crate::{target} of floor {upper}: move the \
                 shared part down, or return it as a value",
                source.path
            ));
        }
    }
    complaints
}

/// `core/src/server/stdio.rs` is `server::stdio`; the crate's root is `lib`.
fn module_path(path: &str) -> Vec<String> {
    let inside = path.strip_prefix("core/src/").expect("a source of core");
    let inside = inside.strip_suffix(".rs").expect("a Rust source");
    inside.split('/').filter(|part| *part != "mod").map(str::to_owned).collect()
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// The top modules that a file's paths lead to, with where each path stands.
fn targets(code: &str, module: &[String]) -> Vec<(usize, String)> {
    let offset = |rest: &str| rest.as_ptr() as usize - code.as_ptr() as usize;
    let mut found = Vec::new();
    for rest in paths(code, "crate") {
        found.extend(heads(rest).into_iter().map(|head| (offset(rest), head)));
    }
    for rest in paths(code, "super") {
        let mut up = 1;
        let mut path = rest;
        while let Some(further) = path.strip_prefix("super::") {
            up += 1;
            path = further;
        }
        // As many steps up as there are modules: the path goes on from the crate's root.
        if up == module.len() {
            found.extend(heads(path).into_iter().map(|head| (offset(path), head)));
        }
    }
    found
}

/// The first names of what follows `crate::`: one, or each of a braced list.
fn heads(rest: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(list) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(word(&list[start..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(word(&list[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    names
}

#[test]
fn every_way_to_write_an_import_is_seen() {
    let module = module_path("core/src/server/stdio.rs");
    let code = "use crate::{hub::{a, b}, wire::rpc};\nfn f() { crate::tools::x(super::super::runtime::y) }\nuse super::stop::Ladder;";
    let names: Vec<String> = targets(code, &module).into_iter().map(|target| target.1).collect();
    assert_eq!(names, ["hub", "wire", "tools", "runtime"]);
}
