//! The current file of a client of a fleet.

use super::pieces::Pieces;
use super::shared::SharedFleet;
use filestone_plan::plan::{AccessPattern, GroupPlan, RandomField, RandomFieldFor};
use filestone_workload::load::CLIENTS;
use filestone_workload::payload::{BlockPosition, FileKey, Payload, ReadCheck, WriteBlock};
use std::io::Write;

/// Use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FileUse {
    /// Written.
    #[default]
    Write,
    /// Written, uncounted, to be read later.
    Prepare,
    /// Read.
    Read,
    /// Read by the client that has just written it.
    ReadBack,
}

impl FileUse {
    pub const fn writes(self) -> bool {
        match self {
            FileUse::Write | FileUse::Prepare => true,
            FileUse::Read | FileUse::ReadBack => false,
        }
    }
}

/// The current file of a client.
#[derive(Debug, Clone, Default)]
pub(super) struct CurrentFile {
    pub task: FileUse,
    pub key: FileKey,
    /// Offset of the next transfer.
    pub offset: u64,
    /// Bytes of the next transfer.
    pub next_len: u64,
    /// Whether the file is checked out from another client.
    pub is_lent: bool,
    pieces: Pieces,
    /// Length of the writes that the file consists of, where that matters.
    unit_len: u64,
    /// Number of transfers done.
    number: u32,
    /// Position of the next transfer in the file.
    place: u64,
    path: Vec<u8>,
}

impl CurrentFile {
    /// Begins this file, from `start` to `end` of it.
    pub fn start(&mut self, task: FileUse, key: FileKey, start: u64, end: u64) {
        (self.task, self.key) = (task, key);
        self.pieces = Pieces::new(start, end, 1, false);
        self.restart();
    }

    /// Restarts the file from its beginning.
    pub fn restart(&mut self) {
        self.offset = self.pieces.start();
        self.number = 0;
    }

    /// Samples the random values of a file that `owner` has written or writes.
    pub fn draw(&mut self, group: &GroupPlan, owner: &GroupPlan, drawn: &RandomFieldFor) {
        let len = if self.task.writes() {
            drawn.whole(RandomField::WriteSize, group.write_size)
        } else {
            drawn.whole(RandomField::ReadSize, group.read_size)
        };
        self.unit_len = owner.write_size.min.max(1);
        let (start, end) = (self.pieces.start(), self.pieces.end());
        let pieces = Pieces::new(start, end, len, group.checksums);
        let is_drawn = group.offsets == AccessPattern::Random && self.task != FileUse::Prepare;
        self.pieces = if is_drawn {
            pieces.in_order_of(drawn.order())
        } else {
            pieces
        };
    }

    /// Returns the number of completed transfers.
    pub fn number(&self) -> u32 {
        self.number
    }

    pub fn is_at_end(&self) -> bool {
        u64::from(self.number) >= self.pieces.count()
    }

    /// Returns the length of the file when it is completely written, otherwise the length written
    /// in order.
    pub fn written_len(&self) -> u64 {
        if self.is_at_end() {
            self.pieces.end()
        } else {
            self.offset
        }
    }

    /// Returns the path below the directory under test.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Sets the path to that of a client's file.
    pub fn name(&mut self, prefix: &str, client: u32) {
        let number = self.key.file;
        self.path.clear();
        // Writes into memory cannot fail.
        let _ = write!(self.path, "{CLIENTS}/client{client}/{prefix}-{number}");
    }

    /// Sets the path to that of a client's directory.
    pub fn name_directory(&mut self, client: u32) {
        self.path.clear();
        let _ = write!(self.path, "{CLIENTS}/client{client}");
    }

    /// Computes offset and length of the next transfer.
    pub fn measure_next(&mut self) {
        self.place = self.pieces.place(self.number.into());
        let piece = self.pieces.at(self.place);
        (self.offset, self.next_len) = (piece.offset, piece.len);
    }

    /// Returns the payload of the next transfer.
    pub fn payload(&self, group: &GroupPlan, shared: &SharedFleet, pattern: usize) -> Payload {
        if !self.task.writes() {
            return Payload::Reading(self.reading());
        }
        let place = BlockPosition {
            number: u32::try_from(self.place).unwrap_or(u32::MAX),
            offset: self.offset,
            len: u32::try_from(self.next_len).unwrap_or(u32::MAX),
        };
        let payloads = shared.payloads();
        let unit = WriteBlock::plain(
            payloads.region(pattern),
            group.pattern.start(),
            place,
            self.anywhere(),
        );
        Payload::Unit(if group.checksums {
            unit.with_checksum(self.key, place, payloads.table())
        } else {
            unit
        })
    }

    /// Returns the position of the next read within the writes that the file consists of. Reads in
    /// random order cover whole writes.
    fn reading(&self) -> ReadCheck {
        let is_drawn = self.pieces.is_in_drawn_order();
        let before = self.offset.saturating_sub(self.pieces.start());
        let number = before.div_ceil(self.unit_len.max(1));
        ReadCheck {
            file: self.key,
            offset: self.offset,
            number: if is_drawn {
                u32::try_from(number).unwrap_or(u32::MAX)
            } else {
                0
            },
            is_first: is_drawn || self.number == 0,
            is_last: is_drawn || u64::from(self.number) + 1 >= self.pieces.count(),
        }
    }

    /// Returns a number that differs for each unit of a run.
    fn anywhere(&self) -> u64 {
        let FileKey {
            run,
            client,
            file,
            pass,
        } = self.key;
        let words = [run, client, file, pass, self.place as u32];
        words.iter().fold(0_u64, |mixed, word| {
            let mixed = (mixed ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ mixed >> 29
        })
    }

    /// Advances past the completed transfer.
    pub fn advance(&mut self) {
        self.offset = self.offset.saturating_add(self.next_len);
        self.number = self.number.wrapping_add(1);
    }
}
