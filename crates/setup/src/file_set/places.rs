//! Positions of a set's objects in the file table, on the server, and in errors.
//!
//! The table contains the clients one after the other, and for each client: its directory, the
//! directories of its data files, its volatile directories, the data files, the symbolic links.
//! Volatile names are not in the table.

use crate::workspace::Purpose;
use crate::workspace::set_directory::SetDirectory;
use crate::workspace::tree::{TreeDirectory, join};
use filestone_plan::file_set::{
    ChangingDirectories, ClientSet, FILES_PER_DIRECTORY, Layout, VolatileDirectory,
    client_directory, file_name, files_directory, link_name,
};
use filestone_protocol::workload::{FileEntry, ObjectKind};
use filestone_workload::operation::{FileId, OpKind};

/// An object of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetObjectKind {
    /// A client's directory.
    Root,
    /// A directory of data files.
    Files(u32),
    /// A volatile directory: names in it are created and removed.
    Changing(VolatileDirectory),
    /// A data file.
    File(u32),
    /// A permanent symbolic link.
    Link(u32),
}

/// A volatile name of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpareName {
    pub client: u32,
    pub changing: VolatileDirectory,
    pub number: u32,
}

impl SpareName {
    /// Returns the table index of its directory.
    pub fn directory<H: Clone>(&self, places: &ObjectTable<'_, H>) -> u32 {
        places.index(self.client, SetObjectKind::Changing(self.changing))
    }

    /// Returns its path, for errors.
    pub fn path<H: Clone>(&self, places: &ObjectTable<'_, H>) -> String {
        join(&places.path(self.directory(places)), self.name().as_bytes())
    }

    /// Returns its name.
    pub fn name(&self) -> String {
        self.changing.file_name(self.number.into())
    }
}

/// An object of a set.
#[derive(Debug, Clone)]
pub(crate) struct SetObject<H> {
    /// Handle on the server; `None` if the object does not exist yet.
    pub handle: Option<H>,
    /// The object as operations refer to it.
    pub entry: FileEntry,
}

/// The objects of a set, in the order of the file table.
pub(crate) struct ObjectTable<'a, H> {
    pub layout: &'a Layout,
    /// The volatile directories in use.
    pub changing: Vec<VolatileDirectory>,
    /// The volatile directories that the run's operations change.
    pub changed: Vec<VolatileDirectory>,
    pub homes: &'a [SetDirectory<H>],
    /// For each given directory the index of its claim in `homes`.
    pub home_of_root: &'a [usize],
    links: u32,
    entries: Vec<SetObject<H>>,
}

impl<'a, H: Clone> ObjectTable<'a, H> {
    pub fn new(
        layout: &'a Layout,
        kinds: &[OpKind],
        homes: &'a [SetDirectory<H>],
        home_of_root: &'a [usize],
    ) -> Self {
        let all = VolatileDirectory::ALL.into_iter();
        let mut places = Self {
            layout,
            changing: all.clone().filter(|one| one.is_needed_by(kinds)).collect(),
            changed: all.filter(|one| one.is_changed_by(kinds)).collect(),
            homes,
            home_of_root,
            links: layout.symbolic_links(kinds),
            entries: Vec::new(),
        };
        for client in 0..layout.clients() {
            places.add_client(client);
        }
        places
    }

    fn add_client(&mut self, client: u32) {
        let entry = |kind, len| SetObject {
            handle: None,
            entry: FileEntry {
                len,
                kind,
                has_pattern: kind == ObjectKind::File,
            },
        };
        let directories = 1 + self.layout.file_directories() as usize + self.changing.len();
        let directory = entry(ObjectKind::Directory, 0);
        self.entries
            .extend(std::iter::repeat_n(directory, directories));
        let lengths = self.layout.lengths(client);
        self.entries
            .extend(lengths.map(|len| entry(ObjectKind::File, len)));
        let link = entry(ObjectKind::SymbolicLink, 0);
        self.entries
            .extend(std::iter::repeat_n(link, self.links as usize));
    }

    /// Returns the number of objects per client.
    fn stride(&self) -> u32 {
        self.first_link() + self.links
    }

    fn first_file(&self) -> u32 {
        1 + self.layout.file_directories() + self.changing.len() as u32
    }

    fn first_link(&self) -> u32 {
        self.first_file() + self.layout.files_per_client()
    }

    /// Returns the number of objects.
    pub fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the number of symbolic links per client.
    pub fn links(&self) -> u32 {
        self.links
    }

    /// Returns the table index of a part of a client.
    pub fn index(&self, client: u32, part: SetObjectKind) -> u32 {
        let changing = |one| self.changing.iter().position(|other| *other == one);
        let place = match part {
            SetObjectKind::Root => 0,
            SetObjectKind::Files(directory) => 1 + directory,
            // Unneeded parts are not requested.
            SetObjectKind::Changing(one) => match changing(one) {
                Some(place) => 1 + self.layout.file_directories() + place as u32,
                None => 0,
            },
            SetObjectKind::File(file) => self.first_file() + file,
            SetObjectKind::Link(link) => self.first_link() + link,
        };
        client * self.stride() + place
    }

