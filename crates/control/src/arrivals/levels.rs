//! Arrivals that alternate between several loads and no load, so that the cost of a load can be
//! separated from the idle cost, and the levels from each other.
//!
//! Time is divided into cycles. Each cycle has steps of equal length: one without arrivals, and one
//! at each multiple of the lowest load up to the highest, in random order, and then all of them
//! once more in reverse order. A linear drift, such as of the CPU frequency, so affects each load
//! equally. Within a step operations are due at equal distances, the first half a distance after
//! its start.

use filestone_plan::plan::LevelsPlan;
use filestone_workload::random::{Generator, RandomStream, RngExt, stream};
use filestone_workload::time::Timestamp;

/// When the operations of one of several clients are due.
#[derive(Debug, Clone)]
pub struct LevelArrivals {
    loads: LevelsPlan,
    client: f64,
    clients: f64,
    seed: u64,
    /// Levels of the first half of the current cycle.
    order: Box<[u32]>,
    /// Current step, counted from the start of the run.
    step: u64,
    /// Number of its operations that were due.
    next: u64,
}

impl LevelArrivals {
    /// Creates the arrivals of client `client` of `clients`. All clients have the same order of
    /// levels.
    pub fn of_client(loads: LevelsPlan, client: u32, clients: u32, seed: u64) -> Self {
        let mut arrivals = Self {
            loads,
            client: client.into(),
            clients: clients.max(1).into(),
            seed,
            order: (0..=loads.levels).collect(),
            step: 0,
            next: 0,
        };
        arrivals.shuffle();
        arrivals
    }

    /// Returns when the next operation is due; [`Timestamp::MAX`] if no step has one.
    pub fn next_due(&mut self) -> Timestamp {
        // If a whole cycle has no operation, no later one has.
        for _ in 0..=2 * self.order.len() {
            if let Some(offset_ns) = self.offset_in_step() {
                self.next += 1;
                return Timestamp::from_nanos(self.step_start_ns().saturating_add(offset_ns));
            }
            self.advance();
        }
        Timestamp::MAX
    }

    fn step_start_ns(&self) -> u64 {
        self.step.saturating_mul(self.loads.level_ns)
    }

    /// Returns the level of the current step.
    fn level(&self) -> Option<u32> {
        let half = self.order.len();
        let place = (self.step % self.steps()) as usize;
        // Forward, and in reverse.
        let place = place.min(2 * half - 1 - place);
        self.order.get(place).copied()
    }

    /// Returns the number of steps of a cycle.
    fn steps(&self) -> u64 {
        2 * self.order.len().max(1) as u64
    }

    /// Returns the time from the start of the current step to its next operation, if it has
    /// another.
    fn offset_in_step(&self) -> Option<u64> {
        let level = self.level()?;
        let load = self.loads.load_ops_per_s(level);
        let number = self.next as f64 * self.clients + self.client + 0.5;
        let offset = (number * 1e9 / load).round();
        (load > 0.0 && offset < self.loads.level_ns as f64).then_some(offset as u64)
    }

    fn advance(&mut self) {
        self.step += 1;
        self.next = 0;
        if self.step.is_multiple_of(self.steps()) {
            self.shuffle();
        }
    }

    /// Shuffles the levels for the cycle that starts with the current step.
    fn shuffle(&mut self) {
        let cycle = self.step / self.steps();
        let mut random: Generator = stream(self.seed, RandomStream::Levels, cycle);
        // From the same order each time, so that the order of a cycle does not depend on earlier
        // ones.
        for (level, place) in (0..).zip(self.order.iter_mut()) {
            *place = level;
        }
        for last in (1..self.order.len()).rev() {
            self.order.swap(last, random.random_range(0..=last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const LOADS: LevelsPlan = LevelsPlan {
        highest_load_ops_per_s: 3000.0,
        levels: 3,
        level_ns: 100 * MS,
    };

    /// Counts the operations due in each step before `end_ns`.
    fn per_step(clients: u32, seed: u64, end_ns: u64) -> Vec<u64> {
        let mut counts = vec![0; (end_ns / LOADS.level_ns) as usize];
        for client in 0..clients {
            let mut arrivals = LevelArrivals::of_client(LOADS, client, clients, seed);
            let due = std::iter::from_fn(|| Some(arrivals.next_due().nanos()));
            for due in due.take_while(|due| *due < end_ns) {
                counts[(due / LOADS.level_ns) as usize] += 1;
            }
        }
        counts
    }

    /// A tenth of a second each of 0, 1,000, 2,000 and 3,000 operations per second, in both orders,
    /// in every cycle, for any number of clients.
    #[test]
    fn every_cycle_has_each_load_there_and_back() {
        for clients in [1, 7] {
            let counts = per_step(clients, 3, 100 * LOADS.cycle_ns());
            for cycle in counts.chunks(8) {
                let back: Vec<u64> = cycle.iter().rev().copied().collect();
                assert_eq!(cycle, back, "{clients} clients");
                let mut there = cycle[..4].to_vec();
                there.sort_unstable();
                assert_eq!(there, [0, 100, 200, 300], "{clients} clients");
            }
        }
    }

    #[test]
    fn the_order_is_by_chance_and_by_the_seed() {
        let end = 24 * LOADS.cycle_ns();
        let counts = per_step(1, 3, end);
        assert_eq!(counts, per_step(1, 3, end));
        assert_ne!(counts, per_step(1, 4, end));
        let firsts: std::collections::BTreeSet<_> = counts.chunks(8).map(|it| it[0]).collect();
        assert_eq!(firsts.len(), 4, "{counts:?}");
    }

    /// Within a step the operations of all clients are at equal distances, the first after half of
    /// one.
    #[test]
    fn clients_interleave() {
        let mut due: Vec<u64> = (0..2)
            .flat_map(|client| {
                let mut arrivals = LevelArrivals::of_client(LOADS, client, 2, 5);
                (0..300).map(move |_| arrivals.next_due().nanos())
            })
            .collect();
        due.sort_unstable();
        let apart = due.windows(2).map(|pair| pair[1] - pair[0]);
        let within: Vec<u64> = apart.filter(|apart| *apart < 2 * MS).collect();
        let is_even = |apart: &u64| {
            [333_333, 333_334, 500_000, 1_000_000].contains(apart) || *apart > 333_334
        };
        assert!(within.iter().all(is_even), "{within:?}");
        assert_eq!(due.len(), 600);
    }

    #[test]
    fn what_never_comes_is_never_due() {
        let rare = LevelsPlan {
            highest_load_ops_per_s: 1.0,
            ..LOADS
        };
        let mut arrivals = LevelArrivals::of_client(rare, 0, 1, 1);
        assert_eq!(arrivals.next_due(), Timestamp::MAX);
    }
}
