//! Exit code of a record, and the caveats that count as failure.

use crate::ExitStatus;
use crate::error::Error;
use filestone_measure::measure::caveat::{RULES, ValidityRule};
use filestone_measure::measure::gates::has_failed;
use filestone_measure::measure::run_record::RunOutcome;
use filestone_measure::measure::validity;
use filestone_measure::measure::{Caveat, JobRecord, RunRecord};

/// Returns the exit code of a record, the gravest reason first.
pub fn exit_of(record: &RunRecord, failing: &FailingCaveats) -> ExitStatus {
    if record.caveats.iter().any(Caveat::is_fatal) || record.totals.ledger.missing() != 0 {
        return ExitStatus::LedgerError;
    }
    let has_lost = |job: &JobRecord| !job.lost.is_empty();
    if record.job.as_ref().is_some_and(has_lost) {
        return ExitStatus::TargetLost;
    }
    match record.end {
        RunOutcome::TargetLost { .. } => ExitStatus::TargetLost,
        RunOutcome::Interrupted => ExitStatus::Interrupted,
        RunOutcome::Finished if !validity::counts(record) => ExitStatus::DoesNotCount,
        RunOutcome::Finished if has_failed(record) => ExitStatus::CaveatFailure,
        RunOutcome::Finished if record.caveats.iter().any(|caveat| failing.contains(caveat)) => {
            ExitStatus::CaveatFailure
        }
        RunOutcome::Finished => ExitStatus::Done,
    }
}

/// Caveats that the user asked to treat as failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailingCaveats {
    /// No caveats.
    None,
    /// Every caveat.
    Any,
    /// Caveats of these kinds, by their names in the record.
    Kinds(Vec<&'static str>),
}

fn names() -> String {
    let names: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    names.join(", ")
}

impl FailingCaveats {
    /// Parses the value of `--fail-on-caveat`.
    pub fn parse(text: Option<&str>) -> Result<Self, Error> {
        let text = match text {
            None => return Ok(Self::None),
            Some("any") => return Ok(Self::Any),
            Some(text) => text,
        };
        let named = |name: &str| {
            ValidityRule::named(name.trim())
                .map(|rule| rule.id)
                .ok_or_else(|| {
                    Error::usage(format!("--fail-on-caveat={name}: there is no such caveat"))
                        .with_help(format!("the caveats are {}", names()))
                })
        };
        text.split(',')
            .map(named)
            .collect::<Result<_, _>>()
            .map(Self::Kinds)
    }

    fn contains(&self, caveat: &Caveat) -> bool {
        match self {
            Self::None => false,
            Self::Any => true,
            Self::Kinds(kinds) => kinds.contains(&caveat.id()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::measure::gates::evaluate;
    use filestone_report::fixtures;

    #[test]
    fn only_caveats_that_there_are_can_be_named() {
        let error = FailingCaveats::parse(Some("debug-build,rain")).expect_err("no caveat");
        assert_eq!(
            error.message,
            "--fail-on-caveat=rain: there is no such caveat"
        );
        let former = FailingCaveats::parse(Some("outlasted, left-behind"));
        let present = FailingCaveats::Kinds(vec!["window-too-short", "leftover"]);
        assert_eq!(former.expect("former names"), present);
    }

    #[test]
    fn the_gravest_reason_decides_the_exit_code() {
        let failing = FailingCaveats::Any;
        let mut record = fixtures::with_errors();
        assert_eq!(exit_of(&record, &FailingCaveats::None).code(), 0);
        assert_eq!(exit_of(&record, &failing).code(), 1);
        let kinds = FailingCaveats::parse(Some("debug-build")).expect("a caveat");
        assert_eq!(exit_of(&record, &kinds).code(), 0);
        let ledger = record.totals.ledger;
        record.totals.ledger.failed += ledger.ok;
        record.totals.ledger.ok = 0;
        assert_eq!(exit_of(&record, &failing).code(), 3);
        assert_eq!(exit_of(&record, &FailingCaveats::None).code(), 3);
        record.end = RunOutcome::Interrupted;
        assert_eq!(exit_of(&record, &failing).code(), 130);
        record.totals.ledger = ledger;
        record.end = RunOutcome::TargetLost {
            message: "gone".into(),
        };
        assert_eq!(exit_of(&record, &failing).code(), 3);
        record.totals.ledger.ok += 1;
        assert_eq!(exit_of(&record, &failing).code(), 70);
    }

    #[test]
    fn a_gate_decides_what_nothing_graver_does() {
        let mut record = fixtures::in_stretches();
        let none = FailingCaveats::None;
        let mut exit_with = |gate: &str, strict: bool, end: RunOutcome| {
            record.plan.gates.fail_if = vec![gate.parse().expect(gate)];
            record.plan.gates.strict = strict;
            record.end = end;
            record.gates = evaluate(&record);
            exit_of(&record, &none).code()
        };
        let lost = || RunOutcome::TargetLost {
            message: "gone".into(),
        };
        for (gate, strict, end, code) in [
            ("achieved < 400/s", true, RunOutcome::Finished, 0),
            ("achieved < 600/s", false, RunOutcome::Finished, 1),
            // 500 with a small interval, which contains the limit.
            ("achieved < 500.01/s", false, RunOutcome::Finished, 0),
            ("achieved < 500.01/s", true, RunOutcome::Finished, 1),
            ("achieved < 600/s", false, RunOutcome::Interrupted, 130),
            ("achieved < 600/s", false, lost(), 3),
        ] {
            let found = exit_with(gate, strict, end);
            assert_eq!(found, code, "{gate}, strict: {strict}");
        }
    }

    #[test]
    fn chance_in_poisson_arrivals_is_not_held_against_anybody() {
        use filestone_measure::measure::verdict::caveats::find;
        use filestone_plan::plan::ArrivalsPlan;
        let is_below = |record: &RunRecord| {
            find(record)
                .iter()
                .any(|caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. }))
        };
        // 800 operations were due in 2 s instead of the expected 820, and all completed.
        let mut record = fixtures::interrupted();
        record.end = RunOutcome::Finished;
        record.totals.offered_load_ops_per_s = Some(410.0);
        record.plan.arrivals = ArrivalsPlan::Constant {
            offered_load_ops_per_s: 410.0,
        };
        assert!(is_below(&record));
        record.plan.arrivals = ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 410.0,
        };
        assert!(!is_below(&record));
        record.totals.ledger.scheduled += 100;
        assert!(is_below(&record));
    }
}
