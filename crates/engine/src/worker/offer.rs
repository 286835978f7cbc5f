//! The offered load of a steered run: one writer, the coordinator; the workers read it.

use filestone_model::time::Moment;
use std::sync::atomic::{AtomicU64, Ordering};

/// Says that a worker has not followed the last offer yet.
const NOT_YET: u64 = u64::MAX;

/// What is offered at present, and since when each worker follows.
#[derive(Debug)]
pub struct Offer {
    /// Operations per second of all clients together, as the bits of an `f64`.
    load: AtomicU64,
    /// When each worker took up the present load; [`NOT_YET`] before.
    followed: Box<[AtomicU64]>,
}

impl Offer {
    /// An offer that all of `workers` workers begin with.
    pub fn new(load_ops_per_s: f64, workers: u32) -> Self {
        Self {
            load: AtomicU64::new(load_ops_per_s.to_bits()),
            followed: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Offers another load from when each worker looks next.
    pub fn change(&self, load_ops_per_s: f64) {
        self.load.store(load_ops_per_s.to_bits(), Ordering::Relaxed);
        // Release: whoever sees that there is news sees the load, too.
        for followed in &self.followed {
            followed.store(NOT_YET, Ordering::Release);
        }
    }

    /// The load at present, in operations per second.
    pub fn load_ops_per_s(&self) -> f64 {
        f64::from_bits(self.load.load(Ordering::Relaxed))
    }

    /// Since when all workers follow the present load; `NEVER` while one does not.
    pub fn followed_since(&self) -> Moment {
        let followed = self.followed.iter();
        let since = followed
            .map(|followed| followed.load(Ordering::Acquire))
            .max();
        Moment::from_nanos(since.unwrap_or(0))
    }

    /// The load that `worker` has not taken up yet.
    #[inline]
    pub(super) fn news(&self, worker: u32) -> Option<f64> {
        let followed = self.followed.get(worker as usize)?;
        (followed.load(Ordering::Acquire) == NOT_YET).then(|| self.load_ops_per_s())
    }

    /// `worker` offers the present load from `now` on.
    pub(super) fn follow(&self, worker: u32, now: Moment) {
        if let Some(followed) = self.followed.get(worker as usize) {
            followed.store(now.nanos(), Ordering::Release);
        }
    }
}
