//! `filestone schema`: the JSON schemas of what is printed for programs.

use crate::error::Error;
use crate::options::{Document, SchemaOptions};
use crate::report::ab::AbDocument;
use crate::report::addresses::ShownAddresses;
use crate::report::comparison::document::ComparisonDocument;
use crate::report::explanation::ExplainedRecord;
use crate::report::history::document::HistoryDocument;
use crate::report::json;
use crate::report::ladder::document::LadderDocument;
use crate::report::repeats::RepeatsDocument;
use crate::report::sweep::document::SweepDocument;
use crate::{Exit, console};
use filestone_live::site::api::LiveProtocol;
use filestone_model::doctor::Diagnosis;
use filestone_model::fleet_control::ControlProtocol;
use filestone_model::measure::RunRecord;

/// Prints the schema.
pub fn run(options: &SchemaOptions) -> Result<Exit, Error> {
    let schema = match options.document {
        Document::Record => schemars::schema_for!(RunRecord),
        Document::Compare => schemars::schema_for!(ComparisonDocument),
        Document::Ab => schemars::schema_for!(AbDocument),
        Document::Repeats => schemars::schema_for!(RepeatsDocument),
        Document::Sweep => schemars::schema_for!(SweepDocument),
        Document::Ladder => schemars::schema_for!(LadderDocument),
        Document::Explain => schemars::schema_for!(Vec<ExplainedRecord>),
        Document::History => schemars::schema_for!(HistoryDocument),
        Document::Addresses => schemars::schema_for!(ShownAddresses),
        Document::FleetCtl => schemars::schema_for!(ControlProtocol),
        Document::Live => schemars::schema_for!(LiveProtocol),
        Document::Doctor => schemars::schema_for!(Diagnosis),
    };
    console::result(&json::document(&schema)?)?;
    Ok(Exit::Done)
}
