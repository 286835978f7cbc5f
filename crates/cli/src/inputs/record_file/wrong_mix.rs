//! What no mix could follow: plans that no option makes, but a file can hold.

use crate::options::limits::{CLIENTS_OF_REPLAY_MAX, SIZE_MAX};
use crate::options::mix::{FILES_OF_ALL_MAX, POINTS_MAX};
use crate::options::mix_values::PRECISION_RANGE;
use filestone_model::file_set::Layout;
use filestone_model::operation::OpKind;
use filestone_model::plan::{
    ArrivalsPlan, CurvePlan, Figure, Interface, MixPlan, ObjectivePlan, Plan, SteeringPlan,
    TargetPlan,
};

/// A datagram holds no more data beside its headers.
const UDP_SIZE_MAX: u32 = 63 << 10;
/// A page of a listing holds one entry at least.
const LISTING_MIN: u32 = 512;
/// No step of a search or a curve takes longer than a day.
const STEP_MAX_NANOS: u64 = 86_400_000_000_000;

/// The first thing that is wrong.
pub fn find(plan: &Plan, mix: &MixPlan) -> Option<String> {
    let wrong = in_counts(mix)
        .or_else(|| in_targets(plan, mix))
        .or_else(|| in_transfers(plan, mix))
        .or_else(|| {
            plan.steering
                .as_ref()
                .and_then(|steering| in_steering(plan, steering))
        });
    match wrong {
        Some(what) => Some(what.into()),
        None => in_file_set(plan, mix),
    }
}

fn first(wrong: &[(bool, &'static str)]) -> Option<&'static str> {
    let wrong = wrong.iter().find(|(is_wrong, _)| *is_wrong);
    wrong.map(|(_, what)| *what)
}

fn in_counts(mix: &MixPlan) -> Option<&'static str> {
    let is_again = |index: usize, kind: OpKind| {
        let before = mix.counts.iter().take(index);
        before.into_iter().any(|count| count.operation == kind)
    };
    let mut kinds = mix.counts.iter().enumerate();
    let sum = mix
        .counts
        .iter()
        .try_fold(0_u64, |sum, count| sum.checked_add(count.count));
    first(&[
        (
            mix.counts
                .iter()
                .any(|count| !OpKind::STATELESS.contains(&count.operation)),
            "\"counts\" must be of procedures of NFSv3",
        ),
        (
            kinds.any(|(index, count)| is_again(index, count.operation)),
            "\"counts\" must name each operation once",
        ),
        (
            sum.is_none_or(|sum| sum == 0),
            "\"counts\" must have a sum of at least 1 and less than 2^64",
        ),
    ])
}

fn in_targets(plan: &Plan, mix: &MixPlan) -> Option<&'static str> {
    let is_nowhere = |target: &TargetPlan| match target.interface() {
        Interface::Calls => false,
        Interface::SystemCalls => target.is_built_in(),
        Interface::Bytes => true,
    };
    let is_stranger = |target: &TargetPlan| !plan.target.is_beside(target);
    let is_local = plan.target.is_directory();
    first(&[
        (
            std::iter::once(&plan.target)
                .chain(&mix.more_targets)
                .any(is_nowhere),
            "\"target\" of a mix must be an NFS server or a directory of this host",
        ),
        (
            mix.more_targets.iter().any(is_stranger),
            "\"more_targets\" of a mix must be on the server of \"target\"",
        ),
        (
            mix.more_targets.len() >= plan.clients as usize,
            "\"more_targets\" must leave each target a client",
        ),
        (
            is_local && (plan.workers != 1 || plan.in_flight != 1),
            "\"workers\" and \"in_flight\" of a mix through a mount must be 1",
        ),
        (
            is_local && plan.clients > CLIENTS_OF_REPLAY_MAX,
            "\"clients\" of a mix through a mount must be at most 65536",
        ),
    ])
}

fn in_transfers(plan: &Plan, mix: &MixPlan) -> Option<&'static str> {
    let is_udp = plan.target.is_udp();
    let largest = mix.transfer_bytes.max(mix.listing_bytes);
    first(&[
        (
            !(1..=SIZE_MAX).contains(&mix.transfer_bytes),
            "\"transfer_bytes\" must be from 1 to 1048576",
        ),
        (
            !(LISTING_MIN..=SIZE_MAX).contains(&mix.listing_bytes),
            "\"listing_bytes\" must be from 512 to 1048576",
        ),
        (
            is_udp && largest > UDP_SIZE_MAX,
            "\"transfer_bytes\" and \"listing_bytes\" over UDP must be at most 64512",
        ),
    ])
}

