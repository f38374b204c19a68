//! `SOURCES.md` says what the code says; `WRITE=1` writes it.

use std::fs;
use std::path::Path;

use tidegate_core::config::source::table;

const HEAD: &str = "# Where servers are looked for

Made from the code: `WRITE=1 cargo test -p tidegate-core --test sources`.

Every file is read where it is and never written unless the user names it. Of two definitions of one name the
one of the tool with the higher priority wins, then the tool that is listed first, then the file that is listed first;
a definition that is not valid, forbidden by the organisation or left out by a setting hides no other, and nothing is
merged. What a project brings along runs nothing until the user has approved it. A file that is named with `--config`
is read as the tool's for which it lies in the right place below some folder, else by its keys: `context_servers` is
Zed's, `servers` VS Code's, `mcp` opencode's or Crush's, TOML Codex's; else it is Tidegate's own.

Three tools switch servers from outside of their entries: `disabledMcpServers` and `disabledMcpjsonServers` of Claude
Code, in its settings and for each project, act on its own files and on `.mcp.json`; `mcp.allowed` and `mcp.excluded`
in any file of Gemini CLI act on all of them; an entry of opencode that says no more than `enabled` acts on the
definition in a weaker file of it, and the user's, if it switches off, on a project's in a stronger file as well.

Two of them do more. Gemini CLI takes the lists of its strongest file alone, with which a project would switch on what
the user excluded; here what any list leaves out is off, because no project switches on what the user switched off.
opencode merges every key of an entry across its files; here one file alone says what runs, because that is what a
person approves: an entry with a part of a definition is reported as not valid and hides nothing.

`~` is the home, `<project>` the working directory, `<up>` that and every folder above it up to the repository's,
`<above>` the latter alone,
`<config>` where programs keep what the user configures (`~/.config` or `$XDG_CONFIG_HOME`, on macOS
`~/Library/Application Support`, on Windows `%APPDATA%`), `<xdg>` the same on Linux and `~/.config` on macOS,
`<appdata>` is `%APPDATA%` on Windows and nothing elsewhere, `<own>` Tidegate's own directory. `$NAME` is a variable
of the host; of several places the first one whose start is known counts. What a placeholder of editors is:
`${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}`, `${/}`. `*` in a path is any
name that does not begin with a dot; the files of a folder come in the order of their names. `*` among keys is the
project.

";

#[test]
fn the_table_of_sources_says_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("SOURCES.md");
    let wanted = format!("{HEAD}{}", table());
    if std::env::var_os("WRITE").is_some() {
        fs::write(&path, &wanted).expect("a file");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == wanted, "WRITE=1 writes core/SOURCES.md as\n{wanted}");
}
