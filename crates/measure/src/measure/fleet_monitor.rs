//! Monitors a running fleet: adds its rows up to steps, and checks its health.

use crate::measure::fleet_record::{
    ConnectStatus, FleetCounters, HealthFinding, HealthRule, StepRecord,
};
use crate::measure::run_record::{IntervalRecord, Phase};
use filestone_plan::plan::{FleetPlan, HealthPlan};
use filestone_workload::recording::distribution::{Distribution, SignificantDigits};
use filestone_workload::recording::ledger::Ledger;
use filestone_workload::recording::sample::Role;

/// Share of the operations of a row that may be late.
const LATE_SHARE: f64 = 0.01;
/// Minimum number of operations in a row for a health check that can stop the fleet.
const ROW_MIN: u64 = 20;

/// State of a step.
#[derive(Debug, Clone)]
struct Step {
    clients: u32,
    start_ns: u64,
    end_ns: u64,
    connect_time_p99_ns: Option<u64>,
    /// Whether all connections of the step have been made.
    is_connected: bool,
    ok: u64,
    data_bytes: u64,
    errors: u64,
    response_time: Distribution<u64>,
    checksum_errors_before: u64,
    checksum_errors: u64,
    memory_bytes: u64,
    server_memory_bytes: Option<u64>,
}

/// Monitors a running fleet.
#[derive(Debug)]
pub struct FleetMonitor {
    health: HealthPlan,
    every_ns: u64,
    clients: Vec<u32>,
    /// Clients in the order of their start.
    order: Vec<u32>,
    steps: Vec<Step>,
    counters: FleetCounters,
    late_before: u64,
    finding: Option<HealthFinding>,
}

impl FleetMonitor {
    /// Creates a monitor for this fleet.
    pub fn new(fleet: &FleetPlan) -> Self {
        Self {
            health: fleet.health,
            every_ns: fleet.ramp.map_or(u64::MAX, |ramp| ramp.every_ns.max(1)),
            clients: (0..fleet.steps())
                .map(|step| fleet.clients_at(step))
                .collect(),
            order: fleet.order(),
            steps: Vec::new(),
            counters: FleetCounters::default(),
            late_before: 0,
            finding: None,
        }
    }

    /// Returns the step at this time.
    fn step_at(&self, nanos: u64) -> usize {
        let step = usize::try_from(nanos / self.every_ns).unwrap_or(usize::MAX);
        step.min(self.clients.len().saturating_sub(1))
    }

    /// Records the state at this time.
    pub fn sample(&mut self, now_ns: u64, counters: &FleetCounters, memory_bytes: u64) {
        let place = self.step_at(now_ns);
        while self.steps.len() <= place {
            let number = self.steps.len();
            let start_ns = self.every_ns.saturating_mul(number as u64);
            let start_ns = if number == 0 { 0 } else { start_ns };
            self.steps.push(Step {
                clients: self.clients.get(number).copied().unwrap_or(0),
                start_ns,
                end_ns: start_ns,
                connect_time_p99_ns: None,
                is_connected: false,
                ok: 0,
                data_bytes: 0,
                errors: 0,
                response_time: Distribution::with_digits(SignificantDigits::Three),
                checksum_errors_before: self.counters.checksum_errors,
                checksum_errors: 0,
                memory_bytes: 0,
                server_memory_bytes: None,
            });
        }
        self.counters = *counters;
        if let Some(step) = self.steps.get_mut(place) {
            step.memory_bytes = step.memory_bytes.max(memory_bytes);
            step.checksum_errors = counters
                .checksum_errors
                .saturating_sub(step.checksum_errors_before);
        }
    }

    /// Records the memory of the server at this time, after [`Self::sample`] for that time.
    pub fn check_server(&mut self, now_ns: u64, memory_bytes: u64) {
        let place = self.step_at(now_ns);
        if let Some(step) = self.steps.get_mut(place) {
            step.server_memory_bytes = step.server_memory_bytes.max(Some(memory_bytes));
        }
    }

