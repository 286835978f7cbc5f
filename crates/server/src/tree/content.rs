//! The bytes of one regular file: sparse, copied on write, possibly synthetic.
//!
//! A file is divided into chunks of [`CHUNK`] bytes. A written chunk is kept behind an [`Arc`], so
//! that a reply can reference it while it is being sent; a write to a chunk that a reply still
//! references copies it first. A chunk that was never written uses no memory: below
//! `synthetic_until` it reads as the deterministic pattern of `filestone_wire::pattern`, above that
//! as zeros.
//!
//! Permissions, times and the memory limit are checked elsewhere; the caller asks [`Content`] for
//! the cost of a change before making it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::pattern;
use super::run::ByteSlice;

/// Bytes per chunk. A 128 KiB READ becomes two or three parts of a vectored write.
pub const CHUNK: u64 = 64 * 1024;

/// Unit of memory accounting: one page, the granularity of the allocator.
const GRAIN: u64 = 4096;

/// The data of a regular file.
#[derive(Debug, Default)]
pub struct Content {
    size: u64,
    /// Bytes below this offset that are in no chunk read as the pattern.
    synthetic_until: u64,
    /// Chunks that were written, by number; one may be shorter than [`CHUNK`] and then ends in
    /// zeros.
    chunks: BTreeMap<u64, Arc<Vec<u8>>>,
    /// Memory use of `chunks`, in bytes, rounded up per chunk.
    charged: u64,
}

impl Content {
    /// Creates a file of `size` bytes of the pattern, which uses no memory until it is written.
    pub fn synthetic(size: u64) -> Self {
        Self {
            size,
            synthetic_until: size,
            ..Self::default()
        }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the memory that the chunks use.
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// Returns `used` of `fattr3`: holes are not counted, synthetic data are, because a client
    /// cannot distinguish them from stored data.
    pub fn used(&self) -> u64 {
        if self.synthetic_until > 0 {
            round_up(self.size, GRAIN)
        } else {
            self.charged
        }
    }

    /// Passes the slices of `offset..offset + count`, up to the size, to `visit`.
    pub fn read(&self, offset: u64, count: u64, mut visit: impl FnMut(ByteSlice)) {
        let end = offset.saturating_add(count).min(self.size);
        if end <= offset {
            return;
        }
        let mut position = offset;
        for (number, chunk) in self.chunks.range(offset / CHUNK..) {
            let start = number.saturating_mul(CHUNK);
            if start >= end {
                break;
            }
            self.read_unwritten(position, start, &mut visit);
            position = position.max(start);
            let stop = end.min(start.saturating_add(CHUNK));
            let stored = stop.min(start + chunk.len() as u64);
            if position < stored {
                let range = (position - start) as usize..(stored - start) as usize;
                visit(ByteSlice::Chunk(Arc::clone(chunk), range));
                position = stored;
            }
            pattern::zeros(stop - position, &mut visit);
            position = stop;
        }
        self.read_unwritten(position, end, &mut visit);
    }

    /// Passes bytes outside of all chunks to `visit`: the pattern up to its end, then zeros.
    fn read_unwritten(&self, from: u64, to: u64, visit: &mut impl FnMut(ByteSlice)) {
        if from >= to {
            return;
        }
        let synthetic = self.synthetic_until.clamp(from, to);
        pattern::runs(from, synthetic - from, visit);
        pattern::zeros(to - synthetic, visit);
    }

    /// Returns an upper bound of the additional memory that `write` or `set_size` up to `end`
    /// needs, in bytes.
    pub fn cost_of_write(&self, offset: u64, len: u64) -> u64 {
        pieces(offset, len)
            .map(|piece| {
                let held = self
                    .chunks
                    .get(&piece.number)
                    .map_or(0, |chunk| chunk.len() as u64);
                let wanted = self.stored_len(piece.number, piece.range.end as u64);
                round_up(wanted.max(held), GRAIN) - round_up(held, GRAIN)
            })
            .sum()
    }

    /// Writes `data` at `offset`, growing the file as needed.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        let mut rest = data;
        for piece in pieces(offset, data.len() as u64) {
            let (now, later) = rest.split_at(piece.range.len().min(rest.len()));
            rest = later;
            self.write_piece(piece, now);
        }
        self.size = self.size.max(offset.saturating_add(data.len() as u64));
    }

