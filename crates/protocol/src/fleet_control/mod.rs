//! How a fleet is controlled while it runs: what can be asked, what is answered, and what comes of it.
//!
//! One JSON object a line, a request and its answer; both have the version of the protocol. Whoever
//! serves it hands the lines on: bytes and moments come in as arguments, and clients are told through
//! [`SharedFleet`](crate::workload::stream::SharedFleet).

mod acting;
mod change_log;
mod controlled;
mod selection;
mod viewing;

pub use acting::answer;
pub use change_log::{ChangeLog, SettingsHistory};
pub use controlled::{ByteSnapshot, FleetState};
pub use selection::clients_of;

use filestone_measure::measure::fleet_record::{
    ChangeKind, ClientState, FleetCounters, GroupRecord, LatencyBounds, SettingChange,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the protocol.
pub const VERSION: u32 = 1;
/// The longest request, its end of line included.
pub const LINE_MAX: usize = 64 << 10;
/// Clients in one answer at most.
pub const WINDOW_MAX: u32 = 1000;
/// Changes of one run at most: each is in its record.
pub const CHANGES_MAX: u32 = 10_000;

/// One line to a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ControlRequest {
    /// The version of the protocol: 1.
    pub version: u32,
    /// Any number, which the answer has again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// What is asked.
    pub request: Request,
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// The groups; clients, if they are asked for.
    List(ListRequest),
    /// One client, or one group.
    Show(ShowRequest),
    /// Clients that were stopped begin again.
    Start(StateRequest),
    /// Clients end their operations, close their files and stop.
    Stop(StateRequest),
    /// Clients end their files within their grace, and stop.
    Quiesce(StateRequest),
    /// Clients go by other settings.
    Set(SetRequest),
}

/// What is listed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListRequest {
    /// Which clients, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<ClientPage>,
}

/// A window of clients.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientPage {
    /// A group, a pattern, a range or a client; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub which: Option<String>,
    /// Only those that are doing this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ClientState>,
    /// Only those of which something has failed, or of which nothing has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<bool>,
    /// Only those that moved at least so many bits per second of late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_min: Option<f64>,
    /// Only those that moved at most so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_max: Option<f64>,
    /// Only those whose own address is so, or like this pattern with `*` and `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// In which order.
    #[serde(default)]
    pub order: ClientOrder,
    /// The other way round.
    #[serde(default)]
    pub reversed: bool,
    /// So many of them are left out first.
    #[serde(default)]
    pub first: u32,
    /// So many at most; 1,000 are the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// In which order clients are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientOrder {
    /// By their numbers.
    #[default]
    Number,
    /// By what they are doing.
    State,
    /// Those that have moved least first.
    Bytes,
    /// Those that have failed most first.
    Failures,
    /// Those that have moved least of late first.
    Rate,
    /// By the addresses that they connect from.
    Address,
}

/// What is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShowRequest {
    /// A group, or a client such as `writers/17`.
    pub which: String,
}

/// Who is told something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StateRequest {
    /// Groups, patterns, ranges or clients, with commas between them.
    pub which: String,
    /// Nothing is changed; it is answered what would be.
    #[serde(default)]
    pub dry_run: bool,
}

/// Who goes by other settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetRequest {
    /// Groups, patterns, ranges or clients, with commas between them.
    pub which: String,
    /// Keys of a group of a plan, and their values as a plan has them.
    pub settings: BTreeMap<String, String>,
    /// Nothing is changed; it is answered what would be.
    #[serde(default)]
    pub dry_run: bool,
}

/// One line from a fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ControlAnswer {
    /// The version of the protocol: 1.
    pub version: u32,
    /// The request's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// What is answered.
    pub answer: Answer,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To `list`.
    Fleet(Box<FleetView>),
    /// To `show` of a group.
    Group(Box<GroupView>),
    /// To `show` of a client.
    Client(Box<ClientView>),
    /// To what changes something.
    Change(ChangeView),
    /// It cannot be done; nothing was changed.
    Refused(Refusal),
}

/// A fleet at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FleetView {
    /// Its plan.
    pub name: String,
    /// Nanoseconds since the run began; 0 while clients are connected.
    pub now_ns: u64,
    /// How often it was changed.
    pub changes: u32,
    /// All clients together, as if they were a group.
    pub all: GroupRecord,
    /// Its groups.
    pub groups: Vec<GroupView>,
    /// Clients, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<ClientsView>,
}

/// A group at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GroupView {
    /// As the record of the run has it.
    #[serde(flatten)]
    pub record: GroupRecord,
    /// By which settings its clients go, most of them first.
    pub settings: Vec<SettingsView>,
}

/// Settings of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SettingsView {
    /// How many go by them.
    pub clients: u32,
    /// Those that can be changed, by key.
    pub values: BTreeMap<String, String>,
}

/// A window of clients at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClientsView {
    /// How many are as was asked, in the window or not.
    pub all: u32,
    /// Those in the window.
    pub window: Vec<ClientView>,
}

/// A client at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClientView {
    /// Its number in the run.
    pub client: u32,
    /// Its group and its number in that, such as `writers/17`.
    pub name: String,
    /// The address that it connects from, where the plan names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it is doing.
    pub state: ClientState,
    /// Until when it tries again what has failed, in nanoseconds since the run began: if that fails then,
    /// it gives up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries_until_ns: Option<u64>,
    /// What it has done.
    pub counters: FleetCounters,
    /// Bits read and written per second of the run.
    pub bits_per_s: f64,
    /// The same of the last 16 to 20 s.
    pub bits_per_s_20s: f64,
    /// How long its reads and writes took at most; none if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_at_most: Option<LatencyBounds>,
    /// The settings that it goes by, if one client was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// What was changed, or would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangeView {
    /// What was asked.
    pub what: ChangeKind,
    /// Whether nothing was changed because none was to be.
    pub dry_run: bool,
    /// Which change of the run it is; none if it changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Nanoseconds since the run began.
    pub at_ns: u64,
    /// Clients that were named.
    pub named: u32,
    /// Those of them that it changes something for.
    pub changed: u32,
    /// Why it changes nothing for the others.
    pub unchanged: Vec<SkippedClients>,
    /// Which settings change, and by how much.
    pub settings: Vec<SettingChange>,
    /// From when it holds.
    pub holds: String,
}

/// Clients for which a change changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SkippedClients {
    /// How many.
    pub clients: u32,
    /// Why.
    pub why: String,
}

/// Why something cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// What to do.
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

/// Both halves of the protocol, for its schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ControlProtocol {
    /// One line to a fleet.
    pub request: ControlRequest,
    /// One line from it.
    pub answer: ControlAnswer,
}

impl ControlRequest {
    /// What is asked.
    pub const fn new(request: Request) -> Self {
        Self {
            version: VERSION,
            id: None,
            request,
        }
    }

    /// Reads a line.
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

    /// As a line, with its end.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

impl ControlAnswer {
    /// What is answered to a request of this number.
    pub const fn new(id: Option<u64>, answer: Answer) -> Self {
        Self {
            version: VERSION,
            id,
            answer,
        }
    }

    /// A refusal without a request.
    pub fn refused(what: &str) -> Self {
        Self::new(None, Answer::Refused(Refusal::new(what)))
    }

    /// Reads a line; an error says what is wrong with it.
    pub fn from_line(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }

    /// As a line, with its end.
    pub fn to_line(&self) -> Vec<u8> {
        line_of(self)
    }
}

fn line_of<T: Serialize>(value: &T) -> Vec<u8> {
    // Nothing of these types cannot be JSON.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests;
