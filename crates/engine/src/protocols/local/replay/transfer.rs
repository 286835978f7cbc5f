//! File data in and out, through buffers that are used again.
//!
//! A transfer is one system call up to [`PIECE_MAX_BYTES`], and several beyond.
//!
//! With O_DIRECT, memory, offset and length must be multiples of what the file
//! system asks for. A read that is not is widened to one that is, and what was
//! not asked for is not counted. A write cannot be widened without changing its
//! neighbours: it is made without O_DIRECT, which is switched off on that
//! descriptor for its duration, and counted in [`Transfers::buffered_writes`].

use super::answer::FailedVerb;
use crate::replay::Cancellation;
use filestone_workload::payload::DataVerifier;
use rustix::fd::BorrowedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Moved by one system call at most.
pub(super) const PIECE_MAX_BYTES: usize = 16 * 1024 * 1024;

/// What a transfer says that a [`Cancellation`] has broken off.
const BROKEN_OFF: Errno = Errno::CANCELED;

/// The buffers begin where a page does.
const PAGE_BYTES: usize = 4096;

/// Buffers grow by powers of two from here on.
const BUFFER_MIN_BYTES: usize = 64 * 1024;

/// Memory that begins on a page.
#[derive(Debug, Default)]
struct PageAligned {
    memory: Vec<u8>,
    start: usize,
}

impl PageAligned {
    /// At least `len` bytes of it.
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

/// What one client reads into and writes from.
#[derive(Debug)]
pub(super) struct Transfers {
    incoming: PageAligned,
    outgoing: PageAligned,
    /// With O_DIRECT, what offsets and lengths must be multiples of.
    direct: Option<u64>,
    buffered_writes: u64,
    /// Moved by pieces before one that failed.
    partial: u64,
    /// Raised, it breaks off what takes several pieces.
    cancellation: Cancellation,
    /// Looks at what is read.
    inspector: Option<DataVerifier>,
}

/// Not an end that a file can have.
fn end_of(offset: u64, len: u64) -> Result<u64, Errno> {
    match offset.checked_add(len) {
        Some(end) if i64::try_from(end).is_ok() => Ok(end),
        _ => Err(Errno::FBIG),
    }
}

/// The next piece of a transfer.
fn piece(left: u64) -> usize {
    usize::try_from(left).map_or(PIECE_MAX_BYTES, |left| left.min(PIECE_MAX_BYTES))
}

impl Transfers {
    pub fn new(direct: Option<u64>) -> Self {
        Self {
            incoming: PageAligned::default(),
            outgoing: PageAligned::default(),
            direct,
            buffered_writes: 0,
            partial: 0,
            cancellation: Cancellation::default(),
            inspector: None,
        }
    }

    /// From now on transfers break off at that cancellation, with ECANCELED.
    pub fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
    }

    /// Shows what is read to this inspector from now on, and gives the one before back.
    pub fn look_with(&mut self, inspector: Option<DataVerifier>) -> Option<DataVerifier> {
        std::mem::replace(&mut self.inspector, inspector)
    }

    /// Whether this is what a transfer says that was broken off.
    pub fn has_broken_off(&self, refusal: FailedVerb) -> bool {
        refusal == BROKEN_OFF.into() && self.cancellation.is_cancelled()
    }

    /// Writes that O_DIRECT was switched off for.
    pub fn buffered_writes(&self) -> u64 {
        self.buffered_writes
    }

    /// What the last transfer moved before it failed.
    pub fn take_partial(&mut self) -> u64 {
        std::mem::take(&mut self.partial)
    }

    /// Reads `len` bytes at `offset`, fewer if the file ends before; says how many
    /// there were.
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
            if let Some(inspector) = &mut self.inspector {
                let seen = self.incoming.at_least(wanted);
                inspector.see(seen.get(..got).unwrap_or_default());
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

    /// Writes `len` bytes at `offset`, taking `data` over and over.
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
            // Straight from where they are, unless memory must be aligned.
            Some(source) if self.direct.is_none() => source,
            _ => {
                let buffer = self.outgoing.at_least(wanted);
                repeat(data, buffer);
                buffer
            }
        };
        let mut done = 0;
        loop {
            // A piece that came in part is taken up in its middle, so that the
            // file holds what it would hold otherwise.
            let from = usize::try_from(done % PIECE_MAX_BYTES as u64).unwrap_or_default();
            let to = (from as u64).saturating_add(len - done).min(wanted as u64);
            let source = source
                .get(from..usize::try_from(to).unwrap_or_default())
                .unwrap_or_default();
            done += match rustix::io::pwrite(file, source, offset + done) {
                Err(Errno::INTR) => continue,
                // A file system that takes nothing and says nothing.
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

/// Fills `buffer` with `data`, over and over.
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
