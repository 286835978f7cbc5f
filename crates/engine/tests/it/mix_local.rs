//! A mix as system calls, with a /proc of the test's own: what a kernel would count is made
//! of what the clients are seen to do.

use crate::support::scratch::Scratch;
use crate::support::{SECOND, mixes, scratch};
use filestone_engine::protocols::local::mix::run_local;
use filestone_host::control::{NoObserver, Observer};
use filestone_host::error::{ErrorCategory, RunError};
use filestone_measure::measure::Caveat;
use filestone_measure::measure::run_record::{IntervalRecord, RunOutcome, RunRecord};
use filestone_plan::plan::{
    ArrivalsPlan, FeedbackArithmetic, FileSetPlan, FileSizes, LocalMix, Plan,
};
use filestone_workload::operation::OpKind;
use filestone_workload::recording::Role;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

static NOBODY: AtomicBool = AtomicBool::new(false);

/// nhfsstone's own mix.
const MIX: [(OpKind, u64); 10] = [
    (OpKind::GetAttr, 13),
    (OpKind::SetAttr, 1),
    (OpKind::Lookup, 34),
    (OpKind::ReadLink, 8),
    (OpKind::Read, 22),
    (OpKind::Write, 15),
    (OpKind::Create, 2),
    (OpKind::Remove, 1),
    (OpKind::ReadDir, 3),
    (OpKind::FsStat, 1),
];

/// A directory under test and a /proc, which go when they are dropped.
struct Bench(Scratch);

impl Bench {
    fn new() -> Self {
        let bench = Self(Scratch::new());
        for directory in ["mnt", "proc/self", "proc/net/rpc"] {
            fs::create_dir_all(bench.0.path().join(directory)).unwrap();
        }
        bench.mount("nfs");
        count(&bench.mountstats(), &bench.mnt(), &[0; 22]);
        bench
    }

    fn mnt(&self) -> PathBuf {
        fs::canonicalize(self.0.path().join("mnt")).unwrap()
    }

    fn mountstats(&self) -> PathBuf {
        self.0.path().join("proc/self/mountstats")
    }

    fn mount(&self, file_system: &str) {
        let text = format!(
            "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
             90 22 0:40 / {} rw,relatime shared:5 - {file_system} server:/export rw,vers=3\n",
            self.mnt().display()
        );
        fs::write(self.0.path().join("proc/self/mountinfo"), text).unwrap();
    }

    fn plan(&self, counts: &[(OpKind, u64)]) -> Plan {
        let arrivals = ArrivalsPlan::Poisson {
            offered_load_ops_per_s: 400.0,
        };
        let mut plan = mixes::mix(counts, arrivals, 0);
        plan.target = scratch::local(&self.mnt());
        (plan.clients, plan.in_flight) = (3, 1);
        (plan.count, plan.duration_ns) = (None, Some(SECOND));
        plan.interval_ns = SECOND / 10;
        let mix = plan.mix_mut().unwrap();
        mix.file_set = FileSetPlan {
            name: "filestone-mix".into(),
            files_per_client: 10,
            sizes: FileSizes::Fixed { bytes: 5000 },
            symbolic_links_per_client: 3,
            spare_names_per_client: 4,
            ..mix.file_set.clone()
        };
        mix.local = LocalMix {
            proc_root: Some(self.0.path().join("proc").display().to_string()),
            feedback: true,
            arithmetic: FeedbackArithmetic::Exact,
            background_max_calls_per_s: 10,
        };
        plan
    }

    /// The same without a look at counters.
    fn blind(&self, mix: &[(OpKind, u64)]) -> Plan {
        let mut plan = self.plan(mix);
        local(&mut plan).feedback = false;
        self.mount("tmpfs");
        plan
    }
}

fn local(plan: &mut Plan) -> &mut LocalMix {
    &mut plan.mix_mut().unwrap().local
}

/// Writes counters as the kernel does, in one step.
fn count(mountstats: &Path, mount_point: &Path, calls: &[u64; 22]) {
    let mut text = format!(
        "device sysfs mounted on /sys with fstype sysfs\n\
         device server:/export mounted on {} with fstype nfs statvers=1.1\n\
         \topts:\trw,vers=3,proto=tcp\n\tage:\t100\n\tsec:\tflavor=1,pseudoflavor=1\n\
         \tRPC iostats version: 1.1  p/v: 100003/3 (nfs)\n\
         \txprt:\ttcp 900 1 1 0 0 10 10 0 10 0 2 0 0\n\tper-op statistics\n",
        mount_point.display()
    );
    for kind in OpKind::STATELESS {
        let (name, calls) = (kind.name().to_uppercase(), calls[kind.index()]);
        text.push_str(&format!("\t{name:>12}: {calls} {calls} 0 0 0 0 0 0 0\n"));
    }
    let next = mountstats.with_extension("next");
    fs::write(&next, text).unwrap();
    fs::rename(next, mountstats).unwrap();
}

