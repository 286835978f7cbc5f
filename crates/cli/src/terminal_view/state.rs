//! State of the terminal view: events received from the feed, the selected operation and the user's
//! requests.

use filestone_live::event::{
    Event, IntervalFigures, NoteText, OperationFigures, Point, ReplayProgress, RunBegun, RunEnded,
    SteeringStatus,
};
use filestone_live::feed::Snapshot;
use filestone_measure::measure::run_record::{Phase, Target};
use filestone_plan::plan::Plan;
use filestone_workload::text::thousands;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Number of intervals that are kept: more than the width of a screen.
const INTERVALS_MAX: usize = 1000;
/// Text of the event that a run sends when its load begins.
const RUNNING: &str = "running";

/// Action bound to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// Ends the run: the first time in order, the second time at once.
    Stop,
    /// Selects the operation before this one, or all.
    Previous,
    /// Selects the next operation.
    Next,
    /// Selects all operations together.
    All,
    /// Toggles between the help and the figures.
    Help,
}

/// State of the view.
#[derive(Debug, Default)]
pub struct View {
    /// Command line.
    pub command: String,
    /// The current run, or the last one.
    pub run: Option<Arc<RunBegun>>,
    /// Target of the current run, once it is connected.
    pub target: Option<Arc<Target>>,
    /// Current activity before or after the load.
    pub preparing: Option<String>,
    /// The last intervals of the current run.
    pub intervals: VecDeque<Arc<IntervalFigures>>,
    /// Current activity of a steered run.
    pub steering: Option<SteeringStatus>,
    /// Progress of a replay.
    pub progress: Option<ReplayProgress>,
    /// Last message that is not a figure.
    pub text: Option<String>,
    /// The last measured point.
    pub point: Option<Arc<Point>>,
    /// The last completed run.
    pub ended: Option<Arc<RunEnded>>,
    /// Number of completed runs.
    pub runs_ended: usize,
    /// Counts of operations since the run began, by kind.
    pub sums: BTreeMap<String, OperationCounts>,
    /// Counts of all kinds together.
    pub all: OperationCounts,
    /// Selected kind; `None` selects all.
    pub selected: Option<String>,
    /// Whether the help is shown.
    pub shows_help: bool,
    /// Whether an end of the run has been requested.
    pub is_stopping: bool,
    /// Whether the feed is closed.
    pub is_closed: bool,
    /// Whether this program was built without optimization.
    pub is_debug_build: bool,
    /// Number of processors that this program may use, if known.
    pub processors: Option<u32>,
    /// Times of the start of the load and of the last interval's arrival, on the clock of the
    /// drawing code.
    began: Option<Duration>,
    interval_came: Duration,
}

/// Counts of operations since a run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OperationCounts {
    /// Completed operations.
    pub ended: u64,
    /// Completed operations that did not succeed.
    pub unsuccessful: u64,
    /// Operations that were due but never sent.
    pub skipped: u64,
}

impl OperationCounts {
    fn add(&mut self, figures: &OperationFigures) {
        self.ended += ended(figures);
        self.unsuccessful += figures.unsuccessful;
        self.skipped += figures.skipped;
    }
}

/// Returns the number of completed operations.
pub const fn ended(figures: &OperationFigures) -> u64 {
    figures.ok + figures.unsuccessful
}

/// Progress of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunProgress {
    /// Short description.
    pub text: String,
    /// Fraction from 0 to 1, if known.
    pub share: Option<f64>,
}

impl View {
    /// Creates the view from a snapshot; `now` is on any monotonic clock.
    pub fn of(snapshot: Snapshot, now: Duration) -> Self {
        let mut view = Self {
            command: snapshot.command.join(" "),
            run: snapshot.run,
            began: snapshot
                .running_ms
                .map(|running| now.saturating_sub(Duration::from_millis(running))),
            target: snapshot.target,
            preparing: snapshot.preparing.filter(|what| what != RUNNING),
            steering: snapshot.steering,
            progress: snapshot.progress,
            text: snapshot.remarks.back().cloned(),
            point: snapshot.points.back().cloned(),
            runs_ended: snapshot.ended.len(),
            ended: snapshot.ended.back().cloned(),
            is_closed: snapshot.closed.is_some(),
            ..Self::default()
        };
        for interval in snapshot.intervals {
            view.count(interval, now);
        }
        // Sums of all intervals, not only of those that are kept.
        for kind in snapshot.sums {
            let mut sums = OperationCounts::default();
            sums.add(&kind.figures);
            match kind.operation.as_str() {
                "" => view.all = sums,
                operation => drop(view.sums.insert(operation.into(), sums)),
            }
        }
        view
    }

    /// Rebuilds the view from a fresh snapshot after missed events, keeping the user's selection.
    pub fn renew(&mut self, snapshot: Snapshot, now: Duration) {
        let before = std::mem::replace(self, Self::of(snapshot, now));
        self.selected = before.selected;
        self.shows_help = before.shows_help;
        self.is_stopping = before.is_stopping;
        self.is_debug_build = before.is_debug_build;
        self.processors = before.processors;
    }

