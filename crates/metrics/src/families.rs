//! The metrics: their names, units and help, and where their values are.
//!
//! Names by Prometheus' conventions: base units, which stand last; `_total` behind counters and `_info`
//! behind what is constant, both of which the library adds.

use crate::Snapshot;
use crate::histograms::{encode, seconds};
use crate::standing::Standing;
use crate::sums::{KindSums, Sums};
use crate::times::Times;
use filestone_model::measure::{Ledger, Role, RunPhase};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, EncodeLabelSet, MetricEncoder,
    NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;
use prometheus_client::registry::Unit;
use std::fmt;

/// What all names begin with.
pub const PREFIX: &str = "filestone";

/// The label of a kind of operation, and of its role.
type KindLabels = [(&'static str, &'static str); 2];

impl Collector for Snapshot {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families { encoder };
        families.standing(&self.standing)?;
        families.operations(&self.sums)?;
        families.bytes(&self.sums)?;
        families.times(&self.sums)?;
        families.generator(&self.sums)
    }
}

/// What is written of one family.
struct Heading<'h> {
    name: &'h str,
    help: &'h str,
    unit: Option<&'h Unit>,
}

impl<'h> Heading<'h> {
    const fn of(name: &'h str, help: &'h str) -> Self {
        Self {
            name,
            help,
            unit: None,
        }
    }

    const fn in_unit(self, unit: &'h Unit) -> Self {
        Self {
            unit: Some(unit),
            ..self
        }
    }
}

/// Writes families.
struct Families<'e> {
    encoder: DescriptorEncoder<'e>,
}

