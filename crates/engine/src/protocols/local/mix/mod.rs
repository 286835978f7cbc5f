//! A mix as system calls in directories of this host, as in nhfsstone (Legato Systems, 1989;
//! docs/reference/mix-local.md).
//!
//! A thread per client makes the system calls (`caller`) in its part of the file set (`opened_set`,
//! `populate`, `uncached_files`, `directories`), when they are due (`pacer`). It is a workload
//! (`workload`) with a separate work type (`work`) on the common run loop (`target`). The kernel's
//! counters (`kernel`) show the resulting calls on the wire: before the run for each kind alone
//! (`learn`), and during the run every two seconds for all kinds (`feedback_controller`). The
//! arithmetic is in [`feedback`](filestone_plan::mix::feedback).
//!
//! Mixes over filestone's connections, in which one operation is one call, are implemented
//! elsewhere.

mod caller;
mod changing;
mod clients;
mod directories;
mod error;
mod feedback_controller;
mod kernel;
mod learn;
pub(super) mod mounted;
mod opened_set;
mod pacer;
mod populate;
mod preparing;
mod record;
mod removal;
mod run;
mod target;
mod task;
mod thread;
mod uncached_files;
mod work;
mod workload;

#[cfg(test)]
mod tests;

pub use run::run_local;
