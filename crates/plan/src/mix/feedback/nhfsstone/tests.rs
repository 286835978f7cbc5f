use super::*;

/// nhfsstone's mix.
const MIX: PerProcedure = [0, 13, 1, 0, 34, 8, 22, 0, 15, 2, 1, 0, 0, 0, 0, 0, 3, 1];

fn default_task() -> LoadParameters {
    LoadParameters {
        processes: 7,
        load: 30,
        calls: 5000,
        percents: MIX,
    }
}

/// Calls on the wire with the sum `sum`, of any kind.
fn seen(sum: u64) -> ProcedureCounts {
    let mut calls = ProcedureCounts::default();
    calls[OpKind::Read] = sum;
    calls
}

#[test]
fn the_mean_pause_is_processes_times_a_thousand_by_the_load() {
    assert_eq!(mean_pause_ms(7, 30), 233);
    assert_eq!(mean_pause_ms(1, 60), 16);
    assert_eq!(mean_pause_ms(3, 1000), 3);
    // The original would divide by zero later.
    assert_eq!(mean_pause_ms(1, 2000), 1);
}

#[test]
fn percents_are_rounded_half_up_and_what_rounds_to_nothing_is_lost() {
    let of = |counts: &[(OpKind, u64)]| {
        let counts: Vec<MixCount> = counts
            .iter()
            .map(|(operation, count)| MixCount {
                operation: *operation,
                count: *count,
            })
            .collect();
        percents(&counts)
    };
    // 265 of 1000 is 26.5 %, 4 is 0.4 %.
    let mix = of(&[
        (OpKind::Lookup, 265),
        (OpKind::Read, 731),
        (OpKind::FsStat, 4),
    ]);
    assert_eq!((mix[4], mix[6], mix[17]), (27, 73, 0));
    assert_eq!(of(&[]), PerProcedure::default());
    // NFSv2 has no ACCESS, but its calls count in the total.
    let mix = of(&[(OpKind::Access, 50), (OpKind::GetAttr, 50)]);
    assert_eq!(mix.iter().sum::<i64>(), 50);
}

#[test]
fn the_choice_walks_round_the_operations_until_the_number_is_used_up() {
    // The calls match the mix: every weight is its percentage.
    let choose = |random| choose(random, &MIX, &MIX);
    // 1 mod 18 = 1: getattr, whose 13 are more than 1.
    assert_eq!(choose(1), Some(1));
    // 100 mod 18 = 10: remove 1, readdir 3, fsstat 1, getattr 13, setattr 1, lookup 34,
    // readlink 8, read 22, write 15 and create 2 leave 0, which remove's 1 uses up.
    assert_eq!(choose(100), Some(10));
    // 199 mod 18 = 1: once round leaves 99, all but fsstat leave 0.
    assert_eq!(choose(199), Some(17));
    // 1800 mod 200 = 0 and 1800 mod 18 = 0: null is not in the mix, getattr is next.
    assert_eq!(choose(1800), Some(1));
}

#[test]
fn a_share_that_is_off_counts_sixteen_times() {
    let mut calls = MIX;
    // 14 lookups were getattrs: getattr 13 − 16×14 = −211, lookup 34 + 16×14 = 258.
    (calls[1], calls[4]) = (27, 20);
    assert_eq!(choose(1, &MIX, &calls), Some(4));
    // From remove on: 100 − 1 − 3 − 1 − 1 = 94 when lookup's turn comes.
    assert_eq!(choose(100, &MIX, &calls), Some(4));
    // Before anything has been called every weight is 17 times the percentage: the
    // first one uses up any number. 28 mod 18 = 10: remove's 17 leave 11, readdir's 51 none.
    let none = PerProcedure::default();
    assert_eq!(choose(28, &MIX, &none), Some(16));
    assert_eq!(choose(0, &none, &none), None);
    // If all are ahead, the original would loop forever: 1 − 16×99 and nothing else.
    let mut one = PerProcedure::default();
    one[4] = 1;
    assert_eq!(choose(0, &one, &one), None);
}

