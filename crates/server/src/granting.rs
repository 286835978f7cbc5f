//! Tells clients that waited for locks that they have them, on threads of its own: a client may
//! be slow to answer, or gone, and nobody else is to wait for that.
//!
//! There are threads only while there is somebody to tell.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use crate::callback::{self, GrantReply};
use crate::dispatch::{Grant, GrantSink, Service};

/// Clients that are told at the same time, at most. One that does not answer holds a thread for
/// several seconds.
const THREADS_MAX: usize = 16;

/// Room for a thread that calls and waits.
const STACK: usize = 256 << 10;

/// Hands grants to threads.
#[derive(Debug)]
pub struct GrantDispatcher(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    service: Weak<Service>,
    /// The port of the port mapper on clients' hosts.
    portmapper: u16,
    work: Mutex<Work>,
}

#[derive(Debug, Default)]
struct Work {
    grants: VecDeque<Grant>,
    threads: usize,
}

impl GrantDispatcher {
    pub fn new(service: Weak<Service>, portmapper: u16) -> Self {
        Self(Arc::new(Shared {
            service,
            portmapper,
            work: Mutex::default(),
        }))
    }
}

impl GrantSink for GrantDispatcher {
    fn submit(&self, grant: Grant) {
        let mut work = self.0.work();
        work.grants.push_back(grant);
        if work.threads >= THREADS_MAX {
            return;
        }
        let shared = Arc::clone(&self.0);
        let thread = thread::Builder::new()
            .name("filestone-grant".into())
            .stack_size(STACK);
        // Without a thread, those that are there, or the next, tell of it.
        if thread.spawn(move || shared.tell_all()).is_ok() {
            work.threads += 1;
        }
    }
}

impl Shared {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_all(&self) {
        while let Some(grant) = self.next() {
            let told = callback::tell(&grant, self.portmapper);
            // A server that has ended has no locks.
            let Some(service) = self.service.upgrade() else {
                return;
            };
            service.finalize(&grant, told == GrantReply::Taken);
        }
    }

    /// The next to tell; if there is none, this thread counts no more.
    fn next(&self) -> Option<Grant> {
        let mut work = self.work();
        let next = work.grants.pop_front();
        if next.is_none() {
            work.threads -= 1;
        }
        next
    }
}
