//! The file set of a mix on an NFS server (`crate::file_set`).
//!
//! | module | contents |
//! |---|---|
//! | `making`, `writing` | the calls that create missing objects |

mod making;
mod writing;

use crate::driver::Endpoint;
use crate::driver::window::CallPipeline;
use crate::file_set::{self, ExistingObject, Missing, SetServer};
use crate::nfs3::calls::NfsConnection;
use crate::nfs3::session;
use crate::nfs3::tree::NfsTree;
use crate::workspace::tree::TreeDirectory;
use filestone_host::control::{Cancellation, Observer};
use filestone_host::error::RunError;
use filestone_plan::plan::TransportKind;
use filestone_protocol::client::nfs3::sequence::ObjectWithAttributes;
use filestone_wire::nfs3::Handle;
use making::SetBuilder;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Maximum size of a reply to a single call: a page of a directory plus a margin.
const RECORD_MAX: usize = 1 << 20;

/// Specification of the file set.
pub type NfsFileSetRequest<'a> = file_set::FileSetRequest<'a, Handle>;
/// An existing file set.
pub type NfsFileSet = file_set::FileSet<Handle>;

/// Finds, checks and completes the file set, or creates it, without a run.
pub fn prepare(
    session: &NfsConnection,
    order: &NfsFileSetRequest<'_>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<NfsFileSet, RunError> {
    file_set::prepare(session, order, stop, observer)
}

impl NfsFileSet {
    /// Releases the set; it stays on the server.
    pub fn release(&self, session: &NfsConnection) -> Result<(), RunError> {
        self.release_claim(session, &AtomicBool::new(false))
    }

    /// Removes the set unless another process has taken it over.
    pub fn remove(&mut self, session: &NfsConnection, stop: &AtomicBool) -> Result<(), RunError> {
        self.remove_tree(session, stop)
    }
}

/// Returns the server of `session` with TCP as transport and `cancellation`.
fn endpoint(session: &NfsConnection, cancellation: &Cancellation) -> Endpoint {
    let mut endpoint = session.endpoint().clone();
    endpoint.has_answered &= endpoint.dial.transport == TransportKind::Tcp;
    endpoint.dial.transport = TransportKind::Tcp;
    endpoint.retry.cancellation = cancellation.clone();
    endpoint
}

/// Opens a connection for many concurrent calls.
fn window(session: &NfsConnection, cancellation: &Cancellation) -> Result<CallPipeline, RunError> {
    let address = session.dial().address;
    CallPipeline::connect(endpoint(session, cancellation))
        .map_err(|error| error.connecting(address))
}

impl SetServer for NfsConnection {
    type Handle = Handle;
    type Entry = ObjectWithAttributes;
    type Tree<'a> = NfsTree<'a>;

    fn timeout(&self) -> Duration {
        NfsConnection::timeout(self)
    }

    fn on_tree<R>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut NfsTree<'_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let mut nfs = NfsConnection::connect(endpoint(self, cancellation), RECORD_MAX)?;
        let mut window = window(self, cancellation)?;
        work(&mut NfsTree {
            nfs: &mut nfs,
            window: Some(&mut window),
        })
    }

    fn on_small_tree<R>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut NfsTree<'_>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let mut endpoint = self.endpoint().clone();
        endpoint.retry.cancellation = cancellation.clone();
        let mut nfs = NfsConnection::connect(endpoint, session::RECORD_MAX)?;
        work(&mut NfsTree::new(&mut nfs))
    }

    fn seen(
        _: &TreeDirectory<Handle>,
        _: &[u8],
        object: ObjectWithAttributes,
    ) -> ExistingObject<Handle> {
        ExistingObject {
            handle: object.handle,
            kind: super::kind_of(object.attributes.file_type),
            len: object.attributes.size,
        }
    }

    fn make(tree: &mut NfsTree<'_>, missing: Missing<'_, '_, Handle>) -> Result<u64, RunError> {
        let modes = tree.nfs.modes();
        let mut making = SetBuilder::new(missing, modes);
        tree.run(&mut making)?;
        Ok(making.made)
    }
}
