//! What a client of a share opens and writes before it is measured.

use super::shares::{any_plan, outcome};
use crate::support::smb_peer::{Reaction, serve};
use filestone_plan::plan::Plan;
use filestone_wire::smb2::{Command, Header};
use filestone_workload::operation::OpKind;
use std::sync::{Arc, Mutex};

/// What a server is asked, in this order.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<Command>>>);

impl Asked {
    fn note(&self, header: &Header) {
        self.0.lock().expect("nobody panics").push(header.command);
    }

    fn all(&self) -> Vec<Command> {
        self.0.lock().expect("nobody panics").clone()
    }

    fn count(&self, command: Command) -> usize {
        let all = self.all();
        all.iter().filter(|asked| **asked == command).count()
    }
}

/// A plan of this operation against a server that does this about every request.
fn plan(operation: OpKind, asked: &Asked, reaction: fn() -> Reaction) -> Plan {
    let asked = asked.clone();
    let mut plan = any_plan(serve(move |header| {
        asked.note(header);
        reaction()
    }));
    let probe = plan.probe_mut().expect("a probe");
    (probe.operation, probe.size_bytes, probe.file_size_bytes) = (operation, 1 << 20, 1 << 20);
    plan.in_flight = 1;
    plan.count = Some(5);
    plan
}

#[test]
fn every_slot_has_its_file_open_before_anything_is_locked() {
    let asked = Asked::default();
    let mut plan = plan(OpKind::Lock, &asked, || Reaction::Usual);
    plan.probe_mut().expect("a probe").size_bytes = 4096;
    (plan.in_flight, plan.count) = (7, Some(40));
    let record = outcome(&plan).expect("the run is made");
    assert_eq!(record.totals.ledger.ok, 40);
    let all = asked.all();
    let locks = |command: &Command| *command == Command::Lock;
    let first = all.iter().position(locks).expect("a lock");
    let last = all.iter().rposition(locks).expect("a lock");
    let creates = |part: &[Command]| {
        part.iter()
            .filter(|asked| **asked == Command::Create)
            .count()
    };
    assert!(creates(&all[..first]) >= 7, "{all:?}");
    assert_eq!(creates(&all[first..last]), 0, "{all:?}");
}

#[test]
fn a_copy_is_divided_by_the_limits_that_the_server_has() {
    let asked = Asked::default();
    let record = outcome(&plan(OpKind::Copy, &asked, || Reaction::Usual));
    let totals = record.expect("the run is made").totals;
    assert_eq!(totals.ledger.ok, 5);
    let copies = totals.kinds.first().expect("copies");
    assert_eq!(
        (copies.operation, copies.data_bytes),
        (OpKind::Copy, 5 << 20)
    );
    // One for the source's key, one that is refused, and eight for each of five copies.
    assert_eq!(asked.count(Command::Ioctl), 1 + 1 + 5 * 8);
    // Eight for each copy are calls of it, and the one that was refused.
    assert_eq!(copies.calls, 41);
}

#[test]
fn what_is_written_before_a_run_is_paid_for_by_the_credits_at_hand() {
    let asked = Asked::default();
    // Each response brings one credit: 64 KiB at a time.
    let mut plan = plan(OpKind::Copy, &asked, || {
        Reaction::Changed(|message| message[14..16].copy_from_slice(&[1, 0]))
    });
    if let filestone_plan::plan::TargetPlan::Smb(target) = &mut plan.target {
        target.compounds = false;
    }
    let record = outcome(&plan).expect("the run is made");
    assert_eq!(record.totals.ledger.ok, 5);
    // A mebibyte, and the marker of the run's directory.
    assert_eq!(asked.count(Command::Write), 16 + 1);
}
