//! A steered run: the workers follow the load that is decided on, and what was due under
//! the old one and never started is counted.

use crate::support::live::{probe, serve};
use filestone_control::load_control::{IntervalResult, LoadController, NextLoad};
use filestone_engine::protocols::nfs3::Nfs3;
use filestone_engine::protocols::{BuiltIn, Protocol};
use filestone_engine::run::run_steered;
use filestone_host::control::{NoObserver, RunContext};
use filestone_measure::measure::run_record::RunOutcome;
use filestone_plan::plan::{ArrivalsPlan, TransportKind};
use filestone_workload::operation::OpKind;
use std::sync::atomic::AtomicBool;

/// Two whole intervals at each of some loads.
struct Stairs {
    loads: Vec<f64>,
    step: usize,
    whole: u32,
    /// Of each whole interval: what was offered, and what was done.
    seen: Vec<(f64, f64)>,
}

impl LoadController for Stairs {
    fn first(&mut self) -> f64 {
        self.loads[0]
    }

    fn next(&mut self, observed: &IntervalResult<'_>) -> NextLoad {
        if !observed.is_whole {
            return NextLoad::Hold;
        }
        let interval = observed.interval;
        let seconds = (interval.end_ns - interval.start_ns) as f64 / 1e9;
        self.seen.push((
            observed.offered_load_ops_per_s,
            interval.ledger.ok as f64 / seconds,
        ));
        self.whole += 1;
        if self.whole < 2 {
            return NextLoad::Hold;
        }
        self.whole = 0;
        self.step += 1;
        match self.loads.get(self.step) {
            Some(load) => NextLoad::Set(*load),
            None => NextLoad::Finish,
        }
    }

    fn progress(&self) -> String {
        format!("step {}", self.step)
    }
}

#[test]
fn workers_follow_the_load_and_finish_when_the_answer_is_there() {
    let server = serve(|_| {});
    let mut plan = probe(OpKind::GetAttr, TransportKind::Tcp, 1);
    plan.count = None;
    plan.duration_ns = Some(60_000_000_000);
    plan.clients = 4;
    plan.workers = 2;
    plan.in_flight = 16;
    plan.interval_ns = 100_000_000;
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 1.0,
    };
    let mut stairs = Stairs {
        loads: vec![400.0, 2000.0, 800.0],
        step: 0,
        whole: 0,
        seen: vec![],
    };
    let built_in = BuiltIn {
        nfs3: Some(server.address()),
        ..BuiltIn::default()
    };
    let stop = AtomicBool::new(false);
    let record = run_steered(
        &plan,
        &|plan, context| Nfs3.open(plan, built_in, context),
        &mut RunContext::new(&stop, &mut NoObserver),
        Some(&mut stairs),
    )
    .expect("the run goes to its end");
    assert_eq!(record.end, RunOutcome::Finished);
    record.check().expect("the record is consistent");
    let offered: Vec<f64> = stairs.seen.iter().map(|(offered, _)| *offered).collect();
    assert_eq!(offered, [400.0, 400.0, 2000.0, 2000.0, 800.0, 800.0]);
    // Constant arrivals interleave, so an interval holds what is due in it, give or take
    // what lies across its borders; a machine that stands still moves work to the next.
    let sum = |load: f64| -> f64 {
        let of_load = stairs.seen.iter().filter(|(offered, _)| *offered == load);
        of_load.map(|(_, achieved)| achieved).sum::<f64>() / 2.0
    };
    assert!(sum(2000.0) > sum(800.0) && sum(800.0) > sum(400.0));
}
