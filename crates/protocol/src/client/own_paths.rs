//! What a load's clients may change on a server: what is below `clients`, and not the file in there
//! that says whose it is.

use super::call_slot::{ActionError, ActionResult};
use filestone_workload::load::{CLIENTS, Cause, MARKER};

/// Whether a path is the directory that all clients have in common.
pub fn is_clients(path: &[u8]) -> bool {
    path.eq_ignore_ascii_case(CLIENTS.as_bytes())
}

/// Whether the run may change what is there.
pub fn is_own(path: &[u8]) -> bool {
    let mut components = path.split(|byte| *byte == b'/');
    let is_below = components.next().is_some_and(is_clients);
    components
        .next()
        .is_some_and(|name| is_below && !name.eq_ignore_ascii_case(MARKER.as_bytes()))
}

/// A path below `clients` from one below the directory under test.
pub fn below_clients(path: &[u8]) -> &[u8] {
    path.get(CLIENTS.len() + 1..).unwrap_or_default()
}

/// Refuses to change what the run has not made.
pub fn check_own(path: &[u8]) -> ActionResult<()> {
    if is_own(path) {
        Ok(())
    } else {
        Err(ActionError::refused(Cause::Denied))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_clients_may_be_changed() {
        for own in ["clients/client0", "CLIENTS/CLIENT3/a/b", "clients/x"] {
            assert!(check_own(own.as_bytes()).is_ok(), "{own}");
        }
        for other in [
            "",
            "clients",
            "clients/made-by-filestone",
            "client",
            "clients2/a",
            "a/clients/b",
            "home/file",
        ] {
            assert!(check_own(other.as_bytes()).is_err(), "{other}");
        }
    }
}
