//! Plans of replays.

use filestone_host::load_file::read_text;
use filestone_plan::plan::{
    ArrivalsPlan, LoadName, Plan, ReplayPlan, TargetPlan, TcpReplay, WorkloadPlan,
};
use filestone_workload::failure::StatusSpace;
use filestone_workload::load::{ActionStatus, Load};
use std::sync::Arc;

pub fn load(text: &str) -> Arc<Load> {
    Arc::new(read_text("test.load", text).expect("the load is right"))
}

/// One pass of so many clients.
pub fn plan(target: TargetPlan, load: &Load, clients: u32) -> Plan {
    let mut plan = super::plan(ArrivalsPlan::Closed, 1, 1);
    plan.command = "replay".into();
    plan.target = target;
    plan.clients = clients;
    plan.duration_ns = None;
    let name = LoadName {
        name: load.name().into(),
        operations: load.operations(),
        generation: load.generation(),
    };
    plan.workload = WorkloadPlan::LoadFile(ReplayPlan {
        run_once: true,
        tcp: TcpReplay {
            prefix: ".".into(),
            socket_options: String::new(),
        },
        ..ReplayPlan::new(vec![name], load.kinds())
    });
    plan
}

/// A status of the operating system.
pub const fn errno(number: u32) -> ActionStatus {
    ActionStatus::Failed(StatusSpace::Errno.status(number))
}

/// A status of NFSv3.
pub const fn nfs(number: u32) -> ActionStatus {
    ActionStatus::Failed(StatusSpace::Nfs3.status(number))
}

/// A status of NLM.
pub const fn nlm(number: u32) -> ActionStatus {
    ActionStatus::Failed(StatusSpace::Nlm.status(number))
}
