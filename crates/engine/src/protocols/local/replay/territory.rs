//! Names that a load may change.
//!
//! `clients` belongs to the run; all other objects in the directory under test belong to others. A
//! load may read those, but a verb that would create, change, rename or delete one is refused
//! (`Cause::Denied`). A verb for the marker is refused too.

use super::answer::FailedVerb;
use filestone_workload::load::{CLIENTS, Cause, MARKER};

/// Whether the name is the directory `clients` itself.
pub(super) fn is_clients(path: &[u8]) -> bool {
    path == CLIENTS.as_bytes()
}

/// Whether a load may change the object of this name.
pub(super) fn is_ours(path: &[u8]) -> bool {
    path.strip_prefix(CLIENTS.as_bytes())
        .and_then(|rest| rest.strip_prefix(b"/"))
        // On a case-insensitive file system, `.FILESTONE` is the marker too.
        .is_some_and(|rest| !rest.eq_ignore_ascii_case(MARKER.as_bytes()))
}

/// Returns an error if a load may not change the object.
pub(super) fn must_be_ours(path: &[u8]) -> Result<(), FailedVerb> {
    if is_ours(path) {
        Ok(())
    } else {
        Err(Cause::Denied.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_clients_may_be_changed() {
        for own in [
            "clients/client0",
            "clients/client0/made-by-filestone",
            "clients/x",
        ] {
            assert!(is_ours(own.as_bytes()), "{own}");
        }
        for other in [
            "",
            "clients",
            "clientsx/a",
            "etc/passwd",
            "clients/made-by-filestone",
            "clients/Made-By-FileStone",
            "Clients/a",
        ] {
            assert!(!is_ours(other.as_bytes()), "{other}");
        }
    }
}
