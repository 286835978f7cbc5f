//! The metrics of a command as a router for Prometheus scrapes.
//!
//! Read-only and cheap: the CPU limit of the serving thread applies, and the counters are locked
//! only while they are copied.

use crate::guard::{RequestGuard, guarded};
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, VARY};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use filestone_metrics::{Format, Metrics};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which a wait for a scrape checks whether it must end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The metrics of a command, and the time of the last scrape. Clones share the same state.
#[derive(Debug, Clone)]
pub struct MetricsSite {
    metrics: Arc<Metrics>,
    scrapes: Arc<Scrapes>,
}

/// Time of the last scrape.
#[derive(Debug, Default)]
struct Scrapes {
    /// Time at which the metrics last scraped were copied; `None` before the first scrape.
    last: Mutex<Option<Instant>>,
    read: Condvar,
}

impl MetricsSite {
    /// Creates the site of `metrics`, not scraped yet.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            metrics,
            scrapes: Arc::default(),
        }
    }

    /// Returns the metrics.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Returns the routes for a listener at `address`.
    pub fn router(&self, address: SocketAddr) -> Router {
        Router::new()
            .route("/metrics", get(expose))
            .route(
                "/",
                get(async || "filestone: the metrics are at /metrics\n"),
            )
            .layer(DefaultBodyLimit::max(0))
            .layer(from_fn_with_state(
                RequestGuard::new(address, None),
                guarded,
            ))
            .with_state(self.clone())
    }

    /// Whether the metrics have been scraped.
    pub fn is_scraped(&self) -> bool {
        self.last().is_some()
    }

    /// Waits until the metrics are scraped in their state of `since` or later, at most for `most`
    /// or until `is_over`. Returns whether they were.
    pub fn wait_for_scrape(
        &self,
        since: Instant,
        most: Duration,
        is_over: impl Fn() -> bool,
    ) -> bool {
        let begun = Instant::now();
        let mut last = self.last();
        while last.is_none_or(|last| last < since) {
            let left = most.saturating_sub(begun.elapsed());
            if left.is_zero() || is_over() {
                return false;
            }
            let waited = self.scrapes.read.wait_timeout(last, left.min(LOOK_EVERY));
            (last, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        let last = self.scrapes.last.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, copied: Instant) {
        *self.last() = Some(copied);
        self.scrapes.read.notify_all();
    }
}

async fn expose(State(site): State<MetricsSite>, headers: HeaderMap) -> Response {
    let begun = Instant::now();
    let accepted = headers.get_all(ACCEPT).iter();
    let accepted: Vec<&str> = accepted.filter_map(|value| value.to_str().ok()).collect();
    let exposition = site
        .metrics
        .snapshot()
        .expose(Format::wanted(&accepted.join(",")));
    match exposition {
        Ok(exposition) => {
            site.note(begun);
            let headers = [(CONTENT_TYPE, exposition.content_type), (VARY, "Accept")];
            (headers, exposition.body).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests;
