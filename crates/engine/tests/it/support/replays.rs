//! Plans of replays.

use filestone_engine::load_file::read_text;
use filestone_model::failure::StatusSpace;
use filestone_model::load::Load;
use filestone_model::load::Status;
use filestone_model::plan::{
    ArrivalsPlan, LeftOverPolicy, LoadName, LocalReplay, Nfs3Replay, OnMismatch, Pacing, Plan,
    ReplayPlan, TargetPlan, TcpReplay, WorkloadPlan,
};
use std::sync::Arc;

pub fn load(text: &str) -> Arc<Load> {
    Arc::new(read_text("test.load", text).expect("the load is right"))
}

/// One pass of so many clients.
pub fn plan(target: TargetPlan, load: &Load, clients: u32) -> Plan {
    let mut plan = super::plan(ArrivalsPlan::Closed, 1, 1);
    plan.face = "replay".into();
    plan.target = target;
    plan.clients = clients;
    plan.duration_ns = None;
    plan.workload = WorkloadPlan::LoadFile(ReplayPlan {
        loads: vec![LoadName {
            name: load.name().into(),
            operations: load.operations(),
            generation: load.generation(),
        }],
        kinds: load.kinds(),
        more_targets: vec![],
        clients_per_thread: 1,
        pacing: Pacing::Closed,
        run_once: true,
        skip_cleanup: false,
        left_over: LeftOverPolicy::Refuse,
        trunc_io_bytes: None,
        on_mismatch: OnMismatch::Count,
        resolve: true,
        local: LocalReplay::default(),
        nfs3: Nfs3Replay::default(),
        tcp: TcpReplay {
            prefix: ".".into(),
            socket_options: String::new(),
        },
    });
    plan
}

/// A status of the operating system.
pub const fn errno(number: u32) -> Status {
    Status::Failed(StatusSpace::Errno.status(number))
}

/// A status of NFSv3.
pub const fn nfs(number: u32) -> Status {
    Status::Failed(StatusSpace::Nfs3.status(number))
}

/// A status of NLM.
pub const fn nlm(number: u32) -> Status {
    Status::Failed(StatusSpace::Nlm.status(number))
}
