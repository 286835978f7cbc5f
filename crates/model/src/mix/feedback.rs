//! How a mix that goes through a kernel mount is kept right on the wire.
//!
//! System calls are not RPC calls: the kernel's client answers some of them from its caches,
//! and makes calls of its own accord. So the clients *claim* what each system call ought to
//! have cost, choose the next operation by that estimate, and are corrected from time to time
//! by what the kernel has counted. This is nhfsstone's idea (Legato Systems, 1989); its exact
//! arithmetic is [`nhfsstone`], and this file has ours:
//!
//! - shares are exact, where the original's were whole percents and lost what was below 0.5 %;
//! - pauses are nanoseconds, where the original skipped those under 20 ms;
//! - all 22 procedures of NFSv3, where the original had the 18 of NFSv2;
//! - one estimate for all clients of a mount, where each process of the original supposed
//!   that all others did as it did;
//! - a correction teaches how many calls on the wire a claimed call is worth, where the
//!   original forgot it until the next one.
//!
//! Not here: reading counters ([`counters`](super)), making system calls (the engine).

pub mod nhfsstone;

use crate::measure::mix_record::CorrectionRecord;
use crate::operation::OpKind;
use crate::plan::MixCount;

/// Calls by procedure, in the order of their numbers in NFSv3.
pub type Calls = [u64; OpKind::PROCEDURES.len()];

/// The first correction of a run comes so long after its start, to know the caches early.
pub const FIRST_CORRECTION_NS: u64 = 1_000_000_000;
/// Distance of two corrections: nhfsstone's.
pub const CORRECTION_NS: u64 = 5_000_000_000;

/// How strongly a share that is off changes the choice: nhfsstone's factor.
const CHOICE_GAIN: f64 = 16.0;
/// A lead over the schedule is taken back, and arrears are made up for, in so many seconds: two
/// corrections. The original's 5 % for each 0.1 % of the run swings in runs of under four
/// minutes, because a correction then does more than the next one can undo.
const LEAD_SECONDS: f64 = 10.0;
/// A correction leaves the pause between a quarter and four times what it should be.
const PAUSE_FACTOR_MAX: f64 = 4.0;
/// A claimed call is taken for at least this much of a call on the wire, and at most for its
/// inverse: what no cache lets through would otherwise be asked for without end.
const WORTH_MIN: f64 = 1.0 / 64.0;
/// How much a correction's own finding counts beside what was known before.
const WORTH_NEWS: f64 = 0.5;
/// Calls claimed between two corrections below which they teach nothing.
const WORTH_CALLS_MIN: u64 = 20;

/// What the clients of one mount are to reach together.
#[derive(Debug, Clone)]
pub struct Goal<'a> {
    /// How often each kind is asked, relative to the others.
    pub counts: &'a [MixCount],
    /// How many clients there are.
    pub clients: u32,
    /// Calls per second of all of them; `None` for as many as go.
    pub load: Option<f64>,
    /// Calls that end the run.
    pub calls: Option<u64>,
}

/// The clients of one mount, and what is known of their calls.
#[derive(Debug, Clone)]
pub struct Group {
    shares: Vec<(OpKind, f64)>,
    clients: f64,
    /// Mean distance of two calls of one client, if there is an offered load.
    mean_pause_ns: Option<f64>,
    pause_ns: f64,
    count: Option<u64>,
    /// On the wire, as of the last correction.
    seen: Calls,
    /// Claimed since then.
    claimed: Calls,
    /// Claimed since the beginning.
    asked: Calls,
    /// Operations carried out since the beginning.
    operations: Calls,
    /// Calls of their own kind that they claimed.
    own_calls: Calls,
    /// Calls on the wire that a claimed call is worth, by kind.
    worth: [f64; OpKind::PROCEDURES.len()],
    /// The same of all kinds together.
    worth_of_all: f64,
}

impl Group {
    /// Clients that have not begun.
    pub fn new(goal: &Goal<'_>) -> Self {
        let procedures = |count: &&MixCount| count.count > 0 && place(count.operation).is_some();
        let sum: f64 = goal.counts.iter().filter(procedures).map(weight).sum();
        let shares = goal.counts.iter().filter(procedures);
        let clients = f64::from(goal.clients.max(1));
        let load = goal.load.filter(|load| *load > 0.0);
        let mean_pause_ns = load.map(|load| clients * 1e9 / load);
        Self {
            shares: shares
                .map(|count| (count.operation, weight(count) / sum))
                .collect(),
            clients,
            mean_pause_ns,
            pause_ns: mean_pause_ns.unwrap_or(0.0),
            count: goal.calls,
            seen: Calls::default(),
            claimed: Calls::default(),
            asked: Calls::default(),
            operations: Calls::default(),
            own_calls: Calls::default(),
            worth: [1.0; OpKind::PROCEDURES.len()],
            worth_of_all: 1.0,
        }
    }

