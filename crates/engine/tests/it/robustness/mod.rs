//! The whole engine against servers that are not there, are no servers, go
//! away, come back, or answer wrongly: whatever happens, every operation is
//! accounted for, and what cannot be done is said in words.

mod bounds;
mod ended;
mod examined_shares;
mod faults;
mod full;
mod identities;
mod impostors;
mod opened_first;
mod replays;
mod restarts;
mod shares;
mod sources;
mod targets;

use filestone_host::control::{NoObserver, Observer};
use filestone_host::error::RunError;
use filestone_measure::measure::RunRecord;
use filestone_plan::plan::Plan;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

/// A millisecond in nanoseconds.
pub const MS: u64 = 1_000_000;

/// Checks what holds in every record, and that it survives being written down.
pub fn check(record: &RunRecord) {
    record.check().expect("the record agrees with itself");
    let json = serde_json::to_string(record).expect("a record can be written");
    let again: RunRecord = serde_json::from_str(&json).expect("and read");
    assert!(again == *record, "the record differs from what was written");
}

/// A run that must end with a record, while `observer` looks on.
pub fn run_at(
    plan: &Plan,
    address: SocketAddr,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> RunRecord {
    let record =
        crate::support::entry::run(plan, Some(address), stop, observer).expect("the run is made");
    check(&record);
    record
}

/// A run that cannot be made.
pub fn error_at(plan: &Plan, address: SocketAddr) -> RunError {
    let stop = AtomicBool::new(false);
    match crate::support::entry::run(plan, Some(address), &stop, &mut NoObserver) {
        Ok(record) => unreachable!("there is no server to give {:?}", record.totals.ledger),
        Err(error) => error,
    }
}
