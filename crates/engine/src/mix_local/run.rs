//! A run: places found and furnished, background watched, a thread for each client, and the
//! set left as it was.

use super::caller::Caller;
use super::client::{Board, Client, ClientEnd, Company, Shared};
use super::course::Course;
use super::fresh::{Needed, OBJECTS_MAX};
use super::furnish::{Furnished, furnish, settle};
use super::kernel::Kernel;
use super::learn::{self, LEARN_SECONDS};
use super::mounted::{self, Mounted};
use super::place::{Place, refused};
use super::record::{Measured, record};
use super::removal;
use super::watch::Coordinator;
use crate::clock::Clock;
use crate::control::Observer;
use crate::control::go_on;
use crate::driver::connect::allow_open_files;
use crate::error::RunError;
use crate::processors::Meter;
use crate::run::settle as settle_thread;
use crate::workspace::Purpose;
use crate::workspace::local::{self, LocalTree};
use crate::workspace::set_directory::{OtherRecipe, SetDirectory};
use crate::workspace::tree::At;
use filestone_model::file_set::{Layout, Recipe};
use filestone_model::measure::RunRecord;
use filestone_model::measure::mix_record::FileSetRecord;
use filestone_model::measure::run_record::Target;
use filestone_model::mix::feedback::{Goal, Group};
use filestone_model::operation::OpKind;
use filestone_model::plan::{
    FeedbackArithmetic, FileSetPlan, MixCount, MixPlan, Plan, TargetPlan, WorkloadPlan,
};
use filestone_model::time::Moment;
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant, SystemTime};

/// A file set in a directory of this host.
type Claim = SetDirectory<LocalTree>;

/// Stack of a client's thread: buffers are on the heap.
const STACK_BYTES: usize = 256 << 10;
/// Each client keeps some hundred files open.
const OPEN_FILES_WANTED: u64 = 65_536;
/// Changes so far apart have different times, on any server.
const CLOCK_TICKS: Duration = Duration::from_millis(50);

