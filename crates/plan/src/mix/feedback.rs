//! Feedback for a mix through a kernel mount, which keeps the calls on the wire close to the mix.
//!
//! System calls are not RPC calls: the kernel's client answers some of them from its caches, and
//! makes further calls by itself. So filestone estimates the calls that each kind of system call
//! causes from the kernel's counters ([`effects`]): before the run from bursts of one kind at a
//! time, then from reading to reading. The rates of the kinds are the solution of a bounded
//! least-squares problem, so that the calls on the wire are as close as possible to the mix and to
//! the load ([`solve`]). Procedures for which the solution falls short are reported
//! ([`Group::limits`]), and their rates are not raised without effect.
//!
//! The idea of reading counters and compensating for caches is from nhfsstone (Legato Systems,
//! 1989). Its exact arithmetic, which assumes that a missing call can always be caused by a higher
//! rate, is [`nhfsstone`].
//!
//! Other modules read the counters ([`counters`](super)) and make the system calls (the engine).

pub mod effects;
pub mod nhfsstone;
pub mod record;
pub mod solve;

use self::effects::{CallModel, ROWS, Rates};
use self::record::{CorrectionRecord, WireLimitRecord};
use self::solve::{Variable, caused, solve};
use super::counters::Counters;
use crate::plan::MixCount;
use filestone_workload::kind::{OpKind, PerKind};

/// Number of calls by kind of procedure.
pub type ProcedureCounts = PerKind<u64>;

/// Time of the first correction after the start, early enough to detect caches.
pub const FIRST_CORRECTION_NS: u64 = 1_000_000_000;
/// Interval between two corrections. nhfsstone's was 5 s, too long for runs of 10 s.
pub const CORRECTION_NS: u64 = 2_000_000_000;
/// Maximum rate of a kind, as a multiple of its share of the load.
pub const ASKED_MAX: f64 = 10.0;

/// Number of seconds to even out a lead or lag; less if the run ends earlier.
const EVEN_SECONDS: f64 = 10.0;
const EVEN_SECONDS_MIN: f64 = 2.0;
/// Weight of calls that are not in the mix, relative to 1 for those in it: they are part of the
/// load, but are side effects of calls in the mix.
const UNWANTED_WEIGHT: f64 = 0.1;
/// Gain of the choice: a kind that was chosen more or less often than its rate demands is chosen
/// less or more often in proportion. The counts of a run then vary far less than with independent
/// random choices.
const CHOICE_GAIN: f64 = 0.5;
/// Number of operations in the moving average of the composition of an operation.
const OPERATIONS_AVERAGED: u64 = 32;

/// Target of the feedback for the clients of one mount.
#[derive(Debug, Clone)]
pub struct FeedbackTarget<'a> {
    /// Counts of each kind, relative to the others.
    pub counts: &'a [MixCount],
    /// Number of clients.
    pub clients: u32,
    /// Calls per second of all clients; `None` for no limit.
    pub load: Option<f64>,
    /// Number of calls that ends the run.
    pub calls: Option<u64>,
    /// Length of the run.
    pub seconds: Option<f64>,
    /// Whether the mount uses NFSv4, which has one procedure for several of NFSv3.
    pub is_v4: bool,
}

/// State of one kind of operation.
#[derive(Debug, Clone)]
struct Asked {
    kind: OpKind,
    /// Share of the calls.
    share: f64,
    /// System calls by kind in one operation, a moving average.
    parts: Rates,
    operations: u64,
    /// Operations per second of all clients.
    rate: f64,
    /// Number of operations still to be chosen to match the rate.
    credit: f64,
}

/// The clients of one mount, and the model of their calls.
#[derive(Debug, Clone)]
pub struct Group {
    asked: Vec<Asked>,
    clients: f64,
    load: Option<f64>,
    count: Option<u64>,
    seconds: Option<f64>,
    is_v4: bool,
    effects: CallModel,
    /// Shares of the calls on the wire, by procedure.
    shares: Rates,
    /// Calls on the wire at the last reading, and its time.
    seen: [u64; ROWS],
    seen_at_s: f64,
    /// System calls by kind since the last reading, and since the start.
    news: ProcedureCounts,
    made: ProcedureCounts,
}