    /// Adds a complete row.
    pub fn row(&mut self, row: &IntervalRecord) {
        if row.phase == Phase::Drain {
            return;
        }
        let place = self.step_at(row.start_ns);
        let (counters, memory) = (self.counters, 0);
        if self.steps.len() <= place {
            self.sample(row.start_ns, &counters, memory);
        }
        let Some(step) = self.steps.get_mut(place) else {
            return;
        };
        step.end_ns = row.end_ns;
        let (mut ended, mut errors, mut transfers) = (0, 0, 0);
        let mut response_time = Distribution::with_digits(SignificantDigits::Three);
        for kind in &row.kinds {
            let Ledger { ok, .. } = kind.ledger;
            let bad = kind.ledger.unsuccessful();
            errors += kind.ledger.unexpected();
            ended += ok + bad;
            if kind.role == Role::Measured {
                transfers += ok + bad;
                step.ok += ok;
                step.data_bytes += kind.data_bytes;
                // A record written by filestone can be read.
                let _ = response_time.add_record(&kind.response_time_ns);
            }
        }
        step.errors += errors;
        self.evaluate(
            row,
            &Row {
                ended,
                errors,
                transfers,
                p99: response_time.quantile(0.99),
            },
        );
        if let Some(step) = self.steps.get_mut(place) {
            step.response_time.add(&mut response_time);
        }
    }

    /// Checks the first connections of the clients that have started. A connection that is not
    /// established counts with the time since the start of its step.
    pub fn connections(&mut self, now_ns: u64, of: impl Fn(u32) -> ConnectStatus) {
        for number in 0..self.steps.len() {
            self.check_connections(number, now_ns, &of);
        }
    }

    fn check_connections(
        &mut self,
        number: usize,
        now_ns: u64,
        of: &impl Fn(u32) -> ConnectStatus,
    ) {
        let begin = number
            .checked_sub(1)
            .and_then(|before| self.clients.get(before));
        let begin = begin.copied().unwrap_or(0) as usize;
        let end = self.clients.get(number).copied().unwrap_or(0) as usize;
        let members = self.order.get(begin..end).unwrap_or_default();
        let Some(step) = self.steps.get_mut(number).filter(|step| !step.is_connected) else {
            return;
        };
        let so_far = now_ns.saturating_sub(step.start_ns);
        let time = |client: &u32| match of(*client) {
            ConnectStatus::None => None,
            ConnectStatus::Pending => Some((so_far, false)),
            ConnectStatus::Connected(nanos) => Some((nanos, true)),
        };
        let times = members.iter().filter_map(time);
        step.is_connected = times.clone().all(|(_, is_made)| is_made);
        let mut times: Vec<u64> = times.map(|(nanos, _)| nanos).collect();
        let rank = (times.len() * 99).div_ceil(100).saturating_sub(1);
        if rank >= times.len() {
            return;
        }
        let time = *times.select_nth_unstable(rank).1;
        step.connect_time_p99_ns = Some(time);
        let at = if step.is_connected {
            step.start_ns
        } else {
            now_ns
        };
        if let Some(limit) = self.health.connect_time_ns.filter(|limit| time > *limit) {
            let clients = end as u32;
            self.find_at(HealthRule::Connect, clients, at, time as f64, limit as f64);
        }
    }

    fn evaluate(&mut self, interval: &IntervalRecord, row: &Row) {
        let late = self.counters.late.saturating_sub(self.late_before);
        self.late_before = self.counters.late;
        if row.ended < ROW_MIN {
            return;
        }
        let HealthPlan {
            connect_time_ns: _,
            response_time_ns,
            errors,
            lateness_ns,
        } = self.health;
        let share = row.errors as f64 / row.ended as f64;
        let late = late as f64 / row.transfers.max(1) as f64;
        let at = interval.end_ns;
        if let Some(limit) = errors.filter(|limit| share > *limit) {
            self.find(HealthRule::Errors, at, share, limit);
        }
        if let Some(limit) = response_time_ns.filter(|limit| row.p99 > *limit) {
            self.find(HealthRule::Response, at, row.p99 as f64, limit as f64);
        }
        if lateness_ns.is_some() && late > LATE_SHARE {
            self.find(HealthRule::Lateness, at, late, LATE_SHARE);
        }
    }

    /// Attributes a finding at the end of a row to the step of the row.
    fn find(&mut self, rule: HealthRule, at_ns: u64, value: f64, limit: f64) {
        let step = self.step_at(at_ns.saturating_sub(1));
        let clients = self.clients.get(step).copied().unwrap_or(0);
        self.find_at(rule, clients, at_ns, value, limit);
    }

    fn find_at(&mut self, rule: HealthRule, clients: u32, at_ns: u64, value: f64, limit: f64) {
        self.finding.get_or_insert(HealthFinding {
            rule,
            clients,
            at_ns,
            value,
            limit,
        });
    }

