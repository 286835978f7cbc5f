use super::*;
use crate::queueing::{DeterministicServers, MarkovServers};
use crate::queueing::{OverloadPenalty, ServiceDistribution, Stall};

/// Offers a sequence of loads, each for some intervals, and stores the results.
struct Script {
    loads: Vec<f64>,
    intervals_each: usize,
    seen: Vec<(f64, bool, IntervalRecord)>,
}

impl Script {
    fn new(loads: &[f64], intervals_each: usize) -> Self {
        Self {
            loads: loads.to_vec(),
            intervals_each,
            seen: Vec::new(),
        }
    }

    /// Mean response time and number of ended operations, over the whole intervals at a load.
    fn at(&self, load: f64) -> (f64, u64) {
        let whole = self.seen.iter().filter(|seen| seen.0 == load && seen.1);
        let (sum, count) = whole.fold((0, 0), |(sum, count), (_, _, interval)| {
            let times = &interval.kinds[0].response_time_ns;
            (sum + times.sum, count + times.count)
        });
        (sum as f64 / count as f64, count)
    }
}

impl LoadController for Script {
    fn first(&mut self) -> f64 {
        self.loads[0]
    }

    fn next(&mut self, observed: &IntervalResult<'_>) -> NextLoad {
        let load = observed.offered_load_ops_per_s;
        self.seen
            .push((load, observed.is_whole, observed.interval.clone()));
        if !self.seen.len().is_multiple_of(self.intervals_each) {
            return NextLoad::Hold;
        }
        match self.loads.get(self.seen.len() / self.intervals_each) {
            Some(load) => NextLoad::Set(*load),
            None => NextLoad::Finish,
        }
    }

    fn progress(&self) -> String {
        String::new()
    }
}

#[test]
fn mean_response_times_are_those_of_the_formulas() {
    for servers in [1, 4] {
        let service_s = f64::from(servers) * 1e-4;
        let (mean_ns, ns) = (service_s * 1e9, (service_s * 1e9) as u64);
        let markov = MarkovServers { servers, service_s };
        let fixed = DeterministicServers { servers, service_s };
        let cases = [
            (
                ServiceDistribution::Exponential { mean_ns },
                markov.response_mean(7000.0),
            ),
            (
                ServiceDistribution::Fixed { ns },
                fixed.response_mean(7000.0),
            ),
        ];
        for (service, truth) in cases {
            let mut script = Script::new(&[7000.0], 200);
            let run = SimulatedRun::new(SimulatedServer::new(servers, service), 1);
            let end = run.steer(&mut script);
            assert_eq!((end.is_finished, end.ledger.missing()), (true, 0));
            let error = script.at(7000.0).0 / 1e9 / truth - 1.0;
            // 350,000 operations at 70 %: a standard error of about 1 %.
            assert!(error.abs() < 0.03, "{servers} × {service:?}: {error}");
        }
    }
}

#[test]
fn constant_arrivals_at_an_idle_server_take_the_service_time_and_the_delay() {
    let mut server = SimulatedServer::new(1, ServiceDistribution::Fixed { ns: 100_000 });
    server.delay_ns = 1_000_000;
    let run = SimulatedRun {
        arrivals: SimulatedArrivals::Constant,
        ..SimulatedRun::new(server, 1)
    };
    let mut script = Script::new(&[1000.0], 4);
    run.steer(&mut script);
    for (_, _, interval) in &script.seen {
        let times = &interval.kinds[0].response_time_ns;
        assert_eq!((times.min, times.max), (1_100_000, 1_100_000));
    }
}

#[test]
fn an_overload_does_not_follow_the_run_to_its_next_load() {
    let server = SimulatedServer::new(1, ServiceDistribution::Fixed { ns: 1_000_000 });
    let run = SimulatedRun::new(server, 1);
    let mut script = Script::new(&[4000.0, 100.0], 20);
    let end = run.steer(&mut script);
    assert_eq!(end.ledger.missing(), 0);
    // In five seconds at four times the capacity 15,000 operations could not end; 1024 of them had
    // a slot and are answered.
    let skipped = end.ledger.skipped as f64;
    assert!(
        (skipped / (15_000.0 - 1024.0) - 1.0).abs() < 0.03,
        "{skipped}"
    );
    let last = &script.seen[39].2.kinds[0].response_time_ns;
    assert!(last.p50 < 2_000_000, "{}", last.p50);
    assert!(!script.seen[20].1);
    assert!(script.seen[21].1);
}

#[test]
fn response_times_count_from_when_an_operation_was_due() {
    // One slot: operations that wait for it wait outside of the server.
    let server = SimulatedServer::new(4, ServiceDistribution::Fixed { ns: 1_000_000 });
    let run = SimulatedRun {
        slots: 1,
        arrivals: SimulatedArrivals::Constant,
        ..SimulatedRun::new(server, 1)
    };
    let mut script = Script::new(&[2000.0], 4);
    run.steer(&mut script);
    let last = &script.seen[3].2.kinds[0];
    assert_eq!(last.service_time_ns.max, 1_000_000);
    assert!(last.response_time_ns.p50 > 400_000_000);
}

#[test]
fn a_stall_of_a_second_is_seen_by_all_that_were_due_in_it() {
    // 1000 operations per second, 100 µs each, the server frozen from second 4 to 5.
    let mut server = SimulatedServer::new(1, ServiceDistribution::Fixed { ns: 100_000 });
    server.stalls.push(Stall {
        start_ns: 4_000_000_000,
        lasts_ns: 1_000_000_000,
    });
    let run = SimulatedRun {
        arrivals: SimulatedArrivals::Constant,
        slots: 100_000,
        ..SimulatedRun::new(server, 1)
    };
    let mut script = Script::new(&[1000.0], 40);
    run.steer(&mut script);
    let times = script
        .seen
        .iter()
        .map(|seen| &seen.2.kinds[0].response_time_ns);
    let times: Vec<_> = times.collect();
    let all =
        filestone_workload::recording::DistributionRecord::merged(&times).expect("own encoding");
    assert!((100_000..100_100).contains(&all.p50), "{}", all.p50);
    // The queue of 1000 then shrinks by nine tenths of the service rate.
    assert!(
        all.max >= 1_000_000_000 && all.max < 1_001_000_000,
        "{}",
        all.max
    );
    assert!((all.p95 as f64 / 550e6 - 1.0).abs() < 0.05, "{}", all.p95);
}

#[test]
fn a_memory_makes_the_way_down_slower_than_the_way_up() {
    let mut server = SimulatedServer::new(1, ServiceDistribution::Exponential { mean_ns: 1e6 });
    server.memory = Some(OverloadPenalty {
        in_flight: 500,
        factor: 1.5,
        lasts_ns: 60_000_000_000,
    });
    let run = SimulatedRun::new(server, 3);
    let mut script = Script::new(&[300.0, 1500.0, 301.0], 80);
    run.steer(&mut script);
    assert!(script.at(301.0).0 > 1.4 * script.at(300.0).0);
}