fn in_file_set(plan: &Plan, mix: &MixPlan) -> Option<String> {
    let set = &mix.file_set;
    if set.working_set_bytes == Some(0) {
        return Some("\"working_set_bytes\" must be at least 1".into());
    }
    let kinds = mix.kinds();
    let reads_links = kinds.iter().any(|(kind, _)| *kind == OpKind::ReadLink);
    if set.symbolic_links_per_client == 0 && reads_links {
        return Some(
            "\"symbolic_links_per_client\" of a mix with READLINK must be at least 1".into(),
        );
    }
    if u64::from(set.files_per_client) * u64::from(plan.clients) > FILES_OF_ALL_MAX {
        return Some(format!(
            "\"files_per_client\" of all clients together must be at most {FILES_OF_ALL_MAX}"
        ));
    }
    let refusal = Layout::of(set, plan.clients).err();
    refusal.map(|refusal| format!("\"file_set\": {refusal}"))
}

fn in_steering(plan: &Plan, steering: &SteeringPlan) -> Option<&'static str> {
    let of_all = first(&[
        (
            plan.arrivals == ArrivalsPlan::Closed,
            "\"arrivals\" of a steered run must be an open loop",
        ),
        (
            plan.count.is_some(),
            "\"count\" cannot end a steered run: what is found does",
        ),
        (
            plan.target.nfs3().is_none(),
            "\"steering\" is for NFS servers: a mount's load is corrected too slowly",
        ),
    ]);
    of_all.or_else(|| match steering {
        SteeringPlan::Curve(curve) => in_curve(curve),
        SteeringPlan::Objective(objective) => in_objective(objective),
    })
}

fn in_curve(curve: &CurvePlan) -> Option<&'static str> {
    let is_load = |load: f64| load > 0.0 && load <= 1e9;
    first(&[
        (
            !(2..=POINTS_MAX).contains(&curve.points),
            "\"points\" must be from 2 to 1000",
        ),
        (
            curve.peak_ops_per_s.is_some_and(|load| !is_load(load)),
            "\"peak_ops_per_s\" must be more than 0 and at most 1000000000",
        ),
        (
            !(1..=STEP_MAX_NANOS).contains(&curve.point_ns)
                || !(1..=STEP_MAX_NANOS).contains(&curve.warm_up_max_ns),
            "\"point_ns\" and \"warm_up_max_ns\" must be more than 0 and at most a day",
        ),
    ])
}