    /// Returns the first health rule that failed.
    pub fn finding(&self) -> Option<HealthFinding> {
        self.finding
    }

    /// Returns the steps, for the record.
    pub fn steps(&mut self) -> Vec<StepRecord> {
        let record = |step: &mut Step| {
            let seconds = step.end_ns.saturating_sub(step.start_ns) as f64 / 1e9;
            let per_s = |count: u64| {
                if seconds > 0.0 {
                    count as f64 / seconds
                } else {
                    0.0
                }
            };
            StepRecord {
                clients: step.clients,
                start_ns: step.start_ns,
                end_ns: step.end_ns,
                settings: None,
                connect_time_p99_ns: step.connect_time_p99_ns,
                achieved_load_ops_per_s: per_s(step.ok),
                goodput_bytes_per_s: per_s(step.data_bytes),
                response_time_ns: step.response_time.to_record(),
                errors: step.errors,
                checksum_errors: step.checksum_errors,
                memory_bytes: step.memory_bytes,
                server_memory_bytes: step.server_memory_bytes,
            }
        };
        // A step that began while the run was stopping is not reported.
        let end = self.finding.map_or(u64::MAX, |finding| finding.at_ns);
        let begun = self.steps.iter_mut();
        let begun = begun.filter(|step| step.start_ns < end || step.start_ns == 0);
        begun.map(record).collect()
    }
}

/// Figures of a row.
struct Row {
    /// Operations of all kinds.
    ended: u64,
    /// Operations that failed.
    errors: u64,
    /// Reads and writes.
    transfers: u64,
    p99: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::run_record::IntervalKindRecord;
    use filestone_plan::plan::{Direction, GroupPlan, LeftoverPolicy, RampPlan};
    use filestone_workload::operation::OpKind;

    const SECOND: u64 = 1_000_000_000;

    /// Thirty clients, ten per second.
    fn fleet(health: HealthPlan) -> FleetPlan {
        FleetPlan {
            name: "test".into(),
            groups: vec![GroupPlan::new("writers", 30, Direction::Write)],
            more_targets: vec![],
            ramp: Some(RampPlan {
                clients: 10,
                every_ns: SECOND,
            }),
            health,
            clients_per_thread: 1,
            left_over: LeftoverPolicy::default(),
            keep_files: false,
        }
    }

    /// Returns a second with a hundred writes of a kilobyte that take `nanos`, `failed` of them
    /// failing.
    fn row(number: u64, nanos: u64, failed: u64) -> IntervalRecord {
        let mut times = Distribution::<u64>::with_digits(SignificantDigits::Three);
        (0..100).for_each(|_| times.record(nanos));
        let ledger = Ledger {
            scheduled: 100 + failed,
            ok: 100,
            failed,
            ..Ledger::default()
        };
        IntervalRecord {
            start_ns: number * SECOND,
            end_ns: (number + 1) * SECOND,
            phase: Phase::Measure,
            settings: None,
            ledger,
            bytes_sent: 0,
            bytes_received: 0,
            client_cpu_ns: 0,
            kinds: vec![IntervalKindRecord {
                operation: OpKind::WriteX,
                role: Role::Measured,
                ledger,
                data_bytes: 100_000,
                response_time_ns: times.to_record(),
                service_time_ns: times.to_record(),
            }],
        }
    }

    #[test]
    fn rows_are_added_up_to_steps() {
        let times: Vec<u64> = (0..30).map(|client| 1000 * (client + 1)).collect();
        let mut watch = FleetMonitor::new(&fleet(HealthPlan::default()));
        let made = |client: u32| ConnectStatus::Connected(times[client as usize]);
        let mut counters = FleetCounters::default();
        for number in 0..5 {
            counters.checksum_errors = number;
            watch.sample(number * SECOND + 1, &counters, 100 + number);
            if number > 0 {
                watch.check_server(number * SECOND + 1, 1000 - number);
            }
            watch.connections(number * SECOND + 1, made);
            watch.row(&row(number, 50_000, 1));
        }
        let steps = watch.steps();
        let seen: Vec<_> = steps
            .iter()
            .map(|step| {
                (
                    step.clients,
                    step.end_ns / SECOND,
                    step.errors,
                    step.memory_bytes,
                )
            })
            .collect();
        // The last step lasts until the end of the run.
        assert_eq!(seen, [(10, 1, 1, 100), (20, 2, 1, 101), (30, 5, 3, 104)]);
        let of_server: Vec<_> = steps.iter().map(|step| step.server_memory_bytes).collect();
        assert_eq!(of_server, [None, Some(999), Some(998)]);
        let of_last = &steps[2];
        assert_eq!(of_last.response_time_ns.count, 300);
        assert!((of_last.achieved_load_ops_per_s - 100.0).abs() < 1e-9);
        assert!((of_last.goodput_bytes_per_s - 100_000.0).abs() < 1e-9);
        // With ten times, the 99th percentile is the tenth.
        let connect: Vec<_> = steps.iter().map(|step| step.connect_time_p99_ns).collect();
        assert_eq!(connect, [Some(10_000), Some(20_000), Some(30_000)]);
        assert_eq!(watch.finding(), None);
    }