    /// Applies an event.
    pub fn record(&mut self, event: &Event, now: Duration) {
        match event {
            Event::RunBegun(begun) => self.start(begun),
            // The last event of the preparations.
            Event::Preparing(NoteText { what }) if what == RUNNING => self.load_begins(now),
            Event::Preparing(NoteText { what }) => self.preparing = Some(what.clone()),
            Event::Remark(NoteText { what }) => self.text = Some(what.clone()),
            Event::Prepared(target) => {
                self.target = Some(Arc::clone(target));
                self.load_begins(now);
            }
            Event::Interval(interval) => self.count(Arc::clone(interval), now),
            Event::Steering(doing) => self.steering = Some(doing.clone()),
            Event::Progress(progress) => self.progress = Some(progress.clone()),
            Event::Point(point) => self.point = Some(Arc::clone(point)),
            Event::Changed(changed) => self.text = Some(changed.what.clone()),
            Event::RunEnded(ended) => {
                self.ended = Some(Arc::clone(ended));
                self.runs_ended += 1;
                self.steering = None;
            }
            Event::Controllable | Event::ReportReady | Event::Server(_) => {}
            Event::Closed(_) => self.is_closed = true,
        }
    }

    /// Handles a key.
    pub fn press(&mut self, asked: KeyAction) {
        match asked {
            KeyAction::Stop => self.is_stopping = true,
            KeyAction::All => self.selected = None,
            KeyAction::Help => self.shows_help = !self.shows_help,
            KeyAction::Next => self.step(1),
            KeyAction::Previous => self.step(-1),
        }
    }

    /// Selects another kind of operation; "all" comes before the first and after the last.
    fn step(&mut self, by: isize) {
        let kinds: Vec<&String> = self.sums.keys().collect();
        let place = self.selected.as_ref();
        let place = place.and_then(|name| kinds.iter().position(|kind| *kind == name));
        // Position 0 is "all".
        let place = place.map_or(0, |place| place as isize + 1);
        let next = (place + by).rem_euclid(kinds.len() as isize + 1);
        let next = usize::try_from(next - 1).ok();
        self.selected = next.and_then(|next| kinds.get(next).map(|kind| (*kind).clone()));
    }

    fn load_begins(&mut self, now: Duration) {
        self.preparing = None;
        self.began = Some(now);
    }

    fn start(&mut self, begun: &Arc<RunBegun>) {
        self.run = Some(Arc::clone(begun));
        self.target = None;
        self.preparing = None;
        self.steering = None;
        self.progress = None;
        self.began = None;
        self.intervals.clear();
        self.sums.clear();
        self.all = OperationCounts::default();
    }

    fn count(&mut self, interval: Arc<IntervalFigures>, now: Duration) {
        for kind in &interval.kinds {
            let sums = self.sums.entry(kind.operation.clone()).or_default();
            sums.add(&kind.figures);
        }
        self.all.add(&interval.all);
        self.interval_came = now;
        if self.intervals.len() >= INTERVALS_MAX {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
    }

    /// Returns the figures of the selected operation in an interval.
    pub fn figures<'i>(&self, interval: &'i IntervalFigures) -> Option<&'i OperationFigures> {
        match &self.selected {
            None => Some(&interval.all),
            Some(name) => {
                let mut kinds = interval.kinds.iter();
                let kind = kinds.find(|kind| kind.operation == *name)?;
                Some(&kind.figures)
            }
        }
    }

    /// Returns the last interval of the window; an interval that ends after the window does not
    /// measure the load.
    pub fn last(&self) -> Option<&IntervalFigures> {
        let mut intervals = self.intervals.iter().rev();
        intervals
            .find(|interval| interval.phase == Phase::Measure)
            .map(|interval| &**interval)
    }

    /// Returns the plan of the current or last run.
    pub fn plan(&self) -> Option<&Plan> {
        self.run.as_ref().map(|run| &run.plan)
    }

    /// Returns the progress of the run.
    pub fn progress(&self, now: Duration) -> RunProgress {
        let says = |text: &str| RunProgress {
            text: text.into(),
            share: None,
        };
        if self.is_closed {
            return says("over");
        }
        match (&self.preparing, self.plan(), self.began) {
            (Some(what), _, _) => says(what),
            (None, None, _) => says("waiting for the first run"),
            (None, Some(_), None) => says("looking for the target"),
            (None, Some(plan), Some(began)) => self.running(plan, now.saturating_sub(began), now),
        }
    }

    fn running(&self, plan: &Plan, elapsed: Duration, now: Duration) -> RunProgress {
        let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        if self.intervals.is_empty() && nanos(elapsed) < plan.warm_up_ns {
            return RunProgress {
                text: format!("warm-up, {}", words_left(plan.warm_up_ns - nanos(elapsed))),
                share: None,
            };
        }
        if let Some(count) = plan.count.filter(|_| plan.duration_ns.is_none()) {
            let share = self.all.ended as f64 / count.max(1) as f64;
            return RunProgress {
                text: format!(
                    "{} of {} operations",
                    thousands(self.all.ended),
                    thousands(count)
                ),
                share: Some(share.min(1.0)),
            };
        }
        // Time continues between two intervals.
        let since = nanos(now.saturating_sub(self.interval_came)).min(plan.interval_ns);
        let at = match self.intervals.back() {
            Some(interval) => interval.end_ns.saturating_add(since),
            None => nanos(elapsed).saturating_sub(plan.warm_up_ns),
        };
        match plan.duration_ns {
            Some(length) if at < length => RunProgress {
                text: format!("measuring, {}", words_left(length - at)),
                share: Some(at as f64 / length as f64),
            },
            Some(_) => RunProgress {
                text: "ending".into(),
                share: Some(1.0),
            },
            None => RunProgress {
                text: "measuring".into(),
                share: None,
            },
        }
    }
}

fn words_left(nanos: u64) -> String {
    format!("{} left", filestone_report::quantity::waiting_text(nanos))
}
