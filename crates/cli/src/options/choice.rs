//! Options whose values are the names of an enumeration.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use filestone_workload::choice::Choice;

/// Returns the parser of an enumeration, with the names and descriptions of its values.
pub fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::VALUES.iter().map(|choice| {
        PossibleValue::new(choice.name)
            .aliases(choice.former_names)
            .help(choice.about.trim())
    });
    PossibleValuesParser::new(values)
        .try_map(|name| T::from_name(&name).ok_or("expected another word"))
}
