//! Objects on servers: found, created and checked before a run, and released or removed after it.
//!
//! Inputs are a plan, a server's address and the context of a run. Outputs are handles and names
//! for the clients of the run, and established sessions. All calls here block and are not measured;
//! measured operations go through the engine.
//!
//! | module | contents |
//! |---|---|
//! | `driver` | RPC calls: one at a time, or many in flight |
//! | `nfs3` | NFSv3: from a path to a handle, the procedures, directories as a workspace |
//! | `smb2` | SMB: connections to a share with their authentication, directories as a workspace |
//! | `workspace` | directories that a run creates: claimed, marked, released and removed |
//! | `file_set` | the file set of a mix: found and checked, created and repaired |
//! | `prepare` | the objects of a probe or a mix on any server |
//! | `addresses` | resolution of host names |

#![forbid(unsafe_code)]

pub mod addresses;
pub mod driver;
mod file_set;
pub mod nfs3;
mod prepare;
pub mod smb2;
mod target_error;
pub mod workspace;

pub use target_error::TargetError;
