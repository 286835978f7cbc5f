//! Connection of a replaying NFS client, as used by the common worker of all protocols.

use crate::backend::connection::ClientConnection;
use crate::replay::over_sockets::{LoadConnection, tried_for};
use filestone_measure::measure::Mismatches;
use filestone_protocol::client::nfs3::load::LoadClient;
use filestone_protocol::client::nfs3::sequence::{NfsClientError, NfsClientErrorKind};
use filestone_protocol::session::rpc::{JukeboxWaits, RpcProcedure};
use filestone_setup::driver::{CallError, RetryLimit};
use filestone_setup::nfs3::calls;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::time::Timestamp;

impl LoadConnection for LoadClient {
    fn stop(&mut self, now: Timestamp, completed: &mut CompletionBatch) {
        self.break_off(NfsClientErrorKind::Stopped, now, completed);
    }

    fn take_mismatches(&mut self) -> Mismatches {
        self.take_mismatches()
    }

    fn take_busy_pauses(&mut self) -> JukeboxWaits {
        self.take_busy_pauses()
    }

    fn why_lost(
        connection: &mut ClientConnection<Self>,
        patience: RetryLimit,
        is_given_up: bool,
    ) -> Option<String> {
        why_lost(connection, patience, is_given_up)
    }
}

/// Returns why the client of this connection cannot continue, if so. A client that was aborted may
/// not know the reason.
pub fn why_lost(
    connection: &mut ClientConnection<LoadClient>,
    patience: RetryLimit,
    is_given_up: bool,
) -> Option<String> {
    let lost = connection.client.take_lost();
    // A client that waited for its next line had no call in flight.
    let idle = || NfsClientError {
        procedure: RpcProcedure::NONE,
        reason: NfsClientErrorKind::Disconnected,
    };
    let lost = lost
        .filter(|lost| lost.reason != NfsClientErrorKind::Stopped)
        .or_else(|| is_given_up.then(idle))?;
    let RetryLimit { timeout, reconnect } = patience;
    let loss = connection.loss.take();
    let loss = loss.map_or(CallError::Closed, CallError::from);
    let tried = connection.tried;
    let tried = tried.map_or(timeout, |tried| tried_for(tried, reconnect));
    let gone = if tried.is_zero() {
        loss
    } else {
        CallError::Gone {
            loss: Box::new(loss),
            tried,
        }
    };
    Some(calls::call_failed(connection.dial.address, lost, timeout, gone).to_string())
}
