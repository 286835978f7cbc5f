//! Report as one HTML page that opens offline and can be mailed.
//!
//! The page repeats no text and no computation: sentences and tables are those of the report's
//! [`Document`]; pictures are the same that become SVG.
//! Only the data for zooming is specific to this page: [`over_time`] and [`heat_map`].
//!
//! The page loads no resources, and its Content-Security-Policy enforces this: one script and one
//! style sheet, each allowed by its hash, which [`document`] computes. Everything from records is
//! text, which the templates escape, or data, which [`chart`] escapes; a record cannot add markup.
//!
//! The report and the live page share the components in `assets`: a file each, without a build
//! step.

mod blocks;
mod chart;
mod document;
mod environment;
mod heat_map;
pub mod live;
mod over_time;
mod run;
mod values;

#[cfg(test)]
pub(super) mod tests;

use crate::Advice;
use crate::ab::AbReport;
use crate::comparison::{self, Compared};
use crate::document::{Block, Document};
use crate::error::ReportError;
use crate::layers;
use crate::repeats::{self, Repeats};
use crate::shell::shell_line;
use crate::sweep::ladder;
use crate::sweep::ladder::comparison::{self as ladder_comparison, ComparedLadders};
use crate::sweep::{self, SweepKind, SweepReport};
use document::HtmlPage;
use filestone_measure::comparison::ComparisonVerdict;
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::Validity;
use maud::html;

/// File name in the directory of a run.
pub const FILE: &str = "report.html";

/// Returns the page of a run, or of several runs of one load file on several layers.
pub fn of_records(records: &[RunRecord], advice: Advice) -> Result<String, ReportError> {
    let mut sheet = HtmlPage::default();
    match records {
        [record] => run::add(&mut sheet, record, advice)?,
        records => {
            add_layers(&mut sheet, records);
            for (number, record) in (1..).zip(records) {
                run::add_to_others(&mut sheet, record, number, advice)?;
            }
        }
    }
    document::page(&sheet)
}

/// Adds the comparison of the layers.
fn add_layers(sheet: &mut HtmlPage, records: &[RunRecord]) {
    let picture = layers::picture::picture(records);
    sheet.title = picture
        .as_ref()
        .map_or_else(|| "Several runs".into(), |picture| picture.title.clone());
    if let Some(picture) = &picture {
        sheet.origin.clone_from(&picture.circumstances);
    }
    let (tables, sentences) = tables_and_sentences(&layers::report(records));
    let together = layers::picture::percentiles(records);
    let charts = [picture, together].into_iter().flatten();
    let charts: Vec<_> = charts.map(|picture| sheet.picture(&picture)).collect();
    if tables.is_empty() && charts.is_empty() {
        return;
    }
    sheet.section(
        "layers",
        "Layers",
        html! {
            (blocks::all(&sentences))
            @for chart in &charts { (chart) }
            (blocks::all(&tables))
        },
    );
}

/// Returns the page of a sweep or ladder.
pub fn of_sweep(swept: &SweepReport) -> Result<String, ReportError> {
    let is_ladder = swept.kind == SweepKind::Ladder;
    let report = sweep::report(swept);
    let title = report.picture().map(|picture| picture.title.as_str());
    let without = if is_ladder {
        ladder::picture::TITLE
    } else {
        "A sweep"
    };
    let mut sheet = finding(title.unwrap_or(without), &report, "");
    if !is_ladder {
        let command = shell_line(&swept.command);
        sheet.section(
            "repeat",
            "What is measured at each point",
            html! { pre tabindex="0" { (document::clean(&command)) } },
        );
    }
    document::page(&sheet)
}

/// Returns the page of two ladders side by side.
pub fn of_ladders(compared: ComparedLadders<'_>) -> Result<String, ReportError> {
    let report = ladder_comparison::report(compared);
    document::page(&finding("Two ladders", &report, ""))
}

/// Returns the page of several runs of one plan; `report --format html` makes the page of a single run.
pub fn of_repeats(repeats: &Repeats) -> Result<String, ReportError> {
    let title = "Several runs of one plan";
    document::page(&finding(title, &repeats::report(repeats), ""))
}

/// Returns the page of a comparison of two sides.
pub fn of_comparison(compared: &Compared) -> Result<String, ReportError> {
    let picture = comparison::picture::picture(compared)?;
    let title = picture.title.clone();
    let report = comparison::report(compared).push(Block::Picture(picture));
    document::page(&finding(&title, &report, class(compared)))
}

/// Returns the page of two sides whose runs were interleaved.
pub fn of_ab(trial: &AbReport) -> Result<String, ReportError> {
    let compared = &trial.compared;
    let mut report = trial.report();
    if trial.is_enough() {
        report = report.push(Block::Picture(comparison::picture::picture(compared)?));
    }
    let title = "Two sides measured in turn";
    document::page(&finding(title, &report, class(compared)))
}

/// Returns the class of a verdict.
fn class(compared: &Compared) -> &'static str {
    match compared.comparison.verdict {
        ComparisonVerdict::Better | ComparisonVerdict::NotWorse => Validity::Counts.name(),
        ComparisonVerdict::Inconclusive => Validity::WithCaveats.name(),
        ComparisonVerdict::Worse => Validity::DoesNotCount.name(),
    }
}

/// Creates a page of the result in sentences, then as a picture and in tables.
fn finding(title: &str, report: &Document, class: &str) -> HtmlPage {
    let mut sheet = HtmlPage::titled(title);
    let (tables, sentences) = tables_and_sentences(report);
    sheet.section(
        "result",
        "Result",
        html! { div.verdict.(class) { (blocks::all(&sentences)) } },
    );
    if let Some(picture) = report.picture() {
        let chart = sheet.picture(picture);
        sheet.section("pictures", "Picture", chart);
    }
    if !tables.is_empty() {
        sheet.section("figures", "Figures", blocks::all(&tables));
    }
    sheet
}

/// Returns the tables of a report, and everything else.
fn tables_and_sentences(report: &Document) -> (Vec<Block>, Vec<Block>) {
    let blocks = blocks::of(report).into_iter();
    blocks.partition(|block| matches!(block, Block::Table(_)))
}
