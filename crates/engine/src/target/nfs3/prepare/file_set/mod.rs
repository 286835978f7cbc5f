//! The file set of a mix on an NFS server: found and checked, made and mended, removed.
//!
//! | module | what is there |
//! |---|---|
//! | `places` | where each object is in the file table and on the server |
//! | `survey` | what is there already, and right |
//! | `making`, `writing` | the calls that make the rest |
//!
//! What a set consists of is `filestone_model::file_set`'s. The layout of the tree, and what
//! is checked of it, is in docs/reference/file-set.md.

mod making;
mod places;
mod survey;
mod writing;

use crate::control::{Cancellation, Observer, cancel_clean_up_on, cancel_on};
use crate::driver::Endpoint;
use crate::driver::window::Window;
use crate::error::RunError;
use crate::target::nfs3::Session;
use crate::target::nfs3::prepare::FoundFiles;
use crate::target::nfs3::tree::NfsTree;
use crate::workspace::Purpose;
use crate::workspace::set_directory::{OtherRecipe, SetDirectory};
use crate::workspace::set_removal;
use crate::workspace::tree::Directory;
use filestone_model::file_set::{Changing, ClientSet, Layout, Recipe, file_name};
use filestone_model::measure::mix_record::FileSetRecord;
use filestone_model::operation::OpKind;
use filestone_model::plan::{FileSetPlan, TransportKind};
use filestone_wire::nfs3::Handle;
use filestone_wire::pattern;
use making::{Making, Progress, Step};
use places::{Part, Places};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use survey::Findings;

/// Most bytes of a WRITE: the period of the pattern.
const TRANSFER_MAX: u64 = pattern::PERIOD as u64;
/// What is taken of a server that does not say: what the oldest servers take.
const TRANSFER_UNKNOWN: u32 = 8192;
/// How long a set may still be given up after its removal was stopped.
const LAST_WORD: Duration = Duration::from_millis(300);
/// The largest reply to a single call: a page of a directory, and room.
const RECORD_MAX: usize = 1 << 20;

/// What shall be there.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The directories that the clients' sets are in, with their paths: client i uses
    /// directory i modulo their number.
    pub roots: &'a [(String, Handle)],
    /// What the set consists of.
    pub layout: &'a Layout,
    /// What it is called, and the recipe that it is made by.
    pub plan: &'a FileSetPlan,
    /// The kinds of operation of the run: what none of them needs is not made.
    pub kinds: &'a [OpKind],
    /// wtmax of FSINFO; 0 of a server that does not say.
    pub write_max_bytes: u64,
}

/// A file set that is there, right, and claimed by this process.
#[derive(Debug)]
pub struct FileSet {
    /// All objects, and the names of the data files.
    pub files: FoundFiles,
    /// Where each client finds its own.
    pub clients: Vec<ClientSet>,
    /// What is said of it in the record.
    pub record: FileSetRecord,
    claims: Claims,
}

/// A set's directory on a server.
pub(super) type ClaimedSet = SetDirectory<Handle>;

/// The directories that this process has claimed.
#[derive(Debug, Default)]
struct Claims {
    homes: Vec<ClaimedSet>,
}

/// Finds, checks and completes the file set, or makes it.
///
/// The set stays claimed until [`FileSet::release`] or [`FileSet::remove`]; after an error it is
/// given up at once. What was half made stays, and is completed by the next run.
pub fn prepare(
    session: &Session,
    order: &Order<'_>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<FileSet, RunError> {
    begin(session, order, stop, observer).map_err(|unfinished| {
        let (error, _) = unfinished.keep(session, stop);
        error
    })
}

/// The same; after an error, the caller decides on what was made.
pub(super) fn begin(
    session: &Session,
    order: &Order<'_>,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<FileSet, Box<Unfinished>> {
    let started = Instant::now();
    let mut claims = Claims { homes: Vec::new() };
    let cancellation = Cancellation::default();
    let completed = cancel_on(stop, &cancellation, || {
        complete(session, order, &mut claims, &cancellation, observer)
    });
    match completed {
        Ok((files, clients, mut record)) => {
            let elapsed = started.elapsed().as_nanos();
            record.prepared_ns = u64::try_from(elapsed).unwrap_or(u64::MAX);
            Ok(FileSet {
                files,
                clients,
                record,
                claims,
            })
        }
        Err(error) => Err(Box::new(Unfinished { error, claims })),
    }
}

