//! The tool measures itself: the figures are there and make sense. How good
//! they are is for `filestone calibrate` and `cargo xtask bench` to say.

use crate::support::live::{probe, serve};
use filestone_control::load_control::RemainingTime;
use filestone_engine::calibrate::{CalibrationLength, CalibrationTarget, calibrate};
use filestone_engine::protocols::{BuiltIn, Protocols};
use filestone_host::control::{Observer, RunContext};
use filestone_plan::plan::{ArrivalsPlan, TransportKind};
use filestone_server::{Running, SmbOptions};
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;

/// What was said of the measurements.
struct Parts(Vec<(String, Option<RemainingTime>)>);

impl Observer for Parts {
    fn steering(&mut self, what: &str, left: Option<RemainingTime>) {
        self.0.push((what.into(), left));
    }
}

fn against(server: &Running) -> CalibrationTarget {
    CalibrationTarget {
        targets: Protocols::default().calibrated_at(),
        built_in: BuiltIn {
            nfs3: Some(server.address()),
            smb: server.smb_addresses().first().copied(),
            ..BuiltIn::default()
        },
    }
}

#[test]
fn a_quick_calibration_fills_the_headroom() {
    let server = serve(|options| options.smb = Some(SmbOptions::default()));
    let effort = CalibrationLength::Quick { in_flight: 3 };
    let mut parts = Parts(vec![]);
    let stop = AtomicBool::new(false);
    let calibration = calibrate(
        &against(&server),
        effort,
        &mut RunContext::new(&stop, &mut parts),
    );
    let calibration = calibration.expect("the server is there");
    // An exchange of 2 × 150 ms by each protocol, and timed starts for 150 ms.
    let expected = [
        ("measurement 1 of 3, nfs NULL with 3 in flight", 5),
        ("measurement 2 of 3, smb ECHO with 3 in flight", 3),
        ("measurement 3 of 3, 10000 timed starts/s", 1),
    ];
    let expected =
        expected.map(|(what, left)| (what.into(), Some(RemainingTime::About(left * 150_000_000))));
    assert_eq!(parts.0, expected);
    let exchanged = calibration.headroom.iter().map(|can| &*can.exchange);
    assert_eq!(exchanged.collect::<Vec<_>>(), ["NULL", "ECHO"]);
    for headroom in &calibration.headroom {
        assert_eq!(headroom.in_flight, 3);
        assert!(headroom.engine_ops_per_s > 0.0 && headroom.raw_ops_per_s > 0.0);
        assert!(headroom.engine_cpu_ns_per_op > 0.0 && headroom.raw_cpu_ns_per_op > 0.0);
        assert!(headroom.timer_lateness_p50_ns <= headroom.timer_lateness_p99_ns);
    }
    assert!(calibration.clock.read_ns > 0.0);
}

#[test]
fn the_headroom_of_a_closed_loop_is_measured_with_as_many_in_flight() {
    let mut plan = probe(OpKind::Null, TransportKind::Tcp, 1);
    (plan.clients, plan.in_flight) = (3, 4);
    assert_eq!(
        CalibrationLength::before(&plan),
        CalibrationLength::Quick { in_flight: 12 }
    );
    plan.clients = 1_000_000;
    assert_eq!(
        CalibrationLength::before(&plan),
        CalibrationLength::Quick { in_flight: 1024 }
    );
    let offered_load_ops_per_s = 100.0;
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s,
    };
    assert_eq!(
        CalibrationLength::before(&plan),
        CalibrationLength::Quick { in_flight: 32 }
    );
}
