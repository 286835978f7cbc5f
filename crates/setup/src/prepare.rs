//! Objects of a probe or a mix on a server: found or created before the run, released or removed at
//! its end.

use crate::TargetError;
use crate::file_set::{FileSet, SetFiles, SetServer};
use crate::workspace::scratch_directory::{self, REMOVE_LEFTOVER, ScratchDirectory};
use crate::workspace::tree::{FileTree, TreeDirectory};
use filestone_host::control::{Cancellation, RunContext, cancel_clean_up_on};
use filestone_host::error::RunError;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_plan::file_set::ClientSet;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::ProbePlan;
use filestone_protocol::workload::{FileEntry, ObjectKind};
use filestone_workload::operation::OpKind;
use std::sync::Arc;

/// A connection to a server, for the preparation of a probe.
pub(crate) trait ProbeServer: Sized {
    /// Handle of an object.
    type Handle: Clone;
    /// A tree of the server, over this connection.
    type Tree<'a>: FileTree<Handle = Self::Handle>
    where
        Self: 'a;

    /// Returns the tree of the server.
    fn tree(&mut self) -> Self::Tree<'_>;

    /// Lists the objects in the directory at `path`, at most the probe's limit.
    fn objects(
        preparation: &mut ProbePreparation<'_, Self>,
        directory: &Self::Handle,
        is_wanted: fn(&FileEntry) -> bool,
    ) -> Result<Vec<(Self::Handle, FileEntry)>, RunError>;

    /// Lists the names in the directory at `path`, at most `max`.
    fn names(
        &mut self,
        path: &str,
        directory: &Self::Handle,
        max: u32,
    ) -> Result<Vec<Vec<u8>>, RunError>;

    /// Creates an empty file in the scratch directory of the target at `path`.
    fn make_file(
        &mut self,
        path: &str,
        directory: &TreeDirectory<Self::Handle>,
        name: &str,
    ) -> Result<Self::Handle, RunError>;

    /// Creates a file for each client as subjects of the run, with data if they are read or copied,
    /// and adds their names if the run works on its own files only.
    fn write_files(
        preparation: &mut ProbePreparation<'_, Self>,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError>;
}

/// Preparation of a probe.
pub(crate) struct ProbePreparation<'run, S: ProbeServer> {
    pub server: &'run mut S,
    pub probe: &'run ProbePlan,
    /// Number of clients.
    pub clients: u32,
    /// Path of the target, as shown to the user.
    pub path: String,
    /// Whether files of the server contain the pattern.
    pub has_pattern: bool,
    /// Maximum size of a WRITE in bytes as reported by the server; 0 if it does not report one.
    pub write_max_bytes: u64,
    pub files: SetFiles<S::Handle>,
    pub own: Option<ScratchDirectory<S::Handle>>,
}

/// Returns the table entry of an empty object that the run creates.
pub(crate) const fn created(kind: ObjectKind) -> FileEntry {
    FileEntry {
        len: 0,
        has_pattern: matches!(kind, ObjectKind::File),
        kind,
    }
}

/// Returns the name of a client's file in the scratch directory.
pub(crate) fn own_name(client: u32) -> String {
    format!("client{client}")
}

/// Objects that an operation needs: the target itself, or several in a directory.
struct Wanted {
    is_met: fn(&FileEntry) -> bool,
    /// Error text for a single object, and the advice.
    one: &'static str,
    help: &'static str,
    /// Error text for the contents of a directory.
    several: &'static str,
}

const LINKS: Wanted = Wanted {
    is_met: |object| matches!(object.kind, ObjectKind::SymbolicLink),
    one: "a symbolic link",
    help: "name one, or a directory with some",
    several: "a symbolic link, or a directory with some",
};
const READABLE: Wanted = Wanted {
    is_met: |object| matches!(object.kind, ObjectKind::File) && object.len > 0,
    one: "a file that is not empty",
    help: "name another file",
    several: "files that are not empty",
};

