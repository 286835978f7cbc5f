//! What a run shows while it lasts, to whoever looks at it from outside: the feed, the live page, and the
//! protocol between them.
//!
//! ```text
//!   coordinating thread ──▶ Publisher ──▶ Feed ──▶ readers (the page, the terminal)
//!                                          │
//!                                          └──▶ sinks (metrics), at once and in order
//! ```
//!
//! An asynchronous runtime lives here and nowhere else: one thread with one, which serves what is asked for
//! and which no worker waits for. Nothing here prints.

#![forbid(unsafe_code)]

pub mod event;
pub mod feed;
pub mod governor;
pub mod guard;
pub mod http_server;
pub mod metrics_site;
pub mod publisher;
pub mod shared;
pub mod site;
pub mod token;
