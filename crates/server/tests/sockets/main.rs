//! The server over real sockets, seen by a client that knows nothing but the wire.

mod both;
mod caching;
mod client;
mod compounds;
mod conversations;
mod echoing;
mod faulty;
mod hostile;
mod listing;
mod locking;
mod queueing;
mod requests;
mod serving;
mod smb;
mod smb_hostile;
mod statuses;
