//! The built-in server, as the command line starts it: the only place here that
//! knows `filestone_server`.

use crate::error::{Error, reason};
use filestone_server::{Options, Running, Server};
use std::str::FromStr;

/// One thing that goes wrong on purpose.
pub type Fault = filestone_server::faults::Rule;

/// Reads a `--fault`.
pub fn fault(text: &str) -> Result<Fault, String> {
    Fault::from_str(text).map_err(|error| error.to_string())
}

/// Starts the server that is measured when no target is given: half the
/// processors, on any free port of the loopback addresses.
pub fn start_for_measurement(processors: u32) -> Result<Running, Error> {
    start(Options {
        threads: (processors as usize / 2).max(1),
        ..Options::default()
    })
}

/// Starts a server; an address that cannot be bound is named by the error.
pub fn start(options: Options) -> Result<Running, Error> {
    Server::start(options).map_err(|error| {
        let port_is_privileged = error.kind() == std::io::ErrorKind::PermissionDenied;
        let failure = Error::environment(format!("built-in server: {}", reason(&error)));
        match error.kind() {
            _ if port_is_privileged => {
                failure.with_help("ports below 1024 need privileges; choose another with --port")
            }
            std::io::ErrorKind::AddrInUse => {
                failure.with_help("choose another port with --port, or any free one with --port 0")
            }
            _ => failure,
        }
    })
}
