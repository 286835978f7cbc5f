//! Picture of the response-time percentiles of both sides, which shows where in the tail one is
//! slower.

use super::ReadRun;
use super::{Compared, heading, name_of};
use crate::error::ReportError;
use crate::percentiles;
use crate::picture::{Form, Picture, PlotLine, Style};
use filestone_workload::recording::DistributionRecord;

/// Returns the picture: a line per side, of all operations of its runs.
pub fn picture(compared: &Compared) -> Result<Picture, ReportError> {
    let lines = vec![
        line("base", Style::First, &compared.base)?,
        line("new", Style::Second, &compared.new)?,
    ];
    Ok(Picture {
        title: "Response times compared".into(),
        circumstances: vec![
            format!("base: {}", name_of(&compared.base)),
            format!("new: {}", name_of(&compared.new)),
            heading(compared),
        ],
        panels: vec![percentiles::panel(lines, "response time (done − due)")],
        notes: vec![
            "all operations of a side's runs together; dotted: too few operations lie beyond"
                .into(),
            "bars: 95 % intervals of the percentiles, if operations do not depend on each other; \
             by what runs differ is in the text, not here"
                .into(),
        ],
    })
}

fn line(name: &str, style: Style, runs: &[ReadRun]) -> Result<PlotLine, ReportError> {
    let times = runs.iter().map(|read| &read.run.totals.response_time_ns);
    let times: Vec<&DistributionRecord> = times.collect();
    let merged = DistributionRecord::merged(&times).map_err(|error| {
        ReportError::unavailable(format!(
            "{}: a histogram cannot be read: {error}",
            name_of(runs)
        ))
    })?;
    let points = percentiles::points(&merged);
    Ok(PlotLine::new(name, style, Form::Joined, points))
}
