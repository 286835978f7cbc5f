//! Events as server-sent events (HTML Standard, section 9.2).
//!
//! The stream begins with `snapshot`, followed by the intervals of the run so far as `before` and
//! later events as `live`. A reader that fell behind gets a new `snapshot`. Queued events are
//! pointers to data that all readers share.

use super::LivePage;
use super::batches::{Batch, EventBatches};
use super::watchers::Watching;
use crate::event::{Event, IntervalFigures};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

/// Maximum number of intervals per message.
const AT_ONCE: usize = 50;

/// The event stream of one reader.
struct Stream {
    page: LivePage,
    #[expect(dead_code, reason = "it is counted for as long as it is there")]
    watching: Watching,
    /// `None` before the snapshot is sent.
    batches: Option<EventBatches>,
    /// Intervals from before the reader connected.
    before: VecDeque<Arc<IntervalFigures>>,
    /// Whether the command has ended, so that nothing follows the snapshot.
    is_over: bool,
}

/// Returns the event stream of a reader.
pub async fn stream(State(page): State<LivePage>) -> Response {
    let watching = page.watchers.watch();
    let stream = Stream {
        page,
        watching,
        batches: None,
        before: VecDeque::new(),
        is_over: false,
    };
    let body = stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((Ok::<_, Infallible>(bytes), stream))
    });
    (
        [(CONTENT_TYPE, "text/event-stream")],
        Body::from_stream(body),
    )
        .into_response()
}

impl Stream {
    /// Returns the next message; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        let Some(batches) = &mut self.batches else {
            return Some(self.start());
        };
        if !self.before.is_empty() {
            let count = self.before.len().min(AT_ONCE);
            let told: String = self.before.drain(..count).map(told_before).collect();
            return Some(told.into());
        }
        if self.is_over {
            return None;
        }
        match batches.next().await {
            Batch::Frames(frames) => Some(frames),
            Batch::KeepAlive => Some(Bytes::from_static(b": still here\n\n")),
            Batch::Lagged => Some(self.start()),
            Batch::Closed => None,
        }
    }

    /// Returns the snapshot without intervals, which are sent next.
    fn start(&mut self) -> Bytes {
        let (mut snapshot, reader) = self.page.feed.read();
        self.batches = Some(EventBatches::new(reader));
        self.before = std::mem::take(&mut snapshot.intervals);
        self.is_over = snapshot.closed.is_some();
        let number = snapshot.number;
        // Every value of this type can be serialized as JSON.
        let text = serde_json::to_string(&snapshot).unwrap_or_default();
        format!("id: {number}\nevent: snapshot\ndata: {text}\n\n").into()
    }
}

fn told_before(interval: Arc<IntervalFigures>) -> String {
    let text = serde_json::to_string(&Event::Interval(interval)).unwrap_or_default();
    format!("event: before\ndata: {text}\n\n")
}
