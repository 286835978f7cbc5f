//! Writer for the lines of a load, which tracks the state that makes them valid.
//!
//! The writer tracks the tree that the previous lines have created. Every status, handle and count
//! that it writes is computed from that tree, so a model cannot expect a wrong result. An invalid
//! operation of a model (reading past the end, renaming onto a file) panics here.

use super::SyntheticLoad;
use super::draw::SEED;
use filestone_workload::load::wildcard;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// The client's directory, with dbench's name.
const HOME: &str = r"\clients\client1";

/// Maximum number of entries per FIND_FIRST.
const FIND_MAX: usize = 128;

/// FileBasicInformation, as passed through by TRANS2 (MS-FSCC section 2.4.7).
const LEVEL_BASIC: u32 = 1004;
/// FileStandardInformation (MS-FSCC section 2.4.41).
const LEVEL_STANDARD: u32 = 1005;
/// SMB_FIND_FILE_BOTH_DIRECTORY_INFO (MS-CIFS section 2.2.8.1.7).
const LEVEL_BOTH_DIRECTORY: u32 = 260;
/// SMB_QUERY_FS_SIZE_INFO (MS-CIFS section 2.2.8.2.4).
const LEVEL_FS_SIZE: u32 = 259;
/// ATTR_HIDDEN and ATTR_SYSTEM: hidden files may also be deleted.
const ANY_ATTRIBUTE: u32 = 0x6;

/// An open file of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handle(u64);

/// The object of a name.
enum Node {
    Directory,
    File { len: u64 },
}

/// The load up to the current line.
pub(super) struct Writer {
    text: String,
    operations: u64,
    /// Objects by path below [`HOME`], without a leading backslash; [`HOME`] itself is "".
    tree: BTreeMap<String, Node>,
    open: BTreeMap<u64, String>,
    last_handle: u64,
    live: u64,
}