/// A kernel that counts what clients are seen to do, and swallows every second lookup.
struct Kernel {
    mountstats: PathBuf,
    mount_point: PathBuf,
    done: [u64; 22],
    swallows_lookups: bool,
}

impl Kernel {
    fn of(bench: &Bench, swallows_lookups: bool) -> Self {
        Self {
            mountstats: bench.mountstats(),
            mount_point: bench.mnt(),
            done: [0; 22],
            swallows_lookups,
        }
    }
}

impl Observer for Kernel {
    fn interval(&mut self, record: &IntervalRecord) {
        for kind in &record.kinds {
            self.done[kind.operation.index()] += kind.ledger.ok;
        }
        let mut calls = self.done;
        if self.swallows_lookups {
            calls[OpKind::Lookup.index()] /= 2;
        }
        count(&self.mountstats, &self.mount_point, &calls);
    }
}

/// Does something when all is prepared and the clients are about to begin.
struct OnceRunning<F>(Option<F>);

impl<F: FnOnce()> OnceRunning<F> {
    fn new(act: F) -> Self {
        Self(Some(act))
    }
}

impl<F: FnOnce()> Observer for OnceRunning<F> {
    fn preparing(&mut self, what: &str) {
        if let Some(act) = self.0.take_if(|_| what == "running") {
            act();
        }
    }
}

fn run(plan: &Plan) -> RunRecord {
    let record = run_local(plan, &NOBODY, &mut NoObserver).unwrap();
    record.check().unwrap();
    record
}

/// The message and the help of a refusal.
fn refusal(plan: &Plan) -> String {
    let error = run_local(plan, &NOBODY, &mut NoObserver).expect_err("a refusal");
    assert_eq!(error.category(), ErrorCategory::Usage, "{error}");
    format!("{error} / {}", error.help().expect("help"))
}

/// All that is below a directory.
fn tree(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.strip_prefix(directory).unwrap().display().to_string());
            if path.is_dir() && !path.is_symlink() {
                left.push(path);
            }
        }
    }
    names.sort();
    names
}

#[test]
fn a_directory_that_is_not_on_nfs_is_refused_at_once_and_nothing_is_made() {
    let bench = Bench::new();
    for file_system in ["tmpfs", "ext4"] {
        bench.mount(file_system);
        let said = refusal(&bench.plan(&MIX));
        assert!(said.contains(&format!("is on {file_system}")), "{said}");
        assert!(said.contains("--no-feedback"), "{said}");
    }
    assert!(tree(&bench.mnt()).is_empty());
    let mut plan = bench.plan(&MIX);
    local(&mut plan).proc_root = None;
    // This host's own /proc knows that it is not on NFS, either.
    assert!(refusal(&plan).contains("and not on NFS"));
}

/// How well it is corrected is for the tests in virtual time to say.
#[test]
fn what_the_kernel_counts_is_in_the_record_with_the_corrections_that_follow_from_it() {
    let bench = Bench::new();
    let mut plan = bench.plan(&MIX);
    plan.duration_ns = Some(2 * SECOND);
    let record = run_local(&plan, &NOBODY, &mut Kernel::of(&bench, true)).unwrap();
    record.check().unwrap();
    // Files are read in one transfer, so the simulated kernel counts one call of each operation.
    let mix = record.mix.as_ref().unwrap();
    let wire = mix.wire.as_ref().unwrap();
    assert!(wire.source.contains("mountstats"), "{}", wire.source);
    assert!(!wire.corrections.is_empty());
    assert!(wire.background_calls_per_s < 1.0);
    let mut rows = wire.operations.iter();
    let lookup = rows.find(|row| row.operation == OpKind::Lookup).unwrap();
    assert!(lookup.asked > lookup.seen && lookup.seen > 0, "{lookup:?}");
    assert!(
        !record
            .caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::NotSeenOnTheWire { .. }))
    );
}

