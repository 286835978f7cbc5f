//! Clients that begin one after the other: who begins at once is connected before the run, as far as the
//! server takes them; all others when they begin, while the run goes on.

use super::{ConnectedSockets, connect_sockets_that_can_be};
use crate::control::Context;
use crate::driver::Dial;
use crate::error::RunError;
use filestone_plan::plan::Plan;
use filestone_workload::time::Timestamp;

/// The connections of those clients whose moment is 0, as far as the server takes them.
pub fn connect_first(
    plan: &Plan,
    moments: &[Timestamp],
    dial: impl Fn(u32) -> Dial,
    context: &mut Context<'_>,
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

/// When a client is to have its connection.
pub fn moment_of(moments: &[Timestamp], client: u32) -> Timestamp {
    moments
        .get(client as usize)
        .copied()
        .unwrap_or(Timestamp::ZERO)
}
