//! Caveats by name.

use filestone_model::measure::Caveat;

/// The name that the record gives a caveat.
pub fn name(caveat: &Caveat) -> Option<String> {
    let value = serde_json::to_value(caveat).ok()?;
    Some(value.get("caveat")?.as_str()?.to_string())
}
