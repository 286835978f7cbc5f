//! Sends requests to a running fleet.

use filestone_protocol::fleet_control::{ControlAnswer, ControlRequest};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of a reply.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest reply: a window of clients.
const ANSWER_MAX: u64 = 16 << 20;

/// Error of a request to a fleet.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No process serves this socket, or it belongs to another user.
    #[error("{}: no fleet can be asked there: {error}", .path.display())]
    Unreachable {
        /// Path of the socket.
        path: PathBuf,
        /// Cause.
        error: std::io::Error,
    },
    /// The connection ended without a reply.
    #[error("{}: the fleet did not answer: {why}", .path.display())]
    NoAnswer {
        /// Path of the socket.
        path: PathBuf,
        /// Cause.
        why: String,
    },
}

/// Sends a request to the fleet of this socket and returns its reply.
pub fn ask(path: &Path, request: &ControlRequest) -> Result<ControlAnswer, AskError> {
    let unreachable = |error| AskError::Unreachable {
        path: path.into(),
        error,
    };
    let no_answer = |why: String| AskError::NoAnswer {
        path: path.into(),
        why,
    };
    let mut stream = UnixStream::connect(path).map_err(unreachable)?;
    let limits = [
        stream.set_read_timeout(Some(PATIENCE)),
        stream.set_write_timeout(Some(PATIENCE)),
    ];
    limits
        .into_iter()
        .chain([stream.write_all(&request.to_line())])
        .collect::<Result<(), _>>()
        .map_err(|error| no_answer(error.to_string()))?;
    let mut line = Vec::new();
    BufReader::new(stream.take(ANSWER_MAX))
        .read_until(b'\n', &mut line)
        .map_err(|error| no_answer(error.to_string()))?;
    if line.is_empty() {
        return Err(no_answer("it closed the connection".into()));
    }
    ControlAnswer::from_line(&line).map_err(no_answer)
}
