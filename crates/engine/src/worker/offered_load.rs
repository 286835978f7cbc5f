//! The offered load of a steered run: written by the coordinator, read by the workers.

use filestone_plan::plan::Plan;
use filestone_workload::time::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

/// The current offered load, and the time since which each worker follows it.
#[derive(Debug)]
pub struct OfferedLoad {
    /// Number of changes of the load.
    changes: AtomicU64,
    /// Operations per second of all clients together, as the bits of an `f64`.
    load: AtomicU64,
    workers: Box<[Follower]>,
}

/// State of one worker.
#[derive(Debug, Default)]
struct Follower {
    /// Number of the last change that the worker has applied.
    change: AtomicU64,
    /// Time at which it was applied.
    since: AtomicU64,
}

/// A load that a worker has not applied yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadUpdate {
    /// Number of the change.
    change: u64,
    /// Operations per second of all clients together.
    pub load_ops_per_s: f64,
}

impl OfferedLoad {
    /// Returns the initial load of a plan.
    pub fn of(plan: &Plan) -> Self {
        let load = plan.arrivals.offered_load();
        Self::new(load.unwrap_or_default(), plan.workers)
    }

    /// Returns an offered load with which all of `workers` workers start.
    pub fn new(load_ops_per_s: f64, workers: u32) -> Self {
        Self {
            changes: AtomicU64::new(0),
            load: AtomicU64::new(load_ops_per_s.to_bits()),
            workers: (0..workers).map(|_| Follower::default()).collect(),
        }
    }

    /// Changes the load; each worker applies it at its next check. Called only by the coordinator.
    pub fn change(&self, load_ops_per_s: f64) {
        self.load.store(load_ops_per_s.to_bits(), Ordering::Relaxed);
        // Release: a reader that sees the change sees its load, too, or a later one.
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Returns the current load, in operations per second.
    pub fn load_ops_per_s(&self) -> f64 {
        f64::from_bits(self.load.load(Ordering::Relaxed))
    }

    /// Returns the time since which all workers follow the current load; `MAX` if one does not yet.
    pub fn followed_since(&self) -> Timestamp {
        let changes = self.changes.load(Ordering::Acquire);
        let since = self.workers.iter().map(|worker| {
            // Acquire: the time was written before the change was marked as applied.
            if worker.change.load(Ordering::Acquire) == changes {
                Timestamp::from_nanos(worker.since.load(Ordering::Relaxed))
            } else {
                Timestamp::MAX
            }
        });
        since.max().unwrap_or(Timestamp::ZERO)
    }

    /// Returns the load that `worker` has not applied yet.
    #[inline]
    pub(super) fn news(&self, worker: u32) -> Option<LoadUpdate> {
        let worker = self.workers.get(worker as usize)?;
        let change = self.changes.load(Ordering::Acquire);
        (worker.change.load(Ordering::Relaxed) != change).then(|| LoadUpdate {
            change,
            load_ops_per_s: self.load_ops_per_s(),
        })
    }

    /// Marks the load of `news` as applied by `worker` from `now` on.
    pub(super) fn follow(&self, worker: u32, news: LoadUpdate, now: Timestamp) {
        if let Some(worker) = self.workers.get(worker as usize) {
            worker.since.store(now.nanos(), Ordering::Relaxed);
            worker.change.store(news.change, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_followed_when_every_worker_has_taken_it_up() {
        let offer = OfferedLoad::new(10.0, 2);
        assert!(offer.news(0).is_none());
        assert_eq!(offer.followed_since(), Timestamp::ZERO);
        offer.change(20.0);
        let first = offer.news(0).expect("a change");
        assert_eq!(first.load_ops_per_s, 20.0);
        offer.follow(0, first, Timestamp::from_nanos(5));
        assert_eq!(offer.followed_since(), Timestamp::MAX);
        let other = offer.news(1).expect("a change");
        offer.follow(1, other, Timestamp::from_nanos(7));
        assert_eq!(offer.followed_since(), Timestamp::from_nanos(7));
    }

    #[test]
    fn a_change_that_comes_between_is_not_lost() {
        let offer = OfferedLoad::new(10.0, 1);
        offer.change(20.0);
        let first = offer.news(0).expect("a change");
        offer.change(30.0);
        offer.follow(0, first, Timestamp::from_nanos(5));
        assert_eq!(offer.followed_since(), Timestamp::MAX);
        assert_eq!(offer.news(0).map(|news| news.load_ops_per_s), Some(30.0));
    }
}
