//! Reads and writes file data with reusable buffers.
//!
//! A transfer is one system call up to [`PIECE_MAX_BYTES`], and several beyond.
//!
//! With O_DIRECT, memory, offset and length must be multiples of the alignment required by the file
//! system. An unaligned read is widened, and the additional data are not counted. A write cannot be
//! widened without changing neighbouring data: O_DIRECT is switched off on the descriptor for its
//! duration, and the write is counted in [`TransferBuffers::buffered_writes`].

use super::answer::FailedVerb;
use crate::replay::Cancellation;
use filestone_workload::payload::DataVerifier;
use rustix::fd::BorrowedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Maximum number of bytes per system call.
pub(super) const PIECE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Error of a transfer that a [`Cancellation`] has aborted.
const BROKEN_OFF: Errno = Errno::CANCELED;

/// Alignment of the buffers: a page.
const PAGE_BYTES: usize = 4096;

/// Minimum size of a buffer; larger sizes are powers of two.
const BUFFER_MIN_BYTES: usize = 64 * 1024;

/// Page-aligned memory.
#[derive(Debug, Default)]
struct PageAligned {
    memory: Vec<u8>,
    start: usize,
}

impl PageAligned {
    /// Returns at least `len` bytes.
    fn at_least(&mut self, len: usize) -> &mut [u8] {
        if self.memory.len() < self.start + len {
            let bytes = len.max(BUFFER_MIN_BYTES).next_power_of_two();
            self.memory = vec![0; bytes + PAGE_BYTES];
            self.start = self.memory.as_ptr().align_offset(PAGE_BYTES) % PAGE_BYTES;
        }
        self.memory
            .get_mut(self.start..self.start + len)
            .unwrap_or_default()
    }
}

/// Transfer buffers of one client.
#[derive(Debug)]
pub(super) struct TransferBuffers {
    incoming: PageAligned,
    outgoing: PageAligned,
    /// Required alignment of offsets and lengths with O_DIRECT.
    direct: Option<u64>,
    buffered_writes: u64,
    /// Bytes moved before a piece failed.
    partial: u64,
    /// Aborts transfers of several pieces when set.
    cancellation: Cancellation,
    /// Verifier of read data.
    verifier: Option<DataVerifier>,
}

/// Returns the end of a range; an error if a file cannot have this length.
fn end_of(offset: u64, len: u64) -> Result<u64, Errno> {
    match offset.checked_add(len) {
        Some(end) if i64::try_from(end).is_ok() => Ok(end),
        _ => Err(Errno::FBIG),
    }
}

/// Returns the length of the next piece of a transfer.
fn piece(left: u64) -> usize {
    usize::try_from(left).map_or(PIECE_MAX_BYTES, |left| left.min(PIECE_MAX_BYTES))
}

impl TransferBuffers {
    pub fn new(direct: Option<u64>) -> Self {
        Self {
            incoming: PageAligned::default(),
            outgoing: PageAligned::default(),
            direct,
            buffered_writes: 0,
            partial: 0,
            cancellation: Cancellation::default(),
            verifier: None,
        }
    }

