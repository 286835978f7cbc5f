//! Code for the tests of several crates and for `benches`. The program contains none of it.
//!
//! | module | content |
//! |---|---|
//! | `queueing` | queues whose response times are known analytically, and runs of load controllers against them |
//! | `simulated` | a backend of the engine in virtual time that behaves like such a queue |

#![forbid(unsafe_code)]

pub mod queueing;
pub mod simulated;

pub use simulated::Simulated;
