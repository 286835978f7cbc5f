//! A mix as system calls in directories of this host: what nhfsstone did (Legato Systems,
//! 1989; docs/reference/mix-local.md).
//!
//! One thread per client makes the system calls (`caller`) in a part of the file set of its
//! own (`opened_set`, `populate`, `uncached_files`, `directories`), when they are due (`pacer`): a workload
//! (`workload`) in a language of its own (`work`) on the loop of every run (`target`). The kernel's
//! counters (`kernel`) say what became of them on the wire: before the run of each kind alone
//! (`learn`), and in it every two seconds of all (`feedback_controller`). The arithmetic of that is the model's
//! ([`feedback`](filestone_plan::mix::feedback)).
//!
//! Not here: the mix over a connection of our own, where one operation is one call.

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
