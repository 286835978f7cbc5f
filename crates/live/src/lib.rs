//! Live view of a running command: the event feed, the live page, and the protocol between them.
//!
//! ```text
//!   coordinating thread ──▶ Publisher ──▶ Feed ──▶ readers (the page, the terminal)
//! ```
//!
//! This is the only crate with an asynchronous runtime. It runs on one thread, which serves
//! requests; no worker ever waits for it. This crate prints nothing.

#![forbid(unsafe_code)]

#[cfg(not(feature = "schema"))]
use filestone_no_schema::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub mod event;
pub mod feed;
pub mod governor;
pub mod guard;
pub mod http_server;
pub mod metrics_site;
pub mod publisher;
pub mod site;
pub mod token;
