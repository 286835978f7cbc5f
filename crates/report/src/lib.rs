//! Reports of filestone, as text, HTML, CSV, JSON, gnuplot scripts and SVG.
//!
//! Input: run records of `measure`, and values computed from several records, such as a comparison
//! or a sweep. Output: text. A report is a function of its input; this crate does not open sockets,
//! read clocks, spawn threads or access files (`clippy.toml` enforces it), and does not depend on
//! the engine or on the command line. Commands read the records, and print or store the reports.
//!
//! Most reports are a [`Document`](document::Document) of sentences, facts, tables and pictures,
//! which [`document`] renders as text and [`html`] as a page.
//!
//! To add a report of a run: a file here, a line in [`REPORTS`], snapshots over the records of
//! `fixtures`, a paragraph in the documentation. Pictures are listed in [`picture_list`].

#![forbid(unsafe_code)]

#[cfg(not(feature = "schema"))]
use filestone_no_schema::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub mod ab;
pub mod addresses;
mod caption;
pub mod comparison;
pub mod cookbook;
mod csv;
pub mod dbench;
pub mod doctor;
pub mod document;
pub mod error;
pub mod explanation;
mod fleet;
pub mod fleet_ctl;
pub mod gnuplot;
pub mod hdr;
pub mod history;
mod hosts;
pub mod html;
pub mod json;
pub mod layers;
pub mod load_statistics;
pub mod mix;
pub mod mixes;
pub mod nhfsstone;
mod over_time;
pub mod parts;
mod percentiles;
pub mod picture;
pub mod picture_list;
mod probe;
pub mod quantity;
pub mod repeats;
pub mod replay;
pub mod rows;
pub mod sanitize;
pub mod shell;
pub mod smbtorture;
pub mod summary;
pub mod sweep;
pub mod text;
pub mod ticks;

#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;

use document::page::{Detail, PageWidth};
use error::ReportError;
use filestone_measure::measure::{Caveat, RunRecord};
use mix::found;

/// Returns the advice of a caveat for a reader of the record, who has the options of its command.
pub type Advice = fn(&Caveat, &RunRecord) -> Option<String>;

/// A form of a run record.
#[derive(Debug)]
pub struct Report {
    /// Name in `--format`.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Renders the report; only text for people depends on the page, and only HTML on the advice.
    pub render: fn(&Self, &RunRecord, PageWidth, Advice) -> Result<String, ReportError>,
}

/// Creates a picture of [`picture_list`].
const fn picture(name: &'static str, about: &'static str) -> Report {
    Report {
        name,
        about,
        render: |report, record, _, _| picture_list::named(record, report.name),
    }
}

/// List of all reports.
pub const REPORTS: &[Report] = &[
    Report {
        name: "text",
        about: "Tables for people",
        render: |_, record, page, _| Ok(text::render(record, Detail::Whole, page)),
    },
    Report {
        name: "json",
        about: "The run record itself",
        render: |_, record, _, _| json::render(record),
    },
    Report {
        name: "csv",
        about: "A row per interval and kind of operation, and the totals; of a curve or a search, a row per load",
        render: |_, record, _, _| Ok(found::values(record).unwrap_or_else(|| csv::render(record))),
    },
    Report {
        name: "gnuplot",
        about: "A script with its data: requests, latency, send and receive; of a curve or a search, that",
        render: |_, record, _, _| {
            Ok(found::script_with_data(record).unwrap_or_else(|| gnuplot::render(record)))
        },
    },
    Report {
        name: "hdr",
        about: "HdrHistogram's interval log, format 1.3",
        render: |_, record, _, _| hdr::render(record),
    },
    Report {
        name: "html",
        about: "One page that any browser opens offline: everything, with pictures to zoom in",
        render: |_, record, _, advice| html::of_records(std::slice::from_ref(record), advice),
    },
    Report {
        name: "svg",
        about: "A picture: the curve, the search, the steps, or the percentiles; of several replays, the layers",
        render: |_, record, _, _| picture_list::first(record),
    },
    picture(
        "percentiles.svg",
        "A picture of the response-time percentiles",
    ),
    picture(
        "over-time.svg",
        "A picture of load, errors and response times over time",
    ),
    picture("curve.svg", "A picture of a load-response curve"),
    picture("search.svg", "A picture of a search for a load"),
    picture("steps.svg", "A picture of the steps of a fleet's ramp"),
    picture("hosts.svg", "A picture of what each host of a job measured"),
];

/// Returns the report of that name.
pub fn named(name: &str) -> Option<&'static Report> {
    REPORTS.iter().find(|report| report.name == name)
}

#[cfg(test)]
mod tests {
    use super::document::page::{Detail, PageWidth};
    use super::{fixtures, text};

    #[test]
    fn no_line_of_a_report_is_longer_than_its_page() {
        let records = fixtures::all();
        for (columns, record) in [80, 100, 132]
            .into_iter()
            .flat_map(|columns| records.iter().map(move |record| (columns, record)))
        {
            let page = PageWidth::of(columns);
            for line in text::render(record, Detail::Clients, page).lines() {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
        }
    }
}
