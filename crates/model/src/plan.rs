//! Everything decided before a run: a [`Plan`] can be printed, stored and run again.

use crate::measure::sample::Role;
use crate::only_in_loads;
use crate::operation::{OpKind, Stability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How operations reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    /// ONC RPC with record marking.
    #[default]
    Tcp,
    /// One datagram per message, sent again when no reply comes.
    Udp,
}

/// Where the operations go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetPlan {
    /// Host name or address; `None` for the built-in server.
    pub host: Option<String>,
    /// Port of the NFS server; `None` asks the portmapper, then takes 2049.
    pub port: Option<u16>,
    /// Port of the MOUNT server; `None` asks the portmapper.
    pub mount_port: Option<u16>,
    /// Path of the object under test, as the server exports it.
    pub path: String,
    /// How operations travel.
    pub transport: TransportKind,
    /// Whether connections come from a port below 1024.
    pub reserved_port: bool,
    /// User id of AUTH_SYS.
    pub uid: u32,
    /// Group id of AUTH_SYS.
    pub gid: u32,
}

/// When operations are due.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "process", rename_all = "lowercase")]
pub enum ArrivalsPlan {
    /// Each slot starts its next operation when its last one ends.
    Closed,
    /// Operations are due at equal distances, whatever the server does.
    Constant {
        /// All clients together.
        offered_load_ops_per_s: f64,
    },
    /// Operations are due at exponentially distributed distances.
    Poisson {
        /// All clients together.
        offered_load_ops_per_s: f64,
    },
}

impl ArrivalsPlan {
    /// The offered load of an open loop; `None` for a closed one.
    pub fn offered_load(&self) -> Option<f64> {
        match *self {
            ArrivalsPlan::Closed => None,
            ArrivalsPlan::Constant {
                offered_load_ops_per_s,
            }
            | ArrivalsPlan::Poisson {
                offered_load_ops_per_s,
            } => Some(offered_load_ops_per_s),
        }
    }
}

/// What is asked: one operation, repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbePlan {
    /// Which operation.
    pub operation: OpKind,
    /// Bytes per READ, WRITE or COMMIT, and wanted per page of READDIR.
    pub size_bytes: u32,
    /// Whether offsets and files are chosen at random instead of one after the other.
    pub random: bool,
    /// Whether file data are compared with what they should be.
    pub verify: bool,
    /// How safely WRITE must store.
    pub stability: Stability,
    /// Length of the file that WRITE and COMMIT work on.
    pub file_size_bytes: u64,
    /// How many entries of a directory are visited at most.
    pub files_max: u32,
}

impl ProbePlan {
    /// The kinds of operation that a run of this plan produces, and their roles.
    pub fn kinds(&self) -> Vec<(OpKind, Role)> {
        let mut kinds = vec![(self.operation, Role::Measured)];
        kinds.extend(companion_of(self.operation).map(|kind| (kind, Role::Companion)));
        kinds
    }
}

/// What has to be done, uncounted, so that an operation can be repeated for ever.
pub const fn companion_of(operation: OpKind) -> Option<OpKind> {
    match operation {
        OpKind::Create | OpKind::SymLink | OpKind::MkNod | OpKind::Link => Some(OpKind::Remove),
        OpKind::MkDir => Some(OpKind::RmDir),
        OpKind::Remove | OpKind::Rename => Some(OpKind::Create),
        OpKind::RmDir => Some(OpKind::MkDir),
        OpKind::Commit => Some(OpKind::Write),
        OpKind::Null
        | OpKind::GetAttr
        | OpKind::SetAttr
        | OpKind::Lookup
        | OpKind::Access
        | OpKind::ReadLink
        | OpKind::Read
        | OpKind::Write
        | OpKind::ReadDir
        | OpKind::ReadDirPlus
        | OpKind::FsStat
        | OpKind::FsInfo
        | OpKind::PathConf
        | only_in_loads!() => None,
    }
}

/// A run, fully decided. All times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The face that made this plan.
    pub face: String,
    /// Where operations go.
    pub target: TargetPlan,
    /// What is asked.
    pub workload: ProbePlan,
    /// When operations are due.
    pub arrivals: ArrivalsPlan,
    /// Simulated clients, each with its own connection.
    pub clients: u32,
    /// Calls in flight per client at most.
    pub in_flight: u32,
    /// Threads of the load generator.
    pub workers: u32,
    /// What is not measured at the beginning.
    pub warm_up_ns: u64,
    /// Length of the measured window; `None` when `count` ends the run.
    pub duration_ns: Option<u64>,
    /// Measured operations of all clients together; `None` when only time ends the run.
    pub count: Option<u64>,
    /// How long a call may stay unanswered.
    pub timeout_ns: u64,
    /// How long a lost connection is tried again before the run ends.
    pub reconnect_ns: u64,
    /// Length of one interval: a row of the live report.
    pub interval_ns: u64,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Whether workers spin instead of sleeping.
    pub busy_poll: bool,
    /// Processors that workers are bound to, one after the other; empty for no binding.
    pub pin: Vec<u32>,
}

/// Length of a tick: nct's sample, the finest row of a record.
pub const TICK_NANOS: u64 = 100_000_000;

impl Plan {
    /// Offered load of one client, for open loops.
    pub fn offered_load_per_client(&self) -> Option<f64> {
        self.arrivals
            .offered_load()
            .map(|load| load / f64::from(self.clients.max(1)))
    }

    /// Measured operations of client `index`: the remainder goes to the first ones.
    pub fn count_of_client(&self, index: u32) -> Option<u64> {
        let clients = u64::from(self.clients.max(1));
        self.count
            .map(|count| count / clients + u64::from(u64::from(index) < count % clients))
    }

    /// The clients of worker `worker`: every `workers`-th one.
    pub fn clients_of_worker(&self, worker: u32) -> impl Iterator<Item = u32> + use<> {
        (worker..self.clients).step_by(self.workers.max(1) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_count_add_up_to_the_count() {
        let mut plan = example();
        plan.clients = 7;
        plan.count = Some(100);
        let shares: Vec<u64> = (0..7)
            .filter_map(|client| plan.count_of_client(client))
            .collect();
        assert_eq!(shares.iter().sum::<u64>(), 100);
        assert_eq!(shares, [15, 15, 14, 14, 14, 14, 14]);
    }

    #[test]
    fn every_client_belongs_to_one_worker() {
        let mut plan = example();
        plan.clients = 5;
        plan.workers = 2;
        let mut all: Vec<u32> = (0..2)
            .flat_map(|worker| plan.clients_of_worker(worker))
            .collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }

    fn example() -> Plan {
        Plan {
            face: "probe".into(),
            target: TargetPlan {
                host: None,
                port: None,
                mount_port: None,
                path: "/export".into(),
                transport: TransportKind::Tcp,
                reserved_port: false,
                uid: 0,
                gid: 0,
            },
            workload: ProbePlan {
                operation: OpKind::Null,
                size_bytes: 4096,
                random: false,
                verify: false,
                stability: Stability::Unstable,
                file_size_bytes: 1 << 26,
                files_max: 10_000,
            },
            arrivals: ArrivalsPlan::Closed,
            clients: 1,
            in_flight: 1,
            workers: 1,
            warm_up_ns: 0,
            duration_ns: Some(1_000_000_000),
            count: None,
            timeout_ns: 60_000_000_000,
            reconnect_ns: 10_000_000_000,
            interval_ns: 1_000_000_000,
            seed: 1,
            busy_poll: false,
            pin: vec![],
        }
    }
}
