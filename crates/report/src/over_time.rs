//! Picture of a run over time: load and errors above, response times below, with the phases of the
//! run.

use crate::caption;
use crate::parts::units::seconds;
use crate::picture::{
    Axis, AxisQuantity, Form, Panel, Picture, PlotLine, PlotPoint, Span, Style, Symbol,
};
use crate::quantity::duration_text;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::rows::in_rows;
use filestone_measure::measure::run_record::{IntervalRecord, Phase};
use filestone_measure::measure::verdict::percentile;
use filestone_plan::plan::TICK_NANOS;
use filestone_workload::recording::Ledger;
use filestone_workload::text::thousands;

/// Maximum number of points of a line; longer lines are thinned.
const POINTS_MAX: usize = 200;
/// Maximum number of points with a symbol each; longer lines have some only.
const SYMBOLS_MAX: usize = 25;
/// Minimum mean number of operations in a tick that makes the rate in 100 ms more than noise.
const PER_TICK_MIN: f64 = 10.0;
/// Maximum share of the picture's width for a warm-up, whose length is all that is recorded.
const WARM_UP_SHARE: f64 = 0.1;
/// A drain that is shorter than this share of the window is noted instead of drawn.
const DRAIN_SHARE: f64 = 0.02;
const HEIGHT_OF_LOADS: f64 = 170.0;
const HEIGHT_OF_TIMES: f64 = 240.0;

/// Returns the picture.
pub fn picture(record: &RunRecord) -> Picture {
    let record = &*in_rows(record);
    let axis = || Axis::new(AxisQuantity::Elapsed, "");
    let mut loads = Panel::new(axis(), Axis::load("operations/s"), loads(record));
    loads.height = HEIGHT_OF_LOADS;
    loads
        .lines
        .retain(|line| line.style == Style::Wrong || !line.points.is_empty());
    let mut times = Panel::new(axis(), Axis::time("response time"), times(record));
    times.lines.retain(|line| !line.points.is_empty());
    times.height = HEIGHT_OF_TIMES;
    times.x.label = "seconds since the measured window opened".into();
    let spans = spans(record);
    for panel in [&mut loads, &mut times] {
        panel.reach = vec![seconds(record.window_ns)];
        panel.spans = spans.clone();
    }
    times.spans.iter_mut().for_each(|span| span.text.clear());
    caption::picture(
        record,
        "Load and response time over time",
        vec![loads, times],
        notes(record),
    )
}

/// Returns the load in ticks and intervals, the offered load, and errors.
fn loads(record: &RunRecord) -> Vec<PlotLine> {
    let each = duration_text(record.plan.interval_ns);
    let errors: Vec<PlotPoint> = rated(record)
        .map(|interval| rate(interval, unsuccessful(&interval.ledger)))
        .filter(|point| point.y > 0.0)
        .collect();
    let name = if errors.is_empty() {
        "no errors".into()
    } else {
        let intervals = record.intervals.iter();
        let count: u64 = intervals
            .map(|interval| unsuccessful(&interval.ledger))
            .fold(0, u64::saturating_add);
        format!("errors ({} in all), per {each}", thousands(count))
    };
    let succeeded = rated(record).map(|interval| rate(interval, interval.ledger.ok));
    let succeeded = thinned(succeeded.collect(), Keep::Both);
    vec![
        PlotLine::new(
            &format!("succeeded, per {each}"),
            Style::First,
            Form::Joined,
            succeeded,
        ),
        PlotLine::new(
            &name,
            Style::Wrong,
            Form::Scattered,
            thinned(errors, Keep::Highest),
        ),
        PlotLine::new(
            "ended, per 100 ms",
            Style::Fine,
            Form::Joined,
            in_ticks(record),
        ),
        PlotLine::new("offered load", Style::Bound, Form::Joined, offered(record)),
    ]
}

/// Returns a rate as a point in the middle of its interval.
fn rate(interval: &IntervalRecord, count: u64) -> PlotPoint {
    let length = seconds(length_ns(interval));
    PlotPoint::new(middle(interval), count as f64 / length)
}

/// Returns the middle of an interval on the time axis, in seconds.
pub fn middle(interval: &IntervalRecord) -> f64 {
    (seconds(interval.start_ns) + seconds(interval.end_ns)) / 2.0
}

/// Returns the length of an interval, in nanoseconds.
pub const fn length_ns(interval: &IntervalRecord) -> u64 {
    interval.end_ns.saturating_sub(interval.start_ns)
}

/// Returns the number of completed operations that did not succeed; saturates, because a foreign
/// record may contain any counts.
pub const fn unsuccessful(ledger: &Ledger) -> u64 {
    let lost = ledger.timed_out.saturating_add(ledger.disconnected);
    ledger.failed.saturating_add(lost)
}

/// Returns the intervals that are long enough for a rate.
fn rated(record: &RunRecord) -> impl Iterator<Item = &IntervalRecord> {
    let intervals = record.intervals.iter();
    intervals.filter(|interval| is_rated(record, interval))
}

