//! What is in a directory, with the kind, the length and the handle of each object.

use crate::nfs3::calls::{Nfs, Outcome};
use crate::workspace::nfs::listing::Position;
use filestone_wire::nfs3::{Fattr3, FileType, Handle, Procedure, Status};

/// Bytes of a page.
const PAGE: u32 = 32 << 10;

/// An object of the server.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// Its handle.
    pub handle: Handle,
    /// What it is.
    pub file_type: FileType,
    /// Its length in bytes.
    pub len: u64,
}

impl Object {
    fn new(handle: Handle, attributes: &Fattr3) -> Self {
        Self {
            handle,
            file_type: attributes.file_type,
            len: attributes.size,
        }
    }
}

/// The object of this name; `None` if there is none.
pub fn find(nfs: &mut Nfs, directory: &Handle, name: &[u8]) -> Outcome<Option<Object>> {
    let found = nfs.find_object(directory, name)?;
    Ok(found.map(|(handle, attributes)| Object::new(handle, &attributes)))
}

/// Shows `each` what is in `directory`, until it has seen enough and says so.
///
/// A server may leave out what READDIRPLUS asks for, or not know that procedure (RFC 1813,
/// section 3.3.17): then each name that `is_ours` is looked up.
pub fn list(
    nfs: &mut Nfs,
    directory: &Handle,
    is_ours: impl Fn(&[u8]) -> bool,
    mut each: impl FnMut(&[u8], &Object) -> bool,
) -> Outcome<()> {
    let mut at = Position::default();
    loop {
        let (page, next) = match plus_page(nfs, directory, &at, &is_ours) {
            Err(failure) if failure.is(Status::NOTSUPP) => {
                plain_page(nfs, directory, &at, &is_ours)?
            }
            page => page?,
        };
        for (name, object) in page {
            let object = match object {
                Some(object) => object,
                None => {
                    nfs.0.go_on()?;
                    match find(nfs, directory, &name)? {
                        Some(object) => object,
                        None => continue,
                    }
                }
            };
            if each(&name, &object) {
                return Ok(());
            }
        }
        let Some((last_cookie, cookieverf)) = next else {
            return Ok(());
        };
        let moved = at.advance(last_cookie, cookieverf);
        moved.map_err(|what| nfs.violated(Procedure::Readdirplus, what))?;
        nfs.0.go_on()?;
    }
}

/// The names of a page that are ours, and where the next page begins, if there is one.
type Page = (
    Vec<(Box<[u8]>, Option<Object>)>,
    Option<(Option<u64>, [u8; 8])>,
);

fn plus_page(
    nfs: &mut Nfs,
    directory: &Handle,
    at: &Position,
    is_ours: &impl Fn(&[u8]) -> bool,
) -> Outcome<Page> {
    let page = nfs.entries_page(directory, (at.cookie, at.cookieverf), PAGE)?;
    let ours = page.entries.iter().filter(|entry| is_ours(entry.name));
    let names = ours.map(|entry| {
        let object = match (entry.name_handle, &entry.name_attributes) {
            (Some(handle), Some(attributes)) => Some(Object::new(handle.into(), attributes)),
            _ => None,
        };
        (entry.name.into(), object)
    });
    let last = page.entries.last().map(|entry| entry.cookie);
    let next = (!page.eof).then_some((last, page.cookieverf));
    Ok((names.collect(), next))
}

fn plain_page(
    nfs: &mut Nfs,
    directory: &Handle,
    at: &Position,
    is_ours: &impl Fn(&[u8]) -> bool,
) -> Outcome<Page> {
    let page = nfs.names_page(directory, (at.cookie, at.cookieverf), PAGE)?;
    let ours = page.entries.iter().filter(|entry| is_ours(entry.name));
    let names = ours.map(|entry| (entry.name.into(), None)).collect();
    let last = page.entries.last().map(|entry| entry.cookie);
    let next = (!page.eof).then_some((last, page.cookieverf));
    Ok((names, next))
}
