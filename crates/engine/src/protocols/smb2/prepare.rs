//! Finds or creates the objects of a probe on a share before it begins.

use super::connection::{Connection, RequestError};
use super::error::SmbError;
use super::tree::{ShareTree, child_of};
use crate::control::Context;
use crate::error::RunError;
use crate::workspace::scratch_directory::{self, ScratchDirectory};
use filestone_plan::made::MadeNames;
use filestone_plan::plan::{Plan, ProbePlan, SmbTarget};
use filestone_protocol::client::handles::Handles;
use filestone_protocol::client::smb2::{
    ALL_OF_FILE, CreateParams, CreateResult, ShareFiles, SharePath,
};
use filestone_protocol::workload::{FileEntry, FileTable, ObjectKind};
use filestone_wire::smb2::Status;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_workload::operation::{FileId, OpKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum size of a WRITE to a source file, in bytes.
const WRITE_MAX: u32 = 1 << 20;
/// Interval of progress reports.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Files of a run, while they are being found.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// Table of the files that operations refer to.
    pub table: FileTable,
    paths: Handles<SharePath>,
}

impl FoundFiles {
    /// Adds an object.
    pub fn add(&mut self, path: &str, entry: FileEntry) -> FileId {
        self.paths.add(path.into());
        self.table.add(entry)
    }

    /// Converts to the complete table.
    pub fn into_files(self) -> ShareFiles {
        ShareFiles {
            table: Arc::new(self.table),
            paths: self.paths,
        }
    }
}

/// The object at the target's path.
pub struct Found {
    /// Path in the share.
    pub path: String,
    /// Result of opening the object.
    pub opened: CreateResult,
}

/// Finds the object at the target's path.
pub fn find(connection: &mut Connection, target: &SmbTarget) -> Result<Found, RunError> {
    let path = super::terms::share_path(target);
    let found = connection.look_at(&path);
    let failed = |unmet: RequestError| unmet.at(&target.to_string(), "CREATE").into_run_error();
    match found.map_err(failed)? {
        Some(opened) => Ok(Found { path, opened }),
        None => {
            let missing = RequestError::Answered(Status::OBJECT_NAME_NOT_FOUND);
            Err(failed(missing))
        }
    }
}

/// Preparation of a probe.
pub struct ProbePreparation<'run> {
    pub plan: &'run Plan,
    pub target: &'run SmbTarget,
    pub probe: &'run ProbePlan,
    pub connection: &'run mut Connection,
    pub files: FoundFiles,
    pub own: Option<ScratchDirectory<SharePath>>,
}

