//! Preparation and clean-up of a run: finds the server, mounts, looks up the objects of the
//! operations, creates a scratch directory if the run changes files, and removes it at the end.

mod error;
pub mod file_set;
mod files;
mod listing;
mod mix;
mod own_files;

pub use crate::protocols::nfs3::Session;
pub use error::PrepareError;
pub use files::{FoundFile, FoundFiles};
pub use mix::{prepare_mix, reclaim_mix};

use crate::control::{Cancellation, Context, cancel_clean_up_on};
use crate::driver::Dial;
use crate::error::RunError;
use crate::protocols::nfs3::mount::{self, Caller};
use crate::protocols::nfs3::session::at_path;
use crate::protocols::nfs3::tree::NfsTree;
use crate::workspace::scratch_directory::{self, REMOVE_LEFTOVER, ScratchDirectory};
use file_set::FileSet;
use filestone_measure::measure::run_record::Target;
use filestone_plan::made::MadeNames;
use filestone_plan::plan::ProbeRun;
use filestone_protocol::workload::ObjectKind;
use filestone_wire::nfs3::{Fattr3, FileType, Handle, Procedure};
use filestone_workload::operation::{FileId, OpKind};
use std::net::SocketAddr;
use std::time::Duration;

/// The prepared target of a run.
pub struct Prepared {
    /// Address and parameters for the clients' connections.
    pub dial: Dial,
    /// Files and names.
    pub files: FoundFiles,
    /// Description of the target for the record.
    pub target: Target,
    session: Session,
    own: Option<ScratchDirectory<Handle>>,
    /// File set of a mix, and whether it is removed at the end.
    file_set: Option<(FileSet, bool)>,
}

/// Finds the target of a plan and looks up the objects of its operations.
pub fn prepare(
    plan: &ProbeRun<'_>,
    built_in: Option<SocketAddr>,
    context: &mut Context<'_>,
) -> Result<Prepared, RunError> {
    context.cancellable(|context| prepare_probe(plan, built_in, context))
}

fn prepare_probe(
    plan: &ProbeRun<'_>,
    built_in: Option<SocketAddr>,
    context: &mut Context<'_>,
) -> Result<Prepared, RunError> {
    context.preparing(&format!("mounting {}", plan.target.path));
    let caller = Caller {
        wants_link: plan.probe.operation == OpKind::ReadLink,
        ..Caller::new(plan, plan.target)
    };
    let (mut session, mounted) = mount::mount_until(&caller, built_in, &context.cancellation)?;
    if !asks_of_any_object(plan.probe.operation) {
        mounted.refuse_link(&mut session, plan.target)?;
    }
    session
        .connection
        .reconnect_for(Duration::from_nanos(plan.reconnect_ns));
    let object = FoundFile {
        handle: mounted.handle,
        len: mounted.attributes.size,
        kind: kind_of(mounted.attributes.file_type),
        has_pattern: built_in.is_some(),
    };
    let mut prepared = Prepared {
        dial: *session.dial(),
        files: FoundFiles::default(),
        target: Target {
            mounts: vec![],
            address: session.dial().address.to_string(),
            built_in: built_in.is_some(),
            local: session.connection.is_local(),
            export: mounted.export,
            walked: mounted.walked,
            object: object.kind.name().into(),
            object_bytes: object.len,
            files: 0,
            read_max_bytes: 0,
            write_max_bytes: 0,
            link_mbit_per_s: None,
            namespace_link: None,
            session: None,
        },
        own: None,
        file_set: None,
        session: session.again()?,
    };
    let (read_max, write_max) = session.transfer_limits(&mounted.handle);
    prepared.target.read_max_bytes = read_max;
    prepared.target.write_max_bytes = write_max;
    drop(session);
    let result = prepared.fill_table(plan, object, context);
    match result {
        Ok(()) => {
            prepared.target.files =
                u64::from(prepared.files.table.subjects.end - prepared.files.table.subjects.start)
                    .max(u64::from(prepared.files.table.name_count()));
            Ok(prepared)
        }
        Err(error) => {
            let path = prepared.own_path().unwrap_or_default().to_owned();
            Err(match prepared.clean_up(context) {
                Ok(()) => error,
                Err(kept) => error.leaving(&path, &kept, REMOVE_LEFTOVER),
            })
        }
    }
}

/// Whether an operation accepts any object, including a symbolic link.
const fn asks_of_any_object(operation: OpKind) -> bool {
    matches!(
        operation,
        OpKind::Null
            | OpKind::GetAttr
            | OpKind::Access
            | OpKind::ReadLink
            | OpKind::FsStat
            | OpKind::FsInfo
            | OpKind::PathConf
    )
}

