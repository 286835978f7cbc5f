//! LOCKs that wait, in the order in which they came.
//!
//! A waiter leaves when its lock is free, when it is cancelled, or when its file is gone. Whether
//! its client still is there shows when it is told: see [`super::Grant`].

use std::collections::VecDeque;

use filestone_wire::nlm::{LockRange, NetObject, lock};

use super::holder::{Owner, Range};
use crate::dispatch::Endpoints;
use crate::tree::handle::HandleParts;

/// LOCKs that may wait at once, of everybody together; beyond it is NLM4_DENIED_NOLOCKS. Clients
/// that ask ever more must not fill the memory.
const WAITERS_MAX: usize = 1024;

/// A LOCK that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiter {
    pub file: HandleParts,
    pub owner: Owner,
    pub range: Range,
    pub exclusive: bool,
    /// The range in the caller's own words: it looks for them when it is told.
    offset: u64,
    len: u64,
    cookie: Box<[u8]>,
    /// Where the call came from, and where it reached us.
    pub ends: Endpoints,
}

impl Waiter {
    pub fn new(file: HandleParts, asked: &lock::Args<'_>, ends: Endpoints) -> Self {
        let alock = &asked.alock;
        Self {
            file,
            owner: Owner::new(alock),
            range: Range::new(alock.offset, alock.len),
            exclusive: asked.exclusive,
            offset: alock.offset,
            len: alock.len,
            cookie: asked.cookie.0.into(),
            ends,
        }
    }

    /// Whether this is what `alock` waits for.
    pub fn is(&self, file: HandleParts, alock: &LockRange<'_>, exclusive: bool) -> bool {
        self.file == file
            && self.exclusive == exclusive
            && self.range == Range::new(alock.offset, alock.len)
            && self.owner.is(alock)
    }

    /// The lock as its caller described it.
    pub fn alock<'a>(&'a self, handle: &'a [u8]) -> LockRange<'a> {
        LockRange {
            fh: NetObject(handle),
            offset: self.offset,
            len: self.len,
            ..self.owner.lock_range()
        }
    }

    /// What the caller called its LOCK.
    pub fn cookie(&self) -> NetObject<'_> {
        NetObject(&self.cookie)
    }
}

/// All of them.
#[derive(Debug, Default)]
pub struct Waiters(VecDeque<Waiter>);

impl Waiters {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a waiter, once: a client that asks again has not lost its place. `false` if there is
    /// no room.
    pub fn add(&mut self, waiter: Waiter) -> bool {
        let alike = |other: &&mut Waiter| {
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

    /// Takes those out of the line that `leaves` says of; whether there was one.
    pub fn remove(&mut self, leaves: impl Fn(&Waiter) -> bool) -> bool {
        let before = self.0.len();
        self.0.retain(|waiter| !leaves(waiter));
        self.0.len() < before
    }

    /// Takes those of `file` out of the line, in its order, that `grant` grants.
    pub fn take(
        &mut self,
        file: HandleParts,
        mut grant: impl FnMut(&Waiter) -> bool,
    ) -> Vec<Waiter> {
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