    /// Lets `cancellation` abort later transfers, with ECANCELED.
    pub fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
    }

    /// Replaces the verifier of read data and returns the previous one.
    pub fn look_with(&mut self, verifier: Option<DataVerifier>) -> Option<DataVerifier> {
        std::mem::replace(&mut self.verifier, verifier)
    }

    /// Whether this is the error of an aborted transfer.
    pub fn has_broken_off(&self, refusal: FailedVerb) -> bool {
        refusal == BROKEN_OFF.into() && self.cancellation.is_cancelled()
    }

    /// Returns the number of writes without O_DIRECT.
    pub fn buffered_writes(&self) -> u64 {
        self.buffered_writes
    }

    /// Returns and resets the number of bytes that the last transfer moved before it failed.
    pub fn take_partial(&mut self) -> u64 {
        std::mem::take(&mut self.partial)
    }

    /// Reads `len` bytes at `offset`; returns the number of bytes, which is smaller if the file
    /// ends before.
    pub fn read(&mut self, file: BorrowedFd<'_>, offset: u64, len: u64) -> Result<u64, Errno> {
        let end = end_of(offset, len)?;
        let Some(unit) = self.direct else {
            return self.read_pieces(file, offset, len);
        };
        let wide_offset = offset - offset % unit;
        let wide_len = end.next_multiple_of(unit) - wide_offset;
        let got = self.read_pieces(file, wide_offset, wide_len)?;
        Ok((wide_offset + got).min(end).saturating_sub(offset))
    }

    fn read_pieces(&mut self, file: BorrowedFd<'_>, offset: u64, len: u64) -> Result<u64, Errno> {
        let mut done = 0;
        loop {
            let wanted = piece(len - done);
            let buffer = self.incoming.at_least(wanted);
            let got = match rustix::io::pread(file, &mut *buffer, offset + done) {
                Err(Errno::INTR) => continue,
                Err(errno) => {
                    self.partial = done;
                    return Err(errno);
                }
                Ok(got) => got,
            };
            if let Some(verifier) = &mut self.verifier {
                let seen = self.incoming.at_least(wanted);
                verifier.see(seen.get(..got).unwrap_or_default());
            }
            done += got as u64;
            if got < wanted || done >= len {
                return Ok(done);
            }
            if self.cancellation.is_cancelled() {
                return Err(BROKEN_OFF);
            }
        }
    }

    /// Writes `len` bytes at `offset`, with repetitions of `data`.
    pub fn write(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        len: u64,
        data: &[u8],
    ) -> Result<(), Errno> {
        end_of(offset, len)?;
        let Some(unit) = self.direct else {
            return self.write_pieces(file, offset, len, data);
        };
        if offset.is_multiple_of(unit) && len.is_multiple_of(unit) {
            return self.write_pieces(file, offset, len, data);
        }
        self.buffered_writes += 1;
        rustix::fs::fcntl_setfl(file, OFlags::empty())?;
        let written = self.write_pieces(file, offset, len, data);
        rustix::fs::fcntl_setfl(file, OFlags::DIRECT)?;
        written
    }

    fn write_pieces(
        &mut self,
        file: BorrowedFd<'_>,
        offset: u64,
        len: u64,
        data: &[u8],
    ) -> Result<(), Errno> {
        let wanted = piece(len);
        let source = match data.get(..wanted) {
            // Written directly from `data`, unless memory must be aligned.
            Some(source) if self.direct.is_none() => source,
            _ => {
                let buffer = self.outgoing.at_least(wanted);
                repeat(data, buffer);
                buffer
            }
        };
        let mut done = 0;
        loop {
            // A partial piece continues at its middle, so that the file gets the same contents.
            let from = usize::try_from(done % PIECE_MAX_BYTES as u64).unwrap_or_default();
            let to = (from as u64).saturating_add(len - done).min(wanted as u64);
            let source = source
                .get(from..usize::try_from(to).unwrap_or_default())
                .unwrap_or_default();
            done += match rustix::io::pwrite(file, source, offset + done) {
                Err(Errno::INTR) => continue,
                // The file system wrote nothing and returned no error.
                Ok(0) if done < len => {
                    self.partial = done;
                    return Err(Errno::IO);
                }
                Err(errno) => {
                    self.partial = done;
                    return Err(errno);
                }
                Ok(written) => written as u64,
            };
            if done >= len {
                return Ok(());
            }
            if self.cancellation.is_cancelled() {
                return Err(BROKEN_OFF);
            }
        }
    }
}

/// Fills `buffer` with repetitions of `data`.
fn repeat(data: &[u8], buffer: &mut [u8]) {
    let mut filled = data.len().min(buffer.len());
    if let (Some(to), Some(from)) = (buffer.get_mut(..filled), data.get(..filled)) {
        to.copy_from_slice(from);
    }
    while filled > 0 && filled < buffer.len() {
        let more = filled.min(buffer.len() - filled);
        buffer.copy_within(..more, filled);
        filled += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_repeated_to_the_end() {
        let mut buffer = [0; 8];
        repeat(b"abc", &mut buffer);
        assert_eq!(&buffer, b"abcabcab");
        repeat(b"0123456789", &mut buffer);
        assert_eq!(&buffer, b"01234567");
        repeat(b"", &mut buffer);
        repeat(b"x", &mut []);
    }

    #[test]
    fn buffers_begin_on_a_page_and_do_not_shrink() {
        let mut buffer = PageAligned::default();
        for len in [1, 70_000, 4096, 0, 1 << 20] {
            let slice = buffer.at_least(len);
            assert_eq!(slice.len(), len);
            assert_eq!(slice.as_ptr().align_offset(PAGE_BYTES), 0);
        }
        assert!(buffer.memory.len() > 1 << 20);
    }

    #[test]
    fn an_end_beyond_what_a_file_can_have_is_refused() {
        assert_eq!(end_of(u64::MAX, 1), Err(Errno::FBIG));
        assert_eq!(end_of(i64::MAX as u64, 1), Err(Errno::FBIG));
        assert_eq!(end_of(4096, 4096), Ok(8192));
    }
}
