//! A client of SMB2 and SMB3: what probes, mixes and loads ask, as requests.
//!
//! | file | what is in it |
//! |---|---|
//! | `link` | chains of requests on a desk (`client::call_slot`) |
//! | `requests` | SMB2 as functions: arguments in, what a client needs of the responses out |
//! | `connect_options` | what a client wants of a server, and why it does not get it |
//! | `negotiate`, `session_setup` | the two steps of these names |
//! | `connection_setup` | all steps from a connection to a tree |
//! | `negotiated`, `channels` | what a connection came to; what those of one client share |
//! | `operations`, `open_table` | what probes and mixes ask; what is open meanwhile |
//! | `copy`, `copy_limits` | copies that the server makes; what it copies at once |
//! | `open_contexts`, `handle_policy` | what is asked for beside one open: oplock, lease, a handle that outlives its connection; what a run's clients ask so, and what came of it |
//! | `load`, `open_files` | the lines of a load; what it has open |
//! | `client` | the client as an event loop drives it |
//! | `fast_path` | operations of one request that were asked before, past their actors |

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
mod open_files;
mod open_table;
mod operations;
mod requests;
mod session_setup;
#[cfg(test)]
mod tests;
mod trees;

pub use client::{ChannelPosition, Smb2Client, Smb2ClientOptions, Smb2Language, Smb2Work};

pub use channels::Channels;
pub use connect_options::{
    ConnectError, ConnectOptions, MultichannelUnavailable, Protection, SetupStep,
};
pub use connection_setup::{ConnectionSetup, establish};
pub use handle_policy::{DurableCounts, HandlePolicy};
pub use link::{
    BadSignature, CallHandle, CallSlot, ClientError, ClientErrorKind, CompoundBuilder, ReplyError,
    Smb2, answer, is,
};
pub use load::{ShareLoadOptions, ShareTransfers};
pub use negotiate::negotiate;
pub use negotiated::Negotiated;
pub use open_contexts::{DurableHandleId, OpenContexts, Oplock};
pub use open_table::{Handle, HandleState, OpenKey, OpenTable};
pub use operations::{
    ClientState, HeldFile, OperationOptions, ShareFiles, SharePath, WATCHES_TAKE_NANOS, supports,
};
pub use requests::{
    ALL_OF_FILE, ATTRIBUTES, CreateParams, CreateResult, DELETING, DirEntry, LISTING, Page, Tree,
    is_not_there,
};
pub use session_setup::EstablishedSession;
pub use trees::Removal;

use crate::client::actor::Actor;

/// What probes and mixes ask, in each of these slots of a client.
pub fn operating(
    options: &OperationOptions,
    slots: impl Iterator<Item = u32>,
    client: &ClientState,
) -> Vec<Actor<Smb2>> {
    let actor = |slot| {
        let (options, client) = (options.clone(), client.clone());
        Actor::new(operations::operate(CallHandle::HERE, options, slot, client))
    };
    slots.map(actor).collect()
}

/// A client of a load.
pub fn replaying(options: ShareLoadOptions) -> Actor<Smb2> {
    Actor::new(load::replay(CallHandle::HERE, options))
}
