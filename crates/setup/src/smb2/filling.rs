//! Writes files before a run.

use super::connection::{ConnectedShare, RequestError};
use filestone_protocol::client::smb2::{CreateParams, SmbCallHandle};
use filestone_wire::smb2::create::CreateDisposition;
use filestone_workload::output::{DataRange, WriteData};

/// A file that is being written.
struct Filling<'p> {
    /// Parameters of the CREATE; once the file exists, it is only opened.
    opening: CreateParams<'p>,
    /// Number of bytes written.
    at: u64,
    /// Final length in bytes.
    len: u64,
    /// Maximum size of a WRITE in bytes.
    transfer: u32,
}

impl ConnectedShare {
    /// Creates a file and writes the pattern from beginning to end, so that it reaches its full
    /// length only with complete data. Each WRITE has at most `transfer` bytes, and at most what
    /// the granted credits allow. Progress is reported to `tell`.
    pub fn fill(
        &mut self,
        opening: &CreateParams<'_>,
        len: u64,
        transfer: u32,
        mut tell: impl FnMut(u64),
    ) -> Result<(), RequestError> {
        let mut filling = Filling {
            opening: *opening,
            at: 0,
            len,
            transfer,
        };
        self.whole(|own| own.go_on_filling(&mut filling, &mut tell))
    }

    /// Opens the file and writes the remaining data.
    fn go_on_filling(
        &mut self,
        filling: &mut Filling<'_>,
        tell: &mut dyn FnMut(u64),
    ) -> Result<(), RequestError> {
        let (link, source) = (SmbCallHandle::HERE, &WriteData::PATTERN);
        let opened = self.step(source, async { link.open(&filling.opening).await });
        let open = opened?.file_id;
        // The file belongs to this run now; another session opens it and continues.
        filling.opening = filling.opening.by(CreateDisposition::OPEN);
        while filling.at < filling.len {
            let left = u32::try_from(filling.len - filling.at).unwrap_or(u32::MAX);
            let (at, len) = (filling.at, left.min(filling.transfer));
            let len = len.min(self.session().affordable());
            let data = DataRange { at, len };
            let taken = self.step(source, async { link.write(open, at, data, false).await });
            match taken {
                Ok(taken) => filling.at += u64::from(taken),
                Err(RequestError::Answered(status)) if !status.ends_session() => {
                    // The error of the write is more important than that of the close.
                    match self.step(source, async { link.close(open).await }) {
                        Ok(()) | Err(RequestError::Answered(_)) => {}
                        Err(lost) => return Err(lost),
                    }
                    return Err(RequestError::Answered(status));
                }
                Err(unmet) => return Err(unmet),
            }
            tell(filling.at);
        }
        let is_empty = filling.len == 0;
        self.step(source, async {
            let flushed = if is_empty {
                Ok(())
            } else {
                link.flush(open).await
            };
            let closed = link.close(open).await;
            flushed.and(closed)
        })
    }
}
