//! Sentences and advice with their figures.

use super::*;
use std::fmt::Write;

#[test]
fn a_caveat_is_a_sentence_with_its_figures() {
    let (what, help) = Caveat::AchievedBelowOffered {
        offered_load_ops_per_s: 20_000.0,
        achieved_load_ops_per_s: 17_312.0,
        cause: None,
    }
    .sentence();
    assert_eq!(
        what,
        "offered 20,000 operations/s, achieved 17,312 (86.6 %)"
    );
    assert!(help.is_some_and(|help| help.contains("--in-flight")));
    let (what, _) = Caveat::TooFewSamples {
        quantile: 0.9999,
        above: 1,
        count: 9,
        from_ns: 0,
        to_ns: 0,
    }
    .sentence();
    assert!(what.starts_with("p99.99 of 9 operations"), "{what}");
}

#[test]
fn a_slow_clock_is_told_to_be_what_it_is_not_already() {
    let help = |source: &str| {
        let source = source.to_string();
        let read_ns = 61.0;
        Caveat::SlowClock { source, read_ns }.sentence().1
    };
    let says = |source, word| help(source).is_some_and(|help| help.contains(word));
    assert!(says("hpet", "such as tsc"));
    for best in ["tsc", "arch_sys_counter"] {
        assert!(says(best, "no better clock source"), "{best}");
        assert!(!says(best, "use a host"), "{best}");
    }
}

#[test]
fn the_caveats_of_a_mix_are_sentences_with_their_figures() {
    let caveats = [
        Caveat::MixInvalid {
            deviation_percent: 12.345,
        },
        Caveat::MixOff {
            operation: OpKind::SetAttr,
            want_percent: 1.0,
            got_percent: 0.9,
            operations: 2,
            of: 10,
        },
        Caveat::LittlesLaw {
            in_flight_mean: 8.0,
            in_flight_by_littles_law: 6.5,
        },
        Caveat::Drift {
            first_third_mean_ns: 100_000.0,
            last_third_mean_ns: 150_000.0,
        },
        few(10, 1000),
        few(1, 99),
        few(0, 0),
        Caveat::UnmeasuredLoad {
            calls: 5000,
            all_calls: 100_000,
        },
        Caveat::FileSetStillClaimed {
            path: "/export/filestone-set".into(),
            reason: "server:2049: cannot connect: Connection refused (111)".into(),
        },
    ];
    let mut text = String::new();
    for caveat in caveats {
        let (what, help) = caveat.sentence();
        writeln!(text, "{what}\n    {}", help.unwrap_or("-")).unwrap();
    }
    insta::assert_snapshot!(text);
}

fn few(above: u64, count: u64) -> Caveat {
    Caveat::TooFewSamples {
        quantile: 0.99,
        above,
        count,
        from_ns: 900_000 * count.min(1),
        to_ns: 2_100_000 * count.min(1),
    }
}
