//! The run record as a JSON document.

use crate::error::ReportError;
use filestone_measure::measure::RunRecord;
use serde::Serialize;

/// File name of the record in the directory of a run.
pub const RECORD_FILE: &str = "run.json";

/// Formats the record, indented.
pub fn render(record: &RunRecord) -> Result<String, ReportError> {
    document(record)
}

/// Formats any serializable value as an indented document.
pub fn document<T: Serialize>(value: &T) -> Result<String, ReportError> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| {
        ReportError::Internal(format!("the JSON document cannot be made: {error}"))
    })?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use serde_json::Value;
    use std::collections::BTreeSet;

    /// Collects every key with its path; elements of a list count as one.
    fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let path = format!("{path}.{key}");
                    found.insert(path.trim_start_matches('.').to_string());
                    keys(value, &path, found);
                }
            }
            Value::Array(elements) => {
                elements
                    .iter()
                    .for_each(|element| keys(element, &format!("{path}[]"), found));
            }
            _ => {}
        }
    }

    #[test]
    fn the_keys_of_a_record_are_those_that_programs_rely_on() {
        let mut found = BTreeSet::new();
        let records = [
            fixtures::with_errors(),
            fixtures::interrupted(),
            fixtures::in_stretches(),
        ];
        for record in records {
            let text = render(&record).expect("a record is JSON");
            keys(
                &serde_json::from_str(&text).expect("it is JSON"),
                "",
                &mut found,
            );
        }
        insta::assert_snapshot!(found.into_iter().collect::<Vec<_>>().join("\n"));
    }
}