#[test]
fn nhfsstones_own_arithmetic_ends_by_the_kernels_count() {
    let bench = Bench::new();
    let mut plan = bench.plan(&MIX);
    local(&mut plan).arithmetic = FeedbackArithmetic::Nhfsstone;
    (plan.count, plan.duration_ns) = (Some(150), None);
    plan.arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 150.0,
    };
    let record = run_local(&plan, &NOBODY, &mut Kernel::of(&bench, false)).unwrap();
    record.check().unwrap();
    assert_eq!(record.end, RunOutcome::Finished);
    let wire = record.mix.unwrap().wire.unwrap();
    assert!(wire.calls >= 150, "{wire:?}");
}

#[test]
fn a_count_ends_the_run() {
    let bench = Bench::new();
    let mut plan = bench.blind(&[(OpKind::SetAttr, 1), (OpKind::FsStat, 1)]);
    (plan.count, plan.duration_ns) = (Some(500), None);
    plan.arrivals = ArrivalsPlan::Closed;
    let record = run(&plan);
    assert_eq!(record.end, RunOutcome::Finished);
    let done = record
        .mix
        .unwrap()
        .operations
        .iter()
        .map(|row| row.count)
        .sum::<u64>();
    assert!((500..520).contains(&done), "{done}");
}

#[test]
fn without_feedback_every_operation_acts_on_any_file_system_and_the_record_says_so() {
    let bench = Bench::new();
    let mix: Vec<(OpKind, u64)> = OpKind::STATELESS.iter().map(|kind| (*kind, 1)).collect();
    let mut plan = bench.blind(&mix);
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 2000.0,
    };
    let record = run(&plan);
    let totals = &record.totals;
    assert_eq!(
        (totals.ledger.failed, totals.ledger.disconnected),
        (0, 0),
        "{totals:?}"
    );
    for kind in &totals.kinds {
        let silent = [OpKind::Null, OpKind::FsInfo, OpKind::PathConf];
        let is_asked = !silent.contains(&kind.operation) && kind.role == Role::Measured;
        assert_eq!(
            kind.ledger.ok > 0,
            is_asked || kind.role == Role::Unmeasured && kind.ledger.ok > 0
        );
        assert_eq!(kind.ledger.failed, 0, "{:?}", kind.failures);
    }
    let mix = record.mix.as_ref().unwrap();
    assert!(mix.wire.is_none());
    assert!(
        record
            .caveats
            .iter()
            .any(|caveat| matches!(caveat, Caveat::NotSeenOnTheWire { .. }))
    );
    let row = |kind| {
        mix.operations
            .iter()
            .find(|row| row.operation == kind)
            .unwrap()
    };
    assert_eq!(row(OpKind::Null).count, 0);
    assert!(row(OpKind::MkNod).count > 10);
}

#[test]
fn nothing_is_left_beyond_the_set_which_the_next_run_finds_and_the_last_removes() {
    let bench = Bench::new();
    fs::write(bench.mnt().join("mine"), b"mine").unwrap();
    let mix: Vec<(OpKind, u64)> = OpKind::STATELESS.iter().map(|kind| (*kind, 1)).collect();
    let mut plan = bench.blind(&mix);
    plan.arrivals = ArrivalsPlan::Closed;
    plan.duration_ns = Some(SECOND / 5);
    let first = run(&plan);
    let set = first.mix.unwrap().file_set;
    assert_eq!((set.files, set.bytes), (30, 150_000));
    assert!(set.made > 30 && set.found == 0, "{set:?}");
    let there = tree(&bench.mnt());
    assert!(there.contains(&"filestone-mix/made-by-filestone".to_owned()));
    assert!(there.contains(&"filestone-mix/client0002/files0/009abcdefghijklmn".to_owned()));
    let second = run(&plan);
    let set = second.mix.unwrap().file_set;
    assert!(set.made == 0 && set.found > 30, "{set:?}");
    assert_eq!(tree(&bench.mnt()), there);
    plan.mix_mut().unwrap().remove_set = true;
    assert!(run(&plan).mix.unwrap().file_set.removed);
    assert_eq!(tree(&bench.mnt()), ["mine"]);
}

#[test]
fn what_is_not_ours_is_not_touched() {
    let bench = Bench::new();
    let plan = bench.blind(&MIX);
    let set = bench.mnt().join("filestone-mix");
    fs::create_dir(&set).unwrap();
    fs::write(set.join("data"), b"somebody's").unwrap();
    assert!(refusal(&plan).contains("was not made by filestone"));
    assert_eq!(tree(&bench.mnt()), ["filestone-mix", "filestone-mix/data"]);
    fs::remove_dir_all(&set).unwrap();
    run(&plan);
    // A set of another recipe is ours, and another one.
    let mut other = plan.clone();
    other.mix_mut().unwrap().file_set.files_per_client = 11;
    assert!(refusal(&other).contains("another recipe"));
}

