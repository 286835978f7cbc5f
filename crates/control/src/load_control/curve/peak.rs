//! The search for the peak: the highest load that the server keeps up with.
//!
//! Loads are doubled until the server does not keep up. The achieved load at that point is the
//! server's capacity, if overload does not slow it down, and the peak is then tried a little below
//! it: at the capacity itself a queue grows without bound. The results there, and a little above,
//! decide; if they contradict the estimate, as with a server that thrashes in overload, the
//! interval between the highest load that the server kept up with and the lowest that it did not is
//! halved until it is narrow.
//!
//! A load that seems too high is measured a second time, so that one hiccup does not end the
//! search. After an overload the server rests at a low load until the backlog is worked off: a
//! remaining backlog would make the next load look better, or, with a server that a long queue
//! slows down, worse.

use super::tally::{Tally, is_working_off};
use filestone_measure::measure::curve_record::PeakLimit;
use filestone_measure::measure::run_record::IntervalRecord;

/// First load that is tried, in operations per second.
pub const FIRST_OPS_PER_S: f64 = 100.0;
/// Peak as a fraction of the capacity, low enough for a queue that is short on average.
const BELOW_CAPACITY: f64 = 0.98;
/// The search ends when a load higher by this factor is too high.
const RATIO_END: f64 = 1.08;
/// Offered load while the server rests, as a fraction of the load that was too high.
const REST_SHARE: f64 = 0.1;
/// Largest number of rest intervals.
const REST_INTERVALS_MAX: u32 = 20;
/// Operations per interval while loads are doubled: the decision is coarse.
const OPERATIONS_COARSE: f64 = 50.0;
/// Operations for a decision near the peak.
const OPERATIONS_FINE: f64 = 20_000.0;
/// Time limit of one load, if it is slow and one interval is not longer.
const LOAD_NANOS_MAX: u64 = 10_000_000_000;
/// Time limit of the whole search, unless the intervals are long.
const SEARCH_NANOS_MAX: u64 = 180_000_000_000;
/// Intervals that the search may always use, including those in which the load changed,
const INTERVALS_ALWAYS: u32 = 60;
/// and the limit of intervals.
const INTERVALS_MAX: u32 = 10_000;
/// Limit of the load, above the capacity of any server and of filestone.
const HIGHEST_OPS_PER_S: f64 = 1e8;

/// Next step of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PeakSearchStep {
    /// Another interval at this load.
    Hold,
    /// Measure this load again: its first measurement did not count.
    Repeat,
    /// Try another load.
    Try(f64),
    /// The search is complete.
    Done(Peak),
}

/// Highest load to offer, and the reason for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Peak {
    /// In operations per second; 0 if the server replies to nothing.
    pub load_ops_per_s: f64,
    /// Reason for the end of the search.
    pub end: PeakLimit,
    /// Lower bound of the load achieved in overload, if an overload was measured.
    pub capacity_ops_per_s: Option<f64>,
    /// Number of loads tried.
    pub tried: u32,
}

impl Peak {
    /// Creates a peak that the user has specified.
    pub fn given(load_ops_per_s: f64) -> Self {
        Self {
            load_ops_per_s,
            end: PeakLimit::Fixed,
            capacity_ops_per_s: None,
            tried: 0,
        }
    }

    /// Describes in a sentence how the peak was found.
    pub fn method(&self) -> String {
        let tried = self.tried;
        match (self.end, self.capacity_ops_per_s) {
            (PeakLimit::Fixed, _) => "given".into(),
            (PeakLimit::Generator, _) => format!(
                "highest load that the load generator can offer; the server kept up with all {tried} loads tried"
            ),
            (PeakLimit::Server, Some(capacity)) => format!(
                "highest load kept up with, of {tried} tried; at least {capacity:.0}/s achieved in overload"
            ),
            (PeakLimit::Server, None) => format!("highest load kept up with, of {tried} tried"),
            (PeakLimit::NotReached, _) => format!(
                "highest load kept up with when the search was broken off, of {tried} tried"
            ),
        }
    }
}

