//! Claims a directory of this host for the results of one run at a time, by a file in it.

use super::tree::{self, LocalTree};
use filestone_host::error::RunError;
use filestone_setup::workspace::marker::{Liveness, LockHolder, Marker, MarkerOwner};
use filestone_setup::workspace::tree::{FileTree, MarkerLock, TreeDirectory};
use filestone_setup::workspace::{ClaimError, Purpose};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Maximum number of attempts: another run may remove its claim in between.
const TRIES: u32 = 4;

/// A claim, which ends when it is dropped or its process ends.
#[derive(Debug)]
pub struct FileClaim {
    _lock: MarkerLock,
}

impl FileClaim {
    /// Claims `directory` with the file `name`. The claim of an ended run is taken over; that of an
    /// active run, or of one that may be active on another host, is an error.
    pub fn make(directory: &Path, name: &str) -> Result<Self, RunError> {
        let at = tree::open(directory, Purpose::Results)?;
        for _ in 0..TRIES {
            if let Some(lock) = LocalTree.make_marker(&at, name, &Marker::default())? {
                return Ok(Self { _lock: lock });
            }
            if let Some(lock) = take_over(&at, name)? {
                return Ok(Self { _lock: lock });
            }
        }
        let path = at.path;
        Err(ClaimError::Overtaken { path }.into())
    }
}

/// Removes the claim of an ended run; the caller tries again after `None`.
fn take_over(at: &TreeDirectory<OwnedFd>, name: &str) -> Result<Option<MarkerLock>, RunError> {
    let purpose = at.purpose;
    let Some(found) = LocalTree.read_marker(at, name)? else {
        return Ok(None);
    };
    // The file may contain a partial record: its run either holds the lock or has ended.
    let owner = found.owner(&at.path);
    let owner = owner.unwrap_or_else(|| MarkerOwner::unknown(&at.path));
    let is_over_by_lock = found.holder == LockHolder::Us;
    match owner.liveness(found.holder) {
        Liveness::Alive => Err(ClaimError::InUse { owner, purpose }.into()),
        Liveness::Unknown if !is_over_by_lock => Err(ClaimError::Unknown { owner, purpose }.into()),
        Liveness::Exited | Liveness::Unknown => {
            // Another run may have taken the file over between open and lock, and may have a claim
            // of the same name now.
            if tree::is_still_at(at, &found.lock, name)? {
                LocalTree.remove_file(at, name)?;
            }
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_host::error::ErrorCategory;

    #[test]
    fn one_run_at_a_time_has_a_directory() {
        let directory =
            std::env::temp_dir().join(format!("filestone-claim-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let claim = FileClaim::make(&directory, "part").expect("it is free");
        let error = FileClaim::make(&directory, "part").expect_err("it is claimed");
        assert_eq!(error.category(), ErrorCategory::Usage);
        let said = error.to_string();
        assert!(said.contains("another run is using it (process"), "{said}");
        drop(claim);
        let claim = FileClaim::make(&directory, "part").expect("that run is over");
        drop(claim);
        // File left by a run that is killed while it writes its record.
        std::fs::write(directory.join("part"), "{\"format\":").expect("a file");
        let claim = FileClaim::make(&directory, "part").expect("nobody holds it");
        drop(claim);
        std::fs::remove_dir_all(&directory).expect("it is there");
    }
}