/// A set that could not be completed.
#[derive(Debug)]
pub(super) struct Unfinished {
    error: RunError,
    claims: Claims,
}

/// What stays on the server of a set that could not be completed.
#[derive(Debug)]
pub(super) enum Remains {
    /// Nothing.
    Nothing,
    /// What was made, at this path, for the next run.
    Kept(String),
    /// What was made, at this path, and nobody has asked for it.
    Left(String, RunError),
}

impl Unfinished {
    /// Gives up what was made, for the next run. Whatever cannot be given up is taken over by
    /// the next run of this host, once this process is gone.
    pub fn keep(self, session: &Session, stop: &AtomicBool) -> (RunError, Remains) {
        let remains = match self.claims.path() {
            None => Remains::Nothing,
            Some(path) => {
                let _ = self.claims.release(session, stop, session.timeout());
                Remains::Kept(path)
            }
        };
        (self.error, remains)
    }

    /// Takes away what was made.
    pub fn remove(mut self, session: &Session, stop: &AtomicBool) -> (RunError, Remains) {
        let path = self.claims.path();
        let remains = match (self.claims.remove(session, stop), path) {
            (Err(error), Some(path)) => Remains::Left(path, error),
            _ => Remains::Nothing,
        };
        (self.error, remains)
    }
}

/// The server of `session`, called by TCP and until `cancellation`.
fn endpoint(session: &Session, cancellation: &Cancellation) -> Endpoint {
    let mut endpoint = session.endpoint().clone();
    endpoint.has_answered &= endpoint.dial.transport == TransportKind::Tcp;
    endpoint.dial.transport = TransportKind::Tcp;
    endpoint.retry.cancellation = cancellation.clone();
    endpoint
}

/// A connection for calls one at a time, by TCP.
fn connect(session: &Session, cancellation: &Cancellation) -> Result<Session, RunError> {
    Session::connect(endpoint(session, cancellation), RECORD_MAX)
}

/// A connection for many calls at a time.
fn window(session: &Session, cancellation: &Cancellation) -> Result<Window, RunError> {
    let address = session.dial().address;
    Window::connect(endpoint(session, cancellation))
        .map_err(|error| RunError::connecting(address, error))
}

type Completed = (FoundFiles, Vec<ClientSet>, FileSetRecord);

fn complete(
    session: &Session,
    order: &Order<'_>,
    claims: &mut Claims,
    cancellation: &Cancellation,
    observer: &mut dyn Observer,
) -> Result<Completed, RunError> {
    cancellation.go_on()?;
    let mut nfs = connect(session, cancellation)?;
    let mut window = window(session, cancellation)?;
    let mut tree = NfsTree {
        nfs: &mut nfs,
        window: Some(&mut window),
    };
    let home_of_root = claims.claim(&mut tree, order, observer)?;
    let mut builder = Builder {
        places: Places::new(order.layout, order.kinds, &claims.homes, &home_of_root),
        findings: Findings::default(),
        made: 0,
        pattern: pattern::table(),
        transfer: match order.write_max_bytes {
            0 => TRANSFER_UNKNOWN,
            bytes => bytes.min(TRANSFER_MAX) as u32,
        },
        tree,
        observer,
        steps_files_done: 0,
    };
    builder.build()?;
    let paths = claims.homes.iter();
    let paths = paths.map(|home| home.directory.path.clone()).collect();
    let record = FileSetRecord {
        found: builder.findings.found,
        made: builder.made,
        ..FileSetRecord::of(order.layout, order.kinds, paths)
    };
    let (entries, clients) = builder.places.finish();
    let mut files = FoundFiles::default();
    for entry in entries {
        files.add(entry);
    }
    for file in 0..order.layout.files_per_client() {
        files.table.add_name(file_name(file).as_bytes());
    }
    Ok((files, clients, record))
}

