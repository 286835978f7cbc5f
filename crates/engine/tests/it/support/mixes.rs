//! Plans of mixes.

use filestone_plan::plan::{
    ArrivalsPlan, FileSetPlan, FileSizes, MixCount, MixPlan, Plan, Popularity, WorkloadPlan,
};
use filestone_workload::operation::OpKind;

/// Every procedure, some of them seldom.
pub const ALL_22: &[(OpKind, u64)] = &[
    (OpKind::Null, 2),
    (OpKind::GetAttr, 10),
    (OpKind::SetAttr, 5),
    (OpKind::Lookup, 20),
    (OpKind::Access, 8),
    (OpKind::ReadLink, 4),
    (OpKind::Read, 14),
    (OpKind::Write, 10),
    (OpKind::Create, 3),
    (OpKind::MkDir, 2),
    (OpKind::SymLink, 2),
    (OpKind::MkNod, 1),
    (OpKind::Remove, 5),
    (OpKind::RmDir, 2),
    (OpKind::Rename, 2),
    (OpKind::Link, 2),
    (OpKind::ReadDir, 2),
    (OpKind::ReadDirPlus, 2),
    (OpKind::FsStat, 1),
    (OpKind::FsInfo, 1),
    (OpKind::PathConf, 1),
    (OpKind::Commit, 1),
];

/// A mix of these counts, at this arrival process, of so many operations.
pub fn mix(counts: &[(OpKind, u64)], arrivals: ArrivalsPlan, count: u64) -> Plan {
    let mut plan = super::plan(arrivals, 16, 1);
    let file_set = FileSetPlan {
        name: "set".into(),
        files_per_client: 40,
        sizes: FileSizes::Nhfsstone,
        symbolic_links_per_client: 5,
        spare_names_per_client: 64,
        working_set_bytes: None,
        popularity: Popularity::Uniform,
    };
    let mix = MixPlan::new("test", MixCount::of(counts), file_set);
    plan.workload = WorkloadPlan::Mix(Box::new(mix));
    plan.target.nfs3_mut().expect("an NFS target").path = "/export".into();
    plan.duration_ns = None;
    plan.count = Some(count);
    plan.timeout_ns = 20 * super::SECOND;
    plan
}
