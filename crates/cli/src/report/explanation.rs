//! Bottleneck of a run: the last paragraph of reports, and the output of `filestone explain`.

use super::parts::heading::what_was_measured;
use super::parts::page::Page;
use super::parts::reference::help_line;
use crate::sanitize::printable;
use filestone_measure::explanation::{Explanation, ExplanationOutcome, explain};
use filestone_measure::measure::RunRecord;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// A record with the explanation of its run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ExplainedRecord {
    /// Path of the record.
    pub record: String,
    /// Description of the measurement.
    pub measured: String,
    /// Bottleneck of the run.
    #[serde(flatten)]
    pub explanation: Explanation,
}

impl ExplainedRecord {
    /// Explains a record that was read from this file.
    pub fn of(file: &Path, record: &RunRecord) -> Self {
        Self {
            record: file.display().to_string(),
            measured: what_was_measured(record),
            explanation: explain(record),
        }
    }
}

/// Formats the last paragraph of a report; empty for a run that is too short to judge.
pub fn paragraph(record: &RunRecord, page: Page) -> String {
    let explanation = explain(record);
    match explanation.outcome {
        ExplanationOutcome::TooShort => String::new(),
        _ => format!("\n{}", sentences(&explanation, page)),
    }
}

fn sentences(explanation: &Explanation, page: Page) -> String {
    let missing = explanation.missing.as_deref().unwrap_or_default();
    match explanation.outcome {
        ExplanationOutcome::TooShort => {
            page.prose(&format!("Too short to say what limited it: {missing}."))
        }
        ExplanationOutcome::Inconclusive => {
            page.prose(&format!("What limited it cannot be told: {missing}."))
        }
        ExplanationOutcome::Known => {
            let limits = explanation.limits.iter();
            let told = limits.map(|limit| {
                page.prose(&format!(
                    "Limited by {}. To learn more: {}.",
                    limit.sentence, limit.suggestion
                ))
            });
            told.collect()
        }
    }
}

/// Formats a paragraph for each record.
pub fn text(explained: &[ExplainedRecord], page: Page) -> String {
    let paragraphs = explained.iter().map(|one| {
        let heading = format!("{}: {}", one.record, one.measured);
        let pages = one
            .explanation
            .limits
            .iter()
            .map(|limit| help_line(&limit.page));
        let pages: Vec<String> = pages.collect();
        let pages = match pages.as_slice() {
            [] => String::new(),
            pages => page.prose(&format!("({})", pages.join(", "))),
        };
        page.prose(&heading) + &sentences(&one.explanation, page) + &pages
    });
    printable(&paragraphs.collect::<Vec<_>>().join("\n"))
}
