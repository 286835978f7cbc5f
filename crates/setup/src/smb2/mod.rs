//! An SMB2 server: connections to its shares, and objects that a run finds or creates.
//!
//! | module | what is in it |
//! |---|---|
//! | `terms`, `ntlm` | connection options of a plan; authentication of users |
//! | `channels` | multichannel support of the server |
//! | `connection` | a connection to a share, for one request at a time |
//! | `repeating` | repetition of operations after the server ends a session |
//! | `logging_on` | concurrent logon of clients |
//! | `limits` | comparison of a run's operations with the limits of the server |
//! | `key_log` | session keys for decrypting captures |
//! | `tree` | directories on a share as a run's workspace |
//! | `prepare` | objects that a probe finds or creates before it begins |
//! | `file_set` | the file set of a mix on a share |
//! | `prepared` | a share as the target of a probe or a mix, with its objects |
//! | `filling` | files written before a run |

pub mod channels;
pub mod connection;
mod error;
mod file_set;
mod filling;
mod key_log;
mod limits;
pub mod logging_on;
pub mod ntlm;
pub mod prepare;
pub mod prepared;
mod repeating;
pub mod terms;
pub mod tree;

pub use error::{ExchangeError, ExchangeFailed, SmbError};