/// Whether an interval is long enough for a rate: a last one of a millisecond is not. The minimum
/// is half the planned length, limited to the window, so that one long interval during a stall of
/// the load generator does not exclude the others.
pub fn is_rated(record: &RunRecord, interval: &IntervalRecord) -> bool {
    let planned = record.plan.interval_ns.min(record.window_ns);
    length_ns(interval) > 0 && length_ns(interval) >= planned / 2
}

/// Returns the load in ticks of 100 ms, unless they contain too few operations.
fn in_ticks(record: &RunRecord) -> Vec<PlotPoint> {
    let ticks = record
        .ticks
        .iter()
        .filter(|tick| tick.len_ns >= TICK_NANOS / 2);
    let ticks: Vec<_> = ticks
        .filter(|tick| tick.start_ns < record.window_ns)
        .collect();
    let ended: u64 = ticks.iter().map(|tick| tick.ok_or_ended()).sum();
    // Intervals of 100 ms are drawn already.
    let is_finer = record.plan.interval_ns > TICK_NANOS;
    if !is_finer || (ended as f64) < PER_TICK_MIN * ticks.len() as f64 {
        return vec![];
    }
    let points = ticks.iter().map(|tick| {
        let (start, length) = (seconds(tick.start_ns), seconds(tick.len_ns));
        let mut point = PlotPoint::new(start + length / 2.0, tick.ok_or_ended() as f64 / length);
        point.symbol = Symbol::None;
        point
    });
    let mut points = thinned(points.collect(), Keep::Both);
    points
        .iter_mut()
        .for_each(|point| point.symbol = Symbol::None);
    points
}

/// Returns the offered load: one load, or the steps of a run whose load was steered.
fn offered(record: &RunRecord) -> Vec<PlotPoint> {
    let mut points = Vec::new();
    for (from, to, load) in steps(record) {
        let mut start = PlotPoint::new(seconds(from), load);
        start.is_after_gap = true;
        points.extend([start, PlotPoint::new(seconds(to), load)]);
    }
    points.truncate(2 * POINTS_MAX);
    points
        .iter_mut()
        .for_each(|point| point.symbol = Symbol::None);
    points
}

/// Returns the steps of the load with start, end and operations per second.
pub fn steps(record: &RunRecord) -> Vec<(u64, u64, f64)> {
    match (&record.curve, &record.objective) {
        (Some(curve), _) => curve
            .points
            .iter()
            .map(|point| (point.start_ns, point.end_ns, point.offered_load_ops_per_s))
            .collect(),
        (None, Some(found)) => found
            .steps
            .iter()
            .map(|tried| (tried.start_ns, tried.end_ns, tried.offered_load_ops_per_s))
            .collect(),
        (None, None) => record
            .totals
            .offered_load_ops_per_s
            .map(|load| (0, record.window_ns, load))
            .into_iter()
            .collect(),
    }
}

/// Returns median, 99th percentile and maximum of each interval.
fn times(record: &RunRecord) -> Vec<PlotLine> {
    let mut median = Vec::new();
    let mut tail = Vec::new();
    let mut slowest = Vec::new();
    for interval in &record.intervals {
        let x = middle(interval);
        // An interval without completed operations interrupts the lines.
        let gap = PlotPoint::new(x, f64::NAN);
        let times = interval.response_time();
        slowest.push(
            times
                .as_ref()
                .map_or(gap, |times| PlotPoint::new(x, seconds(times.max))),
        );
        // Only slow operations end in the drain, so it has no median.
        let is_whole = interval.phase == Phase::Measure;
        let Some(times) = times.filter(|_| is_whole) else {
            median.push(gap);
            tail.push(gap);
            continue;
        };
        let at = |nanos: u64, quantile: f64| {
            let mut point = PlotPoint::new(x, seconds(nanos));
            point.is_sparse = !percentile::is_rank_known(times.count, quantile);
            point
        };
        median.push(at(times.p50, 0.5));
        tail.push(at(times.p99, 0.99));
    }
    [
        ("p50", Style::First, median),
        ("p99", Style::Second, tail),
        ("slowest", Style::Third, slowest),
    ]
    .map(|(name, style, points)| {
        PlotLine::new(name, style, Form::Joined, thinned(points, Keep::Highest))
    })
    .into()
}

/// Selection of the points that a group keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// The highest: a thinned line hides no slow interval.
    Highest,
    /// The highest and the lowest: a thinned line also shows a drop of the load.
    Both,
}

/// Returns the number of intervals per point.
fn group_of(count: usize) -> usize {
    count.div_ceil(POINTS_MAX).max(1)
}

/// Reduces points to at most [`POINTS_MAX`] groups, in order of time, and keeps the points of each
/// that `keep` selects.
fn thinned(points: Vec<PlotPoint>, keep: Keep) -> Vec<PlotPoint> {
    let group = group_of(points.len());
    let mut kept: Vec<PlotPoint> = match group {
        1 => points,
        _ => points
            .chunks(group)
            .flat_map(|group| extremes(group, keep))
            .collect(),
    };
    let every = kept.len().div_ceil(SYMBOLS_MAX).max(1);
    for (index, point) in kept.iter_mut().enumerate() {
        if index % every != 0 {
            point.symbol = Symbol::None;
        }
    }
    kept
}

