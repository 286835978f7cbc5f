//! Model of the calls of each procedure that one system call of each kind causes, estimated from
//! the system calls made and the calls counted by the kernel.
//!
//! Between two readings of the counters, n_k system calls of kind k were made and y_p calls of
//! procedure p were counted: y_p = Σ n_k c_kp, with unknown c. The estimator is recursive least
//! squares, one per procedure, where c may drift from reading to reading (a Kalman filter with a
//! random walk: S. Haykin, Adaptive Filter Theory, 4th ed., section 10.10). Initially each system
//! call is assumed to cause the call of its own name; the variances below define the certainty of
//! that, and the probability of other calls. A burst of one kind of system call determines its row
//! at once; a mixture of all kinds shows whether the sum is still right.

use super::{ProcedureCounts, place};
use filestone_workload::operation::OpKind;

/// Number of rows: the procedures, and one for calls without an equivalent procedure.
pub const ROWS: usize = OpKind::STATELESS.len() + 1;
/// Calls by procedure; the last number is that of calls without an equivalent procedure.
pub type Rates = [f64; ROWS];
/// System calls by kind, and seconds, for calls that the client makes by itself over time.
pub type SyscallCounts = [f64; ROWS];

/// Index of the time in [`SyscallCounts`].
const TIME: usize = ROWS - 1;

/// Initial variances of the calls of a system call's own procedure, and of other procedures.
const OWN_VARIANCE: f64 = 1.0;
const OTHER_VARIANCE: f64 = 0.04;
/// Increase of these variances from one reading to the next.
const OWN_WANDER: f64 = 0.01;
const OTHER_WANDER: f64 = 0.001;
/// Variances of a count, from calls in flight at the readings and from random variation.
const COUNT_VARIANCE: f64 = 2.0;
const COUNT_VARIANCE_OF_CALLS: f64 = 0.02;

/// The estimates.
#[derive(Debug, Clone)]
pub struct CallModel {
    /// Calls by procedure of one system call of each kind, and of one second.
    calls: [Rates; ROWS],
    /// For each procedure, the covariances of its numbers in `calls`.
    covariances: Vec<[Rates; ROWS]>,
}

impl CallModel {
    /// Creates the initial model: every system call causes one call of its own procedure, as it is
    /// counted (`row_of`).
    pub fn new(row_of: impl Fn(OpKind) -> usize) -> Self {
        let mut calls = [[0.0; ROWS]; ROWS];
        let mut covariances = vec![[[0.0; ROWS]; ROWS]; ROWS];
        for (row, covariance) in covariances.iter_mut().enumerate() {
            for (done, own) in covariance.iter_mut().enumerate() {
                own[done] = variance(is_own(done, row, &row_of));
            }
        }
        for (done, effect) in calls.iter_mut().enumerate() {
            if let Some(kind) = OpKind::STATELESS.get(done) {
                effect[row_of(*kind)] = 1.0;
            }
        }
        Self { calls, covariances }
    }

    /// Returns the calls by procedure of one system call of a kind.
    pub fn of(&self, kind: OpKind) -> &Rates {
        place(kind).map_or(&[0.0; ROWS], |place| &self.calls[place])
    }

    /// Returns the calls by procedure in each second.
    pub fn of_time(&self) -> &Rates {
        &self.calls[TIME]
    }

    /// Updates the model with two readings, `seconds` apart: the system calls and the calls between
    /// them.
    pub fn calibrate(&mut self, done: &ProcedureCounts, seconds: f64, calls: &Rates) {
        let mut times: SyscallCounts = [0.0; ROWS];
        for (number, kind) in times.iter_mut().zip(OpKind::STATELESS) {
            *number = done[*kind] as f64;
        }
        times[TIME] = seconds;
        let noise = COUNT_VARIANCE + COUNT_VARIANCE_OF_CALLS * times.iter().sum::<f64>();
        for (row, covariance) in self.covariances.iter_mut().enumerate() {
            let spread = covariance.map(|of_one| dot(&of_one, &times));
            let expected: f64 = (self.calls.iter().zip(&times))
                .map(|(effect, count)| effect[row] * count)
                .sum();
            let scale = 1.0 / (noise + dot(&spread, &times));
            let surprise = calls[row] - expected;
            for (effect, part) in self.calls.iter_mut().zip(&spread) {
                // A system call cannot cause a negative number of calls.
                effect[row] = (effect[row] + part * scale * surprise).max(0.0);
            }
            for (of_one, part) in covariance.iter_mut().zip(spread) {
                for (number, other) in of_one.iter_mut().zip(spread) {
                    *number -= part * other * scale;
                }
            }
        }
    }

