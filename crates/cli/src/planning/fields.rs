//! Options that set the fields of a plan.

use crate::error::Error;
use filestone_plan::plan::{Field, PlanError};

/// Converts the error of a contradictory plan, with the names of the options.
impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        Error {
            help: error.help(Field::option_or_key),
            ..Error::usage(error.message(Field::option_or_key))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_option_of_a_field_is_there() {
        let commands = crate::options::CommandLine::command();
        let exists = |option: &'static str| {
            let mut all = commands
                .get_subcommands()
                .flat_map(clap::Command::get_arguments);
            all.any(|argument| argument.get_long() == option.strip_prefix("--"))
        };
        for &field in Field::ALL {
            assert!(field.option().is_none_or(exists), "{field:?}");
        }
    }
}