impl Claims {
    /// Claims the set's directory in each of the given ones; which of them each has. Sets of
    /// another recipe are removed.
    fn claim(
        &mut self,
        tree: &mut NfsTree<'_>,
        order: &Order<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<usize>, RunError> {
        let recipe = Recipe::of(order.plan);
        let mut seen: Vec<Handle> = Vec::new();
        let mut home_of_root = Vec::new();
        for (path, root) in order.roots {
            // A directory that is given twice has one set.
            if let Some(home) = seen.iter().position(|handle| handle == root) {
                home_of_root.push(home);
                continue;
            }
            let parent = Directory {
                handle: *root,
                path: path.clone(),
                purpose: Purpose::FileSet,
            };
            let (name, other) = (&order.plan.name, OtherRecipe::TakeOver);
            let (home, has_other) = SetDirectory::claim(tree, parent, name, &recipe, other)?;
            seen.push(*root);
            home_of_root.push(self.homes.len());
            self.homes.push(home);
            if let Some(home) = self.homes.last().filter(|_| has_other) {
                observer.preparing(&format!(
                    "removing another file set in {}",
                    home.directory.path
                ));
                set_removal::empty(tree, &home.directory)?;
                home.enter_recipe(tree, &recipe)?;
            }
        }
        Ok(home_of_root)
    }

    /// Where the first of the claimed directories is.
    fn path(&self) -> Option<String> {
        self.homes.first().map(|home| home.directory.path.clone())
    }

    /// Gives all claims up; within `limit` if the run has been stopped.
    fn release(
        &self,
        session: &Session,
        stop: &AtomicBool,
        limit: Duration,
    ) -> Result<(), RunError> {
        if self.homes.is_empty() {
            return Ok(());
        }
        let cancellation = Cancellation::default();
        cancel_clean_up_on(stop, super::limits(limit), &cancellation, || {
            let mut nfs = connect(session, &cancellation)?;
            // One that fails does not keep the others.
            let mut result = Ok(());
            for home in &self.homes {
                let given_up = home.give_up(&mut NfsTree::new(&mut nfs));
                result = result.and(given_up.map_err(RunError::from));
            }
            result
        })
    }
}

/// What completes a claimed set.
struct Builder<'a> {
    places: Places<'a>,
    findings: Findings,
    made: u64,
    pattern: Vec<u8>,
    transfer: u32,
    tree: NfsTree<'a>,
    observer: &'a mut dyn Observer,
    steps_files_done: u64,
}