/// State of the search.
#[derive(Debug, Clone)]
pub(crate) struct PeakSearch {
    load: f64,
    limit: Option<f64>,
    /// Highest load that the server kept up with; 0 if none.
    kept: f64,
    /// Lower bound of the achieved load there, if enough operations were counted.
    kept_achieved: Option<f64>,
    /// Lowest load that the server did not keep up with.
    lost: Option<f64>,
    /// Largest lower bound of the load achieved at a load that the server did not keep up with.
    capacity: f64,
    /// Whether the load below the capacity was tried, and the load above it.
    tried_below: bool,
    tried_above: bool,
    /// Whether this load failed once.
    failed_once: bool,
    /// Whether this load failed twice: more intervals only refine the capacity.
    failed: bool,
    /// Whether the server rests before the next load, and that load.
    is_rest_due: bool,
    after_rest: Option<f64>,
    rested: u32,
    intervals: u32,
    nanos: u64,
    tried: u32,
}

impl PeakSearch {
    /// Creates a search with `limit` as its highest load.
    pub fn new(limit_ops_per_s: Option<f64>) -> Self {
        let limit = limit_ops_per_s.filter(|limit| limit.is_finite() && *limit > 0.0);
        Self {
            load: limit.map_or(FIRST_OPS_PER_S, |limit| limit.min(FIRST_OPS_PER_S)),
            limit,
            kept: 0.0,
            kept_achieved: None,
            lost: None,
            capacity: 0.0,
            tried_below: false,
            tried_above: false,
            failed_once: false,
            failed: false,
            is_rest_due: false,
            after_rest: None,
            rested: 0,
            intervals: 0,
            nanos: 0,
            tried: 1,
        }
    }

    /// Returns the offered load.
    pub fn load(&self) -> f64 {
        self.load
    }

    /// Returns the best estimate when the search is interrupted.
    pub fn unfinished(&self) -> Peak {
        self.found(self.kept, PeakLimit::NotReached)
    }

    /// Counts an interval of any kind: the search is bounded.
    fn count(&mut self, nanos: u64) -> bool {
        self.intervals += 1;
        self.nanos = self.nanos.saturating_add(nanos);
        let is_long = self.nanos >= SEARCH_NANOS_MAX && self.intervals >= INTERVALS_ALWAYS;
        !is_long && self.intervals < INTERVALS_MAX
    }

    /// Adds an interval of this length that belongs to no load.
    pub fn pass(&mut self, nanos: u64) -> PeakSearchStep {
        if self.count(nanos) {
            PeakSearchStep::Hold
        } else {
            PeakSearchStep::Done(self.unfinished())
        }
    }

    /// Returns whether the server rests: intervals then belong to no load.
    pub fn is_resting(&self) -> bool {
        self.after_rest.is_some()
    }

    /// Adds a whole interval of rest, of this length.
    pub fn rest(&mut self, interval: &IntervalRecord, nanos: u64) -> PeakSearchStep {
        self.rested += 1;
        let has_rested = !is_working_off(interval) || self.rested >= REST_INTERVALS_MAX;
        match (self.pass(nanos), self.after_rest) {
            (PeakSearchStep::Hold, Some(load)) if has_rested => {
                self.after_rest = None;
                self.try_load(load)
            }
            (step, _) => step,
        }
    }

    /// Adds the counts at this load since it was offered, or since [`PeakSearchStep::Repeat`], with a last
    /// interval of this length.
    pub fn observe(&mut self, at_load: &Tally, nanos: u64) -> PeakSearchStep {
        if !self.count(nanos) {
            return PeakSearchStep::Done(self.unfinished());
        }
        let expected = at_load.expected(self.load);
        let patient = at_load.nanos < LOAD_NANOS_MAX;
        let is_fine = expected >= OPERATIONS_FINE || !patient;
        let is_kept = at_load.keeps_up(self.load);
        if self.failed || (!is_kept && self.failed_once) {
            self.failed = true;
            return if is_fine {
                self.lose(at_load)
            } else {
                PeakSearchStep::Hold
            };
        }
        // Doubling needs no exact decision; near the peak only an exact one counts.
        if !is_fine && self.lost.is_some() {
            return PeakSearchStep::Hold;
        }
        if is_kept {
            return self.keep(at_load);
        }
        self.failed_once = true;
        PeakSearchStep::Repeat
    }

