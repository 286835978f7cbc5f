//! Text of the view's figures.

use super::state::{View, ended};
use filestone_live::event::{IntervalFigures, OperationFigures, PointFigure, RemainingTimeKind};
use filestone_measure::measure::caveat::thresholds::{BUSY_PERCENT, DISPATCH_SHARE};
use filestone_workload::text::{bytes_text, thousands, time_text};

/// Returns the operations per second of an interval.
pub fn load(figures: &OperationFigures, interval: &IntervalFigures) -> f64 {
    ended(figures) as f64 / seconds(interval)
}

/// Formats megabytes of data per second of an interval.
pub fn megabytes(figures: &OperationFigures, interval: &IntervalFigures) -> String {
    let rate = figures.data_bytes as f64 / seconds(interval);
    format!("{:.1}", rate / 1e6)
}

/// Formats data per second of an interval, with unit.
pub fn goodput(figures: &OperationFigures, interval: &IntervalFigures) -> String {
    format!("{} MB/s", megabytes(figures, interval))
}

/// Returns the length of an interval, in seconds.
fn seconds(interval: &IntervalFigures) -> f64 {
    let nanos = interval.end_ns.saturating_sub(interval.start_ns);
    nanos.max(1) as f64 / 1e9
}

/// Formats a load.
pub fn per_second(load: f64) -> String {
    format!("{}/s", thousands(load.round() as u64))
}

/// Formats a time, or a dash.
pub fn time(nanos: Option<u64>) -> String {
    nanos.map_or("-".into(), |nanos| time_text(nanos as f64))
}

/// Returns the load of the workers in an interval, in percent: each uses at most one processor, and
/// together they use at most all that exist.
pub fn busy_percent(view: &View, interval: &IntervalFigures) -> Option<f64> {
    let processors = view.processors.unwrap_or(u32::MAX);
    let workers = view.plan()?.workers.clamp(1, processors.max(1));
    let nanos = interval.end_ns.saturating_sub(interval.start_ns).max(1);
    Some(100.0 * interval.client_cpu_ns as f64 / nanos as f64 / f64::from(workers))
}

/// Describes the load generator: its CPU use, delay and memory.
pub fn own_share(view: &View) -> Vec<String> {
    let Some(interval) = view.last() else {
        return vec![];
    };
    let busy = busy_percent(view, interval).map(|busy| format!("busy {busy:.0} %"));
    let late = interval.dispatch_delay_ns;
    let late = late.map(|late| format!("late p99 {}", time_text(late.p99 as f64)));
    let memory = interval.resident_bytes;
    let memory = (memory > 0).then(|| format!("memory {}", bytes_text(memory)));
    [busy, late, memory].into_iter().flatten().collect()
}

/// Lists caveats that are visible before the end; the record has the complete list.
pub fn doubts(view: &View) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some(interval) = view.last() {
        if let Some(busy) = busy_percent(view, interval).filter(|busy| *busy >= BUSY_PERCENT) {
            doubts.push(format!(
                "the load generator is busy for {busy:.0} % of the time"
            ));
        }
        let times = interval.all.response_time_ns;
        if let (Some(late), Some(times)) = (interval.dispatch_delay_ns, times)
            && late.mean > DISPATCH_SHARE * times.mean
            && late.mean >= LATE_FLOOR_NS
        {
            doubts.push(format!(
                "the load generator is late: {} of {} on average",
                time_text(late.mean),
                time_text(times.mean)
            ));
        }
    }
    let sums = &view.all;
    if sums.unsuccessful > 0 {
        doubts.push(format!(
            "{} of {} operations did not end well",
            thousands(sums.unsuccessful),
            thousands(sums.ended)
        ));
    }
    // If loads are offered in turn, operations left over from one are skipped on purpose before the
    // next.
    let is_steered = view.plan().is_some_and(|plan| plan.steering.is_some());
    if sums.skipped > 0 && !is_steered {
        doubts.push(format!(
            "{} operations were skipped",
            thousands(sums.skipped)
        ));
    }
    if view.is_debug_build {
        doubts.push("this is a debug build".into());
    }
    doubts
}

/// Same limit as for the caveats of a record.
const LATE_FLOOR_NS: f64 = 5000.0;

/// Describes the activity of a steered run and its remaining time.
pub fn steering(view: &View) -> Option<String> {
    let doing = view.steering.as_ref()?;
    let left = doing.left_ns.map(|nanos| {
        let waiting = filestone_report::quantity::waiting_text(nanos);
        match doing.bound {
            RemainingTimeKind::About => format!(", about {waiting} left"),
            RemainingTimeKind::AtMost => format!(", at most {waiting} left"),
            RemainingTimeKind::AtLeast => format!(", then {waiting} more"),
        }
    });
    Some(doing.what.clone() + &left.unwrap_or_default())
}

/// Describes the progress of a replay.
pub fn replay(view: &View) -> Option<String> {
    let progress = view.progress.as_ref()?;
    Some(format!(
        "{}: {} clients, line {}, {:.2} MB/s",
        progress.phase,
        thousands(progress.clients.into()),
        thousands(progress.line),
        progress.bytes_per_s / 1e6
    ))
}

/// Describes the last measured point: `io-size=512: achieved 12,000/s, p99 1.2 ms`.
pub fn point(view: &View) -> Option<String> {
    let point = view.point.as_ref()?;
    let figures: Vec<String> = point.figures.iter().map(figure).collect();
    Some(format!("{}: {}", point.name, figures.join(", ")))
}

fn figure(figure: &PointFigure) -> String {
    let PointFigure { name, value, .. } = figure;
    match figure.unit.as_str() {
        "ns" => format!("{name} {}", time_text(*value)),
        "ops/s" => format!("{name} {}", per_second(*value)),
        "" => format!("{name} {value:.3}"),
        unit => format!("{name} {value:.1} {unit}"),
    }
}

/// Describes the last completed run: `block 3, A: finished, valid`.
pub fn ended_run(view: &View) -> Option<String> {
    let run = view.ended.as_ref()?;
    let caveats = match run.caveats.len() {
        0 => String::new(),
        1 => ", 1 caveat".into(),
        many => format!(", {many} caveats"),
    };
    Some(format!("run {} {}{caveats}", run.number, run.end))
}
