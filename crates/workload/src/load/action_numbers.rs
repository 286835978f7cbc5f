//! The numbers of an action: their checks and conversions.

use super::code::NUMBERS;
use super::safety::LONGEST_TRANSFER;
use crate::operation::{OpKind, Stability};

/// CreateDisposition (MS-CIFS 2.2.4.64.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// FILE_SUPERSEDE (0).
    Supersede,
    /// FILE_OPEN (1): fails if the file does not exist.
    Open,
    /// FILE_OPEN in a read-only run, whatever the load file contains: only read access is
    /// requested.
    OpenToRead,
    /// FILE_CREATE (2): fails if the file exists. dbench does not let it fail, and its load file
    /// relies on that: layers create or open.
    Create,
    /// FILE_OPEN_IF (3): creates the file if it does not exist.
    OpenIf,
    /// FILE_OVERWRITE (4): truncates the file; fails if it does not exist.
    Overwrite,
    /// FILE_OVERWRITE_IF (5): truncates or creates the file.
    OverwriteIf,
}

impl Disposition {
    /// Returns the disposition with this number in the standard.
    pub const fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            0 => Disposition::Supersede,
            1 => Disposition::Open,
            2 => Disposition::Create,
            3 => Disposition::OpenIf,
            4 => Disposition::Overwrite,
            5 => Disposition::OverwriteIf,
            _ => return None,
        })
    }
}

/// Access mode of an open by path, and action if the file exists or does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenMode {
    /// Whether read access is requested.
    pub reads: bool,
    /// Whether write access is requested.
    pub writes: bool,
    /// Whether the file is created if it does not exist.
    pub creates: bool,
    /// Whether the open fails if the file exists.
    pub is_exclusive: bool,
    /// Whether an existing file is truncated.
    pub cuts: bool,
    /// Whether writes are stable before the server replies.
    pub is_stable: bool,
}

impl OpenMode {
    /// Opens for reading without changes.
    pub const READING: Self = Self {
        reads: true,
        writes: false,
        creates: false,
        is_exclusive: false,
        cuts: false,
        is_stable: false,
    };
}

/// Maximum bytes of a READ or WRITE by path: bytes beyond it are ignored.
pub(super) const LONGEST_BY_PATH: u64 = 1 << 16;

/// Returns the kind and the numbers of the action of a line that names open files by path. The path
/// is already replaced by its handle, and an OPEN has its flags in place of an NTCreateX's
/// disposition.
#[inline]
pub(super) fn by_path(kind: OpKind, numbers: [u64; NUMBERS]) -> (OpKind, [u64; NUMBERS]) {
    match kind {
        OpKind::NtCreateX => {
            let [_, flags, handle, _] = numbers;
            (OpKind::Open, [flags, handle, 0, 0])
        }
        OpKind::ReadX | OpKind::WriteX => {
            let [handle, offset, size, _] = numbers;
            let len = size.min(LONGEST_BY_PATH);
            (kind, [handle, offset, len, len])
        }
        _ => (kind, numbers),
    }
}

/// Returns the error of a kind that no action has.
pub(super) fn not_in_loads(kind: OpKind) -> String {
    format!("{} is no operation of load files", kind.name())
}

pub(super) fn disposition(number: u64) -> Result<Disposition, String> {
    Disposition::from_number(number)
        .ok_or_else(|| format!("disposition {number} is not in the range 0 to 5"))
}

/// Parses the flags of an OPEN line: 0x1 read, 0x2 write, 0x4 both, 0x8 create, 0x10 exclusive,
/// 0x20 truncate, 0x40 append. libsmbclient combines the first three as C's O_RDONLY (0), O_WRONLY
/// (1) and O_RDWR (2), so 0x2 with 0x4 opens for reading; append only affects the file position,
/// which every line that reads or writes contains.
pub(super) fn open_mode(flags: u64) -> Result<OpenMode, String> {
    const ALL: u64 = 0x7f;
    if flags & !ALL != 0 {
        return Err(format!("flags {flags:#x} contain bits outside 0x7f"));
    }
    let has = |bit: u64| flags & bit != 0;
    let (one_way, both_ways) = (has(0x2), has(0x4));
    let (creates, is_exclusive) = (has(0x8), has(0x10));
    if is_exclusive && !creates {
        return Err("0x10, exclusive, means nothing without 0x8, create".to_owned());
    }
    Ok(OpenMode {
        reads: both_ways || !one_way,
        writes: one_way != both_ways,
        creates,
        is_exclusive,
        cuts: has(0x20) && !is_exclusive,
        is_stable: false,
    })
}

pub(super) fn stability(number: u64) -> Result<Stability, String> {
    Ok(match number {
        0 => Stability::Unstable,
        1 => Stability::DataSync,
        2 => Stability::FileSync,
        _ => return Err(format!("stability {number} is not in the range 0 to 2")),
    })
}

pub(super) fn length(len: u64) -> Result<u64, String> {
    if len > LONGEST_TRANSFER {
        return Err(format!(
            "{len} bytes are more than one operation may move (1 GiB)"
        ));
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_mean_what_they_mean_to_libsmbclient() {
        let mode = |flags| open_mode(flags).expect("they mean something");
        let access = |flags| (mode(flags).reads, mode(flags).writes);
        for (flags, reads_and_writes) in [
            (0, (true, false)),
            (0x1, (true, false)),
            (0x2, (false, true)),
            (0x3, (false, true)),
            (0x4, (true, true)),
            (0x5, (true, true)),
            (0x6, (true, false)),
        ] {
            assert_eq!(access(flags), reads_and_writes, "{flags:#x}");
        }
        assert_eq!(mode(0x41), OpenMode::READING);
        let made = mode(0x2c);
        assert!(made.creates && made.cuts && !made.is_exclusive);
        // With exclusive, there is nothing to truncate.
        let exclusive = mode(0x3c);
        assert!(exclusive.is_exclusive && !exclusive.cuts);
        assert!(open_mode(0x14).is_err());
        assert!(open_mode(0x80).is_err());
    }
}