#[test]
fn what_somebody_has_put_into_a_set_survives_its_removal() {
    let bench = Bench::new();
    let mut plan = bench.blind(&MIX);
    plan.arrivals = ArrivalsPlan::Closed;
    plan.duration_ns = Some(SECOND / 10);
    run(&plan);
    let set = bench.mnt().join("filestone-mix");
    let away = bench.mnt().join("away");
    fs::create_dir(&away).unwrap();
    fs::write(away.join("000abcdefghijklmn"), b"mine").unwrap();
    plan.mix_mut().unwrap().remove_set = true;
    for (at, name) in [
        ("", "letter.txt"),
        ("client0001", "letter.txt"),
        ("client0001/files0", "letter.txt"),
        ("", "client0007"),
    ] {
        let at = set.join(at);
        fs::create_dir_all(&at).unwrap();
        let foreign = at.join(name);
        match name {
            // A link that is called like a directory of ours is not followed.
            "client0007" => std::os::unix::fs::symlink(&away, &foreign).unwrap(),
            _ => fs::write(&foreign, b"dear").unwrap(),
        }
        let record = run(&plan);
        assert!(!record.mix.unwrap().file_set.removed, "{foreign:?}");
        let path = foreign.display().to_string();
        let caveats = format!("{:?}", record.caveats);
        assert!(caveats.contains(&path), "{path}: {caveats}");
        assert!(fs::symlink_metadata(&foreign).is_ok(), "{foreign:?}");
        assert!(set.join("made-by-filestone").exists());
        fs::remove_file(&foreign).unwrap();
    }
    assert_eq!(fs::read(away.join("000abcdefghijklmn")).unwrap(), b"mine");
    assert!(run(&plan).mix.unwrap().file_set.removed);
    assert_eq!(tree(&bench.mnt()), ["away", "away/000abcdefghijklmn"]);
}

#[test]
fn a_run_that_is_stopped_ends_at_once_with_what_it_has() {
    let bench = Bench::new();
    let mut plan = bench.blind(&MIX);
    plan.duration_ns = Some(600 * SECOND);
    // Pauses are long; nobody waits for their end.
    plan.arrivals = ArrivalsPlan::Poisson {
        offered_load_ops_per_s: 0.01,
    };
    let stop = AtomicBool::new(false);
    let mut stopping = OnceRunning::new(|| stop.store(true, Ordering::Relaxed));
    let record = run_local(&plan, &stop, &mut stopping).unwrap();
    assert_eq!(record.end, RunOutcome::Interrupted);
    record.check().unwrap();
    let before = AtomicBool::new(true);
    let early = run_local(&plan, &before, &mut NoObserver);
    assert!(matches!(early, Err(RunError::Interrupted)));
}

#[test]
fn a_set_that_vanishes_ends_the_run_with_the_reason() {
    let bench = Bench::new();
    let mut plan = bench.blind(&[(OpKind::Lookup, 1)]);
    plan.duration_ns = Some(600 * SECOND);
    let set = bench.mnt().join("filestone-mix");
    let mut vanishing = OnceRunning::new(|| fs::remove_dir_all(&set).unwrap());
    let record = run_local(&plan, &NOBODY, &mut vanishing).unwrap();
    let RunOutcome::TargetLost { message } = &record.end else {
        panic!("{:?}", record.end);
    };
    assert!(message.contains("has been removed"), "{message}");
    assert!(record.totals.ledger.failed > 0);
}

#[test]
fn failures_are_counted_by_their_names_and_do_not_end_the_run() {
    let bench = Bench::new();
    let plan = bench.blind(&[(OpKind::Lookup, 1), (OpKind::FsStat, 1)]);
    let file = bench
        .mnt()
        .join("filestone-mix/client0000/files0/003abcdefghijklmn");
    let mut removing = OnceRunning::new(|| fs::remove_file(&file).unwrap());
    let record = run_local(&plan, &NOBODY, &mut removing).unwrap();
    assert_eq!(record.end, RunOutcome::Finished);
    let kinds = record.totals.kinds.iter();
    let failures: Vec<_> = kinds.flat_map(|kind| &kind.failures).collect();
    assert!(
        failures
            .iter()
            .all(|failure| failure.failure.contains("No such file")),
        "{failures:?}"
    );
    assert!(!failures.is_empty());
}

