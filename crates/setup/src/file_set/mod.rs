//! The file set of a mix on a server: found and checked, made and repaired, released or removed.
//!
//! | module | contents |
//! |---|---|
//! | `server` | what a file set requires of a server: its tree, and making of objects |
//! | `places` | position of each object in the file table and on the server |
//! | `claims` | the directories that a run has claimed |
//! | `scan` | search for objects that exist and are correct |
//! | `building` | completion of a set |
//!
//! `filestone_plan::file_set` defines the contents of a set. docs/reference/file-set.md describes
//! the layout of the tree and its checks.

mod building;
mod claims;
mod places;
mod scan;
mod server;

pub(crate) use places::{ObjectTable, SetObjectKind, SpareName};
pub(crate) use server::{ExistingObject, FileSetProgress, Missing, PendingObject, SetServer};

use crate::workspace::marker::ProcessIdentity;
use building::Builder;
use claims::{Claims, LAST_WORD};
use filestone_host::control::{Cancellation, CleanUpLimits, Observer, RunContext, cancel_on};
use filestone_host::error::RunError;
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_plan::file_set::{ClientSet, FileSetPlan, Layout, file_name};
use filestone_plan::plan::LeftoverPolicy;
use filestone_protocol::client::handles::ServerHandles;
use filestone_protocol::workload::{FileEntry, FileTable};
use filestone_wire::pattern;
use filestone_workload::operation::{FileId, OpKind};
use scan::RepairList;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Maximum bytes of a WRITE: the period of the pattern.
const TRANSFER_MAX: u64 = pattern::PERIOD as u64;
/// WRITE size for a server that does not report its maximum: the maximum of the oldest servers.
const TRANSFER_UNKNOWN: u32 = 8192;

/// Request for a file set.
#[derive(Debug, Clone, Copy)]
pub struct FileSetRequest<'a, H> {
    /// Parent directories of the clients' sets, with their paths: client i uses directory i modulo
    /// their number.
    pub roots: &'a [(String, H)],
    /// Contents of the set.
    pub layout: &'a Layout,
    /// Name and spec of the set.
    pub plan: &'a FileSetPlan,
    /// Kinds of operation of the run: objects that none of them needs are not made.
    pub kinds: &'a [OpKind],
    /// Maximum bytes of a WRITE as reported by the server; 0 if it does not report one.
    pub write_max_bytes: u64,
    /// Whether an existing set is removed first.
    pub left_over: LeftoverPolicy,
}

/// File set left over by a process that has ended.
#[derive(Debug, Clone, Copy)]
pub struct OrphanedSet<'a, H> {
    /// Parent directories of the clients' sets, with their paths.
    pub roots: &'a [(String, H)],
    /// Name of the set.
    pub name: &'a str,
    /// The process.
    pub owner: &'a ProcessIdentity,
    /// Whether the process would have removed the set at its end.
    pub removes: bool,
}

/// The objects of a run.
#[derive(Debug)]
pub struct SetFiles<H> {
    /// Objects as operations refer to them, with the names that they use.
    pub table: FileTable,
    /// Handles of the objects on the server.
    pub handles: ServerHandles<H>,
}

impl<H> SetFiles<H> {
    /// Adds an object.
    pub fn add(&mut self, handle: H, entry: FileEntry) -> FileId {
        self.handles.add(handle);
        self.table.add(entry)
    }
}

impl<H> Default for SetFiles<H> {
    fn default() -> Self {
        Self {
            table: FileTable::default(),
            handles: ServerHandles::default(),
        }
    }
}

/// A file set that exists, is correct, and is claimed by this process.
#[derive(Debug)]
pub struct FileSet<H> {
    /// All objects of the set.
    pub files: SetFiles<H>,
    /// For each client the positions of its objects.
    pub clients: Vec<ClientSet>,
    /// Description of the set in the record.
    pub record: FileSetRecord,
    claims: Claims<H>,
}

