//! The clients of a load that block, each with its layer.

use super::layer::{Layer, LayerLost, LayerReply};
use crate::backend::BackendError;
use crate::backend::blocking::{BlockingClient, Unended, WorkResult};
use crate::worker::{Schedule, WorkerEnd};
use filestone_measure::measure::{Mismatches, UnexpectedResult};
use filestone_plan::plan::Plan;
use filestone_protocol::session::rpc::JukeboxWaits;
use filestone_protocol::workload::{ClientTotals, LineSource};
use filestone_workload::load::{ActionStatus, Line, Lines, LoadAction, LoadWork};
use filestone_workload::operation::Outcome;
use filestone_workload::payload::{DataVerifier, Payload};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A client of a load that executes its lines through a layer and checks the results.
pub struct LayerClient<'run, L> {
    pub layer: L,
    /// Set when the run is stopped.
    stop: &'run AtomicBool,
    mismatches: Mismatches,
    /// Reason why the client cannot continue.
    lost: Option<String>,
    /// Table that contains the data of writes.
    table: Arc<[u8]>,
    /// Buffer for the data of a unit.
    unit: Vec<u8>,
    verifier: DataVerifier,
}

/// Results of a client.
pub struct ClientEnd<A> {
    /// Totals of the client's workload.
    pub account: A,
    /// Mismatches by kind.
    pub mismatches: Mismatches,
    /// Time during which the server was not ready.
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
            verifier: DataVerifier::default(),
        }
    }

    /// Returns the results of the client, with the totals of its workload; and the layer, for the
    /// clean-up.
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
            reply.status = reply.status.with_fault(self.verifier.take_fault());
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
            is_sent: !matches!(reply.status, ActionStatus::Refused(_)),
            calls: reply.calls,
            retransmissions: 0,
            bytes_sent: reply.bytes_sent,
            bytes_received: reply.bytes_received,
            data_bytes: reply.data_bytes,
        })
    }

    fn answer(&mut self, line: &Line<'_>) -> Result<LayerReply, LayerLost> {
        match line.payload {
            None => self.layer.execute(&line.action, line.data.bytes),
            Some(Payload::Unit(unit)) => {
                let len = match line.action {
                    LoadAction::WriteX { len, .. } => len,
                    _ => 0,
                };
                unit.fill(len, &self.table, &mut self.unit);
                self.layer.execute(&line.action, &self.unit)
            }
            Some(Payload::Reading(reading)) => {
                self.verifier.start(reading);
                let verifier = &mut self.verifier;
                self.layer.execute_verified(&line.action, verifier)
            }
        }
    }

    /// Converts an error of the layer. An action aborted because the run is stopped does not
    /// complete. Without a stop, the window ended a call's time limit ago, and the action has timed
    /// out. Everything else is a loss.
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
            // The thread removes the trees after the run.
            LoadWork::RemoveTree => Ok(WorkResult::of(Outcome::Skipped)),
        }
    }
}

/// Returns the loss that ended a worker's run: the worker's error if this host refused something,
/// otherwise the clients' errors, which contain more details.
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

/// Returns the loss of all clients before the window of `plan`, as closed by `end`, was over;
/// `None` if a client was not lost.
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
