//! What another user puts into the directories of a run stays, whenever it comes: over NFS, SMB and on
//! a local directory.

use crate::file_set::bench::Bench;
use crate::support::entry::replay;
use crate::support::live::{probe, serve};
use crate::support::replays::{load, plan as replay_plan};
use crate::support::scratch::Scratch;
use filestone_engine::protocols::BuiltIn;
use filestone_host::control::{NoObserver, Observer};
use filestone_host::error::RunError;
use filestone_measure::measure::run_phase::RunPhase;
use filestone_measure::measure::run_record::IntervalRecord;
use filestone_measure::measure::{Caveat, RunRecord};
use filestone_plan::plan::{
    LeftoverPolicy, NfsTarget, Plan, SmbTarget, TargetPlan, TransportKind, WorkloadPlan,
};
use filestone_server::{Running, SmbOptions};
use filestone_workload::load::Load;
use filestone_workload::operation::OpKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const MS: u64 = 1_000_000;

const LOAD: &str = r#"
Mkdir "\clients\client1" *
Mkdir "\clients\client1\sub" *
NTCreateX "\clients\client1\sub\own" 0x40 0x5 10 NT_STATUS_OK
WriteX 10 0 100 100 NT_STATUS_OK
Close 10 NT_STATUS_OK
Deltree "\clients\client1\gone" *
"#;

/// A directory under test, as another user sees it.
enum World {
    Server(Box<Bench>),
    Local(PathBuf),
}

impl World {
    fn of_server(server: &Running) -> Self {
        Self::Server(Box::new(Bench::new(server)))
    }

    fn exists(&mut self, path: &str) -> bool {
        match self {
            Self::Server(bench) => bench.find(path).is_some(),
            Self::Local(root) => root.join(path).symlink_metadata().is_ok(),
        }
    }

    /// The names in the directory under test.
    fn names(&mut self) -> Vec<String> {
        match self {
            Self::Server(bench) => bench.names(""),
            Self::Local(root) => {
                let entries = std::fs::read_dir(root).expect("it is there");
                let names = entries.flatten().map(|entry| entry.file_name());
                names
                    .map(|name| name.to_string_lossy().into_owned())
                    .collect()
            }
        }
    }

    /// A file, a directory with a file in it, and a link; nothing if `directory` is not there.
    fn plant(&mut self, directory: &str, tag: &str) -> Vec<String> {
        if !self.exists(directory) {
            return Vec::new();
        }
        let [file, inner, link] = ["file", "dir", "link"].map(|kind| format!("{tag}-{kind}"));
        match self {
            Self::Server(bench) => {
                bench.write(directory, &file, b"mine");
                bench.try_make_directory(directory, &inner);
                bench.write(&format!("{directory}/{inner}"), "inside", b"mine");
                let at = bench.at(directory);
                let made = bench
                    .session
                    .call(|link_to| link_to.symlink(&at, link.as_bytes(), b"/export/file"));
                made.expect("a link");
            }
            Self::Local(root) => {
                let at = root.join(directory);
                std::fs::write(at.join(&file), b"mine").expect("a file");
                std::fs::create_dir(at.join(&inner)).expect("a directory");
                std::fs::write(at.join(&inner).join("inside"), b"mine").expect("a file");
                std::os::unix::fs::symlink("/", at.join(&link)).expect("a link");
            }
        }
        [file, inner.clone(), format!("{inner}/inside"), link]
            .map(|name| format!("{directory}/{name}"))
            .into()
    }

    /// Takes what was planted away again.
    fn clear(&mut self, planted: &[String]) {
        // What is inside comes after its directory.
        for path in planted.iter().rev() {
            let (directory, name) = path.rsplit_once('/').expect("a path");
            match self {
                Self::Server(bench) => {
                    let at = bench.at(directory);
                    let removed = bench.session.call(|link| link.remove(&at, name.as_bytes()));
                    if removed.is_err() {
                        let removed = bench
                            .session
                            .call(|link| link.remove_directory(&at, name.as_bytes()));
                        removed.expect("it is empty");
                    }
                }
                Self::Local(root) => {
                    let path = root.join(path);
                    if std::fs::remove_file(&path).is_err() {
                        std::fs::remove_dir(path).expect("it is empty");
                    }
                }
            }
        }
    }
}

