//! Arrival processes: when operations are due, independently of the operations themselves.
//!
//! In a closed loop an operation is due when its slot becomes free, without an arrival process. An
//! open loop has a schedule that the server cannot slow down: this file.

mod levels;
mod pace;

pub use levels::LevelArrivals;
pub use pace::Pace;

use filestone_plan::plan::{ArrivalsPlan, Plan};
use filestone_workload::random::{Generator, RandomStream, exponential, stream};
use filestone_workload::time::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Largest number of arrivals that are generated in advance: some tenths of a second.
const MERGED_MAX: f64 = 1e7;

/// Returns the number of measured operations of each client, if a count ends the run.
///
/// With random arrivals it is the number of the client's own arrivals among the first `count` of
/// all clients. With equal numbers, fast clients would be done before slow ones, and the load would
/// fall towards the end: with 5,000 operations of 7 clients by 5 %.
pub fn counts_of_clients(plan: &Plan) -> Option<Vec<u64>> {
    let Some(part) = plan.part else {
        return counts_of_all(plan);
    };
    let all = counts_of_all(&Plan {
        clients: part.clients,
        arrivals: part.arrivals,
        count: part.count,
        part: None,
        ..plan.clone()
    })?;
    let own = (0..plan.clients).map(|client| part.number_of(client) as usize);
    Some(own.filter_map(|number| all.get(number).copied()).collect())
}

fn counts_of_all(plan: &Plan) -> Option<Vec<u64>> {
    let count = plan.count?;
    let equal = || (0..plan.clients).filter_map(|client| plan.count_of_client(client));
    let ArrivalsPlan::Poisson {
        offered_load_ops_per_s,
    } = plan.arrivals
    else {
        return Some(equal().collect());
    };
    let before = offered_load_ops_per_s * plan.warm_up_ns as f64 / 1e9;
    // With a very large count, chance gives each client nearly the same number.
    if before + count as f64 > MERGED_MAX {
        return Some(equal().collect());
    }
    let opened = Timestamp::from_nanos(plan.warm_up_ns);
    let clients = 0..plan.clients;
    let mut arrivals: Vec<Arrivals> = clients
        .map(|client| Arrivals::of_client(&plan.arrivals, client, plan.clients, plan.seed))
        .collect();
    let first = arrivals.iter_mut().enumerate();
    let mut due: BinaryHeap<_> = first
        .filter_map(|(client, arrivals)| Some(Reverse((arrivals.next_due()?, client))))
        .collect();
    let mut counts = vec![0; arrivals.len()];
    let mut left = count;
    while left > 0
        && let Some(Reverse((moment, client))) = due.pop()
    {
        if moment >= opened {
            counts[client] += 1;
            left -= 1;
        }
        due.extend(
            arrivals[client]
                .next_due()
                .map(|next| Reverse((next, client))),
        );
    }
    Some(counts)
}

/// Arrival process of one client.
///
/// Applies to open loops only: in a closed loop an operation is due when its slot becomes free.
#[derive(Debug, Clone)]
pub enum Arrivals {
    /// Due when a slot is free.
    Closed,
    /// Operation `k` is due at `first + k × period`.
    Constant {
        /// When the first operation is due.
        first: Timestamp,
        /// Distance in nanoseconds, not rounded: rounding errors would add up.
        period: f64,
        /// Number of the next operation.
        next: u64,
    },
    /// Exponentially distributed distances.
    Poisson {
        /// When the last operation was due, in nanoseconds.
        last: f64,
        /// Mean distance in nanoseconds.
        mean: f64,
        /// Random generator of the distances.
        generator: Box<Generator>,
    },
    /// Alternating between several loads and no load.
    Levels(Box<LevelArrivals>),
}

impl Arrivals {
    /// Returns the arrivals of client `client` of a plan.
    pub fn of(plan: &Plan, client: u32) -> Self {
        let whole = plan.whole();
        Self::of_client(
            &whole.arrivals,
            plan.number_of(client),
            whole.clients,
            plan.seed,
        )
    }

    /// Returns the arrivals of one client of `clients`.
    ///
    /// Constant arrivals of several clients interleave: client `i` of `n` starts `i/n` of its
    /// period later, so the arrivals of all clients together are constant, too.
    pub fn of_client(plan: &ArrivalsPlan, client: u32, clients: u32, seed: u64) -> Self {
        let period = |load: f64| 1e9 * f64::from(clients.max(1)) / load;
        match *plan {
            ArrivalsPlan::Closed => Arrivals::Closed,
            ArrivalsPlan::Constant {
                offered_load_ops_per_s,
            } => {
                let offset = 1e9 * f64::from(client) / offered_load_ops_per_s;
                Arrivals::Constant {
                    first: Timestamp::from_nanos(offset.round() as u64),
                    period: period(offered_load_ops_per_s),
                    next: 0,
                }
            }
            ArrivalsPlan::Poisson {
                offered_load_ops_per_s,
            } => Arrivals::Poisson {
                last: 0.0,
                mean: period(offered_load_ops_per_s),
                generator: Box::new(stream(seed, RandomStream::Arrivals, u64::from(client))),
            },
            ArrivalsPlan::Levels(loads) => {
                let arrivals = LevelArrivals::of_client(loads, client, clients, seed);
                Arrivals::Levels(Box::new(arrivals))
            }
        }
    }