    /// Increases the variances, because caches fill and supplies run out.
    pub fn age(&mut self, row_of: impl Fn(OpKind) -> usize) {
        for (row, covariance) in self.covariances.iter_mut().enumerate() {
            for (done, of_one) in covariance.iter_mut().enumerate() {
                let is_own = is_own(done, row, &row_of);
                let wander = if is_own { OWN_WANDER } else { OTHER_WANDER };
                of_one[done] = (of_one[done] + wander).min(variance(is_own));
            }
        }
    }

    /// Resets the estimates of a kind of system call, which is made differently from now on.
    pub fn forget(&mut self, kind: OpKind, row_of: impl Fn(OpKind) -> usize) {
        let Some(place) = place(kind) else { return };
        self.calls[place] = [0.0; ROWS];
        self.calls[place][row_of(kind)] = 1.0;
        for (row, covariance) in self.covariances.iter_mut().enumerate() {
            covariance[place] = [0.0; ROWS];
            for of_one in covariance.iter_mut() {
                of_one[place] = 0.0;
            }
            covariance[place][place] = variance(is_own(place, row, &row_of));
        }
    }
}

fn is_own(done: usize, row: usize, row_of: impl Fn(OpKind) -> usize) -> bool {
    let kind = OpKind::STATELESS.get(done);
    kind.is_some_and(|kind| row_of(*kind) == row)
}

fn variance(is_own: bool) -> f64 {
    if is_own { OWN_VARIANCE } else { OTHER_VARIANCE }
}

fn dot(one: &Rates, other: &Rates) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(counts: &[(OpKind, u64)]) -> ProcedureCounts {
        let mut calls = ProcedureCounts::default();
        for (kind, count) in counts {
            calls[*kind] = *count;
        }
        calls
    }

    fn calls(counts: &[(OpKind, f64)]) -> Rates {
        let mut rates = [0.0; ROWS];
        for (kind, count) in counts {
            rates[kind.index()] = *count;
        }
        rates
    }

    #[test]
    fn a_burst_of_one_kind_tells_what_it_makes() {
        let mut effects = CallModel::new(OpKind::index);
        assert_eq!(effects.of(OpKind::Create)[OpKind::Create.index()], 1.0);
        let seen = calls(&[(OpKind::Create, 16.0), (OpKind::Lookup, 16.0)]);
        effects.calibrate(&done(&[(OpKind::Create, 16)]), 0.1, &seen);
        effects.calibrate(&done(&[(OpKind::ReadLink, 16)]), 0.1, &[0.0; ROWS]);
        let create = effects.of(OpKind::Create);
        assert!((create[OpKind::Create.index()] - 1.0).abs() < 0.05);
        assert!((create[OpKind::Lookup.index()] - 1.0).abs() < 0.25);
        assert!(effects.of(OpKind::ReadLink)[OpKind::ReadLink.index()] < 0.05);
        assert_eq!(effects.of(OpKind::Read)[OpKind::Read.index()], 1.0);
    }

    #[test]
    fn a_mixture_tells_that_a_cache_swallows_half_of_one_kind() {
        let mut effects = CallModel::new(OpKind::index);
        let mixture = [(OpKind::Lookup, 170), (OpKind::Read, 110)];
        let seen = calls(&[(OpKind::Lookup, 85.0), (OpKind::Read, 110.0)]);
        for _ in 0..3 {
            effects.calibrate(&done(&mixture), 2.0, &seen);
            effects.age(OpKind::index);
        }
        let lookup = effects.of(OpKind::Lookup)[OpKind::Lookup.index()];
        assert!((lookup - 0.5).abs() < 0.05, "{lookup}");
        let read = effects.of(OpKind::Read);
        assert!((read[OpKind::Read.index()] - 1.0).abs() < 0.02, "{read:?}");
        assert!(read[OpKind::Lookup.index()] < 0.02, "{read:?}");
    }

    #[test]
    fn nothing_is_ever_taken_back_and_what_is_forgotten_is_as_at_first() {
        let mut effects = CallModel::new(OpKind::index);
        effects.calibrate(&done(&[(OpKind::Commit, 100)]), 1.0, &[0.0; ROWS]);
        let all = OpKind::STATELESS.iter().map(|kind| *effects.of(*kind));
        assert!(all.flatten().all(|number| number >= 0.0));
        assert!(effects.of(OpKind::Commit)[OpKind::Commit.index()] < 0.05);
        effects.forget(OpKind::Commit, OpKind::index);
        assert_eq!(effects.of(OpKind::Commit)[OpKind::Commit.index()], 1.0);
    }
}
