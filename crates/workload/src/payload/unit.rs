//! The unit: data of one write of a fleet's client, with the information that a reader needs to
//! verify the data, their position and their file.
//!
//! With checksums a unit starts with 40 bytes, numbers in network order:
//!
//! ```text
//!    0  "FSU1"          16  iteration               32  length of the unit
//!    4  run             20  number in the file      36  CRC-32C of all but this
//!    8  client          24  offset in the file
//!   12  file            (8 bytes)
//! ```
//!
//! Reads may have other boundaries than the writes: a [`DataVerifier`] takes the data of a file in
//! pieces of any length.

use super::pattern::{Pattern, PatternStart};
use std::sync::Arc;

/// Length of the header of a unit with a checksum.
pub const HEAD_LEN: usize = 40;
/// Minimum length of a write with a checksum: the rest of a file is never shorter than a header.
pub const UNIT_MIN: u64 = 2 * HEAD_LEN as u64;
/// Maximum length up to which the data of a unit are contiguous in the table; longer ones are
/// assembled.
const STRETCH_MAX: usize = 1 << 20;

/// Maximum length of contiguous data for patterns that may never be used.
const SPARE_STRETCH: usize = 16 << 10;

const MAGIC: [u8; 4] = *b"FSU1";

/// Identity of a file's content: run, client, file and iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileKey {
    /// Identifier of the run.
    pub run: u32,
    /// Client that owns the file.
    pub client: u32,
    /// Number of the file of the client.
    pub file: u32,
    /// Iteration that wrote the content.
    pub pass: u32,
}

/// Position of the sequence of a pattern in the table of all patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PatternRange {
    start: usize,
    /// Length of the period in bytes.
    period: usize,
    /// Total length in bytes.
    len: usize,
}

/// The data of all patterns of a fleet, shared by all clients.
#[derive(Debug, Clone, Default)]
pub struct Payloads {
    table: Arc<[u8]>,
    regions: Vec<PatternRange>,
}

impl Payloads {
    /// Creates the data of these patterns, for units up to `unit_max` bytes; patterns are
    /// identified by their index.
    pub fn new(patterns: &[Pattern], unit_max: u64) -> Self {
        let most = usize::try_from(unit_max).unwrap_or(STRETCH_MAX);
        Self::default().with(patterns, most.min(STRETCH_MAX))
    }

    /// Adds further patterns, which may never be used: their units are assembled from shorter
    /// pieces.
    #[must_use]
    pub fn and(self, patterns: &[Pattern]) -> Self {
        self.with(patterns, SPARE_STRETCH)
    }

    fn with(self, patterns: &[Pattern], stretch: usize) -> Self {
        let (mut table, mut regions) = (self.table.to_vec(), self.regions);
        let first = regions.len();
        for (place, pattern) in patterns.iter().enumerate() {
            let same = patterns.iter().position(|other| other == pattern);
            if let Some(known) = same.filter(|same| *same < place) {
                regions.push(regions.get(first + known).copied().unwrap_or_default());
                continue;
            }
            let row = pattern.row();
            let len = row.len() + stretch;
            let start = table.len();
            table.extend(row.iter().copied().cycle().take(len));
            regions.push(PatternRange {
                start,
                period: row.len(),
                len,
            });
        }
        Self {
            table: table.into(),
            regions,
        }
    }

    /// Returns the table that splices of units refer to.
    pub fn table(&self) -> &Arc<[u8]> {
        &self.table
    }

    /// Returns the position of the pattern with that index.
    pub fn region(&self, place: usize) -> PatternRange {
        self.regions.get(place).copied().unwrap_or_default()
    }
}

/// The data of one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBlock {
    head: [u8; HEAD_LEN],
    head_len: u8,
    region: PatternRange,
    /// Start of its data in the sequence.
    begins: usize,
}

/// Position of a unit in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPosition {
    /// Number of the unit in the file.
    pub number: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

impl WriteBlock {
    /// Creates a unit with only data of the pattern at `region`; `any` selects the start position
    /// if that differs from unit to unit.
    pub fn plain(
        region: PatternRange,
        begin: PatternStart,
        place: BlockPosition,
        any: u64,
    ) -> Self {
        let period = region.period.max(1) as u64;
        let begins = match begin {
            PatternStart::First => 0,
            PatternStart::Offset => place.offset % period,
            PatternStart::Anywhere => any % period,
        };
        Self {
            head: [0; HEAD_LEN],
            head_len: 0,
            region,
            begins: begins as usize,
        }
    }

