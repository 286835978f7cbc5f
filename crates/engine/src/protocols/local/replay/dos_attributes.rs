//! What Samba keeps beside each file (`--xattr`): reading and writing its
//! extended attribute `user.DosAttrib` costs what it costs a Samba server.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use std::time::{SystemTime, UNIX_EPOCH};

/// Its name.
pub(super) const NAME: &str = "user.DosAttrib";

/// As long as Samba's own.
const VALUE_BYTES: usize = 44;

/// Reads and writes it, if that is wanted.
#[derive(Debug)]
pub(super) struct DosAttributes {
    wanted: bool,
    value: [u8; VALUE_BYTES],
    random: u64,
}

impl DosAttributes {
    pub fn new(wanted: bool, client: u32) -> Self {
        Self {
            wanted,
            value: [0; VALUE_BYTES],
            random: u64::from(client) + 1,
        }
    }

    /// Whether there is anything to do.
    pub fn wanted(&self) -> bool {
        self.wanted
    }

    /// Reads it by the file's absolute path. A file without it is none the worse.
    pub fn read_of_path(&mut self, path: &[u8]) {
        rustix::fs::lgetxattr(path, NAME, &mut self.value).ok();
    }

    /// Reads it of an open file.
    pub fn read(&mut self, file: BorrowedFd<'_>) {
        if self.wanted {
            rustix::fs::fgetxattr(file, NAME, &mut self.value).ok();
        }
    }

    /// Reads it and writes a new one. One in five has a time in whole seconds, so
    /// that file systems which share equal values sometimes can.
    pub fn write(&mut self, file: BorrowedFd<'_>) -> Result<(), Errno> {
        if !self.wanted {
            return Ok(());
        }
        self.read(file);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let microseconds = if self.one_in_five() {
            0
        } else {
            now.subsec_micros()
        };
        self.value = [0; VALUE_BYTES];
        let fields = now
            .as_secs()
            .to_ne_bytes()
            .into_iter()
            .chain(microseconds.to_ne_bytes());
        for (byte, field) in self.value.iter_mut().zip(fields) {
            *byte = field;
        }
        rustix::fs::fsetxattr(file, NAME, &self.value, XattrFlags::empty())
    }

    /// Xorshift; which files it hits does not matter.
    fn one_in_five(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.is_multiple_of(5)
    }
}

/// Whether the file system keeps it.
pub(super) fn probe(file: impl AsFd) -> Result<(), Errno> {
    rustix::fs::fsetxattr(file, NAME, &[0; VALUE_BYTES], XattrFlags::empty())
}
