//! Counts open event streams and fetched reports.

use axum::body::Bytes;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a wait checks whether all readers have fetched the report.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Counts open event streams. Clones share the same counters.
#[derive(Debug, Clone, Default)]
pub struct Watchers(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    streams: AtomicUsize,
    taken: AtomicUsize,
    report: Mutex<Option<Bytes>>,
}

/// An open stream of events; removed from the count on drop.
#[derive(Debug)]
pub struct Watching(Watchers);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Watchers {
    /// Counts another stream.
    pub fn watch(&self) -> Watching {
        self.0.streams.fetch_add(1, Ordering::Relaxed);
        Watching(self.clone())
    }

    /// Returns the report and counts the fetch.
    pub fn report(&self) -> Option<Bytes> {
        let report = self.0.report.lock().unwrap_or_else(PoisonError::into_inner);
        if report.is_some() {
            self.0.taken.fetch_add(1, Ordering::Relaxed);
        }
        report.clone()
    }

    /// Makes the report available.
    pub fn offer(&self, report: String) {
        let mut place = self.0.report.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Bytes::from(report));
    }

    /// Waits until all readers have fetched the report, at most for `most`.
    pub fn wait(&self, most: Duration) {
        let end = Instant::now() + most;
        while self.0.taken.load(Ordering::Relaxed) < self.0.streams.load(Ordering::Relaxed)
            && Instant::now() < end
        {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
