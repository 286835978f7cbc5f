//! Notifies clients that the locks they waited for are granted, on separate threads: a client may
//! be slow or gone, and must not delay others.
//!
//! Threads exist only while there are grants to deliver.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use crate::callback::{self, GrantReply};
use crate::dispatch::{Grant, GrantSink, Service};

/// Largest number of clients that are notified at the same time. A client that does not reply
/// occupies a thread for several seconds.
const THREADS_MAX: usize = 16;

/// Stack size of a thread that calls and waits.
const STACK: usize = 256 << 10;

/// Distributes grants over threads.
#[derive(Debug)]
pub struct GrantDispatcher(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    service: Weak<Service>,
    /// Port of the port mapper on clients' hosts.
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
        // If no thread can be created, the existing threads or the next one deliver the grant.
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

    /// Returns the next grant; if there is none, this thread is no longer counted.
    fn next(&self) -> Option<Grant> {
        let mut work = self.work();
        let next = work.grants.pop_front();
        if next.is_none() {
            work.threads -= 1;
        }
        next
    }
}