/// Makes the run of `plan`, a mix on directories of this host.
///
/// An interrupted run, and one whose mount was lost in the middle, give a record that says so.
pub fn run_local(
    plan: &Plan,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunRecord, RunError> {
    let WorkloadPlan::Mix(mix) = &plan.workload else {
        return Err(RunError::Internal("the plan is no mix".into()));
    };
    let counts = askable(mix)?;
    let layout = Layout::of(&mix.file_set, plan.clients).map_err(|refusal| {
        RunError::Unsuitable(refusal.to_string(), Some(refusal.help().into()))
    })?;
    let sites = Sites::find(plan, mix)?;
    allow_open_files(OPEN_FILES_WANTED);
    let claims = sites.claim(mix)?;
    let target = sites.target();
    let measured = prepare_and_measure(
        (plan, mix, &counts),
        &layout,
        (&sites, &claims),
        stop,
        observer,
        &target,
    );
    let left = leave(claims, mix.remove_set);
    let mut measured = measured?;
    measured.file_set.removed = mix.remove_set && left.is_ok();
    Ok(record(plan, mix, target, measured, left))
}

/// What of the mix can be asked: no system call makes NULL, FSINFO or PATHCONF.
fn askable(mix: &MixPlan) -> Result<Vec<MixCount>, RunError> {
    let is_askable = |count: &&MixCount| {
        let silent = [OpKind::Null, OpKind::FsInfo, OpKind::PathConf];
        count.count > 0 && !silent.contains(&count.operation)
    };
    let counts: Vec<MixCount> = mix.counts.iter().filter(is_askable).copied().collect();
    if counts.is_empty() {
        return Err(RunError::Unsuitable(
            format!(
                "mix {}: no system call makes any of its operations",
                mix.name
            ),
            Some(
                "NULL, FSINFO and PATHCONF are made on mounting only; add others, or use nfs://"
                    .into(),
            ),
        ));
    }
    match mix.local.arithmetic {
        FeedbackArithmetic::Exact => Ok(counts),
        FeedbackArithmetic::Nhfsstone => Ok(mix.counts.clone()),
    }
}

/// The directories under test.
struct Sites {
    directories: Vec<PathBuf>,
    /// What each is on; empty without feedback where that cannot be known.
    mounts: Vec<Mounted>,
    /// One for each mount; empty without feedback.
    kernels: Vec<Kernel>,
    /// Which of them is each directory's.
    places: Vec<usize>,
}

impl Sites {
    fn find(plan: &Plan, mix: &MixPlan) -> Result<Self, RunError> {
        let proc_root = mix.local.proc_root.as_deref().unwrap_or("/proc");
        let proc_root = Path::new(proc_root);
        let targets = std::iter::once(&plan.target).chain(&mix.more_targets);
        let directories = targets.map(directory).collect::<Result<Vec<_>, _>>()?;
        let mounts = directories.iter().map(|at| mounted::find(proc_root, at));
        if !mix.local.feedback {
            return Ok(Self {
                mounts: mounts.collect::<Result<_, _>>().unwrap_or_default(),
                kernels: Vec::new(),
                places: vec![0; directories.len()],
                directories,
            });
        }
        let mounts = mounts.collect::<Result<Vec<_>, _>>()?;
        for (mounted, at) in mounts.iter().zip(&directories) {
            mounted::must_be_nfs(mounted, at)?;
        }
        let (kernels, places) = Kernel::of_mounts(proc_root, &mounts)?;
        Ok(Self {
            directories,
            mounts,
            kernels,
            places,
        })
    }

    fn claim(&self, mix: &MixPlan) -> Result<Vec<Claim>, RunError> {
        let claims = self.directories.iter();
        claims.map(|at| claim(at, &mix.file_set)).collect()
    }

    /// Whether files may be read and written past the client's cache: only NFS takes any length
    /// at any place so.
    fn is_direct(&self) -> bool {
        !self.mounts.is_empty() && self.mounts.iter().all(Mounted::is_nfs)
    }

    /// Whether the mount of a place is of NFSv4.
    fn is_v4(&self, place: usize) -> bool {
        let mut mounts = self.mounts.iter().zip(&self.places);
        mounts.any(|(mounted, of)| *of == place && mounted.file_system == "nfs4")
    }

    fn target(&self) -> Target {
        let directories = self.directories.iter().map(|at| at.display().to_string());
        let sources = self
            .mounts
            .iter()
            .map(|mounted| format!("{} on {}", mounted.file_system, mounted.mount_point));
        Target {
            address: "local".into(),
            local: !self.mounts.iter().any(Mounted::is_nfs),
            export: directories.collect::<Vec<_>>().join(", "),
            walked: sources.collect::<Vec<_>>().join(", "),
            object: "directory".into(),
            ..Target::default()
        }
    }

    /// Which mount's a client is.
    fn place(&self, client: u32) -> usize {
        let index = client as usize % self.places.len().max(1);
        self.places.get(index).copied().unwrap_or_default()
    }
}

/// Claims the set of `plan` in a directory.
fn claim(directory: &Path, plan: &FileSetPlan) -> Result<Claim, RunError> {
    let path = directory.to_string_lossy();
    let at = At {
        path: &path,
        purpose: Purpose::FileSet,
    };
    let target = local::open(directory, &at)?;
    let (recipe, other) = (Recipe::of(plan), OtherRecipe::Refuse);
    let claimed = SetDirectory::claim(&mut LocalTree, target, &path, &plan.name, &recipe, other);
    claimed.map(|(set, _)| set)
}

fn directory(target: &TargetPlan) -> Result<PathBuf, RunError> {
    let TargetPlan::Local(local) = target else {
        return Err(RunError::Internal(
            "a target of the mix is no directory".into(),
        ));
    };
    let Some(path) = &local.directory else {
        return Err(RunError::Unsuitable(
            "a mix through a mount needs a directory".into(),
            Some("--on local:DIR, with a directory of an NFS mount".into()),
        ));
    };
    std::fs::canonicalize(path).map_err(|source| {
        RunError::Unsuitable(
            format!("{path}: {source}"),
            Some("the target of a mix is a directory that is there".into()),
        )
    })
}

/// Gives the sets up, or takes them away; the first that could not be, and why.
fn leave(claims: Vec<Claim>, remove: bool) -> Result<(), (String, String)> {
    let mut first = Ok(());
    for claim in claims {
        let path = claim.path.clone();
        let left = match remove {
            true => removal::remove(claim),
            false => claim.give_up(&mut LocalTree),
        };
        if let Err(error) = left {
            first = first.and(Err((path, error.to_string())));
        }
    }
    first
}

fn prepare_and_measure(
    (plan, mix, counts): (&Plan, &MixPlan, &[MixCount]),
    layout: &Layout,
    (sites, claims): (&Sites, &[Claim]),
    stop: &AtomicBool,
    observer: &mut dyn Observer,
    target: &Target,
) -> Result<Measured, RunError> {
    let kinds: Vec<OpKind> = mix.kinds().into_iter().map(|(kind, _)| kind).collect();
    observer.preparing("checking the file set");
    let furnished = furnish_all((plan, mix, &kinds), layout, (claims, sites), stop)?;
    let (mut callers, mut file_set) = furnished;
    file_set.paths = claims.iter().map(|claim| claim.path.clone()).collect();
    if mix.local.feedback {
        observer.preparing("making what the client's caches cannot answer");
        freshen(&mut callers, needed(plan, mix), stop)?;
    }
    // What is still to be written would be background traffic.
    for claim in claims {
        rustix::fs::syncfs(&claim.directory).ok();
    }
    let mut background = 0.0;
    let all = Kernel::together(&sites.kernels);
    if let Some(all) = &all {
        observer.preparing("watching the traffic of others for 2 s");
        background = all.background(mix.local.background_max_calls_per_s, stop)?;
    }
    let companies = companies((plan, mix, counts), sites, all.as_ref())?;
    if mix.local.feedback && mix.local.arithmetic == FeedbackArithmetic::Exact {
        observer.preparing("learning what system calls become on the wire");
        let places: Vec<usize> = (0..plan.clients)
            .map(|client| sites.place(client))
            .collect();
        learn::learn_all(&companies, (&mut callers, &places), counts, stop)?;
    }
    observer.prepared(target);
    let mut measured = measure((plan, mix), callers, (sites, &companies), stop, observer)?;
    let mut furnished = Furnished::default();
    for caller in measured.callers.drain(..) {
        let settled = settle(caller.place(), layout, &kinds, &mut furnished);
        if let Err(error) = settled {
            measured.left_behind.get_or_insert(error.to_string());
        }
    }
    measured.file_set = file_set;
    measured.background = background;
    Ok(measured)
}

/// Makes and checks the places of all clients.
fn furnish_all(
    (plan, mix, kinds): (&Plan, &MixPlan, &[OpKind]),
    layout: &Layout,
    (claims, sites): (&[Claim], &Sites),
    stop: &AtomicBool,
) -> Result<(Vec<Caller>, FileSetRecord), RunError> {
    let began = Instant::now();
    let totals = layout.totals();
    let mut record = FileSetRecord {
        files: totals.files,
        bytes: totals.bytes,
        working_files: totals.working_files,
        working_bytes: totals.working_bytes,
        other_objects: layout.other_objects(kinds),
        ..FileSetRecord::default()
    };
    let mut callers = Vec::new();
    for client in 0..plan.clients {
        go_on(stop)?;
        let Some(claim) = claims.get(client as usize % claims.len().max(1)) else {
            return Err(RunError::Internal("a mix without a directory".into()));
        };
        let place = Place::open(
            claim.directory.as_fd(),
            Path::new(&claim.path),
            (client, layout),
            kinds,
        )?;
        let furnished = furnish(&place, layout, kinds, stop)?;
        record.found += place.found + furnished.found;
        record.made += place.made + furnished.made;
        let path = place.path.clone();
        let is_direct = sites.is_direct();
        let mut caller = Caller::new(place, layout, (mix, kinds), plan.seed, is_direct);
        caller
            .open_files()
            .map_err(|errno| refused(&path, errno, "opening its files"))?;
        callers.push(caller);
    }
    record.prepared_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok((callers, record))
}

/// How much each client will need of what its caches cannot answer: what the load asks, and
/// a fifth more. Without a load, as much as there may be.
fn needed(plan: &Plan, mix: &MixPlan) -> Needed {
    let seconds = [plan.warm_up_ns, plan.duration_ns.unwrap_or(u64::MAX)].map(|ns| ns as f64 / 1e9);
    let seconds = seconds.iter().sum::<f64>() + LEARN_SECONDS;
    let by_time = (plan.arrivals.offered_load()).map_or(f64::INFINITY, |load| load * seconds);
    let by_count = plan.count.map_or(f64::INFINITY, |count| count as f64);
    let calls = by_time.min(by_count) / f64::from(plan.clients.max(1));
    let of = |share: f64| match share > 0.0 {
        true => (1.2 * share * calls).ceil().min(OBJECTS_MAX as f64) as u64,
        false => 0,
    };
    Needed {
        // Every SETATTR makes an ACCESS necessary.
        files: of(mix.share(OpKind::Access) - mix.share(OpKind::SetAttr)),
        links: of(mix.share(OpKind::ReadLink)),
    }
}

/// Makes it, and then changes it: between the two lies the time of all.
fn freshen(callers: &mut [Caller], needed: Needed, stop: &AtomicBool) -> Result<(), RunError> {
    let refused = |caller: &Caller, errno| {
        refused(
            &caller.place().path,
            errno,
            "making links and files for the run",
        )
    };
    for caller in callers.iter_mut() {
        go_on(stop)?;
        let made = caller.make_fresh(needed);
        made.map_err(|errno| refused(caller, errno))?;
    }
    if needed.links > 0 {
        std::thread::sleep(CLOCK_TICKS);
    }
    for caller in callers.iter_mut().filter(|_| needed.links > 0) {
        go_on(stop)?;
        match caller.change_fresh(needed) {
            // Not every file system gives a symbolic link a second name: then it cannot be read
            // again, and the report says so.
            Ok(()) | Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK) => {}
            Err(errno) => return Err(refused(caller, errno)),
        }
    }
    Ok(())
}

