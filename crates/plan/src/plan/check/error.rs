//! The error type for plans that cannot be run.

use super::{
    ConnectionPlanError, LevelsPlanError, MixPlanError, ReplayPlanError, SharingError,
    SteeringPlanError,
};
use crate::gate::GateError;
use crate::plan::limits::{DATAGRAM_SIZE_MAX, SLOTS_MAX};
use crate::plan::{Field, FleetPlanError, ReadData, ReadDataError, TargetPlanError};
use filestone_workload::operation::OpKind;
use std::fmt;

/// Error returned when a plan cannot be run. The messages name fields as the source of the plan
/// does: a file by its keys, a command line by its options.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanError {
    /// A number is outside its limits.
    OutOfRange {
        /// The field.
        field: Field,
        /// The value.
        value: f64,
        /// The minimum.
        min: f64,
        /// The maximum; infinity, or the maximum of 32 bits, for no limit.
        max: f64,
    },
    /// A number is not more than 0.
    NotPositive {
        /// The field.
        field: Field,
        /// The value.
        value: f64,
        /// The maximum.
        max: f64,
    },
    /// The number of calls in flight exceeds the limit.
    TooManySlots {
        /// Calls in flight of each client.
        in_flight: u32,
        /// Number of clients.
        clients: u32,
    },
    /// There are more workers than clients; a client belongs to one worker.
    MoreWorkersThanClients {
        /// Number of threads.
        workers: u32,
        /// Number of connections.
        clients: u32,
    },
    /// The run has no end condition.
    NoEnd {
        /// The field that could end the run instead of a time.
        or: Field,
    },
    /// The interval is not a whole number of ticks.
    Interval {
        /// The interval, in nanoseconds.
        nanos: u64,
    },
    /// The calls do not fit into a datagram.
    Datagram {
        /// The field that sets the size of the calls.
        field: Field,
        /// Bytes per call.
        bytes: u32,
    },
    /// The requested handling of READ data is not possible.
    ReadData {
        /// The requested handling.
        wanted: ReadData,
        /// The reason.
        why: ReadDataError,
    },
    /// A cost plan without server counters, for a directory of this host.
    NothingToCount,
    /// The target of a probe is not a server.
    ProbeTarget,
    /// The operation is not available to probes, only to lines of load files.
    ProbeOperation(OpKind),
    /// The operation works on no files, or always on files that the run creates.
    OwnFiles(OpKind),
    /// The target cannot be used.
    Target(TargetPlanError),
    /// Loads or targets cannot be shared as requested.
    Sharing(SharingError),
    /// The replay is invalid.
    Replay(ReplayPlanError),
    /// The fleet is invalid.
    Fleet(Box<FleetPlanError>),
    /// The mix is invalid.
    Mix(MixPlanError),
    /// The plan does not allow load control.
    Steering(SteeringPlanError),
    /// The plan does not allow several loads in turn.
    Levels(LevelsPlanError),
    /// The clients cannot be connected as requested.
    Connections(ConnectionPlanError),
    /// A gate that does not apply to runs of this plan.
    Gate(GateError),
}

/// Function that returns the name of a field for messages.
pub type FieldName = fn(Field) -> String;

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(Field::quoted_key))
    }
}

impl std::error::Error for PlanError {}

/// Message for a plan that breaks a rule, with the caller's names of fields.
pub(super) struct RuleMessage {
    message: String,
    help: Option<String>,
}

/// Returns an explanation with this message.
pub(super) fn wrong(message: impl Into<String>) -> RuleMessage {
    RuleMessage {
        message: message.into(),
        help: None,
    }
}

impl RuleMessage {
    /// Adds a help text.
    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}

impl PlanError {
    /// Returns the error message, with the caller's names of fields.
    pub fn message(&self, name: FieldName) -> String {
        self.explanation(name).message
    }

    /// Returns the help text, with the caller's names of fields.
    pub fn help(&self, name: FieldName) -> Option<String> {
        self.explanation(name).help
    }

