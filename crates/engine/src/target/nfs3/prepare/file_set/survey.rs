//! What of a set is there already, and right.

use super::places::{Part, Places};
use crate::error::RunError;
use crate::target::nfs3::prepare::PrepareError;
use crate::target::nfs3::tree::NfsTree;
use crate::workspace::set_removal;
use crate::workspace::tree::{Directory, Tree};
use filestone_model::client::nfs3::sequence::KnownObject as Object;
use filestone_model::file_set::{
    Changing, FILES_PER_DIRECTORY, client_of, file_of, files_directory_of, link_of,
};
use filestone_wire::nfs3::{FileType, Handle};

/// A name that comes and goes, of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spare {
    pub client: u32,
    pub changing: Changing,
    pub number: u32,
}

/// What has to be done besides making what has no handle.
#[derive(Debug, Default)]
pub struct Findings {
    /// Objects that are there, and right.
    pub found: u64,
    /// Data files of a wrong length.
    pub wrong: Vec<u32>,
    /// Names that are not there.
    pub spares: Vec<Spare>,
}

fn unexpected(path: String, expected: &'static str) -> RunError {
    PrepareError::Changed { path, expected }.into()
}

fn expect(object: &Object, file_type: FileType, path: impl Fn() -> String) -> Result<(), RunError> {
    let word = match file_type {
        FileType::Directory => "directory",
        FileType::Symlink => "symbolic link",
        _ => "file",
    };
    if object.attributes.file_type != file_type {
        return Err(unexpected(path(), word));
    }
    Ok(())
}

/// Looks for the directories of the clients.
pub fn find_clients(
    tree: &mut NfsTree<'_>,
    places: &mut Places<'_>,
    findings: &mut Findings,
) -> Result<(), RunError> {
    for (home_index, home) in places.homes.iter().enumerate() {
        let clients = places.layout.clients();
        let mut seen = Vec::new();
        let most = clients as usize;
        list(
            tree,
            &home.directory,
            |name| client_of(name).is_some_and(|client| client < clients),
            |name, object| {
                // A name is only once in a directory, unless the server lists it twice.
                if let Some(client) = client_of(name).filter(|_| seen.len() < 2 * most) {
                    seen.push((client, *object));
                }
            },
        )?;
        for (client, object) in seen {
            if places.home_index(client) == home_index {
                learn(places, findings, client, Part::Root, &object)?;
            }
        }
    }
    Ok(())
}

/// Looks for the directories in the directory of a client.
pub fn find_directories(
    tree: &mut NfsTree<'_>,
    places: &mut Places<'_>,
    findings: &mut Findings,
    client: u32,
) -> Result<(), RunError> {
    let root = places.index(client, Part::Root);
    let directories = places.layout.file_directories();
    let changing = places.changing.clone();
    let part_of = |name: &[u8]| match files_directory_of(name) {
        Some(directory) => (directory < directories).then_some(Part::Files(directory)),
        None => {
            let mut changing = changing.iter();
            changing
                .find(|changing| changing.directory().as_bytes() == name)
                .map(|changing| Part::Changing(*changing))
        }
    };
    let most = directories as usize + places.changing.len();
    find_parts(tree, places, findings, root, most, part_of)
}

/// Looks for what is in one of these directories, and takes surplus names away.
pub fn find_contents(
    tree: &mut NfsTree<'_>,
    places: &mut Places<'_>,
    findings: &mut Findings,
    index: u32,
) -> Result<(), RunError> {
    let most = FILES_PER_DIRECTORY.max(places.links()) as usize;
    match places.part(index) {
        (_, Part::Files(directory)) => {
            let first = directory * FILES_PER_DIRECTORY;
            let end = places
                .layout
                .files_per_client()
                .min(first + FILES_PER_DIRECTORY);
            let part_of = |name: &[u8]| {
                let file = file_of(name).filter(|file| (first..end).contains(file))?;
                Some(Part::File(file))
            };
            find_parts(tree, places, findings, index, most, part_of)
        }
        (client, Part::Changing(changing)) => {
            if changing == Changing::SymbolicLinks {
                let links = places.links();
                let part_of = |name: &[u8]| {
                    let link = link_of(name).filter(|link| *link < links)?;
                    Some(Part::Link(link))
                };
                find_parts(tree, places, findings, index, most, part_of)?;
            }
            if !places.changed.contains(&changing) {
                return Ok(());
            }
            let spare = Spare {
                client,
                changing,
                number: 0,
            };
            find_spares(tree, places, findings, index, spare)
        }
        (_, Part::Root | Part::File(_) | Part::Link(_)) => Ok(()),
    }
}