impl Builder<'_> {
    /// From the clients' directories down to what is in them. What was not there is made
    /// before anything is looked for in it, and then nothing needs to be looked for.
    fn build(&mut self) -> Result<(), RunError> {
        let paths: Vec<&str> = self
            .places
            .homes
            .iter()
            .map(|home| &*home.directory.path)
            .collect();
        self.observer
            .preparing(&format!("checking the file set in {}", paths.join(", ")));
        survey::find_clients(&mut self.tree, &mut self.places, &mut self.findings)?;
        let clients = 0..self.places.layout.clients();
        let roots = clients
            .clone()
            .map(|client| self.places.index(client, Part::Root));
        let roots: Vec<u32> = roots.collect();
        let old_roots: Vec<bool> = roots
            .iter()
            .map(|root| self.places.is_there(*root))
            .collect();
        self.make_missing(&roots)?;
        for (client, is_old) in clients.zip(old_roots) {
            if is_old {
                let (places, findings) = (&mut self.places, &mut self.findings);
                survey::find_directories(&mut self.tree, places, findings, client)?;
            }
        }
        let directories = self.directories();
        let is_old = directories.iter().map(|one| self.places.is_there(*one));
        let is_old: Vec<bool> = is_old.collect();
        self.make_missing(&directories)?;
        for (directory, is_old) in directories.into_iter().zip(is_old) {
            let (places, findings) = (&mut self.places, &mut self.findings);
            if is_old {
                survey::find_contents(&mut self.tree, places, findings, directory)?;
            } else {
                survey::all_spares(places, findings, directory);
            }
        }
        self.make_contents()
    }

    /// The directories in the clients' directories.
    fn directories(&self) -> Vec<u32> {
        let mut directories = Vec::new();
        for client in 0..self.places.layout.clients() {
            let of_files = (0..self.places.layout.file_directories()).map(Part::Files);
            let changing = self.places.changing.iter().copied().map(Part::Changing);
            let parts = of_files.chain(changing);
            directories.extend(parts.map(|part| self.places.index(client, part)));
        }
        directories
    }

    fn make_missing(&mut self, objects: &[u32]) -> Result<(), RunError> {
        let missing = objects
            .iter()
            .filter(|object| !self.places.is_there(**object));
        let steps: Vec<Step> = missing.map(|object| Step::Object(*object)).collect();
        self.make(steps.into_iter())
    }

    /// Files, links, pipes and the names that come and go.
    fn make_contents(&mut self) -> Result<(), RunError> {
        let wrong = std::mem::take(&mut self.findings.wrong);
        let (links, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.findings.spares)
            .into_iter()
            .partition(|spare| spare.changing == Changing::Links);
        let objects = 0..self.places.len();
        let missing = objects.filter(|object| !self.places.is_there(*object));
        let missing: Vec<u32> = missing.collect();
        let is_file = |object: &&u32| matches!(self.places.part(**object).1, Part::File(_));
        let files = missing.iter().filter(is_file).count() + wrong.len();
        self.steps_files_done = self.places.layout.totals().files - files as u64;
        let steps = wrong
            .into_iter()
            .map(Step::Wrong)
            .chain(missing.into_iter().map(Step::Object))
            .chain(others.into_iter().map(Step::Spare));
        self.make(steps)?;
        // Hard links need the files that they are to.
        self.make(links.into_iter().map(Step::Spare))
    }

    fn make(&mut self, steps: impl Iterator<Item = Step>) -> Result<(), RunError> {
        let homes = self.places.homes;
        let progress = Progress {
            observer: &mut *self.observer,
            path: homes
                .first()
                .map(|home| home.directory.path.clone())
                .unwrap_or_default(),
            files_done: self.steps_files_done,
            files: self.places.layout.totals().files,
            last: Instant::now(),
        };
        let (pattern, transfer) = (&self.pattern, self.transfer);
        let modes = self.tree.nfs.modes();
        let mut making = Making::new(&mut self.places, steps, modes, pattern, transfer, progress);
        let result = self.tree.run(&mut making);
        self.made += making.made;
        result
    }
}

impl FileSet {
    /// Gives the set up; it stays on the server.
    pub fn release(&self, session: &Session) -> Result<(), RunError> {
        self.release_until(session, &AtomicBool::new(false))
    }

    /// The same, which ends when somebody stops it.
    pub(super) fn release_until(
        &self,
        session: &Session,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        self.claims.release(session, stop, session.timeout())
    }

    /// Takes the set away, unless somebody else has taken it over. What has a name in it that
    /// we do not give stays, and is an error.
    ///
    /// If the run has been stopped, that goes on for as long as a call may take; if somebody
    /// stops it now, it ends.
    pub fn remove(&mut self, session: &Session, stop: &AtomicBool) -> Result<(), RunError> {
        self.claims.remove(session, stop)?;
        self.record.removed = true;
        Ok(())
    }
}

impl Claims {
    /// Removes all that is claimed.
    fn remove(&mut self, session: &Session, stop: &AtomicBool) -> Result<(), RunError> {
        let cancellation = Cancellation::default();
        let limits = super::limits(session.timeout());
        let removed = cancel_clean_up_on(stop, limits, &cancellation, || {
            self.remove_all(session, &cancellation)
        });
        if removed.is_err() {
            // What could not be removed is not in use any more, all the same.
            let limit = if cancellation.is_cancelled() {
                LAST_WORD
            } else {
                session.timeout()
            };
            let _ = self.release(session, stop, limit);
        }
        removed
    }

    fn remove_all(
        &mut self,
        session: &Session,
        cancellation: &Cancellation,
    ) -> Result<(), RunError> {
        let mut nfs = connect(session, cancellation)?;
        let mut window = window(session, cancellation)?;
        let tree = &mut NfsTree {
            nfs: &mut nfs,
            window: Some(&mut window),
        };
        while let Some(home) = self.homes.last_mut() {
            home.check_ours(tree)?;
            set_removal::empty(tree, &home.directory)?;
            home.remove(tree)?;
            self.homes.pop();
        }
        Ok(())
    }
}
