//! `filestone schema`: JSON schemas of the documents for programs.
//!
//! The schemas are files of docs/schema, which `cargo xtask man` generates from the types of the
//! documents: the program itself is built without the code that derives them.

use crate::error::Error;
use crate::options::{Document, SchemaOptions};
use crate::packed::packed_text;
use crate::{ExitStatus, console};

/// Prints the schema.
pub fn run(options: &SchemaOptions) -> Result<ExitStatus, Error> {
    console::result(&text(options.document))?;
    Ok(ExitStatus::Done)
}

fn text(document: Document) -> String {
    match document {
        Document::Record => packed_text!("schema/record", ".json"),
        Document::Compare => packed_text!("schema/compare", ".json"),
        Document::Ab => packed_text!("schema/ab", ".json"),
        Document::Repeats => packed_text!("schema/repeats", ".json"),
        Document::Sweep => packed_text!("schema/sweep", ".json"),
        Document::Ladder => packed_text!("schema/ladder", ".json"),
        Document::Explain => packed_text!("schema/explain", ".json"),
        Document::History => packed_text!("schema/history", ".json"),
        Document::Addresses => packed_text!("schema/addresses", ".json"),
        Document::FleetCtl => packed_text!("schema/fleet-ctl", ".json"),
        Document::Live => filestone_live::site::api::SCHEMA.into(),
        Document::Doctor => packed_text!("schema/doctor", ".json"),
    }
}

/// Returns the schemas of the types, with the names of their documents.
#[cfg(feature = "schema")]
pub fn derived() -> Vec<(String, String)> {
    use clap::ValueEnum as _;

    let of = |document: &Document| {
        let name = document.to_possible_value().unwrap_or_default();
        // A `Value` would lose the order of its keys.
        let schema = serde_json::to_string_pretty(&derived_of(*document)).unwrap_or_default();
        (name.get_name().to_owned(), schema + "\n")
    };
    Document::value_variants().iter().map(of).collect()
}

#[cfg(feature = "schema")]
fn derived_of(document: Document) -> schemars::Schema {
    use filestone_measure::measure::RunRecord;
    use filestone_report as report;
    use schemars::schema_for;

    match document {
        Document::Record => schema_for!(RunRecord),
        Document::Compare => schema_for!(report::comparison::document::ComparisonDocument),
        Document::Ab => schema_for!(report::ab::AbDocument),
        Document::Repeats => schema_for!(report::repeats::RepeatsDocument),
        Document::Sweep => schema_for!(report::sweep::document::SweepDocument),
        Document::Ladder => schema_for!(report::sweep::ladder::document::LadderDocument),
        Document::Explain => schema_for!(Vec<report::explanation::ExplainedRecord>),
        Document::History => schema_for!(report::history::document::HistoryDocument),
        Document::Addresses => schema_for!(report::addresses::ShownAddresses),
        Document::FleetCtl => schema_for!(filestone_protocol::fleet_control::ControlProtocol),
        Document::Live => schema_for!(filestone_live::site::api::LiveProtocol),
        Document::Doctor => schema_for!(filestone_measure::doctor::Diagnosis),
    }
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn the_published_schemas_are_those_of_the_types() {
        let published = Document::value_variants().iter().map(|one| text(*one));
        for ((name, derived), published) in derived().into_iter().zip(published) {
            assert!(
                derived == published,
                "docs/schema/{name}.json: run `cargo xtask man` and commit the result"
            );
        }
    }
}
