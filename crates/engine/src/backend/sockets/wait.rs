//! Waiting for replies: spinning, blocking in `recv`, and polling of many connections.

use super::{EVENTS_MAX, RECEIVE_MARGIN_NANOS, Sockets, system, timespec};
use crate::backend::adaptive_spin::{SPIN_NANOS, SpinDecision};
use crate::backend::connection::{Link, ReceiveMode};
use crate::backend::{BackendError, WaitLimit};
use filestone_protocol::client::Client;
use filestone_workload::completions::CompletionBatch;
use filestone_workload::time::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use std::mem::MaybeUninit;

impl<C: Client> Sockets<C> {
    /// Waits with one connection: spins for a reply for a while, then blocks in `recv` if nothing
    /// else is due soon.
    #[inline]
    pub(super) fn wait_for_one(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let connection = &self.connections[0];
        let is_blocked = connection.is_blocked;
        // Wait for the rest of discarded data as a whole.
        let waits_for_rest = connection.client.discardable() > 0;
        if self.options.busy_poll && !is_blocked {
            return self.spin_for_one(until.first(), completed).map(drop);
        }
        if !is_blocked
            && !waits_for_rest
            && let Some(look) = self.looking.start()
        {
            let began = self.read_clock();
            let to = began.after_nanos(look.nanos).min(until.first());
            let has_found = self.spin_for_one(to, completed)?;
            if self.has_learned(look, began, has_found, until.first()) {
                return Ok(());
            }
        }
        self.sleep_for_one(until, is_blocked, completed)
    }

    /// Updates the adaptive spin with the result of a spin. Returns whether there is no need to
    /// sleep.
    #[inline]
    fn has_learned(
        &mut self,
        look: SpinDecision,
        began: Timestamp,
        has_found: bool,
        until: Timestamp,
    ) -> bool {
        let nanos = self.recent.nanos_since(began);
        // A reply that was there already, or a spin cut short by a due moment, has no result.
        let was_there = has_found && self.looking.spun_nanos() == look.spun_before;
        if !was_there && (has_found || nanos >= look.nanos) {
            self.looking.end(look, nanos, has_found);
        }
        has_found || self.recent >= until
    }

    fn sleep_for_one(
        &mut self,
        until: WaitLimit,
        is_blocked: bool,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        let nanos = until.due.nanos_since(self.recent);
        // To return exactly for `attention` would take one more system call for each reply.
        if !is_blocked && nanos > RECEIVE_MARGIN_NANOS {
            return self.receive(0, ReceiveMode::UntilTimeout, completed);
        }
        let sleep = nanos.saturating_sub(SPIN_NANOS);
        if sleep > 0 || is_blocked {
            let sleep = sleep.min(until.attention.nanos_since(self.recent));
            let Link::Up(socket) = &self.connections[0].link else {
                return Ok(());
            };
            let wanted = if is_blocked {
                PollFlags::IN | PollFlags::OUT
            } else {
                PollFlags::IN
            };
            let mut fds = [PollFd::new(socket, wanted)];
            match poll(&mut fds, Some(&timespec(sleep.max(1)))) {
                Ok(0) if !is_blocked => {}
                Ok(_) => {
                    if fds[0].revents().contains(PollFlags::OUT) {
                        self.mark_dirty(0);
                    }
                    return self.receive(0, ReceiveMode::None, completed);
                }
                Err(Errno::INTR) => return Ok(()),
                Err(error) => return Err(system("wait for a socket")(error)),
            }
            self.read_clock();
        }
        self.spin_for_one(until.first(), completed).map(drop)
    }

    /// Spins until something arrives, then returns `true`, or until `until`.
    #[inline]
    fn spin_for_one(
        &mut self,
        until: Timestamp,
        completed: &mut CompletionBatch,
    ) -> Result<bool, BackendError> {
        // Sending took time since the last reading of the clock.
        let began = self.read_clock();
        loop {
            let looked = self.recent;
            self.receive(0, ReceiveMode::None, completed)?;
            // Every event, a part of a reply or a loss, changes `recent` or `down`.
            if self.recent != looked || !self.down.is_empty() {
                self.looking.count(looked.nanos_since(began));
                return Ok(true);
            }
            if self.read_clock() >= until {
                self.looking.count(self.recent.nanos_since(began));
                return Ok(false);
            }
            std::hint::spin_loop();
        }
    }