    /// Continues from `now` with another offered load of all clients together; this is client
    /// `client` of `clients`. No effect on a closed loop.
    pub fn change_load(&mut self, load_ops_per_s: f64, client: u32, clients: u32, now: Timestamp) {
        let new_period = 1e9 * f64::from(clients.max(1)) / load_ops_per_s;
        match self {
            // Levels are a separate plan that no controller changes.
            Arrivals::Closed | Arrivals::Levels(_) => {}
            Arrivals::Constant {
                first,
                period,
                next,
            } => {
                let offset = 1e9 * f64::from(client) / load_ops_per_s;
                *first = now.after_nanos(offset.round() as u64);
                *period = new_period;
                *next = 0;
            }
            // The exponential distribution has no memory: what remains until the next
            // arrival is distributed as if the last one had been now.
            Arrivals::Poisson { last, mean, .. } => {
                *last = now.nanos() as f64;
                *mean = new_period;
            }
        }
    }

    /// Returns whether operations become due independently of the server.
    pub fn is_open(&self) -> bool {
        !matches!(self, Arrivals::Closed)
    }

    /// Returns the number of remaining operations that are due from `opened` on and before `end`.
    /// Consumes them.
    pub fn count_due(&mut self, opened: Timestamp, end: Timestamp) -> u64 {
        match self {
            Arrivals::Closed => 0,
            // Computed rather than counted: at a high rate there are many.
            Arrivals::Constant {
                first,
                period,
                next,
            } => {
                // The number of the first operation that is due at `moment` or later.
                let at =
                    |moment: Timestamp| (moment.nanos_since(*first) as f64 / *period).ceil() as u64;
                let begin = at(opened).max(*next);
                let count = at(end).saturating_sub(begin);
                *next = at(end).max(*next);
                count
            }
            Arrivals::Poisson { .. } | Arrivals::Levels(_) => {
                let mut count = 0;
                while let Some(due) = self.next_due().filter(|due| *due < end) {
                    count += u64::from(due >= opened);
                }
                count
            }
        }
    }