#[test]
fn a_client_that_cannot_keep_up_counts_what_was_due_and_never_begun() {
    let bench = Bench::new();
    let mut plan = bench.blind(&[(OpKind::Write, 1)]);
    plan.clients = 1;
    plan.duration_ns = Some(SECOND / 2);
    // More than any file system writes and synchronises.
    plan.arrivals = ArrivalsPlan::Constant {
        offered_load_ops_per_s: 4e6,
    };
    let record = run(&plan);
    let ledger = record.totals.ledger;
    assert!(ledger.skipped > ledger.ok, "{ledger:?}");
    assert!(record.totals.slot_wait_ns.max > 100_000_000);
}

#[test]
fn where_mounts_are_not_counted_the_whole_hosts_counters_are_taken() {
    let bench = Bench::new();
    fs::remove_file(bench.mountstats()).unwrap();
    let calls = ["0"; 22].join(" ");
    let text = format!("net 0 0 0 0\nrpc 0 0 0\nproc3 22 {calls}\n");
    fs::write(bench.0.path().join("proc/net/rpc/nfs"), text).unwrap();
    let record = run(&bench.plan(&MIX));
    let mix = record.mix.unwrap();
    let wire = mix.wire.unwrap();
    assert!(
        wire.source.ends_with("net/rpc/nfs, of the whole host"),
        "{}",
        wire.source
    );
    let is_below = |caveat: &Caveat| matches!(caveat, Caveat::AchievedBelowOffered { .. });
    assert!(record.caveats.iter().any(is_below));
    // These counters stand still: all has been asked and nothing seen.
    assert_eq!(wire.calls, 0);
    assert!(
        wire.operations
            .iter()
            .all(|row| row.asked > 0 && row.seen == 0),
        "{wire:?}"
    );
    fs::remove_file(bench.0.path().join("proc/net/rpc/nfs")).unwrap();
    let error = run_local(&bench.plan(&MIX), &NOBODY, &mut NoObserver).expect_err("no counters");
    assert!(error.to_string().contains("net/rpc/nfs"), "{error}");
}

#[test]
fn a_set_that_another_process_uses_is_left_alone() {
    let bench = Bench::new();
    let plan = bench.blind(&MIX);
    run(&plan);
    let marker = bench.mnt().join("filestone-mix/made-by-filestone");
    let text = fs::read_to_string(&marker).unwrap();
    assert!(text.contains("recipe: "), "{text}");
    // One that locks nothing, as over NFS: another process than this one, which is always there.
    let ours = format!("process: {}", std::process::id());
    let lines = text.lines().filter(|line| {
        !(line.starts_with("process began") || ["given up", "locked"].contains(line))
    });
    let in_use = lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace(&ours, "process: 1")
        + "\n";
    fs::write(&marker, &in_use).unwrap();
    assert!(refusal(&plan).contains("process 1 on "));
    assert_eq!(fs::read_to_string(&marker).unwrap(), in_use);
}

#[test]
fn a_marker_that_was_not_put_into_its_place_does_not_stand_in_the_way() {
    let bench = Bench::new();
    let mut plan = bench.blind(&MIX);
    plan.arrivals = ArrivalsPlan::Closed;
    plan.duration_ns = Some(SECOND / 10);
    let set = bench.mnt().join("filestone-mix");
    let (marker, next) = ("made-by-filestone", "made-by-filestone.next");
    // The very first marker was cut off.
    fs::create_dir(&set).unwrap();
    assert!(refusal(&plan).contains("was not made by filestone"));
    fs::write(set.join(next), b"").unwrap();
    run(&plan);
    assert_eq!(tree(&set)[..1], ["client0000"]);
    assert!(!set.join(next).exists());
    // A later one was, of a process that has ended: numbers of processes are below 2^22.
    let text = fs::read_to_string(set.join(marker)).unwrap();
    let ours = format!("process: {}\n", std::process::id());
    let dead = text.replace(&ours, "process: 4294967295\n");
    fs::write(set.join(next), dead).unwrap();
    run(&plan);
    assert!(!set.join(next).exists());
    // What is only called so stays.
    fs::write(set.join(next), b"dear").unwrap();
    assert!(refusal(&plan).contains("was not made by filestone"));
    assert_eq!(fs::read(set.join(next)).unwrap(), b"dear");
}
