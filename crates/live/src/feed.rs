//! Delivers events from the publisher to readers.
//!
//! Publishing never waits for a reader. The latest events are kept in one ring buffer; a reader
//! that falls behind by more than the ring length is notified and continues from a new
//! [`Snapshot`]. Only the coordinating thread of a run publishes, never a worker.

use crate::JsonSchema;
use crate::event::{
    Changed, Closed, Event, IntervalFigures, KindFigures, NoteText, Point, ReplayProgress,
    RunBegun, RunEnded, ServerShare, SteeringStatus,
};
use axum::body::Bytes;
use filestone_host::control_socket::FleetControl;
use filestone_measure::measure::run_record::Target;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::broadcast;

/// Capacity of the event ring that buffers for slow readers.
const RING: usize = 512;
/// Maximum number of intervals kept for late readers.
pub const INTERVALS_MAX: usize = 3600;
/// Maximum number of remarks, changes, ended runs and points kept, each.
const KEPT_MAX: usize = 2000;

/// An event with its sequence number.
#[derive(Debug)]
pub struct Published {
    /// Sequence number, from 1, without gaps.
    pub number: u64,
    /// The event.
    pub event: Event,
    /// Encoded by the first reader that needs it, then shared by all readers.
    frame: OnceLock<Bytes>,
}

impl Published {
    /// Returns the event encoded as a server-sent event, with the data as JSON on one line.
    pub fn frame(&self) -> Bytes {
        let frame = self.frame.get_or_init(|| {
            // Every value of this type can be serialized as JSON.
            let text = serde_json::to_string(&self.event).unwrap_or_default();
            Bytes::from(format!(
                "id: {}\nevent: live\ndata: {text}\n\n",
                self.number
            ))
        });
        frame.clone()
    }
}

/// Complete state at one time, for readers that join late.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Sequence number of the last event included; the next event has this number plus one.
    pub number: u64,
    /// Version of the program.
    pub version: String,
    /// Command line of the program.
    pub command: Vec<String>,
    /// The current run, or the last one.
    pub run: Option<Arc<RunBegun>>,
    /// Current activity before or after the measured window.
    pub preparing: Option<String>,
    /// The target, once the load has started.
    pub target: Option<Arc<Target>>,
    /// Milliseconds since the load of the run began; `None` before.
    pub running_ms: Option<u64>,
    /// Notes about the target for the user.
    pub remarks: VecDeque<String>,
    /// The most recent intervals of the run.
    pub intervals: VecDeque<Arc<IntervalFigures>>,
    /// Operation counts over all intervals of the run, with the response times of the last
    /// interval. The first element is the sum of all kinds.
    pub sums: Vec<KindFigures>,
    /// Current state of the load controller.
    pub steering: Option<SteeringStatus>,
    /// Progress of the replay.
    pub progress: Option<ReplayProgress>,
    /// Points that the command has measured.
    pub points: VecDeque<Arc<Point>>,
    /// Latest counter rates of the server, if its counters are read.
    pub server: Option<Arc<ServerShare>>,
    /// Changes of the running fleet.
    pub changes: VecDeque<Arc<Changed>>,
    /// Runs of the command that have ended.
    pub ended: VecDeque<Arc<RunEnded>>,
    /// Whether a fleet can be controlled now.
    pub is_controllable: bool,
    /// Set once the command has ended.
    pub closed: Option<Closed>,
}

/// The event feed of a command. Clones share the same feed.
#[derive(Clone)]
pub struct Feed(Arc<Mutex<State>>);

struct State {
    snapshot: Snapshot,
    began: Option<std::time::Instant>,
    ring: broadcast::Sender<Arc<Published>>,
    control: Option<FleetControl>,
}

/// A reader of a feed.
pub struct FeedReader {
    receiver: broadcast::Receiver<Arc<Published>>,
}

/// Next item of a reader.
pub enum FeedItem {
    /// An event.
    Event(Arc<Published>),
    /// The reader fell behind and missed events; it must get a new snapshot.
    Lagged,
    /// End of the feed.
    Ended,
}

