//! Caveats about a load–response curve.

use super::{Caveat, per_second};
use filestone_workload::text::time_text;

/// Returns the sentence, if the caveat is about a curve.
pub(super) fn of(caveat: &Caveat) -> Option<String> {
    Some(match caveat {
        Caveat::PointsNotSteady {
            points,
            of,
            first_ops_per_s,
        } => of_points(
            *points,
            *of,
            *first_ops_per_s,
            "were measured before their response times had become steady",
        ),
        Caveat::PointsBelowOffered {
            points,
            of,
            first_ops_per_s,
            achieved_load_ops_per_s,
        } => format!(
            "{}, which achieved {}",
            of_points(
                *points,
                *of,
                *first_ops_per_s,
                "were offered more than was achieved"
            ),
            per_second(*achieved_load_ops_per_s)
        ),
        Caveat::PointsWaited {
            points,
            of,
            first_ops_per_s,
            waited_percent,
        } => format!(
            "{}, where that was {waited_percent:.0} % of the response time",
            of_points(
                *points,
                *of,
                *first_ops_per_s,
                "had operations wait before they were sent"
            )
        ),
        Caveat::PointsTooShort {
            points,
            of,
            first_ops_per_s,
            relaxations,
        } => points_too_short(*points, *of, *first_ops_per_s, *relaxations),
        Caveat::StretchesTooShort {
            stretch_ns,
            relaxation_time_ns,
        } => stretches_too_short(*stretch_ns, *relaxation_time_ns),
        Caveat::PeakOfGenerator { peak_ops_per_s } => format!(
            "the server kept up with all that the load generator can offer: the peak of {} achieved is not the server's",
            per_second(*peak_ops_per_s)
        ),
        Caveat::PeakUnfinished { peak_ops_per_s } if *peak_ops_per_s <= 0.0 => {
            "the search for the peak was broken off before a load was known to be kept up with"
                .into()
        }
        Caveat::PeakUnfinished { peak_ops_per_s } => format!(
            "the search for the peak was broken off; {} is the highest load known to be kept up with",
            per_second(*peak_ops_per_s)
        ),
        _ => return None,
    })
}

fn points_too_short(points: u64, of: u64, first_ops_per_s: f64, relaxations: f64) -> String {
    let which = of_points(
        points,
        of,
        first_ops_per_s,
        "were measured for few relaxation times of their queue",
    );
    format!(
        "{which}, {relaxations:.0} times: where their queues began, and chance, are part of their response times"
    )
}

fn stretches_too_short(stretch_ns: u64, relaxation_time_ns: f64) -> String {
    format!(
        "no load is named: near it the queue takes {} to forget how it began, and no load was measured for more than {} at a stretch",
        time_text(relaxation_time_ns),
        time_text(stretch_ns as f64)
    )
}

/// Returns what to do about it.
pub(super) fn help_for(caveat: &Caveat) -> Option<&'static str> {
    Some(match caveat {
        Caveat::PointsNotSteady { .. } => {
            "allow a longer warm-up, or lower the peak if these points are above the server's capacity"
        }
        Caveat::PointsBelowOffered { .. } => {
            "they are left out of the knee and of the overall response time; lower the peak"
        }
        Caveat::PointsWaited { .. } => {
            "allow more calls in flight (--in-flight), and leave a processor to the load generator"
        }
        Caveat::PointsTooShort { .. } => {
            "measure each load point for longer (--point-duration), or lower the peak"
        }
        Caveat::StretchesTooShort { .. } => {
            "give the search more time (--search-time): a stretch may take 15 % of it; or ask for an objective that holds further below the capacity"
        }
        Caveat::PeakOfGenerator { .. } => {
            "use more workers (--workers) or a second host; compare with `filestone calibrate`"
        }
        Caveat::PeakUnfinished { .. } => "give the peak, or let the run go on for longer",
        _ => return None,
    })
}

fn of_points(points: u64, of: u64, first_ops_per_s: f64, what: &str) -> String {
    format!(
        "{points} of {of} load points {what}, the first of them offered {}",
        per_second(first_ops_per_s)
    )
}
