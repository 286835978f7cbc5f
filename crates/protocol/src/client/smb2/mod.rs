//! A client of SMB2 and SMB3: operations of probes, mixes and loads as requests.
//!
//! | file | content |
//! |---|---|
//! | `link` | chains of requests in a call slot (`client::call_slot`) |
//! | `requests` | SMB2 as functions: arguments in, the results that a client needs out |
//! | `connect_options` | options of a client for connecting to a server, and errors of connecting |
//! | `negotiate`, `session_setup` | the two steps of these names |
//! | `protection_policy` | whether messages are signed and encrypted |
//! | `connection_setup` | all steps from a connection to a tree |
//! | `negotiated`, `channels` | results of NEGOTIATE and SESSION_SETUP on a connection; state shared by the connections of one client |
//! | `operations`, `open_table` | operations of probes and mixes; their open files |
//! | `copy`, `copy_limits` | server-side copies; their limits |
//! | `open_contexts`, `handle_policy` | create contexts of one open: oplock, lease, durable handle; settings of a run's clients, and counts of durable handles |
//! | `load`, `open_file` | the lines of a load; an open file |
//! | `client` | the client as driven by an event loop |
//! | `fast_path` | repeated single-request operations that bypass their actors |

mod channels;
mod client;
mod connect_options;
mod connection_setup;
mod copy;
mod copy_limits;
mod fast_path;
mod handle_policy;
mod link;
mod load;
mod negotiate;
mod negotiated;
mod open_contexts;
mod open_file;
mod open_table;
mod operations;
mod protection_policy;
mod requests;
mod session_setup;
#[cfg(test)]
mod tests;
mod trees;

pub use client::{ChannelPosition, Smb2Client, Smb2ClientOptions, Smb2Language, Smb2Work};

pub use channels::Channels;
pub use connect_options::{ConnectError, ConnectOptions, MultichannelUnavailable, SetupStep};
pub use connection_setup::{ConnectionSetup, establish};
pub use handle_policy::{DurableCounts, HandlePolicy};
pub use link::{
    BadSignature, CompoundBuilder, SmbCallHandle, SmbCallSlot, SmbCalls, SmbClientError,
    SmbClientErrorKind, SmbReplyError, answer, is,
};
pub use load::{ShareLoadOptions, ShareTransfers};
pub use negotiate::negotiate;
pub use negotiated::{EstablishedSession, Negotiated};
pub use open_contexts::{DurableHandleId, OpenContexts, Oplock};
pub use open_table::{HandleState, OpenKey, OpenTable, SmbHandle};
pub use operations::{
    ClientState, HeldFile, OperationOptions, ShareFiles, SharePath, WATCHES_TAKE_NANOS, supports,
};
pub use requests::{
    ALL_OF_FILE, ATTRIBUTES, CreateParams, CreateResult, DELETING, DirEntry, LISTING, Page, Tree,
    is_not_there,
};
pub use trees::Removal;

use crate::client::actor::Actor;

/// Creates actors for the operations of probes and mixes, one for each of these slots of a client.
pub fn operating(
    options: &OperationOptions,
    slots: impl Iterator<Item = u32>,
    client: &ClientState,
) -> Vec<Actor<SmbCalls>> {
    let actor = |slot| {
        let (options, client) = (options.clone(), client.clone());
        Actor::new(operations::operate(
            SmbCallHandle::HERE,
            options,
            slot,
            client,
        ))
    };
    slots.map(actor).collect()
}

/// Creates a client of a load.
pub fn replaying(options: ShareLoadOptions) -> Actor<SmbCalls> {
    Actor::new(load::replay(SmbCallHandle::HERE, options))
}