impl Group {
    /// Creates the state of clients that have not started.
    pub fn new(goal: &FeedbackTarget<'_>) -> Self {
        let is_asked = |count: &&MixCount| count.count > 0 && place(count.operation).is_some();
        let sum: f64 = goal.counts.iter().filter(is_asked).map(weight).sum();
        let asked = goal.counts.iter().filter(is_asked).map(|count| {
            let mut parts = [0.0; ROWS];
            if let Some(place) = place(count.operation) {
                parts[place] = 1.0;
            }
            Asked {
                kind: count.operation,
                share: weight(count) / sum,
                parts,
                operations: 0,
                rate: 0.0,
                credit: 0.0,
            }
        });
        let asked: Vec<Asked> = asked.collect();
        let is_v4 = goal.is_v4;
        let mut shares = [0.0; ROWS];
        for one in &asked {
            shares[row_of(one.kind, is_v4)] += one.share;
        }
        let mut group = Self {
            asked,
            clients: f64::from(goal.clients.max(1)),
            load: goal.load.filter(|load| *load > 0.0),
            count: goal.calls,
            seconds: goal.seconds,
            is_v4,
            effects: CallModel::new(|kind| row_of(kind, is_v4)),
            shares,
            seen: [0; ROWS],
            seen_at_s: 0.0,
            news: ProcedureCounts::default(),
            made: ProcedureCounts::default(),
        };
        group.solve(0.0, &[0.0; ROWS]);
        group
    }

