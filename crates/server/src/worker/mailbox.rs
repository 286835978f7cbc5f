//! Messages from other threads to a worker: new connections, events between connections, and the
//! stop.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::connection::ListenerProtocol;
use crate::smb2::CrossConnectionEvent;
use rustix::event::{EventfdFlags, eventfd};

/// A message to a worker.
#[derive(Debug)]
pub enum WorkerMessage {
    /// A new connection and its protocol.
    Socket(OwnedFd, ListenerProtocol),
    /// An event for the connection with this token.
    Notice(u64, CrossConnectionEvent),
}

/// A worker's mailbox; its `event` becomes readable when a message was added.
#[derive(Debug)]
pub struct Mailbox {
    pub event: OwnedFd,
    mail: Mutex<Vec<WorkerMessage>>,
    is_stopping: AtomicBool,
}

impl Mailbox {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            mail: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Adds a message.
    pub fn deliver(&self, mail: WorkerMessage) {
        self.mail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(mail);
        self.ring();
    }

    /// Asks the worker to end.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.ring();
    }

    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Removes and returns all messages.
    pub fn collect(&self) -> Vec<WorkerMessage> {
        // The event is cleared first: a delivery in between sets it again. Clearing an event that
        // is not set has no effect.
        let _ = rustix::io::read(&self.event, &mut [0_u8; 8]);
        std::mem::take(&mut *self.mail.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ring(&self) {
        // A full counter would refuse, but then the event is readable anyway.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}
