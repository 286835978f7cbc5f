//! The metrics of a command, as a router: what Prometheus scrapes.
//!
//! Read only, and small: what it may take of a processor is what the thread that serves may take, and the
//! counters are locked for as long only as it takes to copy them.

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

/// How often it is looked whether waiting for a scrape is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The metrics of a command, and who reads them. Clones are the same.
#[derive(Debug, Clone)]
pub struct MetricsSite {
    metrics: Arc<Metrics>,
    scrapes: Arc<Scrapes>,
}

/// Whether the metrics were read.
#[derive(Debug, Default)]
struct Scrapes {
    /// When what was read last was copied; none if nothing was.
    last: Mutex<Option<Instant>>,
    read: Condvar,
}

impl MetricsSite {
    /// Of these metrics, which nobody has read yet.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            metrics,
            scrapes: Arc::default(),
        }
    }

    /// The metrics.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// What is served at an address.
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

    /// Whether anybody has read them.
    pub fn is_scraped(&self) -> bool {
        self.last().is_some()
    }

    /// Waits until they have been read as they were at that moment or later, for `most` at most, or until
    /// `is_over`. Whether they were.
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
