//! Tracks the data of files being created: the next WRITE, and the completion of each file.
//!
//! The last WRITE of a file is sent after all its other WRITEs have been answered. So a file
//! reaches its full length only when its data are complete, and the lengths show how much of a
//! half-created set is valid.

use filestone_wire::nfs3::Verifier;
use filestone_wire::nfs3::write::StableHow;
use std::collections::{HashMap, VecDeque};

/// Maximum number of times a file is rewritten because the server lost its data.
const REWRITES_MAX: u32 = 3;

/// A range of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Index of the file in the table.
    pub file: u32,
    /// Start offset.
    pub offset: u64,
    /// Length in bytes.
    pub len: u32,
}

/// A file whose data are being written.
#[derive(Debug)]
struct Writing {
    len: u64,
    /// Start of the data not sent yet.
    next: u64,
    in_flight: u32,
    /// Write verifier of the first reply. A different one means that the server restarted and may
    /// have lost uncommitted data (RFC 1813, section 3.3.7).
    verifier: Option<Verifier>,
    has_changed: bool,
    is_unstable: bool,
    rewrites: u32,
}

/// Action after a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Wait for further replies.
    More,
    /// Send COMMIT.
    Commit,
    /// The file is complete.
    Done,
    /// The server repeatedly loses the data; the file is abandoned.
    Forgotten,
}

/// All files whose data are being written.
#[derive(Debug)]
pub struct PendingWrites {
    files: HashMap<u32, Writing>,
    /// Files with unsent data.
    waiting: VecDeque<u32>,
    /// Remainders of partially executed writes.
    rest: VecDeque<Stretch>,
    transfer: u32,
}

impl PendingWrites {
    /// Creates an empty set; each WRITE has at most `transfer` bytes.
    pub fn new(transfer: u32) -> Self {
        Self {
            files: HashMap::new(),
            waiting: VecDeque::new(),
            rest: VecDeque::new(),
            transfer: transfer.max(1),
        }
    }

    /// Returns the number of files being written.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Starts writing a file from its beginning.
    pub fn start(&mut self, file: u32, len: u64) {
        let writing = Writing {
            len,
            next: 0,
            in_flight: 0,
            verifier: None,
            has_changed: false,
            is_unstable: false,
            rewrites: 0,
        };
        self.files.insert(file, writing);
        self.waiting.push_back(file);
    }

    /// Returns the next WRITE that may be sent now.
    pub fn next(&mut self) -> Option<Stretch> {
        if let Some(stretch) = self.rest.pop_front() {
            return Some(stretch);
        }
        for _ in 0..self.waiting.len() {
            let file = self.waiting.pop_front()?;
            let Some(writing) = self.files.get_mut(&file) else {
                continue;
            };
            let left = writing.len - writing.next;
            let len = u32::try_from(left).map_or(self.transfer, |left| left.min(self.transfer));
            if u64::from(len) == left && writing.in_flight > 0 {
                self.waiting.push_back(file);
                continue;
            }
            let offset = writing.next;
            writing.next += u64::from(len);
            writing.in_flight += 1;
            if writing.next < writing.len {
                // Files are written one after another, so that few are unfinished at a time.
                self.waiting.push_front(file);
            }
            return Some(Stretch { file, offset, len });
        }
        None
    }

    /// Processes the reply to a WRITE: `count` bytes were written, at least one and at most as many
    /// as were sent.
    pub fn written(
        &mut self,
        stretch: Stretch,
        count: u32,
        committed: StableHow,
        verifier: Verifier,
    ) -> After {
        let Some(writing) = self.files.get_mut(&stretch.file) else {
            return After::More;
        };
        writing.has_changed |= writing.verifier.is_some_and(|first| first != verifier);
        writing.verifier = Some(verifier);
        writing.is_unstable |= committed == StableHow::Unstable;
        if count < stretch.len {
            self.rest.push_back(Stretch {
                file: stretch.file,
                offset: stretch.offset + u64::from(count),
                len: stretch.len - count,
            });
            return After::More;
        }
        writing.in_flight = writing.in_flight.saturating_sub(1);
        if writing.in_flight > 0 || writing.next < writing.len {
            After::More
        } else if writing.has_changed {
            self.again(stretch.file)
        } else if writing.is_unstable {
            After::Commit
        } else {
            self.files.remove(&stretch.file);
            After::Done
        }
    }

