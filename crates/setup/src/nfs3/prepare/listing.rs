//! Directory listings before a run: names, and handles with attributes.

use super::kind_of;
use crate::driver::CallError;
use crate::nfs3::calls::{NfsConnection, NfsError};
use crate::nfs3::session::at_path;
use crate::workspace::ClaimError;
use filestone_host::error::RunError;
use filestone_protocol::workload::FileEntry;
use filestone_wire::nfs3::{Handle, Procedure};
use std::cell::Cell;

/// Requested page size in bytes.
const PAGE: u32 = 32 << 10;
/// Error text for a listing with too few valid names.
const NO_NAMES: &str = "too many names that are none";

/// Maximum number of entries read to find `max` objects: a server may generate an endless listing.
fn entries_max(max: u32) -> u64 {
    10 * (u64::from(max) + 1000)
}

fn is_child(name: &[u8]) -> bool {
    name != b"." && name != b".."
}

fn endless(path: &str, what: &str) -> RunError {
    let (path, what) = (path.into(), what.into());
    ClaimError::Endless { path, what }.into()
}

fn not_listed(failure: NfsError, path: &str, procedure: Procedure) -> RunError {
    match failure {
        NfsError::Lost(call) => match &call.source {
            CallError::Violation(what) => endless(path, what),
            _ => at_path(NfsError::Lost(call), path, procedure),
        },
        answered => at_path(answered, path, procedure),
    }
}

/// Lists the names in a directory, at most `max`, without `.` and `..`.
pub fn names(
    session: &mut NfsConnection,
    path: &str,
    directory: &Handle,
    max: u32,
) -> Result<Vec<Vec<u8>>, RunError> {
    let mut names = Vec::new();
    let (mut seen, seen_max) = (0, entries_max(max));
    let listed = session.call(|link| {
        link.find_name(directory, PAGE, |name| {
            seen += 1;
            if is_child(name) {
                names.push(name.to_vec());
            }
            names.len() >= max as usize || seen > seen_max
        })
    });
    listed.map_err(|failure| not_listed(failure, path, Procedure::Readdir))?;
    if seen > seen_max {
        return Err(endless(path, NO_NAMES));
    }
    Ok(names)
}

/// Lists the objects in a directory, at most `max`.
pub fn files(
    session: &mut NfsConnection,
    path: &str,
    directory: &Handle,
    max: u32,
    has_pattern: bool,
) -> Result<Vec<(Handle, FileEntry)>, RunError> {
    let mut files = Vec::new();
    let (seen, seen_max) = (Cell::new(0), entries_max(max));
    let is_wanted = |name: &[u8]| {
        seen.set(seen.get() + 1);
        is_child(name) && seen.get() <= seen_max
    };
    let listed = session.call(|link| {
        link.each_object(directory, is_wanted, |_, object| {
            let entry = FileEntry {
                len: object.attributes.size,
                kind: kind_of(object.attributes.file_type),
                has_pattern,
            };
            files.push((object.handle, entry));
            files.len() >= max as usize
        })
    });
    listed.map_err(|failure| not_listed(failure, path, Procedure::Readdirplus))?;
    Ok(files)
}