/// Plants in each phase.
struct Planter {
    world: World,
    directories: &'static [&'static str],
    planted: Vec<String>,
    count: u32,
}

impl Planter {
    fn plant(&mut self) {
        self.count += 1;
        // Of a probe the name is not known before.
        let own = self.world.names();
        let own = own.into_iter().find(|name| name.starts_with("filestone-"));
        for directory in self.directories {
            let directory = match (*directory, &own) {
                ("filestone-", Some(own)) => own.clone(),
                (directory, _) => directory.to_owned(),
            };
            let tag = format!("foreign{}", self.count);
            self.planted.extend(self.world.plant(&directory, &tag));
        }
    }
}

impl Observer for Planter {
    fn phase(&mut self, _phase: RunPhase) {
        self.plant();
    }

    fn interval(&mut self, _record: &IntervalRecord) {
        self.plant();
    }
}

fn share_of(server: &Running) -> BuiltIn {
    BuiltIn {
        smb: server.smb_addresses().first().copied(),
        nfs3: Some(server.address()),
        ..BuiltIn::default()
    }
}

fn left_behind(record: &RunRecord) -> Vec<&Caveat> {
    let caveats = record.caveats.iter();
    let is_left = |caveat: &&Caveat| matches!(caveat, Caveat::Leftover { .. });
    caveats.filter(is_left).collect()
}

/// A run in whose every phase something is planted; then the same with `--remove-leftover`; then
/// without what was planted.
fn check(plan: &Plan, loads: &[Arc<Load>], built_in: BuiltIn, planter: &mut Planter) {
    let stop = AtomicBool::new(false);
    let run =
        |plan: &Plan, observer: &mut dyn Observer| replay(plan, loads, built_in, &stop, observer);
    let record = run(plan, planter).expect("a record");
    assert!(planter.count >= 4, "{}", planter.count);
    assert!(planter.planted.len() >= 12, "{:?}", planter.planted);
    let left = left_behind(&record);
    let [Caveat::Leftover { reason, .. }] = left.as_slice() else {
        panic!("{:?}", record.caveats)
    };
    assert!(reason.contains("filestone has not made"), "{reason}");
    assert!(reason.contains("foreign"), "{reason}");
    let all_there = |planter: &mut Planter| {
        for path in planter.planted.clone() {
            assert!(planter.world.exists(&path), "{path} is gone");
        }
    };
    all_there(planter);
    for own in ["clients/client0/sub/own", "clients/client0/gone"] {
        assert!(!planter.world.exists(own), "{own}");
    }
    let mut removing = plan.clone();
    match &mut removing.workload {
        WorkloadPlan::LoadFile(replay) => replay.left_over = LeftoverPolicy::Remove,
        WorkloadPlan::Probe(probe) => probe.left_over = LeftoverPolicy::Remove,
        WorkloadPlan::Mix(_) | WorkloadPlan::Fleet(_) => {}
    }
    let error: RunError = run(&removing, &mut NoObserver).expect_err("something is in the way");
    assert!(error.to_string().contains("foreign"), "{error}");
    all_there(planter);
    let planted = std::mem::take(&mut planter.planted);
    planter.world.clear(&planted);
    let record = run(&removing, &mut NoObserver).expect("a record");
    assert_eq!(left_behind(&record), Vec::<&Caveat>::new());
    let own = planter.world.names();
    let is_own = |name: &&String| *name == "clients" || name.starts_with("filestone");
    assert_eq!(own.iter().find(is_own), None, "nothing is left");
}

