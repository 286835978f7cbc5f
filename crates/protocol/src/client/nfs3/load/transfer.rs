//! File data in pieces of the size that the server takes.

use super::paths::VerbExecutor;
use crate::client::nfs3::sequence::{ActionError, DataRange, NfsActionResult, WriteResult};
use crate::client::open_files::{Extent, transferred};
use filestone_wire::nfs3::Handle;
use filestone_wire::nfs3::write::StableHow;
use filestone_workload::load::{ActionStatus, Cause};

impl VerbExecutor {
    /// Executes ReadX of a CIFS load.
    pub(super) async fn read_x(
        &mut self,
        number: u64,
        offset: u64,
        len: u64,
        expected: u64,
    ) -> NfsActionResult<ActionStatus> {
        let file = self.open.find(number)?;
        if !file.reads {
            return Err(ActionError::refused(Cause::Denied));
        }
        let file = file.handle;
        let got = self.read_in(&file, Extent { offset, len }).await?;
        Ok(transferred(expected, got))
    }

    /// Executes WriteX of a CIFS load.
    pub(super) async fn write_x(
        &mut self,
        number: u64,
        extent: Extent,
        expected: u64,
    ) -> NfsActionResult<ActionStatus> {
        // A copy, stored again after it has recorded the replies, even those of pieces before a
        // failed one.
        let mut file = *self.open.find_own(number)?;
        let stable = if file.is_stable {
            StableHow::FileSync
        } else {
            self.stable_how()
        };
        let handle = file.handle;
        let written = self.write_out(&handle, extent, stable, |written| file.note(written));
        let done = written.await;
        self.open.insert(number, file);
        done?;
        Ok(transferred(expected, extent.len))
    }

    /// Reads the range to its end or the end of the file; returns the number of bytes. A length of
    /// 0 also makes a call.
    pub(super) async fn read_in(&mut self, file: &Handle, extent: Extent) -> NfsActionResult<u64> {
        let Extent { offset, len } = extent;
        extent.check()?;
        let mut done = 0;
        loop {
            let asked = extent.piece(done, self.directories.transfers.read);
            let back = self.nfs.read(file, offset + done, asked).await?;
            done += u64::from(back.count);
            self.moved += u64::from(back.count);
            // A short READ before the end of the file is continued (section 3.3.6). An empty one,
            // which would repeat forever, is a protocol violation.
            if done >= len || back.eof {
                return Ok(done);
            }
            self.nfs.check_cancelled()?;
        }
    }

    /// Writes the whole range, passing each result to `note`. A length of 0 also makes a call.
    pub(super) async fn write_out(
        &mut self,
        file: &Handle,
        extent: Extent,
        stable: StableHow,
        mut note: impl FnMut(WriteResult),
    ) -> NfsActionResult<()> {
        let Extent { offset, len } = extent;
        extent.check()?;
        let mut done = 0;
        loop {
            let piece = DataRange {
                at: done,
                len: extent.piece(done, self.directories.transfers.write),
            };
            let written = self.nfs.write(file, offset + done, piece, stable).await?;
            note(written);
            // A server may accept less than it was sent (section 3.3.7).
            done += u64::from(written.count);
            self.moved += u64::from(written.count);
            if done >= len {
                return Ok(());
            }
            self.nfs.check_cancelled()?;
        }
    }
}
