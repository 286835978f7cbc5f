//! Where a password comes from: never from the command line, which everybody can read.

use clap::Args;
use std::path::PathBuf;

/// Where a password comes from.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "SMB")]
pub struct PasswordOptions {
    /// The password of the target's user is the first line of FILE [default: what the environment
    /// variable FILESTONE_PASSWORD holds]
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// User, password and domain stand in FILE, as `username = …`, `password = …` and `domain = …`
    #[arg(
        hide_short_help = true,
        short = 'A',
        long,
        value_name = "FILE",
        conflicts_with = "password_file"
    )]
    pub authentication_file: Option<PathBuf>,
}
