//! The command line: what can be asked for, and how the help words it.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use tidegate_core::config::{Filters, Places, Provider};
use tidegate_core::id::ServerName;
use tidegate_smol::places::Directories;

use crate::exit::Trouble;
use crate::output::Form;

/// The default of `--gate`, in milliseconds.
const GATE_MS: u64 = 250;

/// Everything on the command line.
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version,
    about = "Starts the MCP servers of your project behind a gate, lists their tools and calls them.",
    after_help = EXIT_CODES,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    /// The flags that every command takes.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the operation failed: a called tool or its server failed, a server or tool is unknown, a
       replay was different
  2    wrong usage, or a configuration file you named cannot be read
  129, 130, 143
       ended by SIGHUP, SIGINT or SIGTERM, after every server was stopped

Without --config the servers come from the project's .tidegate/mcp.json, from your own mcp.json, in
~/.config/tidegate on Linux or in the directory that TIDEGATE_CONFIG_DIR names, and from the files
of other tools: .mcp.json, Claude Code, Codex, Cursor, VS Code and many more. `tidegate sources -v`
shows all of them in their order. What a project brings along runs only after you approved it, see
`tidegate trust`. A server gets your environment; ${NAME}, ${NAME:-default} and ${input:id} are
filled in, and an `env` value `!command` is what that command prints.
Try `tidegate demo` first.";

