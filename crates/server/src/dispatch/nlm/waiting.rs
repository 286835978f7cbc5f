//! Waiting LOCK calls, in order of arrival.
//!
//! A waiter is removed when its lock is free, when it is cancelled, or when its file is removed. A
//! client that has disconnected is noticed only when its lock is granted: see [`super::Grant`].

use std::collections::VecDeque;

use filestone_wire::nlm::{LockRange, NetObject, lock};

use super::holder::{LockOwner, NlmRange};
use crate::dispatch::Endpoints;
use crate::tree::handle::HandleParts;

/// Largest number of waiting LOCK calls of all clients; beyond it the reply is NLM4_DENIED_NOLOCKS.
/// Protects the memory from clients that send ever more calls.
const WAITERS_MAX: usize = 1024;

/// A waiting LOCK call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingLock {
    pub file: HandleParts,
    pub owner: LockOwner,
    pub range: NlmRange,
    pub exclusive: bool,
    /// Range as the caller sent it, returned to the caller with the grant.
    offset: u64,
    len: u64,
    cookie: Box<[u8]>,
    /// Source and destination of the call.
    pub ends: Endpoints,
}

impl WaitingLock {
    pub fn new(file: HandleParts, asked: &lock::Args<'_>, ends: Endpoints) -> Self {
        let alock = &asked.alock;
        Self {
            file,
            owner: LockOwner::new(alock),
            range: NlmRange::new(alock.offset, alock.len),
            exclusive: asked.exclusive,
            offset: alock.offset,
            len: alock.len,
            cookie: asked.cookie.0.into(),
            ends,
        }
    }

    /// Returns whether this waiter waits for `alock`.
    pub fn is(&self, file: HandleParts, alock: &LockRange<'_>, exclusive: bool) -> bool {
        self.file == file
            && self.exclusive == exclusive
            && self.range == NlmRange::new(alock.offset, alock.len)
            && self.owner.is(alock)
    }

    /// Returns the lock as its caller described it.
    pub fn alock<'a>(&'a self, handle: &'a [u8]) -> LockRange<'a> {
        LockRange {
            fh: NetObject(handle),
            offset: self.offset,
            len: self.len,
            ..self.owner.lock_range()
        }
    }

    /// Returns the caller's cookie of the LOCK call.
    pub fn cookie(&self) -> NetObject<'_> {
        NetObject(&self.cookie)
    }
}

/// List of all waiters.
#[derive(Debug, Default)]
pub struct Waiters(VecDeque<WaitingLock>);

impl Waiters {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a waiter, once: a client that repeats its call keeps its position. `false` if the list
    /// is full.
    pub fn add(&mut self, waiter: WaitingLock) -> bool {
        let alike = |other: &&mut WaitingLock| {
            (other.file, &other.owner, other.range, other.exclusive)
                == (waiter.file, &waiter.owner, waiter.range, waiter.exclusive)
        };
        if let Some(same) = self.0.iter_mut().find(alike) {
            *same = waiter;
            return true;
        }
        let has_room = self.0.len() < WAITERS_MAX;
        if has_room {
            self.0.push_back(waiter);
        }
        has_room
    }

    /// Removes the waiters for which `leaves` returns true; returns whether there was one.
    pub fn remove(&mut self, leaves: impl Fn(&WaitingLock) -> bool) -> bool {
        let before = self.0.len();
        self.0.retain(|waiter| !leaves(waiter));
        self.0.len() < before
    }

    /// Removes and returns the waiters of `file`, in order, that `grant` accepts.
    pub fn take(
        &mut self,
        file: HandleParts,
        mut grant: impl FnMut(&WaitingLock) -> bool,
    ) -> Vec<WaitingLock> {
        let mut taken = Vec::new();
        self.0.retain(|waiter| {
            let is_granted = waiter.file == file && grant(waiter);
            if is_granted {
                taken.push(waiter.clone());
            }
            !is_granted
        });
        taken
    }
}
