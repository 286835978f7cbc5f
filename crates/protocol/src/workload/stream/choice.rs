//! Choice of the next file of a client, and the wait for one.

use super::file::FileUse;
use super::published_files::Checkout;
use super::{NAP_MAX, NAP_MIN, Step, Stream};
use filestone_measure::measure::fleet_record::ClientState;
use filestone_plan::plan::{Direction, GroupPlan, RandomFieldFor};
use filestone_workload::time::Timestamp;
use std::sync::Arc;

impl Stream {
    /// Chooses the next file; returns the time of the next attempt if no file is available now.
    pub(super) fn choose(&mut self, group: &GroupPlan, now: Timestamp) -> Option<Timestamp> {
        let files = group.files.max(1);
        let drawn = self.drawn(group);
        let turn = (self.serial % u64::from(files)) as u32;
        if let Some(writer) = self.writer {
            return self.choose_of(writer, turn, group, now);
        }
        let task = match group.direction {
            Direction::Write | Direction::Both => FileUse::Write,
            Direction::Read if self.prepared < files => FileUse::Prepare,
            Direction::Read => FileUse::Read,
        };
        let file = if task == FileUse::Prepare {
            self.prepared
        } else {
            turn
        };
        if task == FileUse::Write
            && let Some(shelf) = self.shared.shelf(self.number)
            && !shelf.start(file)
        {
            return Some(self.backoff_until(now));
        }
        self.end_wait(now);
        let pass = match task {
            FileUse::Write | FileUse::ReadBack => (self.serial / u64::from(files)) as u32 + 1,
            FileUse::Prepare | FileUse::Read => 1,
        };
        let drawn_of_file = match group.direction {
            // Prepared files are read with the values that were sampled for them.
            Direction::Read => RandomFieldFor {
                file: file.into(),
                ..drawn
            },
            Direction::Write | Direction::Both => drawn,
        };
        let mut key = self.file.key;
        (key.run, key.client, key.file, key.pass) = (self.shared.run(), self.number, file, pass);
        let start = match self.lengths.get(file as usize) {
            Some(len) if !group.unlink_first => *len,
            _ => 0,
        };
        let len = drawn_of_file.whole(filestone_plan::plan::RandomField::FileSize, group.file_size);
        self.file.start(task, key, start, start.saturating_add(len));
        self.file.draw(group, group, &drawn);
        self.name_file(group, self.number);
        self.pace(group, &drawn);
        self.step = match task {
            FileUse::Write | FileUse::Prepare if group.unlink_first => Step::Unlink,
            _ => Step::Open,
        };
        None
    }

    /// Chooses the next file of a client that reads the files of a writer.
    fn choose_of(
        &mut self,
        writer: u32,
        file: u32,
        group: &GroupPlan,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let Some(shelf) = self.shared.shelf(writer) else {
            self.step = Step::Ended;
            return None;
        };
        let asked = shelf.ask(file, self.in_line);
        self.file.key.file = file;
        self.in_line = match asked {
            Checkout::Waiting(since) => Some(since),
            Checkout::Granted(_) | Checkout::Closed => None,
        };
        match asked {
            Checkout::Waiting(_) => Some(self.backoff_until(now)),
            Checkout::Closed => {
                self.passed_over += 1;
                self.serial += 1;
                if self.passed_over >= group.files {
                    let why = format!("client {writer}, whose files it reads, has ended");
                    self.end(ClientState::Failed, Some(why));
                    return None;
                }
                Some(now)
            }
            Checkout::Granted(content) => {
                let drawn = self.drawn(group);
                self.end_wait(now);
                self.passed_over = 0;
                let mut key = self.file.key;
                (key.run, key.client, key.pass) = (self.shared.run(), writer, content.pass);
                self.file.start(FileUse::Read, key, 0, content.len);
                self.file.is_lent = true;
                let shared = Arc::clone(&self.shared);
                let owner = group.reads.unwrap_or(0) as usize;
                if let Some(owner) = shared.plan().groups.get(owner) {
                    self.file.draw(group, owner, &drawn);
                    self.name_file(owner, writer);
                }
                self.pace(group, &drawn);
                self.step = Step::Open;
                None
            }
        }
    }

    /// Waits for a file; returns the time of the next request for it.
    fn backoff_until(&mut self, now: Timestamp) -> Timestamp {
        if self.state != ClientState::Waiting {
            self.enter(ClientState::Waiting);
            self.pacer.wait(now);
        }
        let nap = self.nap;
        self.nap = (2 * nap).min(NAP_MAX);
        now.after_nanos(nap)
    }

    /// Ends the wait for a file. The wait does not count as lateness.
    fn end_wait(&mut self, now: Timestamp) {
        if self.nap != NAP_MIN {
            self.nap = NAP_MIN;
            self.pacer.restart(now);
        }
    }
}
