//! The file set of a mix on a server: found and checked, made and mended, given up or removed.
//!
//! | module | what is there |
//! |---|---|
//! | `server` | what is needed of a server: its tree, and how objects are made on it |
//! | `places` | where each object is in the file table and on the server |
//! | `claims` | the directories that a run has claimed |
//! | `scan` | what is there already, and right |
//! | `building` | from what is there to what shall be there |
//!
//! What a set consists of is `filestone_plan::file_set`'s. The layout of the tree, and what
//! is checked of it, is in docs/reference/file-set.md.

mod building;
mod claims;
mod places;
mod scan;
mod server;

pub(crate) use places::{ObjectTable, Part, SpareName};
pub(crate) use server::{ExistingObject, Missing, Progress, SetServer, Step};

use crate::control::{Cancellation, CleanUpLimits, Context, Observer, cancel_on};
use crate::error::RunError;
use crate::workspace::ProcessIdentity;
use building::Builder;
use claims::{Claims, LAST_WORD};
use filestone_measure::measure::mix_record::FileSetRecord;
use filestone_plan::file_set::{ClientSet, FileSetPlan, Layout, file_name};
use filestone_plan::plan::LeftoverPolicy;
use filestone_protocol::client::handles::Handles;
use filestone_protocol::workload::FileTable;
use filestone_wire::pattern;
use filestone_workload::operation::OpKind;
use scan::RepairList;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Most bytes of a WRITE: the period of the pattern.
const TRANSFER_MAX: u64 = pattern::PERIOD as u64;
/// What is taken of a server that does not say: what the oldest servers take.
const TRANSFER_UNKNOWN: u32 = 8192;

/// What shall be there.
#[derive(Debug, Clone, Copy)]
pub struct FileSetRequest<'a, H> {
    /// The directories that the clients' sets are in, with their paths: client i uses
    /// directory i modulo their number.
    pub roots: &'a [(String, H)],
    /// What the set consists of.
    pub layout: &'a Layout,
    /// What it is called, and the recipe that it is made by.
    pub plan: &'a FileSetPlan,
    /// The kinds of operation of the run: what none of them needs is not made.
    pub kinds: &'a [OpKind],
    /// The most that the server says a WRITE may take; 0 of one that does not say.
    pub write_max_bytes: u64,
    /// Whether a set that is there is removed first and made anew.
    pub left_over: LeftoverPolicy,
}

/// What a process that is over has left.
#[derive(Debug, Clone, Copy)]
pub struct OrphanedSet<'a, H> {
    /// The directories that the clients' sets are in, with their paths.
    pub roots: &'a [(String, H)],
    /// What the set is called.
    pub name: &'a str,
    /// The process.
    pub owner: &'a ProcessIdentity,
    /// Whether it would have removed the set at its end.
    pub removes: bool,
}

/// The objects of a set.
#[derive(Debug)]
pub struct SetFiles<H> {
    /// What operations speak of, with the names of the data files.
    pub table: FileTable,
    /// What the server knows them by.
    pub handles: Handles<H>,
}

impl<H> Default for SetFiles<H> {
    fn default() -> Self {
        Self {
            table: FileTable::default(),
            handles: Handles::default(),
        }
    }
}

/// A file set that is there, right, and claimed by this process.
#[derive(Debug)]
pub struct FileSet<H> {
    /// All objects.
    pub files: SetFiles<H>,
    /// Where each client finds its own.
    pub clients: Vec<ClientSet>,
    /// What is said of it in the record.
    pub record: FileSetRecord,
    claims: Claims<H>,
}

/// Finds, checks and completes the file set, or makes it.
///
/// The set stays claimed until [`FileSet::release_claim`] or [`FileSet::remove_tree`]; after an error it is
/// given up at once. What was half made stays, and is completed by the next run.
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

/// The same for a run, which `removes` the set at its end: an error says what stays.
pub(crate) fn prepare_run<S: SetServer>(
    server: &S,
    order: &FileSetRequest<'_, S::Handle>,
    removes: bool,
    context: &mut Context<'_>,
) -> Result<FileSet<S::Handle>, RunError> {
    let begun = start(server, order, context.stop, context.observer);
    begun.map_err(|unfinished| unfinished.end(server, removes, context))
}

/// Does with the file set of a process that is over what that would have done at its end: removes it
/// or gives it up. A set that another run has, whether it is over or not, is left to that.
pub(crate) fn reclaim<S: SetServer>(
    server: &S,
    left: &OrphanedSet<'_, S::Handle>,
    context: &Context<'_>,
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
        // What could not be removed is not in use any more, all the same.
        let limits = CleanUpLimits {
            stopped: LAST_WORD,
            finished: LAST_WORD,
        };
        let _ = claims.release_within(server, context.stop, limits);
    }
    ended
}

/// Finds, checks and completes the file set; after an error, the caller decides on what was made.
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

/// A set that is as it shall be.
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
        // All has been made.
        let missing = || RunError::Internal("a file set without one of its objects".into());
        files.handles.add(object.handle.ok_or_else(missing)?);
        files.table.add(object.entry);
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

/// What stays on the server of a set that could not be completed.
#[derive(Debug)]
enum Remains {
    /// Nothing.
    Nothing,
    /// What was made, at this path, for the next run.
    Kept(String),
    /// What was made, at this path, and nobody has asked for it.
    Left(String, RunError),
}

impl<H: Clone + PartialEq> Unfinished<H> {
    /// Gives up what was made, for the next run. Whatever cannot be given up is taken over by
    /// the next run of this host, once this process is gone.
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

    /// Takes away what was made.
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

    /// What is done with it, and what is said of that.
    fn end<S: SetServer<Handle = H>>(
        self,
        server: &S,
        removes: bool,
        context: &mut Context<'_>,
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
    /// All objects, for those who work on them.
    pub(crate) fn take_files(&mut self) -> SetFiles<H> {
        std::mem::take(&mut self.files)
    }

    /// Gives the set up; it stays on the server. Ends when somebody stops it.
    pub(crate) fn release_claim<S: SetServer<Handle = H>>(
        &self,
        server: &S,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        self.claims.release(server, stop, server.timeout())
    }

    /// Takes the set away, unless somebody else has taken it over. What has a name in it that
    /// we do not give stays, and is an error.
    ///
    /// If the run has been stopped, that goes on for as long as a call may take; if somebody
    /// stops it now, it ends.
    pub(crate) fn remove_tree<S: SetServer<Handle = H>>(
        &mut self,
        server: &S,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        self.claims.remove(server, stop)?;
        self.record.removed = true;
        Ok(())
    }

    /// Ends the use of it by a run, which `removes` it or not.
    pub(crate) fn end<S: SetServer<Handle = H>>(
        &mut self,
        server: &S,
        removes: bool,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        if !removes {
            return self.release_claim(server, context.stop);
        }
        context.preparing("removing the file set");
        self.remove_tree(server, context.stop)
    }
}
