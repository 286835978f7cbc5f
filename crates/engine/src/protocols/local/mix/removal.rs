//! A file set removed through a mount.

use crate::error::RunError;
use crate::protocols::local::tree::LocalTree;
use crate::workspace::set_directory::SetDirectory;
use crate::workspace::set_removal;
use rustix::fd::OwnedFd;

/// Removes a set. What has a name in it that we do not give stays, with the directories that it
/// is in, and is an error; the set is given up then.
pub(super) fn remove(mut claim: SetDirectory<OwnedFd>) -> Result<(), RunError> {
    let removed = set_removal::empty(&mut LocalTree, &claim.directory)
        .and_then(|()| claim.remove(&mut LocalTree));
    if removed.is_err() {
        // The first error is the one to report.
        let _ = claim.release(&mut LocalTree);
    }
    Ok(removed?)
}
