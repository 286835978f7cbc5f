//! The threads of a run: workers, and clients that block.

use crate::error::RunError;
use filestone_plan::plan::Plan;
use std::thread::{Builder, Scope};

/// Stack of a client's thread: buffers are on the heap.
const CLIENT_STACK_BYTES: usize = 256 << 10;

/// Starts the thread of worker `index`. One whose clients block is called by the first of them.
pub fn start_worker<'scope>(
    scope: &'scope Scope<'scope, '_>,
    plan: &'scope Plan,
    index: usize,
    blocking: Option<u32>,
    body: impl FnOnce() + Send + 'scope,
) -> Result<(), RunError> {
    let builder = match blocking {
        None => Builder::new().name(format!("filestone-w{index}")),
        Some(client) => Builder::new()
            .name(format!("filestone-c{client}"))
            .stack_size(CLIENT_STACK_BYTES),
    };
    let what = || match blocking {
        None => "start a thread".into(),
        Some(client) => format!("start a thread for client {client} of {}", plan.clients),
    };
    let started = builder.spawn_scoped(scope, move || {
        settle(plan, index);
        body();
    });
    started.map(drop).map_err(|source| RunError::System {
        what: what(),
        source,
    })
}

/// Makes the calling thread a good place to measure from.
fn settle(plan: &Plan, index: usize) {
    // A sleeping thread would otherwise be woken up to 50 µs late on purpose.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if plan.pin.is_empty() {
        return;
    }
    let mut cpus = rustix::thread::CpuSet::new();
    cpus.set(plan.pin[index % plan.pin.len()] as usize);
    // Whether this process may run there was checked before the run.
    let _ = rustix::thread::sched_setaffinity(None, &cpus);
}
