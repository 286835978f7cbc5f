//! Removes a file set through a mount.

use crate::protocols::local::tree::LocalTree;
use filestone_host::error::RunError;
use filestone_setup::workspace::set_directory::SetDirectory;
use filestone_setup::workspace::set_removal;
use rustix::fd::OwnedFd;

/// Removes a set. Names that filestone does not create are kept with their directories, which is an
/// error; the set is released then.
pub(super) fn remove(mut claim: SetDirectory<OwnedFd>) -> Result<(), RunError> {
    let removed = set_removal::empty(&mut LocalTree, &claim.directory)
        .and_then(|()| claim.remove(&mut LocalTree));
    if removed.is_err() {
        // The first error is reported.
        let _ = claim.release(&mut LocalTree);
    }
    Ok(removed?)
}