impl FeedReader {
    /// Waits for the next event.
    pub async fn next(&mut self) -> FeedItem {
        match self.receiver.recv().await {
            Ok(published) => FeedItem::Event(published),
            Err(broadcast::error::RecvError::Lagged(_)) => FeedItem::Lagged,
            Err(broadcast::error::RecvError::Closed) => FeedItem::Ended,
        }
    }

    /// Returns the next event if there is one, without waiting. For threads without a runtime.
    pub fn try_next(&mut self) -> Option<FeedItem> {
        match self.receiver.try_recv() {
            Ok(published) => Some(FeedItem::Event(published)),
            Err(broadcast::error::TryRecvError::Lagged(_)) => Some(FeedItem::Lagged),
            Err(broadcast::error::TryRecvError::Closed) => Some(FeedItem::Ended),
            Err(broadcast::error::TryRecvError::Empty) => None,
        }
    }
}

impl Feed {
    /// Creates the feed of a command; only the version and the command line are known yet.
    pub fn new(version: &str, command: Vec<String>) -> Self {
        let (ring, _) = broadcast::channel(RING);
        let snapshot = Snapshot {
            version: version.into(),
            command,
            ..Snapshot::default()
        };
        Self(Arc::new(Mutex::new(State {
            snapshot,
            began: None,
            ring,
            control: None,
        })))
    }

    /// Returns the current state and a reader of the events that follow it.
    pub fn read(&self) -> (Snapshot, FeedReader) {
        let state = self.lock();
        let receiver = state.ring.subscribe();
        (state.known(), FeedReader { receiver })
    }

    /// Returns the current state.
    pub fn snapshot(&self) -> Snapshot {
        self.lock().known()
    }

    /// Returns the control handle of the running fleet, if there is one.
    pub fn control(&self) -> Option<FleetControl> {
        self.lock().control.clone()
    }

    /// Announces that a fleet can be controlled from now until the end of its run.
    pub fn controllable(&self, control: FleetControl) {
        let mut state = self.lock();
        state.control = Some(control);
        state.publish(Event::Controllable);
    }