/// The clients of each mount, with their part of what is offered.
fn companies(
    (plan, mix, counts): (&Plan, &MixPlan, &[MixCount]),
    sites: &Sites,
    all: Option<&Kernel>,
) -> Result<Vec<Company>, RunError> {
    let before = all.map(Kernel::read).transpose()?;
    let all = all.cloned().zip(before);
    let number = sites.kernels.len().max(1);
    let mut companies = Vec::with_capacity(number);
    for place in 0..number {
        let clients = (0..plan.clients).filter(|client| sites.place(*client) == place);
        let clients = clients.count() as u32;
        let share = f64::from(clients) / f64::from(plan.clients.max(1));
        let group = Group::new(&Goal {
            counts,
            clients,
            load: plan.arrivals.offered_load().map(|load| load * share),
            calls: plan.count.map(|count| (count as f64 * share).ceil() as u64),
            seconds: plan.duration_ns.map(|nanos| nanos as f64 / 1e9),
            is_v4: sites.is_v4(place),
        });
        let kernel = sites.kernels.get(place).filter(|_| mix.local.feedback);
        companies.push(Company::new(group, kernel.cloned(), all.clone()));
    }
    Ok(companies)
}

fn measure(
    (plan, mix): (&Plan, &MixPlan),
    callers: Vec<Caller>,
    (sites, companies): (&Sites, &[Company]),
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Measured, RunError> {
    let boards: Vec<Board> = callers.iter().map(|_| Board::default()).collect();
    let places: Vec<usize> = (0..plan.clients)
        .map(|client| sites.place(client))
        .collect();
    let window_start = Moment::from_nanos(plan.warm_up_ns);
    let courses = courses((plan, mix), companies, &places);
    observer.preparing("running");
    let clock = Clock::start();
    let (started_at, meter) = (SystemTime::now(), Meter::start());
    let shared = Shared {
        stop,
        clock: clock.restarted(),
        window_start,
        window_end: plan
            .duration_ns
            .map_or(Moment::NEVER, |duration| window_start.after_nanos(duration)),
        feedback: mix.local.feedback,
    };
    let mut coordinator = Coordinator::new((plan, mix), companies, (&boards, &places), &shared)?;
    let (done, ends) = sync_channel::<(ClientEnd, Caller)>(boards.len().max(1));
    let ends = std::thread::scope(|scope| {
        let clients = callers
            .into_iter()
            .zip(courses)
            .zip(boards.iter().zip(&places));
        for (number, ((caller, course), (board, place))) in (0..).zip(clients) {
            let Some(company) = companies.get(*place) else {
                continue;
            };
            let client = Client {
                number,
                caller,
                course,
                company,
                board,
                shared: &shared,
                free_at: Moment::ZERO,
            };
            let done = done.clone();
            let body = move || {
                settle_thread(plan, number as usize);
                let _ = done.send(client.run());
            };
            let spawned = std::thread::Builder::new()
                .name(format!("filestone-c{number}"))
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, body);
            if let Err(source) = spawned {
                companies.iter().for_each(Company::end);
                return Err(RunError::System {
                    what: format!("start a thread for client {number} of {}", plan.clients),
                    source,
                });
            }
        }
        drop(done);
        Ok(coordinator.watch(&ends, observer))
    })?;
    let started = (started_at, meter.used());
    Measured::new(coordinator, (companies, &shared), started, ends)
}

fn courses((plan, mix): (&Plan, &MixPlan), companies: &[Company], places: &[usize]) -> Vec<Course> {
    (0..plan.clients)
        .zip(places)
        .map(|(client, place)| {
            let company = companies.get(*place);
            let pause_ns = company.map_or(0.0, |company| company.group().pause_ns());
            Course::new(plan, mix, client, pause_ns)
        })
        .collect()
}
