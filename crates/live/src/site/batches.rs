//! Batches events for one reader: events that follow closely are sent together.
//!
//! Each send costs a system call of the serving thread, a wake-up of the reader, and network work
//! for both, per reader. A page redraws only a few times per second, so batches are not sent more
//! often than that.

use crate::event::Event;
use crate::feed::{FeedItem, FeedReader, Published};
use axum::body::Bytes;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// Minimum time between two batches; the page redraws at the same rate.
const APART: Duration = Duration::from_millis(250);
/// Interval of keep-alive messages, which detect closed connections.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// The event batches of one reader.
pub struct EventBatches {
    reader: FeedReader,
    /// Time of the last batch.
    given: Instant,
    is_over: bool,
}

/// Next item to send to a reader.
#[derive(Debug, PartialEq, Eq)]
pub enum Batch {
    /// Encoded events.
    Frames(Bytes),
    /// Keep-alive, sent because there were no events for a while.
    KeepAlive,
    /// The reader fell behind and missed events.
    Lagged,
    /// End of the stream.
    Closed,
}

impl EventBatches {
    /// Creates the batches of a reader that has just received a snapshot.
    pub fn new(reader: FeedReader) -> Self {
        Self {
            reader,
            given: Instant::now(),
            is_over: false,
        }
    }

    /// Waits for the next event and for those that follow closely.
    pub async fn next(&mut self) -> Batch {
        if self.is_over {
            return Batch::Closed;
        }
        let mut next = match timeout(SIGN_OF_LIFE, self.reader.next()).await {
            Ok(next) => next,
            Err(_) => return Batch::KeepAlive,
        };
        let due = self.given + APART;
        let mut frames = vec![];
        loop {
            let is_last = match next {
                FeedItem::Event(published) => self.add(&mut frames, &published),
                FeedItem::Lagged => return Batch::Lagged,
                FeedItem::Ended => {
                    self.is_over = true;
                    true
                }
            };
            if is_last {
                break;
            }
            match timeout_at(due, self.reader.next()).await {
                Ok(more) => next = more,
                Err(_) => break,
            }
        }
        self.given = Instant::now();
        together(frames)
    }

    /// Adds an event to the batch. Returns whether the batch must be sent at once.
    fn add(&mut self, frames: &mut Vec<Bytes>, published: &Published) -> bool {
        frames.push(published.frame());
        self.is_over = matches!(published.event, Event::Closed(_));
        self.is_over || matches!(published.event, Event::RunEnded(_) | Event::ReportReady)
    }
}

/// Concatenates frames into a batch; a single frame is not copied.
fn together(frames: Vec<Bytes>) -> Batch {
    match frames.as_slice() {
        [] => Batch::Closed,
        [one] => Batch::Frames(one.clone()),
        several => Batch::Frames(several.concat().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Closed, NoteText};
    use crate::feed::Feed;

    fn told(what: &str) -> Event {
        Event::Remark(NoteText { what: what.into() })
    }

    fn texts(batch: Batch) -> Vec<String> {
        let Batch::Frames(frames) = batch else {
            panic!("frames and not {batch:?}");
        };
        let text = String::from_utf8(frames.to_vec()).expect("text");
        text.lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| {
                let value: serde_json::Value = serde_json::from_str(data).expect("JSON");
                let word = value["what"].as_str().or(value["event"].as_str());
                word.expect("a word").to_owned()
            })
            .collect()
    }

    /// Runs `work` in virtual time, which advances when all tasks wait.
    fn in_virtual_time(work: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        runtime.expect("a runtime").block_on(work);
    }

    #[test]
    fn what_follows_closely_is_sent_together_and_a_quarter_of_a_second_apart() {
        in_virtual_time(async {
            let feed = Feed::new("0", vec![]);
            let mut batches = EventBatches::new(feed.read().1);
            let begun = Instant::now();
            feed.publish(told("a"));
            feed.publish(told("b"));
            assert_eq!(texts(batches.next().await), ["a", "b"]);
            assert_eq!(begun.elapsed(), APART);
            // After a pause, an event is sent without delay.
            tokio::time::sleep(2 * APART).await;
            feed.publish(told("c"));
            let asked = Instant::now();
            assert_eq!(texts(batches.next().await), ["c"]);
            assert_eq!(asked.elapsed(), Duration::ZERO);
        });
    }

    #[test]
    fn the_end_waits_for_nothing_and_is_the_last() {
        in_virtual_time(async {
            let feed = Feed::new("0", vec![]);
            let mut batches = EventBatches::new(feed.read().1);
            let begun = Instant::now();
            feed.publish(told("a"));
            feed.publish(Event::ReportReady);
            assert_eq!(texts(batches.next().await), ["a", "report-ready"]);
            feed.publish(Event::Closed(Closed::default()));
            assert_eq!(texts(batches.next().await), ["closed"]);
            assert_eq!(begun.elapsed(), Duration::ZERO);
            assert_eq!(batches.next().await, Batch::Closed);
        });
    }

    #[test]
    fn nothing_for_long_is_told_and_so_is_what_was_missed() {
        in_virtual_time(async {
            let feed = Feed::new("0", vec![]);
            let mut batches = EventBatches::new(feed.read().1);
            let begun = Instant::now();
            assert_eq!(batches.next().await, Batch::KeepAlive);
            assert_eq!(begun.elapsed(), SIGN_OF_LIFE);
            (0..10_000).for_each(|_| feed.publish(told("a")));
            assert_eq!(batches.next().await, Batch::Lagged);
        });
    }
}
