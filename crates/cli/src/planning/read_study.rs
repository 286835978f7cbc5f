//! Command lines and defaults of the points of `--read-study TARGET`.

use crate::error::Error;
use crate::options::cost::CostOptions;
use crate::options::probe::ProbeOptions;
use filestone_measure::sweep::SweepValue;

const MILLISECOND: u64 = 1_000_000;
/// Defaults of a run: 86 points of three runs take 13 minutes.
const WINDOW: u64 = 2000 * MILLISECOND;
const WARM_UP: u64 = 200 * MILLISECOND;
const IDLE: u64 = 500 * MILLISECOND;
const READINGS: u64 = 500 * MILLISECOND;
/// Number of runs of each point, and the pause between two.
pub const RUNS: u32 = 3;
pub const PAUSE: u64 = 100 * MILLISECOND;

/// Returns the command line of a point, with the further words behind `--`.
pub fn line_of_point(target: &str, point: &[SweepValue], more: &[String]) -> Vec<String> {
    let [call, transport] = point else {
        return vec![];
    };
    let transport = format!("--transport={}", transport.text);
    let mut line = match call.number {
        Some(_) => vec![
            "probe".into(),
            "read".into(),
            format!("--io-size={}", call.text),
        ],
        None => vec!["probe".into(), call.text.clone()],
    };
    line.extend([target.into(), transport]);
    line.extend(more.iter().cloned());
    line
}

/// Sets the defaults of the study in the probe of a point.
pub fn prepare(probe: &mut ProbeOptions, cost: &CostOptions) {
    let load = &mut probe.load;
    if load.count.is_none() {
        load.duration.get_or_insert(WINDOW);
    }
    load.warm_up.get_or_insert(WARM_UP);
    // Calibration would be repeated at each point.
    probe.calibration.no_calibrate = true;
    probe.report.cost = CostOptions {
        cost: true,
        idle_baseline: cost.idle_baseline.or(Some(IDLE)),
        cost_interval: cost.cost_interval.or(Some(READINGS)),
        ..cost.clone()
    };
}

/// Rejects options behind `--` that the study sets itself, or that belong before `--`.
pub fn refuse(more: &[String]) -> Result<(), Error> {
    let is_given = |name: &str| {
        let words = more.iter().filter_map(|word| word.strip_prefix("--"));
        words
            .into_iter()
            .any(|word| word.split('=').next() == Some(name))
    };
    let own = ["io-size", "size", "transport", "seed"];
    if let Some(name) = own.into_iter().find(|name| is_given(name)) {
        return Err(
            Error::usage(format!("--{name} behind --: the study says it itself"))
                .with_help("further options of probe stand there, such as --in-flight"),
        );
    }
    if let Some(word) = more.iter().find(|word| is_cost(word)) {
        return Err(Error::usage(format!(
            "{word} behind --: of the study it stands before --"
        )));
    }
    Ok(())
}

fn is_cost(word: &str) -> bool {
    word.starts_with("--server-") || word == "--cost" || word.starts_with("--cost-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use filestone_measure::sweep::read_study::{ReadLimits, points};

    #[test]
    fn a_point_is_a_probe_of_its_call_over_its_transport() {
        let points = points(ReadLimits::UNKNOWN);
        let line =
            |place: usize| line_of_point("nfs://s/f", &points[place], &["-j2".into()]).join(" ");
        assert_eq!(line(1), "probe getattr nfs://s/f --transport=tcp -j2");
        assert_eq!(
            line(3),
            "probe read --io-size=256 nfs://s/f --transport=tcp -j2"
        );
    }

    #[test]
    fn what_the_study_says_itself_must_not_stand_behind_it() {
        for word in [
            "--io-size=3",
            "--transport=udp",
            "--seed=1",
            "--server-pid=7",
            "--cost",
        ] {
            assert!(refuse(&[word.into()]).is_err(), "{word}");
        }
        assert!(refuse(&["-j".into(), "8".into(), "--server".into()]).is_ok());
    }
}
