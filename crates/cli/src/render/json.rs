//! The run record itself, as a JSON document.

use crate::error::Error;
use filestone_model::measure::RunRecord;
use serde::Serialize;

/// The record, indented.
pub fn render(record: &RunRecord) -> Result<String, Error> {
    document(record)
}

/// Anything of ours as an indented document.
pub fn document<T: Serialize>(value: &T) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::internal(format!("the JSON document cannot be made: {error}")))?;
    text.push('\n');
    Ok(text)
}
