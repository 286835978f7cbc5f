//! Lost connections: accounting of their calls, timers, and reconnection.

use super::{CONNECTING_MAX, SCAN_NANOS, Sockets, set_timer, set_timer_at, system};
use crate::backend::connection::{DisconnectReason, Link};
use crate::backend::{Backend, BackendError, ConnectionEvent};
use filestone_host::connect::PendingConnection;
use filestone_host::exhaustion::{is_exhausted, is_exhaustion};
use filestone_plan::plan::OnLost;
use filestone_protocol::client::Client;
use filestone_protocol::session::backoff::BackoffSchedule;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::time::Timestamp;
use std::cmp::Reverse;
use std::time::Duration;

impl<C: Client> Sockets<C> {
    /// Handles a disconnect: accounts for the calls in flight, and schedules the reconnection.
    pub(super) fn mark_lost(
        &mut self,
        index: usize,
        loss: DisconnectReason,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let now = self.read_clock();
        let connection = &mut self.connections[index];
        if !matches!(connection.link, Link::Up(_)) {
            return Ok(());
        }
        if let DisconnectReason::System(errno) = loss
            && is_exhausted(errno)
        {
            return Err(system("send or receive")(errno));
        }
        let replies = connection.client.replies();
        // A connection that never completed its setup is still being established.
        if replies > connection.replies_at_connect && !connection.is_new {
            connection.attempts = 0;
        }
        if connection.attempts == 0 {
            connection.lost_at = now;
        }
        if !connection.is_new {
            connection.down_at = now;
        }
        let in_flight = connection.client.in_flight();
        connection.disconnect(now.after(BackoffSchedule::RECONNECTION.before(connection.attempts)));
        self.losses.note(loss.reason(), 1);
        connection.loss = Some(loss);
        connection.clear_output();
        connection.client.disconnected(now, completed);
        set_timer(&mut self.timers, connection, index as u32);
        self.down.push(index as u32);
        self.next_scan = now;
        self.last_loss = Some((index as u32, in_flight));
        self.check_live_workers(index, now, completed)
    }

    /// Checks whether to keep trying to reconnect. Returns an error if a client that is given up
    /// ends the run.
    fn check_live_workers(
        &mut self,
        index: usize,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let connection = &mut self.connections[index];
        let is_tried = now.nanos_since(connection.lost_at) < self.options.reconnect_nanos;
        // At the end of the run, nothing waits for a connection that was never up.
        let is_tried = is_tried && !(self.gives_up && connection.is_new);
        if is_tried || matches!(connection.link, Link::Abandoned) {
            return Ok(());
        }
        if matches!(connection.link, Link::Connecting(_)) {
            let silence = std::io::ErrorKind::TimedOut;
            connection.loss = Some(DisconnectReason::Refused(silence.into()));
        }
        connection.tried = Some(Duration::from_nanos(now.nanos_since(connection.lost_at)));
        let client = connection.client.beside().unwrap_or(index as u32);
        // After the window, the other clients still finish their operations.
        if self.options.on_lost == OnLost::End && !self.gives_up {
            connection.client.mark_failed(now, completed);
            return Err(self.loss());
        }
        if self.gives_up || self.options.on_lost == OnLost::Continue {
            connection.link = Link::Abandoned;
            connection.client.mark_failed(now, completed);
            self.given_up += 1;
            self.changes.push(ConnectionEvent::GivenUp(client));
        } else if !connection.is_lost {
            self.changes.push(ConnectionEvent::Lost(client));
        }
        connection.is_lost = true;
        Ok(())
    }

    /// Calls the clients whose timers are due.
    fn check_timers(
        &mut self,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        while let Some(Reverse((moment, index))) = self.timers.peek().copied() {
            if moment > now {
                break;
            }
            self.timers.pop();
            let connection = &mut self.connections[index as usize];
            if connection.timer != moment {
                continue;
            }
            connection.timer = Timestamp::MAX;
            if connection.client.poll_timeout() <= now {
                let output = &mut connection.output;
                connection.client.handle_timeout(now, output, completed);
                if let Some(defect) = connection.client.take_defect() {
                    self.mark_lost(index as usize, defect.into(), completed)?;
                    continue;
                }
                if !connection.output.is_empty() {
                    self.mark_dirty(index as usize);
                }
                self.send_on_sibling(index as usize);
            }
            let connection = &mut self.connections[index as usize];
            // A timer that was not changed is checked at the next scan.
            let due = connection.client.poll_timeout().max(now.after_nanos(1));
            set_timer_at(&mut self.timers, connection, index, due);
        }
        Ok(())
    }

    /// Reports lost clients as back if a reply has arrived over their new connections.
    fn check_recovering(&mut self) {
        let (connections, changes) = (&mut self.connections, &mut self.changes);
        self.recovering.retain(|index| {
            let connection = &mut connections[*index as usize];
            let is_up = matches!(connection.link, Link::Up(_));
            let is_back = is_up && connection.client.replies() > connection.replies_at_connect;
            if is_back {
                connection.is_lost = false;
                let client = connection.client.beside().unwrap_or(*index);
                changes.push(ConnectionEvent::Back(client));
            }
            is_up && !is_back
        });
    }

