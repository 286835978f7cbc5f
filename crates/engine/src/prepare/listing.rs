//! What is in a directory, before the run: names, and handles with attributes.

use super::entry_of;
use crate::control::Cancellation;
use crate::error::RunError;
use crate::nfs3::session::{Session, failed, owned};
use crate::workspace::nfs::listing::Position;
use crate::workspace::tree::join;
use filestone_model::workload::FileEntry;
use filestone_wire::nfs3::{Procedure, Status, Verifier, readdir, readdirplus};
use filestone_wire::xdr::Decode;

/// Where a listing of a directory is, page after page, up to a bound: a server may make one up
/// as it goes.
struct Walk<'path> {
    path: &'path str,
    at: Position,
    entries: u64,
    entries_max: u64,
}

impl<'path> Walk<'path> {
    /// At the first page of a listing from which `max` entries are wanted. More are looked at:
    /// those that are gone when they are looked up, or that are none.
    fn new(path: &'path str, max: u32) -> Self {
        Self {
            path,
            at: Position::default(),
            entries: 0,
            entries_max: 10 * (u64::from(max) + 1000),
        }
    }

    /// Moves on after a page with these cookies.
    fn advance(
        &mut self,
        cookies: impl Iterator<Item = u64>,
        cookieverf: Verifier,
    ) -> Result<(), RunError> {
        let mut last = None;
        for cookie in cookies {
            last = Some(cookie);
            self.entries += 1;
        }
        let moved = match self.entries > self.entries_max {
            true => Err("too many names that are none"),
            false => self.at.advance(last, cookieverf),
        };
        moved.map_err(|what| self.endless(what))
    }

    /// A listing that leads nowhere.
    fn endless(&self, what: &str) -> RunError {
        let path = self.path;
        RunError::Unsuitable(
            format!("{path}: {what}: the server does not come to the end of it"),
            Some("name another directory, or ask for fewer files".into()),
        )
    }
}

/// Bytes asked for per page.
const PAGE: u32 = 32 << 10;

/// The names in a directory, at most `max` of them, without `.` and `..`.
pub fn names(
    session: &mut Session,
    sign: &Cancellation,
    path: &str,
    directory: &FileEntry,
    max: u32,
) -> Result<Vec<Vec<u8>>, RunError> {
    let mut names = Vec::new();
    let mut walk = Walk::new(path, max);
    while names.len() < max as usize {
        sign.go_on()?;
        let args = readdir::Args {
            dir: directory.handle.borrow(),
            cookie: walk.at.start.cookie,
            cookieverf: walk.at.start.cookieverf,
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
        let cookies = page.entries.iter().map(|entry| entry.cookie);
        walk.advance(cookies, page.cookieverf)?;
    }
    names.truncate(max as usize);
    Ok(names)
}

/// The objects in a directory, at most `max` of them.
pub fn files(
    session: &mut Session,
    sign: &Cancellation,
    path: &str,
    directory: &FileEntry,
    max: u32,
    has_pattern: bool,
) -> Result<Vec<FileEntry>, RunError> {
    let mut files = Vec::new();
    let mut walk = Walk::new(path, max);
    while files.len() < max as usize {
        sign.go_on()?;
        let args = readdirplus::Args {
            dir: directory.handle.borrow(),
            cookie: walk.at.start.cookie,
            cookieverf: walk.at.start.cookieverf,
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
            sign.go_on()?;
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
        let cookies = page.entries.iter().map(|entry| entry.cookie);
        walk.advance(cookies, page.cookieverf)?;
    }
    files.truncate(max as usize);
    Ok(files)
}

fn look_up_each(
    session: &mut Session,
    sign: &Cancellation,
    path: &str,
    directory: &FileEntry,
    max: u32,
    has_pattern: bool,
) -> Result<Vec<FileEntry>, RunError> {
    let mut files = Vec::new();
    for name in names(session, sign, path, directory, max)? {
        sign.go_on()?;
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
    let path = join(path, name);
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
