//! `filestone calibrate`: what filestone itself can do on this host.

use crate::Exit;
use crate::error::Error;
use crate::options::CalibrateOptions;

/// Measures and prints a table.
pub fn run(_options: &CalibrateOptions) -> Result<Exit, Error> {
    Err(Error::internal("calibrate is not built yet"))
}
