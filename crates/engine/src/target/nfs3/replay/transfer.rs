//! File data in pieces of the size that the server takes.

use super::layer::{Extent, Nfs3Layer};
use crate::target::nfs3::calls::{Failure, NfsResult, Written};
use filestone_model::load::{Cause, Status};
use filestone_wire::nfs3::Handle;
use filestone_wire::nfs3::write::StableHow;

/// Refuses what ends beyond what a file can have.
fn check_range(Extent { offset, len }: Extent) -> NfsResult<()> {
    match offset.checked_add(len) {
        Some(_) => Ok(()),
        None => Err(Failure::refused(Cause::Other)),
    }
}

fn length(expected: u64, got: u64) -> Status {
    if expected == got {
        Status::Ok
    } else {
        Status::WrongLength { expected, got }
    }
}

/// How long the next piece is.
fn piece(len: u64, done: u64, most: u32) -> u32 {
    u32::try_from(len.saturating_sub(done)).map_or(most, |left| left.min(most))
}

impl Nfs3Layer {
    /// Asked between two pieces of a transfer.
    fn go_on(&self) -> NfsResult<()> {
        Ok(self.nfs.0.go_on()?)
    }

    /// ReadX of a CIFS load.
    pub(super) fn read_x(
        &mut self,
        number: u64,
        offset: u64,
        len: u64,
        expected: u64,
    ) -> NfsResult<Status> {
        let file = self.open.find(number)?.handle;
        let got = self.read_in(&file, Extent { offset, len })?;
        Ok(length(expected, got))
    }

    /// WriteX of a CIFS load.
    pub(super) fn write_x(
        &mut self,
        number: u64,
        extent: Extent,
        expected: u64,
        data: &[u8],
    ) -> NfsResult<Status> {
        // A copy, put back when it has taken notice of what was answered, even of
        // the pieces before one that failed.
        let mut file = *self.open.find_own(number)?;
        let (handle, stable) = (file.handle, self.stable_how());
        let done = self.write_out(&handle, extent, data, stable, |written| {
            file.note(written);
        });
        self.open.insert(number, file);
        done?;
        Ok(length(expected, extent.len))
    }

    /// Reads until there is no more; how many bytes came. A length of 0 is a call
    /// too.
    pub(super) fn read_in(&mut self, file: &Handle, extent: Extent) -> NfsResult<u64> {
        let Extent { offset, len } = extent;
        check_range(extent)?;
        let mut done = 0;
        loop {
            let asked = piece(len, done, self.directories.transfers.read);
            let back = self.nfs.read(file, offset + done, asked)?;
            done += u64::from(back.count);
            self.moved += u64::from(back.count);
            // A short READ that is not at the end is asked for the rest (section 3.3.6).
            // One of nothing, which would be asked for ever, is a contradiction.
            if done >= len || back.eof {
                return Ok(done);
            }
            self.go_on()?;
        }
    }

    /// Writes all of it, telling `note` of each answer. A length of 0 is a call too.
    pub(super) fn write_out(
        &mut self,
        file: &Handle,
        extent: Extent,
        data: &[u8],
        stable: StableHow,
        mut note: impl FnMut(Written),
    ) -> NfsResult<()> {
        let Extent { offset, len } = extent;
        check_range(extent)?;
        let mut done = 0;
        loop {
            let asked = piece(len, done, self.directories.transfers.write) as usize;
            let bytes = repeated(&mut self.filled, data, done, asked);
            let written = self.nfs.write(file, offset + done, bytes, stable)?;
            note(written);
            // A server may take less than it was sent (section 3.3.7).
            done += u64::from(written.count);
            self.moved += u64::from(written.count);
            if done >= len {
                return Ok(());
            }
            self.go_on()?;
        }
    }
}

/// `len` bytes of `data` over and over, from `at` on; from where they lie if they
/// lie in one piece.
fn repeated<'d>(filled: &'d mut Vec<u8>, data: &'d [u8], at: u64, len: usize) -> &'d [u8] {
    let period = data.len().max(1) as u64;
    let start = (at % period) as usize;
    if let Some(bytes) = data.get(start..start.saturating_add(len)) {
        return bytes;
    }
    filled.clear();
    filled.extend_from_slice(data.get(start..).unwrap_or_default());
    while filled.len() < len && !data.is_empty() {
        let missing = len - filled.len();
        filled.extend_from_slice(data.get(..missing).unwrap_or(data));
    }
    // Only a caller without data comes to that; zeros are as good.
    filled.resize(len, 0);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_go_on_in_the_next_piece_where_they_ended_in_the_last() {
        let mut filled = Vec::new();
        assert_eq!(repeated(&mut filled, b"abc", 0, 3), b"abc");
        assert_eq!(repeated(&mut filled, b"abc", 4, 2), b"bc");
        assert_eq!(repeated(&mut filled, b"abc", 5, 8), b"cabcabca");
        assert_eq!(repeated(&mut filled, b"", 0, 2), [0, 0]);
    }

    #[test]
    fn a_piece_is_no_longer_than_the_server_takes_nor_than_what_is_left() {
        assert_eq!(piece(100, 0, 64), 64);
        assert_eq!(piece(100, 64, 64), 36);
        assert_eq!(piece(u64::MAX, 0, 64), 64);
        assert_eq!(piece(0, 0, 64), 0);
    }
}
