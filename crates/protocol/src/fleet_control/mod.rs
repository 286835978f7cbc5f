//! Control of a running fleet: requests, answers and their execution.
//!
//! The protocol has one JSON object per line, a request or its answer; both contain the protocol
//! version. The server of the protocol passes lines in: bytes and times are arguments, and clients
//! are controlled through [`SharedFleet`](crate::workload::stream::SharedFleet).

mod acting;
mod change_log;
mod controlled;
mod selection;
mod viewing;

pub use acting::answer;
pub use change_log::{ChangeLog, SettingsHistory};
pub use controlled::{ByteSnapshot, FleetState};
pub use selection::clients_of;

use crate::JsonSchema;
use filestone_measure::measure::fleet_record::{
    ChangeKind, ClientState, FleetCounters, GroupRecord, LatencyBounds, SettingChange,
};
use filestone_workload::choices;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The protocol version.
pub const VERSION: u32 = 1;
/// Maximum length of a request in bytes, line end included.
pub const LINE_MAX: usize = 64 << 10;
/// Maximum number of clients in one answer.
pub const WINDOW_MAX: u32 = 1000;
/// Maximum number of changes per run; the run record lists each.
pub const CHANGES_MAX: u32 = 10_000;

/// A request line to a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlRequest {
    /// The protocol version: 1.
    pub version: u32,
    /// An arbitrary number that the answer repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The request.
    pub request: FleetRequest,
}

/// A fleet-control request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Request")]
pub enum FleetRequest {
    /// List the groups, and optionally clients.
    List(ListRequest),
    /// Show one client, or one group.
    Show(ShowRequest),
    /// Restart stopped clients.
    Start(StateRequest),
    /// Stop clients: they end their operations and close their files.
    Stop(StateRequest),
    /// Quiesce clients: they finish their files within their grace time, then stop.
    Quiesce(StateRequest),
    /// Change settings of clients.
    Set(SetRequest),
}

/// Parameters of `list`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// Which clients to list, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<ClientPage>,
}

/// A window of clients.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientPage {
    /// A group, a pattern, a range or a client; all clients if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub which: Option<String>,
    /// Only clients in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ClientState>,
    /// Only clients with failures (true), or only clients without (false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<bool>,
    /// Minimum recent data rate of a client, in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_min: Option<f64>,
    /// Maximum recent data rate of a client, in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_max: Option<f64>,
    /// Only clients with this source address; `*` and `?` are wildcards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Sort order.
    #[serde(default)]
    pub order: ClientOrder,
    /// Reverses the order.
    #[serde(default)]
    pub reversed: bool,
    /// Number of clients to skip.
    #[serde(default)]
    pub first: u32,
    /// Maximum number of clients, at most 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

choices! {
    /// Sort order of listed clients.
    #[derive(Default)]
    pub enum ClientOrder {
        /// By number
        Number = "number", default;
        /// By state
        State = "state";
        /// Clients with the fewest bytes moved first
        Bytes = "bytes";
        /// Clients with the most failures first
        Failures = "failures";
        /// Clients with the lowest recent data rate first
        Rate = "rate";
        /// By source address
        Address = "address";
    }
}

/// Parameters of `show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowRequest {
    /// A group, or a client such as `writers/17`.
    pub which: String,
}

/// Parameters of `start`, `stop` and `quiesce`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateRequest {
    /// Groups, patterns, ranges or clients, separated by commas.
    pub which: String,
    /// Computes the answer without changing anything.
    #[serde(default)]
    pub dry_run: bool,
}

/// Parameters of `set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetRequest {
    /// Groups, patterns, ranges or clients, separated by commas.
    pub which: String,
    /// Group keys of a plan and their values, as written in a plan.
    pub settings: BTreeMap<String, String>,
    /// Computes the answer without changing anything.
    #[serde(default)]
    pub dry_run: bool,
}

/// An answer line from a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlAnswer {
    /// The protocol version: 1.
    pub version: u32,
    /// The number of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The answer.
    pub answer: Answer,
}

/// Answer to a fleet-control request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Answer to `list`.
    Fleet(Box<FleetView>),
    /// Answer to `show` of a group.
    Group(Box<GroupView>),
    /// Answer to `show` of a client.
    Client(Box<ClientView>),
    /// Answer to a request that changes something.
    Change(ChangeView),
    /// The request was refused; nothing was changed.
    Refused(Refusal),
}

