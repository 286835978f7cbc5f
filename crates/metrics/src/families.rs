//! Metric families: names, units, help texts, and the sources of their values.
//!
//! Names follow the conventions of Prometheus: base units as the last word, `_total` for counters,
//! and `_info` for constant labels.

use crate::MetricsSnapshot;
use crate::data_model::{Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType};
use crate::gauges::RunState;
use crate::histograms::{histogram, seconds};
use crate::times::Times;
use crate::totals::{KindSums, OperationTotals};
use filestone_measure::measure::RunPhase;
use filestone_workload::recording::{Ledger, Role};

/// Prefix of all names.
const PREFIX: &str = "filestone";
const BYTES: &str = "bytes";
const SECONDS: &str = "seconds";

/// Labels for the kind of an operation and its role.
type KindLabels = [(&'static str, &'static str); 2];

impl MetricsSnapshot {
    /// Returns all metrics in Prometheus' data model.
    pub(crate) fn families(&self) -> Vec<MetricFamily> {
        let mut families = Families(Vec::new());
        families.standing(&self.standing);
        families.operations(&self.sums);
        families.bytes(&self.sums);
        families.times(&self.sums);
        families.generator(&self.sums);
        families.0
    }
}

/// Name, help and unit of a family.
struct Heading<'h> {
    name: &'h str,
    help: &'h str,
    unit: &'h str,
}

impl<'h> Heading<'h> {
    const fn of(name: &'h str, help: &'h str) -> Self {
        Self::in_unit(name, help, "")
    }

    const fn in_unit(name: &'h str, help: &'h str, unit: &'h str) -> Self {
        Self { name, help, unit }
    }
}

/// Metric families added so far.
struct Families(Vec<MetricFamily>);

impl Families {
    fn family(
        &mut self,
        heading: &Heading<'_>,
        kind: MetricType,
        suffix: &str,
        metric: impl IntoIterator<Item = Metric>,
    ) {
        let Heading { name, help, unit } = heading;
        let separator = if unit.is_empty() { "" } else { "_" };
        self.0.push(MetricFamily {
            name: format!("{PREFIX}_{name}{separator}{unit}{suffix}"),
            help: (*help).into(),
            r#type: kind.into(),
            metric: metric.into_iter().collect(),
            unit: (*unit).into(),
        });
    }

