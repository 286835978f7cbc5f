//! `filestone history`: a figure over many runs of one plan, and where it changed.

use crate::error::Error;
use crate::inputs::compared_runs;
use crate::options::history::{HistoryFormat, HistoryOptions};
use crate::{ExitStatus, console};
use filestone_report::history::{self, HistoryReport, document, picture as drawing};
use filestone_report::{json, picture};

/// Reads the runs and prints the changes of the figure.
pub fn run(options: &HistoryOptions) -> Result<ExitStatus, Error> {
    let judged: Vec<_> = options.figure.into_iter().collect();
    let read = compared_runs::read_readable(&options.runs, &judged)?;
    let told = HistoryReport::of(read.runs, &read.unreadable, options.figure)?;
    console::result(&match options.format {
        HistoryFormat::Text => history::report(&told).text(console::page()),
        HistoryFormat::Json => json::document(&document::of(&told))?,
        HistoryFormat::Csv => document::csv(&told),
        HistoryFormat::Svg => picture::render(&drawing::picture(&told)),
    })?;
    Ok(if told.history.is_worse() {
        ExitStatus::CaveatFailure
    } else {
        ExitStatus::Done
    })
}
