//! New connections: accepted by the first thread, distributed over all.

use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::epoll::EpollFlags;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};

use super::connection::{Connection, ListenerProtocol};
use super::mailbox::WorkerMessage;
use super::{LISTENER, ServerWorker};
use crate::smb2::ConnectionId;

/// Time without accepts after the process ran out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl ServerWorker {
    pub(super) fn collect_mail(&mut self) {
        let Some(mailbox) = self.mailboxes.get(self.index) else {
            return;
        };
        for mail in mailbox.collect() {
            match mail {
                WorkerMessage::Socket(socket, listener_protocol) => {
                    self.adopt(socket, listener_protocol)
                }
                WorkerMessage::Notice(token, notice) => self.take_in(token, notice),
            }
        }
    }

    /// Accepts all waiting connections, and distributes them over the threads round robin.
    pub(super) fn accept(&mut self, index: usize) {
        while let Some((listener, listener_protocol)) = self.sockets.listeners.get(index) {
            let listener_protocol = *listener_protocol;
            match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => self.dispatch(socket, listener_protocol),
                Err(Errno::AGAIN) => return,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    return self.pause_accepting();
                }
                // The waiting peer has disconnected; the next one may not have.
                Err(_) => {}
            }
        }
    }

    fn dispatch(&mut self, socket: OwnedFd, listener_protocol: ListenerProtocol) {
        self.responder.tally.count_connection();
        let target = self.next_mailbox % self.mailboxes.len();
        self.next_mailbox = target + 1;
        match self.mailboxes.get(target) {
            Some(mailbox) if target != self.index => {
                mailbox.deliver(WorkerMessage::Socket(socket, listener_protocol));
            }
            _ => self.adopt(socket, listener_protocol),
        }
    }

    /// Adds a connection to this thread.
    fn adopt(&mut self, socket: OwnedFd, listener_protocol: ListenerProtocol) {
        // filestone batches replies itself; the kernel must not wait for more.
        let _ = sockopt::set_tcp_nodelay(&socket, true);
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        self.serial = (self.serial + 1) & (u32::MAX >> 3);
        let token = u64::from(self.serial) << 32 | u64::from(index);
        let flags = EpollFlags::EPOLLIN
            | EpollFlags::EPOLLOUT
            | EpollFlags::EPOLLRDHUP
            | EpollFlags::EPOLLET;
        if self.watch(&socket, token, flags).is_err() {
            self.free.push(index);
            return;
        }
        let smb = match listener_protocol {
            ListenerProtocol::Rpc | ListenerProtocol::Echo => None,
            ListenerProtocol::Smb => self.responder.connect(ConnectionId {
                worker: self.index,
                token,
            }),
        };
        if let Some(slot) = self.slots.get_mut(index as usize) {
            let mut connection = Connection::new(socket, self.serial, smb);
            connection.is_echo = listener_protocol == ListenerProtocol::Echo;
            *slot = Some(Box::new(connection));
        }
    }

    /// Stops accepting for a while: without free descriptors, polling for waiting connections would
    /// spin.
    fn pause_accepting(&mut self) {
        if self.accept_again.is_none() {
            for (listener, _) in &self.sockets.listeners {
                let _ = self.epoll.delete(listener);
            }
        }
        self.accept_again = Some(self.responder.since_start() + ACCEPT_PAUSE);
    }

    pub(super) fn resume_accepting(&mut self) {
        let Some(when) = self.accept_again else {
            return;
        };
        if when > self.responder.since_start() {
            return;
        }
        self.accept_again = None;
        for (token, (listener, _)) in (LISTENER..).zip(&self.sockets.listeners) {
            let _ = self.watch(listener, token, EpollFlags::EPOLLIN);
        }
    }
}
