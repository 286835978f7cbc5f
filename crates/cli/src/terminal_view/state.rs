//! What the view knows: what the feed has told, which operation is looked at, what was asked for.

use crate::quantity::grouped;
use filestone_live::event::{
    Event, IntervalFigures, NoteText, OperationFigures, Point, ReplayProgress, RunBegun, RunEnded,
    SteeringStatus,
};
use filestone_live::feed::Snapshot;
use filestone_live::shared::Shared;
use filestone_measure::measure::run_record::{Phase, Target};
use filestone_plan::plan::Plan;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Intervals that are kept: more than a screen is wide.
const INTERVALS_MAX: usize = 1000;
/// What a run says that it is doing when its load begins.
const RUNNING: &str = "running";

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// The run is to end: once in order, twice at once.
    Stop,
    /// The operation before this one, or all.
    Previous,
    /// The next operation.
    Next,
    /// All operations together.
    All,
    /// What the keys do, or the figures again.
    Help,
}

/// What is known.
#[derive(Debug, Default)]
pub struct View {
    /// The command line.
    pub command: String,
    /// The run that goes on, or the last one.
    pub run: Option<Shared<RunBegun>>,
    /// What it goes to, since when it does.
    pub target: Option<Shared<Target>>,
    /// What is being done before and after the load.
    pub preparing: Option<String>,
    /// Its intervals, the last ones.
    pub intervals: VecDeque<Shared<IntervalFigures>>,
    /// What a steered run is doing.
    pub steering: Option<SteeringStatus>,
    /// How far a replay is.
    pub progress: Option<ReplayProgress>,
    /// What was told last that is no figure.
    pub text: Option<String>,
    /// The point that was measured last.
    pub point: Option<Shared<Point>>,
    /// The run that was over last.
    pub ended: Option<Shared<RunEnded>>,
    /// How many are over.
    pub runs_ended: usize,
    /// What operations came to since the run began, by kind.
    pub sums: BTreeMap<String, Sums>,
    /// The same of all kinds.
    pub all: Sums,
    /// Which of the kinds is looked at; all without it.
    pub selected: Option<String>,
    /// Whether the help is shown.
    pub shows_help: bool,
    /// Whether the run was told to end.
    pub is_stopping: bool,
    /// Whether nothing comes any more.
    pub is_closed: bool,
    /// Whether this program was built without what makes it fast.
    pub is_debug_build: bool,
    /// Processors that this program may use, if that is known.
    pub processors: Option<u32>,
    /// When the load began, and the last interval came, by the clock of whoever draws.
    began: Option<Duration>,
    interval_came: Duration,
}

/// What operations came to since a run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// Those that ended.
    pub ended: u64,
    /// Those of them that did not end well.
    pub unsuccessful: u64,
    /// Due, but never sent.
    pub skipped: u64,
}

impl Sums {
    fn add(&mut self, figures: &OperationFigures) {
        self.ended += ended(figures);
        self.unsuccessful += figures.unsuccessful;
        self.skipped += figures.skipped;
    }
}

/// How many operations ended.
pub const fn ended(figures: &OperationFigures) -> u64 {
    figures.ok + figures.unsuccessful
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// In a few words.
    pub text: String,
    /// From 0 to 1, where that is known.
    pub share: Option<f64>,
}