impl Writer {
    /// Writes the header of the file, and the commands for a clean directory.
    pub fn start(load: SyntheticLoad) -> Self {
        let mut writer = Self {
            text: String::new(),
            operations: 0,
            tree: BTreeMap::new(),
            open: BTreeMap::new(),
            last_handle: 10_000,
            live: 0,
        };
        for line in [
            format_args!("# {}: {}", load.name(), load.about()),
            format_args!("# Grammar: dbench 3 to 5, CIFS-style verbs."),
            format_args!("# Made by filestone: cargo xtask loads, seed {SEED}. Not to be edited."),
            format_args!("# The model is in docs/loads/{}.md.", load.name()),
            format_args!("# SPDX-License-Identifier: MIT OR Apache-2.0"),
        ] {
            // Writing to a string does not fail.
            let _ = writeln!(writer.text, "{line}");
        }
        writer.line(format_args!(r#"Deltree "{HOME}" NT_STATUS_OK"#));
        writer.line(format_args!(r#"Mkdir "\clients" NT_STATUS_OK"#));
        writer.directory("");
        writer
    }

    /// Returns the whole file, which ends with removing the directory.
    pub fn finish(mut self) -> String {
        assert!(self.open.is_empty(), "left open: {:?}", self.open);
        self.line(format_args!(r#"Deltree "{HOME}" NT_STATUS_OK"#));
        self.text
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{line}");
        self.operations += 1;
    }

    /// Writes an open with these options and this disposition.
    fn create_line(&mut self, path: &str, how: &str, handle: Handle, status: &str) {
        let (path, handle) = (Full(path), handle.0);
        self.line(format_args!(
            r#"NTCreateX "{path}" {how} {handle} {status}"#
        ));
    }

    /// Writes an operation on an open file that succeeds.
    fn file_line(&mut self, verb: &str, handle: Handle, arguments: &str) {
        let handle = handle.0;
        self.line(format_args!("{verb} {handle}{arguments} NT_STATUS_OK"));
    }

    /// Returns the current number of operations.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Returns the current number of bytes in all files.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Returns the length of a file.
    pub fn len(&self, path: &str) -> u64 {
        match self.tree.get(path) {
            Some(Node::File { len }) => *len,
            _ => 0,
        }
    }

    /// Returns the names directly in `directory`.
    pub fn names<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = &'a str> {
        self.tree
            .keys()
            .filter(|path| !path.is_empty())
            .filter_map(move |path| {
                let (parent, name) = split(path);
                (parent == directory).then_some(name)
            })
    }

    /// Returns the status of an operation on the whole `path`.
    fn status(&self, path: &str) -> &'static str {
        if self.tree.contains_key(path) {
            "NT_STATUS_OK"
        } else if self.tree.contains_key(split(path).0) {
            "NT_STATUS_OBJECT_NAME_NOT_FOUND"
        } else {
            "NT_STATUS_OBJECT_PATH_NOT_FOUND"
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.tree.contains_key(path)
    }

    fn assert_free(&self, path: &str) {
        assert!(!self.exists(path), "{path} is there already");
        assert!(self.exists(split(path).0), "{path} has no directory");
    }

    fn assert_closed(&self, path: &str) {
        let is_open = self.open.values().any(|open| open == path);
        assert!(!is_open, "{path} is open");
    }

    fn new_handle(&mut self, path: &str) -> Handle {
        self.last_handle += 1;
        self.open.insert(self.last_handle, path.to_owned());
        Handle(self.last_handle)
    }

    fn open_len(&mut self, handle: Handle) -> &mut u64 {
        let path = self.open.get(&handle.0).expect("the handle is open");
        match self.tree.get_mut(path) {
            Some(Node::File { len }) => len,
            _ => panic!("{path} is no file"),
        }
    }

    /// Creates a directory as CIFS clients of the time did: NT_CREATE, then CLOSE.
    pub fn directory(&mut self, path: &str) {
        self.tree.insert(path.to_owned(), Node::Directory);
        let handle = self.new_handle(path);
        self.create_line(path, "0x1 0x2", handle, "NT_STATUS_OK");
        self.close(handle);
    }

    /// Creates a directory by MKDIR.
    pub fn mkdir(&mut self, path: &str) {
        self.assert_free(path);
        self.tree.insert(path.to_owned(), Node::Directory);
        self.line(format_args!(r#"Mkdir "{}" NT_STATUS_OK"#, Full(path)));
    }

    /// Opens an existing directory.
    pub fn open_directory(&mut self, path: &str) -> Handle {
        let handle = self.new_handle(path);
        self.create_line(path, "0x1 0x1", handle, "NT_STATUS_OK");
        handle
    }

    /// Creates a file.
    pub fn create(&mut self, path: &str) -> Handle {
        self.assert_free(path);
        self.tree.insert(path.to_owned(), Node::File { len: 0 });
        let handle = self.new_handle(path);
        self.create_line(path, "0x40 0x2", handle, "NT_STATUS_OK");
        handle
    }

    /// Opens a file and truncates it.
    pub fn overwrite(&mut self, path: &str) -> Handle {
        self.live -= self.len(path);
        self.tree.insert(path.to_owned(), Node::File { len: 0 });
        let handle = self.new_handle(path);
        self.create_line(path, "0x40 0x5", handle, "NT_STATUS_OK");
        handle
    }

    /// Opens a file, if it exists; otherwise writes an open that is expected to fail.
    pub fn try_open(&mut self, path: &str) -> Option<Handle> {
        let status = self.status(path);
        let handle = self.new_handle(path);
        if !self.exists(path) {
            self.open.remove(&handle.0);
        }
        self.create_line(path, "0x40 0x1", handle, status);
        self.exists(path).then_some(handle)
    }

    /// Opens an existing file.
    pub fn open(&mut self, path: &str) -> Handle {
        self.try_open(path).expect("the file is there")
    }

    /// Closes an open file.
    pub fn close(&mut self, handle: Handle) {
        self.open.remove(&handle.0).expect("the handle is open");
        self.file_line("Close", handle, "");
    }

    /// Reads inside the file.
    pub fn read(&mut self, handle: Handle, offset: u64, len: u64) {
        assert!(offset + len <= *self.open_len(handle), "reads past the end");
        self.file_line("ReadX", handle, &format!(" {offset} {len} {len}"));
    }

    /// Writes, and extends the file if necessary.
    pub fn write(&mut self, handle: Handle, offset: u64, len: u64) {
        let end = offset + len;
        let file = self.open_len(handle);
        let grown = end.saturating_sub(*file);
        *file += grown;
        self.live += grown;
        self.file_line("WriteX", handle, &format!(" {offset} {len} {len}"));
    }

    /// Reads `len` bytes from `offset` on, `chunk` at a time.
    pub fn read_run(&mut self, handle: Handle, offset: u64, len: u64, chunk: u64) {
        for (at, part) in chunks(len, chunk) {
            self.read(handle, offset + at, part);
        }
    }

    /// Writes `len` bytes from `offset` on, `chunk` at a time.
    pub fn write_run(&mut self, handle: Handle, offset: u64, len: u64, chunk: u64) {
        for (at, part) in chunks(len, chunk) {
            self.write(handle, offset + at, part);
        }
    }

    /// Opens a file, reads all of it and closes it.
    pub fn read_whole(&mut self, path: &str, chunk: u64) {
        let handle = self.open(path);
        let len = self.len(path);
        self.read_run(handle, 0, len, chunk);
        self.close(handle);
    }

    /// Flushes written data.
    pub fn flush(&mut self, handle: Handle) {
        self.file_line("Flush", handle, "");
    }

    /// Locks a range.
    pub fn lock(&mut self, handle: Handle, offset: u64, len: u64) {
        self.file_line("LockX", handle, &format!(" {offset} {len}"));
    }

    /// Unlocks the range.
    pub fn unlock(&mut self, handle: Handle, offset: u64, len: u64) {
        self.file_line("UnlockX", handle, &format!(" {offset} {len}"));
    }

    /// Queries a name's attributes, whether it exists or not.
    pub fn query_path(&mut self, path: &str) {
        self.line(format_args!(
            r#"QUERY_PATH_INFORMATION "{}" {LEVEL_BASIC} {}"#,
            Full(path),
            self.status(path)
        ));
    }

    /// Queries an open file's attributes.
    pub fn query_file(&mut self, handle: Handle) {
        self.file_line(
            "QUERY_FILE_INFORMATION",
            handle,
            &format!(" {LEVEL_STANDARD}"),
        );
    }

    /// Sets an open file's times.
    pub fn set_times(&mut self, handle: Handle) {
        self.file_line("SET_FILE_INFORMATION", handle, &format!(" {LEVEL_BASIC}"));
    }

    /// Queries the free space.
    pub fn query_fs(&mut self) {
        self.line(format_args!(
            "QUERY_FS_INFORMATION {LEVEL_FS_SIZE} NT_STATUS_OK"
        ));
    }

    /// Lists the names in `directory` that match `pattern`.
    ///
    /// The directory itself and its parent count, as servers return them for `*`.
    pub fn find(&mut self, directory: &str, pattern: &str) {
        let found = self
            .names(directory)
            .chain([".", ".."])
            .filter(|name| wildcard::matches(pattern.as_bytes(), name.as_bytes()))
            .count()
            .min(FIND_MAX);
        let status = if found == 0 {
            "NT_STATUS_NO_SUCH_FILE"
        } else {
            "NT_STATUS_OK"
        };
        self.line(format_args!(
            r#"FIND_FIRST "{}\{pattern}" {LEVEL_BOTH_DIRECTORY} {FIND_MAX} {found} {status}"#,
            Full(directory)
        ));
    }

    /// Removes a file. It must not be open: a CIFS server would refuse.
    pub fn unlink(&mut self, path: &str) {
        self.assert_closed(path);
        assert!(self.exists(path), "{path} is not there");
        self.live -= self.len(path);
        self.tree.remove(path);
        self.line(format_args!(
            r#"Unlink "{}" {ANY_ATTRIBUTE:#x} NT_STATUS_OK"#,
            Full(path)
        ));
    }

    /// Renames a file. The new name must not exist: CIFS and POSIX differ in that case.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.assert_closed(from);
        self.assert_free(to);
        let node = self.tree.remove(from).expect("the file is there");
        self.tree.insert(to.to_owned(), node);
        self.line(format_args!(
            r#"Rename "{}" "{}" NT_STATUS_OK"#,
            Full(from),
            Full(to)
        ));
    }
}

/// A path as in the load file.
struct Full<'a>(&'a str);

impl fmt::Display for Full<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HOME)?;
        if !self.0.is_empty() {
            write!(f, r"\{}", self.0)?;
        }
        Ok(())
    }
}

/// Returns a path's directory and its last component.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('\\').unwrap_or(("", path))
}

/// Returns offset and length of each part of `len` bytes.
fn chunks(len: u64, chunk: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..len.div_ceil(chunk)).map(move |index| {
        let at = index * chunk;
        (at, chunk.min(len - at))
    })
}
