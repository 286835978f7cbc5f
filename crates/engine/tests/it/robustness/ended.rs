//! SMB servers that end a session in the middle of what prepares a run, and what is begun again then.

use super::shares::{any_plan, outcome, page_of};
use crate::support::smb_peer::{Reaction, frame, serve};
use filestone_plan::plan::Plan;
use filestone_wire::smb2::codec::Encode;
use filestone_wire::smb2::{Command, ErrorResponse, HEADER_LEN, Header, Status};
use filestone_workload::operation::OpKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A plan of one client against a server that does this about each request of `command`, by its number
/// from 0 on; and how many sessions were begun.
fn plan(
    operation: OpKind,
    command: Command,
    reaction: impl Fn(&Header, u32) -> Reaction + Send + Sync + 'static,
) -> (Plan, Arc<AtomicU32>) {
    let (begun, asked) = (Arc::new(AtomicU32::new(0)), AtomicU32::new(0));
    let counted = Arc::clone(&begun);
    let address = serve(move |header| {
        if header.command == Command::Negotiate {
            counted.fetch_add(1, Ordering::Relaxed);
        }
        if header.command == command {
            reaction(header, asked.fetch_add(1, Ordering::Relaxed))
        } else {
            Reaction::Usual
        }
    });
    let mut plan = any_plan(address);
    let probe = plan.probe_mut().expect("a probe");
    (probe.operation, probe.files_max) = (operation, 1000);
    (plan.clients, plan.workers, plan.in_flight) = (1, 1, 1);
    // It does not matter how long that takes on a host that has other things to do.
    plan.timeout_ns = 10_000 * super::MS;
    (plan, begun)
}

/// An answer that says that there is no such session.
fn deleted(message: &mut Vec<u8>) {
    message.truncate(HEADER_LEN);
    message[8..12].copy_from_slice(&Status::USER_SESSION_DELETED.0.to_le_bytes());
    message.extend(ErrorResponse::default().to_bytes());
}

#[test]
fn a_listing_goes_on_in_another_session_and_shows_nothing_twice() {
    let (plan, begun) = plan(
        OpKind::Access,
        Command::QueryDirectory,
        |asked, number| match number {
            0 | 2 => Reaction::Bytes(frame(&page_of(asked, &["a", "b"]))),
            1 => Reaction::Changed(deleted),
            3 => Reaction::Bytes(frame(&page_of(asked, &["c"]))),
            _ => Reaction::Usual,
        },
    );
    let record = outcome(&plan).expect("the run is made");
    assert_eq!(record.target.files, 3);
    assert_eq!(record.totals.ledger.ok, 10);
    // That of the preparation, the one in its place, and the client's.
    assert_eq!(begun.load(Ordering::Relaxed), 3);
}

#[test]
fn a_session_that_ends_each_time_is_given_up() {
    let (plan, begun) = plan(OpKind::Access, Command::QueryDirectory, |_, _| {
        Reaction::Changed(deleted)
    });
    let error = outcome(&plan).expect_err("it never lists").to_string();
    assert!(error.contains("STATUS_USER_SESSION_DELETED"), "{error}");
    assert_eq!(begun.load(Ordering::Relaxed), 6);
}

#[test]
fn what_is_only_to_be_closed_is_done_when_the_session_ends() {
    // What is found, looked through, made and marked.
    let (plan, begun) = plan(OpKind::Write, Command::Close, |_, number| match number {
        0..4 => Reaction::Changed(deleted),
        _ => Reaction::Usual,
    });
    let record = outcome(&plan).expect("the run is made");
    assert_eq!(record.totals.ledger.ok, 10);
    // That of the preparation, the client's, and that of the clean-up.
    assert_eq!(begun.load(Ordering::Relaxed), 3);
}
