//! The maximum amount of data that a plan stores on its server, which determines the memory of a
//! server that is started for one run.

use super::{Direction, Plan, WorkloadPlan};
use crate::file_set::Layout;
use filestone_workload::load::{Load, statistics};
use filestone_workload::operation::OpKind;
use std::sync::Arc;

/// Overhead of an object: name, attributes, and the unused rest of its last page.
const OBJECT_BYTES: u64 = 5 << 10;

/// Returns the approximate maximum number of bytes that the clients of this plan store at the same
/// time, including the overhead of objects. `loads` are those of a replay, in the order of the
/// plan. Files that only grow count with their initial length.
pub fn stored_bytes(plan: &Plan, loads: &[Arc<Load>]) -> u64 {
    let clients = u64::from(plan.clients);
    match &plan.workload {
        WorkloadPlan::Probe(probe) => {
            // Other operations use existing objects.
            let makes_files = probe.own_files
                || matches!(
                    probe.operation,
                    OpKind::Write | OpKind::Commit | OpKind::Copy
                );
            files(clients * u64::from(makes_files), probe.file_size_bytes)
        }
        WorkloadPlan::LoadFile(_) => {
            let each: Vec<u64> = loads.iter().map(|load| of_load(load, plan.seed)).collect();
            let of_clients = each.iter().cycle().take(plan.clients as usize);
            of_clients.fold(0, |sum, bytes| sum.saturating_add(*bytes))
        }
        WorkloadPlan::Mix(mix) => Layout::of(&mix.file_set, plan.clients).map_or(0, |layout| {
            let totals = layout.totals();
            let kinds: Vec<_> = mix.kinds().into_iter().map(|(kind, _)| kind).collect();
            let objects = totals.files.saturating_add(layout.other_objects(&kinds));
            totals
                .bytes
                .saturating_add(objects.saturating_mul(OBJECT_BYTES))
        }),
        WorkloadPlan::Fleet(fleet) => {
            let own = fleet.groups.iter().filter(|group| {
                // A group that reads another group's files has no files itself.
                !(group.direction == Direction::Read && group.reads.is_some())
            });
            let of_group = own.map(|group| {
                let count = u64::from(group.count).saturating_mul(u64::from(group.files));
                files(count, group.file_size.max)
            });
            of_group.fold(0, u64::saturating_add)
        }
    }
}

fn files(count: u64, bytes: u64) -> u64 {
    count.saturating_mul(bytes.saturating_add(OBJECT_BYTES))
}

fn of_load(load: &Arc<Load>, seed: u64) -> u64 {
    let tree = statistics::of_pass(load, seed).tree;
    let objects = tree.files.saturating_add(tree.directories);
    tree.live_set_bytes
        .saturating_add(objects.saturating_mul(OBJECT_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::pairs;
    use crate::plan::{NfsTarget, ProbePlan, ReplayPlan, TargetPlan};
    use filestone_workload::load::Generation;

    fn plan(clients: u32, workload: WorkloadPlan) -> Plan {
        let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
        Plan {
            clients,
            ..Plan::new("test", target, workload, 1)
        }
    }

    #[test]
    fn files_of_all_clients_are_counted() {
        let mut fleet = pairs();
        fleet.groups[0].file_size.max = 10 << 20;
        let of_fleet = u64::from(fleet.groups[0].count) * u64::from(fleet.groups[0].files);
        let expected = of_fleet * ((10 << 20) + OBJECT_BYTES);
        let clients = fleet.clients();
        let stored = stored_bytes(&plan(clients, WorkloadPlan::Fleet(Box::new(fleet))), &[]);
        assert_eq!(stored, expected, "readers have none of their own");
        let probe = |operation| ProbePlan {
            file_size_bytes: 1 << 20,
            files_max: 10_000,
            ..ProbePlan::new(operation)
        };
        let of = |operation| {
            let workload = WorkloadPlan::Probe(probe(operation));
            stored_bytes(&plan(100, workload), &[])
        };
        assert_eq!(of(OpKind::Write), 100 * ((1 << 20) + OBJECT_BYTES));
        assert_eq!(of(OpKind::GetAttr), 0, "files that are there");
    }

    #[test]
    fn each_client_of_a_replay_has_the_files_of_its_load() {
        let empty = Arc::new(Load::empty(Generation::Cifs));
        let replay = || WorkloadPlan::LoadFile(ReplayPlan::new(vec![], vec![]));
        assert_eq!(stored_bytes(&plan(80, replay()), &[empty]), 0);
        assert_eq!(stored_bytes(&plan(80, replay()), &[]), 0);
    }
}