/// The flags that every command takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Read this configuration file and no other; may be repeated, the first is the strongest
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Vec<PathBuf>,
    /// The directory of the project [default: the current directory]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) cwd: Option<PathBuf>,
    /// Start only this server; may be repeated [default: all that are configured]
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) server: Vec<String>,
    /// Leave this server out; may be repeated [default: none is left out]
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) exclude: Vec<String>,
    /// Leave out what this tool's files define, by its id as in `sources --json`; may be repeated.
    /// "disabledProviders" in your own mcp.json does so for good [default: none is left out]
    #[arg(long, value_name = "TOOL", global = true, value_parser = provider)]
    pub(crate) without: Vec<Provider>,
    /// How long to wait for live answers before cached tools are offered; 0 answers at once from
    /// the cache [default: 250]
    #[arg(long, value_name = "MS", global = true)]
    pub(crate) gate: Option<u64>,
    /// How long a server may take to start, and a call may go without an answer or progress
    /// [default: 30000 to start, 60000 for a call]
    #[arg(long, value_name = "MS", global = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Approve the servers that the project's own files bring along, for this run [default: they
    /// are listed as needs-approval and not started]
    #[arg(long, global = true)]
    pub(crate) trust_project: bool,
    /// Trust servers whose certificates were signed by those in this file (PEM), too [default: the
    /// file that TIDEGATE_CA_FILE names, if it does]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) ca_file: Option<PathBuf>,
    /// Record the run in this file, for `replay` and `timeline` [default: no record]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) trace: Option<PathBuf>,
    /// Print JSON for programs [default: text for people]
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show what servers write to standard error as they write it, and more detail [default: only
    /// with a failure]
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// Show no progress and no hints [default: progress while servers start, on a terminal]
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

impl Global {
    /// Whom the data is for.
    pub(crate) const fn form(&self) -> Form {
        if self.json { Form::Programs } else { Form::People }
    }

    /// The gate, in milliseconds.
    pub(crate) fn gate_ms(&self) -> u64 {
        self.gate.unwrap_or(GATE_MS)
    }

    /// The user's directories.
    ///
    /// # Errors
    /// If the environment names one that cannot be used.
    pub(crate) fn directories() -> Result<Directories, Trouble> {
        Directories::find().map_err(|error| Trouble::Usage(error.to_string()))
    }

    /// What is left out of what the files define.
    pub(crate) fn filters(&self) -> Filters {
        Filters {
            exclude: self.exclude.iter().map(|name| ServerName::new(name)).collect(),
            disabled_providers: self.without.iter().copied().collect(),
            ..Filters::default()
        }
    }

    /// The project, and where its configuration is looked for.
    ///
    /// # Errors
    /// If the project's directory or a path cannot be used.
    pub(crate) fn places(&self, directories: &Directories) -> Result<Places, Trouble> {
        let cwd = self.cwd.as_deref().unwrap_or_else(|| Path::new("."));
        directories
            .places(cwd, &self.config)
            .map_err(|error| Trouble::Usage(format!("--cwd {}: {error}", cwd.display())))
    }
}

/// A tool, by its id.
fn provider(id: &str) -> Result<Provider, String> {
    Provider::named(id).ok_or_else(|| {
        let known = Provider::ALL.iter().map(|provider| provider.id());
        format!("the tools are {}", known.collect::<Vec<_>>().join(", "))
    })
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the servers and list them with their tools and problems
    ///
    /// Answers when every server has answered or, at the latest, when the gate opens and
    /// everything still starting has a cached list of tools. A failing server does not fail the
    /// command.
    List(ListArgs),
    /// Find tools by name
    Tools(ToolsArgs),
    /// Call a tool and print what a model would get to read
    ///
    /// The tool is named by its server and its own name, or by the name that `tools` shows:
    ///
    ///   tidegate call github search_issues '{"query": "is:open"}'
    ///   tidegate call mcp_github_search_issues --arg query=is:open
    #[command(verbatim_doc_comment)]
    Call(CallArgs),
    /// Add a server to the project's configuration, or to your own
    ///
    ///   tidegate add time -- uvx mcp-server-time
    ///   tidegate add github --scope user --url api.example.com/mcp --token '${GITHUB_TOKEN}'
    #[command(verbatim_doc_comment)]
    Add(AddArgs),
    /// Remove a server from the file that its definition in use stands in
    Remove(RemoveArgs),
    /// Switch a server on again
    Enable(SwitchArgs),
    /// Switch a server off without removing it
    Disable(SwitchArgs),
    /// Set how long a server may take, and which of its tools may be called without asking
    ///
    ///   tidegate set github --timeout 120000
    ///   tidegate set github --auto-approve search_issues --auto-approve get_issue
    #[command(verbatim_doc_comment)]
    Set(SetArgs),
    /// Show which files were read, which definition of each server is used, and why not the others
    Sources,
    /// Show what is wrong in the configuration, where, and how to mend it; exits with 1 if
    /// something is
    Doctor,
    /// Show, grant or revoke your approval of the servers that projects bring along
    Trust(TrustArgs),
    /// Print the JSON Schema of Tidegate's own configuration file
    Schema,
    /// Show the whole lifecycle on built-in servers; needs nothing but this program
    Demo,
    /// Run a recorded trace again and compare every command and event, byte for byte
    Replay(ReplayArgs),
    /// Show a recorded trace as text or as a picture
    ///
    /// In the text, `<` is what happened to Tidegate, `>` what it ordered, `!` what it reported
    /// and `~` the clock.
    Timeline(TimelineArgs),
    /// One of the built-in servers of `demo`
    #[command(name = "__demo-server", hide = true)]
    DemoServer(DemoServerArgs),
}

impl Command {
    /// What it is called.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::List(_) => "list",
            Self::Tools(_) => "tools",
            Self::Call(_) => "call",
            Self::Add(_) => "add",
            Self::Remove(_) => "remove",
            Self::Enable(_) => "enable",
            Self::Disable(_) => "disable",
            Self::Set(_) => "set",
            Self::Sources => "sources",
            Self::Doctor => "doctor",
            Self::Trust(_) => "trust",
            Self::Schema => "schema",
            Self::Demo => "demo",
            Self::Replay(_) => "replay",
            Self::Timeline(_) => "timeline",
            Self::DemoServer(_) => "__demo-server",
        }
    }
}

/// What `list` takes.
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Answer when every server is ready or has failed [default: at the gate]
    #[arg(long)]
    pub(crate) wait: bool,
    /// Show the input schema of each tool [default: names and descriptions]
    #[arg(long)]
    pub(crate) schema: bool,
    /// Exit with 1 if a server failed, waits for your approval, is forbidden or cannot be started,
    /// or if something configured cannot be used [default: exit with 0]
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What `tools` takes.
#[derive(Args, Debug)]
pub(crate) struct ToolsArgs {
    /// A part of the name in any case, or a pattern with `*` and `?` for the whole name [default:
    /// all tools]
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: Option<String>,
    /// Answer when every server is ready or has failed [default: at the gate]
    #[arg(long)]
    pub(crate) wait: bool,
    /// Show the input schema of each tool [default: names and descriptions]
    #[arg(long)]
    pub(crate) schema: bool,
}

