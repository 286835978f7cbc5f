//! Files that a run writes before it begins.

use super::connection::{Connection, RequestError};
use filestone_protocol::client::smb2::{CallHandle, CreateParams};
use filestone_wire::smb2::create::CreateDisposition;
use filestone_workload::output::{DataRange, WriteData};

/// A file that is being written.
struct Filling<'p> {
    /// How it is opened: once it has been made, as what is there.
    opening: CreateParams<'p>,
    /// How many bytes have been written.
    at: u64,
    /// How many it shall have.
    len: u64,
    /// How many go out at a time, at most.
    transfer: u32,
}

impl Connection {
    /// Makes a file, and writes the pattern from its beginning to its end, so that it has its length
    /// only if it has its data. At most `transfer` bytes go out at a time, and no more than the server
    /// grants credits for. `tell` learns how far it is.
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

    /// Opens the file, and writes what is left of it.
    fn go_on_filling(
        &mut self,
        filling: &mut Filling<'_>,
        tell: &mut dyn FnMut(u64),
    ) -> Result<(), RequestError> {
        let (link, source) = (CallHandle::HERE, &WriteData::PATTERN);
        let opened = self.step(source, async { link.open(&filling.opening).await });
        let open = opened?.file_id;
        // It is this run's now, and who opens it over another session goes on with it.
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
                    // Why it could not be written is worth more than how it was closed.
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
