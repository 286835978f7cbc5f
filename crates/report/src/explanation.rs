//! Bottleneck of a run: the last paragraph of reports, and the output of `filestone explain`.

use super::document::Document;
use super::parts::heading::what_was_measured;
use super::parts::reference::help_line;
use crate::JsonSchema;
use filestone_measure::explanation::{Explanation, ExplanationOutcome, explain};
use filestone_measure::measure::RunRecord;
use serde::Serialize;
use std::path::Path;

/// A record with the explanation of its run.
#[derive(Debug, Serialize, JsonSchema)]
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

/// Returns the last paragraph of a report; empty for a run that is too short to judge.
pub fn section(record: &RunRecord) -> Document {
    let explanation = explain(record);
    match explanation.outcome {
        ExplanationOutcome::TooShort => Document::default(),
        _ => Document::default().blank().prose(sentences(&explanation)),
    }
}

fn sentences(explanation: &Explanation) -> Vec<String> {
    let missing = explanation.missing.as_deref().unwrap_or_default();
    match explanation.outcome {
        ExplanationOutcome::TooShort => {
            vec![format!("Too short to say what limited it: {missing}.")]
        }
        ExplanationOutcome::Inconclusive => {
            vec![format!("What limited it cannot be told: {missing}.")]
        }
        ExplanationOutcome::Known => {
            let limits = explanation.limits.iter();
            let told = limits.map(|limit| {
                format!(
                    "Limited by {}. To learn more: {}.",
                    limit.sentence, limit.suggestion
                )
            });
            told.collect()
        }
    }
}

/// Returns a paragraph for each record.
pub fn report(explained: &[ExplainedRecord]) -> Document {
    let paragraphs = explained.iter().map(|one| {
        let heading = format!("{}: {}", one.record, one.measured);
        let pages = one
            .explanation
            .limits
            .iter()
            .map(|limit| help_line(&limit.page));
        let pages: Vec<String> = pages.collect();
        Document::default()
            .prose([heading])
            .prose(sentences(&one.explanation))
            .prose((!pages.is_empty()).then(|| format!("({})", pages.join(", "))))
    });
    Document::joined(paragraphs)
}