    /// Processes the reply to a COMMIT.
    pub fn committed(&mut self, file: u32, verifier: Verifier) -> After {
        match self.files.get(&file) {
            Some(writing) if writing.verifier != Some(verifier) => self.again(file),
            _ => {
                self.files.remove(&file);
                After::Done
            }
        }
    }

    fn again(&mut self, file: u32) -> After {
        let Some(writing) = self.files.get_mut(&file) else {
            return After::More;
        };
        if writing.rewrites >= REWRITES_MAX {
            return After::Forgotten;
        }
        *writing = Writing {
            next: 0,
            in_flight: 0,
            verifier: None,
            has_changed: false,
            is_unstable: false,
            len: writing.len,
            rewrites: writing.rewrites + 1,
        };
        self.waiting.push_back(file);
        After::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Verifier = [1; 8];
    const NEXT_LIFE: Verifier = [2; 8];

    fn stretch(offset: u64, len: u32) -> Stretch {
        let file = 7;
        Stretch { file, offset, len }
    }

    fn unstable(writings: &mut PendingWrites, stretch: Stretch) -> After {
        writings.written(stretch, stretch.len, StableHow::Unstable, LIFE)
    }

    #[test]
    fn the_last_write_waits_for_all_others() {
        let mut writings = PendingWrites::new(10);
        writings.start(7, 25);
        assert_eq!(writings.next(), Some(stretch(0, 10)));
        assert_eq!(writings.next(), Some(stretch(10, 10)));
        assert_eq!(writings.next(), None);
        assert_eq!(unstable(&mut writings, stretch(10, 10)), After::More);
        assert_eq!(writings.next(), None);
        assert_eq!(unstable(&mut writings, stretch(0, 10)), After::More);
        assert_eq!(writings.next(), Some(stretch(20, 5)));
        assert_eq!(unstable(&mut writings, stretch(20, 5)), After::Commit);
        assert_eq!(writings.committed(7, LIFE), After::Done);
        assert_eq!(writings.count(), 0);
    }

    #[test]
    fn another_file_is_written_while_one_waits() {
        let mut writings = PendingWrites::new(10);
        writings.start(7, 20);
        writings.start(8, 5);
        assert_eq!(writings.next(), Some(stretch(0, 10)));
        assert_eq!(writings.next().map(|stretch| stretch.file), Some(8));
        assert_eq!(writings.next(), None);
        unstable(&mut writings, stretch(0, 10));
        assert_eq!(writings.next(), Some(stretch(10, 10)));
    }

    #[test]
    fn the_rest_of_a_short_write_is_sent_again() {
        let mut writings = PendingWrites::new(10);
        writings.start(7, 10);
        let first = writings.next().expect("a write");
        assert_eq!(
            writings.written(first, 4, StableHow::FileSync, LIFE),
            After::More
        );
        let rest = writings.next().expect("the rest");
        assert_eq!(rest, stretch(4, 6));
        assert_eq!(
            writings.written(rest, 6, StableHow::FileSync, LIFE),
            After::Done
        );
    }

    #[test]
    fn what_a_server_has_forgotten_is_written_again_and_not_for_ever() {
        let mut writings = PendingWrites::new(10);
        writings.start(7, 10);
        for _ in 0..REWRITES_MAX {
            let write = writings.next().expect("a write");
            assert_eq!(unstable(&mut writings, write), After::Commit);
            assert_eq!(writings.committed(7, NEXT_LIFE), After::More);
        }
        let write = writings.next().expect("a write");
        unstable(&mut writings, write);
        assert_eq!(writings.committed(7, NEXT_LIFE), After::Forgotten);
    }

    #[test]
    fn a_new_life_between_two_writes_is_noticed() {
        let mut writings = PendingWrites::new(10);
        writings.start(7, 20);
        let first = writings.next().expect("a write");
        unstable(&mut writings, first);
        let last = writings.next().expect("the last");
        let after = writings.written(last, 10, StableHow::FileSync, NEXT_LIFE);
        assert_eq!(after, After::More);
        assert_eq!(writings.next(), Some(stretch(0, 10)));
    }
}