/// Looks for parts of a client in one of its directories; a server that lists names again and
/// again is not listened to for ever.
fn find_parts(
    tree: &mut NfsTree<'_>,
    places: &mut Places<'_>,
    findings: &mut Findings,
    directory: u32,
    most: usize,
    part_of: impl Fn(&[u8]) -> Option<Part>,
) -> Result<(), RunError> {
    let (client, _) = places.part(directory);
    let mut seen = Vec::new();
    list(
        tree,
        &places.directory(directory),
        |name| part_of(name).is_some(),
        |name, object| {
            if seen.len() < 2 * most {
                seen.extend(part_of(name).map(|part| (part, *object)));
            }
        },
    )?;
    for (part, object) in seen {
        learn(places, findings, client, part, &object)?;
    }
    Ok(())
}

/// Enters an object that is there.
fn learn(
    places: &mut Places<'_>,
    findings: &mut Findings,
    client: u32,
    part: Part,
    object: &Object,
) -> Result<(), RunError> {
    let index = places.index(client, part);
    let file_type = match part {
        Part::Root | Part::Files(_) | Part::Changing(_) => FileType::Directory,
        Part::File(_) => FileType::Regular,
        Part::Link(_) => FileType::Symlink,
    };
    expect(object, file_type, || places.path(index))?;
    if places.is_there(index) {
        return Ok(());
    }
    places.learn(index, object.handle);
    if file_type == FileType::Regular && object.attributes.size != places.len_of(index) {
        findings.wrong.push(index);
    } else {
        findings.found += 1;
    }
    Ok(())
}

/// What the names of a changing directory stand for.
fn file_type_of(changing: Changing) -> FileType {
    match changing {
        Changing::Created | Changing::Links => FileType::Regular,
        Changing::SymbolicLinks => FileType::Symlink,
        Changing::Nodes => FileType::Fifo,
        Changing::Directories => FileType::Directory,
    }
}

/// Looks for the names that are there at the start, and takes away what a run has left besides.
fn find_spares(
    tree: &mut NfsTree<'_>,
    places: &Places<'_>,
    findings: &mut Findings,
    index: u32,
    of: Spare,
) -> Result<(), RunError> {
    let changing = of.changing;
    let wanted = places.layout.spare_names();
    let mut is_there = vec![false; wanted as usize];
    let at = places.directory(index);
    let is_ours = |name: &[u8]| changing.number_of(name).is_some();
    set_removal::remove_each(tree, &at, &is_ours, |name, object| {
        let number = changing.number_of(name);
        let number = number.and_then(|number| usize::try_from(number).ok());
        let spare = number.and_then(|number| is_there.get_mut(number));
        let spare = spare.filter(|_| object.attributes.file_type == file_type_of(changing));
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
            findings.spares.push(Spare { number, ..of });
        }
    }
    Ok(())
}

/// All spare names of a directory that was made a moment ago.
pub fn all_spares(places: &Places<'_>, findings: &mut Findings, index: u32) {
    let (client, Part::Changing(changing)) = places.part(index) else {
        return;
    };
    if !places.changed.contains(&changing) {
        return;
    }
    let spares = (0..places.layout.spare_names()).map(|number| Spare {
        client,
        changing,
        number,
    });
    findings.spares.extend(spares);
}

fn list(
    tree: &mut NfsTree<'_>,
    at: &Directory<Handle>,
    is_ours: impl Fn(&[u8]) -> bool,
    mut each: impl FnMut(&[u8], &Object),
) -> Result<(), RunError> {
    Ok(tree.list(at, &is_ours, &mut |name, object| {
        each(name, &object);
        false
    })?)
}

impl Spare {
    /// Its path, for errors.
    pub fn path(&self, places: &Places<'_>) -> String {
        let directory = places.index(self.client, Part::Changing(self.changing));
        places.directory(directory).at(self.name())
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.changing.file_name(self.number.into())
    }
}
