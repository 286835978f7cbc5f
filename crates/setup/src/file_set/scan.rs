//! Search for objects of a set that exist and are correct.

use super::places::{ObjectTable, SetObjectKind, SpareName};
use super::server::{ExistingObject, SetServer};
use crate::workspace::ClaimError;
use crate::workspace::set_removal;
use crate::workspace::tree::{FileTree, TreeDirectory};
use filestone_host::error::RunError;
use filestone_plan::file_set::{
    FILES_PER_DIRECTORY, VolatileDirectory, client_of, file_of, files_directory_of, link_of,
};
use filestone_protocol::workload::ObjectKind;

/// Repairs of a set, in addition to making the objects that have no handle.
#[derive(Debug, Default)]
pub(crate) struct RepairList {
    /// Number of objects that exist and are correct.
    pub found: u64,
    /// Data files of a wrong length.
    pub wrong: Vec<u32>,
    /// Missing names.
    pub spares: Vec<SpareName>,
}

fn expect<H>(
    seen: &ExistingObject<H>,
    kind: ObjectKind,
    path: impl Fn() -> String,
) -> Result<(), RunError> {
    if seen.kind == kind {
        return Ok(());
    }
    let (path, expected) = (path(), kind.name());
    Err(ClaimError::Changed { path, expected }.into())
}

/// Searches for the clients' directories.
pub(crate) fn find_clients<S: SetServer>(
    tree: &mut S::Tree<'_>,
    places: &mut ObjectTable<'_, S::Handle>,
    findings: &mut RepairList,
) -> Result<(), RunError> {
    for (home_index, home) in places.homes.iter().enumerate() {
        let clients = places.layout.clients();
        let mut seen = Vec::new();
        let most = clients as usize;
        list::<S>(
            tree,
            &home.directory,
            |name| client_of(name).is_some_and(|client| client < clients),
            |name, found| {
                // A directory contains a name only once, unless the server lists it twice.
                if let Some(client) = client_of(name).filter(|_| seen.len() < 2 * most) {
                    seen.push((client, found));
                }
            },
        )?;
        for (client, found) in seen {
            if places.home_index(client) == home_index {
                record_object(places, findings, client, SetObjectKind::Root, found)?;
            }
        }
    }
    Ok(())
}

/// Searches for the directories in a client's directory.
pub(crate) fn find_directories<S: SetServer>(
    tree: &mut S::Tree<'_>,
    places: &mut ObjectTable<'_, S::Handle>,
    findings: &mut RepairList,
    client: u32,
) -> Result<(), RunError> {
    let root = places.index(client, SetObjectKind::Root);
    let directories = places.layout.file_directories();
    let changing = places.changing.clone();
    let part_of = |name: &[u8]| match files_directory_of(name) {
        Some(directory) => (directory < directories).then_some(SetObjectKind::Files(directory)),
        None => {
            let mut changing = changing.iter();
            changing
                .find(|changing| changing.directory().as_bytes() == name)
                .map(|changing| SetObjectKind::Changing(*changing))
        }
    };
    let most = directories as usize + places.changing.len();
    find_parts::<S>(tree, places, findings, root, most, part_of)
}

/// Searches for the contents of one of these directories, and removes surplus names.
pub(crate) fn find_contents<S: SetServer>(
    tree: &mut S::Tree<'_>,
    places: &mut ObjectTable<'_, S::Handle>,
    findings: &mut RepairList,
    index: u32,
) -> Result<(), RunError> {
    let most = FILES_PER_DIRECTORY.max(places.links()) as usize;
    match places.part(index) {
        (_, SetObjectKind::Files(directory)) => {
            let first = directory * FILES_PER_DIRECTORY;
            let end = places
                .layout
                .files_per_client()
                .min(first + FILES_PER_DIRECTORY);
            let part_of = |name: &[u8]| {
                let file = file_of(name).filter(|file| (first..end).contains(file))?;
                Some(SetObjectKind::File(file))
            };
            find_parts::<S>(tree, places, findings, index, most, part_of)
        }
        (client, SetObjectKind::Changing(changing)) => {
            if changing == VolatileDirectory::SymbolicLinks {
                let links = places.links();
                let part_of = |name: &[u8]| {
                    let link = link_of(name).filter(|link| *link < links)?;
                    Some(SetObjectKind::Link(link))
                };
                find_parts::<S>(tree, places, findings, index, most, part_of)?;
            }
            if !places.changed.contains(&changing) {
                return Ok(());
            }
            let spare = SpareName {
                client,
                changing,
                number: 0,
            };
            find_spares::<S>(tree, places, findings, index, spare)
        }
        (_, SetObjectKind::Root | SetObjectKind::File(_) | SetObjectKind::Link(_)) => Ok(()),
    }
}