    /// Returns the client and the part at an index.
    pub fn part(&self, index: u32) -> (u32, SetObjectKind) {
        let (client, place) = (index / self.stride(), index % self.stride());
        let directories = self.layout.file_directories();
        let part = if place == 0 {
            SetObjectKind::Root
        } else if place <= directories {
            SetObjectKind::Files(place - 1)
        } else if place < self.first_file() {
            let changing = self.changing.get((place - 1 - directories) as usize);
            changing.map_or(SetObjectKind::Root, |one| SetObjectKind::Changing(*one))
        } else if place < self.first_link() {
            SetObjectKind::File(place - self.first_file())
        } else {
            SetObjectKind::Link(place - self.first_link())
        };
        (client, part)
    }

    /// Returns the handle of an object; `None` if it does not exist yet.
    pub fn handle(&self, index: u32) -> Option<&H> {
        let placed = self.entries.get(index as usize);
        placed.and_then(|placed| placed.handle.as_ref())
    }

    /// Returns whether an object exists.
    pub fn exists(&self, index: u32) -> bool {
        self.handle(index).is_some()
    }

    /// Stores the handle of an object that exists.
    pub fn record_handle(&mut self, index: u32, handle: H) {
        if let Some(placed) = self.entries.get_mut(index as usize) {
            placed.handle = Some(handle);
        }
    }

    /// Returns the required length of a data file.
    pub fn len_of(&self, index: u32) -> u64 {
        let placed = self.entries.get(index as usize);
        placed.map_or(0, |placed| placed.entry.len)
    }

    /// Returns the handle of an object's directory.
    pub fn parent(&self, index: u32) -> Option<&H> {
        let (client, part) = self.part(index);
        match self.parent_part(part) {
            None => self.home(client).map(|home| &home.directory.handle),
            Some(parent) => self.handle(self.index(client, parent)),
        }
    }

    fn parent_part(&self, part: SetObjectKind) -> Option<SetObjectKind> {
        match part {
            SetObjectKind::Root => None,
            SetObjectKind::Files(_) | SetObjectKind::Changing(_) => Some(SetObjectKind::Root),
            SetObjectKind::File(file) => Some(SetObjectKind::Files(file / FILES_PER_DIRECTORY)),
            SetObjectKind::Link(_) => {
                Some(SetObjectKind::Changing(VolatileDirectory::SymbolicLinks))
            }
        }
    }

    /// Returns the name of an object in its directory.
    pub fn name(&self, index: u32) -> String {
        let (client, part) = self.part(index);
        self.name_of(client, part)
    }

    fn name_of(&self, client: u32, part: SetObjectKind) -> String {
        match part {
            SetObjectKind::Root => client_directory(client),
            SetObjectKind::Files(directory) => files_directory(directory),
            SetObjectKind::Changing(changing) => changing.directory().into(),
            SetObjectKind::File(file) => file_name(file),
            SetObjectKind::Link(link) => link_name(link),
        }
    }

    /// Returns the path of an object, for errors.
    pub fn path(&self, index: u32) -> String {
        let (client, part) = self.part(index);
        let mut parts = vec![part];
        while let Some(parent) = parts.last().and_then(|part| self.parent_part(*part)) {
            parts.push(parent);
        }
        let home = self
            .home(client)
            .map_or("", |home| home.directory.path.as_str());
        parts.iter().rev().fold(home.to_owned(), |path, part| {
            join(&path, self.name_of(client, *part).as_bytes())
        })
    }

    /// Returns a directory of the table for listing; `None` if it does not exist yet.
    pub fn directory(&self, index: u32) -> Option<TreeDirectory<H>> {
        Some(TreeDirectory {
            handle: self.handle(index)?.clone(),
            path: self.path(index),
            purpose: Purpose::FileSet,
        })
    }

    /// Returns the index in `homes` of a client's claim.
    pub fn home_index(&self, client: u32) -> usize {
        let place = self.layout.directory_of(client, self.home_of_root.len());
        let home = self.home_of_root.get(place);
        home.copied().unwrap_or_default()
    }

    fn home(&self, client: u32) -> Option<&SetDirectory<H>> {
        self.homes.get(self.home_index(client))
    }

    /// Returns the objects in the order of the file table, and for each client the positions of its
    /// objects.
    pub fn finish(self) -> (Vec<SetObject<H>>, Vec<ClientSet>) {
        let sets = (0..self.layout.clients()).map(|client| self.set_of(client));
        let sets = sets.collect();
        (self.entries, sets)
    }

    fn set_of(&self, client: u32) -> ClientSet {
        let at = |part| self.index(client, part);
        let changing = |one| FileId(at(SetObjectKind::Changing(one)));
        let files = self.layout.files_per_client();
        let first_directory = at(SetObjectKind::Root) + 1;
        ClientSet {
            root: FileId(at(SetObjectKind::Root)),
            directories: first_directory..first_directory + self.layout.file_directories(),
            files: at(SetObjectKind::File(0))..at(SetObjectKind::File(files)),
            names: 0..files,
            working_files: self.layout.working_files(client),
            symbolic_links: at(SetObjectKind::Link(0))..at(SetObjectKind::Link(self.links)),
            changing: ChangingDirectories {
                created: changing(VolatileDirectory::Created),
                links: changing(VolatileDirectory::Links),
                symbolic_links: changing(VolatileDirectory::SymbolicLinks),
                nodes: changing(VolatileDirectory::Nodes),
                directories: changing(VolatileDirectory::Directories),
            },
            spare_names: self.layout.spare_names(),
        }
    }
}