/// Finds, checks and completes the file set, or makes it.
///
/// The set stays claimed until [`FileSet::release_claim`] or [`FileSet::remove_tree`]; after an
/// error the claim is released at once. A partial set stays, and the next run completes it.
pub(crate) fn prepare<S: SetServer>(
    server: &S,
    order: &FileSetRequest<'_, S::Handle>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<FileSet<S::Handle>, RunError> {
    start(server, order, stop, observer).map_err(|unfinished| {
        let (error, _) = unfinished.keep(server, stop);
        error
    })
}

/// Prepares the set for a run, which `removes` it at its end: an error names the remains.
pub(crate) fn prepare_run<S: SetServer>(
    server: &S,
    order: &FileSetRequest<'_, S::Handle>,
    removes: bool,
    context: &mut RunContext<'_>,
) -> Result<FileSet<S::Handle>, RunError> {
    let begun = start(server, order, context.stop, context.observer);
    begun.map_err(|unfinished| unfinished.end(server, removes, context))
}

/// Cleans up the file set of a process that has ended as that process would have done: removes it
/// or releases it. A set that another run has claimed is left to that run, even if it has ended.
pub(crate) fn reclaim<S: SetServer>(
    server: &S,
    left: &OrphanedSet<'_, S::Handle>,
    context: &RunContext<'_>,
) -> Result<(), RunError> {
    let mut claims = Claims { homes: Vec::new() };
    let ended = server.on_tree(&context.cancellation, |tree| {
        let inherited = claims.inherit(tree, left);
        let ended = if left.removes {
            claims.remove_all::<S>(tree)
        } else {
            claims.release_all::<S>(tree)
        };
        inherited.and(ended)
    });
    if ended.is_err() {
        // A set that could not be removed is no longer in use either.
        let limits = CleanUpLimits {
            stopped: LAST_WORD,
            finished: LAST_WORD,
        };
        let _ = claims.release_within(server, context.stop, limits);
    }
    ended
}

/// Finds, checks and completes the file set; after an error, the caller decides on the objects
/// made.
fn start<S: SetServer>(
    server: &S,
    order: &FileSetRequest<'_, S::Handle>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<FileSet<S::Handle>, Box<Unfinished<S::Handle>>> {
    let started = Instant::now();
    let mut claims = Claims { homes: Vec::new() };
    let cancellation = Cancellation::default();
    let completed = cancel_on(stop, &cancellation, || {
        cancellation.check_cancelled()?;
        server.on_tree(&cancellation, |tree| {
            complete::<S>(tree, order, &mut claims, observer)
        })
    });
    match completed {
        Ok(completed) => {
            let elapsed = started.elapsed().as_nanos();
            Ok(FileSet {
                files: completed.files,
                clients: completed.clients,
                record: FileSetRecord {
                    prepared_ns: u64::try_from(elapsed).unwrap_or(u64::MAX),
                    ..completed.record
                },
                claims,
            })
        }
        Err(error) => Err(Box::new(Unfinished { error, claims })),
    }
}

/// A set that matches its request.
struct Completed<H> {
    files: SetFiles<H>,
    clients: Vec<ClientSet>,
    record: FileSetRecord,
}

fn complete<S: SetServer>(
    tree: &mut S::Tree<'_>,
    order: &FileSetRequest<'_, S::Handle>,
    claims: &mut Claims<S::Handle>,
    observer: &mut dyn Observer,
) -> Result<Completed<S::Handle>, RunError> {
    let home_of_root = claims.claim::<S>(tree, order, observer)?;
    let mut builder = Builder::<S> {
        places: ObjectTable::new(order.layout, order.kinds, &claims.homes, &home_of_root),
        findings: RepairList::default(),
        made: 0,
        transfer: match order.write_max_bytes {
            0 => TRANSFER_UNKNOWN,
            bytes => bytes.min(TRANSFER_MAX) as u32,
        },
        tree,
        observer,
        files_done: 0,
    };
    builder.build()?;
    let paths = claims.homes.iter();
    let paths = paths.map(|home| home.directory.path.clone()).collect();
    let record = FileSetRecord {
        found: builder.findings.found,
        made: builder.made,
        ..FileSetRecord::of(order.layout, order.kinds, paths)
    };
    let (placed, clients) = builder.places.finish();
    let mut files = SetFiles::default();
    for object in placed {
        // At this point all objects exist.
        let missing = || RunError::Internal("a file set without one of its objects".into());
        files.add(object.handle.ok_or_else(missing)?, object.entry);
    }
    for file in 0..order.layout.files_per_client() {
        files.table.add_name(file_name(file).as_bytes());
    }
    Ok(Completed {
        files,
        clients,
        record,
    })
}