    /// Reports new connections that have become usable.
    fn check_connecting(&mut self) {
        let now = self.clock.now();
        let (connections, changes) = (&mut self.connections, &mut self.changes);
        self.becoming.retain(|index| {
            let connection = &mut connections[*index as usize];
            let is_up = matches!(connection.link, Link::Up(_));
            let is_made = is_up && connection.client.is_ready();
            if is_made {
                connection.is_new = false;
                let nanos = now.nanos_since(connection.down_at);
                changes.push(ConnectionEvent::Made(*index, nanos));
            }
            is_up && !is_made
        });
    }

    /// Checks the time-outs of all clients, and the connections that are down.
    #[cold]
    pub(super) fn scan(
        &mut self,
        now: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        self.next_scan = now.after_nanos(SCAN_NANOS);
        self.check_timers(now, completed)?;
        self.check_recovering();
        let mut connecting = 0;
        for index in std::mem::take(&mut self.down) {
            if self.reconnect(index as usize, now)? {
                continue;
            }
            self.check_live_workers(index as usize, now, completed)?;
            let link = &self.connections[index as usize].link;
            connecting += usize::from(matches!(link, Link::Connecting(_)));
            if !matches!(link, Link::Abandoned) {
                self.down.push(index);
            }
        }
        self.make_first(now, connecting)?;
        self.check_connecting();
        // Attempts take milliseconds.
        let soon = now.after_nanos(SCAN_NANOS / 10);
        let next = self.later.front().map(|(due, _)| (*due).max(soon));
        let next = if self.down.is_empty() && self.becoming.is_empty() {
            next
        } else {
            Some(soon)
        };
        self.next_scan = self.next_scan.min(next.unwrap_or(Timestamp::MAX));
        Ok(())
    }

    /// Starts the first connections of clients that are due. `connecting` are in progress already.
    fn make_first(&mut self, now: Timestamp, connecting: usize) -> Result<(), BackendError> {
        let mut connecting = connecting;
        while connecting < CONNECTING_MAX
            && let Some((_, index)) = self.later.pop_front_if(|(due, _)| *due <= now)
        {
            let began = self.read_clock();
            let connection = &mut self.connections[index as usize];
            (connection.lost_at, connection.down_at) = (began, began);
            if !self.reconnect(index as usize, began)? {
                self.down.push(index);
                connecting += 1;
            }
        }
        Ok(())
    }

    /// Advances a connection attempt; returns whether the connection is up again.
    fn reconnect(&mut self, index: usize, now: Timestamp) -> Result<bool, BackendError> {
        let connection = &mut self.connections[index];
        let link = std::mem::replace(&mut connection.link, Link::Down(now));
        let result = match link {
            Link::Up(socket) => Ok(Ok(socket)),
            Link::Abandoned => {
                connection.link = Link::Abandoned;
                return Ok(false);
            }
            Link::Connecting(_) if connection.is_stuck(now) => {
                connection.came_from = None;
                connection.restart(now).map(Err)
            }
            Link::Connecting(pending) => pending.check(),
            Link::Down(retry_at) if now < retry_at => {
                connection.link = Link::Down(retry_at);
                return Ok(false);
            }
            Link::Down(_) => connection.restart(now).and_then(PendingConnection::check),
        };
        match result {
            Ok(Ok(socket)) => {
                connection.link = Link::Up(socket);
                connection.replies_at_connect = connection.client.replies();
                let nanos = self.clock.now().nanos_since(connection.down_at);
                connection.client.connected(now, &mut connection.output);
                if !connection.is_new {
                    self.unusable_nanos += nanos;
                    self.reconnections += 1;
                } else if connection.client.is_ready() {
                    connection.is_new = false;
                    let made = ConnectionEvent::Made(index as u32, nanos);
                    self.changes.push(made);
                } else {
                    self.becoming.push(index as u32);
                }
                set_timer(&mut self.timers, connection, index as u32);
                if connection.is_lost {
                    self.recovering.push(index as u32);
                }
                self.watch(index)?;
                self.mark_dirty(index);
                Ok(true)
            }
            Ok(Err(pending)) => {
                connection.link = Link::Connecting(pending);
                Ok(false)
            }
            // This host refused it, not the server.
            Err(source) if is_exhaustion(&source) => Err(BackendError::System {
                what: "connect a client",
                source,
            }),
            Err(error) => {
                connection.link = Link::Down(
                    now.after(BackoffSchedule::RECONNECTION.before(connection.attempts)),
                );
                connection.loss = Some(DisconnectReason::Refused(error));
                self.last_loss = Some((index as u32, 0));
                Ok(false)
            }
        }
    }
}
