//! Runs through the engine's one entry.

use filestone_engine::protocols::BuiltIn;
use filestone_engine::{Job, Protocols};
use filestone_host::control::{Observer, RunContext};
use filestone_host::error::RunError;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::Plan;
use filestone_workload::load::Load;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes the run of a probe or a mix, against the server at `nfs3` where its plan names none.
pub fn run(
    plan: &Plan,
    nfs3: Option<SocketAddr>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let built_in = BuiltIn {
        nfs3,
        ..BuiltIn::default()
    };
    replay(plan, &[], built_in, stop, observer)
}

/// Replays loads.
pub fn replay(
    plan: &Plan,
    loads: &[Arc<Load>],
    built_in: BuiltIn,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let job = Job {
        loads,
        built_in,
        ..Job::new(plan)
    };
    let context = &mut RunContext::new(stop, observer);
    filestone_engine::run(&job, &Protocols::default(), context)
}
