//! What is in a directory, before the run: names, and handles with attributes.

use super::session::{Session, failed, owned};
use super::{entry_of, go_on, own_directory};
use crate::error::RunError;
use filestone_model::workload::FileEntry;
use filestone_wire::nfs3::{Procedure, Status, readdir, readdirplus};
use filestone_wire::xdr::Decode;
use std::sync::atomic::AtomicBool;

/// Pages that a listing of `max` entries may take. A page holds a new entry but
/// for the first few, with `.` and `..`; a server whose cookies lead in a circle
/// would go on for ever.
fn pages_max(max: u32) -> u64 {
    u64::from(max) + 4
}

/// Bytes asked for per page.
const PAGE: u32 = 32 << 10;

/// The names in a directory, at most `max` of them, without `.` and `..`.
pub fn names(
    session: &mut Session,
    stop: &AtomicBool,
    path: &str,
    directory: &FileEntry,
    max: u32,
) -> Result<Vec<Vec<u8>>, RunError> {
    let mut names = Vec::new();
    let (mut cookie, mut cookieverf) = (0, [0; 8]);
    let mut pages = 0..pages_max(max);
    while names.len() < max as usize && pages.next().is_some() {
        go_on(stop)?;
        let args = readdir::Args {
            dir: directory.handle.borrow(),
            cookie,
            cookieverf,
            count: PAGE,
        };
        let bytes = session.call(Procedure::Readdir, path, &args)?;
        let page = match readdir::Reply::from_bytes(&bytes) {
            Ok(Ok(page)) => page,
            Ok(Err(fail)) => return Err(failed(path, "READDIR", fail.status)),
            Err(error) => return Err(session.undecodable(Procedure::Readdir, path, error)),
        };
        names.extend(
            page.entries
                .iter()
                .filter(|entry| is_child(entry.name))
                .map(|entry| entry.name.to_vec()),
        );
        cookieverf = page.cookieverf;
        match page.entries.last() {
            // A page that leads back to itself would never end.
            Some(last) if !page.eof && last.cookie != cookie => cookie = last.cookie,
            _ => break,
        }
    }
    names.truncate(max as usize);
    Ok(names)
}

/// The objects in a directory, at most `max` of them.
pub fn files(
    session: &mut Session,
    stop: &AtomicBool,
    path: &str,
    directory: &FileEntry,
    max: u32,
    has_pattern: bool,
) -> Result<Vec<FileEntry>, RunError> {
    let mut files = Vec::new();
    let (mut cookie, mut cookieverf) = (0, [0; 8]);
    let mut pages = 0..pages_max(max);
    while files.len() < max as usize && pages.next().is_some() {
        go_on(stop)?;
        let args = readdirplus::Args {
            dir: directory.handle.borrow(),
            cookie,
            cookieverf,
            dircount: PAGE,
            maxcount: PAGE,
        };
        let bytes = session.call(Procedure::Readdirplus, path, &args)?;
        let page = match readdirplus::Reply::from_bytes(&bytes) {
            Ok(Ok(page)) => page,
            Ok(Err(fail)) if fail.status == Status::NOTSUPP => {
                return look_up_each(session, stop, path, directory, max, has_pattern);
            }
            Ok(Err(fail)) => return Err(failed(path, "READDIRPLUS", fail.status)),
            Err(error) => return Err(session.undecodable(Procedure::Readdirplus, path, error)),
        };
        for entry in page.entries.iter().filter(|entry| is_child(entry.name)) {
            match (&entry.name_attributes, &entry.name_handle) {
                (Some(attributes), Some(handle)) => {
                    files.push(entry_of(owned(*handle), attributes, has_pattern))
                }
                // The server may leave either out (RFC 1813, section 3.3.17).
                _ => files.extend(look_up(session, path, directory, entry.name, has_pattern)?),
            }
        }
        cookieverf = page.cookieverf;
        match page.entries.last() {
            Some(last) if !page.eof && last.cookie != cookie => cookie = last.cookie,
            _ => break,
        }
    }
    files.truncate(max as usize);
    Ok(files)
}

fn look_up_each(
    session: &mut Session,
    stop: &AtomicBool,
    path: &str,
    directory: &FileEntry,
    max: u32,
    has_pattern: bool,
) -> Result<Vec<FileEntry>, RunError> {
    let mut files = Vec::new();
    for name in names(session, stop, path, directory, max)? {
        go_on(stop)?;
        files.extend(look_up(session, path, directory, &name, has_pattern)?);
    }
    Ok(files)
}

/// One object; `None` if it has gone since it was listed.
fn look_up(
    session: &mut Session,
    path: &str,
    directory: &FileEntry,
    name: &[u8],
    has_pattern: bool,
) -> Result<Option<FileEntry>, RunError> {
    let path = own_directory::join(path, name);
    match session.lookup(&path, &directory.handle, name) {
        Ok(handle) => {
            let attributes = session.attributes(&path, &handle)?;
            Ok(Some(entry_of(handle, &attributes, has_pattern)))
        }
        Err(RunError::Nfs {
            status: Status::NOENT,
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_child(name: &[u8]) -> bool {
    name != b"." && name != b".."
}
