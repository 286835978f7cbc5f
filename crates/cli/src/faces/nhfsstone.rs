//! `filestone as nhfsstone`: nhfsstone's command line, nhfsstone's report, correct values.

use crate::Exit;
use crate::error::Error;

/// Does what nhfsstone was asked to do.
pub fn run(_arguments: &[String]) -> Result<Exit, Error> {
    Err(Error::usage("not yet"))
}
