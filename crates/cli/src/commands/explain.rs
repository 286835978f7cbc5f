//! `filestone explain`: the bottlenecks of the runs of records.

use crate::error::Error;
use crate::inputs::record_file;
use crate::options::explain::ExplainOptions;
use crate::options::run_report::DocumentFormat;
use crate::{ExitStatus, console};
use filestone_report::explanation::{self, ExplainedRecord};
use filestone_report::json;

/// Reads the records and prints the bottleneck of each.
pub fn run(options: &ExplainOptions) -> Result<ExitStatus, Error> {
    let mut explained = Vec::new();
    for path in &options.records {
        for file in record_file::paths_of_runs(path)? {
            let records = record_file::read_records(&file)?;
            let records = records.iter();
            explained.extend(records.map(|record| ExplainedRecord::of(&file, record)));
        }
    }
    console::result(&match options.format {
        DocumentFormat::Text => explanation::report(&explained).text(console::page()),
        DocumentFormat::Json => json::document(&explained)?,
    })?;
    Ok(ExitStatus::Done)
}
