//! What is in a directory, before the run: names, and handles with attributes.

use super::session::{Session, failed, owned};
use super::{check, entry_of, own_directory};
use crate::error::RunError;
use crate::replay::nfs3::listing::Position;
use crate::stop::StopSign;
use filestone_model::workload::FileEntry;
use filestone_wire::nfs3::{Procedure, Status, readdir, readdirplus};
use filestone_wire::xdr::Decode;

/// Entries that are looked at in a listing of `max`: beyond those that are wanted, the ones that
/// are gone when they are looked up, or that are none.
fn entries_max(max: u32) -> u64 {
    10 * (u64::from(max) + 1000)
}

/// A listing that leads nowhere.
fn endless(path: &str, what: &str) -> RunError {
    RunError::Unsuitable(
        format!("{path}: {what}: the server does not come to the end of it"),
        Some("name another directory, or ask for fewer files".into()),
    )
}

/// Bytes asked for per page.
const PAGE: u32 = 32 << 10;

/// The names in a directory, at most `max` of them, without `.` and `..`.
pub fn names(
    session: &mut Session,
    sign: &StopSign,
    path: &str,
    directory: &FileEntry,
    max: u32,
) -> Result<Vec<Vec<u8>>, RunError> {
    let mut names = Vec::new();
    let mut at = Position::default();
    let mut entries = 0;
    while names.len() < max as usize {
        check(sign)?;
        let args = readdir::Args {
            dir: directory.handle.borrow(),
            cookie: at.cookie,
            cookieverf: at.cookieverf,
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
        if page.eof {
            break;
        }
        entries += page.entries.len() as u64;
        if entries > entries_max(max) {
            return Err(endless(path, "too many names that are none"));
        }
        let last = page.entries.last().map(|entry| entry.cookie);
        let moved = at.advance(last, page.cookieverf);
        moved.map_err(|what| endless(path, what))?;
    }
    names.truncate(max as usize);
    Ok(names)
}

/// The objects in a directory, at most `max` of them.
pub fn files(
    session: &mut Session,
    sign: &StopSign,
    path: &str,
    directory: &FileEntry,
    max: u32,
    has_pattern: bool,
) -> Result<Vec<FileEntry>, RunError> {
    let mut files = Vec::new();
    let mut at = Position::default();
    let mut entries = 0;
    while files.len() < max as usize {
        check(sign)?;
        let args = readdirplus::Args {
            dir: directory.handle.borrow(),
            cookie: at.cookie,
            cookieverf: at.cookieverf,
            dircount: PAGE,
            maxcount: PAGE,
        };
        let bytes = session.call(Procedure::Readdirplus, path, &args)?;
        let page = match readdirplus::Reply::from_bytes(&bytes) {
            Ok(Ok(page)) => page,
            Ok(Err(fail)) if fail.status == Status::NOTSUPP => {
                return look_up_each(session, sign, path, directory, max, has_pattern);
            }
            Ok(Err(fail)) => return Err(failed(path, "READDIRPLUS", fail.status)),
            Err(error) => return Err(session.undecodable(Procedure::Readdirplus, path, error)),
        };
        for entry in page.entries.iter().filter(|entry| is_child(entry.name)) {
            if files.len() >= max as usize {
                break;
            }
            check(sign)?;
            match (&entry.name_attributes, &entry.name_handle) {
                (Some(attributes), Some(handle)) => {
                    files.push(entry_of(owned(*handle), attributes, has_pattern))
                }
                // The server may leave either out (RFC 1813, section 3.3.17).
                _ => files.extend(look_up(session, path, directory, entry.name, has_pattern)?),
            }
        }
        if page.eof {
            break;
        }
        entries += page.entries.len() as u64;
        if entries > entries_max(max) {
            return Err(endless(path, "too many names that are none"));
        }
        let last = page.entries.last().map(|entry| entry.cookie);
        let moved = at.advance(last, page.cookieverf);
        moved.map_err(|what| endless(path, what))?;
    }
    files.truncate(max as usize);
    Ok(files)
}

fn look_up_each(
    session: &mut Session,
    sign: &StopSign,
    path: &str,
    directory: &FileEntry,
    max: u32,
    has_pattern: bool,
) -> Result<Vec<FileEntry>, RunError> {
    let mut files = Vec::new();
    for name in names(session, sign, path, directory, max)? {
        check(sign)?;
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