#[test]
fn a_tenth_of_a_percent_of_the_run_is_five_percent_of_the_pause() {
    let corrected = |got, want| corrected_pause_ms(233, got, want, 5000);
    for (got, want, pause) in [
        (150, 150, 233),
        // 1000 × 5/5000 = 1; 233 × 1/20 = 11.
        (155, 150, 244),
        // Less than a thousandth rounds to 0, on both sides.
        (154, 150, 233),
        (146, 150, 233),
        // −2; 466/20 = 23.
        (140, 150, 210),
        // −10; 2330/20 = 116.
        (100, 150, 117),
        // −20; nothing is left.
        (50, 150, 10),
        (0, 150, 10),
        // 100; five times and once.
        (650, 150, 1398),
    ] {
        assert_eq!(corrected(got, want), pause, "{got} of {want}");
    }
}

#[test]
fn sleeps_are_even_from_nothing_to_twice_the_pause_and_short_ones_are_skipped() {
    let process = Process::new(default_task(), 0);
    for (random, sleep) in [(0, 0), (19, 0), (20, 20), (465, 465), (466, 0), (1000, 68)] {
        assert_eq!(process.sleep_ms(random), sleep, "{random}");
    }
}

#[test]
fn the_clock_is_read_when_more_than_a_second_of_pauses_has_been() {
    let mut process = Process::new(default_task(), 3000);
    // 4 × 233 = 932, 5 × 233 = 1165.
    let next: Vec<ProcessAction> = (0..10).map(|_| process.end()).collect();
    for (index, next) in next.iter().enumerate() {
        let clock = index % 5 == 4;
        assert_eq!(*next == ProcessAction::Clock, clock, "{index}");
    }
    assert!(!process.is_due(2999));
    assert!(process.is_due(3000));
}

#[test]
fn a_claim_counts_for_all_processes_until_the_kernel_says_better() {
    let mut process = Process::new(default_task(), 0);
    process.claim(OpKind::Read, 2);
    process.claim(OpKind::Access, 5);
    assert_eq!(process.calls[6], 14);
    assert_eq!(process.calls.iter().sum::<i64>(), 14);
    // After 5 s: 5000 × 7/233 = 150 calls should have been made.
    let correction = process.correct(5000, &seen(140)).expect("it goes on");
    assert_eq!(process.calls[6], 140);
    assert_eq!((correction.seen, correction.wanted), (140, 150));
    assert_eq!(correction.pause_ns, 210_000_000);
    assert_eq!(process.pause_ms, 210);
    // The correction applies to the mean pause, not to the previously corrected one.
    let correction = process.correct(10_000, &seen(305)).expect("it goes on");
    assert_eq!((correction.wanted, correction.pause_ns), (300, 244_000_000));
    assert!(!process.is_due(14_999));
    assert!(process.is_due(15_000));
}

#[test]
fn a_run_ends_when_the_kernel_has_counted_enough_and_not_before() {
    let mut process = Process::new(default_task(), 9000);
    process.claim(OpKind::Read, 715);
    // 7 × 715 = 5005 by its own estimate: it reads the counters, whatever the time.
    assert_eq!(process.end(), ProcessAction::Clock);
    assert!(process.is_due(1));
    assert!(process.correct(1, &seen(4999)).is_some());
    assert!(!process.is_due(2));
    assert!(process.correct(2, &seen(5000)).is_none());
}

#[test]
fn absurd_counters_do_no_harm() {
    let mut process = Process::new(default_task(), 0);
    assert!(
        process
            .correct(i64::MAX, &ProcedureCounts::default())
            .is_some()
    );
    assert!(
        process
            .correct(0, &ProcedureCounts::from_fn(|_| u64::MAX))
            .is_none()
    );
    process.claim(OpKind::Read, u64::MAX);
    process.choose(u64::MAX);
}
