//! The tool measures itself: the figures are there and make sense. How good
//! they are is for `filestone calibrate` and `cargo xtask bench` to say.

mod support;

use filestone_engine::calibrate::{Effort, calibrate};
use std::sync::atomic::AtomicBool;
use support::live::serve;

#[test]
fn a_quick_calibration_fills_the_headroom() {
    let server = serve(|_| {});
    let calibration = calibrate(server.address(), Effort::Quick, &AtomicBool::new(false))
        .expect("the server is there");
    let headroom = &calibration.headroom;
    assert!(headroom.engine_ops_per_s > 0.0 && headroom.raw_ops_per_s > 0.0);
    assert!(headroom.engine_cpu_ns_per_op > 0.0 && headroom.raw_cpu_ns_per_op > 0.0);
    assert!(headroom.timer_lateness_p50_ns <= headroom.timer_lateness_p99_ns);
    assert!(calibration.clock.read_ns > 0.0);
}