/// A fleet at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetView {
    /// Name of the plan.
    pub name: String,
    /// Nanoseconds since the run began; 0 while clients connect.
    pub now_ns: u64,
    /// Number of changes made until now.
    pub changes: u32,
    /// Totals of all clients, in the form of a group.
    pub all: GroupRecord,
    /// The groups.
    pub groups: Vec<GroupView>,
    /// The clients, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<ClientsView>,
}

/// A group at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupView {
    /// The group as in the run record.
    #[serde(flatten)]
    pub record: GroupRecord,
    /// Settings in use by its clients, most used first.
    pub settings: Vec<SettingsView>,
}

/// Settings in use by clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsView {
    /// Number of clients that use them.
    pub clients: u32,
    /// The changeable settings, by key.
    pub values: BTreeMap<String, String>,
}

/// A window of clients at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientsView {
    /// Number of clients that match the filters, in the window or not.
    pub all: u32,
    /// The clients in the window.
    pub window: Vec<ClientView>,
}

/// A client at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientView {
    /// Number of the client in the run.
    pub client: u32,
    /// Group and number within the group, such as `writers/17`.
    pub name: String,
    /// The source address, if the plan names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// State of the client.
    pub state: ClientState,
    /// End of the retry period after a failure, in nanoseconds since the run began: if the
    /// operation still fails then, the client fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries_until_ns: Option<u64>,
    /// Counters of the client.
    pub counters: FleetCounters,
    /// Bits read and written per second of the run.
    pub bits_per_s: f64,
    /// Bits read and written per second of the last 16 to 20 s.
    pub bits_per_s_20s: f64,
    /// Upper bounds of the response times of reads and writes; omitted if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "response_time_at_most")]
    pub response_time_buckets: Option<LatencyBounds>,
    /// The current settings, if a single client was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// A change, made or simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeView {
    /// Kind of change.
    pub what: ChangeKind,
    /// Whether the request was a dry run, so that nothing was changed.
    pub dry_run: bool,
    /// Number of the change in the run; omitted if it changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Nanoseconds since the run began.
    pub at_ns: u64,
    /// Number of clients named in the request.
    pub named: u32,
    /// Number of named clients that the change affects.
    pub changed: u32,
    /// Reasons why the other clients are unchanged.
    pub unchanged: Vec<SkippedClients>,
    /// Changed settings, with old and new value.
    pub settings: Vec<SettingChange>,
    /// Time when the change takes effect, as text.
    pub holds: String,
}

/// Clients that a change does not affect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedClients {
    /// Number of clients.
    pub clients: u32,
    /// The reason.
    pub why: String,
}

/// Reason why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// Description of the problem.
    pub what: String,
    /// Suggested remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Refusal {
    fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            help: None,
        }
    }

    fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}

/// Both message types of the protocol, for its schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlProtocol {
    /// A request line to a fleet.
    pub request: ControlRequest,
    /// An answer line from a fleet.
    pub answer: ControlAnswer,
}

impl ControlRequest {
    /// Creates a request.
    pub const fn new(request: FleetRequest) -> Self {
        Self {
            version: VERSION,
            id: None,
            request,
        }
    }

    /// Parses a line.
    pub fn from_line(line: &[u8]) -> Result<Self, Refusal> {
        let request: Self = serde_json::from_slice(line).map_err(|error| {
            Refusal::new(format!("it is no request: {error}"))
                .with_help("filestone schema fleet-ctl has what a request looks like")
        })?;
        if request.version != VERSION {
            let found = request.version;
            return Err(Refusal::new(format!(
                "version {found} of the protocol is not known, only {VERSION}"
            )));
        }
        Ok(request)
    }

    /// Returns the request as a line, with its line end.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

impl ControlAnswer {
    /// Creates an answer to the request with this number.
    pub const fn new(id: Option<u64>, answer: Answer) -> Self {
        Self {
            version: VERSION,
            id,
            answer,
        }
    }

    /// Creates a refusal without a request.
    pub fn refused(what: &str) -> Self {
        Self::new(None, Answer::Refused(Refusal::new(what)))
    }

    /// Parses a line; the error describes the problem.
    pub fn from_line(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }

    /// Returns the answer as a line, with its line end.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

fn line_of<T: Serialize>(value: &T) -> Vec<u8> {
    // All values of these types serialize to JSON.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests;
