//! The `filestone` command: the only place that ends the process.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    filestone_cli::main()
}