    /// Reports the results of an early send.
    #[cold]
    pub(super) fn tell_early(
        &mut self,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        self.early
            .iter()
            .for_each(|completion| completed.push(completion));
        self.early.clear();
        self.early_error.take().map_or(Ok(()), Err)
    }

    /// Waits with many connections: receives from one that is ready. Its client continues before
    /// the next is handled, so that the server works in the meantime. If none is ready, spins for a
    /// while, sleeps in epoll, and spins again until `until`.
    pub(super) fn wait_for_many(
        &mut self,
        until: WaitLimit,
        completed: &mut CompletionBatch,
    ) -> Result<(), BackendError> {
        if self.ready.is_empty() {
            self.poll_until(until)?;
        }
        match self.ready.pop() {
            Some((index, flags)) => self.attend(index as usize, flags, completed),
            None => Ok(()),
        }
    }

    /// Waits until a connection is ready, until `until`, or until the next scan.
    fn poll_until(&mut self, until: WaitLimit) -> Result<(), BackendError> {
        let to = until.first().min(self.next_scan);
        if self.options.busy_poll {
            return self.spin_for_many(to).map(drop);
        }
        if let Some(look) = self.looking.start() {
            let began = self.read_clock();
            let has_found = self.spin_for_many(to.min(began.after_nanos(look.nanos)))?;
            if self.has_learned(look, began, has_found, to) {
                return Ok(());
            }
        }
        let sleep = to.nanos_since(self.recent).saturating_sub(SPIN_NANOS);
        if sleep > 0 {
            self.poll_events(sleep)?;
            self.read_clock();
            if !self.ready.is_empty() {
                return Ok(());
            }
        }
        self.spin_for_many(to).map(drop)
    }

    /// Spins until a connection is ready, then returns `true`, or until `until`.
    fn spin_for_many(&mut self, until: Timestamp) -> Result<bool, BackendError> {
        // Sending took time since the last reading of the clock.
        let began = self.read_clock();
        loop {
            let looked = self.recent;
            self.poll_events(0)?;
            if !self.ready.is_empty() {
                self.looking.count(looked.nanos_since(began));
                return Ok(true);
            }
            if self.read_clock() >= until {
                self.looking.count(self.recent.nanos_since(began));
                return Ok(false);
            }
            std::hint::spin_loop();
        }
    }

    /// Asks the kernel for the ready connections.
    fn poll_events(&mut self, sleep_nanos: u64) -> Result<(), BackendError> {
        let Some(epoll) = &self.epoll else {
            return Ok(());
        };
        let timeout = timespec(sleep_nanos);
        if self.lacks_pwait2 {
            return self.poll_all(&timeout);
        }
        let mut events = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS_MAX];
        match epoll::wait(epoll, &mut events, Some(&timeout)) {
            Ok((events, _)) => {
                let ready = events.iter().rev();
                self.ready
                    .extend(ready.map(|event| (event.data.u64() as u32, event.flags)));
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            // epoll_pwait2 exists since Linux 5.11, and valgrind does not support it.
            Err(Errno::NOSYS) => {
                self.lacks_pwait2 = true;
                self.poll_all(&timeout)
            }
            Err(error) => Err(system("wait for sockets")(error)),
        }
    }

    /// Polls with poll(2), which does not report the ready connections: all are tried.
    #[cold]
    fn poll_all(&mut self, timeout: &Timespec) -> Result<(), BackendError> {
        let Some(epoll) = &self.epoll else {
            return Ok(());
        };
        let is_ready = match poll(&mut [PollFd::new(epoll, PollFlags::IN)], Some(timeout)) {
            Ok(count) => count > 0,
            Err(Errno::INTR) => false,
            Err(error) => return Err(system("wait for sockets")(error)),
        };
        if is_ready {
            let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT;
            let all = (0..self.connections.len() as u32).rev();
            self.ready.extend(all.map(|index| (index, flags)));
        }
        Ok(())
    }
}