/// Converts ftype3 to the types that operations distinguish.
fn kind_of(file_type: FileType) -> ObjectKind {
    match file_type {
        FileType::Regular => ObjectKind::File,
        FileType::Directory => ObjectKind::Directory,
        FileType::Symlink => ObjectKind::SymbolicLink,
        FileType::BlockDevice | FileType::CharacterDevice | FileType::Socket | FileType::Fifo => {
            ObjectKind::Other
        }
    }
}

fn entry_of(handle: Handle, attributes: &Fattr3, has_pattern: bool) -> FoundFile {
    FoundFile {
        handle,
        len: attributes.size,
        kind: kind_of(attributes.file_type),
        has_pattern,
    }
}

/// Objects that an operation needs: the target itself, or several in a directory.
struct Wanted {
    is_met: fn(&FoundFile) -> bool,
    /// Error text for a single object, and the advice.
    one: &'static str,
    help: &'static str,
    /// Error text for the contents of a directory.
    several: &'static str,
}

const LINKS: Wanted = Wanted {
    is_met: |object| object.kind == ObjectKind::SymbolicLink,
    one: "a symbolic link",
    help: "name one, or a directory with some",
    several: "a symbolic link, or a directory with some",
};
const READABLE: Wanted = Wanted {
    is_met: |object| object.kind == ObjectKind::File && object.len > 0,
    one: "a file that is not empty",
    help: "name another file",
    several: "files that are not empty",
};

/// Returns the error for a target of the wrong type.
fn wrong_object(plan: &ProbeRun<'_>, needs: &'static str, help: &'static str) -> RunError {
    PrepareError::WrongObject {
        path: plan.target.path.clone(),
        operation: plan.probe.operation,
        needs,
        help,
    }
    .into()
}

impl Prepared {
    /// Looks up or creates the objects of the plan's operation.
    fn fill_table(
        &mut self,
        plan: &ProbeRun<'_>,
        object: FoundFile,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        let is_directory = object.kind == ObjectKind::Directory;
        let root = self.files.add(object);
        self.files.table.subjects = root.0..root.0 + 1;
        match plan.probe.operation {
            _ if plan.probe.own_files => {
                self.make_own_directory(plan, root, is_directory, context)?;
                self.make_own_files(plan, context)?;
                self.visit_own_files(plan, context)
            }
            OpKind::Null | OpKind::FsStat | OpKind::FsInfo | OpKind::PathConf => Ok(()),
            OpKind::GetAttr | OpKind::Access if is_directory => {
                self.visit_files(plan, &object, context, |_| true)?;
                // An empty directory is itself an object with attributes.
                if self.files.table.subjects.is_empty() {
                    self.files.table.subjects = root.0..root.0 + 1;
                }
                Ok(())
            }
            OpKind::GetAttr | OpKind::Access => Ok(()),
            OpKind::Lookup if is_directory => {
                self.files.table.directory = Some(root);
                self.list_names(plan, &object, context)
            }
            OpKind::ReadDir | OpKind::ReadDirPlus if is_directory => {
                self.files.table.directory = Some(root);
                Ok(())
            }
            OpKind::Lookup | OpKind::ReadDir | OpKind::ReadDirPlus => {
                let help = "name the directory that the file is in";
                Err(wrong_object(plan, "a directory", help))
            }
            OpKind::ReadLink => self.find_subjects(plan, &object, context, &LINKS),
            OpKind::Read => self.find_subjects(plan, &object, context, &READABLE),
            OpKind::SetAttr | OpKind::Write | OpKind::Commit | OpKind::Link => {
                self.make_own_directory(plan, root, is_directory, context)?;
                self.make_own_files(plan, context)
            }
            OpKind::Create
            | OpKind::MkDir
            | OpKind::SymLink
            | OpKind::MkNod
            | OpKind::Remove
            | OpKind::RmDir
            | OpKind::Rename => self.make_own_directory(plan, root, is_directory, context),
            filestone_workload::only_in_loads!() | filestone_workload::only_in_probes!() => {
                Err(wrong_object(
                    plan,
                    "a load file around it",
                    "probe takes one of the 22 procedures of NFSv3; see filestone replay",
                ))
            }
        }
    }

    /// Uses the object itself, or those in the directory, as subjects if they have the required
    /// type.
    fn find_subjects(
        &mut self,
        plan: &ProbeRun<'_>,
        object: &FoundFile,
        context: &mut Context<'_>,
        wanted: &Wanted,
    ) -> Result<(), RunError> {
        if object.kind != ObjectKind::Directory {
            let refused = || wrong_object(plan, wanted.one, wanted.help);
            return (wanted.is_met)(object).then_some(()).ok_or_else(refused);
        }
        self.visit_files(plan, object, context, wanted.is_met)?;
        if self.files.table.subjects.is_empty() {
            let help = "the directory has none; name another";
            return Err(wrong_object(plan, wanted.several, help));
        }
        Ok(())
    }

