//! The worker's part of SMB connections: delivery of events, and timers.

use std::collections::BTreeSet;
use std::time::Duration;

use super::mailbox::WorkerMessage;
use super::{Connection, Fate, ServerWorker};
use crate::reply::ReplySink;
use crate::responder::CallOutcome;
use crate::smb2::{self, CrossConnectionEvent, RoutedEvent};

/// Wake-up times of connections, earliest first.
#[derive(Debug, Default)]
pub struct Timers(BTreeSet<(Duration, u64)>);

impl Timers {
    /// Returns the next wake-up time.
    pub fn next(&self) -> Option<Duration> {
        self.0.first().map(|(due, _)| *due)
    }

    fn set(&mut self, due: Duration, token: u64) {
        self.0.insert((due, token));
    }

    fn take_due(&mut self, now: Duration) -> Option<u64> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|(_, token)| token)
    }
}

impl ServerWorker {
    /// Delivers the events that a connection has for others, and sets its timer. Breaks of its own
    /// oplocks and leases are delivered at once: before the next response.
    pub(super) fn after_frame(
        &mut self,
        token: u64,
        smb: &mut smb2::SmbConnection,
        sink: &mut ReplySink,
    ) {
        let place = smb.place;
        let is_own = |letter: &mut RoutedEvent| {
            letter.to == place && matches!(letter.notice, CrossConnectionEvent::Break { .. })
        };
        let own: Vec<RoutedEvent> = smb.outbox.extract_if(.., is_own).collect();
        for letter in own {
            self.responder.notice(smb, letter.notice, sink);
        }
        self.deliver_letters(smb);
        if let Some(due) = smb.next_deadline() {
            self.alarms.set(due, token);
        }
    }

    pub(super) fn deliver_letters(&self, smb: &mut smb2::SmbConnection) {
        for RoutedEvent { to, notice } in smb.outbox.drain(..) {
            if let Some(mailbox) = self.mailboxes.get(to.worker) {
                mailbox.deliver(WorkerMessage::Notice(to.token, notice));
            }
        }
    }

    /// Delivers an event from another connection.
    pub(super) fn take_in(&mut self, token: u64, notice: CrossConnectionEvent) {
        self.with_smb(token, |worker, smb, sink| {
            worker.responder.notice(smb, notice, sink)
        });
    }

    /// Serves the connections whose timers have expired.
    pub(super) fn sound_alarms(&mut self) {
        if self.alarms.next().is_none() {
            return;
        }
        while let Some(token) = self.alarms.take_due(self.responder.since_start()) {
            self.with_smb(token, |worker, smb, sink| {
                worker.responder.retry_overdue(smb, sink)
            });
        }
    }

    fn with_smb(
        &mut self,
        token: u64,
        act: impl FnOnce(&mut Self, &mut smb2::SmbConnection, &mut ReplySink) -> CallOutcome,
    ) {
        self.with_connection(token, |worker, connection: &mut Connection| {
            let mut sink = worker.take_sink(connection);
            let Some(mut smb) = connection.smb.take() else {
                worker.put_sink(connection, sink);
                return Fate::Keep;
            };
            let outcome = act(worker, &mut smb, &mut sink);
            worker.after_frame(token, &mut smb, &mut sink);
            connection.smb = Some(smb);
            let sent = worker.send(connection, &mut sink);
            worker.put_sink(connection, sink);
            match outcome {
                CallOutcome::Disconnect => Fate::Close,
                CallOutcome::Answered | CallOutcome::Later(..) if sent.is_err() => Fate::Close,
                CallOutcome::Answered | CallOutcome::Later(..) => Fate::Keep,
            }
        });
    }
}
