//! Directories that a run makes for itself, and the file in them that says whose they are.
//!
//! The file is made first, and longer than its text: what it has to say later is written over
//! it, in place, so that a claim can also be given up, or taken over, on a server that has no
//! room for anything new.
//!
//! A server that keeps no file data (nfs-ganesha's in-memory file system, and ours with
//! `--discard`) still keeps where a symbolic link leads: there, the marker is one, and its
//! text is where it leads.
//!
//! All calls here may have been sent twice, if the connection was lost in between. Then "it is
//! there already" is the answer to the second sending, and is believed where nothing else can
//! have made it.

use super::calls::{Nfs, Outcome, permissions};
use super::remove::gone;
use crate::workspace::marker::{MARKER_MAX_BYTES, padded};
use filestone_wire::nfs3::create::CreateHow;
use filestone_wire::nfs3::write::StableHow;
use filestone_wire::nfs3::{FileType, Handle, Status};

/// Bytes of a page of a directory that should have nothing in it.
const PAGE: u32 = 8 << 10;

impl Nfs {
    /// MKDIR of a directory of the run's own; NFS3ERR_EXIST if it was there before.
    pub fn make_own_directory(
        &mut self,
        parent: &Handle,
        name: &[u8],
        mode: u32,
    ) -> Outcome<Handle> {
        match self.make_directory(parent, name, mode) {
            Ok(Some(handle)) => Ok(handle),
            // The server may leave the handle out (RFC 1813, section 3.3.9).
            Ok(None) => Ok(self.lookup(parent, name)?.handle),
            Err(failure) if failure.is(Status::EXIST) && self.0.was_resent() => {
                let found = self.lookup(parent, name)?.handle;
                match self.is_empty(&found)? {
                    true => Ok(found),
                    false => Err(failure),
                }
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether there is nothing in a directory.
    pub fn is_empty(&mut self, directory: &Handle) -> Outcome<bool> {
        let is_name = |name: &[u8]| !matches!(name, b"." | b"..");
        Ok(!self.find_name(directory, PAGE, is_name)?)
    }

    /// Makes a marker of this text, padded so that another text fits into its place.
    /// NFS3ERR_EXIST if there was one, NFS3ERR_NOSPC if not all of it was taken.
    pub fn make_marker(
        &mut self,
        directory: &Handle,
        name: &[u8],
        mode: u32,
        text: &str,
    ) -> Outcome<()> {
        let how = CreateHow::Guarded(permissions(mode));
        let made = match self.create(directory, name, how) {
            Err(failure) if failure.is(Status::EXIST) && self.0.was_resent() => None,
            made => made?,
        };
        let file = match made {
            Some(handle) => handle,
            None => self.lookup(directory, name)?.handle,
        };
        let padded = padded(text);
        self.write_text(&file, &padded)?;
        if self.read_text(&file, MARKER_MAX_BYTES)? == padded.as_bytes() {
            return Ok(());
        }
        self.remove(directory, name)?;
        self.symlink(directory, name, text.as_bytes()).map(drop)
    }

    /// What a marker says; `None` if there is none.
    pub fn read_marker(&mut self, directory: &Handle, name: &[u8]) -> Outcome<Option<String>> {
        let Some((marker, file_type, _)) = self.find_marker(directory, name)? else {
            return Ok(None);
        };
        let text = match file_type {
            FileType::Regular => self.read_text(&marker, MARKER_MAX_BYTES)?,
            FileType::Symlink => self.link_text(&marker)?,
            _ => return Ok(None),
        };
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Writes another text over that of a marker: no byte that was there stays, and none is
    /// added to a file that is long enough. A symbolic link is replaced by another one.
    pub fn rewrite_marker(&mut self, directory: &Handle, name: &[u8], text: &str) -> Outcome<()> {
        let Some((marker, file_type, len)) = self.find_marker(directory, name)? else {
            return Err(Status::NOENT.into());
        };
        if file_type == FileType::Symlink {
            return self.replace_link(directory, name, text);
        }
        let mut text = padded(text);
        // What somebody has added must not go on being read.
        let old = usize::try_from(len.min(MARKER_MAX_BYTES.into())).unwrap_or_default();
        while text.len() < old {
            text.push('\n');
        }
        self.write_text(&marker, &text)
    }

    fn replace_link(&mut self, directory: &Handle, name: &[u8], text: &str) -> Outcome<()> {
        let next = [name, b".link"].concat();
        gone(self.remove(directory, &next))?;
        self.symlink(directory, &next, text.as_bytes())?;
        self.rename((directory, &next), (directory, name))
    }

    /// A marker's handle, kind and length; `None` if there is none.
    fn find_marker(
        &mut self,
        directory: &Handle,
        name: &[u8],
    ) -> Outcome<Option<(Handle, FileType, u64)>> {
        let found = match self.lookup(directory, name) {
            Err(failure) if failure.is(Status::NOENT) => return Ok(None),
            found => found?,
        };
        let attributes = match found.attributes {
            Some(attributes) => attributes,
            None => self.attributes(&found.handle)?,
        };
        let (file_type, len) = (attributes.file_type, attributes.size);
        Ok(Some((found.handle, file_type, len)))
    }

    /// Writes a small file from its beginning, with certainty.
    ///
    /// A server may take a part of it (RFC 1813, section 3.3.7), and is sent the rest; that it
    /// took nothing is an error of the call already, so this comes to an end.
    fn write_text(&mut self, file: &Handle, text: &str) -> Outcome<()> {
        let mut rest = text.as_bytes();
        let mut offset = 0;
        while !rest.is_empty() {
            let written = self.write(file, offset, rest, StableHow::FileSync)?;
            offset += u64::from(written.count);
            rest = rest.get(written.count as usize..).unwrap_or_default();
        }
        Ok(())
    }
}
