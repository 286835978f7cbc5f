//! Clients that start one after another. Those that start at once are connected before the run,
//! unless the server refuses them; the others connect at their start, during the run.

use super::{ConnectedSockets, connect_sockets_that_can_be};
use filestone_host::connect::Dial;
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_plan::plan::Plan;
use filestone_workload::time::Timestamp;

/// Connects the clients whose start time is 0, except those that the server refuses.
pub fn connect_first(
    plan: &Plan,
    moments: &[Timestamp],
    dial: impl Fn(u32) -> Dial,
    context: &mut RunContext<'_>,
) -> Result<ConnectedSockets, RunError> {
    let is_first = |client: &u32| moment_of(moments, *client) == Timestamp::ZERO;
    let first: Vec<u32> = (0..plan.clients).filter(is_first).collect();
    let of = |place: u32| first.get(place as usize).copied().unwrap_or(0);
    let made =
        connect_sockets_that_can_be(plan, first.len() as u32, |place| dial(of(place)), context)?;
    let mut all = ConnectedSockets {
        sockets: (0..plan.clients).map(|_| None).collect(),
        times: vec![0; plan.clients as usize],
        record: made.record,
    };
    for ((client, socket), time) in first.iter().zip(made.sockets).zip(made.times) {
        let place = *client as usize;
        if let (Some(to), Some(took)) = (all.sockets.get_mut(place), all.times.get_mut(place)) {
            (*to, *took) = (socket, time);
        }
    }
    Ok(all)
}

/// Returns the start time of a client.
pub fn moment_of(moments: &[Timestamp], client: u32) -> Timestamp {
    moments
        .get(client as usize)
        .copied()
        .unwrap_or(Timestamp::ZERO)
}
