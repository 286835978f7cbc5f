//! `filestone report`: any report of a stored record.

use crate::error::Error;
use crate::options::ReportOptions;
use crate::render;
use crate::{Exit, console, record_file};

/// Reads the record and prints the report; caveats go to standard error as ever.
pub fn run(options: &ReportOptions) -> Result<Exit, Error> {
    let report = render::named(&options.format)
        .ok_or_else(|| Error::usage(format!("--as {}: there is no such report", options.format)))?;
    let record = record_file::read_record(&options.record)?;
    if let Err(contradiction) = record.check() {
        console::note(&format!(
            "{}: this record contradicts itself: {contradiction}",
            options.record.display()
        ));
    }
    console::result(&(report.render)(&record)?)?;
    if report.name == "text" {
        record.caveats.iter().for_each(console::caveat);
    }
    Ok(Exit::Done)
}
