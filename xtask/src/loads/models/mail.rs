//! Delivery, reading and removal of mail: docs/loads/mail.md.

use super::draw::{LoadRng, LogNormal};
use super::writer::Writer;
use std::collections::VecDeque;

/// Approximate number of operations of the load.
const OPERATIONS: u64 = 4_000;
/// Users whose mail is one file per message (maildir).
const MAILDIRS: [&str; 5] = ["anna", "bert", "cora", "dave", "emil"];
/// Users whose mail is one file (mbox).
const MBOXES: [&str; 3] = ["fred", "gina", "hugo"];
/// Maximum length of a mailbox; then it is fetched and emptied.
const MBOX_FULL: u64 = 384 << 10;
/// Bytes that the server reads and writes at once.
const CHUNK: u64 = 8192;
/// Length of an entry of an index log.
const INDEX_ENTRY: u64 = 96;

const MESSAGES: LogNormal = LogNormal {
    median: 5 << 10,
    sigma_centioctaves: 150,
    min: 400,
    max: 128 << 10,
};

#[derive(Default)]
struct Maildir {
    new: VecDeque<String>,
    seen: VecDeque<String>,
}

struct Mail<'a> {
    out: &'a mut Writer,
    draw: LoadRng,
    maildirs: [Maildir; 5],
    serial: u64,
}

/// Writes the whole load.
pub(super) fn write(out: &mut Writer, draw: LoadRng) {
    let mut mail = Mail {
        out,
        draw,
        maildirs: Default::default(),
        serial: 0,
    };
    mail.populate();
    while mail.out.operations() < OPERATIONS {
        mail.act();
    }
}

impl Mail<'_> {
    fn populate(&mut self) {
        self.out.mkdir("spool");
        for user in MBOXES {
            let handle = self.out.create(&mbox(user));
            self.out.close(handle);
        }
        self.out.mkdir("mail");
        for user in MAILDIRS {
            self.out.mkdir(&format!(r"mail\{user}"));
            for part in ["tmp", "new", "cur"] {
                self.out.mkdir(&format!(r"mail\{user}\{part}"));
            }
            let handle = self.out.create(&index(user));
            self.out.close(handle);
        }
    }

    /// Executes one event of a mailbox.
    fn act(&mut self) {
        let user = self.draw.below(5) as usize;
        match self.draw.below(100) {
            0..42 => self.deliver(user),
            42..62 => self.append(),
            62..84 => self.check(user),
            84..92 => self.read_again(user),
            _ => self.expunge(user),
        }
    }

    /// Returns the length of a message; one in sixteen has an attachment.
    fn message_len(&mut self) -> u64 {
        let text = self.draw.size(&MESSAGES);
        if self.draw.one_in(16) {
            text + self.draw.between(32 << 10, 256 << 10)
        } else {
            text
        }
    }

    /// Delivers into a maildir: written and flushed under `tmp`, then moved.
    fn deliver(&mut self, user: usize) {
        self.serial += 1;
        let name = format!("m{:05}", self.serial);
        let home = MAILDIRS[user];
        let temporary = format!(r"mail\{home}\tmp\{name}");
        let len = self.message_len();
        self.out.query_path(&temporary);
        let handle = self.out.create(&temporary);
        self.out.write_run(handle, 0, len, CHUNK);
        self.out.flush(handle);
        self.out.close(handle);
        self.out
            .rename(&temporary, &format!(r"mail\{home}\new\{name}"));
        self.maildirs[user].new.push_back(name);
        self.note(user, 1);
    }

    /// Appends a number of entries to the index log.
    fn note(&mut self, user: usize, entries: u64) {
        let path = index(MAILDIRS[user]);
        let handle = self.out.open(&path);
        let end = self.out.len(&path);
        self.out.lock(handle, 0, 1);
        self.out.write(handle, end, entries * INDEX_ENTRY);
        self.out.flush(handle);
        self.out.unlock(handle, 0, 1);
        self.out.close(handle);
    }

    /// Delivers into an mbox: a lock file, a lock, the message at the end.
    fn append(&mut self) {
        let user = self.draw.pick(&MBOXES);
        let (path, lock) = (mbox(user), format!(r"spool\{user}.lock"));
        let len = self.message_len();
        self.out.query_path(&lock);
        let lock_handle = self.out.create(&lock);
        self.out.write(lock_handle, 0, 5);
        self.out.close(lock_handle);
        let handle = self.out.open(&path);
        self.out.query_file(handle);
        let end = self.out.len(&path);
        self.out.lock(handle, 0, 1);
        self.out.write_run(handle, end, len, CHUNK);
        self.out.flush(handle);
        self.out.unlock(handle, 0, 1);
        self.out.close(handle);
        self.out.unlink(&lock);
        if end + len > MBOX_FULL {
            self.fetch(&path);
        }
    }

    /// Reads a whole mbox, then truncates it.
    fn fetch(&mut self, path: &str) {
        self.out.query_path(path);
        let handle = self.out.open(path);
        let len = self.out.len(path);
        self.out.lock(handle, 0, 1);
        self.out.read_run(handle, 0, len, 65_536);
        self.out.unlock(handle, 0, 1);
        self.out.close(handle);
        let handle = self.out.overwrite(path);
        self.out.set_times(handle);
        self.out.close(handle);
    }

    /// Checks for mail: new messages are moved to `cur`, and some are read.
    fn check(&mut self, user: usize) {
        let home = MAILDIRS[user];
        self.out.query_path(&format!(r"mail\{home}\new"));
        self.out.find(&format!(r"mail\{home}\new"), "*");
        let mut moved = 0;
        for _ in 0..4 {
            let Some(name) = self.maildirs[user].new.pop_front() else {
                break;
            };
            let seen = format!("{name}.S");
            self.out.rename(
                &format!(r"mail\{home}\new\{name}"),
                &format!(r"mail\{home}\cur\{seen}"),
            );
            moved += 1;
            if !self.draw.one_in(4) {
                self.out
                    .read_whole(&format!(r"mail\{home}\cur\{seen}"), CHUNK);
            }
            self.maildirs[user].seen.push_back(seen);
        }
        if moved > 0 {
            self.note(user, moved);
        }
    }

    /// Opens an old message again, after the index. Another program may have marked the message:
    /// the open by its old name fails.
    fn read_again(&mut self, user: usize) {
        let home = MAILDIRS[user];
        let count = self.maildirs[user].seen.len() as u64;
        if count == 0 {
            return self.check(user);
        }
        self.out.read_whole(&index(home), CHUNK);
        let which = self.draw.below(count) as usize;
        let name = self.maildirs[user].seen[which].clone();
        self.out
            .try_open(&format!(r"mail\{home}\cur\{}", name.replace(".S", ".RS")));
        self.out.find(&format!(r"mail\{home}\cur"), "*");
        self.out
            .read_whole(&format!(r"mail\{home}\cur\{name}"), CHUNK);
    }

    /// Removes old messages.
    fn expunge(&mut self, user: usize) {
        let home = MAILDIRS[user];
        self.out.find(&format!(r"mail\{home}\cur"), "*");
        let count = self.maildirs[user].seen.len() as u64;
        let gone = self.draw.between(0, count * 3 / 4);
        for _ in 0..gone {
            if let Some(name) = self.maildirs[user].seen.pop_front() {
                self.out.unlink(&format!(r"mail\{home}\cur\{name}"));
            }
        }
        if gone > 0 {
            self.note(user, gone);
        }
    }
}

fn mbox(user: &str) -> String {
    format!(r"spool\{user}")
}

fn index(user: &str) -> String {
    format!(r"mail\{user}\index.log")
}
