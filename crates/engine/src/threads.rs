//! The threads of a run: workers, and clients that block.

use filestone_host::error::RunError;
use filestone_plan::plan::Plan;
use std::thread::{Builder, Scope};

/// Stack of a client's thread: buffers are on the heap.
const CLIENT_STACK_BYTES: usize = 256 << 10;

/// Starts the thread of worker `index`. If its clients block, the thread is named after its first
/// client, `blocking`.
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

/// Prepares the calling thread for measuring: timer slack and processor.
fn settle(plan: &Plan, index: usize) {
    // Otherwise the kernel delays the wake-up of a sleeping thread by up to 50 µs.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if plan.pin.is_empty() {
        return;
    }
    let mut cpus = rustix::thread::CpuSet::new();
    cpus.set(plan.pin[index % plan.pin.len()] as usize);
    // The check before the run has shown that this process may run there.
    let _ = rustix::thread::sched_setaffinity(None, &cpus);
}