    /// Returns the unit with a header; `table` is that of the region.
    #[must_use]
    pub fn with_checksum(self, file: FileKey, place: BlockPosition, table: &[u8]) -> Self {
        let mut unit = self;
        unit.head_len = HEAD_LEN as u8;
        let words = [
            u32::from_be_bytes(MAGIC),
            file.run,
            file.client,
            file.file,
            file.pass,
            place.number,
            (place.offset >> 32) as u32,
            place.offset as u32,
            place.len,
        ];
        for (bytes, word) in unit.head.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        let mut checksum = crc32c::crc32c(unit.head.get(..HEAD_LEN - 4).unwrap_or_default());
        let data_len = place.len.saturating_sub(HEAD_LEN as u32);
        unit.each_piece(HEAD_LEN as u64, data_len, table, |piece| {
            checksum = crc32c::crc32c_append(checksum, piece.bytes);
        });
        if let Some(bytes) = unit.head.last_chunk_mut::<4>() {
            *bytes = checksum.to_be_bytes();
        }
        unit
    }

    /// Calls a function with the pieces of `len` bytes of the unit from `at` on, in order; `table`
    /// is that of the region.
    pub fn each_piece<'p>(
        &'p self,
        at: u64,
        len: u32,
        table: &'p [u8],
        mut show: impl FnMut(BlockPiece<'p>),
    ) {
        let (mut at, mut left) = (at, len as usize);
        let head_len = u64::from(self.head_len);
        if at < head_len {
            let head = self.head.get(at as usize..usize::from(self.head_len));
            let bytes = head.unwrap_or_default();
            let bytes = bytes.get(..left).unwrap_or(bytes);
            show(BlockPiece { bytes, start: None });
            at += bytes.len() as u64;
            left -= bytes.len();
        }
        let PatternRange { start, period, len } = self.region;
        if period == 0 {
            return;
        }
        let mut place =
            ((self.begins as u64 + at.saturating_sub(head_len)) % period as u64) as usize;
        while left > 0 {
            let piece = left.min(len - place);
            let start = start + place;
            let bytes = table.get(start..start + piece).unwrap_or_default();
            show(BlockPiece {
                bytes,
                start: Some(start),
            });
            left -= piece;
            place = (place + piece) % period;
        }
    }

    /// Replaces the content of `room` by the unit's first `len` bytes.
    pub fn fill(&self, len: u64, table: &[u8], room: &mut Vec<u8>) {
        room.clear();
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.each_piece(0, len, table, |piece| {
            room.extend_from_slice(piece.bytes);
        });
    }
}

/// A piece of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockPiece<'p> {
    /// Bytes of the piece.
    pub bytes: &'p [u8],
    /// Position in the table, if the piece is in it.
    pub start: Option<usize>,
}

/// Difference between read data and written data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyError {
    /// There is no header where a unit should start.
    NoHeader,
    /// A unit of another run.
    OtherRun,
    /// A unit of another client's file.
    OtherClient,
    /// A unit of another file of the client.
    OtherFile,
    /// A unit of another position in the file.
    WrongOffset,
    /// A unit of another iteration: older or newer data than expected.
    WrongPass,
    /// The checksum does not match.
    Checksum,
    /// The unit is longer than its space.
    TooLong,
}

impl VerifyError {
    /// Returns the description in reports.
    pub const fn name(self) -> &'static str {
        match self {
            VerifyError::NoHeader => "no unit where one begins",
            VerifyError::OtherRun => "a unit of another run",
            VerifyError::OtherClient => "a unit of another client",
            VerifyError::OtherFile => "a unit of another file",
            VerifyError::WrongOffset => "a unit of another place in the file",
            VerifyError::WrongPass => "a unit of another pass",
            VerifyError::Checksum => "a unit with another checksum",
            VerifyError::TooLong => "a unit that would go on where one ends",
        }
    }
}

/// Parameters to verify the next data that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadCheck {
    /// The file.
    pub file: FileKey,
    /// Offset of the data.
    pub offset: u64,
    /// Number of the first unit in the data.
    pub number: u32,
    /// Whether a unit starts at the offset, whatever was read before.
    pub is_first: bool,
    /// Whether a unit ends at the end of the data.
    pub is_last: bool,
}

/// Verifies the data of a file as they arrive.
#[derive(Debug, Clone, Copy, Default)]
pub struct DataVerifier {
    state: State,
    /// State at the start of the result that is arriving.
    before: State,
    /// Whether a unit ends at the end of the data.
    is_last: bool,
}

