//! Why a plan cannot be followed.

use super::{
    ConnectionPlanError, LevelsPlanError, MixPlanError, ReplayPlanError, SharingError,
    SteeringPlanError,
};
use crate::gate::GateError;
use crate::plan::limits::{DATAGRAM_SIZE_MAX, SLOTS_MAX};
use crate::plan::{Field, FleetPlanError, ReadData, ReadDataError, TargetPlanError};
use filestone_workload::operation::OpKind;
use std::fmt;

/// Why a plan cannot be followed. The texts name fields as whoever made the plan does: a file by
/// its keys, a command line by its options.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanError {
    /// A number outside of its limits.
    OutOfRange {
        /// Which.
        field: Field,
        /// What it is.
        value: f64,
        /// The least that it may be.
        min: f64,
        /// The most; infinity, or that of 32 bits, for no limit.
        max: f64,
    },
    /// A number that must be more than 0.
    NotPositive {
        /// Which.
        field: Field,
        /// What it is.
        value: f64,
        /// The most that it may be.
        max: f64,
    },
    /// More calls in flight than are kept count of.
    TooManySlots {
        /// Of each client.
        in_flight: u32,
        /// How many.
        clients: u32,
    },
    /// A client belongs to one worker.
    MoreWorkersThanClients {
        /// Threads.
        workers: u32,
        /// Connections.
        clients: u32,
    },
    /// Neither a time nor anything else ends the run.
    NoEnd {
        /// What could end it besides a time.
        or: Field,
    },
    /// Rows are made of ticks, so their period is a whole number of them.
    Interval {
        /// Its length.
        nanos: u64,
    },
    /// More than a datagram holds.
    Datagram {
        /// Of which calls.
        field: Field,
        /// Bytes per call.
        bytes: u32,
    },
    /// READ data cannot be dealt with like that.
    ReadData {
        /// How they should be dealt with.
        wanted: ReadData,
        /// Why not.
        why: ReadDataError,
    },
    /// Costs of a directory of this host, where nothing of a server is read.
    NothingToCount,
    /// Only servers are probed.
    ProbeTarget,
    /// No probe asks that: only lines of load files do.
    ProbeOperation(OpKind),
    /// It works on no files, or on files of its own anyway.
    OwnFiles(OpKind),
    /// No run can be made on a target.
    Target(TargetPlanError),
    /// What clients share cannot be shared.
    Sharing(SharingError),
    /// No replay.
    Replay(ReplayPlanError),
    /// No fleet.
    Fleet(Box<FleetPlanError>),
    /// No mix.
    Mix(MixPlanError),
    /// Nothing that could be steered.
    Steering(SteeringPlanError),
    /// No run at several loads in turn.
    Levels(LevelsPlanError),
    /// Clients that cannot be connected like that.
    Connections(ConnectionPlanError),
    /// A gate that no run of this plan can be held to.
    Gate(GateError),
}

/// What a field is called.
pub type FieldName = fn(Field) -> String;

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(Field::quoted_key))
    }
}

impl std::error::Error for PlanError {}

/// What is said of a plan that breaks a rule, in the caller's names of fields.
pub(super) struct Explanation {
    message: String,
    help: Option<String>,
}

/// What is wrong.
pub(super) fn wrong(message: impl Into<String>) -> Explanation {
    Explanation {
        message: message.into(),
        help: None,
    }
}

impl Explanation {
    /// And what to do about it.
    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}

impl PlanError {
    /// What is wrong, in the caller's names of fields.
    pub fn message(&self, name: FieldName) -> String {
        self.explanation(name).message
    }

    /// What to do about it, in the caller's names of fields.
    pub fn help(&self, name: FieldName) -> Option<String> {
        self.explanation(name).help
    }

    fn explanation(&self, name: FieldName) -> Explanation {
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
            PlanError::Gate(error) => Explanation {
                message: format!("{}: {error}\n{}", name(Field::Gates), error.picture()),
                help: error.help.clone(),
            },
        }
    }
}

fn nothing_to_count(name: FieldName) -> Explanation {
    wrong(format!(
        "{}: what local: does goes through no interface of its own that could be counted",
        name(Field::Cost)
    ))
    .with_help("say how the costs of its server are read")
}

fn probe_target(name: FieldName) -> Explanation {
    wrong(format!(
        "{}: only servers of NFS and SMB are probed",
        name(Field::Target)
    ))
    .with_help("load files are replayed on other targets, and mixes on directories of this host")
}

fn probe_operation(kind: OpKind, name: FieldName) -> Explanation {
    let field = name(Field::Operation);
    wrong(format!("{field} {}: only load files have it", kind.name()))
        .with_help("see filestone probe --help for what a probe asks")
}

fn own_files(kind: OpKind, name: FieldName) -> Explanation {
    wrong(format!(
        "{}: {} looks at no files, or works on its own anyway",
        name(Field::OwnFiles),
        kind.name()
    ))
    .with_help("it is for getattr, lookup, access, read, readdir and readdirplus")
}

fn datagram(field: Field, bytes: u32, name: FieldName) -> Explanation {
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