    fn explanation(&self, name: FieldName) -> RuleMessage {
        match self {
            PlanError::OutOfRange {
                field,
                value,
                min,
                max,
            } => wrong(format!(
                "{} {value}: expected {}",
                name(*field),
                range(*min, *max)
            )),
            PlanError::NotPositive { field, value, max } => wrong(format!(
                "{} {value}: expected more than 0, at most {max}",
                name(*field)
            )),
            PlanError::TooManySlots { in_flight, clients } => wrong(format!(
                "{in_flight} calls in flight for each of {clients} clients are more than this \
                 program keeps count of"
            ))
            .with_help(format!(
                "at most 65,536 per client and {} million in all ({}, {})",
                SLOTS_MAX >> 20,
                name(Field::InFlight),
                name(Field::Clients)
            )),
            PlanError::MoreWorkersThanClients { workers, clients } => wrong(format!(
                "{} {workers}: there must not be more workers than clients ({clients})",
                name(Field::Workers)
            ))
            .with_help(format!(
                "a connection belongs to one worker; use {} {workers}",
                name(Field::Clients)
            )),
            PlanError::NoEnd { or } => wrong("the run would never end").with_help(format!(
                "say when it ends: {} or {}",
                name(Field::Duration),
                name(*or)
            )),
            PlanError::Interval { nanos } => wrong(format!(
                "{} {nanos}: the time between rows must be a multiple of 100 ms, at most 1h",
                name(Field::Interval)
            )),
            PlanError::Datagram { field, bytes } => datagram(*field, *bytes, name),
            PlanError::ReadData { wanted, why } => wrong(format!(
                "{} {}: {why}",
                name(Field::ReadData),
                wanted.name()
            ))
            .with_help(why.help()),
            PlanError::NothingToCount => nothing_to_count(name),
            PlanError::ProbeTarget => probe_target(name),
            PlanError::ProbeOperation(kind) => probe_operation(*kind, name),
            PlanError::OwnFiles(kind) => own_files(*kind, name),
            PlanError::Target(error) => error.explanation(name),
            PlanError::Sharing(error) => error.explanation(name),
            PlanError::Fleet(error) => wrong(error.to_string()),
            PlanError::Replay(error) => error.explanation(name),
            PlanError::Mix(error) => error.explanation(name),
            PlanError::Steering(error) => error.explanation(name),
            PlanError::Levels(error) => error.explanation(name),
            PlanError::Connections(error) => error.explanation(name),
            PlanError::Gate(error) => RuleMessage {
                message: format!("{}: {error}\n{}", name(Field::Gates), error.picture()),
                help: error.help.clone(),
            },
        }
    }
}

fn nothing_to_count(name: FieldName) -> RuleMessage {
    wrong(format!(
        "{}: what local: does goes through no interface of its own that could be counted",
        name(Field::Cost)
    ))
    .with_help("say how the costs of its server are read")
}

fn probe_target(name: FieldName) -> RuleMessage {
    wrong(format!(
        "{}: only servers of NFS and SMB are probed",
        name(Field::Target)
    ))
    .with_help("load files are replayed on other targets, and mixes on directories of this host")
}

fn probe_operation(kind: OpKind, name: FieldName) -> RuleMessage {
    let field = name(Field::Operation);
    wrong(format!("{field} {}: only load files have it", kind.name()))
        .with_help("see filestone probe --help for what a probe asks")
}

fn own_files(kind: OpKind, name: FieldName) -> RuleMessage {
    wrong(format!(
        "{}: {} looks at no files, or works on its own anyway",
        name(Field::OwnFiles),
        kind.name()
    ))
    .with_help("it is for getattr, lookup, access, read, readdir and readdirplus")
}

fn datagram(field: Field, bytes: u32, name: FieldName) -> RuleMessage {
    wrong(format!(
        "{} {bytes}: a datagram holds at most {DATAGRAM_SIZE_MAX} bytes of data",
        name(field)
    ))
    .with_help(format!(
        "use {} tcp, or {} 32K",
        name(Field::Transport),
        name(field)
    ))
}

fn range(min: f64, max: f64) -> String {
    if min == max {
        min.to_string()
    } else if max == f64::from(u32::MAX) || max.is_infinite() {
        format!("at least {min}")
    } else {
        format!("a number from {min} to {max}")
    }
}