/// What `call` takes.
#[derive(Args, Debug)]
#[command(override_usage = "\
tidegate call [OPTIONS] SERVER TOOL [JSON]
       tidegate call [OPTIONS] EXPOSED_NAME [JSON]")]
pub(crate) struct CallArgs {
    /// SERVER TOOL, or the name the tool is exposed under; then its arguments as a JSON object,
    /// `-` to read them from standard input [default: {}]
    #[arg(value_name = "WHAT", num_args = 1..=3, required = true, allow_hyphen_values = false)]
    pub(crate) what: Vec<String>,
    /// One argument; the value is read as JSON if it is JSON and as text if not; may be repeated
    #[arg(long = "arg", value_name = "KEY=VALUE")]
    pub(crate) args: Vec<String>,
}

/// What `add` takes.
#[derive(Args, Debug)]
#[command(override_usage = "\
tidegate add [OPTIONS] NAME -- COMMAND [ARGUMENT]...
       tidegate add [OPTIONS] NAME --url URL")]
pub(crate) struct AddArgs {
    /// The name of the server: letters, digits, dash, underscore and dot
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Whose configuration: project or user [default: project]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<String>,
    /// The address of a remote server; https unless it says otherwise
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// How a remote server is spoken to: http or sse [default: http]
    #[arg(long, value_name = "TRANSPORT")]
    pub(crate) transport: Option<String>,
    /// A token for a remote server, sent as bearer; `${NAME}` stands for a variable of the environment
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// An environment variable for the command; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// A header for a remote server, also as 'NAME: VALUE'; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) header: Vec<String>,
    /// The command that is the server, and its arguments
    #[arg(value_name = "COMMAND", last = true)]
    pub(crate) command: Vec<String>,
}

/// What `remove` takes.
#[derive(Args, Debug)]
pub(crate) struct RemoveArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// From whose configuration: project or user [default: the one whose definition is in use]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<String>,
}

/// What `enable` and `disable` take.
#[derive(Args, Debug)]
pub(crate) struct SwitchArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// What `set` takes.
#[derive(Args, Debug)]
#[command(override_usage = "\
tidegate set [OPTIONS] NAME [--timeout MS] [--auto-approve TOOL]... [--ask TOOL]...")]
pub(crate) struct SetArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// A tool that programs may call without asking first, as the server calls it; may be
    /// repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) auto_approve: Vec<String>,
    /// A tool that programs are to ask for again; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) ask: Vec<String>,
}

/// What `trust` takes.
#[derive(Args, Debug)]
pub(crate) struct TrustArgs {
    /// What to do [default: list]
    #[command(subcommand)]
    pub(crate) action: Option<TrustAction>,
}

/// What `trust` does.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// Show what is approved and what waits for it, with what it would run
    List,
    /// Approve servers of this project as they are defined now
    Grant(TrustNames),
    /// Take approvals back, in every form that was approved
    Revoke(RevokeNames),
}

/// Which servers.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct TrustNames {
    /// The names of the servers
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// All of this project
    #[arg(long)]
    pub(crate) all: bool,
}

/// Which approvals.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(crate) struct RevokeNames {
    /// The names of servers of this project
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// All of this project
    #[arg(long)]
    pub(crate) all: bool,
    /// All of every project
    #[arg(long)]
    pub(crate) everywhere: bool,
}

/// What `replay` takes.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// A record made with --trace
    #[arg(value_name = "TRACE")]
    pub(crate) file: PathBuf,
}

/// What `timeline` takes.
#[derive(Args, Debug)]
pub(crate) struct TimelineArgs {
    /// A record made with --trace
    #[arg(value_name = "TRACE")]
    pub(crate) file: PathBuf,
    /// Draw the trace into this file, a lane per server, for a browser [default: text on standard
    /// output]
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Which built-in server to be.
#[derive(Args, Debug)]
pub(crate) struct DemoServerArgs {
    /// The kind of server.
    #[arg(value_enum)]
    pub(crate) kind: crate::demo::server::Kind,
}
