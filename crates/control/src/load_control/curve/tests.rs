//! Tests that set the stage of the run. `tests/known_answers/curve.rs` has those of whole curves.

use super::*;

const SECOND: u64 = 1_000_000_000;

fn plan(down: bool) -> CurvePlan {
    CurvePlan {
        points: 10,
        peak_ops_per_s: None,
        point_ns: 20 * SECOND,
        warm_up_max_ns: 30 * SECOND,
        down,
    }
}

#[test]
fn the_time_left_is_that_of_the_points_to_come() {
    // 19 points of 10 s by calculation, before any warm-up time is measured.
    let given = CurvePlan {
        peak_ops_per_s: Some(1_000.0),
        point_ns: 10 * SECOND,
        ..plan(true)
    };
    let steering = CurveSteering::new(&given, None);
    assert_eq!(steering.left(), Some(RemainingTime::About(190 * SECOND)));
    let looking = CurveSteering::new(&plan(true), None);
    assert!(matches!(looking.left(), Some(RemainingTime::AtLeast(_))));
    // After three points of known length, sixteen are left.
    let mut steering = CurveSteering::new(&given, None);
    steering.points = vec![
        CurvePointRecord {
            leg: SweepDirection::Up,
            warm_up_ns: 2 * SECOND,
            start_ns: 0,
            end_ns: 10 * SECOND,
            ..CurvePointRecord::default()
        };
        3
    ];
    steering.place = 3;
    assert_eq!(
        steering.left(),
        Some(RemainingTime::About(16 * 12 * SECOND))
    );
    steering.stage = Stage::Done;
    assert_eq!(steering.left(), None);
}
