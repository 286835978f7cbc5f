//! Connections and their requests as others know them, and what they tell each other.

use filestone_wire::smb2::oplock_break::Notification;

/// Where a connection is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ConnectionId {
    /// Which worker.
    pub worker: usize,
    /// By what that worker knows it.
    pub token: u64,
}

/// What a connection is told by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// What the request of this AsyncId waits for may have come.
    Retry(u64),
    /// An oplock or a lease of this session is taken back.
    Break {
        session_id: u64,
        notification: Notification,
    },
    /// This session has another in its place.
    DropSession(u64),
}

/// A notice on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutedEvent {
    pub to: ConnectionId,
    pub notice: ConnectionEvent,
}

/// A request that waits, by its AsyncId.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiter {
    pub place: ConnectionId,
    pub async_id: u64,
}
