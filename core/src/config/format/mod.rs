//! The tools whose files are read: one small file each, and one list.
//!
//! Floor 2. May import floors 0 and 1. A tool is data: where its files are and how they are to be
//! read. Adding one is a file here and a line in the list.

mod amazon_q;
mod claude_code;
mod claude_desktop;
mod claude_plugin;
mod cline;
mod codex;
mod r#continue;
mod copilot_cli;
mod crush;
mod cursor;
pub(super) mod dialect;
mod gemini;
mod goose;
mod junie;
mod kiro;
mod lm_studio;
mod mcp_json;
mod mcporter;
mod oh_my_pi;
mod opencode;
mod recognise;
mod roo;
mod table;
mod tidegate;
mod vscode;
mod warp;
mod windsurf;
mod xcsh;
mod zed;

use serde::{Deserialize, Serialize};

use self::dialect::Dialect;
use super::source::Level;

pub(super) use recognise::recognise;
pub use table::table;

/// A tool, or a way to give a configuration.
#[derive(Debug)]
pub(super) struct Tool {
    /// Its name for people.
    pub(super) display: &'static str,
    /// Of two tools that define a server of the same name the one with the higher number wins;
    /// of two with the same the one that is listed first.
    pub(super) priority: u8,
    /// How its files are to be read.
    pub(super) dialect: Dialect,
    /// Its files, the strongest first.
    pub(super) files: &'static [File],
}

/// A file of a tool.
#[derive(Debug)]
pub(super) struct File {
    /// Who vouches for it.
    pub(super) level: Level,
    /// Where it may be: the first place whose start is known counts. See
    /// [`Places::sources`](super::source::Places::sources) for the starts.
    pub(super) places: &'static [&'static str],
}

/// A file of the user.
const fn user(places: &'static [&'static str]) -> File {
    File { level: Level::User, places }
}

/// A file of the project.
const fn project(places: &'static [&'static str]) -> File {
    File { level: Level::Project, places }
}

macro_rules! providers {
    ($($(#[$doc:meta])+ $name:ident $id:literal = $tool:path;)+) => {
        /// Whose file it is.
        #[derive(
            Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize,
        )]
        #[non_exhaustive]
        pub enum Provider {
            $($(#[$doc])+ #[serde(rename = $id)] $name,)+
        }

        impl Provider {
            /// All of them, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its name for programs.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            pub(super) const fn tool(self) -> &'static Tool {
                match self { $(Self::$name => &$tool,)+ }
            }
        }
    };
}

providers! {
    /// A file the user named (`--config`).
    Explicit "explicit" = tidegate::EXPLICIT;
    /// A configuration the host gave as text.
    Inline "inline" = tidegate::INLINE;
    /// Tidegate's own file.
    Tidegate "tidegate" = tidegate::TOOL;
    /// xcsh.
    Xcsh "xcsh" = xcsh::TOOL;
    /// oh-my-pi.
    OhMyPi "oh-my-pi" = oh_my_pi::TOOL;
    /// Claude Code, what the user has for all projects and for each.
    ClaudeCodeUser "claude-code-user" = claude_code::USER;
    /// Claude Code, what the project brings.
    ClaudeCodeProject "claude-code-project" = claude_code::PROJECT;
    /// Claude Code, the lists of what is off.
    ClaudeCodeSettings "claude-code-settings" = claude_code::SETTINGS;
    /// A plugin of Claude Code.
    ClaudePlugin "claude-plugin" = claude_plugin::TOOL;
    /// The manifest of a plugin of Claude Code.
    ClaudePluginManifest "claude-plugin-manifest" = claude_plugin::MANIFEST;
    /// Codex.
    Codex "codex" = codex::TOOL;
    /// Gemini CLI.
    Gemini "gemini" = gemini::TOOL;
    /// opencode.
    Opencode "opencode" = opencode::TOOL;
    /// Cursor.
    Cursor "cursor" = cursor::TOOL;
    /// Windsurf.
    Windsurf "windsurf" = windsurf::TOOL;
    /// Claude Desktop.
    ClaudeDesktop "claude-desktop" = claude_desktop::TOOL;
    /// Zed.
    Zed "zed" = zed::TOOL;
    /// Cline.
    Cline "cline" = cline::TOOL;
    /// Roo Code.
    Roo "roo" = roo::TOOL;
    /// Continue.
    Continue "continue" = r#continue::TOOL;
    /// Continue, a block that is JSON.
    ContinueJson "continue-json" = r#continue::JSON;
    /// Goose.
    Goose "goose" = goose::TOOL;
    /// GitHub Copilot CLI.
    CopilotCli "copilot-cli" = copilot_cli::TOOL;
    /// Amazon Q CLI.
    AmazonQ "amazon-q" = amazon_q::TOOL;
    /// An agent of Amazon Q CLI.
    AmazonQAgent "amazon-q-agent" = amazon_q::AGENT;
    /// Kiro.
    Kiro "kiro" = kiro::TOOL;
    /// Crush.
    Crush "crush" = crush::TOOL;
    /// JetBrains Junie.
    Junie "junie" = junie::TOOL;
    /// LM Studio.
    LmStudio "lm-studio" = lm_studio::TOOL;
    /// Warp.
    Warp "warp" = warp::TOOL;
    /// VS Code.
    Vscode "vscode" = vscode::TOOL;
    /// mcporter.
    Mcporter "mcporter" = mcporter::TOOL;
    /// `mcp.json` or `.mcp.json` in the project, which many tools share.
    #[serde(alias = "shared")]
    Shared "mcp-json" = mcp_json::TOOL;
}

impl Provider {
    /// Its name for people.
    #[must_use]
    pub const fn display(self) -> &'static str {
        self.tool().display
    }

    /// Which of two definitions of one name wins: the one with the higher number.
    #[must_use]
    pub const fn priority(self) -> u8 {
        self.tool().priority
    }

    /// Whether its files are ours, or nobody's in particular.
    #[must_use]
    pub const fn is_own(self) -> bool {
        matches!(self, Self::Explicit | Self::Inline | Self::Tidegate | Self::Shared)
    }

    /// The one with this name for programs.
    #[must_use]
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|provider| provider.id() == id)
    }
}
