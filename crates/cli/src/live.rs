//! What is shown while a run lasts: status rows, dbench's rows of a replay, or a
//! progress bar on a terminal.

use crate::console::{self, Reader};
use crate::quantity::{duration_text, grouped, time_text};
use crate::render::dbench::{self, Form};
use crate::render::rows::{Columns, Rows};
use filestone_engine::replay::Progress;
use filestone_engine::run::Observer;
use filestone_model::measure::run_record::{IntervalRecord, Phase, Target};
use filestone_model::plan::Plan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStream {
    /// They are the result.
    Output,
    /// The result is a document, and rows would spoil it.
    Error,
}

/// Shows a run while it lasts.
pub struct Live<'run> {
    stop: &'run AtomicBool,
    /// Whether somebody wants the result even if nobody reads the rows.
    is_kept: bool,
    shown: Shown,
    stream: RowStream,
    bar: ProgressBar,
    end: End,
    operations: u64,
    /// Says which target was found, on standard error.
    is_verbose: bool,
    /// Is said, on standard error, once the target has been found.
    announcement: Option<String>,
    /// What a steered run is doing: it has no known end.
    steering: Option<String>,
    /// Stands before the first row once the target has been found.
    released: Option<String>,
}

/// Which rows there are.
enum Shown {
    Nothing,
    /// One per interval.
    Intervals(Rows),
    /// One per second of a replay, as dbench's.
    Progress(Form),
}

/// What the progress bar runs towards.
enum End {
    Nanos(u64),
    Count(u64),
}

impl<'run> Live<'run> {
    /// Rows, if any are wanted.
    pub fn with_rows(stop: &'run AtomicBool, columns: Columns, stream: RowStream) -> Self {
        Self {
            shown: Shown::Intervals(Rows::new(columns, console::page())),
            stream,
            ..Self::silent(stop)
        }
    }

    /// A replay's rows, one per second.
    pub fn with_progress(stop: &'run AtomicBool, form: Form, stream: RowStream) -> Self {
        Self {
            shown: Shown::Progress(form),
            stream,
            ..Self::silent(stop)
        }
    }

    /// Also says this once the target has been found.
    pub fn announced(mut self, announcement: String) -> Self {
        self.announcement = Some(announcement);
        self
    }

    /// A progress bar if standard error is a terminal, and otherwise nothing.
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
            // What is looked for ends the run; nobody knows when that will be found.
            Some(_) => "{spinner} {wide_msg}",
            None => "{bar:30} {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            bar,
            end,
            ..Self::silent(stop)
        }
    }

    /// Nothing.
    pub fn silent(stop: &'run AtomicBool) -> Self {
        Self {
            stop,
            is_kept: false,
            shown: Shown::Nothing,
            stream: RowStream::Output,
            bar: ProgressBar::hidden(),
            end: End::Count(1),
            operations: 0,
            is_verbose: false,
            announcement: None,
            steering: None,
            released: None,
        }
    }

    /// Also says which target was found.
    pub fn verbose(mut self, is_verbose: bool) -> Self {
        self.is_verbose = is_verbose;
        self
    }

    /// Goes on when nobody reads the rows any more: the record will be kept.
    pub fn kept(mut self, is_kept: bool) -> Self {
        self.is_kept = is_kept;
        self
    }

    /// Puts this before the first row once the target has been found.
    pub fn released(mut self, text: String) -> Self {
        self.released = Some(text);
        self
    }

    /// Takes the progress bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show_row(&mut self, text: &str) {
        match self.stream {
            RowStream::Error => console::aside(text),
            RowStream::Output => {
                // Nobody reads on, or nobody can: then the run need not go on either.
                // The end of the run writes again and tells the reason.
                if console::result(text) != Ok(Reader::Present) && !self.is_kept {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

impl Observer for Live<'_> {
    fn preparing(&mut self, what: &str) {
        self.bar.set_message(what.to_string());
        self.bar.tick();
    }

    fn remark(&mut self, what: &str) {
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

    fn steering(&mut self, what: &str) {
        self.steering = Some(what.into());
    }

    fn progress(&mut self, progress: &Progress) {
        if let Shown::Progress(form) = self.shown
            && let Some(row) = dbench::row(form, progress)
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
            return;
        }
        let ended = record.ledger.ended();
        self.operations += ended;
        let p99 = record.response_time().map_or(0, |times| times.p99);
        if let Some(doing) = &self.steering {
            let message = format!("{doing}, p99 {}", time_text(p99 as f64));
            self.bar.set_message(message);
            self.bar.tick();
            return;
        }
        let (position, of) = match self.end {
            End::Nanos(nanos) => (record.end_ns, duration_text(nanos)),
            End::Count(count) => (self.operations, format!("{} operations", grouped(count))),
        };
        self.bar.set_position(position);
        let nanos = record.end_ns.saturating_sub(record.start_ns).max(1);
        let load = ended as f64 * 1e9 / nanos as f64;
        self.bar.set_message(format!(
            "of {of}: {} operations/s, p99 {:.1} usecs",
            grouped(load.round() as u64),
            p99 as f64 / 1000.0,
        ));
    }
}
