pub(crate) use super::mix::tests::record as run_of_30_s;
use super::mix::tests::sound;
use super::*;
use crate::measure::replay_record::ReplayRecord;
use filestone_plan::plan::TransportKind;

/// A valid mix of 30 s.
pub(in crate::measure) fn sound_mix() -> RunRecord {
    run_of_30_s(sound(), vec![])
}

/// Two CPUs, three threads: total wait, and the part because of other programs.
fn processors(waited_percent: f64, by_others: f64) -> ProcessorsRecord {
    ProcessorsRecord {
        processors: 2,
        own_percent: 100.0,
        others_percent: Some(50.0),
        threads: 3,
        run_delay_percent: waited_percent,
        longest_thread: 1,
        longest_run_delay_percent: waited_percent,
        longest_run_delay_by_others_percent: by_others,
        absence: None,
    }
}

fn record(processors: ProcessorsRecord, is_replay: bool, local: bool) -> RunRecord {
    let mut record = run_of_30_s(sound(), vec![]);
    record.processors = Some(processors);
    record.target.local = local;
    if is_replay {
        record.mix = None;
        record.replay = Some(ReplayRecord::default());
    }
    record
}

#[test]
fn calls_of_a_replay_that_were_sent_again_are_a_caveat_over_udp() {
    for (transport, is_expected) in [(TransportKind::Tcp, false), (TransportKind::Udp, true)] {
        let mut replay = record(processors(4.0, 4.0), true, true);
        let target = replay.plan.target.nfs3_mut().expect("an NFS target");
        target.transport = transport;
        replay.totals.kinds[0].retransmissions = 5;
        let caveats = find(&replay);
        let mut caveats = caveats.iter();
        let is_found = caveats.any(|caveat| matches!(caveat, Caveat::Retransmissions { .. }));
        assert_eq!(is_found, is_expected, "{transport:?}");
    }
}

fn waits(record: &RunRecord) -> Vec<Caveat> {
    let mut caveats = find(record);
    caveats.retain(|caveat| {
        matches!(
            caveat,
            Caveat::CpuRunDelay { .. } | Caveat::CpuRunDelaySelf { .. }
        )
    });
    caveats
}

#[test]
fn a_replay_that_other_programs_slowed_says_so_as_a_mix_does() {
    for is_replay in [false, true] {
        let hogged = record(processors(40.0, 30.0), is_replay, true);
        let expected = Caveat::CpuRunDelay {
            worker: 1,
            run_delay_percent: 30.0,
        };
        assert_eq!(waits(&hogged), [expected], "{is_replay}");
        let quiet = record(processors(4.0, 4.0), is_replay, true);
        assert_eq!(waits(&quiet), [], "{is_replay}");
    }
}

#[test]
fn clients_that_wait_for_each_other_are_the_load_of_a_local_file_system() {
    assert_eq!(waits(&record(processors(75.0, 1.0), true, true)), []);
}

#[test]
fn clients_that_wait_for_each_other_make_a_server_elsewhere_look_slow() {
    let expected = Caveat::CpuRunDelaySelf {
        threads: 3,
        processors: 2,
        run_delay_percent: 75.0,
    };
    let remote = record(processors(75.0, 1.0), true, false);
    assert_eq!(waits(&remote), [expected]);
}

#[test]
fn a_record_that_did_not_look_who_had_the_processors_goes_by_its_workers() {
    let mut old = record(processors(0.0, 0.0), false, true);
    old.processors = None;
    old.totals.workers = vec![crate::measure::run_record::WorkerRecord {
        worker: 0,
        clients: 1,
        cpu_ns: 0,
        busy_poll_ns: 0,
        busy_percent: 10.0,
        run_delay_percent: 20.0,
    }];
    let expected = Caveat::CpuRunDelay {
        worker: 0,
        run_delay_percent: 20.0,
    };
    assert_eq!(waits(&old), [expected]);
}

#[test]
fn a_kept_interval_says_whether_a_percentile_is_known() {
    use crate::measure::{FigureRecord, OneSidedFigureRecord};
    const NAME: &str = "response_time.p99";
    let guess = |record: &RunRecord| {
        find(record).into_iter().find_map(|caveat| match caveat {
            Caveat::TooFewSamples { from_ns, to_ns, .. } => Some(([from_ns, to_ns], caveat)),
            _ => None,
        })
    };
    let kept = |high| FigureRecord {
        name: NAME.into(),
        unit: "ns".into(),
        value: 2e6,
        low: 1.5e6,
        high,
        confidence: 0.95,
        standard_error: 1e5,
        degrees_of_freedom: 19.0,
        batches: 20,
        method: "woodruff".into(),
    };
    // By ranks all of the 30,000 are independent.
    let mut many = sound_mix();
    assert_eq!(guess(&many), None);
    many.totals.figures = vec![kept(3.1e6)];
    let (ends, caveat) = guess(&many).expect("a factor of more than 2");
    assert_eq!(ends, [1_500_000, 3_100_000]);
    let said = caveat.sentence().0;
    assert!(said.contains("between 1.50 ms and 3.10 ms"), "{said}");
    many.totals.figures = vec![];
    many.totals.open_figures = vec![OneSidedFigureRecord {
        name: NAME.into(),
        unit: "ns".into(),
        low: 1.5e6,
        confidence: 0.95,
    }];
    let (ends, caveat) = guess(&many).expect("no upper end");
    assert_eq!(ends, [1_500_000, 0]);
    let said = caveat.sentence().0;
    assert!(said.contains("a guess: over 1.50 ms (95 %)"), "{said}");
    // By ranks 1,000 are too few.
    let mut few = run_of_30_s(
        crate::measure::mix_figures::tests::totals(290, 700, 10, 0),
        vec![],
    );
    assert!(guess(&few).is_some());
    few.totals.figures = vec![kept(2.9e6)];
    assert_eq!(guess(&few), None);
}
