//! `filestone schema`: the JSON schema of the run record.

use crate::error::Error;
use crate::report::json;
use crate::{Exit, console};
use filestone_model::measure::RunRecord;

/// Prints the schema.
pub fn run() -> Result<Exit, Error> {
    console::result(&json::document(&schemars::schema_for!(RunRecord))?)?;
    Ok(Exit::Done)
}
