//! What other threads tell a worker: new connections, and to stop.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

/// A worker's mailbox; its `event` becomes readable when something was put in.
#[derive(Debug)]
pub struct Mailbox {
    pub event: OwnedFd,
    sockets: Mutex<Vec<OwnedFd>>,
    is_stopping: AtomicBool,
}

impl Mailbox {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            sockets: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Hands a connection over.
    pub fn deliver(&self, socket: OwnedFd) {
        self.sockets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(socket);
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

    /// Takes everything out.
    pub fn collect(&self) -> Vec<OwnedFd> {
        // Emptying the event first: a delivery in between rings again. An event that is empty
        // already has nothing to say.
        let _ = rustix::io::read(&self.event, &mut [0_u8; 8]);
        std::mem::take(&mut *self.sockets.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ring(&self) {
        // A full counter would refuse, but then the event is readable anyway.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}
