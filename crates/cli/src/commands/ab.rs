//! `filestone ab`: two servers, or two settings of one, measured in turn.

use super::inner::{self, WrappedCommand};
use crate::ExitStatus;
use crate::error::Error;
use crate::execution::ab;
use crate::options::ab::AbOptions;

/// Reads the inner command, and measures it on both in turn.
pub fn run(options: &AbOptions) -> Result<ExitStatus, Error> {
    let mut words = inner::words(&options.words);
    words.extend(options.target.clone());
    match inner::read(&words)? {
        WrappedCommand::Read(command) => {
            ab::execute(&inner::measurement(&command, &words)?, options)
        }
        WrappedCommand::Shown(exit) => Ok(exit),
    }
}
