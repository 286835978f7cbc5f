//! Runs on many hosts.
//!
//! A job is the run of one plan by several processes, its *ranks*, which a launcher (`mpirun`,
//! `srun`) starts on any number of hosts. Rank 0 reads the command line, partitions the plan, sets
//! the start time, merges the measurements and reports; the other ranks wait for parts and run
//! them. For all code that measures, a rank is to a job what a worker is to a run.
//!
//! ```text
//!   coordinator (rank 0)                 each rank, rank 0 included
//!   ────────────────────                 ──────────────────────────
//!   Run ────────────────────────────────▶ computes its part, prepares, connects
//!       ◀──────────────────────────────── Ready
//!   Ping … ◀─────────────────────────▶ … Pong: offsets of clocks
//!   Start at ───────────────────────────▶ starts at that time of its clock
//!       ◀──────────────────────────────── Interval, Interval, …
//!   Offer, Finish, Stop ────────────────▶ applies it
//!       ◀──────────────────────────────── Ended: its record
//! ```
//!
//! Messages use a [`Transport`], which never blocks: channels within a process, MPI between hosts.
//! A rank that is silent for longer than the watchdog allows is lost, and the record names it.

#![forbid(unsafe_code)]

mod clocks;
mod coordinator;
mod hello;
mod in_process;
mod job_error;
mod job_run;
pub mod launch;
mod members;
mod message;
#[cfg(feature = "mpi")]
mod mpi_transport;
mod options;
mod orphan_cleanup;
mod rank_run;
mod ranks;
mod serving;
mod steered;
mod transport;

pub use coordinator::Cluster;
pub use hello::ResourceLimits;
pub use in_process::{InProcess, RankFault, connect};
pub use job_error::JobError;
pub use message::RankFailure;
#[cfg(feature = "mpi")]
pub use mpi_transport::{MpiTransport, library_version};
pub use options::{JobOptions, OnRankLost};
pub use rank_run::Runner;
pub use serving::serve;
pub use transport::{Transport, TransportError};
