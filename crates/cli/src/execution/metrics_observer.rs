//! Observer of a run that updates the metrics.

use filestone_host::control::Observer;
use filestone_measure::measure::fleet_record::GroupRecord;
use filestone_measure::measure::run_record::{IntervalRecord, Target};
use filestone_measure::measure::{ConnectionsRecord, RunPhase};
use filestone_metrics::Metrics;
use filestone_plan::plan::Plan;
use filestone_workload::recording::IntervalBuffer;
use std::sync::Arc;

/// Updates the metrics of one run.
pub struct MetricsObserver {
    metrics: Arc<Metrics>,
}

impl MetricsObserver {
    /// Starts a run of this plan.
    pub fn start(metrics: &Arc<Metrics>, plan: &Plan) -> Self {
        metrics.start(plan);
        Self {
            metrics: Arc::clone(metrics),
        }
    }
}

impl Observer for MetricsObserver {
    fn prepared(&mut self, target: &Target) {
        self.metrics.found(target);
    }

    fn phase(&mut self, phase: RunPhase) {
        self.metrics.set_phase(phase);
    }

    fn connected(&mut self, connections: &ConnectionsRecord) {
        self.metrics.connected(connections);
    }

    fn counted(&mut self, interval: &mut IntervalBuffer) {
        self.metrics.count(interval);
    }

    fn counted_by_hosts(&mut self, interval: &IntervalRecord) {
        self.metrics.count_record(interval);
    }

    fn offered(&mut self, load_ops_per_s: f64) {
        self.metrics.offer(load_ops_per_s);
    }

    fn fleet(&mut self, groups: &dyn Fn() -> Vec<GroupRecord>) {
        self.metrics.fleet(&groups());
    }
}
