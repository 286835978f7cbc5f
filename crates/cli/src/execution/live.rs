//! Progress output of a run: status rows, dbench's rows of a replay, or a progress bar on a
//! terminal.

use crate::console::{self, StdoutState};
use crate::execution::output_directory::OutputDirectory;
use filestone_control::load_control::RemainingTime;
use filestone_host::control::Observer;
use filestone_measure::measure::progress::Progress;
use filestone_measure::measure::run_record::{IntervalRecord, Phase, Target};
use filestone_measure::measure::{RunPhase, RunRecord};
use filestone_plan::plan::Plan;
use filestone_report::json::RECORD_FILE;
use filestone_report::quantity::{duration_text, waiting_text};
use filestone_report::rows::{Columns, ProgressRow, Rows};
use filestone_workload::text::{thousands, time_text};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Interval of lines about a steered run where no bar is visible.
const LINE_EVERY_NS: u64 = 30_000_000_000;

/// Output stream of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStream {
    /// Standard output: the rows are the result.
    Output,
    /// Standard error: the result is a document that rows would corrupt.
    Error,
}

/// Shows the progress of a run.
pub struct Live<'run> {
    stop: &'run AtomicBool,
    /// Whether the result is needed even if nobody reads the rows.
    is_kept: bool,
    /// Directory of the record.
    directory: Option<&'run OutputDirectory>,
    shown: Shown,
    stream: RowStream,
    bar: ProgressBar,
    end: End,
    operations: u64,
    /// Whether the target that was found is printed on standard error.
    is_verbose: bool,
    /// Text for standard error, printed once the target has been found.
    announcement: Option<String>,
    /// Current activity of a steered run or a calibration, and its remaining time.
    steering: Option<(String, Option<RemainingTime>)>,
    /// Time of the next line about a steered run where no bar is visible, in nanoseconds of the
    /// run.
    next_line_ns: Option<u64>,
    /// Text printed before the first row once the target has been found.
    released: Option<String>,
    /// Number of this run among several; printed before the text of the bar.
    within: String,
    unread: Unread<'run>,
}

