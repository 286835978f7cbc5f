//! What clients have in common that are asked lines, as those of loads are: whence the lines come.

use crate::workload::Workload;
use filestone_workload::load::Lines;

/// One client that says by itself which line is next: it walks through a load file, or decides as it
/// goes.
pub trait LineSource: Workload<Lines> + 'static {
    /// What it has counted by itself.
    type ClientTotals: ClientTotals;

    /// Whether its connection was given up before it had come to its end.
    fn is_given_up(&self) -> bool;

    /// What it has counted by itself. `lost` is why it could carry out no more, if somebody else knows.
    fn into_account(self, lost: Option<String>) -> Self::ClientTotals;
}

/// What a client has counted by itself.
pub trait ClientTotals: Send + 'static {
    /// Which client.
    fn client(&self) -> u32;

    /// Why it could carry out no more, if it was lost.
    fn lost(&self) -> Option<&str>;
}