    fn write_piece(&mut self, piece: Piece, data: &[u8]) {
        let wanted = self.stored_len(piece.number, piece.range.end as u64) as usize;
        let (start, synthetic_until) = (piece.number * CHUNK, self.synthetic_until);
        let mut is_new = false;
        let chunk = self.chunks.entry(piece.number).or_insert_with(|| {
            is_new = true;
            Arc::default()
        });
        let held = chunk.len() as u64;
        let bytes = Arc::make_mut(chunk);
        if bytes.capacity() < wanted {
            bytes.reserve_exact(growth(bytes.len(), wanted));
        }
        if is_new && start < synthetic_until {
            pattern::append(start, wanted.min((synthetic_until - start) as usize), bytes);
        }
        if bytes.len() < piece.range.start {
            bytes.resize(piece.range.start, 0);
        }
        // The part that overlaps is copied, the part that grows the chunk appended, so that no
        // byte is written twice.
        let overlap = (bytes.len() - piece.range.start).min(data.len());
        let (over, beyond) = data.split_at(overlap);
        if let Some(target) = bytes.get_mut(piece.range.start..piece.range.start + overlap) {
            target.copy_from_slice(over);
        }
        bytes.extend_from_slice(beyond);
        let len = bytes.len() as u64;
        self.charged = self.charged + round_up(len, GRAIN) - round_up(held, GRAIN);
    }

    /// Returns the length that chunk `number` needs to hold its first `end` bytes: a chunk that
    /// begins in synthetic data copies all of them.
    fn stored_len(&self, number: u64, end: u64) -> u64 {
        if self.chunks.contains_key(&number) {
            return end;
        }
        let synthetic = self
            .synthetic_until
            .saturating_sub(number.saturating_mul(CHUNK));
        end.max(synthetic.min(CHUNK))
    }

    /// Truncates the file, or extends it by a hole.
    pub fn set_size(&mut self, size: u64) {
        if size < self.size {
            self.synthetic_until = self.synthetic_until.min(size);
            let boundary = size / CHUNK;
            for (_, cut) in self.chunks.split_off(&(size.div_ceil(CHUNK))) {
                self.charged -= round_up(cut.len() as u64, GRAIN);
            }
            self.cut_chunk(boundary, (size % CHUNK) as usize);
        }
        self.size = size;
    }

    fn cut_chunk(&mut self, number: u64, len: usize) {
        let Some(chunk) = self.chunks.get_mut(&number) else {
            return;
        };
        if chunk.len() > len {
            let held = round_up(chunk.len() as u64, GRAIN);
            Arc::make_mut(chunk).truncate(len);
            self.charged = self.charged + round_up(len as u64, GRAIN) - held;
        }
    }

    /// Sets the size like a write to `end`, without storing any data (`--discard`).
    pub fn grow_to(&mut self, end: u64) {
        self.size = self.size.max(end);
    }
}

/// The part of a write within one chunk.
struct Piece {
    number: u64,
    range: Range<usize>,
}

fn pieces(offset: u64, len: u64) -> impl Iterator<Item = Piece> {
    let end = offset.saturating_add(len);
    let mut position = offset;
    std::iter::from_fn(move || {
        if position >= end {
            return None;
        }
        let number = position / CHUNK;
        let start = position % CHUNK;
        let stop = (start + (end - position)).min(CHUNK);
        position += stop - start;
        Some(Piece {
            number,
            range: start as usize..stop as usize,
        })
    })
}

/// Sequential small writes double a chunk's capacity, as in `Vec`, but never past [`CHUNK`].
fn growth(len: usize, wanted: usize) -> usize {
    wanted.max((len * 2).min(CHUNK as usize)) - len
}

