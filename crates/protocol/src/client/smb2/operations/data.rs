//! Operations on the data of a file: READ, WRITE, copies and FLUSH.

use super::{SlotTask, UNKNOWN};
use crate::client::call_slot::ActionResult;
use crate::client::smb2::copy::CopySpec;
use crate::client::smb2::requests::{ALL_OF_FILE, CreateParams, LISTING};
use filestone_workload::operation::{FileId, Operation, ReplyFault, Stability};
use filestone_workload::output::DataRange;

impl SlotTask {
    pub(super) async fn read(&mut self, file: FileId, offset: u64, len: u32) -> ActionResult<()> {
        let (mut count, mut is_right) = (0, true);
        let client = self.client.clone();
        let look = |data: &[u8]| {
            count = data.len() as u32;
            is_right = client.is_right(file, offset, data);
        };
        if !self.options.holds_files {
            let opening = CreateParams::existing(self.path_of(file)?, LISTING);
            self.link.read_at_path(&opening, offset, len, look).await?;
        } else if client.verify.is_some() {
            let held = self.held(file).await?;
            self.link.read_data(held, offset, len, look).await?;
        } else {
            let held = self.held(file).await?;
            count = self.link.read(held, offset, len).await?;
        }
        self.moved = count.into();
        // The last block of a file is requested with the whole size, and the response is short.
        let entry = self.options.files.table.file(file);
        let there = entry.map_or(0, |entry| entry.len.saturating_sub(offset));
        self.fault = match (is_right, count) {
            (false, _) => Some(ReplyFault::WrongData),
            (true, count) if u64::from(count) < u64::from(len).min(there) => {
                Some(ReplyFault::Short)
            }
            (true, _) => None,
        };
        Ok(())
    }

    pub(super) async fn write(
        &mut self,
        file: FileId,
        data: DataRange,
        stability: Stability,
    ) -> ActionResult<()> {
        let is_through = stability != Stability::Unstable;
        let count = if self.options.holds_files {
            let held = self.held(file).await?;
            self.link.write(held, data.at, data, is_through).await?
        } else {
            let opened = self.open_file(file, ALL_OF_FILE).await?;
            let written = self.link.write(opened.file_id, data.at, data, is_through);
            let written = written.await;
            self.link.close(opened.file_id).await?;
            written?
        };
        self.moved = count.into();
        self.fault = (count < data.len).then_some(ReplyFault::Short);
        Ok(())
    }

    /// Copies on the server. After the loss of a connection, the files are opened again first.
    pub(super) async fn copy(&mut self, operation: Operation) -> ActionResult<()> {
        let Operation::Copy {
            from,
            to,
            offset: at,
            len,
        } = operation
        else {
            return Err(UNKNOWN);
        };
        let source = self.held(from).await?;
        let key = match self.client.opens.resume_key(from) {
            Some(key) => key,
            None => {
                let key = self.link.resume_key(source).await?;
                self.client.opens.keep_resume_key(from, key);
                key
            }
        };
        let target = self.held(to).await?;
        let what = CopySpec {
            key,
            target,
            stretch: DataRange { at, len },
        };
        let copying = self.copying.copy(self.link, what, &self.client.opens);
        let count = copying.await?;
        self.moved = count.into();
        self.fault = (count < len).then_some(ReplyFault::Short);
        Ok(())
    }

    pub(super) async fn flush(&mut self, file: FileId) -> ActionResult<()> {
        if self.options.holds_files {
            let held = self.held(file).await?;
            return self.link.flush(held).await;
        }
        let opening = CreateParams::existing(self.path_of(file)?, ALL_OF_FILE);
        self.link.flush_at_path(&opening).await
    }
}