impl ProbePreparation<'_> {
    /// Looks up or creates the objects of the operation.
    pub fn fill(&mut self, found: &Found, context: &mut Context<'_>) -> Result<(), RunError> {
        let is_directory = found.opened.is_directory();
        // Files of the built-in server contain the pattern.
        let entry = FileEntry {
            len: found.opened.len,
            kind: kind_of(is_directory),
            has_pattern: self.target.host.is_none(),
        };
        let root = self.files.add(&found.path, entry);
        self.files.table.subjects = root.0..root.0 + 1;
        match self.probe.operation {
            _ if self.probe.own_files => {
                self.make_own_directory(found, context)?;
                self.write_sources(context)?;
                self.name_own_files();
                Ok(())
            }
            OpKind::GetAttr | OpKind::Access if is_directory => {
                self.visit_files(found, context, |_| true)?;
                if self.files.table.subjects.is_empty() {
                    self.files.table.subjects = root.0..root.0 + 1;
                }
                Ok(())
            }
            OpKind::Lookup if is_directory => {
                self.files.table.directory = Some(root);
                self.list_names(found, context)
            }
            OpKind::ReadDir | OpKind::ReadDirPlus if is_directory => {
                self.files.table.directory = Some(root);
                Ok(())
            }
            OpKind::Lookup | OpKind::ReadDir | OpKind::ReadDirPlus => {
                Err(self.wrong_object("a directory"))
            }
            OpKind::Read if is_directory => {
                let is_wanted = |entry: &FileEntry| entry.kind == ObjectKind::File && entry.len > 0;
                self.visit_files(found, context, is_wanted)?;
                if self.files.table.subjects.is_empty() {
                    return Err(self.wrong_object("files that are not empty"));
                }
                Ok(())
            }
            OpKind::Read if found.opened.len == 0 => {
                Err(self.wrong_object("a file that is not empty"))
            }
            OpKind::SetAttr | OpKind::Write | OpKind::Commit | OpKind::Link | OpKind::Lock => {
                self.make_own_directory(found, context)?;
                self.make_own_files(context)
            }
            OpKind::Copy => {
                self.make_own_directory(found, context)?;
                self.write_sources(context)?;
                self.make_own_files(context)
            }
            OpKind::Create
            | OpKind::MkDir
            | OpKind::Remove
            | OpKind::RmDir
            | OpKind::Rename
            | OpKind::Notify => self.make_own_directory(found, context),
            // The remaining operations concern the share, or the object at the target's path.
            _ => Ok(()),
        }
    }

    fn wrong_object(&self, needs: &'static str) -> RunError {
        SmbError::WrongObject {
            path: self.target.to_string(),
            operation: self.probe.operation.name(),
            needs,
        }
        .into()
    }

    fn failed(&self, request: &'static str) -> impl Fn(RequestError) -> RunError + use<> {
        let path = self.target.to_string();
        move |unmet| unmet.at(&path, request).into_run_error()
    }

    /// Uses the files of a directory as subjects of the run.
    fn visit_files(
        &mut self,
        found: &Found,
        context: &mut Context<'_>,
        is_wanted: impl Fn(&FileEntry) -> bool,
    ) -> Result<(), RunError> {
        context.preparing(&format!("looking up the files of {}", self.target));
        let first = self.files.table.len();
        let (files, max) = (&mut self.files, self.probe.files_max);
        let has_pattern = self.target.host.is_none();
        let listed = self.connection.each_entry(&found.path, |listed| {
            let entry = FileEntry {
                len: listed.len,
                kind: kind_of(listed.is_directory),
                has_pattern,
            };
            if files.table.len() - first < max && is_wanted(&entry) {
                files.add(&child_of(&found.path, &listed.name), entry);
            }
            files.table.len() - first >= max
        });
        listed.map_err(self.failed("QUERY_DIRECTORY"))?;
        self.files.table.subjects = first..self.files.table.len();
        Ok(())
    }

    fn list_names(&mut self, found: &Found, context: &mut Context<'_>) -> Result<(), RunError> {
        context.preparing(&format!("listing {}", self.target));
        let (table, max) = (&mut self.files.table, self.probe.files_max);
        let listed = self.connection.each_entry(&found.path, |listed| {
            if table.name_count() < max {
                table.add_name(listed.name.as_bytes());
            }
            table.name_count() >= max
        });
        listed.map_err(self.failed("QUERY_DIRECTORY"))?;
        if self.files.table.name_count() == 0 {
            return Err(self.wrong_object("a directory with something in it"));
        }
        Ok(())
    }

    fn make_own_directory(
        &mut self,
        found: &Found,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        if !found.opened.is_directory() {
            return Err(self.wrong_object("a directory to work in"));
        }
        context.preparing(&format!("making a directory of our own in {}", self.target));
        let path = self.target.to_string();
        let mut tree = ShareTree::new(self.connection);
        let parent = scratch_directory::under_test(&path, SharePath::from(found.path.as_str()));
        let left = scratch_directory::find_left_over(&mut tree, &parent, self.probe.left_over)?;
        if let Some(remark) = left.note() {
            context.observer.note(&remark);
        }
        let made = MadeNames::of_probe(self.plan.clients);
        let own = ScratchDirectory::make(&mut tree, parent, made)?;
        let entry = FileEntry {
            len: 0,
            kind: ObjectKind::Directory,
            has_pattern: false,
        };
        let directory = self.files.add(&own.directory.handle, entry);
        self.files.table.directory = Some(directory);
        self.own = Some(own);
        Ok(())
    }

    /// Adds the names of the written files for lookups.
    fn name_own_files(&mut self) {
        for client in 0..self.plan.clients {
            self.files.table.add_name(written_name(client).as_bytes());
        }
    }

    /// Creates a file with data for each client, to be copied or read.
    fn write_sources(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        let clients = self.plan.clients;
        let Some(own) = &self.own else { return Ok(()) };
        let directory = Arc::clone(&own.directory.handle);
        let limits = self.connection.session().established();
        let transfer = match limits.map_or(0, |own| own.limits.write) {
            0 => WRITE_MAX,
            most => most.min(WRITE_MAX),
        };
        let (len, purpose) = match self.probe.operation {
            OpKind::Copy => (self.probe.copied_bytes(), "what is copied"),
            OpKind::Read => (self.probe.copied_bytes(), "what is read"),
            _ => (0, "files of our own"),
        };
        let (all, target) = (len.saturating_mul(clients.into()), self.target.to_string());
        let first = self.files.table.len();
        for client in 0..clients {
            let path = child_of(&directory, &written_name(client));
            let opening = new_file(&path);
            let before = len.saturating_mul(client.into());
            let (mut told, mut is_told) = (Instant::now(), client > 0);
            let tell = |at: u64| {
                if is_told && told.elapsed() < TELL_EVERY {
                    return;
                }
                (told, is_told) = (Instant::now(), true);
                let written = (before + at) >> 20;
                let what = format!("writing {purpose} in {target}: {written} MiB");
                context.preparing(&format!("{what} of {}", all >> 20));
            };
            let written = self.connection.fill(&opening, len, transfer, tell);
            written.map_err(self.failed("CREATE, WRITE or FLUSH"))?;
            let entry = FileEntry {
                len,
                kind: ObjectKind::File,
                has_pattern: true,
            };
            self.files.add(&path, entry);
        }
        self.files.table.subjects = first..self.files.table.len();
        Ok(())
    }

    /// Creates a file for each client.
    fn make_own_files(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        let clients = self.plan.clients;
        context.preparing(&format!("making {clients} files of our own"));
        let Some(own) = &self.own else { return Ok(()) };
        let directory = Arc::clone(&own.directory.handle);
        let first = self.files.table.len();
        for client in 0..clients {
            context.check_cancelled()?;
            let path = child_of(&directory, &format!("client{client}"));
            let opening = new_file(&path);
            let made = self
                .connection
                .call(async |link| link.touch(&opening).await.map(drop));
            made.map_err(self.failed("CREATE"))?;
            let entry = FileEntry {
                len: 0,
                kind: ObjectKind::File,
                has_pattern: true,
            };
            self.files.add(&path, entry);
        }
        self.files.table.own_files = first..self.files.table.len();
        Ok(())
    }
}

/// Returns the name of a client's file that is written before the run.
fn written_name(client: u32) -> String {
    format!("source{client}")
}

/// Returns the parameters for creating a file that must not exist.
fn new_file(path: &str) -> CreateParams<'_> {
    CreateParams::existing(path, ALL_OF_FILE)
        .by(CreateDisposition::CREATE)
        .with(CreateOptions::NON_DIRECTORY_FILE)
}

const fn kind_of(is_directory: bool) -> ObjectKind {
    if is_directory {
        ObjectKind::Directory
    } else {
        ObjectKind::File
    }
}
