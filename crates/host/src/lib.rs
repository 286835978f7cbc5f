//! This host, and the context and errors of a run: the lowest crate with I/O.
//!
//! Inputs are a plan, and the files and system calls of this host. Outputs are facts, readings,
//! connected sockets and errors. Between the due time and the end of a measured operation, a run uses
//! only the [`clock`], the CPU times of [`processors`] and the stop flag of [`control`] from here.
//!
//! | module | contents |
//! |---|---|
//! | `control` | observers, cancellation, and the context that contains both |
//! | `control_socket` | the local socket that controls a running fleet, its thread and its client |
//! | `error`, `exhaustion` | errors of a run by their cause; exhausted resources of this host |
//! | `environment` | checks that this host has the resources of a plan |
//! | `facts`, `activity` | facts about this host for `doctor`, and a sample of half a second |
//! | `readings` | readings around and during a run: `/proc`, a process, a node_exporter, a command |
//! | `system` | name, memory and processor of this host |
//! | `clock`, `processors`, `quota` | time, CPU time, and CPU time that a quota leaves |
//! | `addresses` | the addresses of this host, listed and changed by rtnetlink |
//! | `way` | the network path to an address |
//! | `connect` | connections to servers, in progress or complete |
//! | `load_file` | load files, read from disk |

#![forbid(unsafe_code)]

pub mod activity;
pub mod addresses;
pub mod clock;
pub mod connect;
pub mod control;
pub mod control_socket;
pub mod environment;
pub mod error;
pub mod exhaustion;
pub mod facts;
pub mod load_file;
pub mod processors;
mod quota;
pub mod readings;
pub mod system;
pub mod way;