    /// Returns when the next operation is due; `None` for a closed loop.
    #[inline]
    pub fn next_due(&mut self) -> Option<Timestamp> {
        match self {
            Arrivals::Closed => None,
            Arrivals::Constant {
                first,
                period,
                next,
            } => {
                let due = first.after_nanos((*period * *next as f64).round() as u64);
                *next += 1;
                Some(due)
            }
            Arrivals::Poisson {
                last,
                mean,
                generator,
            } => {
                *last += exponential(generator, *mean);
                Some(Timestamp::from_nanos(last.round() as u64))
            }
            Arrivals::Levels(levels) => Some(levels.next_due()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_arrivals_do_not_drift() {
        let plan = ArrivalsPlan::Constant {
            offered_load_ops_per_s: 3.0,
        };
        let mut arrivals = Arrivals::of_client(&plan, 0, 1, 1);
        let due: Vec<u64> = (0..4)
            .filter_map(|_| arrivals.next_due())
            .map(Timestamp::nanos)
            .collect();
        assert_eq!(due, [0, 333_333_333, 666_666_667, 1_000_000_000]);
        let last = (0..2_999_997).filter_map(|_| arrivals.next_due()).last();
        assert_eq!(last, Some(Timestamp::from_nanos(1_000_000_000_000_000)));
    }

    #[test]
    fn what_is_still_due_is_counted_as_if_one_by_one() {
        let at = Timestamp::from_nanos;
        for load in [3.0, 1000.0, 999.9] {
            let plan = ArrivalsPlan::Constant {
                offered_load_ops_per_s: load,
            };
            for (opened, end) in [
                (0, 1),
                (0, 2_000_000_000),
                (500_000_000, 1_999_999_999),
                (5, 5),
            ] {
                let mut arrivals = Arrivals::of_client(&plan, 0, 1, 1);
                arrivals.next_due();
                let one_by_one = {
                    let mut arrivals = arrivals.clone();
                    std::iter::from_fn(|| arrivals.next_due())
                        .take_while(|due| *due < at(end))
                        .filter(|due| *due >= at(opened))
                        .count() as u64
                };
                assert_eq!(
                    arrivals.count_due(at(opened), at(end)),
                    one_by_one,
                    "{load} {opened} {end}"
                );
            }
        }
    }

    #[test]
    fn another_load_begins_at_once_and_interleaves_as_the_first_did() {
        let plan = ArrivalsPlan::Constant {
            offered_load_ops_per_s: 1000.0,
        };
        let mut due: Vec<u64> = (0..4)
            .flat_map(|client| {
                let mut arrivals = Arrivals::of_client(&plan, client, 4, 1);
                arrivals.next_due();
                arrivals.change_load(500.0, client, 4, Timestamp::from_nanos(7_000_000));
                (0..3)
                    .filter_map(move |_| arrivals.next_due())
                    .map(Timestamp::nanos)
            })
            .collect();
        due.sort_unstable();
        let expected: Vec<u64> = (0..12).map(|k| 7_000_000 + k * 2_000_000).collect();
        assert_eq!(due, expected);
        let mut poisson = Arrivals::of_client(
            &ArrivalsPlan::Poisson {
                offered_load_ops_per_s: 1.0,
            },
            0,
            1,
            3,
        );
        poisson.change_load(1000.0, 0, 1, Timestamp::from_nanos(5_000_000_000));
        let last = (0..100_000).filter_map(|_| poisson.next_due()).last();
        let seconds = last.map_or(0.0, |due| due.nanos() as f64 / 1e9 - 5.0);
        // 100,000 of 1,000 per second: 100 s, with a standard error of 0.3 %.
        assert!((seconds / 100.0 - 1.0).abs() < 0.02, "{seconds}");
    }

    #[test]
    fn a_count_of_random_arrivals_ends_for_all_clients_at_once() {
        let offered_load_ops_per_s = 100.0;
        let arrivals = ArrivalsPlan::Poisson {
            offered_load_ops_per_s,
        };
        let mut plan = filestone_plan::examples::example();
        (plan.clients, plan.count, plan.duration_ns) = (7, Some(5000), None);
        (plan.arrivals, plan.warm_up_ns) = (arrivals, 1_000_000_000);
        let opened = Timestamp::from_nanos(plan.warm_up_ns);
        let counts = counts_of_clients(&plan).expect("a count");
        assert_eq!(counts.iter().sum::<u64>(), 5000);
        let last_due = |client: u32, count: u64| {
            let mut arrivals = Arrivals::of_client(&plan.arrivals, client, 7, plan.seed);
            let due = std::iter::from_fn(|| arrivals.next_due()).filter(|due| *due >= opened);
            due.take(count as usize).last().map_or(0, Timestamp::nanos)
        };
        let ends = (0..7).zip(&counts).map(|(client, n)| last_due(client, *n));
        let last = ends.max().unwrap_or(0);
        let further = (0..7)
            .zip(&counts)
            .map(|(client, n)| last_due(client, n + 1));
        assert!(further.min().is_some_and(|next| next > last));
        // 3 standard deviations of 1/√5000.
        let seconds = (last - plan.warm_up_ns) as f64 / 1e9;
        assert!((seconds / 50.0 - 1.0).abs() < 0.042, "{seconds}");
    }

    #[test]
    fn a_count_of_other_arrivals_is_shared_out_evenly() {
        let mut plan = filestone_plan::examples::example();
        (plan.clients, plan.count, plan.arrivals) = (3, Some(10), ArrivalsPlan::Closed);
        assert_eq!(counts_of_clients(&plan), Some(vec![4, 3, 3]));
        plan.arrivals = ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 10.0,
        };
        plan.count = Some(u64::MAX);
        let counts = counts_of_clients(&plan).expect("a count");
        assert_eq!(counts.iter().sum::<u64>(), u64::MAX);
        plan.count = None;
        assert_eq!(counts_of_clients(&plan), None);
    }

    #[test]
    fn clients_interleave_to_one_constant_stream() {
        let plan = ArrivalsPlan::Constant {
            offered_load_ops_per_s: 1000.0,
        };
        let mut due: Vec<u64> = (0..4)
            .flat_map(|client| {
                let mut arrivals = Arrivals::of_client(&plan, client, 4, 1);
                (0..250)
                    .filter_map(move |_| arrivals.next_due())
                    .map(Timestamp::nanos)
            })
            .collect();
        due.sort_unstable();
        assert!(
            due.iter()
                .enumerate()
                .all(|(k, due)| *due == k as u64 * 1_000_000)
        );
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_the_variance_of_the_exponential() {
        let plan = ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 1000.0,
        };
        let mut arrivals = Arrivals::of_client(&plan, 0, 1, 7);
        let mut last = 0.0;
        let n = 200_000;
        let gaps: Vec<f64> = (0..n)
            .filter_map(|_| arrivals.next_due())
            .map(|due| {
                let gap = due.nanos() as f64 - last;
                last = due.nanos() as f64;
                gap
            })
            .collect();
        let mean = gaps.iter().sum::<f64>() / f64::from(n);
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / f64::from(n);
        // Standard errors: 1/sqrt(n) = 0.22 % of the mean, sqrt(8/n) = 0.63 % of the variance.
        assert!((mean / 1e6 - 1.0).abs() < 0.01, "{mean}");
        assert!((variance / 1e12 - 1.0).abs() < 0.03, "{variance}");
    }
}
