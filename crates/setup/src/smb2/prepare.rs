//! Finds or creates the objects of a probe on a share before it begins.

use super::connection::{ConnectedShare, RequestError};
use super::tree::{ShareDirectory, ShareTree, child_of};
use crate::prepare::{ProbePreparation, ProbeServer, created};
use filestone_host::control::RunContext;
use filestone_host::error::RunError;
use filestone_plan::plan::SmbTarget;
use filestone_protocol::client::smb2::{ALL_OF_FILE, CreateParams, CreateResult, SharePath};
use filestone_protocol::workload::{FileEntry, ObjectKind};
use filestone_wire::smb2::Status;
use filestone_wire::smb2::create::{CreateDisposition, CreateOptions};
use filestone_workload::operation::OpKind;
use std::time::{Duration, Instant};

/// Maximum size of a WRITE to a source file, in bytes.
const WRITE_MAX: u32 = 1 << 20;
/// Interval of progress reports.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The object at the target's path.
pub struct FoundOnShare {
    /// Path in the share.
    pub path: String,
    /// Result of opening the object.
    pub opened: CreateResult,
}

/// Finds the object at the target's path.
pub fn find(connection: &mut ConnectedShare, target: &SmbTarget) -> Result<FoundOnShare, RunError> {
    let path = super::terms::share_path(target);
    let found = connection.look_at(&path);
    let failed = |unmet: RequestError| unmet.at(&target.to_string(), "CREATE").into_run_error();
    match found.map_err(failed)? {
        Some(opened) => Ok(FoundOnShare { path, opened }),
        None => {
            let missing = RequestError::Answered(Status::OBJECT_NAME_NOT_FOUND);
            Err(failed(missing))
        }
    }
}

impl ProbeServer for ConnectedShare {
    type Handle = SharePath;
    type Tree<'a> = ShareTree<'a>;

    fn tree(&mut self) -> ShareTree<'_> {
        ShareTree::new(self)
    }

    fn objects(
        preparation: &mut ProbePreparation<'_, Self>,
        directory: &SharePath,
        is_wanted: fn(&FileEntry) -> bool,
    ) -> Result<Vec<(SharePath, FileEntry)>, RunError> {
        let max = preparation.probe.files_max as usize;
        let (path, has_pattern) = (&preparation.path, preparation.has_pattern);
        let mut objects = Vec::new();
        let listed = preparation.server.each_entry(directory, |listed| {
            let entry = FileEntry {
                len: listed.len,
                kind: kind_of(listed.is_directory),
                has_pattern,
            };
            if objects.len() < max && is_wanted(&entry) {
                objects.push((child_of(directory, &listed.name).into(), entry));
            }
            objects.len() >= max
        });
        listed.map_err(|unmet| unmet.at(path, "QUERY_DIRECTORY").into_run_error())?;
        Ok(objects)
    }

    fn names(
        &mut self,
        path: &str,
        directory: &SharePath,
        max: u32,
    ) -> Result<Vec<Vec<u8>>, RunError> {
        let (mut names, max) = (Vec::new(), max as usize);
        let listed = self.each_entry(directory, |listed| {
            if names.len() < max {
                names.push(listed.name.into_bytes());
            }
            names.len() >= max
        });
        listed.map_err(|unmet| unmet.at(path, "QUERY_DIRECTORY").into_run_error())?;
        Ok(names)
    }

    fn make_file(
        &mut self,
        path: &str,
        directory: &ShareDirectory,
        name: &str,
    ) -> Result<SharePath, RunError> {
        let file = child_of(&directory.handle, name);
        let opening = new_file(&file);
        let made = self.call(async |link| link.touch(&opening).await.map(drop));
        made.map_err(|unmet| unmet.at(path, "CREATE").into_run_error())?;
        Ok(file.into())
    }

    fn write_files(
        preparation: &mut ProbePreparation<'_, Self>,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        let ProbePreparation {
            server,
            probe,
            clients,
            path,
            files,
            own: Some(own),
            ..
        } = preparation
        else {
            return Ok(());
        };
        let limits = server.session().established();
        let transfer = match limits.map_or(0, |own| own.limits.write) {
            0 => WRITE_MAX,
            most => most.min(WRITE_MAX),
        };
        let (len, purpose) = match probe.operation {
            OpKind::Copy => (probe.copied_bytes(), "the files to copy"),
            OpKind::Read => (probe.copied_bytes(), "the files to read"),
            _ => (0, "files for the run"),
        };
        let all = len.saturating_mul((*clients).into());
        let first = files.table.len();
        for client in 0..*clients {
            let name = format!("source{client}");
            let file = child_of(&own.directory.handle, &name);
            let before = len.saturating_mul(client.into());
            let (mut told, mut is_told) = (Instant::now(), client > 0);
            let tell = |at: u64| {
                if is_told && told.elapsed() < TELL_EVERY {
                    return;
                }
                (told, is_told) = (Instant::now(), true);
                let written = (before + at) >> 20;
                let what = format!("writing {purpose} in {path}: {written} MiB");
                context.preparing(&format!("{what} of {}", all >> 20));
            };
            let written = server.fill(&new_file(&file), len, transfer, tell);
            written.map_err(|unmet| unmet.at(path, "CREATE, WRITE or FLUSH").into_run_error())?;
            let entry = FileEntry {
                len,
                ..created(ObjectKind::File)
            };
            files.add(file.into(), entry);
            if probe.own_files {
                files.table.add_name(name.as_bytes());
            }
        }
        files.table.subjects = first..files.table.len();
        Ok(())
    }
}

/// Returns the parameters for creating a file that must not exist.
fn new_file(path: &str) -> CreateParams<'_> {
    CreateParams::existing(path, ALL_OF_FILE)
        .by(CreateDisposition::CREATE)
        .with(CreateOptions::NON_DIRECTORY_FILE)
}

pub(super) const fn kind_of(is_directory: bool) -> ObjectKind {
    if is_directory {
        ObjectKind::Directory
    } else {
        ObjectKind::File
    }
}
