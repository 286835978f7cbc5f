//! A file set removed through a mount.

use crate::error::RunError;
use crate::workspace::local::LocalTree;
use crate::workspace::set_directory::SetDirectory;
use crate::workspace::set_removal::{self, Located};

/// Removes a set. What has a name in it that we do not give stays, with the directories that it
/// is in, and is an error; the set is given up then.
pub(super) fn remove(mut claim: SetDirectory<LocalTree>) -> Result<(), RunError> {
    let set = Located {
        directory: &claim.directory,
        path: &claim.path,
    };
    let removed =
        set_removal::empty(&mut LocalTree, &set).and_then(|()| claim.remove(&mut LocalTree));
    if removed.is_err() {
        // The first error is the one to report.
        let _ = claim.give_up(&mut LocalTree);
    }
    removed
}
