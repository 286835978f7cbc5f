//! Conversion of a kind of operation with names and numbers to an action.

use super::action::{Action, Disposition, OpenMode};
use super::code::NUMBERS;
use super::safety::LONGEST_TRANSFER;
use crate::operation::{OpKind, Stability};

/// Creates an action. Returns an error if a number is not valid.
#[inline]
pub(super) fn action<'a>(
    kind: OpKind,
    first: &'a [u8],
    second: &'a [u8],
    numbers: [u64; NUMBERS],
) -> Result<Action<'a>, String> {
    match kind {
        OpKind::NtCreateX
        | OpKind::OpenX
        | OpKind::Close
        | OpKind::ReadX
        | OpKind::WriteX
        | OpKind::Flush
        | OpKind::LockX
        | OpKind::UnlockX
        | OpKind::QueryFileInformation
        | OpKind::SetFileInformation => on_handle(kind, first, numbers),
        OpKind::Read | OpKind::Write | OpKind::Access => on_range(kind, first, numbers),
        OpKind::Lock4 | OpKind::Unlock4 | OpKind::Test4 => locking(kind, first, numbers),
        _ => on_name(kind, first, second, numbers),
    }
}

/// Maximum bytes of a READ or WRITE by path: bytes beyond it are ignored.
pub(super) const LONGEST_BY_PATH: u64 = 1 << 16;

/// Creates an action of a load that names open files by path. The path is already replaced by its
/// handle, and an OPEN has its flags in place of an NTCreateX's disposition.
#[inline]
pub(super) fn action_by_path<'a>(
    kind: OpKind,
    first: &'a [u8],
    second: &'a [u8],
    numbers: [u64; NUMBERS],
) -> Result<Action<'a>, String> {
    let [handle, offset, size, _] = numbers;
    let len = size.min(LONGEST_BY_PATH);
    match kind {
        OpKind::NtCreateX => {
            let [_, flags, handle, _] = numbers;
            Ok(Action::Open {
                path: first,
                mode: OpenMode::from_flags(flags)?,
                handle,
            })
        }
        OpKind::ReadX => Ok(Action::ReadX {
            handle,
            offset,
            len,
            expected_len: len,
        }),
        OpKind::WriteX => Ok(Action::WriteX {
            handle,
            offset,
            len,
            expected_len: len,
        }),
        _ => action(kind, first, second, numbers),
    }
}

/// Returns the error of a kind that a function of this module does not convert.
fn not_in_loads(kind: OpKind) -> String {
    format!("{} is no operation of load files", kind.name())
}

fn disposition(number: u64) -> Result<Disposition, String> {
    Disposition::from_number(number)
        .ok_or_else(|| format!("disposition {number} is none of 0 to 5"))
}

fn stability(number: u64) -> Result<Stability, String> {
    Ok(match number {
        0 => Stability::Unstable,
        1 => Stability::DataSync,
        2 => Stability::FileSync,
        _ => return Err(format!("stability {number} is none of 0 to 2")),
    })
}

fn length(len: u64) -> Result<u64, String> {
    if len > LONGEST_TRANSFER {
        return Err(format!(
            "{len} bytes are more than one operation may move (1 GiB)"
        ));
    }
    Ok(len)
}

/// Checks whether a number is valid at that position of such an operation.
pub(super) fn check(kind: OpKind, place: usize, number: u64) -> Result<(), String> {
    match (kind, place) {
        (OpKind::NtCreateX, 1) => disposition(number).map(drop),
        (OpKind::Write, 2) => stability(number).map(drop),
        (OpKind::ReadX | OpKind::WriteX, 2)
        | (OpKind::Read | OpKind::Write, 1)
        | (OpKind::OpenX, 0) => length(number).map(drop),
        _ => Ok(()),
    }
}