    /// The kind to ask next, by a number that is equally likely anywhere from 0 to 1; `None`
    /// if the mix is empty.
    ///
    /// A kind weighs its share, less sixteen times what it is ahead, by the calls that one
    /// operation of it costs: shares are shares of calls. Before that division weights sum to 1,
    /// so that there is always one above 0.
    pub fn choose(&self, uniform: f64) -> Option<OpKind> {
        let shares = self.shares.iter();
        let estimates: Vec<f64> = shares.map(|(kind, _)| self.estimate(*kind)).collect();
        let sum: f64 = estimates.iter().sum();
        let weights: Vec<f64> = self
            .shares
            .iter()
            .zip(&estimates)
            .map(|((_, share), estimate)| {
                let ahead = if sum > 0.0 {
                    estimate / sum - share
                } else {
                    0.0
                };
                (share - CHOICE_GAIN * ahead).max(0.0)
            })
            .zip(&self.shares)
            .map(|(weight, (kind, _))| weight / self.cost(*kind))
            .collect();
        let mut left = uniform * weights.iter().sum::<f64>();
        let mut last = None;
        for ((kind, _), weight) in self.shares.iter().zip(&weights) {
            if *weight > 0.0 {
                last = Some(*kind);
                left -= weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        last
    }

    /// Counts an operation that was carried out. What it made of calls is claimed besides.
    pub fn carried_out(&mut self, kind: OpKind, own_calls: u64) {
        if let Some(place) = place(kind) {
            self.operations[place] = self.operations[place].saturating_add(1);
            self.own_calls[place] = self.own_calls[place].saturating_add(own_calls);
        }
    }

    /// Counts calls that a system call ought to have made.
    pub fn claim(&mut self, kind: OpKind, calls: u64) {
        if let Some(place) = place(kind) {
            self.claimed[place] = self.claimed[place].saturating_add(calls);
            self.asked[place] = self.asked[place].saturating_add(calls);
        }
    }

    /// Mean distance of two claimed calls of one client; 0 without an offered load.
    pub fn pause_ns(&self) -> f64 {
        self.pause_ns
    }

    /// Calls claimed so far, by procedure.
    pub fn asked(&self) -> &Calls {
        &self.asked
    }

    /// Whether, by the estimate, the calls that end the run have been made.
    pub fn seems_complete(&self) -> bool {
        let estimates = OpKind::PROCEDURES.iter().map(|kind| self.estimate(*kind));
        self.count
            .is_some_and(|count| estimates.sum::<f64>() >= count as f64)
    }

    /// Whether the kernel has counted the calls that end the run.
    pub fn is_complete(&self) -> bool {
        self.count.is_some_and(|count| sum(&self.seen) >= count)
    }

    /// Begins to count anew, when the measured window opens; what was learnt is kept.
    pub fn restart(&mut self) {
        self.seen = Calls::default();
        self.claimed = Calls::default();
        self.asked = Calls::default();
    }

    /// Takes what the kernel has counted since the beginning, `at_ns` after it. `waiting` are
    /// claimed calls that are due and wait because their client is not free: a server that
    /// cannot keep up is not offered more for it.
    pub fn correct(&mut self, at_ns: u64, seen: &Calls, waiting: f64) -> CorrectionRecord {
        let before = self.seen.iter().zip(&self.claimed);
        for ((worth, now), (before, claimed)) in self.worth.iter_mut().zip(seen).zip(before) {
            *worth = learnt(*worth, (now.saturating_sub(*before), *claimed));
        }
        let news = sum(seen).saturating_sub(sum(&self.seen));
        self.worth_of_all = learnt(self.worth_of_all, (news, sum(&self.claimed)));
        self.seen = *seen;
        self.claimed = Calls::default();
        let got = sum(seen);
        let mut wanted = got;
        if let Some(mean) = self.mean_pause_ns {
            let load = self.clients / mean;
            let want = at_ns as f64 * load;
            let lead = got as f64 + waiting * self.worth_of_all - want;
            let lead = lead / (load * LEAD_SECONDS * 1e9);
            let factor = (1.0 + lead).clamp(1.0 / PAUSE_FACTOR_MAX, PAUSE_FACTOR_MAX);
            self.pause_ns = mean * self.worth_of_all * factor;
            wanted = want.round() as u64;
        }
        CorrectionRecord {
            at_ns,
            seen: got,
            wanted,
            pause_ns: self.pause_ns.round() as u64,
        }
    }

    /// Calls on the wire of one operation of a kind, as far as is known.
    fn cost(&self, kind: OpKind) -> f64 {
        place(kind).map_or(1.0, |place| {
            let operations = self.operations[place];
            let own_calls = match operations {
                0 => 1.0,
                operations => (self.own_calls[place] as f64 / operations as f64).max(WORTH_MIN),
            };
            own_calls * self.worth[place]
        })
    }

    /// Calls of a kind on the wire, as far as is known.
    fn estimate(&self, kind: OpKind) -> f64 {
        place(kind).map_or(0.0, |place| {
            self.seen[place] as f64 + self.claimed[place] as f64 * self.worth[place]
        })
    }
}

/// What a claimed call is worth, by what was known and (calls seen, calls claimed).
fn learnt(known: f64, (seen, claimed): (u64, u64)) -> f64 {
    if claimed < WORTH_CALLS_MIN {
        return known;
    }
    let found = (seen as f64 / claimed as f64).clamp(WORTH_MIN, 1.0 / WORTH_MIN);
    known + WORTH_NEWS * (found - known)
}

fn weight(count: &MixCount) -> f64 {
    count.count as f64
}

fn sum(calls: &Calls) -> u64 {
    calls
        .iter()
        .fold(0, |sum, calls| sum.saturating_add(*calls))
}

/// Where a procedure stands in [`Calls`].
pub fn place(kind: OpKind) -> Option<usize> {
    (kind.index() < OpKind::PROCEDURES.len()).then(|| kind.index())
}

#[cfg(test)]
mod tests;