fn in_objective(plan: &ObjectivePlan) -> Option<&'static str> {
    let is_quantile = match plan.objective.figure {
        Figure::Mean => true,
        Figure::Quantile { quantile } => quantile > 0.0 && quantile < 1.0,
    };
    first(&[
        (!is_quantile, "\"quantile\" must lie between 0 and 1"),
        (
            plan.objective.below_ns == 0,
            "\"below_ns\" must be at least 1",
        ),
        (
            !(1..=STEP_MAX_NANOS).contains(&plan.search_max_ns),
            "\"search_max_ns\" must be more than 0 and at most a day",
        ),
        (
            !PRECISION_RANGE.contains(&plan.precision),
            "\"precision\" must be from 0.001 to 0.5",
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;
    use filestone_model::plan::{LocalTarget, MixCount, Objective, Popularity, TransportKind};

    type Change = fn(&mut Plan);

    fn mix_of(plan: &mut Plan) -> &mut MixPlan {
        plan.mix_mut().expect("a mix")
    }

    fn wrong(mut plan: Plan, change: Change) -> Option<String> {
        change(&mut plan);
        find(&plan, plan.mix().expect("a mix"))
    }

    #[test]
    fn the_plans_of_our_own_records_are_right() {
        for record in canned::mixes() {
            assert_eq!(wrong(record.plan, |_| {}), None);
        }
    }

    #[test]
    fn a_mix_that_cannot_be_made_is_refused() {
        let changes: [(&str, Change); 18] = [
            ("procedures", |plan| {
                mix_of(plan).counts[0].operation = OpKind::OpenX
            }),
            ("once", |plan| {
                let first = mix_of(plan).counts[0];
                mix_of(plan).counts.push(first);
            }),
            ("sum", |plan| mix_of(plan).counts.clear()),
            ("sum", |plan| {
                mix_of(plan)
                    .counts
                    .iter_mut()
                    .for_each(|count| count.count = u64::MAX)
            }),
            ("sum", |plan| {
                mix_of(plan).counts = vec![MixCount {
                    operation: OpKind::Null,
                    count: 0,
                }];
            }),
            ("\"target\"", |plan| {
                plan.target = TargetPlan::Local(LocalTarget { directory: None })
            }),
            ("\"more_targets\" of a mix", |plan| {
                let mut other = plan.target.clone();
                other.nfs3_mut().expect("NFS").host = Some("elsewhere".into());
                mix_of(plan).more_targets = vec![other];
            }),
            ("\"more_targets\" must leave", |plan| {
                mix_of(plan).more_targets = vec![plan.target.clone(); 7];
            }),
            ("\"workers\"", |plan| {
                plan.target = TargetPlan::Local(LocalTarget {
                    directory: Some("/x".into()),
                });
            }),
            ("\"transfer_bytes\"", |plan| mix_of(plan).transfer_bytes = 0),
            ("\"transfer_bytes\"", |plan| {
                mix_of(plan).transfer_bytes = 2 << 20
            }),
            ("\"listing_bytes\"", |plan| mix_of(plan).listing_bytes = 0),
            ("over UDP", |plan| {
                plan.target.nfs3_mut().expect("NFS").transport = TransportKind::Udp;
                mix_of(plan).transfer_bytes = 1 << 20;
            }),
            ("\"file_set\"", |plan| {
                mix_of(plan).file_set.name = "../x".into()
            }),
            ("\"file_set\"", |plan| {
                mix_of(plan).file_set.files_per_client = 0
            }),
            ("\"symbolic_links_per_client\"", |plan| {
                mix_of(plan).file_set.symbolic_links_per_client = 0;
            }),
            ("\"files_per_client\"", |plan| {
                mix_of(plan).file_set.files_per_client = u32::MAX
            }),
            ("\"file_set\"", |plan| {
                mix_of(plan).file_set.popularity = Popularity::Zipf { exponent: f64::NAN };
            }),
        ];
        for (expected, change) in changes {
            let what = wrong(canned::mix().plan, change).unwrap_or_else(|| panic!("{expected}"));
            assert!(what.contains(expected), "{expected}: {what}");
        }
    }

    #[test]
    fn steering_that_leads_nowhere_is_refused() {
        fn curve_of(plan: &mut Plan) -> &mut CurvePlan {
            match &mut plan.steering {
                Some(SteeringPlan::Curve(curve)) => curve,
                _ => panic!("a curve"),
            }
        }
        let changes: [(&str, Change); 6] = [
            ("\"arrivals\"", |plan| plan.arrivals = ArrivalsPlan::Closed),
            ("\"count\"", |plan| plan.count = Some(1)),
            ("\"points\"", |plan| curve_of(plan).points = u32::MAX),
            ("\"peak_ops_per_s\"", |plan| {
                curve_of(plan).peak_ops_per_s = Some(f64::NAN)
            }),
            ("\"point_ns\"", |plan| curve_of(plan).point_ns = 0),
            ("\"point_ns\"", |plan| {
                curve_of(plan).warm_up_max_ns = u64::MAX
            }),
        ];
        for (expected, change) in changes {
            let what = wrong(canned::curve().plan, change).unwrap_or_else(|| panic!("{expected}"));
            assert!(what.contains(expected), "{expected}: {what}");
        }
        let objective = |figure, below_ns| ObjectivePlan {
            objective: Objective { figure, below_ns },
            search_max_ns: 1,
            precision: 0.02,
        };
        assert!(in_objective(&objective(Figure::Quantile { quantile: 1.0 }, 1)).is_some());
        assert!(in_objective(&objective(Figure::Mean, 0)).is_some());
        assert!(in_objective(&objective(Figure::Mean, 1)).is_none());
    }
}