#[derive(Debug, Clone, Copy)]
struct State {
    file: FileKey,
    /// Offset of the unit.
    offset: u64,
    number: u32,
    head: [u8; HEAD_LEN],
    /// Number of bytes of the header that have arrived.
    head_len: u8,
    /// Number of data bytes of the unit that have not arrived.
    left: u32,
    len: u32,
    checksum: u32,
    /// Error in this unit, or an unreported one in a previous unit.
    fault: Option<VerifyError>,
    /// Whether the boundaries of units are unknown because of an error.
    is_lost: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            file: FileKey::default(),
            offset: 0,
            number: 0,
            head: [0; HEAD_LEN],
            head_len: 0,
            left: 0,
            len: 0,
            checksum: 0,
            fault: None,
            is_lost: false,
        }
    }
}

impl DataVerifier {
    /// Starts the verification of the next data.
    pub fn start(&mut self, reading: &ReadCheck) {
        if reading.is_first {
            self.state = State {
                file: reading.file,
                offset: reading.offset,
                number: reading.number,
                ..State::default()
            };
        }
        self.is_last = reading.is_last;
        self.before = self.state;
    }

    /// Marks the start of a result: the verification of earlier results is final.
    pub fn keep(&mut self) {
        self.before = self.state;
    }

    /// Discards the result that was arriving: it is repeated from its start, or from that of the
    /// line, or never arrives.
    pub fn rewind(&mut self) {
        self.state = self.before;
    }

    /// Verifies the next data.
    pub fn see(&mut self, data: &[u8]) {
        let mut rest = data;
        while !rest.is_empty() && !self.state.is_lost {
            rest = self.state.take(rest);
        }
    }

    /// Returns the first error since the last call.
    pub fn take_fault(&mut self) -> Option<VerifyError> {
        self.before.fault = None;
        if self.is_last && self.state.head_len > 0 {
            self.state.note(VerifyError::TooLong);
        }
        self.state.fault.take()
    }
}

