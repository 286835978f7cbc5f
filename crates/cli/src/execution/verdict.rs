//! What a record comes to: its exit code, and the caveats that are held against it.

use crate::Exit;
use crate::error::Error;
use crate::report::parts::caveats;
use filestone_model::measure::gates::has_failed;
use filestone_model::measure::run_record::RunEnd;
use filestone_model::measure::{Caveat, RunRecord};

/// The exit code that a record deserves, the gravest reason first.
pub fn exit_of(record: &RunRecord, failing: &FailingCaveats) -> Exit {
    if record.caveats.iter().any(Caveat::is_fatal) || record.totals.ledger.missing() != 0 {
        return Exit::OutOfBalance;
    }
    match record.end {
        RunEnd::TargetLost { .. } => Exit::TargetLost,
        RunEnd::Interrupted => Exit::Interrupted,
        RunEnd::Finished if succeeded_in_nothing(record) => Exit::NothingSucceeded,
        RunEnd::Finished if has_failed(record) => Exit::Doubtful,
        RunEnd::Finished if record.caveats.iter().any(|caveat| failing.contains(caveat)) => {
            Exit::Doubtful
        }
        RunEnd::Finished => Exit::Done,
    }
}

/// Whether a run that was not broken off has not a single operation that succeeded: whatever
/// the command, that is no result.
pub const fn succeeded_in_nothing(record: &RunRecord) -> bool {
    !matches!(record.end, RunEnd::Interrupted) && record.totals.ledger.ok == 0
}

/// Caveats that the user asked to treat as failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailingCaveats {
    /// None.
    None,
    /// All.
    Any,
    /// Those of these kinds, by their names in the record.
    Kinds(Vec<String>),
}

impl FailingCaveats {
    /// Reads the value of `--fail-on-caveat`.
    pub fn parse(text: Option<&str>) -> Result<Self, Error> {
        let text = match text {
            None => return Ok(Self::None),
            Some("any") => return Ok(Self::Any),
            Some(text) => text,
        };
        let known = caveat_names();
        let kinds: Vec<String> = text
            .split(',')
            .map(|kind| kind.trim().to_string())
            .collect();
        match kinds.iter().find(|kind| !known.contains(kind)) {
            None => Ok(Self::Kinds(kinds)),
            Some(kind) => Err(Error::usage(format!(
                "--fail-on-caveat={kind}: there is no such caveat"
            ))
            .with_help(format!("the caveats are {}", known.join(", ")))),
        }
    }

    fn contains(&self, caveat: &Caveat) -> bool {
        match self {
            Self::None => false,
            Self::Any => true,
            Self::Kinds(kinds) => caveats::name(caveat).is_some_and(|name| kinds.contains(&name)),
        }
    }
}

/// The names of all caveats, from the schema of the record, so that none is forgotten.
fn caveat_names() -> Vec<String> {
    let schema = schemars::schema_for!(Caveat);
    let variants = schema.get("oneOf").and_then(|variants| variants.as_array());
    variants
        .into_iter()
        .flatten()
        .filter_map(|variant| variant.pointer("/properties/caveat/const"))
        .filter_map(|name| name.as_str().map(String::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::canned;
    use filestone_model::measure::gates::judge;

    #[test]
    fn every_caveat_can_be_named() {
        let names = caveat_names();
        assert!(names.contains(&"debug-build".to_string()), "{names:?}");
        assert!(names.len() >= 15, "{names:?}");
        let error = FailingCaveats::parse(Some("debug-build,rain")).expect_err("no caveat");
        assert_eq!(error.what, "--fail-on-caveat=rain: there is no such caveat");
    }

    #[test]
    fn the_gravest_reason_decides_the_exit_code() {
        let failing = FailingCaveats::Any;
        let mut record = canned::with_errors();
        assert_eq!(exit_of(&record, &FailingCaveats::None).code(), 0);
        assert_eq!(exit_of(&record, &failing).code(), 1);
        let kinds = FailingCaveats::parse(Some("debug-build")).expect("a caveat");
        assert_eq!(exit_of(&record, &kinds).code(), 0);
        let ledger = record.totals.ledger;
        record.totals.ledger.failed += ledger.ok;
        record.totals.ledger.ok = 0;
        assert_eq!(exit_of(&record, &failing).code(), 3);
        assert_eq!(exit_of(&record, &FailingCaveats::None).code(), 3);
        record.end = RunEnd::Interrupted;
        assert_eq!(exit_of(&record, &failing).code(), 130);
        record.totals.ledger = ledger;
        record.end = RunEnd::TargetLost {
            message: "gone".into(),
        };
        assert_eq!(exit_of(&record, &failing).code(), 3);
        record.totals.ledger.ok += 1;
        assert_eq!(exit_of(&record, &failing).code(), 70);
    }

    #[test]
    fn a_gate_decides_what_nothing_graver_does() {
        let mut record = canned::in_stretches();
        let none = FailingCaveats::None;
        let mut exit_with = |gate: &str, strict: bool, end: RunEnd| {
            record.plan.gates.fail_if = vec![gate.parse().expect(gate)];
            record.plan.gates.strict = strict;
            record.end = end;
            record.gates = judge(&record);
            exit_of(&record, &none).code()
        };
        let lost = || RunEnd::TargetLost {
            message: "gone".into(),
        };
        for (gate, strict, end, code) in [
            ("achieved < 400/s", true, RunEnd::Finished, 0),
            ("achieved < 600/s", false, RunEnd::Finished, 1),
            // 500 and a little more or less: the interval holds the limit.
            ("achieved < 500.01/s", false, RunEnd::Finished, 0),
            ("achieved < 500.01/s", true, RunEnd::Finished, 1),
            ("achieved < 600/s", false, RunEnd::Interrupted, 130),
            ("achieved < 600/s", false, lost(), 3),
        ] {
            let found = exit_with(gate, strict, end);
            assert_eq!(found, code, "{gate}, strict: {strict}");
        }
    }

    #[test]
    fn chance_in_poisson_arrivals_is_not_held_against_anybody() {
        use filestone_model::measure::verdict::caveats::find;
        use filestone_model::plan::ArrivalsPlan;
        let is_below = |record: &RunRecord| {
            find(record)
                .iter()
                .any(|caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. }))
        };
        // 800 came due in 2 s, where 820 were to be expected, and all were done.
        let mut record = canned::interrupted();
        record.end = RunEnd::Finished;
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
