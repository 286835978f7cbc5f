//! Samba's extended attribute `user.DosAttrib` of each file (`--xattr`); reading and writing it
//! costs as much as on a Samba server.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use std::time::{SystemTime, UNIX_EPOCH};

/// Name of the attribute.
pub(super) const NAME: &str = "user.DosAttrib";

/// Length of the value in bytes, as in Samba.
const VALUE_BYTES: usize = 44;

/// Reads and writes the attribute, if enabled.
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

    /// Whether the attribute is enabled.
    pub fn wanted(&self) -> bool {
        self.wanted
    }

    /// Reads the attribute by the file's absolute path. A missing attribute is not an error.
    pub fn read_of_path(&mut self, path: &[u8]) {
        rustix::fs::lgetxattr(path, NAME, &mut self.value).ok();
    }

    /// Reads the attribute of an open file.
    pub fn read(&mut self, file: BorrowedFd<'_>) {
        if self.wanted {
            rustix::fs::fgetxattr(file, NAME, &mut self.value).ok();
        }
    }

    /// Reads the attribute and writes a new value. One value in five has a time in whole seconds,
    /// so that file systems that share equal values sometimes can.
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

    /// Returns true for one call in five, by Xorshift; the choice of files is arbitrary.
    fn one_in_five(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.is_multiple_of(5)
    }
}

/// Checks that the file system supports the attribute.
pub(super) fn probe(file: impl AsFd) -> Result<(), Errno> {
    rustix::fs::fsetxattr(file, NAME, &[0; VALUE_BYTES], XattrFlags::empty())
}
