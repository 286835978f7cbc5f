use super::*;

const PERCENT_10: Bound = Bound::around(0.0, 10.0);

#[test]
fn a_verdict_has_three_ways() {
    assert_eq!(PERCENT_10.evaluate(5.0, 4.9), Verdict::Passes);
    assert_eq!(PERCENT_10.evaluate(-20.0, 9.9), Verdict::Fails);
    assert_eq!(PERCENT_10.evaluate(10.0, 0.0), Verdict::Passes);
    assert_eq!(PERCENT_10.evaluate(10.1, 0.0), Verdict::Fails);
    let is_untold = |figure, chance| {
        let verdict = PERCENT_10.evaluate(figure, chance);
        matches!(
            verdict,
            Verdict::Inconclusive(InconclusiveReason::TooShort { .. })
        )
    };
    // The bound is within the interval, or the interval is wider than the bound.
    assert!(is_untold(5.0, 5.1) && is_untold(12.0, 2.1) && is_untold(226.0, 1176.0));
}

#[test]
fn holds_is_never_said_of_a_figure_outside_the_bound() {
    for figure in (-300..300).map(f64::from) {
        for chance in [0.0, 0.5, 5.0, 50.0] {
            let verdict = PERCENT_10.evaluate(figure, chance);
            assert!(verdict != Verdict::Passes || PERCENT_10.holds(figure));
            assert!(verdict != Verdict::Fails || !PERCENT_10.holds(figure));
            assert!(chance <= 10.0 || verdict != Verdict::Passes);
        }
    }
}

#[test]
fn chance_shrinks_with_the_root_of_the_length() {
    let times = |figure, chance| match PERCENT_10.evaluate(figure, chance) {
        Verdict::Inconclusive(InconclusiveReason::TooShort { times }) => times,
        other => panic!("{figure} ± {chance}: {other:?}"),
    };
    // Four times the bound: sixteen times as long; a larger distance does not require more.
    assert_eq!(times(0.0, 40.0), 16.0);
    assert_eq!(times(30.0, 40.0), 16.0);
    // The distance to the bound is five of ten; on the bound, a quarter of its width is used.
    assert_eq!(times(5.0, 10.0), 4.0);
    assert_eq!(times(10.0, 10.0), 16.0);
}

#[test]
fn a_bound_of_one_side_is_judged_on_that_side() {
    let most = Bound::at_most(5000.0);
    assert_eq!(most.evaluate(-1.0, 100.0), Verdict::Passes);
    assert_eq!(most.evaluate(6000.0, 900.0), Verdict::Fails);
    assert!(matches!(
        most.evaluate(6000.0, 1100.0),
        Verdict::Inconclusive(_)
    ));
}
