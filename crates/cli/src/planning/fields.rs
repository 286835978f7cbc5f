//! Options that set the fields of a plan.

use crate::error::Error;
use filestone_plan::plan::{Field, PlanError};

/// Returns the option that sets a field. A field without an option has its name in the file.
fn option_of(field: Field) -> String {
    let option = match field {
        Field::Arrivals => "--arrivals",
        Field::BytesPerSecond => "--rate",
        Field::Clients => "--clients",
        Field::ClientsPerThread => "--clients-per-thread",
        Field::ConnectRate => "--connect-rate",
        Field::Dialect => "--dialect",
        Field::Encryption => "--encrypt",
        Field::Durable => "--durable",
        Field::Oplock => "--oplock",
        Field::ConnectionsPerClient => "--connections-per-client",
        Field::Cost => "--cost",
        Field::Count => "--count",
        Field::Counts => "--mix",
        Field::Curve => "--curve",
        Field::Duration => "--duration",
        Field::Expect => "--expect",
        Field::FilesPerClient => "--files",
        Field::Gates => "--fail-if",
        Field::Gids => "--gid",
        Field::InFlight => "--in-flight",
        Field::Interval => "--mark",
        Field::Levels => "--levels",
        Field::MachineName => "--machine-name",
        Field::MoreTargets | Field::Target => "--on",
        Field::NoFeedback => "--no-feedback",
        Field::Objective | Field::Quantile | Field::ThresholdTime => "--slo",
        Field::OnLost => "--on-lost",
        Field::OfferedLoad => "--offered",
        Field::OwnFiles => "--own-files",
        Field::Peak => "--peak",
        Field::Pin => "--pin",
        Field::PointTime => "--point-duration",
        Field::PointWarmUp => "--point-warm-up",
        Field::Points => "--points",
        Field::Precision => "--precision",
        Field::ReadData => "--data",
        Field::ReadingIdle => "--cost-idle",
        Field::ReadingInterval => "--cost-interval",
        Field::ReadOnly => "--read-only",
        Field::RunOnce => "--run-once",
        Field::SearchTime => "--search-time",
        Field::SizeBytes => "--size",
        Field::Sources => "--source",
        Field::Speed => "--speed",
        Field::SupplementaryGids => "--gids",
        Field::Timeout => "--timeout",
        Field::TransferBytes => "--transfer",
        Field::Transport => "--transport",
        Field::TruncatedIo => "--trunc-io",
        Field::Uids => "--uid",
        Field::WarmUp => "--warm-up",
        Field::Workers => "--workers",
        Field::WorkingSet => "--working-set",
        Field::ListingBytes | Field::Loads | Field::Operation | Field::SymbolicLinks => {
            return field.quoted_key();
        }
    };
    option.into()
}

/// Converts the error of a contradictory plan, with the names of the options.
impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        Error {
            help: error.help(option_of),
            ..Error::usage(error.message(option_of))
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
        let exists = |option: &str| {
            let mut all = commands
                .get_subcommands()
                .flat_map(clap::Command::get_arguments);
            all.any(|argument| argument.get_long() == option.strip_prefix("--"))
        };
        for &field in Field::ALL {
            let option = option_of(field);
            assert!(option.starts_with('"') || exists(&option), "{option}");
        }
    }
}
