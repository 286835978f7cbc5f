//! The `filestone` command: the only code that ends the process.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    filestone_cli::main()
}