impl State {
    /// Verifies the next data of one unit. Returns the rest of the data.
    fn take<'d>(&mut self, data: &'d [u8]) -> &'d [u8] {
        let filled = usize::from(self.head_len);
        if filled < HEAD_LEN {
            let taken = data.len().min(HEAD_LEN - filled);
            let (head, rest) = data.split_at(taken);
            if let Some(place) = self.head.get_mut(filled..filled + taken) {
                place.copy_from_slice(head);
            }
            self.head_len += taken as u8;
            if usize::from(self.head_len) == HEAD_LEN {
                self.check_head();
            }
            return rest;
        }
        let taken = data.len().min(self.left as usize);
        let (bytes, rest) = data.split_at(taken);
        self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        self.left -= taken as u32;
        if self.left == 0 {
            self.end_unit();
        }
        rest
    }

    fn word(&self, place: usize) -> u32 {
        let bytes = self
            .head
            .get(4 * place..)
            .and_then(<[u8]>::first_chunk::<4>);
        u32::from_be_bytes(bytes.copied().unwrap_or_default())
    }

    fn note(&mut self, fault: VerifyError) {
        self.fault.get_or_insert(fault);
    }

    fn check_head(&mut self) {
        self.len = self.word(8);
        if self.word(0) != u32::from_be_bytes(MAGIC) || self.len < HEAD_LEN as u32 {
            self.note(VerifyError::NoHeader);
            self.is_lost = true;
            return;
        }
        let file = self.file;
        let offset = u64::from(self.word(6)) << 32 | u64::from(self.word(7));
        for (is_wrong, fault) in [
            (self.word(1) != file.run, VerifyError::OtherRun),
            (self.word(2) != file.client, VerifyError::OtherClient),
            (self.word(3) != file.file, VerifyError::OtherFile),
            (
                offset != self.offset || self.word(5) != self.number,
                VerifyError::WrongOffset,
            ),
            (self.word(4) != file.pass, VerifyError::WrongPass),
        ] {
            if is_wrong {
                self.note(fault);
            }
        }
        self.left = self.len - HEAD_LEN as u32;
        self.checksum = crc32c::crc32c(self.head.get(..HEAD_LEN - 4).unwrap_or_default());
        if self.left == 0 {
            self.end_unit();
        }
    }

    fn end_unit(&mut self) {
        if self.checksum != self.word(9) {
            self.note(VerifyError::Checksum);
        }
        self.offset = self.offset.saturating_add(u64::from(self.len));
        self.number = self.number.wrapping_add(1);
        self.head_len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileKey = FileKey {
        run: 7,
        client: 3,
        file: 1,
        pass: 2,
    };

    /// Returns the content of a file with units of these lengths.
    fn written(lens: &[u32], pattern: &Pattern) -> Vec<u8> {
        let payloads = Payloads::new(std::slice::from_ref(pattern), 4096);
        let (mut file, mut room) = (Vec::new(), Vec::new());
        for (number, len) in (0..).zip(lens) {
            let place = BlockPosition {
                number,
                offset: file.len() as u64,
                len: *len,
            };
            let unit = WriteBlock::plain(payloads.region(0), pattern.start(), place, 99);
            let unit = unit.with_checksum(FILE, place, payloads.table());
            unit.fill(u64::from(*len), payloads.table(), &mut room);
            assert_eq!(room.len(), *len as usize);
            file.extend_from_slice(&room);
        }
        file
    }

    fn inspect(file: FileKey, data: &[u8], piece: usize) -> Option<VerifyError> {
        let mut verifier = DataVerifier::default();
        let (mut offset, whole) = (0, data.len());
        for data in data.chunks(piece) {
            verifier.start(&ReadCheck {
                file,
                offset,
                number: 0,
                is_first: offset == 0,
                is_last: offset as usize + data.len() == whole,
            });
            offset += data.len() as u64;
            // The first half arrives twice.
            verifier.see(&data[..data.len() / 2]);
            verifier.rewind();
            verifier.see(data);
            verifier.keep();
        }
        verifier.take_fault()
    }

    #[test]
    fn what_was_written_is_right_however_it_is_read() {
        for pattern in [Pattern::Increasing, Pattern::Prbs15, Pattern::Random] {
            let file = written(&[4096, 4096, 1000, 40, 80], &pattern);
            for piece in [1, 39, 40, 41, 4096, 100_000] {
                assert_eq!(inspect(FILE, &file, piece), None, "{pattern} by {piece}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        let file = written(&[200, 200, 200], &Pattern::Increasing);
        let fault = |file: &[u8]| inspect(FILE, file, 64);
        let mut other = file.clone();
        other[300] ^= 1;
        assert_eq!(fault(&other), Some(VerifyError::Checksum));
        let mut other = file.clone();
        other[200..400].copy_from_slice(&file[400..600]);
        assert_eq!(fault(&other), Some(VerifyError::WrongOffset));
        other[200..400].fill(0);
        assert_eq!(fault(&other), Some(VerifyError::NoHeader));
        for (key, wanted) in [
            (FileKey { run: 8, ..FILE }, VerifyError::OtherRun),
            (FileKey { client: 8, ..FILE }, VerifyError::OtherClient),
            (FileKey { file: 8, ..FILE }, VerifyError::OtherFile),
            (FileKey { pass: 8, ..FILE }, VerifyError::WrongPass),
        ] {
            assert_eq!(inspect(key, &file, 64), Some(wanted));
        }
    }

    #[test]
    fn a_hostile_head_is_no_reason_to_stop() {
        let mut file = written(&[200], &Pattern::Zeros);
        file[32..36].copy_from_slice(&39_u32.to_be_bytes());
        assert_eq!(inspect(FILE, &file, 7), Some(VerifyError::NoHeader));
        file[32..36].copy_from_slice(&u32::MAX.to_be_bytes());
        // The unit extends beyond the end of the file.
        assert_eq!(inspect(FILE, &file, 7), Some(VerifyError::TooLong));
    }

    #[test]
    fn the_checksum_is_that_of_rfc_3720() {
        // Appendix B.4: 32 bytes of zeros, of ones, and from 0 upwards.
        let increasing: Vec<u8> = (0..32).collect();
        for (bytes, checksum) in [
            (vec![0; 32], 0x8a91_36aa),
            (vec![0xff; 32], 0x62a8_ab43),
            (increasing, 0x46dd_794e),
        ] {
            assert_eq!(crc32c::crc32c(&bytes), checksum);
        }
    }

    #[test]
    fn patterns_that_are_the_same_lie_in_the_table_once() {
        let payloads = Payloads::new(&[Pattern::Zeros, Pattern::Ones, Pattern::Zeros], 4096);
        assert_eq!(payloads.region(0), payloads.region(2));
        assert_eq!(payloads.table().len(), 2 * 4097);
    }
}
