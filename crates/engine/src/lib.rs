//! The impure half of filestone: threads, sockets, clocks and the worker loop.
//!
//! It never prints: what a person reads is `cli`'s business. What a run produces
//! is a [`RunRecord`](filestone_model::measure::RunRecord).

pub mod backend;
pub mod clock;
pub mod transport;
pub mod worker;