/// Searches for parts of a client in one of its directories; stops at a limit if a server lists
/// names again and again.
fn find_parts<S: SetServer>(
    tree: &mut S::Tree<'_>,
    places: &mut ObjectTable<'_, S::Handle>,
    findings: &mut RepairList,
    directory: u32,
    most: usize,
    part_of: impl Fn(&[u8]) -> Option<SetObjectKind>,
) -> Result<(), RunError> {
    let (client, _) = places.part(directory);
    let Some(at) = places.directory(directory) else {
        return Ok(());
    };
    let mut seen = Vec::new();
    list::<S>(
        tree,
        &at,
        |name| part_of(name).is_some(),
        |name, found| {
            if seen.len() < 2 * most {
                seen.extend(part_of(name).map(|part| (part, found)));
            }
        },
    )?;
    for (part, found) in seen {
        record_object(places, findings, client, part, found)?;
    }
    Ok(())
}

/// Enters an object that exists.
fn record_object<H: Clone>(
    places: &mut ObjectTable<'_, H>,
    findings: &mut RepairList,
    client: u32,
    part: SetObjectKind,
    seen: ExistingObject<H>,
) -> Result<(), RunError> {
    let index = places.index(client, part);
    let kind = match part {
        SetObjectKind::Root | SetObjectKind::Files(_) | SetObjectKind::Changing(_) => {
            ObjectKind::Directory
        }
        SetObjectKind::File(_) => ObjectKind::File,
        SetObjectKind::Link(_) => ObjectKind::SymbolicLink,
    };
    expect(&seen, kind, || places.path(index))?;
    if places.exists(index) {
        return Ok(());
    }
    places.record_handle(index, seen.handle);
    if kind == ObjectKind::File && seen.len != places.len_of(index) {
        findings.wrong.push(index);
    } else {
        findings.found += 1;
    }
    Ok(())
}

/// Returns the kind of the objects in a volatile directory.
fn kind_of(changing: VolatileDirectory) -> ObjectKind {
    match changing {
        VolatileDirectory::Created | VolatileDirectory::Links => ObjectKind::File,
        VolatileDirectory::SymbolicLinks => ObjectKind::SymbolicLink,
        VolatileDirectory::Nodes => ObjectKind::Other,
        VolatileDirectory::Directories => ObjectKind::Directory,
    }
}

/// Searches for the names that exist at the start of a run, and removes other names that a run has
/// left.
fn find_spares<S: SetServer>(
    tree: &mut S::Tree<'_>,
    places: &ObjectTable<'_, S::Handle>,
    findings: &mut RepairList,
    index: u32,
    of: SpareName,
) -> Result<(), RunError> {
    let changing = of.changing;
    let wanted = places.layout.spare_names();
    let mut is_there = vec![false; wanted as usize];
    let Some(at) = places.directory(index) else {
        return Ok(());
    };
    let is_ours = |name: &[u8]| changing.number_of(name).is_some();
    set_removal::remove_each(tree, &at, &is_ours, |name, entry| {
        let number = changing.number_of(name);
        let number = number.and_then(|number| usize::try_from(number).ok());
        let spare = number.and_then(|number| is_there.get_mut(number));
        let spare = spare.filter(|_| S::seen(&at, name, entry).kind == kind_of(changing));
        let is_wanted = spare.is_some();
        if let Some(is_there) = spare {
            *is_there = true;
        }
        !is_wanted
    })?;
    for (number, is_there) in (0..wanted).zip(is_there) {
        if is_there {
            findings.found += 1;
        } else {
            findings.spares.push(SpareName { number, ..of });
        }
    }
    Ok(())
}

/// Adds all spare names of a directory that was just made.
pub(crate) fn all_spares<H: Clone>(
    places: &ObjectTable<'_, H>,
    findings: &mut RepairList,
    index: u32,
) {
    let (client, SetObjectKind::Changing(changing)) = places.part(index) else {
        return;
    };
    if !places.changed.contains(&changing) {
        return;
    }
    let spares = (0..places.layout.spare_names()).map(|number| SpareName {
        client,
        changing,
        number,
    });
    findings.spares.extend(spares);
}

fn list<S: SetServer>(
    tree: &mut S::Tree<'_>,
    at: &TreeDirectory<S::Handle>,
    is_ours: impl Fn(&[u8]) -> bool,
    mut each: impl FnMut(&[u8], ExistingObject<S::Handle>),
) -> Result<(), RunError> {
    Ok(tree.list(at, &is_ours, &mut |name, entry| {
        each(name, S::seen(at, name, entry));
        false
    })?)
}
