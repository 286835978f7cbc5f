use super::rows::{OperationRow, sums};
use super::*;
use crate::document::page::PageWidth;
use crate::fixtures;
use filestone_measure::measure::MountRecord;
use filestone_workload::operation::OpKind;
use filestone_workload::recording::DistributionRecord;

#[test]
fn three_layers_side_by_side() {
    insta::assert_snapshot!(report(&fixtures::three_layers()).text(PageWidth::default()));
}

#[test]
fn a_kind_that_one_layer_never_met_is_in_no_sum() {
    let mut records = fixtures::three_layers();
    records[2].totals.kinds.remove(0);
    insta::assert_snapshot!(report(&records).text(PageWidth::default()));
}

#[test]
fn what_is_answered_without_a_call_is_in_no_sum_difference_or_conclusion() {
    let mut records = fixtures::three_layers();
    let of_nfs = records.last_mut().expect("three");
    let kind = of_nfs.totals.kinds.first_mut().expect("a kind");
    // As LockX over NFS without --enable-nlm: completed at once, without a call.
    (kind.calls, kind.service_time_ns.mean) = (0, 10.0);
    let text = report(&records).text(PageWidth::default());
    insta::assert_snapshot!(text);
    let compared = LayerComparison::of(&records).expect("three replays");
    let rows: Vec<bool> = compared
        .rows
        .iter()
        .map(OperationRow::is_everywhere)
        .collect();
    assert_eq!(
        rows.iter().filter(|is_everywhere| !**is_everywhere).count(),
        1
    );
    let without: Vec<f64> = compared
        .rows
        .iter()
        .filter(|row| row.is_everywhere())
        .map(|row| row.per_pass)
        .collect();
    assert_eq!(compared.sums.per_pass, without.iter().sum::<f64>());
}

#[test]
fn a_mount_of_a_server_is_not_the_local_file_system() {
    let mut records = fixtures::three_layers();
    let mount = MountRecord {
        file_system: "nfs".into(),
        mount_point: "/mnt/nfs".into(),
        source: "server:/export".into(),
        options: vec!["rw".into(), "vers=3".into()],
    };
    records.remove(1);
    records[0].target.mounts = vec![mount];
    let text = report(&records).text(PageWidth::of(200));
    assert!(
        text.contains("nfs, server:/export on /mnt/nfs (rw,vers=3)"),
        "{text}"
    );
    assert!(
        text.contains("usecs on NFSv3 through the kernel client"),
        "{text}"
    );
    assert!(!text.contains("the local file system"), "{text}");
    assert!(text.contains("MOUNT"), "{text}");
}

#[test]
fn a_pass_is_the_sum_of_its_operations_at_their_means() {
    // 100 operations a pass: 75 of one kind, 25 of another, computed.
    let times = |mean| DistributionRecord {
        count: 1,
        mean,
        ..DistributionRecord::default()
    };
    let (fast, slow, far) = (times(10_000.0), times(50_000.0), times(90_000.0));
    let row = |kind, per_pass, times: [Option<&DistributionRecord>; 2]| OperationRow {
        kind,
        per_pass,
        times: times.map(Option::<&_>::cloned).to_vec(),
        is_without_call: false,
    };
    let rows = [
        row(OpKind::ReadX, 75.0, [Some(&fast), Some(&slow)]),
        row(OpKind::Close, 25.0, [Some(&slow), Some(&far)]),
        row(OpKind::Flush, 7.0, [Some(&slow), None]),
    ];
    let sums = sums(&rows, 2);
    assert_eq!(sums.per_pass, 100.0);
    assert_eq!(sums.pass_ns, [2_000_000.0, 6_000_000.0]);
}

#[test]
fn the_sentence_says_only_what_subtraction_supports() {
    let mut text = String::new();
    for layers in [
        vec![("local", 9.0), ("tcp", 14.0), ("NFS", 61.0)],
        vec![("local", 50.0), ("tcp", 14.0), ("NFS", 65.0)],
        vec![("local", 50.0), ("tcp", 14.0), ("NFS", 61.0)],
        vec![("local", 9.0), ("NFS", 61.0)],
        vec![("NFS", 61.0), ("local", 99.0)],
        vec![("tcp", 14.0), ("NFS", 61.0)],
        vec![("local", 9.0), ("tcp", 14.0)],
        vec![("NFS", 61.0), ("NFS", 40.0), ("NFS", 80.0)],
    ] {
        text.push_str(&format!(
            "{layers:?}\n{}\n\n",
            sentence(&layers, &|_| Some(0.0))
        ));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_sentence_draws_nothing_from_what_chance_can_explain() {
    // 10 ± 2 local, 14 ± 2 tcp, independent: differences of three are ± 3.5, of two ± 2.8.
    let chance = |weights: &[f64]| {
        let squares = weights.iter().map(|weight| 4.0 * weight * weight);
        Some(squares.sum::<f64>().sqrt())
    };
    let mut text = String::new();
    for layers in [
        vec![("local", 10.0), ("tcp", 14.0), ("NFS", 26.0)],
        vec![("local", 10.0), ("tcp", 14.0), ("NFS", 40.0)],
        vec![("local", 10.0), ("tcp", 14.0), ("NFS", 61.0)],
        vec![("NFS", 20.0), ("NFS", 22.0), ("NFS", 80.0)],
    ] {
        text.push_str(&format!("{layers:?}\n{}\n\n", sentence(&layers, &chance)));
    }
    insta::assert_snapshot!(text);
    let said = sentence(&[("tcp", 10.0), ("NFS", 90.0)], &|_| None);
    assert!(said.contains("too few batches leave open"), "{said}");
}

#[test]
fn runs_of_one_target_are_rounds_of_one_layer() {
    let once = fixtures::three_layers();
    let records = [once.clone(), once.clone(), once].concat();
    let text = report(&records).text(PageWidth::default());
    assert!(text.contains("of 3 rounds in turn"), "{text}");
    assert!(!text.contains("LOCAL 1"), "{text}");
    // The same three times over: no difference is due to chance.
    assert!(text.contains("+10.00 ±0.00"), "{text}");
}

#[test]
fn one_record_or_a_probe_has_no_layers() {
    assert_eq!(
        report(&[fixtures::replayed()]).text(PageWidth::default()),
        ""
    );
    assert_eq!(
        report(&[fixtures::plain(), fixtures::plain()]).text(PageWidth::default()),
        ""
    );
}
