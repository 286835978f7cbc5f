//! The options of `filestone fleet ctl`.

use super::run_report::DocumentFormat;
use crate::options::choice::choice;
use clap::{Args, Subcommand, ValueEnum};
use filestone_host::control_socket::SocketChoice;
use filestone_measure::measure::fleet_record::ClientState;
use filestone_protocol::fleet_control::ClientOrder;
use std::convert::Infallible;
use std::path::PathBuf;

/// `filestone fleet ctl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  filestone fleet ctl list
  filestone fleet ctl list --clients 'writers-*' --state failing
  filestone fleet ctl set 'writers[0..499]' rate=5Mbit/s file_size=64K..1M
  filestone fleet ctl quiesce readers
  filestone fleet ctl stop writers/17
  filestone fleet ctl start all

WHICH is a group, a range of it (writers[0..499]), a client (writers/17), a pattern of these names
(writers-*), all, or several of these with commas. `filestone help fleet --page` has what can be
changed, from when on it holds, and the protocol of the socket.")]
pub struct CtlOptions {
    /// The socket of the fleet [default: that of the only one that runs]
    #[arg(long, value_name = "PATH", global = true, conflicts_with = "pid")]
    pub socket: Option<PathBuf>,
    /// The process of the fleet
    #[arg(long, value_name = "PID", global = true)]
    pub pid: Option<u32>,
    /// What to print on standard output; json is what the fleet answers
    // Named apart from what `fleet` itself prints: a global option of the same name would be given to it, too.
    #[arg(
        id = "answer_format",
        long = "format",
        alias = "as",
        value_name = "FORMAT",
        default_value = "text",
        global = true
    )]
    pub format: DocumentFormat,
    /// What to do.
    #[command(subcommand)]
    pub command: CtlCommand,
}

/// What `filestone fleet ctl` does.
#[derive(Debug, Subcommand)]
pub enum CtlCommand {
    /// List the groups: states, counters, rates, settings
    List(ListOptions),
    /// Show a client or a group, with its settings
    Show(ShowOptions),
    /// Let clients that were stopped begin again
    Start(TellOptions),
    /// Let clients end their operations, close their files and stop
    Stop(TellOptions),
    /// Let clients end their files within their grace, and stop
    Quiesce(TellOptions),
    /// Change settings of clients: rate, read_size, write_size, file_size, files, pattern, quiesce_files,
    /// quiesce_bytes, quiesce_after, grace, retry
    Set(SetOptions),
}

/// `filestone fleet ctl list`.
#[derive(Debug, Args)]
pub struct ListOptions {
    /// List clients, too: all, or those of a group, a range or a pattern
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "all")]
    pub clients: Option<String>,
    /// Only clients in this state
    #[arg(long, value_name = "STATE", requires = "clients")]
    pub state: Option<StateName>,
    /// In this order
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "number",
        requires = "clients", value_parser = choice::<ClientOrder>())]
    pub order: ClientOrder,
    /// Leave so many of them out first
    #[arg(long, value_name = "N", default_value = "0", requires = "clients")]
    pub first: u32,
    /// List so many at most, up to 1,000
    #[arg(long, value_name = "N", default_value = "20", requires = "clients")]
    pub count: u32,
}

/// `filestone fleet ctl show`.
#[derive(Debug, Args)]
pub struct ShowOptions {
    /// A client, such as writers/17, or a group
    #[arg(value_name = "WHICH")]
    pub which: String,
}

/// `filestone fleet ctl start`, `stop` and `quiesce`.
#[derive(Debug, Args)]
pub struct TellOptions {
    /// Groups, ranges, clients or patterns
    #[arg(value_name = "WHICH")]
    pub which: String,
    /// Change nothing; say what would be changed
    #[arg(long)]
    pub dry_run: bool,
}

/// `filestone fleet ctl set`.
#[derive(Debug, Args)]
pub struct SetOptions {
    /// Groups, ranges, clients or patterns
    #[arg(value_name = "WHICH")]
    pub which: String,
    /// Keys and values, as a plan has them
    #[arg(value_name = "KEY=VALUE", required = true, value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Change nothing; say what would be changed
    #[arg(long)]
    pub dry_run: bool,
}

/// States by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StateName {
    /// Waits to begin, or for a file.
    Waiting,
    /// Makes what it needs.
    Starting,
    /// Reads or writes.
    Running,
    /// Ends its file.
    Quiescing,
    /// Has stopped.
    Stopped,
    /// Tries again what has failed.
    Failing,
    /// Has given up.
    Failed,
}

impl From<StateName> for ClientState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Waiting => Self::Waiting,
            StateName::Starting => Self::Starting,
            StateName::Running => Self::Running,
            StateName::Quiescing => Self::Quiescing,
            StateName::Stopped => Self::Stopped,
            StateName::Failing => Self::Failing,
            StateName::Failed => Self::Failed,
        }
    }
}

/// `rate=5Mbit/s`. What the value means, the fleet says.
fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("expected KEY=VALUE, such as rate=5Mbit/s")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// A path, or `none`.
pub fn socket_choice(text: &str) -> Result<SocketChoice, Infallible> {
    Ok(match text {
        "none" => SocketChoice::None,
        path => SocketChoice::At(path.into()),
    })
}