fn replay_in(target: TargetPlan, world: World) -> (Plan, Arc<Load>, Planter) {
    let load = load(LOAD);
    let mut plan = replay_plan(target, &load, 2);
    plan.workload = match plan.workload {
        WorkloadPlan::LoadFile(mut replay) => {
            replay.run_once = false;
            WorkloadPlan::LoadFile(replay)
        }
        other => other,
    };
    plan.warm_up_ns = 100 * MS;
    plan.duration_ns = Some(300 * MS);
    plan.interval_ns = 100 * MS;
    plan.timeout_ns = 20_000 * MS;
    let planter = Planter {
        world,
        directories: &["clients", "clients/client0", "clients/client0/sub"],
        planted: Vec::new(),
        count: 0,
    };
    (plan, load, planter)
}

#[test]
fn a_replay_over_nfs_leaves_what_is_foreign() {
    let server = serve(|_| {});
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
    let (plan, load, mut planter) = replay_in(target, World::of_server(&server));
    check(&plan, &[load], share_of(&server), &mut planter);
}

#[test]
fn a_replay_over_smb_leaves_what_is_foreign() {
    let server = serve(|options| options.smb = Some(SmbOptions::default()));
    let target = TargetPlan::Smb(SmbTarget::built_in(""));
    let (plan, load, mut planter) = replay_in(target, World::of_server(&server));
    check(&plan, &[load], share_of(&server), &mut planter);
}

#[test]
fn a_replay_on_a_local_directory_leaves_what_is_foreign() {
    let scratch = Scratch::new();
    let world = World::Local(scratch.path().into());
    let (plan, load, mut planter) = replay_in(scratch.target(), world);
    check(&plan, &[load], BuiltIn::default(), &mut planter);
    assert!(Path::new(scratch.path()).exists());
}

fn probe_in(target: TargetPlan, server: &Running) -> (Plan, Planter) {
    let mut plan = probe(OpKind::Create, TransportKind::Tcp, 1);
    plan.target = target;
    (plan.count, plan.duration_ns) = (None, Some(300 * MS));
    plan.interval_ns = 100 * MS;
    let planter = Planter {
        world: World::of_server(server),
        directories: &["filestone-"],
        planted: Vec::new(),
        count: 0,
    };
    (plan, planter)
}

#[test]
fn a_probe_leaves_what_is_foreign_over_nfs_and_smb() {
    let server = serve(|options| options.smb = Some(SmbOptions::default()));
    for target in [
        TargetPlan::Nfs3(NfsTarget::built_in("/export")),
        TargetPlan::Smb(SmbTarget::built_in("")),
    ] {
        let (plan, mut planter) = probe_in(target, &server);
        check(&plan, &[], share_of(&server), &mut planter);
    }
}

/// Hears what is remarked.
#[derive(Default)]
struct Remarks(Vec<String>);

impl Observer for Remarks {
    fn note(&mut self, what: &str) {
        self.0.push(what.into());
    }
}

