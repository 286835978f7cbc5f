//! Validity of a record: a table of the rules behind its caveats, and the verdict that follows from
//! the rules that a run breaks.
//!
//! Broken rules are detected near their figures ([`verdict::caveats`], the curve's caveats, the
//! engine). Each rule has a row with its verdict and its exit code, and a section in
//! `docs/reference/validity.md`; a test of `cli` checks that.

use super::absence::ABSENT_PERCENT;
use super::caveat::Caveat;
use super::curve_doubts::{RELAXATIONS_MIN, SEARCH_RELAXATIONS_MIN, WAITED_SHARE};
use super::run_record::{RunOutcome, RunRecord};
use super::unexpected::{UNEXPECTED_PERCENT, UNEXPECTED_PERCENT_MAX};
pub use super::validity_record::Validity;
use super::verdict::caveats::{
    CALLS_OFF_PERCENT, CLOCK_READ_NS, EMPTY_TICKS, IDLE_TRAFFIC_PERCENT, INTERVAL_TIMES,
    RATE_OFF_PERCENT, SHORT_READS_PERCENT, SLOWER_TIMES, UNMEASURED_PERCENT, WAITED_PERCENT,
    WINDOW_MIN_NS, WIRE_OFF_PERCENT,
};
use super::verdict::percentile::SPREAD_MAX;
use super::verdict::{
    ACHIEVED_OFF_PERCENT, BUSY_PERCENT, DISPATCH_SHARE, DRIFT_PERCENT, INVALID_PERCENT, KEPT_UP,
    LATE_PERCENT_MAX, LITTLE_PERCENT, OFF_SHARE,
};
use filestone_plan::plan::TICK_NANOS;
use filestone_workload::threshold::Threshold;

/// A rule, and the consequence for a run that breaks it.
#[derive(Debug, Clone, Copy)]
pub struct ValidityRule {
    /// Name of the rule: that of its caveat in the record, and of its section.
    pub id: &'static str,
    /// Threshold of its figure, if it has one.
    pub threshold: Option<Threshold>,
    /// Best validity of a run that breaks the rule.
    pub leaves: Validity,
    /// Threshold in the same unit, above which a run that breaks the rule is invalid.
    pub most: Option<Threshold>,
}

macro_rules! rules {
    ($($caveat:ident = $id:literal, $leaves:ident $(, $figure:expr, $unit:literal $(, at most $most:expr)?)?;)*) => {
        /// Table of all rules.
        pub const RULES: &[ValidityRule] = &[$(ValidityRule {
            id: $id,
            threshold: rules!(@threshold $($figure, $unit)?),
            leaves: Validity::$leaves,
            most: rules!(@threshold $($($most, $unit)?)?),
        },)*];

        impl Caveat {
            /// Returns the name of its rule.
            pub const fn id(&self) -> &'static str {
                match self { $(Self::$caveat { .. } => $id,)* }
            }
        }
    };
    (@threshold) => { None };
    (@threshold $figure:expr, $unit:literal) => {
        Some(Threshold { figure: $figure, unit: $unit })
    };
}

