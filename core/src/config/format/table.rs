//! Every source as a table for people.
//!
//! Floor 2. May import floors 0 and 1.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::source::Level;
use super::super::syntax::{Language, Syntax};
use super::super::template::Variables;
use super::{Provider, Tool};

/// Every tool whose files are read, as a table in Markdown, in the order of precedence.
#[must_use]
pub fn table() -> String {
    let mut providers: Vec<Provider> = Provider::ALL.to_vec();
    providers.sort_by_key(|provider| core::cmp::Reverse(provider.priority()));
    let mut out = String::from(
        "| tool | id | priority | files, the strongest first | servers under | language | \
         placeholders |\n|---|---|---|---|---|---|---|\n",
    );
    for provider in providers {
        let tool = provider.tool();
        let row = [
            tool.display.to_string(),
            format!("`{}`", provider.id()),
            tool.priority.to_string(),
            files(tool),
            sections(tool),
            language(tool).to_string(),
            placeholders(tool.dialect.variables).to_string(),
        ];
        out.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    out
}

fn files(tool: &Tool) -> String {
    let files = tool.files.iter().map(|file| {
        let level = match file.level {
            Level::Project => "project",
            Level::Explicit | Level::User | Level::Local => "user",
        };
        let places: Vec<String> = file.places.iter().map(|place| format!("`{place}`")).collect();
        format!("{level}: {}", places.join(" or "))
    });
    files.collect::<Vec<_>>().join("<br>")
}

fn sections(tool: &Tool) -> String {
    let mut sections: Vec<String> =
        tool.dialect.sections.iter().map(|section| format!("`{section}`")).collect();
    if tool.dialect.bare {
        sections.push("the whole file".into());
    }
    sections.join(", ")
}

const fn language(tool: &Tool) -> &'static str {
    match (tool.dialect.language, tool.dialect.syntax) {
        (Language::Json, Syntax::Json) => "JSON",
        (Language::Json, Syntax::Jsonc | Syntax::Loose) => "JSON with comments",
        (Language::Toml, _) => "TOML",
        (Language::Yaml, _) => "YAML",
    }
}

const fn placeholders(variables: Variables) -> &'static str {
    match variables {
        Variables::None => "none",
        Variables::Braces => "`${V}`, `${V:-default}`",
        Variables::BracesOrWhole => "`${V}`, `${V:-default}`, a whole text `$env:V`",
        Variables::Documented => {
            "`${V}`, `${V:-default}`; a whole value: `!command`, the name of a variable"
        }
        Variables::BracesEnv => "`${env:V}`, those of editors",
        Variables::BracesEnvOrFile => "`${env:V}`, those of editors; `${file:path}` is reported",
        Variables::BracesEnvOrInput => "`${env:V}`, `${input:id}`, those of editors",
        Variables::Dollar => "`$V`, `${V}`, `${V:-default}`, `${workspacePath}`",
        Variables::DollarInHeaders => "`$V`, `${V}` in headers",
        Variables::DollarOrShell => "`$V`, `${V}`, `${V:-default}`; `$(command)` is reported",
        Variables::Curly => "`{env:V}`; `{file:path}` is reported",
        Variables::Mustache => "`${{ secrets.V }}`, `${{ inputs.V }}`",
        Variables::Native => {
            "`${V}`, `${V:-default}`, `${env:V}`, `${input:id}`, those of editors; a whole value: \
             `!command`, the name of a variable"
        }
    }
}
