//! A connection's reference to the task of its client.

use super::conversation::ClientTask;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection's reference to the task of its client.
#[derive(Debug)]
pub(super) enum TaskRef {
    /// The client has no other connection.
    Alone(Box<ClientTask>),
    /// The client also has a connection to the lock manager.
    Shared(Arc<Mutex<ClientTask>>),
}

/// Exclusive access to a task.
pub(super) enum Lent<'h> {
    Alone(&'h mut ClientTask),
    Shared(MutexGuard<'h, ClientTask>),
}

impl TaskRef {
    /// Creates the reference of a client with one connection.
    pub fn alone(conversation: ClientTask) -> Self {
        Self::Alone(Box::new(conversation))
    }

    /// Creates the reference of a client with two connections.
    pub fn shared(conversation: ClientTask) -> Self {
        Self::Shared(Arc::new(Mutex::new(conversation)))
    }

    /// Returns a reference for the other connection, if there is one.
    pub fn of_other(&self) -> Option<Self> {
        match self {
            Self::Alone(_) => None,
            Self::Shared(conversation) => Some(Self::Shared(Arc::clone(conversation))),
        }
    }

    /// Returns exclusive access to the task.
    #[inline]
    pub fn lend(&mut self) -> Lent<'_> {
        match self {
            Self::Alone(conversation) => Lent::Alone(conversation),
            Self::Shared(conversation) => Lent::Shared(lock(conversation)),
        }
    }

    /// Applies `look` to the task.
    pub fn seen<R>(&self, look: impl FnOnce(&ClientTask) -> R) -> R {
        match self {
            Self::Alone(conversation) => look(conversation),
            Self::Shared(conversation) => look(&lock(conversation)),
        }
    }
}

fn lock(conversation: &Mutex<ClientTask>) -> MutexGuard<'_, ClientTask> {
    // Both connections are on one thread, and no code that holds the lock can panic.
    conversation.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Deref for Lent<'_> {
    type Target = ClientTask;

    #[inline]
    fn deref(&self) -> &ClientTask {
        match self {
            Self::Alone(conversation) => conversation,
            Self::Shared(conversation) => conversation,
        }
    }
}

impl DerefMut for Lent<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut ClientTask {
        match self {
            Self::Alone(conversation) => conversation,
            Self::Shared(conversation) => conversation,
        }
    }
}
