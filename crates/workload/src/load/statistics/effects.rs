//! Effects of each action on names, lengths and handles if it succeeds, and the names that it uses
//! if it does not.

use super::LoadStatistics;
use super::tree::FileNumber;
use crate::load::action::{Disposition, LoadAction, OPTION_DIRECTORY, OpenMode};

impl LoadStatistics {
    /// Counts dispositions and levels, independent of the outcome.
    pub(super) fn count_arguments(&mut self, action: &LoadAction) {
        if let LoadAction::NtCreateX { disposition, .. } = *action {
            let count = self.dispositions.get_mut(number_of(disposition));
            if let Some(count) = count {
                *count += 1;
            }
        }
        if let LoadAction::FindFirst { level, .. }
        | LoadAction::QueryPathInformation { level, .. }
        | LoadAction::QueryFileInformation { level, .. }
        | LoadAction::SetFileInformation { level, .. }
        | LoadAction::QueryFsInformation { level } = *action
        {
            *self.levels.entry((action.kind(), level)).or_default() += 1;
        }
    }

    /// Applies the effects of a successful action.
    pub(super) fn execute(&mut self, action: &LoadAction) {
        match *action {
            LoadAction::NtCreateX {
                path,
                options,
                disposition,
                handle,
            } => self.create(path, options, disposition, handle),
            LoadAction::Open { path, mode, handle } => self.open_by_path(path, mode, handle),
            LoadAction::OpenX { path, len, handle } => self.open(path, len, handle),
            LoadAction::Close { handle } => {
                let closed = self.handles.close(handle);
                self.release(closed.and_then(|handle| handle.file));
            }
            LoadAction::ReadX {
                handle,
                offset,
                len,
                expected_len,
            } => self.read_handle(handle, offset, len, expected_len),
            LoadAction::WriteX {
                handle,
                offset,
                len,
                expected_len,
            } => self.write_handle(handle, offset, len, expected_len),
            LoadAction::Read { path, offset, len } => self.read_file(path, offset, len),
            LoadAction::Write {
                path, offset, len, ..
            } => self.write_file(path, offset, len),
            LoadAction::Create { path } => {
                self.tree.open(path, true);
            }
            LoadAction::Commit { path } | LoadAction::Lock4 { path, .. } => {
                self.tree.open(path, false);
            }
            LoadAction::Mkdir { path } => self.tree.make_directory(path),
            LoadAction::Rmdir { path }
            | LoadAction::Unlink { path }
            | LoadAction::Remove { path } => {
                self.tree.remove(path);
            }
            LoadAction::Rename { from, to } => self.tree.rename(from, to),
            LoadAction::Deltree { path } => self.tree.delete_tree(path),
            LoadAction::Symlink { path, .. } => self.tree.make_symlink(path),
            LoadAction::Link { path, existing } => self.tree.link(path, existing),
            LoadAction::Flush { .. }
            | LoadAction::LockX { .. }
            | LoadAction::UnlockX { .. }
            | LoadAction::FindFirst { .. }
            | LoadAction::QueryPathInformation { .. }
            | LoadAction::QueryFileInformation { .. }
            | LoadAction::SetFileInformation { .. }
            | LoadAction::QueryFsInformation { .. }
            | LoadAction::GetAttr { .. }
            | LoadAction::SetAttr { .. }
            | LoadAction::Lookup { .. }
            | LoadAction::Access { .. }
            | LoadAction::ReadLink { .. }
            | LoadAction::ReadDirectoryPlus { .. }
            | LoadAction::FileSystemStatus
            | LoadAction::FileSystemInfo
            | LoadAction::PathConfiguration { .. }
            | LoadAction::Unlock4 { .. }
            | LoadAction::Test4 { .. } => self.mention(action),
        }
    }

    /// Records the names that the action uses.
    pub(super) fn mention(&mut self, action: &LoadAction) {
        // The target of a symbolic link is text, and need not be a name of the tree.
        if let LoadAction::Symlink { path, .. } = *action {
            return self.tree.mention(path);
        }
        action.map_names(|name| {
            self.tree.mention(name);
            name
        });
    }