impl<S: ProbeServer> ProbePreparation<'_, S> {
    /// Looks up or creates the objects of the operation; `object` is the target.
    pub fn fill(
        &mut self,
        handle: S::Handle,
        object: FileEntry,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        let is_directory = object.kind == ObjectKind::Directory;
        let root = self.files.add(handle.clone(), object);
        self.files.table.subjects = root.0..root.0 + 1;
        match self.probe.operation {
            _ if self.probe.own_files => {
                self.make_own_directory(handle, is_directory, context)?;
                S::write_files(self, context)
            }
            OpKind::GetAttr | OpKind::Access if is_directory => {
                self.visit_files(&handle, context, |_| true)?;
                // An empty directory is itself an object with attributes.
                if self.files.table.subjects.is_empty() {
                    self.files.table.subjects = root.0..root.0 + 1;
                }
                Ok(())
            }
            OpKind::Lookup if is_directory => {
                self.files.table.directory = Some(root);
                self.list_names(&handle, context)
            }
            OpKind::ReadDir | OpKind::ReadDirPlus if is_directory => {
                self.files.table.directory = Some(root);
                Ok(())
            }
            OpKind::Lookup | OpKind::ReadDir | OpKind::ReadDirPlus => {
                let help = "name the directory that the file is in";
                Err(self.wrong_object("a directory", help))
            }
            OpKind::ReadLink => self.find_subjects(&handle, object, context, &LINKS),
            OpKind::Read => self.find_subjects(&handle, object, context, &READABLE),
            OpKind::SetAttr | OpKind::Write | OpKind::Commit | OpKind::Link | OpKind::Lock => {
                self.make_own_directory(handle, is_directory, context)?;
                self.make_own_files(context)
            }
            OpKind::Copy => {
                self.make_own_directory(handle, is_directory, context)?;
                S::write_files(self, context)?;
                self.make_own_files(context)
            }
            OpKind::Create
            | OpKind::MkDir
            | OpKind::SymLink
            | OpKind::MkNod
            | OpKind::Remove
            | OpKind::RmDir
            | OpKind::Rename
            | OpKind::Notify => self.make_own_directory(handle, is_directory, context),
            // The remaining operations concern the server, or the target itself.
            _ => Ok(()),
        }
    }

    /// Returns the error for a target of the wrong type.
    fn wrong_object(&self, needs: &'static str, help: &'static str) -> RunError {
        TargetError::WrongObject {
            path: self.path.clone(),
            operation: self.probe.operation,
            needs,
            help,
        }
        .into()
    }

    /// Uses the object itself, or those in the directory, as subjects if they have the required
    /// type.
    fn find_subjects(
        &mut self,
        handle: &S::Handle,
        object: FileEntry,
        context: &mut RunContext<'_>,
        wanted: &Wanted,
    ) -> Result<(), RunError> {
        if object.kind != ObjectKind::Directory {
            let refused = || self.wrong_object(wanted.one, wanted.help);
            return (wanted.is_met)(&object).then_some(()).ok_or_else(refused);
        }
        self.visit_files(handle, context, wanted.is_met)?;
        if self.files.table.subjects.is_empty() {
            let help = "the directory has none; name another";
            return Err(self.wrong_object(wanted.several, help));
        }
        Ok(())
    }

    /// Uses the files of a directory as subjects of the run.
    fn visit_files(
        &mut self,
        directory: &S::Handle,
        context: &mut RunContext<'_>,
        is_wanted: fn(&FileEntry) -> bool,
    ) -> Result<(), RunError> {
        context.preparing(&format!("looking up the files of {}", self.path));
        let first = self.files.table.len();
        for (handle, entry) in S::objects(self, directory, is_wanted)? {
            self.files.add(handle, entry);
        }
        self.files.table.subjects = first..self.files.table.len();
        Ok(())
    }

    fn list_names(
        &mut self,
        directory: &S::Handle,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        context.preparing(&format!("listing {}", self.path));
        let max = self.probe.files_max;
        for name in self.server.names(&self.path, directory, max)? {
            self.files.table.add_name(&name);
        }
        if self.files.table.name_count() == 0 {
            let help = "name a directory that is not empty";
            return Err(self.wrong_object("a directory with something in it", help));
        }
        Ok(())
    }

    fn make_own_directory(
        &mut self,
        parent: S::Handle,
        is_directory: bool,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        if !is_directory {
            let help =
                "the run makes a directory there and removes it again; nothing else is touched";
            return Err(self.wrong_object("a directory to work in", help));
        }
        let path = &self.path;
        context.preparing(&format!("making a directory for the run in {path}"));
        let parent = scratch_directory::under_test(path, parent);
        let mut tree = self.server.tree();
        let left = scratch_directory::find_left_over(&mut tree, &parent, self.probe.left_over)?;
        if let Some(remark) = left.note() {
            context.observer.note(&remark);
        }
        let made = MadeNames::of_probe(self.clients);
        let own = ScratchDirectory::make(&mut tree, parent, made)?;
        let handle = own.directory.handle.clone();
        let directory = self.files.add(handle, created(ObjectKind::Directory));
        self.files.table.directory = Some(directory);
        self.own = Some(own);
        Ok(())
    }

    /// Creates an empty file for each client.
    pub fn make_own_files(&mut self, context: &mut RunContext<'_>) -> Result<(), RunError> {
        context.preparing(&format!("making {} files for the run", self.clients));
        let Some(own) = &self.own else { return Ok(()) };
        let first = self.files.table.len();
        for client in 0..self.clients {
            context.check_cancelled()?;
            let (path, directory) = (&self.path, &own.directory);
            let handle = self.server.make_file(path, directory, &own_name(client))?;
            self.files.add(handle, created(ObjectKind::File));
        }
        self.files.table.own_files = first..self.files.table.len();
        Ok(())
    }

    /// Returns the number of objects or names that the operations refer to.
    pub fn count(&self) -> u64 {
        let table = &self.files.table;
        u64::from(table.subjects.end - table.subjects.start).max(table.name_count().into())
    }
}