fn extremes(group: &[PlotPoint], keep: Keep) -> Vec<PlotPoint> {
    let drawable = || group.iter().copied().filter(|point| point.y.is_finite());
    let highest = drawable().max_by(|one, other| one.y.total_cmp(&other.y));
    let lowest = drawable().min_by(|one, other| one.y.total_cmp(&other.y));
    let mut kept: Vec<PlotPoint> = match keep {
        Keep::Highest => highest.into_iter().collect(),
        Keep::Both if lowest == highest => highest.into_iter().collect(),
        Keep::Both => lowest.into_iter().chain(highest).collect(),
    };
    kept.sort_by(|one, other| one.x.total_cmp(&other.x));
    if kept.is_empty() {
        // No operation completed in the whole group.
        kept.extend(group.first());
    }
    kept
}

/// Returns warm-up, window and drain; for a run whose load was steered also the gaps between its
/// loads.
pub fn spans(record: &RunRecord) -> Vec<Span> {
    let window = seconds(record.window_ns);
    let span = |from, to, text: &str| Span {
        from,
        to,
        text: text.into(),
        is_shaded: true,
    };
    if record.plan.steering.is_some() {
        return between_steps(record)
            .map(|(from, to)| span(from, to, ""))
            .collect();
    }
    let mut spans = vec![Span {
        is_shaded: false,
        ..span(
            0.0,
            window,
            &format!("measured, {}", duration_text(record.window_ns)),
        )
    }];
    let warm_up = seconds(record.plan.warm_up_ns);
    if warm_up > 0.0 {
        let text = format!("warm-up, {}", duration_text(record.plan.warm_up_ns));
        spans.insert(0, span(-warm_up.min(WARM_UP_SHARE * window), 0.0, &text));
    }
    let drained = seconds(drain_end_ns(record));
    if drained > window * (1.0 + DRAIN_SHARE) {
        spans.push(span(window, drained, "drain"));
    }
    spans
}

/// Returns the warm-ups of a steered run's loads.
fn between_steps(record: &RunRecord) -> impl Iterator<Item = (f64, f64)> {
    let steps = steps(record);
    let ends: Vec<u64> = std::iter::once(0)
        .chain(steps.iter().map(|step| step.1))
        .collect();
    let starts = steps.into_iter().map(|step| step.0);
    let pairs = ends.into_iter().zip(starts).take(POINTS_MAX);
    let pairs = pairs.filter(|(end, start)| end < start);
    pairs.map(|(end, start)| (seconds(end), seconds(start)))
}

fn drain(record: &RunRecord) -> impl Iterator<Item = &IntervalRecord> {
    let intervals = record.intervals.iter();
    intervals.filter(|interval| interval.phase == Phase::Drain)
}

fn drain_end_ns(record: &RunRecord) -> u64 {
    drain(record)
        .map(|interval| interval.end_ns)
        .max()
        .unwrap_or(0)
}

/// Returns notes on how to read the picture and on data that is not in it.
fn notes(record: &RunRecord) -> Vec<String> {
    let each = duration_text(record.plan.interval_ns);
    let points = match group_of(record.intervals.len()) {
        1 => format!(
            "a point is an interval of {each}, at its middle; p50 and p99 are dotted where too few \
             operations lie beyond"
        ),
        group => thinned_note(group, &each),
    };
    [vec![points], notes_on_phases(record)].concat()
}

/// Describes a point of a thinned line.
pub fn thinned_note(group: usize, each: &str) -> String {
    format!(
        "a point stands for {group} intervals of {each}: the highest of them, of loads the lowest, \
         too"
    )
}

/// Returns notes on data outside of the window, and on operations that were never sent.
pub fn notes_on_phases(record: &RunRecord) -> Vec<String> {
    let mut notes = Vec::new();
    if record.plan.steering.is_some() {
        notes.push("grey: not measured (warm-ups of the loads)".into());
    } else if record.plan.warm_up_ns > 0 {
        notes.push("of the warm-up nothing is kept, and its width says nothing".into());
    }
    let in_drain: u64 = drain(record)
        .map(|interval| interval.ledger.ended())
        .fold(0, u64::saturating_add);
    let after = drain_end_ns(record).saturating_sub(record.window_ns);
    if in_drain > 0 {
        let operations = match in_drain {
            1 => "1 operation that was due in the window".into(),
            count => format!(
                "{} operations that were due in the window",
                thousands(count)
            ),
        };
        notes.push(format!(
            "{operations} ended up to {} after it",
            duration_text(after)
        ));
    }
    if record.totals.ledger.skipped > 0 {
        let skipped = thousands(record.totals.ledger.skipped);
        notes.push(format!(
            "{skipped} operations were due and never sent; they are not drawn"
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
