//! The files of one writer, as those see them who read what it writes: a file is read when it is whole,
//! and written again when nobody reads it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileVersion {
    /// The pass that wrote it.
    pub pass: u32,
    /// Bytes of it.
    pub len: u64,
}

/// What comes of asking for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkout {
    /// It is the reader's until it is given back.
    Granted(FileVersion),
    /// Not yet: the reader waits in line, by this number.
    Waiting(u32),
    /// It never will be: the writer has ended without it.
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
    /// How often it has become whole.
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
    /// So many files, none of which is there.
    pub fn new(files: u32) -> Self {
        Self(Mutex::new(Files {
            files: vec![File::default(); files as usize].into(),
            has_ended: false,
        }))
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        // Nothing can panic while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<R>(&self, file: u32, look: impl FnOnce(&mut File, bool) -> R) -> Option<R> {
        let files = &mut *self.files();
        let has_ended = files.has_ended;
        let file = files.files.get_mut(file as usize)?;
        Some(look(file, has_ended))
    }

    /// Asks for a file to read it; `since` is what it was answered that waits in line already.
    pub fn ask(&self, file: u32, since: Option<u32>) -> Checkout {
        let asked = self.with(file, |file, has_ended| match since {
            // It was lent to all who waited when it became whole.
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

    /// Waits in line no longer.
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

    /// Gives a file back that was lent.
    pub fn give_back(&self, file: u32) {
        self.with(file, |file, _| {
            file.readers = file.readers.saturating_sub(1)
        });
    }

    /// Whether the writer may begin a file: nobody reads it. Until then nobody else gets it.
    pub fn start(&self, file: u32) -> bool {
        let begun = self.with(file, |file, _| {
            file.is_wanted = file.readers > 0;
            file.is_whole &= file.is_wanted;
            !file.is_wanted
        });
        begun.unwrap_or(true)
    }

    /// A file is whole.
    pub fn complete(&self, file: u32, content: FileVersion) {
        self.with(file, |file, _| {
            file.content = content;
            file.is_whole = true;
            file.readers += std::mem::take(&mut file.waiting);
            file.completions = file.completions.wrapping_add(1);
        });
    }

    /// The writer has come to its end.
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
        // Who has waited comes before the writer, who comes before others.
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