#[test]
fn the_directory_of_a_probe_that_was_killed_is_found_and_removed_on_request() {
    let server = serve(|options| options.smb = Some(SmbOptions::default()));
    for target in [
        TargetPlan::Nfs3(NfsTarget::built_in("/export")),
        TargetPlan::Smb(SmbTarget::built_in("")),
    ] {
        let mut bench = Bench::new(&server);
        let [own, running, other] = [1, 2, 3].map(|number| format!("filestone-{number:016x}"));
        for (name, marker) in [
            (&own, "made by filestone 0\ngiven up\nnames: probe 0 3\n"),
            (
                &running,
                "made by filestone 0\nprocess: 1\nhost: elsewhere.invalid\n",
            ),
            (&other, "made by somebody else\n"),
        ] {
            bench.make_directory("", name);
            bench.write(name, "made-by-filestone", marker.as_bytes());
            bench.write(name, "client2", b"left over");
        }
        // A clean-up that was broken off between the marker and the directory.
        let unmarked = "filestone-0000000000000004";
        bench.make_directory("", unmarked);
        let mut plan = probe(OpKind::SetAttr, TransportKind::Tcp, 10);
        plan.target = target;
        let stop = AtomicBool::new(false);
        let mut remarks = Remarks::default();
        replay(&plan, &[], share_of(&server), &stop, &mut remarks).expect("a record");
        assert!(bench.find(unmarked).is_some(), "nobody asked for that");
        let found = remarks.0.iter().find(|remark| remark.contains(&own));
        let found = found.expect("it is told");
        assert!(found.contains("--remove-leftover"), "{found}");
        plan.probe_mut().expect("a probe").left_over = LeftoverPolicy::RemoveIfOver;
        replay(&plan, &[], share_of(&server), &stop, &mut NoObserver).expect("a record");
        let there = [&own, &running, &other].map(|name| bench.find(name).is_some());
        assert_eq!(there, [false, true, true]);
        assert!(bench.find(unmarked).is_none());
        // Whether that run goes on is not known: the user says that it does not.
        plan.probe_mut().expect("a probe").left_over = LeftoverPolicy::Remove;
        replay(&plan, &[], share_of(&server), &stop, &mut NoObserver).expect("a record");
        assert!(bench.find(&running).is_none() && bench.find(&other).is_some());
        for name in ["made-by-filestone", "client2"] {
            bench.remove(&other, name);
        }
        let root = bench.root;
        let removed = bench
            .session
            .call(|link| link.remove_directory(&root, other.as_bytes()));
        removed.expect("it is empty");
    }
}

#[test]
fn a_probe_passes_over_what_another_users_probe_has_left() {
    let server = serve(|_| {});
    let mut bench = Bench::new(&server);
    let (root, name) = (bench.root, "filestone-0000000000000001");
    let made = bench
        .session
        .call(|link| link.make_directory(&root, name.as_bytes(), 0o700));
    made.expect("it can be made");
    let mut plan = probe(OpKind::SetAttr, TransportKind::Tcp, 10);
    let target = plan.target.nfs3_mut().expect("an NFS target");
    (target.uid, target.gid) = (4711, 4711);
    for policy in [LeftoverPolicy::Refuse, LeftoverPolicy::Remove] {
        plan.probe_mut().expect("a probe").left_over = policy;
        let stop = AtomicBool::new(false);
        let record = replay(&plan, &[], share_of(&server), &stop, &mut NoObserver);
        assert_eq!(record.expect("a record").totals.ledger.ok, 10);
        assert!(bench.find(name).is_some(), "it is another user's");
    }
}

#[test]
fn a_server_without_readdirplus_is_cleaned_by_readdir() {
    let fault = "error=NFS3ERR_NOTSUPP,proc=readdirplus";
    let server = serve(|options| options.faults = vec![fault.parse().expect("a fault")]);
    let mut world = World::of_server(&server);
    for operation in [OpKind::Create, OpKind::MkDir, OpKind::Write] {
        let plan = probe(operation, TransportKind::Tcp, 20);
        let stop = AtomicBool::new(false);
        let record = replay(&plan, &[], share_of(&server), &stop, &mut NoObserver);
        let record = record.expect("a record");
        assert_eq!(left_behind(&record), Vec::<&Caveat>::new());
    }
    let load = load(LOAD);
    let target = TargetPlan::Nfs3(NfsTarget::built_in("/export"));
    let plan = replay_plan(target, &load, 2);
    let stop = AtomicBool::new(false);
    let record = replay(&plan, &[load], share_of(&server), &stop, &mut NoObserver);
    assert_eq!(
        left_behind(&record.expect("a record")),
        Vec::<&Caveat>::new()
    );
    let own = world.names();
    let is_own = |name: &&String| *name == "clients" || name.starts_with("filestone");
    assert_eq!(own.iter().find(is_own), None, "nothing is left");
}
