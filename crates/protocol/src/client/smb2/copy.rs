//! Server-side copies: FSCTL_SRV_REQUEST_RESUME_KEY and FSCTL_SRV_COPYCHUNK (MS-SMB2, sections
//! 2.2.31.1, 3.3.5.15.5 and 3.3.5.15.6).
//!
//! ```text
//!   ─▶ as many chunks as the limits allow ─▶ copied ─▶ the next ones …
//!       ▲       STATUS_INVALID_PARAMETER, and the server's limits
//!       └───────┘
//! ```

use super::copy_limits::{CopyLimits, ResumeKey, sum_of};
use super::link::{CompoundResponses, SmbCallHandle, SmbReplyError, one};
use super::open_table::OpenTable;
use crate::client::call_slot::{ActionResult, Results};
use filestone_wire::smb2::codec::{Array, Decode, Encode, Writer};
use filestone_wire::smb2::ioctl::{
    self, Chunk, ControlCode, CopychunkCopy, CopychunkResponse, ResumeKeyResponse,
};
use filestone_wire::smb2::{Command, FileId, Status};
use filestone_workload::output::DataRange;

/// Number of times a server may return new limits during one operation.
const REFUSALS_MAX: u32 = 4;
/// Maximum length of a response to either request, in bytes.
const ANSWER_MAX: u32 = 64;

/// Specification of a copy.
#[derive(Debug, Clone, Copy)]
pub(super) struct CopySpec {
    /// Resume key of the source.
    pub key: ResumeKey,
    /// The target.
    pub target: FileId,
    /// The range, at the same offset in both.
    pub stretch: DataRange,
}

/// Reusable memory of copy requests.
#[derive(Debug, Default)]
pub(super) struct CopyBuffers {
    chunks: Vec<Chunk>,
    input: Vec<u8>,
}

impl CopyBuffers {
    /// Copies on the server, in as many requests as required; returns the number of bytes copied.
    pub async fn copy(
        &mut self,
        link: SmbCallHandle,
        what: CopySpec,
        opens: &OpenTable,
    ) -> ActionResult<u32> {
        let DataRange { at, len } = what.stretch;
        let (mut done, mut refusals) = (0, 0);
        while done < len {
            let left = DataRange {
                at: at.saturating_add(done.into()),
                len: len - done,
            };
            opens.copy_limits().divide(left, &mut self.chunks);
            self.input.clear();
            let copy = CopychunkCopy {
                source_key: what.key,
                chunks: Array::from(&self.chunks[..]),
            };
            copy.encode(&mut Writer::new(&mut self.input));
            match link
                .copy_chunks(what.target, &self.input, &self.chunks)
                .await?
            {
                Answer::Copied(0) => break,
                Answer::Copied(count) => done += count,
                Answer::Limits(limits) if refusals < REFUSALS_MAX => {
                    refusals += 1;
                    opens.limit_copies(limits);
                }
                Answer::Limits(_) => return Err(Status::INVALID_PARAMETER.into()),
            }
        }
        Ok(done)
    }
}

/// Reply of a server to a copy request.
enum Answer {
    /// The server has copied this number of bytes.
    Copied(u32),
    /// The server copies at most this much per request.
    Limits(CopyLimits),
}

/// Decodes the response to these chunks. Unlike for other commands, an error also has a response
/// body here.
fn answer_to(
    results: Results<'_>,
    chunks: &[Chunk],
) -> Result<ActionResult<Answer>, SmbReplyError> {
    let message = CompoundResponses::of(results).message()?;
    let message = message.filter(|message| message.header.command == Command::Ioctl);
    let Some(message) = message else {
        return Err(SmbReplyError::Violation(
            "IOCTL was answered as another".into(),
        ));
    };
    let status = message.header.status;
    let Ok(response) = message.reply::<ioctl::Response<'_>>()? else {
        return Ok(Err(status.into()));
    };
    if status.is_error() && status != Status::INVALID_PARAMETER {
        return Ok(Err(status.into()));
    }
    let said = CopychunkResponse::from_bytes(response.output)?;
    if status.is_error() {
        let limits = CopyLimits::of(said, chunks);
        return Ok(limits.map(Answer::Limits).ok_or_else(|| status.into()));
    }
    let count = said.total_bytes_written;
    if u64::from(count) > sum_of(chunks) {
        let what = "the server copied more data than was asked for";
        return Err(SmbReplyError::Violation(what.into()));
    }
    Ok(Ok(Answer::Copied(count)))
}

const fn request(code: ControlCode, file_id: FileId, input: &[u8]) -> ioctl::Request<'_> {
    ioctl::Request {
        control_code: code,
        file_id,
        max_input_response: 0,
        max_output_response: ANSWER_MAX,
        flags: ioctl::Request::IS_FSCTL,
        input,
    }
}

impl SmbCallHandle {
    /// Sends FSCTL_SRV_REQUEST_RESUME_KEY; returns the key that identifies this open as the source
    /// of a copy.
    pub(super) fn resume_key(
        &self,
        source: FileId,
    ) -> impl Future<Output = ActionResult<ResumeKey>> {
        let request = request(ControlCode::SRV_REQUEST_RESUME_KEY, source, &[]);
        self.send(
            move |chaining| {
                let payload = ANSWER_MAX;
                chaining.request(Command::Ioctl, payload, &request).chain()
            },
            |results| {
                let key = one(results, Command::Ioctl, |response: ioctl::Response<'_>| {
                    ResumeKeyResponse::from_bytes(response.output).map(|own| own.resume_key)
                })?;
                Ok(match key {
                    Ok(key) => Ok(key?),
                    Err(failure) => Err(failure),
                })
            },
        )
    }

    /// Sends FSCTL_SRV_COPYCHUNK.
    fn copy_chunks(
        &self,
        target: FileId,
        input: &[u8],
        chunks: &[Chunk],
    ) -> impl Future<Output = ActionResult<Answer>> {
        let request = request(ControlCode::SRV_COPYCHUNK, target, input);
        let payload = (input.len() as u32).max(ANSWER_MAX);
        self.send(
            |chaining| chaining.request(Command::Ioctl, payload, &request).chain(),
            move |results| answer_to(results, chunks),
        )
    }
}

#[cfg(test)]
mod tests;