    #[test]
    fn the_first_rule_that_is_broken_is_named_with_its_clients() {
        let usual = HealthPlan::default();
        let late = FleetCounters {
            late: 5,
            ..FleetCounters::default()
        };
        for (health, nanos, failed, rule, value) in [
            (
                HealthPlan {
                    response_time_ns: Some(1_000_000),
                    ..usual
                },
                2_000_000,
                0,
                HealthRule::Response,
                None,
            ),
            (
                HealthPlan {
                    errors: Some(0.05),
                    ..usual
                },
                1000,
                25,
                HealthRule::Errors,
                Some(0.2),
            ),
            (
                HealthPlan {
                    lateness_ns: Some(1),
                    ..usual
                },
                1000,
                0,
                HealthRule::Lateness,
                Some(0.05),
            ),
        ] {
            let mut watch = FleetMonitor::new(&fleet(health));
            watch.row(&row(0, 1000, 0));
            assert_eq!(watch.finding(), None);
            // The next step has begun when the row arrives.
            watch.sample(2 * SECOND + 1, &late, 0);
            watch.row(&row(1, nanos, failed));
            let finding = watch.finding().expect("a rule is broken");
            assert_eq!(
                (finding.rule, finding.clients, finding.at_ns),
                (rule, 20, 2 * SECOND)
            );
            assert!(value.is_none_or(|value: f64| (finding.value - value).abs() < 1e-9));
            assert_eq!(watch.steps().len(), 2);
        }
        let health = HealthPlan {
            connect_time_ns: Some(15_000),
            ..usual
        };
        let mut watch = FleetMonitor::new(&fleet(health));
        let made = |client: u32| ConnectStatus::Connected(1000 * u64::from(client + 1));
        watch.sample(1, &FleetCounters::default(), 0);
        watch.connections(1, made);
        assert_eq!(watch.finding(), None);
        watch.sample(SECOND, &FleetCounters::default(), 0);
        watch.connections(SECOND, made);
        let finding = watch.finding().expect("the second step's were slow");
        assert_eq!((finding.rule, finding.clients), (HealthRule::Connect, 20));
    }

    #[test]
    fn a_connection_that_is_not_made_has_taken_as_long_as_its_step() {
        let health = HealthPlan {
            connect_time_ns: Some(SECOND / 2),
            ..HealthPlan::default()
        };
        let mut watch = FleetMonitor::new(&fleet(health));
        let counters = FleetCounters::default();
        // The server takes fifteen connections.
        let made = |client: u32| match client {
            0..15 => ConnectStatus::Connected(1000),
            _ => ConnectStatus::Pending,
        };
        for now in [1, SECOND, SECOND + SECOND / 2] {
            watch.sample(now, &counters, 0);
            watch.connections(now, made);
            assert_eq!(watch.finding(), None);
        }
        let now = SECOND + SECOND / 2 + 1;
        watch.connections(now, made);
        let finding = watch.finding().expect("half a second is over");
        assert_eq!((finding.rule, finding.clients), (HealthRule::Connect, 20));
        assert_eq!((finding.at_ns, finding.value), (now, 500_000_001.0));
        let steps = watch.steps();
        let times: Vec<_> = steps.iter().map(|step| step.connect_time_p99_ns).collect();
        assert_eq!(times, [Some(1000), Some(500_000_001)]);
        // Without connections, none is slow.
        let mut watch = FleetMonitor::new(&fleet(health));
        watch.sample(SECOND, &counters, 0);
        watch.connections(SECOND, |_| ConnectStatus::None);
        assert_eq!(watch.steps()[0].connect_time_p99_ns, None);
    }
}
