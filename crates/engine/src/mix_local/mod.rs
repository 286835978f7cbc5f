//! A mix as system calls in directories of this host: what nhfsstone did (Legato Systems,
//! 1989; docs/reference/mix-local.md).
//!
//! One thread per client makes the system calls (`caller`) in a part of the file set of its
//! own (`place`, `furnish`, `claim`), when they are due (`course`), and the kernel's counters
//! (`kernel`) say every five seconds what became of them on the wire. The arithmetic of that
//! is the model's ([`feedback`](filestone_model::mix::feedback)).
//!
//! Not here: the mix over a connection of our own, where one operation is one call.

mod caller;
mod changing;
mod claim;
mod client;
mod course;
mod furnish;
mod kernel;
mod mounted;
mod place;
mod record;
mod removal;
mod run;
mod watch;

pub use run::run_local;
