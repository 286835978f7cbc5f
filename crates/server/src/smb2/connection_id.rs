//! Identification of connections and requests for other connections, and events between them.

use filestone_wire::smb2::oplock_break::Notification;

/// Identification of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ConnectionId {
    /// Index of its worker.
    pub worker: usize,
    /// Token of the connection in that worker.
    pub token: u64,
}

/// Event from another connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrossConnectionEvent {
    /// Retry the request with this AsyncId: its wait may be over.
    Retry(u64),
    /// Break of an oplock or a lease of this session.
    Break {
        session_id: u64,
        notification: Notification,
    },
    /// The session is replaced by another.
    DropSession(u64),
}

/// An event with its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutedEvent {
    pub to: ConnectionId,
    pub notice: CrossConnectionEvent,
}

/// A waiting request, identified by its AsyncId.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiter {
    pub place: ConnectionId,
    pub async_id: u64,
}