/// Stop flag of a run whose rows are not read any more; on drop it prevents further runs.
struct Unread<'run> {
    stop: &'run AtomicBool,
    is_so: bool,
}

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        if self.is_so {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Kind of rows.
enum Shown {
    Nothing,
    /// A row per interval.
    Intervals(Rows),
    /// A row per second of a replay.
    Progress(ProgressRow),
}

/// End condition that the progress bar counts towards.
enum End {
    Nanos(u64),
    Count(u64),
}

impl<'run> Live<'run> {
    /// Creates status rows, if any are requested.
    pub fn with_rows(stop: &'run AtomicBool, columns: Columns, stream: RowStream) -> Self {
        Self {
            shown: Shown::Intervals(Rows::new(columns, console::page())),
            stream,
            ..Self::silent(stop)
        }
    }

    /// Creates rows of a replay, one per second.
    pub fn with_progress(stop: &'run AtomicBool, row: ProgressRow, stream: RowStream) -> Self {
        Self {
            shown: Shown::Progress(row),
            stream,
            ..Self::silent(stop)
        }
    }

    /// Sets a text that is printed once the target has been found.
    pub fn announced(mut self, announcement: String) -> Self {
        self.announcement = Some(announcement);
        self
    }

    /// Creates a progress bar if standard error is a terminal, otherwise no output.
    pub fn with_bar(stop: &'run AtomicBool, plan: &Plan) -> Self {
        let end = match (plan.duration_ns, plan.count) {
            (Some(nanos), _) => End::Nanos(nanos),
            (None, count) => End::Count(count.unwrap_or(1)),
        };
        let length = match end {
            End::Nanos(length) | End::Count(length) => length,
        };
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let template = match plan.steering {
            // The search ends the run at an unknown time.
            Some(_) => "{spinner} {wide_msg}",
            None => "{bar:30} {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            bar,
            end,
            next_line_ns: plan.steering.as_ref().map(|_| LINE_EVERY_NS),
            ..Self::silent(stop)
        }
    }

    /// Creates the progress of a calibration if standard error is a terminal.
    pub fn of_calibration(stop: &'run AtomicBool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            ..Self::silent(stop)
        }
    }

    /// Creates no output.
    pub fn silent(stop: &'run AtomicBool) -> Self {
        Self {
            stop,
            is_kept: false,
            directory: None,
            shown: Shown::Nothing,
            stream: RowStream::Output,
            bar: ProgressBar::hidden(),
            end: End::Count(1),
            operations: 0,
            is_verbose: false,
            announcement: None,
            steering: None,
            next_line_ns: None,
            released: None,
            within: String::new(),
            unread: Unread { stop, is_so: false },
        }
    }

    /// Sets whether the target that was found is printed.
    pub fn verbose(mut self, is_verbose: bool) -> Self {
        self.is_verbose = is_verbose;
        self
    }

    /// Sets whether the run continues when the rows are not read any more, because the record will
    /// be stored.
    pub fn kept(mut self, is_kept: bool) -> Self {
        self.is_kept = is_kept;
        self
    }

    /// Sets the directory of the record; it is stored at once if more work follows the run.
    pub fn kept_in(self, directory: Option<&'run OutputDirectory>) -> Self {
        Self {
            directory,
            ..self.kept(directory.is_some())
        }
    }

    /// Sets the text before the first row once the target has been found.
    pub fn released(mut self, text: String) -> Self {
        self.released = Some(text);
        self
    }

    /// Sets the number of this run among several.
    pub fn within(mut self, text: String) -> Self {
        self.within = text;
        self
    }

    /// Leaves the terminal to a view: no bar, and rows only if they go elsewhere.
    pub fn hide(&mut self) {
        self.bar = ProgressBar::hidden();
        self.next_line_ns = None;
        let to_terminal = match self.stream {
            RowStream::Output => std::io::stdout().is_terminal(),
            RowStream::Error => true,
        };
        if to_terminal {
            self.shown = Shown::Nothing;
        }
    }

    /// Removes the progress bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints the activity of a steered run at intervals.
    fn write_line(&mut self, now_ns: u64) {
        let (Some(next), Some((doing, left))) = (self.next_line_ns, &self.steering) else {
            return;
        };
        if now_ns >= next {
            console::note(&steering_text(doing, None, *left));
            self.next_line_ns = Some(now_ns + LINE_EVERY_NS);
        }
    }

    fn show_row(&mut self, text: &str) {
        match self.stream {
            RowStream::Error => console::aside(text),
            RowStream::Output => {
                // If the rows cannot be written, or are not read any more, the run need not
                // continue either. The end of the run writes again and reports the reason.
                let is_stopped = self.stop.load(Ordering::Relaxed);
                let is_gone = console::result(text) != Ok(StdoutState::Present);
                if is_gone && !self.is_kept && !self.unread.is_so && !is_stopped {
                    self.unread.is_so = true;
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Formats the activity, such as `load point 3 of 20, 12,000/s, p99 1.20 ms, about 1 min 20 s
/// left`.
fn steering_text(doing: &str, p99_ns: Option<u64>, left: Option<RemainingTime>) -> String {
    let mut text = doing.to_string();
    if let Some(p99) = p99_ns {
        text.push_str(&format!(", p99 {}", time_text(p99 as f64)));
    }
    let left = left.map(|left| match left {
        RemainingTime::About(nanos) => format!(", about {} left", waiting_text(nanos)),
        RemainingTime::AtMost(nanos) => format!(", at most {} left", waiting_text(nanos)),
        RemainingTime::AtLeast(nanos) => format!(", then {} more", waiting_text(nanos)),
    });
    text + &left.unwrap_or_default()
}

impl Observer for Live<'_> {
    fn phase(&mut self, phase: RunPhase) {
        // Only the load has ended early: the clean-up takes as long as after any other run.
        if phase == RunPhase::CleanUp && self.unread.is_so {
            self.stop.store(false, Ordering::Relaxed);
        }
    }

    fn measured(&mut self, record: &RunRecord) {
        if let Some(directory) = self.directory {
            // It is written again with the rest of the output; an error is reported then.
            let _ = directory.keep(record, RECORD_FILE);
        }
    }

    fn preparing(&mut self, what: &str) {
        self.bar.set_message(format!("{}{what}", self.within));
        self.bar.tick();
    }

    fn note(&mut self, what: &str) {
        console::note(what);
    }

    fn prepared(&mut self, target: &Target) {
        if self.is_verbose {
            console::note(&format!(
                "{}: mounted {}, a {} of {} bytes",
                target.address, target.export, target.object, target.object_bytes
            ));
        }
        if let Some(text) = &self.announcement {
            console::note(text);
        }
        if let Some(text) = self.released.take() {
            self.show_row(&text);
        }
        self.bar.set_message(String::new());
    }

    fn steering(&mut self, what: &str, left: Option<RemainingTime>) {
        self.bar.set_message(steering_text(what, None, left));
        self.bar.tick();
        self.steering = Some((what.into(), left));
    }

    fn progress(&mut self, progress: &Progress) {
        if let Shown::Progress(row) = &self.shown
            && let Some(row) = row(progress)
        {
            self.show_row(&row);
        }
    }

    fn interval(&mut self, record: &IntervalRecord) {
        if record.phase == Phase::Drain {
            return;
        }
        if let Shown::Intervals(rows) = &mut self.shown {
            let row = rows.row(record);
            self.show_row(&row);
        }
        if self.bar.is_hidden() {
            self.write_line(record.end_ns);
            return;
        }
        let ended = record.ledger.ended();
        self.operations += ended;
        let p99 = record.response_time().map_or(0, |times| times.p99);
        if let Some((doing, left)) = &self.steering {
            self.bar.set_message(steering_text(doing, Some(p99), *left));
            self.bar.tick();
            return;
        }
        let (position, of) = match self.end {
            End::Nanos(nanos) => (record.end_ns, duration_text(nanos)),
            End::Count(count) => (self.operations, format!("{} operations", thousands(count))),
        };
        self.bar.set_position(position);
        let nanos = record.end_ns.saturating_sub(record.start_ns).max(1);
        let load = ended as f64 * 1e9 / nanos as f64;
        self.bar.set_message(format!(
            "{}of {of}: {} operations/s, p99 {:.1} usecs",
            self.within,
            thousands(load.round() as u64),
            p99 as f64 / 1000.0,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_steered_run_is_doing_says_for_how_long() {
        const SECOND: u64 = 1_000_000_000;
        let point = "load point 3 of 20, 12,000/s";
        for (p99, left, text) in [
            (None, None, "load point 3 of 20, 12,000/s"),
            (
                None,
                Some(RemainingTime::About(80 * SECOND)),
                "load point 3 of 20, 12,000/s, about 1 min 20 s left",
            ),
            (
                Some(1_200_000),
                Some(RemainingTime::AtMost(9 * SECOND)),
                "load point 3 of 20, 12,000/s, p99 1.20 ms, at most 9 s left",
            ),
            (
                None,
                Some(RemainingTime::AtLeast(3900 * SECOND)),
                "load point 3 of 20, 12,000/s, then 1 h 5 min more",
            ),
        ] {
            assert_eq!(steering_text(point, p99, left), text);
        }
    }
}
