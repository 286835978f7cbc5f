//! What happens, as it is sent to one reader: what follows closely goes together.
//!
//! Each thing that is sent is a system call of the serving thread, a wake-up of the reader, and the network's
//! work for both, for each reader. A page draws some times a second at most, so no more is sent than that.

use crate::event::Event;
use crate::feed::{Next, Published, Reader};
use axum::body::Bytes;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// So long lies between two batches at least; a page draws as often.
const APART: Duration = Duration::from_millis(250);
/// So often something is sent, so that a connection that is gone is found out.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// The batches of one reader.
pub struct Batches {
    reader: Reader,
    /// When the last one was given.
    given: Instant,
    is_over: bool,
}

/// What a reader is sent next.
#[derive(Debug, PartialEq, Eq)]
pub enum Batch {
    /// What happened.
    Frames(Bytes),
    /// Nothing happened for long.
    KeepAlive,
    /// It was too slow and has missed something.
    Lagged,
    /// Nothing comes any more.
    Closed,
}

impl Batches {
    /// Of a reader that has just been told all that is known.
    pub fn new(reader: Reader) -> Self {
        Self {
            reader,
            given: Instant::now(),
            is_over: false,
        }
    }

    /// Waits for what happens next, and for what follows closely.
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
                Next::Event(published) => self.add(&mut frames, &published),
                Next::Lagged => return Batch::Lagged,
                Next::Ended => {
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

    /// Whether nothing is waited for after it.
    fn add(&mut self, frames: &mut Vec<Bytes>, published: &Published) -> bool {
        frames.push(published.frame());
        self.is_over = matches!(published.event, Event::Closed(_));
        self.is_over || matches!(published.event, Event::RunEnded(_) | Event::ReportReady)
    }
}

/// One alone is not copied.
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

    /// In virtual time: it passes when all wait.
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
            let mut batches = Batches::new(feed.read().1);
            let begun = Instant::now();
            feed.publish(told("a"));
            feed.publish(told("b"));
            assert_eq!(texts(batches.next().await), ["a", "b"]);
            assert_eq!(begun.elapsed(), APART);
            // After a pause nobody waits longer than it takes.
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
            let mut batches = Batches::new(feed.read().1);
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
            let mut batches = Batches::new(feed.read().1);
            let begun = Instant::now();
            assert_eq!(batches.next().await, Batch::KeepAlive);
            assert_eq!(begun.elapsed(), SIGN_OF_LIFE);
            (0..10_000).for_each(|_| feed.publish(told("a")));
            assert_eq!(batches.next().await, Batch::Lagged);
        });
    }
}
