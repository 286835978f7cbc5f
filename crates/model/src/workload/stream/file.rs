//! The file that a client of a fleet is at.

use super::shared::SharedFleet;
use crate::load::CLIENTS;
use crate::payload::unit::HEAD_LEN;
use crate::payload::{FileKey, Payload, Place, Reading, Unit};
use crate::plan::{Drawn, DrawnFor, GroupPlan};
use std::io::Write;

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Task {
    /// It is written.
    #[default]
    Write,
    /// It is written, uncounted, to be read.
    Prepare,
    /// It is read.
    Read,
    /// It is read by who has just written it.
    ReadBack,
}

impl Task {
    pub const fn writes(self) -> bool {
        match self {
            Task::Write | Task::Prepare => true,
            Task::Read | Task::ReadBack => false,
        }
    }
}

/// The file that a client is at.
#[derive(Debug, Clone, Default)]
pub(super) struct FileAtHand {
    pub task: Task,
    pub key: FileKey,
    /// Where the next transfer begins.
    pub offset: u64,
    /// Bytes of the next transfer.
    pub next_len: u64,
    /// Whether it is another client's, and lent.
    pub is_lent: bool,
    start: u64,
    end: u64,
    /// Bytes of each transfer.
    transfer: u64,
    /// Transfers so far.
    number: u32,
    path: Vec<u8>,
}

impl FileAtHand {
    /// This file is next, from `start` to `end` of it.
    pub fn begin(&mut self, task: Task, key: FileKey, start: u64, end: u64) {
        (self.task, self.key) = (task, key);
        (self.start, self.end) = (start, end);
        self.begin_anew();
    }

    /// It is begun once more.
    pub fn begin_anew(&mut self) {
        self.offset = self.start;
        self.number = 0;
    }

    /// Draws what is drawn for it.
    pub fn draw(&mut self, group: &GroupPlan, drawn: &DrawnFor) {
        self.transfer = if self.task.writes() {
            drawn.whole(Drawn::WriteSize, group.write_size)
        } else {
            drawn.whole(Drawn::ReadSize, group.read_size)
        };
    }

    pub fn is_at_end(&self) -> bool {
        self.offset >= self.end
    }

    /// Where it is, below the directory under test.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The name that a client's file has.
    pub fn name(&mut self, prefix: &str, client: u32) {
        let number = self.key.file;
        self.path.clear();
        // Nothing is refused that is written into memory.
        let _ = write!(self.path, "{CLIENTS}/client{client}/{prefix}-{number}");
    }

    /// The name of a client's directory.
    pub fn name_directory(&mut self, client: u32) {
        self.path.clear();
        let _ = write!(self.path, "{CLIENTS}/client{client}");
    }

    /// Works out how long the next transfer is.
    pub fn measure_next(&mut self, group: &GroupPlan) {
        let left = self.end.saturating_sub(self.offset);
        let len = left.min(self.transfer.max(1));
        let rest = left - len;
        let head = HEAD_LEN as u64;
        let is_short = group.checksums && self.task.writes() && (1..head).contains(&rest);
        // The last unit has a whole head.
        self.next_len = if is_short { left - head } else { len };
    }

    /// What the next transfer moves.
    pub fn payload(&self, group: &GroupPlan, shared: &SharedFleet, pattern: usize) -> Payload {
        if !self.task.writes() {
            return Payload::Reading(Reading {
                file: self.key,
                offset: self.offset,
                is_first: self.number == 0,
            });
        }
        let place = Place {
            number: self.number,
            offset: self.offset,
            len: u32::try_from(self.next_len).unwrap_or(u32::MAX),
        };
        let payloads = shared.payloads();
        let unit = Unit::plain(
            payloads.region(pattern),
            group.pattern.begin(),
            place,
            self.anywhere(),
        );
        Payload::Unit(if group.checksums {
            unit.with_checksum(self.key, place, payloads.table())
        } else {
            unit
        })
    }

    /// Another number for each unit of a run.
    fn anywhere(&self) -> u64 {
        let FileKey {
            run,
            client,
            file,
            pass,
        } = self.key;
        let words = [run, client, file, pass, self.number];
        words.iter().fold(0_u64, |mixed, word| {
            let mixed = (mixed ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ mixed >> 29
        })
    }

    /// The transfer is done.
    pub fn advance(&mut self) {
        self.offset = self.offset.saturating_add(self.next_len);
        self.number = self.number.wrapping_add(1);
    }
}