#[inline]
fn on_handle<'a>(
    kind: OpKind,
    path: &'a [u8],
    numbers: [u64; NUMBERS],
) -> Result<Action<'a>, String> {
    let [handle, offset, len, expected_len] = numbers;
    Ok(match kind {
        OpKind::ReadX => Action::ReadX {
            handle,
            offset,
            len: length(len)?,
            expected_len,
        },
        OpKind::WriteX => Action::WriteX {
            handle,
            offset,
            len: length(len)?,
            expected_len,
        },
        OpKind::NtCreateX => {
            let [options, number, handle, _] = numbers;
            Action::NtCreateX {
                path,
                options,
                disposition: disposition(number)?,
                handle,
            }
        }
        OpKind::OpenX => {
            let [len, handle, ..] = numbers;
            let len = length(len)?;
            Action::OpenX { path, len, handle }
        }
        OpKind::Flush => Action::Flush { handle },
        OpKind::LockX => Action::LockX {
            handle,
            offset,
            len,
        },
        OpKind::UnlockX => Action::UnlockX {
            handle,
            offset,
            len,
        },
        OpKind::QueryFileInformation => Action::QueryFileInformation {
            handle,
            level: offset,
        },
        OpKind::SetFileInformation => Action::SetFileInformation {
            handle,
            level: offset,
        },
        OpKind::Close => Action::Close { handle },
        other => return Err(not_in_loads(other)),
    })
}

fn on_range<'a>(
    kind: OpKind,
    path: &'a [u8],
    numbers: [u64; NUMBERS],
) -> Result<Action<'a>, String> {
    let [offset, len, stable, _] = numbers;
    Ok(match kind {
        OpKind::Read => Action::Read {
            path,
            offset,
            len: length(len)?,
        },
        OpKind::Write => Action::Write {
            path,
            offset,
            len: length(len)?,
            stability: stability(stable)?,
        },
        OpKind::Access => Action::Access {
            path,
            wanted: offset,
            granted: len,
        },
        other => return Err(not_in_loads(other)),
    })
}

fn locking<'a>(
    kind: OpKind,
    path: &'a [u8],
    numbers: [u64; NUMBERS],
) -> Result<Action<'a>, String> {
    let [offset, len, ..] = numbers;
    Ok(match kind {
        OpKind::Lock4 => Action::Lock4 { path, offset, len },
        OpKind::Unlock4 => Action::Unlock4 { path, offset, len },
        OpKind::Test4 => Action::Test4 { path, offset, len },
        other => return Err(not_in_loads(other)),
    })
}

fn on_name<'a>(
    kind: OpKind,
    path: &'a [u8],
    second: &'a [u8],
    numbers: [u64; NUMBERS],
) -> Result<Action<'a>, String> {
    let [level, max, expected, _] = numbers;
    Ok(match kind {
        OpKind::QueryPathInformation => Action::QueryPathInformation { path, level },
        OpKind::FindFirst => Action::FindFirst {
            pattern: path,
            level,
            max,
            expected,
        },
        OpKind::QueryFsInformation => Action::QueryFsInformation { level },
        OpKind::Unlink => Action::Unlink { path },
        OpKind::MkDir => Action::Mkdir { path },
        OpKind::RmDir => Action::Rmdir { path },
        OpKind::Rename => Action::Rename {
            from: path,
            to: second,
        },
        OpKind::Deltree => Action::Deltree { path },
        OpKind::GetAttr => Action::GetAttr { path },
        OpKind::SetAttr => Action::SetAttr { path },
        OpKind::Lookup => Action::Lookup { path },
        OpKind::ReadLink => Action::ReadLink { path },
        OpKind::Create => Action::Create { path },
        OpKind::SymLink => Action::Symlink {
            path,
            target: second,
        },
        OpKind::Link => Action::Link {
            path,
            existing: second,
        },
        OpKind::Remove => Action::Remove { path },
        OpKind::ReadDirPlus => Action::ReadDirectoryPlus { path },
        OpKind::FsStat => Action::FileSystemStatus,
        OpKind::FsInfo => Action::FileSystemInfo,
        OpKind::PathConf => Action::PathConfiguration { path },
        OpKind::Commit => Action::Commit { path },
        other => return Err(not_in_loads(other)),
    })
}