/// A set that could not be completed.
#[derive(Debug)]
struct Unfinished<H> {
    error: RunError,
    claims: Claims<H>,
}

/// Remains on the server of a set that could not be completed.
#[derive(Debug)]
enum Remains {
    /// No remains.
    Nothing,
    /// The objects made, at this path, kept for the next run.
    Kept(String),
    /// The objects made, at this path, which could not be removed.
    Left(String, RunError),
}

impl<H: Clone + PartialEq> Unfinished<H> {
    /// Releases the objects made, for the next run. If the release fails, the next run of this host
    /// takes them over once this process has ended.
    fn keep<S: SetServer<Handle = H>>(self, server: &S, stop: &AtomicBool) -> (RunError, Remains) {
        let remains = match self.claims.path() {
            None => Remains::Nothing,
            Some(path) => {
                let _ = self.claims.release(server, stop, server.timeout());
                Remains::Kept(path)
            }
        };
        (self.error, remains)
    }

    /// Removes the objects made.
    fn remove<S: SetServer<Handle = H>>(
        mut self,
        server: &S,
        stop: &AtomicBool,
    ) -> (RunError, Remains) {
        let path = self.claims.path();
        let remains = match (self.claims.remove(server, stop), path) {
            (Err(error), Some(path)) => Remains::Left(path, error),
            _ => Remains::Nothing,
        };
        (self.error, remains)
    }

    /// Keeps or removes the objects made, and returns the error with the remains.
    fn end<S: SetServer<Handle = H>>(
        self,
        server: &S,
        removes: bool,
        context: &mut RunContext<'_>,
    ) -> RunError {
        let (error, remains) = if removes {
            context.preparing("removing the file set");
            self.remove(server, context.stop)
        } else {
            self.keep(server, context.stop)
        };
        let remains = match remains {
            Remains::Nothing => return error,
            Remains::Kept(path) => {
                format!("what has been made stays in {path}, and is used by the next run")
            }
            Remains::Left(path, reason) => {
                format!("{path} could not be removed: {reason}; run this again to remove it")
            }
        };
        RunError::Unfinished {
            source: Box::new(error),
            remains,
        }
    }
}

impl<H: Clone + PartialEq> FileSet<H> {
    /// Returns all objects and leaves an empty table.
    pub(crate) fn take_files(&mut self) -> SetFiles<H> {
        std::mem::take(&mut self.files)
    }

    /// Releases the set, which stays on the server. Ends when the run is stopped.
    pub(crate) fn release_claim<S: SetServer<Handle = H>>(
        &self,
        server: &S,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        self.claims.release(server, stop, server.timeout())
    }

    /// Removes the set, unless another process has taken it over. An object with a name that
    /// filestone does not use stays, and is an error.
    ///
    /// If the run has been stopped before, the removal continues for up to the time limit of a
    /// call; a stop during the removal ends it.
    pub(crate) fn remove_tree<S: SetServer<Handle = H>>(
        &mut self,
        server: &S,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        self.claims.remove(server, stop)?;
        self.record.removed = true;
        Ok(())
    }

    /// Ends the use of the set by a run, which `removes` it or not.
    pub(crate) fn end<S: SetServer<Handle = H>>(
        &mut self,
        server: &S,
        removes: bool,
        context: &mut RunContext<'_>,
    ) -> Result<(), RunError> {
        if !removes {
            return self.release_claim(server, context.stop);
        }
        context.preparing("removing the file set");
        self.remove_tree(server, context.stop)
    }
}
