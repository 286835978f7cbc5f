//! Common interface of clients whose requests are lines of a load: the source of the lines.

use crate::workload::Workload;
use filestone_workload::load::Lines;

/// A client that decides itself which line is next: it follows a load file, or decides during the
/// run.
pub trait LineSource: Workload<Lines> + 'static {
    /// Counters that the client keeps itself.
    type ClientTotals: ClientTotals;

    /// Returns whether its connection was closed for good before the client was finished.
    fn is_given_up(&self) -> bool;

    /// Converts the client into its counters. `lost` is the reason why the client ended early, if
    /// it is known outside the client.
    fn into_account(self, lost: Option<String>) -> Self::ClientTotals;
}

/// Counters that a client keeps itself.
pub trait ClientTotals: Send + 'static {
    /// Returns the client number.
    fn client(&self) -> u32;

    /// Returns the reason why the client ended early, if it did.
    fn lost(&self) -> Option<&str>;
}
