//! A run on an HTML page: verdict, result and caveats first, then pictures, then every table, then
//! environment and plan.

use super::chart::ChartData;
use super::document::{HtmlPage, clean};
use super::{blocks, environment, heat_map, over_time};
use crate::document::page::Detail;
use crate::document::{Block, FACT_INDENT};
use crate::error::{ReportError, error_text};
use crate::parts::heading::what_was_measured;
use crate::parts::{costs, gates, stamps, validity};
use crate::{Advice, caption, explanation, hosts, picture_list, text};
use filestone_measure::measure::RunRecord;
use filestone_measure::measure::validity as rules;
use filestone_workload::recording::DistributionRecord;
use maud::{Markup, html};

/// Name of the fact with the precision of the headline figures, which is part of the result if its
/// first line has an ancestor's format.
const KNOWN: &str = "95 % intervals";

/// Adds this run as the only one of the page.
pub fn add(sheet: &mut HtmlPage, record: &RunRecord, advice: Advice) -> Result<(), ReportError> {
    sheet.title = what_was_measured(record);
    sheet.origin = vec![caption::origin(record)];
    let parts = Parts::of(record);
    sheet.section("result", "Result", result(record, &parts, advice));
    let about = picture_list::of_loads(record).map(|picture| sheet.picture(&picture));
    if let Some(about) = about {
        sheet.section("loads", "Load by load", about);
    }
    let spread = hosts::picture(record).map(|picture| sheet.picture(&picture));
    if let Some(spread) = spread {
        sheet.section("hosts", "Host by host", spread);
    }
    let charts = pictures(sheet, record);
    if !charts.is_empty() {
        sheet.section(
            "pictures",
            "Over time and by percentile",
            html! { @for chart in &charts { (chart) } },
        );
    }
    sheet.section("figures", "Figures", blocks::all(&parts.rest));
    sheet.section("environment", "Environment", environment::section(record));
    sheet.section("plan", "Plan", environment::plan(record)?);
    sheet.section("repeat", "To repeat it", environment::command());
    Ok(())
}

/// Adds one of several runs, as a separate section.
pub fn add_to_others(
    sheet: &mut HtmlPage,
    record: &RunRecord,
    number: u32,
    advice: Advice,
) -> Result<(), ReportError> {
    let parts = Parts::of(record);
    let charts = pictures(sheet, record);
    let plan = environment::plan(record)?;
    let heading = format!("{number}: {}", what_was_measured(record));
    sheet.section(
        &format!("run-{number}"),
        &heading,
        html! {
            p.origin { (clean(&caption::origin(record))) }
            (result(record, &parts, advice))
            @for chart in &charts { (chart) }
            (blocks::all(&parts.rest))
            details { summary { "Environment" } (environment::section(record)) }
            (plan)
        },
    );
    Ok(())
}

/// The report in two parts: the result, and everything else.
struct Parts {
    lead: Vec<Block>,
    rest: Vec<Block>,
}

impl Parts {
    fn of(record: &RunRecord) -> Self {
        let mut said = blocks::of(&text::body(record, Detail::Whole));
        // The title of the page contains the heading already.
        let heading = what_was_measured(record);
        said.retain(|block| !matches!(block, Block::Prose(text) if *text == heading));
        let is_steered = record.plan.steering.is_some();
        let mut before_tables = true;
        let (lead, rest): (Vec<Block>, Vec<Block>) = said.into_iter().partition(|block| {
            before_tables &= !matches!(block, Block::Table(_));
            // For a curve the facts are the result.
            before_tables || (is_steered && matches!(block, Block::Facts { .. }))
        });
        let mut parts = Self { lead, rest };
        let more = stamps::section(record).with(costs::section(record));
        parts.rest.extend(blocks::of(&more));
        let known = parts.take_fact(KNOWN);
        parts.lead.extend(known);
        if parts.lead.is_empty() && !parts.rest.is_empty() {
            // For a fleet its steps are the result.
            parts.lead.push(parts.rest.remove(0));
        }
        parts
    }

    /// Removes a fact from the rest and returns it.
    fn take_fact(&mut self, wanted: &str) -> Option<Block> {
        let mut lists = self.rest.iter_mut().filter_map(|block| match block {
            Block::Facts { facts, .. } => Some(facts),
            _ => None,
        });
        let taken = lists.find_map(|facts| {
            let place = facts.iter().position(|(name, _)| name == wanted)?;
            Some(facts.remove(place))
        });
        taken.map(|fact| Block::Facts {
            indent: FACT_INDENT,
            facts: vec![fact],
        })
    }
}

/// Renders the verdict, the result, the caveats, the bottleneck and the gates.
fn result(record: &RunRecord, parts: &Parts, advice: Advice) -> Markup {
    let class = rules::of(record).name();
    let last = explanation::section(record).with(gates::section(record));
    html! {
        div.verdict.(class) { (blocks::all(&blocks::of(&validity::heading(record)))) }
        div.answer { (blocks::all(&parts.lead)) }
        (caveats(record, advice))
        (blocks::all(&blocks::of(&last)))
    }
}

fn caveats(record: &RunRecord, advice: Advice) -> Markup {
    html! {
        @if !record.caveats.is_empty() {
            ul.caveats aria-label="Caveats" {
                @for caveat in &record.caveats {
                    @let (what, _) = caveat.sentence();
                    li {
                        strong { (caveat.id()) } ": " (clean(&error_text(&what)))
                        @if let Some(advice) = advice(caveat, record) { span.help { "help: " (clean(&advice)) } }
                    }
                }
            }
        }
    }
}

/// Returns the pictures over time and by percentile.
fn pictures(sheet: &mut HtmlPage, record: &RunRecord) -> Vec<Markup> {
    let times: Vec<Option<DistributionRecord>> = record
        .intervals
        .iter()
        .map(|interval| interval.response_time().map(std::borrow::Cow::into_owned))
        .collect();
    let mut charts = Vec::new();
    if let Some(data) = over_time::data(record, &times) {
        let still = crate::over_time::picture(record);
        charts.push(sheet.chart(
            ChartData::OverTime(data),
            &still.title,
            &over_time::notes(record),
            Some(&still),
        ));
    }
    if let Some(data) = heat_map::data(record, &times) {
        let notes = ["darker, on a dark page lighter: more operations of that stretch of time; the scale is logarithmic".into()];
        let title = "Response times over time, all operations";
        charts.push(sheet.chart(ChartData::HeatMap(data), title, &notes, None));
    }
    if let Some(picture) = crate::percentiles::picture(record) {
        charts.push(sheet.picture(&picture));
    }
    charts
}
