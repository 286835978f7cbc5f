//! Paths that a load's clients may modify on a server: those below `clients`, except the marker
//! file there.

use super::call_slot::{ActionError, ActionResult};
use filestone_workload::load::{CLIENTS, Cause, MARKER};

/// Returns whether a path is the directory shared by all clients.
pub fn is_clients(path: &[u8]) -> bool {
    path.eq_ignore_ascii_case(CLIENTS.as_bytes())
}

/// Returns whether the run may modify this path.
pub fn is_own(path: &[u8]) -> bool {
    let mut components = path.split(|byte| *byte == b'/');
    let is_below = components.next().is_some_and(is_clients);
    components
        .next()
        .is_some_and(|name| is_below && !name.eq_ignore_ascii_case(MARKER.as_bytes()))
}

/// Returns the path below `clients` for a path below the directory under test.
pub fn below_clients(path: &[u8]) -> &[u8] {
    path.get(CLIENTS.len() + 1..).unwrap_or_default()
}

/// Returns an error if the run did not create this path.
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