    fn create(&mut self, path: &[u8], options: u64, disposition: Disposition, handle: u64) {
        if options & OPTION_DIRECTORY != 0 {
            self.tree.make_directory(path);
        }
        if self.tree.is_directory(path) {
            self.open_handle(handle, None);
            return;
        }
        let (makes, cuts) = match disposition {
            Disposition::Open | Disposition::OpenToRead => (false, false),
            Disposition::Overwrite => (false, true),
            Disposition::Create | Disposition::OpenIf => (true, false),
            Disposition::Supersede | Disposition::OverwriteIf => (true, true),
        };
        let file = self.tree.open(path, makes);
        if let Some(file) = file.filter(|_| cuts) {
            self.tree.set_len(file, 0);
        }
        self.open_handle(handle, file);
    }

    fn open_by_path(&mut self, path: &[u8], mode: OpenMode, handle: u64) {
        let file = self.tree.open(path, mode.creates);
        if let Some(file) = file.filter(|_| mode.cuts) {
            self.tree.set_len(file, 0);
        }
        self.open_handle(handle, file);
    }

    /// dbench 1 opens a file with the length that the trace reported.
    fn open(&mut self, path: &[u8], len: u64, handle: u64) {
        let file = self.tree.open(path, true);
        if let Some(file) = file {
            self.tree.set_len(file, len);
        }
        self.open_handle(handle, file);
    }

    fn open_handle(&mut self, handle: u64, file: Option<FileNumber>) {
        if let Some(file) = file {
            self.tree.hold(file);
        }
        let before = self.handles.open(handle, file);
        self.release(before.and_then(|handle| handle.file));
    }

    fn release(&mut self, file: Option<FileNumber>) {
        if let Some(file) = file {
            self.tree.release(file);
        }
    }

    fn read_handle(&mut self, handle: u64, offset: u64, len: u64, expected_len: u64) {
        let mut nobody = None;
        let handle = self.handles.entry(handle);
        let end = handle.map_or(&mut nobody, |handle| &mut handle.read_end);
        self.reads.add(offset, len, expected_len, end);
    }

    fn write_handle(&mut self, handle: u64, offset: u64, len: u64, expected_len: u64) {
        let mut nobody = None;
        let handle = self.handles.entry(handle);
        let file = handle.as_ref().and_then(|handle| handle.file);
        let end = handle.map_or(&mut nobody, |handle| &mut handle.write_end);
        self.writes.add(offset, len, expected_len, end);
        self.extend(file, offset, len);
    }

    fn read_file(&mut self, path: &[u8], offset: u64, len: u64) {
        let mut nobody = None;
        let file = self.tree.open(path, false);
        let end = file.and_then(|file| self.tree.read_end(file));
        self.reads.add(offset, len, len, end.unwrap_or(&mut nobody));
    }

    fn write_file(&mut self, path: &[u8], offset: u64, len: u64) {
        let mut nobody = None;
        let file = self.tree.open(path, false);
        let end = file.and_then(|file| self.tree.write_end(file));
        self.writes
            .add(offset, len, len, end.unwrap_or(&mut nobody));
        self.extend(file, offset, len);
    }

    /// Applies the effect of a write on the length of a file.
    fn extend(&mut self, file: Option<FileNumber>, offset: u64, len: u64) {
        if let Some(file) = file
            && len > 0
        {
            self.tree.extend(file, offset.saturating_add(len));
        }
    }
}

/// Returns the number of a disposition, which is its index in the table of counts.
const fn number_of(disposition: Disposition) -> usize {
    match disposition {
        Disposition::Supersede => 0,
        Disposition::Open | Disposition::OpenToRead => 1,
        Disposition::Create => 2,
        Disposition::OpenIf => 3,
        Disposition::Overwrite => 4,
        Disposition::OverwriteIf => 5,
    }
}