    fn counters<const LABELS: usize>(
        &mut self,
        heading: &Heading<'_>,
        values: impl IntoIterator<Item = ([(&'static str, impl Into<String>); LABELS], u64)>,
    ) {
        let counters = values.into_iter().map(|(pairs, value)| Metric {
            label: labels(pairs),
            counter: Some(Counter {
                value: value as f64,
            }),
            ..Metric::default()
        });
        self.family(heading, MetricType::Counter, "_total", counters);
    }

    fn counter(&mut self, heading: &Heading<'_>, value: f64) {
        let counter = Metric {
            counter: Some(Counter { value }),
            ..Metric::default()
        };
        self.family(heading, MetricType::Counter, "_total", [counter]);
    }

    fn gauges<const LABELS: usize>(
        &mut self,
        heading: &Heading<'_>,
        values: impl IntoIterator<Item = ([(&'static str, impl Into<String>); LABELS], f64)>,
    ) {
        let gauges = values
            .into_iter()
            .map(|(pairs, value)| gauge(labels(pairs), value));
        self.family(heading, MetricType::Gauge, "", gauges);
    }

    fn gauge(&mut self, heading: &Heading<'_>, value: f64) {
        self.family(heading, MetricType::Gauge, "", [gauge(vec![], value)]);
    }

    /// Adds constant labels as a gauge of 1, since the data model has no type for them.
    fn info(&mut self, heading: &Heading<'_>, label: Vec<LabelPair>) {
        self.family(heading, MetricType::Gauge, "_info", [gauge(label, 1.0)]);
    }

    fn histogram(&mut self, heading: &Heading<'_>, times: &Times) {
        let metric = histogram(times, vec![]);
        self.family(heading, MetricType::Histogram, "", [metric]);
    }

    fn histograms(
        &mut self,
        heading: &Heading<'_>,
        sums: &OperationTotals,
        of: fn(&KindSums) -> &Times,
    ) {
        let metrics = by_kind(sums).map(|(pairs, kind)| histogram(of(kind), labels(pairs)));
        self.family(heading, MetricType::Histogram, "", metrics);
    }

    /// Adds the state of the current run: its phase, target and clients.
    fn standing(&mut self, standing: &RunState) {
        let tool = &standing.tool;
        let build = [
            ("version", tool.version.as_str()),
            ("profile", tool.profile.as_str()),
        ];
        self.info(
            &Heading::of("build", "The program that measures"),
            labels(build),
        );
        let phase = |phase: RunPhase| {
            let is_now = standing.phase == Some(phase);
            ([("phase", phase.name())], f64::from(u8::from(is_now)))
        };
        self.gauges(
            &Heading::of("run_phase", "1 for the current phase of the run"),
            RunPhase::ALL.map(phase),
        );
        let ended = standing.ended.iter();
        self.counters(
            &Heading::of("runs", "Runs that are over, by how they ended"),
            ended.map(|(end, count)| ([("end", *end)], *count)),
        );
        if let Some(caveats) = standing.caveats {
            let help = "Reasons to doubt the figures of the last run that is over";
            self.gauge(&Heading::of("run_caveats", help), caveats as f64);
        }
        if let Some(run) = &standing.run {
            let about = Heading::of("run", "The current run, or the last one");
            let pairs = run.labels.iter();
            self.info(
                &about,
                labels(pairs.map(|(name, value)| (*name, value.clone()))),
            );
            self.gauge(
                &Heading::of("clients", "Simulated clients"),
                f64::from(run.clients),
            );
            let help = "Operations that each client may have in flight";
            self.gauge(&Heading::of("client_slots", help), f64::from(run.in_flight));
            let help = "Threads of the load generator";
            self.gauge(&Heading::of("workers", help), f64::from(run.workers));
        }
        if let Some(load) = standing.offered_load_ops_per_s {
            let help = "Operations that are due per second; absent in a closed loop";
            self.gauge(
                &Heading::of("offered_load_operations_per_second", help),
                load,
            );
        }
        self.fleet(standing);
    }

    fn fleet(&mut self, standing: &RunState) {
        if standing.fleet.is_empty() {
            return;
        }
        let groups = standing.fleet.iter().flat_map(|group| {
            let states = group.clients.iter();
            states.map(|(state, clients)| {
                let labels = [("group", group.group.as_str()), ("state", state.name())];
                (labels, *clients as f64)
            })
        });
        let help = "Clients of a fleet, by group and by what they are doing";
        self.gauges(&Heading::of("fleet_clients", help), groups);
    }

    /// Adds operation counts by outcome.
    fn operations(&mut self, sums: &OperationTotals) {
        let help = "Operations that were due in a measured window";
        self.counters(
            &Heading::of("operations_scheduled", help),
            by_kind(sums).map(|(labels, kind)| (labels, kind.ledger.scheduled)),
        );
        let outcomes = by_kind(sums).flat_map(|([operation, role], kind)| {
            let outcomes = outcomes(&kind.ledger);
            outcomes.map(|(outcome, count)| ([operation, role, ("outcome", outcome)], count))
        });
        let help = "Operations that were due in a measured window, by what became of them; \
                    in_flight are those that were unanswered when a run ended";
        self.counters(&Heading::of("operations", help), outcomes);
        let help = "Operations that have begun and are not accounted for in an interval yet";
        self.gauges(
            &Heading::of("operations_in_flight", help),
            by_kind(sums).map(|(labels, kind)| (labels, kind.in_flight() as f64)),
        );
        let failures = by_kind(sums).flat_map(|([operation, role], kind)| {
            let failures = kind.failures.iter();
            failures.map(move |(failure, count)| {
                ([operation, role, ("failure", failure.as_str())], *count)
            })
        });
        let help = "Failed operations by what the server answered";
        self.counters(&Heading::of("failures", help), failures);
    }

    /// Adds counts of calls and bytes.
    fn bytes(&mut self, sums: &OperationTotals) {
        type Count = fn(&KindSums) -> u64;
        let calls: [(&str, &str, &str, Count); 5] = [
            ("calls", "Calls made for operations", "", |kind| {
                kind.counts.calls
            }),
            ("retransmissions", "Calls sent again", "", |kind| {
                kind.counts.retransmissions
            }),
            (
                "sent",
                "Bytes sent for operations, record marks included",
                BYTES,
                |kind| kind.counts.bytes_sent,
            ),
            (
                "received",
                "Bytes received for operations, record marks included",
                BYTES,
                |kind| kind.counts.bytes_received,
            ),
            ("data", "File data moved", BYTES, |kind| {
                kind.counts.data_bytes
            }),
        ];
        for (name, help, unit, of) in calls {
            let heading = Heading::in_unit(name, help, unit);
            self.counters(
                &heading,
                by_kind(sums).map(|(labels, kind)| (labels, of(kind))),
            );
        }
    }

    /// Adds histograms of times.
    fn times(&mut self, sums: &OperationTotals) {
        let help = "From when an operation was due to its end";
        let heading = Heading::in_unit("response_time", help, SECONDS);
        self.histograms(&heading, sums, |kind| &kind.response_time);
        let help = "From when an operation was sent to its end";
        let heading = Heading::in_unit("service_time", help, SECONDS);
        self.histograms(&heading, sums, |kind| &kind.service_time);
        let help = "From when a measured operation was due until a slot was free for it";
        self.histogram(
            &Heading::in_unit("slot_wait", help, SECONDS),
            &sums.slot_wait,
        );
        let help = "From when a slot was free for a measured operation until it was sent: how late \
                    the load generator was";
        self.histogram(
            &Heading::in_unit("dispatch_delay", help, SECONDS),
            &sums.dispatch_delay,
        );
    }

    /// Adds CPU use and delays of the load generator.
    fn generator(&mut self, sums: &OperationTotals) {
        let stretch = &sums.stretch;
        for (name, help, nanos) in [
            (
                "client_cpu",
                "CPU time of the workers, busy polling included",
                stretch.cpu_nanos,
            ),
            (
                "client_cpu_busy_poll",
                "CPU time of the workers spent busy polling",
                stretch.spun_nanos,
            ),
            (
                "client_cpu_run_delay",
                "Time that workers were ready to run without a CPU",
                stretch.waited_nanos,
            ),
            (
                "client_cpu_spun",
                "Former name of filestone_client_cpu_busy_poll_seconds",
                stretch.spun_nanos,
            ),
            (
                "client_cpu_waited",
                "Former name of filestone_client_cpu_run_delay_seconds",
                stretch.waited_nanos,
            ),
        ] {
            let heading = Heading::in_unit(name, help, SECONDS);
            self.counter(&heading, seconds(nanos));
        }
        let help = "Operations in flight times how long they were; its rate is how many there were";
        let heading = Heading::in_unit("in_flight", help, SECONDS);
        self.counter(&heading, stretch.in_flight_nanos as f64 / 1e9);
        let help = "Replies to calls that were given up before, or answered";
        self.counter(
            &Heading::of("late_replies", help),
            stretch.late_replies as f64,
        );
        let help = "Connections made for clients before runs began";
        self.counter(&Heading::of("connections", help), sums.connections as f64);
        let help = "Connections made again; added when a run is over";
        self.counter(
            &Heading::of("reconnections", help),
            sums.reconnections as f64,
        );
    }
}

fn labels(pairs: impl IntoIterator<Item = (&'static str, impl Into<String>)>) -> Vec<LabelPair> {
    let label = |(name, value): (&str, _)| LabelPair {
        name: name.into(),
        value: Into::into(value),
    };
    pairs.into_iter().map(label).collect()
}

const fn gauge(label: Vec<LabelPair>, value: f64) -> Metric {
    Metric {
        label,
        gauge: Some(Gauge { value }),
        counter: None,
        histogram: None,
    }
}

fn by_kind(sums: &OperationTotals) -> impl Iterator<Item = (KindLabels, &KindSums)> {
    sums.kinds.iter().map(|((kind, role), sums)| {
        let labels = [("operation", kind.name()), ("role", role_name(*role))];
        (labels, sums)
    })
}

/// Returns the name of a role as in records.
const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Measured => "measured",
        Role::Unmeasured => "unmeasured",
    }
}

/// Returns operation counts by outcome. Their sum plus the operations in flight equals `scheduled`.
fn outcomes(ledger: &Ledger) -> [(&'static str, u64); 6] {
    [
        ("ok", ledger.ok),
        ("failed", ledger.failed),
        ("timed_out", ledger.timed_out),
        ("disconnected", ledger.disconnected),
        ("skipped", ledger.skipped),
        ("in_flight", ledger.in_flight),
    ]
}