rules! {
    LedgerOutOfBalance = "ledger-out-of-balance", DoesNotCount, 0.0, "operations";
    TargetLost = "target-lost", DoesNotCount;
    MixInvalid = "mix-invalid", DoesNotCount, INVALID_PERCENT, "% off the mix";
    LittlesLaw = "littles-law", DoesNotCount, LITTLE_PERCENT, "% outside of the law";
    GeneratorWasTheLimit = "generator-was-the-limit", WithCaveats, BUSY_PERCENT, "% of the window";
    LongInterval = "long-interval", WithCaveats, INTERVAL_TIMES as f64, "times its planned length";
    DidNotRun = "did-not-run", WithCaveats, ABSENT_PERCENT, "% of the window";
    NothingCompleted = "nothing-completed", WithCaveats, (EMPTY_TICKS * TICK_NANOS) as f64 / 1e9, "s without a success";
    WaitedForProcessor = "waited-for-processor", WithCaveats, WAITED_PERCENT, "% of the window";
    WaitedForOwnThreads = "waited-for-own-threads", WithCaveats, WAITED_PERCENT, "% of the window";
    DispatchDelay = "dispatch-delay", WithCaveats, 100.0 * DISPATCH_SHARE, "% of the mean response time", at most LATE_PERCENT_MAX;
    AchievedBelowOffered = "achieved-below-offered", WithCaveats, ACHIEVED_OFF_PERCENT, "% less than was due";
    RateMissed = "rate-missed", WithCaveats, RATE_OFF_PERCENT, "% less than the rate";
    AchievedAboveOffered = "achieved-above-offered", WithCaveats, ACHIEVED_OFF_PERCENT, "% more than was due";
    Skipped = "skipped", WithCaveats, 0.0, "operations";
    UnexpectedOutcomes = "unexpected-outcomes", WithCaveats, UNEXPECTED_PERCENT, "% of the completed operations", at most UNEXPECTED_PERCENT_MAX;
    Forged = "forged", WithCaveats, 0.0, "operations";
    ClientsLost = "clients-lost", WithCaveats, 0.0, "clients";
    SettingsChanged = "settings-changed", WithCaveats, 0.0, "changes";
    NotTheUser = "not-the-user", WithCaveats;
    ConnectionsLost = "connections-lost", WithCaveats, 0.0, "clients";
    Reconnected = "reconnected", WithCaveats, 0.0, "connections";
    Retransmissions = "retransmissions", WithCaveats, 0.0, "calls";
    LateReplies = "late-replies", WithCaveats, 0.0, "replies";
    LongListings = "long-listings", WithCaveats, 0.0, "replies";
    WireDiffers = "wire-differs", WithCaveats, WIRE_OFF_PERCENT, "% of the bytes by the model";
    InterfaceNotQuiet = "interface-not-quiet", WithCaveats, IDLE_TRAFFIC_PERCENT, "% of the bytes in the window";
    ServerCallsDiffer = "server-calls-differ", WithCaveats, 10.0 * CALLS_OFF_PERCENT, "in 1,000 of the calls made";
    ReadingsFailed = "readings-failed", WithCaveats, 0.0, "readings";
    Jukebox = "jukebox", WithCaveats, 0.0, "calls";
    TransferBeyondServer = "transfer-beyond-server", WithCaveats;
    ShortReads = "short-reads", WithCaveats, SHORT_READS_PERCENT, "% of the READs";
    MixOff = "mix-off", WithCaveats, 100.0 * OFF_SHARE, "% of its share";
    NotCaused = "not-caused", WithCaveats;
    NotSeenOnTheWire = "not-seen-on-the-wire", WithCaveats;
    NothingChecked = "nothing-checked", WithCaveats;
    UnmeasuredLoad = "companion-load", WithCaveats, UNMEASURED_PERCENT as f64, "% of all calls";
    Drift = "drift", WithCaveats, DRIFT_PERCENT, "% from the first third to the last";
    FewAboveQuantile = "few-above-quantile", WithCaveats, SPREAD_MAX, "times from end to end";
    PeakOfGenerator = "peak-of-generator", WithCaveats;
    PeakUnfinished = "peak-unfinished", WithCaveats;
    PointsNotSteady = "points-not-steady", WithCaveats, 0.0, "load points";
    PointsBelowOffered = "points-below-offered", WithCaveats, 100.0 * KEPT_UP, "% of the offered load";
    PointsWaited = "points-waited", WithCaveats, 100.0 * WAITED_SHARE, "% of the response time";
    PointsTooShort = "points-too-short", WithCaveats, RELAXATIONS_MIN, "relaxation times";
    StretchesTooShort = "stretches-too-short", WithCaveats, SEARCH_RELAXATIONS_MIN, "relaxation times";
    Outlasted = "outlasted", WithCaveats, 1.0, "operations of each slot";
    ShortRun = "short-run", WithCaveats, WINDOW_MIN_NS as f64 / 1e9, "s";
    HostLost = "host-lost", WithCaveats, 0.0, "hosts";
    HostDiffers = "host-differs", WithCaveats, 100.0 * SLOWER_TIMES, "% of the median of the others";
    HostDoubtful = "host-doubtful", WithCaveats;
    StartsApart = "starts-apart", WithCaveats, 1.0, "intervals";
    Interrupted = "interrupted", WithCaveats;
    DebugBuild = "debug-build", WithCaveats;
    SlowClock = "slow-clock", WithCaveats, CLOCK_READ_NS, "ns a reading";
    Loopback = "loopback", WithCaveats;
    MayShareHost = "may-share-host", WithCaveats;
    LeftBehind = "left-behind", WithCaveats;
    FileSetStillClaimed = "file-set-still-claimed", WithCaveats;
}

impl ValidityRule {
    /// Returns the rule that a caveat reports as broken.
    pub fn of(caveat: &Caveat) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id == caveat.id())
    }
}

impl Caveat {
    /// Returns the best validity of a run with this caveat, from its rule and the extent of the
    /// violation.
    pub fn leaves(&self) -> Validity {
        let Some(rule) = ValidityRule::of(self) else {
            return Validity::WithCaveats;
        };
        let is_beyond = |most: Threshold| self.extent().is_some_and(|extent| extent > most.figure);
        match rule.most {
            Some(most) if is_beyond(most) => Validity::DoesNotCount,
            Some(_) | None => rule.leaves,
        }
    }
}

/// Returns the validity of a record, from its caveats.
pub fn of(record: &RunRecord) -> Validity {
    if succeeded_in_nothing(record) {
        return Validity::DoesNotCount;
    }
    let worst = record.caveats.iter().map(Caveat::leaves).max();
    worst.unwrap_or(Validity::Counts)
}

/// Returns whether the figures of a run are valid.
pub fn counts(record: &RunRecord) -> bool {
    of(record) != Validity::DoesNotCount
}

/// Returns why a record is invalid, each reason with its figure; empty for a valid record.
pub fn reasons(record: &RunRecord) -> Vec<String> {
    let nothing = succeeded_in_nothing(record).then(|| "nothing succeeded".into());
    nothing
        .into_iter()
        .chain(reasons_of(&record.caveats))
        .collect()
}

/// Returns the reasons that are caveats.
pub fn reasons_of(caveats: &[Caveat]) -> impl Iterator<Item = String> {
    let decisive = caveats.iter();
    let decisive = decisive.filter(|caveat| caveat.leaves() == Validity::DoesNotCount);
    decisive.map(Caveat::reason)
}

/// Returns whether a run that was not interrupted has no operation that ended as expected: whatever
/// the command, such a run has no result.
pub const fn succeeded_in_nothing(record: &RunRecord) -> bool {
    !matches!(record.end, RunOutcome::Interrupted) && record.totals.ledger.as_expected() == 0
}

#[cfg(test)]
mod tests;