impl View {
    /// What is known by now; `now` is on any clock that goes on.
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
        // Of all intervals, not only those that are kept.
        for kind in snapshot.sums {
            let mut sums = Sums::default();
            sums.add(&kind.figures);
            match kind.operation.as_str() {
                "" => view.all = sums,
                operation => drop(view.sums.insert(operation.into(), sums)),
            }
        }
        view
    }

    /// The same of a fresh snapshot, for a view that has missed something. What was chosen stays.
    pub fn renew(&mut self, snapshot: Snapshot, now: Duration) {
        let before = std::mem::replace(self, Self::of(snapshot, now));
        self.selected = before.selected;
        self.shows_help = before.shows_help;
        self.is_stopping = before.is_stopping;
        self.is_debug_build = before.is_debug_build;
        self.processors = before.processors;
    }

    /// Something happened.
    pub fn record(&mut self, event: &Event, now: Duration) {
        match event {
            Event::RunBegun(begun) => self.start(begun),
            // What comes after all is prepared.
            Event::Preparing(NoteText { what }) if what == RUNNING => self.load_begins(now),
            Event::Preparing(NoteText { what }) => self.preparing = Some(what.clone()),
            Event::Remark(NoteText { what }) => self.text = Some(what.clone()),
            Event::Prepared(target) => {
                self.target = Some(Shared::clone(target));
                self.load_begins(now);
            }
            Event::Interval(interval) => self.count(Shared::clone(interval), now),
            Event::Steering(doing) => self.steering = Some(doing.clone()),
            Event::Progress(progress) => self.progress = Some(progress.clone()),
            Event::Point(point) => self.point = Some(Shared::clone(point)),
            Event::Changed(changed) => self.text = Some(changed.what.clone()),
            Event::RunEnded(ended) => {
                self.ended = Some(Shared::clone(ended));
                self.runs_ended += 1;
                self.steering = None;
            }
            Event::Controllable | Event::ReportReady | Event::Server(_) => {}
            Event::Closed(_) => self.is_closed = true,
        }
    }

    /// A key was pressed.
    pub fn press(&mut self, asked: KeyAction) {
        match asked {
            KeyAction::Stop => self.is_stopping = true,
            KeyAction::All => self.selected = None,
            KeyAction::Help => self.shows_help = !self.shows_help,
            KeyAction::Next => self.step(1),
            KeyAction::Previous => self.step(-1),
        }
    }

    /// Goes on to another kind of operation; before the first and after the last are all.
    fn step(&mut self, by: isize) {
        let kinds: Vec<&String> = self.sums.keys().collect();
        let place = self.selected.as_ref();
        let place = place.and_then(|name| kinds.iter().position(|kind| *kind == name));
        // Place 0 is all.
        let place = place.map_or(0, |place| place as isize + 1);
        let next = (place + by).rem_euclid(kinds.len() as isize + 1);
        let next = usize::try_from(next - 1).ok();
        self.selected = next.and_then(|next| kinds.get(next).map(|kind| (*kind).clone()));
    }

    fn load_begins(&mut self, now: Duration) {
        self.preparing = None;
        self.began = Some(now);
    }

    fn start(&mut self, begun: &Shared<RunBegun>) {
        self.run = Some(Shared::clone(begun));
        self.target = None;
        self.preparing = None;
        self.steering = None;
        self.progress = None;
        self.began = None;
        self.intervals.clear();
        self.sums.clear();
        self.all = Sums::default();
    }

    fn count(&mut self, interval: Shared<IntervalFigures>, now: Duration) {
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

    /// The figures of an interval that are looked at.
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

    /// The last interval of the window; what ends after the window says nothing of a load.
    pub fn last(&self) -> Option<&IntervalFigures> {
        let mut intervals = self.intervals.iter().rev();
        intervals
            .find(|interval| interval.phase == Phase::Measure)
            .map(|interval| &**interval)
    }

    /// What is measured, or was last.
    pub fn plan(&self) -> Option<&Plan> {
        self.run.as_ref().map(|run| &run.plan)
    }

    /// How far the run is.
    pub fn progress(&self, now: Duration) -> Progress {
        let says = |text: &str| Progress {
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

    fn running(&self, plan: &Plan, elapsed: Duration, now: Duration) -> Progress {
        let nanos = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        if self.intervals.is_empty() && nanos(elapsed) < plan.warm_up_ns {
            return Progress {
                text: format!("warm-up, {}", words_left(plan.warm_up_ns - nanos(elapsed))),
                share: None,
            };
        }
        if let Some(count) = plan.count.filter(|_| plan.duration_ns.is_none()) {
            let share = self.all.ended as f64 / count.max(1) as f64;
            return Progress {
                text: format!(
                    "{} of {} operations",
                    grouped(self.all.ended),
                    grouped(count)
                ),
                share: Some(share.min(1.0)),
            };
        }
        // Between two intervals, time goes on.
        let since = nanos(now.saturating_sub(self.interval_came)).min(plan.interval_ns);
        let at = match self.intervals.back() {
            Some(interval) => interval.end_ns.saturating_add(since),
            None => nanos(elapsed).saturating_sub(plan.warm_up_ns),
        };
        match plan.duration_ns {
            Some(length) if at < length => Progress {
                text: format!("measuring, {}", words_left(length - at)),
                share: Some(at as f64 / length as f64),
            },
            Some(_) => Progress {
                text: "ending".into(),
                share: Some(1.0),
            },
            None => Progress {
                text: "measuring".into(),
                share: None,
            },
        }
    }
}

fn words_left(nanos: u64) -> String {
    format!("{} left", crate::quantity::waiting_text(nanos))
}