impl Families<'_> {
    fn family(
        &mut self,
        heading: &Heading<'_>,
        kind: MetricType,
        write: impl FnOnce(MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let Heading { name, help, unit } = heading;
        write(self.encoder.encode_descriptor(name, help, *unit, kind)?)
    }

    fn counters<L: EncodeLabelSet, V: EncodeCounterValue>(
        &mut self,
        heading: &Heading<'_>,
        values: impl IntoIterator<Item = (L, V)>,
    ) -> fmt::Result {
        self.family(heading, MetricType::Counter, |mut family| {
            values.into_iter().try_for_each(|(labels, value)| {
                family
                    .encode_family(&labels)?
                    .encode_counter(&value, None::<&Exemplar<NoLabelSet, u64>>)
            })
        })
    }

    fn counter(&mut self, heading: &Heading<'_>, value: impl EncodeCounterValue) -> fmt::Result {
        self.family(heading, MetricType::Counter, |mut counter| {
            counter.encode_counter(&value, None::<&Exemplar<NoLabelSet, u64>>)
        })
    }

    fn gauges<L: EncodeLabelSet, V: EncodeGaugeValue>(
        &mut self,
        heading: &Heading<'_>,
        values: impl IntoIterator<Item = (L, V)>,
    ) -> fmt::Result {
        self.family(heading, MetricType::Gauge, |mut family| {
            values
                .into_iter()
                .try_for_each(|(labels, value)| family.encode_family(&labels)?.encode_gauge(&value))
        })
    }

    fn gauge(&mut self, heading: &Heading<'_>, value: impl EncodeGaugeValue) -> fmt::Result {
        self.family(heading, MetricType::Gauge, |mut gauge| {
            gauge.encode_gauge(&value)
        })
    }

    fn info(&mut self, heading: &Heading<'_>, labels: &impl EncodeLabelSet) -> fmt::Result {
        self.family(heading, MetricType::Info, |mut info| {
            info.encode_info(labels)
        })
    }

    fn histogram(&mut self, heading: &Heading<'_>, times: &Times) -> fmt::Result {
        let heading = heading.in_seconds();
        self.family(&heading, MetricType::Histogram, |mut histogram| {
            encode(times, &mut histogram)
        })
    }

    fn histograms(
        &mut self,
        heading: &Heading<'_>,
        sums: &Sums,
        of: fn(&KindSums) -> &Times,
    ) -> fmt::Result {
        let heading = heading.in_seconds();
        self.family(&heading, MetricType::Histogram, |mut family| {
            by_kind(sums).try_for_each(|(labels, kind)| {
                encode(of(kind), &mut family.encode_family(&labels)?)
            })
        })
    }

    /// Which run goes on, how far it is, with whom.
    fn standing(&mut self, standing: &Standing) -> fmt::Result {
        let tool = &standing.tool;
        let build = [
            ("version", tool.version.as_str()),
            ("profile", tool.profile.as_str()),
        ];
        self.info(&Heading::of("build", "The program that measures"), &build)?;
        let phase = |phase: RunPhase| {
            let is_now = standing.phase == Some(phase);
            ([("phase", phase.name())], u32::from(is_now))
        };
        self.gauges(
            &Heading::of("run_phase", "1 for the part of the run that goes on"),
            RunPhase::ALL.map(phase),
        )?;
        let ended = standing.ended.iter();
        self.counters(
            &Heading::of("runs", "Runs that are over, by how they ended"),
            ended.map(|(end, count)| ([("end", *end)], *count)),
        )?;
        if let Some(caveats) = standing.caveats {
            let help = "Reasons to doubt the figures of the last run that is over";
            self.gauge(&Heading::of("run_caveats", help), caveats)?;
        }
        if let Some(run) = &standing.run {
            let about = Heading::of("run", "The run that goes on, or went on last");
            self.info(&about, &run.labels)?;
            self.gauge(&Heading::of("clients", "Simulated clients"), run.clients)?;
            let help = "Operations that each client may have in flight";
            self.gauge(&Heading::of("client_slots", help), run.in_flight)?;
            let help = "Threads of the load generator";
            self.gauge(&Heading::of("workers", help), run.workers)?;
        }
        if let Some(load) = standing.offered_load_ops_per_s {
            let help = "Operations that are due per second; absent in a closed loop";
            self.gauge(
                &Heading::of("offered_load_operations_per_second", help),
                load,
            )?;
        }
        self.fleet(standing)
    }

    fn fleet(&mut self, standing: &Standing) -> fmt::Result {
        if standing.fleet.is_empty() {
            return Ok(());
        }
        let groups = standing.fleet.iter().flat_map(|group| {
            let states = group.clients.iter();
            states.map(|(state, clients)| {
                let labels = [("group", group.group.as_str()), ("state", state.name())];
                (labels, *clients)
            })
        });
        let help = "Clients of a fleet, by group and by what they are doing";
        self.gauges(&Heading::of("fleet_clients", help), groups)
    }

    /// The ledger.
    fn operations(&mut self, sums: &Sums) -> fmt::Result {
        let help = "Operations that were due in a measured window";
        self.counters(
            &Heading::of("operations_scheduled", help),
            by_kind(sums).map(|(labels, kind)| (labels, kind.ledger.scheduled)),
        )?;
        let outcomes = by_kind(sums).flat_map(|([operation, role], kind)| {
            let outcomes = outcomes(&kind.ledger);
            outcomes.map(|(outcome, count)| ([operation, role, ("outcome", outcome)], count))
        });
        let help = "Operations that were due in a measured window, by what became of them; \
                    in_flight are those that were unanswered when a run ended";
        self.counters(&Heading::of("operations", help), outcomes)?;
        let help = "Operations that have begun and are not accounted for in an interval yet";
        self.gauges(
            &Heading::of("operations_in_flight", help),
            by_kind(sums).map(|(labels, kind)| (labels, kind.in_flight())),
        )?;
        let failures = by_kind(sums).flat_map(|([operation, role], kind)| {
            let failures = kind.failures.iter();
            failures.map(move |(failure, count)| {
                ([operation, role, ("failure", failure.as_str())], *count)
            })
        });
        let help = "Failed operations by what the server answered";
        self.counters(&Heading::of("failures", help), failures)
    }

    /// Calls and bytes.
    fn bytes(&mut self, sums: &Sums) -> fmt::Result {
        type Count = fn(&KindSums) -> u64;
        let calls: [(&str, &str, Option<&Unit>, Count); 5] = [
            ("calls", "Calls made for operations", None, |kind| {
                kind.counts.calls
            }),
            ("retransmissions", "Calls sent again", None, |kind| {
                kind.counts.retransmissions
            }),
            (
                "sent",
                "Bytes sent for operations, record marks included",
                Some(&Unit::Bytes),
                |kind| kind.counts.bytes_sent,
            ),
            (
                "received",
                "Bytes received for operations, record marks included",
                Some(&Unit::Bytes),
                |kind| kind.counts.bytes_received,
            ),
            ("data", "File data moved", Some(&Unit::Bytes), |kind| {
                kind.counts.data_bytes
            }),
        ];
        for (name, help, unit, of) in calls {
            let heading = Heading { name, help, unit };
            self.counters(
                &heading,
                by_kind(sums).map(|(labels, kind)| (labels, of(kind))),
            )?;
        }
        Ok(())
    }

    /// Histograms.
    fn times(&mut self, sums: &Sums) -> fmt::Result {
        let help = "From when an operation was due to its end";
        let heading = Heading::of("response_time", help);
        self.histograms(&heading, sums, |kind| &kind.response_time)?;
        let help = "From when an operation was sent to its end";
        let heading = Heading::of("service_time", help);
        self.histograms(&heading, sums, |kind| &kind.service_time)?;
        let help = "From when a measured operation was due until a slot was free for it";
        self.histogram(&Heading::of("slot_wait", help), &sums.slot_wait)?;
        let help = "From when a slot was free for a measured operation until it was sent: how late \
                    the load generator was";
        self.histogram(&Heading::of("dispatch_delay", help), &sums.dispatch_delay)
    }

    /// What the load generator itself came to.
    fn generator(&mut self, sums: &Sums) -> fmt::Result {
        let stretch = &sums.stretch;
        for (name, help, nanos) in [
            (
                "client_cpu",
                "Processor time of the workers, what they spent looking included",
                stretch.cpu_nanos,
            ),
            (
                "client_cpu_spun",
                "How much of it they spent looking for what had not come",
                stretch.spun_nanos,
            ),
            (
                "client_cpu_waited",
                "Time that workers were ready to run and had no processor",
                stretch.waited_nanos,
            ),
        ] {
            let heading = Heading::of(name, help).in_unit(&Unit::Seconds);
            self.counter(&heading, seconds(nanos))?;
        }
        let help = "Operations in flight times how long they were; its rate is how many there were";
        let heading = Heading::of("in_flight", help).in_unit(&Unit::Seconds);
        self.counter(&heading, stretch.in_flight_nanos as f64 / 1e9)?;
        let help = "Replies to calls that were given up before, or answered";
        self.counter(&Heading::of("late_replies", help), stretch.late_replies)?;
        let help = "Connections made for clients before runs began";
        self.counter(&Heading::of("connections", help), sums.connections)?;
        let help = "Connections made again; added when a run is over";
        self.counter(&Heading::of("reconnections", help), sums.reconnections)
    }
}

impl<'h> Heading<'h> {
    const fn in_seconds(&self) -> Self {
        Self {
            name: self.name,
            help: self.help,
            unit: Some(&Unit::Seconds),
        }
    }
}

fn by_kind(sums: &Sums) -> impl Iterator<Item = (KindLabels, &KindSums)> {
    sums.kinds.iter().map(|((kind, role), sums)| {
        let labels = [("operation", kind.name()), ("role", role_name(*role))];
        (labels, sums)
    })
}

/// As records have it.
const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Measured => "measured",
        Role::Unmeasured => "companion",
    }
}

/// What became of operations; together with those in flight it is what was scheduled.
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