    fn keep(&mut self, at_load: &Tally) -> PeakSearchStep {
        if self.load >= self.kept {
            self.kept = self.load;
            self.kept_achieved = self.lost.map(|_| at_load.achieved_at_least());
        }
        if self.limit.is_some_and(|limit| self.load >= limit) {
            return PeakSearchStep::Done(self.found(self.load, PeakLimit::Generator));
        }
        if self.lost.is_some() {
            return self.refine();
        }
        if self.load >= HIGHEST_OPS_PER_S {
            return PeakSearchStep::Done(self.found(self.load, PeakLimit::Generator));
        }
        // Intervals with few operations are not informative; the next load has more.
        let enough = OPERATIONS_COARSE * self.load / at_load.expected(self.load).max(1.0);
        self.try_load((2.0 * self.load).max(enough * f64::from(at_load.intervals)))
    }

    fn lose(&mut self, at_load: &Tally) -> PeakSearchStep {
        self.is_rest_due = true;
        self.capacity = self.capacity.max(at_load.achieved_at_least());
        self.lost = Some(self.lost.map_or(self.load, |lost| lost.min(self.load)));
        if self.kept >= self.load {
            // Doubling accepted the load too soon; the server kept up with the load before it.
            self.kept = self.load / 2.0;
            self.kept_achieved = None;
        }
        self.refine()
    }

    /// Returns the next load between the highest that passed and the lowest that failed.
    fn refine(&mut self) -> PeakSearchStep {
        let Some(lost) = self.lost else {
            return PeakSearchStep::Hold;
        };
        let below = BELOW_CAPACITY * self.capacity;
        if !self.tried_below {
            self.tried_below = true;
            if below > self.kept * 1.01 && below < lost {
                return self.try_load(below);
            }
        }
        let is_below_kept = self.kept >= below * (1.0 - 1e-9);
        if !self.tried_above && is_below_kept && self.kept * RATIO_END < lost {
            self.tried_above = true;
            return self.try_load(self.kept * RATIO_END);
        }
        if self.kept > 0.0 && lost <= self.kept * RATIO_END * (1.0 + 1e-9) {
            if self.kept_achieved.is_none() {
                return self.try_load(self.kept);
            }
            return PeakSearchStep::Done(self.found(self.kept, PeakLimit::Server));
        }
        // If the first load is already too high, there is no lower one to bisect towards.
        let next = if self.kept > 0.0 {
            (self.kept * lost).sqrt()
        } else {
            lost / 2.0
        };
        self.try_load(next)
    }

    fn try_load(&mut self, load: f64) -> PeakSearchStep {
        if std::mem::take(&mut self.is_rest_due) {
            self.after_rest = Some(load);
            self.rested = 0;
            self.load *= REST_SHARE;
            return PeakSearchStep::Try(self.load);
        }
        self.load = self.limit.map_or(load, |limit| load.min(limit));
        self.failed_once = false;
        self.failed = false;
        self.tried += 1;
        PeakSearchStep::Try(self.load)
    }

    /// Returns the result of the search. The server may seem to keep up with a load just above the
    /// capacity: the peak stays below the highest load ever achieved, either in overload or, if
    /// overload slows the server down, before it.
    fn found(&self, load: f64, end: PeakLimit) -> Peak {
        let most = self.capacity.max(self.kept_achieved.unwrap_or(0.0));
        let below = BELOW_CAPACITY * most;
        let load_ops_per_s = match self.lost {
            Some(_) if load > 0.0 && most > 0.0 => load.min(below),
            Some(_) => below,
            None => load,
        };
        Peak {
            load_ops_per_s,
            end,
            capacity_ops_per_s: self.lost.map(|_| self.capacity),
            tried: self.tried,
        }
    }
}
