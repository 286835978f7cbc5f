//! The clients of a load that block, each with its layer.

use super::layer::{Layer, LayerLost, Reply};
use crate::backend::BackendError;
use crate::backend::blocking::{BlockingClient, Unended, WorkResult};
use crate::worker::{Schedule, WorkerEnd};
use filestone_measure::measure::{Mismatches, UnexpectedResult};
use filestone_plan::plan::Plan;
use filestone_protocol::session::rpc::JukeboxWaits;
use filestone_protocol::workload::{ClientTotals, LineSource};
use filestone_workload::load::{Action, Line, Lines, LoadWork, Status};
use filestone_workload::operation::Outcome;
use filestone_workload::payload::{DataVerifier, Payload};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One client of a load, which carries its lines out through a layer and judges what comes of
/// them.
pub struct LayerClient<'run, L> {
    pub layer: L,
    /// Somebody stops the run.
    stop: &'run AtomicBool,
    mismatches: Mismatches,
    /// Why it cannot go on.
    lost: Option<String>,
    /// What data are taken from that lie in a table.
    table: Arc<[u8]>,
    /// The data of a unit.
    unit: Vec<u8>,
    inspector: DataVerifier,
}

/// How a client ended.
pub struct ClientEnd<A> {
    /// What it counted by itself.
    pub account: A,
    /// Its mismatches by kind.
    pub mismatches: Mismatches,
    /// How long its server was not ready.
    pub busy_pauses: JukeboxWaits,
}

impl<'run, L: Layer> LayerClient<'run, L> {
    pub fn new(layer: L, table: Arc<[u8]>, stop: &'run AtomicBool) -> Self {
        Self {
            layer,
            stop,
            mismatches: Mismatches::default(),
            lost: None,
            table,
            unit: Vec::new(),
            inspector: DataVerifier::default(),
        }
    }

    /// How it ended, with what its workload counted; and the layer, for the clean-up.
    pub fn end<W: LineSource>(self, workload: W) -> (ClientEnd<W::ClientTotals>, L) {
        let end = ClientEnd {
            account: workload.into_account(self.lost),
            mismatches: self.mismatches,
            busy_pauses: JukeboxWaits::default(),
        };
        (end, self.layer)
    }

    fn carry_out_line(&mut self, line: &Line<'_>) -> Result<WorkResult, Unended> {
        let mut reply = match self.answer(line) {
            Ok(reply) => reply,
            Err(lost) => return self.mark_lost(lost),
        };
        if let Some(Payload::Reading(_)) = line.payload {
            reply.status = reply.status.with_fault(self.inspector.take_fault());
        }
        let outcome = match line.expected.mismatch(&reply.status) {
            None => Outcome::Ok,
            Some(mismatch) => {
                self.mismatches.add(&UnexpectedResult {
                    kind: line.action.kind(),
                    mismatch,
                    number: line.number,
                    expected: line.expected,
                    status: reply.status,
                });
                Outcome::Failed(reply.status.failure(mismatch))
            }
        };
        Ok(WorkResult {
            outcome,
            is_sent: !matches!(reply.status, Status::Refused(_)),
            calls: reply.calls,
            retransmissions: 0,
            bytes_sent: reply.bytes_sent,
            bytes_received: reply.bytes_received,
            data_bytes: reply.data_bytes,
        })
    }

    fn answer(&mut self, line: &Line<'_>) -> Result<Reply, LayerLost> {
        match line.payload {
            None => self.layer.execute(&line.action, line.data.bytes),
            Some(Payload::Unit(unit)) => {
                let len = match line.action {
                    Action::WriteX { len, .. } => len,
                    _ => 0,
                };
                unit.fill(len, &self.table, &mut self.unit);
                self.layer.execute(&line.action, &self.unit)
            }
            Some(Payload::Reading(reading)) => {
                self.inspector.start(reading);
                let inspector = &mut self.inspector;
                self.layer.carry_out_seen(&line.action, inspector)
            }
        }
    }

    /// What was broken off because somebody stops the run comes to no end. If nobody does, the
    /// window has been over for as long as a call may take. All else is a loss.
    fn mark_lost(&mut self, lost: LayerLost) -> Result<WorkResult, Unended> {
        match lost {
            LayerLost::Stopped if self.stop.load(Ordering::Relaxed) => Err(Unended::BrokenOff),
            LayerLost::Stopped => Ok(WorkResult::of(Outcome::TimedOut)),
            LayerLost::Exhausted(error) => Err(Unended::Exhausted(error)),
            LayerLost::Lost(what) => {
                self.lost = Some(what);
                Ok(WorkResult::of(Outcome::Disconnected))
            }
        }
    }
}

impl<L: Layer> BlockingClient for LayerClient<'_, L> {
    type Language = Lines;

    fn execute(&mut self, work: LoadWork<'_>) -> Result<WorkResult, Unended> {
        match work {
            LoadWork::Line(line) => self.carry_out_line(&line),
            LoadWork::EndPass => match self.layer.end_pass() {
                Ok(()) => Ok(WorkResult::of(Outcome::Ok)),
                Err(lost) => self.mark_lost(lost),
            },
            // Its thread does that when the run is over.
            LoadWork::RemoveTree => Ok(WorkResult::of(Outcome::Skipped)),
        }
    }
}

/// The loss that ended a worker's run, by its own word if this host refused something. Else the
/// clients' words say more.
pub fn loss_of<A: ClientTotals>(
    plan: &Plan,
    end: &mut WorkerEnd,
    ends: &[ClientEnd<A>],
) -> Option<BackendError> {
    match end.lost.take() {
        Some(loss) if loss.is_of_this_host() => Some(loss),
        loss => all_lost(plan, end, ends).or(loss),
    }
}

/// The loss of all clients before the window of `plan` was over, as it was closed by `end`; `None`
/// if one was not lost.
fn all_lost<A: ClientTotals>(
    plan: &Plan,
    end: &WorkerEnd,
    ends: &[ClientEnd<A>],
) -> Option<BackendError> {
    if end.window_end >= Schedule::of(plan).window_end {
        return None;
    }
    let mut lost = ends.iter().map(|end| end.account.lost());
    let first = lost.next()??.to_owned();
    let is_all = lost.all(|lost| lost.is_some());
    is_all.then_some(BackendError::Clients { what: first })
}

#[cfg(test)]
mod tests;