    /// Uses the files of a directory as subjects of the run.
    fn visit_files(
        &mut self,
        plan: &ProbeRun<'_>,
        directory: &FoundFile,
        context: &mut Context<'_>,
        is_wanted: impl Fn(&FoundFile) -> bool,
    ) -> Result<(), RunError> {
        context.preparing(&format!("looking up the files of {}", plan.target.path));
        let has_pattern = self.target.built_in;
        let files = listing::files(
            &mut self.session,
            &plan.target.path,
            &directory.handle,
            plan.probe.files_max,
            has_pattern,
        )?;
        let first = self.files.table.len();
        for entry in files.iter().filter(|entry| is_wanted(entry)) {
            self.files.add(*entry);
        }
        self.files.table.subjects = first..self.files.table.len();
        Ok(())
    }

    fn list_names(
        &mut self,
        plan: &ProbeRun<'_>,
        directory: &FoundFile,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        context.preparing(&format!("listing {}", plan.target.path));
        for name in listing::names(
            &mut self.session,
            &plan.target.path,
            &directory.handle,
            plan.probe.files_max,
        )? {
            self.files.table.add_name(&name);
        }
        if self.files.table.name_count() == 0 {
            let help = "name a directory that is not empty";
            return Err(wrong_object(plan, "a directory with something in it", help));
        }
        Ok(())
    }

    fn make_own_directory(
        &mut self,
        plan: &ProbeRun<'_>,
        root: FileId,
        is_directory: bool,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        if !is_directory {
            let help = "it makes a directory of its own there and removes it again; nothing else is touched";
            return Err(wrong_object(plan, "a directory to work in", help));
        }
        context.preparing(&format!(
            "making a directory of our own in {}",
            plan.target.path
        ));
        let parent = self.files.handles.get(root);
        let parent = parent.copied().unwrap_or(Handle::EMPTY);
        let parent = scratch_directory::under_test(&plan.target.path, parent);
        let tree = &mut NfsTree::new(&mut self.session);
        let left = scratch_directory::find_left_over(tree, &parent, plan.probe.left_over)?;
        if let Some(remark) = left.note() {
            context.observer.note(&remark);
        }
        let made = MadeNames::of_probe(plan.clients);
        let own = ScratchDirectory::make(tree, parent, made)?;
        let entry = FoundFile {
            handle: own.directory.handle,
            len: 0,
            kind: ObjectKind::Directory,
            has_pattern: false,
        };
        self.own = Some(own);
        let directory = self.files.add(entry);
        self.files.table.directory = Some(directory);
        Ok(())
    }

    /// Creates a file for each client.
    fn make_own_files(
        &mut self,
        plan: &ProbeRun<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        context.preparing(&format!("making {} files of our own", plan.clients));
        let Some(own) = &self.own else { return Ok(()) };
        let first = self.files.table.len();
        for client in 0..plan.clients {
            context.check_cancelled()?;
            let name = own_files::own_name(client);
            let directory = &own.directory;
            let made = self
                .session
                .make_own_file(&directory.handle, name.as_bytes());
            let handle =
                made.map_err(|failure| at_path(failure, &directory.at(&name), Procedure::Create))?;
            self.files.add(FoundFile {
                handle,
                len: 0,
                kind: ObjectKind::File,
                has_pattern: true,
            });
        }
        self.files.table.own_files = first..self.files.table.len();
        Ok(())
    }

    /// Removes the scratch directory with its contents, and releases the file set or removes it if
    /// requested.
    ///
    /// The connection may have been lost with the server, so it is made again. A stop of the run
    /// does not prevent the clean-up, but limits its time; another stop during the clean-up aborts
    /// it.
    pub fn clean_up(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        let stop = context.stop;
        match &mut self.file_set {
            None => {}
            Some((set, removes)) => set.end(&self.session, *removes, context)?,
        }
        let Some(own) = self.own.take() else {
            return Ok(());
        };
        context.preparing("cleaning up");
        let cancellation = Cancellation::default();
        self.session.connection.cancel_with(&cancellation);
        let limits = own.limits(self.session.timeout());
        cancel_clean_up_on(stop, limits, &cancellation, || {
            let mut session = self.session.again()?;
            own.remove(&mut NfsTree::new(&mut session))
        })
    }

    /// Returns the file set of a mix.
    pub fn file_set(&self) -> Option<&FileSet> {
        self.file_set.as_ref().map(|(set, _)| set)
    }

    /// Returns the path of the scratch directory or file set, if there is one.
    pub fn own_path(&self) -> Option<&str> {
        let set = self.file_set().and_then(|set| set.record.paths.first());
        let own = self.own.as_ref().map(ScratchDirectory::path);
        own.or(set.map(String::as_str))
    }
}
