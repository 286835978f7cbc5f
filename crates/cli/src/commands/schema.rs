//! `filestone schema`: JSON schemas of the documents for programs.
//!
//! The schemas are files of docs/schema, which `cargo xtask man` generates from the types of the
//! documents: the program itself is built without the code that derives them.

use crate::error::Error;
use crate::options::{SchemaDocument, SchemaOptions};
use crate::packed::packed_text;
use crate::{ExitStatus, console};

/// Prints the schema.
pub fn run(options: &SchemaOptions) -> Result<ExitStatus, Error> {
    console::result(&text(options.document))?;
    Ok(ExitStatus::Done)
}

fn text(document: SchemaDocument) -> String {
    match document {
        SchemaDocument::Record => packed_text!("schema/record", ".json"),
        SchemaDocument::Compare => packed_text!("schema/compare", ".json"),
        SchemaDocument::Ab => packed_text!("schema/ab", ".json"),
        SchemaDocument::Repeats => packed_text!("schema/repeats", ".json"),
        SchemaDocument::Sweep => packed_text!("schema/sweep", ".json"),
        SchemaDocument::Ladder => packed_text!("schema/ladder", ".json"),
        SchemaDocument::Explain => packed_text!("schema/explain", ".json"),
        SchemaDocument::History => packed_text!("schema/history", ".json"),
        SchemaDocument::Addresses => packed_text!("schema/addresses", ".json"),
        SchemaDocument::FleetCtl => packed_text!("schema/fleet-ctl", ".json"),
        SchemaDocument::Live => filestone_live::site::api::SCHEMA.into(),
        SchemaDocument::Doctor => packed_text!("schema/doctor", ".json"),
    }
}

/// Returns the schemas of the types, with the names of their documents.
#[cfg(feature = "schema")]
pub fn derived() -> Vec<(String, String)> {
    use clap::ValueEnum as _;

    let of = |document: &SchemaDocument| {
        let name = document.to_possible_value().unwrap_or_default();
        // A `Value` would lose the order of its keys.
        let schema = serde_json::to_string_pretty(&derived_of(*document)).unwrap_or_default();
        (name.get_name().to_owned(), schema + "\n")
    };
    SchemaDocument::value_variants().iter().map(of).collect()
}

#[cfg(feature = "schema")]
fn derived_of(document: SchemaDocument) -> schemars::Schema {
    use filestone_measure::measure::RunRecord;
    use filestone_report as report;
    use schemars::schema_for;

    match document {
        SchemaDocument::Record => schema_for!(RunRecord),
        SchemaDocument::Compare => schema_for!(report::comparison::document::ComparisonDocument),
        SchemaDocument::Ab => schema_for!(report::ab::AbDocument),
        SchemaDocument::Repeats => schema_for!(report::repeats::RepeatsDocument),
        SchemaDocument::Sweep => schema_for!(report::sweep::document::SweepDocument),
        SchemaDocument::Ladder => schema_for!(report::sweep::ladder::document::LadderDocument),
        SchemaDocument::Explain => schema_for!(Vec<report::explanation::ExplainedRecord>),
        SchemaDocument::History => schema_for!(report::history::document::HistoryDocument),
        SchemaDocument::Addresses => schema_for!(report::addresses::ShownAddresses),
        SchemaDocument::FleetCtl => schema_for!(filestone_protocol::fleet_control::ControlProtocol),
        SchemaDocument::Live => schema_for!(filestone_live::site::api::LiveProtocol),
        SchemaDocument::Doctor => schema_for!(filestone_measure::doctor::Diagnosis),
    }
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn the_published_schemas_are_those_of_the_types() {
        let published = SchemaDocument::value_variants()
            .iter()
            .map(|one| text(*one));
        for ((name, derived), published) in derived().into_iter().zip(published) {
            assert!(
                derived == published,
                "docs/schema/{name}.json: run `cargo xtask man` and commit the result"
            );
        }
    }
}