    /// Publishes an event.
    pub fn publish(&self, event: Event) {
        self.lock().publish(event);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn known(&self) -> Snapshot {
        let running = self.began.map(|began| began.elapsed().as_millis() as u64);
        Snapshot {
            running_ms: running,
            ..self.snapshot.clone()
        }
    }

    fn publish(&mut self, event: Event) {
        self.record(&event);
        self.snapshot.number += 1;
        let published = Published {
            number: self.snapshot.number,
            event,
            frame: OnceLock::new(),
        };
        // Sending fails only if there is no reader.
        let _ = self.ring.send(Arc::new(published));
    }

    /// Updates the snapshot for late readers.
    fn record(&mut self, event: &Event) {
        let known = &mut self.snapshot;
        match event {
            Event::RunBegun(begun) => {
                self.began = None;
                *known = Snapshot {
                    number: known.number,
                    version: std::mem::take(&mut known.version),
                    command: std::mem::take(&mut known.command),
                    run: Some(begun.clone()),
                    points: std::mem::take(&mut known.points),
                    ended: std::mem::take(&mut known.ended),
                    ..Snapshot::default()
                };
            }
            Event::Preparing(NoteText { what }) => known.preparing = Some(what.clone()),
            Event::Remark(NoteText { what }) => keep(&mut known.remarks, what.clone(), KEPT_MAX),
            Event::Prepared(target) => {
                self.began = Some(std::time::Instant::now());
                known.preparing = None;
                known.target = Some(target.clone());
            }
            Event::Interval(interval) => {
                add_to_sums(&mut known.sums, interval);
                keep(&mut known.intervals, interval.clone(), INTERVALS_MAX);
            }
            Event::Steering(doing) => known.steering = Some(doing.clone()),
            Event::Progress(progress) => known.progress = Some(progress.clone()),
            Event::Point(point) => enter_point(&mut known.points, point),
            Event::Server(share) => known.server = Some(share.clone()),
            Event::Changed(changed) => keep(&mut known.changes, changed.clone(), KEPT_MAX),
            Event::RunEnded(ended) => {
                self.control = None;
                known.is_controllable = false;
                known.preparing = None;
                known.steering = None;
                keep(&mut known.ended, ended.clone(), KEPT_MAX);
            }
            Event::Controllable => known.is_controllable = true,
            Event::ReportReady => {}
            Event::Closed(closed) => known.closed = Some(closed.clone()),
        }
    }
}

/// Appends to a bounded queue; the oldest element is dropped if there are already `most`.
fn keep<T>(kept: &mut VecDeque<T>, new: T, most: usize) {
    if kept.len() >= most {
        kept.pop_front();
    }
    kept.push_back(new);
}

fn add_to_sums(sums: &mut Vec<KindFigures>, interval: &IntervalFigures) {
    let all = KindFigures {
        operation: String::new(),
        figures: interval.all.clone(),
    };
    for kind in std::iter::once(&all).chain(&interval.kinds) {
        match sums.iter_mut().find(|sum| sum.operation == kind.operation) {
            Some(sum) => sum.figures.add(&kind.figures),
            None => sums.push(kind.clone()),
        }
    }
}

/// Adds a point, or replaces an earlier version of the same point.
fn enter_point(points: &mut VecDeque<Arc<Point>>, point: &Arc<Point>) {
    let is_same =
        |known: &&mut Arc<Point>| known.series == point.series && known.name == point.name;
    match points.iter_mut().find(is_same) {
        Some(known) => *known = point.clone(),
        None => keep(points, point.clone(), KEPT_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(what: &str) -> Event {
        Event::Remark(NoteText { what: what.into() })
    }

    fn feed() -> Feed {
        Feed::new("0", vec!["filestone".into()])
    }

    #[test]
    fn a_reader_goes_on_where_its_snapshot_ends() {
        let feed = feed();
        feed.publish(told("a"));
        let (snapshot, mut reader) = feed.read();
        assert_eq!((snapshot.number, snapshot.remarks.len()), (1, 1));
        assert!(reader.try_next().is_none());
        feed.publish(told("b"));
        let Some(FeedItem::Event(event)) = reader.try_next() else {
            panic!("an event");
        };
        assert_eq!(event.number, 2);
        let frame = "id: 2\nevent: live\ndata: {\"event\":\"remark\",\"what\":\"b\"}\n\n";
        assert_eq!(event.frame(), frame);
        // Every reader gets the same buffer.
        assert_eq!(event.frame().as_ptr(), event.frame().as_ptr());
    }

    #[test]
    fn a_reader_that_never_reads_holds_nobody_up_and_is_told_what_it_missed() {
        let feed = feed();
        let (_, mut reader) = feed.read();
        (0..10 * RING).for_each(|number| feed.publish(told(&number.to_string())));
        assert!(matches!(reader.try_next(), Some(FeedItem::Lagged)));
        let (snapshot, _) = feed.read();
        assert_eq!(snapshot.number, 10 * RING as u64);
        assert_eq!(snapshot.remarks.len(), KEPT_MAX);
    }

    #[test]
    fn a_run_that_begins_leaves_of_the_one_before_its_end_and_its_points() {
        let feed = feed();
        let point = |value| {
            Event::Point(Arc::new(Point {
                series: "s".into(),
                name: "p".into(),
                part: String::new(),
                at: None,
                axis: String::new(),
                runs: 1,
                figures: vec![crate::event::PointFigure {
                    name: "f".into(),
                    unit: String::new(),
                    value,
                    low: None,
                    high: None,
                }],
            }))
        };
        feed.publish(told("a"));
        feed.publish(point(1.0));
        feed.publish(point(2.0));
        feed.publish(Event::RunBegun(Arc::new(RunBegun {
            number: 2,
            name: String::new(),
            plan: crate::publisher::plan_of_tests(),
        })));
        let snapshot = feed.snapshot();
        assert!(snapshot.remarks.is_empty());
        assert_eq!(snapshot.points.len(), 1);
        assert_eq!(snapshot.points[0].figures[0].value, 2.0);
    }
}