    /// Returns the kind of the next operation for a uniform random number from 0 to 1; `None` if
    /// the mix is empty.
    pub fn choose(&mut self, uniform: f64) -> Option<OpKind> {
        let sum: f64 = self.asked.iter().map(|one| one.rate).sum();
        let weigh = |one: &Asked| (one.rate / sum + CHOICE_GAIN * one.credit).max(0.0);
        let mut left = uniform * self.asked.iter().map(weigh).sum::<f64>();
        let mut chosen = None;
        for (index, one) in self.asked.iter().enumerate() {
            let weight = weigh(one);
            if weight > 0.0 {
                chosen = Some(index);
                left -= weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        for one in &mut self.asked {
            one.credit += one.rate / sum;
        }
        let chosen = self.asked.get_mut(chosen?)?;
        chosen.credit -= 1.0;
        Some(chosen.kind)
    }

    /// Counts an executed operation and its system calls, including those that kept the file set in
    /// proportion.
    pub fn carried_out(&mut self, kind: OpKind, parts: impl Iterator<Item = (OpKind, u64)>) {
        let mut made = [0.0; ROWS];
        for (part, count) in parts {
            if let Some(place) = place(part) {
                made[place] += count as f64;
                self.news[part] = self.news[part].saturating_add(count);
                self.made[part] = self.made[part].saturating_add(count);
            }
        }
        let mut asked = self.asked.iter_mut();
        if let Some(asked) = asked.find(|one| one.kind == kind) {
            asked.operations += 1;
            let part = 1.0 / asked.operations.min(OPERATIONS_AVERAGED) as f64;
            for (mean, made) in asked.parts.iter_mut().zip(made) {
                *mean += part * (made - *mean);
            }
        }
    }

    /// Returns the mean interval between two operations of one client; 0 without an offered load.
    pub fn pause_ns(&self) -> f64 {
        let rate: f64 = self.asked.iter().map(|one| one.rate).sum();
        match self.load {
            Some(_) if rate > 0.0 => 1e9 * self.clients / rate,
            _ => 0.0,
        }
    }

    /// Returns the number of system calls since the start, by the procedure that each should call.
    pub fn asked(&self) -> ProcedureCounts {
        let mut asked = ProcedureCounts::default();
        for (kind, made) in self.made.iter() {
            let sum = &mut asked[counted_as(kind, self.is_v4)];
            *sum = sum.saturating_add(*made);
        }
        asked
    }

    /// Whether, by the estimate, the calls that end the run have been made.
    pub fn seems_complete(&self) -> bool {
        let made = self.news.iter();
        let since: f64 = made
            .map(|(kind, made)| *made as f64 * self.effects.of(kind).iter().sum::<f64>())
            .sum();
        self.count
            .is_some_and(|count| sum(&self.seen) as f64 + since >= count as f64)
    }

    /// Whether the kernel has counted the calls that end the run.
    pub fn is_complete(&self) -> bool {
        self.count.is_some_and(|count| sum(&self.seen) >= count)
    }

    /// Updates the model with a burst of operations that took `seconds`, and the calls counted in
    /// it.
    pub fn calibrate(&mut self, seconds: f64, calls: &Counters) {
        let calls = rows(calls).map(|calls| calls as f64);
        self.effects.calibrate(&self.news, seconds, &calls);
        self.news = ProcedureCounts::default();
    }

    /// Returns the estimated number of calls of its own procedure that a system call of a kind
    /// causes.
    pub fn own_calls(&self, kind: OpKind) -> f64 {
        self.effects.of(kind)[row_of(kind, self.is_v4)]
    }

    /// Resets the model of a kind of system call, which is made differently from now on.
    pub fn forget(&mut self, kind: OpKind) {
        let is_v4 = self.is_v4;
        self.effects.forget(kind, |kind| row_of(kind, is_v4));
    }

    /// Resets the counts when clients start or the measured window opens. The model is kept.
    pub fn restart(&mut self) {
        self.seen = [0; ROWS];
        self.seen_at_s = 0.0;
        self.news = ProcedureCounts::default();
        self.made = ProcedureCounts::default();
        self.solve(0.0, &[0.0; ROWS]);
    }

    /// Corrects the rates with the kernel's counts since the start, `at_ns` after it. `waiting` is
    /// the number of operations that are due and wait for their client: a server that cannot keep
    /// up is not offered more because of them.
    pub fn correct(&mut self, at_ns: u64, seen: &Counters, waiting: f64) -> CorrectionRecord {
        let at_s = at_ns as f64 / 1e9;
        let seen = rows(seen);
        let mut news = [0.0; ROWS];
        for (news, (now, before)) in news.iter_mut().zip(seen.iter().zip(self.seen)) {
            *news = now.saturating_sub(before) as f64;
        }
        let is_v4 = self.is_v4;
        self.effects
            .calibrate(&self.news, (at_s - self.seen_at_s).max(0.0), &news);
        self.effects.age(|kind| row_of(kind, is_v4));
        self.news = ProcedureCounts::default();
        (self.seen, self.seen_at_s) = (seen, at_s);
        self.solve(at_s, &self.waiting_calls(waiting));
        let got = sum(&seen);
        let wanted = self.load.map(|load| (load * at_s).round() as u64);
        CorrectionRecord {
            at_ns,
            seen: got,
            wanted: wanted.unwrap_or(got),
            pause_ns: self.pause_ns().round() as u64,
        }
    }

    /// Corrects the rates without counters, `at_ns` after the start: the system calls since the
    /// start count as calls.
    pub fn replan(&mut self, at_ns: u64, waiting: f64) {
        self.seen = [0; ROWS];
        for (kind, made) in self.made.iter() {
            let seen = &mut self.seen[row_of(kind, self.is_v4)];
            *seen = seen.saturating_add(*made);
        }
        self.seen_at_s = at_ns as f64 / 1e9;
        self.news = ProcedureCounts::default();
        self.solve(self.seen_at_s, &self.waiting_calls(waiting));
    }

    /// Returns the procedures with a shortfall: by the current estimate, the mix needs more of
    /// their calls than can be caused.
    pub fn limits(&self) -> Vec<WireLimitRecord> {
        let load = self.load_at(self.seen_at_s);
        let mut target = self.shares.map(|share| share * load);
        let by_itself = *self.effects.of_time();
        for (target, calls) in target.iter_mut().zip(by_itself) {
            *target -= calls;
        }
        let variables = self.variables(load);
        let rates = solve(&variables, &target, &self.weights());
        let made = caused(&variables, &rates);
        let limits = OpKind::STATELESS
            .iter()
            .enumerate()
            .map(|(row, kind)| WireLimitRecord {
                operation: *kind,
                wanted_per_s: self.shares[row] * load,
                at_most_per_s: made[row] + by_itself[row],
            });
        limits.filter(|limit| limit.is_short(load)).collect()
    }

    /// Whether the mount uses NFSv4.
    pub fn is_v4(&self) -> bool {
        self.is_v4
    }

    /// Returns the calls that waiting operations will cause.
    fn waiting_calls(&self, waiting: f64) -> Rates {
        let rate: f64 = self.asked.iter().map(|one| one.rate).sum();
        let variables = self.variables(1.0);
        let rates: Vec<f64> = (self.asked.iter())
            .map(|one| waiting * one.rate / rate.max(f64::MIN_POSITIVE))
            .collect();
        caused(&variables, &rates)
    }

    /// Returns the weight of each procedure.
    fn weights(&self) -> Rates {
        let weight = |share| if share > 0.0 { 1.0 } else { UNWANTED_WEIGHT };
        self.shares.map(weight)
    }

    /// Returns the offered or, without an offered load, the observed calls per second.
    fn load_at(&self, at_s: f64) -> f64 {
        let gone = sum(&self.seen) as f64 / at_s;
        let is_known = at_s > 0.0 && gone > 0.0;
        self.load.unwrap_or(if is_known { gone } else { 1.0 })
    }

    fn variables(&self, load: f64) -> Vec<Variable> {
        let variable = |one: &Asked| {
            let mut calls = [0.0; ROWS];
            for (kind, count) in OpKind::STATELESS.iter().zip(one.parts) {
                for (sum, calls) in calls.iter_mut().zip(self.effects.of(*kind)) {
                    *sum += count * calls;
                }
            }
            let own = place(one.kind).map_or(1.0, |place| one.parts[place]);
            let preferred = one.share * load / own.max(1.0);
            Variable {
                calls,
                preferred,
                bound: ASKED_MAX * preferred,
            }
        };
        self.asked.iter().map(variable).collect()
    }

    /// Solves for the rates that compensate, over the next seconds, for past deviations. Where that
    /// is impossible, the rates are not raised further and further: the shortfall is part of the
    /// best solution, and stays the same share of it.
    fn solve(&mut self, at_s: f64, waiting: &Rates) {
        let left = self.seconds.map_or(f64::INFINITY, |seconds| seconds - at_s);
        let ahead_s = left.clamp(EVEN_SECONDS_MIN, EVEN_SECONDS);
        let load = self.load_at(at_s);
        let mut target = [0.0; ROWS];
        for (row, target) in target.iter_mut().enumerate() {
            let wanted = self.shares[row] * load * (at_s + ahead_s);
            let missing = wanted - self.seen[row] as f64 - waiting[row];
            *target = missing / ahead_s - self.effects.of_time()[row];
        }
        let variables = self.variables(load);
        let rates = solve(&variables, &target, &self.weights());
        // With far too many calls already, all rates would be 0 and the model would not be updated.
        let least = variables.iter().map(|one| one.preferred).sum::<f64>() / ASKED_MAX;
        let is_enough = rates.iter().sum::<f64>() >= least;
        for (one, (rate, variable)) in self.asked.iter_mut().zip(rates.iter().zip(&variables)) {
            let slow = variable.preferred / ASKED_MAX;
            one.rate = if is_enough { *rate } else { rate.max(slow) };
            one.credit = 0.0;
        }
    }
}

/// Returns the procedure under which a mount counts calls of a kind: NFSv4 has READDIR for
/// READDIRPLUS, REMOVE for RMDIR, and CREATE, which counts as MKDIR, for MKNOD.
pub fn counted_as(kind: OpKind, is_v4: bool) -> OpKind {
    match kind {
        OpKind::ReadDirPlus if is_v4 => OpKind::ReadDir,
        OpKind::RmDir if is_v4 => OpKind::Remove,
        OpKind::MkNod if is_v4 => OpKind::MkDir,
        _ => kind,
    }
}

fn row_of(kind: OpKind, is_v4: bool) -> usize {
    place(counted_as(kind, is_v4)).unwrap_or(ROWS - 1)
}

/// Returns the calls by procedure, and those without an equivalent procedure.
fn rows(counters: &Counters) -> [u64; ROWS] {
    let mut rows = [0; ROWS];
    for (row, kind) in rows.iter_mut().zip(OpKind::STATELESS) {
        *row = counters.calls[*kind];
    }
    rows[ROWS - 1] = counters.unlike();
    rows
}

fn weight(count: &MixCount) -> f64 {
    count.count as f64
}

fn sum(calls: &[u64]) -> u64 {
    calls
        .iter()
        .fold(0, |sum, calls| sum.saturating_add(*calls))
}

/// Returns the row of a kind in the model.
pub fn place(kind: OpKind) -> Option<usize> {
    OpKind::STATELESS.iter().position(|of| *of == kind)
}

#[cfg(test)]
mod tests;