fn round_up(value: u64, to: u64) -> u64 {
    value.div_ceil(to).saturating_mul(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &Content, offset: u64, count: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        content.read(offset, count, |run| bytes.extend_from_slice(run.bytes()));
        bytes
    }

    fn patterned(offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        pattern::append(offset, len, &mut bytes);
        bytes
    }

    #[test]
    fn what_is_written_is_read_back_across_chunks() {
        let mut content = Content::default();
        let data = patterned(0, 3 * CHUNK as usize);
        content.write(1000, &data);
        assert_eq!(content.size(), 1000 + 3 * CHUNK);
        assert_eq!(read(&content, 1000, 3 * CHUNK), data);
        assert_eq!(read(&content, 0, 1000), vec![0; 1000]);
    }

    #[test]
    fn beyond_the_end_there_is_nothing_even_in_a_chunk_that_is_there() {
        let mut content = Content::default();
        content.write(0, b"short");
        for offset in [5, 99, CHUNK, u64::MAX] {
            assert_eq!(read(&content, offset, 1), [], "{offset}");
        }
    }

    #[test]
    fn small_writes_in_any_order_agree_with_a_flat_model() {
        let mut content = Content::synthetic(200_000);
        let mut model = patterned(0, 200_000);
        let mut position = 7_u64;
        for step in 0..400_usize {
            position = position
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let offset = position >> 46;
            let data = vec![step as u8; 1 + (position >> 20) as usize % 3000];
            let end = offset as usize + data.len();
            if step % 50 == 49 {
                content.set_size(offset);
                model.resize(offset as usize, 0);
                continue;
            }
            content.write(offset, &data);
            model.resize(model.len().max(end), 0);
            model[offset as usize..end].copy_from_slice(&data);
        }
        assert_eq!(content.size(), model.len() as u64);
        assert!(read(&content, 0, content.size()) == model);
    }

    #[test]
    fn a_hole_costs_nothing_and_reads_as_zeros() {
        let mut content = Content::default();
        content.set_size(1 << 40);
        assert_eq!((content.charged(), content.used()), (0, 0));
        content.write(1 << 39, b"island");
        assert_eq!(content.charged(), GRAIN);
        assert_eq!(read(&content, (1 << 39) - 3, 12), b"\0\0\0island\0\0\0");
    }

    #[test]
    fn a_synthetic_file_is_the_pattern_and_costs_nothing() {
        let content = Content::synthetic(10 * CHUNK);
        assert_eq!(content.charged(), 0);
        assert_eq!(read(&content, 12345, 100_000), patterned(12345, 100_000));
    }

    #[test]
    fn cutting_and_growing_again_reveals_zeros_not_old_data() {
        let mut content = Content::synthetic(CHUNK * 2);
        content.write(10, b"written");
        content.set_size(12);
        content.set_size(CHUNK * 2);
        let mut expected = patterned(0, 10);
        expected.extend_from_slice(b"wr\0\0\0\0");
        assert_eq!(read(&content, 0, 16), expected);
        assert_eq!(read(&content, CHUNK, 8), [0; 8]);
    }

    #[test]
    fn a_reply_keeps_the_bytes_it_was_promised_while_the_file_changes() {
        let mut content = Content::default();
        content.write(0, b"before");
        let mut runs = Vec::new();
        content.read(0, 6, |run| runs.push(run));
        content.write(0, b"after!");
        assert_eq!(runs[0].bytes(), b"before");
        assert_eq!(read(&content, 0, 6), b"after!");
    }

    #[test]
    fn the_cost_told_beforehand_is_the_cost_charged() {
        let mut content = Content::synthetic(CHUNK + 100);
        for (offset, len) in [(0, 10), (CHUNK - 5, 10), (CHUNK * 3, 100_000), (5, 5)] {
            let cost = content.cost_of_write(offset, len);
            let before = content.charged();
            content.write(offset, &vec![1; len as usize]);
            assert_eq!(content.charged() - before, cost);
        }
        content.set_size(0);
        assert_eq!(content.charged(), 0);
    }
}