/// Objects that a run removes or releases at its end.
pub struct RunObjects<H> {
    /// Scratch directory of a probe.
    pub(crate) own: Option<ScratchDirectory<H>>,
    /// File set of a mix, and whether it is removed.
    pub(crate) file_set: Option<(FileSet<H>, bool)>,
}

impl<H: Clone + PartialEq> RunObjects<H> {
    /// Returns the description of the file set.
    pub fn record(&self) -> Option<FileSetRecord> {
        self.file_set.as_ref().map(|(set, _)| set.record.clone())
    }

    /// Returns the clients' parts of the file set, if there is one.
    pub fn sets(&self) -> Arc<[ClientSet]> {
        let set = self.file_set.as_ref();
        set.map_or_else(Arc::default, |(set, _)| set.clients.clone().into())
    }

    /// Returns the scratch directory of a probe, if there is one.
    pub fn directory(&self) -> Option<&H> {
        self.own.as_ref().map(|own| &own.directory.handle)
    }

    /// Returns the path of the scratch directory or file set, if there is one.
    pub fn path(&self) -> Option<&str> {
        let set = self.file_set.as_ref();
        let set = set.and_then(|(set, _)| set.record.paths.first());
        let own = self.own.as_ref().map(ScratchDirectory::path);
        own.or(set.map(String::as_str))
    }

    /// Removes the scratch directory with its contents, and releases the file set or removes it if
    /// requested.
    ///
    /// The connection may have been lost with the server, so another one is made. A stop of the run
    /// does not prevent the clean-up, but limits its time; another stop during the clean-up aborts
    /// it.
    pub(crate) fn clean_up<S: SetServer<Handle = H>>(
        &mut self,
        server: &S,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        if let Some((set, removes)) = &mut self.file_set {
            set.end(server, *removes, context)?;
        }
        let Some(own) = self.own.take() else {
            return Ok(());
        };
        context.preparing("cleaning up");
        let cancellation = Cancellation::default();
        let limits = own.limits(server.timeout());
        cancel_clean_up_on(context.stop, limits, &cancellation, || {
            server.on_small_tree(&cancellation, |tree| own.remove(tree))
        })
    }

    /// Cleans up after a failed preparation; returns its error with the remains.
    pub(crate) fn fail<S: SetServer<Handle = H>>(
        &mut self,
        error: RunError,
        server: &S,
        context: &mut RunContext<'_>,
    ) -> RunError {
        let path = self.path().unwrap_or_default().to_owned();
        match self.clean_up(server, context) {
            Ok(()) => error,
            Err(kept) => error.leaving(&path, &kept, REMOVE_LEFTOVER),
        }
    }
}
