//! Who watches, and who has taken the report.

use axum::body::Bytes;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often it is looked whether all have taken the report.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Counts who watches. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Watchers(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    streams: AtomicUsize,
    taken: AtomicUsize,
    report: Mutex<Option<Bytes>>,
}

/// One stream of events, for as long as it is open.
#[derive(Debug)]
pub struct Watching(Watchers);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Watchers {
    /// One more.
    pub fn watch(&self) -> Watching {
        self.0.streams.fetch_add(1, Ordering::Relaxed);
        Watching(self.clone())
    }

    /// The report, for one who takes it.
    pub fn report(&self) -> Option<Bytes> {
        let report = self.0.report.lock().unwrap_or_else(PoisonError::into_inner);
        if report.is_some() {
            self.0.taken.fetch_add(1, Ordering::Relaxed);
        }
        report.clone()
    }

    /// There is a report from now on.
    pub fn offer(&self, report: String) {
        let mut place = self.0.report.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Bytes::from(report));
    }

    /// Waits until all who watch have taken the report, but no longer than this.
    pub fn wait(&self, most: Duration) {
        let end = Instant::now() + most;
        while self.0.taken.load(Ordering::Relaxed) < self.0.streams.load(Ordering::Relaxed)
            && Instant::now() < end
        {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
