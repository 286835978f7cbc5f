//! The files of one writer as its readers see them: a file is read when it is complete, and written
//! again when no reader uses it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Version of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileVersion {
    /// Number of the pass that wrote it.
    pub pass: u32,
    /// Length in bytes.
    pub len: u64,
}

/// Result of requesting a file: granted, queued or closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkout {
    /// The reader may use the file until it gives it back.
    Granted(FileVersion),
    /// Not available yet: the reader waits in the queue, identified by this number.
    Waiting(u32),
    /// Never available: the writer has finished without it.
    Closed,
}

#[derive(Debug, Clone, Copy, Default)]
struct File {
    content: FileVersion,
    is_whole: bool,
    /// Whether the writer waits for it.
    is_wanted: bool,
    readers: u32,
    waiting: u32,
    /// Number of times it was completed.
    completions: u32,
}

/// The files of one writer.
#[derive(Debug, Default)]
pub struct PublishedFiles(Mutex<Files>);

#[derive(Debug, Default)]
struct Files {
    files: Box<[File]>,
    has_ended: bool,
}

impl PublishedFiles {
    /// Creates `files` files, all of them incomplete.
    pub fn new(files: u32) -> Self {
        Self(Mutex::new(Files {
            files: vec![File::default(); files as usize].into(),
            has_ended: false,
        }))
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        // No code that holds the lock can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<R>(&self, file: u32, look: impl FnOnce(&mut File, bool) -> R) -> Option<R> {
        let files = &mut *self.files();
        let has_ended = files.has_ended;
        let file = files.files.get_mut(file as usize)?;
        Some(look(file, has_ended))
    }

    /// Requests a file for reading; `since` is the number of a reader that already waits in the
    /// queue.
    pub fn ask(&self, file: u32, since: Option<u32>) -> Checkout {
        let asked = self.with(file, |file, has_ended| match since {
            // On completion it was granted to all waiting readers.
            Some(since) if file.completions != since => Checkout::Granted(file.content),
            Some(_) if has_ended => {
                file.waiting = file.waiting.saturating_sub(1);
                Checkout::Closed
            }
            Some(since) => Checkout::Waiting(since),
            None if file.is_whole && (!file.is_wanted || has_ended) => {
                file.readers += 1;
                Checkout::Granted(file.content)
            }
            None if has_ended => Checkout::Closed,
            None => {
                file.waiting += 1;
                Checkout::Waiting(file.completions)
            }
        });
        asked.unwrap_or(Checkout::Closed)
    }

    /// Leaves the queue.
    pub fn leave(&self, file: u32, since: u32) {
        self.with(file, |file, _| {
            let place = if file.completions == since {
                &mut file.waiting
            } else {
                &mut file.readers
            };
            *place = place.saturating_sub(1);
        });
    }

    /// Gives a granted file back.
    pub fn give_back(&self, file: u32) {
        self.with(file, |file, _| {
            file.readers = file.readers.saturating_sub(1)
        });
    }

    /// Starts a new version of a file unless it has readers; returns whether it did. While the
    /// writer waits, no new reader gets the file.
    pub fn start(&self, file: u32) -> bool {
        let begun = self.with(file, |file, _| {
            file.is_wanted = file.readers > 0;
            file.is_whole &= file.is_wanted;
            !file.is_wanted
        });
        begun.unwrap_or(true)
    }

    /// Marks a file as complete.
    pub fn complete(&self, file: u32, content: FileVersion) {
        self.with(file, |file, _| {
            file.content = content;
            file.is_whole = true;
            file.readers += std::mem::take(&mut file.waiting);
            file.completions = file.completions.wrapping_add(1);
        });
    }

    /// Marks the writer as finished.
    pub fn end(&self) {
        self.files().has_ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: FileVersion = FileVersion { pass: 1, len: 10 };

    #[test]
    fn readers_wait_for_a_file_and_writers_for_readers() {
        let shelf = PublishedFiles::new(1);
        assert_eq!(shelf.ask(0, None), Checkout::Waiting(0));
        assert!(shelf.start(0));
        assert_eq!(shelf.ask(0, Some(0)), Checkout::Waiting(0));
        shelf.complete(0, CONTENT);
        // Waiting readers come before the writer, and the writer before other readers.
        assert!(!shelf.start(0));
        assert_eq!(shelf.ask(0, Some(0)), Checkout::Granted(CONTENT));
        assert_eq!(shelf.ask(0, None), Checkout::Waiting(1));
        shelf.give_back(0);
        assert!(shelf.start(0));
        assert_eq!(shelf.ask(0, Some(1)), Checkout::Waiting(1));
    }

    #[test]
    fn who_has_ended_keeps_nobody_waiting() {
        let shelf = PublishedFiles::new(2);
        assert!(shelf.start(0));
        shelf.complete(0, CONTENT);
        assert_eq!(shelf.ask(1, None), Checkout::Waiting(0));
        shelf.end();
        assert_eq!(shelf.ask(1, Some(0)), Checkout::Closed);
        assert_eq!(shelf.ask(1, None), Checkout::Closed);
        assert_eq!(shelf.ask(0, None), Checkout::Granted(CONTENT));
        assert_eq!(shelf.ask(7, None), Checkout::Closed);
    }

    #[test]
    fn who_leaves_gives_back_what_was_lent_meanwhile() {
        let shelf = PublishedFiles::new(1);
        assert_eq!(shelf.ask(0, None), Checkout::Waiting(0));
        shelf.leave(0, 0);
        shelf.complete(0, CONTENT);
        assert!(shelf.start(0));
        assert_eq!(shelf.ask(0, None), Checkout::Waiting(1));
        shelf.complete(0, CONTENT);
        shelf.leave(0, 1);
        assert!(shelf.start(0));
    }
}
